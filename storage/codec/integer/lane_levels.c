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
 * Where rows of a cell stand together (storage/database/clustering/), the first planes of most tiles are the same in all
 * rows. Then a chunk keeps the first n planes, n <= planes, apart, so that they are stored only of tiles whose rows differ:
 *
 *     directory     words 0 and 1 as above    word 2: n    word 3: 0
 *                   word 4 + t: of tile t     the n bits of all its rows, at their places in a position, and 0 elsewhere
 *                                             or 2^31 + i: the tile is number i of those whose rows differ
 *     data          each tile: lines n .. bits-1 of the drawing; then LANE_SPARE_BYTES zeros
 *     auxiliary     each tile whose rows differ: lines 0 .. n-1
 *
 * A condition on the n bits then holds for all rows of a tile or for none. Tiles still begin where their number says: a GPU
 * loads their lines and the directory at the same time. n is what makes the chunk smallest while rows differ in an eighth of
 * its tiles at most; it is 0, and the chunk as above, where less than a sixteenth of its lines would be saved.
 *
 * A condition on a level is a condition on leading bits. It reads their lines and no others, with one logical operation a
 * bit for 32 rows of each lane: region = 'ASIA' and nation = 'CHINA' of a customer are 6 lines of 22. A whole position takes
 * a load for each plane and one or two for the rest. It holds int32 only, and only values that are given as positions
 * (codec_input.bits) and fit their bits.
 */
#include "storage/base/isa.h"
#include "storage/codec/integer/lane_planes.h"

#include <stdio.h>

#define DIRECTORY_BYTES 8u /* if no planes are apart */
#define APART_BYTES     16u
#define ENTRY_BYTES     4u
#define DIFFERS         0x80000000u /* in a tile's word */
#define BITS_MAX        31u

/* Planes are apart if that saves one line in so many: less does not pay for the directory. */
#define SAVED_PART 16u

/* Planes are apart if rows differ in one tile of so many at most: a GPU loads those tiles' planes later than others. */
#define DIFFER_PART 8u

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

/* Whether each tile has all lines, in data. */
static bool has_all_lines(const struct chunk_view *chunk)
{
    return chunk_head(chunk)->directory_bytes == DIRECTORY_BYTES;
}

static uint32_t apart_of(const struct chunk_view *chunk)
{
    return has_all_lines(chunk) ? 0 : load_u32(chunk->directory + DIRECTORY_BYTES);
}

/* Where a tile's lines are, and what all of its rows have. */
struct tile_lines {
    const uint32_t *first;  /* line 0, of a tile whose rows differ; else NULL */
    const uint32_t *others; /* line `apart` */
    uint32_t apart;
    uint32_t same, bits; /* the bits that are the same in all rows, and their values */
};

static uint32_t leading_bits(uint32_t bits, uint32_t count)
{
    return (uint32_t)(width_mask(bits) & ~width_mask(bits - count));
}

static uint32_t entry_of(const struct chunk_view *chunk, uint32_t tile)
{
    return load_u32(chunk->directory + APART_BYTES + (size_t)tile * ENTRY_BYTES);
}

FORCED_INLINE struct tile_lines lines_of(const struct chunk_view *chunk, uint32_t tile)
{
    const uint32_t bits = chunk->width_high, apart = apart_of(chunk);
    struct tile_lines of = {
        .others = (const uint32_t *)chunk->data + (size_t)tile * (bits - apart) * TILE_LANES, .apart = apart};
    if (apart == 0)
        return of;
    const uint32_t entry = entry_of(chunk, tile);
    if (entry & DIFFERS) {
        of.first = (const uint32_t *)chunk->auxiliary + (size_t)(entry & ~DIFFERS) * apart * TILE_LANES;
    } else {
        of.same = leading_bits(bits, apart);
        of.bits = entry;
    }
    return of;
}

/* A line that is stored. */
FORCED_INLINE const uint32_t *line_at(const struct tile_lines *of, uint32_t line)
{
    return line < of->apart ? of->first + (size_t)line * TILE_LANES
                            : of->others + (size_t)(line - of->apart) * TILE_LANES;
}

