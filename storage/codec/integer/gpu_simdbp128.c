/*
 * gpu_simdbp128.c: gpu-simdbp128: bit packing in a vertical layout of 128 lanes, which Shanbhag et al. compare
 * GPU-FOR with (SIGMOD 2022, section 4.3).
 *
 *     directory    a word for each block of 4096 rows: start | width << 25
 *     data         each block, from byte start * 512: `width` lines of 128 words
 *
 * Row i of a block is item i / 128 of lane i % 128. Word w of lane l is word w*128 + l of the block. Item j of
 * lane l is bits [j*width, j*width + width) of the lane's words, so 32 items end with a word. The width is that
 * of the block's largest number, as unsigned: as in SIMD-BP128 there is no reference, so a block with a
 * negative number has the full width. The paper leaves open where the widths are; SIMD-BP128 groups them so
 * that packed words stay aligned, and so does the directory.
 *
 * A block is four tiles: tile t has items 8*(t % 4) .. 8*(t % 4) + 7 of all lanes of block t / 4. The last
 * block is filled up by repeating the last value. The overhead is 0.008 bits a value, but one large number
 * widens 4096 values.
 */
#include "storage/base/isa.h"
#include "storage/codec/integer/bitpack.h"

#define VERTICAL_LANES  128u
#define VERTICAL_ROWS   (VERTICAL_LANES * 32)
#define LINE_BYTES      (VERTICAL_LANES * 4)
#define ITEMS_PER_TILE  (TILE_ROWS / VERTICAL_LANES)
#define TILES_PER_BLOCK (VERTICAL_ROWS / TILE_ROWS)

struct vertical_block {
    uint64_t start; /* in lines */
    uint32_t width;
};

static uint32_t block_count(uint32_t rows)
{
    return (rows + VERTICAL_ROWS - 1) / VERTICAL_ROWS;
}

FORCED_INLINE struct vertical_block block_of(const struct chunk_view *chunk, uint32_t block)
{
    const uint32_t entry = ((const uint32_t *)chunk->directory)[block];
    return (struct vertical_block){.start = entry & 0x1ffffffu, .width = entry >> 25};
}

FORCED_INLINE const uint32_t *block_lines(const struct chunk_view *chunk, const struct vertical_block *block)
{
    return (const uint32_t *)(chunk->data + block->start * LINE_BYTES);
}

static size_t bound(uint32_t rows, uint32_t value_bytes)
{
    const uint64_t blocks = block_count(rows);
    return chunk_size(blocks * 4, blocks * VERTICAL_ROWS * value_bytes, 0);
}

FORCED_INLINE uint64_t value_at(const void *values, const uint32_t value_bytes, uint32_t row)
{
    return value_bytes == 4 ? ((const uint32_t *)values)[row] : ((const uint64_t *)values)[row];
}

/* The values of a block: in place, or for a partial last block in `buffer`. */
static const void *block_values(const void *values, uint32_t rows, uint32_t value_bytes, uint32_t block,
                                void *buffer)
{
    const uint32_t first = block * VERTICAL_ROWS, here = rows - first;
    const uint8_t *const from = (const uint8_t *)values + (size_t)first * value_bytes;
    if (here >= VERTICAL_ROWS)
        return from;
    memcpy(buffer, from, (size_t)here * value_bytes);
    for (uint32_t row = here; row < VERTICAL_ROWS; row++)
        memcpy((uint8_t *)buffer + (size_t)row * value_bytes, from + (size_t)(here - 1) * value_bytes,
               value_bytes);
    return buffer;
}

FORCED_INLINE void block_pack(const void *values, const uint32_t value_bytes, uint32_t width, uint32_t *lines)
{
    memset(lines, 0, (size_t)width * LINE_BYTES);
    for (uint32_t item = 0; item < 32 && width; item++) {
        const uint32_t shift = item * width % 32;
        uint32_t *const line = lines + item * width / 32 * VERTICAL_LANES;
        for (uint32_t lane = 0; lane < VERTICAL_LANES; lane++) {
            const uint64_t value = value_at(values, value_bytes, item * VERTICAL_LANES + lane);
            line[lane] |= (uint32_t)(value << shift);
            if (shift + width > 32)
                line[VERTICAL_LANES + lane] |= (uint32_t)(value >> (32 - shift));
            if (shift + width > 64)
                line[2 * VERTICAL_LANES + lane] |= (uint32_t)(value >> (64 - shift));
        }
    }
}

FORCED_INLINE size_t encode_values(const void *values, uint32_t rows, const uint32_t value_bytes,
                                   uint8_t *out)
{
    _Alignas(64) int64_t last[VERTICAL_ROWS];
    const uint64_t directory_bytes = block_count(rows) * UINT64_C(4);
    struct width_range widths = {UINT32_MAX, 0};
    uint32_t *const directory = (uint32_t *)chunk_directory(out);
    uint32_t *const data = (uint32_t *)chunk_data(out, directory_bytes);
    uint32_t at = 0; /* in lines */
    for (uint32_t block = 0; block < block_count(rows); block++) {
        const void *const v = block_values(values, rows, value_bytes, block, last);
        uint64_t bits = 0;
        for (uint32_t row = 0; row < VERTICAL_ROWS; row++)
            bits |= value_at(v, value_bytes, row);
        const uint32_t width = width_of(bits);
        width_range_add(&widths, width);
        directory[block] = at | width << 25;
        block_pack(v, value_bytes, width, data + (size_t)at * VERTICAL_LANES);
        at += width;
    }
    return chunk_finish_packed(out, CODEC_GPU_SIMDBP128, rows, value_bytes, widths, directory_bytes,
                               (uint64_t)at * LINE_BYTES, 0);
}

