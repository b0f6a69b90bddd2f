/* bind_grouping.c: binds grouping sets and grouping() (engine/plan/grouping/grouping.h). */
#include "engine/sql/bind_internal.h"
#include "storage/base/memory.h"

/* ---- Does the answer merge groups? ---- */

/* Sums of distinct values, quantiles and the like need all values of their argument; so do variances of floating-point
 * numbers. */
static enum status see_aggregate(struct binder *binder, const struct sql_expression *ast, bool *needs)
{
    const struct aggregate_name *const name = aggregate_name_find(ast->name);
    uint32_t value;
    const struct aggregate_name *const same =
        name->family == FAMILY_SELECT ? aggregate_name_find(name->as) : name;
    *needs |= measure_needs_values(name->measure);
    *needs |= ast->distinct && measure_needs_values(same->distinct) && !same->counts;
    if (name->family != FAMILY_SPREAD || ast->child_count != 1 || ast->children[0]->operation == SQL_STAR)
        return STATUS_OK;
    RETURN_IF_ERROR(bind_aggregate_argument(binder, ast->children[0], &value));
    *needs |= bind_kind(binder, value) == VALUE_DOUBLE;
    return STATUS_OK;
}

static enum status see_aggregates(struct binder *binder, const struct sql_expression *ast, bool *needs)
{
    if (sql_is_aggregate(ast))
        return see_aggregate(binder, ast, needs);
    for (uint32_t c = 0; c < ast->child_count; c++)
        RETURN_IF_ERROR(see_aggregates(binder, ast->children[c], needs));
    return STATUS_OK;
}

enum status bind_needs_values(struct binder *binder, bool *needs)
{
    const struct sql_select *const select = binder->select;
    *needs = select->set_count > 0;
    if (select->having)
        RETURN_IF_ERROR(see_aggregates(binder, select->having, needs));
    for (uint32_t i = 0; i < select->item_count; i++)
        RETURN_IF_ERROR(see_aggregates(binder, select->items[i].expression, needs));
    for (uint32_t o = 0; o < select->order_count; o++)
        RETURN_IF_ERROR(see_aggregates(binder, select->orders[o].expression, needs));
    return STATUS_OK;
}

/* ---- Sets ---- */

enum status bind_grouping_sets(struct binder *binder, const uint32_t *terms)
{
    struct plan_grouping *const grouping = &binder->plan->grouping;
    const struct sql_select *const select = binder->select;
    grouping->listed = binder->plan->group_count;
    RETURN_IF_ERROR(memory_take(&grouping->sets, (select->set_count + 1) * sizeof *grouping->sets, "a plan",
                                binder->error));
    for (uint32_t s = 0; s < select->set_count; s++) {
        uint64_t set = 0;
        for (uint32_t g = 0; g < select->group_count; g++)
            set |= (select->sets[s] >> g & 1) << terms[g];
        grouping->sets[grouping->set_count++] = set;
    }
    if (select->set_count == 0 && binder->regroups) {
        if (grouping->listed > SQL_SET_TERMS_MAX)
            return bind_refuse(binder, select->position,
                               "GROUP BY has more than %u terms beside medians, string_agg and the like; "
                               "group by fewer of them",
                               SQL_SET_TERMS_MAX);
        grouping->sets[0] = grouping_all(grouping->listed);
        grouping->set_count = 1;
    }
    return STATUS_OK;
}

enum status bind_grouping(struct binder *binder, const struct sql_expression *ast, uint32_t *node)
{
    const struct plan_grouping *const grouping = &binder->plan->grouping;
    const struct expression leaf = {.type = {.kind = VALUE_INTEGER},
                                    .high = (INT64_C(1) << ast->child_count % 63) - 1};
    struct plan_measure measure;
    memset(&measure, 0, sizeof measure);
    measure.kind = aggregate_name_find(ast->name)->measure;
    measure.argument = EXPRESSION_NONE;
    if (ast->child_count == 0 || ast->child_count > GROUPING_TERMS_MAX)
        return bind_refuse(binder, ast->position, "grouping takes 1 to %u terms of GROUP BY",
                           GROUPING_TERMS_MAX);
    for (uint32_t c = 0; c < ast->child_count; c++) {
        uint32_t below;
        RETURN_IF_ERROR(bind_below(binder, ast->children[c], &below));
        const uint32_t term = bind_listed_term(binder, ast->children[c], below);
        if (term == grouping->listed)
            return bind_refuse(binder, ast->children[c]->position, "grouping takes terms of GROUP BY");
        measure.terms[measure.term_count++] = term;
    }
    return grouping->set_count ? bind_measure(binder, ast, &measure, leaf, node)
                               : bind_integer(binder, 0, 0, node);
}
