/*
 * tile_cpu.h: the tile dialect on a CPU: one thread, one tile, its columns decoded in the first-level cache.
 *
 * A column that a filter needs is decoded whole (1024 values, 4 KB) into the thread's buffer, tested with
 * vector instructions and packed to one bit a row. A column that only survivors need is decoded whole only if
 * enough survive; below TILE_FEW_ROWS a codec with random access is asked value by value. Compiled once per
 * instruction set (isa.h).
 */
#ifndef TESSERA_OPERATORS_TILE_CPU_H
#define TESSERA_OPERATORS_TILE_CPU_H

#include "operators/bound.h"
#include "storage/codec.h"
#include "storage/isa.h"

#include <stdbool.h>
#include <stdint.h>
#include <string.h>
#if defined(__AVX2__)
#include <immintrin.h>
#endif

/* At or below this many survivors, fetching values one by one (an indirect call and two loads each) beats
 * decoding 1024 of them; docs/performance.md has the measurement. */
#define TILE_FEW_ROWS 24u

#define TILE_MASK_WORDS (TILE_ROWS / 64u)

/* Bit r%64 of word r/64: row r of the tile. */
typedef struct {
    uint64_t bits[TILE_MASK_WORDS];
} tile_mask;

/* A column bound to a query, one copy a thread: `values` is the thread's buffer of TILE_ROWS values, aligned
 * to 64. */
struct tile_column {
    const struct chunk_view *chunk; /* of the segment at hand; NULL: the query does not use this column */
    const uint32_t *validity;       /* of the segment; NULL: no NULLs */
    int32_t *values;
    int64_t decoded; /* the tile of this segment that `values` holds, or -1 */
    bool dense;      /* tile_value may read `values` */
    int32_t low, high;
};

struct tile_dimension {
    const uint32_t *bitmap; /* NULL: every row passes */
    const void *codes;
    uint32_t code_bytes; /* 1, 2 or 4 */
    uint32_t code_base;
};

/* One copy a thread; the engine adds them up. */
struct tile_sums {
    int64_t *sums;
    uint32_t *present;
    uint32_t domain[TILE_GROUPS_MAX];
};

struct tile {
    uint32_t index; /* within the segment */
    uint32_t rows;  /* 1 .. TILE_ROWS */
};

struct tile_parameters;
typedef void tile_query(struct tile_parameters *q, const struct tile *t);

#define TILE_QUERY(name, q, t) \
    tile_query ISA(name);      \
    void ISA(name)(struct tile_parameters * q, const struct tile *t)

#define TILE_INLINE static inline __attribute__((always_inline))

TILE_INLINE tile_mask tile_all(const struct tile *t)
{
    tile_mask keep;
    for (uint32_t word = 0; word < TILE_MASK_WORDS; word++) {
        uint32_t begin = word * 64;
        keep.bits[word] = t->rows >= begin + 64 ? ~0ull
                          : t->rows <= begin    ? 0
                                                : (1ull << (t->rows - begin)) - 1;
    }
    return keep;
}

TILE_INLINE uint32_t tile_count(const tile_mask *keep)
{
    uint32_t count = 0;
    for (uint32_t word = 0; word < TILE_MASK_WORDS; word++)
        count += (uint32_t)__builtin_popcountll(keep->bits[word]);
    return count;
}

TILE_INLINE const int32_t *tile_decode(const struct tile *t, struct tile_column *column)
{
    if (column->decoded != (int64_t)t->index) {
        column->chunk->codec->decode_tile(column->chunk, t->index, column->values);
        column->decoded = (int64_t)t->index;
    }
    return column->values;
}

/* 64 values to 64 bits: low <= value <= high. */
TILE_INLINE uint64_t tile_bits_in_range(const int32_t *values, int32_t low, int32_t high)
{
    uint64_t bits = 0;
#if defined(__AVX512F__)
    const __m512i first = _mm512_set1_epi32(low), last = _mm512_set1_epi32(high);
    for (uint32_t part = 0; part < 4; part++) {
        __m512i value = _mm512_load_si512(values + 16 * part);
        __mmask16 above = _mm512_cmple_epi32_mask(first, value);
        bits |= (uint64_t)_mm512_mask_cmple_epi32_mask(above, value, last) << (16 * part);
    }
#elif defined(__AVX2__)
    const __m256i first = _mm256_set1_epi32(low), last = _mm256_set1_epi32(high);
    for (uint32_t part = 0; part < 8; part++) {
        __m256i value = _mm256_load_si256((const __m256i *)(values + 8 * part));
        __m256i out = _mm256_or_si256(_mm256_cmpgt_epi32(first, value), _mm256_cmpgt_epi32(value, last));
        bits |= (uint64_t)(uint8_t)~_mm256_movemask_ps(_mm256_castsi256_ps(out)) << (8 * part);
    }
#else
    for (uint32_t row = 0; row < 64; row++)
        bits |= (uint64_t)(values[row] >= low && values[row] <= high) << row;
#endif
    return bits;
}

