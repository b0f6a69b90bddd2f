/*
 * test_cuda_windows.c: window functions over rows that stay on a GPU are those of the CPU, with NULLs, ties, dimensions and
 * orders that take several words or in which the rows stand in part; and what is asked above them is answered there, so that
 * the host has no rows. On a GPU, or on the emulated one of tests/emulator: TESSERA_LIBCUDA names it, as ctest does. Skipped
 * without either, unless TESSERA_REQUIRE_GPU is set. tests/fuzz/test_windows_fuzz.c asks a device what is random.
 */
#define _GNU_SOURCE
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>

#include "engine/cuda/ahead.h"
#include "engine/library/tessera.h"
#include "operators/window/window.h"
#include "tests/fuzz/fuzz_random.h"
#include "tests/support/gpu/on_a_gpu.h"
#include "tests/support/sql/sql_answer.h"

#include <malloc.h>
#include <stdlib.h>

#define ROWS 6007u

static const char schema[] =
    "CREATE TABLE shops (place INTEGER PRIMARY KEY, region VARCHAR, size INTEGER);"
    "CREATE TABLE sales (id INTEGER, shop INTEGER REFERENCES shops (place), runs INTEGER, number INTEGER,"
    " maybe INTEGER, big BIGINT, wide BIGINT, paid DECIMAL(18,2), part DOUBLE, note VARCHAR, day DATE,"
    " of64 INTEGER, of65 INTEGER, down INTEGER, late INTEGER);";

static struct database *database;
static char path[PATH_BYTES];

static void write_shops(FILE *out)
{
    for (uint32_t i = 0; i < 50; i++) {
        fprintf(out, "%u,region %u,", i * 3 + 5, i % 5);
        if (i % 4)
            fprintf(out, "%u", below(1000));
        fprintf(out, "\n");
    }
}

/* `runs`, `of64` and `of65` ascend, the latter with as many equal rows as a run may have, and one more (WINDOW_RUN_MAX); `down`
 * descends, and `late` ascends after NULLs. `big` and `wide` take a word each as terms of an order. */
static void write_sales(FILE *out)
{
    for (uint32_t i = 0, run = 0; i < ROWS; i++) {
        run += below(4) == 0;
        fprintf(out, "%u,", i);
        if (below(9))
            fprintf(out, "%u", below(50) * 3 + 5);
        fprintf(out, ",%u,%d,", run, (int)below(1000) - 500);
        if (below(3))
            fprintf(out, "%u", below(60));
        fprintf(out, ",%lld,%lld,%d.%02u,%u.%u,note %u,20%02u-%02u-%02u,%u,%u,%u,",
                (i % 2 ? 1 : -1) * (long long)below(40) * 70000000000007ll, (long long)below(9) << 50,
                (int)below(100000) - 50000, below(100), below(900), below(8), below(60), 10 + below(10),
                1 + below(12), 1 + below(28), i / WINDOW_RUN_MAX, i / (WINDOW_RUN_MAX + 1), (ROWS - i) / 3);
        if (i >= 40)
            fprintf(out, "%u", i / 5);
        fprintf(out, "\n");
    }
}

