/* tile_skip_loops.h: the loops of tile_skip.c, for each instruction set (isa.h). */
#ifndef TESSERA_ENGINE_PLAN_TILES_TILE_SKIP_LOOPS_H
#define TESSERA_ENGINE_PLAN_TILES_TILE_SKIP_LOOPS_H

#include "engine/plan/tile_skip.h"
#include "storage/base/isa.h"

/* Tests up to 64 tiles, whose minima and maxima are pairs, and returns the bits of those of which some value may be in the
 * test's range. *unsure has the bits of tiles that, if they are kept, must be looked up in the test's set: their range has not
 * the set's least member. */
typedef uint64_t tile_skip_loop(const struct tile_test *test, const int64_t *min_max, uint32_t tiles,
                                uint64_t *unsure);
extern tile_skip_loop tile_skip_ranges_baseline, tile_skip_ranges_avx2, tile_skip_ranges_avx512;

#endif
