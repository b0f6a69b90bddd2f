/*
 * posting_queries.c: `tessera lab posting-queries`: queries over posting lists: AND and OR of 2 to 8 lists of 2^16 to 2^24 documents.
 * Mallia et al., CIKM 2019, table 4: there the lists of 1000 queries over Gov2 and ClueWeb09 are decoded, and nothing is asked of them.
 * These collections are not public, so the lists are synthetic (lab/lists/list_query.h), of 2^26 documents, about as many as ClueWeb09 has
 * (50 million); and AND and OR are asked, too.
 *
 * On one thread of the processor by the paper's codecs, and on the GPU by the paper's methods as published and by ours. All lists of a query
 * are decoded, then all gaps are summed, then AND or OR follows; so the last two steps are the same for all codecs and are measured once.
 * Answers are compared with a count for each document. With --scale below 1 lists and documents are fewer.
 */
#include "lab/experiments/experiments.h"

#include "lab/lists/list_gpu.h"
#include "lab/lists/list_measure.h"
#include "lab/lists/list_sets.h"
#include "lab/published/published.h"
#include "storage/base/clock.h"
#include "storage/base/memory.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define DOCUMENT_BITS 26u

/* Lists of 2^low .. 2^high documents, in equal steps. */
static const struct shape {
    uint32_t lists, low, high;
} shapes[] = {{2, 16, 16}, {2, 20, 20}, {2, 24, 24}, {2, 16, 20}, {2, 16, 24}, {4, 16, 16},
              {4, 20, 20}, {4, 16, 24}, {8, 16, 16}, {8, 20, 20}, {8, 16, 24}};
#define QUERIES (sizeof shapes / sizeof *shapes)

/* ---- Methods, in the order of table 4 ---- */

#define SETS 2u /* Gov2 and ClueWeb09 */
static const struct method {
    const char *name;
    const char *codec;   /* of a GPU; NULL: a processor's, */
    uint32_t list_codec; /* which is this */
    uint32_t compared;   /* the method that speed-ups of the paper are over */
    double bits[SETS];   /* table 2, d-gaps of documents */
    double speeds[SETS]; /* table 4, million integers a second, on the V100, */
    double times[SETS];  /* and how many times as fast as the compared one, as printed there */
} methods[] = {
    {"BP32", NULL, LIST_BP32, 0, {5.06, 7.07}, {1665, 1476}, {1, 1}},
    {"SIMD-BP", NULL, LIST_SIMD_BP, 0, {6.56, 8.92}, {2257, 2029}, {1.36, 1.38}},
    {"GPU-BP128", "gpu-bp128", 0, 0, {6.66, 8.80}, {56017, 65605}, {33.64, 44.45}},
    {"GPU-BP256", "gpu-bp256", 0, 0, {7.15, 9.34}, {70552, 84293}, {42.37, 57.11}},
    {"VarintGB", NULL, LIST_VARINT_GB, 4, {10.86, 11.13}, {2073, 1517}, {1, 1}},
    {"StreamVByte", NULL, LIST_STREAM_VBYTE, 4, {10.86, 11.13}, {2204, 1545}, {1.06, 1.02}},
    {"GPU-VByte128", "gpu-vbyte128", 0, 4, {11.67, 11.93}, {49555, 57496}, {23.91, 37.90}},
    {"GPU-VByte1024", "gpu-vbyte1024", 0, 4, {11.39, 11.69}, {41598, 46385}, {20.07, 30.58}},
};
#define METHODS (sizeof methods / sizeof *methods)
enum { SIMD_BP = 1, GPU_BP128 = 2 }; /* by which whole queries are shown */

/* A GPU's method is measured both ways, a processor's as published. */
enum whose { AS_PUBLISHED, OURS, WHOSE };
static const char *const whose_names[] = {"as published", "ours"};

static uint32_t ways_of(const struct method *method)
{
    return method->codec ? WHOSE : 1;
}

static const struct published_method *published_of(const struct method *method)
{
    for (uint32_t m = 0; m < PUBLISHED_METHODS; m++)
        if (strcmp(published_methods[m].codec, method->codec) == 0)
            return &published_methods[m];
    return NULL;
}

/* What was measured of a query. Times in ms; NaN: not measured. */
struct answered {
    uint64_t integers, shortest, longest;
    uint32_t all_count, any_count;
    double bytes[METHODS], decode[METHODS][WHOSE];
    double sum, all, any;             /* on the processor */
    double gpu_sum, gpu_all, gpu_any; /* on the GPU */
};

