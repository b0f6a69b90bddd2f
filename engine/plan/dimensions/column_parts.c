/*
 * column_parts.c: see column_parts.h.
 */
#include "engine/plan/dimensions/column_parts.h"

#include "storage/base/parallel.h"
#include "storage/codec/chunk_reader.h"

struct tiles_reading {
    const struct column_data *data;
    uint32_t parts;
    column_tile_take *take;
    void *context;
};

static enum status read_part(void *context, uint64_t item, unsigned thread, struct error *error)
{
    const struct tiles_reading *const of = context;
    const struct column_part part = column_part(of->data, of->parts, item);
    const struct chunk_view *const chunk = part.chunk;
    const uint32_t *const validity = part.segment->validity;
    struct chunk_reader reader = {0};
    enum status status = cancel_check(error);
    (void)thread;
    for (uint32_t tile = part.first; status == STATUS_OK && tile < part.end; tile++) {
        const uint32_t left = chunk->rows - tile * TILE_ROWS;
        struct column_tile read = {.validity = validity ? validity + tile * TILE_LANES : NULL,
                                   .row = part.row + (uint64_t)tile * TILE_ROWS,
                                   .rows = left < TILE_ROWS ? left : TILE_ROWS,
                                   .value_bytes = chunk->value_bytes};
        status = chunk_reader_tile(&reader, chunk, tile, &read.values, error);
        status = AND_THEN(status, of->take(of->context, &read, error));
    }
    chunk_reader_close(&reader);
    return status;
}

enum status column_tiles_read(const struct column_data *data, unsigned threads, column_tile_take *take,
                              void *context, struct error *error)
{
    struct tiles_reading of = {.data = data, .parts = column_parts(data), .take = take, .context = context};
    return parallel_for(threads, (uint64_t)data->segment_count * of.parts, read_part, &of, error);
}
