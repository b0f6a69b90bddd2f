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
 * lane_planes.h cuts items into planes.
 */
#include "storage/codec/integer/lane_slice.h"
#include "storage/base/isa.h"

FORCED_INLINE void slice_slot(const uint32_t *values, uint32_t reference, const unsigned slot, unsigned width,
                              uint32_t *lines)
{
    for (uint32_t lane = 0; lane < TILE_LANES; lane += VECTOR_LANES) {
        lane_vector x[TILE_LANES] = {{0}};
#pragma GCC unroll 32
        for (unsigned item = 0; item < TILE_LANES; item++)
            x[item % slot] |= (*(const lane_vector *)(values + (size_t)item * TILE_LANES + lane) - reference)
                              << item / slot * slot;
        planes_transpose(x, slot);
        for (unsigned plane = 0; plane < width; plane++)
            *(lane_vector *)(lines + (size_t)plane * TILE_LANES + lane) = x[plane];
    }
}

FORCED_INLINE void unslice_width(const uint32_t *lines, uint32_t reference, const unsigned width,
                                 uint32_t *out)
{
    const unsigned slot = planes_slot(width);
    const uint32_t mask = (uint32_t)width_mask(width);
    for (uint32_t lane = 0; lane < TILE_LANES; lane += VECTOR_LANES) {
        lane_vector x[TILE_LANES] = {{0}};
#pragma GCC unroll 32
        for (unsigned plane = 0; plane < width; plane++)
            x[plane] = *(const lane_vector *)(lines + (size_t)plane * TILE_LANES + lane);
        planes_transpose(x, slot);
#pragma GCC unroll 32
        for (unsigned item = 0; item < TILE_LANES; item++) {
            *(lane_vector *)(out + (size_t)item * TILE_LANES + lane) =
                (x[item % slot] >> item / slot * slot & mask) + reference;
        }
    }
}

static void slice(const uint32_t *values, uint32_t reference, unsigned width, uint32_t *lines)
{
    if (width == 0)
        return;
    switch (planes_slot(width)) {
#define SLICE_CASE(SLOT)                                   \
    case SLOT:                                             \
        slice_slot(values, reference, SLOT, width, lines); \
        break;
        EACH_SLOT(SLICE_CASE)
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

static void decode_narrow(const struct chunk_view *chunk, uint32_t tile, int32_t *out)
{
    const struct lane_tile entry = lane_tile_read(chunk->directory, tile, 8);
    unslice(lane_tile_lines(chunk, &entry), (uint32_t)entry.reference, entry.width < 32 ? entry.width : 32,
            (uint32_t *)out);
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
            .regular = lane_tiles_regular,
            .cut = lane_tiles_cut},
    .bound = lane_tiles_bound,
    .encode = encode,
    .valid = lane_tiles_valid,
    .tile_span = lane_tiles_span,
    .decode_tile = decode_tile,
    .decode_narrow = decode_narrow,
    .value = value,
    .in_range = in_range,
};
