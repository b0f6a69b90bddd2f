/*
 * used_positions.c: which rows of another table some row of a foreign key's table references (planner.h). The catalogue has the
 * least and the greatest position of a key, but not the extremes of the referenced rows' columns. The database keeps the
 * answer (kept_arrays.h). All threads set bits of one bitmap, 1 ns a row and thread.
 */
#include "engine/plan/dimensions/column_parts.h"
#include "engine/plan/planner.h"
#include "storage/base/memory.h"
#include "storage/base/parallel.h"
#include "storage/codec/chunk_reader.h"

#include <stdatomic.h>
#include <stdlib.h>

struct marking {
    const struct column *key;
    const struct column_data *data;
    uint32_t parts; /* of the largest segment */
    uint64_t positions;
    atomic_uint_least64_t *words;
};

static enum status mark(const struct marking *of, int64_t position, struct error *error)
{
    if (position < 0 || (uint64_t)position >= of->positions)
        return error_set(
            error, STATUS_BAD_INPUT,
            "column %s.%s points at position %lld of %s, where no row is; the file is damaged: load "
            "the table again",
            of->key->table->name, of->key->schema.name, (long long)position,
            of->key->references->table->name);
    atomic_uint_least64_t *const word = &of->words[position / 64];
    const uint64_t bit = UINT64_C(1) << position % 64;
    if (!(atomic_load_explicit(word, memory_order_relaxed) & bit))
        atomic_fetch_or_explicit(word, bit, memory_order_relaxed);
    return STATUS_OK;
}

static enum status mark_tile(const struct marking *of, const struct column_part *part, uint32_t tile,
                             const void *values, struct error *error)
{
    const struct chunk_view *const chunk = part->chunk;
    const uint32_t *const validity =
        part->segment->validity ? part->segment->validity + tile * TILE_LANES : NULL;
    const uint32_t left = chunk->rows - tile * TILE_ROWS, rows = left < TILE_ROWS ? left : TILE_ROWS;
    for (uint32_t row = 0; row < rows; row++)
        if (!validity || tile_row_valid(validity, row))
            RETURN_IF_ERROR(mark(of, row_value(values, chunk->value_bytes, row), error));
    return STATUS_OK;
}

static enum status mark_part(void *context, uint64_t item, unsigned thread, struct error *error)
{
    const struct marking *const of = context;
    const struct column_part part = column_part(of->data, of->parts, item);
    struct chunk_reader reader = {0};
    enum status status = cancel_check(error);
    (void)thread;
    for (uint32_t tile = part.first; status == STATUS_OK && tile < part.end; tile++) {
        const void *values;
        status = chunk_reader_tile(&reader, part.chunk, tile, &values, error);
        status = AND_THEN(status, mark_tile(of, &part, tile, values, error));
    }
    chunk_reader_close(&reader);
    return status;
}

enum status planner_used_positions(struct planner *planner, const struct column *key,
                                   const struct kept_array **used)
{
    struct database *const database = planner->plan->database;
    struct error *const error = planner->error;
    struct kept_array made = {.key = array_key_of(NULL, key, ARRAY_USED), .value_bytes = sizeof(uint64_t)};
    struct column_data *data;
    *used = kept_array_find(database, &made.key);
    if (*used)
        return STATUS_OK;
    RETURN_IF_ERROR(column_data_open(database, key, key->own, planner->threads, &data, error));
    struct marking of = {.key = key,
                         .data = data,
                         .parts = column_parts(data),
                         .positions = table_positions(key->references->table)};
    made.bytes = (of.positions / 64 + 1) * sizeof *of.words;
    RETURN_IF_ERROR(memory_zeros(&of.words, made.bytes, key->schema.name, error));
    const enum status status =
        parallel_for(planner->threads, (uint64_t)data->segment_count * of.parts, mark_part, &of, error);
    if (status != STATUS_OK) {
        free(of.words);
        return status;
    }
    made.values = of.words;
    return kept_array_add(database, &made, used, error);
}
