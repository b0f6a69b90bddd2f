/* tile_skip_loops.c: see tile_skip_loops.h. The compiler makes vector instructions of the loops. */
#include "engine/plan/tiles/tile_skip_loops.h"

uint64_t ISA(tile_skip_ranges)(const struct tile_test *test, const int64_t *restrict min_max, uint32_t tiles,
                               uint64_t *unsure)
{
    const int64_t from = test->low, to = test->high;
    uint64_t kept = 0;
    for (uint32_t t = 0; t < tiles; t++) {
        const int64_t low = min_max[2 * (size_t)t] > from ? min_max[2 * (size_t)t] : from;
        const int64_t high = min_max[2 * (size_t)t + 1] < to ? min_max[2 * (size_t)t + 1] : to;
        kept |= (uint64_t)(low <= high) << t;
    }
    *unsure = 0;
    if (!test->set)
        return kept;
    const int64_t first = (int64_t)(test->set->least << test->set->shift);
    const int64_t last = first + (int64_t)((UINT64_C(1) << test->set->shift) - 1);
    for (uint32_t t = 0; t < tiles; t++) {
        const int64_t low = min_max[2 * (size_t)t] > from ? min_max[2 * (size_t)t] : from;
        const int64_t high = min_max[2 * (size_t)t + 1] < to ? min_max[2 * (size_t)t + 1] : to;
        *unsure |= (uint64_t)((low > last) | (high < first)) << t;
    }
    return kept;
}
