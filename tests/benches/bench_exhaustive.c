/*
 * bench_exhaustive.c: tests whether `auto` chooses well. It tries every codec on every fact column that the
 * 13 queries read, while the other columns stay as `auto` has them.
 *
 *     bench_exhaustive --db DIR [--device cpu|cuda] [--codecs NAME,...] [--rounds N]
 *
 * For each column and codec it computes the geometric mean of the times of the queries that read the column
 * (cpu: one thread, least of the rounds; cuda: medians). Codecs take turns within a query, and every answer
 * is compared with auto's. It prints all times, then for each column auto's choice and the best codec with
 * their ratio. The exit code is 1 if a ratio is over 1.05 or an answer is wrong.
 *
 * TESSERA_COSTS names the cost table by which `auto` chooses. A database keeps auto's choices, so each table
 * needs a database that was loaded with it. Missing encodings are encoded and kept: all codecs at scale
 * factor 20 take 20 GB.
 */
#include "ssb/benchmark/answer.h"
#include "ssb/benchmark/benchmark.h"
#include "storage/base/clock.h"
#include "storage/codec/codec.h"
#include "storage/database/writer.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define COLUMNS_MAX 16u
#define RATIO_MOST  1.05
#define WARMUPS     2

static struct {
    const char *path, *device;
    int rounds;
    const struct codec *codecs[CODEC_COUNT];
    uint32_t codec_count;
} options = {.device = "cpu", .rounds = 21};

static void require(enum status status, const struct error *error)
{
    if (status == STATUS_OK)
        return;
    fprintf(stderr, "bench_exhaustive: %s\n", error->text);
    exit((int)status);
}

static bool reads(const struct ssb_query *query, const char *column)
{
    return strstr(query->sql, column) != NULL;
}

/* Times one query with the column in each codec, in milliseconds: ms[0] is auto, ms[1 .. codec_count] are the
 * codecs. */
static void measure(struct engine *engine, struct database *database, const struct ssb_query *query,
                    const char *column, double *ms)
{
    const uint32_t count = options.codec_count + 1;
    struct sql_statement *statements[CODEC_COUNT + 1];
    struct rowset expected = {0};
    struct error error = {0};
    double *times = calloc((size_t)count * (size_t)options.rounds, sizeof *times);
    require(times ? STATUS_OK : error_out_of_memory(&error, count, "times"), &error);
    for (uint32_t c = 0; c < count; c++) {
        char spec[128];
        snprintf(spec, sizeof spec, "auto,%s=%s", column, c ? options.codecs[c - 1]->name : "auto");
        require(
            benchmark_statement(engine, database, query, spec, false, PLAN_INDEX_OFF, &statements[c], &error),
            &error);
    }
    require(sql_compile(statements, count, false, NULL, &error), &error);
    for (uint32_t c = 0; c < count; c++) {
        struct rowset rows;
        require(sql_run(statements[c], c ? &rows : &expected, NULL, &error), &error);
        if (c == 0)
            continue;
        require(answer_compare(query->name, "auto", &expected, &rows, &error), &error);
        rowset_free(&rows);
    }
    rowset_free(&expected);
    for (int round = -WARMUPS; round < options.rounds; round++)
        for (uint32_t c = 0; c < count; c++) {
            struct run_timing timing;
            require(sql_measure(statements[c], &timing, &error), &error);
            if (round >= 0)
                times[c * (uint32_t)options.rounds + (uint32_t)round] = timing.total_ms;
        }
    for (uint32_t c = 0; c < count; c++) {
        double *const own = times + c * (uint32_t)options.rounds;
        const double median = clock_median(own, (size_t)options.rounds);
        ms[c] = engine_is_cuda(engine) ? median : own[0];
        sql_statement_free(statements[c]);
    }
    free(times);
}

/* The codec that `auto` has chosen for the column; its encoding exists already. */
static uint32_t choice_of(struct database *database, const char *name)
{
    const struct table *table;
    const struct column *column;
    struct codec_choice choice;
    struct error error = {0};
    enum codec_id codec;
    require(database_table(database, "lineorder", &table, &error), &error);
    require(table_column(table, name, &column, &error), &error);
    require(codec_choice_parse("auto", &choice, &error), &error);
    require(database_encode(database, column, &choice, 0, &codec, &error), &error);
    for (uint32_t c = 0; c < options.codec_count; c++)
        if (options.codecs[c]->id == codec)
            return c + 1;
    return 0;
}

