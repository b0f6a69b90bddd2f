/* test_delimited.c: every line comes back field by field wherever reading starts, and what is wrong with a
 * line is said with file, line, column and text. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "loader/text/delimited.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static char path[128]; /* below $TMPDIR */
static const char *const names[] = {"id", "name", "size"};

static void write_file(const void *bytes, size_t size)
{
    FILE *file = fopen(path, "wb");
    assert_non_null(file);
    assert_int_equal(fwrite(bytes, 1, size, file), size);
    assert_int_equal(fclose(file), 0);
}

static void assert_field(const struct delimited_field *field, const char *expected)
{
    assert_int_equal(field->length, strlen(expected));
    assert_memory_equal(field->text, expected, field->length);
}

/* Reads all lines of `text` as rows of (id, name, size) and returns the first error's text, or "". */
static const char *first_error(const void *text, size_t size)
{
    static struct error error;
    error.text[0] = 0;
    write_file(text, size);
    struct delimited_file *file;
    if (delimited_open(path, '|', names, 3, 1, &file, &error) != STATUS_OK) {
        assert_int_equal(error.status, STATUS_BAD_INPUT);
        return error.text;
    }
    struct delimited_reader *reader;
    assert_int_equal(delimited_reader_create(file, &reader, NULL), STATUS_OK);
    enum status status = STATUS_OK;
    for (uint64_t line = 0; line < delimited_lines(file) && status == STATUS_OK; line++) {
        struct delimited_field fields[3];
        int64_t value;
        status = delimited_next(reader, fields, &error);
        if (status == STATUS_OK)
            status = delimited_integer(reader, 0, &fields[0], INT32_MIN, INT32_MAX, &value, &error);
        if (status == STATUS_OK)
            status = delimited_integer(reader, 2, &fields[2], INT64_MIN, INT64_MAX, &value, &error);
    }
    if (status != STATUS_OK)
        assert_int_equal(status, STATUS_BAD_INPUT);
    delimited_reader_destroy(reader);
    delimited_close(file);
    return error.text;
}

#define FIRST_ERROR(literal) first_error(literal, sizeof(literal) - 1)

static void assert_error(const char *text, const char *expected_behind_path)
{
    assert_memory_equal(text, path, strlen(path));
    if (strncmp(text + strlen(path), expected_behind_path, strlen(expected_behind_path)) != 0)
        fail_msg("expected ...%s\n     but got %s", expected_behind_path, text);
}

static void fields_are_taken_by_position(void **state)
{
    (void)state;
    const char *const forms[] = {"7|a b|-3\n8||4\n", "7|a b|-3|\n8||4|\n", "7|a b|-3\r\n8||4\r\n",
                                 "7|a b|-3|\n8||4|"};
    for (size_t f = 0; f < 4; f++) {
        write_file(forms[f], strlen(forms[f]));
        struct delimited_file *file;
        struct delimited_reader *reader;
        struct delimited_field fields[3];
        int64_t value;
        assert_int_equal(delimited_open(path, '|', names, 3, 1, &file, NULL), STATUS_OK);
        assert_int_equal(delimited_lines(file), 2);
        assert_int_equal(delimited_reader_create(file, &reader, NULL), STATUS_OK);
        assert_int_equal(delimited_next(reader, fields, NULL), STATUS_OK);
        assert_field(&fields[0], "7");
        assert_field(&fields[1], "a b");
        assert_int_equal(delimited_integer(reader, 2, &fields[2], -3, 4, &value, NULL), STATUS_OK);
        assert_int_equal(value, -3);
        assert_int_equal(delimited_next(reader, fields, NULL), STATUS_OK);
        assert_field(&fields[1], "");
        assert_field(&fields[2], "4");
        assert_int_equal(delimited_next(reader, fields, NULL), STATUS_BAD_INPUT);
        delimited_reader_destroy(reader);
        delimited_close(file);
    }
}

