/*
 * inline_query.c: `tessera lab inline-query`: queries Q1.1 and Q2.1 of the Star Schema Benchmark over four columns of lineorder each, scale
 * factor 20, decoded in the query's kernel as published: a thread block decodes its piece of each column, and a thread keeps its values in
 * registers. SIGMOD 2022, section 4.3: with GPU-SIMDBP128, 32 values a thread, Q1.1 is 14 times slower than with GPU-FOR; section 4.2: with
 * D = 8 queries are hardly faster than with D = 4, and above that slower, because a query holds D values of each column.
 *
 * The sums are compared with the host's. The kernels are in lab/kernels/published; on a processor there is nothing to measure.
 */
#include "lab/experiments/experiments.h"

#include "lab/bench/kernel.h"
#include "lab/ssb/query_data.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

#define THREADS 128u

static const struct method {
    const char *name, *codec, *header, *type;
    uint32_t rows;          /* of a piece */
    double paper;           /* Q1.1's time to that of D = 4; 0: no number, but */
    const char *paper_says; /* ... a word on all queries, or NULL */
} methods[] = {
    {"plain, 4 values a thread", "plain", "plain_cuda.h", "plain_block<4>", 512, 0, NULL},
    {"plain, 16 values a thread", "plain", "plain_cuda.h", "plain_block<16>", 2048, 0, NULL},
    {"GPU-FOR, D = 1", "gpu-for", "for_cuda.h", "for_offsets<1>", 128, 0, NULL},
    {"GPU-FOR, D = 4", "gpu-for", "for_cuda.h", "for_offsets<4>", 512, 1, NULL},
    {"GPU-FOR, D = 8", "gpu-for", "for_cuda.h", "for_offsets<8>", 1024, 0, "about 1"},
    {"GPU-FOR, D = 16", "gpu-for", "for_cuda.h", "for_offsets<16>", 2048, 0, "above 1"},
    {"GPU-FOR, D = 32", "gpu-for", "for_cuda.h", "for_offsets<32>", 4096, 0, "above 1"},
    {"GPU-SIMDBP128", "gpu-simdbp128", "simdbp128_cuda.h", "simdbp128", 4096, 14, NULL},
};
#define METHODS (sizeof methods / sizeof *methods)
enum { PLAIN, REFERENCE = 3 }; /* D = 4, which the paper uses */
enum { PAPER = 8 };            /* the table's column of the paper's figures */

struct query {
    struct lab *lab;
    const struct query_kind *kind;
    struct query_data data;

    /* Of the codec whose methods are measured. */
    const struct codec *codec;
    struct encoded encoded[QUERY_COLUMNS];
    struct lab_column columns[QUERY_COLUMNS];

    /* What the kernel gets: query_columns of lab/kernels/published/query_cuda.h, and where the sums go. */
    struct {
        cuda_address chunks[QUERY_COLUMNS], dimensions[QUERY_COLUMNS];
    } arguments;
    cuda_address keys[QUERY_COLUMNS], out;
    uint32_t chunk_tiles, tiles;
    struct lab_kernel kernel;
};

/* ---- Measuring ---- */

static enum status launch(void *context, struct error *error)
{
    struct query *const query = context;
    void *arguments[] = {&query->arguments, &query->out, &query->chunk_tiles, &query->tiles,
                         &query->data.rows};
    return lab_kernel_launch(query->lab, &query->kernel, arguments, error);
}

static void close_codec(struct query *query)
{
    for (uint32_t c = 0; c < QUERY_COLUMNS; c++) {
        lab_column_close(&query->columns[c]);
        encoded_free(&query->encoded[c]);
        query->encoded[c] = (struct encoded){0};
    }
    query->codec = NULL;
}

/* Encodes the columns, unless they are in that codec. */
static enum status open_codec(struct query *query, const struct codec *codec, struct error *error)
{
    if (query->codec == codec)
        return STATUS_OK;
    close_codec(query);
    for (uint32_t c = 0; c < QUERY_COLUMNS; c++) {
        RETURN_IF_ERROR(encoded_make(query->lab, codec, &query->data.columns[c], &query->encoded[c], error));
        RETURN_IF_ERROR(lab_column_open(query->lab, &query->encoded[c], &query->columns[c], error));
        query->arguments.chunks[c] = cuda_decode_chunks(query->columns[c].decode);
    }
    query->codec = codec;
    return STATUS_OK;
}

