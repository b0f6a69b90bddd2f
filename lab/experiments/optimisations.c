/*
 * optimisations.c: `tessera lab optimisations`: GPU-FOR's optimisations one by one, on 500 million values of U(0, 2^16),
 * decoded to memory. SIGMOD 2022, section 4.2 and figure 5: 18 ms for the base algorithm, 7 with shared memory, 2.39 with
 * D = 4 blocks, 2.1 with precomputed offsets, on a V100; reading the values uncompressed takes 2.4.
 *
 * The kernels are in lab/kernels/published. Beside them GPU-SIMDBP128 as published (4.3 ms there), and the same bytes decoded by our own
 * decoders, and the same values by lane-for and plain. On a processor only these are measured.
 */
#include "lab/experiments/experiments.h"

#include "lab/published/published.h"

#include <math.h>
#include <string.h>

#define ROWS  UINT64_C(500000000)
#define WIDTH 16u

/* A step of the paper: depth is D, 0: the method has no such argument. */
struct variant {
    const char *series; /* of the chart, or NULL */
    uint32_t depth;
    struct published_method method;
};
#define STEP(SERIES, DEPTH, NAME, TYPE)                                    \
    {                                                                      \
        SERIES, DEPTH,                                                     \
        {                                                                  \
            NAME, "gpu-for", "for_cuda.h", TYPE, 128, 128 * (DEPTH), false \
        }                                                                  \
    }
static const struct variant variants[] = {
    STEP(NULL, 1, "base algorithm", "for_base"),
    STEP(NULL, 1, "+ shared memory", "for_shared"),
    STEP("D blocks", 1, "+ D = 1 block", "for_blocks<1>"),
    STEP("D blocks", 2, "+ D = 2 blocks", "for_blocks<2>"),
    STEP("D blocks", 4, "+ D = 4 blocks", "for_blocks<4>"),
    STEP("D blocks", 8, "+ D = 8 blocks", "for_blocks<8>"),
    STEP("D blocks", 16, "+ D = 16 blocks", "for_blocks<16>"),
    STEP("D blocks", 32, "+ D = 32 blocks", "for_blocks<32>"),
    STEP("D blocks and offsets", 1, "+ offsets, D = 1", "for_offsets<1>"),
    STEP("D blocks and offsets", 2, "+ offsets, D = 2", "for_offsets<2>"),
    STEP("D blocks and offsets", 4, "+ offsets, D = 4", "for_offsets<4>"),
    STEP("D blocks and offsets", 8, "+ offsets, D = 8", "for_offsets<8>"),
    STEP("D blocks and offsets", 16, "+ offsets, D = 16", "for_offsets<16>"),
    STEP("D blocks and offsets", 32, "+ offsets, D = 32", "for_offsets<32>"),
    {NULL,
     1,
     {"GPU-SIMDBP128, published", "gpu-simdbp128", "simdbp128_cuda.h", "simdbp128", 128, 4096, false}},
};
#define VARIANTS (sizeof variants / sizeof *variants)

/* A row of the table: a name, and the times of one way of decoding `bytes` to the dataset's values. */
static enum status add_row(struct lab *lab, struct sheet *sheet, const char *name, uint64_t bytes,
                           const struct dataset *dataset, const struct speed *memory, const struct speed *sum,
                           struct error *error)
{
    const double moved = (double)bytes + 4 * (double)dataset->rows;
    sheet_text(sheet, name);
    sheet_number(sheet, memory->median);
    sheet_number(sheet, memory->least);
    sheet_number(sheet, memory->most);
    sheet_number(sheet, moved / memory->median * 1e-6);
    sheet_number(sheet, 100 * moved / (memory->median * 1e-3) / lab->read_ceiling);
    sheet_number(sheet, sum && sum->median > 0 ? sum->median : NAN);
    return lab_row_done(lab, sheet, error);
}

static void add_point(struct chart *chart, const struct variant *variant, const struct speed *speed)
{
    if (variant->depth == 1)
        chart_series(chart, variant->series);
    chart_point(chart,
                (struct chart_point){
                    .x = variant->depth, .y = speed->median, .low = speed->least, .high = speed->most});
}

/* Measures the variant on the chunks of its codec, which *encoded has or gets. */
static enum status measure_variant(struct lab *lab, const struct dataset *dataset,
                                   const struct variant *variant, struct encoded *encoded,
                                   struct decode_result *result, struct error *error)
{
    const struct codec *const codec = codec_by_name(variant->method.codec);
    if (encoded->codec != codec) {
        encoded_free(encoded);
        RETURN_IF_ERROR(encoded_make(lab, codec, dataset, encoded, error));
    }
    return published_measure(lab, &variant->method, dataset, encoded, result, error);
}

