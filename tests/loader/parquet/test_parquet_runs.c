/*
 * test_parquet_runs.c: Parquet's runs, levels and deltas: the examples of the header, every width against a slow
 * decoder, lengths about groups of 8, and bytes that end too early or say too much.
 */
#define _GNU_SOURCE
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>

#include "loader/parquet/parquet_runs.h"

#include <stdlib.h>
#include <string.h>

#define ROOM  (64u << 10)
#define SPARE 64u /* that a decoder may read after the end */

static uint8_t stream[ROOM + SPARE];

static struct parquet_bytes bytes_of(size_t count)
{
    return (struct parquet_bytes){stream, stream + count};
}

#define STREAM(...)                                                                          \
    (memcpy(stream, (const uint8_t[]){__VA_ARGS__}, sizeof((const uint8_t[]){__VA_ARGS__})), \
     bytes_of(sizeof((const uint8_t[]){__VA_ARGS__})))

static void the_headers_examples_are_right(void **state)
{
    uint32_t out[8];
    int64_t numbers[5];
    (void)state;
    struct parquet_bytes bytes = STREAM(0x06, 0x01);
    assert_true(parquet_runs_decode(&bytes, 1, 3, out));
    assert_true(out[0] == 1 && out[1] == 1 && out[2] == 1 && bytes.at == bytes.end);
    bytes = STREAM(0x03, 0x88, 0xc6, 0xfa);
    assert_true(parquet_runs_decode(&bytes, 3, 8, out));
    for (uint32_t i = 0; i < 8; i++)
        assert_int_equal(out[i], i);
    bytes = STREAM(0x80, 0x01, 0x04, 0x05, 0x0e, 0x02, 0x00, 0x00, 0x00, 0x00);
    assert_true(parquet_deltas_decode(&bytes, false, 5, numbers));
    for (int i = 0; i < 5; i++)
        assert_int_equal(numbers[i], 7 + i);
    assert_ptr_equal(bytes.at, bytes.end);
}

/* Packs values from the lowest bit on. */
static size_t pack(const uint64_t *values, uint32_t count, uint32_t width, uint8_t *out)
{
    const size_t size = ((size_t)count * width + 7) / 8;
    memset(out, 0, size);
    for (uint32_t i = 0; i < count; i++)
        for (uint32_t b = 0; b < width; b++) {
            const size_t bit = (size_t)i * width + b;
            out[bit / 8] |= (uint8_t)((values[i] >> b & 1) << bit % 8);
        }
    return size;
}

static uint64_t value_of(uint32_t i, uint32_t width)
{
    const uint64_t mixed = (i + 1) * 0x9e3779b97f4a7c15ull;
    return width == 0 ? 0 : (mixed ^ mixed >> 29) >> (64 - width);
}

static void packed_values_of_every_width_are_decoded(void **state)
{
    static uint64_t values[1032];
    static uint32_t out[1032];
    (void)state;
    for (uint32_t width = 0; width <= 32; width++)
        for (uint32_t count = 1; count <= 1025; count += count < 40 ? 1 : 197) {
            const uint32_t groups = (count + 7) / 8;
            for (uint32_t i = 0; i < groups * 8; i++)
                values[i] = value_of(i, width);
            const uint32_t header = groups << 1 | 1;
            size_t size = 0;
            stream[size++] = (uint8_t)(header < 128 ? header : header | 128);
            if (header >= 128)
                stream[size++] = (uint8_t)(header >> 7);
            size += pack(values, groups * 8, width, stream + size);
            struct parquet_bytes bytes = bytes_of(size);
            assert_true(parquet_runs_decode(&bytes, width, count, out));
            for (uint32_t i = 0; i < count; i++)
                assert_int_equal(out[i], values[i]);
            assert_ptr_equal(bytes.at, bytes.end);
            bytes = bytes_of(size - 1 - (size_t)width); /* the last group is missing */
            assert_false(parquet_runs_decode(&bytes, width, count, out) && width > 0);
        }
}

static void deltas_of_every_width_are_decoded(void **state)
{
    static uint64_t deltas[256];
    static int64_t out[258];
    (void)state;
    for (uint32_t width = 0; width <= 64; width++) {
        /* blocks of 128 values in 4 miniblocks; 258 values: the first one, a whole block, a whole block, one */
        size_t size = 0;
        stream[size++] = 0x80;
        stream[size++] = 0x01;
        stream[size++] = 4;
        stream[size++] = 0x82; /* 258 */
        stream[size++] = 0x02;
        stream[size++] = 0x05; /* -3 */
        for (uint32_t i = 0; i < 256; i++)
            deltas[i] = value_of(i, width);
        for (uint32_t block = 0; block < 2; block++) {
            stream[size++] = 0x03; /* least: -2 */
            for (uint32_t m = 0; m < 4; m++)
                stream[size++] = (uint8_t)width;
            size += pack(deltas + block * 128, 128, width, stream + size);
        }
        memcpy(stream + size, (const uint8_t[]){0x08, 1, 77, 77, 77, 0xff, 0xff, 0xff, 0xff}, 9); /* 4 + 1 */
        size += 9;
        struct parquet_bytes bytes = bytes_of(size);
        assert_true(parquet_deltas_decode(&bytes, false, 258, out));
        assert_ptr_equal(bytes.at, bytes.end);
        uint64_t sum = (uint64_t)-3;
        assert_int_equal(out[0], sum);
        for (uint32_t i = 0; i < 256; i++) {
            sum += deltas[i] - 2;
            assert_true((uint64_t)out[1 + i] == sum);
        }
        assert_true((uint64_t)out[257] == sum + 5);
        bytes = bytes_of(size);
        assert_true(parquet_deltas_decode(&bytes, true, 258, out));
        assert_true(out[257] == (int32_t)(sum + 5));
        bytes = bytes_of(size);
        assert_false(parquet_deltas_decode(&bytes, false, 257, out));
        for (size_t less = 0; less < size - 4; less += 7) {
            bytes = bytes_of(less);
            assert_false(parquet_deltas_decode(&bytes, false, 258, out));
        }
    }
}

