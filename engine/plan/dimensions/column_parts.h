/* column_parts.h: the parts of a stored column that threads decode at a time: 64 tiles of a segment; and all its tiles. */
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

/* A tile that is decoded. */
struct column_tile {
    const void *values;       /* int32_t[] or int64_t[] by value_bytes, aligned to 64; until `take` returns */
    const uint32_t *validity; /* as tile_row_valid reads it; NULL: no row is NULL */
    uint64_t row;             /* of the table, the first */
    uint32_t rows, value_bytes;
};

typedef enum status column_tile_take(void *context, const struct column_tile *tile, struct error *error);

/* Decodes a column and calls `take` for each tile, on all threads, in any order. The first failure ends it; so does
 * the end of the statement's patience (cancel_check). */
NODISCARD enum status column_tiles_read(const struct column_data *data, unsigned threads,
                                        column_tile_take *take, void *context, struct error *error);

#endif
