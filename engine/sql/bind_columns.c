/*
 * engine/sql/bind_columns.c: columns that a statement reads become leaves of its expressions (engine/sql/bind_internal.h): a fact's own,
 * a dimension's by way of its join, and keys, which are read where they are referenced.
 */
#include "engine/plan/fact_data.h"
#include "engine/sql/bind_internal.h"
#include "engine/plan/value_text.h"

#include <stdlib.h>

enum status bind_join_add(struct binder *binder, const struct column *key, const char *name, bool inner,
                          uint32_t *join)
{
    struct plan *plan = binder->plan;
    uint32_t column;
    RETURN_IF_ERROR(bind_fact_column(binder, key, &column));
    if (plan->join_count == PLAN_JOINS_MAX)
        return error_set(binder->error, STATUS_BAD_INPUT, "the statement joins more than %u tables",
                         PLAN_JOINS_MAX);
    char *copy = strdup(name);
    if (!copy)
        return error_out_of_memory(binder->error, strlen(name), "a name");
    *join = plan->join_count++;
    plan->joins[*join] = (struct plan_join){.table = key->references->table,
                                            .name = copy,
                                            .column = column,
                                            .inner = inner,
                                            .match = EXPRESSION_NONE,
                                            .passing = key->references->table->rows,
                                            .contiguous = true,
                                            .last = key->references->table->rows - 1};
    return STATUS_OK;
}

enum status bind_fact_column(struct binder *binder, const struct column *column, uint32_t *number)
{
    struct plan *plan = binder->plan;
    for (uint32_t c = 0; c < plan->column_count; c++)
        if (plan->columns[c].column == column) {
            *number = c;
            return STATUS_OK;
        }
    if (plan->column_count == PLAN_COLUMNS_MAX)
        return error_set(binder->error, STATUS_BAD_INPUT, "the statement reads more than %u columns of %s",
                         PLAN_COLUMNS_MAX, plan->fact->name);
    const char *codec = binder->codec;
    if (binder->wide && column->value_bytes == 8)
        codec = column->own == CODEC_PLAIN ? "plain" : "lane-for";
    struct fact_data opened;
    RETURN_IF_ERROR(fact_data_open(plan->database, column, codec, binder->threads, &opened, binder->error));
    *number = plan->column_count++;
    plan->columns[*number] = (struct plan_column){.column = column,
                                                  .data = opened.data,
                                                  .nullable = opened.nullable,
                                                  .width_low = opened.width_low,
                                                  .width_high = opened.width_high};
    return STATUS_OK;
}

