/*
 * group_table.c: see group_table.h. Open addressing; at most half of the places are taken. Keys are hashed with the
 * finaliser of MurmurHash3. Finding takes about 5 ns a key while the table fits the second-level cache.
 */
#include "engine/cpu/group_table.h"

#include "storage/base/huge_pages.h"
#include "storage/base/memory.h"

#include <stdlib.h>
#include <string.h>

#define FIRST_CAPACITY 64u

/* From this many entries on the table does not fit the first-level cache, and prefetching pays. */
#define FAR_ENTRIES 1024u

void group_layout_make(struct group_layout *layout, const struct plan_aggregate *aggregates,
                       uint32_t aggregate_count, uint32_t words, uint32_t part_words)
{
    layout->aggregates = aggregates;
    layout->aggregate_count = aggregate_count;
    layout->words = layout->stride = words;
    layout->part_words = part_words;
    for (uint32_t a = 0; a < aggregate_count; a++) {
        const struct aggregate *const aggregate = aggregate_of(aggregates[a].kind);
        layout->offset[a] = layout->stride;
        for (uint32_t word = 0; !aggregate->distinct && word < aggregate->words; word++)
            layout->clear[layout->stride++ - words] = aggregate->identity[word];
    }
}

void group_table_free(struct group_table *table)
{
    free(table->entries);
    free(table->places);
    memory_charge_drop(&table->charge);
    *table = (struct group_table){.layout = table->layout};
}

void group_table_clear(struct group_table *table)
{
    if (table->count)
        memset(table->places, 0, 2 * table->capacity * sizeof *table->places);
    table->count = 0;
}

/* ---- Growing ---- */

/* Puts all entries into an empty table. Places are prefetched before they are written. */
static void fill_places(const struct group_table *table, uint32_t *places, uint64_t last)
{
    enum { AHEAD = 64 };
    const struct group_layout *layout = table->layout;
    uint64_t found[AHEAD];
    for (uint64_t first = 0; first < table->count; first += AHEAD) {
        const uint64_t count = table->count - first < AHEAD ? table->count - first : AHEAD;
        for (uint64_t i = 0; i < count; i++) {
            found[i] = group_hash_of(table->entries + (first + i) * layout->stride, layout->words) & last;
            __builtin_prefetch(&places[found[i]], 1);
        }
        for (uint64_t i = 0; i < count; i++) {
            uint64_t place = found[i];
            while (places[place])
                place = (place + 1) & last;
            places[place] = (uint32_t)(first + i) + 1;
        }
    }
}

static enum status grow(struct group_table *table, uint64_t capacity, struct error *error)
{
    const uint64_t bytes = capacity * table->layout->stride * sizeof *table->entries,
                   places_bytes = 2 * capacity * sizeof *table->places;
    uint32_t *places;
    RETURN_IF_ERROR(memory_charge_set(&table->charge, bytes + places_bytes, "a table of groups", error));
    RETURN_IF_ERROR(memory_grow(&table->entries, bytes, "groups", error));
    huge_pages_prefer(table->entries, bytes);
    RETURN_IF_ERROR(memory_zeros(&places, places_bytes, "groups", error));
    huge_pages_prefer(places, places_bytes);
    fill_places(table, places, 2 * capacity - 1);
    free(table->places);
    table->places = places;
    table->capacity = capacity;
    return STATUS_OK;
}

static enum status reserve(struct group_table *table, uint64_t more, struct error *error)
{
    uint64_t capacity = table->capacity ? table->capacity : FIRST_CAPACITY;
    while (table->count + more > capacity)
        capacity *= 2;
    if (capacity > UINT32_MAX / 2)
        return error_set(error, STATUS_MACHINE,
                         "a part of the groups has more than %u of them, too many for one thread",
                         UINT32_MAX / 2);
    return capacity > table->capacity ? grow(table, capacity, error) : STATUS_OK;
}

/* ---- Finding ---- */

