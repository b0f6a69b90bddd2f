/*
 * nsf.c: nsf: null suppression with a fixed length: 1, 2, 4 or 8 bytes for every value of the chunk.
 *
 *     directory    empty
 *     data         tiles * 1024 unsigned values of width/8 bytes; after the last row its value is repeated
 *
 * The width is the smallest of 8, 16, 32 (int64: 64) bits that holds every value as an unsigned number. If a
 * value is negative, the width is that of the type (two's complement). Both widths in the header are this
 * width. There is no reference (Fang et al., VLDB 2010, call it NSF).
 */
#include "storage/codec/integer/bitpack.h"
#include "storage/base/isa.h"

#include <stdio.h>

static uint64_t stored_bytes(uint32_t tiles, uint32_t width)
{
    return (uint64_t)tiles * TILE_ROWS * (width / 8);
}

static size_t bound(uint32_t rows, uint32_t value_bytes)
{
    return chunk_size(0, stored_bytes(chunk_tiles(rows), value_bytes * 8), 0);
}

static uint32_t stored_width(const void *values, uint32_t rows, uint32_t value_bytes)
{
    int64_t low, high;
    if (value_bytes == 4)
        values_range(values, rows, 4, &low, &high);
    else
        values_range(values, rows, 8, &low, &high);
    if (low < 0)
        return value_bytes * 8;
    return high <= UINT8_MAX ? 8 : high <= UINT16_MAX ? 16 : high <= UINT32_MAX ? 32 : 64;
}

/* COPY(stored type, from, value type, to) converts 1024 values; the compiler vectorises it. */
#define COPY(FROM_TYPE, FROM, TO_TYPE, TO)      \
    for (uint32_t i_ = 0; i_ < TILE_ROWS; i_++) \
    ((TO_TYPE *)(TO))[i_] = (TO_TYPE)((const FROM_TYPE *)(FROM))[i_]

static void store_tile(const void *values, uint32_t value_bytes, uint32_t width, uint8_t *out)
{
    if (value_bytes * 8 == width)
        memcpy(out, values, (size_t)TILE_ROWS * value_bytes);
    else if (width == 32)
        COPY(uint64_t, values, uint32_t, out);
    else if (value_bytes == 4 && width == 16)
        COPY(uint32_t, values, uint16_t, out);
    else if (value_bytes == 4)
        COPY(uint32_t, values, uint8_t, out);
    else if (width == 16)
        COPY(uint64_t, values, uint16_t, out);
    else
        COPY(uint64_t, values, uint8_t, out);
}

static size_t encode(const struct codec_input *input, uint8_t *out)
{
    const void *const values = input->values;
    const uint32_t rows = input->rows, value_bytes = input->value_bytes;
    const uint32_t tiles = chunk_tiles(rows), width = stored_width(values, rows, value_bytes);
    _Alignas(64) int64_t last[TILE_ROWS];
    for (uint32_t tile = 0; tile < tiles; tile++)
        store_tile(chunk_tile_values(values, rows, value_bytes, tile, last), value_bytes, width,
                   chunk_data(out, 0) + stored_bytes(tile, width));
    return chunk_finish(out, (struct chunk_header){.codec = CODEC_NSF,
                                                   .rows = rows,
                                                   .value_bytes = value_bytes,
                                                   .width_low = width,
                                                   .width_high = width,
                                                   .data_bytes = stored_bytes(tiles, width)});
}

static bool valid(const struct chunk_view *chunk)
{
    const uint32_t width = chunk->width_low;
    return (width == 8 || width == 16 || width == 32 || width == 64) && width <= chunk->value_bytes * 8 &&
           chunk->width_high == width && chunk_head(chunk)->directory_bytes == 0 &&
           chunk_head(chunk)->data_bytes == stored_bytes(chunk->tiles, width);
}

static const uint8_t *tile_span(const struct chunk_view *chunk, uint32_t tile, uint32_t *bytes)
{
    *bytes = (uint32_t)stored_bytes(1, chunk->width_low);
    return chunk->data + stored_bytes(tile, chunk->width_low);
}

static void decode_tile(const struct chunk_view *chunk, uint32_t tile, void *out)
{
    const uint32_t width = chunk->width_low;
    const uint8_t *const stored = chunk->data + stored_bytes(tile, width);
    if (chunk->value_bytes * 8 == width)
        memcpy(out, stored, stored_bytes(1, width));
    else if (width == 32)
        COPY(uint32_t, stored, uint64_t, out);
    else if (chunk->value_bytes == 4 && width == 16)
        COPY(uint16_t, stored, uint32_t, out);
    else if (chunk->value_bytes == 4)
        COPY(uint8_t, stored, uint32_t, out);
    else if (width == 16)
        COPY(uint16_t, stored, uint64_t, out);
    else
        COPY(uint8_t, stored, uint64_t, out);
}

static int64_t value(const struct chunk_view *chunk, uint32_t row)
{
    switch (chunk->width_low) {
    case 8:
        return chunk->data[row];
    case 16:
        return ((const uint16_t *)chunk->data)[row];
    case 32: {
        const uint32_t stored = ((const uint32_t *)chunk->data)[row];
        return chunk->value_bytes == 4 ? (int64_t)(int32_t)stored : (int64_t)stored;
    }
    default:
        return ((const int64_t *)chunk->data)[row];
    }
}

CODEC_FETCH_VALUES

/* codec.gpu.arguments: the type of a stored value, or void if chunks have different types. */
static void gpu_arguments(const struct codec_shape *shape, char *text, size_t bytes)
{
    const uint32_t width = shape->width_high;
    snprintf(text, bytes, ", %s",
             shape->width_low != width ? "void"
             : width == 8              ? "unsigned char"
             : width == 16             ? "unsigned short"
             : width == 32             ? "unsigned int"
                                       : "unsigned long long");
}

static uint64_t gpu_detail(const struct chunk_view *chunk)
{
    return chunk->width_high / 8;
}

static void gpu_cut(const struct chunk_view *chunk, uint32_t first, uint32_t tiles,
                    struct chunk_part parts[3])
{
    chunk_cut_tiles(chunk, first, tiles, 0, 0, parts);
}

const struct codec ISA(codec_nsf) = {
    .id = CODEC_NSF,
    .name = "nsf",
    .family = "baseline",
    .summary = "null suppression: 1, 2, 4 or 8 bytes for every value of a chunk",
    .layout = CODEC_LAYOUT_ARRAY,
    .choosers = CHOSEN_BY(CHOOSER_SMALLEST) | CHOSEN_BY(CHOOSER_AUTO),
    .quick = true,
    .random_access = true,
    .holds_int64 = true,
    .gpu = {.header = "operators/decode/nsf_cuda.h",
            .decoder = "decode_nsf",
            .random_access = true,
            .arguments = gpu_arguments,
            .detail = gpu_detail,
            .cut = gpu_cut},
    .bound = bound,
    .encode = encode,
    .valid = valid,
    .tile_span = tile_span,
    .decode_tile = decode_tile,
    .value = value,
    .fetch_rows = 24,
    .fetch = fetch,
};
