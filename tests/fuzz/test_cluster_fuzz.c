/*
 * test_cluster_fuzz.c: answers of 1 to 4 processes to random queries (fuzz_query.h) over random star schemas
 * (fuzz_star.h) equal those of one process byte for byte, also in the order of rows that ORDER BY leaves open. The fact
 * tables have many small segments (tests/support/split_plan.h), every other result goes to the owners of its groups,
 * however small it is, and messages come in pieces.
 *
 * `test_cluster_fuzz QUERIES SEED` does more of the same; a failure prints the seed that makes it again. The test starts
 * itself under mpirun, with the word `process` before these.
 */
#define _GNU_SOURCE
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>

#include "engine/run/cluster/cluster_internal.h"
#include "tests/fuzz/fuzz_query.h"
#include "tests/support/sql/star_plan.h"
#include "tests/support/mpirun.h"
#include "tests/support/split_plan.h"
#include "tests/support/sql/sql_answer.h"

#define QUERIES_A_STAR 40u
#define PROCESSES_MAX  4u

static const char *program;
static uint64_t seed, queries;
static struct cluster *cluster;

/* The statement's plan; NULL if it was refused. */
static struct plan *plan_of(struct database *database, const char *text, const struct sql_parameter *values,
                            uint32_t count)
{
    struct plan *plan;
    const enum status status =
        star_plan_with(database, text, values, count, &(struct sql_options){.codec = "plain", .threads = 1},
                       &plan, NULL, NULL);
    if (status != STATUS_OK)
        return NULL;
    return plan;
}

/* The answer as text, which the caller frees; NULL if it was refused. Of several processes the first has it. */
static char *answer_of(struct engine *engine, const struct plan *plan)
{
    static const struct device_request all = {.segments = NULL};
    struct prepared_plan *prepared = NULL;
    struct partial partial = {0};
    struct run_timing timing = {0};
    struct rowset rows = {0};
    struct error why = {0};
    char *text = NULL;
    enum status status = engine_prepare(engine, plan, false, &prepared, &why);
    if (status == STATUS_OK)
        status = engine_run(prepared, &all, &partial, &timing, &why);
    if (status == STATUS_OK)
        status = answer_rows(plan, &partial, 2, &rows, &why);
    if (status == STATUS_OK)
        text = rowset_csv(&rows);
    else if (!documented_refusal(why.text))
        fail_msg("%s: %s", ours, why.text);
    rowset_free(&rows);
    partial_free(&partial);
    engine_release(prepared);
    return text;
}

/* Half of the queries lose their ORDER BY and what comes after it. */
static const char *text_of(const struct query *query, struct sql_parameter *values, uint32_t *count)
{
    const char *text = write_query(query, true);
    const char *const order = chance(50) ? strstr(text, " ORDER BY ") : NULL;
    return place_constants(order ? form("%.*s", (int)(order - text), text) : text, query->parameters, values,
                           count);
}

/* 1 if the answers are alike, 0 if the query was refused. */
static unsigned try_processes(struct engine *alone, struct engine *together, struct database *database,
                              const struct query *query)
{
    static struct sql_parameter values[CONSTANTS_MAX];
    static struct split_plan split;
    uint32_t count;
    ours = text_of(query, values, &count);
    cluster->small_bytes = chance(50) ? CLUSTER_SMALL_BYTES : 0;
    cluster->piece_bytes = chance(50) ? CLUSTER_PIECE_BYTES : 1 + below(5000);
    const uint32_t tiles = 1 + below(2);
    struct plan *const plan = plan_of(database, ours, values, count);
    if (!plan)
        return 0;
    char *const expected = answer_of(alone, plan);
    split_make(&split, plan, tiles);
    char *const got = answer_of(together, plan);
    split_undo(&split);
    plan_free(plan);
    const bool first = cluster_rank(cluster) == 0;
    if (first && (!expected != !got || (expected && strcmp(expected, got) != 0)))
        fail_msg("%s\nanswers  %s\nand not  %s", ours, got ? got : "nothing",
                 expected ? expected : "nothing");
    const unsigned alike = expected != NULL;
    free(expected);
    free(got);
    return alike;
}

static void processes_answer_as_one(void **state)
{
    static struct query query;
    struct engine *alone, *together;
    uint64_t compared = 0, stars = 0;
    (void)state;
    must(cluster_open("mpi", &cluster, error));
    must(engine_open(&(struct engine_options){.device = "cpu", .threads = 2}, &alone, error));
    must(engine_open(&(struct engine_options){.device = "cpu", .threads = 2, .cluster = cluster}, &together,
                     error));
    for (uint64_t done = 0; done < queries; stars++) {
        char path[PATH_BYTES];
        struct database *database;
        random_state = seed + 0x9e3779b97f4a7c15ull * (stars + 1);
        sqlite3_close(make_star(path, &database));
        for (uint32_t q = 0; q < QUERIES_A_STAR; q++, done++) {
            make_query(&query);
            compared += try_processes(alone, together, database, &query);
        }
        database_close(database);
        directory_remove(path);
    }
    engine_close(alone);
    engine_close(together);
    if (cluster_rank(cluster) == 0)
        print_message("seed %llu, %u processes: %llu of %llu queries alike, the others refused\n",
                      (unsigned long long)seed, cluster_size(cluster), (unsigned long long)compared,
                      (unsigned long long)stars * QUERIES_A_STAR);
    must(cluster_agree(cluster, CLUSTER_LEAVE, STATUS_OK, error));
    cluster_close(cluster);
    assert_true(2 * compared > queries);
}

static void random_queries(void **state)
{
    (void)state;
    need_mpirun();
    for (uint32_t processes = 1; processes <= PROCESSES_MAX; processes++) {
        char command[1024];
        snprintf(command, sizeof command, MPIRUN "-n %u %s process %llu %llu", processes, program,
                 (unsigned long long)queries, (unsigned long long)seed + processes);
        fflush(NULL);
        assert_int_equal(system(command), 0);
    }
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(random_queries)},
                            one[] = {cmocka_unit_test(processes_answer_as_one)};
    const bool process = argc > 1 && strcmp(argv[1], "process") == 0;
    program = argv[0];
    queries = argc > 1 + process ? strtoull(argv[1 + process], NULL, 10) : 160;
    seed = argc > 2 + process ? strtoull(argv[2 + process], NULL, 10) : 20261122;
    fuzz_device = "cpu";
    fuzz_hierarchies = 60;
    if (process)
        cmocka_set_message_output(CM_OUTPUT_STDOUT);
    return process ? cmocka_run_group_tests(one, NULL, NULL) : cmocka_run_group_tests(tests, NULL, NULL);
}
