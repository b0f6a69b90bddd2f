/*
 * posting_lists.h: d-gaps of uniform lists, for the tests of the codecs for posting lists (Mallia et al., CIKM 2019,
 * section 4), and the checks that codecs of one scheme share.
 */
#ifndef TESSERA_TESTS_SUPPORT_CODEC_POSTING_LISTS_H
#define TESSERA_TESTS_SUPPORT_CODEC_POSTING_LISTS_H

#include "tests/support/codec/codec_cases.h"

/* The d-gaps of 2^count_log distinct numbers below 2^limit_log, uniformly drawn and sorted; free() them. */
static inline int32_t *posting_gaps(unsigned count_log, unsigned limit_log)
{
    const uint64_t words = (UINT64_C(1) << limit_log) / 64;
    uint64_t *drawn = calloc(words, sizeof *drawn), seed = CODEC_CASES_SEED;
    int32_t *gaps = malloc((sizeof *gaps) << count_log);
    assert_non_null(drawn);
    assert_non_null(gaps);
    for (uint32_t count = 0; count < UINT32_C(1) << count_log;) {
        const uint64_t number = random_bits(&seed, limit_log), bit = UINT64_C(1) << number % 64;
        count += !(drawn[number / 64] & bit);
        drawn[number / 64] |= bit;
    }
    int64_t before = 0;
    uint32_t count = 0;
    for (uint64_t word = 0; word < words; word++)
        for (uint64_t bits = drawn[word]; bits; bits &= bits - 1) {
            const int64_t number = (int64_t)(word * 64) + __builtin_ctzll(bits);
            gaps[count++] = (int32_t)(number - before);
            before = number;
        }
    free(drawn);
    return gaps;
}

/* The bits an integer of Table 1, within 2 %: 2^16 integers below 2^29, and the density of 2^25 below 2^29. */
static inline void check_published_bits(enum codec_id id, double sparse, double dense)
{
    int32_t *gaps = posting_gaps(16, 29);
    check_bits(bits_a_value(id, gaps, 1u << 16, 4), sparse, sparse * 0.02);
    free(gaps);
    gaps = posting_gaps(20, 24);
    check_bits(bits_a_value(id, gaps, 1u << 20, 4), dense, dense * 0.02);
    free(gaps);
}

/* Moves one end point of a sound chunk of one tile, and expects that it is refused. */
static inline void check_end_point_refused(uint8_t *chunk, uint32_t block, int32_t by)
{
    uint32_t *const end = (uint32_t *)(chunk + sizeof(struct chunk_header)) + block;
    const uint64_t size = ((const struct chunk_header *)chunk)->chunk_bytes;
    struct chunk_view view;
    assert_int_equal(chunk_open(chunk, size, &view, NULL), STATUS_OK);
    *end += (uint32_t)by;
    assert_int_equal(chunk_open(chunk, size, &view, NULL), STATUS_BAD_INPUT);
    *end -= (uint32_t)by;
}

/* ---- Binary packing (gpu_bp.h) ---- */

/* The worked example of docs/codecs.md: row r holds r % 8, but row 200 holds 1000. Returns the chunk. */
static inline uint8_t *check_packed_example(enum codec_id id, uint32_t block_rows)
{
    static const uint8_t narrow[] = {0x88, 0xc6, 0xfa};
    static const uint8_t wide[] = {0x00, 0x04, 0x20, 0xc0, 0x00, 0x04, 0x14, 0x60, 0xc0, 0x01};
    int32_t values[TILE_ROWS];
    for (int32_t r = 0; r < (int32_t)TILE_ROWS; r++)
        values[r] = r == 200 ? 1000 : r % 8;
    const struct codec *codec = codec_by_id(id);
    uint8_t *chunk = cases_allocate(codec->bound(TILE_ROWS, 4));
    assert_true(codec_encode(codec, values, TILE_ROWS, 4, chunk) > 0);
    const uint32_t *end = (const uint32_t *)(chunk + 64);
    const uint8_t *data = chunk + 128;
    for (uint32_t block = 0, at = 0; block < TILE_ROWS / block_rows; block++, end++) {
        const uint32_t width = block == 200 / block_rows ? 10 : 3;
        assert_int_equal(*end, at);
        for (uint32_t byte = 0; byte < block_rows * width / 8; byte++) {
            const uint8_t expected = width == 3 ? narrow[byte % 3] : wide[byte % 10];
            const uint32_t outlier =
                200 % block_rows * 10 / 8; /* its first byte; the packed 0 changes to 1000 */
            assert_int_equal(data[at * 4 + byte], width == 3            ? expected
                                                  : byte == outlier     ? 0xe8
                                                  : byte == outlier + 1 ? 0x07
                                                                        : expected);
        }
        at += block_rows * width / 32;
        assert_int_equal(end[1], at);
    }
    return chunk;
}

