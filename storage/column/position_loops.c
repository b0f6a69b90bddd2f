/* position_loops.c: see position_loops.h. The compiler makes vector instructions of the loops. */
#include "storage/column/position_loops.h"

static uint32_t highest(const uint32_t *values, uint32_t count)
{
    uint32_t most = 0;
    for (uint32_t i = 0; i < count; i++)
        most = values[i] > most ? values[i] : most;
    return most;
}

/* A position beyond all prefixes looks at the last one, and fails by its own test. */
static bool have_rows(const struct position_check *check, const uint32_t *positions, uint32_t count)
{
    const uint32_t *const rows = check->rows;
    const uint32_t last = (uint32_t)(check->positions - 1), shift = check->rest_bits;
    const uint32_t mask = (uint32_t)((UINT64_C(1) << shift) - 1);
    uint32_t wrong = 0;
    for (uint32_t i = 0; i < count; i++) {
        const uint32_t position = positions[i], within = position < last ? position : last;
        wrong |= (uint32_t)(position > last) | (uint32_t)((position & mask) >= rows[within >> shift]);
    }
    return !wrong;
}

const struct position_loops ISA(position_loops) = {.highest = highest, .have_rows = have_rows};
