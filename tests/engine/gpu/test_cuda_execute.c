/*
 * test_cuda_execute.c: statements run in steps (plan all, compile all at once, run one by one) answer as
 * those run in one, and running compiles nothing that was compiled ahead, even where no kernel is kept
 * on disk. On the CPU always; on a GPU where there is one (TESSERA_REQUIRE_GPU insists).
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>

#include "ssb/benchmark/answer.h"
#include "ssb/benchmark/benchmark.h"
#include "ssb/data/load.h"
#include "ssb/queries/queries.h"
#include "tests/support/gpu/on_a_gpu.h"

#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

/* All tests run in it. */
static struct execution execution;

static const struct ssb_query *const queries[] = {&q11, &q21, &q43};
static const char *const codecs[] = {"plain", "auto"};
enum { QUERIES = 3, CODEC_CHOICES = 2, CELLS = QUERIES * CODEC_CHOICES };

static char directory[256];
static struct database *database;

static void must(enum status status, const struct error *error)
{
    if (status != STATUS_OK)
        fail_msg("%s", error->text);
}

static int load(void **state)
{
    const char *temporary = getenv("TMPDIR");
    char path[300];
    struct error error = {0};
    (void)state;
    snprintf(directory, sizeof directory, "%s/test_cuda_execute.XXXXXX", temporary ? temporary : "/tmp");
    if (!mkdtemp(directory))
        return -1;
    snprintf(path, sizeof path, "%s/db", directory);
    struct ssb_load_options options = {.data = {.scale_factor = 0.01}, .directory = path};
    if (ssb_load(&options, NULL, &error) == STATUS_OK && database_open(path, &database, &error) == STATUS_OK)
        return 0;
    print_error("%s\n", error.text);
    return -1;
}

static int unload(void **state)
{
    char command[300];
    (void)state;
    database_close(database);
    snprintf(command, sizeof command, "rm -rf '%s'", directory);
    return system(command);
}

/* A new, empty place for kernels. */
static void use_cache(const char *name, char path[300])
{
    snprintf(path, 300, "%s/%s", directory, name);
    assert_int_equal(setenv("TESSERA_KERNEL_CACHE", path, 1), 0);
}

static void hash_of(struct sql_statement *statement, char hash[17], struct run_timing *timing)
{
    struct rowset answer;
    struct error error = {0};
    must(sql_run(statement, &answer, timing, &error), &error);
    must(answer_hash(&answer, hash, &error), &error);
    rowset_free(&answer);
}

static struct sql_statement *statement_of(struct engine *engine, int cell)
{
    struct sql_statement *statement;
    struct error error = {0};
    must(benchmark_statement(engine, database, queries[cell / CODEC_CHOICES], codecs[cell % CODEC_CHOICES],
                             false, PLAN_INDEX_OFF, &statement, &error),
         &error);
    return statement;
}

/* Counts the calls, which come from all threads. */
static void count_calls(struct progress *progress, const char *what, const char *unit, uint64_t done,
                        uint64_t total)
{
    uint64_t *calls = progress->context;
    assert_string_equal(what, "compiling");
    assert_string_equal(unit, "kernels");
    assert_in_range(done, 1, total);
    __atomic_fetch_add(calls, 1, __ATOMIC_RELAXED);
}

static void steps_answer_as_one(const char *device)
{
    struct engine *engine;
    struct sql_statement *statements[CELLS];
    struct error error = {0};
    char cache[300], expected[17], got[17];
    uint64_t calls = 0;
    struct progress progress = {.report = count_calls, .context = &calls};
    must(engine_open(&(struct engine_options){.device = device}, &engine, &error), &error);
    setenv("TESSERA_KERNEL_CACHE", "", 1);
    for (int i = 0; i < CELLS; i++)
        statements[i] = statement_of(engine, i);
    must(sql_compile(statements, CELLS, true, &progress, &error), &error);
    assert_int_equal(calls, engine_is_cuda(engine) ? 2 * CELLS : 0);
    use_cache("ahead", cache); /* where kernels that are compiled from here on would lie */
    for (int i = 0; i < CELLS; i++) {
        struct run_timing timing;
        struct scan_counts counts = {0};
        const struct plan *plan;
        uint64_t bytes = 0;
        hash_of(statements[i], got, &timing);
        assert_int_equal(timing.compile_ms > 0, engine_is_cuda(engine));
        must(sql_count(statements[i], false, &counts, &error), &error);
        must(sql_plan(statements[i], &plan, &error), &error);
        for (uint32_t c = 0; c < plan->column_count; c++)
            bytes += counts.bytes[c];
        scan_counts_free(&counts);
        assert_true(bytes > 0);
        assert_int_not_equal(access(cache, F_OK), 0);
        sql_statement_free(statements[i]);

        use_cache("alone", cache);
        statements[i] = statement_of(engine, i);
        hash_of(statements[i], expected, &timing);
        assert_string_equal(got, expected);
        sql_statement_free(statements[i]);
        use_cache("ahead", cache);
    }
    engine_close(engine);
}

static void on_the_cpu(void **state)
{
    (void)state;
    steps_answer_as_one("cpu");
}

static void on_a_gpu(void **state)
{
    (void)state;
    check_on_a_gpu(steps_answer_as_one);
}

/* Statements that never run, and compiling that is stopped, leave nothing behind (as the sanitizers see). */
static void what_is_planned_need_not_run(void **state)
{
    struct engine *engine;
    struct sql_statement *statements[CELLS];
    struct error error = {0};
    (void)state;
    must(engine_open(&(struct engine_options){.device = "auto"}, &engine, &error), &error);
    for (int i = 0; i < CELLS; i++)
        statements[i] = statement_of(engine, i);
    must(sql_compile(statements, 0, true, NULL, &error), &error);
    for (int i = 0; i < CELLS; i++) {
        const struct plan *plan;
        must(sql_plan(statements[i], &plan, &error), &error);
    }
    execution_stop(&execution);
    assert_int_equal(sql_compile(statements, CELLS, true, NULL, &error),
                     engine_is_cuda(engine) ? STATUS_INTERRUPTED : STATUS_OK);
    execution_resume(&execution);
    for (int i = 0; i < CELLS; i++)
        sql_statement_free(statements[i]);
    engine_close(engine);
}

int main(void)
{
    execution_enter(&execution);
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(on_the_cpu),
        cmocka_unit_test(on_a_gpu),
        cmocka_unit_test(what_is_planned_need_not_run),
    };
    return cmocka_run_group_tests(tests, load, unload);
}
