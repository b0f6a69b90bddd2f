/*
 * alp.c: alp: doubles that are decimals, as whole numbers with exceptions, in 32 lanes (after Afroozeh, Kuffó and Boncz,
 * ALP, SIGMOD 2024).
 *
 *     directory    an entry a tile as in lane-for (lane_tiles.h: start, width, reference); after the last of them an
 *                  entry of 8 bytes a tile:
 *                      word 0: where its list begins in auxiliary, in words
 *                      word 1: exceptions in the tile | decimals << 16 | 1 << 31 if the tile has decimals
 *     data         the tiles' lines as in lane-for; then LANE_SPARE_BYTES zeros
 *     auxiliary    the list of each tile that has exceptions: their values, 2 words each, low first; then their rows in
 *                  the tile, ascending, 16 bits each, two in a word; after the last list SPARE_BYTES zeros
 *
 * A tile with decimals has items i for the double i / 10^decimals, whose key (storage/base/double_key.h) is the value.
 * One correctly rounded division gives back each decimal of up to 15 digits, so there is one exponent and not two, as in
 * the paper, which multiplies by an inexact power. A value that is not so is an exception, and its item is 0. A tile
 * for which this takes more bytes, and each tile of int32, is that of lane-for.
 *
 * `decimals` is 0 .. 18 and chosen for each tile from 32 of its values. Numbers from 0.01 to 1000 with two decimals take
 * 17 bits and an overhead of 0.1875.
 */
#include "storage/base/double_key.h"
#include "storage/base/isa.h"
#include "storage/codec/integer/lane_tiles.h"

#define DECIMALS_MOST 18u
#define HAS_DECIMALS  (UINT32_C(1) << 31)
#define SAMPLE_ROWS   32u
#define SAMPLE_STEP   33u /* no power of two, for values that repeat after one */

/* Adding and subtracting it rounds to a whole number; these are below 2^51. */
#define ROUNDER   0x1.8p52
#define ITEM_MOST 0x1p51

static const double powers[DECIMALS_MOST + 1] = {1e0,  1e1,  1e2,  1e3,  1e4,  1e5,  1e6,  1e7,  1e8, 1e9,
                                                 1e10, 1e11, 1e12, 1e13, 1e14, 1e15, 1e16, 1e17, 1e18};

FORCED_INLINE uint32_t list_words(uint32_t exceptions)
{
    return 2 * exceptions + (exceptions + 1) / 2;
}

/* ---- Encoding ---- */

/* The item of a value, and whether the division gives the value back. */
FORCED_INLINE bool item_of(int64_t value, double power, int64_t *item)
{
    const double scaled = double_of_key(value) * power;
    const bool small = scaled > -ITEM_MOST && scaled < ITEM_MOST;
    const double whole = ((small ? scaled : 0) + ROUNDER) - ROUNDER;
    *item = (int64_t)whole;
    return small && double_key_of(whole / power) == value;
}

/* A tile's division into items and exceptions. */
struct alp_tile {
    unsigned decimals;
    uint32_t exceptions;
    int64_t low, high; /* of the items of other values */
};

/* Divides `count` values that are `step` rows apart. */
static struct alp_tile divide(const int64_t *values, uint32_t count, uint32_t step, unsigned decimals)
{
    struct alp_tile tile = {.decimals = decimals, .low = INT64_MAX, .high = INT64_MIN};
    const double power = powers[decimals];
    for (uint32_t i = 0; i < count; i++) {
        int64_t item;
        const bool exact = item_of(values[(size_t)i * step], power, &item);
        tile.exceptions += !exact;
        tile.low = exact && item < tile.low ? item : tile.low;
        tile.high = exact && item > tile.high ? item : tile.high;
    }
    if (tile.exceptions == count)
        tile.low = tile.high = 0;
    return tile;
}

static uint32_t width_of_items(const struct alp_tile *tile)
{
    return width_of((uint64_t)tile->high - (uint64_t)tile->low);
}

