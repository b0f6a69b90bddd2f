/*
 * kernel_layout.h: plans the layout of a kernel on a GPU: its threads, the contents of its shared memory, and
 * the columns that are preloaded; and writes the parts of its source text that follow from the layout.
 *
 * Planning needs no GPU: `make check` compiles every kernel for several architectures. The kernel's text is
 * made in engine/gpu/kernel.h.
 */
#ifndef TESSERA_ENGINE_GPU_KERNEL_LAYOUT_H
#define TESSERA_ENGINE_GPU_KERNEL_LAYOUT_H

#include "engine/plan/levels/position_test.h"
#include "storage/database/database.h"

#include <stdio.h>

/* The properties of a GPU that a layout depends on. */
struct kernel_target {
    uint64_t shared_block, shared_multiprocessor; /* the most bytes of shared memory */
    uint32_t threads;                             /* of a multiprocessor */
    uint64_t cache_bytes, memory_bytes; /* of the second-level cache, and of what statements may have */
    bool sorts;                         /* there are kernels for it */
};

#define KERNEL_COLUMNS_MAX 96u /* their addresses are arguments of the kernel: 4096 bytes */
#define KERNEL_JOINS_MAX   32u

/* A fact column of a kernel. Columns are in the order of their first use. */
struct kernel_column {
    const struct column_data *data;
    uint32_t value_bytes;           /* 4 or 8 */
    uint32_t width_low, width_high; /* of all chunks */
    bool fetched;                   /* values of survivors are read */
    bool nullable;                  /* it has validity words */
    bool whole;                     /* all values are decoded to shared memory, by the tile */
    double kept;                    /* the expected selectivity of its filters and joins; 1: all rows pass */
    uint32_t
        planes; /* its decoder tests and reads single bits, of which these leading ones are planes; or 0 */
    uint32_t needed;                  /* the bits that survivors' values need */
    const struct position_test *test; /* the first test of its planes, or NULL */
    uint32_t test_word;
};

struct kernel_join {
    uint32_t column;    /* the foreign key */
    uint64_t positions; /* of the dimension */
    bool filtered;      /* it has a bitmap, or a range of positions */
    bool contiguous;    /* the positions that pass are one range, or none */
    const struct position_test
        *test;          /* by which keys are tested, before the bitmap if there is one; or NULL */
    uint32_t test_word; /* the place of its words among the kernel's arguments */
    /* Of a hand-written kernel: codes are looked up at position >> code_shift, or are (position >> code_shift) &
     * code_mask. */
    bool coded;
    uint32_t code_shift, code_mask;
};

struct kernel_shape {
    const char *name; /* for errors */
    uint32_t column_count, join_count;
    struct kernel_column columns[KERNEL_COLUMNS_MAX];
    struct kernel_join joins[KERNEL_JOINS_MAX];
    bool counted;        /* the rows of each step are counted */
    uint64_t sums_bytes; /* of the block's sums, at the start of its shared memory */
    double scanned;      /* the share of the table's rows that is in tiles which are read */
    double dense;        /* the share of these rows that is expected to survive */
    bool many;           /* it is large: lanes take their own rows */
    bool indexed;        /* the rows have passed index terms before the first column */
    double indexed_kept; /* their expected selectivity */
};

/* The most shared memory for a block's sums, on GPUs that have as much; a kernel that needs more adds in global memory. */
#define KERNEL_SUMS_BYTES_MAX 73728u

/* The place of a join's bitmap; the same as enum tile_bitmap of operators/dialect/tile_cuda.h. */
enum bitmap_place { BITMAP_NONE, BITMAP_SHARED, BITMAP_GLOBAL, BITMAP_RANGE };

struct kernel_layout {
    uint32_t threads;
    uint32_t blocks_per_multiprocessor;
    uint64_t shared_bytes; /* of a block; its sums begin at byte 0 */
    enum bitmap_place bitmap[KERNEL_JOINS_MAX];
    uint32_t bitmap_offset[KERNEL_JOINS_MAX];
    uint32_t bitmap_words[KERNEL_JOINS_MAX]; /* 0: the join has no filter, or a range */
    bool preload[KERNEL_COLUMNS_MAX];        /* the tile's words are loaded into registers at its start */
    uint32_t
        first[KERNEL_COLUMNS_MAX]; /* the bits whose planes are loaded then, and tested before any step */
    uint32_t copied
        [KERNEL_COLUMNS_MAX]; /* lines that are copied to shared memory, as survivors need most of them; or 0 */
    bool split;               /* a tile may be divided among warps */
    bool wait_first; /* the scan needs what `prepare` makes from its start on, not only for its own results */
    bool ahead;      /* ... while the tile before is worked on */
    bool
        test_first; /* false: planes are tested in the order of steps, so that each step's rows can be counted */
    uint32_t staging[KERNEL_COLUMNS_MAX]; /* each column's offset in a warp's staging area */
    uint32_t staging_offset, staging_bytes;
};

/* The bytes that an area of shared memory takes, with what aligns the next one. */
static inline uint64_t kernel_layout_bytes(uint64_t bytes)
{
    return (bytes + 127) / 128 * 128;
}

/* The shared memory that the smallest block of the kernel needs. */
uint64_t kernel_layout_least(const struct kernel_shape *shape);

/* Makes the layout of a kernel. STATUS_MACHINE if its smallest block does not fit the GPU. */
NODISCARD enum status kernel_layout_make(const struct kernel_shape *shape, const struct kernel_target *target,
                                         struct kernel_layout *layout, struct error *error);

/* Says for each join whether it has a bitmap, in global memory, or a range. */
void kernel_layout_bitmaps(const struct kernel_shape *shape, struct kernel_layout *layout);

/* The threads of a block of the kernels that are compiled ahead (operators/general/scan_cuda.h). */
#define KERNEL_GENERAL_THREADS 256u

/* ---- Pieces of source text (kernel_types.c) ---- */

/* Writes the definitions at the head of every kernel's text. */
void kernel_head_write(FILE *out, const struct kernel_shape *shape, const struct kernel_layout *layout);

/* kernel_column_write writes "typedef tile_column<...> NAME_TYPE;" for column `c` of the shape, and a check
 * that the decoder's staging area has the size of the layout. kernel_join_write writes "typedef
 * tile_dimension<...> NAME_TYPE;" for join `j`, whose group codes have `code_bytes`. */
void kernel_column_write(FILE *out, const struct kernel_shape *shape, const struct kernel_layout *layout,
                         uint32_t c, const char *name);
void kernel_join_write(FILE *out, const struct kernel_shape *shape, const struct kernel_layout *layout,
                       uint32_t j, uint32_t code_bytes, const char *name);

#endif
