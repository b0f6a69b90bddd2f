/*
 * merge.c: merges the states of all threads into one list of groups (group_states.h). One thread adds up slots; hashed
 * groups and pairs are merged in parts, by all threads (merge_hash.c).
 */
#include "engine/cpu/group_states_internal.h"
#include "storage/base/memory.h"

#include <stdlib.h>

/* Merges a copy of one source's slots into the first one of the first source. A slot without rows has identities, which
 * change nothing. */
static void merge_copy(const struct merge *merge, const struct group_states *from, uint32_t copy)
{
    struct group_states *const states = merge->from[0];
    const struct plan *plan = merge->plan;
    const uint64_t begin = copy * states->capacity;
    uint64_t at[VECTOR_ROWS];
    for (uint64_t slot = 0; slot < states->capacity; slot++)
        states->rows[slot] += from->rows[begin + slot];
    for (uint32_t i = 0; i < VECTOR_ROWS; i++)
        at[i] = i;
    for (uint64_t first = 0; first < states->capacity; first += VECTOR_ROWS) {
        const uint64_t left = states->capacity - first;
        for (uint32_t a = 0; a < plan->aggregate_count; a++) {
            const bool wide = states->high[a] != NULL;
            if (states->low[a])
                plan_aggregate_of(plan, a)->merge(
                    states->low[a] + first, wide ? states->high[a] + first : NULL,
                    (uint32_t)(left < VECTOR_ROWS ? left : VECTOR_ROWS), at, from->low[a] + begin + first,
                    wide ? from->high[a] + begin + first : NULL, 1);
        }
    }
}

static void merge_sets(const struct merge *merge, const struct group_states *from)
{
    struct group_states *const states = merge->from[0];
    for (uint32_t a = 0; a < merge->plan->aggregate_count; a++)
        if (states->sets[a].bits)
            distinct_set_merge(&states->sets[a], &from->sets[a]);
}

static enum status export_set(const struct merge *merge, uint32_t a, const uint64_t *place,
                              struct error *error)
{
    const struct distinct_set *const set = &merge->from[0]->sets[a];
    if (!set->bits)
        return merge_slot_pairs(merge, a, place, error);
    distinct_set_export(set, place, merge->groups->states[a]);
    return merge->mergeable ? distinct_set_list(set, place, &merge->groups->sets[a], error) : STATUS_OK;
}

/* Writes the slots that have rows to the answer; place[slot] becomes the group of a slot. */
static enum status export_slots(const struct merge *merge, uint64_t *place, struct error *error)
{
    const struct group_states *const states = merge->from[0];
    struct partial *const groups = merge->groups;
    const bool total = states->plan->shape == PLAN_TOTAL;
    uint64_t count = 0;
    for (uint64_t slot = 0; slot < states->capacity; slot++)
        place[slot] = states->rows[slot] || total ? count++ : UINT64_MAX;
    RETURN_IF_ERROR(partial_allocate(states->plan, count, groups, error));
    groups->total_rows = total ? states->rows[0] : 0;
    for (uint64_t slot = 0; slot < states->capacity; slot++) {
        if (place[slot] == UINT64_MAX)
            continue;
        groups->keys[0][place[slot]] = slot;
        for (uint32_t a = 0; a < states->plan->aggregate_count; a++) {
            groups->states[a][place[slot]] =
                states->low[a] ? states->low[a][slot] : (int64_t)states->rows[slot];
            if (states->high[a])
                groups->states_high[a][place[slot]] = states->high[a][slot];
        }
    }
    for (uint32_t a = 0; a < states->plan->aggregate_count; a++)
        if (plan_is_distinct(states->plan, a))
            RETURN_IF_ERROR(export_set(merge, a, place, error));
    return STATUS_OK;
}

static enum status merge_slots(const struct merge *merge, struct error *error)
{
    uint64_t *place;
    for (uint32_t s = 0; s < merge->from_count; s++)
        group_states_unpack(merge->from[s]);
    for (uint32_t s = 0; s < merge->from_count; s++) {
        for (uint32_t copy = s == 0; copy < merge->from[s]->copies; copy++)
            merge_copy(merge, merge->from[s], copy);
        if (s > 0)
            merge_sets(merge, merge->from[s]);
    }
    RETURN_IF_ERROR(memory_take(&place, merge->from[0]->capacity * sizeof *place, "groups", error));
    const enum status status = export_slots(merge, place, error);
    free(place);
    return status;
}

enum status group_states_collect(const struct plan *plan, struct group_states **from, uint32_t count,
                                 unsigned threads, bool mergeable, struct group_delivery *deliveries,
                                 struct partial *groups, struct error *error)
{
    const struct merge merge = {.plan = plan,
                                .from = from,
                                .from_count = count,
                                .threads = threads,
                                .mergeable = mergeable,
                                .deliveries = deliveries,
                                .groups = groups};
    if (from[0]->listed)
        return merge_values(&merge, error);
    return plan->shape == PLAN_HASH ? merge_hashed(&merge, error) : merge_slots(&merge, error);
}
