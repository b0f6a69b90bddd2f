/* result.c: rows that operators give (relational.h). A join moves no values: it notes which rows stand beside each other. */
#include "engine/relational/relational.h"

#include "engine/answer/view_codes.h"
#include "storage/base/memory.h"
#include "storage/base/parallel.h"

#include <stdlib.h>
#include <string.h>

static void answer_release(struct answer *answer)
{
    if (!answer || --answer->references)
        return;
    rowset_free(&answer->rows);
    free(answer);
}

static void part_free(struct result_part *part)
{
    answer_release(part->answer);
    spillable_free(part->places);
}

void result_free(struct result *result)
{
    for (uint32_t p = 0; p < result->part_count; p++)
        part_free(&result->parts[p]);
    free(result->parts);
    free(result->columns);
    *result = (struct result){0};
}

static enum status make(struct relational *run, uint64_t rows, uint32_t parts, uint32_t columns,
                        struct result *result)
{
    *result = (struct result){.rows = rows};
    RETURN_IF_ERROR(
        memory_zeros(&result->parts, (parts + 1) * sizeof *result->parts, "an answer", run->error));
    const enum status status =
        memory_zeros(&result->columns, (columns + 1) * sizeof *result->columns, "an answer", run->error);
    if (status != STATUS_OK)
        result_free(result);
    return status;
}

/* A rowset with room for so many columns; the caller makes them. */
static enum status open_rows(struct relational *run, uint64_t rows, uint32_t columns, struct rowset *made)
{
    *made = (struct rowset){.rows = rows};
    RETURN_IF_ERROR(
        memory_zeros(&made->columns, (columns + 1) * sizeof *made->columns, "an answer", run->error));
    const enum status status = memory_zeros(&made->dictionaries, (columns + 1) * sizeof *made->dictionaries,
                                            "an answer", run->error);
    if (status != STATUS_OK)
        rowset_free(made);
    return status;
}

enum status result_of_rows(struct relational *run, struct rowset *rows, const uint32_t *numbers,
                           struct result *result)
{
    struct answer *answer;
    enum status status = make(run, rows->rows, 1, rows->column_count, result);
    if (status == STATUS_OK)
        status = memory_zeros(&answer, sizeof *answer, "an answer", run->error);
    if (status != STATUS_OK) {
        rowset_free(rows);
        result_free(result);
        return status;
    }
    answer->references = 1;
    answer->rows = *rows;
    *rows = (struct rowset){0};
    result->parts[result->part_count++].answer = answer;
    result->column_count = answer->rows.column_count;
    for (uint32_t c = 0; c < result->column_count; c++)
        result->columns[c] = (struct result_column){numbers[c], 0, c};
    return STATUS_OK;
}

static enum status take_places(struct relational *run, uint64_t rows, uint64_t **places)
{
    return spillable_rows(places, (rows + 1) * sizeof **places, "a join", run->error);
}

static enum status copy_places(struct relational *run, const struct result_part *from, uint64_t rows,
                               struct result_part *to)
{
    if (!from->places)
        return STATUS_OK;
    RETURN_IF_ERROR(take_places(run, rows, &to->places));
    memcpy(to->places, from->places, rows * sizeof *to->places);
    return STATUS_OK;
}

static const struct result_column *find(const struct result *result, uint32_t number)
{
    for (uint32_t c = 0; c < result->column_count; c++)
        if (result->columns[c].number == number)
            return &result->columns[c];
    return NULL;
}

enum status result_renamed(struct relational *run, const struct result *from, uint32_t count,
                           const uint32_t *from_numbers, const uint32_t *numbers, struct result *result)
{
    if (run->dry) {
        *result = (struct result){.rows = from->rows, .explained = from->explained};
        return STATUS_OK;
    }
    RETURN_IF_ERROR(make(run, from->rows, from->part_count, count, result));
    result->explained = from->explained;
    for (uint32_t p = 0; p < from->part_count; p++) {
        const enum status status = copy_places(run, &from->parts[p], from->rows, &result->parts[p]);
        if (status != STATUS_OK) {
            result_free(result);
            return status;
        }
        result->parts[p].answer = from->parts[p].answer;
        result->parts[p].answer->references++;
        result->part_count++;
    }
    for (uint32_t i = 0; i < count; i++) {
        const struct result_column *const column = find(from, from_numbers[i]);
        if (!column)
            continue;
        result->columns[result->column_count] = *column;
        result->columns[result->column_count++].number = numbers[i];
    }
    return STATUS_OK;
}

/* The numbers of all columns, which belong to the statement. */
static enum status numbers_of(struct relational *run, const struct result *result, uint32_t **numbers)
{
    RETURN_IF_ERROR(relational_memory(run, (result->column_count + 1) * sizeof **numbers, numbers));
    for (uint32_t c = 0; c < result->column_count; c++)
        (*numbers)[c] = result->columns[c].number;
    return STATUS_OK;
}

