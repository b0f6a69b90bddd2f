/*
 * openmp.h: the two methods of the paper on range queries over compressed vectors for processors with several cores
 * (its section "Multi-core CPU methods"). Each operation is wah_or() on two compressed vectors and runs on one thread;
 * OpenMP runs as many of them at the same time as there are threads. A build without OpenMP has neither method.
 */
#ifndef TESSERA_LAB_BITMAPS_OPENMP_H
#define TESSERA_LAB_BITMAPS_OPENMP_H

#include "lab/bitmaps/wah/wah_many.h"

enum openmp_method {
    OPENMP_PAIRS, /* method 1: a pair for each thread; then each thread's result and the next vector, and so on */
    OPENMP_LEVELS, /* method 2: at each level, vector i and vector i + half */
    OPENMP_METHODS
};

/* False if the compiler had no OpenMP: the lab then says so and leaves the methods out. */
bool openmp_available(void);

/* The OR of `count` vectors, at least one, of `rows` rows, on `threads` threads (0: all). *result is zero-initialised or
 * from an earlier call. Memory: a result for each thread, or for half of the vectors, and as much again. */
NODISCARD enum status openmp_or(enum openmp_method method, const struct wah_vector *vectors, uint64_t count,
                                uint64_t rows, unsigned threads, struct wah_builder *result,
                                struct error *error);

#endif
