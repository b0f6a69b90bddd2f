/* states.h: rows for aggregate states in shared memory on the emulated GPU (states.cpp), which adds them as kernels do that expect
 * to keep few rows of a tile, emulator_states_few, and many (TILE_MANY), emulator_states_many. */
#ifndef TESSERA_TESTS_EMULATOR_STATES_H
#define TESSERA_TESTS_EMULATOR_STATES_H

#include <stdint.h>

/* Sums in 64 and in 128 bits, a count, a maximum, bits of XOR, and the marks of groups that have rows: 32-bit words a slot. */
#define STATES_WORDS 13u

struct states_case {
    const void *work; /* `items` of struct bound_work */
    uint32_t items, slots;
    uint32_t split;         /* tiles are divided among 1 << split warps; of many alone */
    const uint32_t *keep;   /* 32 words a tile, of lanes */
    const uint32_t *groups; /* the slot of each row */
    const int64_t *values;  /* likewise */
    uint64_t shared_bytes;  /* that the states may use */
    uint64_t *sums, *wide, *counts, *greatest, *bits; /* a word a slot, of `wide` two; 0 at first */
    uint32_t *present;                                /* likewise */
    uint32_t overrun;                                 /* set: states used more */
};

typedef void emulator_states(struct states_case *rows);

#endif
