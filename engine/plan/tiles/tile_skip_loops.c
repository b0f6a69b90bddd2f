/* tile_skip_loops.c: see tile_skip_loops.h. The compiler makes vector instructions of the loops. */
#include "engine/plan/tiles/tile_skip_loops.h"

void ISA(tile_skip_ranges)(const struct tile_test *test, const int64_t *restrict min_max, uint32_t tiles,
                           uint8_t *restrict keep, uint8_t *restrict unsure)
{
    const int64_t from = test->low, to = test->high;
    for (uint32_t t = 0; t < tiles; t++) {
        const int64_t low = min_max[2 * (size_t)t] > from ? min_max[2 * (size_t)t] : from;
        const int64_t high = min_max[2 * (size_t)t + 1] < to ? min_max[2 * (size_t)t + 1] : to;
        keep[t] &= low <= high;
    }
    if (!test->set)
        return;
    const int64_t first = (int64_t)(test->set->least << test->set->shift);
    const int64_t last = first + (int64_t)((UINT64_C(1) << test->set->shift) - 1);
    for (uint32_t t = 0; t < tiles; t++) {
        const int64_t low = min_max[2 * (size_t)t] > from ? min_max[2 * (size_t)t] : from;
        const int64_t high = min_max[2 * (size_t)t + 1] < to ? min_max[2 * (size_t)t + 1] : to;
        unsure[t] = keep[t] & ((low > last) | (high < first));
    }
}
