/*
 * engine/gpu/run_internal.h: a planned statement on a GPU: made ready and run (engine/gpu/run.c); the memory of its states, and
 * what comes back from it (engine/gpu/states.c).
 */
#ifndef TESSERA_ENGINE_GPU_RUN_INTERNAL_H
#define TESSERA_ENGINE_GPU_RUN_INTERNAL_H

#include "engine/gpu/columns.h"
#include "engine/gpu/scan.h"
#include "engine/run/engine_internal.h"
#include "engine/library/statement.h"
#include "engine/gpu/query_kernel.h"

/* Arrays, tables, bitmaps that belong to one statement. */
#define RUN_OWNED_MAX (2 * PLAN_SOURCES_MAX + PLAN_JOINS_MAX + 4u)

/* For an answer; with both kernels timed apart as well; or with points counted, which is slower. */
enum run_purpose { RUN_ANSWER, RUN_TIMED, RUN_COUNTING };

struct device_run {
    struct engine *engine;
    const struct plan *plan;
    enum run_purpose purpose;
    bool nothing; /* no row can be in the answer */
    struct tile_skip skip;
    struct query_kernel kernel;
    struct cuda_scan scan;
    struct cuda_function *collect;
    const struct cuda_column *columns[KERNEL_COLUMNS_MAX], *arrays[PLAN_SOURCES_MAX];
    uint32_t owned_count;
    cuda_address owned[RUN_OWNED_MAX];
    uint8_t *bound; /* struct tile_bound: columns, dimensions, sums */
    struct bound_scan scan_work;
    struct query_arguments arguments;
    cuda_address arguments_address; /* where the kernels have them */

    cuda_address states; /* the header, then what struct query_arguments points into */
    uint64_t slots;      /* of hashed groups; else the plan's */
    uint64_t set_capacity[PLAN_AGGREGATES_MAX];
    uint64_t answer_bytes; /* from the start of `states`: what is brought back */
    uint8_t *answer;       /* a copy in the host's memory */
    bool answer_pinned;
};

/* Makes the states' memory, at first or larger than before, fills in the arguments that point into it, and brings the
 * arguments to the GPU. */
NODISCARD enum status cuda_states_make(struct device_run *run, struct error *error);
void cuda_states_free(struct device_run *run);

/* Queues the copy of the answer. */
NODISCARD enum status cuda_states_fetch(struct device_run *run, struct error *error);

/* Once it is there: whether a hash table was too full, so that the run must be done again after
 * cuda_states_grow; the points of a counting run; and the groups or rows. */
bool cuda_states_full(const struct device_run *run);
NODISCARD enum status cuda_states_grow(struct device_run *run, struct error *error);
void cuda_states_points(const struct device_run *run, struct scan_point *points);
NODISCARD enum status cuda_states_groups(struct device_run *run, struct partial *groups, struct error *error);

#endif
