/* test_wah.c: compressed bit vectors of 64-bit and 32-bit words, and flat bitsets. */
#include "storage/index/wah.h"
#include "storage/index/bitset.h"
#include "lab/bitmaps/wah/wah_many.h"
#include "storage/index/wah_bits.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define COUNT(array) (sizeof array / sizeof *(array))
#define SEED         0x3a4ull

static uint64_t random_state = SEED;

static uint64_t next_random(void)
{
    random_state ^= random_state << 13;
    random_state ^= random_state >> 7;
    random_state ^= random_state << 17;
    return random_state;
}

/* ---- Rows: one byte each ---- */

enum shape { EMPTY, ALL, ALTERNATING, RARE, HALF, RUNS, LONG_RUNS, LAST_ROW, SHAPES };

struct rows {
    uint8_t *bits;
    uint64_t count;
};

static struct rows make_rows(uint64_t count, enum shape shape)
{
    struct rows rows = {.bits = calloc(count + 1, 1), .count = count};
    const uint64_t longest = shape == LONG_RUNS ? 40000 : 300;
    assert_non_null(rows.bits);
    for (uint64_t r = 0; r < count; r++)
        rows.bits[r] = shape == ALL || (shape == ALTERNATING && r % 2) ||
                       (shape == RARE && next_random() % 500 == 0) || (shape == HALF && next_random() % 2) ||
                       (shape == LAST_ROW && r + 1 == count);
    if (shape == RUNS || shape == LONG_RUNS)
        for (uint64_t r = 0, value = 0, end; r < count; r = end, value = !value) {
            end = r + 1 + next_random() % longest;
            for (uint64_t i = r; i < end && i < count; i++)
                rows.bits[i] = (uint8_t)value;
        }
    return rows;
}

static void free_rows(struct rows *rows)
{
    free(rows->bits);
}

/* ---- Both sizes of words ---- */

#define WORD       uint64_t
#define WAH(name)  wah_##name
#define CASE(name) wah64_##name
#define GROUP_ROWS WAH_GROUP_ROWS
#define FILL       WAH_FILL
#define ONES       WAH_ONES
#define LENGTH     WAH_LENGTH
#define FULL       WAH_FULL
#include "tests/support/codec/wah_cases.h"
#undef WORD
#undef WAH
#undef CASE
#undef GROUP_ROWS
#undef FILL
#undef ONES
#undef LENGTH
#undef FULL
#undef PIECE

#define WORD       uint32_t
#define WAH(name)  wah32_##name
#define CASE(name) wah32_##name
#define GROUP_ROWS WAH32_GROUP_ROWS
#define FILL       WAH32_FILL
#define ONES       WAH32_ONES
#define LENGTH     WAH32_LENGTH
#define FULL       WAH32_FULL
#include "tests/support/codec/wah_cases.h"

/* ---- Examples ---- */

/* The drawing in wah_format.h. */
static void the_example_of_the_format(void **state)
{
    (void)state;
    static const uint64_t want[] = {0x0000000000000004, 0x8000000000000001, 0x7ffffffffffffff0,
                                    0x00000000000007ff};
    struct wah_builder builder = {.words = NULL};
    assert_int_equal(wah_append_row(&builder, 2, NULL), STATUS_OK);
    assert_int_equal(wah_append_run(&builder, false, 127, NULL), STATUS_OK);
    assert_int_equal(wah_append_run(&builder, true, 70, NULL), STATUS_OK);
    assert_int_equal(wah_finish(&builder, 200, NULL), STATUS_OK);
    assert_int_equal(builder.count, 4);
    assert_memory_equal(builder.words, want, sizeof want);
    wah_builder_free(&builder);
}

