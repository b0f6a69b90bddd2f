/* bind_constants.c: binds what a statement without FROM may have: SELECT 7 * 6 gives one row, or none if WHERE is not true. */
#include "engine/sql/bind_internal.h"

enum status bind_without_tables(struct binder *binder)
{
    const struct sql_select *const select = binder->select;
    const struct sql_expression *const first = select->items[0].expression;
    for (uint32_t i = 0; i < select->item_count; i++)
        if (select->items[i].expression->operation == SQL_STAR)
            return bind_refuse(binder, select->items[i].expression->position,
                               "* needs tables, and the statement has no FROM");
    if (binder->aggregated || select->distinct)
        return bind_refuse(
            binder, first->position,
            "aggregates, GROUP BY, HAVING and DISTINCT need rows, and the statement has no FROM");
    return select->where ? bind_condition(binder, select->where, BIND_BELOW, &binder->plan->having)
                         : STATUS_OK;
}
