/* set.c: rows of constants, and UNION, EXCEPT and INTERSECT (execute.h). */
#include "engine/relational/spill/spill.h"
#include "engine/sql/sql_error.h"

#include "storage/base/memory.h"

#include <stdlib.h>

/* ---- Sets ---- */

static enum status answer_side(struct relational *run, const struct logical_node *node,
                               const uint32_t *columns, uint32_t count, struct result *result)
{
    struct logical_set needed = {.words = run->tree->column_count / 64 + 1};
    /* not of the statement's memory: a union may have many thousand parts */
    RETURN_IF_ERROR(memory_zeros(&needed.bits, needed.words * sizeof *needed.bits, "an answer", run->error));
    for (uint32_t c = 0; c < count; c++)
        logical_put(&needed, columns[c]);
    const enum status status = relational_node(run, node, &needed, result);
    free(needed.bits);
    return status;
}

/* UNION ALL needs no columns that nobody needs; the other sets compare all. */
static enum status choose_columns(struct relational *run, const struct logical_node *node,
                                  const struct logical_set *needed, uint32_t *columns[3], uint32_t *count)
{
    const bool all = node->set.set == SQL_SET_UNION && node->set.all;
    for (int i = 0; i < 3; i++)
        RETURN_IF_ERROR(relational_memory(run, (node->column_count + 1) * sizeof **columns, &columns[i]));
    *count = 0;
    for (uint32_t c = 0; c < node->column_count; c++) {
        if (all && !logical_has(needed, node->columns[c]))
            continue;
        columns[0][*count] = node->inputs[0]->columns[c];
        columns[1][*count] = node->inputs[1]->columns[c];
        columns[2][(*count)++] = node->columns[c];
    }
    return STATUS_OK;
}

/* UNION gives at most the rows of both, EXCEPT those of the left side, INTERSECT those of the smaller one. */
static double expected_rows(const struct logical_node *node, const struct result *sides)
{
    const double left = (double)sides[0].rows, right = (double)sides[1].rows;
    return node->set.set == SQL_SET_UNION    ? left + right
           : node->set.set == SQL_SET_EXCEPT ? left
           : left < right                    ? left
                                             : right;
}

/* ---- Both sides together, or part by part (spill/spill.h) ---- */

struct combining {
    struct relational *run;
    enum relation_set set;
    uint32_t count, *numbers; /* of the columns of both sides */
};

static enum status combine(struct combining *combining, struct rowset *left, struct rowset *right,
                           struct result *result);

static enum status combine_part(void *context, struct result *inputs, struct result *result)
{
    struct combining *const combining = context;
    struct relational *const run = combining->run;
    struct rowset left, right;
    RETURN_IF_ERROR(result_rows(run, &inputs[0], combining->numbers, combining->count, &left));
    const enum status status = result_rows(run, &inputs[1], combining->numbers, combining->count, &right);
    if (status == STATUS_OK)
        return combine(combining, &left, &right, result);
    rowset_free(&left);
    return status;
}

/* Of equal types; rows that are equal in all columns are in one part. */
static enum status combine_divided(struct combining *combining, struct result *left, struct result *right,
                                   struct result *result)
{
    struct relational *const run = combining->run;
    const uint32_t *const keys[2] = {combining->numbers, combining->numbers};
    bool one_key, other_key;
    RETURN_IF_ERROR(spill_is_one_key(run, left, combining->count, keys[0], &one_key));
    RETURN_IF_ERROR(spill_is_one_key(run, right, combining->count, keys[1], &other_key));
    if (!one_key || !other_key)
        return spill_run(run, 2, (struct result *const[]){left, right}, combining->count, keys, combine_part,
                         combining, result);
    struct result inputs[2] = {*left, *right};
    *left = *right = (struct result){0};
    const enum status status = spill_undivided(run, combine_part, combining, inputs, result);
    result_free(&inputs[0]);
    result_free(&inputs[1]);
    return status;
}

