/* bind_columns.c: gives each column that is named a leaf, the same wherever it is named (bind_internal.h). */
#include "engine/sql/bind_internal.h"
#include "storage/base/memory.h"

static enum status known_column(struct binder *binder, uint32_t table, const struct column *column,
                                uint32_t *node)
{
    for (uint32_t i = 0; i < binder->known_count; i++)
        if (binder->known[i].table == table && binder->known[i].column == column) {
            *node = binder->known[i].node;
            return STATUS_OK;
        }
    const struct bind_table *const of = &binder->tables[table];
    if (table == binder->fact)
        RETURN_IF_ERROR(planner_fact_leaf(&binder->planner, column, node));
    else
        RETURN_IF_ERROR(planner_dimension_leaf(&binder->planner, (uint32_t)of->join, of->rows, column, node));
    RETURN_IF_ERROR(memory_grow(&binder->known, (binder->known_count + 1) * sizeof *binder->known,
                                "a statement", binder->error));
    binder->known[binder->known_count++] = (struct bind_known){table, column, *node};
    return STATUS_OK;
}

enum status bind_column(struct binder *binder, uint32_t table, const struct column *column, uint32_t *node)
{
    if (table != binder->fact && binder->tables[table].join < 0) {
        bind_cut(binder, SQL_CUT_JOINS); /* operators join the tables in the order of FROM */
        return error_set(binder->error, STATUS_BAD_INPUT,
                         "ON of a LEFT JOIN has a condition on %s, which is joined later",
                         binder->tables[table].source->name);
    }
    if (column->untyped) /* as the word NULL that it was made of, so that it takes any type */
        return expression_null(binder->list, VALUE_UNTYPED, node, binder->error);
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

enum status bind_input(struct binder *binder, const struct sql_expression *ast, uint32_t *node)
{
    uint32_t table;
    if (binder->scalars)
        return bind_scalar_input(binder, ast, node);
    const struct column *const column = bind_column_of_input(binder, ast, &table);
    return column ? bind_placed(binder, ast->position, bind_column(binder, table, column, node))
                  : bind_refuse(binder, ast->position, "column %u of the tree is not answered", ast->index);
}
