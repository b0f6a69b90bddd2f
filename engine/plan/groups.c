/*
 * groups.c: finds the possible groups and numbers them (planner.h): by slots if they are few, else by a
 * mixed-radix number of up to PLAN_KEY_WORDS_MAX words.
 */
#include "engine/plan/planner.h"

#include "storage/base/memory.h"

#include <stdlib.h>

/* The groups of a filtered dimension can only have the values of its rows that pass, which saves slots. If
 * rows without a match stay (a left join), a column is NULL for them, but an expression may have any value;
 * so only columns are narrowed. */
enum status planner_narrow_groups(struct planner *planner, uint32_t j)
{
    struct plan *plan = planner->plan;
    struct group_range *ranges;
    uint32_t count = 0;
    RETURN_IF_ERROR(memory_take(&ranges, plan->group_count * sizeof *ranges, "groups", planner->error));
    for (uint32_t g = 0; g < plan->group_count; g++) {
        const uint32_t node = plan->groups[g].expression;
        if (plan_join_read(plan, node) == (int32_t)j &&
            (plan->joins[j].inner || plan->expressions.nodes[node].operation == EXPRESSION_COLUMN))
            ranges[count++] = (struct group_range){.group = &plan->groups[g]};
    }
    const enum status status = plan_join_analyse(plan, j, ranges, count, planner->threads, planner->error);
    for (uint32_t i = 0; status == STATUS_OK && i < count; i++) {
        struct plan_group *group = ranges[i].group;
        const int64_t low = ranges[i].low, high = ranges[i].high;
        group->nullable |= !plan->joins[j].inner;
        group->low = low <= high ? low : 0;
        group->domain = low <= high ? plan_group_domain(low, high, group->nullable) : 1;
    }
    free(ranges);
    return status;
}

enum status planner_shape(struct planner *planner, bool aggregated)
{
    struct plan *plan = planner->plan;
    unsigned __int128 product = 1; /* of the domains in the current word */
    uint32_t word = 0;
    for (uint32_t g = plan->group_count; g-- > 0;) {
        struct plan_group *group = &plan->groups[g];
        if (product > 1 && product * group->domain > INT64_MAX) {
            product = 1;
            word++;
        }
        if (group->domain == 0 || word == PLAN_KEY_WORDS_MAX)
            return error_set(
                planner->error, STATUS_BAD_INPUT,
                "the columns of GROUP BY could have too many different values (2^64 in one of them, or "
                "2^4032 together), going by their least and greatest ones; group by fewer of them");
        group->stride = (uint64_t)product;
        group->word = word;
        product *= group->domain;
    }
    /* A key of one word keeps its highest bit free for a mark. Larger numbers have two words, of which the
     * second may be 0. */
    plan->key_words = word ? word + 1 : product > INT64_MAX ? 2 : 1;
    product = plan->key_words > 1 ? UINT64_MAX : product;
    if (!aggregated) {
        plan->shape = PLAN_ROWS;
    } else if (plan->group_count == 0) {
        plan->shape = PLAN_TOTAL;
        plan->slots = 1;
    } else if (product <= PLAN_DENSE_SLOTS_ALWAYS ||
               (product <= PLAN_DENSE_SLOTS_MAX && product <= 4 * table_whole_rows(plan->fact))) {
        plan->shape = PLAN_DENSE;
        plan->slots = (uint64_t)product;
    } else {
        plan->shape = PLAN_HASH;
    }
    plan->groups_most = product < plan->fact->rows ? (uint64_t)product : plan->fact->rows;
    return STATUS_OK;
}
