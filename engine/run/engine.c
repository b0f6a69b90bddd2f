/* engine/run/engine.c: see engine/run/engine.h. */
#include "engine/run/engine.h"

#include "engine/measure/ceiling.h"
#include "engine/cuda/cuda.h"
#include "engine/gpu/columns.h"
#include "engine/run/engine_internal.h"

#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const struct device_operations *operations(const struct engine *engine)
{
    return engine->cuda ? &cuda_operations : &cpu_operations;
}

static enum status open_gpu(struct engine *engine, unsigned ordinal, struct error *error)
{
    RETURN_IF_ERROR(cuda_open(ordinal, &engine->cuda, error));
    enum status status = cuda_columns_create(engine->cuda, &engine->columns, error);
    if (status != STATUS_OK) {
        cuda_close(engine->cuda);
        engine->cuda = NULL;
        return status;
    }
    snprintf(engine->device, sizeof engine->device, "%s (cuda:%u)", cuda_properties(engine->cuda)->name,
             ordinal);
    return STATUS_OK;
}

/* "cuda" or "cuda:N" */
static bool gpu_ordinal(const char *device, unsigned *ordinal)
{
    *ordinal = 0;
    if (strcmp(device, "cuda") == 0)
        return true;
    if (strncmp(device, "cuda:", 5) != 0 || device[5] < '0' || device[5] > '9')
        return false;
    char *end;
    unsigned long number = strtoul(device + 5, &end, 10);
    *ordinal = (unsigned)number;
    return *end == '\0' && number < 1024;
}

static enum status choose(struct engine *engine, const char *device, struct error *error)
{
    unsigned ordinal;
    if (gpu_ordinal(device, &ordinal))
        return open_gpu(engine, ordinal, error);
    if (strcmp(device, "auto") == 0) {
        struct error why = {0};
        if (open_gpu(engine, 0, &why) == STATUS_OK)
            return STATUS_OK;
        snprintf(engine->why_cpu, sizeof engine->why_cpu, "%s", why.text);
    } else if (strcmp(device, "cpu") != 0) {
        return error_set(error, STATUS_BAD_INPUT, "'%s' is no device; use auto, cpu, cuda or cuda:N", device);
    }
    snprintf(engine->device, sizeof engine->device, "CPU, %u thread%s, %s", engine->threads,
             engine->threads == 1 ? "" : "s", isa_name(isa_level()));
    return STATUS_OK;
}

enum status engine_open(const char *device, unsigned threads, struct engine **engine, struct error *error)
{
    struct engine *opened = calloc(1, sizeof *opened);
    if (!opened)
        return error_out_of_memory(error, sizeof *opened, "the engine");
    opened->threads = threads ? threads : parallel_threads_available();
    enum status status = choose(opened, device, error);
    if (status != STATUS_OK) {
        free(opened);
        return status;
    }
    *engine = opened;
    return STATUS_OK;
}

void engine_close(struct engine *engine)
{
    if (!engine)
        return;
    cuda_columns_destroy(engine->columns);
    cuda_close(engine->cuda);
    free(engine);
}

const char *engine_device_text(const struct engine *engine)
{
    return engine->device;
}

const char *engine_why_cpu(const struct engine *engine)
{
    return engine->why_cpu[0] ? engine->why_cpu : NULL;
}

bool engine_is_cuda(const struct engine *engine)
{
    return engine->cuda != NULL;
}

unsigned engine_threads(const struct engine *engine)
{
    return engine->threads;
}

static void describe_steps(struct prepared *prepared)
{
    const struct bound_query *bound = &prepared->bound;
    const uint64_t sums_bytes = bound->slots * (sizeof(int64_t) + sizeof(uint32_t)); /* and who is present */
    struct prepared_info *info = &prepared->info;
    info->fact_rows = bound->fact->rows;
    info->tiles = bound->scan.tiles;
    info->tiles_skipped = bound->scan.tiles - bound->scan.kept_tiles;
    info->rows_skipped = bound->scan.rows - bound->scan.kept_rows;
    info->skip_ms = bound->skip_ms;
    info->filter_bytes = sums_bytes;
    for (uint32_t j = 0; j < bound->join_count; j++) {
        const struct dimension_join *join = &bound->joins[j];
        if (join->predicate_count == 0)
            continue;
        info->filter_rows += join->table->rows;
        info->filter_bytes += (join->table->rows / 32 + 1) * sizeof(uint32_t);
        for (uint32_t p = 0; p < join->predicate_count; p++)
            info->filter_bytes +=
                join->table->rows * bound->attributes[join->predicates[p].attribute].value_bytes;
    }
    const unsigned merged = prepared->engine->cuda ? 0 : prepared->engine->threads - 1;
    info->merge_rows = (uint64_t)merged * bound->slots;
    info->merge_bytes = merged * sums_bytes;
}