CODEC_ENCODE_BOTH

static bool valid(const struct chunk_view *chunk)
{
    const struct chunk_header *const header = chunk_head(chunk);
    struct width_range widths = {UINT32_MAX, 0};
    if (header->directory_bytes != block_count(chunk->rows) * UINT64_C(4))
        return false;
    for (uint32_t b = 0; b < block_count(chunk->rows); b++) {
        const struct vertical_block block = block_of(chunk, b);
        if (block.width > chunk->value_bytes * 8 ||
            (block.start + block.width) * LINE_BYTES > header->data_bytes)
            return false;
        width_range_add(&widths, block.width);
    }
    return width_range_matches(&widths, chunk);
}

/* A tile's lines; one that is shared with the next tile counts as that one's. */
static const uint8_t *tile_span(const struct chunk_view *chunk, uint32_t tile, uint32_t *bytes)
{
    const struct vertical_block block = block_of(chunk, tile / TILES_PER_BLOCK);
    const uint32_t part = tile % TILES_PER_BLOCK, first = part * block.width / TILES_PER_BLOCK;
    *bytes = ((part + 1) * block.width / TILES_PER_BLOCK - first) * LINE_BYTES;
    return chunk->data + (block.start + first) * LINE_BYTES;
}

/* Decodes one item of all lanes. It reads the next one or two lines only if the item reaches into them. */
FORCED_INLINE void item_unpack(const uint32_t *lines, uint32_t item, uint32_t width,
                               const uint32_t value_bytes, void *out)
{
    const uint32_t shift = item * width % 32;
    const uint32_t *const line = lines + item * width / 32 * VERTICAL_LANES;
    const uint64_t mask = width_mask(width);
    if (value_bytes == 4) {
        uint32_t *const narrow = out;
        if (shift + width <= 32)
            for (uint32_t lane = 0; lane < VERTICAL_LANES; lane++)
                narrow[lane] = line[lane] >> shift & (uint32_t)mask;
        else
            for (uint32_t lane = 0; lane < VERTICAL_LANES; lane++)
                narrow[lane] =
                    (line[lane] >> shift | line[VERTICAL_LANES + lane] << (32 - shift)) & (uint32_t)mask;
        return;
    }
    for (uint32_t lane = 0; lane < VERTICAL_LANES; lane++) {
        uint64_t value = line[lane] >> shift;
        if (shift + width > 32)
            value |= (uint64_t)line[VERTICAL_LANES + lane] << (32 - shift);
        if (shift + width > 64)
            value |= (uint64_t)line[2 * VERTICAL_LANES + lane] << (64 - shift);
        ((uint64_t *)out)[lane] = value & mask;
    }
}

FORCED_INLINE void decode_values(const struct chunk_view *chunk, uint32_t tile, const uint32_t value_bytes,
                                 void *out)
{
    const struct vertical_block block = block_of(chunk, tile / TILES_PER_BLOCK);
    const uint32_t first = tile % TILES_PER_BLOCK * ITEMS_PER_TILE;
    if (block.width == 0) {
        memset(out, 0, TILE_ROWS * value_bytes);
        return;
    }
    for (uint32_t item = 0; item < ITEMS_PER_TILE; item++)
        item_unpack(block_lines(chunk, &block), first + item, block.width, value_bytes,
                    (uint8_t *)out + item * VERTICAL_LANES * value_bytes);
}

CODEC_DECODE_BOTH

static int64_t value(const struct chunk_view *chunk, uint32_t row)
{
    const struct vertical_block block = block_of(chunk, row / VERTICAL_ROWS);
    const uint32_t bit = row % VERTICAL_ROWS / VERTICAL_LANES * block.width, shift = bit % 32;
    if (block.width == 0)
        return 0;
    const uint32_t *const word =
        block_lines(chunk, &block) + bit / 32 * VERTICAL_LANES + row % VERTICAL_LANES;
    uint64_t value = word[0] >> shift;
    if (shift + block.width > 32)
        value |= (uint64_t)word[VERTICAL_LANES] << (32 - shift);
    if (shift + block.width > 64)
        value |= (uint64_t)word[2 * VERTICAL_LANES] << (64 - shift);
    return chunk_value(value & width_mask(block.width), chunk->value_bytes);
}

CODEC_FETCH_VALUES

const struct codec ISA(codec_gpu_simdbp128) = {
    .id = CODEC_GPU_SIMDBP128,
    .name = "gpu-simdbp128",
    .family = "gpu",
    .summary = "GPU-SIMDBP128 as published: 4096 values packed in 128 lanes, no reference",
    .choosers = 0,
    .random_access = true,
    .holds_int64 = true,
    .decode_cycles = 0.1,
    .gpu = {.header = "operators/decode/gpu_simdbp128_cuda.h",
            .decoder = "decode_gpu_simdbp128",
            .random_access = true},
    .bound = bound,
    .encode = encode,
    .valid = valid,
    .tile_span = tile_span,
    .decode_tile = decode_tile,
    .value = value,
    .fetch_rows = 16,
    .fetch = fetch,
};