/* Inlined with a constant number of words, which keys nearly always have few of. */
static inline __attribute__((always_inline)) bool same_key(const uint64_t *left, const uint64_t *right,
                                                           uint32_t words)
{
    bool same = left[0] == right[0];
    for (uint32_t word = 1; word < words; word++)
        same &= left[word] == right[word];
    return same;
}

/* Prefetches the memory that the batch's keys will touch, so that their cache misses overlap. */
static inline __attribute__((always_inline)) void ask_for(const struct group_table *table, uint32_t count,
                                                          const uint64_t *hashes)
{
    const uint64_t last = 2 * table->capacity - 1;
    for (uint32_t i = 0; i < count; i++)
        __builtin_prefetch(&table->places[hashes[i] & last]);
    for (uint32_t i = 0; i < count; i++) {
        const uint32_t entry = table->places[hashes[i] & last];
        if (entry)
            __builtin_prefetch(&table->entries[(entry - 1) * (uint64_t)table->layout->stride], 1);
    }
}

static inline __attribute__((always_inline)) void find_all(struct group_table *table, uint32_t count,
                                                           const uint64_t *keys, uint64_t *index,
                                                           uint32_t words, uint32_t stride)
{
    const uint64_t last = 2 * table->capacity - 1;
    uint64_t hashes[VECTOR_ROWS];
    for (uint32_t i = 0; i < count; i++)
        hashes[i] = group_hash_of(keys + i * (size_t)stride, words);
    if (table->count >= FAR_ENTRIES)
        ask_for(table, count, hashes);
    for (uint32_t i = 0; i < count; i++) {
        const uint64_t *const key = keys + i * (size_t)stride;
        uint64_t place = hashes[i] & last;
        while (table->places[place] &&
               !same_key(table->entries + (table->places[place] - 1) * (uint64_t)stride, key, words))
            place = (place + 1) & last;
        if (!table->places[place]) {
            uint64_t *const entry = table->entries + table->count * stride;
            memcpy(entry, key, words * sizeof *key);
            group_layout_clear(table->layout, entry, words, stride);
            table->places[place] = (uint32_t)++table->count;
        }
        index[i] = (table->places[place] - 1) * (uint64_t)stride;
    }
}

enum status group_table_find(struct group_table *table, uint32_t count, const uint64_t *keys, uint64_t *index,
                             struct error *error)
{
    const struct group_layout *layout = table->layout;
    RETURN_IF_ERROR(reserve(table, count, error));
    if (layout->words == 1)
        find_all(table, count, keys, index, 1, layout->stride);
    else if (layout->words == 2)
        find_all(table, count, keys, index, 2, layout->stride);
    else
        find_all(table, count, keys, index, layout->words, layout->stride);
    return STATUS_OK;
}

/* ---- Merging ---- */

static void merge_states(const struct group_table *table, uint32_t a, uint32_t count, const uint64_t *index,
                         const uint64_t *entries)
{
    const struct group_layout *layout = table->layout;
    const struct aggregate *const aggregate = aggregate_of(layout->aggregates[a].kind);
    int64_t *const to = (int64_t *)table->entries + layout->offset[a];
    const int64_t *const from = (const int64_t *)entries + layout->offset[a];
    if (!aggregate->distinct)
        aggregate->merge(to, to + 1, count, index, from, from + 1, layout->stride);
}

enum status group_table_merge(struct group_table *table, uint64_t count, const uint64_t *entries,
                              struct error *error)
{
    uint64_t index[VECTOR_ROWS];
    for (uint64_t first = 0; first < count; first += VECTOR_ROWS) {
        const uint32_t here = count - first < VECTOR_ROWS ? (uint32_t)(count - first) : VECTOR_ROWS;
        const uint64_t *const from = entries + first * table->layout->stride;
        RETURN_IF_ERROR(group_table_find(table, here, from, index, error));
        for (uint32_t a = 0; a < table->layout->aggregate_count; a++)
            merge_states(table, a, here, index, from);
    }
    return STATUS_OK;
}