/* Both are used up, also after an error. */
static enum status combine(struct combining *combining, struct rowset *left, struct rowset *right,
                           struct result *result)
{
    struct relational *const run = combining->run;
    const struct spill_mark mark = spill_mark();
    struct result sides[2] = {0};
    enum status status =
        relation_set(combining->set, left, right, engine_threads(run->task->engine), run->error);
    const bool divides = spill_wanted(run, &mark, status);
    if (status == STATUS_OK || divides)
        status = relational_keep(run, left);
    if (status == STATUS_OK && !divides)
        return result_of_rows(run, left, combining->numbers, result);
    if (status == STATUS_OK)
        status = relational_keep(run, right);
    if (status == STATUS_OK)
        status = result_of_rows(run, left, combining->numbers, &sides[0]);
    if (status == STATUS_OK)
        status = result_of_rows(run, right, combining->numbers, &sides[1]);
    if (status == STATUS_OK)
        status = combine_divided(combining, &sides[0], &sides[1], result);
    result_free(&sides[0]);
    result_free(&sides[1]);
    rowset_free(left);
    rowset_free(right);
    return status;
}

static enum status combine_node(struct relational *run, const struct logical_node *node, struct result *sides,
                                uint32_t *const *columns, uint32_t count, struct result *result)
{
    static const enum relation_set sets[][2] = {
        [SQL_SET_UNION] = {RELATION_UNION, RELATION_UNION_ALL},
        [SQL_SET_EXCEPT] = {RELATION_EXCEPT, RELATION_EXCEPT_ALL},
        [SQL_SET_INTERSECT] = {RELATION_INTERSECT, RELATION_INTERSECT_ALL}};
    struct rowset left, right = {0};
    RETURN_IF_ERROR(result_rows(run, &sides[0], columns[0], count, &left));
    const enum status status = result_rows(run, &sides[1], columns[1], count, &right);
    if (status != STATUS_OK) {
        rowset_free(&left);
        return status;
    }
    struct combining combining = {
        .run = run, .set = sets[node->set.set][node->set.all], .count = count, .numbers = columns[2]};
    return sql_placed(run->error, node->position, combine(&combining, &left, &right, result));
}

enum status relational_combine(struct relational *run, const struct logical_node *node,
                               const struct logical_set *needed, struct result *result)
{
    static const char *const names[] = {"union", "except", "intersect"};
    struct result sides[2] = {0};
    struct operator operator;
    uint32_t *columns[3], count;
    RETURN_IF_ERROR(choose_columns(run, node, needed, columns, &count));
    enum status status = answer_side(run, node->inputs[0], columns[0], count, &sides[0]);
    if (status == STATUS_OK)
        status = answer_side(run, node->inputs[1], columns[1], count, &sides[1]);
    if (status == STATUS_OK) {
        const double expected = expected_rows(node, sides);
        operator_begin(run, "set", &sides[0], &sides[1], &operator);
        explain_words(operator.node, "kind", "%s%s", names[node->set.set], node->set.all ? " all" : "");
        if (run->dry)
            operator_dry(&operator, expected, result);
        else
            status = combine_node(run, node, sides, columns, count, result);
        if (status == STATUS_OK)
            operator_end(run, &operator, expected, result);
    }
    result_free(&sides[0]);
    result_free(&sides[1]);
    return status;
}

/* ---- Rows of constants ---- */

/* Adds the rows of `right`, which is used up. */
static enum status unite_rows(struct relational *run, const struct logical_node *node, struct rowset *rows,
                              struct rowset *right)
{
    const enum status status = sql_placed(
        run->error, node->position,
        relation_set(RELATION_UNION_ALL, rows, right, engine_threads(run->task->engine), run->error));
    if (status == STATUS_OK)
        return relational_keep(run, rows);
    rowset_free(right);
    return status;
}

/* Rows first .. first + count - 1, computed as one row with a column for each of their values. */
struct constants {
    struct relational *run;
    const struct logical_node *node;
    uint32_t first, *numbers;
    struct result result;
};

