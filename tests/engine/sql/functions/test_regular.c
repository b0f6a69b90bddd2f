/* Regular expressions match what PCRE2's interpreter does, although texts that cannot match are found out by a text that
 * all matches have, and machine code matches the others: random patterns and strings, on several threads' room. And what they may not do: take memory or time without end. */
#define _GNU_SOURCE
#include "engine/sql/functions/regular.h"
#include "storage/base/parallel.h"
#include "tests/fuzz/fuzz_random.h"
#include "tests/support/not_run.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>

#define PCRE2_CODE_UNIT_WIDTH 8
#include <pcre2.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

/* All tests run in it. */
static struct execution execution;

static struct error error;

/* ---- The same answers as the interpreter's ---- */

static void any_pattern(char *pattern, size_t bytes)
{
    static const char *const parts[] = {
        "a",     "b",     "ab",     "ba",          "é",       "a*",    "b?",     "é?",      "a{2}",
        "(ab)",  "(a|b)", "[ab]",   "[^a]",        "[]a]?",   ".",     "^",      "$",       "|",
        "\\.",   "(b)+",  "aab",    "a{0}",        "(é|a)",   "[é]*",  "(a[)])", "b{1,}",   "x",
        "a*?",   ".+?",   "(?=b)",  "(?!a)",       "(?<=a)",  "(?i)",  "\\d",    "(?:ab)?", "ab{",
        "{a",    "a{x}",  "a++",    "[[:alpha:]]", "[a\\]]",  "\\x61", "\\Qa*",  "\\E",     "(?#)b)",
        "(?x) ", "\\b",   "(?>a*)", "\\101",       "b{0,2}?", "{(}",   "\\W",    "[^\\w]",  "\\S+",
        "\\D?",  ")?",    "\\e",    "\\1",         "[[:]",    "é{0}a", "(?i:b)", "(*UCP)a", "b{,2}"};
    pattern[0] = '\0';
    for (uint32_t count = 1 + below(6); count > 0; count--)
        strncat(pattern, parts[below(sizeof parts / sizeof *parts)], bytes - strlen(pattern) - 1);
}

/* With `damage`, some bytes are no UTF-8. */
static struct string_value any_string(bool damage, char *text, size_t bytes)
{
    static const char *const letters[] = {"a",   "b", "ab", "é",  "x", ".",    ")",    "\n",
                                          "aab", "{", "a{", "a*", "A", "\xff", "\xc3", "\xe2\x82"};
    text[0] = '\0';
    for (uint32_t count = below(10); count > 0; count--)
        strncat(text, letters[below(damage ? 16 : 13)], bytes - strlen(text) - 1);
    return (struct string_value){text, (uint32_t)strlen(text)};
}

/* The first match of the pattern from its beginning to its end, by the interpreter; false: none. */
static bool interpreted(const pcre2_code *code, pcre2_match_data *data, struct string_value string)
{
    const int result = pcre2_match(code, (PCRE2_SPTR)string.text, string.length, 0, PCRE2_NO_JIT, data, NULL);
    assert_true(result > 0 || result == PCRE2_ERROR_NOMATCH);
    return result > 0;
}

