/*
 * test_cuda_rows.c: rows of a scan as plain columns of a GPU (engine/plan/device/device_rows.h) are the rows of the CPU: of columns in
 * every codec, of keys and other columns of dimensions, and of expressions, with NULLs, narrow and wide, of all rows, of many, of few in
 * a tile and of none; of 1 to 7003 rows, also in segments that do not fill their last tile. On a GPU, or on the emulated
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

static const char schema[] =
    "CREATE TABLE shops (id INTEGER PRIMARY KEY, region VARCHAR, city VARCHAR, size INTEGER, opened DATE);"
    "CREATE TABLE goods (id INTEGER PRIMARY KEY, class VARCHAR);"
    "CREATE TABLE ghosts (id INTEGER PRIMARY KEY, name VARCHAR, weight INTEGER);"
    "CREATE TABLE sales (shop INTEGER REFERENCES shops (id), good INTEGER REFERENCES goods (id), "
    "ghost INTEGER REFERENCES ghosts (id), number INTEGER, maybe INTEGER, wide INTEGER, big BIGINT, small "
    "BIGINT, paid DECIMAL(18,2), part DOUBLE, note VARCHAR, "
    "day DATE);";

static struct database *database;
static char path[PATH_BYTES];

/* Of 10 bits, all of which are planes. */
static void write_shops(FILE *out)
{
    for (uint32_t i = 0; i < 300; i++) {
        fprintf(out, "%u,region %u,city %u,", i * 3 + 5, i % 5, i % 30);
        if (i % 4)
            fprintf(out, "%u", below(1000));
        fprintf(out, ",20%02u-%02u-%02u\n", 10 + below(10), 1 + below(12), 1 + below(28));
    }
}

/* Of 2 bits that are planes, and 10 that are packed. */
static void write_goods(FILE *out)
{
    for (uint32_t i = 0; i < 2000; i++)
        fprintf(out, "%u,class %u\n", i * 2, i % 3);
}

static void write_sales(FILE *out, uint32_t rows)
{
    for (uint32_t i = 0; i < rows; i++) {
        if (below(9))
            fprintf(out, "%u", below(300) * 3 + 5);
        fprintf(out, ",%u,,%d,", below(2000) * 2, (int)below(1000) - 500);
        if (below(3))
            fprintf(out, "%u", below(60));
        fprintf(out, ",%d,%lld,%u,%d.%02u,%u.%u,note %u,20%02u-%02u-%02u\n",
                i % 50 ? (int)below(7) - 3 : (int)below(1u << 30) * 2 - (1 << 30),
                (i % 2 ? 1 : -1) * (long long)below(1u << 30) * 7000000007ll, i / 40 + below(2),
                (int)below(100000) - 50000, below(100), below(900), below(8), below(60), 10 + below(10),
                1 + below(12), 1 + below(28));
    }
}

static const char *const names[] = {"sales", "shops", "goods", "ghosts"};
static char files[4][PATH_BYTES + 16];

static void load(uint32_t rows, uint32_t tables, enum tessera_load_mode mode)
{
    const char *const paths[] = {files[0], files[1], files[2], files[3]};
    uint64_t loaded;
    struct tessera_error failed;
    for (uint32_t t = 0; t < tables; t++) {
        snprintf(files[t], sizeof files[t], "%.*s/%s.csv", (int)(strlen(path) - 3), path, names[t]);
        FILE *const out = fopen(files[t], "w");
        assert_non_null(out);
        if (t == 0)
            write_sales(out, rows);
        else if (t == 1)
            write_shops(out);
        else if (t == 2)
            write_goods(out);
        fclose(out);
    }
    if (tessera_load(path, schema, names, paths, tables, mode, &loaded, &failed))
        fail_msg("%s", failed.text);
}

/* `appended`: rows of another segment. */
static void make_database(uint32_t rows, uint32_t appended)
{
    random_state = 20261124;
    directory_make(path);
    load(rows, 4, TESSERA_LOAD_NEW);
    if (appended)
        load(appended, 1, TESSERA_LOAD_APPEND);
    must(database_open(path, &database, error));
}

static const char *const questions[] = {
    "select number from sales",
    "select number, maybe, wide, big, small, paid, part, note, day, shop, good from sales",
    "select good, shop, number, big from sales where number < 450",
    "select shop, maybe, number, good, small from sales where number = 17",
    "select maybe, big, number * 2 + maybe, big / 7, part * 2, -paid from sales where number > 0",
    "select day, maybe from sales where maybe in (3, 7) and number < 100",
    "select region, size, opened, number, shop from sales, shops where shop = id and region <> 'region 3'",
    "select size, city, maybe, number from sales left join shops on shop = id and size > 500",
    "select city, opened, size, shop, number from sales left join shops on shop = id",
    "select name, weight, ghost, number from sales left join ghosts on ghost = id",
    "select case when maybe is null then number else maybe end, day from sales where note like '%1%'",
    "select number, 7, maybe from sales where number > 400 or maybe = 5",
    "select number, maybe from sales where number = 1000",
    "select number, maybe from sales where number = 499 and maybe = 7",
};
#define COUNT(list) (sizeof(list) / sizeof *(list))

