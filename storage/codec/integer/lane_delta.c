/*
 * lane_delta.c: lane-delta: differences to the value 32 rows earlier, packed in 32 lanes.
 *
 *     directory, int32, 16 bytes a tile     word 0: start | width << 26    word 1: first width
 *                                           word 2: base                   word 3: delta reference
 *     directory, int64, 32 bytes a tile     words 0..3: start, width, first width, 0
 *                                           words 4, 5: base               words 6, 7: delta reference
 *     data                                  each tile, from byte start * 32: ceil(31 * width / 32) lines of
 *                                           32 words; then `first width` words; then zeros up to a multiple
 *                                           of 32 bytes; after the last tile LANE_SPARE_BYTES zeros
 *
 * Row 32j + l, for j = 1..31, is row 32(j-1) + l plus delta j of lane l plus the delta reference (the least
 * difference), modulo 2^32 (2^64). Delta j of lane l is bits [(j-1)*width, (j-1)*width + width) of the lane's
 * words; the lane's word w is word w*32 + l of the tile. Row l < 32 is base (the least of the 32) plus bits
 * [l*first width, (l+1)*first width) of the words after the lines.
 *
 * The previous value is in the same lane, so no sum crosses lanes. The price is that differences span 32
 * rows, which suits sorted and slowly changing columns. The widths in the chunk's header are those of the
 * deltas.
 */
#include "storage/codec/integer/bitpack.h"
#include "storage/base/isa.h"
#include "storage/codec/integer/lane_widths.h"

#include <stdio.h>

#define DELTAS (TILE_ROWS / TILE_LANES - 1) /* of a lane */

struct tile_entry {
    uint64_t start; /* in units of CODEC_START_BYTES */
    uint32_t width, first_width;
    int64_t base, delta_reference;
};

FORCED_INLINE uint64_t entry_bytes(const uint32_t value_bytes)
{
    return value_bytes == 4 ? 16 : 32;
}

FORCED_INLINE struct tile_entry entry_read(const uint8_t *directory, uint32_t tile,
                                           const uint32_t value_bytes)
{
    const uint8_t *const at = directory + tile * entry_bytes(value_bytes);
    const uint32_t word = load_u32(at);
    if (value_bytes == 4)
        return (struct tile_entry){.start = word & 0x3ffffffu,
                                   .width = word >> 26,
                                   .first_width = load_u32(at + 4),
                                   .base = load_value(at + 8, 4),
                                   .delta_reference = load_value(at + 12, 4)};
    return (struct tile_entry){.start = word,
                               .width = load_u32(at + 4),
                               .first_width = load_u32(at + 8),
                               .base = load_value(at + 16, 8),
                               .delta_reference = load_value(at + 24, 8)};
}

FORCED_INLINE void entry_write(uint8_t *directory, uint32_t tile, const uint32_t value_bytes,
                               struct tile_entry entry)
{
    uint32_t *const words = (uint32_t *)(directory + tile * entry_bytes(value_bytes));
    if (value_bytes == 4) {
        words[0] = (uint32_t)entry.start | entry.width << 26;
        words[1] = entry.first_width;
        words[2] = (uint32_t)entry.base;
        words[3] = (uint32_t)entry.delta_reference;
    } else {
        words[0] = (uint32_t)entry.start;
        words[1] = entry.width;
        words[2] = entry.first_width;
        words[3] = 0;
        memcpy(words + 4, &entry.base, sizeof entry.base);
        memcpy(words + 6, &entry.delta_reference, sizeof entry.delta_reference);
    }
}

/* The words of a tile's lines, and the bytes of all its data. */
FORCED_INLINE uint32_t line_words(uint32_t width)
{
    return lanes_lines(DELTAS, width) * TILE_LANES;
}

FORCED_INLINE uint64_t tile_bytes(uint32_t width, uint32_t first_width)
{
    const uint64_t bytes = (line_words(width) + bits_words(TILE_LANES, first_width)) * UINT64_C(4);
    return (bytes + CODEC_START_BYTES - 1) / CODEC_START_BYTES * CODEC_START_BYTES;
}

