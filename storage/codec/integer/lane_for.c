/*
 * lane_for.c: lane-for: frame of reference per tile of 1024, packed in 32 lanes.
 *
 *     directory, int32, 8 bytes a tile      word 0: start | width << 26    word 1: reference
 *     directory, int64, 16 bytes a tile     word 0: start  word 1: width   words 2, 3: reference
 *     data                                  each tile: `width` lines of 32 words; then LANE_SPARE_BYTES zeros
 *
 * A tile begins `start` * 32 bytes into data. Word w of lane l is word w*32 + l of the tile. Item j of lane l
 * (row 32j + l) is bits [j*width, j*width + width) of the lane's words. The value is item + reference. Width
 * 0 has no lines. A start has 26 bits, which is 2 GiB of data; 2^24 int32 need 64 MiB. lane_tiles.h reads and
 * writes the directory.
 *
 * The overhead is 0.0625 bits a value (int64: 0.125). The layout is that of FastLanes (Afroozeh and Boncz,
 * VLDB 2023) with 32 lanes of 32 bits, so that one warp reads whole 128-byte lines. Three instructions
 * extract any value from one or two words.
 */
#include "storage/base/isa.h"
#include "storage/codec/integer/lane_tiles.h"

static void pack_tile(const void *values, uint32_t value_bytes, int64_t reference, unsigned width,
                      uint32_t *lines)
{
    if (value_bytes == 4)
        lanes_pack(values, TILE_LANES, 4, reference, width, lines);
    else
        lanes_pack(values, TILE_LANES, 8, reference, width, lines);
}

static size_t encode(const struct codec_input *input, uint8_t *out)
{
    return lane_tiles_encode(CODEC_LANE_FOR, input->values, input->rows, input->value_bytes, pack_tile, out);
}

static void decode_tile(const struct chunk_view *chunk, uint32_t tile, void *out)
{
    const struct lane_tile entry = lane_tile_read(chunk->directory, tile, chunk->value_bytes);
    const uint32_t *const lines = lane_tile_lines(chunk, &entry);
    if (chunk->value_bytes == 4)
        lanes_unpack(lines, TILE_LANES, 4, entry.reference, entry.width, out);
    else
        lanes_unpack(lines, TILE_LANES, 8, entry.reference, entry.width, out);
}

static void decode_narrow(const struct chunk_view *chunk, uint32_t tile, int32_t *out)
{
    const struct lane_tile entry = lane_tile_read(chunk->directory, tile, 8);
    lanes_unpack(lane_tile_lines(chunk, &entry), TILE_LANES, 4, (int32_t)entry.reference,
                 entry.width < 32 ? entry.width : 32, out);
}

static int64_t value(const struct chunk_view *chunk, uint32_t row)
{
    const uint32_t in_tile = row % TILE_ROWS;
    const struct lane_tile entry = lane_tile_read(chunk->directory, row / TILE_ROWS, chunk->value_bytes);
    const uint32_t *const lines = lane_tile_lines(chunk, &entry);
    const uint64_t offset = lanes_fetch(lines, in_tile / TILE_LANES, in_tile % TILE_LANES, entry.width);
    return chunk_value(offset + (uint64_t)entry.reference, chunk->value_bytes);
}

static void fetch(const struct chunk_view *chunk, uint32_t tile, const uint16_t *rows, uint32_t count,
                  int32_t *out)
{
    const struct lane_tile entry = lane_tile_read(chunk->directory, tile, 4);
    const uint32_t *const lines = lane_tile_lines(chunk, &entry);
    const uint32_t reference = (uint32_t)entry.reference;
    for (uint32_t i = 0; i < count; i++) {
        const uint32_t row = rows[i];
        const uint64_t offset = lanes_fetch_narrow(lines, row / TILE_LANES, row % TILE_LANES, entry.width);
        out[row] = (int32_t)((uint32_t)offset + reference);
    }
}

const struct codec ISA(codec_lane_for) = {
    .id = CODEC_LANE_FOR,
    .name = "lane-for",
    .family = "lane",
    .summary = "frame of reference per 1024 values, packed in 32 lanes",
    .choosers = CHOSEN_BY(CHOOSER_SMALLEST) | CHOSEN_BY(CHOOSER_AUTO),
    .random_access = true,
    .holds_int64 = true,
    .gpu = {.header = "operators/decode/lane_for_cuda.h",
            .decoder = "decode_lane_for",
            .random_access = true,
            .copies = true,
            .arguments = lane_tiles_arguments,
            .lines = lane_tiles_few_widths,
            .regular = lane_tiles_regular,
            .cut = lane_tiles_cut},
    .bound = lane_tiles_bound,
    .encode = encode,
    .valid = lane_tiles_valid,
    .tile_span = lane_tiles_span,
    .decode_tile = decode_tile,
    .decode_narrow = decode_narrow,
    .value = value,
    .fetch_rows = 16,
    .fetch = fetch,
};