/* 64 row positions to 64 bits: the bitmap's bit at each. */
TILE_INLINE uint64_t tile_bits_in_bitmap(const int32_t *positions, const uint32_t *bitmap)
{
    uint64_t bits = 0;
#if defined(__AVX512F__)
    for (uint32_t part = 0; part < 4; part++) {
        __m512i position = _mm512_load_si512(positions + 16 * part);
        __m512i word = _mm512_i32gather_epi32(_mm512_srli_epi32(position, 5), bitmap, 4);
        __m512i bit =
            _mm512_sllv_epi32(_mm512_set1_epi32(1), _mm512_and_si512(position, _mm512_set1_epi32(31)));
        bits |= (uint64_t)_mm512_test_epi32_mask(word, bit) << (16 * part);
    }
#elif defined(__AVX2__)
    for (uint32_t part = 0; part < 8; part++) {
        __m256i position = _mm256_load_si256((const __m256i *)(positions + 8 * part));
        __m256i word = _mm256_i32gather_epi32((const int *)bitmap, _mm256_srli_epi32(position, 5), 4);
        __m256i rest =
            _mm256_sub_epi32(_mm256_set1_epi32(31), _mm256_and_si256(position, _mm256_set1_epi32(31)));
        __m256i sign = _mm256_sllv_epi32(word, rest); /* the wanted bit, moved to the sign */
        bits |= (uint64_t)(uint8_t)_mm256_movemask_ps(_mm256_castsi256_ps(sign)) << (8 * part);
    }
#else
    for (uint32_t row = 0; row < 64; row++) {
        uint32_t position = (uint32_t)positions[row];
        bits |= (uint64_t)(bitmap[position / 32] >> position % 32 & 1) << row;
    }
#endif
    return bits;
}

/* Validity words are in lane order (bit j of word l: row 32j + l); brings 64 of them back to row order. */
TILE_INLINE uint64_t tile_bits_valid(const uint32_t *validity, uint32_t word)
{
    uint64_t bits = 0;
    for (uint32_t lane = 0; lane < TILE_LANES; lane++)
        bits |= (uint64_t)(validity[lane] >> (2 * word) & 1) << lane |
                (uint64_t)(validity[lane] >> (2 * word + 1) & 1) << (lane + 32);
    return bits;
}

TILE_INLINE bool tile_fetches_singly(const struct tile *t, const struct tile_column *column,
                                     uint32_t survivors)
{
    return survivors <= TILE_FEW_ROWS && column->decoded != (int64_t)t->index &&
           column->chunk->codec->random_access;
}

TILE_INLINE int32_t tile_fetch_single(const struct tile *t, const struct tile_column *column, uint32_t row)
{
    return (int32_t)column->chunk->codec->value(column->chunk, t->index * TILE_ROWS + row);
}

/* Tests every survivor by `test(value)` where few are left, else 64 rows at a time by `test_64(values)`. */
#define TILE_KEEP_IF_(t, keep, column, test, test_64)                                     \
    do {                                                                                  \
        uint32_t survivors_ = tile_count(&(keep));                                        \
        if (survivors_ == 0)                                                              \
            break;                                                                        \
        if (tile_fetches_singly((t), (column), survivors_)) {                             \
            for (uint32_t word_ = 0; word_ < TILE_MASK_WORDS; word_++)                    \
                for (uint64_t rest_ = (keep).bits[word_]; rest_; rest_ &= rest_ - 1) {    \
                    uint32_t bit_ = (uint32_t)__builtin_ctzll(rest_);                     \
                    int32_t value_ = tile_fetch_single((t), (column), word_ * 64 + bit_); \
                    (keep).bits[word_] &= ~((uint64_t) !(test(value_)) << bit_);          \
                }                                                                         \
        } else {                                                                          \
            const int32_t *values_ = tile_decode((t), (column));                          \
            for (uint32_t word_ = 0; word_ < TILE_MASK_WORDS; word_++)                    \
                (keep).bits[word_] &= test_64(values_ + 64 * word_);                      \
        }                                                                                 \
    } while (0)