static size_t bound(uint32_t rows, uint32_t value_bytes)
{
    const uint64_t tiles = chunk_tiles(rows);
    return chunk_size(tiles * entry_bytes(value_bytes),
                      tiles * tile_bytes(value_bytes * 8, value_bytes * 8) + LANE_SPARE_BYTES, 0);
}

FORCED_INLINE void deltas_take(const void *values, const uint32_t value_bytes, void *deltas)
{
    for (uint32_t i = 0; i < DELTAS * TILE_LANES; i++)
        if (value_bytes == 4)
            ((uint32_t *)deltas)[i] =
                ((const uint32_t *)values)[i + TILE_LANES] - ((const uint32_t *)values)[i];
        else
            ((uint64_t *)deltas)[i] =
                ((const uint64_t *)values)[i + TILE_LANES] - ((const uint64_t *)values)[i];
}

FORCED_INLINE size_t encode_values(const void *values, uint32_t rows, const uint32_t value_bytes,
                                   uint8_t *out)
{
    _Alignas(64) int64_t last[TILE_ROWS], deltas[TILE_ROWS];
    const uint64_t directory_bytes = chunk_tiles(rows) * entry_bytes(value_bytes);
    struct width_range widths = {UINT32_MAX, 0};
    uint8_t *const data = chunk_data(out, directory_bytes);
    uint64_t at = 0;
    for (uint32_t tile = 0; tile < chunk_tiles(rows); tile++) {
        const void *const v = chunk_tile_values(values, rows, value_bytes, tile, last);
        struct tile_entry entry = {.start = at / CODEC_START_BYTES};
        int64_t high;
        values_range(v, TILE_LANES, value_bytes, &entry.base, &high);
        entry.first_width = width_of((uint64_t)high - (uint64_t)entry.base);
        deltas_take(v, value_bytes, deltas);
        values_range(deltas, DELTAS * TILE_LANES, value_bytes, &entry.delta_reference, &high);
        entry.width = width_of((uint64_t)high - (uint64_t)entry.delta_reference);
        width_range_add(&widths, entry.width);
        entry_write(chunk_directory(out), tile, value_bytes, entry);

        const uint64_t bytes = tile_bytes(entry.width, entry.first_width);
        uint32_t *const lines = (uint32_t *)(data + at), *const firsts = lines + line_words(entry.width);
        memset(firsts, 0, bytes - line_words(entry.width) * UINT64_C(4));
        lanes_pack(deltas, DELTAS, value_bytes, entry.delta_reference, entry.width, lines);
        bits_pack(v, TILE_LANES, value_bytes, entry.base, entry.first_width, firsts);
        at += bytes;
    }
    return chunk_finish_packed(out, CODEC_LANE_DELTA, rows, value_bytes, widths, directory_bytes, at,
                               LANE_SPARE_BYTES);
}

CODEC_ENCODE_BOTH

static bool valid(const struct chunk_view *chunk)
{
    const uint64_t data_bytes = chunk_head(chunk)->data_bytes;
    const uint32_t width_limit = chunk->value_bytes * 8;
    if (chunk_head(chunk)->directory_bytes != chunk->tiles * entry_bytes(chunk->value_bytes) ||
        data_bytes < LANE_SPARE_BYTES)
        return false;
    struct width_range widths = {UINT32_MAX, 0};
    for (uint32_t tile = 0; tile < chunk->tiles; tile++) {
        const struct tile_entry entry = entry_read(chunk->directory, tile, chunk->value_bytes);
        if (entry.width > width_limit || entry.first_width > width_limit ||
            entry.start * CODEC_START_BYTES + tile_bytes(entry.width, entry.first_width) >
                data_bytes - LANE_SPARE_BYTES)
            return false;
        width_range_add(&widths, entry.width);
    }
    return width_range_matches(&widths, chunk);
}

/* Turns differences to 32 rows earlier into values; the first 32 rows are values already. The sums of narrow
 * values stay in a register for the whole tile. */
