/*
 * tile_codes.h: which tiles may have which leading bits of a foreign key, a bit a tile for each of 64 codes.
 *
 * Where rows of a cell stand together (storage/database/clustering/), each statement leaves other tiles out, and would look at
 * the least and greatest key of each tile to know which: some nanoseconds a tile and condition, as long as a selective scan
 * takes. Leading bits are levels, so most conditions are a few of these codes: their words are joined by OR, and those of all
 * conditions by AND, 64 tiles at a time. The open database keeps the words of a column (kept_arrays.h), an eighth of a byte a
 * tile and code.
 */
#ifndef TESSERA_ENGINE_PLAN_TILES_TILE_CODES_H
#define TESSERA_ENGINE_PLAN_TILES_TILE_CODES_H

#include "engine/plan/tile_skip.h"
#include "storage/database/kept_arrays.h"

#define TILE_CODE_BITS 6u
#define TILE_CODES     (1u << TILE_CODE_BITS)

/* Gives the test of a foreign key the codes that its set may have; nothing happens where it would gain nothing: without a set,
 * for few tiles, or if the key's extrema tell already that no tile can be left out. *kept is to be released when the test has
 * been used; NULL: nothing. */
NODISCARD enum status tile_codes_find(struct database *database, const struct table *table,
                                      struct tile_test *test, const struct kept_array **kept,
                                      struct error *error);

#endif
