/* group_hash.c: see group_hash.h. */
#include "engine/cpu/group_hash.h"

#include "storage/base/memory.h"

#include <stdlib.h>

/* The memory of a table, entries and places, that a core's second-level cache has room for. */
#define TABLE_BYTES (UINT64_C(1) << 20)
#define TABLE_LEAST 2048u

/* A table that has merged less than two rows to an entry saves less than it costs: finding an entry in it takes about
 * as long as appending the row to a part and merging it there. Then this many times its entries go past it. */
#define WORTH_ROWS 2u
#define PAST_TIMES 16u

uint64_t group_hash_most(const struct group_layout *layout)
{
    const uint64_t bytes = layout->stride * sizeof(uint64_t) + 2 * sizeof(uint32_t);
    uint64_t most = TABLE_LEAST;
    while (2 * most * bytes <= TABLE_BYTES)
        most *= 2;
    return most;
}

enum status group_hash_open(struct group_hash *hash, const struct group_layout *layout, struct error *error)
{
    *hash = (struct group_hash){.layout = layout, .most = group_hash_most(layout)};
    hash->table.layout = hash->parts.layout = layout;
    return memory_take(&hash->buffer, VECTOR_ROWS * layout->stride * sizeof *hash->buffer, "groups", error);
}

void group_hash_free(struct group_hash *hash)
{
    group_table_free(&hash->table);
    group_parts_free(&hash->parts);
    free(hash->buffer);
    *hash = (struct group_hash){0};
}

void group_hash_clear(struct group_hash *hash)
{
    group_table_clear(&hash->table);
    group_parts_free(&hash->parts);
    hash->rows = hash->past = 0;
}

enum status group_hash_part(struct group_hash *hash, struct error *error)
{
    RETURN_IF_ERROR(group_parts_append(&hash->parts, hash->table.count, hash->table.entries, error));
    group_table_clear(&hash->table);
    return STATUS_OK;
}

static enum status make_room(struct group_hash *hash, struct error *error)
{
    const uint64_t entries = hash->table.count;
    RETURN_IF_ERROR(group_hash_part(hash, error));
    hash->past = hash->rows < WORTH_ROWS * entries ? PAST_TIMES * entries : 0;
    hash->rows = 0;
    return STATUS_OK;
}

enum status group_hash_find(struct group_hash *hash, uint32_t count, uint64_t **base, uint64_t *index,
                            struct error *error)
{
    const uint32_t stride = hash->layout->stride;
    if (hash->past == 0 && hash->table.count + count > hash->most)
        RETURN_IF_ERROR(make_room(hash, error));
    if (hash->past == 0) {
        hash->rows += count;
        RETURN_IF_ERROR(group_table_find(&hash->table, count, hash->buffer, index, error));
        *base = hash->table.entries;
        return STATUS_OK;
    }
    for (uint32_t i = 0; i < count; i++) {
        index[i] = (uint64_t)i * stride;
        group_layout_clear(hash->layout, hash->buffer + index[i], hash->layout->words, stride);
    }
    *base = hash->buffer;
    return STATUS_OK;
}

enum status group_hash_added(struct group_hash *hash, uint32_t count, struct error *error)
{
    if (hash->past == 0)
        return STATUS_OK;
    hash->past -= count < hash->past ? count : hash->past;
    return group_parts_append(&hash->parts, count, hash->buffer, error);
}

enum status group_hash_put(struct group_hash *hash, uint64_t count, const uint64_t *entries,
                           struct error *error)
{
    return group_hash_parted(hash) || hash->table.count + count > hash->most
               ? group_parts_append(&hash->parts, count, entries, error)
               : group_table_merge(&hash->table, count, entries, error);
}

enum status group_hash_merge(const struct group_hash *hash, uint32_t part, struct group_table *into,
                             struct error *error)
{
    return part == GROUP_HASH_WHOLE ? group_table_merge(into, hash->table.count, hash->table.entries, error)
                                    : group_parts_merge(&hash->parts, part, into, error);
}

uint64_t group_hash_entries(const struct group_hash *hash)
{
    return hash->table.count + group_parts_entries(&hash->parts);
}
