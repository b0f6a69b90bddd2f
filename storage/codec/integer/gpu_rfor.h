/*
 * gpu_rfor.h: chunks of gpu-rfor: run-length encoding within 512 values, as published (Shanbhag et al., SIGMOD
 * 2022, section 6). rle-for-bp has the same bytes.
 *
 *     directory    word value_starts[blocks + 1], word run_starts[blocks + 1], in words; the last of each is
 *                  the stream's end; blocks = tiles * 2
 *     data         a block of run values per 512 rows; then SPARE_BYTES zeros
 *     auxiliary    a block of run lengths per 512 rows; then SPARE_BYTES zeros
 *
 * A block of either stream:
 *
 *     reference    1 word (values of an int64 chunk: 2 words, low first): the least value, the least length
 *     width        1 word: the width in each of its four bytes
 *     count        1 word: the number of runs, the same in both streams, 1 .. 512
 *     packed       max(1, ceil(count * width / 32)) words: item i - reference at bits
 *                  [i*width, i*width + width)
 *
 * The lengths of a block add up to 512; rows after the chunk's last row belong to the last run.
 */
#ifndef TESSERA_STORAGE_CODEC_INTEGER_GPU_RFOR_H
#define TESSERA_STORAGE_CODEC_INTEGER_GPU_RFOR_H

#include "storage/codec/integer/bitpack.h"
#include "storage/codec/integer/runs.h"

#define RUN_ROWS            512u
#define RUN_BLOCKS_PER_TILE (TILE_ROWS / RUN_ROWS)
#define SAME_FOUR_WIDTHS    0x01010101u
#define LENGTH_WIDTH_LIMIT  9u /* lengths are 1 .. 512, so they differ by at most 511 */

FORCED_INLINE uint32_t stream_header_words(const uint32_t value_bytes)
{
    return value_bytes / 4 + 2;
}

FORCED_INLINE uint32_t stream_packed_words(uint32_t count, uint32_t width)
{
    const uint32_t words = bits_words(count, width);
    return words ? words : 1;
}

static inline uint32_t block_count(uint32_t rows)
{
    return chunk_tiles(rows) * RUN_BLOCKS_PER_TILE;
}

static inline uint64_t directory_bytes(uint32_t rows)
{
    return ((uint64_t)block_count(rows) + 1) * 2 * 4;
}

/* The most bytes of the stream of values, or of the stream of lengths with their width. */
static inline uint64_t stream_bound(uint32_t rows, uint32_t value_bytes, uint32_t width)
{
    return (uint64_t)block_count(rows) *
               (stream_header_words(value_bytes) + stream_packed_words(RUN_ROWS, width)) * 4 +
           SPARE_BYTES;
}

static inline size_t gpu_rfor_bound(uint32_t rows, uint32_t value_bytes)
{
    return chunk_size(directory_bytes(rows), stream_bound(rows, value_bytes, value_bytes * 8),
                      stream_bound(rows, 4, LENGTH_WIDTH_LIMIT));
}

FORCED_INLINE uint32_t stream_encode(const void *items, uint32_t count, const uint32_t value_bytes,
                                     uint32_t *words, uint32_t *width)
{
    int64_t low, high;
    values_range(items, count, value_bytes, &low, &high);
    *width = width_of((uint64_t)high - (uint64_t)low);
    memcpy(words, &low, value_bytes);
    words[value_bytes / 4] = *width * SAME_FOUR_WIDTHS;
    words[value_bytes / 4 + 1] = count;
    words += stream_header_words(value_bytes);
    *words = 0;
    bits_pack(items, count, value_bytes, low, *width, words);
    return stream_header_words(value_bytes) + stream_packed_words(count, *width);
}

/* The lengths are written after the greatest size of the values, and moved down when the end of the values is
 * known. */
