/*
 * first.h: the first rows of an order on a GPU: samples and lists the tiles that may have them
 * (operators/group/first_rows_cuda.h says how; engine/plan/order/first_rows.h which rows).
 *
 * A sample is a sixteenth of the tiles, or more if many rows are wanted: it then costs as much more as it is large, and
 * lets about 16 times as many rows through as are wanted. If the rows that pass do not fit the list, the run is repeated
 * with a mask of all tiles, 128 bytes each, which the host searches.
 */
#ifndef TESSERA_ENGINE_GPU_FIRST_FIRST_H
#define TESSERA_ENGINE_GPU_FIRST_FIRST_H

#include "engine/cuda/cuda.h"
#include "engine/gpu/kernel.h"
#include "engine/gpu/memory/columns.h"
#include "engine/plan/partial.h"
#include "operators/dialect/bound.h"
#include "operators/group/first_rows.h"

/* Must be zero-initialised. */
struct cuda_first {
    const struct plan *plan;
    struct cuda_function *choose, *tighten;
    struct bound_scan
        chosen; /* the second argument of `scan`: the chosen items; their number is on the GPU */
    cuda_address best, known; /* as in struct first_choice; what the sample tells */
    uint64_t samples;         /* tiles; 0: a sample would tell nothing */
    bool of_lanes;            /* each lane of a sampled tile gives a rank, because many rows are wanted */
    uint32_t tightened;       /* how often a list was too full: `bound` is the last one's */
    uint64_t bound;
};

/* A run whose list is too full is repeated so often with the bound that the list gives, each time with about a 32nd of the
 * rows; then with a mask. */
#define FIRST_REPEATS_MAX 3u

/* Writes the end of a scan's text: the rows that are not among the first are dropped, the others taken. `fetch` writes
 * that the columns of an expression are fetched. */
NODISCARD enum status kernel_first_write(FILE *out, const struct plan *plan, struct kernel *kernel,
                                         void (*fetch)(void *context, uint32_t root), void *context,
                                         struct error *error);

/* Finds the kernels in the statement's module. */
NODISCARD enum status cuda_first_open(struct cuda *cuda, struct cuda_module *module, const struct plan *plan,
                                      struct cuda_first *first, struct error *error);
void cuda_first_close(struct cuda *cuda, struct cuda_first *first);

/* Marks the samples in a list of work before it is uploaded, and allocates what a run over the list needs. */
NODISCARD enum status cuda_first_select(struct cuda *cuda, struct cuda_columns *columns,
                                        struct bound_work *work, uint32_t count, struct cuda_first *first,
                                        struct error *error);

/* Its part that needs no GPU: fills first->samples and of_lanes, and best[8 * i + t], the best rank of tile t of item i;
 * `best` is NULL if tiles' minima and maxima tell nothing. */
NODISCARD enum status cuda_first_mark(const struct plan *plan, struct bound_work *work, uint32_t count,
                                      uint64_t *best, struct cuda_first *first, struct error *error);

/* How `scan` is launched. */
struct first_launch {
    struct cuda_stream *stream; /* NULL: the main one */
    struct cuda_function *scan;
    unsigned blocks, threads;
    uint64_t shared_bytes;
    void *bound;                   /* its first argument */
    const struct bound_scan *work; /* the items to choose from: */
    uint32_t first;                /* the first one's place in the list of work */
};
/* Queues all that comes before a scan of the chosen items, and that scan. */
NODISCARD enum status cuda_first_aim(struct cuda *cuda, struct cuda_first *first,
                                     const struct first_launch *launch, struct error *error);
NODISCARD enum status cuda_first_scan(struct cuda *cuda, struct cuda_first *first,
                                      const struct first_launch *launch, struct error *error);

/* ---- Listed rows ---- */

/* The entries that a list has room for. */
uint64_t cuda_first_capacity(const struct plan *plan);

/* The rank of the last wanted one of the `count` entries, which are more than are wanted. */
NODISCARD enum status cuda_first_bound(const struct plan *plan, const struct first_entry *entries,
                                       uint64_t count, uint64_t *bound, struct error *error);

/* Lists the rows of the `count` entries that are wanted, ascending; moves the entries. */
NODISCARD enum status cuda_first_rows(const struct plan *plan, struct first_entry *entries, uint64_t count,
                                      struct partial *rows, struct error *error);

#endif
