/*
 * bitmap_device.h: the OR of a set's vectors on a GPU, by every strategy, each compared word by word and timed.
 *
 * 128 vectors of 1 G rows take up to 46 GB of the GPU's memory: 16 for their groups, 16 for flat bitsets, 8 for the index
 * of words, and the compressed words.
 */
#ifndef TESSERA_LAB_BITMAPS_BITMAP_DEVICE_H
#define TESSERA_LAB_BITMAPS_BITMAP_DEVICE_H

#include "lab/bench/decode.h"
#include "lab/bitmaps/bitmap_kernel.h"
#include "lab/bitmaps/bitmap_set.h"

enum bitmap_step {
    BITMAP_TRANSFER, /* of the compressed words to the GPU */
    BITMAP_DECOMPRESS,
    BITMAP_BY_COA,
    BITMAP_BY_ROA,
    BITMAP_BY_HYBRID,
    BITMAP_BY_IDEAL,
    BITMAP_BY_FLAT,
    BITMAP_BY_INLINE,
    BITMAP_BY_COUNT, /* inline, of which only the number of rows is wanted */
    BITMAP_STEPS
};
extern const char *const bitmap_step_names[BITMAP_STEPS], *const bitmap_step_keys[BITMAP_STEPS];

/* Words of global memory that a strategy reads and writes, counted, and as the paper's formula has them. */
struct bitmap_traffic {
    uint64_t counted[2], formula[2];
};

struct bitmap_times {
    struct speed steps[BITMAP_STEPS];
    uint64_t flat_bytes, inline_bytes;           /* that a flat OR and `inline` read and write at least */
    struct bitmap_traffic traffic[BITMAP_STEPS]; /* of the four strategies, if it is counted */
};

/* The largest range for a GPU: its tiles and rows have so many vectors, and its groups are below 2^32. */
#define BITMAP_VECTORS_MAX 2048u

/* Measures all. With `counts`, each strategy also runs once and counts what it reads and writes: STATUS_CHECK_FAILED if
 * that is not the paper's number. */
NODISCARD enum status bitmap_device_measure(const struct bitmap_kernels *kernels,
                                            const struct bitmap_set *set, bool counts,
                                            struct bitmap_times *times, struct error *error);

#endif
