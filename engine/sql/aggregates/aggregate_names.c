/* aggregate_names.c: see aggregate_names.h. */
#include "engine/sql/aggregates/aggregate_names.h"

bool sql_is_aggregate(const struct sql_expression *ast)
{
    const struct aggregate_name *const name =
        ast->operation == SQL_FUNCTION ? aggregate_name_find(ast->name) : NULL;
    return name && (name->family != FAMILY_BASIC || ast->child_count <= 1);
}

bool sql_is_computed_above(const struct sql_expression *ast)
{
    bool any = ast->window || sql_is_aggregate(ast);
    for (uint32_t c = 0; c < ast->child_count && !any; c++)
        any = sql_is_computed_above(ast->children[c]);
    return any;
}

bool sql_has_aggregate(const struct sql_expression *ast)
{
    if (sql_is_aggregate(ast))
        return true;
    for (uint32_t c = 0; c < ast->child_count; c++)
        if (sql_has_aggregate(ast->children[c]))
            return true;
    return false;
}