struct queries {
    struct lab *lab;
    struct list_codec codecs[LIST_CODECS];
    struct list_gpu gpu;
    struct answered answered[QUERIES];
    char why[64]; /* why nothing is decoded as published, or "" */
};

/* ---- The processor ---- */

/* Lists decoded and summed, and room for results. */
struct serial {
    uint32_t *documents[LIST_QUERY_MAX];
    uint32_t *out[2]; /* for OR, which alternates; AND writes to the first */
    double *ms;
};

static void sum_all(const struct list_query *query, struct serial *serial)
{
    for (uint32_t l = 0; l < query->lists; l++)
        list_sum((const uint32_t *)query->gaps[l].values, (uint32_t)query->gaps[l].rows,
                 serial->documents[l]);
}

/* Gives where the answer is, and its length. */
typedef const uint32_t *serial_work(const struct list_query *query, struct serial *serial, uint32_t *count);

static const uint32_t *serial_sum(const struct list_query *query, struct serial *serial, uint32_t *count)
{
    sum_all(query, serial);
    *count = 0;
    return NULL;
}

static const uint32_t *serial_and(const struct list_query *query, struct serial *serial, uint32_t *count)
{
    const uint32_t *few = serial->documents[0];
    *count = (uint32_t)query->gaps[0].rows;
    for (uint32_t l = 1; l < query->lists; l++) {
        *count = list_and(few, *count, serial->documents[l], (uint32_t)query->gaps[l].rows, serial->out[0]);
        few = serial->out[0];
    }
    return few;
}

static const uint32_t *serial_or(const struct list_query *query, struct serial *serial, uint32_t *count)
{
    const uint32_t *any = serial->documents[0];
    *count = (uint32_t)query->gaps[0].rows;
    for (uint32_t l = 1; l < query->lists; l++) {
        uint32_t *const out = serial->out[l % 2];
        *count = list_or(any, *count, serial->documents[l], (uint32_t)query->gaps[l].rows, out);
        any = out;
    }
    return any;
}

static enum status time_serial(struct queries *queries, const struct list_query *query, struct serial *serial,
                               serial_work *work, double *median, struct error *error)
{
    struct lab *const lab = queries->lab;
    for (uint32_t i = 0; i < lab->repeat; i++) {
        uint32_t count;
        const double begin = clock_ms();
        const uint32_t *const documents = work(query, serial, &count);
        serial->ms[i] = clock_ms() - begin;
        if (documents)
            RETURN_IF_ERROR(
                list_query_check(query, work == serial_or, documents, count, "the processor", error));
        RETURN_IF_ERROR(cancel_check(error));
    }
    *median = speed_of(serial->ms, lab->repeat).median;
    return STATUS_OK;
}

static enum status measure_sets(struct queries *queries, const struct list_query *query,
                                struct answered *answered, struct error *error)
{
    const uint64_t integers = list_query_integers(query);
    struct serial serial = {0};
    enum status status =
        memory_take(&serial.ms, queries->lab->repeat * sizeof *serial.ms, "a list of times", error);
    for (uint32_t l = 0; l < query->lists && status == STATUS_OK; l++)
        status = memory_take(&serial.documents[l], query->gaps[l].rows * sizeof(uint32_t), "a list", error);
    for (uint32_t o = 0; o < 2 && status == STATUS_OK; o++)
        status = memory_take(&serial.out[o], integers * sizeof(uint32_t), "a query's answer", error);
    if (status == STATUS_OK)
        status = time_serial(queries, query, &serial, serial_sum, &answered->sum, error);
    if (status == STATUS_OK)
        status = time_serial(queries, query, &serial, serial_and, &answered->all, error);
    if (status == STATUS_OK)
        status = time_serial(queries, query, &serial, serial_or, &answered->any, error);
    for (uint32_t l = 0; l < LIST_QUERY_MAX; l++)
        free(serial.documents[l]);
    free(serial.out[0]);
    free(serial.out[1]);
    free(serial.ms);
    return status;
}

/* A processor's codec: its lists one after the other. */
static enum status measure_serial(struct queries *queries, const struct list_query *query, size_t method,
                                  struct answered *answered, struct error *error)
{
    double bits = 0, ms = 0;
    for (uint32_t l = 0; l < query->lists; l++) {
        const struct dataset *const gaps = &query->gaps[l];
        struct list_result result;
        RETURN_IF_ERROR(list_measure(queries->lab, &queries->codecs[methods[method].list_codec],
                                     (const uint32_t *)gaps->values, (uint32_t)gaps->rows, &result, error));
        bits += result.bits * (double)gaps->rows;
        ms += result.speed.median;
    }
    answered->bytes[method] = bits / 8;
    answered->decode[method][AS_PUBLISHED] = ms;
    return STATUS_OK;
}

