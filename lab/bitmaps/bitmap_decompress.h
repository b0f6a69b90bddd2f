/*
 * bitmap_decompress.h: the decompression of all vectors of a set on a GPU, as published: five kernels, of which two are exclusive sums over
 * all of them (lab/kernels/bitmaps/wah_decompress_cuda.h). The sums are ours or cub::DeviceScan's.
 *
 * It has memory for 12 bytes a group and 4 a word, and 8 for each tile of a scan.
 */
#ifndef TESSERA_LAB_BITMAPS_BITMAP_DECOMPRESS_H
#define TESSERA_LAB_BITMAPS_BITMAP_DECOMPRESS_H

#include "lab/bench/decode.h"
#include "lab/bitmaps/bitmap_kernel.h"

enum bitmap_sums { BITMAP_SUMS_OURS, BITMAP_SUMS_CUB, BITMAP_SUMS };

/* What is summed: the lengths of words, 4 bytes each, and the ends of words, a byte a group. */
enum bitmap_summed { BITMAP_SUMMED_WORDS, BITMAP_SUMMED_GROUPS, BITMAP_SUMMED };

/* A scan by CUB, as its kernel cub_scan_shape tells. */
struct bitmap_cub_shape {
    uint64_t threads, tiles, bytes;
};

struct bitmap_decompression {
    const struct bitmap_kernels *kernels;
    struct lab *lab;
    enum bitmap_sums sums;       /* that bitmap_decompress takes; begins as ours */
    cuda_address words;          /* the compressed words, the caller's */
    uint64_t word_count, groups; /* of all vectors; below 2^32 */
    cuda_address data;           /* the result */
    cuda_address word_index, points;
    cuda_address states; /* of the tiles of a scan */
    uint64_t state_bytes;
    struct bitmap_cub_shape cub[BITMAP_SUMMED]; /* if the kernels have CUB's */
};

/* Takes the memory, and asks CUB what its scans need. Close also after an error. */
NODISCARD enum status bitmap_decompression_open(const struct bitmap_kernels *kernels, cuda_address words,
                                                uint64_t word_count, uint64_t groups,
                                                struct bitmap_decompression *decompression,
                                                struct error *error);
void bitmap_decompression_close(struct bitmap_decompression *decompression);

/* Queues a decompression; a lab_work of a struct bitmap_decompression. */
NODISCARD enum status bitmap_decompress(void *decompression, struct error *error);

/* Compares both scans' sums, all of them, then times each alone. Without CUB times ours. STATUS_CHECK_FAILED if one sum differs. What
 * bitmap_decompress made is overwritten. */
NODISCARD enum status bitmap_sums_measure(struct bitmap_decompression *decompression,
                                          struct speed times[BITMAP_SUMMED][BITMAP_SUMS],
                                          struct error *error);

#endif
