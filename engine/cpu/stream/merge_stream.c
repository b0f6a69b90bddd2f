/*
 * merge_stream.c: merges the streams of all threads (group_stream.h). Their groups are in stretches, each of which
 * has the groups of rows that follow each other; the few groups that were not known to be complete are merged in one
 * table, and are stretches of their own. Stretches are put in the order of their first groups' numbers. If no stretch
 * reaches into the next one, the groups then are in order, so that the answer need not be sorted.
 */
#include "engine/cpu/group_states_internal.h"

#include "storage/base/memory.h"
#include "storage/base/parallel.h"

#include <stdatomic.h>
#include <stdlib.h>

/* One thread merges so many entries of tables, or a few for each of a stream's: that takes it 20 ns an entry. */
#define ENTRIES_FEW (UINT64_C(1) << 14)
#define ENDED_TIMES 16u

struct placed {
    struct stream_stretch stretch;
    uint64_t first; /* in the result */
    uint32_t words; /* of a number */
};

struct placing {
    const struct merge *merge;
    const struct group_layout *layout;
    struct placed *list;
    uint64_t count;
    atomic_bool ascending;
};

bool merge_streams_suit(const struct merge *merge)
{
    uint64_t ended = 0, entries = 0;
    for (uint32_t s = 0; s < merge->from_count; s++) {
        ended += merge->from[s]->stream.ended;
        entries += group_hash_entries(&merge->from[s]->hash);
    }
    return ended > 0 && !merge->deliveries && !merge->mergeable &&
           (entries <= ENTRIES_FEW || entries <= ended / ENDED_TIMES);
}

/* ---- Stretches ---- */

static enum status merge_tables(const struct merge *merge, struct group_table *table, struct error *error)
{
    table->layout = &merge->from[0]->layout;
    group_table_clear(table);
    for (uint32_t s = 0; s < merge->from_count; s++) {
        const struct group_hash *const hash = &merge->from[s]->hash;
        RETURN_IF_ERROR(group_table_merge(table, hash->table.count, hash->table.entries, error));
        for (uint32_t part = 0; part < GROUP_PARTS; part++)
            RETURN_IF_ERROR(group_parts_merge(&hash->parts, part, table, error));
    }
    return cancel_check(error);
}

static enum status list_stretches(const struct merge *merge, const struct group_table *table,
                                  struct placing *placing, struct error *error)
{
    const uint32_t stride = table->layout->stride, words = table->layout->words;
    uint64_t most = table->count;
    for (uint32_t s = 0; s < merge->from_count; s++)
        most += merge->from[s]->stream.stretch_count;
    RETURN_IF_ERROR(memory_take(&placing->list, (most + 1) * sizeof *placing->list, "groups", error));
    for (uint32_t s = 0; s < merge->from_count; s++)
        for (uint64_t i = 0; i < merge->from[s]->stream.stretch_count; i++)
            placing->list[placing->count++] =
                (struct placed){.stretch = merge->from[s]->stream.stretches[i], .words = words};
    for (uint64_t g = 0; g < table->count; g++)
        placing->list[placing->count++] =
            (struct placed){.stretch = {table->entries + g * stride, 1}, .words = words};
    return STATUS_OK;
}

static int compare_numbers(const uint64_t *left, const uint64_t *right, uint32_t words)
{
    for (uint32_t word = words; word-- > 0;)
        if (left[word] != right[word])
            return left[word] < right[word] ? -1 : 1;
    return 0;
}

static int compare_placed(const void *left, const void *right)
{
    const struct placed *const a = left, *const b = right;
    return compare_numbers(a->stretch.entries, b->stretch.entries, a->words);
}

static const uint64_t *last_of(const struct placing *placing, const struct stream_stretch *stretch)
{
    return stretch->entries + (stretch->count - 1) * placing->layout->stride;
}

/* True if no stretch reaches into the next one. */
static bool are_apart(const struct placing *placing)
{
    bool apart = true;
    for (uint64_t i = 1; i < placing->count && apart; i++)
        apart = compare_numbers(last_of(placing, &placing->list[i - 1].stretch),
                                placing->list[i].stretch.entries, placing->layout->words) < 0;
    return apart;
}

static bool ascends(const struct placing *placing, const struct stream_stretch *stretch)
{
    const uint32_t stride = placing->layout->stride;
    bool ascending = true;
    for (uint64_t g = 1; g < stretch->count && ascending; g++)
        ascending = compare_numbers(stretch->entries + (g - 1) * stride, stretch->entries + g * stride,
                                    placing->layout->words) < 0;
    return ascending;
}

static enum status export_stretch(void *context, uint64_t item, unsigned thread, struct error *error)
{
    struct placing *const placing = context;
    const struct placed *const placed = &placing->list[item];
    (void)thread;
    if (!ascends(placing, &placed->stretch))
        atomic_store_explicit(&placing->ascending, false, memory_order_relaxed);
    group_export(placing->merge->plan, placing->layout, placed->stretch.entries, placed->stretch.count,
                 placing->merge->groups, placed->first);
    return item % 64 ? STATUS_OK : cancel_check(error);
}

static enum status place(struct placing *placing, struct error *error)
{
    struct partial *const groups = placing->merge->groups;
    uint64_t count = 0;
    qsort(placing->list, placing->count, sizeof *placing->list, compare_placed);
    for (uint64_t i = 0; i < placing->count; i++) {
        placing->list[i].first = count;
        count += placing->list[i].stretch.count;
    }
    RETURN_IF_ERROR(partial_open(placing->merge->plan, count, groups, error));
    atomic_init(&placing->ascending, are_apart(placing));
    RETURN_IF_ERROR(parallel_for(placing->merge->threads, placing->count, export_stretch, placing, error));
    groups->ascending = atomic_load(&placing->ascending);
    return STATUS_OK;
}

enum status merge_streams(const struct merge *merge, struct group_table *table, struct error *error)
{
    struct placing placing = {.merge = merge, .layout = &merge->from[0]->layout};
    enum status status = merge_tables(merge, table, error);
    status = AND_THEN(status, list_stretches(merge, table, &placing, error));
    status = AND_THEN(status, place(&placing, error));
    free(placing.list);
    return status;
}
