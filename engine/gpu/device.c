/* device.c: a GPU as a device that runs plans (engine/run/device.h, run.c). */
#include "engine/gpu/device.h"

#include "engine/gpu/peers/peers.h"
#include "engine/gpu/rows/rows.h"
#include "engine/gpu/run_internal.h"
#include "engine/gpu/windows/windows.h"
#include "engine/measure/ceiling.h"
#include "storage/base/memory.h"

#include <stdio.h>
#include <stdlib.h>

static void gpu_close(struct device *device)
{
    if (!device)
        return;
    cuda_columns_destroy(device->columns);
    cuda_modules_destroy(device->modules);
    cuda_close(device->cuda);
    free(device);
}

static enum status gpu_open(const struct device_options *options, struct device **device, struct error *error)
{
    struct device *opened = calloc(1, sizeof *opened);
    if (!opened)
        return error_out_of_memory(error, sizeof *opened, "the device");
    opened->late = options->late;
    opened->kernel = options->kernel;
    opened->threads = options->threads;
    enum status status = cuda_open(options->ordinal, &opened->cuda, error);
    status = AND_THEN(status, cuda_columns_create(opened->cuda, options->memory, &opened->columns, error));
    status = AND_THEN(status, cuda_modules_create(opened->cuda, &opened->modules, error));
    if (status != STATUS_OK) {
        gpu_close(opened);
        return status;
    }
    snprintf(opened->text, sizeof opened->text, "%s (cuda:%u)", cuda_properties(opened->cuda)->name,
             options->ordinal);
    *device = opened;
    return STATUS_OK;
}

/* A stream that a statement has until it ends. */
struct attached {
    struct execution_stream of; /* the first member, so that a pointer to it is one to this */
    struct cuda *cuda;
};

static void detach(struct execution_stream *stream)
{
    struct attached *const attached = (struct attached *)(void *)stream;
    cuda_detach(attached->cuda);
    free(attached);
}

static enum status attach(struct device *device, struct cuda **cuda, struct error *error)
{
    struct attached *attached;
    RETURN_IF_ERROR(memory_take(&attached, sizeof *attached, "a statement's stream", error));
    *attached = (struct attached){.of = {.device = device, .leave = detach}};
    const enum status status = cuda_attach(device->cuda, &attached->cuda, error);
    if (status != STATUS_OK) {
        free(attached);
        return status;
    }
    execution_add_stream(&attached->of);
    *cuda = attached->cuda;
    return STATUS_OK;
}

enum status gpu_stream(struct device *device, struct cuda **cuda, struct error *error)
{
    const struct execution_stream *const stream = execution_find_stream(device);
    *cuda = stream ? ((const struct attached *)(const void *)stream)->cuda : device->cuda;
    return stream || !execution_memory() ? STATUS_OK : attach(device, cuda, error);
}

/* Once the run is busy, nobody else changes it. */
enum status gpu_attach(struct device_run *run, struct error *error)
{
    if (!run->counting) /* else it is a part of the call of another run */
        cuda_columns_enter(run->device->columns, &run->tenant);
    enum status status = gpu_stream(run->device, &run->cuda, error);
    status = AND_THEN(status, gpu_module_return(run, error));
    run->failed |= status != STATUS_OK;
    if (status != STATUS_OK && !run->counting)
        cuda_columns_leave(run->device->columns, &run->tenant);
    return status;
}

static bool gpu_find(char name[CODEC_COSTS_DEVICE_BYTES])
{
    return cuda_name(0, name, CODEC_COSTS_DEVICE_BYTES, NULL) == STATUS_OK;
}

static void gpu_follow(struct device *device, struct database *from, struct database *to)
{
    cuda_columns_follow(device->columns, from, to, device->threads);
}

static const char *gpu_text(const struct device *device)
{
    return device->text;
}

static enum status gpu_read_ceiling(struct device *device, double *bytes_per_second, struct error *error)
{
    return ceiling_cuda(device->cuda, bytes_per_second, error);
}

static enum status gpu_link_rate(struct device *device, double *bytes_per_second, struct error *error)
{
    return ceiling_link(device->cuda, bytes_per_second, error);
}

static enum status gpu_launch_floor(struct device *device, double *ms, struct error *error)
{
    return launch_floor_cuda(device->cuda, ms, error);
}

static enum status gpu_fit(struct device *device, struct plan *plan, struct error *error)
{
    const struct kernel_target target = cuda_kernel_target(device->cuda);
    return kernel_fit(plan, &target, error);
}

struct cuda *gpu_device_cuda(const struct device *device)
{
    return device->cuda;
}

const struct device_operations cuda_device = {.open = gpu_open,
                                              .close = gpu_close,
                                              .find = gpu_find,
                                              .number = cuda_count,
                                              .text = gpu_text,
                                              .follow = gpu_follow,
                                              .read_ceiling = gpu_read_ceiling,
                                              .link_rate = gpu_link_rate,
                                              .launch_floor = gpu_launch_floor,
                                              .fit = gpu_fit,
                                              .prepare = gpu_prepare,
                                              .compile = gpu_compile,
                                              .load = gpu_load,
                                              .run = gpu_run,
                                              .count = gpu_count,
                                              .fetch = cuda_rows_fetch,
                                              .windows = cuda_windows,
                                              .release = gpu_release,
                                              .team_open = gpu_team_open,
                                              .team_run = gpu_team_run,
                                              .team_close = gpu_team_close};
