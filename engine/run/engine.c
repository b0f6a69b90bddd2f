/* engine.c: see engine.h. What concerns several devices is in members.c. */
#include "engine/run/engine_internal.h"

#include "storage/base/bytes_parse.h"
#include "storage/base/clock.h"
#include "storage/base/memory.h"

#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- Devices ---- */

void engine_choose_by_device(void)
{
    codec_costs_ask_gpu(cuda_device.find);
}

/* Opens the member with this number, and gives it its part of the host's threads. */
static enum status open_member(struct engine *engine, const struct device_list *list, uint32_t m,
                               struct error *error)
{
    const unsigned threads = (engine->threads + list->count - 1 - m) / list->count;
    struct member *const member = &engine->members[m];
    struct device_options options = engine->options;
    options.ordinal = list->ordinals[m];
    options.threads = member->threads = threads ? threads : 1;
    return list->operations->open(&options, &member->device, error);
}

static enum status open_members(struct engine *engine, const struct device_list *list, struct error *error)
{
    engine->operations = list->operations;
    for (uint32_t m = 0; m < list->count; m++) {
        RETURN_IF_ERROR(open_member(engine, list, m, error));
        engine->sharers = ++engine->member_count;
    }
    return STATUS_OK;
}

/* "cuda:0,1" */
static void write_list(const struct device_list *list, char *text, size_t bytes)
{
    size_t used = (size_t)snprintf(text, bytes, list->operations == &cuda_device ? "cuda:" : "cpu");
    for (uint32_t d = 0; d < list->count && used < bytes; d++)
        if (list->operations == &cuda_device)
            used += (size_t)snprintf(text + used, bytes - used, "%s%u", d ? "," : "", list->ordinals[d]);
        else if (d)
            used += (size_t)snprintf(text + used, bytes - used, ",cpu");
}

/* The members' texts up to their end or " (", if they are all the same there: the name of a GPU. */
static bool alike(const struct engine *engine, int *length)
{
    const char *const first = engine->operations->text(engine->members[0].device);
    const char *const end = strstr(first, " (");
    *length = (int)(end ? (size_t)(end - first) : strlen(first));
    for (uint32_t m = 1; m < engine->member_count; m++)
        if (strncmp(first, engine->operations->text(engine->members[m].device),
                    (size_t)*length + (end != NULL)) != 0)
            return false;
    return true;
}

/* "2 x NVIDIA H200 (cuda:0,1)", "2 x CPU (cpu,cpu), 4 threads, avx512". */
static void write_text(struct engine *engine, const struct device_list *list)
{
    char names[DEVICES_MAX * 5 + 8];
    char *const text = engine->text;
    const size_t bytes = sizeof engine->text;
    const char *const first = engine->operations->text(engine->members[0].device);
    int length;
    write_list(list, names, sizeof names);
    if (list->operations == &cpu_device)
        snprintf(text, bytes, "%u x CPU (%s), %u threads%s", list->count, names,
                 engine->threads > list->count ? engine->threads : list->count, strrchr(first, ','));
    else if (alike(engine, &length))
        snprintf(text, bytes, "%u x %.*s (%s)", list->count, length, first, names);
    else
        for (size_t m = 0, used = 0; m < engine->member_count && used < bytes; m++)
            used += (size_t)snprintf(text + used, bytes - used, "%s%s", m ? ", " : "",
                                     engine->operations->text(engine->members[m].device));
    if (list->count == 1)
        snprintf(text, bytes, "%s", first);
}

static void close_members(struct engine *engine)
{
    for (uint32_t m = 0; m < engine->member_count; m++)
        engine->operations->close(engine->members[m].device);
    engine->member_count = 0;
}

/* Processes of a host take its GPUs in turn, unless GPUs are named. */
static void take_turn(const struct engine *engine, struct device_list *list)
{
    unsigned gpus = 0;
    if (engine->cluster && list->operations == &cuda_device && list->count == 1 &&
        cuda_device.number(&gpus, NULL) == STATUS_OK)
        list->ordinals[0] = cluster_local_rank(engine->cluster) % gpus;
}

static enum status choose(struct engine *engine, const char *device, struct device_list *list,
                          struct error *error)
{
    if (strcmp(device, "auto") == 0) {
        struct error why = {0};
        *list = (struct device_list){.operations = &cuda_device, .count = 1};
        take_turn(engine, list);
        if (open_members(engine, list, &why) == STATUS_OK)
            return STATUS_OK;
        snprintf(engine->why_cpu, sizeof engine->why_cpu, "%s", why.text);
        device = "cpu";
    }
    RETURN_IF_ERROR(device_list_read(device, list, error));
    if (strcmp(device, "cuda") == 0)
        take_turn(engine, list);
    return open_members(engine, list, error);
}

