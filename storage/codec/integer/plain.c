/*
 * plain.c: plain: the values as they are, in row order.
 *
 *     directory    empty
 *     data         tiles * 1024 values of value_bytes; after the last row its value is repeated, so that
 *                  kernels read whole tiles
 *
 * It is the baseline with which every other codec is compared.
 */
#include "storage/codec/integer/bitpack.h"
#include "storage/base/isa.h"

static uint64_t tile_bytes(uint32_t value_bytes)
{
    return (uint64_t)TILE_ROWS * value_bytes;
}

static size_t bound(uint32_t rows, uint32_t value_bytes)
{
    return chunk_size(0, chunk_tiles(rows) * tile_bytes(value_bytes), 0);
}

static size_t encode(const struct codec_input *input, uint8_t *out)
{
    const void *const values = input->values;
    const uint32_t rows = input->rows, value_bytes = input->value_bytes;
    const uint32_t tiles = chunk_tiles(rows);
    _Alignas(64) int64_t last[TILE_ROWS];
    uint8_t *const data = chunk_data(out, 0);
    const uint64_t whole = (tiles - 1) * tile_bytes(value_bytes);
    memcpy(data, values, whole);
    memcpy(data + whole, chunk_tile_values(values, rows, value_bytes, tiles - 1, last),
           tile_bytes(value_bytes));
    return chunk_finish(out, (struct chunk_header){.codec = CODEC_PLAIN,
                                                   .rows = rows,
                                                   .value_bytes = value_bytes,
                                                   .width_low = value_bytes * 8,
                                                   .width_high = value_bytes * 8,
                                                   .data_bytes = tiles * tile_bytes(value_bytes)});
}

static bool valid(const struct chunk_view *chunk)
{
    return chunk_head(chunk)->directory_bytes == 0 &&
           chunk_head(chunk)->data_bytes == chunk->tiles * tile_bytes(chunk->value_bytes) &&
           chunk->width_low == chunk->value_bytes * 8 && chunk->width_high == chunk->width_low;
}

static const uint8_t *tile_span(const struct chunk_view *chunk, uint32_t tile, uint32_t *bytes)
{
    *bytes = (uint32_t)tile_bytes(chunk->value_bytes);
    return chunk->data + tile * tile_bytes(chunk->value_bytes);
}

static void decode_tile(const struct chunk_view *chunk, uint32_t tile, void *out)
{
    memcpy(out, chunk->data + tile * tile_bytes(chunk->value_bytes), tile_bytes(chunk->value_bytes));
}

static int64_t value(const struct chunk_view *chunk, uint32_t row)
{
    return load_value(chunk->data + (uint64_t)row * chunk->value_bytes, chunk->value_bytes);
}

static void gpu_cut(const struct chunk_view *chunk, uint32_t first, uint32_t tiles,
                    struct chunk_part parts[3])
{
    chunk_cut_tiles(chunk, first, tiles, 0, 0, parts);
}

static uint32_t gpu_lines(const struct codec_shape *shape)
{
    return (uint32_t)tile_bytes(shape->value_bytes) / CHUNK_ALIGNMENT;
}

const struct codec ISA(codec_plain) = {
    .id = CODEC_PLAIN,
    .name = "plain",
    .family = "baseline",
    .summary = "the values as they are",
    .layout = CODEC_LAYOUT_VALUES,
    .choosers = CHOSEN_BY(CHOOSER_SMALLEST) | CHOSEN_BY(CHOOSER_AUTO),
    .random_access = true,
    .holds_int64 = true,
    .gpu = {.header = "operators/decode/plain_cuda.h",
            .decoder = "decode_plain",
            .random_access = true,
            .lines = gpu_lines,
            .cut = gpu_cut},
    .bound = bound,
    .encode = encode,
    .valid = valid,
    .tile_span = tile_span,
    .decode_tile = decode_tile,
    .value = value,
};
