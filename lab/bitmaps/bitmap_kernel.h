/*
 * bitmap_kernel.h: the kernels of the experiment on bitmap indexes (lab/kernels/bitmaps): one text and its module, and another of CUB's
 * scans, which needs CUB's headers (engine/cuda/cccl.h).
 */
#ifndef TESSERA_LAB_BITMAPS_BITMAP_KERNEL_H
#define TESSERA_LAB_BITMAPS_BITMAP_KERNEL_H

#include "engine/gpu/kernel_layout.h"
#include "lab/bitmaps/bitmap_set.h"
#include "lab/lab.h"

enum bitmap_function {
    BITMAP_SIZES,
    BITMAP_SCAN_WORDS,
    BITMAP_SCAN_BYTES,
    BITMAP_ENDS,
    BITMAP_WRITE,
    BITMAP_COA,
    BITMAP_ROA,
    BITMAP_TILE,
    BITMAP_COA_COUNTED, /* these three count what they read and write */
    BITMAP_ROA_COUNTED,
    BITMAP_TILE_COUNTED,
    BITMAP_INLINE,
    BITMAP_INLINE_LARGE, /* in pieces of INDEX_LARGE_GROUPS */
    BITMAP_FLATTEN,
    BITMAP_FLAT,
    BITMAP_COMPARE,
    BITMAP_COMPARE_SUMS,
    BITMAP_COMPARE_LANES,
    BITMAP_OWN, /* so many are in the first text; the others are in CUB's */
    BITMAP_CUB_SHAPE_WORDS = BITMAP_OWN,
    BITMAP_CUB_SHAPE_BYTES,
    BITMAP_CUB_BEGIN,
    BITMAP_CUB_WORDS,
    BITMAP_CUB_BYTES,
    BITMAP_FUNCTIONS
};

struct bitmap_kernels {
    struct lab *lab;
    struct cuda_module *module, *cub;
    struct cuda_function *functions[BITMAP_FUNCTIONS];
    struct error without_cub; /* why CUB's are not there, if they are not */
};

/* The two texts, to be freed. */
NODISCARD enum status bitmap_kernel_text(char **source, struct error *error);
NODISCARD enum status bitmap_cub_text(char **source, struct error *error);

/* The text of the scan that the index is compared with, around a column's decoder, which must test ranges; to be freed. */
#define BITMAP_SCAN         "scan_range"
#define BITMAP_SCAN_THREADS 256u
NODISCARD enum status bitmap_scan_text(const struct kernel_column *column, char **source,
                                       struct error *error);

/* Compiles and loads them. Where CUB's headers are not installed, or are of a version that these kernels do not compile with, CUB's
 * are not there, which is no error. Close with bitmap_kernels_close, also after an error. */
NODISCARD enum status bitmap_kernels_open(struct lab *lab, struct bitmap_kernels *kernels,
                                          struct error *error);
void bitmap_kernels_close(struct bitmap_kernels *kernels);
bool bitmap_kernels_have_cub(const struct bitmap_kernels *kernels);

/* Queues `blocks` blocks of `threads` threads. */
NODISCARD enum status bitmap_launch(const struct bitmap_kernels *kernels, enum bitmap_function function,
                                    uint64_t blocks, unsigned threads, void **arguments, struct error *error);

/* Launches `inline` on vectors of a set, in pieces of the size that pays for these. */
NODISCARD enum status bitmap_launch_inline(const struct bitmap_kernels *kernels, const struct bitmap_set *set,
                                           void **arguments, struct error *error);

#endif