static enum status open_method(struct query *query, const struct method *method, struct error *error)
{
    char *source;
    RETURN_IF_ERROR(open_codec(query, codec_by_name(method->codec), error));
    query->chunk_tiles = ENCODED_CHUNK_ROWS / TILE_ROWS;
    query->tiles = (uint32_t)((query->data.rows + TILE_ROWS - 1) / TILE_ROWS);
    RETURN_IF_ERROR(
        kernel_text_query(query->kind->kernel, method->header, method->type, THREADS, &source, error));
    RETURN_IF_ERROR(lab_kernel_open(query->lab, source, KERNEL_QUERY, THREADS, 0, &query->kernel, error));
    query->kernel.blocks = (unsigned)(((uint64_t)query->tiles * TILE_ROWS + method->rows - 1) / method->rows);
    return STATUS_OK;
}

static enum status compare(struct query *query, const struct method *method, struct error *error)
{
    struct cuda *const cuda = query->lab->cuda;
    const uint32_t groups = query->kind->groups;
    int64_t found[QUERY_GROUPS_MAX];
    RETURN_IF_ERROR(cuda_set_words(cuda, query->out, 0, groups * (sizeof *found / sizeof(uint32_t)), error));
    RETURN_IF_ERROR(launch(query, error)); /* later runs add to it, unchecked */
    RETURN_IF_ERROR(cuda_copy_to_host(cuda, found, query->out, groups * sizeof *found, error));
    RETURN_IF_ERROR(cuda_synchronize(cuda, error));
    for (uint32_t g = 0; g < groups; g++)
        if (found[g] != query->data.sums[g])
            return error_set(error, STATUS_CHECK_FAILED, "%s by %s: sum %u is %" PRId64 ", not %" PRId64,
                             query->kind->name, method->name, g, found[g], query->data.sums[g]);
    return STATUS_OK;
}

static enum status measure_method(struct query *query, const struct method *method, struct speed *speed,
                                  struct error *error)
{
    enum status status = open_method(query, method, error);
    if (status == STATUS_OK)
        status = compare(query, method, error);
    if (status == STATUS_OK)
        status = lab_time(query->lab, launch, query, speed, error);
    lab_kernel_close(query->lab, &query->kernel);
    query->kernel = (struct lab_kernel){0};
    return status;
}

static double bytes_of(const struct query *query)
{
    double bytes = 0;
    for (uint32_t c = 0; c < QUERY_COLUMNS; c++)
        bytes += (double)query->encoded[c].bytes;
    return bytes;
}

static void add_paper(struct sheet *sheet, const struct query_kind *kind, const struct method *method)
{
    if (method->paper > 0 && (kind == query_kinds || method->paper == 1))
        sheet_number(sheet, method->paper);
    else
        sheet_missing(sheet, method->paper_says);
}

static enum status measure_methods(struct query *query, struct sheet *sheet, struct error *error)
{
    struct lab *const lab = query->lab;
    struct speed speeds[METHODS];
    for (size_t m = 0; m < METHODS; m++) {
        progress_report(lab->progress, query->kind->name, "methods", m, METHODS);
        RETURN_IF_ERROR(measure_method(query, &methods[m], &speeds[m], error));
        sheet_text(sheet, query->kind->name);
        sheet_text(sheet, methods[m].name);
        sheet_number(sheet, bytes_of(query));
        sheet_number(sheet, speeds[m].median);
        sheet_number(sheet, speeds[m].least);
        sheet_number(sheet, speeds[m].most);
        sheet_number(sheet, speeds[m].median / speeds[PLAIN].median);
        sheet_number(sheet, m >= REFERENCE ? speeds[m].median / speeds[REFERENCE].median : NAN);
        add_paper(sheet, query->kind, &methods[m]);
        sheet_number(sheet, 100 * bytes_of(query) / (speeds[m].median * 1e-3) / lab->read_ceiling);
        RETURN_IF_ERROR(lab_row_done(lab, sheet, error));
    }
    return STATUS_OK;
}

