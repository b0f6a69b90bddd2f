/*
 * engine/gpu/scan.h: the two kernels of a query on a GPU, `prepare` and `scan`, made ready and launched: what queries written
 * by hand (engine/gpu/execute.c) and planned statements (engine/gpu/run.c) have in common.
 */
#ifndef TESSERA_ENGINE_GPU_SCAN_H
#define TESSERA_ENGINE_GPU_SCAN_H

#include "engine/cuda/cuda.h"
#include "engine/gpu/kernel_plan.h"
#include "engine/plan/tile_skip.h"

struct cuda_scan {
    struct cuda_module *module;
    struct cuda_function *prepare, *scan;
    struct cuda_graph *graph;
    struct cuda_event *begin, *filtered, *end;
    cuda_address work; /* of struct bound_work */
    uint32_t items;
    unsigned prepare_blocks, scan_blocks, threads; /* threads: of a block of `scan` */
    uint64_t shared_bytes;
    void *prepare_arguments[1]; /* set by the owner, like the next, before anything is launched */
    void *scan_arguments[2];
};

/* What a plan must know of that GPU. */
struct kernel_target cuda_kernel_target(const struct cuda *cuda);

/* Loads the compiled kernels and makes the list of work: the tiles of `fact` that `skip` leaves. `name` is for
 * errors. What was made so far is freed by cuda_scan_close, also after an error; `scan` begins as zeros. */
NODISCARD enum status cuda_scan_open(struct cuda *cuda, const char *name, const void *cubin,
                                     const struct kernel_plan *plan, const struct table *fact,
                                     const struct tile_skip *skip, struct cuda_scan *scan,
                                     struct error *error);
void cuda_scan_close(struct cuda *cuda, struct cuda_scan *scan);

NODISCARD enum status cuda_scan_prepare(struct cuda *cuda, struct cuda_scan *scan, struct error *error);

/* Records both kernels as a graph: once, when the arguments are set. */
NODISCARD enum status cuda_scan_record(struct cuda *cuda, struct cuda_scan *scan, struct error *error);

/* Both kernels launched by themselves and timed: a graph's parts cannot be, without slowing it. Waits. */
NODISCARD enum status cuda_scan_run_apart(struct cuda *cuda, struct cuda_scan *scan, double *prepare_ms,
                                          double *scan_ms, struct error *error);

/* Queues the graph between two events; their distance is known when the stream was waited for. */
NODISCARD enum status cuda_scan_run(struct cuda *cuda, struct cuda_scan *scan, struct error *error);
NODISCARD enum status cuda_scan_elapsed(struct cuda *cuda, struct cuda_scan *scan, double *total_ms,
                                        struct error *error);

#endif
