/*
 * lend.c: the module of a run (run_internal.h). Between two calls it is with those that no run uses (memory/modules.h), where
 * another run of the same kernel may take it: then the next call finds its kernels and sends its arguments again, or loads
 * a module of its own if there is no other.
 */
#include "engine/cuda/ahead.h"
#include "engine/gpu/run_internal.h"

#include <stdlib.h>

/* By which modules of the same kernel are known. */
static const char *source_of(const struct device_run *run)
{
    return run->tier.is_general ? run->tier.general.kernel : run->kernel.source;
}

bool gpu_module_take(struct device_run *run)
{
    return cuda_modules_take(run->device->modules, source_of(run), &run->lent, &run->scan.module,
                             &run->scan.graph);
}

void gpu_module_give(struct device_run *run)
{
    cuda_modules_give(run->device->modules, source_of(run), &run->lent, &run->scan.module, &run->scan.graph);
    cuda_groups_give(run);
}

void gpu_module_drop(struct device_run *run)
{
    if (run->scan.module)
        cuda_modules_drop(run->device->modules, run->lent);
    cuda_groups_drop(run);
}

enum status gpu_module_binary(struct device_run *run, struct error *error)
{
    struct kernel_binary *const binary = &run->binaries[BINARY_SCAN];
    const struct nvrtc_request request = gpu_kernel_request(run, BINARY_SCAN);
    if (run->tier.is_general)
        return ahead_get(run->tier.general.kernel, cuda_properties(run->device->cuda)->arch, &binary->cubin,
                         &binary->cubin_bytes, error);
    return kernel_cache_get(&request, binary, NULL, error);
}

enum status gpu_module_open(struct device_run *run, struct error *error)
{
    struct cuda *const cuda = run->cuda;
    struct kernel_binary *const binary = &run->binaries[BINARY_SCAN];
    RETURN_IF_ERROR(cuda_scan_load(cuda, run->kernel.shape.name, binary->cubin, &run->scan, error));
    kernel_binary_free(binary);
    if (run->plan->shape == PLAN_HASH)
        RETURN_IF_ERROR(cuda_module_function(cuda, run->scan.module, "collect", &run->collect, error));
    if (run->kernel.joint.used)
        RETURN_IF_ERROR(cuda_module_function(cuda, run->scan.module, "complete", &run->scan.complete, error));
    if (run->kernel.list.used)
        RETURN_IF_ERROR(cuda_list_open(run, error));
    if (run->kernel.first)
        RETURN_IF_ERROR(cuda_first_open(cuda, run->scan.module, run->plan, &run->first, error));
    uint64_t bytes;
    RETURN_IF_ERROR(
        cuda_module_variable(cuda, run->scan.module, "arguments", &run->arguments_address, &bytes, error));
    return bytes == sizeof run->arguments
               ? STATUS_OK
               : error_set(error, STATUS_MACHINE,
                           "the kernel's arguments have %llu bytes, %zu were expected; remove the folder of "
                           "compiled kernels",
                           (unsigned long long)bytes, sizeof run->arguments);
}

enum status gpu_module_return(struct device_run *run, struct error *error)
{
    if (!run->loaded || run->scan.module)
        return STATUS_OK;
    const uint64_t lent = run->lent;
    const bool taken = gpu_module_take(run);
    if (taken && run->lent == lent)
        return STATUS_OK;
    if (!taken)
        RETURN_IF_ERROR(gpu_module_binary(run, error));
    RETURN_IF_ERROR(gpu_module_open(run, error));
    return run->states ? cuda_states_point(run, error) : STATUS_OK; /* else they are made again */
}
