/* merge_kernels.h: launches the kernels that add the states of other GPUs' runs to those of one (operators/group/merge_cuda.h). */
#ifndef TESSERA_ENGINE_GPU_PEERS_MERGE_KERNELS_H
#define TESSERA_ENGINE_GPU_PEERS_MERGE_KERNELS_H

#include "engine/gpu/run_internal.h"

/* The most GPUs whose states one can add to its own. */
#define PEERS_MAX 63u

struct merge_kernels {
    struct cuda *cuda; /* the GPU that merges */
    struct cuda_module *module;
    struct cuda_function *slots, *table, *bits, *keys;
};

/* The text of the kernels, for tests that compile it. */
extern const char gpu_merge_source[];

/* Loads them on a GPU. Free with merge_kernels_close, also after an error. */
NODISCARD enum status merge_kernels_open(struct cuda *cuda, struct merge_kernels *kernels,
                                         struct error *error);
void merge_kernels_close(struct merge_kernels *kernels);

/* True if they can merge the states of runs of this plan. */
bool merge_kernels_can(const struct device_run *run);
/* True if a run's tables may be too full (cuda_states_full), before the merge or by it. */
bool merge_kernels_may_fill(const struct device_run *run);

/* Queues the merge of runs[1] .. runs[count-1] into runs[0], whose GPU the kernels are on. */
NODISCARD enum status merge_kernels_queue(const struct merge_kernels *kernels, struct device_run *const *runs,
                                          uint32_t count, struct error *error);

/* The bytes of a run's states that the merge reads; after it, and after cuda_states_fetch of the run. */
uint64_t merge_kernels_bytes(const struct device_run *run);

#endif
