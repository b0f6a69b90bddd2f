/*
 * lane_levels.c: lane-levels: positions in a table with levels (storage/column/levels.h), the leading bits as planes and
 * the rest packed in 32 lanes.
 *
 *     directory     word 0: planes    word 1: bits      (bits is the width in the header: 1 .. 31; planes: 1 .. bits)
 *     data          each tile: `bits` lines of 32 words; then LANE_SPARE_BYTES zeros
 *
 *     lines of a tile   0              one bit a row: bit bits-1 of the position, the most significant one
 *                       1              bit bits-2
 *                       ...
 *                       planes-1       bit bits-planes
 *                       planes ...     the low rest = bits - planes bits, packed as lane-for packs a width
 *
 * Bit j of word l of a plane belongs to row 32j + l. Word w of lane l of the rest is word w*32 + l of its lines. All tiles
 * have as many lines, so tile t begins t * bits * 128 bytes into data, and there is no reference.
 *
 * A condition on a level is a condition on leading bits. It reads their lines and no others, with one logical operation a
 * bit for 32 rows of each lane: region = 'ASIA' and nation = 'CHINA' of a customer are 6 lines of 22. A whole position takes
 * a load for each plane and one or two for the rest. It holds int32 only, and only values that are given as positions
 * (codec_input.bits) and fit their bits.
 */
#include "storage/base/isa.h"
#include "storage/codec/integer/lane_planes.h"

#include <stdio.h>

#define DIRECTORY_BYTES 8u
#define BITS_MAX        31u

/* With more rows than this it is faster to transpose the planes of all 1024 rows than to collect each row's bits, with 10
 * planes (tests/benches/bench_levels.c). */
#if defined(__AVX512F__)
#define FEW_ROWS 12u
#elif defined(__AVX2__)
#define FEW_ROWS 20u
#else
#define FEW_ROWS 40u
#endif

/* ---- Lines ---- */

static uint32_t planes_of(const struct chunk_view *chunk)
{
    return load_u32(chunk->directory);
}

FORCED_INLINE const uint32_t *tile_lines(const struct chunk_view *chunk, uint32_t tile)
{
    return (const uint32_t *)chunk->data + (size_t)tile * chunk->width_high * TILE_LANES;
}

static size_t bound(uint32_t rows, uint32_t value_bytes)
{
    return chunk_size(DIRECTORY_BYTES,
                      chunk_tiles(rows) * (uint64_t)TILE_ROWS * value_bytes + LANE_SPARE_BYTES, 0);
}

/* ---- Encoding ---- */

FORCED_INLINE void cut_slot(const uint32_t *values, const unsigned slot, uint32_t rest, uint32_t planes,
                            uint32_t *lines)
{
    for (uint32_t lane = 0; lane < TILE_LANES; lane += VECTOR_LANES) {
        lane_vector x[TILE_LANES] = {{0}};
#pragma GCC unroll 32
        for (unsigned item = 0; item < TILE_LANES; item++)
            x[item % slot] |= *(const lane_vector *)(values + (size_t)item * TILE_LANES + lane) >>
                              rest << item / slot * slot;
        planes_transpose(x, slot);
        for (uint32_t plane = 0; plane < planes; plane++)
            *(lane_vector *)(lines + (size_t)(planes - 1 - plane) * TILE_LANES + lane) = x[plane];
    }
}

/* Writes the tile's planes, then its rest. */
static void encode_tile(const uint32_t *values, uint32_t bits, uint32_t planes, uint32_t *lines)
{
    const uint32_t rest = bits - planes, rest_mask = (uint32_t)width_mask(rest);
    uint32_t low[TILE_ROWS];
    switch (planes_slot(planes)) {
#define CUT_CASE(SLOT)                               \
    case SLOT:                                       \
        cut_slot(values, SLOT, rest, planes, lines); \
        break;
        EACH_SLOT(CUT_CASE)
#undef CUT_CASE
    }
    for (uint32_t row = 0; row < TILE_ROWS; row++)
        low[row] = values[row] & rest_mask;
    lanes_pack(low, TILE_LANES, 4, 0, rest, lines + (size_t)planes * TILE_LANES);
}

static bool can_hold(const struct codec_input *input)
{
    if (input->value_bytes != sizeof(int32_t) || input->bits < 1 || input->bits > BITS_MAX ||
        input->planes < 1 || input->planes > input->bits)
        return false;
    uint32_t used = 0;
    for (uint32_t row = 0; row < input->rows; row++)
        used |= ((const uint32_t *)input->values)[row];
    return used >> input->bits == 0;
}

