/* pattern.c: see pattern.h; the expected answer, the check, the processor. */
#include "lab/bench/pattern.h"

#include "storage/base/clock.h"
#include "storage/base/memory.h"
#include "storage/codec/chunk_reader.h"

#include <stdatomic.h>
#include <stdlib.h>

#define ITEM_SERIES  64u /* of a thread's item */
#define CHUNK_SERIES (ENCODED_CHUNK_ROWS / TILE_ROWS)

static uint64_t items_of(const struct pattern *pattern)
{
    return ((uint64_t)pattern->series + ITEM_SERIES - 1) / ITEM_SERIES;
}

static uint32_t item_end(const struct pattern *pattern, uint32_t first)
{
    return pattern->series - first < ITEM_SERIES ? pattern->series : first + ITEM_SERIES;
}

static uint32_t distance_of(const int32_t *series, const int32_t *pattern)
{
    uint32_t distance = 0;
    for (uint32_t row = 0; row < TILE_ROWS; row++)
        distance += series[row] != pattern[row];
    return distance;
}

/* ---- What is expected ---- */

static enum status expect_item(void *context, uint64_t item, unsigned thread, struct error *error)
{
    struct pattern *const pattern = context;
    const uint32_t first = (uint32_t)item * ITEM_SERIES, end = item_end(pattern, first);
    (void)thread;
    RETURN_IF_ERROR(cancel_check(error));
    for (uint32_t series = first; series < end; series++) {
        pattern->expected[series] = 0;
        for (uint64_t row = 0; row < TILE_ROWS; row++)
            if (pattern->dataset->values[(uint64_t)series * TILE_ROWS + row] != pattern->values[row])
                pattern->expected[series]++;
    }
    return STATUS_OK;
}

enum status pattern_open(struct lab *lab, const struct dataset *dataset, const int32_t *values,
                         struct pattern *pattern, struct error *error)
{
    *pattern = (struct pattern){.lab = lab, .dataset = dataset, .values = values, .best = UINT64_MAX};
    if (dataset->rows == 0 || dataset->rows % TILE_ROWS != 0 || dataset->rows / TILE_ROWS > UINT32_MAX)
        return error_set(error, STATUS_BAD_INPUT, "time series are whole tiles, 1 .. 2^32 - 1 of them");
    pattern->series = (uint32_t)(dataset->rows / TILE_ROWS);
    const uint64_t bytes = (uint64_t)pattern->series * sizeof *pattern->expected;
    RETURN_IF_ERROR(memory_take(&pattern->expected, bytes, "distances of time series", error));
    RETURN_IF_ERROR(memory_take(&pattern->found, bytes, "distances of time series", error));
    RETURN_IF_ERROR(parallel_for(lab->threads, items_of(pattern), expect_item, pattern, error));
    for (uint32_t series = 0; series < pattern->series; series++) {
        const uint64_t candidate = (uint64_t)pattern->expected[series] << 32 | series;
        pattern->best = candidate < pattern->best ? candidate : pattern->best;
    }
    return STATUS_OK;
}

void pattern_close(struct pattern *pattern)
{
    free(pattern->expected);
    free(pattern->found);
    *pattern = (struct pattern){0};
}

enum status pattern_check(const struct pattern *pattern, uint64_t best, const char *codec,
                          struct error *error)
{
    for (uint32_t series = 0; series < pattern->series; series++)
        if (pattern->found[series] != pattern->expected[series])
            return error_set(error, STATUS_CHECK_FAILED,
                             "%s: time series %u differs from the pattern at %u positions, not at %u", codec,
                             series, pattern->expected[series], pattern->found[series]);
    if (best != pattern->best)
        return error_set(error, STATUS_CHECK_FAILED,
                         "%s: the time series that is most like the pattern is %u, not %u", codec,
                         (uint32_t)pattern->best, (uint32_t)best);
    return STATUS_OK;
}

/* ---- On a processor ---- */

struct matching {
    struct pattern *pattern;
    const struct encoded *encoded;
    unsigned threads;
    _Atomic uint64_t best;
};

static void offer(struct matching *matching, uint64_t candidate)
{
    uint64_t best = matching->best;
    while (candidate < best && !atomic_compare_exchange_weak(&matching->best, &best, candidate))
        ;
}

static enum status decoded(const struct encoded *encoded, uint32_t series, struct chunk_reader *reader,
                           const int32_t **values, struct error *error)
{
    const struct chunk_view *const chunk = &encoded->chunks[series / CHUNK_SERIES];
    const uint32_t tile = series % CHUNK_SERIES;
    const void *rows;
    *values = (const int32_t *)chunk->data + (size_t)tile * TILE_ROWS;
    if (encoded->codec->layout == CODEC_LAYOUT_VALUES)
        return STATUS_OK;
    RETURN_IF_ERROR(chunk_reader_tile(reader, chunk, tile, &rows, error));
    *values = rows;
    return STATUS_OK;
}

static enum status match_item(void *context, uint64_t item, unsigned thread, struct error *error)
{
    struct matching *const matching = context;
    const struct pattern *const pattern = matching->pattern;
    const uint32_t first = (uint32_t)item * ITEM_SERIES, end = item_end(pattern, first);
    struct chunk_reader reader = {0};
    enum status status = cancel_check(error);
    uint64_t best = UINT64_MAX;
    (void)thread;
    for (uint32_t series = first; status == STATUS_OK && series < end; series++) {
        const int32_t *values;
        status = decoded(matching->encoded, series, &reader, &values, error);
        if (status != STATUS_OK)
            break;
        const uint32_t distance = distance_of(values, pattern->values);
        const uint64_t candidate = (uint64_t)distance << 32 | series;
        pattern->found[series] = distance;
        best = candidate < best ? candidate : best;
    }
    chunk_reader_close(&reader);
    offer(matching, best);
    return status;
}

static enum status match_all(struct matching *matching, double *ms, struct error *error)
{
    const double begin = clock_ms();
    matching->best = UINT64_MAX;
    RETURN_IF_ERROR(
        parallel_for(matching->threads, items_of(matching->pattern), match_item, matching, error));
    *ms = clock_ms() - begin;
    return STATUS_OK;
}

static enum status measure_cpu(struct pattern *pattern, const struct encoded *encoded, unsigned threads,
                               struct speed *speed, struct error *error)
{
    struct matching matching = {.pattern = pattern, .encoded = encoded, .threads = threads};
    const uint32_t repeat = pattern->lab->repeat;
    double unmeasured, *ms = NULL;
    RETURN_IF_ERROR(match_all(&matching, &unmeasured, error));
    RETURN_IF_ERROR(pattern_check(pattern, matching.best, encoded->codec->name, error));
    RETURN_IF_ERROR(memory_take(&ms, repeat * sizeof *ms, "a list of times", error));
    enum status status = STATUS_OK;
    for (uint32_t i = 0; status == STATUS_OK && i < repeat; i++)
        status = match_all(&matching, &ms[i], error);
    if (status == STATUS_OK)
        *speed = speed_of(ms, repeat);
    free(ms);
    return status;
}

enum status pattern_measure(struct pattern *pattern, const struct encoded *encoded, enum pattern_way way,
                            struct speed *speed, struct error *error)
{
    if (way == PATTERN_FUSED || way == PATTERN_STAGED)
        return pattern_measure_cuda(pattern, encoded, way, speed, error);
    const unsigned threads = way == PATTERN_CPU_THREAD ? 1 : pattern->lab->threads;
    return measure_cpu(pattern, encoded, threads, speed, error);
}
