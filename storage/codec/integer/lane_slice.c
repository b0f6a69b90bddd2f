/*
 * lane_slice.c: lane-slice: frame of reference per tile of 1024, as bit planes.
 *
 *     directory     as lane-for's (lane_tiles.h)
 *     data          each tile: `width` lines of 32 words; then LANE_SPARE_BYTES zeros
 *
 * Line k is bit plane k of the tile: bit j of its word l is bit k of the item in row 32j + l; plane 0 has the
 * least significant bits. The value is item + reference.
 *
 * A chunk is as large as lane-for's. A comparison with a constant takes one logical operation a plane for 32
 * rows (lane_slice.h), as in BitWeaving/V (Li and Patel, SIGMOD 2013). So the format suits narrow columns
 * that filter. A single value takes `width` loads, so there is no random access.
 *
 * Encoding and decoding transpose 32x32 bits (Warren, Hacker's Delight, 7-3), once for each lane, in all
 * lanes of a vector at the same time. Narrow items need only the lower steps. For widths up to 8, for
 * example, items j, j + 8, j + 16 and j + 24 are the bytes of one word, and 8x8 bits in each byte are
 * transposed.
 */
#include "storage/codec/integer/lane_slice.h"
#include "storage/base/isa.h"

/* The bits of an item's slot in a word: the least power of 2 that is not below the width. */
FORCED_INLINE unsigned slot_of(const unsigned width)
{
    return width <= 1 ? 1 : width <= 2 ? 2 : width <= 4 ? 4 : width <= 8 ? 8 : width <= 16 ? 16 : 32;
}

/* Swaps, in squares of step x step bits, the upper bits of x[i] with the lower bits of x[i + step]. */
FORCED_INLINE void exchange(lane_vector *x, const unsigned slot, const unsigned step, const uint32_t mask)
{
    if (slot <= step)
        return;
#pragma GCC unroll 32
    for (unsigned pair = 0; pair < slot / 2; pair++) {
        const unsigned i = pair / step * 2 * step + pair % step;
        const lane_vector other = (x[i] >> step ^ x[i + step]) & mask;
        x[i + step] ^= other;
        x[i] ^= other << step;
    }
}

/* Transposes squares of slot x slot bits: bit c of each slot of x[r] becomes bit r of the same slot of
 * x[c]. */
FORCED_INLINE void transpose(lane_vector *x, const unsigned slot)
{
    exchange(x, slot, 16, 0x0000ffffu);
    exchange(x, slot, 8, 0x00ff00ffu);
    exchange(x, slot, 4, 0x0f0f0f0fu);
    exchange(x, slot, 2, 0x33333333u);
    exchange(x, slot, 1, 0x55555555u);
}

FORCED_INLINE void slice_width(const uint32_t *values, uint32_t reference, const unsigned width,
                               uint32_t *lines)
{
    const unsigned slot = slot_of(width);
    if (width == 0)
        return;
    for (uint32_t lane = 0; lane < TILE_LANES; lane += VECTOR_LANES) {
        lane_vector x[TILE_LANES] = {{0}};
#pragma GCC unroll 32
        for (unsigned item = 0; item < TILE_LANES; item++)
            x[item % slot] |= (*(const lane_vector *)(values + (size_t)item * TILE_LANES + lane) - reference)
                              << item / slot * slot;
        transpose(x, slot);
#pragma GCC unroll 32
        for (unsigned plane = 0; plane < width; plane++)
            *(lane_vector *)(lines + (size_t)plane * TILE_LANES + lane) = x[plane];
    }
}

FORCED_INLINE void unslice_width(const uint32_t *lines, uint32_t reference, const unsigned width,
                                 uint32_t *out)
{
    const unsigned slot = slot_of(width);
    const uint32_t mask = (uint32_t)width_mask(width);
    for (uint32_t lane = 0; lane < TILE_LANES; lane += VECTOR_LANES) {
        lane_vector x[TILE_LANES] = {{0}};
#pragma GCC unroll 32
        for (unsigned plane = 0; plane < width; plane++)
            x[plane] = *(const lane_vector *)(lines + (size_t)plane * TILE_LANES + lane);
        transpose(x, slot);
#pragma GCC unroll 32
        for (unsigned item = 0; item < TILE_LANES; item++) {
            *(lane_vector *)(out + (size_t)item * TILE_LANES + lane) =
                (x[item % slot] >> item / slot * slot & mask) + reference;
        }
    }
}