static size_t encode(const struct codec_input *input, uint8_t *out)
{
    _Alignas(64) int64_t last[TILE_ROWS];
    if (!can_hold(input))
        return 0;
    const uint32_t tiles = chunk_tiles(input->rows), tile_words = input->bits * TILE_LANES;
    uint32_t *const directory = (uint32_t *)chunk_directory(out);
    uint32_t *const lines = (uint32_t *)chunk_data(out, DIRECTORY_BYTES);
    directory[0] = input->planes;
    directory[1] = input->bits;
    for (uint32_t tile = 0; tile < tiles; tile++)
        encode_tile(chunk_tile_values(input->values, input->rows, sizeof(int32_t), tile, last), input->bits,
                    input->planes, lines + (size_t)tile * tile_words);
    return chunk_finish_packed(out, CODEC_LANE_LEVELS, input->rows, sizeof(int32_t),
                               (struct width_range){input->bits, input->bits}, DIRECTORY_BYTES,
                               (uint64_t)tiles * tile_words * sizeof(uint32_t), LANE_SPARE_BYTES);
}

static bool valid(const struct chunk_view *chunk)
{
    const struct chunk_header *const header = chunk_head(chunk);
    const uint32_t bits = chunk->width_high;
    return bits >= 1 && bits <= BITS_MAX && chunk->width_low == bits &&
           header->directory_bytes == DIRECTORY_BYTES && load_u32(chunk->directory + 4) == bits &&
           planes_of(chunk) >= 1 && planes_of(chunk) <= bits &&
           header->data_bytes == (uint64_t)chunk->tiles * bits * CHUNK_ALIGNMENT + LANE_SPARE_BYTES &&
           header->auxiliary_bytes == 0;
}

static const uint8_t *tile_span(const struct chunk_view *chunk, uint32_t tile, uint32_t *bytes)
{
    *bytes = chunk->width_high * CHUNK_ALIGNMENT;
    return (const uint8_t *)tile_lines(chunk, tile);
}

/* Asks for those lines of the next tile that have planes of the mask; any address is legal. The lines of a tile are too far
 * apart for the processor's own prefetcher: without this, tests took three times as long. */
FORCED_INLINE void ask_ahead(const struct chunk_view *chunk, uint32_t tile, uint32_t mask)
{
    const uint32_t *const lowest = tile_lines(chunk, tile + 2) - TILE_LANES;
    for (; mask; mask &= mask - 1) {
        const uint32_t *const line = lowest - (size_t)__builtin_ctz(mask) * TILE_LANES;
        __builtin_prefetch(line, 0, 0);
        __builtin_prefetch(line + TILE_LANES / 2, 0, 0);
    }
}

/* ---- All rows ---- */

/* Puts together the numbers whose bit k is in lines[k], shifts them by `shift` and adds them to `out`, or writes them. */
FORCED_INLINE void join_slot(const uint32_t *const lines[TILE_LANES], const unsigned slot, uint32_t shift,
                             const bool add, uint32_t *out)
{
    const uint32_t mask = (uint32_t)width_mask(slot);
    for (uint32_t lane = 0; lane < TILE_LANES; lane += VECTOR_LANES) {
        lane_vector x[TILE_LANES];
#pragma GCC unroll 32
        for (unsigned plane = 0; plane < slot; plane++)
            x[plane] = *(const lane_vector *)(lines[plane] + lane);
        planes_transpose(x, slot);
#pragma GCC unroll 32
        for (unsigned item = 0; item < TILE_LANES; item++) {
            lane_vector *const to = (lane_vector *)(out + (size_t)item * TILE_LANES + lane);
            lane_vector number = (x[item % slot] >> item / slot * slot & mask) << shift;
            if (add)
                number |= *to;
            *to = number;
        }
    }
}

/* Writes the bits of `mask` that are planes of the tile, or adds them to what is in `out`. */
static void join_planes(const uint32_t *lines, uint32_t bits, uint32_t mask, bool add, uint32_t *out)
{
    static const uint32_t zeros[TILE_LANES];
    const uint32_t lowest = (uint32_t)__builtin_ctz(mask), width = width_of(mask) - lowest;
    const uint32_t *plane[TILE_LANES];
    for (uint32_t k = 0; k < TILE_LANES; k++)
        plane[k] = k < width && mask >> (lowest + k) & 1
                       ? lines + (size_t)(bits - 1 - lowest - k) * TILE_LANES
                       : zeros;
    switch (planes_slot(width) << 1 | add) {
#define JOIN_CASE(SLOT)                             \
    case SLOT << 1:                                 \
        join_slot(plane, SLOT, lowest, false, out); \
        break;                                      \
    case SLOT << 1 | 1:                             \
        join_slot(plane, SLOT, lowest, true, out);  \
        break;
        EACH_SLOT(JOIN_CASE)
#undef JOIN_CASE
    }
}

