/*
 * gpu_for_block.c: gpu-for-block: GPU-FOR without miniblocks, one width for 128 values (Shanbhag et al.,
 * SIGMOD 2022, section 4.3, "Bit-packing without Miniblocks").
 *
 *     directory    word starts[blocks + 1]: where each block begins in data, in words; blocks = tiles * 8
 *     data         the blocks, one after the other; starts[blocks] is their end; then SPARE_BYTES zeros
 *
 * A block:
 *
 *     reference    1 word (int64: 2 words, low first): the least value
 *     width        1 word
 *     packed       128 values, value k at bits [k*width, k*width + width); 4 * width words
 *
 * So the word for four widths has one. As gpu-for's encoder gives all miniblocks the same width, both codecs
 * take the same space, except that width 0 takes no word here and four there. What is saved is the sum over
 * miniblocks in front of a value.
 */
#include "storage/base/isa.h"
#include "storage/codec/integer/gpu_block.h"

FORCED_INLINE uint32_t packed_words(uint32_t width)
{
    return BLOCK_ROWS / 32 * width;
}

static size_t bound(uint32_t rows, uint32_t value_bytes)
{
    const uint64_t blocks = (uint64_t)chunk_tiles(rows) * BLOCKS_PER_TILE;
    return chunk_size(blocks_directory_bytes(rows), blocks * block_words_bound(value_bytes) * 4 + SPARE_BYTES,
                      0);
}

/* Encodes 128 values; returns the words written. */
FORCED_INLINE uint32_t single_encode(const void *values, const uint32_t value_bytes, uint32_t *words,
                                     struct width_range *widths)
{
    int64_t low, high;
    values_range(values, BLOCK_ROWS, value_bytes, &low, &high);
    const uint32_t width = width_of((uint64_t)high - (uint64_t)low);
    width_range_add(widths, width);
    memcpy(words, &low, value_bytes);
    words[value_words(value_bytes)] = width;
    bits_pack(values, BLOCK_ROWS, value_bytes, low, width, words + block_header_words(value_bytes));
    return block_header_words(value_bytes) + packed_words(width);
}

FORCED_INLINE size_t encode_values(const void *values, uint32_t rows, const uint32_t value_bytes,
                                   uint8_t *out)
{
    _Alignas(64) int64_t last[TILE_ROWS];
    struct width_range widths = {UINT32_MAX, 0};
    uint32_t *starts = (uint32_t *)chunk_directory(out);
    uint32_t *const words = (uint32_t *)chunk_data(out, blocks_directory_bytes(rows));
    uint32_t at = 0;
    for (uint32_t tile = 0; tile < chunk_tiles(rows); tile++) {
        const uint8_t *const v = chunk_tile_values(values, rows, value_bytes, tile, last);
        for (uint32_t block = 0; block < BLOCKS_PER_TILE; block++) {
            *starts++ = at;
            at += single_encode(v + block * BLOCK_ROWS * value_bytes, value_bytes, words + at, &widths);
        }
    }
    *starts = at;
    return blocks_finish(out, CODEC_GPU_FOR_BLOCK, rows, value_bytes, widths, at);
}

CODEC_ENCODE_BOTH

/* The blocks must follow each other without gaps and fill the data. */
static bool valid(const struct chunk_view *chunk)
{
    const uint64_t data_bytes = chunk_head(chunk)->data_bytes;
    if (chunk_head(chunk)->directory_bytes != blocks_directory_bytes(chunk->rows) || data_bytes < SPARE_BYTES)
        return false;
    const uint32_t *const starts = (const uint32_t *)chunk->directory;
    const uint32_t blocks = chunk->tiles * BLOCKS_PER_TILE;
    const uint64_t end = (data_bytes - SPARE_BYTES) / 4;
    uint64_t at = 0;
    struct width_range widths = {UINT32_MAX, 0};
    for (uint32_t block = 0; block < blocks; block++) {
        if (starts[block] != at || at + block_header_words(chunk->value_bytes) > end)
            return false;
        const uint32_t width = block_at(chunk, block)[value_words(chunk->value_bytes)];
        if (width > chunk->value_bytes * 8)
            return false;
        width_range_add(&widths, width);
        at += block_header_words(chunk->value_bytes) + packed_words(width);
    }
    return starts[blocks] == at && data_bytes == at * 4 + SPARE_BYTES && width_range_matches(&widths, chunk);
}

FORCED_INLINE void single_decode(const uint32_t *words, const uint32_t value_bytes, void *out)
{
    bits_unpack(words + block_header_words(value_bytes), BLOCK_ROWS, value_bytes,
                words[value_words(value_bytes)], load_value(words, value_bytes), out);
}

static void decode_tile(const struct chunk_view *chunk, uint32_t tile, void *out)
{
    for (uint32_t block = 0; block < BLOCKS_PER_TILE; block++) {
        const uint32_t *const words = block_at(chunk, tile * BLOCKS_PER_TILE + block);
        if (chunk->value_bytes == 4)
            single_decode(words, 4, (uint32_t *)out + block * BLOCK_ROWS);
        else
            single_decode(words, 8, (uint64_t *)out + block * BLOCK_ROWS);
    }
}

static int64_t value(const struct chunk_view *chunk, uint32_t row)
{
    const uint32_t *const words = block_at(chunk, row / BLOCK_ROWS);
    const uint32_t width = words[value_words(chunk->value_bytes)];
    const uint64_t offset =
        bits_fetch(words + block_header_words(chunk->value_bytes), row % BLOCK_ROWS * width, width);
    return chunk_value(offset + (uint64_t)load_value(words, chunk->value_bytes), chunk->value_bytes);
}

CODEC_FETCH_VALUES

const struct codec ISA(codec_gpu_for_block) = {
    .id = CODEC_GPU_FOR_BLOCK,
    .name = "gpu-for-block",
    .family = "gpu",
    .summary = "GPU-FOR without miniblocks: one width for 128 values",
    .choosers = 0,
    .random_access = true,
    .holds_int64 = true,
    .decode_cycles = 0.2,
    .gpu = {.header = "operators/decode/gpu_for_block_cuda.h",
            .decoder = "decode_gpu_for_block",
            .random_access = true},
    .bound = bound,
    .encode = encode,
    .valid = valid,
    .tile_span = blocks_tile_span,
    .decode_tile = decode_tile,
    .value = value,
    .fetch_rows = 24,
    .fetch = fetch,
};
