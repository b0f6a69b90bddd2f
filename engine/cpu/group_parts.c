/* group_parts.c: see group_parts.h. Chunks are cut from blocks of memory, which are freed together. The first chunks of
 * a part are small, so that statements with few entries do not touch much memory: the system clears 2 to 4 GB a second
 * of new memory, and that is a third of the time of a statement with millions of groups. */
#include "engine/cpu/group_parts.h"

#include "storage/base/memory.h"

#include <stdlib.h>
#include <string.h>

#define CHUNK_LEAST (UINT64_C(1) << 10)
#define CHUNK_USUAL 4u /* the size that chunks grow to: 16 KB, or more if an entry is larger than 4 KB */
#define BLOCK_LEAST (UINT64_C(1) << 18)
#define BLOCK_MOST  (UINT64_C(1) << 25)
#define LINE_WORDS  8u /* of a cache */
#define MERGE_FROM  (UINT64_C(1) << 18)

_Static_assert(3 * sizeof(uint64_t) * (2 * PLAN_AGGREGATES_MAX + PLAN_KEY_WORDS_MAX + 1) + 64 <=
                   CHUNK_LEAST << (GROUP_CHUNK_SIZES - 1),
               "a chunk has at least three entries");

struct group_chunk {
    struct group_chunk *older;
    uint32_t size; /* CHUNK_LEAST << size bytes */
    uint64_t words[];
};

void group_parts_free(struct group_parts *parts)
{
    group_blocks_free(&parts->blocks);
    group_table_free(&parts->scratch);
    free(parts->parts);
    free(parts->places);
    *parts = (struct group_parts){.layout = parts->layout};
}

/* ---- Memory ---- */

static uint64_t chunk_words(uint32_t size)
{
    return ((CHUNK_LEAST << size) - sizeof(struct group_chunk)) / sizeof(uint64_t);
}

static uint64_t entries_of_chunk(const struct group_layout *layout, uint32_t size)
{
    return chunk_words(size) / layout->stride;
}

static enum status take_chunk(struct group_parts *parts, uint32_t size, struct group_chunk **chunk,
                              struct error *error)
{
    const uint64_t bytes = CHUNK_LEAST << size;
    if (parts->spare[size]) {
        *chunk = parts->spare[size];
        parts->spare[size] = (*chunk)->older;
        return STATUS_OK;
    }
    const struct group_block *const newest = parts->blocks.newest;
    if (!newest || newest->used + bytes > newest->bytes)
        RETURN_IF_ERROR(group_blocks_add(&parts->blocks, BLOCK_LEAST, BLOCK_MOST, error));
    struct group_block *const block = parts->blocks.newest;
    *chunk = (struct group_chunk *)(void *)((char *)block + block->used);
    block->used += bytes;
    (*chunk)->size = size;
    return STATUS_OK;
}

/* The size of the chunk after `newest`: it has at least three entries, of up to 2 * PLAN_AGGREGATES_MAX words and a key. */
static uint32_t next_size(const struct group_layout *layout, const struct group_chunk *newest)
{
    uint32_t size = newest && newest->size < CHUNK_USUAL ? newest->size + 1 : newest ? newest->size : 0;
    while (size + 1 < GROUP_CHUNK_SIZES && entries_of_chunk(layout, size) < 3)
        size++;
    return size;
}

static struct group_place *place_of(const struct group_parts *parts, const struct group_part *part)
{
    return &parts->places[part - parts->parts];
}

static enum status add_chunk(struct group_parts *parts, struct group_part *part, struct error *error)
{
    struct group_place *const place = place_of(parts, part);
    const uint32_t size = next_size(parts->layout, part->newest);
    struct group_chunk *chunk;
    RETURN_IF_ERROR(take_chunk(parts, size, &chunk, error));
    part->older_entries += part->newest ? entries_of_chunk(parts->layout, part->newest->size) : 0;
    chunk->older = part->newest;
    part->newest = chunk;
    place->next = chunk->words;
    place->end = chunk->words + entries_of_chunk(parts->layout, size) * parts->layout->stride;
    part->bytes += CHUNK_LEAST << size;
    return STATUS_OK;
}

/* ---- Merging ---- */

static uint64_t used_entries(const struct group_parts *parts, const struct group_part *part,
                             const struct group_chunk *chunk)
{
    return chunk == part->newest
               ? (uint64_t)(place_of(parts, part)->next - chunk->words) / parts->layout->stride
               : entries_of_chunk(parts->layout, chunk->size);
}

uint64_t group_parts_entries(const struct group_parts *parts)
{
    uint64_t count = 0;
    for (uint32_t p = 0; parts->parts && p < GROUP_PARTS; p++) {
        const struct group_part *const part = &parts->parts[p];
        count += part->newest ? part->older_entries + used_entries(parts, part, part->newest) : 0;
    }
    return count;
}

bool group_parts_next(const struct group_parts *parts, uint32_t p, struct group_stretch *stretch)
{
    const struct group_part *part = parts->parts ? &parts->parts[p] : NULL;
    stretch->chunk = stretch->chunk ? stretch->chunk->older : part ? part->newest : NULL;
    if (!stretch->chunk)
        return false;
    stretch->entries = stretch->chunk->words;
    stretch->count = used_entries(parts, part, stretch->chunk);
    return true;
}

