/*
 * star_cuda_internal.h: a planned statement on a GPU: made ready and run (star_cuda.c); the memory of its states, and
 * what comes back from it (star_cuda_states.c).
 */
#ifndef TESSERA_ENGINE_STAR_CUDA_INTERNAL_H
#define TESSERA_ENGINE_STAR_CUDA_INTERNAL_H

#include "engine/cuda_columns.h"
#include "engine/cuda_scan.h"
#include "engine/execute_internal.h"
#include "engine/sql.h"
#include "engine/star_kernel.h"

/* Arrays, tables, bitmaps that belong to one statement. */
#define STAR_OWNED_MAX (2 * PLAN_SOURCES_MAX + PLAN_JOINS_MAX + 4u)

/* For an answer; with both kernels timed apart as well; or with points counted, which is slower. */
enum star_purpose { STAR_ANSWER, STAR_TIMED, STAR_COUNTING };

struct star_run {
    struct engine *engine;
    const struct star_plan *plan;
    enum star_purpose purpose;
    bool nothing; /* no row can be in the answer */
    struct tile_skip skip;
    struct star_kernel kernel;
    struct cuda_scan scan;
    struct cuda_function *collect;
    const struct cuda_column *columns[KERNEL_COLUMNS_MAX], *arrays[PLAN_SOURCES_MAX];
    uint32_t owned_count;
    cuda_address owned[STAR_OWNED_MAX];
    uint8_t *bound; /* struct tile_bound: columns, dimensions, sums */
    struct bound_scan scan_work;
    struct star_arguments arguments;
    cuda_address star; /* where the kernels have them */

    cuda_address states; /* the header, then what struct star_arguments points into */
    uint64_t slots;      /* of hashed groups; else the plan's */
    uint64_t set_capacity[PLAN_AGGREGATES_MAX];
    uint64_t answer_bytes; /* from the start of `states`: what is brought back */
    uint8_t *answer;       /* a copy in the host's memory */
    bool answer_pinned;
};

/* Makes the states' memory, at first or larger than before, fills in the arguments that point into it, and brings the
 * arguments to the GPU. */
NODISCARD enum status star_cuda_states_make(struct star_run *run, struct error *error);
void star_cuda_states_free(struct star_run *run);

/* Queues the copy of the answer. */
NODISCARD enum status star_cuda_states_fetch(struct star_run *run, struct error *error);

/* Once it is there: whether a hash table was too full, so that the run must be done again after
 * star_cuda_states_grow; the points of a counting run; and the groups or rows. */
bool star_cuda_states_full(const struct star_run *run);
NODISCARD enum status star_cuda_states_grow(struct star_run *run, struct error *error);
void star_cuda_states_points(const struct star_run *run, struct star_point *points);
NODISCARD enum status star_cuda_states_groups(struct star_run *run, struct star_groups *groups,
                                              struct error *error);

#endif
