/*
 * test_rowset_print.c: answers as text, against a printf of each value: every type at odd row counts, on one thread and on
 * several; strings that formats must quote; as many columns as a statement may have; what cannot be written.
 */
#define _GNU_SOURCE
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>

#include "engine/answer/rowset.h"
#include "engine/answer/text_width.h"
#include "engine/plan/value_text.h"
#include "storage/base/calendar.h"
#include "storage/base/decimal.h"
#include "storage/base/parallel.h"
#include "tests/fuzz/fuzz_random.h"
#include "tests/support/database_cases.h"

#include <errno.h>
#include <inttypes.h>

/* All tests run in it. */
static struct execution execution;

static char *printed(const struct rowset *rows, enum rowset_format format, unsigned threads)
{
    static char *text; /* a local one is taken for dangling, once inlined */
    static size_t bytes;
    FILE *out = open_memstream(&text, &bytes);
    must(rowset_print(rows, format, threads, out, error));
    fclose(out);
    return text;
}

static void must_print(const struct rowset *rows, enum rowset_format format, const char *expected)
{
    for (unsigned threads = 1; threads <= 3; threads += 2) {
        char *const text = printed(rows, format, threads);
        assert_string_equal(text, expected);
        free(text);
    }
}

/* ---- Numbers ---- */

/* Each value as printf has it; with the quotes that JSON wants. */
static void expected_value(FILE *out, struct value_type type, int64_t value, bool json)
{
    const char *const quote = json ? "\"" : "";
    const int64_t days =
        type.kind == VALUE_TIMESTAMP ? calendar_floor(value, CALENDAR_DAY_MICROSECONDS) : value;
    struct calendar_date date = {0};
    switch (type.kind) {
    case VALUE_BOOLEAN:
        fputs(value ? "true" : "false", out);
        return;
    case VALUE_DOUBLE:
        fprintf(out, "%.1f", double_of_key(value));
        return;
    case VALUE_DATE:
    case VALUE_TIMESTAMP:
        date = calendar_date_of(days);
        fprintf(out, "%s%04" PRId64 "-%02d-%02d", quote, date.year, date.month, date.day);
        if (type.kind == VALUE_TIMESTAMP) {
            const int64_t of_day = value - days * CALENDAR_DAY_MICROSECONDS, seconds = of_day / 1000000;
            fprintf(out, " %02d:%02d:%02d", (int)(seconds / 3600), (int)(seconds / 60 % 60),
                    (int)(seconds % 60));
            if (of_day % 1000000)
                fprintf(out, ".%06d", (int)(of_day % 1000000));
        }
        fputs(quote, out);
        return;
    default:
        if (type.scale == 0)
            fprintf(out, "%" PRId64, value);
        else
            fprintf(out, "%s%" PRIu64 ".%0*" PRIu64, value < 0 ? "-" : "",
                    (value < 0 ? 0 - (uint64_t)value : (uint64_t)value) / (uint64_t)power_of_ten(type.scale),
                    type.scale,
                    (value < 0 ? 0 - (uint64_t)value : (uint64_t)value) % (uint64_t)power_of_ten(type.scale));
    }
}

static const struct value_type types[] = {{.kind = VALUE_INTEGER},
                                          {.kind = VALUE_INTEGER, .scale = 1},
                                          {.kind = VALUE_INTEGER, .scale = 2},
                                          {.kind = VALUE_DATE},
                                          {.kind = VALUE_INTEGER, .scale = 8},
                                          {.kind = VALUE_INTEGER, .scale = 9},
                                          {.kind = VALUE_BOOLEAN},
                                          {.kind = VALUE_INTEGER, .scale = 17},
                                          {.kind = VALUE_INTEGER, .scale = 18},
                                          {.kind = VALUE_TIMESTAMP},
                                          {.kind = VALUE_DOUBLE}};
#define TYPES (sizeof types / sizeof *types)

