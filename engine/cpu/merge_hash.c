/*
 * merge_hash.c: merges the hashed groups, and the hashed pairs of count(distinct), of all threads (group_hash.h). If they
 * are few, one thread merges the threads' tables. Else all go to parts, and threads merge parts in parallel: each part in
 * a table that fits a cache, from which its groups are copied to the answer.
 */
#include "engine/cpu/group_states_internal.h"
#include "storage/base/memory.h"
#include "storage/base/parallel.h"

#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

/* The fewest entries of all threads' tables for which parts pay: merging takes 10 ns an entry, starting threads some
 * tens of microseconds. */
#define PARTED_ENTRIES (UINT64_C(1) << 14)

/* The entries of all threads that have the same layout. */
struct hashes {
    const struct merge *merge;
    int32_t aggregate; /* the pairs of this count(distinct); -1: groups */
    uint64_t entries;
    atomic_uint_fast64_t count; /* of groups or pairs that are in the answer */
};

static struct group_hash *hash_of(const struct hashes *hashes, uint32_t source)
{
    struct group_states *const states = hashes->merge->from[source];
    return hashes->aggregate < 0 ? &states->hash : &states->sets[hashes->aggregate].pairs;
}

/* True if an entry must be, or should be, in parts. */
static bool wants_parts(struct hashes *hashes)
{
    bool parted = false;
    for (uint32_t s = 0; s < hashes->merge->from_count; s++) {
        hashes->entries += group_hash_entries(hash_of(hashes, s));
        parted |= group_hash_parted(hash_of(hashes, s));
    }
    return parted || (hashes->merge->from_count > 1 && hashes->entries >= PARTED_ENTRIES);
}

static enum status part_source(void *context, uint64_t item, unsigned thread, struct error *error)
{
    (void)thread;
    return group_hash_part(hash_of(context, (uint32_t)item), error);
}

static enum status to_parts(struct hashes *hashes, struct error *error)
{
    return parallel_for(hashes->merge->threads, hashes->merge->from_count, part_source, hashes, error);
}

/* Merges a part of all sources. */
static enum status merge_sources(const struct hashes *hashes, uint32_t part, struct group_table *into,
                                 struct error *error)
{
    into->layout = hash_of(hashes, 0)->layout;
    group_table_clear(into);
    for (uint32_t s = 0; s < hashes->merge->from_count; s++)
        RETURN_IF_ERROR(group_hash_merge(hash_of(hashes, s), part, into, error));
    return cancel_check(error);
}

/* Allocates the list of the pairs, if the answer is mergeable. There may be fewer pairs than entries; memory that is not
 * touched costs nothing. */
static enum status open_list(const struct hashes *hashes, struct error *error)
{
    const struct merge *merge = hashes->merge;
    return merge->mergeable
               ? partial_set_allocate(&merge->groups->sets[hashes->aggregate], hashes->entries, error)
               : STATUS_OK;
}

static void close_list(const struct hashes *hashes)
{
    if (hashes->merge->mergeable)
        hashes->merge->groups->sets[hashes->aggregate].count = atomic_load(&hashes->count);
}

/* ---- Groups ---- */

struct merging {
    const struct merge *merge;
    struct hashes groups;
    struct hashes pairs[PLAN_AGGREGATES_MAX];
    bool parted;
    struct group_table *tables; /* two for each thread: of groups, and of pairs */
};

/* Copies the groups that streams have completed: of each stream the stretches part, part + GROUP_PARTS, ... */
static void export_ended(struct merging *merging, uint32_t part)
{
    const struct merge *const merge = merging->merge;
    for (uint32_t s = 0; s < merge->from_count; s++) {
        const struct group_stream *const stream = &merge->from[s]->stream;
        for (uint64_t i = part; i < stream->stretch_count; i += GROUP_PARTS)
            group_export(merge->plan, stream->layout, stream->stretches[i].entries,
                         stream->stretches[i].count, merge->groups,
                         atomic_fetch_add(&merging->groups.count, stream->stretches[i].count));
    }
}

