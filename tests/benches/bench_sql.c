/*
 * bench_sql.c: compares the SQL of the 13 SSB queries with the hand-written kernels; the two run by turns.
 *
 *     bench_sql DIR [ROUNDS [DEVICE [THREADS [STATEMENTS]]]]
 *
 * It prints medians of the total (dimension predicates, scan, merging), on a CPU also of the scan alone, and
 * the ratio of the totals. The last line has the geometric mean and the greatest ratio.
 * tests/ssb/test_sql_ssb.c compares the answers. This program only compares their row counts, so that no
 * empty answer is timed.
 *
 * With a file of STATEMENTS (scans.sql), one a line, it takes these instead, each a single star, and prints the nanoseconds a row of
 * the fact table and thread: the least and the median of a run.
 */
#include "ssb/benchmark/benchmark.h"
#include "storage/base/clock.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define ROUNDS_MAX 1001

static struct error error;

static void require(enum status status)
{
    if (status == STATUS_OK)
        return;
    fprintf(stderr, "%s\n", error.text);
    exit((int)status);
}

struct medians {
    double total, scan;
};

static uint64_t rows_of(struct sql_statement *statement)
{
    struct rowset rows;
    require(sql_run(statement, &rows, NULL, &error));
    const uint64_t count = rows.rows;
    rowset_free(&rows);
    return count;
}

static void bench_query(struct engine *engine, struct database *database, const struct ssb_query *query,
                        int rounds, struct medians *hand, struct medians *sql)
{
    static double times[4][ROUNDS_MAX];
    struct sql_statement *statements[2];
    size_t used;
    require(
        benchmark_statement(engine, database, query, NULL, false, PLAN_INDEX_OFF, &statements[0], &error));
    require(
        sql_prepare(engine, database, query->sql, strlen(query->sql), NULL, &statements[1], &used, &error));
    const uint64_t by_hand = rows_of(statements[0]), made = rows_of(statements[1]);
    if (by_hand != made || made == 0) {
        fprintf(stderr, "%s: %llu rows by hand, %llu in SQL\n", query->name, (unsigned long long)by_hand,
                (unsigned long long)made);
        exit(STATUS_CHECK_FAILED);
    }
    for (int round = -2; round < rounds; round++)
        for (int which = 0; which < 2; which++) {
            struct run_timing timing;
            require(sql_measure(statements[which], &timing, &error));
            if (round < 0)
                continue;
            times[2 * which][round] = timing.total_ms;
            times[2 * which + 1][round] = timing.scan_ms;
        }
    *hand = (struct medians){clock_median(times[0], (size_t)rounds), clock_median(times[1], (size_t)rounds)};
    *sql = (struct medians){clock_median(times[2], (size_t)rounds), clock_median(times[3], (size_t)rounds)};
    sql_statement_free(statements[0]);
    sql_statement_free(statements[1]);
}

/* The fact table's rows that a thread scans. */
static double rows_a_thread(struct sql_statement *statement, unsigned threads)
{
    const struct plan *plan;
    require(sql_plan(statement, &plan, &error));
    return (double)plan->fact->rows / (threads ? threads : 1);
}

static void bench_statements(struct engine *engine, struct database *database, const char *path, int rounds,
                             unsigned threads)
{
    static double times[ROUNDS_MAX];
    char line[4096];
    FILE *const file = fopen(path, "r");
    if (!file) {
        perror(path);
        exit(STATUS_BAD_INPUT);
    }
    printf("%s; ns a row and thread\n%9s %9s\n", engine_device_text(engine), "least", "median");
    while (fgets(line, sizeof line, file)) {
        struct sql_statement *statement;
        size_t used;
        double least = 0;
        require(sql_prepare(engine, database, line, strlen(line), NULL, &statement, &used, &error));
        (void)rows_of(statement);
        const double unit = 1e6 / rows_a_thread(statement, threads);
        for (int round = 0; round < rounds; round++) {
            struct run_timing timing;
            require(sql_measure(statement, &timing, &error));
            times[round] = timing.total_ms * unit;
            least = round == 0 || times[round] < least ? times[round] : least;
        }
        printf("%9.3f %9.3f  %s", least, clock_median(times, (size_t)rounds), line);
        fflush(stdout);
        sql_statement_free(statement);
    }
    fclose(file);
}

int main(int argc, char **argv)
{
    struct database *database;
    struct engine *engine;
    const int rounds = argc > 2 ? atoi(argv[2]) : 51;
    double log_sum = 0, worst = 0;
    if (argc < 2 || argc > 6 || rounds < 1 || rounds > ROUNDS_MAX) {
        fprintf(stderr, "usage: bench_sql DIR [ROUNDS [DEVICE [THREADS [STATEMENTS]]]]\n");
        return STATUS_BAD_INPUT;
    }
    require(database_open(argv[1], &database, &error));
    require(engine_open(&(struct engine_options){.device = argc > 3 ? argv[3] : "cpu",
                                                 .threads = argc > 4 ? (unsigned)atoi(argv[4]) : 0},
                        &engine, &error));
    if (argc > 5) {
        bench_statements(engine, database, argv[5], rounds, (unsigned)atoi(argv[4]));
        engine_close(engine);
        database_close(database);
        return 0;
    }
    printf("%s; ms, medians of %d\n%-6s %9s %9s %6s %12s %9s\n", engine_device_text(engine), rounds, "query",
           "by hand", "SQL", "ratio", "scan by hand", "SQL");
    for (uint32_t q = 0; q < SSB_QUERIES; q++) {
        struct medians hand, sql;
        bench_query(engine, database, ssb_queries[q], rounds, &hand, &sql);
        const double ratio = sql.total / hand.total;
        printf("%-6s %9.3f %9.3f %6.2f %12.3f %9.3f\n", ssb_queries[q]->name, hand.total, sql.total, ratio,
               hand.scan, sql.scan);
        fflush(stdout);
        log_sum += __builtin_log(ratio);
        worst = ratio > worst ? ratio : worst;
    }
    printf("ratio: geometric mean %.2f, greatest %.2f\n", __builtin_exp(log_sum / SSB_QUERIES), worst);
    engine_close(engine);
    database_close(database);
    return 0;
}
