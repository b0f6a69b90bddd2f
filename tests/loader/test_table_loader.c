/*
 * test_table_loader.c: a star of one's own from text: what was written is what SQL answers, from several files, in
 * any order of columns, with keys of any type; and every wrong row is told by file, line, column and text, with
 * the database as it was.
 */
#define _GNU_SOURCE
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>

#include "loader/table/table_loader.h"
#include "tests/support/one_directory.h"
#include "tests/support/sql/sql_answer.h"

static const char script[] =
    "CREATE TABLE regions (id INT PRIMARY KEY, label TEXT NOT NULL);\n"
    "CREATE TABLE shops (name TEXT PRIMARY KEY, region INT REFERENCES regions, opened DATE, area "
    "DECIMAL(8,1));\n"
    "CREATE TABLE products (id BIGINT PRIMARY KEY, kind TEXT, since DATE);\n"
    "CREATE TABLE sales (shop TEXT NOT NULL REFERENCES shops(name), product BIGINT REFERENCES products(id),\n"
    "  gift BIGINT REFERENCES products, day DATE NOT NULL, at TIMESTAMP, pieces INT, paid DECIMAL(12,2),\n"
    "  online BOOLEAN, note TEXT);\n";

static const char regions[] = "1,north\n-7,south\n";
static const char shops[] =
    "region,name,opened,area\n1,\"Mitte, Haus 1\",2001-05-06,120.5\n-7,Hafen,1999-12-31,80\n,Web,,\n";
static const char products[] = "-5|tea|2000-01-01|\n7000000000|coffee||\n12|tea|1999-09-09|\n";
static const char sales[] = "Hafen,12,,2024-01-01,2024-01-01 10:11:12,3,2.97,true,\n"
                            "\"Mitte, Haus 1\",7000000000,-5,2024-01-02,,1,12.00,f,\"said \"\"yes\"\"\"\n"
                            "Web,,12,2024-01-02,2024-01-02T23:59:59.25,,,1,\"two\nlines\"\n"
                            "Web,-5,12,2023-12-31,,2,7,0,late\n";

static char files[10][PATH_BYTES + 64];

static const char *file_write(uint32_t number, const char *name, const char *text)
{
    snprintf(files[number], sizeof files[number], "%.*s/%s", (int)(strlen(path) - 3), path, name);
    FILE *file = fopen(files[number], "wb");
    assert_non_null(file);
    fputs(text, file);
    fclose(file);
    return files[number];
}

static enum status load(const char *sales_text, struct load_options options, struct load_report *report,
                        struct error *why)
{
    struct schema_script schema;
    must(schema_script_parse("star.sql", script, strlen(script), &schema, error));
    const char *const paths[] = {file_write(0, "regions.csv", regions), file_write(1, "shops.csv", shops),
                                 file_write(2, "products.tbl", products),
                                 file_write(3, "sales.csv", sales_text)};
    const struct load_input inputs[] = {{.table = "sales", .paths = &paths[3], .path_count = 1},
                                        {.table = "products", .paths = &paths[2], .path_count = 1},
                                        {.table = "shops", .paths = &paths[1], .path_count = 1},
                                        {.table = "regions", .paths = &paths[0], .path_count = 1}};
    options.directory = path;
    options.inputs = options.inputs ? options.inputs : inputs;
    options.input_count = options.input_count ? options.input_count : 4;
    options.threads = 2;
    const enum status status = tables_load(&schema, &options, report, NULL, why);
    schema_script_free(&schema);
    return status;
}

/* The answer as CSV without its header. */
static char *ask(const char *sql)
{
    struct database *database;
    struct engine *engine;
    must(database_open(path, &database, error));
    must(engine_open(&(struct engine_options){.device = "cpu", .threads = 2}, &engine, error));
    char *const text = sql_answer(engine, database, sql);
    engine_close(engine);
    database_close(database);
    memmove(text, strchr(text, '\n') + 1, strlen(strchr(text, '\n') + 1) + 1);
    return text;
}

static void answers(const char *sql, const char *expected)
{
    char *got = ask(sql);
    assert_string_equal(got, expected);
    free(got);
}

