/*
 * group_parts.h: entries (group_table.h) that a thread has put aside, in GROUP_PARTS parts by the hashes of their keys.
 * A part is written one entry after the other, in chunks of memory, and read only when the parts of all threads are
 * merged: by one thread, in a table of 1/GROUP_PARTS of the groups, which fits its cache.
 *
 * The same key can be in a part many times. If a part grows, its entries are merged now and then: it takes no more than
 * 256 KB (of all parts 64 MB), or four times the memory of its different keys if that is more. But parts by ranges of keys
 * (part_words 0) keep all their entries.
 */
#ifndef TESSERA_ENGINE_CPU_GROUP_PARTS_H
#define TESSERA_ENGINE_CPU_GROUP_PARTS_H

#include "engine/cpu/group_blocks.h"
#include "engine/cpu/group_table.h"

/* With 6 million groups a part has 23,000, and its table takes 0.7 MB for two aggregates. Appending to 256 places
 * touches as many lines and pages as the first-level caches have. */
#define GROUP_PARTS 256u

#define GROUP_CHUNK_SIZES 7u

struct group_chunk;

/* Where the next entry of a part goes, in its newest chunk: all that appending to the part reads and writes, so that the
 * places of all parts stay in the first-level cache beside the lines that are written. */
struct group_place {
    uint64_t *next, *end;
};

struct group_part {
    struct group_chunk *newest; /* and from it on all older ones, which are full */
    uint64_t older_entries;     /* in these */
    uint64_t bytes, merge_at;   /* of its chunks; when there are more than merge_at, entries are merged */
};

/* Valid if zero-initialised, but for the layout. */
struct group_parts {
    const struct group_layout *layout;
    struct group_part *parts;   /* NULL: nothing has been appended */
    struct group_place *places; /* of each part */
    struct group_chunk *spare[GROUP_CHUNK_SIZES];
    struct group_blocks blocks;
    struct group_table scratch; /* merges a part */
};

void group_parts_free(struct group_parts *parts);

/* Appends `count` entries that follow each other. */
NODISCARD enum status group_parts_append(struct group_parts *parts, uint64_t count, const uint64_t *entries,
                                         struct error *error);

/* The number of entries of all parts. */
uint64_t group_parts_entries(const struct group_parts *parts);

/* Entries of a part that follow each other in memory. Zero-initialised it comes before the first stretch. */
struct group_stretch {
    struct group_chunk *chunk;
    uint64_t *entries, count;
};
/* Goes on to the next stretch of a part; false: there is none. */
bool group_parts_next(const struct group_parts *parts, uint32_t part, struct group_stretch *stretch);

/* Merges the entries of a part into a table. */
NODISCARD enum status group_parts_merge(const struct group_parts *parts, uint32_t part,
                                        struct group_table *into, struct error *error);

#endif
