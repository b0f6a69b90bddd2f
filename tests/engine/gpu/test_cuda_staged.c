/*
 * test_cuda_staged.c: columns that a GPU decodes before the scan (engine/gpu/stage.h) are answered as by the CPU: each codec that
 * is decoded so, in a statement of its own kernel, and in one that the general kernel answers until that is compiled. On a GPU, or
 * on the emulated one of tests/emulator, whose compiler is g++: TESSERA_LIBCUDA and TESSERA_NVRTC name them, as ctest does.
 * Skipped without either, unless TESSERA_REQUIRE_GPU is set.
 */
#define _GNU_SOURCE
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>

#include "engine/library/tessera.h"
#include "tests/support/gpu/on_a_gpu.h"
#include "tests/support/sql/sql_answer.h"

#include <stdlib.h>
#include <unistd.h>

#define ROWS 2500u

static const char schema[] =
    "CREATE TABLE facts (id INTEGER, flat INTEGER, runs INTEGER, mixed INTEGER, steps INTEGER,"
    " late INTEGER, maybe INTEGER, big BIGINT, kind INTEGER);";
static const char codecs[] =
    "plain,flat=deflate,runs=rle,mixed=planner,steps=orc-rle1,late=orc-rle2,maybe=for-bp,"
    "big=delta-for-bp,kind=rle-for-bp";

static struct database *database;
static char path[PATH_BYTES];

static void write_facts(FILE *out)
{
    uint32_t seed = 20261130;
    for (uint32_t i = 0; i < ROWS; i++) {
        seed = seed * 1664525u + 1013904223u;
        fprintf(out, "%u,%u,%u,%u,%d,%u,", i, seed >> 24, i / 100, i % 7 ? seed >> 20 : 5,
                (int)(i / 9) * 3 - 400, i % 50 ? i : seed >> 4);
        if (i % 3)
            fprintf(out, "%u", seed >> 22);
        fprintf(out, ",%lld,%u\n", (long long)i * i * 70000007ll - 1000000000000ll, i / 64 % 5);
    }
}

static void make_database(void)
{
    static char file[PATH_BYTES + 16];
    static const char *const name = "facts";
    const char *const files[] = {file};
    uint64_t loaded;
    struct tessera_error failed;
    directory_make(path);
    snprintf(file, sizeof file, "%.*s/facts.csv", (int)(strlen(path) - strlen("/db")), path);
    FILE *const out = fopen(file, "w");
    assert_non_null(out);
    write_facts(out);
    fclose(out);
    if (tessera_load(path, schema, &name, files, 1, TESSERA_LOAD_NEW, &loaded, &failed))
        fail_msg("%s", failed.text);
    must(database_open(path, &database, error));
}

static struct sql_statement *prepare(struct engine *engine, const char *sql)
{
    struct sql_statement *statement;
    size_t used;
    must(sql_prepare(engine, database, sql, strlen(sql), codecs, &statement, &used, error));
    return statement;
}

/* Runs the statement until it has its own kernel, and once with that; every answer must be the CPU's. Returns which kernel the
 * first run had. */
static enum kernel_choice check_until_specialised(struct engine *cpu, struct engine *gpu, const char *sql)
{
    struct run_timing timing = {0};
    enum kernel_choice first = KERNEL_AUTO;
    struct sql_statement *const on_cpu = prepare(cpu, sql), *const on_gpu = prepare(gpu, sql);
    char *const right = statement_csv(on_cpu, NULL);
    for (uint32_t runs = 0; timing.kernel != KERNEL_SPECIALISED; runs++) {
        char *const text = statement_csv(on_gpu, &timing);
        if (strcmp(text, right) != 0)
            fail_msg("%s, kernel %d:\n%s\nshould be\n%s", sql, (int)timing.kernel, text, right);
        free(text);
        first = first == KERNEL_AUTO ? timing.kernel : first;
        assert_true(runs < 3000);
        usleep(timing.kernel == KERNEL_GENERAL ? 20000 : 0);
    }
    free(right);
    sql_statement_free(on_cpu);
    sql_statement_free(on_gpu);
    return first;
}

static void check_answers(const char *device)
{
    static const char
        all[] = "select kind, count(*), sum(flat), max(runs), sum(mixed), min(steps), sum(late), "
                "count(maybe), sum(maybe), "
                "sum(big) from facts where flat < 200 and steps > -390 group by kind order by kind",
        rows[] = "select late, big, mixed from facts order by late desc, big limit 12",
        some[] =
            "select steps, maybe from facts where id between 100 and 1900 order by steps, maybe, id limit 9";
    struct engine *cpu, *gpu;
    make_database();
    setenv("TESSERA_KERNEL_CACHE", "", 1); /* so that the general kernel is first */
    must(engine_open(&(struct engine_options){.device = "cpu", .threads = 1}, &cpu, error));
    must(engine_open(&(struct engine_options){.device = device}, &gpu, error));
    assert_int_equal(check_until_specialised(cpu, gpu, all),
                     KERNEL_SPECIALISED); /* its conditions need what is decoded */
    assert_int_equal(check_until_specialised(cpu, gpu, rows), KERNEL_GENERAL);
    assert_int_equal(check_until_specialised(cpu, gpu, some), KERNEL_GENERAL);
    engine_close(gpu);
    engine_close(cpu);
    database_close(database);
    directory_remove(path);
}

static void staged_columns_are_answered_as_by_the_cpu(void **state)
{
    (void)state;
    check_on_a_gpu(check_answers);
}

int main(void)
{
    setenv("CUDA_CACHE_DISABLE", "1", 1); /* the driver's own cache of what NVRTC compiles */
    const struct CMUnitTest tests[] = {cmocka_unit_test(staged_columns_are_answered_as_by_the_cpu)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