/* Writes the bits of `mask` of all rows. */
static void join(const struct chunk_view *chunk, uint32_t tile, uint32_t mask, uint32_t *out)
{
    const uint32_t bits = chunk->width_high, planes = planes_of(chunk), rest = bits - planes;
    const uint32_t of_rest = mask & (uint32_t)width_mask(rest);
    const uint32_t of_planes = mask & (uint32_t)width_mask(bits) & ~(uint32_t)width_mask(rest);
    const uint32_t *const lines = tile_lines(chunk, tile);
    if (of_rest)
        lanes_unpack(lines + (size_t)planes * TILE_LANES, TILE_LANES, 4, 0, rest, out);
    else if (!of_planes)
        memset(out, 0, TILE_ROWS * sizeof *out);
    if (of_rest && of_rest != width_mask(rest))
        for (uint32_t row = 0; row < TILE_ROWS; row++)
            out[row] &= of_rest;
    if (of_planes)
        join_planes(lines, bits, of_planes, of_rest != 0, out);
}

static void decode_tile(const struct chunk_view *chunk, uint32_t tile, void *out)
{
    join(chunk, tile, UINT32_MAX, out);
}

/* ---- Single rows ---- */

/* The lines that have the bits of a mask. */
struct bit_lines {
    const uint32_t
        *highest;         /* the line of the mask's highest plane; the next lines have the planes below it */
    uint32_t planes;      /* down to the mask's lowest plane */
    uint32_t shift;       /* the bit of the lowest plane */
    const uint32_t *rest; /* the first line of the rest */
    uint32_t rest_width;  /* of all of the rest; 0 if the mask has no bit of it */
};

FORCED_INLINE struct bit_lines bit_lines_of(const struct chunk_view *chunk, uint32_t tile, uint32_t mask)
{
    const uint32_t bits = chunk->width_high, planes = planes_of(chunk), rest = bits - planes;
    const uint32_t *const lines = tile_lines(chunk, tile);
    const uint32_t rest_mask = (uint32_t)width_mask(rest);
    const uint32_t of_planes = mask & (uint32_t)width_mask(bits) & ~rest_mask;
    struct bit_lines of = {.highest = lines,
                           .rest = lines + (size_t)planes * TILE_LANES,
                           .rest_width = mask & rest_mask ? rest : 0};
    if (of_planes) {
        of.highest += (size_t)(bits - width_of(of_planes)) * TILE_LANES;
        of.shift = (uint32_t)__builtin_ctz(of_planes);
        of.planes = width_of(of_planes) - of.shift;
    }
    return of;
}

FORCED_INLINE uint32_t bits_of_row(const struct bit_lines *of, uint32_t row)
{
    const uint32_t item = row / TILE_LANES, lane = row % TILE_LANES;
    const uint32_t *line = of->highest + lane;
    uint32_t value = 0;
    for (uint32_t plane = 0; plane < of->planes; plane++, line += TILE_LANES)
        value = value << 1 | (*line >> item & 1);
    value <<= of->shift;
    if (of->rest_width)
        value |= lanes_fetch_narrow(of->rest, item, lane, of->rest_width);
    return value;
}

static int64_t value(const struct chunk_view *chunk, uint32_t row)
{
    const struct bit_lines of = bit_lines_of(chunk, row / TILE_ROWS, UINT32_MAX);
    return bits_of_row(&of, row % TILE_ROWS);
}

FORCED_INLINE void fetch_rows(const struct chunk_view *chunk, uint32_t tile, const uint16_t *rows,
                              uint32_t count, uint32_t mask, int32_t *out)
{
    const struct bit_lines of = bit_lines_of(chunk, tile, mask);
    for (uint32_t i = 0; i < count; i++)
        out[rows[i]] = (int32_t)(bits_of_row(&of, rows[i]) & mask);
}

static void fetch(const struct chunk_view *chunk, uint32_t tile, const uint16_t *rows, uint32_t count,
                  int32_t *out)
{
    fetch_rows(chunk, tile, rows, count, UINT32_MAX, out);
}

static void fetch_bits(const struct chunk_view *chunk, uint32_t tile, const uint16_t *rows, uint32_t count,
                       uint32_t mask, int32_t *out)
{
    ask_ahead(chunk, tile, mask & (uint32_t)width_mask(chunk->width_high));
    if (count > FEW_ROWS)
        join(chunk, tile, mask, (uint32_t *)out);
    else
        fetch_rows(chunk, tile, rows, count, mask, out);
}

/* ---- Conditions ---- */

/* Compares all rows of a tile of which planes alone do not decide. The bits of 32 rows of a lane come one by one, so they
 * are in lane order first. */