FORCED_INLINE size_t gpu_rfor_encode_values(enum codec_id codec, const void *values, uint32_t rows,
                                            const uint32_t value_bytes, uint8_t *out)
{
    _Alignas(64) int64_t last[TILE_ROWS], run_values[RUN_ROWS];
    uint32_t lengths[RUN_ROWS];
    struct width_range widths = {UINT32_MAX, 0};
    const uint32_t blocks = block_count(rows);
    const uint64_t value_bound = stream_bound(rows, value_bytes, value_bytes * 8);
    uint32_t *const value_starts = (uint32_t *)chunk_directory(out), *const run_starts =
                                                                         value_starts + blocks + 1;
    uint32_t *const data = (uint32_t *)chunk_data(out, directory_bytes(rows));
    uint32_t *const runs = (uint32_t *)chunk_auxiliary(out, directory_bytes(rows), value_bound);
    uint32_t value_at = 0, run_at = 0, width;
    for (uint32_t block = 0; block < blocks; block++) {
        const uint32_t tile = block / RUN_BLOCKS_PER_TILE;
        const uint8_t *const v = (const uint8_t *)chunk_tile_values(values, rows, value_bytes, tile, last) +
                                 block % RUN_BLOCKS_PER_TILE * RUN_ROWS * value_bytes;
        const uint32_t count = runs_take(v, RUN_ROWS, value_bytes, run_values, lengths);
        value_starts[block] = value_at;
        run_starts[block] = run_at;
        run_at += stream_encode(lengths, count, 4, runs + run_at, &width);
        value_at += stream_encode(run_values, count, value_bytes, data + value_at, &width);
        width_range_add(&widths, width);
    }
    value_starts[blocks] = value_at;
    run_starts[blocks] = run_at;
    memset(data + value_at, 0, SPARE_BYTES);
    memset(runs + run_at, 0, SPARE_BYTES);
    const struct chunk_header header = {.codec = codec,
                                        .rows = rows,
                                        .value_bytes = value_bytes,
                                        .width_low = widths.low,
                                        .width_high = widths.high,
                                        .directory_bytes = directory_bytes(rows),
                                        .data_bytes = (uint64_t)value_at * 4 + SPARE_BYTES,
                                        .auxiliary_bytes = (uint64_t)run_at * 4 + SPARE_BYTES};
    memmove(chunk_auxiliary(out, header.directory_bytes, header.data_bytes), runs, header.auxiliary_bytes);
    return chunk_finish(out, header);
}

static inline size_t gpu_rfor_encode(enum codec_id codec, const void *values, uint32_t rows,
                                     uint32_t value_bytes, uint8_t *out)
{
    return value_bytes == 4 ? gpu_rfor_encode_values(codec, values, rows, 4, out)
                            : gpu_rfor_encode_values(codec, values, rows, 8, out);
}

struct stream_block {
    int64_t reference;
    uint32_t width, count;
    const uint32_t *packed;
};

FORCED_INLINE struct stream_block stream_block_at(const uint8_t *stream, uint32_t start,
                                                  const uint32_t value_bytes)
{
    const uint32_t *const words = (const uint32_t *)stream + start;
    return (struct stream_block){.reference = load_value(words, value_bytes),
                                 .width = words[value_bytes / 4] & 255,
                                 .count = words[value_bytes / 4 + 1],
                                 .packed = words + stream_header_words(value_bytes)};
}

/* Checks the block that must begin at word *at of a stream of `end` words, and moves *at to its end. */
static inline bool stream_block_valid(const uint8_t *stream, uint32_t start, uint64_t end,
                                      uint32_t value_bytes, uint32_t width_limit, uint64_t *at,
                                      struct stream_block *block)
{
    if (start != *at || *at + stream_header_words(value_bytes) > end)
        return false;
    *block = stream_block_at(stream, start, value_bytes);
    if (((const uint32_t *)stream)[start + value_bytes / 4] != block->width * SAME_FOUR_WIDTHS ||
        block->width > width_limit || block->count < 1 || block->count > RUN_ROWS)
        return false;
    *at += stream_header_words(value_bytes) + stream_packed_words(block->count, block->width);
    return *at <= end;
}

static inline bool lengths_valid(const struct stream_block *runs)
{
    _Alignas(64) uint32_t lengths[RUN_ROWS];
    if (runs->reference < 1 || runs->reference > RUN_ROWS)
        return false;
    bits_unpack_narrow(runs->packed, runs->count, runs->width, (uint32_t)runs->reference, lengths);
    uint32_t rows = 0;
    for (uint32_t i = 0; i < runs->count; i++)
        rows += lengths[i];
    return rows == RUN_ROWS;
}

