/*
 * leaves.c: makes the columns that a statement reads leaves of its expressions (planner.h): columns of the
 * fact, columns of a dimension through its join, and foreign keys, whose values are read from the referenced
 * table. Each column is opened once.
 */
#include "engine/plan/fact_data.h"
#include "engine/plan/levels/level_plan.h"
#include "engine/plan/planner.h"
#include "engine/plan/value_text.h"
#include "operators/dialect/query_arguments.h"
#include "storage/base/memory.h"

#include <stdlib.h>
#include <string.h>

/* True if the scan has the column's values as int32. Kernels of a GPU read what is stored; a CPU decodes values of 64 bits
 * into 32 where the statistics say that all fit. */
static bool is_narrow(const struct planner *planner, const struct column *column)
{
    const struct column_statistics *const statistics = &column->statistics;
    return column->value_bytes == 4 ||
           (!planner->on_gpu && column->schema.type != TYPE_DOUBLE && statistics->min <= statistics->max &&
            statistics->min >= INT32_MIN && statistics->max <= INT32_MAX);
}

/* Gives the number of a fact column in the plan; opens the column if it is new. */
static enum status fact_column(struct planner *planner, const struct column *column, uint32_t *number)
{
    struct plan *plan = planner->plan;
    for (uint32_t c = 0; c < plan->column_count; c++)
        if (plan->columns[c].column == column) {
            *number = c;
            return STATUS_OK;
        }
    struct fact_data opened;
    RETURN_IF_ERROR(memory_grow(&plan->columns, (plan->column_count + 1) * sizeof *plan->columns, "a plan",
                                planner->error));
    RETURN_IF_ERROR(
        fact_data_open(plan->database, column, planner->codec, planner->threads, &opened, planner->error));
    *number = plan->column_count++;
    plan->columns[*number] = (struct plan_column){.column = column,
                                                  .data = opened.data,
                                                  .nullable = opened.nullable,
                                                  .narrow = is_narrow(planner, column),
                                                  .width_low = opened.width_low,
                                                  .width_high = opened.width_high};
    return STATUS_OK;
}

bool planner_joins_full(const struct planner *planner)
{
    return planner->on_gpu && planner->plan->join_count == ARGUMENT_JOINS_MAX;
}

enum status planner_join(struct planner *planner, const struct column *key, const char *name, bool inner,
                         uint32_t *join)
{
    struct plan *plan = planner->plan;
    const struct table *const table = key->references->table;
    uint32_t column;
    RETURN_IF_ERROR(fact_column(planner, key, &column));
    if (planner_joins_full(planner))
        return error_set(planner->error, STATUS_BAD_INPUT,
                         "the statement joins more than %u tables, counting those that foreign keys in it "
                         "reference, and a scan on a GPU joins no more; give --device cpu",
                         ARGUMENT_JOINS_MAX);
    RETURN_IF_ERROR(
        memory_grow(&plan->joins, (plan->join_count + 1) * sizeof *plan->joins, "a plan", planner->error));
    char *copy = strdup(name);
    if (!copy)
        return error_out_of_memory(planner->error, strlen(name), "a name");
    *join = plan->join_count++;
    plan->joins[*join] = (struct plan_join){.table = table,
                                            .name = copy,
                                            .column = column,
                                            .inner = inner,
                                            .match = EXPRESSION_NONE,
                                            .passing = table->rows,
                                            .contiguous = true,
                                            .last = table_positions(table) - 1};
    return STATUS_OK;
}

/* Adds the leaf of a column whose values come from a source; there is one leaf for each source. */
static enum status leaf_add(struct planner *planner, int32_t join, uint32_t from, const struct column *column,
                            bool nullable, uint32_t *node)
{
    struct plan *plan = planner->plan;
    uint32_t source = 0;
    while (source < plan->source_count &&
           (plan->sources[source].join != join || plan->sources[source].column != from))
        source++;
    if (source == plan->source_count) {
        RETURN_IF_ERROR(
            plan_source_add(plan, (struct plan_source){.join = join, .column = from}, planner->error));
    }
    const struct column_statistics *statistics = &column->statistics;
    const bool none = statistics->min > statistics->max;
    struct expression leaf = {.operation = EXPRESSION_COLUMN,
                              .type = column_value_type(column),
                              .nullable = nullable || none,
                              .index = source,
                              .bits = statistics->bits,
                              .low = none ? 0 : statistics->min,
                              .high = none ? 0 : statistics->max};
    RETURN_IF_ERROR(column_dictionary(column, planner->threads, &leaf.type.dictionary, planner->error));
    return expression_add(&plan->expressions, &leaf, node, planner->error);
}

/* Gives the array of a dimension's column, by position of the join's table. Joins share it unless it is composed
 * through `rows`. */
static enum status array_of(struct planner *planner, const struct column *column,
                            const struct kept_array *rows, const struct table *table, uint32_t *array)
{
    struct plan *plan = planner->plan;
    for (*array = 0; !rows && *array < plan->array_count; (*array)++)
        if (plan->arrays[*array].column == column && !plan->arrays[*array].composed)
            return STATUS_OK;
    if (!rows && level_depth(column))
        return level_array_open(plan, column, planner->threads, array, planner->error);
    return plan_array_open(plan, column, rows, table_positions(table), planner->threads, array,
                           planner->error);
}

/* Gives the leaf of the key that a fact row references. It is read from the dimension through a join that
 * drops no rows. */
static enum status key_leaf(struct planner *planner, const struct column *key, uint32_t *node)
{
    struct plan *plan = planner->plan;
    const struct table *const table = key->references->table;
    uint32_t join = 0, array;
    while (join < plan->join_count &&
           (plan->columns[plan->joins[join].column].column != key || plan->joins[join].conditional))
        join++;
    if (join == plan->join_count)
        RETURN_IF_ERROR(planner_join(planner, key, table->name, false, &join));
    RETURN_IF_ERROR(array_of(planner, key->references, NULL, table, &array));
    return leaf_add(planner, (int32_t)join, array, key->references,
                    plan->columns[plan->joins[join].column].nullable, node);
}

enum status planner_fact_leaf(struct planner *planner, const struct column *column, uint32_t *node)
{
    uint32_t number;
    if (column->references)
        return key_leaf(planner, column, node);
    RETURN_IF_ERROR(fact_column(planner, column, &number));
    return leaf_add(planner, -1, number, column, planner->plan->columns[number].nullable, node);
}

enum status planner_dimension_leaf(struct planner *planner, uint32_t j, const struct kept_array *rows,
                                   const struct column *column, uint32_t *node)
{
    const struct plan *plan = planner->plan;
    const struct plan_join *join = &plan->joins[j];
    const struct kept_array *referenced = NULL;
    uint32_t array;
    if (column->references) { /* the key that a dimension's row references */
        RETURN_IF_ERROR(planner_rows(planner, column, rows, table_positions(join->table), &referenced));
        column = column->references;
        rows = referenced;
    }
    const bool beyond = rows != NULL;
    const enum status status = array_of(planner, column, rows, join->table, &array);
    kept_array_release(plan->database, referenced);
    RETURN_IF_ERROR(status);
    const bool nullable = plan->arrays[array].valid || plan->columns[join->column].nullable ||
                          (!join->inner && join->conditional) || beyond;
    return leaf_add(planner, (int32_t)j, array, column, nullable, node);
}
