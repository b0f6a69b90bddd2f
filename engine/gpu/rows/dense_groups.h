/* dense_groups.h: the groups of a scan whose numbers are slots, as a struct partial, from the states that were copied. */
#ifndef TESSERA_ENGINE_GPU_ROWS_DENSE_GROUPS_H
#define TESSERA_ENGINE_GPU_ROWS_DENSE_GROUPS_H

#include "engine/gpu/run_internal.h"

/* The states, as the GPU had them. */
struct slots_view {
    uint64_t slots;
    const uint32_t *present; /* not 0: the slot's group has rows */
    const uint64_t *states
        [PLAN_AGGREGATES_MAX]; /* `slots` words of each, and then as many second words, if there are any */
};

/* Makes groups of the slots that are used, in their order; of PLAN_TOTAL always one. On all threads, which take 5 ns for
 * each slot and word in sum. */
NODISCARD enum status cuda_dense_groups(const struct device_run *run, const struct slots_view *view,
                                        struct partial *groups, struct error *error);

#endif
