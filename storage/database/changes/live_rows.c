/* live_rows.c: see live_rows.h. Looking for references decodes a key once, about 1 ns a row, but for the tiles whose keys are
 * all before the first deleted row or after the last. */
#include "storage/database/changes/live_rows.h"

#include "storage/base/execution/execution.h"
#include "storage/base/memory.h"
#include "storage/codec/chunk_reader.h"
#include "storage/column/column_data.h"
#include "storage/column/positions.h"

#include <string.h>

/* ---- Reading ---- */

static uint32_t tile_rows(const struct chunk_view *chunk, uint32_t tile)
{
    const uint32_t left = chunk->rows - tile * TILE_ROWS;
    return left < TILE_ROWS ? left : TILE_ROWS;
}

static enum status read_bits(const struct column_data *data, struct chunk_reader *reader,
                             struct live_rows *live, struct error *error)
{
    uint64_t row = 0;
    for (uint32_t s = 0; s < data->segment_count; s++) {
        const struct chunk_view *const chunk = &data->segments[s].chunk;
        for (uint32_t tile = 0; tile < chunk->tiles; tile++) {
            const uint32_t rows = tile_rows(chunk, tile);
            const void *decoded;
            RETURN_IF_ERROR(chunk_reader_tile(reader, chunk, tile, &decoded, error));
            const int32_t *const values = decoded;
            for (uint32_t r = 0; r < rows; r++, row++) {
                live->bits[row / 64] |= (uint64_t)(values[r] != 0) << row % 64;
                live->rows += values[r] != 0;
                live->first = values[r] == 0 && s < live->first ? s : live->first;
            }
        }
    }
    return STATUS_OK;
}

enum status live_rows_read(const char *directory, const struct table *table, struct live_rows *live,
                           struct error *error)
{
    const struct column *const column = table_live(table);
    struct chunk_reader reader = {0};
    struct column_data *data;
    *live = (struct live_rows){.rows = table->rows, .first = table->segment_count};
    if (!column)
        return STATUS_OK;
    live->rows = 0;
    RETURN_IF_ERROR(
        memory_zeros(&live->bits, (table->rows / 64 + 1) * sizeof *live->bits, "deleted rows", error));
    RETURN_IF_ERROR(column_data_read(directory, column, column->own, 0, &data, error));
    const enum status status = read_bits(data, &reader, live, error);
    chunk_reader_close(&reader);
    column_data_free(data);
    return status;
}

enum status live_rows_count(const char *directory, const struct table *table, uint64_t *rows,
                            struct error *error)
{
    struct live_rows live = {0};
    const enum status status = live_rows_read(directory, table, &live, error);
    *rows = live.rows;
    free(live.bits);
    return status;
}

enum status live_rows_make(const struct table *table, struct live_rows *live, struct error *error)
{
    const uint64_t bytes = (table->rows / 64 + 1) * sizeof *live->bits;
    if (live->bits)
        return STATUS_OK;
    RETURN_IF_ERROR(memory_take(&live->bits, bytes, "deleted rows", error));
    memset(live->bits, 0xff, bytes);
    return STATUS_OK;
}

/* ---- References to deleted rows ---- */

/* The deleted rows of a table by their positions, of which no gap is one that a key has. */
struct deleted {
    uint32_t *words;
    uint64_t least, greatest; /* least > greatest: there are none */
};

static void bound(struct deleted *deleted, uint64_t positions)
{
    deleted->least = UINT64_MAX;
    for (uint64_t word = 0; word <= positions / 32; word++) {
        const uint32_t bits = deleted->words[word];
        if (!bits)
            continue;
        if (deleted->least == UINT64_MAX)
            deleted->least = 32 * word + (unsigned)__builtin_ctz(bits);
        deleted->greatest = 32 * word + 31 - (unsigned)__builtin_clz(bits);
    }
}

static enum status find_deleted(const struct table *table, const struct live_rows *live,
                                struct deleted *deleted, struct error *error)
{
    const uint64_t positions = table_positions(table);
    uint32_t *by_row = NULL;
    *deleted = (struct deleted){.least = 1}; /* of no rows */
    if (!live->bits)
        return STATUS_OK;
    RETURN_IF_ERROR(memory_zeros(&by_row, (table->rows / 32 + 1) * sizeof *by_row, "deleted rows", error));
    for (uint64_t row = 0; row < table->rows; row++)
        by_row[row / 32] |= (uint32_t)!row_valid(live->bits, row) << row % 32;
    deleted->words = by_row;
    if (table->levels) {
        const enum status status = memory_zeros(
            &deleted->words, (positions / 32 + 1) * sizeof *deleted->words, "deleted rows", error);
        if (status == STATUS_OK)
            positions_spread_bits(table, by_row, deleted->words);
        free(by_row);
        RETURN_IF_ERROR(status);
    }
    bound(deleted, positions);
    return STATUS_OK;
}

static uint64_t count_tile(const int32_t *keys, const uint32_t *validity, uint32_t rows, uint64_t first,
                           const struct live_rows *own, const struct deleted *deleted)
{
    uint64_t count = 0;
    for (uint32_t r = 0; r < rows; r++) {
        const uint64_t key = (uint64_t)keys[r];
        if (key < deleted->least || key > deleted->greatest || !(deleted->words[key / 32] >> key % 32 & 1))
            continue;
        count +=
            (!validity || tile_row_valid(validity, r)) && (!own->bits || row_valid(own->bits, first + r));
    }
    return count;
}

static enum status count_all(const struct column_data *data, struct chunk_reader *reader,
                             const struct live_rows *own, const struct deleted *deleted, uint64_t *count,
                             struct error *error)
{
    uint64_t first = 0;
    for (uint32_t s = 0; s < data->segment_count; s++) {
        const struct segment_data *const segment = &data->segments[s];
        const struct chunk_view *const chunk = &segment->chunk;
        RETURN_IF_ERROR(cancel_check(error));
        for (uint32_t tile = 0; tile < chunk->tiles; tile++) {
            const int64_t *const ends = &segment->tile_min_max[2 * (size_t)tile];
            const uint32_t *const validity =
                segment->validity ? segment->validity + (size_t)tile * TILE_LANES : NULL;
            const void *keys;
            if (ends[1] < (int64_t)deleted->least || ends[0] > (int64_t)deleted->greatest)
                continue;
            RETURN_IF_ERROR(chunk_reader_tile(reader, chunk, tile, &keys, error));
            *count += count_tile(keys, validity, tile_rows(chunk, tile), first + (uint64_t)tile * TILE_ROWS,
                                 own, deleted);
        }
        first += chunk->rows;
    }
    return STATUS_OK;
}

enum status live_rows_dangling(const char *directory, const struct column *key, const struct live_rows *own,
                               const struct live_rows *referenced, uint64_t *count, struct error *error)
{
    struct chunk_reader reader = {0};
    struct column_data *data;
    struct deleted deleted;
    *count = 0;
    RETURN_IF_ERROR(find_deleted(key->references->table, referenced, &deleted, error));
    enum status status = STATUS_OK;
    if (deleted.least <= deleted.greatest) {
        status = column_data_read(directory, key, key->own, 0, &data, error);
        if (status == STATUS_OK) {
            status = count_all(data, &reader, own, &deleted, count, error);
            column_data_free(data);
        }
        chunk_reader_close(&reader);
    }
    free(deleted.words);
    return status;
}
