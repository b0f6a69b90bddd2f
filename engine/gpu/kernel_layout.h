/*
 * kernel_layout.h: how a kernel is laid out on a GPU: its threads, what its shared memory holds, which columns are loaded
 * ahead; and the pieces of its source text that follow from that.
 *
 * Pure planning, no GPU needed: `make check` compiles every kernel this way for several architectures. What the kernel
 * is made from is engine/gpu/kernel.h.
 */
#ifndef TESSERA_ENGINE_GPU_KERNEL_LAYOUT_H
#define TESSERA_ENGINE_GPU_KERNEL_LAYOUT_H

#include "storage/database/database.h"

#include <stdio.h>

/* What a layout must know of a GPU. */
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

/* enum tile_bitmap of operators/dialect/tile_cuda.h */
enum bitmap_place { BITMAP_NONE, BITMAP_SHARED, BITMAP_GLOBAL, BITMAP_RANGE };

struct kernel_layout {
    uint32_t threads;
    uint32_t blocks_per_multiprocessor;
    uint64_t shared_bytes; /* of a block; its sums begin at byte 0 */
    enum bitmap_place bitmap[KERNEL_JOINS_MAX];
    uint32_t bitmap_offset[KERNEL_JOINS_MAX];
    uint32_t bitmap_words[KERNEL_JOINS_MAX]; /* 0: the join has no filter */
    bool preload[KERNEL_COLUMNS_MAX];        /* the column's words are loaded as soon as the tile is known */
    uint32_t staging[KERNEL_COLUMNS_MAX];    /* of each column within a warp's staging area */
    uint32_t staging_offset, staging_bytes;
};

/* STATUS_MACHINE where a block does not fit the GPU. */
NODISCARD enum status kernel_layout_make(const struct kernel_shape *shape, const struct kernel_target *target,
                                         struct kernel_layout *layout, struct error *error);

/* ---- Pieces of source text: engine/gpu/kernel_types.c ---- */

/* Definitions that stand before every kernel's text. */
void kernel_head_write(FILE *out, const struct kernel_layout *layout);

/* "typedef tile_column<...> NAME_TYPE;" of the shape's column `c`, and a check that the decoder's staging area is
 * what the layout has room for; "typedef tile_dimension<...> NAME_TYPE;" of join `j`, its group codes in `code_bytes`. */
void kernel_column_write(FILE *out, const struct kernel_shape *shape, const struct kernel_layout *layout,
                         uint32_t c, const char *name);
void kernel_join_write(FILE *out, const struct kernel_layout *layout, uint32_t j, uint32_t code_bytes,
                       const char *name);

#endif