static void what_is_loaded_is_what_is_answered(void **state)
{
    struct load_report report;
    struct error failure;
    (void)state;
    if (load(sales, (struct load_options){0}, &report, &failure) != STATUS_OK)
        fail_msg("%s", failure.text);
    assert_int_equal(report.rows, 12);
    answers("select shop, product, gift, day, at, pieces, paid, online, note from sales",
            "Hafen,12,,2024-01-01,2024-01-01 10:11:12,3,2.97,true,\n"
            "\"Mitte, Haus 1\",7000000000,-5,2024-01-02,,1,12.00,false,\"said \"\"yes\"\"\"\n"
            "Web,,12,2024-01-02,2024-01-02 23:59:59.250000,,,true,\"two\nlines\"\n"
            "Web,-5,12,2023-12-31,,2,7.00,false,late\n");
    answers(
        "select p.kind, g.kind, r.label, sum(paid), count(*) from sales f left join products p on p.id = "
        "f.product "
        "left join products g on g.id = f.gift join shops s on s.name = f.shop left join regions r on r.id = "
        "s.region group by 1, 2, 3 order by 1, 2, 3",
        ",tea,,,1\ncoffee,tea,north,12.00,1\ntea,,south,2.97,1\ntea,tea,,7.00,1\n");
    answers("select count(*) from products where since < '2000-01-01'", "1\n");
    must_refuse(STATUS_BAD_INPUT, "sales", "--force", "",
                load(sales, (struct load_options){0}, &report, error));
}

static void refuse(const char *text, const char *one, const char *two)
{
    struct load_report report;
    must_refuse(STATUS_BAD_INPUT, "sales.csv", one, two,
                load(text, (struct load_options){0}, &report, error));
    struct database *database;
    assert_int_not_equal(database_open(path, &database, NULL), STATUS_OK); /* nothing was made */
}

static void wrong_rows_are_told_and_nothing_is_loaded(void **state)
{
    (void)state;
    refuse("Hafen,12,,2024-01-01,,3,2.977,true,\n", ":1: column paid: '2.977'", "more than 2 decimals");
    refuse("Hafen,12,,2024-01-01,,3,2,true,\nHafen,12,,2024-02-30,,3,2,true,\n",
           ":2: column day: '2024-02-30'", "calendar");
    refuse("Hofen,12,,2024-01-01,,3,2,true,\n", ":1: column shop: no row of table shops has name 'Hofen'",
           "--dangling null stores NULL for such keys");
    refuse("Hafen,13,,2024-01-01,,3,2,true,\n", ":1: column product: no row of table products has id '13'",
           "");
    refuse("Hafen,x,,2024-01-01,,3,2,true,\n", ":1: column product: 'x'", "whole number");
    refuse("Hafen,12,,,,3,2,true,\n", ":1: column day", "NOT NULL");
    refuse("Hafen,12,,2024-01-01,,99999999999,2,true,\n", ":1: column pieces: '99999999999'",
           "is out of range: the column holds -2147483648 to 2147483647;");
    refuse("Hafen,12,,2024-01-01,,3,2,maybe,\n", ":1: column online: 'maybe'", "neither");
    refuse("Hafen,12,,2024-01-01,,3,2,true\n", ":1: the row has 8 fields instead of 9", "");
    refuse("shop,product,gift,day,at,pieces,paid,online,colour\n", "no row of table shops has name 'shop'",
           "if this line is a header, its names must be those of all columns");
}

static void bad_rows_may_be_left_out(void **state)
{
    struct load_report report;
    struct error failure;
    char reject[PATH_BYTES + 32], text[4 * PATH_BYTES] = "";
    (void)state;
    snprintf(reject, sizeof reject, "%.*s/bad.csv", (int)(strlen(path) - 3), path);
    const char *const mixed = "Hafen,12,,2024-01-01,,3,2,true,a\nHofen,12,,2024-01-01,,3,2,true,\"b\nc\"\n"
                              "Web,77,12,2024-01-01,,3,2,true,d\n1,2\n";
    must_refuse(STATUS_BAD_INPUT, "more rows are bad", "", "",
                load(mixed, (struct load_options){.max_errors = 2}, &report, error));
    if (load(mixed, (struct load_options){.max_errors = 3, .reject = reject}, &report, &failure) != STATUS_OK)
        fail_msg("%s", failure.text);
    assert_int_equal(report.rejected, 3);
    assert_non_null(strstr(report.first_rejected, "sales.csv:2"));
    FILE *file = fopen(reject, "rb");
    assert_non_null(file);
    text[fread(text, 1, sizeof text - 1, file)] = '\0';
    fclose(file);
    char expected[8 * PATH_BYTES];
    snprintf(expected, sizeof expected,
             "file,line,reason,row\n"
             "\"%1$s\",2,\"column shop: no row of table shops has name 'Hofen' (--dangling null stores NULL "
             "for such "
             "keys)\",\"Hofen,12,,2024-01-01,,3,2,true,\"\"b\nc\"\"\"\n"
             "\"%1$s\",4,\"column product: no row of table products has id '77' (--dangling null stores NULL "
             "for such "
             "keys)\",\"Web,77,12,2024-01-01,,3,2,true,d\"\n"
             "\"%1$s\",5,\"the row has 2 fields instead of 9: it ends with '2', and column gift is missing\","
             "\"1,2\"\n",
             files[3]);
    assert_string_equal(text, expected);
    answers("select note from sales", "a\n");
    if (load(mixed, (struct load_options){.max_errors = 2, .dangling_null = true, .replace = true}, &report,
             &failure) != STATUS_OK)
        fail_msg("%s", failure.text);
    answers("select note, product from sales", "a,12\nd,\n"); /* shop may not be NULL, product may */
}