enum status group_parts_merge(const struct group_parts *parts, uint32_t part, struct group_table *into,
                              struct error *error)
{
    struct group_stretch stretch = {0};
    while (group_parts_next(parts, part, &stretch))
        RETURN_IF_ERROR(group_table_merge(into, stretch.count, stretch.entries, error));
    return STATUS_OK;
}

static void give_back(struct group_parts *parts, struct group_part *part)
{
    while (part->newest) {
        struct group_chunk *const chunk = part->newest;
        part->newest = chunk->older;
        chunk->older = parts->spare[chunk->size];
        parts->spare[chunk->size] = chunk;
    }
    *place_of(parts, part) = (struct group_place){0};
    part->bytes = part->older_entries = 0;
}

static enum status put(struct group_parts *parts, struct group_part *part, const uint64_t *entry,
                       struct error *error)
{
    const uint32_t stride = parts->layout->stride;
    struct group_place *const place = place_of(parts, part);
    if (place->next == place->end)
        RETURN_IF_ERROR(add_chunk(parts, part, error));
    memcpy(place->next, entry, stride * sizeof *entry);
    place->next += stride;
    return STATUS_OK;
}

/* Replaces the entries of a part by one for each key. */
static enum status merge_part(struct group_parts *parts, struct group_part *part, struct error *error)
{
    struct group_table *const table = &parts->scratch;
    table->layout = parts->layout;
    group_table_clear(table);
    RETURN_IF_ERROR(group_parts_merge(parts, (uint32_t)(part - parts->parts), table, error));
    give_back(parts, part);
    for (uint64_t e = 0; e < table->count; e++)
        RETURN_IF_ERROR(put(parts, part, table->entries + e * parts->layout->stride, error));
    part->merge_at = 4 * part->bytes < MERGE_FROM ? MERGE_FROM : 4 * part->bytes;
    return cancel_check(error);
}

/* ---- Appending ---- */

static enum status extend(struct group_parts *parts, struct group_part *part, struct error *error)
{
    if (part->bytes >= part->merge_at)
        RETURN_IF_ERROR(merge_part(parts, part, error));
    const struct group_place *const place = place_of(parts, part);
    return place->next == place->end ? add_chunk(parts, part, error) : STATUS_OK;
}

static enum status open_parts(struct group_parts *parts, struct error *error)
{
    RETURN_IF_ERROR(memory_zeros(&parts->parts, GROUP_PARTS * sizeof *parts->parts, "groups", error));
    RETURN_IF_ERROR(memory_zeros(&parts->places, GROUP_PARTS * sizeof *parts->places, "groups", error));
    for (uint32_t p = 0; p < GROUP_PARTS; p++)
        parts->parts[p].merge_at = parts->layout->part_words ? MERGE_FROM : UINT64_MAX;
    return STATUS_OK;
}

/* The files promise keys of the parts, but they may be damaged. */
static inline __attribute__((always_inline)) uint64_t part_of(const struct group_parts *parts,
                                                              const uint64_t *entry, uint32_t words)
{
    if (words)
        return hash_part(group_hash_of(entry, words), GROUP_PARTS);
    const uint64_t part = entry[0] >> parts->layout->part_shift;
    return part < GROUP_PARTS ? part : GROUP_PARTS - 1;
}

/* Inlined with a constant stride, so that an entry is copied by a few moves. */
static inline __attribute__((always_inline)) enum status append_all(struct group_parts *parts, uint64_t count,
                                                                    const uint64_t *entries, uint32_t stride,
                                                                    uint32_t words, struct error *error)
{
    for (uint64_t i = 0; i < count; i++) {
        const uint64_t *const entry = entries + i * stride;
        const uint64_t part = part_of(parts, entry, words);
        struct group_place *const place = &parts->places[part];
        if (place->next == place->end)
            RETURN_IF_ERROR(extend(parts, &parts->parts[part], error));
        memcpy(place->next, entry, stride * sizeof *entry);
        place->next += stride;
        __builtin_prefetch(place->next + LINE_WORDS, 1);
    }
    return STATUS_OK;
}

enum status group_parts_append(struct group_parts *parts, uint64_t count, const uint64_t *entries,
                               struct error *error)
{
    const struct group_layout *const layout = parts->layout;
    if (!parts->parts)
        RETURN_IF_ERROR(open_parts(parts, error));
    if (layout->part_words == 0)
        return append_all(parts, count, entries, 1, 0, error);
    if (layout->part_words > 1)
        return append_all(parts, count, entries, layout->stride, layout->part_words, error);
    switch (layout->stride) {
    case 2:
        return append_all(parts, count, entries, 2, 1, error);
    case 3:
        return append_all(parts, count, entries, 3, 1, error);
    case 4:
        return append_all(parts, count, entries, 4, 1, error);
    default:
        return append_all(parts, count, entries, layout->stride, 1, error);
    }
}