static void make_database(void)
{
    static char files[2][PATH_BYTES + 16];
    static const char *const names[] = {"shops", "sales"};
    const char *const paths[] = {files[0], files[1]};
    uint64_t loaded;
    struct tessera_error failed;
    random_state = 20261125;
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

/* Functions, and whether a GPU computes them. */
static const struct {
    const char *sql;
    bool possible;
} functions[] = {
    {"row_number() over (partition by runs order by number desc, id)", true},
    {"row_number() over (partition by shop order by number)", true},
    {"rank() over (order by number desc)", true},
    {"dense_rank() over (partition by maybe order by day, number)", true},
    {"ntile(7) over (partition by note order by id desc)", true},
    {"sum(number) over (partition by runs)", true},
    {"sum(maybe) over (partition by runs order by id)", true},
    {"sum(maybe) over (partition by shop order by number)", true},
    {"sum(paid) over (order by day, number, id rows between 3 preceding and 1 preceding)", true},
    {"count(*) over (partition by day)", true},
    {"count(maybe) over (order by number groups between current row and unbounded following)", true},
    {"max(number) over (partition by note order by id rows between 5 preceding and 5 following)", true},
    {"min(maybe) over (partition by shop order by day desc, id)", true},
    {"max(day) over (order by id rows between unbounded preceding and 40 preceding)", true},
    {"min(note) over (partition by runs)", true},
    {"max(big) over (partition by runs)", true},
    {"lag(number) over (partition by shop order by day, id)", true},
    {"lead(maybe, 3) over (order by big, wide, id)", true},
    {"lag(part) over (order by wide desc nulls last, big desc, number, id desc)", true},
    {"first_value(maybe) over (partition by big, wide order by maybe nulls last, id)", true},
    {"last_value(note) over (partition by shop order by id rows between 2 following and 9 following)", true},
    {"sum(size) over (partition by region order by id)", true},
    {"row_number() over (order by region, size nulls first, id)", true},
    {"avg(number) over (partition by runs)", true},
    {"avg(maybe) over (partition by shop order by id rows between 4 preceding and 1 preceding)", true},
    {"avg(paid) over (order by day, id)", true},
    {"percent_rank() over (order by number)", true},
    {"cume_dist() over (partition by maybe order by note)", true},
    {"lead(part) over (partition by shop order by number, id)", true},
    {"max(big) over (partition by maybe order by number, id)", true},
    {"sum(number) over (partition by wide order by id)", true},
    {"lag(number) over (partition by wide order by id)", true},
    {"rank() over (partition by wide order by maybe)", true},
    {"avg(big) over (partition by runs)", false},
    {"sum(number) over (order by id rows between 1 preceding and current row exclude current row)", false},
    {"sum(part) over (partition by runs)", false},
    {"row_number() over (order by part, id)", false},
    {"lag(number, 1, 7) over (order by id)", false},
};

/* %s: a function. */
static const char *const questions[] = {
    "select count(*), count(w), min(w), max(w) from (select number, %s w from sales, shops where shop = "
    "place) q",
    "select count(*), sum(number), max(w) from (select number, %s w from sales, shops where shop = place "
    "and number > 0) q where number % 3 = 1 and w is not null",
    "select number, count(*), max(w) from (select number, %s w from sales, shops where shop = place) q "
    "group by number having count(w) > 1 order by number limit 20",
    "select number, id, w from (select id, number, %s w from sales, shops where shop = place) q "
    "where id % 1000 = 7 order by id",
};
/* Orders in which the rows stand in part. */
static const char *const ordered[] = {
    "row_number() over (partition by runs order by maybe nulls first, number desc, id)",
    "row_number() over (partition by runs order by maybe desc, number)",
    "row_number() over (partition by of64 order by number, id)",
    "row_number() over (partition by of65 order by number, id)",
    "sum(number) over (partition by of64 order by number desc rows between 2 preceding and current row)",
    "sum(maybe) over (partition by of65 order by number desc rows between 2 preceding and current row)",
    "dense_rank() over (order by down desc, number)",
    "rank() over (order by down desc, number desc, maybe)",
    "sum(maybe) over (order by down, number)",
    "lag(maybe) over (partition by late order by number, id)",
    "cume_dist() over (order by late nulls first, maybe)",
    "row_number() over (partition by late)",
    "count(*) over (order by shop, down desc)",
    "sum(number) over (order by maybe desc nulls last, down desc range between current row and unbounded "
    "following)",
    "dense_rank() over (partition by shop order by late nulls first)",
    "sum(number) over (partition by shop order by runs, id)",
    "sum(maybe) over (partition by shop order by runs)",
    "lead(maybe, 2) over (partition by shop order by id)",
    "count(maybe) over (partition by maybe, id)",
    "max(maybe) over (partition by shop order by big, wide, id rows between 1 preceding and 2 following)",
    "rank() over (partition by shop order by big, wide, runs)",
    "first_value(number) over (partition by wide order by big desc, down desc)",
    "last_value(maybe) over (partition by runs, id)",
    "sum(number) over ()",
    "max(runs) over (partition by shop order by runs, id rows between 1 preceding and current row)",
    "first_value(down) over (partition by shop order by down desc, number)",
    "lag(maybe) over (partition by shop order by maybe desc nulls last, number)",
    "lead(maybe) over (partition by shop order by maybe desc nulls first, number)",
    "count(maybe) over (partition by shop order by maybe nulls first, number)",
    "last_value(of65) over (partition by number order by maybe rows between current row and 3 following)",
    "min(number) over (partition by day order by of64, number)",
    /* Whole partitions, which stand together: short ones, of several terms, of NULLs, and longer ones than a warp looks for. */
    "max(number) over (partition by of65)",
    "sum(number) over (partition by runs, id)",
    "count(maybe) over (partition by late)",
    "count(*) over (partition by id / 3 * 10000000000)",
    "min(number) over (partition by id / 2500)",
};
/* %s: a function; %u: the rows. Columns stand beside it where it is. */
static const char *const beside[] = {
    "select count(*), count(w), sum(w), sum(w * (id %% 1009)), max(w - maybe) from (select id, maybe, %s w "
    "from "
    "sales where id < %u) q",
    "select id, shop, number, maybe, w from (select id, shop, number, maybe, %s w from sales where id < %u) "
    "q "
    "where id %% 64 < 3 order by id",
};
static const uint32_t sizes[] = {0, 1, 2, 31, 64, 65, 66, 1023, 1025, WINDOW_PIECE + 1, ROWS};
/* Several orders: the last functions stand in theirs, and the others beside them. */
static const char *const several[] = {
    "select sum(a * (id % 7)), sum(b) from (select id, sum(number) over (partition by wide order by id) a, "
    "row_number() over (order by number, id) b from sales) q",
    "select sum(a * (id % 101)), sum(b * (id % 103)), sum(c * a), count(c) from (select id, row_number() "
    "over "
    "(order by number, id) a, sum(number) over (partition by shop order by id) b, lag(maybe) over (partition "
    "by shop order by id) c from sales) q",
    "select sum(a * b), sum(b * c), count(*) from (select row_number() over (partition by runs order by "
    "number, id) "
    "a, rank() over (order by maybe nulls first, id) b, sum(maybe) over (partition by runs) c from sales) q",
};
/* The host has the rows between the two. */
static const char nested[] =
    "select sum(b * (id % 11)), max(b) from (select id, sum(a) over (partition by shop order by id) b from "
    "(select id, shop, lag(maybe) over (partition by note order by day, id) a from sales) p) q";
/* A string that the plan of the rows makes. */
static const char made_strings[] =
    "select id, max(note) over (order by id) from (select id, t.note from sales cross join (select min(note) "
    "note from sales where id < 900) t where maybe is null) q order by id";
/* Of these a GPU adds the doubles up. */
static const char *const doubles[] = {
    "select sum(w), avg(w), min(w) from (select lag(part) over (order by number, id) w from sales) q",
    "select sum(w), avg(w) from (select avg(number) over (partition by runs) w from sales) q",
    "select sum(w), sum(w * part) from (select part, percent_rank() over (order by day) w from sales) q",
    "select number, sum(w) from (select number, cume_dist() over (partition by shop order by id) w from "
    "sales) q "
    "group by number order by number",
};
#define COUNT(list) (sizeof(list) / sizeof *(list))

static char *answer_with(struct engine *engine, const char *sql, struct run_timing *timing)
{
    struct sql_statement *statement;
    struct rowset rows;
    size_t used;
    must(sql_prepare(engine, database, sql, strlen(sql), NULL, &statement, &used, error));
    must(sql_run(statement, &rows, timing, error));
    sql_statement_free(statement); /* which the answer does not need */
    char *const text = rowset_csv(&rows);
    rowset_free(&rows);
    return text;
}

static void check_one(struct engine *cpu, struct engine *gpu, const char *sql, bool few)
{
    struct run_timing own = {0}, timing = {0};
    char *const right = answer_with(cpu, sql, &own), *const text = answer_with(gpu, sql, &timing);
    if (strcmp(text, right) != 0)
        fail_msg("%s:\n%s\nshould be\n%s", sql, text, right);
    if (few != (timing.memory_bytes * 2 < own.memory_bytes))
        fail_msg("%s: the host has %llu bytes, with a CPU %llu", sql, (unsigned long long)timing.memory_bytes,
                 (unsigned long long)own.memory_bytes);
    free(text);
    free(right);
}

static void check_same(struct engine *cpu, struct engine *gpu, const char *sql)
{
    struct run_timing timing = {0};
    char *const right = answer_with(cpu, sql, &timing), *const text = answer_with(gpu, sql, &timing);
    if (strcmp(text, right) != 0)
        fail_msg("%s:\n%s\nshould be\n%s", sql, text, right);
    free(text);
    free(right);
}

/* Where all rows are aggregated the host has few, if the GPU computes the functions. */
static void check_orders(struct engine *cpu, struct engine *gpu, bool sorts)
{
    char sql[2048];
    const size_t step =
        getenv("TESSERA_UNDER_SANITIZER") ? 5 : 1; /* a launch takes up to a thousand times as long */
    for (size_t o = 0; o < COUNT(ordered); o++)
        for (size_t q = 0; q < COUNT(beside); q++)
            for (size_t s = step - 1; s < COUNT(sizes); s += step) {
                snprintf(sql, sizeof sql, beside[q], ordered[o], sizes[s]);
                if (q == 0 && sizes[s] == ROWS)
                    check_one(cpu, gpu, sql, sorts);
                else
                    check_same(cpu, gpu, sql);
            }
    for (size_t s = 0; s < COUNT(several); s++)
        check_one(cpu, gpu, several[s], sorts);
    check_same(cpu, gpu, nested);
    check_same(cpu, gpu, made_strings);
}

static void write_question(const char *question, const char *function, char sql[2048])
{
    const char *const place = strstr(question, "%s");
    snprintf(sql, 2048, "%.*s%s%s", (int)(place - question), question, function, place + 2);
}

static void check_answers(const char *device)
{
    const bool sorts = ahead_has("radix_sort", "sm_90"); /* else the build had no CUB */
    struct engine *cpu, *gpu;
    char sql[2048];
    make_database();
    must(engine_open(&(struct engine_options){.device = "cpu", .threads = 2}, &cpu, error));
    must(engine_open(
        &(struct engine_options){.device = device,
                                 .kernel = getenv("TESSERA_LIBCUDA") ? KERNEL_GENERAL : KERNEL_AUTO},
        &gpu, error));
    for (size_t f = 0; f < COUNT(functions); f++)
        for (size_t q = 0; q < COUNT(questions); q++) {
            write_question(questions[q], functions[f].sql, sql);
            check_one(cpu, gpu, sql, functions[f].possible && sorts);
        }
    for (size_t d = 0; d < COUNT(doubles); d++)
        check_one(cpu, gpu, doubles[d], sorts);
    check_orders(cpu, gpu, sorts);
    engine_close(gpu);
    engine_close(cpu);
    database_close(database);
    directory_remove(path);
}

static void windows_are_those_of_the_cpu(void **state)
{
    (void)state;
    check_on_a_gpu(check_answers);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(windows_are_those_of_the_cpu)};
    mallopt(M_PERTURB, 0xa5); /* what was freed is not what it was */
    return cmocka_run_group_tests(tests, NULL, NULL);
}
