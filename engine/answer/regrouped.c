/* regrouped.c: see regrouped.h. */
#include "engine/answer/regrouped.h"

#include "engine/answer/measure_lists.h"
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
        memory_charge_drop(&regrouped->measures[m].charge);
    }
    *regrouped = (struct regrouped){0};
}

/* The first of the measures that are made from values; NULL: there is none. */
static const struct plan_measure *first_of_values(const struct plan *plan)
{
    for (uint32_t m = 0; m < plan->measure_count; m++)
        if (plan->measures[m].of_values)
            return &plan->measures[m];
    return NULL;
}

/* The groups of a set: with the lists of their values, if a measure needs these. */
static enum status make_groups(const struct plan *plan, const struct partial *scanned, uint32_t s,
                               unsigned threads, struct measure_lists *lists, struct partial *groups,
                               struct error *error)
{
    const struct plan_measure *const measure = first_of_values(plan);
    uint64_t *to;
    if (measure) {
        RETURN_IF_ERROR(measure_lists_open(plan, scanned, s, threads, lists, error));
        RETURN_IF_ERROR(measure_lists_sort(lists, measure, error));
        RETURN_IF_ERROR(measure_lists_groups(lists, groups, error));
        if (groups->count == 0 && plan->grouping.sets[s] == 0)
            groups->count = 1; /* all zeros */
        return STATUS_OK;
    }
    RETURN_IF_ERROR(memory_take(&to, (scanned->count + 1) * sizeof *to, "groups", error));
    const enum status status = partial_regroup(plan, scanned, s, threads, groups, to, error);
    free(to);
    return status;
}

static enum status add_set(const struct plan *plan, const struct partial *scanned, uint32_t s,
                           unsigned threads, struct measure_lists *lists, struct regrouped *regrouped,
                           struct error *error)
{
    struct partial groups = {0};
    const uint64_t first = regrouped->groups.count;
    enum status status = make_groups(plan, scanned, s, threads, lists, &groups, error);
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
    return regrouped_measure(plan, lists, first, regrouped, error);
}

/* The groups of a GPU that has sorted their values. `scanned` keeps the digests. */
static enum status take_digests(const struct plan *plan, const struct partial *scanned, unsigned threads,
                                struct regrouped *regrouped, struct error *error)
{
    RETURN_IF_ERROR(memory_zeros(&regrouped->sets, (scanned->count + 1) * sizeof *regrouped->sets, "groups",
                                 error)); /* all are of the only set */
    RETURN_IF_ERROR(partial_append_groups(plan, &regrouped->groups, scanned, error));
    regrouped->groups.digests = scanned->digests;
    const enum status status = regrouped_digests(plan, threads, regrouped, error);
    regrouped->groups.digests = NULL;
    return status;
}

enum status regrouped_make(const struct plan *plan, const struct partial *scanned, unsigned threads,
                           struct regrouped *regrouped, struct error *error)
{
    enum status status = STATUS_OK;
    *regrouped = (struct regrouped){.none = scanned->count == 0 ||
                                            (plan->shape == PLAN_TOTAL && scanned->total_rows == 0)};
    if (scanned->digests)
        return take_digests(plan, scanned, threads, regrouped, error);
    for (uint32_t s = 0; status == STATUS_OK && s < plan->grouping.set_count; s++) {
        struct measure_lists lists = {0};
        status = add_set(plan, scanned, s, threads, &lists, regrouped, error);
        measure_lists_free(&lists);
    }
    for (uint32_t m = 0; status == STATUS_OK && m < plan->measure_count; m++)
        if (regrouped->measures[m].texts)
            status = measure_texts_finish(&regrouped->measures[m], error);
    return status;
}