/* ---- Bytes with selectors (gpu_vbyte.h) ---- */

/* The worked example of docs/codecs.md: row r holds r % 8, but rows 3, 20 and 21 hold 300, -1 and 70000. Returns the
 * chunk. */
static inline uint8_t *check_bytes_example(enum codec_id id, uint32_t block_rows)
{
    static const uint8_t selectors[] = {0x40, 0x00, 0x00, 0x00, 0x00, 0x0b, 0x00, 0x00};
    static const uint8_t first_bytes[] = {0, 1,    2,    0x2c, 0x01, 4,    5,    6,   7, 0,
                                          1, 2,    3,    4,    5,    6,    7,    0,   1, 2,
                                          3, 0xff, 0xff, 0xff, 0xff, 0x70, 0x11, 0x01};
    static const uint8_t padding[4] = {0};
    uint8_t expected[2048] = {0};
    int32_t values[TILE_ROWS];
    for (int32_t r = 0; r < (int32_t)TILE_ROWS; r++)
        values[r] = r == 3 ? 300 : r == 20 ? -1 : r == 21 ? 70000 : r % 8;
    const struct codec *codec = codec_by_id(id);
    uint8_t *chunk = cases_allocate(codec->bound(TILE_ROWS, 4));
    assert_true(codec_encode(codec, values, TILE_ROWS, 4, chunk) > 0);
    const uint32_t *end = (const uint32_t *)(chunk + 64), header = block_rows / 4;
    const uint8_t *block = chunk + 128;
    for (uint32_t row = 0; row < TILE_ROWS; row += block_rows, end++) {
        uint32_t bytes = 0;
        memset(expected, 0, header);
        if (row == 0) { /* 22 rows in 28 bytes */
            memcpy(expected, selectors, sizeof selectors);
            memcpy(expected + header, first_bytes, bytes = sizeof first_bytes);
        }
        for (uint32_t r = row ? 0 : 22; r < block_rows; r++)
            expected[header + bytes++] = (uint8_t)(r % 8);
        assert_memory_equal(block, expected, header + bytes);
        assert_int_equal(end[1] - end[0], (header + bytes) / 4 * 4 + 4);
        assert_memory_equal(block + header + bytes, padding, end[1] - end[0] - header - bytes);
        block += end[1] - end[0];
    }
    return chunk;
}

/* All lengths in the same block, by which a value's place differs from every other value's. */
static inline void check_mixed_lengths(enum codec_id id)
{
    const uint32_t rows = 5 * TILE_ROWS + 77;
    uint64_t seed = CODEC_CASES_SEED, *values = cases_allocate(rows * sizeof *values);
    for (uint32_t value_bytes = 4; value_bytes <= 8; value_bytes += 4)
        for (int round = 0; round < 4; round++) {
            for (uint32_t i = 0; i < rows; i++)
                cases_set(values, i, value_bytes,
                          random_bits(&seed, (unsigned)random_bits(&seed, 8) % (value_bytes * 8 + 1)));
            check_round_trip(id, values, rows, value_bytes);
        }
    free(values);
}

#endif
