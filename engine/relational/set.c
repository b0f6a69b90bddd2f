/* set.c: rows of constants, and UNION, EXCEPT and INTERSECT (execute.h). */
#include "engine/relational/relational.h"
#include "engine/sql/sql_error.h"

#include "storage/base/memory.h"

#include <stdlib.h>

/* ---- Sets ---- */

static enum status answer_side(struct relational *run, const struct logical_node *node,
                               const uint32_t *columns, uint32_t count, struct rowset *rows)
{
    struct logical_set needed = {.words = run->tree->column_count / 64 + 1};
    struct result result;
    /* not of the statement's memory: a union may have many thousand parts */
    RETURN_IF_ERROR(memory_zeros(&needed.bits, needed.words * sizeof *needed.bits, "an answer", run->error));
    for (uint32_t c = 0; c < count; c++)
        logical_put(&needed, columns[c]);
    run->level++;
    const enum status status = relational_node(run, node, &needed, false, &result);
    run->level--;
    free(needed.bits);
    RETURN_IF_ERROR(status);
    return result_rows(run, &result, columns, count, rows);
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

enum status relational_combine(struct relational *run, const struct logical_node *node,
                               const struct logical_set *needed, struct result *result)
{
    static const char *const names[] = {"union", "except", "intersect"};
    static const enum relation_set sets[][2] = {
        [SQL_SET_UNION] = {RELATION_UNION, RELATION_UNION_ALL},
        [SQL_SET_EXCEPT] = {RELATION_EXCEPT, RELATION_EXCEPT_ALL},
        [SQL_SET_INTERSECT] = {RELATION_INTERSECT, RELATION_INTERSECT_ALL}};
    struct rowset left, right;
    uint32_t *columns[3], count;
    RETURN_IF_ERROR(choose_columns(run, node, needed, columns, &count));
    RETURN_IF_ERROR(relational_line(run, "%s%s of:", names[node->set.set], node->set.all ? " all" : ""));
    RETURN_IF_ERROR(answer_side(run, node->inputs[0], columns[0], count, &left));
    enum status status = answer_side(run, node->inputs[1], columns[1], count, &right);
    if (status == STATUS_OK)
        status = sql_placed(run->error, node->position,
                            relation_set(sets[node->set.set][node->set.all], &left, &right, run->error));
    if (status == STATUS_OK)
        status = relational_keep(run, &left);
    if (status != STATUS_OK) {
        rowset_free(&left);
        return status;
    }
    return result_of_rows(run, &left, columns[2], result);
}

/* ---- Rows of constants ---- */

/* One row as a SELECT without FROM. */
static enum status make_row(struct relational *run, const struct logical_node *node, uint32_t r,
                            struct rowset *rows)
{
    struct sql_select *select;
    RETURN_IF_ERROR(relational_memory(run, sizeof *select, &select));
    select->position = node->position;
    for (uint32_t c = 0; c < node->column_count; c++)
        RETURN_IF_ERROR(relational_item(run, select, node->values.rows[r][c], node->columns[c]));
    return relational_plan(run, run->task->database, select, false, rows);
}

/* Adds halves, so that the time for many rows is not quadratic. */
static enum status make_rows(struct relational *run, const struct logical_node *node, uint32_t first,
                             uint32_t count, struct rowset *rows)
{
    struct rowset right;
    if (count == 1)
        return make_row(run, node, first, rows);
    RETURN_IF_ERROR(make_rows(run, node, first, count / 2, rows));
    enum status status = make_rows(run, node, first + count / 2, count - count / 2, &right);
    if (status == STATUS_OK)
        status = sql_placed(run->error, node->position,
                            relation_set(RELATION_UNION_ALL, rows, &right, run->error));
    if (status == STATUS_OK)
        status = relational_keep(run, rows);
    if (status != STATUS_OK)
        rowset_free(rows);
    return status;
}

enum status relational_values(struct relational *run, const struct logical_node *node, struct result *result)
{
    struct rowset rows;
    if (node->column_count == 0 || node->values.row_count == 0) {
        *result = (struct result){.rows = node->values.row_count};
        return STATUS_OK;
    }
    RETURN_IF_ERROR(make_rows(run, node, 0, node->values.row_count, &rows));
    return result_of_rows(run, &rows, node->columns, result);
}
