/* test_json_text.c: our reader of JSON reads what jansson's reads, and refuses what it refuses. That missing memory is
 * told from wrong text is tested by tests/faults. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>

#include "storage/base/text/json_text.h"

#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Reads a text whose last byte is the last of its memory, so that sanitizers see a byte too many. */
static enum status read_exactly(const char *text, size_t size, json_t **root, struct json_fault *fault)
{
    char *const exact = malloc(size + !size);
    assert_non_null(exact);
    memcpy(exact, text, size);
    const enum status status = json_read(exact, size, root, fault, NULL);
    free(exact);
    return status;
}

static void assert_as_jansson(const char *text, size_t size)
{
    struct json_fault fault;
    json_t *ours, *const theirs = json_loadb(text, size, JSON_REJECT_DUPLICATES, NULL);
    const enum status status = read_exactly(text, size, &ours, &fault);
    if (status != (theirs ? STATUS_OK : STATUS_BAD_INPUT) || (theirs && !json_equal(ours, theirs)))
        fail_msg("%.*s: status %d", (int)size, text, (int)status);
    json_decref(ours);
    json_decref(theirs);
}

static void texts_are_read_as_by_jansson(void **state)
{
    static const char *const texts[] = {
        "{}",
        "[]",
        " [ ] \n",
        "{\"a\": 1, \"b\": [true, false, null], \"c\": {\"d\": \"e\"}}",
        "[0, -1, 12, 9223372036854775807, -9223372036854775808, -0]",
        "[9223372036854775808]",
        "[0.5, -1.25e-3, 1e2, 2E+2, 3e308, 123456789.987654321]",
        "[1.]",
        "[.5]",
        "[1e]",
        "[1e+]",
        "[1.5.5]",
        "[01.5]",
        "[1e999]",
        "[-9223372036854775809]",
        "[01]",
        "[-]",
        "[+1]",
        "[1 2]",
        "[12345678901234567890123456789012345678901234567890]",
        "[\"\", \"a\", \"\\\"\\\\\\/\\b\\f\\n\\r\\t\"]",
        "[\"\\u0041\\u00e9\\u20ac\\ud83d\\ude00\"]",
        "[\"\\ud83d\"]",
        "[\"\\ud83d\\u0041\"]",
        "[\"\\ude00\"]",
        "[\"\\u12\"]",
        "[\"\\x\"]",
        "[\"\\u0000\"]",
        "[\"h\xc3\xa4\xe2\x82\xac\xf0\x9f\x98\x80\"]",
        "[\"\xc3\"]",
        "[\"\xff\"]",
        "[\"\xed\xa0\x80\"]",
        "[\"a\nb\"]",
        "[\"a\tb\"]",
        "[\"a",
        "[\"a\\",
        "[\"a\\\"",
        "{\"a\": 1, \"a\": 2}",
        "{\"a\" 1}",
        "{\"a\": }",
        "{\"a\": 1,}",
        "{1: 2}",
        "[1,]",
        "[,1]",
        "[1",
        "{",
        "[",
        "[}",
        "{]",
        "[tru]",
        "[truth]",
        "[nul",
        "[] []",
        "[] x",
        "",
        " ",
        "x",
        "{\"abcdefghijklmnopqrstuvwxyzabcdefghijklmnopqrstuvwxyz\": "
        "\"abcdefghijklmnopqrstuvwxyzabcdefghijklmn\"}",
    };
    (void)state;
    for (size_t t = 0; t < sizeof texts / sizeof *texts; t++)
        assert_as_jansson(texts[t], strlen(texts[t]));
    assert_as_jansson("[\"a\0b\"]", 7);
    assert_as_jansson("[1]\0", 4);
}

/* Every byte of a text removed, doubled or replaced in turn. */
static void damaged_texts_are_read_as_by_jansson(void **state)
{
    static const char whole[] =
        "{\"a\": [1, -20], \"b\\n\": {\"c\": \"h\xc3\xa4\\u00e9\"}, \"d\": [true, null, {}]}";
    static const char replacements[] = "\"\\{}[]:, x9-u\n\x80";
    (void)state;
    for (size_t b = 0; b + 1 < sizeof whole; b++) {
        char text[sizeof whole + 1];
        memcpy(text, whole, b);
        memcpy(text + b, whole + b + 1, sizeof whole - b - 1);
        assert_as_jansson(text, sizeof whole - 2);
        assert_as_jansson(whole, b);
        memcpy(text, whole, sizeof whole);
        memmove(text + b + 1, text + b, sizeof whole - b);
        assert_as_jansson(text, sizeof whole);
        for (const char *r = replacements; *r; r++) {
            memcpy(text, whole, sizeof whole);
            text[b] = *r;
            assert_as_jansson(text, sizeof whole - 1);
        }
    }
}

static void faults_have_a_line(void **state)
{
    json_t *root;
    struct json_fault fault;
    struct error error = {0};
    static const char text[] = "{\n \"a\": 1,\n \"b\": ?\n}\n";
    char deep[2 * JSON_DEPTH_MAX + 3];
    (void)state;
    assert_int_equal(json_read(text, sizeof text - 1, &root, &fault, &error), STATUS_BAD_INPUT);
    assert_null(root);
    assert_int_equal(fault.line, 3);
    assert_string_equal(error.text, "line 3: a value is expected");
    assert_int_equal(json_read("[1.]", 4, &root, &fault, NULL), STATUS_BAD_INPUT);
    assert_string_equal(fault.what, "a number is wrong");
    memset(deep, '[', JSON_DEPTH_MAX + 1);
    memset(deep + JSON_DEPTH_MAX + 1, ']', JSON_DEPTH_MAX + 1);
    assert_int_equal(json_read(deep, 2 * JSON_DEPTH_MAX + 2, &root, &fault, NULL), STATUS_BAD_INPUT);
    assert_string_equal(fault.what, "too many objects are inside each other");
    memmove(deep, deep + 1, 2 * JSON_DEPTH_MAX);
    assert_int_equal(json_read(deep, 2 * JSON_DEPTH_MAX, &root, &fault, NULL), STATUS_OK);
    json_decref(root);
}

static void a_value_is_printed_and_read(void **state)
{
    static const char text[] = "{\"a\": [1, 0.5, \"hÃ¤\\n\", null], \"b\": {}}";
    struct json_fault fault;
    json_t *root, *again;
    (void)state;
    assert_int_equal(json_read(text, sizeof text - 1, &root, &fault, NULL), STATUS_OK);
    char *const printed = json_print(root, JSON_INDENT(1)), *const theirs = json_dumps(root, JSON_INDENT(1));
    assert_string_equal(printed, theirs);
    assert_int_equal(json_read(printed, strlen(printed), &again, &fault, NULL), STATUS_OK);
    assert_true(json_equal(root, again));
    free(printed);
    free(theirs);
    json_decref(root);
    json_decref(again);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(texts_are_read_as_by_jansson),
        cmocka_unit_test(damaged_texts_are_read_as_by_jansson),
        cmocka_unit_test(faults_have_a_line),
        cmocka_unit_test(a_value_is_printed_and_read),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
