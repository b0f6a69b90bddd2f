/*
 * tier.h: which kernel a run has (engine/run/device.h: enum kernel_choice). A run that was prepared to be timed, and one that
 * shares its rows with other GPUs, has a kernel of its own. Any other has, until that is compiled, the general one, if it
 * covers the plan and the build has it.
 */
#ifndef TESSERA_ENGINE_GPU_GENERAL_TIER_H
#define TESSERA_ENGINE_GPU_GENERAL_TIER_H

#include "engine/cuda/kernel_job.h"
#include "engine/gpu/general/program.h"

struct device_run;

struct tier {
    bool chosen, is_general;
    struct general general;
    struct kernel_job *job; /* compiles the run's own kernel; NULL: nobody does */
};

/* Chooses, once, before the run is loaded. If it is the general kernel, run->kernel and the binary become that one, and the
 * own one is being compiled. */
NODISCARD enum status tier_choose(struct device_run *run, struct error *error);

/* True if the run has the general kernel and its own one is compiled. */
bool tier_is_over(const struct device_run *run);

/* Makes the own kernel the run's, waiting for it if need be; the run must be unloaded. */
NODISCARD enum status tier_leave(struct device_run *run, struct error *error);

void tier_free(struct tier *tier);

#endif
