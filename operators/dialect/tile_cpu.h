/*
 * tile_cpu.h: the tile dialect on a CPU: one thread works on one tile, with its columns in the first-level
 * cache.
 *
 * A filter decodes the whole tile of its column (1024 values, 4 KB) into the thread's buffer, tests the
 * values with vector instructions and packs the result to one bit a row; a plain column is read in place.
 * When few rows survive, a semi-join probes only those, and tile_fetch fetches only their values instead of
 * decoding the tile, where the codec is faster at that (codec.h: fetch_rows). The file is compiled once per
 * instruction set (isa.h). docs/performance.md, "On a CPU", has the figures.
 */
#ifndef TESSERA_OPERATORS_DIALECT_TILE_CPU_H
#define TESSERA_OPERATORS_DIALECT_TILE_CPU_H

#include "operators/dialect/bound.h"
#include "storage/codec/chunk.h"
#include "storage/base/isa.h"

#include <stdbool.h>
#include <stdint.h>
#include <string.h>
#if defined(__AVX2__)
#include <immintrin.h>
#endif

/* With at least this many survivors, a semi-join probes all rows with a gather, which takes 1.0 cycles a row.
 * With fewer, it probes the survivors one by one, which takes 2.7 cycles each. */
#define TILE_GATHER_ROWS 384u

/* With at least this many survivors, a semi-join prefetches its column's next tile in parts, between the
 * words of the mask. With fewer it is too short for that, and prefetches all at once: Q3.2 and Q4.3 at SF 1
 * lost a tenth by parts. */
#define TILE_SPREAD_ROWS 128u

/* With at least this many survivors, a column's next tile is prefetched into the second-level cache, and not past it: three
 * columns of which all rows are summed are read twice as fast so. */
#define TILE_DENSE_ROWS 512u

#define TILE_MASK_WORDS (TILE_ROWS / 64u)

/* Bit r%64 of word r/64: row r of the tile. */
typedef struct {
    uint64_t bits[TILE_MASK_WORDS];
} tile_mask;

/* The survivors of `mask` as row numbers, in order. The list depends on the mask alone, not on the tile, so
 * it is computed again only for another mask. */
struct tile_list {
    tile_mask mask;
    uint32_t count;
    uint16_t rows[TILE_ROWS + 4]; /* written four at a time */
};

/* A column bound to a query. Each thread has its own copy. */
struct tile_column {
    const struct chunk_view *chunk; /* of the current segment; NULL: the query does not use this column */
    const uint32_t *validity;       /* of the current segment; NULL: no NULLs */
    int32_t *buffer;                /* room for TILE_ROWS values, aligned to 64 bytes */
    int64_t *wide; /* the same of int64, in which the chunks are, but all values fit int32; else NULL */
    const int32_t *values; /* the tile's values by row: `buffer`, or for plain the chunk itself */
    int64_t decoded;       /* the tile of this segment whose rows are all in `values`, or -1 */
    int32_t low, high;
    uint32_t
        needed; /* the bits of a value that survivors need; others may be wrong in `values` after a fetch */
};

struct tile_dimension {
    const uint32_t *bitmap;            /* NULL: the cubes alone decide or, without cubes, every row passes */
    const struct position_cube *cubes; /* a row that passes has its position in one of them */
    uint32_t cube_count;               /* 0: there is no such test */
    bool cubes_planes;                 /* the key's codec can test them (codec.h: in_cubes) */
    const void *codes;                 /* of each position >> code_shift */
    uint32_t code_bytes;               /* 1, 2 or 4; 0: the code is (position >> code_shift) & code_mask */
    uint32_t code_base, code_shift, code_mask;
    bool contiguous; /* of all rows those at first .. last pass, so a comparison replaces the probe */
    int32_t first, last;
};

/* A set of keys that is no dimension's. */
struct tile_probe {
    const uint32_t *members; /* bit p%32 of word p/32 for each key low + p; that of p = span + 1 is 0 */
    int32_t low;
    uint32_t span;
    bool negated; /* the keys that are not in it pass */
};

/* Each thread has its own copy; the engine adds the copies up. */
struct tile_sums {
    int64_t *sums;
    uint64_t *present; /* not 0: a row was added */
    uint32_t domain[TILE_GROUPS_MAX];
};