static int64_t random_value(struct value_type type)
{
    const double number = (double)below(1000000) / 2 + 0.5;
    const int64_t any = (int64_t)((uint64_t)below(UINT32_MAX) << 32 | below(UINT32_MAX)) >> below(64);
    switch (type.kind) {
    case VALUE_DATE:
        return any % 5000000; /* years -11720 to 15659 */
    case VALUE_BOOLEAN:
        return any & 1;
    case VALUE_TIMESTAMP:
        return below(3) ? any : any / 1000000 * 1000000;
    case VALUE_DOUBLE:
        return double_key_of(number);
    default:
        return below(50) == 0 ? INT64_MIN : below(50) == 0 ? INT64_MAX : any;
    }
}

static void make_numbers(struct rowset *rows, uint64_t count)
{
    static const char *const names[TYPES] = {"a", "b", "c", "d", "e", "f", "g", "h", "i", "j", "k"};
    must(rowset_create(rows, TYPES, names, types, count, error));
    rows->rows = count;
    for (uint32_t c = 0; c < TYPES; c++) {
        if (c % 3 == 1)
            must(spillable_zeros(&rows->columns[c].nulls, count + 1, "a test", error));
        for (uint64_t row = 0; row < count; row++) {
            rows->columns[c].values[row] = random_value(types[c]);
            if (c % 3 == 1)
                rows->columns[c].nulls[row] = below(4) == 0;
        }
    }
}

static char *expected_numbers(const struct rowset *rows, bool json)
{
    static char *text;
    static size_t bytes;
    FILE *out = open_memstream(&text, &bytes);
    fputs(json ? "[" : "a,b,c,d,e,f,g,h,i,j,k\n", out);
    for (uint64_t row = 0; row < rows->rows; row++) {
        fputs(!json ? "" : row ? ",\n {" : "\n {", out);
        for (uint32_t c = 0; c < TYPES; c++) {
            const struct rowset_column *column = &rows->columns[c];
            if (json)
                fprintf(out, "%s\"%s\": ", c ? ", " : "", column->name);
            else
                fputs(c ? "," : "", out);
            if (!column->nulls || !column->nulls[row])
                expected_value(out, column->type, column->values[row], json);
            else if (json)
                fputs("null", out);
        }
        fputs(json ? "}" : "\n", out);
    }
    fputs(!json ? "" : rows->rows ? "\n]\n" : "]\n", out);
    fclose(out);
    return text;
}

static void numbers_are_written_as_printf_does(void **state)
{
    static const uint64_t sizes[] = {0, 1, 2, 255, 256, 257, 511, 11914, 11915, 11916, 30001, 50000};
    (void)state;
    random_state = 20261121;
    for (size_t s = 0; s < sizeof sizes / sizeof *sizes; s++) {
        struct rowset rows;
        make_numbers(&rows, sizes[s]);
        for (int json = 0; json < 2; json++) {
            char *const expected = expected_numbers(&rows, json);
            must_print(&rows, json ? ROWSET_JSON : ROWSET_CSV, expected);
            free(expected);
        }
        rowset_free(&rows);
    }
}

static void each_value_is_the_same_alone(void **state)
{
    char text[128], *expected;
    size_t bytes;
    (void)state;
    random_state = 7;
    for (uint32_t i = 0; i < 200000; i++) {
        const struct value_type type = types[i % TYPES];
        const int64_t value = random_value(type);
        FILE *out = open_memstream(&expected, &bytes);
        expected_value(out, type, value, false);
        fclose(out);
        assert_string_equal(typed_text(type, value, text, sizeof text), expected);
        if (bytes > 4) {
            typed_text(type, value, text, 5);
            assert_int_equal(strlen(text), 4);
            assert_memory_equal(text, expected, 4);
        }
        free(expected);
    }
}

/* The first of 15, 16 and 17 digits that reads back alike; of numbers with fewer bits any number of digits. */
static void must_write_double(double number)
{
    char text[64], expected[64];
    number += number == 0 ? 0.0 : 0; /* -0 is 0 */
    for (int digits = number != 0 && fabs(number) <= 0x1p-1022 ? 1 : 15; digits <= 17; digits++) {
        snprintf(expected, sizeof expected - 4, "%.*g", digits, number);
        if (strtod(expected, NULL) == number)
            break;
    }
    if (strspn(expected, "-0123456789") == strlen(expected))
        strcat(expected, ".0");
    typed_text((struct value_type){.kind = VALUE_DOUBLE}, double_key_of(number), text, sizeof text);
    if (strcmp(text, expected) != 0)
        fail_msg("%s instead of %s", text, expected);
}

