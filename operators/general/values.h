/*
 * values.h: what the engine tells the kernels that find the values which quantiles need (values_cuda.h). Host and device
 * compilers lay it out alike.
 */
#ifndef TESSERA_OPERATORS_GENERAL_VALUES_H
#define TESSERA_OPERATORS_GENERAL_VALUES_H

#ifndef TILE_CUDA
#include <stdint.h>
#endif

/* The bins of a group's values, at most: a quantile needs the values of a bin or two. */
#define VALUES_BINS_MAX    512u
#define VALUES_TARGETS_MAX 8u

/* The bins of all groups, of 9 bytes each. */
#define VALUES_ALL_BINS_MAX (1ull << 25)

/* Between the launches; zeros at first. */
struct values_state {
    unsigned long long found; /* groups of the scan that are listed, also some that did not fit */
    unsigned long long lumps;
};

/* Groups of the scan that are given to the host as one. */
struct values_lump {
    uint64_t number, rows;
};

/* A group of the scan is a group of the statement and a value: its number is group * domain + code of the value. */
struct values_work {
    uint64_t domain, width;  /* of the codes, and of a bin */
    uint64_t groups, bins;   /* bins of a group */
    uint64_t counts;         /* 64 bits for each bin of each group: bin * groups + group */
    uint64_t keep;           /* a byte, likewise */
    uint64_t state;          /* struct values_state */
    uint64_t lumps;          /* struct values_lump: at most targets + 1 of each group */
    uint64_t list, capacity; /* slots */
    uint32_t hashed;         /* else dense */
    uint32_t nullable;       /* code 0 is NULL, which quantiles leave out */
    uint32_t target_count, reserved;
    double targets[VALUES_TARGETS_MAX]; /* 0 to 1 */
};

#endif
