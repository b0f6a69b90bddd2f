/*
 * lane_pfor.c: lane-pfor: lane-for at the width of the fewest bytes; outliers have a list of their own.
 *
 *     directory    an entry a tile as in lane-for (lane_tiles.h: start, width, reference); after the last of
 *                  them an entry of 8 bytes a tile:
 *                      word 0: where its list begins in auxiliary, in words
 *                      word 1: exceptions in the tile | high width << 16
 *     data         the tiles' lines as in lane-for; then LANE_SPARE_BYTES zeros
 *     auxiliary    the list of each tile that has exceptions: the least high part (1 word; int64: 2 words, low
 *                  first); the positions, 10 bits each; from the next word on the high parts, high width bits
 *                  each; after the last list SPARE_BYTES zeros
 *
 * Every row has an item in the lines, the low bits of value - reference. An exception also has a high part
 * (patches.h), which its item lacks. Its position is its row in the tile. Positions ascend, so the row of a
 * value that is read alone is looked for in half of the rest of the list at each step. A tile without
 * exceptions is exactly that of lane-for.
 *
 * The overhead is 0.125 bits a value (int64: 0.1875). With 5 % outliers, which are 51 a tile, the list takes
 * 0.5 bits a value for the positions and a twentieth of a bit for each bit of the high parts.
 */
#include "storage/base/isa.h"
#include "storage/codec/integer/lane_tiles.h"
#include "storage/codec/integer/patches.h"

/* The words of a tile's list with the least high part before it. */
FORCED_INLINE uint32_t list_words(const struct patches *list, const uint32_t value_bytes)
{
    return list->count ? value_bytes / 4 + patches_words(list) : 0;
}

FORCED_INLINE struct patches list_of(const struct frame *frame)
{
    return (struct patches){.count = frame->exceptions,
                            .position_width = POSITION_WIDTH,
                            .high_width = frame->high_width,
                            .shift = frame->width,
                            .high = frame->high};
}

FORCED_INLINE struct patches list_at(const struct chunk_view *chunk, uint32_t tile, uint32_t width)
{
    const uint32_t *const entry = lane_list_entry(chunk, tile);
    struct patches list = {.count = entry[1] & 0xffff,
                           .position_width = POSITION_WIDTH,
                           .high_width = entry[1] >> 16,
                           .shift = width,
                           .words = (const uint32_t *)chunk->auxiliary + entry[0]};
    if (list.count) {
        list.high = (uint64_t)load_value(list.words, chunk->value_bytes);
        list.words += chunk->value_bytes / 4;
    }
    return list;
}

/* The 1024 values of a tile. A partial last tile is filled by its own rows, over and over: were it filled by its last
 * value, a width far from the column's could be best for it, and decoders on a GPU are specialised to a column with few
 * widths. `buffer` has 1024 values. */
FORCED_INLINE const void *tile_values(const void *values, uint32_t rows, const uint32_t value_bytes,
                                      uint32_t tile, uint8_t *buffer)
{
    const uint32_t here = rows - tile * TILE_ROWS;
    const void *const v = chunk_tile_values(values, rows, value_bytes, tile, buffer);
    for (size_t i = (size_t)here * value_bytes; i < TILE_ROWS * value_bytes; i++)
        buffer[i] = buffer[i - (size_t)here * value_bytes];
    return v;
}

FORCED_INLINE size_t encode_values(const void *values, uint32_t rows, const uint32_t value_bytes,
                                   uint8_t *out)
{
    _Alignas(64) int64_t last[TILE_ROWS];
    struct frame_parts parts;
    struct lane_lists_writer writer = lane_lists_begin(CODEC_LANE_PFOR, rows, value_bytes, out);
    for (uint32_t tile = 0; tile < chunk_tiles(rows); tile++) {
        const void *const v = tile_values(values, rows, value_bytes, tile, (uint8_t *)last);
        const struct frame frame = frame_choose(v, value_bytes);
        const struct patches list = list_of(&frame);
        uint32_t *const words = writer.lists + writer.list_at;
        frame_divide(v, value_bytes, &frame, &parts);
        if (list.count) {
            memcpy(words, &list.high, value_bytes);
            patches_pack(&list, &parts, words + value_bytes / 4);
        }
        lane_lists_add(&writer, tile, parts.codes, value_bytes, 0,
                       (struct lane_tile){.reference = frame.reference, .width = frame.width},
                       list.count | list.high_width << 16, list_words(&list, value_bytes));
    }
    return lane_lists_finish(&writer);
}

