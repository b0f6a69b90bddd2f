/* residual.c: see residual.h. */
#include "engine/relational/join/residual.h"

#include "engine/plan/expression_vector.h"
#include "engine/sql/scalar.h"
#include "storage/base/memory.h"
#include "storage/base/parallel.h"
#include "storage/base/sort/sort_rows.h"

#include <stdlib.h>
#include <string.h>

struct range {
    int64_t low, high; /* low > high: there are no values */
};

/* A column that the condition names. */
struct residual_column {
    uint32_t number;
    bool right;
    const struct rowset_column *column;
    const uint64_t *places;
    struct sql_input input;
    struct range range;
    int64_t of_null; /* what stands where it is NULL: a value in its range */
};

struct residual {
    struct relational *run;
    const struct result *sides[2];
    uint32_t column_count;
    struct residual_column *columns;
    struct sql_scalar_options options; /* of `scalars`, which keep them */
    struct sql_scalars *scalars;
    const struct expression_list *list;
    uint32_t root;
    unsigned threads;
    struct expression_program **programs; /* one for each thread, made at its first pairs */
};

/* ---- Columns ---- */

#define SLICE_ROWS 16384u

struct finding {
    const struct rowset_column *column;
    uint64_t rows;
    struct range *ranges; /* of each slice */
};

static enum status find_slice(void *context, uint64_t item, unsigned thread, struct error *error)
{
    const struct finding *const finding = context;
    const uint64_t begin = item * SLICE_ROWS, left = finding->rows - begin,
                   count = left < SLICE_ROWS ? left : SLICE_ROWS;
    const int64_t *const values = finding->column->values + begin;
    const uint8_t *const nulls = finding->column->nulls ? finding->column->nulls + begin : NULL;
    struct range range = {INT64_MAX, INT64_MIN};
    (void)thread;
    for (uint64_t i = 0; !nulls && i < count; i++) {
        range.low = values[i] < range.low ? values[i] : range.low;
        range.high = values[i] > range.high ? values[i] : range.high;
    }
    for (uint64_t i = 0; nulls && i < count; i++) {
        range.low = !nulls[i] && values[i] < range.low ? values[i] : range.low;
        range.high = !nulls[i] && values[i] > range.high ? values[i] : range.high;
    }
    finding->ranges[item] = range;
    return cancel_check(error);
}

/* The range of a column's values. */
static enum status find_range(const struct residual *residual, const struct rowset_column *column,
                              uint64_t rows, struct range *range)
{
    struct error *const error = residual->run->error;
    const uint64_t slices = (rows + SLICE_ROWS - 1) / SLICE_ROWS;
    struct finding finding = {.column = column, .rows = rows};
    RETURN_IF_ERROR(memory_take(&finding.ranges, (slices + 1) * sizeof *finding.ranges, "a join", error));
    const enum status status = parallel_for(residual->threads, slices, find_slice, &finding, error);
    *range = (struct range){INT64_MAX, INT64_MIN};
    for (uint64_t s = 0; status == STATUS_OK && s < slices; s++) {
        range->low = finding.ranges[s].low < range->low ? finding.ranges[s].low : range->low;
        range->high = finding.ranges[s].high > range->high ? finding.ranges[s].high : range->high;
    }
    free(finding.ranges);
    return status;
}

static enum status add_column(struct residual *residual, uint32_t number)
{
    struct relational *const run = residual->run;
    for (uint32_t c = 0; c < residual->column_count; c++)
        if (residual->columns[c].number == number)
            return STATUS_OK;
    for (int right = 0; right < 2; right++) {
        const struct result *const side = residual->sides[right];
        struct residual_column made = {.number = number, .right = right};
        made.column = side ? result_column(side, number, &made.places) : NULL;
        if (!made.column)
            continue;
        const struct result_column *column = side->columns;
        while (column->number != number)
            column++;
        made.input.type = made.column->type;
        made.input.nullable = true;
        RETURN_IF_ERROR(
            find_range(residual, made.column, side->parts[column->part].answer->rows.rows, &made.range));
        made.of_null = made.range.low <= made.range.high ? made.range.low : 0;
        return sql_tree_append(run->arena, &residual->columns, &residual->column_count, sizeof made, &made,
                               run->error);
    }
    return error_set(run->error, STATUS_BAD_INPUT, "a condition names column %u, which is in no input",
                     number);
}

