/*
 * pattern.h: whole-pattern matching over encoded time series by Hamming distance, checked and timed.
 *
 * A time series is a run of consecutive values as long as the pattern: 1024, which is one tile, so a dataset of n tiles
 * has n series. The answer is the number of positions at which each series differs from the pattern, and the series with
 * the least of them. Every measurement first compares all its distances with those that pattern_open computes from the
 * values that were encoded, one after the other.
 */
#ifndef TESSERA_LAB_BENCH_PATTERN_H
#define TESSERA_LAB_BENCH_PATTERN_H

#include "lab/bench/decode.h"

struct pattern {
    struct lab *lab;
    const struct dataset *dataset;
    const int32_t *values; /* TILE_ROWS of them */
    uint32_t series;       /* 1 .. 2^32 - 1 */
    uint32_t *expected;    /* the distance of each series */
    uint32_t *found;       /* the last measurement's */
    uint64_t best;         /* distance << 32 | series, of the least distance and then the first series */
};

/* `dataset`, whose rows are whole tiles, and `values` must outlive the pattern. Close with pattern_close, also after an
 * error. */
NODISCARD enum status pattern_open(struct lab *lab, const struct dataset *dataset, const int32_t *values,
                                   struct pattern *pattern, struct error *error);
void pattern_close(struct pattern *pattern);

enum pattern_way {
    PATTERN_FUSED,  /* on a GPU: the kernel that compares also decodes, in shared memory or registers */
    PATTERN_STAGED, /* on a GPU: all series are decoded into its memory, and then compared */
    PATTERN_CPU,    /* tile by tile on all threads; values that are not compressed are read where they are */
    PATTERN_CPU_THREAD, /* the same on one thread */
    PATTERN_WAYS
};

/* STATUS_CHECK_FAILED if a distance or the best series is wrong; nothing is timed then. The times are of computation
 * alone: the encoded bytes are in memory, on a GPU in its memory. PATTERN_FUSED needs a tile decoder. */
NODISCARD enum status pattern_measure(struct pattern *pattern, const struct encoded *encoded,
                                      enum pattern_way way, struct speed *speed, struct error *error);

/* For pattern_measure: the GPU; and whether pattern->found and `best` are as expected. */
NODISCARD enum status pattern_measure_cuda(struct pattern *pattern, const struct encoded *encoded,
                                           enum pattern_way way, struct speed *speed, struct error *error);
NODISCARD enum status pattern_check(const struct pattern *pattern, uint64_t best, const char *codec,
                                    struct error *error);

#endif
