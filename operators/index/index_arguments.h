/*
 * index_arguments.h: what the host hands to the kernels on bitmap indexes: vectors, ranges of them, and the masks that are
 * made of them.
 *
 * Device addresses are 64-bit numbers. This header is C and CUDA.
 */
#ifndef TESSERA_OPERATORS_INDEX_INDEX_ARGUMENTS_H
#define TESSERA_OPERATORS_INDEX_INDEX_ARGUMENTS_H

#ifndef TILE_CUDA
#include <stdint.h>
#endif

/* A vector of a segment, compressed (storage/index/wah_format.h) or flat. If it is compressed, the lines of four words in
 * which its words lie are readable as a whole, which is so if the memory begins and ends at a multiple of 32 bytes. */
struct bound_vector {
    uint64_t words; /* of 8 bytes, or of 4: WAH in 32-bit words */
    uint64_t
        starts; /* const struct wah_start *, one for each piece of 1024 groups; 0: a WAH vector of at most 32 words has
                        none, nor has a flat one */
    uint64_t count; /* of words; less than 2^32 */
};

/* The tiles of a thread block that makes masks: the rows of a piece of 1024 groups are whole tiles, for 63-bit and 31-bit
 * groups alike. */
#define INDEX_TILES_WAH64 63u
#define INDEX_TILES_WAH32 31u
#define INDEX_TILES_FLAT  32u

/* A piece of a segment, for one thread block. */
struct bound_piece {
    uint64_t first_tile; /* of the piece, within the mask */
    uint32_t segment;
    uint32_t piece, pieces; /* the piece's number, and the segment's pieces */
    uint32_t tiles;         /* of the piece: INDEX_TILES_..., or fewer at the segment's end */
};

/* The mask of several terms: the vectors of a term are ORed, the terms are ANDed. Word l of a tile's 32 has bit j for row
 * 32j + l. Term t of segment s has vectors ends[s * terms + t] .. ends[s * terms + t + 1] - 1; a segment's terms have no
 * vectors if no row of the segment passes. */
struct bound_mask {
    uint64_t pieces;  /* array of struct bound_piece, one a thread block */
    uint64_t ends;    /* array of uint32_t */
    uint64_t vectors; /* array of struct bound_vector */
    uint64_t mask;    /* uint32_t, 32 a tile */
    uint32_t terms;
    uint32_t refines; /* not 0: the mask has other terms' rows already, and is ANDed with these */
};

#endif