CODEC_ENCODE_BOTH

static bool list_valid(const struct chunk_view *chunk, uint32_t tile, uint64_t words)
{
    const uint32_t *const entry = lane_list_entry(chunk, tile);
    const uint32_t width = lane_tile_read(chunk->directory, tile, chunk->value_bytes).width;
    struct patches list = {.count = entry[1] & 0xffff,
                           .position_width = POSITION_WIDTH,
                           .high_width = entry[1] >> 16,
                           .shift = width};
    if (!patches_numbers_valid(&list, chunk->value_bytes) ||
        entry[0] + (uint64_t)list_words(&list, chunk->value_bytes) > words)
        return false;
    list = list_at(chunk, tile, width);
    return patches_positions_valid(&list);
}

static bool valid(const struct chunk_view *chunk)
{
    return lane_lists_valid(chunk, list_valid);
}

FORCED_INLINE void decode_values(const struct chunk_view *chunk, uint32_t tile, const uint32_t value_bytes,
                                 void *out)
{
    const struct lane_tile entry = lane_tile_read(chunk->directory, tile, value_bytes);
    const struct patches list = list_at(chunk, tile, entry.width);
    lanes_unpack(lane_tile_lines(chunk, &entry), TILE_LANES, value_bytes, entry.reference, entry.width, out);
    patches_apply(&list, value_bytes, out);
}

CODEC_DECODE_BOTH

static int64_t value(const struct chunk_view *chunk, uint32_t row)
{
    const uint32_t tile = row / TILE_ROWS, in_tile = row % TILE_ROWS;
    const struct lane_tile entry = lane_tile_read(chunk->directory, tile, chunk->value_bytes);
    const struct patches list = list_at(chunk, tile, entry.width);
    const uint64_t low =
        lanes_fetch(lane_tile_lines(chunk, &entry), in_tile / TILE_LANES, in_tile % TILE_LANES, entry.width);
    return chunk_value(low + patches_find(&list, in_tile) + (uint64_t)entry.reference, chunk->value_bytes);
}

static void fetch(const struct chunk_view *chunk, uint32_t tile, const uint16_t *rows, uint32_t count,
                  int32_t *out)
{
    const struct lane_tile entry = lane_tile_read(chunk->directory, tile, 4);
    const struct patches list = list_at(chunk, tile, entry.width);
    const uint32_t *const lines = lane_tile_lines(chunk, &entry);
    for (uint32_t i = 0; i < count; i++) {
        const uint32_t row = rows[i];
        const uint64_t low = lanes_fetch_narrow(lines, row / TILE_LANES, row % TILE_LANES, entry.width);
        out[row] = (int32_t)(uint32_t)(low + patches_find(&list, row) + (uint64_t)entry.reference);
    }
}

const struct codec ISA(codec_lane_pfor) = {
    .id = CODEC_LANE_PFOR,
    .name = "lane-pfor",
    .family = "lane",
    .summary = "lane-for at the width of the fewest bytes, and a list of outliers",
    .choosers = 0,
    .random_access = true,
    .holds_int64 = true,
    .decode_cycles = 0.2,
    .gpu = {.header = "operators/decode/lane_pfor_cuda.h",
            .decoder = "decode_lane_pfor",
            .random_access = true,
            .scratch_bytes = 1280,
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
    .fetch_rows = 8,
    .fetch = fetch,
};
