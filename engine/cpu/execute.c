/*
 * engine/cpu/execute.c: a bound query on the CPU. Threads take pieces of the fact table; each has its own copy of
 * the parameters, decoding buffers (4 KB a column) and sums; the sums are added up at the end.
 */
#include "engine/run/engine_internal.h"

#include "operators/dialect/dimension_filter.h"
#include "storage/base/clock.h"

#include <stdlib.h>
#include <string.h>

/* Tiles that a thread takes at a time: 65,536 rows, some 50 microseconds, so that taking one costs nothing
 * and the last ones end together. */
#define PIECE_TILES 64u

/* Rows of a dimension filtered at a time; a multiple of 32. A thread is worth starting for FILTER_PIECES of
 * them: they take longer than starting it, some 30 microseconds. */
#define FILTER_ROWS   65536u
#define FILTER_PIECES 8u

struct worker {
    uint8_t *parameters; /* a struct tile_parameters: columns, dimensions, sums, in the layout's order */
    struct tile_list *list;
    int64_t *sums;
    uint32_t *present;
    uint32_t segment; /* that the columns stand in, or UINT32_MAX */
    bool used;        /* in this run */
};

struct cpu_query {
    tile_query *kernel;
    dimension_filter *filter;
    uint32_t *bitmaps[TILE_DIMENSIONS_MAX]; /* a join's bitmap, NULL where every row passes */
    uint32_t worker_count;
    struct worker *workers;
    uint64_t pieces;
    uint64_t filter_pieces[TILE_DIMENSIONS_MAX];
};

static struct tile_column *worker_column(const struct worker *worker, uint32_t place)
{
    return (struct tile_column *)(void *)worker->parameters + place;
}

static struct tile_dimension *worker_dimension(const struct bound_query *bound, const struct worker *worker,
                                               uint32_t place)
{
    return (struct tile_dimension *)(void *)(worker->parameters +
                                             bound->layout_columns * sizeof(struct tile_column)) +
           place;
}

static struct tile_sums *worker_sums(const struct bound_query *bound, const struct worker *worker)
{
    return (struct tile_sums *)(void *)(worker->parameters +
                                        bound->layout_columns * sizeof(struct tile_column) +
                                        bound->layout_dimensions * sizeof(struct tile_dimension));
}

/* ---- Prepare ---- */

static enum status zeroed(size_t bytes, const char *what, void *memory, struct error *error)
{
    bytes = (bytes + 63) / 64 * 64;
    void *aligned = aligned_alloc(64, bytes ? bytes : 64);
    if (!aligned)
        return error_out_of_memory(error, bytes, what);
    memset(aligned, 0, bytes);
    memcpy(memory, &aligned, sizeof aligned);
    return STATUS_OK;
}

static enum status worker_prepare(const struct bound_query *bound, const struct cpu_query *query,
                                  struct worker *worker, struct error *error)
{
    size_t bytes = bound->layout_columns * sizeof(struct tile_column) +
                   bound->layout_dimensions * sizeof(struct tile_dimension) + sizeof(struct tile_sums);
    RETURN_IF_ERROR(zeroed(bytes, "query parameters", &worker->parameters, error));
    RETURN_IF_ERROR(zeroed(sizeof *worker->list, "a list of rows", &worker->list, error));
    RETURN_IF_ERROR(zeroed(bound->slots * sizeof *worker->sums, "sums", &worker->sums, error));
    RETURN_IF_ERROR(zeroed(bound->slots * sizeof *worker->present, "sums", &worker->present, error));
    for (uint32_t c = 0; c < bound->column_count; c++) {
        struct tile_column *column = worker_column(worker, bound->columns[c].place);
        column->low = bound->columns[c].low;
        column->high = bound->columns[c].high;
        RETURN_IF_ERROR(zeroed(TILE_ROWS * sizeof(int32_t), "a decoding buffer", &column->buffer, error));
    }
    for (uint32_t j = 0; j < bound->join_count; j++) {
        const struct dimension_join *join = &bound->joins[j];
        struct tile_dimension *dimension = worker_dimension(bound, worker, join->place);
        dimension->bitmap = query->bitmaps[j];
        if (join->code < 0)
            continue;
        dimension->codes = bound->attributes[join->code].values;
        dimension->code_bytes = bound->attributes[join->code].value_bytes;
        dimension->code_base = (uint32_t)join->code_base;
    }
    struct tile_sums *sums = worker_sums(bound, worker);
    sums->sums = worker->sums;
    sums->present = worker->present;
    memcpy(sums->domain, bound->domain, sizeof sums->domain);
    return STATUS_OK;
}

static dimension_filter *filter_of(enum isa_level level)
{
#if defined(__x86_64__)
    return level == ISA_AVX512 ? dimension_filter_avx512
           : level == ISA_AVX2 ? dimension_filter_avx2
                               : dimension_filter_baseline;
#else
    (void)level;
    return dimension_filter_baseline;
#endif
}