/* 60000 lines of 1 to 90 bytes, several times the reader's buffer; a line names its own number. */
static void any_line_can_be_gone_to(void **state)
{
    (void)state;
    const uint64_t lines = 60000;
    FILE *out = fopen(path, "wb");
    assert_non_null(out);
    for (uint64_t i = 0; i < lines; i++)
        fprintf(out, "%" PRIu64 "|%.*s|%" PRIu64 "|\n", i, (int)(i * 31 % 77),
                "xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx", i * i);
    assert_int_equal(fclose(out), 0);
    for (unsigned threads = 0; threads < 4; threads++) {
        struct delimited_file *file;
        struct delimited_reader *reader;
        assert_int_equal(delimited_open(path, '|', names, 3, threads, &file, NULL), STATUS_OK);
        assert_int_equal(delimited_lines(file), lines);
        assert_int_equal(delimited_reader_create(file, &reader, NULL), STATUS_OK);
        for (uint64_t start = 0; start < lines; start += threads ? 997 : lines) {
            assert_int_equal(delimited_seek(reader, start, NULL), STATUS_OK);
            uint64_t end = threads && start + 3 < lines ? start + 3 : lines;
            for (uint64_t i = start; i < end; i++) {
                struct delimited_field fields[3];
                int64_t id, square;
                assert_int_equal(delimited_next(reader, fields, NULL), STATUS_OK);
                assert_int_equal(delimited_integer(reader, 0, &fields[0], 0, INT32_MAX, &id, NULL),
                                 STATUS_OK);
                assert_int_equal(delimited_integer(reader, 2, &fields[2], 0, INT64_MAX, &square, NULL),
                                 STATUS_OK);
                assert_int_equal(id, i);
                assert_int_equal(square, i * i);
                assert_int_equal(fields[1].length, i * 31 % 77);
            }
        }
        assert_int_equal(delimited_seek(reader, lines, NULL), STATUS_BAD_INPUT);
        delimited_reader_destroy(reader);
        delimited_close(file);
    }
}

/* A newline as the last byte of a block of the line index, as its first, and lines that fill a block exactly.
 */
static void lines_that_end_with_a_block_are_found(void **state)
{
    (void)state;
    for (int shift = -1; shift <= 1; shift++) {
        size_t first = (size_t)((int)DELIMITED_BUFFER_BYTES + shift - (shift > 0 ? 2 : 0));
        size_t size = first + 14;
        char *text = malloc(size + 1);
        assert_non_null(text);
        memset(text, 'x', first);
        memcpy(text, "1|", 2);
        memcpy(text + first - 4, "|2|\n", 4);
        memcpy(text + first, "3|y|4|\n5|z|6|\n", 14);
        write_file(text, size);
        struct delimited_file *file;
        struct delimited_reader *reader;
        struct delimited_field fields[3];
        assert_int_equal(delimited_open(path, '|', names, 3, 2, &file, NULL), STATUS_OK);
        assert_int_equal(delimited_lines(file), 3);
        assert_int_equal(delimited_reader_create(file, &reader, NULL), STATUS_OK);
        for (uint64_t line = 3; line-- > 1;) {
            assert_int_equal(delimited_seek(reader, line, NULL), STATUS_OK);
            assert_int_equal(delimited_next(reader, fields, NULL), STATUS_OK);
            assert_field(&fields[1], line == 1 ? "y" : "z");
        }
        delimited_reader_destroy(reader);
        delimited_close(file);
        free(text);
    }
}

static void good_numbers_are_read(void **state)
{
    (void)state;
    assert_string_equal(FIRST_ERROR("2147483647|x|9223372036854775807\n-2147483648||-9223372036854775808\n"),
                        "");
    assert_string_equal(FIRST_ERROR("0|x|-0\n007|x|0000000000000000000000001\n"), "");
}

static void bad_numbers_are_named(void **state)
{
    (void)state;
    assert_error(FIRST_ERROR("1|x|2\n1O|x|2\n"), ":2: column id: '1O' is not a whole number");
    assert_error(FIRST_ERROR("|x|2\n"), ":1: column id: '' is not a whole number");
    assert_error(FIRST_ERROR("-|x|2\n"), ":1: column id: '-' is not a whole number");
    assert_error(FIRST_ERROR("+1|x|2\n"), ":1: column id: '+1' is not a whole number");
    assert_error(FIRST_ERROR(" 1|x|2\n"), ":1: column id: ' 1' is not a whole number");
    assert_error(FIRST_ERROR("1.5|x|2\n"), ":1: column id: '1.5' is not a whole number");
    assert_error(FIRST_ERROR("1\t|x|2\n"), ":1: column id: '1\\x09' is not a whole number");
    assert_error(FIRST_ERROR("2147483648|x|2\n"),
                 ":1: column id: '2147483648' is out of range: the column holds -2147483648 to 2147483647");
    assert_error(FIRST_ERROR("-2147483649|x|2\n"), ":1: column id: '-2147483649' is out of range");
    assert_error(FIRST_ERROR("1|x|9223372036854775808\n"),
                 ":1: column size: '9223372036854775808' is out of range");
    assert_error(FIRST_ERROR("1|x|-9223372036854775809\n"),
                 ":1: column size: '-9223372036854775809' is out of range");
    assert_error(FIRST_ERROR("1|x|99999999999999999999999999999999999999999\n"),
                 ":1: column size: '9999999999999999999999999999999999999999...' is out of range");
}

