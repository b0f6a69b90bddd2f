/*
 * gpu_vbyte.h: GPU-VByte: whole bytes for each value, with the lengths before the values of a block of 128 or 1024, as
 * published (Mallia et al., CIKM 2019, section 3.2).
 *
 *     directory    word ends[blocks + 1], in bytes of data (end_points.h)
 *     data         the blocks; then SPARE_BYTES zeros
 *
 *     block        selectors    2 bits a value, value i at bits [2i, 2i + 2): a word for 16 values
 *                  values       the low bytes of each value, least first; int32: selector + 1 bytes (1, 2, 3, 4)
 *                  padding      1 .. 4 zero bytes up to a multiple of 4
 *
 * The paper does not mention the padding, but its sizes contain it: on dense lists, whose gaps take a byte, 10.50 bits
 * are 8 of value, 2 of selector, and 32 of padding and 32 of end point for 128 values. The authors' program pads a
 * block that is a multiple of 4 by another word.
 *
 * Values are unsigned numbers. The paper has 32 bits only; int64 has the lengths 1 << selector, 1, 2, 4 or 8 bytes. The
 * header's widths are 8 times the least and the greatest length. `block_rows` is a constant everywhere, so that each
 * codec gets its own code.
 */
#ifndef TESSERA_STORAGE_CODEC_INTEGER_LISTS_GPU_VBYTE_H
#define TESSERA_STORAGE_CODEC_INTEGER_LISTS_GPU_VBYTE_H

#include "storage/codec/integer/lists/end_points.h"

#define VBYTE_UNIT_BYTES 1u                           /* end points count bytes */
#define SELECTOR_ROWS    16u                          /* the selectors of a word */
#define EACH_SELECTOR    UINT64_C(0x5555555555555555) /* the low bit of each of 32 selectors */

FORCED_INLINE uint32_t vbyte_selector_bytes(const uint32_t block_rows)
{
    return block_rows / SELECTOR_ROWS * 4;
}

/* `bytes` with the padding after them. */
FORCED_INLINE uint32_t vbyte_padded(uint32_t bytes)
{
    return (bytes / 4 + 1) * 4;
}

FORCED_INLINE size_t vbyte_bound(uint32_t rows, uint32_t value_bytes, const uint32_t block_rows)
{
    const uint32_t block = vbyte_padded(vbyte_selector_bytes(block_rows) + block_rows * value_bytes);
    return chunk_size(end_points_bytes(rows, block_rows),
                      (uint64_t)end_points_blocks(rows, block_rows) * block + SPARE_BYTES, 0);
}

/* ---- Lengths ---- */

FORCED_INLINE uint32_t vbyte_length(uint32_t selector, const uint32_t value_bytes)
{
    return value_bytes == 4 ? selector + 1 : 1u << selector;
}

FORCED_INLINE uint32_t vbyte_selector(uint64_t value, const uint32_t value_bytes)
{
    if (value_bytes == 4)
        return (uint32_t)(value > 0xff) + (value > 0xffff) + (value > 0xffffff);
    return (uint32_t)(value > 0xff) + (value > 0xffff) + (value > 0xffffffff);
}

/* How many selectors have the low bit, the high bit, both bits. */
struct selector_counts {
    uint32_t low, high, both;
};

FORCED_INLINE void selectors_count(uint64_t selectors, struct selector_counts *counts)
{
    const uint64_t low = selectors & EACH_SELECTOR, high = selectors >> 1 & EACH_SELECTOR;
    counts->low += (uint32_t)__builtin_popcountll(low);
    counts->high += (uint32_t)__builtin_popcountll(high);
    counts->both += (uint32_t)__builtin_popcountll(low & high);
}

/* The bytes of `count` values with these selectors. */
FORCED_INLINE uint32_t vbyte_bytes(struct selector_counts counts, uint32_t count, const uint32_t value_bytes)
{
    return value_bytes == 4 ? count + counts.low + 2 * counts.high
                            : count + counts.low + 3 * (counts.high + counts.both);
}

/* Counts the selectors of a block. Bit s of `seen` is set if one of them is s. */
FORCED_INLINE struct selector_counts vbyte_block_counts(const uint8_t *block, const uint32_t block_rows,
                                                        uint32_t *seen)
{
    struct selector_counts counts = {0};
    for (uint32_t byte = 0; byte < vbyte_selector_bytes(block_rows); byte += 8)
        selectors_count(load_u64(block + byte), &counts);
    const uint32_t only_low = counts.low - counts.both, only_high = counts.high - counts.both;
    *seen |= (uint32_t)(only_low + only_high + counts.both < block_rows) | (uint32_t)(only_low > 0) << 1 |
             (uint32_t)(only_high > 0) << 2 | (uint32_t)(counts.both > 0) << 3;
    return counts;
}

