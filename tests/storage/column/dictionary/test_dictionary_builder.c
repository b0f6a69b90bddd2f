/* test_dictionary_builder.c: distinct strings, sorted by bytes, and codes that follow them. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "storage/column/dictionary/dictionary_builder.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define SEED 20240607u

/* Strings of 0 .. 11 bytes over a small alphabet that has the byte 0 and bytes above 127: many repeat, many
 * are prefixes of others. */
static uint32_t random_string(uint32_t *random, char out[12])
{
    static const char alphabet[] = {'\0', 'a', 'b', '\x80', '\xff'};
    *random = *random * 1664525u + 1013904223u;
    uint32_t bits = *random, length = (bits >> 28) % 12;
    for (uint32_t i = 0; i < length; i++) {
        *random = *random * 1664525u + 1013904223u;
        out[i] = alphabet[(*random >> 24) % (length > 8 ? 2 : 5)];
    }
    return length;
}

static int order(const char *a, uint32_t a_length, const char *b, uint32_t b_length)
{
    int difference = memcmp(a, b, a_length < b_length ? a_length : b_length);
    return difference ? difference : (a_length > b_length) - (a_length < b_length);
}

static void codes_follow_sorted_strings(void **state)
{
    (void)state;
    const uint32_t rows[] = {0, 1, 31, 1023, 1025, 50001};
    for (size_t r = 0; r < sizeof rows / sizeof *rows; r++) {
        printf("seed %u, %u rows\n", SEED, rows[r]);
        struct dictionary_builder *builder;
        assert_int_equal(dictionary_builder_create(&builder, NULL), STATUS_OK);
        int32_t *codes = malloc((rows[r] + 1) * sizeof *codes);
        assert_non_null(codes);
        char text[12];
        uint32_t random = SEED;
        for (uint32_t i = 0; i < rows[r]; i++) {
            uint32_t length = random_string(&random, text);
            assert_int_equal(dictionary_builder_add(builder, text, length, &codes[i], NULL), STATUS_OK);
            assert_int_equal(dictionary_builder_find(builder, text, length), codes[i]);
        }
        struct dictionary dictionary;
        const int32_t *sorted;
        assert_int_equal(dictionary_builder_sort(builder, &dictionary, &sorted, NULL), STATUS_OK);
        assert_int_equal(dictionary.count, dictionary_builder_count(builder));
        for (uint32_t c = 0; c + 1 < dictionary.count; c++)
            assert_true(order(dictionary.bytes + dictionary.starts[c],
                              (uint32_t)(dictionary.starts[c + 1] - dictionary.starts[c]),
                              dictionary.bytes + dictionary.starts[c + 1],
                              (uint32_t)(dictionary.starts[c + 2] - dictionary.starts[c + 1])) < 0);
        random = SEED;
        for (uint32_t i = 0; i < rows[r]; i++) {
            uint32_t length = random_string(&random, text);
            int32_t code = sorted[codes[i]];
            assert_int_equal(dictionary.starts[code + 1] - dictionary.starts[code], length);
            assert_memory_equal(dictionary.bytes + dictionary.starts[code], text, length);
            assert_int_equal(dictionary_builder_find(builder, text, length), code);
        }
        assert_int_equal(dictionary_builder_find(builder, "not there", 9), -1);
        free(codes);
        dictionary_builder_destroy(builder);
    }
}

static void merging_says_what_each_code_became(void **state)
{
    (void)state;
    struct dictionary_builder *left, *right;
    assert_int_equal(dictionary_builder_create(&left, NULL), STATUS_OK);
    assert_int_equal(dictionary_builder_create(&right, NULL), STATUS_OK);
    int32_t code;
    for (int i = 0; i < 1000; i++) {
        char text[12];
        uint32_t length = (uint32_t)snprintf(text, sizeof text, "%d", i * 2);
        assert_int_equal(dictionary_builder_add(left, text, length, &code, NULL), STATUS_OK);
        length = (uint32_t)snprintf(text, sizeof text, "%d", i * 3);
        assert_int_equal(dictionary_builder_add(right, text, length, &code, NULL), STATUS_OK);
    }
    int32_t codes[1000];
    assert_int_equal(dictionary_builder_merge(left, right, codes, NULL), STATUS_OK);
    /* multiples of 6 below 2000 are in both: 0, 6, ..., 1998 */
    assert_int_equal(dictionary_builder_count(left), 2000 - 334);
    for (int i = 0; i < 1000; i++) {
        char text[12];
        uint32_t length = (uint32_t)snprintf(text, sizeof text, "%d", i * 3);
        assert_int_equal(codes[i], dictionary_builder_find(left, text, length));
    }
    dictionary_builder_destroy(left);
    dictionary_builder_destroy(right);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(codes_follow_sorted_strings),
        cmocka_unit_test(merging_says_what_each_code_became),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
