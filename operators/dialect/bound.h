/*
 * bound.h: what the engine hands to a GPU kernel: addresses and numbers, laid out alike by host and device
 * compilers.
 *
 * Included by C on the host and by the kernels. Device addresses are 64-bit numbers. Every field is naturally
 * aligned, so neither compiler pads.
 */
#ifndef TESSERA_OPERATORS_DIALECT_BOUND_H
#define TESSERA_OPERATORS_DIALECT_BOUND_H

#ifndef TILE_CUDA
#include <stdint.h>
#endif

#define TILE_GROUPS_MAX     3u /* group attributes of a query */
#define TILE_DIMENSIONS_MAX 4u
#define TILE_PREDICATES_MAX 2u /* predicates on one dimension, all of which must hold */
/* A lane-for column with this many different widths or fewer gets a decoder for each of them. */
#define TILE_WIDTHS_MAX 4u

#define TILE_RANGES_MAX 4u /* alternatives of one predicate */

/* One chunk of a column on the device: its sections (storage/codec/codec.h) and its validity words, or 0. `detail`:
 * for gpu-rfor the chunk's blocks of 512 rows, for nsf the bytes of a value. */
struct bound_chunk {
    uint64_t directory, data, auxiliary, validity;
    uint64_t detail;
};

struct bound_column {
    uint64_t chunks;   /* of struct bound_chunk, one a segment */
    int32_t low, high; /* tile_filter keeps low <= value <= high */
    uint32_t staging;  /* where in a warp's staging area tile_fetch puts this column, in bytes */
    uint32_t reserved;
};

struct bound_dimension {
    uint64_t bitmap;       /* one bit a dimension row: it passed the filter */
    uint64_t codes;        /* the group attribute of each row, as 1, 2 or 4 byte unsigned numbers */
    uint32_t bitmap_words; /* of 32 bits */
    uint32_t
        shared_offset;  /* where in shared memory the block keeps its copy of the bitmap, if it keeps one */
    uint32_t code_base; /* subtracted from a code */
    uint32_t reserved;
};

struct bound_sums {
    uint64_t sums;    /* int64 a slot */
    uint64_t present; /* uint32 a slot: not zero if any row was added */
    uint32_t slots;
    uint32_t domain[TILE_GROUPS_MAX]; /* sizes of the domains of the group attributes, outermost first */
};

/* Neighbouring tiles of one segment: what eight warps take at a time. */
#define WORK_TILES 8u
struct bound_work {
    uint32_t segment;
    uint32_t first_tile; /* within the segment */
    uint32_t rows;       /* of these tiles together: 1 .. 8192 */
    uint32_t reserved;
};

struct bound_scan {
    uint64_t work;           /* of struct bound_work */
    uint32_t items;          /* of work */
    uint32_t staging_offset; /* of the warps' staging areas in shared memory */
    uint32_t staging_bytes;  /* of one warp's */
    uint32_t reserved;
};

/* One predicate on a dimension attribute: it holds if any low <= value <= high. */
struct bound_predicate {
    uint64_t values;      /* 1, 2 or 4 byte unsigned numbers */
    uint32_t value_bytes; /* 0: no predicate */
    uint32_t ranges;
    uint32_t low[TILE_RANGES_MAX], high[TILE_RANGES_MAX];
};

/* The filter of one dimension: all its predicates; rows == 0: none to evaluate. Row r sets bit 31 - r%32 of
 * word r/32: most significant first, which a probe can shift out at the top. */
struct bound_filter {
    uint64_t bitmap;
    uint64_t rows;
    struct bound_predicate where[TILE_PREDICATES_MAX];
};

/* What comes before the scan, in one launch: the filters of all dimensions, and the sums cleared. */
struct bound_preparation {
    struct bound_filter dimension[TILE_DIMENSIONS_MAX];
    uint64_t clear;       /* memory to set to zero */
    uint64_t clear_words; /* of 32 bits */
};

#endif
