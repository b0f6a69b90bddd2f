/*
 * bitmap_scan.h: a range of values by the OR of its vectors and by a scan of the encoded column, on either device: the
 * rows are compared bit by bit, then both are timed.
 */
#ifndef TESSERA_LAB_BITMAPS_BITMAP_SCAN_H
#define TESSERA_LAB_BITMAPS_BITMAP_SCAN_H

#include "lab/bench/kernel.h"
#include "lab/bitmaps/bitmap_kernel.h"
#include "lab/bitmaps/bitmap_set.h"

/* The first four are the caller's, who sets the rest to zeros. */
struct bitmap_scan {
    struct lab *lab;
    const struct bitmap_kernels *kernels; /* not read without a GPU */
    const struct bitmap_set *set;         /* its first vectors are those of the range */
    const struct encoded *encoded;        /* the same column, in a codec with in_range and one chunk size */

    uint64_t tiles;
    int32_t low, high; /* of the range, which has `count` vectors */
    uint32_t count;
    struct wah_builder result; /* on the processor */
    uint64_t *bits, *index_bits;
    struct lab_column column; /* on the GPU */
    struct lab_kernel kernel;
    cuda_address words, starts, vectors, groups, masks, wrong;
};

NODISCARD enum status bitmap_scan_open(struct bitmap_scan *scan, struct error *error);
void bitmap_scan_close(struct bitmap_scan *scan); /* also after an error */

/* The range has the values low .. low + count - 1, which are the set's first vectors. STATUS_CHECK_FAILED if the index and
 * the scan do not agree in every row. */
NODISCARD enum status bitmap_scan_cpu(struct bitmap_scan *scan, int32_t low, uint32_t count,
                                      struct speed *by_index, struct speed *by_scan, struct error *error);
NODISCARD enum status bitmap_scan_cuda(struct bitmap_scan *scan, int32_t low, uint32_t count,
                                       struct speed *by_index, struct speed *by_scan, struct error *error);

#endif
