/*
 * test_ssb_sort.c: queries on a sorted lineorder give SQLite's answers, whatever column it is sorted by,
 * however many rows it has, and also with NULL keys. Queries report how many tiles they skipped.
 *
 * SQLite is loaded from the raw rows, which are never sorted, and skips none. The tests run on the CPU. $D is
 * the test's folder.
 */
#define _GNU_SOURCE
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>

#include "tests/support/database_cases.h"
#include "tests/support/run_program.h"

#include "ssb/data/schema.h"

#include <jansson.h>

#define QUERIES 13

static char database[PATH_BYTES];
static struct program_run run;

static int make(void **state)
{
    (void)state;
    char folder[PATH_BYTES];
    directory_make(database);
    snprintf(folder, sizeof folder, "%.*s", (int)(strlen(database) - strlen("/db")), database);
    setenv("D", folder, 1);
    run_shell("$T ssb generate --sf 0.01 --out $D/whole", &run);
    return run.exit_code;
}

static int unmake(void **state)
{
    (void)state;
    directory_remove(database);
    return 0;
}

static void assert_runs(const char *shell, int exit_code)
{
    run_shell(shell, &run);
    if (run.exit_code != exit_code)
        fail_msg("%s: exit code %d, not %d\n%s", shell, run.exit_code, exit_code, run.errors);
}

/* Runs the 13 queries on $D/NAME and checks them with SQLite (a wrong answer gives exit code 1). Returns the
 * tiles of lineorder; skipped[] gets the number that each query skipped. */
static long run_queries(const char *name, const char *codec, long skipped[QUERIES])
{
    char shell[512];
    snprintf(
        shell, sizeof shell,
        "$T ssb run --db $D/%s --device cpu --threads 2 --repeat 1 --warmup 0 --codec %s --verify sqlite "
        "--format json",
        name, codec);
    assert_runs(shell, 0);
    json_t *root = json_loads(run.output, 0, NULL);
    const json_t *queries = json_object_get(root, "queries");
    assert_int_equal(json_array_size(queries), QUERIES);
    long tiles = 0;
    for (size_t q = 0; q < QUERIES; q++) {
        const json_t *query = json_array_get(queries, q);
        assert_string_equal(json_string_value(json_object_get(query, "check")), "ok");
        skipped[q] = (long)json_integer_value(json_object_get(query, "tiles_skipped"));
        tiles = (long)json_integer_value(json_object_get(query, "tiles"));
        assert_true(json_real_value(json_object_get(query, "skip_ms")) >= 0);
    }
    json_decref(root);
    return tiles;
}

enum { Q11, Q12, Q13, Q21, Q22, Q23, Q31, Q32, Q33, Q34, Q41, Q42, Q43 };

static void sorted_by_date_a_query_of_a_month_reads_its_tiles(void **state)
{
    (void)state;
    long skipped[QUERIES];
    const long tiles = 587; /* 600,572 rows */
    assert_runs("$T ssb load --sf 0.1 --db $D/unsorted", 0);
    assert_int_equal(run_queries("unsorted", "auto", skipped), tiles);
    for (int q = 0; q < QUERIES; q++)
        assert_int_equal(skipped[q], 0); /* each tile has dates of all years */
    assert_runs("$T ssb load --sf 0.1 --db $D/sorted --sort-by lo_orderdate", 0);
    static const char *const codecs[] = {"auto", "plain", "gpu-star"};
    for (int c = 0; c < 3; c++) {
        assert_int_equal(run_queries("sorted", codecs[c], skipped), tiles);
        for (int q = Q11; q <= Q43; q++) /* orders have 2,406 days, so a year has 15 % of the tiles */
            if (q == Q11)
                assert_in_range(tiles - skipped[q], 85, 94);
            else if (q == Q12 || q == Q34)
                assert_in_range(tiles - skipped[q], 7, 10);
            else if (q == Q13)
                assert_in_range(tiles - skipped[q], 2, 4);
            else if (q == Q42 || q == Q43)
                assert_in_range(tiles - skipped[q], 139, 148);
            else if (q >= Q31 && q <= Q33)
                assert_in_range(tiles - skipped[q], 530, 540);
            else
                assert_int_equal(skipped[q], 0);
    }
    assert_runs("$T ssb run --db $D/sorted --device cpu --repeat 1 --query q1.3 --profile", 0);
    assert_non_null(strstr(run.output, "tiles skipped\n"));
    assert_non_null(strstr(run.output, " 584 of 587\n"));
    assert_runs("$T ssb run --db $D/sorted --device cpu --repeat 1 --query q1.3 --format csv", 0);
    assert_non_null(strstr(run.output, ",587,584,"));
}

/* Clustered rows give SQLite's answers; a condition on levels leaves few tiles, from rows that are made on one thread and on
 * several. */
static void clustered_rows_give_the_same_answers(void **state)
{
    (void)state;
    long skipped[QUERIES];
    for (int threads = 1; threads <= 3; threads += 2) {
        char shell[256];
        snprintf(shell, sizeof shell,
                 "$T ssb load --sf 0.1 --db $D/clustered --force --cluster-by auto --threads %d", threads);
        assert_runs(shell, 0);
        const long tiles = run_queries("clustered", "auto", skipped);
        assert_int_equal(tiles, 587);
        for (int q = Q21; q <= Q43; q++)
            assert_in_range(skipped[q], 350, tiles);
    }
    assert_runs("$T ssb load --sf 0.1 --db $D/clustered --force --cluster-by "
                "lo_discount:3,lo_custkey:2,lo_orderdate:1",
                0);
    run_queries("clustered", "auto", skipped);
    for (int q = Q11; q <= Q13; q++)
        assert_in_range(skipped[q], 300, 587);
    assert_runs("$T check --db $D/clustered", 0);
}

