/*
 * bound.h: what the engine passes to a GPU kernel: addresses and numbers.
 *
 * C on the host and the kernels include it. Device addresses are 64-bit numbers. Every field is naturally
 * aligned, so neither compiler adds padding and both lay the structures out alike.
 */
#ifndef TESSERA_OPERATORS_DIALECT_BOUND_H
#define TESSERA_OPERATORS_DIALECT_BOUND_H

#ifndef TILE_CUDA
#include <stdint.h>
#endif

#define TILE_GROUPS_MAX     3u /* group attributes of a query */
#define TILE_DIMENSIONS_MAX 4u
#define TILE_PREDICATES_MAX 2u /* predicates on one dimension, all of which must hold */
#define TILE_RANGES_MAX     4u /* ranges of one predicate, any of which may hold */

/* One chunk of a column on the device: its sections (storage/codec/codec.h), and its validity words or 0.
 * `detail` is a number that the codec's decoder wants (codec.gpu.detail). */
struct bound_chunk {
    uint64_t directory, data, auxiliary, validity;
    uint64_t detail;
};

struct bound_column {
    uint64_t chunks;   /* array of struct bound_chunk, one a segment */
    int32_t low, high; /* tile_filter keeps low <= value <= high */
    uint32_t staging;  /* this column's place in a warp's staging area, in bytes */
    uint32_t reserved;
};

struct bound_dimension {
    uint64_t bitmap;        /* one bit a dimension row: the row passed the filter */
    uint64_t codes;         /* the group attribute of each row, as unsigned numbers of 1, 2 or 4 bytes */
    uint32_t bitmap_words;  /* of 32 bits */
    uint32_t shared_offset; /* place of the block's copy of the bitmap in shared memory, if it has one */
    uint32_t code_base;     /* subtracted from a code */
    uint32_t reserved;
};

struct bound_sums {
    uint64_t sums;    /* int64 a slot */
    uint64_t present; /* uint32 a slot: not 0 if a row was added */
    uint32_t slots;
    uint32_t domain[TILE_GROUPS_MAX]; /* sizes of the group attributes' domains, outermost first */
};

/* A work item: WORK_TILES neighbouring tiles of one segment, one for each of eight warps. */
#define WORK_TILES 8u
struct bound_work {
    uint32_t segment;
    uint32_t first_tile; /* within the segment */
    uint32_t rows;       /* of all its tiles: 1 .. 8192 */
    uint32_t reserved;
};

struct bound_scan {
    uint64_t work;           /* array of struct bound_work */
    uint32_t items;          /* its length */
    uint32_t staging_offset; /* place of the warps' staging areas in shared memory */
    uint32_t staging_bytes;  /* size of one warp's staging area */
    uint32_t reserved;
};

/* One predicate on a dimension attribute: it holds if low[i] <= value <= high[i] for any range i. */
struct bound_predicate {
    uint64_t values;      /* unsigned numbers of 1, 2 or 4 bytes */
    uint32_t value_bytes; /* 0: no predicate */
    uint32_t ranges;
    uint32_t low[TILE_RANGES_MAX], high[TILE_RANGES_MAX];
};

/* The filter of one dimension: all its predicates must hold; rows == 0: there is no filter. Row r has bit
 * 31 - r%32 of word r/32: with the most significant bit first, a probe's two shifts leave the bit alone. */
struct bound_filter {
    uint64_t bitmap;
    uint64_t rows;
    struct bound_predicate where[TILE_PREDICATES_MAX];
};

/* What one launch does before the scan: it evaluates the filters of all dimensions and clears the sums. */
struct bound_preparation {
    struct bound_filter dimension[TILE_DIMENSIONS_MAX];
    uint64_t clear;       /* memory to set to zero */
    uint64_t clear_words; /* of 32 bits */
};

#endif