/* The tile's best number of decimals, by a sample. */
static unsigned choose_decimals(const int64_t *values)
{
    unsigned best = 0;
    uint64_t least = UINT64_MAX;
    for (unsigned decimals = 0; decimals <= DECIMALS_MOST; decimals++) {
        const struct alp_tile tile = divide(values, SAMPLE_ROWS, SAMPLE_STEP, decimals);
        const uint64_t bits =
            (uint64_t)width_of_items(&tile) * SAMPLE_ROWS + (uint64_t)tile.exceptions * (64 + 16);
        if (bits < least) {
            least = bits;
            best = decimals;
        }
        if (tile.exceptions == 0)
            break; /* more decimals only make items longer */
    }
    return best;
}

/* Fills the items, and the list of exceptions at `words`. */
static void write_items(const int64_t *values, const struct alp_tile *tile, int64_t *items, uint32_t *words)
{
    uint16_t rows[TILE_ROWS + 1];
    uint32_t count = 0;
    for (uint32_t row = 0; row < TILE_ROWS; row++) {
        if (item_of(values[row], powers[tile->decimals], &items[row]))
            continue;
        items[row] = tile->low;
        memcpy(words + 2 * (size_t)count, &values[row], sizeof values[row]);
        rows[count++] = (uint16_t)row;
    }
    rows[count] = 0;
    memcpy(words + 2 * (size_t)count, rows, (size_t)(count + 1) / 2 * 4);
}

FORCED_INLINE size_t encode_values(const void *values, uint32_t rows, const uint32_t value_bytes,
                                   uint8_t *out)
{
    _Alignas(64) int64_t last[TILE_ROWS], items[TILE_ROWS];
    struct lane_lists_writer writer = lane_lists_begin(CODEC_ALP, rows, value_bytes, out);
    for (uint32_t t = 0; t < chunk_tiles(rows); t++) {
        const void *v = chunk_tile_values(values, rows, value_bytes, t, last);
        struct alp_tile tile = {0};
        int64_t low, high;
        bool decimals = false;
        values_range(v, TILE_ROWS, value_bytes, &low, &high);
        uint32_t width = width_of((uint64_t)high - (uint64_t)low);
        if (value_bytes == 8) {
            tile = divide(v, TILE_ROWS, 1, choose_decimals(v));
            decimals =
                width_of_items(&tile) * UINT32_C(32) + list_words(tile.exceptions) < width * UINT32_C(32);
        }
        if (decimals) {
            write_items(v, &tile, items, writer.lists + writer.list_at);
            v = items;
            low = tile.low;
            high = tile.high;
            width = width_of_items(&tile);
        }
        if (low > 0 && width_of((uint64_t)high) == width)
            low = 0;
        lane_lists_add(&writer, t, v, value_bytes, low, (struct lane_tile){.reference = low, .width = width},
                       decimals ? tile.exceptions | tile.decimals << 16 | HAS_DECIMALS : 0,
                       decimals ? list_words(tile.exceptions) : 0);
    }
    return lane_lists_finish(&writer);
}

CODEC_ENCODE_BOTH

/* ---- Decoding ---- */

/* A tile's entry of the second part of the directory. */
struct alp_list {
    const uint32_t *words;
    uint32_t exceptions;
    unsigned decimals;
    bool has_decimals;
};

FORCED_INLINE struct alp_list list_of(const struct chunk_view *chunk, uint32_t tile)
{
    const uint32_t *const entry = lane_list_entry(chunk, tile);
    return (struct alp_list){.words = (const uint32_t *)chunk->auxiliary + entry[0],
                             .exceptions = entry[1] & 0xffff,
                             .decimals = entry[1] >> 16 & 0x7fff,
                             .has_decimals = entry[1] >> 31};
}

FORCED_INLINE uint32_t row_of(const struct alp_list *list, uint32_t exception)
{
    return list->words[2 * list->exceptions + exception / 2] >> 16 * (exception % 2) & 0xffff;
}

static bool list_valid(const struct chunk_view *chunk, uint32_t tile, uint64_t words)
{
    const struct alp_list list = list_of(chunk, tile);
    const uint64_t first = (uint64_t)(list.words - (const uint32_t *)chunk->auxiliary);
    if (!list.has_decimals)
        return list.exceptions == 0 && list.decimals == 0 && first <= words;
    if (chunk->value_bytes == 4 || list.decimals > DECIMALS_MOST || list.exceptions > TILE_ROWS ||
        first + list_words(list.exceptions) > words)
        return false;
    for (uint32_t e = 0; e < list.exceptions; e++)
        if (row_of(&list, e) >= TILE_ROWS || (e && row_of(&list, e) <= row_of(&list, e - 1)))
            return false;
    return true;
}