static void slice(const uint32_t *values, uint32_t reference, unsigned width, uint32_t *lines)
{
    switch (width) {
#define SLICE_CASE(WIDTH)                             \
    case WIDTH:                                       \
        slice_width(values, reference, WIDTH, lines); \
        break;
        EACH_WIDTH(SLICE_CASE)
#undef SLICE_CASE
    }
}

static void unslice(const uint32_t *lines, uint32_t reference, unsigned width, uint32_t *out)
{
    switch (width) {
#define UNSLICE_CASE(WIDTH)                          \
    case WIDTH:                                      \
        unslice_width(lines, reference, WIDTH, out); \
        break;
        EACH_WIDTH(UNSLICE_CASE)
#undef UNSLICE_CASE
    }
}

/* Slices a tile. 64-bit items have first the planes of their low halves, then those of their high halves. */
static void slice_tile(const void *values, uint32_t value_bytes, int64_t reference, unsigned width,
                       uint32_t *lines)
{
    if (value_bytes == 4) {
        slice(values, (uint32_t)reference, width, lines);
        return;
    }
    uint32_t half[TILE_ROWS];
    for (unsigned first = 0; first < width; first += 32) {
        for (uint32_t row = 0; row < TILE_ROWS; row++)
            half[row] = (uint32_t)((((const uint64_t *)values)[row] - (uint64_t)reference) >> first);
        slice(half, 0, width - first < 32 ? width - first : 32, lines + (size_t)first * TILE_LANES);
    }
}

static void unslice_tile(const uint32_t *lines, uint32_t value_bytes, int64_t reference, unsigned width,
                         void *out)
{
    if (value_bytes == 4) {
        unslice(lines, (uint32_t)reference, width, out);
        return;
    }
    uint32_t low[TILE_ROWS], high[TILE_ROWS];
    unslice(lines, 0, width < 32 ? width : 32, low);
    unslice(lines + (size_t)32 * TILE_LANES, 0, width < 32 ? 0 : width - 32, high);
    for (uint32_t row = 0; row < TILE_ROWS; row++)
        ((uint64_t *)out)[row] = ((uint64_t)high[row] << 32 | low[row]) + (uint64_t)reference;
}

static size_t encode(const struct codec_input *input, uint8_t *out)
{
    return lane_tiles_encode(CODEC_LANE_SLICE, input->values, input->rows, input->value_bytes, slice_tile,
                             out);
}

static void decode_tile(const struct chunk_view *chunk, uint32_t tile, void *out)
{
    const struct lane_tile entry = lane_tile_read(chunk->directory, tile, chunk->value_bytes);
    const uint32_t *const lines = lane_tile_lines(chunk, &entry);
    unslice_tile(lines, chunk->value_bytes, entry.reference, entry.width, out);
}

static int64_t value(const struct chunk_view *chunk, uint32_t row)
{
    const uint32_t item = row % TILE_ROWS / TILE_LANES, lane = row % TILE_LANES;
    const struct lane_tile entry = lane_tile_read(chunk->directory, row / TILE_ROWS, chunk->value_bytes);
    const uint32_t *const lines = lane_tile_lines(chunk, &entry);
    uint64_t offset = 0;
    for (uint32_t plane = 0; plane < entry.width; plane++)
        offset |= (uint64_t)(lines[plane * TILE_LANES + lane] >> item & 1) << plane;
    return chunk_value(offset + (uint64_t)entry.reference, chunk->value_bytes);
}

static void in_range(const struct chunk_view *chunk, uint32_t tile, int32_t low, int32_t high,
                     uint64_t bits[TILE_ROWS / 64])
{
    lane_slice_range(chunk, tile, low, high, bits);
}

static uint32_t gpu_lines(const struct codec_shape *shape)
{
    return shape->width_high;
}

const struct codec ISA(codec_lane_slice) = {
    .id = CODEC_LANE_SLICE,
    .name = "lane-slice",
    .family = "lane",
    .summary = "frame of reference per 1024 values, cut into bit planes",
    .choosers = CHOSEN_BY(CHOOSER_AUTO),
    .random_access = false,
    .holds_int64 = true,
    .gpu = {.header = "operators/decode/lane_slice_cuda.h",
            .decoder = "decode_lane_slice",
            .random_access = true,
            .arguments = lane_tiles_arguments,
            .lines = gpu_lines,
            .regular = lane_tiles_regular},
    .bound = lane_tiles_bound,
    .encode = encode,
    .valid = lane_tiles_valid,
    .tile_span = lane_tiles_span,
    .decode_tile = decode_tile,
    .value = value,
    .in_range = in_range,
};
