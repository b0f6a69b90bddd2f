/*
 * inline_query.c: `tessera lab inline-query`: query Q1.1 of the Star Schema Benchmark over four columns of lineorder, scale factor 20, decoded
 * in the query's kernel as published: a thread block decodes its piece of each column, and a thread keeps its values in registers. SIGMOD
 * 2022, section 4.3: with GPU-SIMDBP128, 32 values a thread, the query is 14 times slower than with GPU-FOR; section 4.2: with D = 8 queries
 * are hardly faster than with D = 4, and above that slower, because a query holds D values of each column.
 *
 * The sum is compared with the host's. The kernels are in lab/kernels/published; on a processor there is nothing to measure.
 */
#include "lab/experiments/experiments.h"

#include "lab/bench/kernel.h"
#include "lab/ssb/lineorder.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

#define THREADS 128u
#define COLUMNS 4u

/* In the order of lab/kernels/published/q11_cuda.h. */
static const struct {
    uint32_t column;
    int32_t low, high; /* of the values that pass */
} tested[COLUMNS] = {{LO_ORDERDATE, 19930101, 19931231},
                     {LO_DISCOUNT, 1, 3},
                     {LO_QUANTITY, INT32_MIN, 24},
                     {LO_EXTENDEDPRICE, INT32_MIN, INT32_MAX}};
enum { DISCOUNT = 1, PRICE = 3 };

