/* pattern_record.c: see pattern_record.h. */
#include "lab/experiments/pattern_record.h"

#include <string.h>

const struct pattern_level pattern_levels[PATTERN_LEVELS] = {{2, 14, 21}, {4, 6, 12}, {6, 3, 13}};

const struct pattern_scheme pattern_schemes[PATTERN_SCHEMES] = {{"plain", false},      {"pfor-diff", true},
                                                                {"pfor", true},        {"lane-for", false},
                                                                {"lane-delta", false}, {"lane-pfor", false}};

uint64_t pattern_rows(const struct lab *lab, uint64_t rows)
{
    const uint64_t scaled = lab_rows(lab, rows) / SERIES_ROWS * SERIES_ROWS;
    return scaled ? scaled : SERIES_ROWS;
}

/* ---- Measuring ---- */

static bool is_measured(const struct lab *lab, const struct pattern_record *record, enum pattern_way way)
{
    return way == PATTERN_CPU || way == PATTERN_CPU_THREAD ||
           (lab->cuda && (way == PATTERN_FUSED || record->level > 1));
}

static enum status measure_ways(struct pattern *pattern, const struct encoded *encoded, unsigned ways,
                                struct pattern_record *record, struct error *error)
{
    record->ratio = 32 / encoded_bits(encoded);
    RETURN_IF_ERROR(transfer_measure(pattern->lab, encoded, &record->transfer, error));
    for (enum pattern_way way = 0; way < PATTERN_WAYS; way++)
        if ((ways >> way & 1) && is_measured(pattern->lab, record, way))
            RETURN_IF_ERROR(pattern_measure(pattern, encoded, way, &record->ways[way], error));
    return STATUS_OK;
}

enum status pattern_record_measure(struct pattern *pattern, const struct pattern_scheme *scheme,
                                   const struct pattern_level *level, unsigned ways,
                                   struct pattern_record *record, struct error *error)
{
    const struct codec *const codec = codec_by_name(scheme->name);
    struct encoded encoded;
    *record = (struct pattern_record){0};
    if (!codec)
        return STATUS_OK;
    *record =
        (struct pattern_record){.scheme = scheme, .level = scheme == pattern_schemes ? 1 : level->factor};
    enum status status = encoded_make(pattern->lab, codec, pattern->dataset, &encoded, error);
    if (status == STATUS_OK)
        status = measure_ways(pattern, &encoded, ways, record, error);
    encoded_free(&encoded);
    return status;
}

enum status pattern_with_level(struct lab *lab, uint32_t level, uint64_t rows, pattern_work *work,
                               void *context, struct error *error)
{
    struct series_parameters series = {.step_bits = pattern_levels[level].step_bits,
                                       .outlier_bits = pattern_levels[level].outlier_bits};
    struct dataset dataset;
    struct pattern pattern = {0};
    series_pattern(&series);
    enum status status = dataset_make(lab, "making time series", rows, fill_series, &series, &dataset, error);
    if (status == STATUS_OK)
        status = pattern_open(lab, &dataset, series.pattern, &pattern, error);
    if (status == STATUS_OK)
        status = work(context, &pattern, level, error);
    pattern_close(&pattern);
    dataset_free(lab, &dataset);
    return status;
}

const char *pattern_way_name(const struct pattern_record *record, enum pattern_way way)
{
    if (way == PATTERN_CPU)
        return "CPU, all threads";
    if (way == PATTERN_CPU_THREAD)
        return "CPU, one thread";
    if (record->level == 1)
        return "GPU";
    return way == PATTERN_STAGED       ? "GPU, to global memory"
           : record->scheme->in_shared ? "GPU, in shared memory"
                                       : "GPU, in registers";
}

double pattern_memory_ms(const struct pattern_record *record, enum pattern_way way)
{
    return way == PATTERN_FUSED || way == PATTERN_STAGED ? record->transfer.device.median : 0;
}

/* ---- The paper's table 1 ---- */

static const struct row {
    const char *scheme;
    double level;
    enum pattern_way way;
    struct pattern_paper ms;
} table_1[] = {
    {"plain", 1, PATTERN_CPU_THREAD, {67295, 0, 2410}},
    {"plain", 1, PATTERN_FUSED, {67330, 581, 10}},
    {"pfor-diff", 2, PATTERN_FUSED, {33448, 286, 85}},
    {"pfor-diff", 2, PATTERN_STAGED, {33495, 286, 426}},
    {"pfor-diff", 2, PATTERN_CPU_THREAD, {33949, 0, 7690}},
    {"pfor-diff", 4, PATTERN_FUSED, {16778, 104, 83}},
    {"pfor-diff", 4, PATTERN_STAGED, {16785, 105, 427}},
    {"pfor-diff", 4, PATTERN_CPU_THREAD, {17009, 0, 7203}},
    {"pfor-diff", 6, PATTERN_FUSED, {11192, 95, 82}},
    {"pfor-diff", 6, PATTERN_STAGED, {11178, 95, 428}},
    {"pfor-diff", 6, PATTERN_CPU_THREAD, {11345, 0, 6961}},
};

const struct pattern_paper *pattern_paper(const struct pattern_record *record, enum pattern_way way)
{
    for (size_t r = 0; r < sizeof table_1 / sizeof *table_1; r++)
        if (strcmp(table_1[r].scheme, record->scheme->name) == 0 && table_1[r].level == record->level &&
            table_1[r].way == way)
            return &table_1[r].ms;
    return NULL;
}
