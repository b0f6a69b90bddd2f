/*
 * lane_for.c: lane-for: frame of reference per tile of 1024, packed in 32 lanes (design.md §4).
 *
 *     directory, int32, 8 bytes a tile      word 0: start | width << 26    word 1: reference
 *     directory, int64, 16 bytes a tile     word 0: start  word 1: width   words 2, 3: reference
 *     data                                  each tile: `width` lines of 32 words; then LANE_SPARE_BYTES zeros
 *
 * A tile begins `start` * 32 bytes into data. Word w of lane l is word w*32 + l of the tile; item j of lane l
 * (row 32j + l) is bits [j*width, j*width + width) of the lane's words, and the value is item + reference,
 * the least value of the tile. Width 0 has no lines. A start has 26 bits: 2 GiB of data, where 2^24 int32
 * need 64 MiB.
 *
 * Overhead: 0.0625 bits a value (int64: 0.125). The layout is that of FastLanes (Afroozeh and Boncz, VLDB
 * 2023) cut to 32 lanes of 32 bits, so that one warp reads whole 128-byte lines. Any value is three
 * instructions away from one or two words.
 */
#include "storage/bitpack.h"
#include "storage/isa.h"

struct tile_entry {
    uint64_t start; /* in units of CODEC_START_BYTES */
    int64_t reference;
    uint32_t width;
};

FORCED_INLINE uint64_t entry_bytes(const uint32_t value_bytes)
{
    return value_bytes == 4 ? 8 : 16;
}

FORCED_INLINE struct tile_entry entry_read(const uint8_t *directory, uint32_t tile,
                                           const uint32_t value_bytes)
{
    const uint8_t *const at = directory + tile * entry_bytes(value_bytes);
    const uint32_t word = load_u32(at);
    if (value_bytes == 4)
        return (struct tile_entry){
            .start = word & 0x3ffffffu, .width = word >> 26, .reference = load_value(at + 4, 4)};
    return (struct tile_entry){.start = word, .width = load_u32(at + 4), .reference = load_value(at + 8, 8)};
}

FORCED_INLINE void entry_write(uint8_t *directory, uint32_t tile, const uint32_t value_bytes,
                               struct tile_entry entry)
{
    uint32_t *const words = (uint32_t *)(directory + tile * entry_bytes(value_bytes));
    if (value_bytes == 4) {
        words[0] = (uint32_t)entry.start | entry.width << 26;
        words[1] = (uint32_t)entry.reference;
    } else {
        words[0] = (uint32_t)entry.start;
        words[1] = entry.width;
        memcpy(words + 2, &entry.reference, sizeof entry.reference);
    }
}

static size_t bound(uint32_t rows, uint32_t value_bytes)
{
    const uint64_t tiles = chunk_tiles(rows);
    return chunk_size(tiles * entry_bytes(value_bytes), tiles * TILE_ROWS * value_bytes + LANE_SPARE_BYTES,
                      0);
}

FORCED_INLINE size_t encode_values(const void *values, uint32_t rows, const uint32_t value_bytes,
                                   uint8_t *out)
{
    _Alignas(64) int64_t last[TILE_ROWS];
    struct chunk_header header = {.codec = CODEC_LANE_FOR,
                                  .rows = rows,
                                  .value_bytes = value_bytes,
                                  .directory_bytes = chunk_tiles(rows) * entry_bytes(value_bytes)};
    struct width_range widths = {UINT32_MAX, 0};
    uint8_t *const directory = chunk_directory(out);
    uint8_t *const data = chunk_data(out, header.directory_bytes);
    uint64_t at = 0;
    for (uint32_t tile = 0; tile < chunk_tiles(rows); tile++) {
        const void *const v = chunk_tile_values(values, rows, value_bytes, tile, last);
        int64_t low, high;
        values_range(v, TILE_ROWS, value_bytes, &low, &high);
        const uint32_t width = width_of((uint64_t)high - (uint64_t)low);
        width_range_add(&widths, width);
        entry_write(directory, tile, value_bytes,
                    (struct tile_entry){.start = at / CODEC_START_BYTES, .reference = low, .width = width});
        lanes_pack(v, TILE_LANES, value_bytes, low, width, (uint32_t *)(data + at));
        at += (uint64_t)width * TILE_LANES * 4;
    }
    memset(data + at, 0, LANE_SPARE_BYTES);
    header.data_bytes = at + LANE_SPARE_BYTES;
    header.width_low = widths.low;
    header.width_high = widths.high;
    return chunk_finish(out, header);
}

static size_t encode(const void *values, uint32_t rows, uint32_t value_bytes, uint8_t *out)
{
    return value_bytes == 4 ? encode_values(values, rows, 4, out) : encode_values(values, rows, 8, out);
}

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
        if (entry.width > width_limit ||
            entry.start * CODEC_START_BYTES + entry.width * TILE_LANES * 4 > data_bytes - LANE_SPARE_BYTES)
            return false;
        width_range_add(&widths, entry.width);
    }
    return width_range_matches(&widths, chunk);
}

static void decode_tile(const struct chunk_view *chunk, uint32_t tile, void *out)
{
    const struct tile_entry entry = entry_read(chunk->directory, tile, chunk->value_bytes);
    const uint32_t *const lines = (const uint32_t *)(chunk->data + entry.start * CODEC_START_BYTES);
    prefetch_behind((const uint8_t *)lines, entry.width * TILE_LANES * UINT64_C(4));
    if (chunk->value_bytes == 4)
        lanes_unpack(lines, TILE_LANES, 4, entry.reference, entry.width, out);
    else
        lanes_unpack(lines, TILE_LANES, 8, entry.reference, entry.width, out);
}

static int64_t value(const struct chunk_view *chunk, uint32_t row)
{
    const uint32_t in_tile = row % TILE_ROWS;
    const struct tile_entry entry = entry_read(chunk->directory, row / TILE_ROWS, chunk->value_bytes);
    const uint32_t *const lines = (const uint32_t *)(chunk->data + entry.start * CODEC_START_BYTES);
    const uint64_t offset = lanes_fetch(lines, in_tile / TILE_LANES, in_tile % TILE_LANES, entry.width);
    return chunk_value(offset + (uint64_t)entry.reference, chunk->value_bytes);
}

static void fetch(const struct chunk_view *chunk, uint32_t tile, const uint16_t *rows, uint32_t count,
                  int32_t *out)
{
    const struct tile_entry entry = entry_read(chunk->directory, tile, 4);
    const uint32_t *const lines = (const uint32_t *)(chunk->data + entry.start * CODEC_START_BYTES);
    const uint32_t reference = (uint32_t)entry.reference;
    prefetch_behind((const uint8_t *)lines, entry.width * TILE_LANES * UINT64_C(4));
    for (uint32_t i = 0; i < count; i++) {
        const uint32_t row = rows[i];
        const uint64_t offset = lanes_fetch_narrow(lines, row / TILE_LANES, row % TILE_LANES, entry.width);
        out[row] = (int32_t)((uint32_t)offset + reference);
    }
}

const struct codec ISA(codec_lane_for) = {
    .id = CODEC_LANE_FOR,
    .name = "lane-for",
    .summary = "frame of reference per 1024 values, packed in 32 lanes",
    .random_access = true,
    .bound = bound,
    .encode = encode,
    .valid = valid,
    .decode_tile = decode_tile,
    .value = value,
    .fetch_rows = 16,
    .fetch = fetch,
};