static enum status read_memory(struct engine *engine, const struct engine_options *options,
                               struct error *error)
{
    engine->memory.limit = memory_available("") / 2;
    if (options->memory)
        RETURN_IF_ERROR(bytes_parse(options->memory, "--memory", &engine->memory.limit, error));
    engine->spill = options->spill ? strdup(options->spill) : NULL;
    return options->spill && !engine->spill ? error_out_of_memory(error, strlen(options->spill), "the engine")
                                            : STATUS_OK;
}

const struct memory_account *engine_memory(const struct engine *engine)
{
    return &engine->memory;
}

void engine_enter(struct engine *engine, struct execution *execution)
{
    *execution =
        (struct execution){.outer = execution_current(), .memory = &engine->memory, .spill = engine->spill};
    execution_enter(execution);
}

enum status engine_open(const struct engine_options *options, struct engine **engine, struct error *error)
{
    struct device_list list;
    struct engine *opened = calloc(1, sizeof *opened);
    if (!opened)
        return error_out_of_memory(error, sizeof *opened, "the engine");
    opened->cluster = options->cluster;
    opened->threads = options->threads ? options->threads : cluster_threads(options->cluster);
    opened->options =
        (struct device_options){.memory = UINT64_MAX, .late = options->late, .kernel = options->kernel};
    enum status status = STATUS_OK;
    if (options->gpu_memory)
        status = bytes_parse(options->gpu_memory, "--gpu-memory", &opened->options.memory, error);
    status = AND_THEN(status, read_memory(opened, options, error));
    status = AND_THEN(status, choose(opened, options->device, &list, error));
    if (status == STATUS_OK && options->one_device && opened->member_count > 1)
        status = error_set(error, STATUS_BAD_INPUT,
                           "'%.80s' names %u devices; this measures a single one: give cuda:N or cpu",
                           options->device, opened->member_count);
    if (status == STATUS_OK)
        write_text(opened, &list);
    if (options->cluster)
        status = cluster_devices(options->cluster, status, opened->member_count, opened->text,
                                 sizeof opened->text, &opened->sharers, &opened->first_sharer, error);
    if (status == STATUS_OK) {
        *engine = opened;
    } else {
        close_members(opened);
        free(opened->spill);
        free(opened);
    }
    return status;
}

void engine_close(struct engine *engine)
{
    if (!engine)
        return;
    close_members(engine);
    free(engine->spill);
    free(engine);
}

void engine_follow(struct engine *engine, struct database *from, struct database *to)
{
    for (uint32_t m = 0; engine->operations->follow && m < engine->member_count; m++)
        engine->operations->follow(engine->members[m].device, from, to);
}

