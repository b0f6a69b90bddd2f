/* What functions of strings stand on: sorting pieces, LIKE in parts, and tables computed by several threads, each
 * against a plain way of doing the same. */
#include "engine/plan/functions/string_pieces.h"
#include "engine/plan/functions/string_table.h"
#include "tests/fuzz/fuzz_random.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static struct error error;

/* ---- Sorting ---- */

#define TEXT_BYTES 40u

/* Strings with long common beginnings, zero bytes, bytes above 127, and many equal ones. */
static uint32_t any_text(char *text, uint32_t kind)
{
    static const char *const beginnings[] = {"", "https://shop.example.com/", "aaaaaaa", "aaaaaaaaaaaaaa"};
    static const char letters[] = {'a', 'b', '\0', '\xff', '\xc3', '/'};
    const char *const begin = beginnings[kind ? below(4) : 0];
    uint32_t length = (uint32_t)strlen(begin);
    memcpy(text, begin, length);
    for (uint32_t more = below(kind == 2 ? 14 : 4); more > 0; more--)
        text[length++] = letters[below(sizeof letters)];
    return length;
}

static int by_bytes(const void *left, const void *right)
{
    return piece_compare(left, right);
}

static void pieces_are_sorted(void **state)
{
    static const uint32_t counts[] = {0, 1, 2, 12, 13, 127, 129, 1000, 4096, 9001, 40007};
    (void)state;
    random_state = 20;
    for (uint32_t kind = 0; kind < 3; kind++)
        for (uint32_t c = 0; c < sizeof counts / sizeof *counts; c++) {
            const uint32_t count = counts[c];
            struct piece *pieces = malloc((count + 1) * sizeof *pieces),
                         *expected = malloc((count + 1) * sizeof *expected);
            char *text = malloc((size_t)(count + 1) * TEXT_BYTES);
            for (uint32_t i = 0; i < count; i++) {
                char *const at = text + (size_t)i * TEXT_BYTES;
                pieces[i] = (struct piece){.text = at, .length = any_text(at, kind), .number = i};
            }
            memcpy(expected, pieces, count * sizeof *pieces);
            qsort(expected, count, sizeof *expected, by_bytes);
            for (unsigned threads = 1; threads < 8; threads += 3) {
                struct piece *sorted = malloc((count + 1) * sizeof *sorted);
                uint64_t sum = 0;
                memcpy(sorted, pieces, count * sizeof *pieces);
                assert_int_equal(pieces_sort(sorted, count, threads, &error), STATUS_OK);
                for (uint32_t i = 0; i < count; i++) {
                    assert_int_equal(piece_compare(&sorted[i], &expected[i]), 0);
                    sum += sorted[i].number;
                }
                assert_int_equal(sum, (uint64_t)count * (count - (count > 0)) / 2); /* each piece is there */
                for (uint32_t moved = below(20); count > 1 && moved > 0; moved--) { /* nearly in order */
                    const uint32_t a = below(count), b = below(count);
                    const struct piece kept = sorted[a];
                    sorted[a] = sorted[b];
                    sorted[b] = kept;
                }
                assert_int_equal(pieces_sort(sorted, count, threads, &error), STATUS_OK);
                for (uint32_t i = 0; i < count; i++)
                    assert_int_equal(piece_compare(&sorted[i], &expected[i]), 0);
                free(sorted);
            }
            free(pieces);
            free(expected);
            free(text);
        }
}

/* ---- LIKE ---- */

/* LIKE by its definition, with lower case for bytes of ASCII; % is a letter if it is the escape character. */
static bool like_slowly(const char *text, const char *pattern, char escape, bool ignore)
{
    if (!*pattern)
        return !*text;
    if (*pattern == '%' && escape != '%')
        return like_slowly(text, pattern + 1, escape, ignore) ||
               (*text && like_slowly(text + 1, pattern, escape, ignore));
    const bool escaped = escape && *pattern == escape;
    pattern += escaped;
    if (!*pattern || !*text)
        return false;
    const int a = ignore ? (int)case_lower((unsigned char)*text) : *text,
              b = ignore ? (int)case_lower((unsigned char)*pattern) : *pattern;
    return ((!escaped && *pattern == '_') || a == b) && like_slowly(text + 1, pattern + 1, escape, ignore);
}

static void patterns_match_as_defined(void **state)
{
    static const char letters[] = {'a', 'A', 'b', 'B', '%', '_', '!', '/'};
    (void)state;
    random_state = 21;
    for (uint32_t round = 0; round < 200000; round++) {
        char text[16] = {0}, pattern[12] = {0};
        struct string_buffer scratch = {0};
        struct like_matcher *matcher;
        const uint32_t length = below(12), pattern_length = below(9);
        for (uint32_t i = 0; i < length; i++)
            text[i] = letters[below(8)];
        for (uint32_t i = 0; i < pattern_length; i++)
            pattern[i] = chance(40) ? '%' : letters[below(chance(80) ? 5 : 8)];
        const struct like_pattern of = {.text = pattern,
                                        .length = pattern_length,
                                        .escape = chance(60)   ? '\0'
                                                  : chance(80) ? '!'
                                                               : '%',
                                        .letters = (enum like_case)below(3)};
        assert_int_equal(like_matcher_create(&of, &matcher, &error), STATUS_OK);
        const bool matches = like_matches(matcher, (struct string_value){text, length}, &scratch);
        if (matches != like_slowly(text, pattern, of.escape, of.letters != LIKE_CASE_MATTERS))
            fail_msg("'%s' like '%s' escape '%c', case %d: %d", text, pattern, of.escape, (int)of.letters,
                     matches);
        like_matcher_free(matcher);
        free(scratch.bytes);
    }
}

