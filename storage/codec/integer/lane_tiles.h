/*
 * lane_tiles.h: what lane-for and lane-slice share: a reference per tile of 1024, and `width` lines of 32
 * words with value - reference. The two differ only in the order of the bits in the lines.
 *
 *     directory, int32, 8 bytes a tile      word 0: start | width << 26    word 1: reference
 *     directory, int64, 16 bytes a tile     word 0: start  word 1: width   words 2, 3: reference
 *     data                                  each tile: `width` lines of 32 words; then LANE_SPARE_BYTES zeros
 *
 * A tile begins `start` * 32 bytes into data. A start has 26 bits, which is 2 GiB of data; 2^24 int32 need 64
 * MiB. The two codecs and the readers of their lines include this file; its functions are called once a tile.
 * lane-pfor and alp also have a list of exceptions for each tile, which is the last part of this file.
 */
#ifndef TESSERA_STORAGE_CODEC_INTEGER_LANE_TILES_H
#define TESSERA_STORAGE_CODEC_INTEGER_LANE_TILES_H

#include "storage/codec/integer/bitpack.h"
#include "storage/codec/integer/lane_widths.h"

#include <stdio.h>

/* A tile's entry in the directory. */
struct lane_tile {
    uint64_t start;    /* in units of CODEC_START_BYTES */
    int64_t reference; /* the least value of the tile, or 0 if that needs no wider lines */
    uint32_t width;
};

FORCED_INLINE uint64_t lane_tile_entry_bytes(const uint32_t value_bytes)
{
    return value_bytes == 4 ? 8 : 16;
}

FORCED_INLINE struct lane_tile lane_tile_read(const uint8_t *directory, uint32_t tile,
                                              const uint32_t value_bytes)
{
    const uint8_t *const at = directory + tile * lane_tile_entry_bytes(value_bytes);
    const uint32_t word = load_u32(at);
    if (value_bytes == 4)
        return (struct lane_tile){
            .start = word & 0x3ffffffu, .width = word >> 26, .reference = load_value(at + 4, 4)};
    return (struct lane_tile){.start = word, .width = load_u32(at + 4), .reference = load_value(at + 8, 8)};
}

FORCED_INLINE void lane_tile_write(uint8_t *directory, uint32_t tile, const uint32_t value_bytes,
                                   struct lane_tile entry)
{
    uint32_t *const words = (uint32_t *)(directory + tile * lane_tile_entry_bytes(value_bytes));
    if (value_bytes == 4) {
        words[0] = (uint32_t)entry.start | entry.width << 26;
        words[1] = (uint32_t)entry.reference;
    } else {
        words[0] = (uint32_t)entry.start;
        words[1] = entry.width;
        memcpy(words + 2, &entry.reference, sizeof entry.reference);
    }
}

/* The tile's first line. */
FORCED_INLINE const uint32_t *lane_tile_lines(const struct chunk_view *chunk, const struct lane_tile *entry)
{
    return (const uint32_t *)(chunk->data + entry->start * CODEC_START_BYTES);
}

/* codec.tile_span */
static inline const uint8_t *lane_tiles_span(const struct chunk_view *chunk, uint32_t tile, uint32_t *bytes)
{
    const struct lane_tile entry = chunk->value_bytes == 4 ? lane_tile_read(chunk->directory, tile, 4)
                                                           : lane_tile_read(chunk->directory, tile, 8);
    *bytes = entry.width * TILE_LANES * 4;
    return (const uint8_t *)lane_tile_lines(chunk, &entry);
}

/* codec.gpu.cut */
static inline void lane_tiles_cut(const struct chunk_view *chunk, uint32_t first, uint32_t tiles,
                                  struct chunk_part parts[3])
{
    chunk_cut_tiles(chunk, first, tiles, 0, lane_tile_entry_bytes(chunk->value_bytes), parts);
}

/* codec.bound */
static inline size_t lane_tiles_bound(uint32_t rows, uint32_t value_bytes)
{
    const uint64_t tiles = chunk_tiles(rows);
    return chunk_size(tiles * lane_tile_entry_bytes(value_bytes),
                      tiles * TILE_ROWS * value_bytes + LANE_SPARE_BYTES, 0);
}

/* Writes the 1024 values of a tile, minus the reference, into `width` lines. */
typedef void lane_tile_pack(const void *values, uint32_t value_bytes, int64_t reference, unsigned width,
                            uint32_t *lines);