const char *engine_device_text(const struct engine *engine)
{
    return engine->text;
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

struct cluster *engine_cluster(const struct engine *engine)
{
    return engine->cluster;
}

struct device *engine_device(const struct engine *engine)
{
    return engine->members[0].device;
}

uint32_t engine_members(const struct engine *engine)
{
    return engine->member_count;
}

enum status engine_read_ceiling(struct engine *engine, double *bytes_per_second, struct error *error)
{
    if (engine->read_ceiling == 0) {
        double own = 0;
        const enum status status = members_rate(engine, engine->operations->read_ceiling, &own, error);
        RETURN_IF_ERROR(cluster_ceiling(engine->cluster, status, &own, error));
        engine->read_ceiling = own;
    }
    *bytes_per_second = engine->read_ceiling;
    return STATUS_OK;
}

enum status engine_link_rate(struct engine *engine, double *bytes_per_second, struct error *error)
{
    *bytes_per_second = 0;
    const enum status status =
        engine->operations->link_rate
            ? members_rate(engine, engine->operations->link_rate, bytes_per_second, error)
            : STATUS_OK;
    return cluster_ceiling(engine->cluster, status, bytes_per_second, error);
}

enum status engine_launch_floor(struct engine *engine, double *ms, struct error *error)
{
    *ms = 0;
    for (uint32_t m = 0; engine->operations->launch_floor && m < engine->member_count; m++) {
        double floor = 0;
        RETURN_IF_ERROR(engine->operations->launch_floor(engine->members[m].device, &floor, error));
        *ms = floor > *ms ? floor : *ms;
    }
    return STATUS_OK;
}

/* ---- Plans ---- */

enum status engine_fit(struct engine *engine, struct plan *plan, struct error *error)
{
    for (uint32_t m = 0; engine->operations->fit && m < engine->member_count; m++)
        RETURN_IF_ERROR(engine->operations->fit(engine->members[m].device, plan, error));
    return STATUS_OK;
}

enum status engine_prepare(struct engine *engine, const struct plan *plan, bool timed,
                           struct prepared_plan **prepared, struct error *error)
{
    struct prepared_plan *made = NULL;
    RETURN_IF_ERROR(
        memory_zeros(&made, sizeof *made + engine->member_count * sizeof *made->members, "a query", error));
    made->engine = engine;
    made->plan = plan;
    enum status status = members_prepare(made, timed, error);
    if (engine->cluster)
        status =
            cluster_alike(engine->cluster, CLUSTER_PREPARE, status, cluster_plan_number(plan), "plan", error);
    if (status == STATUS_OK)
        *prepared = made;
    else
        engine_release(made);
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

/* One kernel for all members, one after the other: the second finds the first one's in the cache of kernels. */
static enum status compile_item(void *context, uint64_t item, unsigned thread, struct error *error)
{
    struct compilation *compilation = context;
    struct prepared_plan *plan = compilation->prepared[item / compilation->kernels];
    const bool counting = item % compilation->kernels != 0;
    (void)thread;
    RETURN_IF_ERROR(cancel_check(error));
    for (uint32_t m = 0; m < plan->engine->member_count; m++)
        RETURN_IF_ERROR(plan->engine->operations->compile(plan->members[m].run, counting, error));
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
    RETURN_IF_ERROR(members_load(prepared, timing, error));
    prepared->loaded = true;
    return STATUS_OK;
}

enum status engine_run(struct prepared_plan *prepared, const struct device_request *request,
                       struct partial *partial, struct run_timing *timing, struct error *error)
{
    const struct engine *engine = prepared->engine;
    const double begin = clock_ms();
    *partial = (struct partial){0};
    timing->compile_ms = timing->load_ms = timing->open_ms = 0;
    enum status status = engine_load(prepared, timing, error);
    status = AND_THEN(status, engine->sharers > 1 ? members_run(prepared, request, partial, timing, error)
                                                  : engine->operations->run(prepared->members[0].run, request,
                                                                            partial, timing, error));
    if (engine->cluster)
        status = cluster_exchange(engine->cluster, prepared->plan, status, engine->threads, partial, timing,
                                  error);
    if (status != STATUS_OK)
        partial_free(partial);
    const double rest = clock_ms() - begin - timing->compile_ms - timing->load_ms - timing->total_ms;
    timing->fetch_ms = rest > 0 ? rest : 0;
    return status;
}

enum status engine_fetch(const struct engine *engine, const struct device_rows *rows, uint32_t column,
                         int64_t *values, uint8_t *nulls, struct error *error)
{
    return engine->operations->fetch(rows, column, values, nulls, error);
}

enum status engine_windows(const struct engine *engine, struct device_rows *rows,
                           const struct device_window *windows, uint32_t count, const bool *kept,
                           const char **why, struct error *error)
{
    return engine->operations->windows(rows, windows, count, kept, why, error);
}

static struct engine_process own_process(const struct prepared_plan *prepared)
{
    struct engine_process own = {0};
    for (uint32_t m = 0; m < prepared->engine->member_count; m++) {
        const struct engine_part part = engine_part(prepared, m);
        own.segments += part.segments;
        own.tiles += part.tiles;
        own.bytes += part.bytes;
        own.scan_ms = part.scan_ms > own.scan_ms ? part.scan_ms : own.scan_ms;
        own.total_ms = part.total_ms > own.total_ms ? part.total_ms : own.total_ms;
    }
    return own;
}

enum status engine_count(struct prepared_plan *prepared, bool steps, struct scan_counts *counts,
                         struct error *error)
{
    struct cluster *const cluster = prepared->engine->cluster;
    enum status status = members_count(prepared, steps, counts, error);
    if (!cluster)
        return status;
    if (status == STATUS_OK && !prepared->processes)
        status = memory_zeros(&prepared->processes, cluster_size(cluster) * sizeof *prepared->processes,
                              "the processes' counts", error);
    RETURN_IF_ERROR(cluster_count(cluster, prepared->plan, status, counts, error));
    const struct engine_process own = own_process(prepared);
    return cluster_gather(cluster, &own, sizeof own, prepared->processes, error);
}

void engine_release(struct prepared_plan *prepared)
{
    if (!prepared)
        return;
    members_release(prepared);
    free(prepared->processes);
    free(prepared);
}

const struct engine_process *engine_process(const struct prepared_plan *prepared, uint32_t rank)
{
    return &prepared->processes[rank];
}

const struct engine_exchange *engine_exchange_of(const struct prepared_plan *prepared)
{
    return &prepared->exchange;
}

struct engine_part engine_part(const struct prepared_plan *prepared, uint32_t m)
{
    const struct engine *engine = prepared->engine;
    const struct member_run *member = &prepared->members[m];
    return (struct engine_part){.device = engine->operations->text(engine->members[m].device),
                                .segments = engine->sharers > 1 ? member->segment_count
                                                                : prepared->plan->fact->segment_count,
                                .tiles = member->tiles,
                                .bytes = member->bytes,
                                .scan_ms = member->timing.scan_ms,
                                .total_ms = member->timing.total_ms};
}
