/* measures.c: see measures.h. */
#include "engine/answer/measures.h"

#include "storage/base/double_key.h"

#include <string.h>

/* Of a variance the other sum, and squares that it does not have, are any aggregate's. */
static struct measure_sums sums_of(const struct plan *plan, const struct partial *groups,
                                   const struct plan_measure *measure, uint64_t group)
{
    struct measure_sums sums = {.rows = (uint64_t)groups->states[measure->count][group],
                                .sum = partial_number(plan, groups, measure->sum, group),
                                .other_sum = partial_number(plan, groups, measure->other_sum, group),
                                .parts = measure->parts,
                                .scale = measure->scale,
                                .other_scale = measure->other_scale};
    for (uint32_t s = 0; s < 3; s++)
        sums.squares[s] = partial_number(plan, groups, measure->squares[s], group);
    return sums;
}

static void fill_of_sums(const struct plan *plan, const struct partial *groups,
                         const struct plan_measure *measure, uint64_t first, uint32_t count,
                         struct vector leaf)
{
    const struct measure *const of = measure_of(measure->kind);
    for (uint32_t i = 0; i < count; i++) {
        const struct measure_sums sums = sums_of(plan, groups, measure, first + i);
        double value = 0;
        leaf.nulls[i] = sums.rows == 0 || !of->of_sums(of, &sums, &value);
        leaf.values[i] = leaf.nulls[i] ? 0 : double_key_of(value);
    }
}

static void fill_grouping(const struct plan *plan, const struct regrouped *regrouped,
                          const struct plan_measure *measure, uint64_t first, uint32_t count,
                          struct vector leaf)
{
    for (uint32_t i = 0; i < count; i++) {
        leaf.values[i] = 0;
        leaf.nulls[i] = 0;
        for (uint32_t t = 0; t < measure->term_count; t++)
            leaf.values[i] =
                2 * leaf.values[i] + !regrouped_has(plan, regrouped, first + i, measure->terms[t]);
    }
}

void measure_values(const struct plan *plan, const struct partial *groups, const struct regrouped *regrouped,
                    uint32_t index, uint64_t first, uint32_t count, struct vector leaf)
{
    const struct plan_measure *const measure = &plan->measures[index];
    if (measure->of_values) {
        memcpy(leaf.values, regrouped->measures[index].values + first, count * sizeof *leaf.values);
        memcpy(leaf.nulls, regrouped->measures[index].nulls + first, count);
    } else if (measure_of(measure->kind)->of_sums) {
        fill_of_sums(plan, groups, measure, first, count, leaf);
    } else {
        fill_grouping(plan, regrouped, measure, first, count, leaf);
    }
}