static void matches_are_those_of_the_interpreter(void **state)
{
    uint32_t matched = 0, tried = 0;
    (void)state;
    random_state = 22;
    for (uint32_t round = 0; round < 20000; round++) {
        char pattern[100], text[100];
        const bool ignore = chance(20);
        struct regular *regular;
        int code;
        PCRE2_SIZE at;
        any_pattern(pattern, sizeof pattern);
        pcre2_code *const expected = pcre2_compile(
            (PCRE2_SPTR)pattern, PCRE2_ZERO_TERMINATED,
            PCRE2_UTF | PCRE2_DOLLAR_ENDONLY | PCRE2_NO_START_OPTIMIZE | (ignore ? PCRE2_CASELESS : 0), &code,
            &at, NULL);
        assert_int_equal(regular_create(pattern, (uint32_t)strlen(pattern), ignore, &regular, &error),
                         expected ? STATUS_OK : STATUS_BAD_INPUT);
        if (!expected)
            continue;
        pcre2_match_data *const data = pcre2_match_data_create_from_pattern(expected, NULL);
        const PCRE2_SIZE *const parts = pcre2_get_ovector_pointer(data);
        for (uint32_t t = 0; t < 20; t++) {
            const struct string_value string = any_string(false, text, sizeof text);
            const bool wanted = interpreted(expected, data, string);
            struct string_value found;
            bool matches = !wanted;
            assert_int_equal(regular_matches(regular, string, &matches, &error), STATUS_OK);
            if (matches != wanted)
                fail_msg("'%s' ~ '%s' is %d", text, pattern, matches);
            assert_int_equal(regular_extract(regular, string, 0, &found, &error), STATUS_OK);
            assert_int_equal(found.length, wanted ? parts[1] - parts[0] : 0);
            assert_true(!wanted || found.length == 0 || found.text == text + parts[0]);
            matched += matches;
            tried++;
        }
        regular_free(regular);
        pcre2_match_data_free(data);
        pcre2_code_free(expected);
    }
    printf("%u of %u strings match\n", matched, tried);
    assert_in_range(matched, tried / 10, tried / 10 * 9);
}

/* With the match itself as the replacement, nothing changes, whatever matches and whatever bytes are there. */
static void replacing_by_the_match_changes_nothing(void **state)
{
    (void)state;
    random_state = 23;
    for (uint32_t round = 0; round < 20000; round++) {
        char pattern[100], text[100];
        struct regular *regular;
        struct string_buffer out = {0};
        any_pattern(pattern, sizeof pattern);
        if (regular_create(pattern, (uint32_t)strlen(pattern), false, &regular, &error) != STATUS_OK)
            continue;
        const struct string_value string = any_string(true, text, sizeof text);
        assert_int_equal(
            regular_replace(regular, string, (struct string_value){"\\0", 2}, true, &out, &error), STATUS_OK);
        if (out.used != string.length || (out.used && memcmp(out.bytes, text, out.used) != 0))
            fail_msg("'%s' replaced in '%s' gives '%.*s'", pattern, text, (int)out.used, out.bytes);
        free(out.bytes);
        regular_free(regular);
    }
}

static void bytes_that_are_no_utf_8_match_nothing(void **state)
{
    static const char *const patterns[] = {".", "[^a]", "\\W", "\xc3\xbf"};
    struct regular *regular;
    bool matches;
    (void)state;
    for (size_t p = 0; p < sizeof patterns / sizeof *patterns; p++) {
        assert_int_equal(regular_create(patterns[p], (uint32_t)strlen(patterns[p]), false, &regular, &error),
                         STATUS_OK);
        matches = true;
        assert_int_equal(regular_matches(regular, (struct string_value){"\xff\xc3", 2}, &matches, &error),
                         STATUS_OK);
        assert_false(matches);
        regular_free(regular);
    }
    assert_int_equal(regular_create("\xff", 1, false, &regular, &error), STATUS_BAD_INPUT);
    assert_non_null(strstr(error.text, "UTF-8"));
}

/* ---- Limits ---- */

static void is_refused(const char *pattern, uint32_t length, const char *sentence)
{
    struct regular *regular = NULL;
    assert_int_equal(regular_create(pattern, length, false, &regular, &error), STATUS_BAD_INPUT);
    if (!strstr(error.text, sentence))
        fail_msg("%s", error.text);
}

static void patterns_have_limits(void **state)
{
    char *const deep = malloc(REGULAR_PATTERN_MAX + 1);
    (void)state;
    is_refused("(((a{1,1000}){1,1000}){1,1000})", 31,
               "'(((a{1,1000}){1,1000}){1,1000})' is too large when its repetitions {n,m} are written out");
    memset(deep, '(', REGULAR_PATTERN_MAX + 1);
    is_refused(deep, REGULAR_PATTERN_MAX, "parentheses are too deeply nested");
    is_refused(deep, REGULAR_PATTERN_MAX + 1, "of 65537 bytes is longer than 65536");
    is_refused("a)", 2, "'a)' is wrong at byte 2: unmatched closing parenthesis");
    is_refused("\\C", 2, "\\C is disabled");
    free(deep);
}

