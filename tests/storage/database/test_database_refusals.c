/* test_database_refusals.c: what must not be written is refused with a sentence that says where, and changes
 * nothing. */
#define _GNU_SOURCE
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>

#include "storage/database/catalogue.h"
#include "tests/support/database_cases.h"

#include <fcntl.h>

/* A database of 100 sales, and an open writer on it. */
struct change {
    char path[PATH_BYTES];
    uint64_t files;
    struct database_writer *writer;
};

static int change_begin(void **state)
{
    static struct change change;
    directory_make(change.path);
    database_make(change.path, "plain", 100);
    change.files = directory_files(change.path);
    must(database_writer_open(change.path, &change.writer, error));
    *state = &change;
    return 0;
}

/* For the commit, which frees the writer whatever it answers. */
static struct database_writer *take(struct change *change)
{
    struct database_writer *writer = change->writer;
    change->writer = NULL;
    return writer;
}

/* Whatever was refused: nothing is left of it. */
static int change_end(void **state)
{
    struct change *change = *state;
    database_writer_abort(change->writer);
    assert_int_equal(directory_files(change->path), change->files);
    check_sale(change->path, "plain", 100);
    directory_remove(change->path);
    return 0;
}

/* The table's name or schema is refused. */
static void schema_refused(struct change *change, const char *name, struct column_schema one,
                           struct column_schema two, const char *word, const char *word2)
{
    const struct column_schema columns[] = {one, two};
    struct table_writer *table;
    must_refuse(STATUS_BAD_INPUT, "table", word, word2,
                database_writer_table(change->writer, name, columns, 2, 10, &table, error));
}

static void schemas_that_cannot_be_stored(void **state)
{
    struct change *change = *state;
    const struct column_schema good = {.name = "a"}, other = {.name = "b"};
    const char *const bad_names[] = {"",
                                     "a ",
                                     " a",
                                     "tab\t",
                                     "line\nend",
                                     "\x7f",
                                     "latin1 caf\xe9",
                                     "\xc0\xaf",
                                     "\xc2\x85",
                                     "\xed\xa0\x80",
                                     "cut \xe2\x82",
                                     "name-of-64-bytes-is-one-too-many-with-its-zero-aaaaaaaaaaaaaaaaa"};
    for (size_t n = 0; n < sizeof bad_names / sizeof *bad_names; n++) {
        struct column_schema bad = {.name = ""};
        memcpy(bad.name, bad_names[n], strnlen(bad_names[n], NAME_BYTES));
        assert_false(name_valid(bad_names[n]));
        schema_refused(change, bad_names[n], good, other, "a table cannot be named",
                       "up to 63 bytes of UTF-8");
        schema_refused(change, "t", good, bad, "column 1 cannot be named", "up to 63 bytes of UTF-8");
    }
    const char *const good_names[] = {
        "a",          "_",     "lo_orderkey", "Order Date", "p#1",
        "x$-y",       "1st",   ".",           "..",         "../up",
        "a.b",        "100 %", "caf\xc3\xa9", "a%2Eb",      "\xe5\xa3\xb2\xe4\xb8\x8a",
        "\"*|:?<>\\'"};
    for (size_t n = 0; n < sizeof good_names / sizeof *good_names; n++) {
        char file[NAME_FILE_BYTES], back[NAME_BYTES];
        assert_true(name_valid(good_names[n]));
        name_to_file(good_names[n], file);
        assert_null(strpbrk(file, "./\\*?\"<>|:"));
        assert_true(name_of_file(file, strlen(file), back));
        assert_string_equal(back, good_names[n]);
    }
    char back[NAME_BYTES];
    assert_false(name_of_file("a%2eb", 5, back)); /* a name has one file name */
    assert_false(name_of_file("a%2", 3, back));
    assert_false(name_of_file("a.b", 3, back));
    assert_false(name_of_file("%41", 3, back));
    schema_refused(change, "t", good, good, "two columns are named a", "rename");
    schema_refused(change, "t", good, (struct column_schema){.name = "b", .type = (enum column_type)8},
                   "column b", "type 8 does not exist");
    schema_refused(change, "t", good,
                   (struct column_schema){.name = "b", .type = TYPE_DECIMAL, .precision = 19},
                   "decimal(19,0) cannot be stored", "1 to 18");
    schema_refused(change, "t", good,
                   (struct column_schema){.name = "b", .type = TYPE_DECIMAL, .precision = 4, .scale = 5},
                   "decimal(4,5) cannot be stored", "");
    schema_refused(change, "t", good, (struct column_schema){.name = "b", .references_table = "shade"},
                   "refers to table shade", "load that table first");
    schema_refused(
        change, "t", good,
        (struct column_schema){.name = "b", .references_table = "color", .references_column = "c_name"},
        "color.c_name", "not a primary key");
    struct table_writer *table;
    must_refuse(STATUS_BAD_INPUT, "table t has no columns", "", "",
                database_writer_table(change->writer, "t", &good, 0, 10, &table, error));
    must_refuse(STATUS_BAD_INPUT, "table t", "split it", "",
                database_writer_table(change->writer, "t", &good, 1, TABLE_ROWS_MAX + 1, &table, error));
    must(database_writer_table(change->writer, "t", &good, 1, 10, &table, error));
    must_refuse(STATUS_BAD_INPUT, "table t is loaded twice", "", "",
                database_writer_table(change->writer, "t", &good, 1, 10, &table, error));
}

