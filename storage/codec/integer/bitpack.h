/*
 * bitpack.h: packs and unpacks widths 0..64; all codecs share it.
 *
 * There are two orders. "Bits": values one after the other, value i at bits [i*width, i*width + width) of a
 * run of 32-bit words. "Lanes": 32 such streams next to each other, with word w of lane l at w*32 + l, and
 * row 32j + l as item j of lane l. Everything is forced inline, so that constant widths and value sizes fold
 * away. The functions are called once a block or tile with 32..1024 values; buffers are in the first-level
 * cache.
 */
#ifndef TESSERA_STORAGE_CODEC_INTEGER_BITPACK_H
#define TESSERA_STORAGE_CODEC_INTEGER_BITPACK_H

#include "storage/base/isa.h"
#include "storage/codec/chunk.h"

#if defined(__AVX2__)
#include <immintrin.h>
#endif

#define FORCED_INLINE static inline __attribute__((always_inline))

/* ---- Widths and ranges ---- */

FORCED_INLINE unsigned width_of(uint64_t value)
{
    return value ? 64u - (unsigned)__builtin_clzll(value) : 0;
}

FORCED_INLINE uint64_t width_mask(unsigned width)
{
    return width >= 64 ? UINT64_MAX : (UINT64_C(1) << width) - 1;
}

/* The least and the greatest of `count` >= 1 values. */
FORCED_INLINE void values_range(const void *values, uint32_t count, const uint32_t value_bytes, int64_t *low,
                                int64_t *high)
{
    if (value_bytes == 4) {
        const int32_t *const v = values;
        int32_t least = v[0], most = v[0];
        for (uint32_t i = 0; i < count; i++) {
            least = v[i] < least ? v[i] : least;
            most = v[i] > most ? v[i] : most;
        }
        *low = least;
        *high = most;
    } else {
        const int64_t *const v = values;
        int64_t least = v[0], most = v[0];
        for (uint32_t i = 0; i < count; i++) {
            least = v[i] < least ? v[i] : least;
            most = v[i] > most ? v[i] : most;
        }
        *low = least;
        *high = most;
    }
}

/* ---- Bits: values one after the other ---- */

FORCED_INLINE uint32_t bits_words(uint32_t count, unsigned width)
{
    return (uint32_t)(((uint64_t)count * width + 31) / 32);
}

/* Packs values - reference, which must fit the width, into bits_words(count, width) words. */
FORCED_INLINE void bits_pack(const void *values, uint32_t count, const uint32_t value_bytes,
                             int64_t reference, unsigned width, uint32_t *words)
{
    uint64_t pending = 0;
    unsigned filled = 0; /* the bits in `pending`; below 32 between values */
    if (width == 0)
        return;
    for (uint32_t i = 0; i < count; i++) {
        const uint64_t offset = value_bytes == 4
                                    ? (uint64_t)(((const uint32_t *)values)[i] - (uint32_t)reference)
                                    : ((const uint64_t *)values)[i] - (uint64_t)reference;
        if (value_bytes == 4 || width <= 32) {
            pending |= offset << filled;
            filled += width;
        } else { /* the low 32 bits complete one word, which makes room for the others */
            pending |= (offset & UINT32_MAX) << filled;
            *words++ = (uint32_t)pending;
            pending = pending >> 32 | (offset >> 32) << filled;
            filled += width - 32;
        }
        if (filled >= 32) {
            *words++ = (uint32_t)pending;
            pending >>= 32;
            filled -= 32;
        }
    }
    if (filled)
        *words = (uint32_t)pending;
}

/* The value at `bit`, without the reference. It reads three words, which the SPARE_BYTES after the stream
 * allow. */
FORCED_INLINE uint64_t bits_fetch(const uint32_t *words, uint64_t bit, unsigned width)
{
    const uint32_t *const word = words + bit / 32;
    const unsigned shift = bit % 32;
    uint64_t value = load_u64(word) >> shift;
    if (width > 32)
        value |= (uint64_t)word[2] << 1 << (63 - shift);
    return value & width_mask(width);
}

/* Unpacks 32-bit values of width 0..32 and adds the reference. It writes whole vectors: `out` has room for
 * `count` rounded up to 16. It reads up to 64 bytes after the stream. 8 (16) values fill a whole number of
 * bytes, so each register is loaded from the byte of its first value, and the same word indices and shifts
 * serve all registers. */