static void compare_values(const struct chunk_view *chunk, uint32_t tile, uint32_t first, uint32_t last,
                           uint64_t bits[TILE_ROWS / 64])
{
    _Alignas(64) uint32_t values[TILE_ROWS];
    lane_vector inside[LANE_VECTORS] = {{0}};
    join(chunk, tile, UINT32_MAX, values);
    for (uint32_t item = 0; item < TILE_LANES; item++)
#pragma GCC unroll 8
        for (uint32_t v = 0; v < LANE_VECTORS; v++) {
            const lane_vector above =
                *(const lane_vector *)(values + item * TILE_LANES + v * VECTOR_LANES) - first;
            inside[v] |= (lane_vector)(above <= last - first) & 1u << item;
        }
    lane_words_transpose(inside);
    memcpy(bits, inside, TILE_ROWS / 8);
}

static void in_range(const struct chunk_view *chunk, uint32_t tile, int32_t low, int32_t high,
                     uint64_t bits[TILE_ROWS / 64])
{
    const uint32_t planes = planes_of(chunk), rest = chunk->width_high - planes;
    const uint32_t most = (uint32_t)width_mask(chunk->width_high), rest_mask = (uint32_t)width_mask(rest);
    const uint32_t first = low < 0 ? 0 : (uint32_t)low, last = high < (int32_t)most ? (uint32_t)high : most;
    if (low > high || high < 0 || first > most)
        memset(bits, 0, TILE_ROWS / 8);
    else if ((first & rest_mask) != 0 || (last & rest_mask) != rest_mask)
        compare_values(chunk, tile, first, last, bits);
    else
        planes_in_range(tile_lines(chunk, tile) + (size_t)(planes - 1) * TILE_LANES, -(int32_t)TILE_LANES,
                        planes, first >> rest, last >> rest, bits);
}

/* Each bit of a cube takes one operation for 32 rows of each lane: and with the plane, or with its complement. */
static void in_cubes(const struct chunk_view *chunk, uint32_t tile, const struct position_cube *cubes,
                     uint32_t count, uint64_t bits[TILE_ROWS / 64])
{
    const uint32_t *const lowest = tile_lines(chunk, tile) + (size_t)(chunk->width_high - 1) * TILE_LANES;
    const lane_vector none = {0};
    lane_vector inside[LANE_VECTORS] = {{0}};
    uint32_t any_care = 0;
    for (uint32_t c = 0; c < count; c++)
        any_care |= cubes[c].care;
    ask_ahead(chunk, tile, any_care);
    for (uint32_t c = 0; c < count; c++) {
        lane_vector all[LANE_VECTORS];
#pragma GCC unroll 8
        for (unsigned v = 0; v < LANE_VECTORS; v++)
            all[v] = ~none;
        for (uint32_t care = cubes[c].care; care; care &= care - 1) {
            const uint32_t bit = (uint32_t)__builtin_ctz(care);
            const uint32_t *const line = lowest - (size_t)bit * TILE_LANES;
            const lane_vector zero =
                none + ((cubes[c].value_bits >> bit & 1) - 1); /* all ones: 0 is wanted */
#pragma GCC unroll 8
            for (unsigned v = 0; v < LANE_VECTORS; v++)
                all[v] &= *(const lane_vector *)(line + v * VECTOR_LANES) ^ zero;
        }
#pragma GCC unroll 8
        for (unsigned v = 0; v < LANE_VECTORS; v++)
            inside[v] |= all[v];
    }
    lane_words_transpose(inside);
    memcpy(bits, inside, TILE_ROWS / 8);
}

/* ---- On a GPU ---- */

static void gpu_arguments(const struct codec_shape *shape, char *text, size_t bytes)
{
    snprintf(text, bytes, ", %u, %u", shape->width_high, shape->planes);
}

static uint32_t gpu_lines(const struct codec_shape *shape)
{
    return shape->width_high;
}

const struct codec ISA(codec_lane_levels) = {
    .id = CODEC_LANE_LEVELS,
    .name = "lane-levels",
    .family = "lane",
    .summary = "keys of tables with levels: leading bits as planes, the rest in 32 lanes",
    .choosers = CHOSEN_BY(CHOOSER_AUTO),
    .random_access = true,
    .holds_int64 = false,
    .decode_cycles = 0.3,
    .gpu = {.header = "operators/decode/lane_levels_cuda.h",
            .decoder = "decode_lane_levels",
            .random_access = true,
            .arguments = gpu_arguments,
            .lines = gpu_lines},
    .costs_like = CODEC_LANE_SLICE,
    .bound = bound,
    .encode = encode,
    .valid = valid,
    .tile_span = tile_span,
    .decode_tile = decode_tile,
    .value = value,
    .fetch_rows = FEW_ROWS,
    .fetch = fetch,
    .in_range = in_range,
    .planes = planes_of,
    .in_cubes = in_cubes,
    .fetch_bits = fetch_bits,
};
