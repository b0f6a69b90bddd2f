/*
 * bitmap_device.h: the OR of a set's vectors on a GPU, by every strategy, each compared word by word and timed.
 *
 * 128 vectors of 1 G rows take up to 46 GB of the GPU's memory: 16 for their groups, 16 for flat bitsets, 8 for the index
 * of words, and the compressed words.
 */
#ifndef TESSERA_LAB_BITMAPS_BITMAP_DEVICE_H
#define TESSERA_LAB_BITMAPS_BITMAP_DEVICE_H

#include "lab/bench/decode.h"
#include "lab/bitmaps/bitmap_decompress.h"
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

/* Layouts of a hybrid's tile: k x j threads have 2k columns and j pairs of rows, k = 1, 2, .. 512 and j = 2, 4, .. 1024. Those of
 * BITMAP_LAYOUT_THREADS_MIN to 1024 threads are measured. */
#define BITMAP_LAYOUT_KS          10u
#define BITMAP_LAYOUT_JS          10u
#define BITMAP_LAYOUT_THREADS_MIN 128u
static inline uint32_t bitmap_layout_k(uint32_t number)
{
    return 1u << number;
}
static inline uint32_t bitmap_layout_j(uint32_t number)
{
    return 2u << number;
}
bool bitmap_layout_offered(uint32_t k, uint32_t j);

/* The columns of a tile of k x j threads are 2k; the tiles that span all columns: */
static inline uint32_t bitmap_layout_tiles(uint32_t k, uint32_t columns)
{
    return (columns + 2 * k - 1) / (2 * k);
}

/* The k of the step `hybrid`, whose tiles have 1024 threads: 16, or, where one such tile would span all columns, so that hybrid would be
 * ideal, the largest one that leaves two tiles. 0: none does, as a tile has two columns at least. */
uint32_t bitmap_hybrid_k(uint32_t columns);

struct bitmap_times {
    struct speed steps[BITMAP_STEPS];            /* 0: the strategy does not do so many vectors */
    uint64_t flat_bytes, inline_bytes;           /* that a flat OR and `inline` read and write at least */
    struct bitmap_traffic traffic[BITMAP_STEPS]; /* of the four strategies, if it is counted */
    uint64_t words, groups;                      /* that decompression sums */
    struct speed sums[BITMAP_SUMMED][BITMAP_SUMS];
    struct speed decompress_cub; /* the whole decompression, with CUB's sums; 0: without CUB */
    struct speed layouts[BITMAP_LAYOUT_KS][BITMAP_LAYOUT_JS];
};

/* The most vectors of a range for a GPU: a hybrid's second round has up to 2048 columns, of which each may be a tile of two. Groups are
 * below 2^32. ROA's and ideal's rows have up to BITMAP_ROW_VECTORS_MAX: theirs is a word of one thread block. */
#define BITMAP_VECTORS_MAX     4096u
#define BITMAP_ROW_VECTORS_MAX 2048u

struct bitmap_options {
    bool
        counts; /* each strategy also runs once and counts what it reads and writes: STATUS_CHECK_FAILED if that is not the paper's
                     number */
    bool layouts; /* hybrid is measured in all layouts */
};

/* Measures all. */
NODISCARD enum status bitmap_device_measure(const struct bitmap_kernels *kernels,
                                            const struct bitmap_set *set,
                                            const struct bitmap_options *options, struct bitmap_times *times,
                                            struct error *error);

#endif
