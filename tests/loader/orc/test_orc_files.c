/*
 * test_orc_files.c: the files of tests/data/orc, made by pyarrow and pyorc, give the same rows as their CSV files: every
 * type, compression, version and pattern of NULLs, dictionaries and none, one stripe and several. What does not fit is
 * refused with file, stripe, column and row.
 */
#define _GNU_SOURCE
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>

#include "tests/loader/orc/orc_cases.h"
#include "tests/support/zone_files.h"

static void every_file_gives_the_rows_of_its_text(void **state)
{
    (void)state;
    for (size_t f = 0; f < orc_files.count; f++)
        for (unsigned threads = 1; threads <= 13; threads += 6)
            columnar_is_its_text(&orc_files, orc_files.names[f], &(struct load_options){.threads = threads});
}

/* Timestamps without a zone are those of the writer's clock. */
static void timestamps_show_the_writers_clock(void **state)
{
    (void)state;
    zone_make("Europe/Berlin", NULL, 0, (const int32_t[]){3600, 7200}, "CET-1CEST,M3.5.0,M10.5.0/3");
    columnar_is_its_text(&orc_files, "pyorc-zone", &(struct load_options){0});
    setenv("TZDIR", "/nowhere", 1);
    columnar_is_refused(&orc_files, columnar_script, "pyorc-zone",
                        "pyorc-zone.orc, stripe 1, column moment: the time zone 'Europe/Berlin' is not in");
}

/* ---- A decoder that is handed in ---- */

static uint64_t calls, jobs_seen;

static enum status counting(const struct byte_decoder *decoder, struct byte_job *jobs, uint64_t count,
                            struct error *why)
{
    (void)decoder;
    calls++;
    jobs_seen += count;
    return byte_decoder_host.decode(&byte_decoder_host, jobs, count, why);
}

static void a_decoder_of_large_calls_gets_stripes_together(void **state)
{
    const struct byte_decoder decoder = {.schemes = 1u << BYTE_DEFLATE, /* as a GPU has */
                                         .batch_bytes = 1,
                                         .decode = counting},
                              large = {.schemes = byte_decoder_host.schemes,
                                       .batch_bytes = 1u << 30,
                                       .decode = counting},
                              other = {.schemes = 1u << BYTE_STORED, .batch_bytes = 1, .decode = counting};
    (void)state;
    for (size_t f = 0; f < orc_files.count; f++)
        columnar_is_its_text(&orc_files, orc_files.names[f], &(struct load_options){.decoder = &large});
    calls = jobs_seen = 0;
    columnar_is_its_text(&orc_files, "pyarrow-stripes-0.12", &(struct load_options){.decoder = &decoder});
    assert_int_equal(calls, 2 + 9); /* the strings of two stripes, and each other column of the segment */
    const uint64_t jobs = jobs_seen;
    calls = jobs_seen = 0;
    columnar_is_its_text(&orc_files, "pyarrow-stripes-0.12", &(struct load_options){.decoder = &large});
    assert_int_equal(calls, 1 + 9);
    assert_int_equal(jobs_seen, jobs);
    calls = 0;
    columnar_is_its_text(&orc_files, "pyarrow-stripes-0.12", &(struct load_options){.decoder = &other});
    assert_int_equal(calls, 0); /* it cannot do zlib, so the host does */
}

/* ---- Several files ---- */

static void files_follow_each_other(void **state)
{
    static const char *const files[] = {ORC_FOLDER "pyarrow-stripes-0.11.orc", ORC_FOLDER "pyarrow-empty.orc",
                                        ORC_FOLDER "pyorc-chunks-zlib.orc"};
    (void)state;
    columnar_files_follow(files, 3, 192 + 150);
}

/* ---- Conversions and complaints ---- */

static void is_refused(const char *script, const char *file, const char *sentence)
{
    columnar_is_refused(&orc_files, script, file, sentence);
}