static enum status add_columns(struct residual *residual, const struct sql_expression *tree)
{
    if (tree->operation == SQL_INPUT)
        return add_column(residual, tree->index);
    for (uint32_t c = 0; c < tree->child_count; c++)
        RETURN_IF_ERROR(add_columns(residual, tree->children[c]));
    return STATUS_OK;
}

static const struct residual_column *column_of(const struct residual *residual, uint32_t number)
{
    uint32_t c = 0;
    while (residual->columns[c].number != number)
        c++;
    return &residual->columns[c];
}

static struct sql_input input_of(const void *context, uint32_t number)
{
    return column_of(context, number)->input;
}

static void range_of(const void *context, uint32_t number, int64_t *low, int64_t *high)
{
    const struct residual_column *const column = column_of(context, number);
    *low = column->range.low;
    *high = column->range.high;
}

/* ---- Pairs ---- */

static void fill(const struct residual_column *column, const uint64_t *rows, uint32_t count,
                 struct vector vector)
{
    for (uint32_t i = 0; i < count; i++) {
        const uint64_t row = column->places && rows[i] != RELATION_NO_ROW ? column->places[rows[i]] : rows[i];
        const bool null = row == RELATION_NO_ROW || (column->column->nulls && column->column->nulls[row]);
        vector.values[i] = null ? column->of_null : column->column->values[row];
        vector.nulls[i] = null;
    }
}

/* The thread's own program. */
static enum status program_of(struct residual *residual, unsigned thread, struct expression_program **program,
                              struct error *error)
{
    if (!residual->programs[thread])
        RETURN_IF_ERROR(expression_program_create(residual->list, &residual->root, 1,
                                                  &residual->programs[thread], error));
    *program = residual->programs[thread];
    return STATUS_OK;
}

static enum status test_pairs(void *context, unsigned thread, const uint64_t *lefts, const uint64_t *rights,
                              uint32_t count, uint8_t *truth, struct error *error)
{
    struct residual *const residual = context;
    struct expression_program *program;
    const uint32_t *leaves;
    RETURN_IF_ERROR(program_of(residual, thread, &program, error));
    const uint32_t leaf_count = expression_program_leaves(program, &leaves);
    for (uint32_t l = 0; l < leaf_count; l++) {
        const struct residual_column *const column =
            column_of(residual, residual->list->nodes[leaves[l]].index);
        fill(column, column->right ? rights : lefts, count, expression_program_vector(program, leaves[l]));
    }
    expression_program_run(program, count);
    RETURN_IF_ERROR(expression_check(residual->list, error));
    const struct vector made = expression_program_vector(program, residual->root);
    for (uint32_t i = 0; i < count; i++)
        truth[i] = made.nulls && made.nulls[i] ? JOIN_UNKNOWN : made.values[i] ? JOIN_TRUE : JOIN_FALSE;
    return STATUS_OK;
}

/* ---- The whole ---- */

static enum status bind(struct residual *residual, const struct sql_expression *condition)
{
    struct relational *const run = residual->run;
    RETURN_IF_ERROR(add_columns(residual, condition));
    residual->options = (struct sql_scalar_options){.parameters = run->parameters,
                                                    .parameter_count = run->parameter_count,
                                                    .like = run->task->like,
                                                    .zone = run->task->zone,
                                                    .now = run->task->now,
                                                    .threads = residual->threads,
                                                    .input = input_of,
                                                    .range = range_of,
                                                    .context = residual};
    RETURN_IF_ERROR(sql_scalars_new(&residual->options, &residual->scalars, run->error));
    RETURN_IF_ERROR(sql_scalar_condition_node(residual->scalars, condition, &residual->list, &residual->root,
                                              run->error));
    return memory_zeros(&residual->programs, residual->threads * sizeof(struct expression_program *),
                        "a join", run->error);
}