static size_t bound(uint32_t rows, uint32_t value_bytes)
{
    const uint64_t tiles = chunk_tiles(rows);
    return chunk_size(APART_BYTES + tiles * ENTRY_BYTES, tiles * TILE_ROWS * value_bytes + LANE_SPARE_BYTES,
                      0);
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

/* Writes the tile's planes, then its rest. Bits above the first plane are not written. */
static void encode_tile(const uint32_t *values, uint32_t bits, uint32_t planes, uint32_t *lines)
{
    const uint32_t rest = bits - planes, mask = (uint32_t)width_mask(bits),
                   rest_mask = (uint32_t)width_mask(rest);
    _Alignas(64) uint32_t low[TILE_ROWS];
    for (uint32_t row = 0; row < TILE_ROWS; row++)
        low[row] = values[row] & mask;
    switch (planes_slot(planes)) {
#define CUT_CASE(SLOT)                            \
    case SLOT:                                    \
        cut_slot(low, SLOT, rest, planes, lines); \
        break;
        EACH_SLOT(CUT_CASE)
#undef CUT_CASE
    }
    for (uint32_t row = 0; row < TILE_ROWS; row++)
        low[row] &= rest_mask;
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

/* How many leading planes are the same in all rows of the tile. */
static uint32_t same_planes(const uint32_t *values, uint32_t bits, uint32_t planes)
{
    uint32_t other = 0;
    for (uint32_t row = 0; row < TILE_ROWS; row++)
        other |= values[row] ^ values[0];
    const uint32_t same = bits - width_of(other);
    return same < planes ? same : planes;
}

static const uint32_t *tile_values(const struct codec_input *input, uint32_t tile, int64_t last[TILE_ROWS])
{
    return chunk_tile_values(input->values, input->rows, sizeof(int32_t), tile, last);
}

/* How many planes to keep apart. */
static uint32_t choose_apart(const struct codec_input *input)
{
    _Alignas(64) int64_t last[TILE_ROWS];
    const uint32_t tiles = chunk_tiles(input->rows), all = tiles * input->bits;
    uint32_t alike[BITS_MAX + 1] = {0}; /* tiles with so many planes that are the same in all rows */
    uint32_t best = 0, least = all - all / SAVED_PART, differ = 0;
    for (uint32_t tile = 0; tile < tiles; tile++)
        alike[same_planes(tile_values(input, tile, last), input->bits, input->planes)]++;
    for (uint32_t apart = 1; apart <= input->planes; apart++) {
        differ += alike[apart - 1];
        const uint32_t lines = tiles * (input->bits - apart) + differ * apart;
        if (lines < least && differ <= tiles / DIFFER_PART) {
            best = apart;
            least = lines;
        }
    }
    return best;
}

/* Writes the first planes of a tile. */
static void encode_first(const uint32_t *values, uint32_t bits, uint32_t apart, uint32_t *lines)
{
    _Alignas(64) uint32_t first[TILE_ROWS];
    for (uint32_t row = 0; row < TILE_ROWS; row++)
        first[row] = values[row] >> (bits - apart);
    encode_tile(first, apart, apart, lines);
}

static size_t encode(const struct codec_input *input, uint8_t *out)
{
    _Alignas(64) int64_t last[TILE_ROWS];
    if (!can_hold(input))
        return 0;
    const uint32_t tiles = chunk_tiles(input->rows), bits = input->bits, apart = choose_apart(input),
                   others = bits - apart;
    const uint64_t data_bytes = (uint64_t)tiles * others * CHUNK_ALIGNMENT + LANE_SPARE_BYTES,
                   directory_bytes = apart ? APART_BYTES + (uint64_t)tiles * ENTRY_BYTES : DIRECTORY_BYTES;
    uint32_t *const directory = (uint32_t *)chunk_directory(out);
    uint32_t *const data = (uint32_t *)chunk_data(out, directory_bytes), *const first =
                                                                             (uint32_t *)chunk_auxiliary(
                                                                                 out, directory_bytes,
                                                                                 data_bytes);
    uint32_t differ = 0;
    directory[0] = input->planes;
    directory[1] = bits;
    if (apart) {
        directory[2] = apart;
        directory[3] = 0;
    }
    for (uint32_t tile = 0; tile < tiles; tile++) {
        const uint32_t *const values = tile_values(input, tile, last);
        encode_tile(values, others, input->planes - apart, data + (size_t)tile * others * TILE_LANES);
        if (!apart)
            continue;
        const bool same = same_planes(values, bits, input->planes) >= apart;
        directory[4 + tile] = same ? values[0] & leading_bits(bits, apart) : DIFFERS | differ;
        if (!same)
            encode_first(values, bits, apart, first + (size_t)differ++ * apart * TILE_LANES);
    }
    memset((uint8_t *)data + data_bytes - LANE_SPARE_BYTES, 0, LANE_SPARE_BYTES);
    return chunk_finish(out,
                        (struct chunk_header){.codec = CODEC_LANE_LEVELS,
                                              .rows = input->rows,
                                              .value_bytes = sizeof(int32_t),
                                              .width_low = bits,
                                              .width_high = bits,
                                              .directory_bytes = directory_bytes,
                                              .data_bytes = data_bytes,
                                              .auxiliary_bytes = (uint64_t)differ * apart * CHUNK_ALIGNMENT});
}

/* Whether tiles have no bits but those that are apart, and numbers in their order; *differ are those whose rows differ. */
static bool entries_valid(const struct chunk_view *chunk, uint32_t *differ)
{
    const uint32_t first = leading_bits(chunk->width_high, apart_of(chunk));
    for (uint32_t tile = 0; tile < chunk->tiles; tile++) {
        const uint32_t entry = entry_of(chunk, tile);
        if (entry & DIFFERS ? (entry & ~DIFFERS) != (*differ)++ : (entry & ~first) != 0)
            return false;
    }
    return true;
}

static bool valid(const struct chunk_view *chunk)
{
    const struct chunk_header *const header = chunk_head(chunk);
    const uint32_t bits = chunk->width_high;
    uint32_t differ = 0;
    if (bits < 1 || bits > BITS_MAX || chunk->width_low != bits ||
        header->directory_bytes < DIRECTORY_BYTES || load_u32(chunk->directory + 4) != bits ||
        planes_of(chunk) < 1 || planes_of(chunk) > bits)
        return false;
    if (!has_all_lines(chunk) &&
        (header->directory_bytes != APART_BYTES + (uint64_t)chunk->tiles * ENTRY_BYTES ||
         apart_of(chunk) < 1 || apart_of(chunk) > planes_of(chunk) || load_u32(chunk->directory + 12) != 0 ||
         !entries_valid(chunk, &differ)))
        return false;
    return header->data_bytes ==
               (uint64_t)chunk->tiles * (bits - apart_of(chunk)) * CHUNK_ALIGNMENT + LANE_SPARE_BYTES &&
           header->auxiliary_bytes == (uint64_t)differ * apart_of(chunk) * CHUNK_ALIGNMENT;
}

static const uint8_t *tile_span(const struct chunk_view *chunk, uint32_t tile, uint32_t *bytes)
{
    const struct tile_lines of = lines_of(chunk, tile);
    *bytes = (chunk->width_high - of.apart) * CHUNK_ALIGNMENT;
    return (const uint8_t *)of.others;
}

/* Asks for those lines of the next tile that have planes of the mask. The lines of a tile are too far apart for the
 * processor's own prefetcher: without this, tests took three times as long. */
FORCED_INLINE void ask_ahead(const struct chunk_view *chunk, uint32_t tile, uint32_t mask)
{
    if (tile + 1 >= chunk->tiles)
        return;
    const struct tile_lines next = lines_of(chunk, tile + 1);
    for (mask &= ~next.same; mask; mask &= mask - 1) {
        const uint32_t *const line = line_at(&next, chunk->width_high - 1 - (uint32_t)__builtin_ctz(mask));
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
static void join_planes(const struct tile_lines *of, uint32_t bits, uint32_t mask, bool add, uint32_t *out)
{
    static const uint32_t zeros[TILE_LANES];
    const uint32_t lowest = (uint32_t)__builtin_ctz(mask), width = width_of(mask) - lowest;
    const uint32_t *plane[TILE_LANES];
    for (uint32_t k = 0; k < TILE_LANES; k++)
        plane[k] = k < width && mask >> (lowest + k) & 1 ? line_at(of, bits - 1 - lowest - k) : zeros;
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
    const struct tile_lines of = lines_of(chunk, tile);
    const uint32_t bits = chunk->width_high, planes = planes_of(chunk), rest = bits - planes;
    const uint32_t of_rest = mask & (uint32_t)width_mask(rest), of_all = of.bits & mask;
    const uint32_t of_planes = mask & leading_bits(bits, planes) & ~of.same;
    if (of_rest)
        lanes_unpack(line_at(&of, planes), TILE_LANES, 4, 0, rest, out);
    else if (!of_planes)
        memset(out, 0, TILE_ROWS * sizeof *out);
    if (of_rest && of_rest != width_mask(rest))
        for (uint32_t row = 0; row < TILE_ROWS; row++)
            out[row] &= of_rest;
    if (of_planes)
        join_planes(&of, bits, of_planes, of_rest != 0, out);
    if (of_all)
        for (uint32_t row = 0; row < TILE_ROWS; row++)
            out[row] |= of_all;
}

static void decode_tile(const struct chunk_view *chunk, uint32_t tile, void *out)
{
    join(chunk, tile, UINT32_MAX, out);
}

/* ---- Single rows ---- */

/* Consecutive lines of planes. */
struct plane_lines {
    const uint32_t *line;
    uint32_t count;
};

/* The lines that have the bits of a mask. */
struct bit_lines {
    struct plane_lines first,
        others;     /* from the mask's highest plane to its lowest one: those that are apart, the others */
    uint32_t shift; /* the bit of the lowest plane */
    const uint32_t *rest; /* the first line of the rest */
    uint32_t rest_width;  /* of all of the rest; 0 if the mask has no bit of it */
    uint32_t of_all;      /* what all rows have */
};

FORCED_INLINE struct bit_lines bit_lines_of(const struct chunk_view *chunk, uint32_t tile, uint32_t mask)
{
    const struct tile_lines lines = lines_of(chunk, tile);
    const uint32_t bits = chunk->width_high, planes = planes_of(chunk), rest = bits - planes;
    const uint32_t of_planes = mask & leading_bits(bits, planes) & ~lines.same;
    struct bit_lines of = {.rest = line_at(&lines, planes),
                           .rest_width = mask & (uint32_t)width_mask(rest) ? rest : 0,
                           .of_all = lines.bits};
    if (of_planes) {
        const uint32_t begin = bits - width_of(of_planes), apart = lines.apart,
                       end = bits - (uint32_t)__builtin_ctz(of_planes);
        const uint32_t middle = begin > apart ? begin : end < apart ? end : apart;
        of.shift = bits - end;
        of.others = (struct plane_lines){line_at(&lines, middle < apart ? apart : middle), end - middle};
        if (begin < middle)
            of.first = (struct plane_lines){line_at(&lines, begin), middle - begin};
    }
    return of;
}

FORCED_INLINE uint32_t add_planes(const struct plane_lines *lines, uint32_t row, uint32_t value)
{
    const uint32_t *line = lines->line + row % TILE_LANES;
    for (uint32_t plane = 0; plane < lines->count; plane++, line += TILE_LANES)
        value = value << 1 | (*line >> row / TILE_LANES & 1);
    return value;
}

FORCED_INLINE uint32_t bits_of_row(const struct bit_lines *of, uint32_t row)
{
    uint32_t value = of->first.count ? add_planes(&of->first, row, 0) : 0;
    if (of->others.count)
        value = add_planes(&of->others, row, value);
    value <<= of->shift;
    if (of->rest_width)
        value |= lanes_fetch_narrow(of->rest, row / TILE_LANES, row % TILE_LANES, of->rest_width);
    return value | of->of_all;
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

/* The same by the planes, of a tile whose rows do not differ in those that are apart; `first` and `last` are prefixes. */
static void compare_planes(const struct tile_lines *of, uint32_t planes, uint32_t rest, uint32_t first,
                           uint32_t last, uint64_t bits[TILE_ROWS / 64])
{
    const uint32_t others = planes - of->apart, most = (uint32_t)width_mask(others), all = of->bits >> rest;
    if (all + most < first || all > last) {
        memset(bits, 0, TILE_ROWS / 8);
        return;
    }
    first = first > all ? first - all : 0;
    last = last < all + most ? last - all : most;
    if (first == 0 && last == most)
        memset(bits, 0xff, TILE_ROWS / 8);
    else
        planes_in_range(line_at(of, planes - 1), -(int32_t)TILE_LANES, others, first, last, bits);
}

static void in_range(const struct chunk_view *chunk, uint32_t tile, int32_t low, int32_t high,
                     uint64_t bits[TILE_ROWS / 64])
{
    const uint32_t planes = planes_of(chunk), rest = chunk->width_high - planes;
    const uint32_t most = (uint32_t)width_mask(chunk->width_high), rest_mask = (uint32_t)width_mask(rest);
    const uint32_t first = low < 0 ? 0 : (uint32_t)low, last = high < (int32_t)most ? (uint32_t)high : most;
    const struct tile_lines of = lines_of(chunk, tile);
    if (low > high || high < 0 || first > most)
        memset(bits, 0, TILE_ROWS / 8);
    else if (of.first || (first & rest_mask) != 0 || (last & rest_mask) != rest_mask)
        compare_values(chunk, tile, first, last, bits);
    else
        compare_planes(&of, planes, rest, first >> rest, last >> rest, bits);
}

/* Each bit of a cube takes one operation for 32 rows of each lane: and with the plane, or with its complement. */
static void in_cubes(const struct chunk_view *chunk, uint32_t tile, const struct position_cube *cubes,
                     uint32_t count, uint64_t bits[TILE_ROWS / 64])
{
    const struct tile_lines of = lines_of(chunk, tile);
    const lane_vector none = {0};
    lane_vector inside[LANE_VECTORS] = {{0}};
    uint32_t any_care = 0;
    for (uint32_t c = 0; c < count; c++)
        any_care |= cubes[c].care;
    ask_ahead(chunk, tile, any_care);
    for (uint32_t c = 0; c < count; c++) {
        lane_vector all[LANE_VECTORS];
        if ((cubes[c].value_bits ^ of.bits) & cubes[c].care & of.same)
            continue;
#pragma GCC unroll 8
        for (unsigned v = 0; v < LANE_VECTORS; v++)
            all[v] = ~none;
        for (uint32_t care = cubes[c].care & ~of.same; care; care &= care - 1) {
            const uint32_t bit = (uint32_t)__builtin_ctz(care);
            const uint32_t *const line = line_at(&of, chunk->width_high - 1 - bit);
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
    snprintf(text, bytes, ", %u, %u, %u", shape->width_high, shape->planes, shape->apart);
}

static uint64_t gpu_detail(const struct chunk_view *chunk)
{
    return apart_of(chunk);
}

/* Planes that are apart stand in the order of their tiles. */
static void gpu_cut(const struct chunk_view *chunk, uint32_t first, uint32_t tiles,
                    struct chunk_part parts[3])
{
    const uint32_t apart = apart_of(chunk);
    uint32_t differ = 0, from = 0;
    chunk_cut_tiles(chunk, first, tiles, APART_BYTES, apart ? ENTRY_BYTES : 0, parts);
    for (uint32_t tile = first; apart && tile < first + tiles; tile++)
        if (entry_of(chunk, tile) & DIFFERS) {
            from = differ ? from : entry_of(chunk, tile) & ~DIFFERS;
            differ++;
        }
    parts[2] = (struct chunk_part){.from = (uint64_t)from * apart * CHUNK_ALIGNMENT,
                                   .bytes = (uint64_t)differ * apart * CHUNK_ALIGNMENT};
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
            .lines = gpu_lines,
            .regular = has_all_lines,
            .detail = gpu_detail,
            .cut = gpu_cut},
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