static bool ilike(const char *text, const char *pattern)
{
    struct string_buffer scratch = {0};
    struct like_matcher *matcher;
    const struct like_pattern of = {pattern, (uint32_t)strlen(pattern), 0, LIKE_IGNORES_CASE};
    assert_int_equal(like_matcher_create(&of, &matcher, &error), STATUS_OK);
    const bool matches = like_matches(matcher, (struct string_value){text, (uint32_t)strlen(text)}, &scratch);
    like_matcher_free(matcher);
    free(scratch.bytes);
    return matches;
}

static void case_of_all_scripts_is_ignored(void **state)
{
    (void)state;
    assert_true(ilike("Łódź", "%ÓD%"));
    assert_true(ilike("ŠKODA", "škoda"));
    assert_true(ilike("\u212a", "k")); /* the Kelvin sign, of three bytes */
    assert_true(ilike("K", "\u212a%"));
    assert_true(ilike("ΑΘΉΝΑ", "%θήν%"));
    assert_false(ilike("Łódź", "%od%"));
    assert_true(ilike("Łódź", "_Ó%"));
}

/* ---- Tables ---- */

/* A dictionary of `count` strings "00000" ... */
static uint32_t numbered(struct expression_list *list, uint32_t count)
{
    struct piece *pieces = malloc((count + 1) * sizeof *pieces);
    int64_t *codes = malloc((count + 1) * sizeof *codes);
    char *text = malloc((size_t)(count + 1) * 12);
    struct value_type type = {.kind = VALUE_STRING};
    uint32_t node;
    for (uint32_t i = 0; i < count; i++) {
        snprintf(text + (size_t)i * 12, 12, "%06u", i);
        pieces[i] = (struct piece){.text = text + (size_t)i * 12, .length = 6, .number = i};
    }
    assert_int_equal(expression_dictionary_of_pieces(list, pieces, count, codes, &type.dictionary, &error),
                     STATUS_OK);
    const struct expression leaf = {
        .operation = EXPRESSION_COLUMN, .type = type, .low = 0, .high = count ? (int64_t)count - 1 : 0};
    assert_int_equal(expression_add(list, &leaf, &node, &error), STATUS_OK);
    free(pieces);
    free(codes);
    free(text);
    return node;
}

static void tables_are_equal_on_all_threads(void **state)
{
    static const uint32_t counts[] = {0, 1, 1023, 1025, 30011};
    (void)state;
    for (uint32_t c = 0; c < sizeof counts / sizeof *counts; c++)
        for (unsigned threads = 1; threads <= 5; threads += 2) {
            struct expression_list list = {.threads = threads};
            const uint32_t leaf = numbered(&list, counts[c]);
            const struct string_call reverse = {
                .body = string_reverse, .type = {.kind = VALUE_STRING}, .count = 1};
            const struct string_call right = {
                .body = string_right, .type = {.kind = VALUE_STRING}, .numbers = {2}, .count = 1};
            uint32_t reversed, ends;
            assert_int_equal(expression_string_call(&list, &reverse, &leaf, &reversed, &error), STATUS_OK);
            assert_int_equal(expression_string_call(&list, &right, &leaf, &ends, &error), STATUS_OK);
            const struct value_table *const table = &list.tables[list.nodes[reversed].table],
                                            *const tails = &list.tables[list.nodes[ends].table];
            const struct dictionary *const strings = list.nodes[reversed].type.dictionary,
                                           *const pairs = list.nodes[ends].type.dictionary;
            assert_int_equal(pairs->count, counts[c] < 100 ? counts[c] : 100);
            assert_int_equal(dictionary_unsorted(strings), -1);
            assert_int_equal(strings->count, counts[c]);
            for (uint32_t i = 0; i < counts[c]; i++) {
                char written[12];
                uint32_t length;
                snprintf(written, sizeof written, "%06u", i);
                assert_memory_equal(dictionary_string(pairs, tails->values[i], &length), written + 4, 2);
                const char *const turned = dictionary_string(strings, table->values[i], &length);
                assert_int_equal(length, 6);
                for (uint32_t b = 0; b < 6; b++)
                    assert_int_equal(turned[b], written[5 - b]);
            }
            expression_list_free(&list);
        }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(pieces_are_sorted), cmocka_unit_test(patterns_match_as_defined),
        cmocka_unit_test(case_of_all_scripts_is_ignored), cmocka_unit_test(tables_are_equal_on_all_threads)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