FORCED_INLINE void bits_unpack_narrow(const uint32_t *words, uint32_t count, unsigned width,
                                      uint32_t reference, uint32_t *out)
{
    const uint32_t mask = (uint32_t)width_mask(width);
#if defined(__AVX512F__)
    const uint8_t *bytes = (const uint8_t *)words;
    const __m512i item = _mm512_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15);
    const __m512i bit = _mm512_mullo_epi32(item, _mm512_set1_epi32((int)width));
    const __m512i word = _mm512_srli_epi32(bit, 5);
    const __m512i next = _mm512_add_epi32(word, _mm512_set1_epi32(1)); /* wraps only at width 32, shift 0 */
    const __m512i shift = _mm512_and_si512(bit, _mm512_set1_epi32(31));
    const __m512i back = _mm512_sub_epi32(_mm512_set1_epi32(32), shift); /* a shift by 32 gives 0 */
    const __m512i masks = _mm512_set1_epi32((int)mask), references = _mm512_set1_epi32((int)reference);
    for (uint32_t i = 0; i < count; i += 16, bytes += 2 * width) {
        const __m512i line = _mm512_loadu_si512(bytes);
        const __m512i low = _mm512_srlv_epi32(_mm512_permutexvar_epi32(word, line), shift);
        const __m512i high = _mm512_sllv_epi32(_mm512_permutexvar_epi32(next, line), back);
        const __m512i value = _mm512_and_si512(_mm512_or_si512(low, high), masks);
        _mm512_storeu_si512(out + i, _mm512_add_epi32(value, references));
    }
#elif defined(__AVX2__)
    const uint8_t *bytes = (const uint8_t *)words;
    const __m256i item = _mm256_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7);
    const __m256i bit = _mm256_mullo_epi32(item, _mm256_set1_epi32((int)width));
    const __m256i word = _mm256_srli_epi32(bit, 5);
    const __m256i next = _mm256_add_epi32(word, _mm256_set1_epi32(1)); /* wraps only at width 32, shift 0 */
    const __m256i shift = _mm256_and_si256(bit, _mm256_set1_epi32(31));
    const __m256i back = _mm256_sub_epi32(_mm256_set1_epi32(32), shift); /* a shift by 32 gives 0 */
    const __m256i masks = _mm256_set1_epi32((int)mask), references = _mm256_set1_epi32((int)reference);
    for (uint32_t i = 0; i < count; i += 8, bytes += width) {
        const __m256i line = _mm256_loadu_si256((const __m256i *)bytes);
        const __m256i low = _mm256_srlv_epi32(_mm256_permutevar8x32_epi32(line, word), shift);
        const __m256i high = _mm256_sllv_epi32(_mm256_permutevar8x32_epi32(line, next), back);
        const __m256i value = _mm256_and_si256(_mm256_or_si256(low, high), masks);
        _mm256_storeu_si256((__m256i *)(out + i), _mm256_add_epi32(value, references));
    }
#else
    uint64_t bit = 0;
    for (uint32_t i = 0; i < count; i++, bit += width)
        out[i] = ((uint32_t)(load_u64(words + bit / 32) >> bit % 32) & mask) + reference;
#endif
}

/* The same for either size of value; `out` has room for `count` rounded up to 16. */
FORCED_INLINE void bits_unpack(const uint32_t *words, uint32_t count, const uint32_t value_bytes,
                               unsigned width, int64_t reference, void *out)
{
    if (value_bytes == 4) {
        bits_unpack_narrow(words, count, width, (uint32_t)reference, out);
        return;
    }
    uint64_t *const wide = out;
    for (uint32_t i = 0; i < count; i++)
        wide[i] = bits_fetch(words, (uint64_t)i * width, width) + (uint64_t)reference;
}

/* ---- Lanes: 32 streams next to each other ---- */

/* clang-format off */
#define EACH_WIDTH(X)                                                        \
    X(0) X(1) X(2) X(3) X(4) X(5) X(6) X(7) X(8) X(9) X(10)                  \
    X(11) X(12) X(13) X(14) X(15) X(16) X(17) X(18) X(19) X(20) X(21)        \
    X(22) X(23) X(24) X(25) X(26) X(27) X(28) X(29) X(30) X(31) X(32)
/* clang-format on */

#if defined(__AVX512F__)
#define VECTOR_BYTES 64
#elif defined(__AVX2__)
#define VECTOR_BYTES 32
#else
#define VECTOR_BYTES 16
#endif
#define VECTOR_LANES (VECTOR_BYTES / 4u)
typedef uint32_t lane_vector __attribute__((vector_size(VECTOR_BYTES), aligned(4), may_alias));

/* The number of 128-byte lines for `items` items a lane. */
FORCED_INLINE uint32_t lanes_lines(uint32_t items, unsigned width)
{
    return bits_words(items, width);
}

#ifdef TESSERA_ISA
/* Packs and unpacks widths 0..32 of 32-bit values, in 33 unrolled bodies each. They are functions, called once a tile,
 * because compilers take seconds for the bodies (lanes/lanes.c). `items` is TILE_LANES or one less. */
void ISA(lanes_pack_narrow)(const uint32_t *values, uint32_t items, uint32_t reference, unsigned width,
                            uint32_t *lines);
void ISA(lanes_unpack_narrow)(const uint32_t *lines, uint32_t items, uint32_t reference, unsigned width,
                              uint32_t *out);

