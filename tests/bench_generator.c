/*
 * bench_generator.c: how fast lineorder is generated straight into columns, on one thread.
 *
 *     build/bench_generator [SCALE_FACTOR [REPEATS]]
 *
 * Every repeat makes all 17 columns of the whole table in ranges of 2^20 rows, into one set of arrays (76 MB)
 * that is written again and again, as loading does. Prints rows per second and a sum over the columns; at
 * scale factor 1 that sum must be the one known from ssb-dbgen, else the exit code is 1.
 */
#define _GNU_SOURCE
#include "ssb/generator.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#define RANGE_ROWS (1u << 20)

/* Sums of lo_ordtotalprice and of lo_commitdate at SF 1, SINGLE. */
#define KNOWN_TOTAL  113443610188019
#define KNOWN_COMMIT 119726092431428

static double seconds(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + (double)now.tv_nsec * 1e-9;
}

static int64_t sum(const int32_t *values, uint64_t rows)
{
    int64_t total = 0;
    for (uint64_t i = 0; i < rows; i++)
        total += values[i];
    return total;
}

int main(int argc, char **argv)
{
    struct error error = {0};
    struct ssb_options options = {.scale_factor = 1};
    struct ssb_generator *generator = NULL;
    const int repeats = argc > 2 ? atoi(argv[2]) : 5;
    if (argc > 1 && ssb_scale_factor_parse(argv[1], &options.scale_factor, &error) != STATUS_OK) {
        fprintf(stderr, "%s\n", error.text);
        return error.status;
    }
    const double created = seconds();
    if (ssb_generator_create(&options, 1, &generator, &error) != STATUS_OK) {
        fprintf(stderr, "%s\n", error.text);
        return error.status;
    }
    const uint64_t rows = ssb_rows(generator, SSB_LINEORDER);
    printf("scale factor %g: %" PRIu64 " rows, index %.1f ms\n", options.scale_factor, rows,
           (seconds() - created) * 1e3);

    void *columns[SSB_COLUMNS_MAX];
    for (int column = 0; column < LO_COLUMNS; column++) {
        columns[column] = calloc(RANGE_ROWS, column == LO_ORDERKEY ? 8 : 4);
        if (!columns[column]) {
            fprintf(stderr, "out of memory\n");
            return STATUS_MACHINE;
        }
    }
    int wrong = 0;
    for (int repeat = 0; repeat < repeats; repeat++) {
        double spent = 0;
        int64_t total = 0, commit = 0;
        for (uint64_t row = 0; row < rows; row += RANGE_ROWS) {
            const uint64_t count = rows - row < RANGE_ROWS ? rows - row : RANGE_ROWS;
            const double start = seconds();
            ssb_generate_lineorder(generator, row, count, columns);
            spent += seconds() - start;
            total += sum(columns[LO_ORDTOTALPRICE], count);
            commit += sum(columns[LO_COMMITDATE], count);
        }
        if (options.scale_factor == 1)
            wrong |= total != KNOWN_TOTAL || commit != KNOWN_COMMIT;
        printf("one thread, 17 columns: %.3f s, %.2f million rows/s, %.2f GB/s, sums %" PRId64 " %" PRId64
               "\n",
               spent, (double)rows / spent * 1e-6, (double)rows * 72 / spent * 1e-9, total, commit);
    }
    for (int column = 0; column < LO_COLUMNS; column++)
        free(columns[column]);
    ssb_generator_destroy(generator);
    if (wrong)
        fprintf(stderr, "the sums are not those of ssb-dbgen\n");
    return wrong ? STATUS_CHECK_FAILED : STATUS_OK;
}
