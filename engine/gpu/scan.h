/*
 * scan.h: loads and launches the two kernels of a query, `prepare` and `scan`, and those that make the mask of its
 * index terms between them, and lists the tiles that `scan` reads.
 */
#ifndef TESSERA_ENGINE_GPU_SCAN_H
#define TESSERA_ENGINE_GPU_SCAN_H

#include "engine/gpu/first/first.h"
#include "engine/gpu/memory/columns.h"
#include "engine/gpu/index.h"
#include "engine/gpu/kernel_layout.h"
#include "operators/dialect/bound.h"
#include "engine/plan/tile_skip.h"

struct cuda_scan {
    struct cuda_module *module;
    struct cuda_function *prepare, *scan;
    struct cuda_index
        *index; /* set by the owner before the graph is recorded; NULL: the plan uses no index */
    struct cuda_first *first;       /* NULL: all rows that pass are wanted */
    struct cuda_function *complete; /* NULL: the states are complete after the scan */
    struct cuda_graph *graph;
    bool recorded; /* else `graph` is NULL or of another list of work, and is made the new one */
    struct cuda_event *begin, *filtered, *end;
    struct bound_scan work; /* the second argument of `scan` */
    const struct cuda_column
        *whole; /* the list of work, if it is that of a whole table; else NULL, and it is the scan's own */
    uint32_t *segment_items; /* the first item of each segment in the list of work; then the list's length */
    unsigned prepare_blocks, scan_blocks, threads; /* threads: of a block of `scan` */
    unsigned prepare_most, blocks_most;            /* the number of blocks that are resident at a time */
    bool may_split;                                /* tiles may be divided among warps */
    uint64_t shared_bytes;
    void *scan_arguments[2]; /* the owner sets the first one before the first launch */
};

/* The properties of the GPU that a layout depends on. */
struct kernel_target cuda_kernel_target(const struct cuda *cuda);

/* `scan` must be zero-initialised but for the module and its graph, and must not move. Free with cuda_scan_close, also after
 * an error. */
NODISCARD enum status cuda_scan_open(struct cuda *cuda, const struct kernel_layout *layout,
                                     struct cuda_scan *scan, struct error *error);

/* Loads the compiled kernels, unless scan->module has them already, and finds the two; `name` is for errors. It may be called
 * again for another module; the graph must then be recorded again. */
NODISCARD enum status cuda_scan_load(struct cuda *cuda, const char *name, const void *cubin,
                                     struct cuda_scan *scan, struct error *error);

/* Makes the list of work: the tiles of `fact` that `skip` keeps. `ranges`: those of which columns are cuts, which have all of
 * these tiles; NULL: columns' lists have whole segments. It may be called again for another list; the graph must then be
 * recorded again. */
NODISCARD enum status cuda_scan_select(struct cuda *cuda, struct cuda_columns *columns,
                                       const struct table *fact, const struct tile_skip *skip,
                                       const struct cuda_ranges *ranges, struct cuda_scan *scan,
                                       struct error *error);
void cuda_scan_close(struct cuda *cuda, struct cuda_columns *columns, struct cuda_scan *scan);

/* Lets the scan read only items that may have wanted rows; before the list of work is made. */
void cuda_scan_choose(struct cuda_scan *scan, struct cuda_first *first);

/* Sets the number of threads that `prepare` has work for; at first it is as many as the GPU has. */
void cuda_scan_prepares(struct cuda_scan *scan, uint64_t threads);

/* Queues all that comes before `scan`. */
NODISCARD enum status cuda_scan_prepare(struct cuda *cuda, struct cuda_scan *scan, struct error *error);

/* Queues all that comes between, which chooses the items; does nothing if all rows are wanted. */
NODISCARD enum status cuda_scan_aim(struct cuda *cuda, struct cuda_scan *scan, struct error *error);

/* Queues `scan` over some items of the list of work, on `stream` (NULL: the main one); launches between two calls of
 * cuda_scan_prepare add to the same states. */
NODISCARD enum status cuda_scan_launch(struct cuda *cuda, struct cuda_scan *scan, struct cuda_stream *stream,
                                       uint32_t first, uint32_t items, struct error *error);

/* Queues what completes the states, after all of `scan`. */
NODISCARD enum status cuda_scan_complete(struct cuda *cuda, const struct cuda_scan *scan,
                                         struct error *error);

/* Records all kernels as a graph. The arguments and the list of work must be set. */
NODISCARD enum status cuda_scan_record(struct cuda *cuda, struct cuda_scan *scan, struct error *error);

/* Launches the kernels one by one, times them and waits for them. The parts of a graph cannot be timed
 * without slowing it. */
NODISCARD enum status cuda_scan_run_apart(struct cuda *cuda, struct cuda_scan *scan, double *prepare_ms,
                                          double *scan_ms, struct error *error);

/* Queues the graph between two events. cuda_scan_elapsed gives the time between them, after the stream has
 * been waited for. */
NODISCARD enum status cuda_scan_run(struct cuda *cuda, struct cuda_scan *scan, struct error *error);
NODISCARD enum status cuda_scan_elapsed(struct cuda *cuda, struct cuda_scan *scan, double *total_ms,
                                        struct error *error);

#endif