/* Packs widths 33..64 of 64-bit values; the compiler vectorises over the lanes. */
FORCED_INLINE void lanes_pack_wide(const uint64_t *values, const uint32_t items, uint64_t reference,
                                   unsigned width, uint32_t *lines)
{
    memset(lines, 0, (size_t)lanes_lines(items, width) * TILE_LANES * sizeof *lines);
    for (uint32_t item = 0; item < items; item++) {
        const unsigned shift = item * width % 32, word = item * width / 32;
        uint32_t *const line = lines + (size_t)word * TILE_LANES;
        for (uint32_t lane = 0; lane < TILE_LANES; lane++) {
            const uint64_t value = values[(size_t)item * TILE_LANES + lane] - reference;
            line[lane] |= (uint32_t)(value << shift);
            line[TILE_LANES + lane] = (uint32_t)(value << shift >> 32);
            if (shift + width > 64)
                line[2 * TILE_LANES + lane] = (uint32_t)(value >> 1 >> (63 - shift));
        }
    }
}

FORCED_INLINE void lanes_unpack_wide(const uint32_t *lines, const uint32_t items, uint64_t reference,
                                     unsigned width, uint64_t *out)
{
    const uint64_t mask = width_mask(width);
    for (uint32_t item = 0; item < items; item++) {
        const unsigned shift = item * width % 32, word = item * width / 32;
        const uint32_t *const line = lines + (size_t)word * TILE_LANES;
        for (uint32_t lane = 0; lane < TILE_LANES; lane++) {
            const uint64_t low = line[lane] | (uint64_t)line[TILE_LANES + lane] << 32;
            const uint64_t high = (uint64_t)line[2 * TILE_LANES + lane] << 1 << (63 - shift);
            out[(size_t)item * TILE_LANES + lane] = ((low >> shift | high) & mask) + reference;
        }
    }
}

/* Packs rows 0 .. 32*items-1 minus the reference into lanes_lines(items, width) lines of 32 words. `items` is
 * a constant. */
FORCED_INLINE void lanes_pack(const void *values, const uint32_t items, const uint32_t value_bytes,
                              int64_t reference, unsigned width, uint32_t *lines)
{
    uint32_t offsets[TILE_ROWS];
    const uint32_t *narrow = values;
    uint32_t narrow_reference = (uint32_t)reference;
    if (value_bytes == 8) {
        if (width > 32) {
            lanes_pack_wide(values, items, (uint64_t)reference, width, lines);
            return;
        }
        for (uint32_t i = 0; i < items * TILE_LANES; i++)
            offsets[i] = (uint32_t)(((const uint64_t *)values)[i] - (uint64_t)reference);
        narrow = offsets;
        narrow_reference = 0;
    }
    ISA(lanes_pack_narrow)(narrow, items, narrow_reference, width, lines);
}

/* The reverse of lanes_pack. Widths above 32 read up to two lines after the last, which LANE_SPARE_BYTES
 * allow. */
FORCED_INLINE void lanes_unpack(const uint32_t *lines, const uint32_t items, const uint32_t value_bytes,
                                int64_t reference, unsigned width, void *out)
{
    uint32_t offsets[TILE_ROWS];
    uint32_t *narrow = out;
    uint32_t narrow_reference = (uint32_t)reference;
    if (value_bytes == 8) {
        if (width > 32) {
            lanes_unpack_wide(lines, items, (uint64_t)reference, width, out);
            return;
        }
        narrow = offsets;
        narrow_reference = 0;
    }
    ISA(lanes_unpack_narrow)(lines, items, narrow_reference, width, narrow);
    if (value_bytes == 8)
        for (uint32_t i = 0; i < items * TILE_LANES; i++)
            ((uint64_t *)out)[i] = offsets[i] + (uint64_t)reference;
}

#endif /* TESSERA_ISA */

/* Item `item` of lane `lane`, without the reference, for widths 0..32. Reads two words of the lane. */
FORCED_INLINE uint32_t lanes_fetch_narrow(const uint32_t *lines, uint32_t item, uint32_t lane, unsigned width)
{
    const uint32_t *const word = lines + (size_t)(item * width / 32) * TILE_LANES + lane;
    const uint64_t value = (word[0] | (uint64_t)word[TILE_LANES] << 32) >> item * width % 32;
    return (uint32_t)(value & width_mask(width));
}

/* The same for any width. Reads up to three words of the lane. */
FORCED_INLINE uint64_t lanes_fetch(const uint32_t *lines, uint32_t item, uint32_t lane, unsigned width)
{
    const unsigned shift = item * width % 32;
    const uint32_t *const word = lines + (size_t)(item * width / 32) * TILE_LANES + lane;
    uint64_t value = (word[0] | (uint64_t)word[TILE_LANES] << 32) >> shift;
    if (width > 32)
        value |= (uint64_t)word[2 * TILE_LANES] << 1 << (63 - shift);
    return value & width_mask(width);
}

#endif