static enum status cpu_load(struct prepared *prepared, struct error *error)
{
    const struct bound_query *bound = &prepared->bound;
    struct cpu_query *query = calloc(1, sizeof *query);
    if (!query)
        return error_out_of_memory(error, sizeof *query, "a prepared query");
    prepared->device = query;
    query->kernel = bound->query->kernel[isa_level()];
    query->filter = filter_of(isa_level());
    query->pieces = (bound->scan.kept_tiles + PIECE_TILES - 1) / PIECE_TILES;
    for (uint32_t j = 0; j < bound->join_count; j++) {
        const struct dimension_join *join = &bound->joins[j];
        if (join->predicate_count == 0)
            continue;
        query->filter_pieces[j] = (join->table->rows + FILTER_ROWS - 1) / FILTER_ROWS;
        RETURN_IF_ERROR(zeroed((join->table->rows / 32 + 1) * sizeof(uint32_t), "a dimension's bitmap",
                               &query->bitmaps[j], error));
    }
    query->workers = calloc(prepared->engine->threads, sizeof *query->workers);
    if (!query->workers)
        return error_out_of_memory(error, prepared->engine->threads * sizeof *query->workers, "workers");
    query->worker_count = prepared->engine->threads;
    for (uint32_t w = 0; w < query->worker_count; w++)
        RETURN_IF_ERROR(worker_prepare(bound, query, &query->workers[w], error));
    return STATUS_OK;
}

static void cpu_release(struct prepared *prepared)
{
    struct cpu_query *query = prepared->device;
    if (!query)
        return;
    for (uint32_t w = 0; w < query->worker_count; w++) {
        struct worker *worker = &query->workers[w];
        for (uint32_t c = 0; worker->parameters && c < prepared->bound.column_count; c++)
            free(worker_column(worker, prepared->bound.columns[c].place)->buffer);
        free(worker->parameters);
        free(worker->list);
        free(worker->sums);
        free(worker->present);
    }
    for (uint32_t j = 0; j < TILE_DIMENSIONS_MAX; j++)
        free(query->bitmaps[j]);
    free(query->workers);
    free(query);
}

/* ---- Run ---- */

/* Items: all pieces of the first dimension, then of the second, ... */
static enum status filter_piece(void *context, uint64_t item, unsigned thread, struct error *error)
{
    const struct prepared *prepared = context;
    const struct bound_query *bound = &prepared->bound;
    const struct cpu_query *query = prepared->device;
    (void)thread;
    (void)error;
    uint32_t j = 0;
    for (; item >= query->filter_pieces[j]; j++)
        item -= query->filter_pieces[j];
    const struct dimension_join *join = &bound->joins[j];
    struct dimension_predicate predicates[TILE_PREDICATES_MAX];
    for (uint32_t p = 0; p < join->predicate_count; p++) {
        const struct attribute_predicate *predicate = &join->predicates[p];
        const struct attribute *attribute = &bound->attributes[predicate->attribute];
        predicates[p] = (struct dimension_predicate){
            .values = attribute->values, .value_bytes = attribute->value_bytes, .ranges = predicate->ranges};
        memcpy(predicates[p].low, predicate->low, sizeof predicates[p].low);
        memcpy(predicates[p].high, predicate->high, sizeof predicates[p].high);
    }
    uint64_t first = item * FILTER_ROWS, left = join->table->rows - first;
    query->filter(predicates, join->predicate_count, first, left < FILTER_ROWS ? left : FILTER_ROWS,
                  query->bitmaps[j]);
    return STATUS_OK;
}

static void worker_enter_segment(const struct bound_query *bound, struct worker *worker, uint32_t segment)
{
    worker->segment = segment;
    for (uint32_t c = 0; c < bound->column_count; c++) {
        const struct segment_data *data = &bound->columns[c].data->segments[segment];
        struct tile_column *column = worker_column(worker, bound->columns[c].place);
        column->chunk = &data->chunk;
        column->validity = data->validity;
        column->decoded = -1;
    }
}

static void worker_begin(const struct bound_query *bound, struct worker *worker)
{
    worker->used = true;
    worker->segment = UINT32_MAX;
    memset(worker->sums, 0, bound->slots * sizeof *worker->sums);
    memset(worker->present, 0, bound->slots * sizeof *worker->present);
}

/* Tiles of the segment that the worker stands in. */
static void scan_tiles(const struct bound_query *bound, const struct cpu_query *query, struct worker *worker,
                       uint32_t first, uint32_t count)
{
    for (uint32_t index = first; index < first + count; index++) {
        uint32_t left = bound->fact->segment_rows[worker->segment] - index * TILE_ROWS;
        struct tile tile = {
            .index = index, .rows = left < TILE_ROWS ? left : TILE_ROWS, .list = worker->list};
        query->kernel((struct tile_parameters *)(void *)worker->parameters, &tile);
    }
}

