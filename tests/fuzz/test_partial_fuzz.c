/*
 * test_partial_fuzz.c: answers to random queries (fuzz_query.h) over random star schemas (fuzz_star.h), put together from
 * runs over some segments each (tests/support/split_plan.h), or by several devices, equal the answers of runs over all.
 * Every column of an answer is ordered by, so answers are compared as text. On the devices that TESSERA_TEST_DEVICE names;
 * the CPU as two or three devices, too.
 *
 * `test_partial_fuzz QUERIES SEED` does more of the same; a failure prints the seed that makes it again.
 */
#define _GNU_SOURCE
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>

#include "tests/fuzz/fuzz_query.h"
#include "tests/support/sql/star_plan.h"
#include "tests/support/split_plan.h"
#include "tests/support/sql/sql_answer.h"

#define QUERIES_A_STAR 40u

static uint64_t seed, queries;

static const struct device_operations *operations;
static struct device *device;
static struct engine *several; /* devices */

/* The merged answer as text; NULL if the statement was refused. */
static char *merged(struct database *database, const struct query *query)
{
    static struct sql_parameter values[CONSTANTS_MAX];
    static struct split_plan split;
    struct plan *plan;
    struct rowset rows = {0};
    uint32_t count;
    char *text = NULL;
    ours = place_constants(write_query(query, true), query->parameters, values, &count);
    const struct sql_options options = {.codec = "plain", .threads = 1, .on_gpu = operations == &cuda_device};
    enum status status = star_plan_with(database, ours, values, count, &options, &plan, NULL, NULL);
    if (status == STATUS_OK) {
        struct error why = {0};
        split_make(&split, plan, 1 + below(2));
        status = chance(50) ? split_answer(&split, operations, device, 1 + below(4), &rows, &why)
                            : split_answer_by(&split, several, &rows, &why);
        if (status == STATUS_OK)
            text = rowset_csv(&rows);
        else if (!documented_refusal(why.text))
            fail_msg("%s: %s", ours, why.text);
        rowset_free(&rows);
        split_undo(&split);
        plan_free(plan);
    }
    return text;
}

static void parts_answer_as_the_whole(void **state)
{
    static struct query query;
    uint64_t compared = 0, stars = 0;
    (void)state;
    for (uint64_t done = 0; done < queries; stars++) {
        char path[PATH_BYTES];
        struct database *database;
        struct engine *engine;
        random_state = seed + 0x9e3779b97f4a7c15ull * (stars + 1);
        sqlite3_close(make_star(path, &database));
        must(engine_open(&(struct engine_options){.device = fuzz_device, .threads = 2}, &engine, error));
        operations = engine_is_cuda(engine) ? &cuda_device : &cpu_device;
        must(engine_open(&(struct engine_options){.device = engine_is_cuda(engine) ? "cuda:all"
                                                            : chance(50)           ? "cpu,cpu"
                                                                                   : "cpu,cpu,cpu",
                                                  .threads = 4},
                         &several, error));
        must(operations->open(&(struct device_options){.threads = 2,
                                                       .memory = chance(50) ? UINT64_MAX : below(1u << 18),
                                                       .late = (enum late_transfer)below(3)},
                              &device, error));
        for (uint32_t q = 0; q < QUERIES_A_STAR; q++, done++) {
            struct rowset whole = {0};
            struct error why = {0};
            make_query(&query);
            const enum status status = answer(engine, database, &query, "plain", &whole, &why);
            char *const got = status == STATUS_OK ? merged(database, &query) : NULL;
            if (status == STATUS_OK && got) {
                char *const expected = rowset_csv(&whole);
                if (strcmp(got, expected) != 0)
                    fail_msg("seed %llu, star %llu, query %u: %s\nanswers  %s\nand not  %s",
                             (unsigned long long)seed, (unsigned long long)stars, q, ours, got, expected);
                compared++;
                free(expected);
            }
            free(got);
            rowset_free(&whole);
        }
        operations->close(device);
        engine_close(several);
        engine_close(engine);
        database_close(database);
        directory_remove(path);
    }
    print_message("seed %llu: %llu stars, %llu of %llu queries alike, the others refused\n",
                  (unsigned long long)seed, (unsigned long long)stars, (unsigned long long)compared,
                  (unsigned long long)queries);
    assert_true(2 * compared > queries);
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(parts_answer_as_the_whole)};
    queries = argc > 1 ? strtoull(argv[1], NULL, 10) : 1200;
    seed = argc > 2 ? strtoull(argv[2], NULL, 10) : 20261121;
    fuzz_device = test_device();
    fuzz_hierarchies = 60;
    return cmocka_run_group_tests(tests, NULL, NULL);
}
