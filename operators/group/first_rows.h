/*
 * first_rows.h: what the engine and the kernels of a statement with ORDER BY and LIMIT share (first_rows_cuda.h). Host and
 * device compilers lay it out alike.
 */
#ifndef TESSERA_OPERATORS_GROUP_FIRST_ROWS_H
#define TESSERA_OPERATORS_GROUP_FIRST_ROWS_H

#ifndef TILE_CUDA
#include <stdint.h>
#endif

/* A row that may be among the first. */
struct first_entry {
    uint64_t rank;
    uint32_t segment, row; /* of the segment */
};

/* What a sample tells: so many rows have this rank or a lesser one. */
struct first_known {
    uint64_t rank;
    uint32_t rows, reserved;
};

/* Between the launches of a run; all zeros when it begins. */
struct first_state {
    uint64_t tightened;       /* all ones less the greatest rank that is wanted, as far as samples tell */
    unsigned long long found; /* entries, also some that did not fit */
    uint32_t sampled,
        items;      /* lengths of the list of chosen work, when tiles are sampled and when rows are listed */
    uint32_t known; /* how much the sample has told: the number of struct first_known */
    uint32_t sampling;
};

/* A choice of work: of `count` items, or of their samples. bound_work.marks has in bits 8 to 15
 * which of the item's tiles are samples; that of a chosen item has in bits 0 to 7 which tiles are left out. */
struct first_choice {
    uint64_t work; /* struct bound_work */
    uint64_t best; /* the best rank that each of the eight tiles of each item can have; 0: unknown */
    uint64_t chosen;
    uint32_t count, sampling;
};

/* The shared memory of first_tighten. */
#define FIRST_TIGHTEN_THREADS 1024u
#define FIRST_DIGITS          256u
struct first_tightening {
    unsigned long long least, most, prefix_found;
    uint32_t counts[FIRST_DIGITS];
    uint32_t rank_left, rows;
};

#define FIRST_SAMPLE_SHIFT 8u
#define FIRST_ALL_TILES    0xffu

#endif
