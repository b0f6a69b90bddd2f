/* engine.c: see engine.h. An engine has one device, which gets all segments. */
#include "engine/run/engine.h"

#include "storage/base/bytes_parse.h"

#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct engine {
    const struct device_operations *operations;
    struct device *device;
    unsigned threads;
    struct device_options options;  /* of each device, but for its number */
    double read_ceiling;            /* bytes a second; 0 until measured */
    char why_cpu[ERROR_TEXT_BYTES]; /* the reason if "auto" found no GPU that can be used, else "" */
};

struct prepared_plan {
    struct engine *engine;
    struct device_run *run;
    bool loaded;
};

/* ---- Devices ---- */

void engine_choose_by_device(void)
{
    codec_costs_ask_gpu(cuda_device.find);
}

static enum status open_device(struct engine *engine, const struct device_operations *operations,
                               unsigned ordinal, struct error *error)
{
    struct device_options options = engine->options;
    options.ordinal = ordinal;
    engine->operations = operations;
    return operations->open(&options, &engine->device, error);
}

/* Reads the number of the GPU from "cuda" or "cuda:N"; false for other texts. */
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
        return open_device(engine, &cuda_device, ordinal, error);
    if (strcmp(device, "auto") == 0) {
        struct error why = {0};
        if (open_device(engine, &cuda_device, 0, &why) == STATUS_OK)
            return STATUS_OK;
        snprintf(engine->why_cpu, sizeof engine->why_cpu, "%s", why.text);
    } else if (strcmp(device, "cpu") != 0) {
        return error_set(error, STATUS_BAD_INPUT, "'%s' is no device; use auto, cpu, cuda or cuda:N", device);
    }
    return open_device(engine, &cpu_device, 0, error);
}

enum status engine_open(const struct engine_options *options, struct engine **engine, struct error *error)
{
    struct engine *opened = calloc(1, sizeof *opened);
    if (!opened)
        return error_out_of_memory(error, sizeof *opened, "the engine");
    opened->threads = options->threads ? options->threads : parallel_threads_available();
    opened->options =
        (struct device_options){.threads = opened->threads, .memory = UINT64_MAX, .late = options->late};
    enum status status = STATUS_OK;
    if (options->gpu_memory)
        status = bytes_parse(options->gpu_memory, "--gpu-memory", &opened->options.memory, error);
    if (status == STATUS_OK)
        status = choose(opened, options->device, error);
    if (status == STATUS_OK)
        *engine = opened;
    else
        free(opened);
    return status;
}

void engine_close(struct engine *engine)
{
    if (!engine)
        return;
    engine->operations->close(engine->device);
    free(engine);
}

const char *engine_device_text(const struct engine *engine)
{
    return engine->operations->text(engine->device);
}

const char *engine_why_cpu(const struct engine *engine)
{
    return engine->why_cpu[0] ? engine->why_cpu : NULL;
}

bool engine_is_cuda(const struct engine *engine)
{
    return engine->operations == &cuda_device;
}

unsigned engine_threads(const struct engine *engine)
{
    return engine->threads;
}

struct device *engine_device(const struct engine *engine)
{
    return engine->device;
}

enum status engine_read_ceiling(struct engine *engine, double *bytes_per_second, struct error *error)
{
    if (engine->read_ceiling == 0)
        RETURN_IF_ERROR(engine->operations->read_ceiling(engine->device, &engine->read_ceiling, error));
    *bytes_per_second = engine->read_ceiling;
    return STATUS_OK;
}

enum status engine_launch_floor(struct engine *engine, double *ms, struct error *error)
{
    *ms = 0;
    return engine->operations->launch_floor ? engine->operations->launch_floor(engine->device, ms, error)
                                            : STATUS_OK;
}

/* ---- Plans ---- */

enum status engine_prepare(struct engine *engine, const struct plan *plan, bool timed,
                           struct prepared_plan **prepared, struct error *error)
{
    struct prepared_plan *made = calloc(1, sizeof *made);
    if (!made)
        return error_out_of_memory(error, sizeof *made, "a query");
    made->engine = engine;
    const enum status status =
        engine->operations->prepare(engine->device, plan, NULL, timed, &made->run, error);
    if (status == STATUS_OK)
        *prepared = made;
    else
        free(made);
    return status;
}

/* The compiler needs 80 MB a thread, so 2.5 GB at most. */
#define COMPILE_THREADS_MAX 32u

struct compilation {
    struct prepared_plan *const *prepared;
    unsigned kernels; /* of each plan */
    uint64_t total;
    atomic_uint_fast64_t done;
    struct progress *progress;
};

static enum status compile_item(void *context, uint64_t item, unsigned thread, struct error *error)
{
    struct compilation *compilation = context;
    struct prepared_plan *plan = compilation->prepared[item / compilation->kernels];
    (void)thread;
    RETURN_IF_ERROR(cancel_check(error));
    RETURN_IF_ERROR(plan->engine->operations->compile(plan->run, item % compilation->kernels != 0, error));
    progress_report(compilation->progress, "compiling", "kernels",
                    atomic_fetch_add(&compilation->done, 1) + 1, compilation->total);
    return STATUS_OK;
}

enum status engine_compile(struct engine *engine, struct prepared_plan *const *prepared, uint32_t count,
                           bool counting, struct progress *progress, struct error *error)
{
    if (!engine->operations->compile)
        return STATUS_OK;
    struct compilation compilation = {
        .prepared = prepared, .kernels = counting ? 2 : 1, .progress = progress};
    compilation.total = (uint64_t)count * compilation.kernels;
    const unsigned threads = engine->threads < COMPILE_THREADS_MAX ? engine->threads : COMPILE_THREADS_MAX;
    return parallel_for(threads, compilation.total, compile_item, &compilation, error);
}

enum status engine_load(struct prepared_plan *prepared, struct run_timing *timing, struct error *error)
{
    if (prepared->loaded)
        return STATUS_OK;
    RETURN_IF_ERROR(prepared->engine->operations->load(prepared->run, timing, error));
    prepared->loaded = true;
    return STATUS_OK;
}

enum status engine_run(struct prepared_plan *prepared, const struct device_request *request,
                       struct partial *partial, struct run_timing *timing, struct error *error)
{
    *partial = (struct partial){0};
    RETURN_IF_ERROR(engine_load(prepared, timing, error));
    const enum status status =
        prepared->engine->operations->run(prepared->run, request, partial, timing, error);
    if (status != STATUS_OK)
        partial_free(partial);
    return status;
}

enum status engine_count(struct prepared_plan *prepared, bool steps, struct scan_counts *counts,
                         struct error *error)
{
    return prepared->engine->operations->count(prepared->run, steps, counts, error);
}

void engine_release(struct prepared_plan *prepared)
{
    if (!prepared)
        return;
    prepared->engine->operations->release(prepared->run);
    free(prepared);
}