static void doubles_have_the_fewest_digits(void **state)
{
    static const double edges[] = {0,
                                   -0.0,
                                   0.01,
                                   0.1,
                                   1,
                                   10,
                                   1e13,
                                   9.9999999999999e13,
                                   1e14,
                                   1e15,
                                   1.0 / 3,
                                   1e300,
                                   5e-324,
                                   0.07,
                                   0.3,
                                   0.01 - 1e-18,
                                   99999999999999.98,
                                   1e22,
                                   123456.7,
                                   2.5e-3,
                                   1e-5,
                                   1.0 / 0.0,
                                   -1.0 / 0.0,
                                   0.1 + 0.2,
                                   9007199254740993.0};
    (void)state;
    random_state = 99;
    for (size_t e = 0; e < sizeof edges / sizeof *edges; e++) {
        must_write_double(edges[e]);
        must_write_double(-edges[e]);
    }
    for (uint32_t i = 0; i < 300000; i++) {
        const double sum = (double)below(UINT32_MAX) * (double)(1 + below(1000)), count = 1 + below(10000);
        const uint64_t any = (uint64_t)below(UINT32_MAX) << 32 | below(UINT32_MAX);
        double number;
        memcpy(&number, &any, sizeof number);
        must_write_double(sum / count);
        must_write_double(-sum / count / 1e6);
        must_write_double((double)below(UINT32_MAX) / 100);
        if (number == number)
            must_write_double(number);
    }
}

/* Lines of a table are equally long, whatever the row in which the widest value stands. */
static void widths_are_those_of_all_rows(void **state)
{
    static const char *const name = "n";
    static const struct value_type integer = {.kind = VALUE_INTEGER};
    struct rowset rows;
    (void)state;
    must(rowset_create(&rows, 1, &name, &integer, 300000, error));
    rows.rows = 300000;
    for (uint64_t row = 0; row < rows.rows; row++)
        rows.columns[0].values[row] = row == 299990 ? INT64_MIN : (int64_t)row;
    char *const text = printed(&rows, ROWSET_TABLE, 3);
    uint64_t lines = 0;
    for (const char *line = text; *line; line += 21, lines++)
        assert_int_equal(line[20], '\n');
    assert_int_equal(lines, rows.rows + 2);
    free(text);
    rowset_free(&rows);
}

/* ---- Strings ---- */

static const char *const strings[] = {"",
                                      "plain",
                                      "a,b",
                                      "say \"so\"",
                                      "two\nlines",
                                      "tab\there",
                                      "back\\slash",
                                      "a|b",
                                      "caf\xc3\xa9",
                                      "\xc2\x9b"
                                      "1m",
                                      "\x7f",
                                      "sixteen bytes ok"};
#define STRINGS (sizeof strings / sizeof *strings)

/* One column named `name`, a row a string; `spare` strings that no row has make the dictionary too large to be
 * written before the rows are. The dictionary is to be freed. */
static struct dictionary *make_strings(struct rowset *rows, const char *name, uint32_t spare)
{
    struct dictionary *const dictionary = malloc(sizeof *dictionary);
    uint64_t *const starts = malloc((STRINGS + spare + 1) * sizeof *starts);
    char *const bytes = malloc(256 + spare);
    assert_non_null(dictionary);
    assert_non_null(starts);
    assert_non_null(bytes);
    *dictionary = dictionary_of(strings, STRINGS, starts, bytes);
    for (uint32_t s = 0; s < spare; s++) {
        bytes[starts[STRINGS + s]] = 'x';
        starts[STRINGS + s + 1] = starts[STRINGS + s] + 1;
    }
    dictionary->count += spare;
    const struct value_type type = {.kind = VALUE_STRING, .dictionary = dictionary};
    must(rowset_create(rows, 1, &name, &type, STRINGS + 2, error));
    must(spillable_zeros(&rows->columns[0].nulls, STRINGS + 2, "a test", error));
    rows->rows = STRINGS + 2;
    for (uint32_t row = 0; row < STRINGS; row++)
        rows->columns[0].values[row] = row;
    rows->columns[0].nulls[STRINGS] = 1;
    rows->columns[0].values[STRINGS] = -1;
    rows->columns[0].values[STRINGS + 1] = 1000; /* of a damaged file */
    return dictionary;
}