static bool options_read(int argc, char **argv)
{
    char *names = NULL;
    for (int i = 1; i + 1 < argc; i += 2) {
        if (strcmp(argv[i], "--db") == 0)
            options.path = argv[i + 1];
        else if (strcmp(argv[i], "--device") == 0)
            options.device = argv[i + 1];
        else if (strcmp(argv[i], "--codecs") == 0)
            names = argv[i + 1];
        else if (strcmp(argv[i], "--rounds") == 0)
            options.rounds = atoi(argv[i + 1]);
        else
            return false;
    }
    for (uint32_t id = 1; !names && id < CODEC_COUNT; id++)
        if (!codec_needs_levels(codec_by_id(id)))
            options.codecs[options.codec_count++] = codec_by_id(id);
    for (char *name = names ? strtok(names, ",") : NULL; name; name = strtok(NULL, ",")) {
        if (options.codec_count == CODEC_COUNT || !codec_by_name(name))
            return false;
        options.codecs[options.codec_count++] = codec_by_name(name);
    }
    return argc % 2 == 1 && options.path && options.rounds > 0;
}

int main(int argc, char **argv)
{
    struct database *database;
    struct engine *engine;
    struct error error = {0};
    const char *columns[COLUMNS_MAX];
    double mean[COLUMNS_MAX][CODEC_COUNT + 1] = {{0}};
    uint32_t column_count = 0;
    if (!options_read(argc, argv)) {
        fprintf(stderr,
                "usage: bench_exhaustive --db DIR [--device cpu|cuda] [--codecs NAME,...] [--rounds N]\n");
        return 2;
    }
    require(database_open(options.path, &database, &error), &error);
    require(engine_open(&(struct engine_options){.device = options.device,
                                                 .threads = strcmp(options.device, "cpu") == 0 ? 1 : 0},
                        &engine, &error),
            &error);
    for (uint32_t i = 0; ssb_names.columns[i]; i++)
        for (uint32_t q = 0; q < SSB_QUERIES; q++)
            if (reads(ssb_queries[q], ssb_names.columns[i]) && column_count < COLUMNS_MAX) {
                columns[column_count++] = ssb_names.columns[i];
                break;
            }
    printf("ms on %s, %d rounds\n\n%-18s%-7s%10s", engine_device_text(engine), options.rounds, "column",
           "query", "auto");
    for (uint32_t c = 0; c < options.codec_count; c++)
        printf("%11s", options.codecs[c]->name);
    printf("\n");
    for (uint32_t i = 0; i < column_count; i++) {
        double queries = 0;
        for (uint32_t q = 0; q < SSB_QUERIES; q++) {
            double ms[CODEC_COUNT + 1];
            if (!reads(ssb_queries[q], columns[i]))
                continue;
            measure(engine, database, ssb_queries[q], columns[i], ms);
            printf("%-18s%-7s%10.4f", columns[i], ssb_queries[q]->name, ms[0]);
            for (uint32_t c = 1; c <= options.codec_count; c++)
                printf("%11.4f", ms[c]);
            printf("\n");
            fflush(stdout);
            for (uint32_t c = 0; c <= options.codec_count; c++)
                mean[i][c] += log(ms[c]);
            queries++;
        }
        printf("%-18s%-7s", columns[i], "mean");
        for (uint32_t c = 0; c <= options.codec_count; c++)
            printf(c ? "%11.4f" : "%10.4f", mean[i][c] = exp(mean[i][c] / queries));
        printf("\n");
    }
    printf("\n%-18s%-12s%10s   %-12s%10s%8s\n", "column", "auto", "ms", "best", "ms", "ratio");
    int bad = 0;
    for (uint32_t i = 0; i < column_count; i++) {
        const uint32_t chosen = choice_of(database, columns[i]);
        uint32_t best = 1;
        for (uint32_t c = 2; c <= options.codec_count; c++)
            best = mean[i][c] < mean[i][best] ? c : best;
        const double ratio = mean[i][chosen] / mean[i][best];
        printf("%-18s%-12s%10.4f   %-12s%10.4f%8.3f%s\n", columns[i],
               chosen ? options.codecs[chosen - 1]->name : "another", mean[i][chosen],
               options.codecs[best - 1]->name, mean[i][best], ratio, ratio > RATIO_MOST ? "  TOO SLOW" : "");
        bad |= ratio > RATIO_MOST;
    }
    engine_close(engine);
    database_close(database);
    return bad;
}