/* The widths of values with these selectors: the least and the greatest one. */
FORCED_INLINE struct width_range vbyte_widths(uint32_t seen, const uint32_t value_bytes)
{
    return (struct width_range){.low = 8 * vbyte_length((uint32_t)__builtin_ctz(seen), value_bytes),
                                .high = 8 * vbyte_length(31u - (uint32_t)__builtin_clz(seen), value_bytes)};
}

/* ---- Encoding ---- */

/* Encodes a block at `out`, and returns its bytes. */
FORCED_INLINE uint32_t vbyte_encode_block(const void *values, const uint32_t value_bytes,
                                          const uint32_t block_rows, uint8_t *out, uint32_t *seen)
{
    uint8_t *at = out + vbyte_selector_bytes(block_rows);
    for (uint32_t first = 0; first < block_rows; first += SELECTOR_ROWS) {
        uint32_t selectors = 0;
        for (uint32_t i = 0; i < SELECTOR_ROWS; i++) {
            const uint64_t value = value_bytes == 4 ? ((const uint32_t *)values)[first + i]
                                                    : ((const uint64_t *)values)[first + i];
            const uint32_t selector = vbyte_selector(value, value_bytes);
            selectors |= selector << 2 * i;
            memcpy(at, &value, value_bytes); /* the next value, or the padding, overwrites what is too much */
            at += vbyte_length(selector, value_bytes);
        }
        memcpy(out + first / SELECTOR_ROWS * 4, &selectors, sizeof selectors);
    }
    vbyte_block_counts(out, block_rows, seen);
    const uint32_t bytes = (uint32_t)(at - out);
    memset(at, 0, vbyte_padded(bytes) - bytes);
    return vbyte_padded(bytes);
}

FORCED_INLINE size_t vbyte_encode_values(const void *values, uint32_t rows, const uint32_t value_bytes,
                                         const enum codec_id id, const uint32_t block_rows, uint8_t *out)
{
    _Alignas(64) int64_t last[TILE_ROWS];
    uint32_t *ends = (uint32_t *)chunk_directory(out);
    uint8_t *const data = chunk_data(out, end_points_bytes(rows, block_rows));
    uint32_t at = 0, seen = 0;
    *ends = 0;
    for (uint32_t tile = 0; tile < chunk_tiles(rows); tile++) {
        const uint8_t *v = chunk_tile_values(values, rows, value_bytes, tile, last);
        for (uint32_t row = 0; row < TILE_ROWS; row += block_rows, v += block_rows * value_bytes) {
            at += vbyte_encode_block(v, value_bytes, block_rows, data + at, &seen);
            *++ends = at;
        }
    }
    return chunk_finish_packed(out, id, rows, value_bytes, vbyte_widths(seen, value_bytes),
                               end_points_bytes(rows, block_rows), at, SPARE_BYTES);
}

FORCED_INLINE size_t vbyte_encode(const void *values, uint32_t rows, uint32_t value_bytes,
                                  const enum codec_id id, const uint32_t block_rows, uint8_t *out)
{
    return value_bytes == 4 ? vbyte_encode_values(values, rows, 4, id, block_rows, out)
                            : vbyte_encode_values(values, rows, 8, id, block_rows, out);
}

/* ---- Checking ---- */

FORCED_INLINE bool vbyte_valid_values(const struct chunk_view *chunk, const uint32_t value_bytes,
                                      const uint32_t block_rows)
{
    if (!end_points_fit(chunk, block_rows, VBYTE_UNIT_BYTES))
        return false;
    const uint32_t *const ends = (const uint32_t *)chunk->directory;
    const uint32_t blocks = end_points_blocks(chunk->rows, block_rows);
    const uint32_t header = vbyte_selector_bytes(block_rows);
    uint64_t at = 0; /* = ends[block] */
    uint32_t seen = 0;
    for (uint32_t block = 0; block < blocks; block++) {
        if (at + header > ends[blocks])
            return false;
        const struct selector_counts counts = vbyte_block_counts(chunk->data + at, block_rows, &seen);
        at += vbyte_padded(header + vbyte_bytes(counts, block_rows, value_bytes));
        if (ends[block + 1] != at)
            return false;
    }
    const struct width_range widths = vbyte_widths(seen, value_bytes);
    return width_range_matches(&widths, chunk);
}