static void levels_are_nulls(void **state)
{
    static uint8_t out[1025];
    uint32_t nulls = 0;
    (void)state;
    struct parquet_bytes bytes = STREAM(0x82, 0x10, 0x01); /* 1025 of 1 */
    assert_true(parquet_runs_all_one(&bytes, 1025));
    assert_false(parquet_runs_all_one(&bytes, 1026));
    assert_true(parquet_levels_decode(&bytes, false, 1025, out, &nulls));
    assert_int_equal(nulls, 0);
    bytes = STREAM(0x04, 0x00, 0x03, 0xb5, 0x02, 0x01); /* 0 0, 1 0 1 0 1 1 0 1, 1 */
    assert_false(parquet_runs_all_one(&bytes, 2));
    assert_true(parquet_levels_decode(&bytes, false, 11, out, &nulls));
    assert_memory_equal(out, ((const uint8_t[]){1, 1, 0, 1, 0, 1, 0, 0, 1, 0, 0}), 11);
    assert_int_equal(nulls, 5);
    bytes = STREAM(0xa0, 0x40); /* from the highest bit on: 1 0 1 0 0 0 0 0, 0 1 */
    nulls = 0;
    assert_true(parquet_levels_decode(&bytes, true, 10, out, &nulls));
    assert_memory_equal(out, ((const uint8_t[]){0, 1, 0, 1, 1, 1, 1, 1, 1, 0}), 10);
    assert_int_equal(nulls, 7);
    bytes = STREAM(0x04, 0x02);
    assert_false(parquet_levels_decode(&bytes, false, 2, out, &nulls)); /* a level of 2 */
    bytes = STREAM(0xa0);
    assert_false(parquet_levels_decode(&bytes, true, 9, out, &nulls));
}

static void wrong_bytes_are_refused(void **state)
{
    uint32_t out[64];
    int64_t numbers[64];
    (void)state;
    struct parquet_bytes bytes = STREAM(0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff);
    assert_false(parquet_runs_decode(&bytes, 1, 64, out)); /* a header without an end */
    bytes = STREAM(0x06);
    assert_false(parquet_runs_decode(&bytes, 1, 3, out)); /* a run without a value */
    bytes = STREAM(0x06, 0x01);
    assert_false(parquet_runs_decode(&bytes, 1, 4, out)); /* one too few */
    bytes = STREAM(0x06, 0x01);
    assert_false(parquet_runs_decode(&bytes, 33, 1, out));
    bytes = STREAM(0x00, 0x00, 0x00, 0x00);
    assert_false(parquet_runs_decode(&bytes, 1, 1, out)); /* runs of nothing */
    bytes = STREAM(0xfe, 0xff, 0xff, 0xff, 0xff, 0x0f, 0x01);
    assert_true(parquet_runs_decode(&bytes, 1, 64, out)); /* a run may be longer than what is wanted */
    bytes = STREAM(0x00, 0x04, 0x05, 0x0e);
    assert_false(parquet_deltas_decode(&bytes, false, 5, numbers)); /* blocks of nothing */
    bytes = STREAM(0x80, 0x01, 0x00, 0x05, 0x0e);
    assert_false(parquet_deltas_decode(&bytes, false, 5, numbers)); /* no miniblocks */
    bytes = STREAM(0x80, 0x01, 0x20, 0x05, 0x0e, 0x02);
    assert_false(parquet_deltas_decode(&bytes, false, 5, numbers)); /* miniblocks of 4 */
    bytes = STREAM(0x80, 0x01, 0x04, 0x05, 0x0e, 0x02, 0x41, 0x00, 0x00, 0x00);
    assert_false(parquet_deltas_decode(&bytes, false, 5, numbers)); /* a width of 65 */
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_headers_examples_are_right),
        cmocka_unit_test(packed_values_of_every_width_are_decoded),
        cmocka_unit_test(deltas_of_every_width_are_decoded),
        cmocka_unit_test(levels_are_nulls),
        cmocka_unit_test(wrong_bytes_are_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