struct tile {
    uint32_t index;         /* within the segment */
    uint32_t rows;          /* 1 .. TILE_ROWS */
    struct tile_list *list; /* the thread's latest list of survivors */
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

/* The position of the lowest set bit; any number below 64 if no bit is set. */
TILE_INLINE uint32_t tile_lowest(uint64_t bits)
{
#if defined(__BMI__)
    return (uint32_t)_tzcnt_u64(bits) & 63;
#else
    return bits ? (uint32_t)__builtin_ctzll(bits) : 0;
#endif
}

TILE_INLINE uint32_t tile_count(const tile_mask *keep)
{
    uint32_t count = 0;
    for (uint32_t word = 0; word < TILE_MASK_WORDS; word++)
        count += (uint32_t)__builtin_popcountll(keep->bits[word]);
    return count;
}

/* Lists the survivors. Rows are written four at a time, even where a word has fewer, because a branch for
 * each row would often be mispredicted. */
static inline const struct tile_list *tile_list_of(const struct tile *t, const tile_mask *keep)
{
    struct tile_list *list = t->list;
    if (memcmp(&list->mask, keep, sizeof *keep) == 0)
        return list;
    uint32_t count = 0;
    for (uint32_t word = 0; word < TILE_MASK_WORDS; word++) {
        uint64_t rest = keep->bits[word];
        const uint32_t end = count + (uint32_t)__builtin_popcountll(rest);
        do {
            for (uint32_t i = 0; i < 4; i++) {
                list->rows[count + i] = (uint16_t)(word * 64 + tile_lowest(rest));
                rest &= rest - 1;
            }
            count += 4;
        } while (count < end);
        count = end;
    }
    list->mask = *keep;
    list->count = count;
    return list;
}

/* The cache lines of a column's next tile, to be prefetched. A query reads 1 to 4 KB of each column in turn,
 * which is too little for the processor's own prefetcher (12 GB/s a core); prefetch instructions reach 36
 * GB/s. They are issued in parts, some for each 64 rows, if there is enough work in between, because a core
 * waits when it has more misses outstanding than it can track. */
struct tile_ahead {
    const uint8_t *at;
    uint32_t lines, lines_a_word; /* all lines; lines for each word of the mask, rounded up */
};

/* Call it before the tile is decoded. If the tile is decoded already, its next tile was prefetched then. */
TILE_INLINE struct tile_ahead tile_ahead_of(const struct tile *t, const struct tile_column *column)
{
    if (column->decoded == (int64_t)t->index)
        return (struct tile_ahead){0};
    uint32_t bytes;
    const uint8_t *const begin = column->chunk->codec->tile_span(column->chunk, t->index, &bytes);
    const uint32_t lines = (bytes + 63) / 64;
    return (struct tile_ahead){begin + bytes, lines, (lines + TILE_MASK_WORDS - 1) / TILE_MASK_WORDS};
}

/* Prefetches the next `lines` lines; any address is legal. It must be inlined: GCC believes that a function
 * which only prefetches has no effect, and removes calls of it. */
TILE_INLINE void tile_ahead_ask(struct tile_ahead *ahead, uint32_t lines)
{
    for (uint32_t line = 0; line < lines; line++, ahead->at += 64)
        __builtin_prefetch(ahead->at, 0, 0);
}

/* Prefetches all lines into the second-level cache, where a core tracks more misses: faster if most rows of all tiles are
 * wanted, and else slower (docs/experiments.md). */
TILE_INLINE void tile_ahead_ask_near(const struct tile_ahead *ahead)
{
    for (uint32_t line = 0; line < ahead->lines; line++)
        __builtin_prefetch(ahead->at + 64 * line, 0, 2);
}

/* Decodes a tile of int64 into the buffer of int32. It is called apart, so that the steps over int32 stay small. */
static __attribute__((noinline, unused)) void tile_decode_narrow(const struct tile *t,
                                                                 struct tile_column *column)
{
    const struct chunk_view *const chunk = column->chunk;
    const int64_t *from = (const int64_t *)(const void *)chunk->data + (size_t)t->index * TILE_ROWS;
    if (chunk->codec->decode_narrow) {
        chunk->codec->decode_narrow(chunk, t->index, column->buffer);
        return;
    }
    if (chunk->codec->layout != CODEC_LAYOUT_VALUES) {
        chunk->codec->decode_tile(chunk, t->index, column->wide);
        from = column->wide;
    }
    for (uint32_t row = 0; row < t->rows; row++)
        column->buffer[row] = (int32_t)from[row];
}

/* Gives all values of the tile, by row; decodes the tile if that is not done yet. */
TILE_INLINE const int32_t *tile_decode(const struct tile *t, struct tile_column *column)
{
    const struct chunk_view *chunk = column->chunk;
    if (column->decoded == (int64_t)t->index)
        return column->values;
    column->decoded = (int64_t)t->index;
    if (column->wide) {
        column->values = column->buffer;
        tile_decode_narrow(t, column);
    } else if (chunk->codec->layout == CODEC_LAYOUT_VALUES) {
        column->values = (const int32_t *)(const void *)chunk->data + (size_t)t->index * TILE_ROWS;
    } else {
        column->values = column->buffer;
        chunk->codec->decode_tile(chunk, t->index, column->buffer);
    }
    return column->values;
}

/* Tests 64 values: bit r is set if low <= values[r] <= high. */
TILE_INLINE uint64_t tile_bits_in_range(const int32_t *values, int32_t low, int32_t high)
{
    uint64_t bits = 0;
#if defined(__AVX512F__)
    const __m512i first = _mm512_set1_epi32(low), last = _mm512_set1_epi32(high);
    for (uint32_t part = 0; part < 4; part++) {
        __m512i value = _mm512_loadu_si512(values + 16 * part);
        __mmask16 above = _mm512_cmple_epi32_mask(first, value);
        bits |= (uint64_t)_mm512_mask_cmple_epi32_mask(above, value, last) << (16 * part);
    }
#elif defined(__AVX2__)
    const __m256i first = _mm256_set1_epi32(low), last = _mm256_set1_epi32(high);
    for (uint32_t part = 0; part < 8; part++) {
        __m256i value = _mm256_loadu_si256((const __m256i *)(values + 8 * part));
        __m256i out = _mm256_or_si256(_mm256_cmpgt_epi32(first, value), _mm256_cmpgt_epi32(value, last));
        bits |= (uint64_t)(uint8_t)~_mm256_movemask_ps(_mm256_castsi256_ps(out)) << (8 * part);
    }
#else
    for (uint32_t row = 0; row < 64; row++)
        bits |= (uint64_t)(values[row] >= low && values[row] <= high) << row;
#endif
    return bits;
}

/* Tests 64 positions: bit r is set if positions[r] is in a cube. */
TILE_INLINE uint64_t tile_bits_in_cubes(const int32_t *positions, const struct position_cube *cubes,
                                        uint32_t count)
{
    uint64_t bits = 0;
    for (uint32_t c = 0; c < count; c++) {
#if defined(__AVX512F__)
        const __m512i care = _mm512_set1_epi32((int32_t)cubes[c].care),
                      wanted = _mm512_set1_epi32((int32_t)cubes[c].value_bits);
        for (uint32_t part = 0; part < 4; part++) {
            const __m512i position = _mm512_loadu_si512(positions + 16 * part);
            bits |= (uint64_t)_mm512_cmpeq_epi32_mask(_mm512_and_si512(position, care), wanted)
                    << (16 * part);
        }
#elif defined(__AVX2__)
        const __m256i care = _mm256_set1_epi32((int32_t)cubes[c].care),
                      wanted = _mm256_set1_epi32((int32_t)cubes[c].value_bits);
        for (uint32_t part = 0; part < 8; part++) {
            const __m256i position = _mm256_loadu_si256((const __m256i *)(positions + 8 * part));
            const __m256i in = _mm256_cmpeq_epi32(_mm256_and_si256(position, care), wanted);
            bits |= (uint64_t)(uint8_t)_mm256_movemask_ps(_mm256_castsi256_ps(in)) << (8 * part);
        }
#else
        for (uint32_t row = 0; row < 64; row++)
            bits |= (uint64_t)(((uint32_t)positions[row] & cubes[c].care) == cubes[c].value_bits) << row;
#endif
    }
    return bits;
}

/* Probes 64 positions: bit r is the bitmap's bit at positions[r]. */
TILE_INLINE uint64_t tile_bits_in_bitmap(const int32_t *positions, const uint32_t *bitmap)
{
    uint64_t bits = 0;
#if defined(__AVX512F__)
    for (uint32_t part = 0; part < 4; part++) {
        __m512i position = _mm512_loadu_si512(positions + 16 * part);
        __m512i word = _mm512_i32gather_epi32(_mm512_srli_epi32(position, 5), bitmap, 4);
        __m512i bit =
            _mm512_sllv_epi32(_mm512_set1_epi32(1), _mm512_and_si512(position, _mm512_set1_epi32(31)));
        bits |= (uint64_t)_mm512_test_epi32_mask(word, bit) << (16 * part);
    }
#elif defined(__AVX2__)
    for (uint32_t part = 0; part < 8; part++) {
        __m256i position = _mm256_loadu_si256((const __m256i *)(positions + 8 * part));
        __m256i word = _mm256_i32gather_epi32((const int *)bitmap, _mm256_srli_epi32(position, 5), 4);
        __m256i rest =
            _mm256_sub_epi32(_mm256_set1_epi32(31), _mm256_and_si256(position, _mm256_set1_epi32(31)));
        __m256i sign = _mm256_sllv_epi32(word, rest); /* the wanted bit becomes the sign bit */
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

/* The same for the rows of `keep` only, four at a time for the reason given at tile_list_of. */
TILE_INLINE uint64_t tile_bits_of_few_in_bitmap(uint64_t keep, const int32_t *positions,
                                                const uint32_t *bitmap)
{
#if defined(__BMI2__)
    uint64_t found = 0;
    uint32_t count = 0;
    uint64_t rest = keep;
    do {
        for (uint32_t i = 0; i < 4; i++) {
            const uint32_t position = (uint32_t)positions[tile_lowest(rest)];
            found |= (uint64_t)(bitmap[position / 32] >> position % 32 & 1) << ((count + i) & 63);
            rest &= rest - 1;
        }
        count += 4;
    } while (rest);
    return _pdep_u64(found, keep);
#else
    uint64_t bits = 0;
    for (uint64_t rest = keep; rest; rest &= rest - 1) {
        const uint32_t row = tile_lowest(rest), position = (uint32_t)positions[row];
        bits |= (uint64_t)(bitmap[position / 32] >> position % 32 & 1) << row;
    }
    return bits;
#endif
}

/* Gathers the validity bits of 64 rows into row order. Validity words are in lane order: bit j of word l is
 * row 32j + l. */
TILE_INLINE uint64_t tile_bits_valid(const uint32_t *validity, uint32_t word)
{
    uint64_t bits = 0;
    for (uint32_t lane = 0; lane < TILE_LANES; lane++)
        bits |= (uint64_t)(validity[lane] >> (2 * word) & 1) << lane |
                (uint64_t)(validity[lane] >> (2 * word + 1) & 1) << (lane + 32);
    return bits;
}

TILE_INLINE tile_mask tile_keep_valid(const struct tile *t, tile_mask keep, const struct tile_column *column)
{
    if (column->validity)
        for (uint32_t word = 0; word < TILE_MASK_WORDS; word++)
            keep.bits[word] &= tile_bits_valid(column->validity + t->index * TILE_LANES, word);
    return keep;
}

TILE_INLINE tile_mask tile_keep_range(const struct tile *t, tile_mask keep, struct tile_column *column,
                                      int32_t low, int32_t high)
{
    struct tile_ahead ahead = tile_ahead_of(t, column);
    if (column->chunk->codec->in_range) {
        tile_ahead_ask(&ahead, ahead.lines);
        tile_mask inside;
        column->chunk->codec->in_range(column->chunk, t->index, low, high, inside.bits);
        for (uint32_t word = 0; word < TILE_MASK_WORDS; word++)
            keep.bits[word] &= inside.bits[word];
        return keep;
    }
    if (tile_count(&keep) == 0)
        return keep;
    const int32_t *values = tile_decode(t, column);
    for (uint32_t word = 0; word < TILE_MASK_WORDS; word++) {
        tile_ahead_ask(&ahead, ahead.lines_a_word);
        keep.bits[word] &= tile_bits_in_range(values + 64 * word, low, high);
    }
    return keep;
}

TILE_INLINE tile_mask tile_filter_(const struct tile *t, tile_mask keep, struct tile_column *column)
{
    return tile_keep_range(t, tile_keep_valid(t, keep, column), column, column->low, column->high);
}
#define tile_filter(t, keep, column) tile_filter_((t), (keep), &(column))

TILE_INLINE tile_mask tile_keep_cubes(const struct tile *t, tile_mask keep, struct tile_column *column,
                                      const struct tile_dimension *dimension)
{
    const struct codec *codec = column->chunk->codec;
    if (tile_count(&keep) == 0)
        return keep;
    if (dimension->cubes_planes && codec->in_cubes) {
        tile_mask inside;
        codec->in_cubes(column->chunk, t->index, dimension->cubes, dimension->cube_count, inside.bits);
        for (uint32_t word = 0; word < TILE_MASK_WORDS; word++)
            keep.bits[word] &= inside.bits[word];
        return keep;
    }
    struct tile_ahead ahead = tile_ahead_of(t, column);
    const int32_t *values = tile_decode(t, column);
    for (uint32_t word = 0; word < TILE_MASK_WORDS; word++) {
        tile_ahead_ask(&ahead, ahead.lines_a_word);
        keep.bits[word] &= tile_bits_in_cubes(values + 64 * word, dimension->cubes, dimension->cube_count);
    }
    return keep;
}

/* The values of the survivors, in rows' places. Codecs that keep bits apart take long for a whole tile. */
TILE_INLINE const int32_t *tile_probed(const struct tile *t, const tile_mask *keep,
                                       struct tile_column *column, uint32_t survivors)
{
    const struct codec *codec = column->chunk->codec;
    if (!codec->in_cubes || survivors > codec->fetch_rows || column->decoded == (int64_t)t->index)
        return tile_decode(t, column);
    codec->fetch(column->chunk, t->index, tile_list_of(t, keep)->rows, survivors, column->buffer);
    return column->buffer;
}

TILE_INLINE tile_mask tile_semi_join_(const struct tile *t, tile_mask keep, struct tile_column *column,
                                      const struct tile_dimension *dimension)
{
    const uint32_t *bitmap = dimension->bitmap;
    keep = tile_keep_valid(t, keep, column);
    if (dimension->cube_count)
        keep = tile_keep_cubes(t, keep, column, dimension);
    if (!bitmap)
        return keep;
    if (dimension->contiguous)
        return tile_keep_range(t, keep, column, dimension->first, dimension->last);
    const uint32_t survivors = tile_count(&keep);
    if (survivors == 0)
        return keep;
    struct tile_ahead ahead = tile_ahead_of(t, column);
    uint32_t lines = ahead.lines_a_word;
    if (survivors < TILE_SPREAD_ROWS) {
        tile_ahead_ask(&ahead, ahead.lines);
        lines = 0;
    }
    const int32_t *values = tile_probed(t, &keep, column, survivors);
    if (survivors >= TILE_GATHER_ROWS)
        for (uint32_t word = 0; word < TILE_MASK_WORDS; word++) {
            tile_ahead_ask(&ahead, lines);
            keep.bits[word] &= tile_bits_in_bitmap(values + 64 * word, bitmap);
        }
    else
        for (uint32_t word = 0; word < TILE_MASK_WORDS; word++) {
            tile_ahead_ask(&ahead, lines);
            keep.bits[word] = tile_bits_of_few_in_bitmap(keep.bits[word], values + 64 * word, bitmap);
        }
    return keep;
}
#define tile_semi_join(t, keep, column, dimension) tile_semi_join_((t), (keep), &(column), &(dimension))

/* Keeps rows whose key is in the set. A key outside low .. low + span probes the bit after the last. */
TILE_INLINE tile_mask tile_probe(const struct tile *t, tile_mask keep, struct tile_column *column,
                                 const struct tile_probe *probe)
{
    keep = tile_keep_valid(t, keep, column);
    const uint32_t survivors = tile_count(&keep);
    if (survivors == 0)
        return keep;
    struct tile_ahead ahead = tile_ahead_of(t, column);
    tile_ahead_ask(&ahead, ahead.lines);
    const int32_t *const values = tile_probed(t, &keep, column, survivors);
    for (uint32_t word = 0; word < TILE_MASK_WORDS; word++) {
        int32_t places[64];
        if (keep.bits[word] == 0)
            continue;
        for (uint32_t row = 0; row < 64; row++) {
            const uint32_t place = (uint32_t)values[64 * word + row] - (uint32_t)probe->low;
            places[row] = (int32_t)(place <= probe->span ? place : probe->span + 1);
        }
        const uint64_t inside = tile_bits_in_bitmap(places, probe->members);
        keep.bits[word] &= probe->negated ? ~inside : inside;
    }
    return keep;
}

/* Puts the values of these rows into column->values[row]: fetches them one by one where that is faster, else
 * decodes the tile. Only the needed bits are read where the codec keeps bits apart. */
TILE_INLINE void tile_fetch_rows(const struct tile *t, struct tile_column *column, const uint16_t *rows,
                                 uint32_t count)
{
    const struct codec *codec = column->chunk->codec;
    if (count == 0 || column->decoded == (int64_t)t->index)
        return;
    if (column->needed != UINT32_MAX && codec->fetch_bits) {
        codec->fetch_bits(column->chunk, t->index, rows, count, column->needed, column->buffer);
        column->values = column->buffer;
        return;
    }
    struct tile_ahead ahead = tile_ahead_of(t, column);
    if (count >= TILE_DENSE_ROWS)
        tile_ahead_ask_near(&ahead);
    else
        tile_ahead_ask(&ahead, ahead.lines);
    if (count > codec->fetch_rows || column->wide) {
        tile_decode(t, column);
        return;
    }
    codec->fetch(column->chunk, t->index, rows, count, column->buffer);
    column->values = column->buffer;
}

/* Values are fetched one by one only here and not in filters, because tile_each needs the list of survivors
 * in any case. */
TILE_INLINE void tile_fetch_(const struct tile *t, const tile_mask *keep, struct tile_column *column)
{
    const struct tile_list *list = tile_list_of(t, keep);
    tile_fetch_rows(t, column, list->rows, list->count);
}
#define tile_fetch(t, keep, column) tile_fetch_((t), &(keep), &(column))

#define tile_each(t, keep, row)                                                                          \
    for (const struct tile_list *list_##row = tile_list_of((t), &(keep)); list_##row; list_##row = NULL) \
        for (uint32_t at_##row = 0, row;                                                                 \
             at_##row < list_##row->count && (row = list_##row->rows[at_##row], true); at_##row++)

#define tile_value(t, column, row) ((column).values[row])

TILE_INLINE uint32_t tile_code_(const struct tile_dimension *dimension, int32_t position)
{
    const uint32_t at = (uint32_t)position >> dimension->code_shift;
    switch (dimension->code_bytes) {
    case 0:
        return at & dimension->code_mask;
    case 1:
        return ((const uint8_t *)dimension->codes)[at] - dimension->code_base;
    case 2:
        return ((const uint16_t *)dimension->codes)[at] - dimension->code_base;
    default:
        return ((const uint32_t *)dimension->codes)[at] - dimension->code_base;
    }
}
#define tile_code(dimension, position) tile_code_(&(dimension), (position))

#define tile_group2(sums, a, b)    ((a) * (sums).domain[1] + (b))
#define tile_group3(sums, a, b, c) (((a) * (sums).domain[1] + (b)) * (sums).domain[2] + (c))

/* The engine has proven before the run that sums cannot overflow. */
TILE_INLINE void tile_sum_(struct tile_sums *sums, uint32_t slot, int64_t value)
{
    sums->sums[slot] += value;
    sums->present[slot] = 1;
}
#define tile_sum(t, sums, slot, value) tile_sum_(&(sums), (slot), (value))

#endif