FORCED_INLINE bool vbyte_valid(const struct chunk_view *chunk, const uint32_t block_rows)
{
    return chunk->value_bytes == 4 ? vbyte_valid_values(chunk, 4, block_rows)
                                   : vbyte_valid_values(chunk, 8, block_rows);
}

/* ---- Decoding ---- */

/* The value at `bytes`, which reads up to 7 bytes after it. */
FORCED_INLINE uint64_t vbyte_load(const uint8_t *bytes, uint32_t length, const uint32_t value_bytes)
{
    return (value_bytes == 4 ? load_u32(bytes) : load_u64(bytes)) & UINT64_MAX >> (64 - 8 * length);
}

/* Decodes the 16 values of a selector word, and returns the end of their bytes. */
FORCED_INLINE const uint8_t *vbyte_decode_word(uint32_t selectors, const uint8_t *bytes,
                                               const uint32_t value_bytes, void *out)
{
    if (selectors == 0) { /* a byte each: most words of dense lists; the compiler vectorises it */
        for (uint32_t i = 0; i < SELECTOR_ROWS; i++)
            if (value_bytes == 4)
                ((uint32_t *)out)[i] = bytes[i];
            else
                ((uint64_t *)out)[i] = bytes[i];
        return bytes + SELECTOR_ROWS;
    }
#pragma GCC unroll 16
    for (uint32_t i = 0; i < SELECTOR_ROWS; i++, selectors >>= 2) {
        const uint32_t length = vbyte_length(selectors & 3, value_bytes);
        if (value_bytes == 4)
            ((uint32_t *)out)[i] = (uint32_t)vbyte_load(bytes, length, 4);
        else
            ((uint64_t *)out)[i] = vbyte_load(bytes, length, 8);
        bytes += length;
    }
    return bytes;
}

FORCED_INLINE void vbyte_decode_values(const struct chunk_view *chunk, uint32_t tile,
                                       const uint32_t value_bytes, const uint32_t block_rows, void *out)
{
    uint8_t *to = out;
    for (uint32_t block = 0; block < TILE_ROWS / block_rows; block++) {
        const uint8_t *const selectors =
            end_points_block(chunk, tile * (TILE_ROWS / block_rows) + block, VBYTE_UNIT_BYTES);
        const uint8_t *at = selectors + vbyte_selector_bytes(block_rows);
        for (uint32_t word = 0; word < block_rows / SELECTOR_ROWS; word++, to += SELECTOR_ROWS * value_bytes)
            at = vbyte_decode_word(load_u32(selectors + word * 4), at, value_bytes, to);
    }
}

FORCED_INLINE void vbyte_decode_tile(const struct chunk_view *chunk, uint32_t tile, const uint32_t block_rows,
                                     void *out)
{
    if (chunk->value_bytes == 4)
        vbyte_decode_values(chunk, tile, 4, block_rows, out);
    else
        vbyte_decode_values(chunk, tile, 8, block_rows, out);
}

/* One value: its place is the sum of the lengths before it in its block. */
FORCED_INLINE uint64_t vbyte_block_value(const uint8_t *block, uint32_t index, const uint32_t value_bytes,
                                         const uint32_t block_rows)
{
    struct selector_counts before = {0};
    for (uint32_t byte = 0; byte < index / 32 * 8; byte += 8)
        selectors_count(load_u64(block + byte), &before);
    const uint64_t selectors = load_u64(block + index / 32 * 8);
    selectors_count(selectors & width_mask(index % 32 * 2), &before);
    const uint8_t *const at =
        block + vbyte_selector_bytes(block_rows) + vbyte_bytes(before, index, value_bytes);
    return vbyte_load(at, vbyte_length(selectors >> index % 32 * 2 & 3, value_bytes), value_bytes);
}

FORCED_INLINE int64_t vbyte_value(const struct chunk_view *chunk, uint32_t row, const uint32_t block_rows)
{
    const uint8_t *const block = end_points_block(chunk, row / block_rows, VBYTE_UNIT_BYTES);
    return chunk_value(chunk->value_bytes == 4 ? vbyte_block_value(block, row % block_rows, 4, block_rows)
                                               : vbyte_block_value(block, row % block_rows, 8, block_rows),
                       chunk->value_bytes);
}

FORCED_INLINE void vbyte_fetch(const struct chunk_view *chunk, uint32_t tile, const uint16_t *rows,
                               uint32_t count, const uint32_t block_rows, int32_t *out)
{
    for (uint32_t i = 0; i < count; i++)
        out[rows[i]] = (int32_t)vbyte_value(chunk, tile * TILE_ROWS + rows[i], block_rows);
}

#endif
