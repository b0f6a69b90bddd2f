/* states.h: rows for aggregate states in shared memory on the emulated GPU (states.cpp), which has them with 1, 4 and 16 copies
 * of sums: emulator_states_1, emulator_states_4 and emulator_states_16. */
#ifndef TESSERA_TESTS_EMULATOR_STATES_H
#define TESSERA_TESTS_EMULATOR_STATES_H

#include <stdint.h>

#define STATES_SUMMED_WORDS \
    8u                   /* of sums in 64 and in 128 bits and a count: 32-bit words a slot, without copies */
#define STATES_WORDS 11u /* with a maximum and the marks of groups that have rows */

struct states_case {
    uint32_t rows, slots;
    uint32_t many;                             /* not 0: lanes take their own rows (tile_walk_many) */
    const uint32_t *keep;                      /* 32 words a tile, of lanes */
    const uint32_t *slot_of;                   /* of each row */
    const int64_t *values;                     /* likewise */
    uint64_t shared_bytes;                     /* that the states may use */
    uint64_t *sums, *wide, *counts, *greatest; /* a word a slot, of `wide` two; 0 at first */
    uint32_t *present;                         /* likewise */
    uint32_t overrun;                          /* set: states used more */
};

typedef void emulator_states(struct states_case *rows);

#endif
