/*
 * engine/gpu/execute.c: a bound query on one GPU. Loading brings the compiled kernel and the columns' chunks,
 * byte for byte as they are on disk, into the GPU's memory; a run launches one graph: dimension filters,
 * cleared sums, scan.
 */
#include "engine/run/engine_internal.h"

#include "engine/cuda/cuda.h"
#include "engine/gpu/columns.h"
#include "engine/gpu/scan.h"
#include "engine/gpu/sectors.h"
#include "engine/cuda/kernel_cache.h"
#include "engine/gpu/kernel_plan.h"

#include <stdlib.h>
#include <string.h>

struct cuda_query {
    struct kernel_plan plan;
    struct kernel_binary binaries[KERNELS]; /* from compiling until loading */
    struct cuda_scan scan;
    const struct cuda_column *uploaded[BOUND_COLUMNS_MAX];
    const struct cuda_column *attributes[TILE_DIMENSIONS_MAX * (TILE_PREDICATES_MAX + 1)];
    cuda_address bitmaps[TILE_DIMENSIONS_MAX];
    cuda_address sums; /* int64 a slot, then uint32 a slot: present */
    uint8_t *bound;    /* struct tile_bound: columns, dimensions, sums, in the layout's order */
    struct bound_scan scan_work;
    struct bound_preparation preparation;
    uint8_t *answer; /* pinned copy of `sums` */
    uint64_t answer_bytes;
};

/* ---- Plan and compile ---- */

static enum status cuda_plan(struct prepared *prepared, struct error *error)
{
    struct cuda_query *query = calloc(1, sizeof *query);
    if (!query)
        return error_out_of_memory(error, sizeof *query, "a prepared query");
    prepared->device = query;
    const struct kernel_target target = cuda_kernel_target(prepared->engine->cuda);
    return kernel_plan_make(&prepared->bound, &target, &query->plan, error);
}

static enum status cuda_compile(struct prepared *prepared, enum kernel kernel, struct error *error)
{
    struct cuda_query *query = prepared->device;
    struct nvrtc_request request = {.name = prepared->bound.query->name,
                                    .source = query->plan.source,
                                    .arch = cuda_properties(prepared->engine->cuda)->arch,
                                    .options = kernel == KERNEL_COUNTING ? cuda_sectors_options : NULL};
    return query->binaries[kernel].cubin ? STATUS_OK
                                         : kernel_cache_get(&request, &query->binaries[kernel], NULL, error);
}

/* ---- Load ---- */

static enum status load_kernel(struct prepared *prepared, struct cuda_query *query, struct error *error)
{
    struct cuda *cuda = prepared->engine->cuda;
    struct kernel_binary *binary = &query->binaries[KERNEL_QUERY];
    const struct bound_query *bound = &prepared->bound;
    RETURN_IF_ERROR(cuda_compile(prepared, KERNEL_QUERY, error));
    prepared->info.compile_ms = binary->compile_ms;
    RETURN_IF_ERROR(cuda_scan_open(cuda, bound->query->name, binary->cubin, &query->plan, bound->fact,
                                   &bound->scan, &query->scan, error));
    kernel_binary_free(binary);
    struct cuda_function_properties properties;
    RETURN_IF_ERROR(cuda_function_properties(cuda, query->scan.scan, &properties, error));
    prepared->info.registers = properties.registers;
    prepared->info.local_bytes = properties.local_bytes;
    prepared->info.shared_bytes = (uint32_t)query->plan.shared_bytes;
    return STATUS_OK;
}

static enum status upload(struct prepared *prepared, struct cuda_query *query, struct error *error)
{
    const struct bound_query *bound = &prepared->bound;
    struct cuda *cuda = prepared->engine->cuda;
    struct cuda_columns *columns = prepared->engine->columns;
    for (uint32_t c = 0; c < bound->column_count; c++)
        RETURN_IF_ERROR(cuda_columns_chunks(columns, bound->columns[c].data, &query->uploaded[c], error));
    for (uint32_t a = 0; a < bound->attribute_count; a++)
        RETURN_IF_ERROR(cuda_columns_array(columns, &bound->attributes[a], &query->attributes[a], error));
    for (uint32_t j = 0; j < bound->join_count; j++)
        if (query->plan.bitmap_words[j]) {
            RETURN_IF_ERROR(cuda_allocate(cuda, query->plan.bitmap_words[j] * sizeof(uint32_t),
                                          "a dimension's bitmap", &query->bitmaps[j], error));
            /* the filter writes the words that have rows; a warp that looks for a range reads all */
            RETURN_IF_ERROR(cuda_set_words(cuda, query->bitmaps[j], 0, query->plan.bitmap_words[j], error));
        }
    query->answer_bytes = (uint64_t)bound->slots * (sizeof(int64_t) + sizeof(uint32_t));
    RETURN_IF_ERROR(cuda_allocate(cuda, query->answer_bytes, "sums", &query->sums, error));
    void *answer;
    RETURN_IF_ERROR(cuda_pinned_allocate(cuda, query->answer_bytes, &answer, error));
    query->answer = answer;
    return STATUS_OK;
}

