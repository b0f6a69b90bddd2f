/*
 * kernel_plan.h: a bound query as a GPU kernel: its source text, its threads, and what its shared memory
 * holds.
 *
 * Pure planning, no GPU needed: `make check` compiles every kernel this way for several architectures.
 */
#ifndef TESSERA_ENGINE_KERNEL_PLAN_H
#define TESSERA_ENGINE_KERNEL_PLAN_H

#include "engine/bind.h"

enum sums_place { SUMS_SINGLE, SUMS_SHARED, SUMS_GLOBAL };

struct kernel_plan {
    char *source; /* CUDA C++, the caller's to free with kernel_plan_free */
    uint32_t threads;
    uint32_t blocks_per_multiprocessor;
    uint64_t shared_bytes; /* of a block */
    bool bitmap_shared[TILE_DIMENSIONS_MAX];
    uint32_t bitmap_offset[TILE_DIMENSIONS_MAX];
    uint32_t bitmap_words[TILE_DIMENSIONS_MAX]; /* 0: the join has no filter */
    enum sums_place sums;
    uint32_t sums_offset;
    bool preload[BOUND_COLUMNS_MAX];     /* the column's words are loaded as soon as the tile is known */
    uint32_t staging[BOUND_COLUMNS_MAX]; /* of each column within a warp's area */
    uint32_t staging_offset, staging_bytes;
};

/* For a GPU whose blocks may have `shared_limit` bytes of shared memory and whose multiprocessors have
 * `shared_total` and `threads_limit` threads. */
NODISCARD enum status kernel_plan_make(const struct bound_query *bound, uint64_t shared_limit,
                                       uint64_t shared_total, uint32_t threads_limit,
                                       struct kernel_plan *plan, struct error *error);
void kernel_plan_free(struct kernel_plan *plan);

#endif
