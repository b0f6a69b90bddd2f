/*
 * test_cuda_rows.c: rows of a scan as plain columns of a GPU (engine/plan/device/device_rows.h) are the rows of the CPU: of columns, of
 * dimensions, and of expressions, with NULLs, narrow and wide, of all rows, of some and of none. On a GPU, or on the emulated
 * one of tests/emulator: TESSERA_LIBCUDA names it, as ctest does. Skipped without either, unless TESSERA_REQUIRE_GPU is set.
 */
#define _GNU_SOURCE
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>

#include "engine/answer/output.h"
#include "engine/library/tessera.h"
#include "tests/fuzz/fuzz_random.h"
#include "tests/support/gpu/on_a_gpu.h"
#include "tests/support/sql/sql_answer.h"

#include <stdlib.h>

#define ROWS 7003u

static const char schema[] =
    "CREATE TABLE shops (id INTEGER PRIMARY KEY, region VARCHAR, size INTEGER, opened DATE);"
    "CREATE TABLE sales (shop INTEGER REFERENCES shops (id), number INTEGER, maybe INTEGER, big BIGINT,"
    " paid DECIMAL(18,2), part DOUBLE, note VARCHAR, day DATE);";

static struct database *database;
static char path[PATH_BYTES];

static void write_shops(FILE *out)
{
    for (uint32_t i = 0; i < 50; i++) {
        fprintf(out, "%u,region %u,", i * 3 + 5, i % 5);
        if (i % 4)
            fprintf(out, "%u", below(1000));
        fprintf(out, ",20%02u-%02u-%02u\n", 10 + below(10), 1 + below(12), 1 + below(28));
    }
}

static void write_sales(FILE *out)
{
    for (uint32_t i = 0; i < ROWS; i++) {
        if (below(9))
            fprintf(out, "%u", below(50) * 3 + 5);
        fprintf(out, ",%d,", (int)below(1000) - 500);
        if (below(3))
            fprintf(out, "%u", below(60));
        fprintf(out, ",%lld,%d.%02u,%u.%u,note %u,20%02u-%02u-%02u\n",
                (i % 2 ? 1 : -1) * (long long)below(1u << 30) * 7000000007ll, (int)below(100000) - 50000,
                below(100), below(900), below(8), below(60), 10 + below(10), 1 + below(12), 1 + below(28));
    }
}

static void make_database(void)
{
    static char files[2][PATH_BYTES + 16];
    static const char *const names[] = {"shops", "sales"};
    const char *const paths[] = {files[0], files[1]};
    uint64_t loaded;
    struct tessera_error failed;
    random_state = 20261124;
    directory_make(path);
    for (uint32_t t = 0; t < 2; t++) {
        snprintf(files[t], sizeof files[t], "%.*s/%s.csv", (int)(strlen(path) - 3), path, names[t]);
        FILE *const out = fopen(files[t], "w");
        assert_non_null(out);
        t == 0 ? write_shops(out) : write_sales(out);
        fclose(out);
    }
    if (tessera_load(path, schema, names, paths, 2, TESSERA_LOAD_NEW, &loaded, &failed))
        fail_msg("%s", failed.text);
    must(database_open(path, &database, error));
}

static const char *const questions[] = {
    "select number from sales",
    "select number, maybe, big, paid, part, note, day, shop from sales",
    "select maybe, big, number * 2 + maybe, big / 7, part * 2, -paid from sales where number > 0",
    "select day, maybe from sales where maybe in (3, 7) and number < 100",
    "select region, size, opened, number from sales, shops where shop = id and region <> 'region 3'",
    "select size, maybe, number from sales left join shops on shop = id and size > 500",
    "select case when maybe is null then number else maybe end, day from sales where note like '%1%'",
    "select number, 7, maybe from sales where number > 400 or maybe = 5",
    "select number, maybe from sales where number = 1000",
    "select number, maybe from sales where number = 499 and maybe = 7",
};
#define COUNT(list) (sizeof(list) / sizeof *(list))

static void take(struct engine *gpu, const struct plan *plan, struct partial *partial)
{
    static const struct device_request all = {.segments = NULL};
    struct prepared_plan *prepared;
    struct run_timing timing = {0};
    must(engine_prepare(gpu, plan, false, &prepared, error));
    for (int again = 0; again < 2; again++) {
        partial_free(partial);
        must(engine_run(prepared, &all, partial, &timing, error));
    }
    engine_release(prepared);
}

static void compare(struct engine *gpu, const char *sql, const struct rowset *right,
                    const struct device_rows *rows)
{
    int64_t *const values = malloc((right->rows + 1) * sizeof *values);
    uint8_t *const nulls = malloc(right->rows + 1);
    assert_true(values && nulls);
    assert_int_equal(rows->rows, right->rows);
    assert_int_equal(rows->column_count, right->column_count);
    for (uint32_t c = 0; c < right->column_count; c++) {
        const struct rowset_column *const of = &right->columns[c];
        memset(nulls, 0, right->rows + 1);
        must(engine_fetch(gpu, rows, c, values, nulls, error));
        for (uint64_t row = 0; row < right->rows; row++) {
            const bool null = of->nulls && of->nulls[row];
            if (nulls[row] != null || (!null && values[row] != of->values[row]))
                fail_msg("%s: row %llu of column %u is %lld, not %lld", sql, (unsigned long long)row, c,
                         (long long)values[row], (long long)of->values[row]);
        }
    }
    free(values);
    free(nulls);
}

static void check_one(struct engine *cpu, struct engine *gpu, const char *sql, bool possible)
{
    struct sql_statement *statement, *on_gpu;
    const struct plan *plan;
    struct partial partial = {0};
    struct rowset right;
    size_t used;
    must(sql_prepare(cpu, database, sql, strlen(sql), NULL, &statement, &used, error));
    must(sql_run(statement, &right, NULL, error));
    must(sql_prepare(gpu, database, sql, strlen(sql), NULL, &on_gpu, &used, error));
    must(sql_plan(on_gpu, &plan, error));
    assert_true(plan_take((struct plan *)plan));
    take(gpu, plan, &partial);
    assert_int_equal(partial.taken != NULL, possible);
    if (partial.taken)
        compare(gpu, sql, &right, partial.taken);
    else
        assert_int_equal(partial.count, right.rows);
    partial_free(&partial);
    rowset_free(&right);
    sql_statement_free(on_gpu);
    sql_statement_free(statement);
}

static void check_answers(const char *device)
{
    struct engine *cpu, *gpu;
    make_database();
    must(engine_open(&(struct engine_options){.device = "cpu", .threads = 2}, &cpu, error));
    must(engine_open(&(struct engine_options){.device = device}, &gpu, error));
    for (size_t q = 0; q < COUNT(questions); q++)
        check_one(cpu, gpu, questions[q], q != 8); /* of which no tile has a row */
    engine_close(gpu);
    engine_close(cpu);
    database_close(database);
    directory_remove(path);
}

static void rows_are_those_of_the_cpu(void **state)
{
    (void)state;
    check_on_a_gpu(check_answers);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(rows_are_those_of_the_cpu)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