static const struct method {
    const char *name, *codec, *header, *type;
    uint32_t rows;          /* of a piece */
    double paper;           /* its time to that of D = 4; 0: no number, but */
    const char *paper_says; /* ... a word, or NULL */
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
enum { PAPER = 7 };            /* the table's column of the paper's figures */

struct query {
    struct lab *lab;
    struct dataset datasets[COLUMNS];
    uint64_t rows;
    int64_t expected;

    /* Of the method that is measured. */
    struct encoded encoded[COLUMNS];
    struct lab_column columns[COLUMNS];
    struct lab_kernel kernel;
    cuda_address chunks[COLUMNS], out;
    uint32_t chunk_tiles, tiles;
};

/* ---- Data ---- */

/* Adds up on the host, piece by piece on all threads. */
struct adding {
    const struct query *query;
    int64_t sums[PARALLEL_THREADS_MAX];
};

static enum status add_piece(void *context, uint64_t item, unsigned thread, struct error *error)
{
    struct adding *const adding = context;
    const struct query *const query = adding->query;
    const uint64_t first = item * ENCODED_CHUNK_ROWS;
    const uint64_t last = first + ENCODED_CHUNK_ROWS < query->rows ? first + ENCODED_CHUNK_ROWS : query->rows;
    (void)error;
    for (uint64_t row = first; row < last; row++) {
        bool keep = true;
        for (uint32_t c = 0; c < COLUMNS; c++) {
            const int32_t value = query->datasets[c].values[row];
            keep = keep && value >= tested[c].low && value <= tested[c].high;
        }
        if (keep)
            adding->sums[thread] +=
                (int64_t)query->datasets[DISCOUNT].values[row] * query->datasets[PRICE].values[row];
    }
    return STATUS_OK;
}

static enum status make_columns(struct query *query, struct error *error)
{
    struct lab *const lab = query->lab;
    struct ssb_generator *generator;
    struct adding adding = {.query = query};
    RETURN_IF_ERROR(lineorder_generator(lab, &generator, error));
    enum status status = STATUS_OK;
    query->rows = lineorder_rows(lab, generator);
    for (uint32_t c = 0; status == STATUS_OK && c < COLUMNS; c++) {
        const struct lineorder_column source = {.generator = generator, .column = tested[c].column};
        status = dataset_make(lab, "making lineorder", query->rows, fill_lineorder, &source,
                              &query->datasets[c], error);
    }
    ssb_generator_destroy(generator);
    RETURN_IF_ERROR(status);
    RETURN_IF_ERROR(parallel_for(lab->threads, (query->rows + ENCODED_CHUNK_ROWS - 1) / ENCODED_CHUNK_ROWS,
                                 add_piece, &adding, error));
    for (unsigned thread = 0; thread < PARALLEL_THREADS_MAX; thread++)
        query->expected += adding.sums[thread];
    return STATUS_OK;
}

/* ---- Measuring ---- */

static enum status launch(void *context, struct error *error)
{
    struct query *const query = context;
    void *arguments[] = {query->chunks, &query->out, &query->chunk_tiles, &query->tiles, &query->rows};
    return lab_kernel_launch(query->lab, &query->kernel, arguments, error);
}

static enum status open_method(struct query *query, const struct method *method, struct error *error)
{
    struct lab *const lab = query->lab;
    char *source;
    for (uint32_t c = 0; c < COLUMNS; c++) {
        RETURN_IF_ERROR(
            encoded_make(lab, codec_by_name(method->codec), &query->datasets[c], &query->encoded[c], error));
        RETURN_IF_ERROR(lab_column_open(lab, &query->encoded[c], &query->columns[c], error));
        query->chunks[c] = cuda_decode_chunks(query->columns[c].decode);
    }
    query->chunk_tiles = ENCODED_CHUNK_ROWS / TILE_ROWS;
    query->tiles = (uint32_t)((query->rows + TILE_ROWS - 1) / TILE_ROWS);
    RETURN_IF_ERROR(kernel_text_q11(method->header, method->type, THREADS, &source, error));
    RETURN_IF_ERROR(lab_kernel_open(lab, source, KERNEL_Q11, THREADS, 0, &query->kernel, error));
    query->kernel.blocks = (unsigned)(((uint64_t)query->tiles * TILE_ROWS + method->rows - 1) / method->rows);
    return STATUS_OK;
}

static void close_method(struct query *query)
{
    lab_kernel_close(query->lab, &query->kernel);
    for (uint32_t c = 0; c < COLUMNS; c++) {
        lab_column_close(&query->columns[c]);
        encoded_free(&query->encoded[c]);
    }
}

static enum status measure_opened(struct query *query, const struct method *method, struct speed *speed,
                                  struct error *error)
{
    struct lab *const lab = query->lab;
    int64_t found = 0;
    RETURN_IF_ERROR(cuda_set_words(lab->cuda, query->out, 0, sizeof found / sizeof(uint32_t), error));
    RETURN_IF_ERROR(launch(query, error)); /* later runs add to it, unchecked */
    RETURN_IF_ERROR(cuda_copy_to_host(lab->cuda, &found, query->out, sizeof found, error));
    RETURN_IF_ERROR(cuda_synchronize(lab->cuda, error));
    if (found != query->expected)
        return error_set(error, STATUS_CHECK_FAILED, "Q1.1 by %s is %" PRId64 ", not %" PRId64, method->name,
                         found, query->expected);
    return lab_time(lab, launch, query, speed, error);
}

static uint64_t bytes_of(const struct query *query)
{
    uint64_t bytes = 0;
    for (uint32_t c = 0; c < COLUMNS; c++)
        bytes += query->encoded[c].bytes;
    return bytes;
}

static void add_paper(struct sheet *sheet, const struct method *method)
{
    if (method->paper > 0)
        sheet_number(sheet, method->paper);
    else
        sheet_missing(sheet, method->paper_says);
}

static enum status measure_methods(struct query *query, struct speed speeds[METHODS], struct sheet *sheet,
                                   struct error *error)
{
    struct lab *const lab = query->lab;
    for (size_t m = 0; m < METHODS; m++) {
        progress_report(lab->progress, "running Q1.1", "methods", m, METHODS);
        enum status status = open_method(query, &methods[m], error);
        if (status == STATUS_OK)
            status = measure_opened(query, &methods[m], &speeds[m], error);
        const double bytes = (double)bytes_of(query);
        close_method(query);
        RETURN_IF_ERROR(status);
        sheet_text(sheet, methods[m].name);
        sheet_number(sheet, bytes);
        sheet_number(sheet, speeds[m].median);
        sheet_number(sheet, speeds[m].least);
        sheet_number(sheet, speeds[m].most);
        sheet_number(sheet, speeds[m].median / speeds[PLAIN].median);
        sheet_number(sheet, m >= REFERENCE ? speeds[m].median / speeds[REFERENCE].median : NAN);
        add_paper(sheet, &methods[m]);
        sheet_number(sheet, 100 * bytes / (speeds[m].median * 1e-3) / lab->read_ceiling);
        RETURN_IF_ERROR(lab_row_done(lab, sheet, error));
    }
    return STATUS_OK;
}

static enum status measure(struct query *query, struct sheet *sheet, struct error *error)
{
    struct speed speeds[METHODS];
    RETURN_IF_ERROR(make_columns(query, error));
    RETURN_IF_ERROR(cuda_allocate(query->lab->cuda, sizeof(int64_t), "a sum", &query->out, error));
    return measure_methods(query, speeds, sheet, error);
}

/* The rows of a table that is not measured. */
static void show_missing(struct sheet *sheet, size_t column_count)
{
    for (size_t m = 0; m < METHODS; m++) {
        sheet_text(sheet, methods[m].name);
        for (size_t c = 1; c < column_count; c++)
            if (c == PAPER)
                add_paper(sheet, &methods[m]);
            else
                sheet_missing(sheet, c == 1 ? "no GPU" : NULL);
    }
}

enum status lab_inline_query(struct lab *lab, struct error *error)
{
    static const struct sheet_column columns[] = {
        {.key = "method", .name = "decoded by", .text = true, .width = 26},
        {.key = "bytes", .name = "size", .unit = "MB", .scale = 1e-6, .digits = 1},
        {.key = "ms", .name = "Q1.1", .unit = "ms", .digits = 3},
        {.key = "least_ms", .name = "least", .unit = "ms", .digits = 3},
        {.key = "most_ms", .name = "most", .unit = "ms", .digits = 3},
        {.key = "to_plain", .name = "of plain's", .suffix = "x", .digits = 2},
        {.key = "to_d4", .name = "here", .group = "of D = 4's", .suffix = "x", .digits = 2},
        {.key = "paper_to_d4", .name = "paper", .group = "of D = 4's", .suffix = "x", .digits = 0},
        {.key = "percent_of_read", .name = "of reading", .unit = "%", .digits = 1},
    };
    static const char caption[] = "Q1.1, decoded in its kernel as published";
    struct query query = {.lab = lab};
    struct sheet *sheet;
    RETURN_IF_ERROR(sheet_create(columns, sizeof columns / sizeof *columns, &sheet, error));
    if (!lab->cuda) {
        show_missing(sheet, sizeof columns / sizeof *columns);
        return lab_sheet(lab, caption, sheet, error);
    }
    enum status status = lab_begin(lab, caption, sheet, error);
    if (status == STATUS_OK)
        status = measure(&query, sheet, error);
    cuda_free(lab->cuda, query.out);
    for (uint32_t c = 0; c < COLUMNS; c++)
        dataset_free(lab, &query.datasets[c]);
    if (status == STATUS_OK)
        return lab_sheet(lab, caption, sheet, error);
    sheet_destroy(sheet);
    return status;
}