enum status result_shared(struct relational *run, const struct result *from, struct result *result)
{
    uint32_t *numbers;
    RETURN_IF_ERROR(numbers_of(run, from, &numbers));
    return result_renamed(run, from, from->column_count, numbers, numbers, result);
}

const struct rowset_column *result_column(const struct result *result, uint32_t number,
                                          const uint64_t **places)
{
    const struct result_column *const column = find(result, number);
    if (!column)
        return NULL;
    const struct result_part *const part = &result->parts[column->part];
    *places = part->places;
    return &part->answer->rows.columns[column->at];
}

enum status result_code(struct relational *run, struct result *result)
{
    const unsigned threads = engine_threads(run->task->engine);
    enum status status = STATUS_OK;
    for (uint32_t p = 0; p < result->part_count && status == STATUS_OK; p++) {
        struct rowset *const rows = &result->parts[p].answer->rows;
        status = view_codes_make(rows, threads, run->error);
        if (status == STATUS_OK)
            status = relational_keep(run, rows);
    }
    if (status != STATUS_OK)
        result_free(result);
    return status;
}

enum status result_gather(struct relational *run, const struct result *result, uint32_t number,
                          struct rowset_column *column)
{
    const uint64_t *places;
    const struct rowset_column *const from = result_column(result, number, &places);
    return relation_gather(from, places, result->rows, engine_threads(run->task->engine), column, run->error);
}

/* Makes room for so many more parts and columns. */
static enum status grow(struct relational *run, struct result *result, uint32_t parts, uint32_t columns)
{
    RETURN_IF_ERROR(memory_grow(&result->parts, (result->part_count + parts + 1) * sizeof *result->parts,
                                "an answer", run->error));
    return memory_grow(&result->columns, (result->column_count + columns + 1) * sizeof *result->columns,
                       "an answer", run->error);
}

enum status result_add(struct relational *run, struct result *result, uint32_t number,
                       struct rowset_column *column)
{
    struct result one = {0};
    struct rowset rows;
    enum status status = grow(run, result, 1, 1);
    if (status == STATUS_OK)
        status = open_rows(run, result->rows, 1, &rows);
    if (status != STATUS_OK) {
        rowset_column_free(column);
        return status;
    }
    rows.columns[rows.column_count++] = *column;
    *column = (struct rowset_column){0};
    RETURN_IF_ERROR(result_of_rows(run, &rows, &number, &one));
    result->columns[result->column_count++] = (struct result_column){number, result->part_count, 0};
    result->parts[result->part_count++] = one.parts[0];
    free(one.parts);
    free(one.columns);
    return STATUS_OK;
}

#define SLICE_ROWS 65536u

struct composing {
    const uint64_t *of, *places; /* of: the part's, or NULL */
    uint64_t count, *made;
};

static enum status compose_slice(void *context, uint64_t item, unsigned thread, struct error *error)
{
    const struct composing *const composing = context;
    const uint64_t *const of = composing->of, *const places = composing->places, begin = item * SLICE_ROWS,
                          left = composing->count - begin,
                          end = begin + (left < SLICE_ROWS ? left : SLICE_ROWS);
    (void)thread;
    for (uint64_t i = begin; i < end; i++)
        composing->made[i] = of && places[i] != RELATION_NO_ROW ? of[places[i]] : places[i];
    return cancel_check(error);
}

/* Where the rows of a part are, if those of the result are `places` of them. */
static enum status compose(struct relational *run, const struct result_part *part, const uint64_t *places,
                           uint64_t count, uint64_t **made)
{
    RETURN_IF_ERROR(take_places(run, count, made));
    struct composing composing = {part->places, places, count, *made};
    const enum status status =
        parallel_for(engine_threads(run->task->engine), (count + SLICE_ROWS - 1) / SLICE_ROWS, compose_slice,
                     &composing, run->error);
    if (status != STATUS_OK) {
        spillable_free(*made);
        *made = NULL;
    }
    return status;
}

enum status result_select(struct relational *run, struct result *result, const uint64_t *places,
                          uint64_t count)
{
    for (uint32_t p = 0; p < result->part_count; p++) {
        struct result_part *const part = &result->parts[p];
        uint64_t *made;
        RETURN_IF_ERROR(compose(run, part, places, count, &made));
        spillable_free(part->places);
        part->places = made;
    }
    result->rows = count;
    return STATUS_OK;
}

/* Copies the columns that a part has. */
static enum status copy_part(struct relational *run, const struct result *from, uint32_t part,
                             const uint64_t *places, struct rowset *rows)
{
    const struct rowset *const answer = &from->parts[part].answer->rows;
    uint64_t *made;
    RETURN_IF_ERROR(compose(run, &from->parts[part], places, rows->rows, &made));
    enum status status = STATUS_OK;
    for (uint32_t c = 0; status == STATUS_OK && c < from->column_count; c++)
        if (from->columns[c].part == part)
            status = relation_gather(&answer->columns[from->columns[c].at], made, rows->rows,
                                     engine_threads(run->task->engine), &rows->columns[c], run->error);
    spillable_free(made);
    return status;
}

