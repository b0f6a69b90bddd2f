/* star_plan.h: the plan of a statement that one scan of stored tables answers, as sql_plan makes it, without an engine. */
#ifndef TESSERA_TESTS_SUPPORT_SQL_STAR_PLAN_H
#define TESSERA_TESTS_SUPPORT_SQL_STAR_PLAN_H

#include "engine/logical/logical.h"
#include "engine/relational/execute.h"

#include <string.h>

/* Parameters from parameter_count on are NULL. Free the plan with plan_free. *explain, which may be NULL, is as it is
 * written. */
static inline enum status star_plan_with(struct database *database, const char *text,
                                         const struct sql_parameter *parameters, uint32_t parameter_count,
                                         const struct sql_options *options, struct plan **plan,
                                         enum sql_explain *explain, struct error *error)
{
    struct sql_statement_tree *written, *const arena = sql_tree_new();
    const struct logical_options logical = {.parameters = parameters, .parameter_count = parameter_count};
    struct logical_tree tree;
    size_t used;
    *plan = NULL;
    enum status status = sql_parse(text, strlen(text), &written, &used, error);
    if (status == STATUS_OK) {
        if (explain)
            *explain = sql_tree_select(written)->explain;
        status = logical_bind(database, sql_tree_select(written), &logical, arena, &tree, error);
        if (status == STATUS_OK)
            status = relational_star(database, &logical, options, &tree, plan, error);
        if (status == STATUS_OK && !*plan)
            status = error_set(error, STATUS_BAD_INPUT, "this is no star: %s", text);
        sql_tree_free(written);
    }
    sql_tree_free(arena);
    return status;
}

static inline enum status star_plan(struct database *database, const char *text,
                                    const struct sql_options *options, struct plan **plan,
                                    struct error *error)
{
    return star_plan_with(database, text, NULL, 0, options, plan, NULL, error);
}

#endif