enum status residual_create(struct relational *run, const struct sql_expression *condition,
                            const struct result *left, const struct result *right, unsigned threads,
                            struct residual **out, struct join_test *test)
{
    struct residual *residual;
    *out = NULL;
    RETURN_IF_ERROR(memory_zeros(&residual, sizeof *residual, "a join", run->error));
    residual->run = run;
    residual->sides[0] = left;
    residual->sides[1] = right;
    residual->threads = threads;
    const enum status status = bind(residual, condition);
    if (status != STATUS_OK) {
        residual_free(residual);
        return status;
    }
    *test = (struct join_test){test_pairs, residual};
    *out = residual;
    return STATUS_OK;
}

void residual_free(struct residual *residual)
{
    if (!residual)
        return;
    for (unsigned t = 0; residual->programs && t < residual->threads; t++)
        expression_program_free(residual->programs[t]);
    free(residual->programs);
    sql_scalars_free(residual->scalars);
    free(residual);
}

/* ---- Filters ---- */

struct filtering {
    struct residual *residual;
    uint64_t rows;
    uint8_t *kept; /* of each row */
};

/* As fill, of rows that follow each other. */
static void fill_rows(const struct residual_column *column, uint64_t first, uint32_t count,
                      struct vector vector)
{
    uint64_t rows[VECTOR_ROWS];
    if (!column->places && !column->column->nulls) {
        memcpy(vector.values, column->column->values + first, count * sizeof *vector.values);
        memset(vector.nulls, 0, count);
        return;
    }
    for (uint32_t i = 0; i < count; i++)
        rows[i] = first + i;
    fill(column, rows, count, vector);
}

static enum status test_rows(const struct filtering *filtering, struct expression_program *program,
                             uint64_t first, uint32_t count, struct error *error)
{
    const struct residual *const residual = filtering->residual;
    const uint32_t *leaves, leaf_count = expression_program_leaves(program, &leaves);
    for (uint32_t l = 0; l < leaf_count; l++)
        fill_rows(column_of(residual, residual->list->nodes[leaves[l]].index), first, count,
                  expression_program_vector(program, leaves[l]));
    expression_program_run(program, count);
    RETURN_IF_ERROR(expression_check(residual->list, error));
    const struct vector made = expression_program_vector(program, residual->root);
    for (uint32_t i = 0; i < count; i++)
        filtering->kept[first + i] = made.values[i] && !(made.nulls && made.nulls[i]);
    return STATUS_OK;
}

static enum status filter_slice(void *context, uint64_t item, unsigned thread, struct error *error)
{
    const struct filtering *const filtering = context;
    const uint64_t begin = item * SLICE_ROWS, left = filtering->rows - begin,
                   end = begin + (left < SLICE_ROWS ? left : SLICE_ROWS);
    struct expression_program *program;
    RETURN_IF_ERROR(program_of(filtering->residual, thread, &program, error));
    for (uint64_t first = begin; first < end; first += VECTOR_ROWS)
        RETURN_IF_ERROR(test_rows(filtering, program, first,
                                  end - first < VECTOR_ROWS ? (uint32_t)(end - first) : VECTOR_ROWS, error));
    return cancel_check(error);
}

/* Lists the rows that pass. */
static enum status list_kept(struct residual *residual, uint64_t rows, uint64_t **places, uint64_t *count,
                             struct error *error)
{
    struct filtering filtering = {.residual = residual, .rows = rows};
    *places = NULL;
    enum status status = spillable_rows(&filtering.kept, rows + 1, "a filter", error);
    status = AND_THEN(status, parallel_for(residual->threads, (rows + SLICE_ROWS - 1) / SLICE_ROWS,
                                           filter_slice, &filtering, error));
    status = AND_THEN(status, sort_marks_list(filtering.kept, rows, 1, SORT_LIST_ROWS, residual->threads,
                                              places, count, error));
    spillable_free(filtering.kept);
    return status;
}

enum status residual_filter(struct relational *run, const struct sql_expression *condition,
                            struct result *result)
{
    struct residual *residual;
    struct join_test test;
    uint64_t *places, count = 0;
    RETURN_IF_ERROR(
        residual_create(run, condition, result, NULL, engine_threads(run->task->engine), &residual, &test));
    enum status status = list_kept(residual, result->rows, &places, &count, run->error);
    residual_free(residual);
    if (status == STATUS_OK && count < result->rows)
        status = result_select(run, result, places, count);
    spillable_free(places);
    return status;
}
