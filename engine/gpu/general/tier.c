/* tier.c: see tier.h. */
#include "engine/gpu/general/tier.h"

#include "engine/cuda/ahead.h"
#include "engine/gpu/run_internal.h"
#include "storage/base/memory.h"

#include <stdlib.h>

/* From so many rows on that are expected to pass, the general kernel, which gives all of them, takes longer to find the first
 * of an order than the own one to be compiled. */
#define FIRST_OF_MANY (1u << 23)

static bool finds_first_of_many(const struct device_run *run)
{
    const struct plan *const plan = run->plan;
    double rows = (double)plan->fact->rows;
    for (uint32_t s = 0; s < plan->step_count; s++)
        rows *= plan->steps[s].share;
    return run->kernel.first && rows >= FIRST_OF_MANY;
}

/* Whether the general kernel may answer. In KERNEL_AUTO it does so while the own one is compiled. */
static enum status may_be_general(struct device_run *run, bool *may, struct error *error)
{
    struct kernel_binary *const binary = &run->binaries[BINARY_SCAN];
    const struct nvrtc_request request = gpu_kernel_request(run, BINARY_SCAN);
    const enum kernel_choice choice = run->device->kernel;
    bool found = false;
    *may = false;
    if (run->plan
            ->taken) { /* whatever the choice: the kernels that take rows are beside the general one alone */
        *may = !run->counting && !run->segments.segments && !binary->cubin && !run->scan.module;
        return STATUS_OK;
    }
    if (binary->cubin || run->scan.module || run->counting || run->segments.segments ||
        choice == KERNEL_SPECIALISED || (choice == KERNEL_AUTO && (run->timed || finds_first_of_many(run))))
        return STATUS_OK;
    if (choice == KERNEL_AUTO && !(found = gpu_module_take(run)))
        RETURN_IF_ERROR(kernel_cache_find(&request, binary, &found, error));
    *may = !found;
    return STATUS_OK;
}

static enum status take_general(struct device_run *run, const struct kernel *kernel, struct error *error)
{
    struct tier *const tier = &run->tier;
    const struct nvrtc_request request = gpu_kernel_request(run, BINARY_SCAN);
    if (run->device->kernel == KERNEL_AUTO && !run->plan->taken)
        RETURN_IF_ERROR(kernel_job_start(&request, &tier->job, error));
    kernel_free(&run->kernel);
    run->kernel = *kernel; /* no column of it is staged, so that nothing in it points into it */
    cuda_stage_free(run->cuda, &run->stage); /* the own kernel's columns, which the host alone may read now */
    run->stage = (struct cuda_stage){0};
    tier->is_general = true;
    return gpu_module_take(run) ? STATUS_OK : gpu_module_binary(run, error);
}

enum status tier_choose(struct device_run *run, struct error *error)
{
    const struct kernel_target target = gpu_target(run);
    struct general *const general = &run->tier.general;
    struct kernel *kernel;
    bool may;
    if (run->tier.chosen)
        return STATUS_OK;
    run->tier.chosen = true;
    RETURN_IF_ERROR(may_be_general(run, &may, error));
    if (!may)
        return STATUS_OK;
    RETURN_IF_ERROR(memory_zeros(&kernel, sizeof *kernel, "a kernel", error));
    enum status status = general_make(run->plan, &target, kernel, general, error);
    if (general->covered && !ahead_has(general->kernel, cuda_properties(run->device->cuda)->arch)) {
        general->covered = false;
        snprintf(general->why, sizeof general->why, "this build has no general kernel for this GPU");
    }
    if (status == STATUS_OK && general->covered)
        status = take_general(run, kernel, error);
    if (!run->tier.is_general)
        kernel_free(kernel);
    free(kernel);
    return status;
}

bool tier_is_over(const struct device_run *run)
{
    return run->tier.is_general && run->tier.job && kernel_job_done(run->tier.job);
}

enum status tier_leave(struct device_run *run, struct error *error)
{
    struct tier *const tier = &run->tier;
    const struct kernel_target target = gpu_target(run);
    const enum status status =
        tier->job ? kernel_job_take(tier->job, &run->binaries[BINARY_SCAN], error) : STATUS_OK;
    tier_free(tier);
    *tier = (struct tier){.chosen = true};
    return AND_THEN(status, kernel_make(run->plan, false, &target, &run->kernel, error));
}

void tier_free(struct tier *tier)
{
    kernel_job_release(tier->job);
    general_free(&tier->general);
}