static void types_that_no_column_takes_are_refused_by_name(void **state)
{
    (void)state;
    is_refused("CREATE TABLE t (ratio DECIMAL(9,2))", "pyorc-types",
               "column ratio has the type double, which cannot be stored as decimal(9,2): "
               "floating-point numbers need a column of type DOUBLE");
    is_refused("CREATE TABLE t (half INT)", "pyorc-types", "has the type float");
    is_refused("CREATE TABLE t (raw TEXT)", "pyorc-types", "has the type binary");
    is_refused("CREATE TABLE t (unused_list TEXT)", "pyorc-types", "has the type list");
    is_refused("CREATE TABLE t (unused_map TEXT)", "pyorc-types", "has the type map");
    is_refused("CREATE TABLE t (unused_struct TEXT)", "pyorc-types", "has the type struct");
    is_refused("CREATE TABLE t (either INT)", "pyorc-types", "has the type union");
    is_refused("CREATE TABLE t (number TEXT)", "pyorc-types",
               "has the type int, which cannot be stored as string");
    is_refused("CREATE TABLE t (a INT)", "pyorc-types",
               "pyorc-types.orc: has no column a of table t; its columns are flag, tiny, unused_list, small");
}

static void values_that_do_not_fit_are_told_with_their_place(void **state)
{
    (void)state;
    is_refused("CREATE TABLE t (big INT)", "pyarrow-full-0.12",
               "pyarrow-full-0.12.orc, stripe 1, row 1: column big: '");
    is_refused("CREATE TABLE t (big INT)", "pyarrow-limits-0.12",
               "stripe 1, row 1: column big: '-9223372036854775808' is out of range: the column holds "
               "-2147483648 to");
    is_refused("CREATE TABLE t (number BOOLEAN)", "pyarrow-full-0.11",
               "row 1: column number: '-100' is neither 0 nor 1");
    is_refused("CREATE TABLE t (flag BOOLEAN, tiny INT NOT NULL)", "pyarrow-stripes-0.12",
               "row 2: column tiny: '' is NULL, but the column is NOT NULL");
    is_refused("CREATE TABLE t (price DECIMAL(12,2) NOT NULL)", "pyarrow-stripes-0.12",
               "stripe 1, row 101: column price: '' is NULL");
    is_refused("CREATE TABLE t (fine DECIMAL(18,2))", "pyarrow-full-0.12",
               "has more decimals than the column");
    is_refused(
        "CREATE TABLE t (price DECIMAL(11,2))", "pyarrow-limits-0.12",
        "column price: '-9999999999.99' is out of range: the column holds -999999999.99 to 999999999.99");
    is_refused("CREATE TABLE t (moment DATE)", "pyarrow-limits-0.11",
               "row 2: column moment: '1970-01-01 00:00:00.000001000' is no whole day");
    is_refused("CREATE TABLE t (word INT)", "pyarrow-full-0.12", "is no whole number");
    is_refused("CREATE TABLE t (number INT PRIMARY KEY, tiny INT)", "pyarrow-null", "is NULL");
    is_refused("CREATE TABLE t (tiny INT PRIMARY KEY)", "pyarrow-shapes-0.12",
               "pyarrow-shapes-0.12.orc, row 2: table t, column tiny: the key '0' is that of ");
}

static void numbers_go_where_they_fit(void **state)
{
    static const char *const files[] = {ORC_FOLDER "pyarrow-shapes-0.12.orc"}, *const words[] = {
                                                                                   ORC_FOLDER
                                                                                   "pyarrow-full-0.12.orc"};
    struct load_report report;
    (void)state;
    must(
        columnar_load("CREATE TABLE t (number BIGINT, tiny DECIMAL(5,2), price DECIMAL(18,6), day TIMESTAMP)",
                      files, 1, (struct load_options){0}, &report, error));
    char *answer = columnar_answer("select * from t where price = 7.0");
    assert_string_equal(answer, "number,tiny,price,day\n510000,77.00,7.000000,1998-08-22 00:00:00\n");
    free(answer);
    must(columnar_load("CREATE TABLE t (number DECIMAL(9,1), word TEXT, flag BOOLEAN)", words, 1,
                       (struct load_options){0}, &report, error));
    answer = columnar_answer("select count(*) from t where number >= -100");
    assert_string_equal(answer, "count(*)\n150\n");
    free(answer);
}

