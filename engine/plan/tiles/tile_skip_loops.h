/* tile_skip_loops.h: the loops of tile_skip.c, for each instruction set (isa.h). */
#ifndef TESSERA_ENGINE_PLAN_TILES_TILE_SKIP_LOOPS_H
#define TESSERA_ENGINE_PLAN_TILES_TILE_SKIP_LOOPS_H

#include "engine/plan/tile_skip.h"
#include "storage/base/isa.h"

/* Tests `tiles` tiles, whose minima and maxima are pairs: keep[t] becomes 0 if no value of the tile is in the test's range.
 * unsure[t] becomes 1 where a tile that is kept must be looked up in the test's set: its range has not the set's least
 * member. */
typedef void tile_skip_loop(const struct tile_test *test, const int64_t *min_max, uint32_t tiles,
                            uint8_t *keep, uint8_t *unsure);
extern tile_skip_loop tile_skip_ranges_baseline, tile_skip_ranges_avx2, tile_skip_ranges_avx512;

#endif