/* ---- The GPU ---- */

/* All lists of a query in one codec, on the GPU. */
struct device_lists {
    uint32_t lists;
    struct encoded encoded[LIST_QUERY_MAX];
    struct lab_column columns[LIST_QUERY_MAX];
    struct published_decode published[LIST_QUERY_MAX];
    cuda_address gaps[LIST_QUERY_MAX]; /* where each is decoded to */
};

static enum status decode_published(void *context, struct error *error)
{
    struct device_lists *const device = context;
    for (uint32_t l = 0; l < device->lists; l++)
        RETURN_IF_ERROR(published_decode_run(&device->published[l], error));
    return STATUS_OK;
}

static enum status decode_ours(void *context, struct error *error)
{
    struct device_lists *const device = context;
    for (uint32_t l = 0; l < device->lists; l++)
        RETURN_IF_ERROR(cuda_decode_run(device->columns[l].decode, error));
    return STATUS_OK;
}

/* Without a GPU the lists are only encoded, for their sizes. */
static enum status open_lists(struct lab *lab, const struct list_query *query, const struct method *method,
                              struct device_lists *device, double *bytes, struct error *error)
{
    *bytes = 0;
    for (uint32_t l = 0; l < query->lists; l++) {
        device->lists++;
        RETURN_IF_ERROR(
            encoded_make(lab, codec_by_name(method->codec), &query->gaps[l], &device->encoded[l], error));
        *bytes += (double)device->encoded[l].bytes;
        if (!lab->cuda)
            continue;
        RETURN_IF_ERROR(lab_column_open(lab, &device->encoded[l], &device->columns[l], error));
        device->gaps[l] = cuda_decode_values(device->columns[l].decode, 0);
    }
    return STATUS_OK;
}

static void close_lists(struct device_lists *device)
{
    for (uint32_t l = 0; l < device->lists; l++) {
        published_decode_close(&device->published[l]);
        lab_column_close(&device->columns[l]);
        encoded_free(&device->encoded[l]);
    }
}

/* Decodes over values that are all 0, compares, and times. */
static enum status measure_way(struct lab *lab, const struct list_query *query, struct device_lists *device,
                               lab_work *work, const char *name, double *median, struct error *error)
{
    struct speed speed;
    for (uint32_t l = 0; l < query->lists; l++)
        RETURN_IF_ERROR(cuda_set_words(lab->cuda, device->gaps[l], 0, query->gaps[l].rows, error));
    RETURN_IF_ERROR(work(device, error));
    for (uint32_t l = 0; l < query->lists; l++)
        RETURN_IF_ERROR(lab_compare(lab, &query->gaps[l], device->gaps[l], name, error));
    RETURN_IF_ERROR(lab_time(lab, work, device, &speed, error));
    *median = speed.median;
    return STATUS_OK;
}

/* Sums, AND and OR follow the first codec that is decoded. */
static enum status measure_opened(struct queries *queries, const struct list_query *query, size_t method,
                                  struct device_lists *device, struct answered *answered, struct error *error)
{
    struct lab *const lab = queries->lab;
    const struct published_method *const published = published_of(&methods[method]);
    struct list_gpu_result sets;
    if (published_is_here(published, queries->why, sizeof queries->why)) {
        for (uint32_t l = 0; l < query->lists; l++)
            RETURN_IF_ERROR(published_decode_open(lab, published, &device->columns[l], query->gaps[l].rows,
                                                  false, &device->published[l], error));
        RETURN_IF_ERROR(measure_way(lab, query, device, decode_published, published->name,
                                    &answered->decode[method][AS_PUBLISHED], error));
    }
    RETURN_IF_ERROR(measure_way(lab, query, device, decode_ours, methods[method].codec,
                                &answered->decode[method][OURS], error));
    if (!isnan(answered->gpu_sum))
        return STATUS_OK;
    RETURN_IF_ERROR(list_gpu_measure(&queries->gpu, query, device->gaps, &sets, error));
    answered->gpu_sum = sets.sum.median;
    answered->gpu_all = sets.all.median;
    answered->gpu_any = sets.any.median;
    return STATUS_OK;
}

