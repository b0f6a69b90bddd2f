/*
 * bench_text.c: measures how fast delimited text is split into fields, and fields are converted to numbers
 * (loader/text/text_source.h).
 *
 *     tessera ssb generate --sf 1 --table lineorder --out DIR
 *     build/bench_text DIR/lineorder.tbl [REPEATS]
 *
 * It reads the file, and a copy with every word in quotes (written next to it and removed), on one thread and
 * on two: first splitting alone, then with the 15 columns of whole numbers converted. It prints MB/s of the
 * file, the best of REPEATS (5) with the file in the page cache. All runs must find the same rows and sums;
 * otherwise the exit code is 1.
 */
#define _GNU_SOURCE
#include "loader/text/text_source.h"
#include "ssb/data/generator.h"
#include "storage/base/clock.h"
#include "storage/database/database.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define THREADS_MAX 2u

struct found {
    uint64_t rows;
    int64_t sum;
};

struct reading {
    struct text_source *source;
    const struct ssb_table_info *table;
    bool values;
    struct found found[THREADS_MAX];
};

static int fail(const struct error *error)
{
    fprintf(stderr, "bench_text: %s\n", error->text);
    return error->status;
}

static enum status take_values(const struct reading *reading, const struct text_block *block, int64_t *sum,
                               struct error *error)
{
    static const struct text_reading plain;
    static const struct column_schema number = {.name = "number", .type = TYPE_INT64};
    for (uint32_t row = 0; row < block->rows; row++) {
        const struct text_field *field = &block->fields[(size_t)row * LO_COLUMNS];
        for (uint32_t c = 0; c < LO_COLUMNS; c++) {
            int64_t value;
            if (!reading->table->columns[c].number)
                continue;
            const char *complaint = text_value(&plain, &number, field[c].text, field[c].length, &value);
            if (complaint)
                return error_set(error, STATUS_BAD_INPUT, "%s:%" PRIu64 ": field %u %s", block->path,
                                 block->row_line[row], c + 1, complaint);
            *sum += value;
        }
    }
    return STATUS_OK;
}

static enum status read_blocks(void *context, uint64_t item, unsigned thread, struct error *error)
{
    struct reading *reading = context;
    struct text_block block = {0};
    struct found found = {0};
    enum status status;
    (void)item;
    while ((status = text_source_next(reading->source, &block, error)) == STATUS_OK && block.rows) {
        found.rows += block.rows;
        if (block.fault_count)
            status = error_set(error, STATUS_BAD_INPUT, "%s:%" PRIu64 ": %s", block.path,
                               block.row_line[block.faults[0].row], block.faults[0].complaint);
        else if (reading->values)
            status = take_values(reading, &block, &found.sum, error);
        if (status != STATUS_OK)
            break;
    }
    reading->found[thread] = found;
    text_block_free(&block);
    return status;
}

static enum status read_file(const char *path, unsigned threads, bool values, struct found *found,
                             double *taken, struct error *error)
{
    struct reading reading = {.table = ssb_table_info(SSB_LINEORDER), .values = values};
    const char *names[LO_COLUMNS];
    for (uint32_t c = 0; c < LO_COLUMNS; c++)
        names[c] = reading.table->columns[c].name;
    const double begin = clock_seconds();
    RETURN_IF_ERROR(text_source_open(&path, 1, names, LO_COLUMNS,
                                     &(struct text_options){.header = TEXT_HEADER_NO}, &reading.source,
                                     error));
    const enum status status = parallel_for(threads, threads, read_blocks, &reading, error);
    text_source_close(reading.source);
    *taken = clock_seconds() - begin;
    *found = (struct found){0};
    for (unsigned t = 0; t < THREADS_MAX; t++) {
        found->rows += reading.found[t].rows;
        found->sum += reading.found[t].sum;
    }
    return status;
}

static enum status bench(const char *what, const char *path, int repeats, struct found *expected,
                         struct error *error)
{
    FILE *file = fopen(path, "rb");
    if (!file || fseeko(file, 0, SEEK_END) != 0)
        return error_set(error, STATUS_BAD_INPUT, "%s: cannot be read", path);
    const double bytes = (double)ftello(file);
    fclose(file);
    for (unsigned threads = 1; threads <= THREADS_MAX; threads++) {
        for (int values = 0; values < 2; values++) {
            double best = 1e30, taken;
            for (int i = 0; i < repeats; i++) {
                struct found found;
                RETURN_IF_ERROR(read_file(path, threads, values, &found, &taken, error));
                if (expected->rows == 0)
                    expected->rows = found.rows;
                if (values && expected->sum == 0)
                    expected->sum = found.sum;
                if (found.rows == 0 || found.rows != expected->rows || (values && found.sum != expected->sum))
                    return error_set(error, STATUS_CHECK_FAILED,
                                     "%s: %" PRIu64 " rows, sum %" PRId64 " instead of %" PRIu64 ", %" PRId64,
                                     path, found.rows, found.sum, expected->rows, expected->sum);
                best = taken < best ? taken : best;
            }
            printf("%-7s %u thread%s %-22s %6.0f MB/s\n", what, threads, threads == 1 ? " " : "s",
                   values ? "split, whole numbers" : "split", bytes / 1e6 / best);
            fflush(stdout);
        }
    }
    return STATUS_OK;
}

/* Writes the same rows with every word (priorities, ship modes) in quotes. */
static enum status write_quoted(const char *from, const char *to, struct error *error)
{
    const struct ssb_table_info *table = ssb_table_info(SSB_LINEORDER);
    FILE *in = fopen(from, "rb"), *out = fopen(to, "wb");
    char *line = NULL;
    size_t room = 0;
    ssize_t length;
    enum status status = in && out ? STATUS_OK
                                   : error_set(error, STATUS_BAD_INPUT,
                                               "%s: cannot be read, or its folder not be written", from);
    while (status == STATUS_OK && (length = getline(&line, &room, in)) > 0) {
        uint32_t column = 0;
        const char *at = line;
        for (const char *bar; (bar = strchr(at, '|')); at = bar + 1, column++) {
            const char *quote = column < LO_COLUMNS && !table->columns[column].number ? "\"" : "";
            fprintf(out, "%s%.*s%s|", quote, (int)(bar - at), at, quote);
        }
        fputs(at, out);
    }
    free(line);
    if (in)
        fclose(in);
    if (out && fclose(out) != 0 && status == STATUS_OK)
        status = error_set(error, STATUS_MACHINE, "%s: cannot be written", to);
    return status;
}

int main(int count, char **arguments)
{
    if (count < 2 || count > 3) {
        fprintf(stderr, "usage: bench_text lineorder.tbl [REPEATS]\n");
        return STATUS_BAD_INPUT;
    }
    const int repeats = count > 2 ? atoi(arguments[2]) : 5;
    struct error error = {0};
    struct found expected = {0};
    char quoted[4096];
    snprintf(quoted, sizeof quoted, "%s.quoted.tbl", arguments[1]);
    enum status status = bench("plain", arguments[1], repeats, &expected, &error);
    if (status == STATUS_OK)
        status = write_quoted(arguments[1], quoted, &error);
    if (status == STATUS_OK)
        status = bench("quoted", quoted, repeats, &expected, &error);
    unlink(quoted);
    if (status != STATUS_OK)
        return fail(&error);
    printf("%" PRIu64 " rows, sum of all numbers %" PRId64 "\n", expected.rows, expected.sum);
    return 0;
}
