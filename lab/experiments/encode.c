/* encode.c: `tessera lab encode`: how fast each codec compresses. SIGMOD 2022, section 8: 250 million random entries on
 * the processor, 1.2, 1.3 and 2.2 s for GPU-FOR, GPU-DFOR and GPU-RFOR with 6 cores. */
#include "lab/experiments/experiments.h"

#include "lab/bench/decode.h"

#include <math.h>
#include <string.h>

#define ROWS        UINT64_C(250000000)
#define WIDTH       16u
#define PAPER_CORES 6u
#define RUNS        3u /* the least of them counts: the first one also gets the memory's pages from the system */

/* The paper's seconds for the codec; NaN: it has none. */
static double paper_seconds(const struct codec *codec)
{
    static const struct {
        const char *codec;
        double seconds;
    } papers[] = {{"gpu-for", 1.2}, {"gpu-dfor", 1.3}, {"gpu-rfor", 2.2}};
    for (size_t p = 0; p < sizeof papers / sizeof *papers; p++)
        if (strcmp(papers[p].codec, codec->name) == 0)
            return papers[p].seconds;
    return NAN;
}

/* The cells of values a second: in all, and of a thread or core. */
static void add_rate(struct sheet *sheet, double values, double seconds, unsigned threads)
{
    sheet_number(sheet, values / seconds * 1e-9);
    sheet_number(sheet, values / seconds * 1e-9 / threads);
}

static enum status measure(struct lab *lab, const struct codec *codec, const struct dataset *dataset,
                           struct sheet *sheet, struct error *error)
{
    double seconds = 0, bits = 0;
    for (uint32_t run = 0; run < RUNS; run++) {
        struct encoded encoded;
        struct decode_result checked = {0};
        enum status status = encoded_make(lab, codec, dataset, &encoded, error);
        if (status == STATUS_OK && encoded.chunk_count) {
            bits = encoded_bits(&encoded);
            seconds = run == 0 || encoded.seconds < seconds ? encoded.seconds : seconds;
            if (run == 0)
                status = decode_measure_cpu(lab, dataset, &encoded, &checked, error);
        }
        encoded_free(&encoded);
        RETURN_IF_ERROR(status);
    }
    sheet_text(sheet, codec->name);
    if (bits > 0) {
        sheet_number(sheet, bits);
        sheet_number(sheet, seconds);
        add_rate(sheet, (double)dataset->rows, seconds, lab->threads);
    } else {
        for (int i = 0; i < 4; i++)
            sheet_missing(sheet, "cannot hold them");
    }
    sheet_number(sheet, paper_seconds(codec));
    add_rate(sheet, ROWS, paper_seconds(codec), PAPER_CORES);
    return lab_row_done(lab, sheet, error);
}

static enum status measure_all(struct lab *lab, struct sheet *sheet, struct error *error)
{
    const uint32_t width = WIDTH;
    struct dataset dataset;
    enum status status = dataset_make(lab, "making uniform values", lab_rows(lab, ROWS), fill_uniform, &width,
                                      &dataset, error);
    for (uint32_t id = 1; status == STATUS_OK && id < CODEC_COUNT; id++) {
        if (lab->left_out[id])
            continue;
        progress_report(lab->progress, "encoding", "codecs", id, CODEC_COUNT - 1);
        status = measure(lab, codec_by_id(id), &dataset, sheet, error);
    }
    dataset_free(lab, &dataset);
    return status;
}

enum status lab_encode(struct lab *lab, struct error *error)
{
    static const char paper[] = "paper: 250 million, 6 cores";
    static const struct sheet_column columns[] = {
        {.key = "codec", .name = "codec", .text = true},
        {.key = "bits", .name = "bits", .unit = "a value", .digits = 2},
        {.key = "seconds", .name = "time", .group = "here", .unit = "s", .digits = 4},
        {.key = "values_per_second_1e9", .name = "values", .group = "here", .unit = "G/s", .significant = 3},
        {.key = "values_per_second_and_thread_1e9",
         .name = "of a thread",
         .group = "here",
         .unit = "G/s",
         .significant = 3},
        {.key = "paper_seconds", .name = "time", .group = paper, .unit = "s", .digits = 1},
        {.key = "paper_values_per_second_1e9",
         .name = "values",
         .group = paper,
         .unit = "G/s",
         .significant = 3},
        {.key = "paper_values_per_second_and_core_1e9",
         .name = "of a core",
         .group = paper,
         .unit = "G/s",
         .significant = 3},
    };
    struct sheet *sheet;
    char caption[128];
    RETURN_IF_ERROR(sheet_create(columns, sizeof columns / sizeof *columns, &sheet, error));
    snprintf(caption, sizeof caption, "encoding %.0f uniform values of %u bits on %u threads",
             (double)lab_rows(lab, ROWS), WIDTH, lab->threads);
    enum status status = lab_begin(lab, caption, sheet, error);
    if (status == STATUS_OK)
        status = measure_all(lab, sheet, error);
    if (status != STATUS_OK) {
        sheet_destroy(sheet);
        return status;
    }
    return lab_sheet(lab, caption, sheet, error);
}