static enum status measure_gpu(struct queries *queries, const struct list_query *query, size_t method,
                               struct answered *answered, struct error *error)
{
    struct device_lists *device = NULL;
    RETURN_IF_ERROR(memory_zeros(&device, sizeof *device, "encoded lists", error));
    enum status status =
        open_lists(queries->lab, query, &methods[method], device, &answered->bytes[method], error);
    if (status == STATUS_OK && queries->lab->cuda)
        status = measure_opened(queries, query, method, device, answered, error);
    close_lists(device);
    free(device);
    return status;
}

/* ---- All queries ---- */

static bool is_left_out(const struct lab *lab, const struct method *method)
{
    return method->codec && lab->left_out[codec_by_name(method->codec)->id];
}

static void lengths_of(const struct list_query *query, struct answered *answered)
{
    answered->shortest = answered->longest = query->gaps[0].rows;
    for (uint32_t l = 1; l < query->lists; l++) {
        const uint64_t rows = query->gaps[l].rows;
        answered->shortest = rows < answered->shortest ? rows : answered->shortest;
        answered->longest = rows > answered->longest ? rows : answered->longest;
    }
}

static enum status measure_query(struct queries *queries, const struct shape *shape,
                                 struct answered *answered, struct error *error)
{
    struct lab *const lab = queries->lab;
    struct list_query query;
    uint32_t lengths[LIST_QUERY_MAX];
    *answered = (struct answered){.gpu_sum = NAN, .gpu_all = NAN, .gpu_any = NAN};
    for (uint32_t l = 0; l < shape->lists; l++) {
        const double bits = shape->low + (double)(shape->high - shape->low) * l / (shape->lists - 1);
        lengths[l] = (uint32_t)lab_rows(lab, (uint64_t)exp2(bits));
    }
    for (size_t m = 0; m < METHODS; m++)
        answered->bytes[m] = answered->decode[m][AS_PUBLISHED] = answered->decode[m][OURS] = NAN;
    enum status status = list_query_make(lab, (uint32_t)lab_rows(lab, UINT64_C(1) << DOCUMENT_BITS),
                                         shape->lists, lengths, &query, error);
    if (status == STATUS_OK) {
        answered->integers = list_query_integers(&query);
        lengths_of(&query, answered);
        answered->all_count = query.all_count;
        answered->any_count = query.any_count;
        status = measure_sets(queries, &query, answered, error);
    }
    for (size_t m = 0; m < METHODS && status == STATUS_OK; m++) {
        progress_report(lab->progress, "decoding", "methods", m, METHODS);
        if (!is_left_out(lab, &methods[m]))
            status = methods[m].codec ? measure_gpu(queries, &query, m, answered, error)
                                      : measure_serial(queries, &query, m, answered, error);
    }
    list_query_free(lab, &query);
    return status;
}

/* ---- Tables ---- */

/* A number that only a GPU gives. */
static void gpu_cell(const struct queries *queries, struct sheet *sheet, double number)
{
    if (!isnan(number))
        sheet_number(sheet, number);
    else
        sheet_missing(sheet, !queries->lab->cuda ? "no GPU" : *queries->why ? queries->why : NULL);
}

static void lists_cells(struct sheet *sheet, uint32_t lists, const struct answered *answered)
{
    sheet_number(sheet, lists);
    sheet_number(sheet, (double)answered->shortest);
    sheet_number(sheet, (double)answered->longest);
}

#define LISTS_COLUMNS                                                       \
    {.key = "lists", .name = "lists", .whole = true},                       \
        {.key = "shortest", .name = "shortest", .whole = true, .width = 8}, \
    {                                                                       \
        .key = "longest", .name = "longest", .whole = true, .width = 8      \
    }

static enum status query_row(const struct queries *queries, const struct shape *shape,
                             const struct answered *answered, struct sheet *sheet, struct error *error)
{
    const double serial = answered->decode[SIMD_BP][AS_PUBLISHED] + answered->sum;
    const double published = answered->decode[GPU_BP128][AS_PUBLISHED] + answered->gpu_sum;
    const double ours = answered->decode[GPU_BP128][OURS] + answered->gpu_sum;
    const double steps[][2] = {{answered->sum, answered->gpu_sum},
                               {answered->all, answered->gpu_all},
                               {answered->any, answered->gpu_any}};
    lists_cells(sheet, shape->lists, answered);
    sheet_number(sheet, answered->all_count);
    sheet_number(sheet, answered->any_count);
    for (uint32_t s = 0; s < 3; s++) {
        sheet_number(sheet, steps[s][0]);
        gpu_cell(queries, sheet, steps[s][1]);
    }
    for (uint32_t s = 1; s < 3; s++) {
        sheet_number(sheet, serial + steps[s][0]);
        gpu_cell(queries, sheet, published + steps[s][1]);
        gpu_cell(queries, sheet, ours + steps[s][1]);
    }
    return lab_row_done(queries->lab, sheet, error);
}