static enum status upload_dimensions(struct query *query, struct error *error)
{
    struct cuda *const cuda = query->lab->cuda;
    for (uint32_t c = 0; c < QUERY_COLUMNS; c++) {
        const struct query_dimension *const dimension = &query->data.dimensions[c];
        if (!dimension->bytes)
            continue;
        RETURN_IF_ERROR(cuda_allocate(cuda, dimension->count, "a dimension's keys", &query->keys[c], error));
        RETURN_IF_ERROR(cuda_copy_to_device(cuda, query->keys[c], dimension->bytes, dimension->count, error));
        query->arguments.dimensions[c] = query->keys[c];
    }
    return cuda_synchronize(cuda, error);
}

static enum status compile_method(void *context, uint64_t item, unsigned thread, struct error *error)
{
    const struct query *const query = context;
    char *source;
    (void)thread;
    RETURN_IF_ERROR(kernel_text_query(query->kind->kernel, methods[item].header, methods[item].type, THREADS,
                                      &source, error));
    return lab_text_compile(query->lab, source, NULL, error);
}

static enum status measure(struct query *query, struct sheet *sheet, struct error *error)
{
    RETURN_IF_ERROR(parallel_for(query->lab->threads, METHODS, compile_method, query, error));
    RETURN_IF_ERROR(query_data_make(query->lab, query->kind, &query->data, error));
    RETURN_IF_ERROR(cuda_allocate(query->lab->cuda, sizeof query->data.sums, "sums", &query->out, error));
    RETURN_IF_ERROR(upload_dimensions(query, error));
    return measure_methods(query, sheet, error);
}

static enum status measure_query(struct lab *lab, const struct query_kind *kind, struct sheet *sheet,
                                 struct error *error)
{
    struct query query = {.lab = lab, .kind = kind};
    const enum status status = measure(&query, sheet, error);
    close_codec(&query);
    cuda_free(lab->cuda, query.out);
    for (uint32_t c = 0; c < QUERY_COLUMNS; c++)
        cuda_free(lab->cuda, query.keys[c]);
    query_data_free(lab, &query.data);
    return status;
}

/* The rows of a query that is not measured. */
static void show_missing(const struct query_kind *kind, struct sheet *sheet)
{
    for (size_t m = 0; m < METHODS; m++) {
        sheet_text(sheet, kind->name);
        sheet_text(sheet, methods[m].name);
        for (uint32_t c = 2; c < sheet->column_count; c++)
            if (c == PAPER)
                add_paper(sheet, kind, &methods[m]);
            else
                sheet_missing(sheet, c == 2 ? "no GPU" : NULL);
    }
}

enum status lab_inline_query(struct lab *lab, struct error *error)
{
    static const struct sheet_column columns[] = {
        {.key = "query", .name = "query", .text = true},
        {.key = "method", .name = "decoded by", .text = true, .width = 26},
        {.key = "bytes", .name = "size", .unit = "MB", .scale = 1e-6, .digits = 1},
        {.key = "ms", .name = "time", .unit = "ms", .digits = 3},
        {.key = "least_ms", .name = "least", .unit = "ms", .digits = 3},
        {.key = "most_ms", .name = "most", .unit = "ms", .digits = 3},
        {.key = "to_plain", .name = "of plain's", .suffix = "x", .digits = 2},
        {.key = "to_d4", .name = "here", .group = "of D = 4's", .suffix = "x", .digits = 2},
        {.key = "paper_to_d4", .name = "paper", .group = "of D = 4's", .suffix = "x", .digits = 0},
        {.key = "percent_of_read", .name = "of reading", .unit = "%", .digits = 1},
    };
    static const char caption[] = "queries decoded in their kernels as published";
    struct sheet *sheet;
    RETURN_IF_ERROR(sheet_create(columns, sizeof columns / sizeof *columns, &sheet, error));
    enum status status = lab_begin(lab, caption, sheet, error);
    for (uint32_t q = 0; status == STATUS_OK && q < QUERIES; q++)
        if (lab->cuda)
            status = measure_query(lab, &query_kinds[q], sheet, error);
        else
            show_missing(&query_kinds[q], sheet);
    if (status == STATUS_OK)
        return lab_sheet(lab, caption, sheet, error);
    sheet_destroy(sheet);
    return status;
}