/* A billion rows of one value are one word, and three runs three. */
static void long_runs_take_a_word(void **state)
{
    (void)state;
    struct wah_builder builder = {.words = NULL};
    assert_int_equal(wah_append_run(&builder, false, 63000000000, NULL), STATUS_OK);
    assert_int_equal(wah_append_run(&builder, true, 63000000000, NULL), STATUS_OK);
    assert_int_equal(wah_finish(&builder, 189000000000, NULL), STATUS_OK);
    assert_int_equal(builder.count, 3);
    assert_int_equal(builder.words[1], WAH_FILL | WAH_ONES | 1000000000);
    assert_int_equal(wah_count(wah_of(&builder)), 63000000000);
    assert_true(wah_valid(builder.words, 3, 189000000000));
    wah_builder_free(&builder);
}

/* 2^30 groups of 31 rows and 5 more are two fills, of which the first has the greatest length. */
static void fills_of_32_bits_continue(void **state)
{
    (void)state;
    const uint64_t groups = (UINT64_C(1) << 30) + 5;
    struct wah32_builder builder = {.words = NULL};
    assert_int_equal(wah32_append_run(&builder, true, groups * 31, NULL), STATUS_OK);
    assert_int_equal(wah32_finish(&builder, groups * 31, NULL), STATUS_OK);
    assert_int_equal(builder.count, 2);
    assert_int_equal(builder.words[0], 0xffffffff);
    assert_int_equal(builder.words[1], 0xc0000006);
    assert_true(wah32_valid(builder.words, 2, groups * 31));
    assert_int_equal(wah32_count(wah32_of(&builder)), groups * 31);
    uint32_t out[4];
    assert_int_equal(wah32_not(wah32_of(&builder), groups * 31, out), 2);
    assert_int_equal(out[1], 0x80000006);
    assert_int_equal(wah32_or(wah32_of(&builder), (struct wah32_vector){out, 2}, out + 2), 2);
    assert_memory_equal(out + 2, builder.words, 8);
    wah32_builder_free(&builder);
}

static void flat_bitsets(void **state)
{
    (void)state;
    for (uint64_t rows = 0; rows < 5000; rows += 1 + rows / 3) {
        const uint64_t words = bitset_words(rows);
        struct rows a = make_rows(rows, HALF), b = make_rows(rows, RUNS);
        uint64_t *const x = calloc(words + 1, 8), *const y = calloc(words + 1, 8),
                        *const z = calloc(words + 1, 8);
        uint64_t ones = 0;
        for (uint64_t r = 0; r < rows; r++) {
            x[r / 64] |= (uint64_t)a.bits[r] << r % 64;
            y[r / 64] |= (uint64_t)b.bits[r] << r % 64;
            ones += a.bits[r];
        }
        assert_int_equal(bitset_count(x, words), ones);
        bitset_or_many((const uint64_t *[]){x, y}, 2, words, z);
        for (uint64_t w = 0; w < words; w++)
            assert_int_equal(z[w], x[w] | y[w]);
        bitset_and(z, x, words);
        assert_memory_equal(z, x, words * 8);
        bitset_or_many(NULL, 0, words, y);
        assert_int_equal(bitset_count(y, words), 0);
        free(x);
        free(y);
        free(z);
        free_rows(&a);
        free_rows(&b);
    }
}

int main(void)
{
    printf("seed %#llx\n", SEED);
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_example_of_the_format),
        cmocka_unit_test(long_runs_take_a_word),
        cmocka_unit_test(fills_of_32_bits_continue),
        cmocka_unit_test(flat_bitsets),
        cmocka_unit_test(wah64_builders_agree),
        cmocka_unit_test(wah32_builders_agree),
        cmocka_unit_test(wah64_operations_are_those_of_bits),
        cmocka_unit_test(wah32_operations_are_those_of_bits),
        cmocka_unit_test(wah64_hostile_words_are_refused),
        cmocka_unit_test(wah32_hostile_words_are_refused),
        cmocka_unit_test(wah64_or_of_many),
        cmocka_unit_test(wah32_or_of_many),
        cmocka_unit_test(wah64_or_of_ranges),
        cmocka_unit_test(wah32_or_of_ranges),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