static enum status measure_queries(struct queries *queries, struct error *error)
{
    static const struct sheet_column columns[] = {
        LISTS_COLUMNS,
        {.key = "and_documents",
         .name = "AND",
         .group = "documents in the answer",
         .whole = true,
         .width = 8},
        {.key = "or_documents", .name = "OR", .group = "documents in the answer", .whole = true, .width = 8},
        {.key = "sum_cpu_ms", .name = "one thread", .group = "sums of gaps, ms", .digits = 4},
        {.key = "sum_gpu_ms", .name = "GPU", .group = "sums of gaps, ms", .digits = 4},
        {.key = "and_cpu_ms", .name = "one thread", .group = "AND, ms", .digits = 4},
        {.key = "and_gpu_ms", .name = "GPU", .group = "AND, ms", .digits = 4},
        {.key = "or_cpu_ms", .name = "one thread", .group = "OR, ms", .digits = 4},
        {.key = "or_gpu_ms", .name = "GPU", .group = "OR, ms", .digits = 4},
        {.key = "whole_and_simd_bp_ms", .name = "SIMD-BP", .group = "whole AND, ms", .digits = 4},
        {.key = "whole_and_published_ms", .name = "GPU-BP128", .group = "whole AND, ms", .digits = 4},
        {.key = "whole_and_ours_ms", .name = "ours", .group = "whole AND, ms", .digits = 4},
        {.key = "whole_or_simd_bp_ms", .name = "SIMD-BP", .group = "whole OR, ms", .digits = 4},
        {.key = "whole_or_published_ms", .name = "GPU-BP128", .group = "whole OR, ms", .digits = 4},
        {.key = "whole_or_ours_ms", .name = "ours", .group = "whole OR, ms", .digits = 4},
    };
    static const char caption[] = "queries over synthetic lists; whole: decoded by SIMD-BP on one thread, or "
                                  "by GPU-BP128 as published and by us";
    struct sheet *sheet;
    RETURN_IF_ERROR(sheet_create(columns, sizeof columns / sizeof *columns, &sheet, error));
    enum status status = lab_begin(queries->lab, caption, sheet, error);
    for (size_t q = 0; q < QUERIES && status == STATUS_OK; q++) {
        status = measure_query(queries, &shapes[q], &queries->answered[q], error);
        if (status == STATUS_OK)
            status = query_row(queries, &shapes[q], &queries->answered[q], sheet, error);
    }
    if (status == STATUS_OK)
        return lab_sheet(queries->lab, caption, sheet, error);
    sheet_destroy(sheet);
    return status;
}

#define WAYS (METHODS + 4) /* a processor's method has one, a GPU's two */

/* Decoding, query by query. */
static enum status show_decoding(const struct queries *queries, struct error *error)
{
    struct sheet_column columns[3 + WAYS] = {LISTS_COLUMNS};
    char keys[WAYS][64];
    struct sheet *sheet;
    uint32_t c = 0;
    for (size_t m = 0; m < METHODS; m++)
        for (uint32_t way = 0; way < ways_of(&methods[m]); way++, c++) {
            snprintf(keys[c], sizeof *keys, "%s%s%s ms", methods[m].name, methods[m].codec ? " " : "",
                     methods[m].codec ? whose_names[way] : "");
            lab_key(keys[c]);
            columns[3 + c] = (struct sheet_column){.key = keys[c],
                                                   .name = methods[m].codec ? whose_names[way] : "one thread",
                                                   .group = methods[m].name,
                                                   .digits = 4};
        }
    RETURN_IF_ERROR(sheet_create(columns, 3 + WAYS, &sheet, error));
    for (size_t q = 0; q < QUERIES; q++) {
        lists_cells(sheet, shapes[q].lists, &queries->answered[q]);
        for (size_t m = 0; m < METHODS; m++)
            for (uint32_t way = 0; way < ways_of(&methods[m]); way++)
                if (methods[m].codec)
                    gpu_cell(queries, sheet, queries->answered[q].decode[m][way]);
                else
                    sheet_number(sheet, queries->answered[q].decode[m][way]);
    }
    return lab_sheet(queries->lab, "decoding all lists of a query, ms", sheet, error);
}

