/*
 * test_cuda_together.c: prepared statements that run at the same time on one GPU, each on a stream of its own: their answers
 * are those that they give alone, with room for all columns, for some and for none. And what statements took from the
 * device's pool is given back. Needs a GPU; without one it is skipped, unless TESSERA_REQUIRE_GPU is set.
 */
#define _GNU_SOURCE
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>

#include "engine/gpu/device.h"
#include "engine/gpu/memory/columns.h"
#include "ssb/queries/queries.h"
#include "storage/base/clock.h"
#include "tests/support/not_run.h"
#include "tests/support/sql/sql_answer.h"
#include "tests/support/ssb/ssb_database.h"
#include "tests/support/gpu/gpu_database.h"

#include <pthread.h>
#include <stdlib.h>

#define THREADS 6

static int rounds = 30;

/* compute-sanitizer takes a hundred times as long. */
static int open_gpu(void **state)
{
    (void)state;
    const bool few = getenv("TESSERA_UNDER_SANITIZER");
    rounds = few ? 3 : rounds;
    return gpu_database_open(few ? 0.2 : 4, NULL);
}

/* Beside the 13: groups in hash tables that grow, rows in an order, sets, and columns that no query of the 13 reads. */
static const char *const others[] = {
    "select lo_orderkey, count(*), sum(lo_revenue) from lineorder group by lo_orderkey order by 3 desc, 1 "
    "limit 10",
    "select lo_orderkey, lo_extendedprice from lineorder where lo_discount = 5 order by lo_extendedprice "
    "desc, "
    "lo_orderkey limit 10",
    "select lo_shipmode, count(distinct lo_custkey), count(distinct lo_tax) from lineorder group by "
    "lo_shipmode "
    "order by lo_shipmode",
    "select sum(lo_ordtotalprice), min(lo_supplycost), max(lo_tax) from lineorder where lo_linenumber = 2",
};
#define STATEMENTS (SSB_QUERIES + sizeof others / sizeof *others)

static const char *text_of(size_t s)
{
    return s < SSB_QUERIES ? ssb_queries[s]->sql : others[s - SSB_QUERIES];
}

struct worker {
    struct sql_statement **statements;
    char **expected;
    size_t first;
    uint64_t runs;
    char wrong[256];
};

/* Each thread has every THREADS-th statement. */
static void *work(void *argument)
{
    struct worker *worker = argument;
    for (int round = 0; round < rounds && !worker->wrong[0]; round++)
        for (size_t s = worker->first; s < STATEMENTS; s += THREADS) {
            struct rowset rows;
            struct error why = {0};
            char *text = NULL;
            size_t bytes;
            if (sql_run(worker->statements[s], &rows, NULL, &why) != STATUS_OK) {
                snprintf(worker->wrong, sizeof worker->wrong, "%.60s: %.180s", text_of(s), why.text);
                return NULL;
            }
            FILE *out = open_memstream(&text, &bytes);
            if (rowset_print(&rows, ROWSET_CSV, 1, out, &why) != STATUS_OK)
                snprintf(worker->wrong, sizeof worker->wrong, "%.200s", why.text);
            fclose(out);
            if (strcmp(text, worker->expected[s]) != 0)
                snprintf(worker->wrong, sizeof worker->wrong, "%.80s: another answer", text_of(s));
            free(text);
            rowset_free(&rows);
            worker->runs++;
        }
    return NULL;
}

static void run_together(const char *memory, char **expected)
{
    struct engine *own;
    struct sql_statement *statements[STATEMENTS];
    struct worker workers[THREADS];
    pthread_t threads[THREADS];
    uint64_t runs = 0;
    size_t used;
    must(engine_open(&(struct engine_options){.device = "cuda", .threads = 2, .gpu_memory = memory}, &own,
                     error));
    for (size_t s = 0; s < STATEMENTS; s++) {
        const struct plan *plan;
        must(sql_prepare(own, database, text_of(s), strlen(text_of(s)), NULL, &statements[s], &used, error));
        must(sql_plan(statements[s], &plan, error));
    }
    const double begin = clock_ms();
    for (size_t t = 0; t < THREADS; t++) {
        workers[t] = (struct worker){.statements = statements, .expected = expected, .first = t};
        assert_int_equal(pthread_create(&threads[t], NULL, work, &workers[t]), 0);
    }
    for (size_t t = 0; t < THREADS; t++) {
        pthread_join(threads[t], NULL);
        runs += workers[t].runs;
    }
    const double ms = clock_ms() - begin;
    for (size_t t = 0; t < THREADS; t++)
        if (workers[t].wrong[0])
            fail_msg("%s with %s of memory", workers[t].wrong, memory ? memory : "all");
    print_message("%s of memory: %llu runs in %.0f ms\n", memory ? memory : "all", (unsigned long long)runs,
                  ms);
    if (memory)
        assert_true(cuda_memory_used(gpu_device_cuda(engine_device(own))) <= STATEMENTS_LEAST);
    for (size_t s = 0; s < STATEMENTS; s++)
        sql_statement_free(statements[s]);
    engine_close(own);
}

static void statements_run_together(void **state)
{
    static const char *const memories[] = {NULL, "100M", "0"};
    char *expected[STATEMENTS];
    (void)state;
    need_gpu(engine);
    for (size_t s = 0; s < STATEMENTS; s++)
        expected[s] = sql_answer(engine, database, text_of(s));
    for (size_t m = 0; m < sizeof memories / sizeof *memories; m++)
        run_together(memories[m], expected);
    for (size_t s = 0; s < STATEMENTS; s++)
        free(expected[s]);
}

static void what_statements_took_is_given_back(void **state)
{
    (void)state;
    need_gpu(engine);
    struct cuda *const cuda = gpu_device_cuda(engine_device(engine));
    for (size_t s = 0; s < STATEMENTS; s++) {
        char *const first = sql_answer(engine, database, text_of(s));
        const uint64_t used = cuda_memory_used(cuda);
        for (int i = 0; i < 3; i++) {
            char *const again = sql_answer(engine, database, text_of(s));
            assert_string_equal(again, first);
            assert_int_equal(cuda_memory_used(cuda), used);
            free(again);
        }
        free(first);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(statements_run_together),
        cmocka_unit_test(what_statements_took_is_given_back),
    };
    return cmocka_run_group_tests(tests, open_gpu, gpu_database_close);
}
