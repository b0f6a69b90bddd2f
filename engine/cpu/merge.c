/*
 * merge.c: merges the states of all threads into one list of groups (group_states.h). All threads add up slots, some
 * thousand at a time; hashed groups and pairs are merged in parts (merge_hash.c).
 */
#include "engine/cpu/group_states_internal.h"
#include "storage/base/memory.h"
#include "storage/base/parallel.h"

#include <stdlib.h>
#include <string.h>

#define SLICE_SLOTS (8 * VECTOR_ROWS)

/* Slots that are merged, and written to the answer. */
struct slots {
    const struct merge *merge;
    uint64_t *place;  /* the group of a slot */
    uint64_t *begins; /* of each slice: its groups, and then the first of them */
};

static uint64_t slice_end(const struct slots *slots, uint64_t slice)
{
    const uint64_t end = (slice + 1) * SLICE_SLOTS, all = slots->merge->from[0]->capacity;
    return end < all ? end : all;
}

static enum status for_slices(const struct slots *slots, parallel_item *work, struct error *error)
{
    return parallel_for(slots->merge->threads,
                        (slots->merge->from[0]->capacity + SLICE_SLOTS - 1) / SLICE_SLOTS, work,
                        (void *)(uintptr_t)slots, error);
}

/* Merges slots of a copy of one source into those of the first copy of the first source. A slot without rows has identities,
 * which change nothing. */
static void merge_copy(const struct merge *merge, const struct group_states *from, uint32_t copy,
                       uint64_t begin, uint64_t end)
{
    struct group_states *const states = merge->from[0];
    const struct plan *plan = merge->plan;
    const uint64_t shift = copy * states->capacity;
    uint64_t at[VECTOR_ROWS];
    for (uint64_t slot = begin; slot < end; slot++)
        states->rows[slot] += from->rows[shift + slot];
    for (uint32_t i = 0; i < VECTOR_ROWS; i++)
        at[i] = i;
    for (uint64_t first = begin; first < end; first += VECTOR_ROWS) {
        const uint64_t left = end - first;
        for (uint32_t a = 0; a < plan->aggregate_count; a++) {
            const bool wide = states->high[a] != NULL;
            if (states->low[a])
                plan_aggregate_of(plan, a)->merge(
                    states->low[a] + first, wide ? states->high[a] + first : NULL,
                    (uint32_t)(left < VECTOR_ROWS ? left : VECTOR_ROWS), at, from->low[a] + shift + first,
                    wide ? from->high[a] + shift + first : NULL, 1);
        }
    }
}

/* Merges a slice of all sources, in their order, and counts its groups. */
static enum status merge_slice(void *context, uint64_t slice, unsigned thread, struct error *error)
{
    const struct slots *const slots = context;
    const struct merge *const merge = slots->merge;
    const uint64_t begin = slice * SLICE_SLOTS, end = slice_end(slots, slice);
    const uint64_t *const rows = merge->from[0]->rows;
    uint64_t count = 0;
    (void)thread;
    for (uint32_t s = 0; s < merge->from_count; s++)
        for (uint32_t copy = s == 0; copy < merge->from[s]->copies; copy++)
            merge_copy(merge, merge->from[s], copy, begin, end);
    for (uint64_t slot = begin; slot < end; slot++)
        count += rows[slot] > 0;
    slots->begins[slice] = merge->plan->shape == PLAN_TOTAL ? 1 : count;
    return cancel_check(error);
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

/* Writes the slots of a slice that have rows to the answer. */
static enum status export_slice(void *context, uint64_t slice, unsigned thread, struct error *error)
{
    const struct slots *const slots = context;
    const struct group_states *const states = slots->merge->from[0];
    struct partial *const groups = slots->merge->groups;
    const bool total = states->plan->shape == PLAN_TOTAL;
    uint64_t at = slots->begins[slice];
    (void)thread;
    for (uint64_t slot = slice * SLICE_SLOTS; slot < slice_end(slots, slice); slot++) {
        slots->place[slot] = states->rows[slot] || total ? at : UINT64_MAX;
        if (slots->place[slot] == UINT64_MAX)
            continue;
        groups->keys[0][at] = slot;
        for (uint32_t a = 0; a < states->plan->aggregate_count; a++) {
            groups->states[a][at] = states->low[a] ? states->low[a][slot] : (int64_t)states->rows[slot];
            if (states->high[a])
                groups->states_high[a][at] = states->high[a][slot];
        }
        at++;
    }
    return cancel_check(error);
}

static enum status export_slots(const struct slots *slots, struct error *error)
{
    const struct merge *const merge = slots->merge;
    const struct group_states *const states = merge->from[0];
    const bool total = merge->plan->shape == PLAN_TOTAL;
    uint64_t count = 0;
    for (uint64_t slice = 0; slice * SLICE_SLOTS < states->capacity; slice++) {
        const uint64_t groups = slots->begins[slice];
        slots->begins[slice] = count;
        count += groups;
    }
    RETURN_IF_ERROR(partial_allocate(merge->plan, count, merge->groups, error));
    merge->groups->total_rows = total ? states->rows[0] : 0;
    RETURN_IF_ERROR(for_slices(slots, export_slice, error));
    for (uint32_t a = 0; a < merge->plan->aggregate_count; a++)
        if (plan_is_distinct(merge->plan, a))
            RETURN_IF_ERROR(export_set(merge, a, slots->place, error));
    return STATUS_OK;
}

static enum status merge_slots(const struct merge *merge, struct error *error)
{
    const uint64_t capacity = merge->from[0]->capacity;
    struct slots slots = {.merge = merge};
    for (uint32_t s = 0; s < merge->from_count; s++) {
        group_states_unpack(merge->from[s]);
        if (s > 0)
            merge_sets(merge, merge->from[s]);
    }
    enum status status = memory_take(&slots.place, capacity * sizeof *slots.place, "groups", error);
    status = AND_THEN(status, memory_take(&slots.begins, (capacity / SLICE_SLOTS + 1) * sizeof *slots.begins,
                                          "groups", error));
    status = AND_THEN(status, for_slices(&slots, merge_slice, error));
    status = AND_THEN(status, export_slots(&slots, error));
    free(slots.place);
    free(slots.begins);
    return status;
}

void merge_copy_part(const struct merge *merge, uint32_t part, uint64_t *words, bool back)
{
    for (uint32_t s = 0; s < merge->from_count; s++) {
        struct group_stretch stretch = {0};
        for (; group_parts_next(&merge->from[s]->values, part, &stretch); words += stretch.count)
            if (back)
                memcpy(stretch.entries, words, stretch.count * sizeof *words);
            else
                memcpy(words, stretch.entries, stretch.count * sizeof *words);
    }
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
    if (from[0]->worded)
        return merge_lists(&merge, error);
    return plan->shape == PLAN_HASH ? merge_hashed(&merge, error) : merge_slots(&merge, error);
}