enum status result_copied(struct relational *run, const struct result *from, const uint64_t *places,
                          uint64_t count, struct result *result)
{
    const uint32_t columns = from->column_count;
    struct rowset rows;
    uint32_t *numbers;
    *result = (struct result){0};
    RETURN_IF_ERROR(numbers_of(run, from, &numbers));
    RETURN_IF_ERROR(open_rows(run, count, columns, &rows));
    rows.column_count = columns;
    enum status status = STATUS_OK;
    for (uint32_t p = 0; status == STATUS_OK && p < from->part_count; p++)
        status = copy_part(run, from, p, places, &rows);
    if (status == STATUS_OK)
        return result_of_rows(run, &rows, numbers, result);
    rowset_free(&rows);
    return status;
}

enum status result_pair(struct relational *run, struct result *left, struct result *right,
                        const uint64_t *lefts, const uint64_t *rights, uint64_t count)
{
    RETURN_IF_ERROR(result_select(run, left, lefts, count));
    RETURN_IF_ERROR(result_select(run, right, rights, count));
    return result_beside(run, left, right);
}

enum status result_beside(struct relational *run, struct result *left, struct result *right)
{
    RETURN_IF_ERROR(grow(run, left, right->part_count, right->column_count));
    for (uint32_t c = 0; c < right->column_count; c++) {
        left->columns[left->column_count] = right->columns[c];
        left->columns[left->column_count++].part += left->part_count;
    }
    memcpy(left->parts + left->part_count, right->parts, right->part_count * sizeof *right->parts);
    left->part_count += right->part_count;
    right->part_count = 0;
    result_free(right);
    return STATUS_OK;
}

static bool is_used(const struct result *result, uint32_t part, uint32_t at)
{
    for (uint32_t c = 0; c < result->column_count; c++)
        if (result->columns[c].part == part && (at == UINT32_MAX || result->columns[c].at == at))
            return true;
    return false;
}

static void trim_answer(const struct result *result, uint32_t part)
{
    struct rowset *const rows = &result->parts[part].answer->rows;
    if (result->parts[part].answer->references > 1)
        return;
    for (uint32_t c = 0; c < rows->column_count; c++)
        if (!is_used(result, part, c))
            rowset_column_free(&rows->columns[c]);
}

static void remove_part(struct result *result, uint32_t part)
{
    part_free(&result->parts[part]);
    result->part_count--;
    memmove(&result->parts[part], &result->parts[part + 1],
            (result->part_count - part) * sizeof *result->parts);
    for (uint32_t c = 0; c < result->column_count; c++)
        result->columns[c].part -= result->columns[c].part > part;
}

void result_trim(struct result *result, const struct logical_set *needed)
{
    uint32_t kept = 0;
    for (uint32_t c = 0; c < result->column_count; c++)
        if (logical_has(needed, result->columns[c].number))
            result->columns[kept++] = result->columns[c];
    result->column_count = kept;
    for (uint32_t p = result->part_count; p-- > 0;)
        if (is_used(result, p, UINT32_MAX))
            trim_answer(result, p);
        else
            remove_part(result, p);
}

/* ---- Rowsets ---- */

/* Takes a column out of an answer that nobody else has, if its rows stand as they are. */
static bool take(struct result *result, uint32_t number, struct rowset_column *column)
{
    const struct result_column *const of = find(result, number);
    const struct result_part *const part = &result->parts[of->part];
    struct rowset_column *const from = &part->answer->rows.columns[of->at];
    if (part->places || part->answer->references > 1 || (!from->values && !from->views))
        return false;
    *column = *from;
    *from = (struct rowset_column){0};
    return true;
}

/* True if a later one of the columns is the same one. */
static bool is_again(const struct result *result, const uint32_t *numbers, uint32_t count)
{
    const struct result_column *const column = find(result, numbers[0]);
    for (uint32_t i = 1; i < count; i++) {
        const struct result_column *const other = find(result, numbers[i]);
        if (other->part == column->part && other->at == column->at)
            return true;
    }
    return false;
}

enum status result_rows(struct relational *run, struct result *result, const uint32_t *numbers,
                        uint32_t count, struct rowset *rows)
{
    enum status status = open_rows(run, result->rows, count, rows);
    for (uint32_t i = 0; status == STATUS_OK && i < count; i++) {
        if (is_again(result, numbers + i, count - i) || !take(result, numbers[i], &rows->columns[i]))
            status = result_gather(run, result, numbers[i], &rows->columns[i]);
        if (status == STATUS_OK)
            rows->column_count++;
    }
    result_free(result);
    if (status != STATUS_OK)
        rowset_free(rows);
    return status;
}
