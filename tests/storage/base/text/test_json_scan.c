/* test_json_scan.c: texts are JSON, or are not, as jansson has it; values are where they stand; escapes are characters. */
#define _GNU_SOURCE
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>

#include "storage/base/text/json_scan.h"

#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static bool is_json(const char *text, size_t length)
{
    struct json_scanned value;
    char *const exact =
        malloc(length + 1); /* so that a tool that watches memory sees what is read behind it */
    memcpy(exact, text, length);
    const bool right = !json_scan_text(exact, (uint32_t)length, &value);
    free(exact);
    return right;
}

static bool is_janssons(const char *text, size_t length)
{
    json_t *const root = json_loadb(text, length, JSON_DECODE_ANY | JSON_DECODE_INT_AS_REAL, NULL);
    json_decref(root);
    return root;
}

static void texts_are_json_as_jansson_has_it(void **state)
{
    static const char *const texts[] = {"{}",
                                        "[]",
                                        " { } ",
                                        "[1,-2.5e+3,0,1E1,0.10]",
                                        "{\"a\":{\"b\":[true,false,null,\"x\"]},\"c\":\"\\n\\\"\\\\\\/\"}",
                                        "\"\\u00e4\\ud83d\\ude00 and more than eight bytes\"",
                                        "[[[[[[]]]]],{\"\":0}]",
                                        "\t\r\n\"12345678\" "};
    static const char letters[] = "{}[]\",:\\0123456789-+.eEtrufalsn \n\ta\x01";
    unsigned checked = 0;
    (void)state;
    srand(20260725);
    for (size_t t = 0; t < sizeof texts / sizeof *texts; t++)
        assert_true(is_json(texts[t], strlen(texts[t])) && is_janssons(texts[t], strlen(texts[t])));
    for (unsigned round = 0; round < 200000; round++) {
        char text[128];
        size_t length = strlen(texts[round % 8]);
        memcpy(text, texts[round % 8], length + 1);
        for (int change = rand() % 3; change >= 0; change--) {
            const size_t at = (size_t)rand() % (length + 1);
            const int what = rand() % 3;
            if (what == 0 && at < length) {
                memmove(text + at, text + at + 1, length-- - at);
            } else if (what == 1 && length < 120) {
                memmove(text + at + 1, text + at, ++length - at);
                text[at] = letters[(size_t)rand() % (sizeof letters - 1)];
            } else if (at < length) {
                text[at] = letters[(size_t)rand() % (sizeof letters - 1)];
            }
        }
        text[length] = '\0';
        if (strstr(text, "\\u"))
            continue; /* halves of pairs are values here */
        checked++;
        if (is_json(text, length) != is_janssons(text, length) &&
            !strpbrk(text, "eE")) /* 1e400 is a number here */
            fail_msg("%s: %s", text, is_json(text, length) ? "is no JSON" : "is JSON");
    }
    assert_true(checked > 20000);
}

static void deep_texts_are_refused(void **state)
{
    char text[2 * 600];
    (void)state;
    for (size_t depth = 499; depth < 502; depth++) {
        memset(text, '[', depth);
        memset(text + depth, ']', depth);
        assert_int_equal(is_json(text, 2 * depth), depth <= JSON_SCAN_DEPTH);
        assert_false(is_json(text, 2 * depth - 1));
    }
}

static void items_come_one_after_the_other(void **state)
{
    static const char text[] = " {\"a\": 1 , \"b\\n\":[ 2,\"x\" ],\"c\":null} ";
    static const char *const values[] = {"1", "[ 2,\"x\" ]", "null"};
    struct json_scanned object, name, value;
    bool more;
    unsigned count = 0;
    (void)state;
    assert_null(json_scan_text(text, sizeof text - 1, &object));
    assert_int_equal(object.kind, JSON_SCAN_OBJECT);
    struct json_scan_items items = json_scan_items(&object);
    while (!json_scan_next(&items, &name, &value, &more) && more) {
        assert_int_equal(value.length, strlen(values[count]));
        assert_memory_equal(value.text, values[count], value.length);
        assert_int_equal(name.escaped, count == 1);
        count++;
    }
    assert_false(more);
    assert_int_equal(count, 3);
    assert_ptr_equal(items.at, object.text + object.length);
}

static void escapes_are_characters(void **state)
{
    static const struct {
        const char *escaped, *text; /* NULL: no text can have it */
    } cases[] = {{"", ""},
                 {"a\\tb\\u0041", "a\tbA"},
                 {"\\\"\\\\\\/\\b\\f\\n\\r\\t", "\"\\/\b\f\n\r\t"},
                 {"\\u00e4\\u20AC\\ud83d\\ude00", "\xc3\xa4\xe2\x82\xac\xf0\x9f\x98\x80"},
                 {"\\u0000", NULL},
                 {"\\ud83d", NULL},
                 {"\\ud83dx", NULL},
                 {"\\ude00", NULL},
                 {"\\ud83d\\u0041", NULL}};
    (void)state;
    for (size_t c = 0; c < sizeof cases / sizeof *cases; c++) {
        char out[64];
        uint32_t written;
        const bool right =
            json_scan_unescape(cases[c].escaped, (uint32_t)strlen(cases[c].escaped), out, &written);
        assert_int_equal(right, cases[c].text != NULL);
        if (right) {
            assert_int_equal(written, strlen(cases[c].text));
            assert_memory_equal(out, cases[c].text, written);
        }
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(texts_are_json_as_jansson_has_it), cmocka_unit_test(deep_texts_are_refused),
        cmocka_unit_test(items_come_one_after_the_other), cmocka_unit_test(escapes_are_characters)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
