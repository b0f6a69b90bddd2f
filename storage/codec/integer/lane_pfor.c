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

#define LIST_ENTRY_BYTES 8u

static uint64_t directory_bytes(uint64_t tiles, uint32_t value_bytes)
{
    return tiles * (lane_tile_entry_bytes(value_bytes) + LIST_ENTRY_BYTES);
}

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

/* A tile takes no more bytes than its values, in lines or in its list. */
static size_t bound(uint32_t rows, uint32_t value_bytes)
{
    const uint64_t tiles = chunk_tiles(rows), most = tiles * TILE_ROWS * value_bytes;
    return chunk_size(directory_bytes(tiles, value_bytes), most + LANE_SPARE_BYTES, most + SPARE_BYTES);
}

/* The entries of lists, after those of lines. */
FORCED_INLINE const uint32_t *list_entry(const struct chunk_view *chunk, uint32_t tile)
{
    return (const uint32_t *)(chunk->directory + chunk->tiles * lane_tile_entry_bytes(chunk->value_bytes)) +
           tile * (LIST_ENTRY_BYTES / 4);
}

FORCED_INLINE struct patches list_at(const struct chunk_view *chunk, uint32_t tile, uint32_t width)
{
    const uint32_t *const entry = list_entry(chunk, tile);
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

/* The lists are written after the greatest size of the lines, and moved down when the lines' end is known. */
FORCED_INLINE size_t encode_values(const void *values, uint32_t rows, const uint32_t value_bytes,
                                   uint8_t *out)
{
    _Alignas(64) int64_t last[TILE_ROWS];
    struct frame_parts parts;
    const uint32_t tiles = chunk_tiles(rows);
    struct chunk_header header = {.codec = CODEC_LANE_PFOR,
                                  .rows = rows,
                                  .value_bytes = value_bytes,
                                  .directory_bytes = directory_bytes(tiles, value_bytes)};
    const uint64_t most = (uint64_t)tiles * TILE_ROWS * value_bytes + LANE_SPARE_BYTES;
    struct width_range widths = {UINT32_MAX, 0};
    uint32_t *entry = (uint32_t *)(chunk_directory(out) + tiles * lane_tile_entry_bytes(value_bytes));
    uint8_t *const data = chunk_data(out, header.directory_bytes);
    uint32_t *const lists = (uint32_t *)chunk_auxiliary(out, header.directory_bytes, most);
    uint64_t at = 0;
    uint32_t list_at = 0;
    for (uint32_t tile = 0; tile < tiles; tile++) {
        const void *const v = tile_values(values, rows, value_bytes, tile, (uint8_t *)last);
        const struct frame frame = frame_choose(v, value_bytes);
        const struct patches list = list_of(&frame);
        frame_divide(v, value_bytes, &frame, &parts);
        width_range_add(&widths, frame.width);
        lane_tile_write(chunk_directory(out), tile, value_bytes,
                        (struct lane_tile){.start = at / CODEC_START_BYTES,
                                           .reference = frame.reference,
                                           .width = frame.width});
        lanes_pack(parts.codes, TILE_LANES, value_bytes, 0, frame.width, (uint32_t *)(data + at));
        at += frame.width * UINT64_C(128);
        *entry++ = list_at;
        *entry++ = list.count | list.high_width << 16;
        if (list.count) {
            memcpy(lists + list_at, &list.high, value_bytes);
            patches_pack(&list, &parts, lists + list_at + value_bytes / 4);
        }
        list_at += list_words(&list, value_bytes);
    }
    memset(data + at, 0, LANE_SPARE_BYTES);
    memset(lists + list_at, 0, SPARE_BYTES);
    header.width_low = widths.low;
    header.width_high = widths.high;
    header.data_bytes = at + LANE_SPARE_BYTES;
    header.auxiliary_bytes = (uint64_t)list_at * 4 + SPARE_BYTES;
    memmove(chunk_auxiliary(out, header.directory_bytes, header.data_bytes), lists, header.auxiliary_bytes);
    return chunk_finish(out, header);
}

static size_t encode(const struct codec_input *input, uint8_t *out)
{
    return input->value_bytes == 4 ? encode_values(input->values, input->rows, 4, out)
                                   : encode_values(input->values, input->rows, 8, out);
}

static bool list_valid(const struct chunk_view *chunk, uint32_t tile, uint64_t words)
{
    const uint32_t *const entry = list_entry(chunk, tile);
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
    const struct chunk_header *const header = chunk_head(chunk);
    if (header->directory_bytes != directory_bytes(chunk->tiles, chunk->value_bytes) ||
        header->auxiliary_bytes < SPARE_BYTES || !lane_tiles_lines_valid(chunk))
        return false;
    for (uint32_t tile = 0; tile < chunk->tiles; tile++)
        if (!list_valid(chunk, tile, (header->auxiliary_bytes - SPARE_BYTES) / 4))
            return false;
    return true;
}

FORCED_INLINE void decode_values(const struct chunk_view *chunk, uint32_t tile, const uint32_t value_bytes,
                                 void *out)
{
    const struct lane_tile entry = lane_tile_read(chunk->directory, tile, value_bytes);
    const struct patches list = list_at(chunk, tile, entry.width);
    lanes_unpack(lane_tile_lines(chunk, &entry), TILE_LANES, value_bytes, entry.reference, entry.width, out);
    patches_apply(&list, value_bytes, out);
}

static void decode_tile(const struct chunk_view *chunk, uint32_t tile, void *out)
{
    if (chunk->value_bytes == 4)
        decode_values(chunk, tile, 4, out);
    else
        decode_values(chunk, tile, 8, out);
}

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

/* codec.gpu.detail: where the lists' entries begin in the directory, in bytes. */
static uint64_t gpu_detail(const struct chunk_view *chunk)
{
    return chunk->tiles * lane_tile_entry_bytes(chunk->value_bytes);
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
            .detail = gpu_detail},
    .bound = bound,
    .encode = encode,
    .valid = valid,
    .tile_span = lane_tiles_span,
    .decode_tile = decode_tile,
    .value = value,
    .fetch_rows = 8,
    .fetch = fetch,
};
