/* test_text_stream.c: texts made in memory. That missing memory is seen is tested by tests/faults. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>

#include "storage/base/text/text_stream.h"

#include <stdlib.h>
#include <string.h>

static void a_text_is_what_was_printed(void **state)
{
    char *text;
    size_t bytes;
    (void)state;
    FILE *const stream = text_stream(&text, &bytes);
    assert_non_null(stream);
    for (int i = 0; i < 10000; i++)
        fprintf(stream, "%d,", i);
    fputc('\0', stream);
    assert_int_equal(fclose(stream), 0);
    assert_int_equal(bytes, 10 * 2 + 90 * 3 + 900 * 4 + 9000 * 5 + 1);
    const char *at = text;
    for (long i = 0; i < 10000; i++) {
        char *end;
        assert_int_equal(strtol(at, &end, 10), i);
        assert_int_equal(*end, ',');
        at = end + 1;
    }
    assert_int_equal(at - text, bytes - 1);
    assert_int_equal(text[bytes], 0);
    free(text);
}

static void an_empty_text_is_a_text(void **state)
{
    char *text;
    size_t bytes;
    (void)state;
    FILE *const stream = text_stream(&text, &bytes);
    assert_non_null(stream);
    assert_int_equal(fclose(stream), 0);
    assert_string_equal(text, "");
    assert_int_equal(bytes, 0);
    free(text);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_text_is_what_was_printed),
        cmocka_unit_test(an_empty_text_is_a_text),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
