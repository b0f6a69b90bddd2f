/*
 * bitmap_host.h: the OR of a set's vectors on the processor.
 */
#ifndef TESSERA_LAB_BITMAPS_BITMAP_HOST_H
#define TESSERA_LAB_BITMAPS_BITMAP_HOST_H

#include "lab/bench/decode.h"
#include "lab/bitmaps/bitmap_set.h"

enum bitmap_host {
    BITMAP_HOST_PAIRS, /* the paper's methods by OpenMP (openmp.h) */
    BITMAP_HOST_LEVELS,
    BITMAP_HOST_SEQUENTIAL, /* one vector after the other, one thread */
    BITMAP_HOST_PIECES,     /* ours: all threads, a range of rows each */
    BITMAP_HOST_FLAT,       /* flat bitsets, all threads */
    BITMAP_HOSTS
};
extern const char *const bitmap_host_names[BITMAP_HOSTS], *const bitmap_host_keys[BITMAP_HOSTS];

/* False: the program was built without OpenMP. */
bool bitmap_host_available(enum bitmap_host host);

/* Compares every word with those that are expected, and times at most three runs. */
NODISCARD enum status bitmap_host_measure(struct lab *lab, const struct bitmap_set *set,
                                          enum bitmap_host host, struct speed *speed, struct error *error);

#endif