static void strings_are_quoted_as_their_format_does(void **state)
{
    (void)state;
    for (uint32_t spare = 0; spare <= 100; spare += 100) {
        struct rowset rows;
        struct dictionary *dictionary = make_strings(&rows, "a \"b\",|\n", spare);
        must_print(&rows, ROWSET_CSV,
                   "\"a \"\"b\"\",|\n\"\n\"\"\nplain\n\"a,b\"\n\"say "
                   "\"\"so\"\"\"\n\"two\nlines\"\ntab\there\nback\\slash\n"
                   "a|b\ncaf\xc3\xa9\n\xc2\x9b"
                   "1m\n\x7f\nsixteen bytes ok\n\n\"\"\n");
        must_print(&rows, ROWSET_MARKDOWN,
                   "| a \"b\",\\|         |\n"
                   "|------------------|\n"
                   "|                  |\n"
                   "| plain            |\n"
                   "| a,b              |\n"
                   "| say \"so\"         |\n"
                   "| two lines        |\n"
                   "| tab here         |\n"
                   "| back\\slash       |\n"
                   "| a\\|b             |\n"
                   "| caf\xc3\xa9             |\n"
                   "|  1m              |\n"
                   "|                  |\n"
                   "| sixteen bytes ok |\n"
                   "| NULL             |\n"
                   "|                  |\n");
        must_print(
            &rows, ROWSET_TABLE,
            "a \"b\",| \n----------------\n\nplain\na,b\nsay \"so\"\ntwo lines\ntab here\nback\\slash\na|b\n"
            "caf\xc3\xa9\n 1m\n \nsixteen bytes ok\nNULL\n\n");
        char *const json = printed(&rows, ROWSET_JSON, 1);
        assert_non_null(strstr(json, "[\n {\"a \\\"b\\\",|\\u000a\": \"\"},\n {\"a "));
        assert_non_null(strstr(json, ": \"say \\\"so\\\"\"},\n"));
        assert_non_null(strstr(json, ": \"two\\u000alines\"},\n"));
        assert_non_null(strstr(json, ": \"back\\\\slash\"},\n"));
        assert_non_null(strstr(json, ": null},\n {\"a \\\"b\\\",|\\u000a\": \"\"}\n]\n"));
        free(json);
        rowset_free(&rows);
        free((void *)dictionary->starts);
        free((void *)dictionary->bytes);
        free(dictionary);
    }
}

/* Megabytes each: parts go out piece by piece, in order. */
static void long_strings_keep_their_order(void **state)
{
    enum { BYTES = 3 << 20, COUNT = 4, LONG_ROWS = 9 };
    static const char *const name = "text";
    char *const bytes = malloc(COUNT * BYTES);
    const uint64_t starts[] = {0, BYTES, 2 * BYTES, 3 * BYTES, 4 * BYTES};
    const struct dictionary dictionary = {.count = COUNT, .starts = starts, .bytes = bytes};
    const struct value_type type = {.kind = VALUE_STRING, .dictionary = &dictionary};
    struct rowset rows;
    (void)state;
    assert_non_null(bytes);
    for (int s = 0; s < COUNT; s++)
        memset(bytes + s * BYTES, 'a' + s, BYTES);
    must(rowset_create(&rows, 1, &name, &type, LONG_ROWS, error));
    rows.rows = LONG_ROWS;
    for (uint64_t row = 0; row < LONG_ROWS; row++)
        rows.columns[0].values[row] = (int64_t)(row * 7 % COUNT);
    for (unsigned threads = 1; threads < 4; threads++) {
        char *const text = printed(&rows, ROWSET_CSV, threads);
        assert_int_equal(strlen(text), 5 + LONG_ROWS * (BYTES + 1));
        for (uint64_t row = 0; row < LONG_ROWS; row++)
            for (uint64_t at = 0; at < BYTES; at += BYTES - 1)
                assert_int_equal(text[5 + row * (BYTES + 1) + at], 'a' + (int)(row * 7 % COUNT));
        free(text);
    }
    rowset_free(&rows);
    free(bytes);
}