static void rows_of_the_wrong_shape_are_named(void **state)
{
    (void)state;
    assert_error(FIRST_ERROR("1|x|2\n3|y\n"),
                 ":2: the row ends after 2 of 3 fields, with 'y'; column size is missing");
    assert_error(FIRST_ERROR("1|x|2|\n3|y|\n"),
                 ":2: the row ends after 2 of 3 fields, with 'y'; column size is missing");
    assert_error(FIRST_ERROR("1|x|2|\n3|y|4\n"), ":2: the row ends with '4' in column size, without the '|'");
    assert_error(FIRST_ERROR("1|x|2|\n3|y|4|5|\n"), ":2: the row goes on with '5|' behind column size");
    assert_error(FIRST_ERROR("1|x|2\n3|y|4|5\n"), ":2: the row goes on with '5' behind column size");
    assert_error(FIRST_ERROR("1|x|2\n3|y|4|\n"), ":2: the row goes on with '' behind column size");
    assert_error(FIRST_ERROR("1|x|2\n\n"), ":2: the line is empty; a row needs 3 fields");
    assert_error(FIRST_ERROR("\n"), ":1: the line is empty");
    assert_error(FIRST_ERROR("1|x|2\n3|\0|4\n"), ":2: there is a NUL byte at byte 3 of the line");
    assert_error(FIRST_ERROR(""), " is empty");
}

static void a_line_that_never_ends_is_refused(void **state)
{
    (void)state;
    size_t size = 3 * (size_t)DELIMITED_BUFFER_BYTES;
    char *text = malloc(size);
    assert_non_null(text);
    memset(text, '1', size);
    memcpy(text, "1|x|2\n", 6);
    assert_error(first_error(text, size), ":2: the line is longer than 262144 bytes");
    free(text);
}

static void files_that_cannot_be_read_are_named(void **state)
{
    (void)state;
    struct delimited_file *file;
    struct error error = {0};
    assert_int_equal(delimited_open("/tmp/tessera-no-such-file", '|', names, 3, 1, &file, &error),
                     STATUS_BAD_INPUT);
    assert_non_null(strstr(error.text, "/tmp/tessera-no-such-file"));
    assert_int_equal(delimited_open("/tmp", '|', names, 3, 1, &file, &error), STATUS_BAD_INPUT);
    assert_non_null(strstr(error.text, "/tmp is not a regular file"));
}

static void a_file_cut_short_while_it_is_read_is_an_error(void **state)
{
    (void)state;
    char *text = malloc(6 * 100000);
    assert_non_null(text);
    for (int i = 0; i < 100000; i++)
        memcpy(text + 6 * i, "1|x|2\n", 6);
    write_file(text, 6 * 100000);
    free(text);
    struct delimited_file *file;
    struct delimited_reader *reader;
    struct delimited_field fields[3];
    struct error error = {0};
    assert_int_equal(delimited_open(path, '|', names, 3, 1, &file, NULL), STATUS_OK);
    assert_int_equal(truncate(path, 60), 0);
    assert_int_equal(delimited_reader_create(file, &reader, NULL), STATUS_OK);
    for (int i = 0; i < 10; i++)
        assert_int_equal(delimited_next(reader, fields, NULL), STATUS_OK);
    assert_int_equal(delimited_next(reader, fields, &error), STATUS_BAD_INPUT);
    assert_error(error.text, ":11: the file ended before this line although it had 100000 lines");
    assert_int_equal(delimited_seek(reader, 99999, &error), STATUS_BAD_INPUT);
    delimited_reader_destroy(reader);
    delimited_close(file);
}

static int make_path(void **state)
{
    (void)state;
    const char *base = getenv("TMPDIR");
    snprintf(path, sizeof path, "%s/tessera-delimited-XXXXXX", base ? base : "/tmp");
    int descriptor = mkstemp(path);
    return descriptor < 0 ? -1 : close(descriptor);
}

static int remove_path(void **state)
{
    (void)state;
    return unlink(path);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(fields_are_taken_by_position),
        cmocka_unit_test(any_line_can_be_gone_to),
        cmocka_unit_test(lines_that_end_with_a_block_are_found),
        cmocka_unit_test(good_numbers_are_read),
        cmocka_unit_test(bad_numbers_are_named),
        cmocka_unit_test(rows_of_the_wrong_shape_are_named),
        cmocka_unit_test(a_line_that_never_ends_is_refused),
        cmocka_unit_test(files_that_cannot_be_read_are_named),
        cmocka_unit_test(a_file_cut_short_while_it_is_read_is_an_error),
    };
    return cmocka_run_group_tests(tests, make_path, remove_path);
}
