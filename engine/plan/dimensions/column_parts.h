/* column_parts.h: the parts of a stored column that threads decode at a time: 64 tiles of a segment. */
#ifndef TESSERA_ENGINE_PLAN_DIMENSIONS_COLUMN_PARTS_H
#define TESSERA_ENGINE_PLAN_DIMENSIONS_COLUMN_PARTS_H

#include "storage/column/column_data.h"

enum {
    PART_TILES = 64,              /* that a thread decodes at a time */
    PART_ROWS = PART_TILES * 1024 /* elements that a thread moves at a time; whole words of bits */
};

/* The tiles of one item of work, of column_parts items for each segment. */
struct column_part {
    const struct segment_data *segment;
    const struct chunk_view *chunk;
    uint64_t row; /* of the table, the segment's first */
    uint32_t first, end;
};

static inline struct column_part column_part(const struct column_data *data, uint32_t parts, uint64_t item)
{
    const uint32_t s = (uint32_t)(item / parts), first = (uint32_t)(item % parts) * PART_TILES;
    const struct chunk_view *const chunk = &data->segments[s].chunk;
    struct column_part of = {.segment = &data->segments[s], .chunk = chunk, .first = first};
    of.end = chunk->tiles < first + PART_TILES ? chunk->tiles : first + PART_TILES;
    for (uint32_t before = 0; before < s; before++)
        of.row += data->segments[before].chunk.rows;
    return of;
}

/* The items of work that the largest segment makes. */
static inline uint32_t column_parts(const struct column_data *data)
{
    uint32_t parts = 0;
    for (uint32_t s = 0; s < data->segment_count; s++) {
        const uint32_t own = (data->segments[s].chunk.tiles + PART_TILES - 1) / PART_TILES;
        parts = own > parts ? own : parts;
    }
    return parts;
}

#endif
