/* regrouped.c: see regrouped.h. */
#include "engine/answer/regrouped.h"

#include "engine/plan/partial/regroup.h"
#include "storage/base/memory.h"

#include <stdlib.h>

void regrouped_free(struct regrouped *regrouped)
{
    partial_free(&regrouped->groups);
    free(regrouped->sets);
    for (uint32_t m = 0; m < PLAN_MEASURES_MAX; m++) {
        if (regrouped->measures[m].texts)
            measure_texts_free(&regrouped->measures[m]);
        free(regrouped->measures[m].values);
        free(regrouped->measures[m].nulls);
        free(regrouped->measures[m].strings);
    }
    *regrouped = (struct regrouped){0};
}

static enum status add_set(const struct plan *plan, const struct partial *scanned, uint32_t s,
                           unsigned threads, uint64_t *to, struct regrouped *regrouped, struct error *error)
{
    struct partial groups = {0};
    const uint64_t first = regrouped->groups.count;
    enum status status = partial_regroup(plan, scanned, s, threads, &groups, to, error);
    if (status == STATUS_OK && s == 0) {
        regrouped->groups = groups;
        groups = (struct partial){0};
    } else if (status == STATUS_OK) {
        status = partial_append_groups(plan, &regrouped->groups, &groups, error);
    }
    partial_free(&groups);
    RETURN_IF_ERROR(status);
    RETURN_IF_ERROR(memory_grow(&regrouped->sets, (regrouped->groups.count + 1) * sizeof *regrouped->sets,
                                "groups", error));
    for (uint64_t group = first; group < regrouped->groups.count; group++)
        regrouped->sets[group] = s;
    return regrouped_measure(plan, scanned, to, first, threads, regrouped, error);
}

enum status regrouped_make(const struct plan *plan, const struct partial *scanned, unsigned threads,
                           struct regrouped *regrouped, struct error *error)
{
    uint64_t *to;
    *regrouped = (struct regrouped){.none = scanned->count == 0 ||
                                            (plan->shape == PLAN_TOTAL && scanned->total_rows == 0)};
    RETURN_IF_ERROR(memory_take(&to, (scanned->count + 1) * sizeof *to, "groups", error));
    enum status status = STATUS_OK;
    for (uint32_t s = 0; status == STATUS_OK && s < plan->grouping.set_count; s++)
        status = add_set(plan, scanned, s, threads, to, regrouped, error);
    free(to);
    for (uint32_t m = 0; status == STATUS_OK && m < plan->measure_count; m++)
        if (regrouped->measures[m].texts)
            status = measure_texts_finish(&regrouped->measures[m], error);
    return status;
}