static inline bool gpu_rfor_valid(const struct chunk_view *chunk)
{
    const struct chunk_header *const header = chunk_head(chunk);
    if (header->directory_bytes != directory_bytes(chunk->rows) || header->data_bytes < SPARE_BYTES ||
        header->auxiliary_bytes < SPARE_BYTES)
        return false;
    const uint32_t blocks = block_count(chunk->rows);
    const uint32_t *const value_starts = (const uint32_t *)chunk->directory;
    const uint32_t *const run_starts = value_starts + blocks + 1;
    const uint64_t value_end = (header->data_bytes - SPARE_BYTES) / 4;
    const uint64_t run_end = (header->auxiliary_bytes - SPARE_BYTES) / 4;
    struct width_range widths = {UINT32_MAX, 0};
    uint64_t value_at = 0, run_at = 0;
    for (uint32_t block = 0; block < blocks; block++) {
        struct stream_block values, runs;
        if (!stream_block_valid(chunk->data, value_starts[block], value_end, chunk->value_bytes,
                                chunk->value_bytes * 8, &value_at, &values) ||
            !stream_block_valid(chunk->auxiliary, run_starts[block], run_end, 4, LENGTH_WIDTH_LIMIT, &run_at,
                                &runs) ||
            values.count != runs.count || !lengths_valid(&runs))
            return false;
        width_range_add(&widths, values.width);
    }
    return value_starts[blocks] == value_at && run_starts[blocks] == run_at &&
           header->data_bytes == value_at * 4 + SPARE_BYTES &&
           header->auxiliary_bytes == run_at * 4 + SPARE_BYTES && width_range_matches(&widths, chunk);
}

FORCED_INLINE void runs_expand(const uint32_t *lengths, const void *run_values, uint32_t count,
                               const uint32_t value_bytes, void *out)
{
    uint32_t row = 0;
#if defined(__AVX2__)
    if (value_bytes == 4) {
        uint8_t marks[RUN_ROWS] = {0};
        for (uint32_t run = 0; run < count; run++) {
            marks[row] = 1;
            row += lengths[run];
        }
        const uint32_t *next = run_values;
        for (row = 0; row < RUN_ROWS; row += 8)
            next = ranks_expand(load_u64(marks + row), next, (uint32_t *)out + row);
        return;
    }
#endif
    for (uint32_t run = 0; run < count; run++) {
        run_fill(out, RUN_ROWS, value_bytes, row, row + lengths[run], run_values, run);
        row += lengths[run];
    }
}

FORCED_INLINE void block_decode(const struct chunk_view *chunk, uint32_t block, const uint32_t value_bytes,
                                void *out)
{
    _Alignas(64) int64_t run_values[RUN_ROWS + RANKS_SPARE];
    _Alignas(64) uint32_t lengths[RUN_ROWS];
    const uint32_t *const value_starts = (const uint32_t *)chunk->directory;
    const uint32_t *const run_starts = value_starts + block_count(chunk->rows) + 1;
    const struct stream_block values = stream_block_at(chunk->data, value_starts[block], value_bytes);
    const struct stream_block runs = stream_block_at(chunk->auxiliary, run_starts[block], 4);
    bits_unpack(values.packed, values.count, value_bytes, values.width, values.reference, run_values);
    bits_unpack_narrow(runs.packed, runs.count, runs.width, (uint32_t)runs.reference, lengths);
    runs_expand(lengths, run_values, runs.count, value_bytes, out);
}

static inline const uint8_t *gpu_rfor_tile_span(const struct chunk_view *chunk, uint32_t tile,
                                                uint32_t *bytes)
{
    const uint32_t *const starts = (const uint32_t *)chunk->directory + tile * RUN_BLOCKS_PER_TILE;
    *bytes = (starts[RUN_BLOCKS_PER_TILE] - starts[0]) * 4;
    return chunk->data + starts[0] * UINT64_C(4);
}

static inline void gpu_rfor_decode_tile(const struct chunk_view *chunk, uint32_t tile, void *out)
{
    for (uint32_t half = 0; half < RUN_BLOCKS_PER_TILE; half++)
        if (chunk->value_bytes == 4)
            block_decode(chunk, tile * RUN_BLOCKS_PER_TILE + half, 4, (uint32_t *)out + half * RUN_ROWS);
        else
            block_decode(chunk, tile * RUN_BLOCKS_PER_TILE + half, 8, (uint64_t *)out + half * RUN_ROWS);
}

static inline int64_t gpu_rfor_value(const struct chunk_view *chunk, uint32_t row)
{
    _Alignas(64) int64_t block[RUN_ROWS];
    if (chunk->value_bytes == 4)
        block_decode(chunk, row / RUN_ROWS, 4, block);
    else
        block_decode(chunk, row / RUN_ROWS, 8, block);
    return load_value((const uint8_t *)block + row % RUN_ROWS * chunk->value_bytes, chunk->value_bytes);
}

/* codec.gpu.detail: the place of the second list of starts. */
static inline uint64_t gpu_rfor_detail(const struct chunk_view *chunk)
{
    return block_count(chunk->rows);
}

#endif