static void values_out_of_range(void **state)
{
    struct change *change = *state;
    struct table_writer *table;
    int32_t values[10] = {0};
    uint64_t starts[4], no_null = 0x3ff, seventh_null = 0x3bf;
    char bytes[64];
    struct dictionary names = dictionary_of(color_names, 3, starts, bytes);
    must(database_writer_table(change->writer, "sale", sale_columns, SALE_COLUMNS, 10, &table, error));
    values[4] = 3; /* color has rows 0 .. 2 */
    must_refuse(STATUS_BAD_INPUT, "table sale: column s_color: row 4", "position 3 is not in 0 .. 2", "",
                table_writer_segment(table, SALE_COLOR, 0, values, NULL, error));
    values[4] = -1;
    must_refuse(STATUS_BAD_INPUT, "column s_paid: row 4", "value -1 is not in 0 .. 1", "",
                table_writer_segment(table, SALE_PAID, 0, values, NULL, error));
    values[4] = 3;
    must(table_writer_dictionary(table, SALE_NOTE, &names, error));
    must_refuse(STATUS_BAD_INPUT, "column s_note: row 4", "code 3 is not in 0 .. 2", "",
                table_writer_segment(table, SALE_NOTE, 0, values, &no_null, error));
    must_refuse(STATUS_BAD_INPUT, "column s_day: row 6", "is NULL", "NOT NULL",
                table_writer_segment(table, SALE_DAY, 0, values, &seventh_null, error));
}

static void null_rows_may_hold_anything(void **state)
{
    struct change *change = *state;
    struct table_writer *table;
    int32_t values[10] = {1, 1, INT32_MAX, 0};
    uint64_t starts[4], third_null = 0x3fb;
    char bytes[64];
    struct dictionary names = dictionary_of(color_names, 3, starts, bytes);
    must(database_writer_table(change->writer, "sale", sale_columns, SALE_COLUMNS, 10, &table, error));
    must(table_writer_dictionary(table, SALE_NOTE, &names, error));
    must(table_writer_segment(table, SALE_NOTE, 0, values, &third_null, error));
}

static void a_code_beyond_a_dictionary_that_comes_later(void **state)
{
    struct change *change = *state;
    struct table_writer *table;
    const struct column_schema schema = {.name = "s", .type = TYPE_STRING};
    const int32_t codes[] = {0, 3, 1};
    uint64_t starts[4];
    char bytes[64];
    struct dictionary names = dictionary_of(color_names, 3, starts, bytes);
    must(database_writer_table(change->writer, "t", &schema, 1, 3, &table, error));
    must(table_writer_segment(table, 0, 0, codes, NULL, error));
    must(table_writer_dictionary(table, 0, &names, error));
    must_refuse(STATUS_BAD_INPUT, "table t: column s: code 3", "dictionary of 3 strings",
                "nothing was changed", database_writer_commit(take(change), error));
}

static void dictionaries_that_are_none(void **state)
{
    struct change *change = *state;
    struct table_writer *table;
    uint64_t starts[4];
    char bytes[64];
    const char *const unsorted[] = {"b", "a"}, *const twice[] = {"a", "a"};
    must(database_writer_table(change->writer, "color", color_columns, 2, 3, &table, error));
    struct dictionary names = dictionary_of(unsorted, 2, starts, bytes);
    must_refuse(STATUS_BAD_INPUT, "table color: column c_name: string 1", "not greater", "sort it",
                table_writer_dictionary(table, 1, &names, error));
    names = dictionary_of(twice, 2, starts, bytes);
    must_refuse(STATUS_BAD_INPUT, "table color: column c_name: string 1", "without duplicates", "",
                table_writer_dictionary(table, 1, &names, error));
    names = dictionary_of(color_names, 3, starts, bytes);
    must_refuse(STATUS_BAD_INPUT, "column c_key", "only a string column", "",
                table_writer_dictionary(table, 0, &names, error));
    must(table_writer_dictionary(table, 1, &names, error));
    must_refuse(STATUS_BAD_INPUT, "column c_name", "dictionary twice", "",
                table_writer_dictionary(table, 1, &names, error));
    must_refuse(STATUS_BAD_INPUT, "no column number 2", "", "",
                table_writer_dictionary(table, 2, &names, error));
}

