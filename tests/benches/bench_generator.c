/*
 * bench_generator.c: measures how fast lineorder is generated on one thread, as columns or as text.
 *
 *     build/bench_generator [SCALE_FACTOR [REPEATS]]
 *     build/bench_generator SCALE_FACTOR single|all TABLE | sha256sum
 *
 * The first form generates all 17 columns of the whole table in ranges of 2^20 rows. Each range goes into the
 * same arrays (76 MB), as in loading. It prints rows per second and two sums. At scale factor 1 the sums must
 * be those known from ssb-dbgen; otherwise the exit code is 1. The second form prints a table's text, so that
 * its checksum can be compared with docs/ssb.md at scale factors that are too large for the tests. It prints
 * its own speed, without the pipe's, on standard error.
 */
#define _GNU_SOURCE
#include "ssb/data/generator.h"
#include "ssb/options.h"
#include "storage/base/clock.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define RANGE_ROWS (1u << 20)
#define TEXT_ROWS  16384u

/* The sums of lo_ordtotalprice and of lo_commitdate at SF 1 in SSB_MODE_SINGLE. */
#define KNOWN_TOTAL  113443610188019
#define KNOWN_COMMIT 119726092431428

static int64_t sum(const int32_t *values, uint64_t rows)
{
    int64_t total = 0;
    for (uint64_t i = 0; i < rows; i++)
        total += values[i];
    return total;
}

static int fail(const struct error *error)
{
    fprintf(stderr, "%s\n", error->text);
    return error->status;
}

static enum status bench_columns(const struct ssb_generator *generator, bool known, int repeats,
                                 struct error *error)
{
    const uint64_t rows = ssb_rows(generator, SSB_LINEORDER);
    enum status status = STATUS_OK;
    void *columns[SSB_COLUMNS_MAX];
    for (int column = 0; column < LO_COLUMNS; column++) {
        columns[column] = calloc(RANGE_ROWS, column == LO_ORDERKEY ? 8 : 4);
        if (!columns[column])
            status = error_out_of_memory(error, RANGE_ROWS * 8, "a column");
    }
    for (int repeat = 0; repeat < repeats && status == STATUS_OK; repeat++) {
        double spent = 0;
        int64_t total = 0, commit = 0;
        for (uint64_t row = 0; row < rows; row += RANGE_ROWS) {
            const uint64_t count = rows - row < RANGE_ROWS ? rows - row : RANGE_ROWS;
            const double start = clock_seconds();
            ssb_generate_lineorder(generator, row, count, columns);
            spent += clock_seconds() - start;
            total += sum(columns[LO_ORDTOTALPRICE], count);
            commit += sum(columns[LO_COMMITDATE], count);
        }
        printf("one thread, 17 columns: %.3f s, %.2f million rows/s, %.2f GB/s, sums %" PRId64 " %" PRId64
               "\n",
               spent, (double)rows / spent * 1e-6, (double)rows * 72 / spent * 1e-9, total, commit);
        if (known && (total != KNOWN_TOTAL || commit != KNOWN_COMMIT))
            status = error_set(error, STATUS_CHECK_FAILED, "the sums are not those of ssb-dbgen");
    }
    for (int column = 0; column < LO_COLUMNS; column++)
        free(columns[column]);
    return status;
}

static enum status print_text(const struct ssb_generator *generator, enum ssb_table table,
                              struct error *error)
{
    const uint64_t rows = ssb_rows(generator, table);
    char *text = malloc((size_t)TEXT_ROWS * SSB_TEXT_ROW_BYTES);
    if (!text)
        return error_out_of_memory(error, TEXT_ROWS * SSB_TEXT_ROW_BYTES, "text");
    double spent = 0;
    uint64_t bytes = 0;
    enum status status = STATUS_OK;
    for (uint64_t row = 0; row < rows && status == STATUS_OK; row += TEXT_ROWS) {
        const uint64_t count = rows - row < TEXT_ROWS ? rows - row : TEXT_ROWS;
        const double start = clock_seconds();
        const size_t made = ssb_format_tbl(generator, table, row, count, text);
        spent += clock_seconds() - start;
        bytes += made;
        if (fwrite(text, 1, made, stdout) != made)
            status = error_set(error, STATUS_MACHINE, "could not write to standard output");
    }
    free(text);
    fprintf(stderr, "one thread, text: %.3f s, %.2f million rows/s, %.2f GB/s\n", spent,
            (double)rows / spent * 1e-6, (double)bytes / spent * 1e-9);
    return status;
}

int main(int argc, char **argv)
{
    struct error error = {0};
    struct ssb_options options = SSB_OPTIONS_DEFAULT;
    enum ssb_table table = SSB_TABLES;
    if (argc > 1 && ssb_scale_factor_parse(argv[1], &options.scale_factor, &error) != STATUS_OK)
        return fail(&error);
    if (argc > 3 && ssb_table_parse(argv[3], &table, &error) != STATUS_OK)
        return fail(&error);
    if (argc > 3 && strcmp(argv[2], "all") == 0)
        options.mode = SSB_MODE_ALL;

    struct ssb_generator *generator = NULL;
    const double created = clock_seconds();
    if (ssb_generator_create(&options, 1, &generator, &error) != STATUS_OK)
        return fail(&error);
    fprintf(stderr, "scale factor %g: %" PRIu64 " rows of lineorder, index %.1f ms\n", options.scale_factor,
            ssb_rows(generator, SSB_LINEORDER), (clock_seconds() - created) * 1e3);
    enum status status =
        argc > 3 ? print_text(generator, table, &error)
                 : bench_columns(generator, options.scale_factor == 1, argc > 2 ? atoi(argv[2]) : 5, &error);
    ssb_generator_destroy(generator);
    return status == STATUS_OK ? 0 : fail(&error);
}