/* ---- The kernels' arguments ---- */

static void fill_columns(const struct bound_query *bound, struct cuda_query *query)
{
    struct bound_column *columns = (struct bound_column *)(void *)query->bound;
    for (uint32_t c = 0; c < bound->column_count; c++)
        columns[bound->columns[c].place] = (struct bound_column){.chunks = query->uploaded[c]->address,
                                                                 .low = bound->columns[c].low,
                                                                 .high = bound->columns[c].high,
                                                                 .staging = query->plan.staging[c]};
}

static void fill_dimensions(const struct bound_query *bound, struct cuda_query *query)
{
    struct bound_dimension *dimensions =
        (struct bound_dimension *)(void *)(query->bound +
                                           bound->layout_columns * sizeof(struct bound_column));
    for (uint32_t j = 0; j < bound->join_count; j++) {
        const struct dimension_join *join = &bound->joins[j];
        dimensions[join->place] =
            (struct bound_dimension){.bitmap = query->bitmaps[j],
                                     .codes = join->code < 0 ? 0 : query->attributes[join->code]->address,
                                     .bitmap_words = query->plan.bitmap_words[j],
                                     .code_base = (uint32_t)join->code_base};
    }
}

static void fill_preparation(const struct bound_query *bound, struct cuda_query *query)
{
    query->preparation =
        (struct bound_preparation){.clear = query->sums, .clear_words = query->answer_bytes / 4};
    for (uint32_t j = 0; j < bound->join_count; j++) {
        const struct dimension_join *join = &bound->joins[j];
        struct bound_filter *filter = &query->preparation.dimension[j];
        if (join->predicate_count == 0)
            continue;
        filter->bitmap = query->bitmaps[j];
        filter->rows = join->table->rows;
        for (uint32_t p = 0; p < join->predicate_count; p++) {
            const struct attribute_predicate *predicate = &join->predicates[p];
            filter->where[p].values = query->attributes[predicate->attribute]->address;
            filter->where[p].value_bytes = bound->attributes[predicate->attribute].value_bytes;
            filter->where[p].ranges = predicate->ranges;
            for (uint32_t r = 0; r < predicate->ranges; r++) {
                filter->where[p].low[r] = (uint32_t)predicate->low[r];
                filter->where[p].high[r] = (uint32_t)predicate->high[r];
            }
        }
    }
}

static enum status fill(const struct bound_query *bound, struct cuda_query *query, struct error *error)
{
    size_t columns = bound->layout_columns * sizeof(struct bound_column);
    size_t dimensions = bound->layout_dimensions * sizeof(struct bound_dimension);
    size_t bytes = columns + dimensions + sizeof(struct bound_sums);
    query->bound = calloc(1, bytes);
    if (!query->bound)
        return error_out_of_memory(error, bytes, "a kernel's arguments");
    fill_columns(bound, query);
    fill_dimensions(bound, query);
    struct bound_sums *sums = (struct bound_sums *)(void *)(query->bound + columns + dimensions);
    *sums = (struct bound_sums){
        .sums = query->sums,
        .present = query->sums + bound->slots * sizeof(int64_t),
        .slots = bound->slots,
    };
    memcpy(sums->domain, bound->domain, sizeof sums->domain);
    query->scan_work = (struct bound_scan){.work = query->scan.work,
                                           .items = query->scan.items,
                                           .staging_offset = query->plan.staging_offset,
                                           .staging_bytes = query->plan.staging_bytes};
    fill_preparation(bound, query);
    query->scan.prepare_arguments[0] = &query->preparation;
    query->scan.scan_arguments[0] = query->bound;
    query->scan.scan_arguments[1] = &query->scan_work;
    return STATUS_OK;
}

