/*
 * kernel_plan.h: a bound query as a GPU kernel: its source text, its threads, and what its shared memory
 * holds.
 *
 * Pure planning, no GPU needed: `make check` compiles every kernel this way for several architectures.
 */
#ifndef TESSERA_ENGINE_KERNEL_PLAN_H
#define TESSERA_ENGINE_KERNEL_PLAN_H

#include "engine/bind.h"

#include <stdio.h>

/* What a plan must know of a GPU. */
struct kernel_target {
    uint64_t shared_block,
        shared_multiprocessor; /* bytes of shared memory that a block may have, and that there are */
    uint32_t threads;          /* of a multiprocessor */
};

enum sums_place { SUMS_SINGLE, SUMS_SHARED, SUMS_GLOBAL };

/* enum tile_bitmap of operators/tile_cuda.h */
enum bitmap_place { BITMAP_NONE, BITMAP_SHARED, BITMAP_GLOBAL, BITMAP_RANGE };

struct kernel_plan {
    char *source; /* CUDA C++, the caller's to free with kernel_plan_free */
    uint32_t threads;
    uint32_t blocks_per_multiprocessor;
    uint64_t shared_bytes; /* of a block */
    enum sums_place sums;  /* shared ones begin at byte 0 */
    enum bitmap_place bitmap[TILE_DIMENSIONS_MAX];
    uint32_t bitmap_offset[TILE_DIMENSIONS_MAX];
    uint32_t bitmap_words[TILE_DIMENSIONS_MAX]; /* 0: the join has no filter */
    bool preload[BOUND_COLUMNS_MAX];     /* the column's words are loaded as soon as the tile is known */
    uint32_t staging[BOUND_COLUMNS_MAX]; /* of each column within a warp's staging area */
    uint32_t staging_offset, staging_bytes;
};

NODISCARD enum status kernel_plan_make(const struct bound_query *bound, const struct kernel_target *target,
                                       struct kernel_plan *plan, struct error *error);
void kernel_plan_free(struct kernel_plan *plan);

/* The second half of kernel_plan_make (kernel_source.c): writes plan->source for a plan that is otherwise
 * complete. */
NODISCARD enum status kernel_source_write(const struct bound_query *bound, struct kernel_plan *plan,
                                          struct error *error);

/* The type of the column's decoder (operators/decode_cuda.h), from its codec, its widths and its directories. */
void kernel_decoder_write(FILE *out, const struct fact_column *column);

#endif