/* Numbers with more decimals than their column, floating-point numbers, and nanoseconds are as the options say. */
static void numbers_are_rounded_if_it_is_asked(void **state)
{
    static const char *const files[] = {ORC_FOLDER "pyarrow-round.orc"};
    static const char script[] = "CREATE TABLE t (row INT PRIMARY KEY, ratio DECIMAL(9,2), half BIGINT, "
                                 "fine DECIMAL(6,2), moment TIMESTAMP, digits DECIMAL(4,1))",
                      wild[] = "CREATE TABLE t (row INT, wild DECIMAL(7,2))";
    const struct text_reading all = {.round = true, .cut_nanoseconds = true};
    struct load_report report;
    (void)state;
    is_refused(script, "pyarrow-round",
               "column ratio has the type double, which cannot be stored as decimal(9,2): floating-point "
               "numbers need a column of type DOUBLE (--round rounds them)");
    is_refused("CREATE TABLE t (fine DECIMAL(6,2))", "pyarrow-round", "column (--round rounds such numbers)");
    is_refused("CREATE TABLE t (moment TIMESTAMP)", "pyarrow-round", "(--nanoseconds cut cuts them)");
    is_refused("CREATE TABLE t (digits DECIMAL(4,1))", "pyarrow-round",
               "has more than 1 decimal (--round rounds such numbers)");
    must(columnar_load(script, files, 1, (struct load_options){.text.reading = all}, &report, error));
    char *answer = columnar_answer("select ratio, half, fine, digits from t order by row");
    assert_string_equal(answer, "ratio,half,fine,digits\n2.68,1,1.01,1.0\n-2.68,-1,-1.01,2.0\n"
                                "0.01,1,1.00,-7.5\n0.00,3,0.00,0.0\n12345.68,3,-1.00,0.0\n,,,\n"
                                "0.00,0,0.00,8.3\n1000000.00,7,7.50,9.0\n");
    free(answer);
    answer = columnar_answer("select moment from t where row = 2");
    assert_string_equal(answer, "moment\n1970-01-01 00:00:01\n");
    free(answer);
    columnar_load_fails(wild, files, 1, (struct load_options){.text.reading.round = true}, STATUS_BAD_INPUT,
                        "row 1: column wild: '1e+300' is out of range: the column holds");
    must(columnar_load(wild, files, 1, (struct load_options){.text.reading.round = true, .max_errors = 9},
                       &report, error));
    answer = columnar_answer("select row, wild from t order by row");
    assert_string_equal(answer, "row,wild\n5,99999.99\n6,\n");
    free(answer);
}

static void bad_rows_are_left_out_and_counted(void **state)
{
    static const char *const files[] = {ORC_FOLDER "pyarrow-limits-0.12.orc"};
    static const char script[] =
        "CREATE TABLE t (moment TIMESTAMP PRIMARY KEY, big INT, price DECIMAL(11,2))";
    struct load_report report;
    char reject[PATH_BYTES + 32], text[256] = "";
    (void)state;
    snprintf(reject, sizeof reject, "%s.rejected", path);
    must(columnar_load(script, files, 1,
                       (struct load_options){.max_errors = 21, .reject = reject, .threads = 1}, &report,
                       error));
    FILE *const rejected = fopen(reject, "rb");
    assert_non_null(rejected);
    text[fread(text, 1, sizeof text - 1, rejected)] = '\0';
    fclose(rejected);
    assert_int_equal(remove(reject), 0);
    const char *const begins = "file,line,reason,row\n\"" ORC_FOLDER
                               "pyarrow-limits-0.12.orc\",1,\"column big: '-9223372036854775808' is out of ";
    if (strncmp(text, begins, strlen(begins)) != 0)
        fail_msg("%s", text);
    assert_int_equal(report.rows, 7);
    assert_int_equal(report.rejected, 14);
    assert_non_null(strstr(report.first_rejected, "stripe 1, row 1: column big: '-9223372036854775808'"));
    char *const answer = columnar_answer("select big, price from t");
    assert_string_equal(answer, "big,price\n-1,0.01\n-1,0.01\n-1,0.01\n-1,0.01\n-1,0.01\n-1,0.01\n-1,0.01\n");
    free(answer);
    columnar_load_fails(script, files, 1, (struct load_options){.max_errors = 13}, STATUS_BAD_INPUT,
                        "more rows are bad than --max-errors allows");
}

static void too_little_memory_is_a_sentence(void **state)
{
    static const char *const files[] = {ORC_FOLDER "pyarrow-shapes-0.12.orc"};
    (void)state;
    columnar_load_fails(columnar_script, files, 1, (struct load_options){.memory = 50000}, STATUS_MACHINE,
                        "reading its stripe 1 of 1200 rows takes");
}

/* ---- Keys: facts in ORC, dimensions in ORC and text ---- */

