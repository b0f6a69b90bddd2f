/*
 * test_clustering_changes.c: clustered tables that are compacted stand as those of one load, also beside an append; rows that others
 * reference stay where they are; and catalogues whose clustering is wrong are refused.
 */
#define _GNU_SOURCE
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>

#include "tests/support/clustered_rows.h"

#include <stdatomic.h>

static const char script_of_returns[] = "CREATE TABLE sales (number BIGINT PRIMARY KEY);\n"
                                        "CREATE TABLE returns (sale BIGINT REFERENCES sales, why INT);\n";

static const struct term by_price[] = {{"price", 4}, {0}}, by_shops[] = {{"shop", 1}, {"region", 1}, {0}};

/* ---- Compaction ---- */

static void ignore(void *context, const struct table *before, const struct table *after)
{
    (void)context;
    (void)before;
    (void)after;
}

static void compact(const char *directory, struct progress *progress)
{
    must(database_compact(directory, NULL, 2, ignore, NULL, progress, error));
}

/* Codes of levels are the same in all segments, so rows stand as those of one load. */
static void compacted_rows_stand_as_those_of_one_load(void **state)
{
    (void)state;
    load(whole, all(9000), (struct how){0});
    load(path, all(4000), (struct how){.cluster_by = "shop,region"});
    load(path, sales(4000, 31), (struct how){.append = true});
    load(path, sales(4031, 4969), (struct how){.append = true});
    same_answers();
    compact(path, NULL);
    clustered_by("shop:1,region:1");
    segment_stands_by(0, by_shops);
    same_answers();
}

/* A change that is made once while rows are compacted. */
struct meanwhile {
    void (*change)(void);
    atomic_bool done;
};

static void change_once(struct progress *progress, const char *what, const char *unit, uint64_t done,
                        uint64_t total)
{
    struct meanwhile *const meanwhile = progress->context;
    (void)what;
    (void)unit;
    (void)done;
    (void)total;
    if (!atomic_exchange(&meanwhile->done, true))
        meanwhile->change();
}

static void compact_meanwhile(void (*change)(void))
{
    struct meanwhile meanwhile = {.change = change};
    struct progress progress = {.report = change_once, .context = &meanwhile};
    compact(path, &progress);
    assert_true(meanwhile.done);
}

/* An append says meanwhile that rows are clustered otherwise: that holds for what comes then. */
static void append_otherwise(void)
{
    load(path, sales(4000, 500), (struct how){.append = true, .cluster_by = "price"});
}

static void an_append_while_rows_are_compacted_says_how_they_are_clustered(void **state)
{
    (void)state;
    load(whole, all(3000), (struct how){0});
    load(whole, sales(4000, 500), (struct how){.append = true});
    load(path, all(2000), (struct how){.cluster_by = "shop,region"});
    load(path, sales(2000, 1000), (struct how){.append = true});
    compact_meanwhile(append_otherwise);
    clustered_by("price:4");
    segment_stands_by(0, by_shops);
    segment_stands_by(1, by_price);
    same_answers();
}

/* ---- Rows that others reference ---- */

static enum status load_returns(struct error *why)
{
    char file[PATH_BYTES + 64];
    const char *const paths[] = {file};
    struct load_input input = {.table = "returns", .paths = paths, .path_count = 1};
    struct schema_script schema;
    struct load_report report;
    const struct load_options options = {.directory = path, .inputs = &input, .input_count = 1, .threads = 1};
    snprintf(file, sizeof file, "%.*s/returns.csv", (int)(strlen(path) - 3), path);
    FILE *const out = fopen(file, "w");
    assert_non_null(out);
    for (uint32_t row = 0; row < 2000; row++)
        fprintf(out, "%u,%u\n", scramble(row) % 3000, row % 10);
    fclose(out);
    must(schema_script_parse("returns.sql", script_of_returns, strlen(script_of_returns), &schema, error));
    const enum status status = tables_load(&schema, &options, &report, NULL, why);
    schema_script_free(&schema);
    return status;
}

/* Returns find the sales that they were loaded with. */
static void returns_find_their_sales(void)
{
    int64_t sum = 0;
    char expected[64];
    struct engine *engine;
    for (uint32_t row = 0; row < 2000; row++)
        sum += (int64_t)(scramble(row) % 3000) * (row % 10);
    snprintf(expected, sizeof expected, "count(*),sum(number * why)\n2000,%lld\n", (long long)sum);
    struct opened opened = open_table(path, "sales");
    must(engine_open(&(struct engine_options){.device = "cpu", .threads = 1}, &engine, error));
    char *const found =
        sql_answer(engine, opened.database,
                   "select count(*), sum(number * why) from returns join sales on sale = number");
    assert_string_equal(found, expected);
    free(found);
    engine_close(engine);
    database_close(opened.database);
}

