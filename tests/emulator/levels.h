/* levels.h: a tile of a chunk in lane-levels, read by the decoder of kernels that are compiled at run time (levels.cpp). */
#ifndef TESSERA_TESTS_EMULATOR_LEVELS_H
#define TESSERA_TESTS_EMULATOR_LEVELS_H

#include <stdint.h>

struct levels_case {
    const void *directory, *data, *auxiliary; /* of the chunk */
    uint64_t detail;
    uint32_t bits, planes, apart;            /* what the kernel is made for; see LEVELS_SHAPES */
    uint32_t tile;                           /* of the chunk */
    uint32_t care[2], value_bits[2];         /* two cubes of the first LEVELS_TESTED bits */
    int32_t low, high;                       /* if all bits are planes */
    uint32_t in_cubes[32], in_range[32];     /* each lane's items */
    int32_t items[1024], item[1024];         /* all bits of each row */
    int32_t item_bits[1024], own_bits[1024]; /* the bits of LEVELS_NEEDED */
};

/* X(bits, planes, apart). */
#define LEVELS_SHAPES(X) \
    X(13, 13, 0) X(13, 13, 3) X(13, 13, 6) X(22, 10, 0) X(22, 10, 3) X(22, 10, 10) X(8, 8, 8)

#define LEVELS_TESTED       5u
#define LEVELS_NEEDED(bits) (0x1bu << ((bits)-7))

typedef void emulator_levels_run(struct levels_case *of);

#endif