static void write_text(const char *file, const char *text)
{
    FILE *const out = fopen(file, "w");
    assert_non_null(out);
    fputs(text, out);
    fclose(out);
}

static void keys_are_found_across_kinds_of_files(void **state)
{
    static const char script[] =
        "CREATE TABLE words (word TEXT PRIMARY KEY, code INT);\n"
        "CREATE TABLE numbers (number INT PRIMARY KEY, line TEXT);\n"
        "CREATE TABLE t (word TEXT REFERENCES words, number INT REFERENCES numbers, tiny INT)";
    static const char *const facts[] = {ORC_FOLDER "pyarrow-full-0.12.orc"};
    struct schema_script schema;
    struct load_report report;
    struct error why = {0};
    char text[PATH_BYTES + 64];
    (void)state;
    snprintf(text, sizeof text, "%.*s/words.csv", (int)(strlen(path) - 3), path);
    const char *const words[] = {text};
    write_text(
        text,
        "word,code\nTRUCK,1\nAIR,2\nRAIL,3\nSHIP,4\n\"\",5\nüber,6\nREG AIR,7\na somewhat longer word,8\n");
    const struct load_input inputs[] = {{.table = "t", .paths = facts, .path_count = 1},
                                        {.table = "words", .paths = words, .path_count = 1},
                                        {.table = "numbers", .paths = facts, .path_count = 1}};
    const struct load_options options = {
        .directory = path, .inputs = inputs, .input_count = 3, .threads = 2, .replace = true};
    must(schema_script_parse("t.sql", script, strlen(script), &schema, error));
    must(tables_load(&schema, &options, &report, NULL, error));
    char *answer = columnar_answer(
        "select count(*) from t join numbers n on n.number = t.number join words w on w.word = "
        "t.word where w.code >= 1");
    assert_string_equal(answer, "count(*)\n150\n");
    free(answer);
    write_text(text, "word,code\nTRUCK,1\nAIR,2\n");
    assert_int_equal(tables_load(&schema, &options, &report, NULL, &why), STATUS_BAD_INPUT);
    assert_non_null(strstr(why.text, "pyarrow-full-0.12.orc, stripe 1, row "));
    assert_non_null(strstr(why.text, "column word: no row of table words has word '"));
    struct load_options with_null = options;
    with_null.dangling_null = true;
    must(tables_load(&schema, &with_null, &report, NULL, error));
    answer = columnar_answer("select count(*) from t where word is null");
    assert_true(atoi(strchr(answer, '\n') + 1) > 50);
    free(answer);
    schema_script_free(&schema);
}

static void kinds_of_files_do_not_mix_within_a_table(void **state)
{
    static const char *const files[] = {ORC_FOLDER "pyarrow-one.orc", ORC_FOLDER "one.csv"};
    (void)state;
    columnar_load_fails(columnar_script, files, 2, (struct load_options){0}, STATUS_BAD_INPUT,
                        "one.csv: is no ORC file, but others of table t are");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(every_file_gives_the_rows_of_its_text, setup, teardown),
        cmocka_unit_test_setup_teardown(timestamps_show_the_writers_clock, setup, teardown),
        cmocka_unit_test_setup_teardown(a_decoder_of_large_calls_gets_stripes_together, setup, teardown),
        cmocka_unit_test_setup_teardown(files_follow_each_other, setup, teardown),
        cmocka_unit_test_setup_teardown(types_that_no_column_takes_are_refused_by_name, setup, teardown),
        cmocka_unit_test_setup_teardown(values_that_do_not_fit_are_told_with_their_place, setup, teardown),
        cmocka_unit_test_setup_teardown(numbers_go_where_they_fit, setup, teardown),
        cmocka_unit_test_setup_teardown(numbers_are_rounded_if_it_is_asked, setup, teardown),
        cmocka_unit_test_setup_teardown(bad_rows_are_left_out_and_counted, setup, teardown),
        cmocka_unit_test_setup_teardown(too_little_memory_is_a_sentence, setup, teardown),
        cmocka_unit_test_setup_teardown(keys_are_found_across_kinds_of_files, setup, teardown),
        cmocka_unit_test_setup_teardown(kinds_of_files_do_not_mix_within_a_table, setup, teardown),
    };
    return cmocka_run_group_tests(tests, columnar_engine_open, columnar_engine_close);
}