/* Gives the status of looking for the pattern in so many times "ab". */
static enum status in_many(const char *pattern, uint32_t times, bool *matches)
{
    struct regular *regular;
    char *const text = malloc((size_t)times * 2);
    for (uint32_t i = 0; i < times; i++)
        memcpy(text + 2 * (size_t)i, "ab", 2);
    assert_int_equal(regular_create(pattern, (uint32_t)strlen(pattern), false, &regular, &error), STATUS_OK);
    const enum status status =
        regular_matches(regular, (struct string_value){text, times * 2}, matches, &error);
    free(text);
    regular_free(regular);
    return status;
}

static void matching_has_limits(void **state)
{
    bool matches = false;
    (void)state;
    assert_int_equal(in_many("((a|b)+)+c*$", 20, &matches), STATUS_OK);
    assert_true(matches);
    assert_int_equal(in_many("((a|b)+)+c", 30, &matches), STATUS_OK); /* there is no c */
    assert_false(matches);
    assert_int_equal(in_many("((a|b)+)+[cd]", 30, &matches), STATUS_BAD_INPUT);
    assert_non_null(
        strstr(error.text, "'((a|b)+)+[cd]' takes more than 10000000 steps in a string of 60 bytes"));
    /* More than machine code has room for is left to the interpreter, and more than that is refused. */
    assert_int_equal(in_many("^(a|b)*[bd]$", 50000, &matches), STATUS_OK);
    assert_true(matches);
    assert_int_equal(in_many("^(a|b)*[bd]$", 4000000, &matches), STATUS_BAD_INPUT);
    assert_non_null(strstr(error.text, "'^(a|b)*[bd]$' needs more than 64 MiB in a string of 8000000 bytes"));
    assert_int_equal(in_many("^[ab]*[bd]$", 4000000, &matches), STATUS_OK);
    assert_true(matches);
}

static void a_match_is_interrupted(void **state)
{
    bool matches;
    (void)state;
    execution_stop(&execution);
    assert_int_equal(in_many("[ab]+b", 2, &matches), STATUS_INTERRUPTED);
    execution_resume(&execution);
    assert_int_equal(in_many("[ab]+b", 2, &matches), STATUS_OK);
}

/* With little memory left, the status is that of the machine, not a wrong answer. */
static void memory_that_is_missing_is_no_mismatch(void **state)
{
    static const char *const patterns[] = {"(a|b|\xc3\xa9)*[^a]$", "^(a|b)*[bd]$"};
    (void)state;
#ifdef __SANITIZE_ADDRESS__
    not_run("a sanitizer reserves more address space than any limit");
#endif
    for (size_t p = 0; p < sizeof patterns / sizeof *patterns; p++) {
        const pid_t child = fork();
        int done;
        if (child == 0) {
            const struct rlimit limit = {.rlim_cur = 60000 << 10, .rlim_max = 60000 << 10};
            bool matches = true;
            if (setrlimit(RLIMIT_AS, &limit) != 0)
                _exit(100);
            const enum status status = in_many(patterns[p], 4000000, &matches);
            _exit(status == STATUS_MACHINE && strncmp(error.text, "out of memory", 13) == 0
                      ? 0
                      : 1 + (int)status);
        }
        assert_int_equal(waitpid(child, &done, 0), child);
        assert_true(WIFEXITED(done));
        assert_int_equal(WEXITSTATUS(done), 0);
    }
}

int main(void)
{
    execution_enter(&execution);
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(matches_are_those_of_the_interpreter),
        cmocka_unit_test(replacing_by_the_match_changes_nothing),
        cmocka_unit_test(bytes_that_are_no_utf_8_match_nothing),
        cmocka_unit_test(patterns_have_limits),
        cmocka_unit_test(matching_has_limits),
        cmocka_unit_test(a_match_is_interrupted),
        cmocka_unit_test(memory_that_is_missing_is_no_mismatch),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
