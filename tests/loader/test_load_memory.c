/*
 * test_load_memory.c: a load with little memory makes the same database as one with much, stays within its budget, and
 * says when that or the disk is too small, with the database as it was.
 */
#define _GNU_SOURCE
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>

#include "loader/table/table_loader.h"
#include "tests/support/database_cases.h"
#include "tests/support/not_run.h"

#include <signal.h>
#include <sys/resource.h>
#include <sys/wait.h>

static const char script[] = "CREATE TABLE shops (name TEXT PRIMARY KEY, opened DATE);\n"
                             "CREATE TABLE sales (shop TEXT NOT NULL REFERENCES shops, paid DECIMAL(12,2), "
                             "pieces INT, note TEXT, big BIGINT, tiny BIGINT);\n";

static char path[PATH_BYTES], other[PATH_BYTES];
static char shops_file[PATH_BYTES + 64], sales_file[PATH_BYTES + 64];

#define SHOPS 3000u

static void make_files(uint32_t sales)
{
    snprintf(shops_file, sizeof shops_file, "%.*s/shops.csv", (int)(strlen(path) - 3), path);
    snprintf(sales_file, sizeof sales_file, "%.*s/sales.csv", (int)(strlen(path) - 3), path);
    FILE *out = fopen(shops_file, "w");
    assert_non_null(out);
    for (uint32_t s = 0; s < SHOPS; s++)
        fprintf(out, "shop %u,%s\n", s * 7919 % 100003, s % 3 ? "2024-01-31" : "");
    fclose(out);
    out = fopen(sales_file, "w");
    assert_non_null(out);
    for (uint32_t s = 0; s < sales; s++)
        fprintf(out, "shop %u,%u.5,%s,note %u,%llu,%s\n", s % SHOPS * 7919 % 100003, s % 1000,
                s % 7 ? "12" : "", s % 991, s * 1000000007ull, s % 5 ? "-2147483648" : "");
    fclose(out);
}

static int setup(void **state)
{
    (void)state;
    directory_make(path);
    directory_make(other);
    return 0;
}

static int teardown(void **state)
{
    (void)state;
    directory_remove(path);
    directory_remove(other);
    return 0;
}

static enum status load(const char *directory, uint64_t memory, struct error *why)
{
    const char *const shops[] = {shops_file}, *const sales[] = {sales_file};
    const struct load_input inputs[] = {{.table = "shops", .paths = shops, .path_count = 1},
                                        {.table = "sales", .paths = sales, .path_count = 1}};
    struct schema_script schema;
    struct load_report report;
    const struct load_options options = {.directory = directory,
                                         .inputs = inputs,
                                         .input_count = 2,
                                         .threads = 2,
                                         .codecs = "plain",
                                         .narrow = "tiny",
                                         .memory = memory};
    must(schema_script_parse("star.sql", script, strlen(script), &schema, error));
    const enum status status = tables_load(&schema, &options, &report, NULL, why);
    schema_script_free(&schema);
    return status;
}

/* Files of both databases have the same bytes, their names' columns and codecs, too. */
static void same_files(void)
{
    char command[3 * PATH_BYTES];
    snprintf(command, sizeof command, "diff -r '%s' '%s'", path, other);
    assert_int_equal(system(command), 0);
}

/* `tiny` is BIGINT in the script, and INT in the database, because its values are. */
static void is_narrow(void)
{
    struct database *database;
    const struct table *table;
    const struct column *column;
    must(database_open(path, &database, error));
    must(database_table(database, "sales", &table, error));
    must(table_column(table, "tiny", &column, error));
    assert_int_equal(column->schema.type, TYPE_INT32);
    if (table->rows > 1)
        assert_int_equal(column->statistics.min, INT32_MIN);
    assert_int_equal(column->statistics.nulls, (table->rows + 4) / 5);
    must(table_column(table, "big", &column, error));
    assert_int_equal(column->schema.type, TYPE_INT64);
    database_close(database);
}

static void values_go_through_a_file(void **state)
{
    (void)state;
    static const uint32_t sizes[] = {0, 1, 1023, 1025, 20000, 60000};
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
        const uint64_t most = sizes[i] > SHOPS ? sizes[i] : SHOPS, writing = 5 * 8 * most;
        setup(NULL);
        make_files(sizes[i]);
        must(load(other, UINT64_MAX, error));
        must(load(path, writing, error)); /* one column at a time, and no row in memory meanwhile */
        same_files();
        must(database_check(path, 1, NULL, NULL, NULL, error));
        is_narrow();
        teardown(NULL);
    }
}

static void too_little_memory_is_said(void **state)
{
    (void)state;
    make_files(60000);
    must_refuse(STATUS_MACHINE, "takes 3 MB of memory", "--memory allows 2", "sales",
                load(path, 2200000, error));
    assert_int_equal(access(path, F_OK), -1);
}

static long peak_kilobytes(uint32_t rows, uint64_t memory)
{
    struct rusage usage;
    int done;
    make_files(rows);
    const pid_t child = fork();
    assert_true(child >= 0);
    if (child == 0)
        _exit(load(path, memory, NULL) == STATUS_OK ? 0 : 1);
    assert_int_equal(wait4(child, &done, 0, &usage), child);
    assert_true(WIFEXITED(done) && WEXITSTATUS(done) == 0);
    teardown(NULL);
    setup(NULL);
    return usage.ru_maxrss;
}

/* 700,000 rows are 20 MB of values and two flags each, and 27 MB to write one column. */
static void memory_stays_within_the_budget(void **state)
{
    (void)state;
#ifdef __SANITIZE_ADDRESS__
    not_run("a sanitizer uses memory of its own");
#endif
    const long least = peak_kilobytes(1000, 1u << 26), little = peak_kilobytes(700000, 28u << 20),
               much = peak_kilobytes(700000, UINT64_C(1) << 40);
    if (little - least > 28 * 1024 + 12 * 1024)
        fail_msg("%ld kB with 28 MB allowed, %ld kB for a small table", little, least);
    if (much <= little)
        fail_msg("%ld kB with all memory allowed, %ld kB with 28 MB: nothing was shown", much, little);
}

static void a_full_disk_leaves_nothing(void **state)
{
    (void)state;
    struct rlimit before, small;
    make_files(60000);
    assert_int_equal(getrlimit(RLIMIT_FSIZE, &before), 0);
    small = (struct rlimit){.rlim_cur = 200000, .rlim_max = before.rlim_max};
    signal(SIGXFSZ, SIG_IGN);
    assert_int_equal(setrlimit(RLIMIT_FSIZE, &small), 0);
    struct error why = {0};
    const enum status status = load(path, 5 * 8 * 60000, &why);
    assert_int_equal(setrlimit(RLIMIT_FSIZE, &before), 0);
    signal(SIGXFSZ, SIG_DFL);
    assert_int_equal(status, STATUS_MACHINE);
    assert_non_null(strstr(why.text, "cannot keep rows in a file"));
    assert_int_equal(access(path, F_OK), -1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(values_go_through_a_file),
        cmocka_unit_test_setup_teardown(too_little_memory_is_said, setup, teardown),
        cmocka_unit_test_setup_teardown(memory_stays_within_the_budget, setup, teardown),
        cmocka_unit_test_setup_teardown(a_full_disk_leaves_nothing, setup, teardown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