/* One long string does not make every line as long. */
static void wide_characters_align(void **state)
{
    static const struct {
        const char *text;
        size_t width;
    } texts[] = {
        {"", 0},
        {"shop", 4},
        {"K\xc3\xb6ln", 4},
        {"Ko\xcc\x88ln", 4},                              /* a mark that combines with the letter before */
        {"\xe6\x9d\xb1\xe4\xba\xac", 4},                  /* Tokyo */
        {"\xed\x95\x9c\xea\xb5\xad", 4},                  /* Korea */
        {"\xf0\x9f\x8d\x8e!", 3},                         /* an apple */
        {"\xe2\x80\x8b", 0},                              /* a space of no width */
        {"\xd0\x96\xce\xa9", 2},                          /* Cyrillic and Greek */
        {"\xff\xe6\x9d", 3},                              /* no UTF-8 */
        {"\xf0\xa0\x80\x80\xe3\x80\x80\xef\xbc\xa1", 6}}; /* beyond 16 bits; a wide blank and letter */
    static const char *const names[] = {"\xe9\x83\xbd\xe5\xb8\x82", "n"};
    static const char bytes[] = "\xe6\x9d\xb1\xe4\xba\xac\xe9\x83\xbd"
                                "Rome";
    static const uint64_t starts[] = {0, 9, 13};
    const struct dictionary dictionary = {.count = 2, .starts = starts, .bytes = bytes};
    const struct value_type both[] = {{.kind = VALUE_STRING, .dictionary = &dictionary},
                                      {.kind = VALUE_INTEGER}};
    struct rowset rows;
    (void)state;
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++)
        assert_int_equal(text_width(texts[i].text, strlen(texts[i].text)), texts[i].width);
    must(rowset_create(&rows, 2, names, both, 2, error));
    rows.rows = 2;
    for (uint64_t row = 0; row < rows.rows; row++)
        rows.columns[0].values[row] = rows.columns[1].values[row] = (int64_t)row;
    must_print(
        &rows, ROWSET_TABLE,
        "\xe9\x83\xbd\xe5\xb8\x82    n\n------  -\n\xe6\x9d\xb1\xe4\xba\xac\xe9\x83\xbd  0\nRome    1\n");
    rowset_free(&rows);
}

static void a_long_string_stands_out_of_a_table(void **state)
{
    enum { BYTES = 100000 };
    static char bytes[BYTES];
    static const char *const names[] = {"text", "n"};
    static const uint64_t starts[] = {0, 1, BYTES};
    const struct dictionary dictionary = {.count = 2, .starts = starts, .bytes = bytes};
    const struct value_type both[] = {{.kind = VALUE_STRING, .dictionary = &dictionary},
                                      {.kind = VALUE_INTEGER}};
    struct rowset rows;
    (void)state;
    memset(bytes, 'x', BYTES);
    must(rowset_create(&rows, 2, names, both, 3000, error));
    rows.rows = 3000;
    for (uint64_t row = 0; row < rows.rows; row++) {
        rows.columns[0].values[row] = row == 2999;
        rows.columns[1].values[row] = 7;
    }
    for (int format = ROWSET_TABLE; format <= ROWSET_MARKDOWN; format += ROWSET_MARKDOWN - ROWSET_TABLE) {
        char *const text = printed(&rows, (enum rowset_format)format, 2);
        assert_true(strlen(text) < 3002 * 1020 + BYTES && strlen(text) > 3002 * 1000 + BYTES - 1001);
        free(text);
    }
    rowset_free(&rows);
}

/* ---- Columns ---- */

static void make_columns(struct rowset *rows, uint32_t count, const char *const *names)
{
    struct value_type integers[512] = {{.kind = VALUE_INTEGER}};
    must(rowset_create(rows, count, names, integers, 1, error));
    rows->rows = 1;
    for (uint32_t c = 0; c < count; c++)
        rows->columns[c].values[0] = c;
}

