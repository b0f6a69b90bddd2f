/*
 * bench_database.c: measures what loading and reading cost in the column store, on one thread and one full
 * segment (2^24 rows).
 *
 *     bench_database [DIR]        DIR (default .) must have 100 MB
 *
 * For each shape of values it times: statistics (minima, maxima, runs), distinct values, encoding as
 * lane-for, all of table_writer_segment (with the write into the page cache), the commit (with its fsync),
 * and opening the column (checksums, chunk_open). The written values are read back and compared before
 * anything is printed; a difference fails. Times are the best of three.
 */
#define _GNU_SOURCE
#include "storage/base/clock.h"
#include "storage/column/statistics.h"
#include "storage/database/writer.h"
#include "tests/support/codec/codec_input.h"

#include <ftw.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define ROWS SEGMENT_ROWS

enum step { STATISTICS, DISTINCT, ENCODE, WRITE, COMMIT, OPEN, STEPS };

static void must(enum status status, const struct error *error)
{
    if (status == STATUS_OK)
        return;
    fprintf(stderr, "bench_database: %s\n", error->text);
    exit((int)status);
}

static int remove_one(const char *path, const struct stat *stat, int type, struct FTW *walk)
{
    (void)stat, (void)type, (void)walk;
    return remove(path);
}

static const char *const shapes[] = {"50 values", "2^20 values", "2^27 values", "sorted keys"};

static void fill(int shape, int32_t *values)
{
    const uint32_t bounds[] = {50, 1u << 20, 1u << 27};
    uint64_t random = 20260117;
    for (uint32_t r = 0; r < ROWS; r++) {
        random ^= random << 13, random ^= random >> 7, random ^= random << 17;
        values[r] = shape == 3 ? (int32_t)(r / 4 * 7) : (int32_t)(random % bounds[shape]);
    }
}

static uint64_t write_and_open(const char *path, const int32_t *values, double seconds[STEPS])
{
    const struct column_schema schema = {.name = "v", .type = TYPE_INT32};
    struct database_writer *writer;
    struct table_writer *table;
    struct database *database;
    struct column_data *data;
    struct error error = {0};
    must(database_writer_open(path, &writer, &error), &error);
    must(database_writer_table(writer, "t", &schema, 1, ROWS, &table, &error), &error);
    must(table_writer_codec(table, 0, "lane-for", &error), &error);
    double begin = clock_seconds();
    must(table_writer_segment(table, 0, 0, values, NULL, &error), &error);
    seconds[WRITE] = clock_seconds() - begin;
    begin = clock_seconds();
    must(database_writer_commit(writer, &error), &error);
    seconds[COMMIT] = clock_seconds() - begin;
    must(database_open(path, &database, &error), &error);
    begin = clock_seconds();
    must(column_data_open(database, &database_table_at(database, 0)->columns[0], CODEC_LANE_FOR, 1, &data,
                          &error),
         &error);
    seconds[OPEN] = clock_seconds() - begin;
    int32_t tile[TILE_ROWS];
    for (uint32_t t = 0; t < data->segments[0].chunk.tiles; t++) {
        data->codec->decode_tile(&data->segments[0].chunk, t, tile);
        if (memcmp(tile, values + (size_t)t * TILE_ROWS, sizeof tile) != 0)
            must(error_set(&error, STATUS_CHECK_FAILED, "tile %u is not what was written", t), &error);
    }
    uint64_t bytes = data->bytes;
    database_close(database);
    return bytes;
}

static void take_statistics(const int32_t *values, int64_t *min_max, uint8_t *out, double seconds[STEPS])
{
    struct column_statistics statistics;
    struct distinct distinct;
    struct error error = {0};
    double begin = clock_seconds();
    statistics_segment(values, 4, ROWS, NULL, min_max, &statistics);
    seconds[STATISTICS] = clock_seconds() - begin;
    begin = clock_seconds();
    must(distinct_take(&distinct, values, 4, ROWS, statistics.min, statistics.max, &error), &error);
    seconds[DISTINCT] = clock_seconds() - begin;
    begin = clock_seconds();
    if (codec_encode(codec_by_id(CODEC_LANE_FOR), values, ROWS, 4, out) == 0)
        must(error_set(&error, STATUS_CHECK_FAILED, "lane-for cannot hold int32"), &error);
    seconds[ENCODE] = clock_seconds() - begin;
    distinct_free(&distinct);
}

int main(int argc, char **argv)
{
    char path[512];
    int32_t *values = malloc(ROWS * sizeof *values);
    int64_t *min_max = malloc(ROWS / TILE_ROWS * 2 * sizeof *min_max);
    uint8_t *out = aligned_alloc(CHUNK_ALIGNMENT, codec_by_id(CODEC_LANE_FOR)->bound(ROWS, 4));
    struct error error = {0};
    if (!values || !min_max || !out)
        must(error_out_of_memory(&error, 3ull * ROWS * sizeof *values, "the bench"), &error);
    snprintf(path, sizeof path, "%s/bench.%d.db", argc > 1 ? argv[1] : ".", (int)getpid());
    printf(
        "%u rows of int32, one thread, ns a value                                    GB/s of encoded bytes\n",
        ROWS);
    printf("%-12s %10s %10s %10s %10s %10s %10s\n", "values", "min, max", "distinct", "lane-for", "segment",
           "commit", "open");
    for (int shape = 0; shape < 4; shape++) {
        double best[STEPS];
        uint64_t bytes = 0;
        fill(shape, values);
        for (int round = 0; round < 3; round++) {
            double seconds[STEPS];
            take_statistics(values, min_max, out, seconds);
            bytes = write_and_open(path, values, seconds);
            for (int s = 0; s < STEPS; s++)
                best[s] = round == 0 || seconds[s] < best[s] ? seconds[s] : best[s];
        }
        printf("%-12s", shapes[shape]);
        for (int s = STATISTICS; s < OPEN; s++)
            printf(" %10.2f", 1e9 * best[s] / ROWS);
        printf(" %10.1f\n", 1e-9 * (double)bytes / best[OPEN]);
    }
    nftw(path, remove_one, 16, FTW_DEPTH | FTW_PHYS);
    free(values), free(min_max), free(out);
    return 0;
}
