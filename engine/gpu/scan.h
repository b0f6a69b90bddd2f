/*
 * engine/gpu/scan.h: the two kernels of a query on a GPU, `prepare` and `scan`, made ready, given tiles and launched.
 */
#ifndef TESSERA_ENGINE_GPU_SCAN_H
#define TESSERA_ENGINE_GPU_SCAN_H

#include "engine/gpu/columns.h"
#include "engine/gpu/kernel_layout.h"
#include "operators/dialect/bound.h"
#include "engine/plan/tile_skip.h"

struct cuda_scan {
    struct cuda_module *module;
    struct cuda_function *prepare, *scan;
    struct cuda_graph *graph;
    struct cuda_event *begin, *filtered, *end;
    struct bound_scan work;                        /* the second argument of `scan` */
    unsigned prepare_blocks, scan_blocks, threads; /* threads: of a block of `scan` */
    unsigned blocks_most;                          /* of `scan`: as many as the GPU holds at once */
    uint64_t shared_bytes;
    void *scan_arguments[2]; /* the first is set by the owner before anything is launched */
};

/* What a layout must know of that GPU. */
struct kernel_target cuda_kernel_target(const struct cuda *cuda);

/* Loads the compiled kernels; `name` is for errors. `scan` begins as zeros and must stay where it is; what was made so far
 * is freed by cuda_scan_close, also after an error. */
NODISCARD enum status cuda_scan_open(struct cuda *cuda, const char *name, const void *cubin,
                                     const struct kernel_layout *layout, struct cuda_scan *scan,
                                     struct error *error);

/* Makes the list of work: the tiles of `fact` that `skip` leaves; anew as often as wanted. Then the graph is to be recorded
 * again. */
NODISCARD enum status cuda_scan_select(struct cuda *cuda, struct cuda_columns *columns,
                                       const struct table *fact, const struct tile_skip *skip,
                                       struct cuda_scan *scan, struct error *error);
void cuda_scan_close(struct cuda *cuda, struct cuda_scan *scan);

NODISCARD enum status cuda_scan_prepare(struct cuda *cuda, struct cuda_scan *scan, struct error *error);

/* Records both kernels as a graph, when the arguments are set and the work is. */
NODISCARD enum status cuda_scan_record(struct cuda *cuda, struct cuda_scan *scan, struct error *error);

/* Both kernels launched by themselves and timed: a graph's parts cannot be, without slowing it. Waits. */
NODISCARD enum status cuda_scan_run_apart(struct cuda *cuda, struct cuda_scan *scan, double *prepare_ms,
                                          double *scan_ms, struct error *error);

/* Queues the graph between two events; their distance is known when the stream was waited for. */
NODISCARD enum status cuda_scan_run(struct cuda *cuda, struct cuda_scan *scan, struct error *error);
NODISCARD enum status cuda_scan_elapsed(struct cuda *cuda, struct cuda_scan *scan, double *total_ms,
                                        struct error *error);

#endif
