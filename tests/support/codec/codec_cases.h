/*
 * codec_cases.h: the tests that every codec must pass; each codec's own test adds its special cases.
 *
 * A round trip encodes with every instruction set of this machine, each time into memory with different
 * garbage, and expects the same bytes from all of them. It opens the chunk in memory of exactly its size, so
 * that AddressSanitizer finds a read of one byte too many. Then it compares each decoded tile and single
 * values with the input.
 */
#ifndef TESSERA_TESTS_SUPPORT_CODEC_CODEC_CASES_H
#define TESSERA_TESTS_SUPPORT_CODEC_CODEC_CASES_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>

#include "storage/codec/chunk_reader.h"
#include "tests/support/codec/codec_input.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define CODEC_CASES_SEED UINT64_C(20260)

/* splitmix64 (Steele et al., OOPSLA 2014) */
static inline uint64_t random_next(uint64_t *state)
{
    uint64_t z = *state += UINT64_C(0x9e3779b97f4a7c15);
    z = (z ^ z >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
    z = (z ^ z >> 27) * UINT64_C(0x94d049bb133111eb);
    return z ^ z >> 31;
}

static inline uint64_t random_bits(uint64_t *state, unsigned width)
{
    return width ? random_next(state) >> (64 - width) : 0;
}

static inline void *cases_allocate(size_t bytes)
{
    void *memory = aligned_alloc(CHUNK_ALIGNMENT, (bytes + CHUNK_ALIGNMENT - 1) & ~(size_t)127);
    assert_non_null(memory);
    return memory;
}

static inline int64_t cases_value(const void *values, uint32_t row, uint32_t value_bytes)
{
    return value_bytes == 4 ? ((const int32_t *)values)[row] : ((const int64_t *)values)[row];
}

static inline void cases_set(void *values, uint32_t row, uint32_t value_bytes, uint64_t value)
{
    if (value_bytes == 4)
        ((uint32_t *)values)[row] = (uint32_t)value;
    else
        ((uint64_t *)values)[row] = value;
}

/* The tiles' bytes are in the chunk, one tile after the other, without gaps or overlaps. */
static inline void check_spans(const struct chunk_view *chunk)
{
    const uint8_t *end = NULL;
    for (uint32_t t = 0; t < chunk->tiles; t++) {
        uint32_t bytes = UINT32_MAX;
        const uint8_t *const begin = chunk->codec->tile_span(chunk, t, &bytes);
        assert_true(begin >= chunk->data && begin <= chunk->bytes + chunk->size);
        assert_in_range(bytes, 0, (size_t)(chunk->bytes + chunk->size - begin));
        if (end)
            assert_ptr_equal(begin, end);
        end = begin + bytes;
    }
}

/* Fetches every third row of a tile: their values are right, and no other row is written. */
static inline void check_fetches(const struct chunk_view *chunk, const void *values)
{
    for (uint32_t t = 0; t < chunk->tiles; t++) {
        const uint32_t first = t * TILE_ROWS;
        const uint32_t here = chunk->rows - first < TILE_ROWS ? chunk->rows - first : TILE_ROWS;
        int32_t got[TILE_ROWS];
        uint16_t rows[TILE_ROWS];
        uint32_t count = 0;
        memset(got, 0xcc, sizeof got);
        for (uint32_t row = t % 3; row < here; row += 3)
            rows[count++] = (uint16_t)row;
        chunk->codec->fetch(chunk, t, rows, count, got);
        for (uint32_t row = 0; row < TILE_ROWS; row++)
            assert_int_equal(got[row], row < here && row % 3 == t % 3 ? ((const int32_t *)values)[first + row]
                                                                      : (int32_t)0xcccccccc);
    }
}

/* All blocks, one after the other. */
static inline void check_blocks(const struct chunk_view *chunk, const void *values)
{
    void *decoded = cases_allocate((size_t)chunk->tiles * TILE_ROWS * chunk->value_bytes);
    assert_null(chunk->codec->decode_tile);
    assert_int_equal(chunk_decode(chunk, 0, chunk->tiles, decoded, NULL), STATUS_OK);
    assert_memory_equal(decoded, values, (size_t)chunk->rows * chunk->value_bytes);
    free(decoded);
}

/* Numbers of 64 bits that all fit 32 are decoded as these, and ranges are those of 32 bits. */
static inline void check_narrow(const struct chunk_view *chunk, const int64_t *values)
{
    _Alignas(64) static int32_t tile[TILE_ROWS];
    bool fit = true;
    for (uint32_t row = 0; row < chunk->rows; row++)
        fit &= values[row] == (int32_t)values[row];
    for (uint32_t row = 0; fit && row < chunk->rows; row++) {
        uint64_t bits[TILE_ROWS / 64];
        const uint32_t in_tile = row % TILE_ROWS;
        if (in_tile == 0)
            chunk->codec->decode_narrow(chunk, row / TILE_ROWS, tile);
        assert_int_equal(tile[in_tile], values[row]);
        if (!chunk->codec->in_range || row % 97)
            continue;
        chunk->codec->in_range(chunk, row / TILE_ROWS, tile[in_tile], INT32_MAX, bits);
        for (uint32_t r = row - in_tile; r < chunk->rows && r < row - in_tile + TILE_ROWS; r++)
            assert_int_equal(bits[r % TILE_ROWS / 64] >> r % 64 & 1, values[r] >= values[row]);
    }
}

static inline void check_decodes(const struct chunk_view *chunk, const void *values)
{
    if (chunk->codec->decode_block) {
        check_blocks(chunk, values);
        return;
    }
    _Alignas(64) static int64_t tile[TILE_ROWS];
    for (uint32_t t = 0; t < chunk->tiles; t++) {
        const uint32_t first = t * TILE_ROWS;
        const uint32_t here = chunk->rows - first < TILE_ROWS ? chunk->rows - first : TILE_ROWS;
        memset(tile, 0xcc, sizeof tile);
        chunk->codec->decode_tile(chunk, t, tile);
        assert_memory_equal(tile, (const uint8_t *)values + (size_t)first * chunk->value_bytes,
                            (size_t)here * chunk->value_bytes);
    }
    check_spans(chunk);
    if (chunk->codec->fetch && chunk->value_bytes == 4)
        check_fetches(chunk, values);
    if (chunk->codec->decode_narrow && chunk->value_bytes == 8)
        check_narrow(chunk, values);
    /* Every row where that is cheap; otherwise a step that is coprime to every block size. */
    const uint32_t step = chunk->rows > 3000 ? 997 : chunk->codec->random_access ? 1 : 37;
    for (uint32_t row = 0; row < chunk->rows; row += step)
        assert_int_equal(chunk->codec->value(chunk, row), cases_value(values, row, chunk->value_bytes));
    assert_int_equal(chunk->codec->value(chunk, chunk->rows - 1),
                     cases_value(values, chunk->rows - 1, chunk->value_bytes));
}

/* Returns the size of the chunk; 0 if the codec cannot hold the values, of which all instruction sets must be agreed. */
static inline size_t check_round_trip(enum codec_id id, const void *values, uint32_t rows,
                                      uint32_t value_bytes)
{
    uint8_t *expected = NULL;
    size_t expected_bytes = 0;
    if (!codec_holds(codec_by_id(id), value_bytes))
        return 0;
    for (int level = 0; level <= (int)isa_level(); level++) {
        const struct codec *codec = codec_by_id_isa(id, (enum isa_level)level);
        assert_non_null(codec);
        const size_t bound = codec->bound(rows, value_bytes);
        assert_int_equal(bound % CHUNK_ALIGNMENT, 0);
        uint8_t *encoded = cases_allocate(bound);
        memset(encoded, 0x55 + level, bound);
        const size_t bytes = codec_encode(codec, values, rows, value_bytes, encoded);
        if (bytes == 0) {
            assert_null(expected);
            free(encoded);
            continue;
        }
        assert_true(expected || level == 0);
        assert_in_range(bytes, CHUNK_ALIGNMENT, bound);
        assert_int_equal(bytes % CHUNK_ALIGNMENT, 0);
        uint8_t *exact = cases_allocate(bytes);
        memcpy(exact, encoded, bytes);
        free(encoded);

        struct chunk_view chunk;
        struct error error = {0};
        if (chunk_open(exact, bytes, &chunk, &error) != STATUS_OK)
            fail_msg("%s, %s, %u rows: %s", codec->name, isa_name((enum isa_level)level), rows, error.text);
        assert_int_equal(chunk.codec->id, id);
        chunk.codec = codec;
        check_decodes(&chunk, values);
        if (!expected) {
            expected = exact;
            expected_bytes = bytes;
            continue;
        }
        assert_int_equal(bytes, expected_bytes);
        assert_memory_equal(exact, expected, bytes);
        free(exact);
    }
    free(expected);
    return expected_bytes;
}

static inline enum codec_id cases_codec(void **state)
{
    return *(const enum codec_id *)*state;
}

/* Values of exactly each width, with a random reference. */
static inline void round_trip_at_every_width(void **state)
{
    uint64_t random = CODEC_CASES_SEED;
    const uint32_t rows = 2 * TILE_ROWS + 300;
    int64_t *values = cases_allocate(rows * sizeof *values);
    for (uint32_t value_bytes = 4; value_bytes <= 8; value_bytes += 4)
        for (unsigned width = 0; width <= value_bytes * 8; width++) {
            const uint64_t reference = random_next(&random);
            for (uint32_t i = 0; i < rows; i++)
                cases_set(values, i, value_bytes, reference + random_bits(&random, width));
            check_round_trip(cases_codec(state), values, rows, value_bytes);
        }
    free(values);
}

static inline void fill_uniform(void *values, uint32_t rows, uint32_t value_bytes, uint64_t *random)
{
    for (uint32_t i = 0; i < rows; i++)
        cases_set(values, i, value_bytes, random_bits(random, 11));
}

static inline void fill_sorted(void *values, uint32_t rows, uint32_t value_bytes, uint64_t *random)
{
    uint64_t value = random_next(random) >> 40;
    for (uint32_t i = 0; i < rows; i++)
        cases_set(values, i, value_bytes, value += random_bits(random, 3));
}

static inline void fill_descending(void *values, uint32_t rows, uint32_t value_bytes, uint64_t *random)
{
    (void)random;
    for (uint32_t i = 0; i < rows; i++)
        cases_set(values, i, value_bytes, UINT64_C(0) - i);
}

static inline void fill_short_runs(void *values, uint32_t rows, uint32_t value_bytes, uint64_t *random)
{
    uint64_t value = 0;
    for (uint32_t i = 0, left = 0; i < rows; i++, left--) {
        if (left == 0) {
            left = 1 + (uint32_t)random_bits(random, 3);
            value = random_bits(random, 20) - 77777;
        }
        cases_set(values, i, value_bytes, value);
    }
}

static inline void fill_long_runs(void *values, uint32_t rows, uint32_t value_bytes, uint64_t *random)
{
    uint64_t value = 0;
    for (uint32_t i = 0, left = 0; i < rows; i++, left--) {
        if (left == 0) {
            left = 1 + (uint32_t)random_bits(random, 12);
            value = random_next(random);
        }
        cases_set(values, i, value_bytes, value);
    }
}

static inline void fill_equal(void *values, uint32_t rows, uint32_t value_bytes, uint64_t *random)
{
    const uint64_t value = random_next(random);
    for (uint32_t i = 0; i < rows; i++)
        cases_set(values, i, value_bytes, value);
}

static inline void fill_alternating(void *values, uint32_t rows, uint32_t value_bytes, uint64_t *random)
{
    (void)random;
    for (uint32_t i = 0; i < rows; i++)
        cases_set(values, i, value_bytes, i % 2 ? UINT64_C(0) - 5 : 1000000);
}

static inline uint64_t type_least(uint32_t value_bytes)
{
    return UINT64_C(1) << (value_bytes * 8 - 1);
}

/* The greatest differences: the least and the greatest value of the type next to each other. */
static inline void fill_extremes(void *values, uint32_t rows, uint32_t value_bytes, uint64_t *random)
{
    for (uint32_t i = 0; i < rows; i++)
        cases_set(values, i, value_bytes, type_least(value_bytes) - random_bits(random, 1));
}

static inline void fill_one_outlier(void *values, uint32_t rows, uint32_t value_bytes, uint64_t *random)
{
    for (uint32_t i = 0; i < rows; i++)
        cases_set(values, i, value_bytes, random_bits(random, 2));
    cases_set(values, rows / 2, value_bytes, type_least(value_bytes));
}

static inline void fill_anything(void *values, uint32_t rows, uint32_t value_bytes, uint64_t *random)
{
    for (uint32_t i = 0; i < rows; i++)
        cases_set(values, i, value_bytes, random_next(random));
}

static void (*const fills[])(void *, uint32_t, uint32_t, uint64_t *) = {
    fill_uniform, fill_sorted,      fill_descending, fill_short_runs,  fill_long_runs,
    fill_equal,   fill_alternating, fill_extremes,   fill_one_outlier, fill_anything,
};

static inline void round_trip_at_odd_sizes_and_shapes(void **state)
{
    static const uint32_t sizes[] = {1,   2,   31,  32,   33,   127,  128,      129,
                                     511, 512, 513, 1023, 1024, 1025, 4096 + 7, 100001};
    uint64_t random = CODEC_CASES_SEED;
    for (size_t s = 0; s < sizeof sizes / sizeof *sizes; s++)
        for (size_t f = 0; f < sizeof fills / sizeof *fills; f++)
            for (uint32_t value_bytes = 4; value_bytes <= 8; value_bytes += 4) {
                /* of exactly this size, so that AddressSanitizer finds a read after the last value */
                void *values = malloc((size_t)sizes[s] * value_bytes);
                assert_non_null(values);
                fills[f](values, sizes[s], value_bytes, &random);
                check_round_trip(cases_codec(state), values, sizes[s], value_bytes);
                free(values);
            }
}

/* Bits a value of a whole chunk, including header, directory and padding. */
static inline double bits_a_value(enum codec_id id, const void *values, uint32_t rows, uint32_t value_bytes)
{
    return (double)check_round_trip(id, values, rows, value_bytes) * 8 / rows;
}

static inline void check_bits(double measured, double expected, double tolerance)
{
    if (measured < expected - tolerance || measured > expected + tolerance)
        fail_msg("%.3f bits a value, expected %.3f within %.3f", measured, expected, tolerance);
}

/* Two codecs that differ only in the way in which a GPU decodes them: all bytes but the number are the same. */
static inline void check_same_bytes(enum codec_id id, enum codec_id as)
{
    const uint32_t rows = 3 * TILE_ROWS + 77;
    const struct codec *codecs[] = {codec_by_id(id), codec_by_id(as)};
    uint64_t random = CODEC_CASES_SEED;
    for (size_t f = 0; f < sizeof fills / sizeof *fills; f++)
        for (uint32_t value_bytes = 4; value_bytes <= 8; value_bytes += 4) {
            void *values = cases_allocate((size_t)rows * value_bytes);
            uint8_t *chunk[2];
            size_t bytes[2];
            fills[f](values, rows, value_bytes, &random);
            for (int i = 0; i < 2; i++) {
                chunk[i] = cases_allocate(codecs[i]->bound(rows, value_bytes));
                bytes[i] = codec_encode(codecs[i], values, rows, value_bytes, chunk[i]);
            }
            assert_int_equal(bytes[0], bytes[1]);
            assert_memory_equal(chunk[0] + sizeof(uint32_t), chunk[1] + sizeof(uint32_t),
                                bytes[0] - sizeof(uint32_t));
            free(chunk[0]);
            free(chunk[1]);
            free(values);
        }
}

#define CODEC_CASES(ID)                                         \
    cmocka_unit_test_prestate(round_trip_at_every_width, (ID)), \
        cmocka_unit_test_prestate(round_trip_at_odd_sizes_and_shapes, (ID))

#endif