static void a_fact_can_be_loaded_again_against_dimensions_that_are_there(void **state)
{
    struct load_report report;
    struct error failure;
    (void)state;
    if (load(sales, (struct load_options){0}, &report, &failure) != STATUS_OK)
        fail_msg("%s", failure.text);
    const char *const one[] = {file_write(4, "new.csv", "Web,12,,2025-01-01,,,1,,\n"),
                               file_write(5, "old.csv", "Hafen,-5,,2024-01-01,,,2,,\n")};
    const struct load_input inputs[] = {{.table = "sales", .paths = one, .path_count = 2}};
    const struct load_options again = {.inputs = inputs,
                                       .input_count = 1,
                                       .replace = true,
                                       .sort_by = "day",
                                       .codecs = "plain,paid=lane-for"};
    if (load(sales, again, &report, &failure) != STATUS_OK)
        fail_msg("%s", failure.text);
    answers("select day, shop, product from sales", "2024-01-01,Hafen,-5\n2025-01-01,Web,12\n");
    const struct load_options wrong = {
        .inputs = inputs, .input_count = 1, .replace = true, .sort_by = "colour"};
    must_refuse(STATUS_BAD_INPUT, "colour", "", "", load(sales, wrong, &report, error));
}

/* More rows than a block, as many as threads make of them: SQLite loaded with the same values says the same. */
static void many_rows_from_many_blocks_in_their_order(void **state)
{
    struct load_report report;
    struct error failure;
    char *text;
    size_t bytes;
    int64_t paid = 0;
    (void)state;
    FILE *out = open_memstream(&text, &bytes);
    for (int row = 0; row < 120000; row++) {
        fprintf(out, "%s,%s,,2024-01-%02d,,%d,%d.%02d,t,note %d\n", row % 3 ? "Web" : "Hafen",
                row % 5 ? "12" : "", row % 28 + 1, row, row % 1000, row % 100, row % 777);
        paid += row % 1000 * 100 + row % 100;
    }
    fclose(out);
    if (load(text, (struct load_options){0}, &report, &failure) != STATUS_OK)
        fail_msg("%s", failure.text);
    char expected[128];
    snprintf(expected, sizeof expected, "120000,%lld.%02lld,777,119999,96000\n", (long long)(paid / 100),
             (long long)(paid % 100));
    answers("select count(*), sum(paid), count(distinct note), max(pieces), count(product) from sales",
            expected);
    answers("select pieces, note from sales limit 2 offset 99999", "99999,note 543\n100000,note 544\n");
    free(text);
}

/* From text through sums, extrema and joins to text. */
static void the_least_number_is_a_number(void **state)
{
    static const char ends[] = "CREATE TABLE d (k BIGINT PRIMARY KEY, v BIGINT);\n"
                               "CREATE TABLE f (k BIGINT REFERENCES d, b BIGINT, p DECIMAL(18,2));";
    const char *const d[] = {file_write(0, "d.csv",
                                        "-9223372036854775808,-9223372036854775808\n9223372036854775807,"
                                        "9223372036854775807\n5,\n")},
                      *const f[] = {
                          file_write(1, "f.csv",
                                     "-9223372036854775808,-9223372036854775808,-9999999999999999.99\n"
                                     "9223372036854775807,9223372036854775807,9999999999999999.99\n"
                                     "5,-1,\n-9223372036854775808,,0.01\n")};
    const struct load_input inputs[] = {{.table = "d", .paths = d, .path_count = 1},
                                        {.table = "f", .paths = f, .path_count = 1}};
    const struct load_options options = {.directory = path, .inputs = inputs, .input_count = 2, .threads = 1};
    struct schema_script schema;
    struct load_report report;
    (void)state;
    must(schema_script_parse("ends.sql", ends, strlen(ends), &schema, error));
    must(tables_load(&schema, &options, &report, NULL, error));
    schema_script_free(&schema);
    answers("select k, b, p from f", "-9223372036854775808,-9223372036854775808,-9999999999999999.99\n"
                                     "9223372036854775807,9223372036854775807,9999999999999999.99\n"
                                     "5,-1,\n-9223372036854775808,,0.01\n");
    answers("select min(b), max(b), sum(b), count(b), count(distinct b) from f",
            "-9223372036854775808,9223372036854775807,-2,3,3\n");
    answers("select sum(b), min(v) from f join d on f.k = d.k where b < -5",
            "-9223372036854775808,-9223372036854775808\n");
    answers("select v from f join d on f.k = d.k where v < 0",
            "-9223372036854775808\n-9223372036854775808\n");
    answers("select b from f where b = -9223372036854775808", "-9223372036854775808\n");
}