/* Counts the pairs of a part's groups, which are in the answer from group `first` on. */
static enum status export_pairs(struct hashes *hashes, struct group_table *part, uint64_t first,
                                const struct group_table *pairs, struct error *error)
{
    const struct group_layout *layout = part->layout;
    struct partial *const groups = hashes->merge->groups;
    const uint32_t a = (uint32_t)hashes->aggregate, words = layout->words;
    uint64_t listed = atomic_fetch_add(&hashes->count, pairs->count);
    uint64_t index[VECTOR_ROWS], *keys;
    RETURN_IF_ERROR(memory_take(&keys, VECTOR_ROWS * layout->stride * sizeof *keys, "groups", error));
    enum status status = STATUS_OK;
    for (uint64_t begin = 0; status == STATUS_OK && begin < pairs->count; begin += VECTOR_ROWS) {
        const uint64_t left = pairs->count - begin;
        const uint32_t count = left < VECTOR_ROWS ? (uint32_t)left : VECTOR_ROWS;
        const uint64_t *const pair = pairs->entries + begin * (words + 1);
        for (uint32_t i = 0; i < count; i++)
            memcpy(keys + i * (size_t)layout->stride, pair + i * (size_t)(words + 1), words * sizeof *keys);
        status = group_table_find(part, count, keys, index, error);
        for (uint32_t i = 0; status == STATUS_OK && i < count; i++) {
            const uint64_t group = first + index[i] / layout->stride;
            groups->states[a][group]++;
            if (!hashes->merge->mergeable)
                continue;
            groups->sets[a].groups[listed] = group;
            groups->sets[a].values[listed++] = (int64_t)pair[i * (words + 1) + words];
        }
    }
    free(keys);
    return status;
}

static enum status merge_part(void *context, uint64_t item, unsigned thread, struct error *error)
{
    struct merging *const merging = context;
    const uint32_t part = merging->parted ? (uint32_t)item : GROUP_HASH_WHOLE;
    struct group_table *const table = &merging->tables[2 * thread], *const pairs = table + 1;
    RETURN_IF_ERROR(merge_sources(&merging->groups, part, table, error));
    if (merging->merge->deliveries)
        return group_delivery_add(&merging->merge->deliveries[thread], table->layout, table->entries,
                                  table->count, error);
    const uint64_t first = atomic_fetch_add(&merging->groups.count, table->count);
    group_export(merging->merge->plan, table->layout, table->entries, table->count, merging->merge->groups,
                 first);
    if (merging->parted)
        export_ended(merging, part);
    for (uint32_t a = 0; a < merging->merge->plan->aggregate_count; a++)
        if (plan_is_distinct(merging->merge->plan, a)) {
            RETURN_IF_ERROR(merge_sources(&merging->pairs[a], part, pairs, error));
            RETURN_IF_ERROR(export_pairs(&merging->pairs[a], table, first, pairs, error));
        }
    return STATUS_OK;
}

/* Puts the groups and all pairs into parts, or none of them: a part's pairs are those of its groups. */
static enum status choose_parts(struct merging *merging, struct error *error)
{
    const struct plan *plan = merging->merge->plan;
    merging->groups = (struct hashes){.merge = merging->merge, .aggregate = -1};
    uint64_t ended = 0;
    for (uint32_t s = 0; s < merging->merge->from_count; s++)
        ended += merging->merge->from[s]->stream.ended;
    merging->parted = wants_parts(&merging->groups) || ended > 0;
    merging->groups.entries += ended;
    for (uint32_t a = 0; a < plan->aggregate_count; a++)
        if (plan_is_distinct(plan, a)) {
            merging->pairs[a] = (struct hashes){.merge = merging->merge, .aggregate = (int32_t)a};
            merging->parted |= wants_parts(&merging->pairs[a]);
        }
    if (!merging->parted)
        return STATUS_OK;
    RETURN_IF_ERROR(to_parts(&merging->groups, error));
    for (uint32_t a = 0; a < plan->aggregate_count; a++)
        if (plan_is_distinct(plan, a))
            RETURN_IF_ERROR(to_parts(&merging->pairs[a], error));
    return STATUS_OK;
}

static enum status merge_all(struct merging *merging, struct error *error)
{
    const struct merge *merge = merging->merge;
    const struct plan *plan = merge->plan;
    RETURN_IF_ERROR(choose_parts(merging, error));
    RETURN_IF_ERROR(
        partial_open(plan, merge->deliveries ? 0 : merging->groups.entries, merge->groups, error));
    for (uint32_t a = 0; a < plan->aggregate_count; a++)
        if (plan_is_distinct(plan, a))
            RETURN_IF_ERROR(open_list(&merging->pairs[a], error));
    RETURN_IF_ERROR(
        parallel_for(merge->threads, merging->parted ? GROUP_PARTS : 1, merge_part, merging, error));
    merge->groups->count = atomic_load(&merging->groups.count);
    for (unsigned t = 0; merge->deliveries && t < merge->threads; t++)
        RETURN_IF_ERROR(group_delivery_flush(&merge->deliveries[t], error));
    if (merge->deliveries)
        merge->deliveries[0].sink->taken = true;
    for (uint32_t a = 0; a < plan->aggregate_count; a++)
        if (plan_is_distinct(plan, a))
            close_list(&merging->pairs[a]);
    return STATUS_OK;
}

