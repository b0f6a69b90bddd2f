/* test_dictionary.c: look-ups against a linear search over sorted strings of all awkward kinds. */
#define _GNU_SOURCE
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>

#include "storage/database/database.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define STRINGS 1025
#define SEED    20240229u

struct strings {
    struct dictionary dictionary;
    uint64_t starts[STRINGS + 1];
    char bytes[STRINGS * 8];
};

/* In byte order: the order of the bytes as unsigned numbers, a prefix before its continuations. */
static void build(struct strings *strings, const char *const *texts, const uint32_t *lengths, uint32_t count)
{
    uint64_t end = 0;
    for (uint32_t s = 0; s < count; s++) {
        strings->starts[s] = end;
        memcpy(strings->bytes + end, texts[s], lengths[s]);
        end += lengths[s];
    }
    strings->starts[count] = end;
    strings->dictionary =
        (struct dictionary){.count = count, .starts = strings->starts, .bytes = strings->bytes};
}

static void an_empty_dictionary_finds_nothing(void **state)
{
    (void)state;
    const uint64_t starts[] = {0};
    struct dictionary dictionary = {.count = 0, .starts = starts, .bytes = NULL};
    assert_int_equal(dictionary_find(&dictionary, "a", 1), -1);
    assert_int_equal(dictionary_find(&dictionary, "", 0), -1);
    assert_int_equal(dictionary_lower_bound(&dictionary, "a", 1), 0);
    assert_int_equal(dictionary_unsorted(&dictionary), -1);
}

static void bytes_are_unsigned_and_prefixes_come_first(void **state)
{
    (void)state;
    struct strings strings;
    const char *const texts[] = {"", "\0", "\0\0", "A", "AB", "a", "a\0", "\x7f", "\x80", "\xc3\xa9", "\xff"};
    const uint32_t lengths[] = {0, 1, 2, 1, 2, 1, 2, 1, 1, 2, 1};
    build(&strings, texts, lengths, 11);
    assert_int_equal(dictionary_unsorted(&strings.dictionary), -1);
    for (uint32_t s = 0; s < 11; s++) {
        uint32_t length;
        const char *string = dictionary_string(&strings.dictionary, s, &length);
        assert_int_equal(length, lengths[s]);
        assert_int_equal(dictionary_find(&strings.dictionary, string, length), s);
        assert_int_equal(dictionary_lower_bound(&strings.dictionary, string, length), s);
    }
    assert_int_equal(dictionary_find(&strings.dictionary, "B", 1), -1);
    assert_int_equal(dictionary_lower_bound(&strings.dictionary, "B", 1), 5);
    assert_int_equal(dictionary_lower_bound(&strings.dictionary, "\xff\xff", 2), 11);
}

static void look_ups_agree_with_a_linear_search(void **state)
{
    (void)state;
    const uint32_t sizes[] = {1, 2, 31, 1023, 1025};
    char texts[STRINGS][8];
    const char *pointers[STRINGS];
    uint32_t lengths[STRINGS];
    srand(SEED);
    print_message("seed %u\n", SEED);
    for (uint32_t s = 0; s < STRINGS; s++) {
        lengths[s] = (uint32_t)snprintf(texts[s], sizeof texts[s], "%06u", s * 3 + 1); /* sorted */
        pointers[s] = texts[s];
    }
    for (size_t k = 0; k < sizeof sizes / sizeof *sizes; k++) {
        struct strings strings;
        build(&strings, pointers, lengths, sizes[k]);
        for (int probe = 0; probe < 2000; probe++) {
            char text[8];
            uint32_t length = (uint32_t)snprintf(text, sizeof text, "%06d", rand() % (3 * STRINGS + 5));
            uint32_t less = 0;
            int64_t code = -1;
            for (uint32_t s = 0; s < sizes[k]; s++) {
                less += strcmp(texts[s], text) < 0;
                if (strcmp(texts[s], text) == 0)
                    code = s;
            }
            assert_int_equal(dictionary_find(&strings.dictionary, text, length), code);
            assert_int_equal(dictionary_lower_bound(&strings.dictionary, text, length), less);
        }
    }
}

static void the_first_string_out_of_order_is_named(void **state)
{
    (void)state;
    struct strings strings;
    const char *const texts[] = {"a", "b", "b", "a"};
    const uint32_t lengths[] = {1, 1, 1, 1};
    build(&strings, texts, lengths, 4);
    assert_int_equal(dictionary_unsorted(&strings.dictionary), 2); /* an equal one is out of order too */
    const char *const falling[] = {"ab", "a"};
    const uint32_t falling_lengths[] = {2, 1};
    build(&strings, falling, falling_lengths, 2);
    assert_int_equal(dictionary_unsorted(&strings.dictionary), 1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(an_empty_dictionary_finds_nothing),
        cmocka_unit_test(bytes_are_unsigned_and_prefixes_come_first),
        cmocka_unit_test(look_ups_agree_with_a_linear_search),
        cmocka_unit_test(the_first_string_out_of_order_is_named),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
