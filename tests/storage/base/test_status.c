/* test_status.c: sentences of errors: they have no control characters, and are cut. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>

#include "storage/base/status.h"

#include <errno.h>
#include <string.h>

static void control_characters_are_escaped(void **state)
{
    struct error error;
    (void)state;
    assert_int_equal(
        error_set(&error, STATUS_BAD_INPUT, "'%s' is wrong", "a\nb\tc\r\x1b[31m\x7f\x01\xc2\x9b K\xc3\xb6ln"),
        STATUS_BAD_INPUT);
    assert_string_equal(error.text, "'a\\nb\\tc\\r\\x1b[31m\\x7f\\x01\\xc2\\x9b K\xc3\xb6ln' is wrong");
    assert_int_equal(error_set(&error, STATUS_MACHINE, "%s; more", error.text), STATUS_MACHINE);
    assert_string_equal(error.text, "'a\\nb\\tc\\r\\x1b[31m\\x7f\\x01\\xc2\\x9b K\xc3\xb6ln' is wrong; more");
    error_set_errno(&error, ENOENT, "%s", "a\nb");
    assert_string_equal(error.text, "a\\nb: No such file or directory");
    assert_int_equal(error.cause, ENOENT);
    error_set_lines(&error, STATUS_BAD_INPUT, "%s\nand %d more", "one", 2);
    assert_string_equal(error.text, "one\nand 2 more");
    assert_int_equal(error_set(NULL, STATUS_BAD_INPUT, "nobody asks"), STATUS_BAD_INPUT);
}

static void long_sentences_are_cut(void **state)
{
    char long_one[3000], text[8];
    struct error error;
    (void)state;
    memset(long_one, '\x1b', sizeof long_one - 1);
    long_one[sizeof long_one - 1] = '\0';
    error_set(&error, STATUS_BAD_INPUT, "%s", long_one);
    assert_int_equal(strlen(error.text), (sizeof error.text - 1) / 4 * 4); /* whole escapes */
    memset(long_one, 'x', sizeof long_one - 1);
    error_set_errno(&error, EIO, "%s", long_one);
    assert_int_equal(strlen(error.text), sizeof error.text - 1);
    error_text_escape(text, sizeof text, "abcd\x1b!");
    assert_string_equal(text, "abcd");
    error_text_escape(text, sizeof text, "abc\x1b!");
    assert_string_equal(text, "abc\\x1b");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(control_characters_are_escaped),
        cmocka_unit_test(long_sentences_are_cut),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