static void free_hashes(const struct merge *merge)
{
    for (uint32_t s = 0; s < merge->from_count; s++) {
        group_hash_clear(&merge->from[s]->hash);
        if (merge->from[s]->streamed)
            group_stream_clear(&merge->from[s]->stream);
        for (uint32_t a = 0; a < merge->plan->aggregate_count; a++)
            if (plan_is_distinct(merge->plan, a))
                distinct_set_clear(&merge->from[s]->sets[a]);
    }
}

static void free_tables(struct group_table *tables, unsigned threads)
{
    for (unsigned t = 0; tables && t < 2 * threads; t++)
        group_table_free(&tables[t]);
    free(tables);
}

enum status merge_hashed(const struct merge *merge, struct error *error)
{
    struct merging *merging;
    RETURN_IF_ERROR(memory_zeros(&merging, sizeof *merging, "groups", error));
    merging->merge = merge;
    enum status status =
        memory_zeros(&merging->tables, 2 * merge->threads * sizeof *merging->tables, "groups", error);
    if (status == STATUS_OK)
        status = merge_streams_suit(merge) ? merge_streams(merge, merging->tables, error)
                                           : merge_all(merging, error);
    free_tables(merging->tables, merge->threads);
    free_hashes(merge);
    free(merging);
    return status;
}

/* ---- Pairs of slots ---- */

struct slot_merging {
    struct hashes pairs;
    const uint64_t *place;
    bool parted;
    struct group_table *tables; /* of each thread */
};

/* Adds runs of pairs of one slot at once: if there are few slots, threads would wait for each other's additions. */
static void count_slots(const struct slot_merging *merging, const struct group_table *pairs)
{
    int64_t *const counts = merging->pairs.merge->groups->states[merging->pairs.aggregate];
    for (uint64_t pair = 0, end; pair < pairs->count; pair = end) {
        const uint64_t slot = pairs->entries[2 * pair];
        for (end = pair + 1; end < pairs->count && pairs->entries[2 * end] == slot;)
            end++;
        (void)__atomic_fetch_add(&counts[merging->place[slot]], (int64_t)(end - pair), __ATOMIC_RELAXED);
    }
}

static void list_slots(struct slot_merging *merging, const struct group_table *pairs)
{
    struct partial_set *const set = &merging->pairs.merge->groups->sets[merging->pairs.aggregate];
    uint64_t at = atomic_fetch_add(&merging->pairs.count, pairs->count);
    for (uint64_t pair = 0; merging->pairs.merge->mergeable && pair < pairs->count; pair++, at++) {
        set->groups[at] = merging->place[pairs->entries[2 * pair]];
        set->values[at] = (int64_t)pairs->entries[2 * pair + 1];
    }
}

static enum status merge_slot_part(void *context, uint64_t item, unsigned thread, struct error *error)
{
    struct slot_merging *const merging = context;
    struct group_table *const table = &merging->tables[thread];
    RETURN_IF_ERROR(
        merge_sources(&merging->pairs, merging->parted ? (uint32_t)item : GROUP_HASH_WHOLE, table, error));
    count_slots(merging, table);
    list_slots(merging, table);
    return STATUS_OK;
}

static enum status merge_slot_parts(struct slot_merging *merging, struct error *error)
{
    merging->parted = wants_parts(&merging->pairs);
    if (merging->parted)
        RETURN_IF_ERROR(to_parts(&merging->pairs, error));
    RETURN_IF_ERROR(open_list(&merging->pairs, error));
    RETURN_IF_ERROR(parallel_for(merging->pairs.merge->threads, merging->parted ? GROUP_PARTS : 1,
                                 merge_slot_part, merging, error));
    close_list(&merging->pairs);
    return STATUS_OK;
}

enum status merge_slot_pairs(const struct merge *merge, uint32_t aggregate, const uint64_t *place,
                             struct error *error)
{
    struct slot_merging merging = {.pairs = {.merge = merge, .aggregate = (int32_t)aggregate},
                                   .place = place};
    enum status status =
        memory_zeros(&merging.tables, merge->threads * sizeof *merging.tables, "distinct values", error);
    status = AND_THEN(status, merge_slot_parts(&merging, error));
    for (unsigned t = 0; merging.tables && t < merge->threads; t++)
        group_table_free(&merging.tables[t]);
    free(merging.tables);
    for (uint32_t s = 0; s < merge->from_count; s++)
        distinct_set_clear(&merge->from[s]->sets[aggregate]);
    return status;
}