/* A leaf for the column, whose values come from the source; one for each source. */
static enum status leaf_add(struct binder *binder, int32_t join, uint32_t from, const struct column *column,
                            bool nullable, uint32_t *node)
{
    struct plan *plan = binder->plan;
    uint32_t source = 0;
    while (source < plan->source_count &&
           (plan->sources[source].join != join || plan->sources[source].column != from))
        source++;
    if (source == plan->source_count) {
        if (source == PLAN_SOURCES_MAX)
            return error_set(binder->error, STATUS_BAD_INPUT, "the statement reads more than %u columns",
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
    return expression_add(binder->list, &leaf, node, binder->error);
}

/* The key that a fact row references: read from the dimension, by a join that drops nothing. */
static enum status key_value(struct binder *binder, const struct column *key, uint32_t *node)
{
    struct plan *plan = binder->plan;
    uint32_t join = 0;
    while (join < plan->join_count &&
           (plan->columns[plan->joins[join].column].column != key || binder->on_only[join]))
        join++;
    if (join == plan->join_count)
        RETURN_IF_ERROR(bind_join_add(binder, key, key->references->table->name, false, &join));
    uint32_t array = 0;
    while (array < plan->array_count &&
           (plan->arrays[array].column != key->references ||
            plan->arrays[array].rows != key->references->table->rows || plan->arrays[array].composed))
        array++;
    if (array == plan->array_count)
        RETURN_IF_ERROR(plan_array_open(plan, key->references, NULL, key->references->table->rows,
                                        binder->threads, &array, binder->error));
    return leaf_add(binder, (int32_t)join, array, key->references,
                    plan->columns[plan->joins[join].column].nullable, node);
}

static enum status dimension_value(struct binder *binder, const struct bind_table *table,
                                   const struct column *column, uint32_t *node)
{
    struct plan *plan = binder->plan;
    const struct plan_join *join = &plan->joins[table->join];
    const int32_t *positions = table->positions;
    int32_t *composed = NULL;
    if (column->references) { /* the key that a dimension's row references */
        RETURN_IF_ERROR(plan_positions_read(plan, column, binder->threads, &composed, binder->error));
        if (positions) {
            int32_t *chained = malloc((join->table->rows + 1) * sizeof *chained);
            for (uint64_t row = 0; chained && row < join->table->rows; row++)
                chained[row] = positions[row] < 0 ? -1 : composed[positions[row]];
            free(composed);
            if (!chained)
                return error_out_of_memory(binder->error, join->table->rows * 4, "a dimension's positions");
            composed = chained;
        }
        column = column->references;
        positions = composed;
    }
    uint32_t array = 0;
    enum status status = STATUS_OK;
    while (array < plan->array_count &&
           (plan->arrays[array].column != column || positions || plan->arrays[array].composed))
        array++;
    if (array == plan->array_count)
        status = plan_array_open(plan, column, positions, join->table->rows, binder->threads, &array,
                                 binder->error);
    free(composed);
    RETURN_IF_ERROR(status);
    const bool nullable = plan->arrays[array].valid || plan->columns[join->column].nullable ||
                          (!join->inner && binder->on_only[table->join]) || positions;
    return leaf_add(binder, table->join, array, column, nullable, node);
}

static enum status known_column(struct binder *binder, uint32_t table, const struct column *column,
                                uint32_t *node)
{
    for (uint32_t i = 0; i < binder->known_count; i++)
        if (binder->known[i].table == table && binder->known[i].column == column) {
            *node = binder->known[i].node;
            return STATUS_OK;
        }
    if (table != binder->fact) {
        RETURN_IF_ERROR(dimension_value(binder, &binder->tables[table], column, node));
    } else if (column->references) {
        RETURN_IF_ERROR(key_value(binder, column, node));
    } else {
        uint32_t number;
        RETURN_IF_ERROR(bind_fact_column(binder, column, &number));
        RETURN_IF_ERROR(leaf_add(binder, -1, number, column, binder->plan->columns[number].nullable, node));
    }
    if (binder->known_count < PLAN_SOURCES_MAX)
        binder->known[binder->known_count++] = (struct bind_known){table, column, *node};
    return STATUS_OK;
}

enum status bind_column(struct binder *binder, uint32_t table, const struct column *column, uint32_t *node)
{
    if (table != binder->fact && binder->tables[table].join < 0)
        return error_set(
            binder->error, STATUS_BAD_INPUT,
            "ON of a LEFT JOIN has a condition on %s, which is joined later; name %s first, or put the "
            "condition into WHERE",
            binder->tables[table].name, binder->tables[table].name);
    RETURN_IF_ERROR(known_column(binder, table, column, node));
    for (uint32_t t = table; t != binder->fact; t = (uint32_t)binder->tables[t].parent) {
        uint32_t null;
        if (binder->tables[t].kept == EXPRESSION_NONE)
            continue;
        RETURN_IF_ERROR(expression_null(binder->list, binder->list->nodes[*node].type, &null, binder->error));
        RETURN_IF_ERROR(expression_apply(binder->list, EXPRESSION_CHOOSE, binder->tables[t].kept, *node, null,
                                         node, binder->error));
    }
    return STATUS_OK;
}
