/*
 * bench_cpu.c: measures the cycles that a CPU spends on a decoded value, by codec and width, and on a row of
 * each of the 13 queries.
 *
 *     bench_cpu                                 cycles a value: decoding a tile, fetching some of its rows
 *     bench_cpu --db DIR [CODEC[,CODEC...]]     cycles a row of each query on one thread, by codec
 *
 * A cycle is the time of one dependent addition, measured before each part, so that figures from machines
 * with different clocks can be compared. Times are processor times, not wall times, and the least of many
 * rounds, because other work on the machine disturbs these least. The codecs take turns on each query.
 * Decoders are first checked against the values, and queries against the first codec's answer. TESSERA_ISA
 * chooses the instruction set.
 */
#include "ssb/benchmark/answer.h"
#include "ssb/benchmark/benchmark.h"
#include "storage/codec/codec.h"
#include "tests/support/codec/codec_input.h"
#include "tests/support/bench_memory.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define CODECS_MAX   8u
#define QUERY_ROUNDS 21
#define TILES        16u /* 64 KB of values, whose encoded bytes stay in the first two caches */
#define TURNS        20u /* passes over the tiles, so that the time of reading the clock is negligible */
#define TILE_ROUNDS  50

static double cycle_ns(void)
{
    enum { ADDITIONS = 1000000 };
    double best = 1e30;
    for (int round = 0; round < 9; round++) {
        uint64_t sum = 1;
        const double begin = processor_ns();
        for (int i = 0; i < ADDITIONS; i++) {
            sum++;
            __asm__ volatile("" : "+r"(sum));
        }
        const double ns = processor_ns() - begin;
        best = ns < best ? ns : best;
    }
    return best / ADDITIONS;
}

static void require(enum status status, const struct error *error)
{
    if (status == STATUS_OK)
        return;
    fprintf(stderr, "bench_cpu: %s\n", error->text);
    exit((int)status);
}

/* ---- Decoding ---- */

static _Alignas(64) int32_t values[TILES * TILE_ROWS], tile[TILE_ROWS];

/* Random values in runs of 1 to 7 rows (mean 4), for which gpu-rfor and rank-rle are made. The other codecs
 * take the same time for any values. */
static void values_make(unsigned width)
{
    uint64_t random = 1;
    for (uint32_t i = 0, left = 0; i < TILES * TILE_ROWS; i++) {
        random = random * 6364136223846793005u + 1442695040888963407u;
        if (left == 0)
            left = 1 + (uint32_t)(random >> 32) % 7;
        left--;
        values[i] = i > 0 && left > 0 ? values[i - 1] : (int32_t)(random >> (64 - width));
    }
}

static double decode_cycles(const struct chunk_view *chunk, double cycle)
{
    double best = 1e30;
    for (int round = 0; round < TILE_ROUNDS; round++) {
        const double begin = processor_ns();
        for (uint32_t t = 0; t < TURNS * TILES; t++) {
            chunk->codec->decode_tile(chunk, t % TILES, tile);
            __asm__ volatile("" ::: "memory");
        }
        const double ns = processor_ns() - begin;
        best = ns < best ? ns : best;
    }
    return best / (TURNS * TILES * TILE_ROWS) / cycle;
}

/* Cycles a fetched value. */
static double fetch_cycles(const struct chunk_view *chunk, uint32_t count, double cycle)
{
    uint16_t rows[TILE_ROWS];
    double best = 1e30;
    for (uint32_t i = 0; i < count; i++)
        rows[i] = (uint16_t)(i * (TILE_ROWS / count) + i % 3);
    for (int round = 0; round < TILE_ROUNDS; round++) {
        const double begin = processor_ns();
        for (uint32_t t = 0; t < TURNS * TILES; t++) {
            chunk->codec->fetch(chunk, t % TILES, rows, count, tile);
            __asm__ volatile("" ::: "memory");
        }
        const double ns = processor_ns() - begin;
        best = ns < best ? ns : best;
    }
    return best / (TURNS * TILES * count) / cycle;
}