TILE_INLINE tile_mask tile_keep_valid(const struct tile *t, tile_mask keep, const struct tile_column *column)
{
    if (column->validity)
        for (uint32_t word = 0; word < TILE_MASK_WORDS; word++)
            keep.bits[word] &= tile_bits_valid(column->validity + t->index * TILE_LANES, word);
    return keep;
}

TILE_INLINE tile_mask tile_filter_(const struct tile *t, tile_mask keep, struct tile_column *column)
{
    const int32_t low = column->low, high = column->high;
    keep = tile_keep_valid(t, keep, column);
#define TILE_TEST_(value)     ((value) >= low && (value) <= high)
#define TILE_TEST_64_(values) tile_bits_in_range((values), low, high)
    TILE_KEEP_IF_(t, keep, column, TILE_TEST_, TILE_TEST_64_);
#undef TILE_TEST_
#undef TILE_TEST_64_
    return keep;
}
#define tile_filter(t, keep, column) tile_filter_((t), (keep), &(column))

TILE_INLINE tile_mask tile_semi_join_(const struct tile *t, tile_mask keep, struct tile_column *column,
                                      const struct tile_dimension *dimension)
{
    const uint32_t *bitmap = dimension->bitmap;
    keep = tile_keep_valid(t, keep, column);
    if (!bitmap)
        return keep;
#define TILE_TEST_(value)     (bitmap[(uint32_t)(value) / 32] >> ((uint32_t)(value) % 32) & 1)
#define TILE_TEST_64_(values) tile_bits_in_bitmap((values), bitmap)
    TILE_KEEP_IF_(t, keep, column, TILE_TEST_, TILE_TEST_64_);
#undef TILE_TEST_
#undef TILE_TEST_64_
    return keep;
}
#define tile_semi_join(t, keep, column, dimension) tile_semi_join_((t), (keep), &(column), &(dimension))

TILE_INLINE void tile_fetch_(const struct tile *t, const tile_mask *keep, struct tile_column *column)
{
    uint32_t survivors = tile_count(keep);
    column->dense = survivors && !tile_fetches_singly(t, column, survivors);
    if (column->dense)
        tile_decode(t, column);
}
#define tile_fetch(t, keep, column) tile_fetch_((t), &(keep), &(column))

#define tile_each(t, keep, row)                                                                   \
    for (uint32_t word_##row = 0, row = 0; word_##row < TILE_MASK_WORDS; word_##row++)            \
        for (uint64_t rest_##row = (keep).bits[word_##row];                                       \
             rest_##row && (row = word_##row * 64 + (uint32_t)__builtin_ctzll(rest_##row), true); \
             rest_##row &= rest_##row - 1)

TILE_INLINE int32_t tile_value_(const struct tile *t, const struct tile_column *column, uint32_t row)
{
    return column->dense ? column->values[row] : tile_fetch_single(t, column, row);
}
#define tile_value(t, column, row) tile_value_((t), &(column), (row))

TILE_INLINE uint32_t tile_code_(const struct tile_dimension *dimension, int32_t position)
{
    switch (dimension->code_bytes) {
    case 1:
        return ((const uint8_t *)dimension->codes)[position] - dimension->code_base;
    case 2:
        return ((const uint16_t *)dimension->codes)[position] - dimension->code_base;
    default:
        return ((const uint32_t *)dimension->codes)[position] - dimension->code_base;
    }
}
#define tile_code(dimension, position) tile_code_(&(dimension), (position))

#define tile_group2(sums, a, b)    ((a) * (sums).domain[1] + (b))
#define tile_group3(sums, a, b, c) (((a) * (sums).domain[1] + (b)) * (sums).domain[2] + (c))

/* Sums wrap like two's complement; the engine has proven before that they cannot overflow. */
TILE_INLINE void tile_sum_(struct tile_sums *sums, uint32_t slot, int64_t value)
{
    sums->sums[slot] += value;
    sums->present[slot] = 1;
}
#define tile_sum(t, sums, slot, value) tile_sum_(&(sums), (slot), (value))

#endif
