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

#define TILE_GROUPS_MAX 3u /* group attributes of a kernel that is written by hand */

/* One chunk of a column on the device: its sections (storage/codec/codec.h), and its validity words or 0.
 * `detail` is a number for the codec's decoder (codec.gpu.detail). */
struct bound_chunk {
    uint64_t directory, data, auxiliary, validity;
    uint64_t detail;
};

struct bound_column {
    uint64_t chunks;   /* array of struct bound_chunk, one a segment, or one a range of tiles */
    int32_t low, high; /* tile_filter keeps low <= value <= high */
    uint32_t staging;  /* this column's place in a warp's staging area, in bytes */
    uint32_t reserved;
};

struct bound_dimension {
    uint64_t bitmap;       /* one bit a position of the dimension: it passed the filter */
    uint64_t codes;        /* the group attribute at each position, as unsigned numbers of 1, 2 or 4 bytes */
    uint32_t bitmap_words; /* of 32 bits */
    uint32_t code_base;    /* subtracted from a code */
    int32_t first,
        last; /* if the positions that pass are one range: instead of a bitmap; first > last: none */
};

/* The shared memory of a warp for a copy of so many lines of 128 bytes; and of a line that is read but not used. */
#define COPIED_BYTES(lines) (((lines) + 1) * 128u)

/* A work item: up to WORK_TILES neighbouring tiles of one segment, one for each of eight warps. Its chunks are at `place` of
 * the columns' lists: that of the segment, or of a range of tiles (engine/gpu/memory/ranges.h). */
#define WORK_TILES_BITS 3u
#define WORK_TILES      (1u << WORK_TILES_BITS)
struct bound_work {
    uint32_t segment;
    uint32_t first_tile; /* within the segment */
    uint16_t rows;       /* of all its tiles: 1 .. 8192 */
    uint16_t marks;      /* 0, or which of its tiles are samples or left out (operators/group/first_rows.h) */
    uint32_t place;
};

/* A block of a byte stream, for one warp. */
struct bound_block {
    uint32_t segment;
    uint32_t block;             /* within the segment */
    uint32_t first_tile, tiles; /* what it decodes to */
};
#define BLOCK_SOUND UINT64_MAX /* no block is damaged; else segment << 32 | block */

struct bound_scan {
    uint64_t work;           /* array of struct bound_work */
    uint32_t items;          /* its length */
    uint32_t staging_offset; /* place of the warps' staging areas in shared memory */
    uint32_t staging_bytes;  /* size of one warp's staging area */
    uint32_t split;  /* each tile is divided among 1 << split warps; of kernels with TILE_MANY alone */
    uint32_t narrow; /* items have up to WORK_TILES >> narrow tiles, for as many warps */
    uint32_t reserved;
};

/* The most parts of a tile are 1 << WORK_SPLIT_MAX: of each lane's 32 items a part has four then. */
#define WORK_SPLIT_MAX 3u

#endif
