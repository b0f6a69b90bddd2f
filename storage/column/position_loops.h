/* position_loops.h: the loops of checks of stored indices, for each instruction set (isa.h). */
#ifndef TESSERA_STORAGE_COLUMN_POSITION_LOOPS_H
#define TESSERA_STORAGE_COLUMN_POSITION_LOOPS_H

#include "storage/base/isa.h"
#include "storage/column/positions.h"

struct position_loops {
    /* The highest of the values; 0 of none. */
    uint32_t (*highest)(const uint32_t *values, uint32_t count);
    /* Whether all positions have rows; the check has `rows`. */
    bool (*have_rows)(const struct position_check *check, const uint32_t *positions, uint32_t count);
};

extern const struct position_loops position_loops_baseline, position_loops_avx2, position_loops_avx512;

#endif
