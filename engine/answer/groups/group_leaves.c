/* group_leaves.c: see group_leaves.h. */
#include "engine/answer/groups/group_leaves.h"

#include "engine/answer/double_sum.h"
#include "engine/answer/measures.h"
#include "storage/base/decimal.h"

/* True if no term has a higher place in the word of the groups' numbers: dividing by its stride gives its code. */
static bool is_highest(const struct plan *plan, const struct plan_group *group)
{
    for (uint32_t g = 0; g < plan->group_count; g++)
        if (plan->groups[g].word == group->word && plan->groups[g].stride > group->stride)
            return false;
    return true;
}

/* Gives the codes of a term. A division takes as long as all else that is done for a value. */
static void group_codes(const struct plan *plan, const struct plan_group *group, const uint64_t *numbers,
                        uint32_t count, uint64_t codes[VECTOR_ROWS])
{
    const bool highest = is_highest(plan, group);
    for (uint32_t i = 0; i < count; i++)
        codes[i] = group->stride == 1 ? numbers[i] : numbers[i] / group->stride;
    for (uint32_t i = 0; i < count; i++)
        codes[i] = !highest ? codes[i] % group->domain : codes[i] < group->domain ? codes[i] : 0;
}

static void group_values(const struct plan *plan, const struct partial *groups,
                         const struct regrouped *regrouped, uint32_t term, uint64_t first, uint32_t count,
                         struct vector leaf)
{
    const struct plan_group *const group = &plan->groups[term];
    uint64_t codes[VECTOR_ROWS];
    group_codes(plan, group, groups->keys[group->word] + first, count, codes);
    for (uint32_t i = 0; i < count; i++) {
        const uint64_t code = codes[i];
        const bool null =
            (group->nullable && code == 0) || (regrouped && !regrouped_has(plan, regrouped, first + i, term));
        leaf.values[i] = null            ? 0
                         : group->values ? group->values[code]
                                         : (int64_t)((uint64_t)group->low + code - group->nullable);
        if (leaf.nulls)
            leaf.nulls[i] = null;
    }
}

/* States that are the values, NULL if no value was counted. */
static void plain_values(const int64_t *states, const int64_t *counts, bool none, uint32_t count,
                         struct vector leaf)
{
    for (uint32_t i = 0; i < count; i++)
        leaf.values[i] = none || (counts && counts[i] == 0) ? 0 : states[i];
    for (uint32_t i = 0; leaf.nulls && i < count; i++)
        leaf.nulls[i] = none || (counts && counts[i] == 0);
}

static enum status aggregate_values(const struct plan *plan, const struct partial *groups,
                                    const struct regrouped *regrouped, const struct expression *node,
                                    uint64_t first, uint32_t count, struct vector leaf, struct error *error)
{
    const struct plan_aggregate *aggregate = &plan->aggregates[node->index];
    const int64_t *const counts =
        aggregate->count != node->index ? groups->states[aggregate->count] + first : NULL;
    const bool counting = aggregate_of(aggregate->kind)->counts;
    const bool no_row =
        (plan->shape == PLAN_TOTAL && groups->total_rows == 0) || (regrouped && regrouped->none);
    const bool doubles = aggregate->doubles.limbs && node->type.kind == VALUE_DOUBLE,
               averages = node->type.kind == VALUE_DOUBLE && aggregate->type.kind != VALUE_DOUBLE;
    const struct aggregate *const kind = aggregate_of(aggregate->kind);
    const int64_t *const low = groups->states[node->index] + first;
    if (kind->words == 1 && !doubles && !averages) {
        plain_values(low, counting ? NULL : counts, !counting && no_row, count, leaf);
        return STATUS_OK;
    }
    for (uint32_t i = 0; i < count; i++) {
        const bool null = !counting && (no_row || (counts && counts[i] == 0));
        const __int128 whole =
            aggregate_number(kind, groups->states[node->index], groups->states_high[node->index], first + i);
        if (leaf.nulls)
            leaf.nulls[i] = null;
        leaf.values[i] = null ? 0 : (int64_t)whole;
        if (null)
            continue;
        const uint64_t divisor = node->table ? (uint64_t)groups->states[node->table - 1][first + i] : 1;
        if (doubles) {
            leaf.values[i] = double_sum_of(plan, groups, node->index, first + i, divisor);
        } else if (averages) {
            leaf.values[i] = double_key_of(decimal_average(whole, divisor, node->type.scale));
        } else if (whole != (int64_t)whole) {
            return error_set(error, STATUS_BAD_INPUT,
                             "a sum leaves 64 bits (it is about %.6g); sum smaller values or fewer rows",
                             (double)whole);
        }
    }
    return STATUS_OK;
}

enum status group_leaf_fill(const struct plan *plan, const struct partial *groups,
                            const struct regrouped *regrouped, const struct expression *node, uint64_t first,
                            uint32_t count, struct vector leaf, struct error *error)
{
    if (node->operation == EXPRESSION_AGGREGATE)
        return aggregate_values(plan, groups, regrouped, node, first, count, leaf, error);
    if (node->operation == EXPRESSION_GROUP)
        group_values(plan, groups, regrouped, node->index, first, count, leaf);
    else
        measure_values(plan, groups, regrouped, node->index, first, count, leaf);
    return STATUS_OK;
}