FORCED_INLINE void lanes_sum(void *rows, const uint32_t value_bytes)
{
    if (value_bytes == 8) {
        for (uint32_t row = TILE_LANES; row < TILE_ROWS; row++)
            ((uint64_t *)rows)[row] += ((uint64_t *)rows)[row - TILE_LANES];
        return;
    }
    for (uint32_t lane = 0; lane < TILE_LANES; lane += VECTOR_LANES) {
        lane_vector sum = *(const lane_vector *)((const uint32_t *)rows + lane);
        for (uint32_t row = lane + TILE_LANES; row < TILE_ROWS; row += TILE_LANES) {
            lane_vector *const at = (lane_vector *)((uint32_t *)rows + row);
            sum += *at;
            *at = sum;
        }
    }
}

FORCED_INLINE void decode_values(const struct chunk_view *chunk, uint32_t tile, const uint32_t value_bytes,
                                 void *out)
{
    const struct tile_entry entry = entry_read(chunk->directory, tile, value_bytes);
    const uint32_t *const lines = (const uint32_t *)(chunk->data + entry.start * CODEC_START_BYTES);
    bits_unpack(lines + line_words(entry.width), TILE_LANES, value_bytes, entry.first_width, entry.base, out);
    lanes_unpack(lines, DELTAS, value_bytes, entry.delta_reference, entry.width,
                 (uint8_t *)out + TILE_LANES * value_bytes);
    lanes_sum(out, value_bytes);
}

static const uint8_t *tile_span(const struct chunk_view *chunk, uint32_t tile, uint32_t *bytes)
{
    const struct tile_entry entry = entry_read(chunk->directory, tile, chunk->value_bytes);
    *bytes = (uint32_t)tile_bytes(entry.width, entry.first_width);
    return chunk->data + entry.start * CODEC_START_BYTES;
}

CODEC_DECODE_BOTH

/* Adds up the deltas of the row's lane, at most 31. */
static int64_t value(const struct chunk_view *chunk, uint32_t row)
{
    const struct tile_entry entry = entry_read(chunk->directory, row / TILE_ROWS, chunk->value_bytes);
    const uint32_t *const lines = (const uint32_t *)(chunk->data + entry.start * CODEC_START_BYTES);
    const uint32_t lane = row % TILE_LANES, item = row % TILE_ROWS / TILE_LANES;
    uint64_t sum = (uint64_t)entry.base + item * (uint64_t)entry.delta_reference +
                   bits_fetch(lines + line_words(entry.width), lane * entry.first_width, entry.first_width);
    for (uint32_t delta = 0; delta < item; delta++)
        sum += lanes_fetch(lines, delta, lane, entry.width);
    return chunk_value(sum, chunk->value_bytes);
}

/* codec.gpu.arguments: the narrowest and the widest width of a column of int32. */
static void gpu_arguments(const struct codec_shape *shape, char *text, size_t bytes)
{
    text[0] = '\0';
    if (shape->value_bytes == 4)
        snprintf(text, bytes, ", %u, %u", shape->width_low, shape->width_high);
}

/* codec.gpu.lines: those of the differences, and at most two words of the first values for each lane. */
static uint32_t gpu_lines(const struct codec_shape *shape)
{
    return shape->width_high - shape->width_low < LANE_WIDTHS_MAX ? (DELTAS * shape->width_high + 31) / 32 + 2
                                                                  : 0;
}

static void gpu_cut(const struct chunk_view *chunk, uint32_t first, uint32_t tiles,
                    struct chunk_part parts[3])
{
    chunk_cut_tiles(chunk, first, tiles, 0, entry_bytes(chunk->value_bytes), parts);
}

const struct codec ISA(codec_lane_delta) = {
    .id = CODEC_LANE_DELTA,
    .name = "lane-delta",
    .family = "lane",
    .summary = "differences to the value 32 rows earlier, packed in 32 lanes",
    .choosers = CHOSEN_BY(CHOOSER_SMALLEST),
    .random_access = false,
    .holds_int64 = true,
    .gpu = {.header = "operators/decode/lane_delta_cuda.h",
            .decoder = "decode_lane_delta",
            .arguments = gpu_arguments,
            .lines = gpu_lines,
            .cut = gpu_cut},
    .bound = bound,
    .encode = encode,
    .valid = valid,
    .tile_span = tile_span,
    .decode_tile = decode_tile,
    .value = value,
};
