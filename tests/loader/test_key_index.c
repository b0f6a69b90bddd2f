/* test_key_index.c: every key finds its row and no other key finds any, dense or scattered; duplicates are
 * named. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "loader/table/key_index.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const struct key_owner owner = {.table = "t", .column = "k"};

static const uint64_t sizes[] = {0, 1, 2, 31, 1023, 1025, 100003};
#define SIZES (sizeof sizes / sizeof *sizes)

/* Builds an index over key(i) = first + i * stride, shuffled by a fixed permutation, and asks for all of
 * them. */
static void check_keys(int64_t first, int64_t stride)
{
    for (size_t s = 0; s < SIZES; s++) {
        uint64_t rows = sizes[s];
        int64_t *keys = malloc((rows + 1) * sizeof *keys);
        assert_non_null(keys);
        for (uint64_t i = 0; i < rows; i++) /* 7919 is prime and divides no size above */
            keys[i] = first + (int64_t)((i * 7919) % rows) * stride;
        struct key_index *index;
        assert_int_equal(key_index_create(keys, NULL, 0, rows, &owner, &index, NULL), STATUS_OK);
        for (uint64_t i = 0; i < rows; i++)
            assert_int_equal(key_index_find(index, keys[i]), i);
        int64_t end = first + (int64_t)rows * stride;
        assert_int_equal(key_index_find(index, first - 1), -1);
        assert_int_equal(key_index_find(index, end), -1);
        assert_int_equal(key_index_find(index, INT64_MIN), -1);
        assert_int_equal(key_index_find(index, INT64_MAX), -1);
        if (stride > 1 && rows > 0)
            assert_int_equal(key_index_find(index, first + 1), -1);
        key_index_destroy(index);
        free(keys);
    }
}

static void dense_keys_find_their_rows(void **state)
{
    (void)state;
    check_keys(1, 1);
    check_keys(-500, 1);
    check_keys(INT64_MAX - 200000, 1);
    check_keys(INT64_MIN + 10, 2);
}

static void scattered_keys_find_their_rows(void **state)
{
    (void)state;
    check_keys(1, 1000);
    check_keys(-1000000, 1 << 20);
    check_keys(3, INT64_C(1) << 40);
}

static void the_two_ends_of_int64_are_keys_like_others(void **state)
{
    (void)state;
    const int64_t keys[] = {INT64_MAX, 0, INT64_MIN, -1};
    struct key_index *index;
    assert_int_equal(key_index_create(keys, NULL, 0, 4, &owner, &index, NULL), STATUS_OK);
    for (int i = 0; i < 4; i++)
        assert_int_equal(key_index_find(index, keys[i]), i);
    assert_int_equal(key_index_find(index, 1), -1);
    key_index_destroy(index);
}

static void resolving_replaces_keys_by_rows_and_counts_what_is_missing(void **state)
{
    (void)state;
    const int64_t dense[] = {10, 11, 12, 13}, scattered[] = {10, 1000000007, 12, -2000000000};
    const int64_t *both[] = {dense, scattered};
    for (int k = 0; k < 2; k++) {
        struct key_index *index;
        assert_int_equal(key_index_create(both[k], NULL, 0, 4, &owner, &index, NULL), STATUS_OK);
        int32_t keys[] = {(int32_t)both[k][3], 9, 10, 14, (int32_t)both[k][1], INT32_MIN, INT32_MAX};
        const int32_t expected[] = {3, -1, 0, -1, 1, -1, -1};
        assert_int_equal(key_index_resolve(index, keys, 7), 4);
        assert_memory_equal(keys, expected, sizeof keys);
        key_index_destroy(index);
    }
}

/* Dense keys with holes between them, and keys that are far apart. */
static void rows_may_have_other_numbers(void **state)
{
    (void)state;
    const int64_t dense[] = {10, 14, 12, 20}, scattered[] = {10, 1000000007, 12, -2000000000};
    const int64_t *both[] = {dense, scattered};
    const int32_t numbers[] = {7, 0, 1 << 30, 3};
    for (int k = 0; k < 2; k++) {
        struct key_index *index;
        assert_int_equal(key_index_create(both[k], NULL, 0, 4, &owner, &index, NULL), STATUS_OK);
        key_index_renumber(index, numbers);
        for (int i = 0; i < 4; i++)
            assert_int_equal(key_index_find(index, both[k][i]), numbers[i]);
        int32_t keys[] = {12, 11, (int32_t)both[k][1]};
        const int32_t expected[] = {1 << 30, -1, 0};
        assert_int_equal(key_index_resolve(index, keys, 3), 1);
        assert_memory_equal(keys, expected, sizeof keys);
        key_index_destroy(index);
    }
}

static void line_of(const void *context, uint64_t row, char text[KEY_PLACE_BYTES])
{
    snprintf(text, KEY_PLACE_BYTES, "%s:%d", (const char *)context, (int)row + 1);
}

static void a_key_that_comes_twice_is_refused_with_both_rows(void **state)
{
    (void)state;
    const int64_t dense[] = {5, 6, 7, 6}, scattered[] = {5, 6000000000, 7, 6000000000};
    struct key_index *index;
    struct error error = {0};
    struct key_owner part = {.table = "part", .column = "p_partkey"};
    assert_int_equal(key_index_create(dense, NULL, 0, 4, &part, &index, &error), STATUS_BAD_INPUT);
    assert_null(index);
    assert_non_null(
        strstr(error.text, "row 4: table part, column p_partkey: the key '6' is that of row 2 already"));
    part.place = line_of;
    part.context = "in/part.tbl";
    assert_int_equal(key_index_create(scattered, NULL, 0, 4, &part, &index, &error), STATUS_BAD_INPUT);
    assert_non_null(strstr(error.text,
                           "in/part.tbl:4: table part, column p_partkey: the key '6000000000' is that of "
                           "in/part.tbl:2 already"));
    part.positions = true;
    assert_int_equal(key_index_create(scattered, NULL, 0, 4, &part, &index, &error), STATUS_BAD_INPUT);
    assert_non_null(strstr(error.text, "column p_partkey: the key is that of in/part.tbl:2 already"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(dense_keys_find_their_rows),
        cmocka_unit_test(scattered_keys_find_their_rows),
        cmocka_unit_test(the_two_ends_of_int64_are_keys_like_others),
        cmocka_unit_test(resolving_replaces_keys_by_rows_and_counts_what_is_missing),
        cmocka_unit_test(rows_may_have_other_numbers),
        cmocka_unit_test(a_key_that_comes_twice_is_refused_with_both_rows),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