static enum status scan_piece(void *context, uint64_t item, unsigned thread, struct error *error)
{
    const struct prepared *prepared = context;
    const struct bound_query *bound = &prepared->bound;
    const struct cpu_query *query = prepared->device;
    struct worker *worker = &query->workers[thread];
    RETURN_IF_ERROR(cancel_check(error));
    if (!worker->used)
        worker_begin(bound, worker);
    const struct tile_skip *scan = &bound->scan;
    uint64_t tile = item * PIECE_TILES,
             end = tile + PIECE_TILES < scan->kept_tiles ? tile + PIECE_TILES : scan->kept_tiles;
    for (uint64_t r = tile_skip_run(scan, tile); tile < end; r++) {
        const struct tile_run *run = &scan->runs[r];
        const uint32_t within = (uint32_t)(tile - run->before);
        const uint32_t count =
            (uint32_t)(run->tiles - within < end - tile ? run->tiles - within : end - tile);
        if (worker->segment != run->segment)
            worker_enter_segment(bound, worker, run->segment);
        scan_tiles(bound, query, worker, run->first + within, count);
        tile += count;
    }
    return STATUS_OK;
}

/* Dates of a year or a month, and whatever else a dimension is sorted by, are neighbours: then the scan
 * compares positions instead of looking up bits. */
static void bitmap_span(const uint32_t *bitmap, uint64_t rows, struct tile_dimension *dimension)
{
    uint64_t count = 0, first = 0, last = 0;
    for (uint64_t word = 0; word < (rows + 31) / 32; word++) {
        if (!bitmap[word])
            continue;
        if (count == 0)
            first = word * 32 + (uint32_t)__builtin_ctz(bitmap[word]);
        last = word * 32 + 31 - (uint32_t)__builtin_clz(bitmap[word]);
        count += (uint32_t)__builtin_popcount(bitmap[word]);
    }
    dimension->contiguous = count > 0 && count == last - first + 1;
    dimension->first = (int32_t)first;
    dimension->last = (int32_t)last;
}

static enum status filter_dimensions(struct prepared *prepared, struct error *error)
{
    const struct bound_query *bound = &prepared->bound;
    struct cpu_query *query = prepared->device;
    uint64_t pieces = 0;
    for (uint32_t j = 0; j < bound->join_count; j++)
        pieces += query->filter_pieces[j];
    const uint64_t threads = 1 + pieces / FILTER_PIECES;
    RETURN_IF_ERROR(parallel_for(threads < query->worker_count ? (unsigned)threads : query->worker_count,
                                 pieces, filter_piece, prepared, error));
    for (uint32_t j = 0; j < bound->join_count; j++) {
        if (!query->bitmaps[j])
            continue;
        struct tile_dimension span = {0};
        bitmap_span(query->bitmaps[j], bound->joins[j].table->rows, &span);
        for (uint32_t w = 0; w < query->worker_count; w++) {
            struct tile_dimension *dimension =
                worker_dimension(bound, &query->workers[w], bound->joins[j].place);
            dimension->contiguous = span.contiguous;
            dimension->first = span.first;
            dimension->last = span.last;
        }
    }
    return STATUS_OK;
}

static enum status cpu_run(struct prepared *prepared, struct query_timing *timing, const int64_t **sums,
                           const uint32_t **present, struct error *error)
{
    const struct bound_query *bound = &prepared->bound;
    struct cpu_query *query = prepared->device;
    for (uint32_t w = 0; w < query->worker_count; w++)
        query->workers[w].used = false;
    double begin = clock_ms();
    RETURN_IF_ERROR(filter_dimensions(prepared, error));
    worker_begin(bound, &query->workers[0]);
    double filtered = clock_ms();
    RETURN_IF_ERROR(parallel_for(query->worker_count, query->pieces, scan_piece, prepared, error));
    double scanned = clock_ms();
    struct worker *total = &query->workers[0];
    for (uint32_t w = 1; w < query->worker_count; w++)
        for (uint32_t slot = 0; query->workers[w].used && slot < bound->slots; slot++) {
            total->sums[slot] += query->workers[w].sums[slot];
            total->present[slot] |= query->workers[w].present[slot];
        }
    double end = clock_ms();
    *timing = (struct query_timing){.total_ms = end - begin,
                                    .filter_ms = filtered - begin,
                                    .kernel_ms = scanned - filtered,
                                    .merge_ms = end - scanned};
    *sums = total->sums;
    *present = total->present;
    return STATUS_OK;
}

static enum status cpu_bytes_read(struct prepared *prepared, uint64_t *bytes, struct error *error)
{
    (void)error;
    const struct tile_skip *scan = &prepared->bound.scan;
    const double share = scan->tiles ? (double)scan->kept_tiles / (double)scan->tiles : 1;
    *bytes = (uint64_t)(share * (double)prepared->bound.bytes);
    return STATUS_OK;
}

const struct device_operations cpu_operations = {
    .load = cpu_load, .run = cpu_run, .bytes_read = cpu_bytes_read, .release = cpu_release};
