/* residual.c: see residual.h. */
#include "engine/relational/join/residual.h"

#include "engine/plan/expression_vector.h"
#include "engine/sql/scalar.h"
#include "storage/base/memory.h"
#include "storage/base/parallel.h"

#include <stdlib.h>
#include <string.h>

/* A column that the condition names. */
struct residual_column {
    uint32_t number;
    bool right;
    const struct rowset_column *column;
    const uint64_t *places;
    struct sql_input input;
    int64_t low, high;
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

/* The range of a column's values: low > high if there are none. */
static void find_range(const struct rowset_column *column, uint64_t rows, int64_t *low, int64_t *high)
{
    *low = INT64_MAX;
    *high = INT64_MIN;
    for (uint64_t row = 0; row < rows; row++) {
        if (column->nulls && column->nulls[row])
            continue;
        *low = column->values[row] < *low ? column->values[row] : *low;
        *high = column->values[row] > *high ? column->values[row] : *high;
    }
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
        find_range(made.column, side->parts[column->part].answer->rows.rows, &made.low, &made.high);
        made.of_null = made.low <= made.high ? made.low : 0;
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
    *low = column->low;
    *high = column->high;
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

static enum status test_pairs(void *context, unsigned thread, const uint64_t *lefts, const uint64_t *rights,
                              uint32_t count, uint8_t *truth, struct error *error)
{
    struct residual *const residual = context;
    struct expression_program **const program = &residual->programs[thread];
    const uint32_t *leaves;
    if (!*program)
        RETURN_IF_ERROR(expression_program_create(residual->list, &residual->root, 1, program, error));
    const uint32_t leaf_count = expression_program_leaves(*program, &leaves);
    for (uint32_t l = 0; l < leaf_count; l++) {
        const struct residual_column *const column =
            column_of(residual, residual->list->nodes[leaves[l]].index);
        fill(column, column->right ? rights : lefts, count, expression_program_vector(*program, leaves[l]));
    }
    expression_program_run(*program, count);
    RETURN_IF_ERROR(expression_check(residual->list, error));
    RETURN_IF_ERROR(expression_check(residual->list, error));
    const struct vector made = expression_program_vector(*program, residual->root);
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

/* A row with itself is a pair: so a filter is a SEMI join with one row of nothing. */
enum status residual_filter(struct relational *run, const struct sql_expression *condition,
                            struct result *result)
{
    const unsigned threads = engine_threads(run->task->engine);
    struct residual *residual;
    struct join_test test;
    struct join_result kept = {0};
    RETURN_IF_ERROR(residual_create(run, condition, result, NULL, threads, &residual, &test));
    const struct join_task task = {
        .join = LOGICAL_SEMI, .left_rows = result->rows, .right_rows = 1, .test = &test, .threads = threads};
    enum status status = join_rows(&task, &kept, run->error);
    residual_free(residual);
    if (status == STATUS_OK && kept.count < result->rows)
        status = result_select(run, result, kept.lefts, kept.count);
    join_result_free(&kept);
    return status;
}