static enum status cuda_load(struct prepared *prepared, struct error *error)
{
    struct cuda *cuda = prepared->engine->cuda;
    struct cuda_query *query = prepared->device;
    RETURN_IF_ERROR(load_kernel(prepared, query, error));
    RETURN_IF_ERROR(upload(prepared, query, error));
    RETURN_IF_ERROR(fill(&prepared->bound, query, error));
    RETURN_IF_ERROR(cuda_scan_record(cuda, &query->scan, error));
    return cuda_synchronize(cuda, error);
}

static void cuda_release(struct prepared *prepared)
{
    struct cuda *cuda = prepared->engine->cuda;
    struct cuda_query *query = prepared->device;
    if (!query)
        return;
    cuda_scan_close(cuda, &query->scan);
    for (uint32_t i = 0; i < TILE_DIMENSIONS_MAX; i++)
        cuda_free(cuda, query->bitmaps[i]);
    cuda_free(cuda, query->sums);
    cuda_pinned_free(cuda, query->answer);
    for (enum kernel kernel = 0; kernel < KERNELS; kernel++)
        kernel_binary_free(&query->binaries[kernel]);
    for (uint32_t c = 0; c < BOUND_COLUMNS_MAX; c++)
        cuda_columns_release(query->uploaded[c]);
    for (uint32_t a = 0; a < sizeof query->attributes / sizeof *query->attributes; a++)
        cuda_columns_release(query->attributes[a]);
    kernel_plan_free(&query->plan);
    free(query->bound);
    free(query);
}

/* ---- Run ---- */

/* Filters and scan are timed apart, then together. Both compute the same sums. */
static enum status cuda_run(struct prepared *prepared, struct query_timing *timing, const int64_t **sums,
                            const uint32_t **present, struct error *error)
{
    struct cuda *cuda = prepared->engine->cuda;
    struct cuda_query *query = prepared->device;
    RETURN_IF_ERROR(cancel_check(error));
    *timing = (struct query_timing){0};
    RETURN_IF_ERROR(cuda_scan_run_apart(cuda, &query->scan, &timing->filter_ms, &timing->kernel_ms, error));
    RETURN_IF_ERROR(cuda_scan_run(cuda, &query->scan, error));
    RETURN_IF_ERROR(cuda_copy_to_host(cuda, query->answer, query->sums, query->answer_bytes, error));
    RETURN_IF_ERROR(cuda_synchronize(cuda, error));
    RETURN_IF_ERROR(cuda_scan_elapsed(cuda, &query->scan, &timing->total_ms, error));
    *sums = (const int64_t *)(const void *)query->answer;
    *present = (const uint32_t *)(const void *)(query->answer + prepared->bound.slots * sizeof(int64_t));
    return STATUS_OK;
}

static enum status cuda_bytes_read(struct prepared *prepared, uint64_t *bytes, struct error *error)
{
    struct cuda *cuda = prepared->engine->cuda;
    struct cuda_query *query = prepared->device;
    RETURN_IF_ERROR(cuda_compile(prepared, KERNEL_COUNTING, error));
    const struct sector_count count = {.name = prepared->bound.query->name,
                                       .cubin = query->binaries[KERNEL_COUNTING].cubin,
                                       .columns = query->uploaded,
                                       .column_count = prepared->bound.column_count,
                                       .blocks = query->scan.scan_blocks,
                                       .threads = query->plan.threads,
                                       .shared_bytes = query->plan.shared_bytes,
                                       .arguments = query->scan.scan_arguments};
    uint64_t column_bytes[BOUND_COLUMNS_MAX];
    RETURN_IF_ERROR(cuda_scan_prepare(cuda, &query->scan, error));
    RETURN_IF_ERROR(cuda_sectors_count(cuda, &count, column_bytes, error));
    *bytes = 0;
    for (uint32_t c = 0; c < count.column_count; c++)
        *bytes += column_bytes[c];
    return STATUS_OK;
}

const struct device_operations cuda_operations = {.plan = cuda_plan,
                                                  .compile = cuda_compile,
                                                  .load = cuda_load,
                                                  .run = cuda_run,
                                                  .bytes_read = cuda_bytes_read,
                                                  .release = cuda_release};