/* Widths once had room for 256. */
static void as_many_columns_as_a_statement_may_have(void **state)
{
    const char *names[512];
    (void)state;
    for (uint32_t c = 0; c < 512; c++)
        names[c] = c % 2 ? "odd" : "even";
    for (uint32_t count = 255; count <= 512; count += 257) {
        struct rowset rows;
        make_columns(&rows, count, names);
        for (int format = ROWSET_TABLE; format <= ROWSET_MARKDOWN; format++) {
            char *const text = printed(&rows, (enum rowset_format)format, 2);
            char last[16];
            snprintf(last, sizeof last, "%u", count - 1);
            assert_non_null(strstr(text, last));
            free(text);
        }
        rowset_free(&rows);
    }
}

static void keys_of_an_object_differ(void **state)
{
    static const char *const names[] = {"q", "q", "q_1", "Q", "q", "q_1"};
    struct rowset rows;
    (void)state;
    make_columns(&rows, 6, names);
    must_print(&rows, ROWSET_JSON,
               "[\n {\"q\": 0, \"q_1\": 1, \"q_1_1\": 2, \"Q\": 3, \"q_2\": 4, \"q_1_2\": 5}\n]\n");
    must_print(&rows, ROWSET_CSV, "q,q,q_1,Q,q,q_1\n0,1,2,3,4,5\n");
    rowset_free(&rows);
}

static void no_columns_and_no_rows(void **state)
{
    const struct rowset none = {0};
    (void)state;
    must_print(&none, ROWSET_CSV, "\n");
    must_print(&none, ROWSET_JSON, "[]\n");
    must_print(&none, ROWSET_TABLE, "\n\n");
}

/* ---- What goes wrong ---- */

static ssize_t written_until_full;

static ssize_t write_until_full(void *unused, const char *bytes, size_t count)
{
    (void)unused;
    (void)bytes;
    if (written_until_full + (ssize_t)count > 3000000) {
        errno = ENOSPC;
        return 0;
    }
    written_until_full += (ssize_t)count;
    return (ssize_t)count;
}

static void what_cannot_be_written_ends_it(void **state)
{
    struct rowset rows;
    (void)state;
    make_numbers(&rows, 200000);
    for (unsigned threads = 1; threads <= 4; threads++)
        for (int format = ROWSET_TABLE; format <= ROWSET_MARKDOWN; format++) {
            written_until_full = 0;
            FILE *out = fopencookie(NULL, "w", (cookie_io_functions_t){.write = write_until_full});
            assert_non_null(out);
            must_refuse(STATUS_MACHINE, "could not be written", "No space left", "not complete",
                        rowset_print(&rows, (enum rowset_format)format, threads, out, error));
            fclose(out);
            assert_true(written_until_full <= 3000000);
        }
    FILE *out = fopen("/dev/null", "w");
    execution_stop(&execution);
    must_refuse(STATUS_INTERRUPTED, "interrupted", "", "", rowset_print(&rows, ROWSET_CSV, 2, out, error));
    execution_resume(&execution);
    must(rowset_print(&rows, ROWSET_CSV, 2, out, error));
    fclose(out);
    rowset_free(&rows);
}

int main(void)
{
    execution_enter(&execution);
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(numbers_are_written_as_printf_does),
        cmocka_unit_test(each_value_is_the_same_alone),
        cmocka_unit_test(doubles_have_the_fewest_digits),
        cmocka_unit_test(widths_are_those_of_all_rows),
        cmocka_unit_test(strings_are_quoted_as_their_format_does),
        cmocka_unit_test(long_strings_keep_their_order),
        cmocka_unit_test(wide_characters_align),
        cmocka_unit_test(a_long_string_stands_out_of_a_table),
        cmocka_unit_test(as_many_columns_as_a_statement_may_have),
        cmocka_unit_test(keys_of_an_object_differ),
        cmocka_unit_test(no_columns_and_no_rows),
        cmocka_unit_test(what_cannot_be_written_ends_it),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