/* codec.encode */
static inline size_t lane_tiles_encode(enum codec_id id, const void *values, uint32_t rows,
                                       uint32_t value_bytes, lane_tile_pack *pack, uint8_t *out)
{
    _Alignas(64) int64_t last[TILE_ROWS];
    const uint64_t directory_bytes = chunk_tiles(rows) * lane_tile_entry_bytes(value_bytes);
    struct width_range widths = {UINT32_MAX, 0};
    uint8_t *const directory = chunk_directory(out);
    uint8_t *const data = chunk_data(out, directory_bytes);
    uint64_t at = 0;
    for (uint32_t tile = 0; tile < chunk_tiles(rows); tile++) {
        const void *const v = chunk_tile_values(values, rows, value_bytes, tile, last);
        int64_t low, high;
        values_range(v, TILE_ROWS, value_bytes, &low, &high);
        const uint32_t width = width_of((uint64_t)high - (uint64_t)low);
        if (low > 0 && width_of((uint64_t)high) == width)
            low = 0; /* needs no bit more; GPU kernels save an addition a row if all references are 0 */
        width_range_add(&widths, width);
        lane_tile_write(
            directory, tile, value_bytes,
            (struct lane_tile){.start = at / CODEC_START_BYTES, .reference = low, .width = width});
        pack(v, value_bytes, low, width, (uint32_t *)(data + at));
        at += (uint64_t)width * TILE_LANES * 4;
    }
    return chunk_finish_packed(out, id, rows, value_bytes, widths, directory_bytes, at, LANE_SPARE_BYTES);
}

/* Whether all lines are in the data, and their widths are the header's; the directory has the tiles' entries.
 */
static inline bool lane_tiles_lines_valid(const struct chunk_view *chunk)
{
    const uint64_t data_bytes = chunk_head(chunk)->data_bytes;
    const uint32_t width_limit = chunk->value_bytes * 8;
    if (data_bytes < LANE_SPARE_BYTES)
        return false;
    struct width_range widths = {UINT32_MAX, 0};
    for (uint32_t tile = 0; tile < chunk->tiles; tile++) {
        const struct lane_tile entry = lane_tile_read(chunk->directory, tile, chunk->value_bytes);
        if (entry.width > width_limit ||
            entry.start * CODEC_START_BYTES + entry.width * TILE_LANES * 4 > data_bytes - LANE_SPARE_BYTES)
            return false;
        width_range_add(&widths, entry.width);
    }
    return width_range_matches(&widths, chunk);
}

/* codec.valid */
static inline bool lane_tiles_valid(const struct chunk_view *chunk)
{
    return chunk_head(chunk)->directory_bytes == chunk->tiles * lane_tile_entry_bytes(chunk->value_bytes) &&
           lane_tiles_lines_valid(chunk);
}

/* codec.gpu.regular: tiles have no gaps, and all references are 0. */
static inline bool lane_tiles_regular(const struct chunk_view *chunk)
{
    for (uint32_t tile = 0; tile < chunk->tiles; tile++) {
        const struct lane_tile entry = lane_tile_read(chunk->directory, tile, 4);
        if (entry.start != tile * chunk->width_low * (CHUNK_ALIGNMENT / CODEC_START_BYTES) ||
            entry.reference != 0)
            return false;
    }
    return true;
}

/* codec.gpu.arguments: the narrowest width, the widest width, and whether directories need not be read.
 * Decoders of int64 accept any width. */
static inline void lane_tiles_arguments(const struct codec_shape *shape, char *text, size_t bytes)
{
    if (shape->value_bytes == 8)
        text[0] = '\0';
    else
        snprintf(text, bytes, ", %u, %u, %s", shape->width_low, shape->width_high,
                 shape->regular ? "true" : "false");
}

/* codec.gpu.lines of decoders that keep a column's lines in registers if it has few widths */
static inline uint32_t lane_tiles_few_widths(const struct codec_shape *shape)
{
    return shape->width_high - shape->width_low < LANE_WIDTHS_MAX ? shape->width_high : 0;
}

/* ---- Lists: a tile of lane-pfor and alp also has a list of exceptions in auxiliary ---- */

/* Entries of lists come after those of lines. Their word 0 is where the list begins in auxiliary, in words; the codec
 * says what word 1 is. */
#define LIST_ENTRY_BYTES 8u

static inline uint64_t lane_lists_directory_bytes(uint64_t tiles, uint32_t value_bytes)
{
    return tiles * (lane_tile_entry_bytes(value_bytes) + LIST_ENTRY_BYTES);
}

FORCED_INLINE const uint32_t *lane_list_entry(const struct chunk_view *chunk, uint32_t tile)
{
    return (const uint32_t *)(chunk->directory + chunk->tiles * lane_tile_entry_bytes(chunk->value_bytes)) +
           tile * (LIST_ENTRY_BYTES / 4);
}

