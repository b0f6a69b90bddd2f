/*
 * kernel_plan.h: a query as a GPU kernel: its source text, its threads, and what its shared memory holds.
 *
 * Pure planning, no GPU needed: `make check` compiles every kernel this way for several architectures. Queries
 * written by hand come as a struct bound_query, statements of SQL by engine/gpu/query_kernel.h.
 */
#ifndef TESSERA_ENGINE_GPU_KERNEL_PLAN_H
#define TESSERA_ENGINE_GPU_KERNEL_PLAN_H

#include "engine/plan/query_bind.h"

#include <stdio.h>

/* What a plan must know of a GPU. */
struct kernel_target {
    uint64_t shared_block,
        shared_multiprocessor; /* bytes of shared memory that a block may have, and that there are */
    uint32_t threads;          /* of a multiprocessor */
};

#define KERNEL_COLUMNS_MAX 32u
#define KERNEL_JOINS_MAX   16u

/* A fact column as a kernel sees it. Columns stand in the order in which they are first applied. */
struct kernel_column {
    const struct column_data *data;
    uint32_t value_bytes;           /* 4 or 8 */
    uint32_t width_low, width_high; /* of all chunks */
    bool fetched;                   /* values of survivors are read */
    bool nullable;                  /* it has validity words */
    double
        kept; /* the share of the rows that reach it that its filters and joins are expected to keep, 1: all */
};

struct kernel_join {
    uint32_t column; /* the key */
    uint64_t rows;   /* of the dimension */
    bool filtered;   /* it has a bitmap */
    bool contiguous; /* of one range of rows, or none */
};

struct kernel_shape {
    const char *name; /* for errors */
    uint32_t column_count, join_count;
    struct kernel_column columns[KERNEL_COLUMNS_MAX];
    struct kernel_join joins[KERNEL_JOINS_MAX];
    uint64_t sums_bytes; /* that a block keeps at the start of its shared memory */
};

/* The most shared memory for a block's sums; what needs more is summed in global memory. */
#define KERNEL_SUMS_BYTES_MAX 73728u

enum sums_place { SUMS_SINGLE, SUMS_SHARED, SUMS_GLOBAL };

/* enum tile_bitmap of operators/dialect/tile_cuda.h */
enum bitmap_place { BITMAP_NONE, BITMAP_SHARED, BITMAP_GLOBAL, BITMAP_RANGE };

struct kernel_plan {
    char *source; /* CUDA C++, the caller's to free with kernel_plan_free */
    uint32_t threads;
    uint32_t blocks_per_multiprocessor;
    uint64_t shared_bytes; /* of a block */
    enum sums_place sums;  /* shared ones begin at byte 0 */
    enum bitmap_place bitmap[KERNEL_JOINS_MAX];
    uint32_t bitmap_offset[KERNEL_JOINS_MAX];
    uint32_t bitmap_words[KERNEL_JOINS_MAX]; /* 0: the join has no filter */
    bool preload[KERNEL_COLUMNS_MAX];        /* the column's words are loaded as soon as the tile is known */
    uint32_t staging[KERNEL_COLUMNS_MAX];    /* of each column within a warp's staging area */
    uint32_t staging_offset, staging_bytes;
};

NODISCARD enum status kernel_plan_make(const struct bound_query *bound, const struct kernel_target *target,
                                       struct kernel_plan *plan, struct error *error);
void kernel_plan_free(struct kernel_plan *plan);

/* ---- The two halves of kernel_plan_make ---- */

/* All of the plan but its source and `sums`. */
NODISCARD enum status kernel_plan_lay_out(const struct kernel_shape *shape,
                                          const struct kernel_target *target, struct kernel_plan *plan,
                                          struct error *error);

/* Writes plan->source for a plan that is otherwise complete (kernel_source.c). */
NODISCARD enum status kernel_source_write(const struct bound_query *bound, const struct kernel_shape *shape,
                                          struct kernel_plan *plan, struct error *error);

/* ---- Pieces of source text ---- */

/* Definitions that stand before every kernel's text. */
void kernel_head_write(FILE *out, const struct kernel_plan *plan);

/* "typedef tile_column<...> NAME_TYPE;" of the shape's column `c`, and a check that the decoder's staging area is
 * what the plan has room for; "typedef tile_dimension<...> NAME_TYPE;" of join `j`, its group codes in `code_bytes`. */
void kernel_column_write(FILE *out, const struct kernel_shape *shape, const struct kernel_plan *plan,
                         uint32_t c, const char *name);
void kernel_join_write(FILE *out, const struct kernel_plan *plan, uint32_t j, uint32_t code_bytes,
                       const char *name);

#endif