static void any_column_may_be_sorted_by(void **state)
{
    (void)state;
    /* Tiles are skipped by a filter on the fact table, and by a dimension's passing rows in any positions. */
    static const struct {
        const char *column;
        int query;
        long most; /* of 59 tiles, the most that the query may scan */
    } cases[] = {{"lo_quantity", Q13, 20}, {"lo_discount", Q12, 23}, {"lo_suppkey", Q33, 12},
                 {"lo_custkey", Q34, 30},  {"lo_shipmode", Q11, 59}, {"lo_orderkey", Q21, 59}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char shell[256];
        long skipped[QUERIES];
        snprintf(shell, sizeof shell, "$T ssb load --sf 0.01 --force --db $D/any --sort-by %s",
                 cases[i].column);
        assert_runs(shell, 0);
        const long tiles = run_queries("any", "auto", skipped);
        assert_int_equal(tiles, 59);
        if (tiles - skipped[cases[i].query] > cases[i].most)
            fail_msg("%s: %ld tiles left", cases[i].column, tiles - skipped[cases[i].query]);
    }
}

/* With the classic date table most order dates have no dimension row; their keys are NULL and sort first. */
static void tiles_of_null_keys_are_skipped(void **state)
{
    (void)state;
    long skipped[QUERIES];
    assert_runs("$T ssb load --sf 0.1 --date-table classic --dangling null --db $D/null", 0);
    run_queries("null", "auto", skipped);
    for (int q = 0; q < QUERIES; q++)
        assert_true(q == Q21 || q == Q22 || q == Q23 || q == Q41 ? skipped[q] == 0 : 1);
    assert_runs("$T ssb load --sf 0.1 --date-table classic --dangling null --db $D/null --force "
                "--sort-by lo_orderdate",
                0);
    run_queries("null", "auto", skipped);
    for (int q = 0; q < QUERIES; q++) /* only 255 of 2,406 days have a row; every query joins the dates */
        assert_true(skipped[q] >= 500);
    run_queries("null", "plain", skipped);
    assert_runs("$T check --db $D/null", 0);
}

static void any_number_of_rows_may_be_sorted(void **state)
{
    (void)state;
    static const char *const orders[] = {"", "--sort-by lo_orderdate", "--sort-by lo_suppkey"};
    static const int sizes[] = {1, 31, 1023, 1025};
    for (size_t s = 0; s < sizeof sizes / sizeof *sizes; s++)
        for (size_t o = 0; o < sizeof orders / sizeof *orders; o++) {
            char shell[512];
            long skipped[QUERIES];
            snprintf(shell, sizeof shell,
                     "rm -rf $D/some && cp -r $D/whole $D/some && "
                     "head -n %d $D/whole/lineorder.tbl >$D/some/lineorder.tbl && "
                     "$T ssb load --from $D/some --db $D/few --force %s",
                     sizes[s], orders[o]);
            assert_runs(shell, 0);
            assert_int_equal(run_queries("few", "auto", skipped), (sizes[s] + 1023) / 1024);
            for (int q = 0; q < QUERIES; q++)
                assert_true(skipped[q] <= (sizes[s] + 1023) / 1024);
        }
}

/* The loader refuses text without rows, so this table is written directly. */
static void an_empty_table_may_be_sorted(void **state)
{
    (void)state;
    struct database_writer *writer;
    struct table_writer *table;
    struct schema_script schema;
    char path[PATH_BYTES + 16];
    snprintf(path, sizeof path, "%s/empty", getenv("D"));
    assert_runs("$T ssb load --sf 0.01 --db $D/empty", 0);
    must(ssb_schema_make(false, false, &schema, error));
    const struct schema_table *const lineorder = &schema.tables[SSB_LINEORDER];
    must(database_writer_open(path, &writer, error));
    must(database_writer_table(writer, "lineorder", lineorder->columns, lineorder->column_count, 0, &table,
                               error));
    must(table_writer_sort_by(table, LO_ORDERDATE, error));
    for (uint32_t c = 0; c < lineorder->column_count; c++)
        if (lineorder->columns[c].type == TYPE_STRING)
            must(table_writer_dictionary(table, c, &(struct dictionary){0}, error));
    schema_script_free(&schema);
    must(table_writer_sort(table, 2, NULL, error));
    must(database_writer_commit(writer, error));
    assert_runs("$T ssb run --db $D/empty --device cpu --repeat 1 --verify none --profile", 0);
    assert_non_null(strstr(run.output, "tiles skipped\n"));
}

static void a_column_that_lineorder_lacks_is_refused(void **state)
{
    (void)state;
    assert_runs("$T ssb load --sf 0.01 --db $D/wrong --sort-by d_year", 2);
    assert_non_null(strstr(run.errors, "'d_year'"));
    assert_non_null(strstr(run.errors, "lo_orderkey, lo_linenumber, lo_custkey, lo_partkey, lo_suppkey, "
                                       "lo_orderdate, "));
    assert_runs("test ! -e $D/wrong", 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(sorted_by_date_a_query_of_a_month_reads_its_tiles),
        cmocka_unit_test(clustered_rows_give_the_same_answers),
        cmocka_unit_test(any_column_may_be_sorted_by),
        cmocka_unit_test(tiles_of_null_keys_are_skipped),
        cmocka_unit_test(any_number_of_rows_may_be_sorted),
        cmocka_unit_test(an_empty_table_may_be_sorted),
        cmocka_unit_test(a_column_that_lineorder_lacks_is_refused),
    };
    return cmocka_run_group_tests(tests, make, unmake);
}