/* codec.bound: a tile takes no more bytes than its values, in lines or in its list */
static inline size_t lane_lists_bound(uint32_t rows, uint32_t value_bytes)
{
    const uint64_t tiles = chunk_tiles(rows), most = tiles * TILE_ROWS * value_bytes;
    return chunk_size(lane_lists_directory_bytes(tiles, value_bytes), most + LANE_SPARE_BYTES,
                      most + SPARE_BYTES);
}

/* A chunk that is written tile by tile. Its lists lie after the greatest size of the lines until all are known. */
struct lane_lists_writer {
    struct chunk_header header;
    struct width_range widths;
    uint8_t *out, *data; /* data: of the lines */
    uint64_t at;         /* bytes of the lines so far */
    uint32_t *entry;     /* of the next list */
    uint32_t *lists, list_at;
};

static inline struct lane_lists_writer lane_lists_begin(enum codec_id id, uint32_t rows, uint32_t value_bytes,
                                                        uint8_t *out)
{
    const uint64_t tiles = chunk_tiles(rows), most = tiles * TILE_ROWS * value_bytes + LANE_SPARE_BYTES;
    const uint64_t directory = lane_lists_directory_bytes(tiles, value_bytes);
    return (struct lane_lists_writer){
        .header = {.codec = id, .rows = rows, .value_bytes = value_bytes, .directory_bytes = directory},
        .widths = {UINT32_MAX, 0},
        .out = out,
        .data = chunk_data(out, directory),
        .entry = (uint32_t *)(chunk_directory(out) + tiles * lane_tile_entry_bytes(value_bytes)),
        .lists = (uint32_t *)chunk_auxiliary(out, directory, most)};
}

#ifdef TESSERA_ISA
/* Writes a tile's lines, of `items` minus the reference, and its list's entry; the list itself, of `words` words, is at
 * writer->lists + writer->list_at. */
FORCED_INLINE void lane_lists_add(struct lane_lists_writer *writer, uint32_t tile, const void *items,
                                  const uint32_t value_bytes, int64_t subtract, struct lane_tile entry,
                                  uint32_t word, uint32_t words)
{
    entry.start = writer->at / CODEC_START_BYTES;
    width_range_add(&writer->widths, entry.width);
    lane_tile_write(chunk_directory(writer->out), tile, value_bytes, entry);
    lanes_pack(items, TILE_LANES, value_bytes, subtract, entry.width,
               (uint32_t *)(writer->data + writer->at));
    writer->at += entry.width * UINT64_C(128);
    *writer->entry++ = writer->list_at;
    *writer->entry++ = word;
    writer->list_at += words;
}
#endif

/* Moves the lists to the end of the lines. Returns the chunk's bytes. */
static inline size_t lane_lists_finish(struct lane_lists_writer *writer)
{
    struct chunk_header header = writer->header;
    memset(writer->data + writer->at, 0, LANE_SPARE_BYTES);
    memset(writer->lists + writer->list_at, 0, SPARE_BYTES);
    header.width_low = writer->widths.low;
    header.width_high = writer->widths.high;
    header.data_bytes = writer->at + LANE_SPARE_BYTES;
    header.auxiliary_bytes = (uint64_t)writer->list_at * 4 + SPARE_BYTES;
    memmove(chunk_auxiliary(writer->out, header.directory_bytes, header.data_bytes), writer->lists,
            header.auxiliary_bytes);
    return chunk_finish(writer->out, header);
}

/* Whether a tile's list is in the first `words` words of auxiliary, and is one. */
typedef bool lane_list_valid(const struct chunk_view *chunk, uint32_t tile, uint64_t words);

/* codec.valid */
static inline bool lane_lists_valid(const struct chunk_view *chunk, lane_list_valid *list_valid)
{
    const struct chunk_header *const header = chunk_head(chunk);
    if (header->directory_bytes != lane_lists_directory_bytes(chunk->tiles, chunk->value_bytes) ||
        header->auxiliary_bytes < SPARE_BYTES || !lane_tiles_lines_valid(chunk))
        return false;
    for (uint32_t tile = 0; tile < chunk->tiles; tile++)
        if (!list_valid(chunk, tile, (header->auxiliary_bytes - SPARE_BYTES) / 4))
            return false;
    return true;
}

/* codec.gpu.detail: where the lists' entries begin in the directory, in bytes. */
static inline uint64_t lane_lists_gpu_detail(const struct chunk_view *chunk)
{
    return chunk->tiles * lane_tile_entry_bytes(chunk->value_bytes);
}

#endif