static void keys_must_differ(void **state)
{
    struct load_report report;
    (void)state;
    struct schema_script schema;
    const char *const paths[] = {file_write(6, "r.csv", "1,a\n2,b\n1,c\n")};
    const struct load_input inputs[] = {{.table = "regions", .paths = paths, .path_count = 1}};
    const struct load_options options = {.directory = path, .inputs = inputs, .input_count = 1, .threads = 1};
    must(schema_script_parse("star.sql", script, strlen(script), &schema, error));
    must_refuse(STATUS_BAD_INPUT, "r.csv:3: table regions, column id: the key '1' is that of",
                "r.csv:1 already", "", tables_load(&schema, &options, &report, NULL, error));
    schema_script_free(&schema);
}

/* By the lines of the files, behind headers, rows of several lines and rows that were left out; also of a key that
 * nothing references, and of one that references another table. */
static void keys_that_differ_not_are_told_by_their_lines(void **state)
{
    static const char keyed[] = "CREATE TABLE days (d DATE PRIMARY KEY);\n"
                                "CREATE TABLE notes (k TEXT PRIMARY KEY, x INT);\n"
                                "CREATE TABLE plans (d DATE PRIMARY KEY REFERENCES days(d), x INT);";
    struct load_report report;
    struct schema_script schema;
    const char *const notes[] = {file_write(6, "one.csv", "k,x\n\"a\nb\",1\nbad,row\nc,2\n"),
                                 file_write(7, "two.csv", "k,x\nd,1\nc,3\n")};
    const char *const days[] = {file_write(8, "days.csv", "2024-01-01\n2024-01-02\n")},
                      *const plans[] = {
                          file_write(9, "plans.csv", "2024-01-02,1\n2024-01-01,2\n2024-01-02,3\n")};
    struct load_input inputs[] = {{.table = "notes", .paths = notes, .path_count = 2}};
    struct load_input both[] = {{.table = "days", .paths = days, .path_count = 1},
                                {.table = "plans", .paths = plans, .path_count = 1}};
    struct load_options options = {
        .directory = path, .inputs = inputs, .input_count = 1, .threads = 2, .max_errors = 1};
    (void)state;
    must(schema_script_parse("star.sql", keyed, strlen(keyed), &schema, error));
    must_refuse(STATUS_BAD_INPUT, "two.csv:3: table notes, column k: the key 'c' is that of",
                "one.csv:5 already", "", tables_load(&schema, &options, &report, NULL, error));
    options.inputs = both;
    options.input_count = 2;
    must_refuse(STATUS_BAD_INPUT, "plans.csv:3: table plans, column d: the key is that of",
                "plans.csv:1 already", "", tables_load(&schema, &options, &report, NULL, error));
    schema_script_free(&schema);
}

static void never_too_much(struct progress *progress, const char *what, const char *unit, uint64_t done,
                           uint64_t total)
{
    (void)progress, (void)what, (void)unit;
    assert_true(done <= total);
}

/* The share of its values that is done was 0 of 0, which is no number. */
static void a_table_without_rows_has_a_progress(void **state)
{
    struct progress progress = {.report = never_too_much};
    struct load_report report;
    struct schema_script schema;
    const char *const paths[] = {file_write(6, "r.csv", "id,label\n")};
    const struct load_input inputs[] = {{.table = "regions", .paths = paths, .path_count = 1}};
    const struct load_options options = {.directory = path, .inputs = inputs, .input_count = 1, .threads = 1};
    (void)state;
    must(schema_script_parse("star.sql", script, strlen(script), &schema, error));
    must(tables_load(&schema, &options, &report, &progress, error));
    schema_script_free(&schema);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(what_is_loaded_is_what_is_answered, setup, teardown),
        cmocka_unit_test_setup_teardown(wrong_rows_are_told_and_nothing_is_loaded, setup, teardown),
        cmocka_unit_test_setup_teardown(bad_rows_may_be_left_out, setup, teardown),
        cmocka_unit_test_setup_teardown(a_fact_can_be_loaded_again_against_dimensions_that_are_there, setup,
                                        teardown),
        cmocka_unit_test_setup_teardown(many_rows_from_many_blocks_in_their_order, setup, teardown),
        cmocka_unit_test_setup_teardown(the_least_number_is_a_number, setup, teardown),
        cmocka_unit_test_setup_teardown(keys_must_differ, setup, teardown),
        cmocka_unit_test_setup_teardown(keys_that_differ_not_are_told_by_their_lines, setup, teardown),
        cmocka_unit_test_setup_teardown(a_table_without_rows_has_a_progress, setup, teardown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