/* A warp stages 4 or 8 KiB of each column in lane-delta: of all columns that is more than there is. */
static const char *const codecs[] = {NULL,
                                     "plain",
                                     "nsf",
                                     "gpu-for",
                                     "lane-for",
                                     "lane-pfor",
                                     "rank-rle",
                                     "lane-slice",
                                     "alp",
                                     "shop=lane-delta,number=lane-delta,big=lane-delta",
                                     "shop=lane-levels,good=lane-levels"};

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

static void compare(struct engine *gpu, const char *sql, const char *codec, const struct rowset *right,
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
                fail_msg("%s, %s: row %llu of column %u is %lld, not %lld", codec ? codec : "own", sql,
                         (unsigned long long)row, c, (long long)values[row], (long long)of->values[row]);
        }
    }
    free(values);
    free(nulls);
}

static void check_one(struct engine *cpu, struct engine *gpu, const char *sql, const char *codec)
{
    struct sql_statement *statement, *on_gpu;
    const struct plan *plan;
    struct partial partial = {0};
    struct rowset right;
    size_t used;
    must(sql_prepare(cpu, database, sql, strlen(sql), NULL, &statement, &used, error));
    must(sql_run(statement, &right, NULL, error));
    must(sql_prepare(gpu, database, sql, strlen(sql), codec, &on_gpu, &used, error));
    must(sql_plan(on_gpu, &plan, error));
    assert_true(plan_take((struct plan *)plan));
    take(gpu, plan, &partial);
    if (right.rows > 0 && !partial.taken)
        fail_msg("%s, %s: the rows are not taken", codec ? codec : "own", sql);
    if (partial.taken)
        compare(gpu, sql, codec, &right, partial.taken);
    else
        assert_int_equal(partial.count, right.rows);
    partial_free(&partial);
    rowset_free(&right);
    sql_statement_free(on_gpu);
    sql_statement_free(statement);
}

/* `s`: all codecs in the first size, some in the others. */
static void check_database(const char *device, size_t s)
{
    struct engine *cpu, *gpu;
    must(engine_open(&(struct engine_options){.device = "cpu", .threads = 2}, &cpu, error));
    must(engine_open(&(struct engine_options){.device = device}, &gpu, error));
    for (size_t c = 0; c < COUNT(codecs); c++)
        for (size_t q = 0; (s == 0 || (c + s) % 4 == 0) && q < COUNT(questions); q++)
            check_one(cpu, gpu, questions[q], codecs[c]);
    engine_close(gpu);
    engine_close(cpu);
    database_close(database);
    directory_remove(path);
}

/* More tiles than one block counts. */
static void check_parts(const char *device)
{
    static const char *const narrow = "CREATE TABLE narrow (a INTEGER, b INTEGER);";
    static const char *const asked[] = {"select a, b from narrow where b is null or b > 20",
                                        "select b, a + 1 from narrow"};
    const char *const table = "narrow", *const file = files[0];
    struct engine *cpu, *gpu;
    uint64_t loaded;
    struct tessera_error failed;
    directory_make(path);
    snprintf(files[0], sizeof files[0], "%.*s/narrow.csv", (int)(strlen(path) - 3), path);
    FILE *const out = fopen(files[0], "w");
    assert_non_null(out);
    for (uint32_t i = 0; i < 263000; i++)
        fprintf(out, below(5) ? "%u,%u\n" : "%u,\n", i, below(100));
    fclose(out);
    if (tessera_load(path, narrow, &table, &file, 1, TESSERA_LOAD_NEW, &loaded, &failed))
        fail_msg("%s", failed.text);
    must(database_open(path, &database, error));
    must(engine_open(&(struct engine_options){.device = "cpu", .threads = 2}, &cpu, error));
    must(engine_open(&(struct engine_options){.device = device}, &gpu, error));
    for (size_t q = 0; q < COUNT(asked); q++)
        check_one(cpu, gpu, asked[q], NULL);
    engine_close(gpu);
    engine_close(cpu);
    database_close(database);
    directory_remove(path);
}

static void check_answers(const char *device)
{
    static const uint32_t sizes[][2] = {{7003, 0}, {1, 0},       {31, 0},     {1023, 0},
                                        {1025, 0}, {1100, 3000}, {2048, 1024}};
    for (size_t s = 0; s < COUNT(sizes); s++) {
        make_database(sizes[s][0], sizes[s][1]);
        check_database(device, s);
    }
    check_parts(device);
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