/* Million integers a second over all queries. */
static double rate(const struct queries *queries, size_t method, uint32_t way)
{
    double integers = 0, ms = 0;
    for (size_t q = 0; q < QUERIES; q++) {
        integers += (double)queries->answered[q].integers;
        ms += queries->answered[q].decode[method][way];
    }
    return integers / ms * 1e-3;
}

static double bits(const struct queries *queries, size_t method)
{
    double integers = 0, bytes = 0;
    for (size_t q = 0; q < QUERIES; q++) {
        integers += (double)queries->answered[q].integers;
        bytes += queries->answered[q].bytes[method];
    }
    return 8 * bytes / integers;
}

/* Tables 2 and 4. */
static enum status show_rates(const struct queries *queries, struct error *error)
{
    static const struct sheet_column columns[] = {
        {.key = "method", .name = "method", .text = true},
        {.key = "bits", .name = "here", .group = "bits an integer", .digits = 2},
        {.key = "paper_gov2_bits", .name = "paper, Gov2", .group = "bits an integer", .digits = 2},
        {.key = "paper_clueweb09_bits", .name = "paper, ClueWeb09", .group = "bits an integer", .digits = 2},
        {.key = "published_mintegers_per_second", .name = "as published", .group = "million integers/s"},
        {.key = "ours_mintegers_per_second", .name = "ours", .group = "million integers/s"},
        {.key = "paper_gov2_mintegers_per_second", .name = "paper, Gov2", .group = "million integers/s"},
        {.key = "paper_clueweb09_mintegers_per_second",
         .name = "paper, ClueWeb09",
         .group = "million integers/s"},
        {.key = "over", .name = "speed-up over", .text = true},
        {.key = "published_times", .name = "as published", .group = "speed-up", .suffix = "x", .digits = 2},
        {.key = "ours_times", .name = "ours", .group = "speed-up", .suffix = "x", .digits = 2},
        {.key = "paper_gov2_times", .name = "paper, Gov2", .group = "speed-up", .suffix = "x", .digits = 2},
        {.key = "paper_clueweb09_times",
         .name = "paper, ClueWeb09",
         .group = "speed-up",
         .suffix = "x",
         .digits = 2},
    };
    struct sheet *sheet;
    RETURN_IF_ERROR(sheet_create(columns, sizeof columns / sizeof *columns, &sheet, error));
    for (size_t m = 0; m < METHODS; m++) {
        const struct method *const method = &methods[m];
        const double rates[WHOSE] = {rate(queries, m, AS_PUBLISHED), rate(queries, m, OURS)};
        const double base_rate = rate(queries, method->compared, AS_PUBLISHED);
        sheet_text(sheet, method->name);
        sheet_number(sheet, bits(queries, m));
        sheet_number(sheet, method->bits[0]);
        sheet_number(sheet, method->bits[1]);
        for (uint32_t way = 0; way < WHOSE; way++)
            if (method->codec)
                gpu_cell(queries, sheet, rates[way]);
            else
                sheet_number(sheet, rates[way]);
        sheet_number(sheet, method->speeds[0]);
        sheet_number(sheet, method->speeds[1]);
        sheet_text(sheet, methods[method->compared].name);
        sheet_number(sheet, rates[AS_PUBLISHED] / base_rate);
        sheet_number(sheet, rates[OURS] / base_rate);
        sheet_number(sheet, method->times[0]);
        sheet_number(sheet, method->times[1]);
    }
    return lab_sheet(
        queries->lab,
        "decoding the lists of all queries (tables 2 and 4); ours are synthetic, the paper's those of "
        "1000 queries, on a V100",
        sheet, error);
}

enum status lab_posting_queries(struct lab *lab, struct error *error)
{
    struct queries *queries = NULL;
    enum status status = memory_zeros(&queries, sizeof *queries, "figures", error);
    if (status != STATUS_OK)
        return status;
    queries->lab = lab;
    list_codecs_get(isa_level(), queries->codecs);
    if (lab->cuda)
        status = list_gpu_open(lab, &queries->gpu, error);
    if (status == STATUS_OK)
        status = measure_queries(queries, error);
    if (status == STATUS_OK)
        status = show_decoding(queries, error);
    if (status == STATUS_OK)
        status = show_rates(queries, error);
    list_gpu_close(&queries->gpu);
    free(queries);
    return status;
}
