/* Regular expressions match what the C library's do, although texts that cannot match are found out by a text that all
 * matches have, and ASCII is matched as bytes: random patterns and strings, on several threads' expressions. */
#define _GNU_SOURCE
#include "engine/sql/functions/regular.h"
#include "tests/fuzz/fuzz_random.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>

#include <locale.h>
#include <regex.h>
#include <stdio.h>
#include <stdlib.h>

static struct error error;

static void any_pattern(char *pattern, size_t bytes)
{
    static const char *const parts[] = {"a",    "b",     "ab",   "ba",     "é",     "a*",   "b?",
                                        "é?",   "a{2}",  "(ab)", "(a|b)",  "[ab]",  "[^a]", "[]a]?",
                                        ".",    "^",     "$",    "|",      "\\.",   "(b)+", "aab",
                                        "a{0}", "(é|a)", "[é]*", "(a[)])", "b{1,}", "x"};
    pattern[0] = '\0';
    for (uint32_t count = 1 + below(6); count > 0; count--)
        strncat(pattern, parts[below(sizeof parts / sizeof *parts)], bytes - strlen(pattern) - 1);
}

static void any_string(char *text, size_t bytes)
{
    static const char *const letters[] = {"a", "b", "ab", "é", "x", ".", ")", "\n", "aab"};
    text[0] = '\0';
    for (uint32_t count = below(10); count > 0; count--)
        strncat(text, letters[below(sizeof letters / sizeof *letters)], bytes - strlen(text) - 1);
}

static void matches_are_those_of_the_library(void **state)
{
    const locale_t utf8 = newlocale(LC_CTYPE_MASK, "C.UTF-8", (locale_t)0);
    uint32_t matched = 0, tried = 0;
    (void)state;
    random_state = 22;
    if (utf8)
        uselocale(utf8);
    for (uint32_t round = 0; round < 4000; round++) {
        char pattern[100], text[100];
        const bool ignore = chance(20);
        regex_t expected;
        struct regular *regular;
        any_pattern(pattern, sizeof pattern);
        if (regcomp(&expected, pattern, REG_EXTENDED | (ignore ? REG_ICASE : 0)) != 0)
            continue;
        assert_int_equal(regular_create(pattern, (uint32_t)strlen(pattern), ignore, &regular, &error),
                         STATUS_OK);
        for (uint32_t t = 0; t < 20; t++) {
            regmatch_t part;
            any_string(text, sizeof text);
            const struct string_value string = {text, (uint32_t)strlen(text)};
            const bool matches = regexec(&expected, text, 1, &part, 0) == 0;
            const struct string_value found = regular_extract(regular, below(3), string, 0);
            if (regular_matches(regular, below(3), string) != matches)
                fail_msg("'%s' ~ '%s' is %d", text, pattern, !matches);
            assert_int_equal(found.length, matches ? part.rm_eo - part.rm_so : 0);
            assert_true(!matches || found.text == text + part.rm_so);
            matched += matches;
            tried++;
        }
        regular_free(regular);
        regfree(&expected);
    }
    uselocale(LC_GLOBAL_LOCALE);
    if (utf8)
        freelocale(utf8);
    assert_in_range(matched, tried / 10, tried / 10 * 9);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(matches_are_those_of_the_library)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
