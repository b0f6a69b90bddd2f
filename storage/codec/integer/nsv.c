/*
 * nsv.c: nsv: null suppression with a variable length: 1 to 4 bytes for each value; int64: 1, 2, 4 or 8.
 *
 *     directory    word starts[tiles + 1]: where each tile begins in data, in bytes; the last one: the end
 *     data         the low bytes of the values, in row order; then SPARE_BYTES zeros
 *     auxiliary    256 bytes a tile: bits 2i and 2i + 1 say the number of bytes of row i (nsv.h)
 *
 * Values are unsigned, so a negative one takes 4 bytes (8). There is no reference. Fang et al. (PVLDB 2010) keep lengths
 * and bytes apart as here, for 32 bits, and find the place of a value by a prefix sum over all lengths of the column. The
 * starts, 0.03 bits a value, let each tile be decoded alone.
 */
#include "storage/codec/integer/nsv.h"
#include "storage/base/isa.h"

#define LENGTH_BYTES (TILE_ROWS / 4) /* of the auxiliary section, for each tile */

static uint64_t directory_bytes(uint32_t tiles)
{
    return ((uint64_t)tiles + 1) * sizeof(uint32_t);
}

static size_t bound(uint32_t rows, uint32_t value_bytes)
{
    const uint64_t tiles = chunk_tiles(rows);
    return chunk_size(directory_bytes(chunk_tiles(rows)), tiles * TILE_ROWS * value_bytes + SPARE_BYTES,
                      tiles * LENGTH_BYTES);
}

/* Appends a tile's values at `data` and writes its lengths; returns the end of the values. The bytes after it are
 * overwritten (nsv_append). */
FORCED_INLINE uint8_t *encode_tile(const void *values, uint8_t *data, uint8_t *lengths, const bool wide,
                                   struct width_range *widths)
{
    memset(lengths, 0, LENGTH_BYTES);
    for (uint32_t i = 0; i < TILE_ROWS; i++) {
        data = nsv_append(wide ? ((const uint64_t *)values)[i] : ((const uint32_t *)values)[i], i, data,
                          lengths, wide);
        width_range_add(widths, 8 * nsv_stored_length(lengths, i, wide));
    }
    return data;
}

static size_t encode(const struct codec_input *input, uint8_t *out)
{
    const void *const values = input->values;
    const uint32_t rows = input->rows, value_bytes = input->value_bytes;
    const uint32_t tiles = chunk_tiles(rows);
    const uint64_t most = (uint64_t)tiles * TILE_ROWS * value_bytes + SPARE_BYTES;
    uint32_t *const starts = (uint32_t *)chunk_directory(out);
    uint8_t *const data = chunk_data(out, directory_bytes(tiles)), *end = data;
    uint8_t *const lengths = chunk_auxiliary(out, directory_bytes(tiles), most);
    struct width_range widths = {UINT32_MAX, 0};
    _Alignas(64) int64_t last[TILE_ROWS];
    for (uint32_t tile = 0; tile < tiles; tile++) {
        const void *const v = chunk_tile_values(values, rows, value_bytes, tile, last);
        uint8_t *const of_tile = lengths + (size_t)tile * LENGTH_BYTES;
        starts[tile] = (uint32_t)(end - data);
        end = value_bytes == 4 ? encode_tile(v, end, of_tile, false, &widths)
                               : encode_tile(v, end, of_tile, true, &widths);
    }
    starts[tiles] = (uint32_t)(end - data);
    memset(end, 0, SPARE_BYTES);
    const struct chunk_header header = {.codec = CODEC_NSV,
                                        .rows = rows,
                                        .value_bytes = value_bytes,
                                        .width_low = widths.low,
                                        .width_high = widths.high,
                                        .directory_bytes = directory_bytes(tiles),
                                        .data_bytes = starts[tiles] + SPARE_BYTES,
                                        .auxiliary_bytes = (uint64_t)tiles * LENGTH_BYTES};
    memmove(chunk_auxiliary(out, header.directory_bytes, header.data_bytes), lengths, header.auxiliary_bytes);
    return chunk_finish(out, header);
}

static bool valid(const struct chunk_view *chunk)
{
    const struct chunk_header *const header = chunk_head(chunk);
    if (header->directory_bytes != directory_bytes(chunk->tiles) ||
        header->auxiliary_bytes != (uint64_t)chunk->tiles * LENGTH_BYTES)
        return false;
    const uint32_t *const starts = (const uint32_t *)chunk->directory;
    struct width_range widths = {UINT32_MAX, 0};
    uint64_t at = 0;
    for (uint32_t tile = 0; tile < chunk->tiles; tile++) {
        if (starts[tile] != at)
            return false;
        for (uint32_t row = 0; row < TILE_ROWS; row++) {
            const uint32_t length = nsv_stored_length(chunk->auxiliary + (size_t)tile * LENGTH_BYTES, row,
                                                      chunk->value_bytes == 8);
            width_range_add(&widths, 8 * length);
            at += length;
        }
    }
    return starts[chunk->tiles] == at && header->data_bytes == at + SPARE_BYTES &&
           width_range_matches(&widths, chunk);
}

static const uint8_t *tile_span(const struct chunk_view *chunk, uint32_t tile, uint32_t *bytes)
{
    const uint32_t *const starts = (const uint32_t *)chunk->directory + tile;
    *bytes = starts[1] - starts[0];
    return chunk->data + starts[0];
}

FORCED_INLINE void decode_values(const struct chunk_view *chunk, uint32_t tile, const bool wide, void *out)
{
    const uint8_t *const lengths = chunk->auxiliary + (size_t)tile * LENGTH_BYTES;
    const uint8_t *bytes = chunk->data + ((const uint32_t *)chunk->directory)[tile];
    for (uint32_t row = 0; row < TILE_ROWS; row++) {
        const uint32_t length = nsv_stored_length(lengths, row, wide);
        const uint64_t value = nsv_low_bytes(bytes, length, wide);
        if (wide)
            ((uint64_t *)out)[row] = value;
        else
            ((uint32_t *)out)[row] = (uint32_t)value;
        bytes += length;
    }
}

static void decode_tile(const struct chunk_view *chunk, uint32_t tile, void *out)
{
    if (chunk->value_bytes == 4)
        decode_values(chunk, tile, false, out);
    else
        decode_values(chunk, tile, true, out);
}

static int64_t value(const struct chunk_view *chunk, uint32_t row)
{
    const uint32_t tile = row / TILE_ROWS, last = row % TILE_ROWS;
    const bool wide = chunk->value_bytes == 8;
    const uint8_t *const lengths = chunk->auxiliary + (size_t)tile * LENGTH_BYTES;
    const uint8_t *bytes = chunk->data + ((const uint32_t *)chunk->directory)[tile];
    for (uint32_t r = 0; r < last; r++)
        bytes += nsv_stored_length(lengths, r, wide);
    return chunk_value(nsv_low_bytes(bytes, nsv_stored_length(lengths, last, wide), wide),
                       chunk->value_bytes);
}

const struct codec ISA(codec_nsv) = {
    .id = CODEC_NSV,
    .name = "nsv",
    .family = "baseline",
    .summary = "null suppression: 1 to 4 (8) bytes for each value, lengths apart",
    .choosers = CHOSEN_BY(CHOOSER_SMALLEST),
    .holds_int64 = true,
    .decode_cycles = 2,
    .gpu = {.header = "operators/decode/nsv_cuda.h", .decoder = "decode_nsv"},
    .bound = bound,
    .encode = encode,
    .valid = valid,
    .tile_span = tile_span,
    .decode_tile = decode_tile,
    .value = value,
};