static enum status compute_constants(struct constants *constants, uint32_t count)
{
    const struct logical_node *const node = constants->node;
    struct relational *const run = constants->run;
    const struct result one = {.rows = 1};
    struct sql_select *select;
    uint32_t numbers = 0;
    constants->numbers = NULL;
    RETURN_IF_ERROR(relational_memory(run, sizeof *select, &select));
    select->position = node->position;
    for (uint32_t i = 0; i < count * node->column_count; i++) {
        const uint32_t number = run->next_column++;
        RETURN_IF_ERROR(relational_item(
            run, select, node->values.rows[constants->first + i / node->column_count][i % node->column_count],
            number));
        RETURN_IF_ERROR(
            sql_tree_append(run->arena, &constants->numbers, &numbers, sizeof number, &number, run->error));
    }
    return relational_select(run, &one, select, constants->numbers, &constants->result);
}

static enum status take_row(const struct constants *constants, uint32_t r, struct rowset *rows)
{
    struct relational *const run = constants->run;
    const uint32_t count = constants->node->column_count;
    *rows = (struct rowset){.rows = 1};
    enum status status = memory_zeros(&rows->columns, count * sizeof *rows->columns, "an answer", run->error);
    if (status == STATUS_OK)
        status =
            memory_zeros(&rows->dictionaries, count * sizeof *rows->dictionaries, "an answer", run->error);
    for (uint32_t c = 0; status == STATUS_OK && c < count; c++, rows->column_count++)
        status = result_gather(run, &constants->result,
                               constants->numbers[(r - constants->first) * count + c], &rows->columns[c]);
    if (status != STATUS_OK)
        rowset_free(rows);
    return status;
}

/* Adds halves, so that the time for many rows is not quadratic. */
static enum status add_rows(const struct constants *constants, uint32_t first, uint32_t count,
                            struct rowset *rows)
{
    struct relational *const run = constants->run;
    struct rowset right;
    if (count == 1)
        return take_row(constants, first, rows);
    RETURN_IF_ERROR(add_rows(constants, first, count / 2, rows));
    enum status status = add_rows(constants, first + count / 2, count - count / 2, &right);
    if (status == STATUS_OK)
        status = unite_rows(run, constants->node, rows, &right);
    if (status != STATUS_OK)
        rowset_free(rows);
    return status;
}

/* As many rows at a time as a plan has columns for. */
static enum status make_rows(struct relational *run, const struct logical_node *node, uint32_t first,
                             uint32_t count, struct rowset *rows)
{
    struct rowset right;
    enum status status;
    if (count > 1 && count * (uint64_t)node->column_count > PLAN_OUTPUTS_MAX) {
        RETURN_IF_ERROR(make_rows(run, node, first, count / 2, rows));
        status = make_rows(run, node, first + count / 2, count - count / 2, &right);
        if (status == STATUS_OK)
            status = unite_rows(run, node, rows, &right);
        if (status != STATUS_OK)
            rowset_free(rows);
        return status;
    }
    struct constants constants = {.run = run, .node = node, .first = first};
    status = compute_constants(&constants, count);
    if (status == STATUS_OK)
        status = add_rows(&constants, first, count, rows);
    result_free(&constants.result);
    return status;
}

static enum status make_values(struct relational *run, const struct logical_node *node, struct result *result)
{
    struct explain_tree *const explained = run->explained;
    struct rowset rows;
    run->explained = NULL; /* a row is no operator */
    const enum status status = make_rows(run, node, 0, node->values.row_count, &rows);
    run->explained = explained;
    RETURN_IF_ERROR(status);
    return result_of_rows(run, &rows, node->columns, result);
}

enum status relational_values(struct relational *run, const struct logical_node *node, struct result *result)
{
    const uint32_t rows = node->values.row_count;
    struct operator operator;
    operator_begin(run, "values", NULL, NULL, &operator);
    *result = (struct result){.rows = rows};
    if (!run->dry && node->column_count && rows)
        RETURN_IF_ERROR(make_values(run, node, result));
    operator_end(run, &operator, rows, result);
    return STATUS_OK;
}
