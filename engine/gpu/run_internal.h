/*
 * engine/gpu/run_internal.h: a planned statement on a GPU: made ready and run (engine/gpu/run.c); the memory of its states, and
 * what comes back from it (engine/gpu/states.c).
 */
#ifndef TESSERA_ENGINE_GPU_RUN_INTERNAL_H
#define TESSERA_ENGINE_GPU_RUN_INTERNAL_H

#include "engine/cuda/kernel_cache.h"
#include "engine/gpu/columns.h"
#include "engine/gpu/kernel.h"
#include "engine/gpu/scan.h"
#include "engine/gpu/stage.h"
#include "engine/run/device.h"

/* Arrays, tables, bitmaps that belong to one statement. */
#define RUN_OWNED_MAX (2 * PLAN_SOURCES_MAX + PLAN_JOINS_MAX + 4u)

struct device {
    struct cuda *cuda;
    struct cuda_columns *columns; /* kept on the GPU between statements */
    char text[256];
};

/* The kernel of the answer, and the same marking the sectors that it touches (engine/gpu/sectors.h). */
enum run_binary { BINARY_SCAN, BINARY_SECTORS, BINARIES };

struct device_run {
    struct device *device;
    const struct plan *plan;
    bool timed;    /* both kernels are timed apart as well */
    bool counting; /* points are counted, which is slower */
    bool nothing;  /* no tile can hold a row of the answer: there is no kernel */
    bool selected; /* the work is some segments' only */
    struct kernel kernel;
    struct kernel_binary binaries[BINARIES]; /* once compiled; the first until it is loaded */
    struct cuda_scan scan;
    struct cuda_function *collect;
    const struct cuda_column *columns[KERNEL_COLUMNS_MAX], *arrays[PLAN_SOURCES_MAX];
    struct cuda_stage stage; /* of a staged plan */
    const struct cuda_column
        *read[KERNEL_COLUMNS_MAX]; /* by the scan: `columns`, or what they are decoded to */
    uint32_t owned_count;
    cuda_address owned[RUN_OWNED_MAX];
    uint8_t *bound; /* struct tile_bound: columns, dimensions, sums */
    struct query_arguments arguments;
    cuda_address arguments_address; /* where the kernels have them */

    cuda_address states; /* the header, then what struct query_arguments points into */
    uint64_t slots;      /* of hashed groups; else the plan's */
    uint64_t set_capacity[PLAN_AGGREGATES_MAX];
    uint64_t answer_bytes; /* from the start of `states`: what is brought back */
    uint8_t *answer;       /* a copy in the host's memory */
    bool answer_pinned;
};

/* ---- engine/gpu/run.c: as in struct device_operations ---- */

NODISCARD enum status gpu_prepare(struct device *device, const struct plan *plan, bool timed,
                                  struct device_run **out, struct error *error);
NODISCARD enum status gpu_compile(struct device_run *run, bool counting, struct error *error);
NODISCARD enum status gpu_load(struct device_run *run, struct run_timing *timing, struct error *error);
NODISCARD enum status gpu_run(struct device_run *run, const struct device_request *request,
                              struct partial *partial, struct run_timing *timing, struct error *error);
NODISCARD enum status gpu_count(struct device_run *run, bool steps, struct scan_counts *counts,
                                struct error *error);
void gpu_release(struct device_run *run);

/* ---- engine/gpu/states.c ---- */

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

/* ---- engine/gpu/sets.c ---- */

/* The values of each count(distinct), for groups that are there: partial->sets. */
NODISCARD enum status cuda_sets_list(struct device_run *run, struct partial *partial, struct error *error);

#endif