static bool valid(const struct chunk_view *chunk)
{
    return lane_lists_valid(chunk, list_valid);
}

static void decode_tile(const struct chunk_view *chunk, uint32_t tile, void *out)
{
    const struct lane_tile entry = lane_tile_read(chunk->directory, tile, chunk->value_bytes);
    const uint32_t *const lines = lane_tile_lines(chunk, &entry);
    if (chunk->value_bytes == 4) {
        lanes_unpack(lines, TILE_LANES, 4, entry.reference, entry.width, out);
        return;
    }
    const struct alp_list list = list_of(chunk, tile);
    int64_t *const values = out;
    lanes_unpack(lines, TILE_LANES, 8, entry.reference, entry.width, out);
    if (!list.has_decimals)
        return;
    const double power = powers[list.decimals];
    for (uint32_t row = 0; row < TILE_ROWS; row++)
        values[row] = double_key_of((double)values[row] / power);
    for (uint32_t e = 0; e < list.exceptions; e++)
        memcpy(&values[row_of(&list, e)], list.words + 2 * (size_t)e, sizeof *values);
}

/* The exception of a row, or list->exceptions. */
static uint32_t exception_of(const struct alp_list *list, uint32_t row)
{
    uint32_t first = 0, end = list->exceptions;
    while (first < end) {
        const uint32_t middle = (first + end) / 2;
        if (row_of(list, middle) < row)
            first = middle + 1;
        else
            end = middle;
    }
    return first < list->exceptions && row_of(list, first) == row ? first : list->exceptions;
}

static int64_t value(const struct chunk_view *chunk, uint32_t row)
{
    const uint32_t in_tile = row % TILE_ROWS;
    const struct lane_tile entry = lane_tile_read(chunk->directory, row / TILE_ROWS, chunk->value_bytes);
    const uint64_t offset =
        lanes_fetch(lane_tile_lines(chunk, &entry), in_tile / TILE_LANES, in_tile % TILE_LANES, entry.width);
    const int64_t item = chunk_value(offset + (uint64_t)entry.reference, chunk->value_bytes);
    const struct alp_list list = list_of(chunk, row / TILE_ROWS);
    if (!list.has_decimals)
        return item;
    const uint32_t exception = exception_of(&list, in_tile);
    return exception < list.exceptions ? load_value(list.words + 2 * (size_t)exception, 8)
                                       : double_key_of((double)item / powers[list.decimals]);
}

static void fetch(const struct chunk_view *chunk, uint32_t tile, const uint16_t *rows, uint32_t count,
                  int32_t *out)
{
    const struct lane_tile entry = lane_tile_read(chunk->directory, tile, 4);
    const uint32_t *const lines = lane_tile_lines(chunk, &entry);
    for (uint32_t i = 0; i < count; i++) {
        const uint32_t row = rows[i];
        const uint64_t offset = lanes_fetch_narrow(lines, row / TILE_LANES, row % TILE_LANES, entry.width);
        out[row] = (int32_t)((uint32_t)offset + (uint32_t)entry.reference);
    }
}

const struct codec ISA(codec_alp) = {
    .id = CODEC_ALP,
    .name = "alp",
    .family = "lane",
    .summary = "doubles that are decimals, as whole numbers with exceptions",
    .choosers = CHOSEN_BY(CHOOSER_SMALLEST) | CHOSEN_BY(CHOOSER_AUTO),
    .random_access = true,
    .holds_int64 = true,
    .decode_cycles = 2.0,
    .costs_like = CODEC_LANE_FOR,
    .gpu = {.header = "operators/decode/alp_cuda.h",
            .decoder = "decode_alp",
            .random_access = true,
            .copies = true,
            .arguments = lane_tiles_arguments,
            .lines = lane_tiles_few_widths,
            .regular = lane_tiles_regular,
            .detail = lane_lists_gpu_detail},
    .bound = lane_lists_bound,
    .encode = encode,
    .valid = valid,
    .tile_span = lane_tiles_span,
    .decode_tile = decode_tile,
    .value = value,
    .fetch_rows = 16,
    .fetch = fetch,
};