static void segments_twice_or_nowhere(void **state)
{
    struct change *change = *state;
    struct table_writer *table;
    const int32_t keys[] = {10, 20, 30};
    must(database_writer_table(change->writer, "color", color_columns, 2, 3, &table, error));
    must(table_writer_segment(table, 0, 0, keys, NULL, error));
    must_refuse(STATUS_BAD_INPUT, "table color: column c_key: segment 0 was written twice", "", "",
                table_writer_segment(table, 0, 0, keys, NULL, error));
    must_refuse(STATUS_BAD_INPUT, "there is no segment 1", "", "",
                table_writer_segment(table, 0, 1, keys, NULL, error));
    must_refuse(STATUS_BAD_INPUT, "there is no column number 2", "", "",
                table_writer_segment(table, 2, 0, keys, NULL, error));
    must_refuse(STATUS_BAD_INPUT, "column c_key", "after its first segment", "",
                table_writer_codec(table, 0, "plain", error));
    must_refuse(STATUS_BAD_INPUT, "gzip", "lane-for", "", table_writer_codec(table, 1, "gzip", error));
    must_refuse(STATUS_BAD_INPUT, "table color: column c_name: segment 0 of 1 was not written",
                "nothing was changed", "", database_writer_commit(take(change), error));
}

static void a_string_column_without_its_dictionary(void **state)
{
    struct change *change = *state;
    struct table_writer *table;
    must(database_writer_table(change->writer, "color", color_columns, 2, 0, &table, error));
    must_refuse(STATUS_BAD_INPUT, "table color: column c_name: its dictionary was not written", "", "",
                database_writer_commit(take(change), error));
}

static void a_dimension_without_its_facts(void **state)
{
    struct change *change = *state;
    write_color(change->writer, "lane-for");
    must_refuse(STATUS_BAD_INPUT, "table color cannot be replaced alone", "sale.s_color",
                "load sale together with it", database_writer_commit(take(change), error));
}

static void a_second_writer(void **state)
{
    struct change *change = *state;
    struct database_writer *second;
    struct database *database;
    struct codec_choice lane;
    enum codec_id codec;
    must_refuse(STATUS_BAD_INPUT, change->path, "another writer", "wait",
                database_writer_open(change->path, &second, error));
    must(codec_choice_parse("lane-for", &lane, error));
    must(database_open(change->path, &database, error)); /* reading goes on */
    must_refuse(
        STATUS_BAD_INPUT, change->path, "another writer", "",
        database_encode(database, &database_table_at(database, 0)->columns[0], &lane, 1, &codec, error));
    database_close(database);
}

static void views_that_cannot_be_stored(void **state)
{
    static char large[CATALOGUE_VIEW_BYTES_MAX + 2];
    char path[PATH_BYTES];
    (void)state;
    directory_make(path);
    must_refuse(STATUS_BAD_INPUT, path, "No such file", "",
                database_view_create(path, "v", "select 1 as x", false, error));
    database_make(path, "plain", 100);
    memset(large, 'x', sizeof large - 1);
    must_refuse(STATUS_BAD_INPUT, "named \"\"", "", "", database_view_create(path, "", "x", false, error));
    must_refuse(STATUS_BAD_INPUT, "there is a table sale", "", "",
                database_view_create(path, "SALE", "x", true, error));
    must_refuse(STATUS_BAD_INPUT, "at most 1048576 bytes", "", "",
                database_view_create(path, "v", large, false, error));
    must_refuse(STATUS_BAD_INPUT, "must be UTF-8", "", "",
                database_view_create(path, "v", "select '\xe9' as x", false, error));
    must_refuse(STATUS_BAD_INPUT, path, "no view \"v\"", "", database_view_drop(path, "v", error));
    large[CATALOGUE_VIEW_BYTES_MAX] = '\0';
    must(database_view_create(path, "v", large, false, error));
    must(database_view_drop(path, "v", error));
    check_sale(path, "plain", 100);
    directory_remove(path);
}

static void places_that_are_no_database(void **state)
{
    (void)state;
    char path[PATH_BYTES], inside[2 * PATH_BYTES];
    struct database_writer *writer;
    directory_make(path);
    snprintf(inside, sizeof inside, "%s/deeper/db", path);
    must_refuse(STATUS_BAD_INPUT, inside, "No such file", "", database_writer_open(inside, &writer, error));
    assert_int_equal(mkdir(path, 0777), 0);
    snprintf(inside, sizeof inside, "%s/letter", path);
    close(open(inside, O_CREAT | O_WRONLY, 0666));
    must_refuse(STATUS_BAD_INPUT, path, "not empty", "name a database",
                database_writer_open(path, &writer, error));
    must_refuse(STATUS_BAD_INPUT, inside, "is a file", "new or empty",
                database_writer_open(inside, &writer, error));
    assert_int_equal(directory_files(path), 1);
    directory_remove(path);
}

#define in_a_change(test) cmocka_unit_test_setup_teardown(test, change_begin, change_end)

int main(void)
{
    const struct CMUnitTest tests[] = {
        in_a_change(schemas_that_cannot_be_stored),
        in_a_change(values_out_of_range),
        in_a_change(null_rows_may_hold_anything),
        in_a_change(a_code_beyond_a_dictionary_that_comes_later),
        in_a_change(dictionaries_that_are_none),
        in_a_change(segments_twice_or_nowhere),
        in_a_change(a_string_column_without_its_dictionary),
        in_a_change(a_dimension_without_its_facts),
        in_a_change(a_second_writer),
        cmocka_unit_test(views_that_cannot_be_stored),
        cmocka_unit_test(places_that_are_no_database),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
