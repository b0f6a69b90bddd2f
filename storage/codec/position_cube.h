/*
 * position_cube.h: tests of single bits of a value, by which keys that carry levels (storage/column/levels.h) are
 * filtered: a set of values is the union of cubes. Codecs that keep bits apart (codec.in_cubes) test 32 rows in one or
 * two operations a bit, and read only the bits that a cube names. Kernels get cubes as arguments.
 */
#ifndef TESSERA_STORAGE_CODEC_POSITION_CUBE_H
#define TESSERA_STORAGE_CODEC_POSITION_CUBE_H

#ifndef TILE_CUDA
#include <stdint.h>
#endif

/* A value is in the cube if (value & care) == value_bits; value_bits has no bit outside care. */
struct position_cube {
    uint32_t care, value_bits;
};

/* The most cubes of a set; sets that need more are bitmaps. */
#define POSITION_CUBES_MAX 8u

#endif