static enum status measure_published(struct lab *lab, const struct dataset *dataset, struct sheet *sheet,
                                     struct chart *chart, struct error *error)
{
    struct encoded encoded = {0};
    enum status status = STATUS_OK;
    for (size_t v = 0; status == STATUS_OK && v < VARIANTS; v++) {
        struct decode_result result;
        progress_report(lab->progress, "decoding", "kernels", v, VARIANTS);
        status = measure_variant(lab, dataset, &variants[v], &encoded, &result, error);
        if (status == STATUS_OK)
            status = add_row(lab, sheet, variants[v].method.name, encoded.bytes, dataset, &result.memory,
                             &result.sum, error);
        if (status == STATUS_OK && variants[v].series)
            add_point(chart, &variants[v], &result.memory);
    }
    encoded_free(&encoded);
    return status;
}

static enum status measure_codecs(struct lab *lab, const struct dataset *dataset, struct sheet *sheet,
                                  struct chart *chart, struct error *error)
{
    static const char *const names[] = {"gpu-for", "gpu-for-block", "gpu-simdbp128", "lane-for", "plain"};
    for (size_t n = 0; n < sizeof names / sizeof *names; n++) {
        const struct codec *const codec = codec_by_name(names[n]);
        struct encoded encoded;
        struct decode_result result;
        char name[64];
        if (!codec)
            continue;
        enum status status = encoded_make(lab, codec, dataset, &encoded, error);
        if (status == STATUS_OK)
            status = decode_measure(lab, dataset, &encoded, &result, error);
        const uint64_t bytes = encoded.bytes;
        encoded_free(&encoded);
        RETURN_IF_ERROR(status);
        snprintf(name, sizeof name, "%s%s", names[n], lab->cuda ? ", a warp a tile" : "");
        RETURN_IF_ERROR(add_row(lab, sheet, name, bytes, dataset, &result.memory, &result.sum, error));
        if (n == 0 || n >= 3)
            chart_reference(chart, name, result.memory.median, 0);
    }
    return STATUS_OK;
}

static enum status measure(struct lab *lab, struct sheet *sheet, struct chart *chart, struct error *error)
{
    const uint32_t width = WIDTH;
    struct dataset dataset;
    enum status status = dataset_make(lab, "making uniform values", lab_rows(lab, ROWS), fill_uniform, &width,
                                      &dataset, error);
    if (status == STATUS_OK && lab->cuda)
        status = measure_published(lab, &dataset, sheet, chart, error);
    if (status == STATUS_OK)
        status = measure_codecs(lab, &dataset, sheet, chart, error);
    dataset_free(lab, &dataset);
    return status;
}

enum status lab_optimisations(struct lab *lab, struct error *error)
{
    static const struct sheet_column columns[] = {
        {.key = "kernel", .name = "decoded by", .text = true, .width = 28},
        {.key = "memory_ms", .name = "to memory", .unit = "ms", .digits = 3},
        {.key = "memory_least_ms", .name = "least", .unit = "ms", .digits = 3},
        {.key = "memory_most_ms", .name = "most", .unit = "ms", .digits = 3},
        {.key = "gb_per_second", .name = "read and written", .unit = "GB/s", .digits = 0},
        {.key = "percent_of_read", .name = "of reading", .unit = "%", .digits = 1},
        {.key = "sum_ms", .name = "to a sum", .unit = "ms", .digits = 3},
    };
    static const struct chart_form form = {
        .kind = CHART_LINES,
        .title = "GPU-FOR as published, 16-bit values: time to decode to memory",
        .x = {.title = "D, blocks of a thread block", .scale = CHART_LOG2},
        .y = {.title = "time", .unit = "ms"}};
    static const char caption[] = "decoding U(0, 2^16) to memory";
    struct sheet *sheet;
    struct chart *chart;
    RETURN_IF_ERROR(sheet_create(columns, sizeof columns / sizeof *columns, &sheet, error));
    enum status status = chart_create(&form, &chart, error);
    if (status == STATUS_OK)
        status = lab_begin(lab, caption, sheet, error);
    if (status == STATUS_OK)
        status = measure(lab, sheet, chart, error);
    if (status != STATUS_OK) {
        sheet_destroy(sheet);
        chart_destroy(chart);
        return status;
    }
    status = lab_sheet(lab, caption, sheet, error);
    lab_chart(lab, chart);
    return status;
}