enum status engine_bind(struct engine *engine, struct database *database, const struct star_query *query,
                        const char *codec, struct prepared **prepared, struct error *error)
{
    struct prepared *made = calloc(1, sizeof *made);
    if (!made)
        return error_out_of_memory(error, sizeof *made, "a prepared query");
    made->engine = engine;
    enum status status = bound_query_open(database, query, codec, engine->threads, &made->bound, error);
    if (status == STATUS_OK) {
        describe_steps(made);
        if (operations(engine)->plan)
            status = operations(engine)->plan(made, error);
    }
    if (status != STATUS_OK) {
        prepared_destroy(made);
        return status;
    }
    *prepared = made;
    return STATUS_OK;
}

/* A compiler takes 80 MB a thread: 2.5 GB on however many cores. */
#define COMPILE_THREADS_MAX 32u

struct compilation {
    struct prepared *const *prepared;
    unsigned kernels; /* of each query */
    uint64_t total;
    atomic_uint_fast64_t done;
    struct progress *progress;
};

static enum status compile_item(void *context, uint64_t item, unsigned thread, struct error *error)
{
    struct compilation *compilation = context;
    struct prepared *prepared = compilation->prepared[item / compilation->kernels];
    (void)thread;
    RETURN_IF_ERROR(cancel_check(error));
    RETURN_IF_ERROR(
        operations(prepared->engine)->compile(prepared, (enum kernel)(item % compilation->kernels), error));
    progress_report(compilation->progress, "compiling", "kernels",
                    atomic_fetch_add(&compilation->done, 1) + 1, compilation->total);
    return STATUS_OK;
}

enum status engine_compile(struct engine *engine, struct prepared *const *prepared, uint32_t count,
                           bool counting, struct progress *progress, struct error *error)
{
    if (!operations(engine)->compile)
        return STATUS_OK;
    struct compilation compilation = {
        .prepared = prepared, .kernels = counting ? KERNELS : KERNEL_QUERY + 1, .progress = progress};
    compilation.total = (uint64_t)count * compilation.kernels;
    unsigned threads = engine->threads < COMPILE_THREADS_MAX ? engine->threads : COMPILE_THREADS_MAX;
    return parallel_for(threads, compilation.total, compile_item, &compilation, error);
}

enum status engine_load(struct prepared *prepared, struct error *error)
{
    return operations(prepared->engine)->load(prepared, error);
}

enum status engine_prepare(struct engine *engine, struct database *database, const struct star_query *query,
                           const char *codec, struct prepared **prepared, struct error *error)
{
    RETURN_IF_ERROR(engine_bind(engine, database, query, codec, prepared, error));
    enum status status = engine_load(*prepared, error);
    if (status != STATUS_OK) {
        prepared_destroy(*prepared);
        *prepared = NULL;
    }
    return status;
}

void prepared_destroy(struct prepared *prepared)
{
    if (!prepared)
        return;
    operations(prepared->engine)->release(prepared);
    bound_query_close(&prepared->bound);
    free(prepared);
}

const struct prepared_info *prepared_info(const struct prepared *prepared)
{
    return &prepared->info;
}

enum status prepared_bytes_read(struct prepared *prepared, uint64_t *bytes, struct error *error)
{
    return operations(prepared->engine)->bytes_read(prepared, bytes, error);
}

enum status engine_read_ceiling(struct engine *engine, double *bytes_per_second, struct error *error)
{
    if (engine->read_ceiling == 0)
        RETURN_IF_ERROR(engine->cuda ? ceiling_cuda(engine->cuda, &engine->read_ceiling, error)
                                     : ceiling_cpu(engine->threads, &engine->read_ceiling, error));
    *bytes_per_second = engine->read_ceiling;
    return STATUS_OK;
}

enum status engine_run(struct prepared *prepared, struct query_timing *timing, struct result *result,
                       struct error *error)
{
    const int64_t *sums;
    const uint32_t *present;
    RETURN_IF_ERROR(operations(prepared->engine)->run(prepared, timing, &sums, &present, error));
    return result ? bound_query_result(&prepared->bound, sums, present, result, error) : STATUS_OK;
}