static void bench_decode(void)
{
    static const unsigned widths[] = {4, 8, 16, 24};
    const double cycle = cycle_ns();
    printf("cycles a value, %s, %.2f GHz; fetching 16 of a tile's 1024 rows, and decoding all of them\n\n",
           isa_name(isa_level()), 1 / cycle);
    printf("%-11s %25s %30s\n%-11s", "", "decode, at width", "fetch, at width", "codec");
    for (int i = 0; i < 8; i++)
        printf(" %6u", widths[i % 4]);
    printf("\n");
    for (uint32_t id = 1; id < CODEC_COUNT; id++) {
        const struct codec *const codec = codec_by_id(id);
        uint8_t *const out = allocate(codec->bound(TILES * TILE_ROWS, 4));
        double fetch[4] = {0};
        printf("%-11s", codec->name);
        for (int w = 0; w < 4; w++) {
            struct chunk_view chunk;
            struct error error = {0};
            values_make(widths[w]);
            require(chunk_open(out, codec_encode(codec, values, TILES * TILE_ROWS, 4, out), &chunk, &error),
                    &error);
            for (uint32_t t = 0; t < TILES; t++) {
                codec->decode_tile(&chunk, t, tile);
                if (memcmp(tile, values + t * TILE_ROWS, sizeof tile)) {
                    fprintf(stderr, "bench_cpu: %s decodes tile %u to other values\n", codec->name, t);
                    exit(1);
                }
            }
            printf(" %6.2f", decode_cycles(&chunk, cycle));
            fetch[w] = codec->fetch ? fetch_cycles(&chunk, 16, cycle) : 0;
        }
        for (int w = 0; w < 4 && codec->fetch; w++)
            printf(" %6.1f", fetch[w]);
        printf("\n");
        free(out);
    }
}

/* ---- Queries ---- */

static void bench_queries(const char *path, char *list)
{
    struct database *database;
    struct engine *engine;
    const struct table *fact;
    struct error error = {0};
    const char *codecs[CODECS_MAX];
    double log_ratio[CODECS_MAX] = {0}, log_cycles[CODECS_MAX] = {0};
    uint32_t count = 0;
    for (char *name = strtok(list, ","); name && count < CODECS_MAX; name = strtok(NULL, ","))
        codecs[count++] = name;
    require(database_open(path, &database, &error), &error);
    require(engine_open(&(struct engine_options){.device = "cpu", .threads = 1}, &engine, &error), &error);
    require(database_table(database, "lineorder", &fact, &error), &error);
    printf("cycles a row on %s; in brackets how many times faster than %s\n\n%-6s",
           engine_device_text(engine), codecs[0], "query");
    for (uint32_t c = 0; c < count; c++)
        printf(" %18s", codecs[c]);
    printf("\n");
    for (uint32_t q = 0; q < SSB_QUERIES; q++) {
        struct sql_statement *statements[CODECS_MAX];
        struct rowset expected = {0};
        double best[CODECS_MAX];
        for (uint32_t c = 0; c < count; c++) {
            struct rowset rows;
            best[c] = 1e30;
            require(benchmark_statement(engine, database, ssb_queries[q], codecs[c], false, PLAN_INDEX_OFF,
                                        &statements[c], &error),
                    &error);
            require(sql_run(statements[c], c ? &rows : &expected, NULL, &error), &error);
            if (c == 0)
                continue;
            require(answer_compare(ssb_queries[q]->name, codecs[0], &expected, &rows, &error), &error);
            rowset_free(&rows);
        }
        rowset_free(&expected);
        const double cycle = cycle_ns();
        for (int round = 0; round < QUERY_ROUNDS; round++)
            for (uint32_t c = 0; c < count; c++) {
                struct run_timing timing;
                const double begin = processor_ns();
                require(sql_measure(statements[c], &timing, &error), &error);
                const double ns = processor_ns() - begin;
                best[c] = ns < best[c] ? ns : best[c];
            }
        printf("%-6s", ssb_queries[q]->name);
        for (uint32_t c = 0; c < count; c++) {
            const double cycles = best[c] / cycle / (double)fact->rows;
            printf(" %9.2f (%5.2fx)", cycles, best[0] / best[c]);
            log_ratio[c] += __builtin_log(best[0] / best[c]);
            log_cycles[c] += __builtin_log(cycles);
            sql_statement_free(statements[c]);
        }
        printf("\n");
        fflush(stdout);
    }
    printf("%-6s", "mean");
    for (uint32_t c = 0; c < count; c++)
        printf(" %9.2f (%5.2fx)", __builtin_exp(log_cycles[c] / SSB_QUERIES),
               __builtin_exp(log_ratio[c] / SSB_QUERIES));
    printf("\n");
    engine_close(engine);
    database_close(database);
}

int main(int argc, char **argv)
{
    char standard[] = "plain,auto";
    if (argc == 1)
        bench_decode();
    else if ((argc == 3 || argc == 4) && strcmp(argv[1], "--db") == 0)
        bench_queries(argv[2], argc == 4 ? argv[3] : standard);
    else {
        fprintf(stderr, "usage: bench_cpu [--db DIR [CODEC[,CODEC...]]]\n");
        return 2;
    }
    return 0;
}
