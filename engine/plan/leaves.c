/*
 * leaves.c: makes the columns that a statement reads leaves of its expressions (planner.h): columns of the
 * fact, columns of a dimension through its join, and foreign keys, whose values are read from the referenced
 * table. Each column is opened once.
 */
#include "engine/plan/fact_data.h"
#include "engine/plan/planner.h"
#include "engine/plan/value_text.h"

#include <stdlib.h>
#include <string.h>

/* Gives the number of a fact column in the plan; opens the column if it is new. */
static enum status fact_column(struct planner *planner, const struct column *column, uint32_t *number)
{
    struct plan *plan = planner->plan;
    for (uint32_t c = 0; c < plan->column_count; c++)
        if (plan->columns[c].column == column) {
            *number = c;
            return STATUS_OK;
        }
    if (plan->column_count == PLAN_COLUMNS_MAX)
        return error_set(planner->error, STATUS_BAD_INPUT,
                         "the statement reads more than %u columns of %s; ask for them in several statements",
                         PLAN_COLUMNS_MAX, plan->fact->name);
    struct fact_data opened;
    RETURN_IF_ERROR(
        fact_data_open(plan->database, column, planner->codec, planner->threads, &opened, planner->error));
    *number = plan->column_count++;
    plan->columns[*number] = (struct plan_column){.column = column,
                                                  .data = opened.data,
                                                  .nullable = opened.nullable,
                                                  .width_low = opened.width_low,
                                                  .width_high = opened.width_high};
    return STATUS_OK;
}

enum status planner_join(struct planner *planner, const struct column *key, const char *name, bool inner,
                         uint32_t *join)
{
    struct plan *plan = planner->plan;
    const struct table *const table = key->references->table;
    uint32_t column;
    RETURN_IF_ERROR(fact_column(planner, key, &column));
    if (plan->join_count == PLAN_JOINS_MAX)
        return error_set(
            planner->error, STATUS_BAD_INPUT,
            "the statement joins more than %u tables, counting those that foreign keys in it reference",
            PLAN_JOINS_MAX);
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
                                            .last = table->rows - 1};
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
        if (source == PLAN_SOURCES_MAX)
            return error_set(
                planner->error, STATUS_BAD_INPUT,
                "the statement reads more than %u columns of its tables; ask for them in several "
                "statements",
                PLAN_SOURCES_MAX);
        plan->sources[plan->source_count++] = (struct plan_source){.join = join, .column = from};
    }
    const struct column_statistics *statistics = &column->statistics;
    const bool none = statistics->min > statistics->max;
    const struct expression leaf = {.operation = EXPRESSION_COLUMN,
                                    .type = column_value_type(column),
                                    .nullable = nullable || none,
                                    .index = source,
                                    .low = none ? 0 : statistics->min,
                                    .high = none ? 0 : statistics->max};
    return expression_add(&plan->expressions, &leaf, node, planner->error);
}

/* Gives the array of a dimension's column. Joins share it unless it is composed through `positions`. */
static enum status array_of(struct planner *planner, const struct column *column, const int32_t *positions,
                            uint64_t rows, uint32_t *array)
{
    struct plan *plan = planner->plan;
    for (*array = 0; !positions && *array < plan->array_count; (*array)++)
        if (plan->arrays[*array].column == column && plan->arrays[*array].rows == rows &&
            !plan->arrays[*array].composed)
            return STATUS_OK;
    return plan_array_open(plan, column, positions, rows, planner->threads, array, planner->error);
}

/* Gives the leaf of the key that a fact row references. It is read from the dimension through a join that
 * drops no rows. */
static enum status key_leaf(struct planner *planner, const struct column *key, uint32_t *node)
{
    struct plan *plan = planner->plan;
    const struct table *const table = key->references->table;
    uint32_t join = 0, array;
    while (join < plan->join_count &&
           (plan->columns[plan->joins[join].column].column != key || planner->conditional[join]))
        join++;
    if (join == plan->join_count)
        RETURN_IF_ERROR(planner_join(planner, key, table->name, false, &join));
    RETURN_IF_ERROR(array_of(planner, key->references, NULL, table->rows, &array));
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

enum status planner_positions(struct planner *planner, const struct column *key, const int32_t *positions,
                              uint64_t rows, int32_t **composed)
{
    int32_t *own;
    RETURN_IF_ERROR(plan_positions_read(planner->plan, key, planner->threads, &own, planner->error));
    *composed = own;
    if (!positions)
        return STATUS_OK;
    *composed = malloc((rows + 1) * sizeof **composed);
    for (uint64_t row = 0; *composed && row < rows; row++)
        (*composed)[row] = positions[row] < 0 ? -1 : own[positions[row]];
    free(own);
    return *composed
               ? STATUS_OK
               : error_out_of_memory(planner->error, rows * sizeof **composed, "a dimension's positions");
}

enum status planner_dimension_leaf(struct planner *planner, uint32_t j, const int32_t *positions,
                                   const struct column *column, uint32_t *node)
{
    const struct plan *plan = planner->plan;
    const struct plan_join *join = &plan->joins[j];
    int32_t *composed = NULL;
    uint32_t array;
    if (column->references) { /* the key that a dimension's row references */
        RETURN_IF_ERROR(planner_positions(planner, column, positions, join->table->rows, &composed));
        column = column->references;
        positions = composed;
    }
    const bool beyond = positions != NULL;
    const enum status status = array_of(planner, column, positions, join->table->rows, &array);
    free(composed);
    RETURN_IF_ERROR(status);
    const bool nullable = plan->arrays[array].valid || plan->columns[join->column].nullable ||
                          (!join->inner && planner->conditional[j]) || beyond;
    return leaf_add(planner, (int32_t)j, array, column, nullable, node);
}