static void referenced_rows_stay_where_they_are(void **state)
{
    (void)state;
    both(all(2000), "shop,region", false);
    both(sales(2000, 1000), NULL, true);
    must(load_returns(error));
    returns_find_their_sales();
    both(sales(3000, 500), NULL, true);
    returns_find_their_sales();
    compact(path, NULL);
    compact(whole, NULL);
    clustered_by("");
    returns_find_their_sales();
    same_answers();
}

static void reference_sales(void)
{
    must(load_returns(error));
}

static void rows_that_are_referenced_meanwhile_stay(void **state)
{
    (void)state;
    both(all(2000), "shop,region", false);
    both(sales(2000, 1000), NULL, true);
    compact_meanwhile(reference_sales);
    compact(whole, NULL);
    clustered_by("");
    returns_find_their_sales();
    same_answers();
}

/* The script of an append says that sales are referenced: they are clustered no more. */
static void a_script_that_references_ends_the_clustering(void **state)
{
    static const char more[] = "CREATE TABLE returns (sale BIGINT REFERENCES sales, why INT);";
    char text[sizeof script + sizeof more];
    const struct sizes rows = sales(2000, 1000);
    (void)state;
    both(all(2000), "shop,region", false);
    snprintf(text, sizeof text, "%s%s", script, more);
    must(load_as(text, path, &rows, &(struct how){.append = true}, error));
    load(whole, rows, (struct how){.append = true});
    clustered_by("");
    segment_stands_by(0, by_shops);
    segment_stands_by(1, NULL);
    same_answers();
}

/* ---- Catalogues ---- */

/* Writes the catalogue with another list of terms. */
static void forge(const struct bytes *bytes, const char *terms)
{
    static const char member[] = "\"clustering\": ";
    const char *const body = strchr((const char *)bytes->data, '\n') + 1, *const end =
                                                                              (const char *)bytes->data +
                                                                              bytes->size;
    const char *const at = memmem(body, (size_t)(end - body), member, strlen(member));
    assert_non_null(at);
    const char *const list = at + strlen(member), *const after =
                                                      (const char *)memchr(list, ']', (size_t)(end - list)) +
                                                      1;
    char *text;
    size_t size;
    FILE *const out = open_memstream(&text, &size);
    fprintf(out, "%.*s%s%.*s", (int)(list - body), body, terms, (int)(end - after), after);
    fclose(out);
    catalogue_forge(bytes->path, 9, text, size);
    free(text);
}

#define TERM(column, number) "{\"column\":" column ",\"number\":" number "}"

static void wrong_catalogues_are_refused(void **state)
{
    static const char *const wrong[] = {
        "[]",
        "7",
        "null",
        "{}",
        "[7]",
        "[" TERM("10", "1") "]", /* the table has ten columns that are seen */
        "[" TERM("4294967297", "1") "]",
        "[" TERM("-1", "1") "]",
        "[" TERM("1", "0") "]",
        "[" TERM("1", "65") "]",
        "[" TERM("1", "\"2\"") "]",
        "[{\"column\": 1}]",
        "[" TERM("1", "1") ", " TERM("1", "1") "]",
        "[" TERM("0", "1") "," TERM("1", "1") "," TERM("2", "1") "," TERM("3", "1") "," TERM(
            "4", "1") "," TERM("5", "1") "," TERM("6", "1") "," TERM("7", "1") "," TERM("8", "1") "]",
    };
    struct database *database;
    (void)state;
    load(path, all(100), (struct how){.cluster_by = "shop:2"});
    struct bytes bytes = bytes_read(path, "catalogue");
    assert_memory_equal(bytes.data, "tessera catalogue 9 ", 20);
    for (size_t w = 0; w < sizeof wrong / sizeof *wrong; w++) {
        struct error error = {0};
        forge(&bytes, wrong[w]);
        const enum status status = database_open(path, &database, &error);
        if (status == STATUS_OK || !strstr(error.text, bytes.path))
            fail_msg("%s: status %d, %s", wrong[w], (int)status, error.text);
    }
    /* Numbers that levels do not have are those of levels that went: all levels are taken then. */
    forge(&bytes, "[" TERM("1", "64") "," TERM("7", "64") "]");
    load(path, sales(100, 2000), (struct how){.append = true});
    compact(path, NULL);
    load(whole, all(100), (struct how){0});
    load(whole, sales(100, 2000), (struct how){.append = true});
    same_answers();
    free(bytes.data);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
#define CASE(test) cmocka_unit_test_setup_teardown(test, setup, teardown)
        CASE(compacted_rows_stand_as_those_of_one_load),
        CASE(an_append_while_rows_are_compacted_says_how_they_are_clustered),
        CASE(referenced_rows_stay_where_they_are),
        CASE(rows_that_are_referenced_meanwhile_stay),
        CASE(a_script_that_references_ends_the_clustering),
        CASE(wrong_catalogues_are_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
