/*
 * tile.h: the tile dialect, in which every query kernel is written once for CPU and GPU.
 *
 * A query works on one tile (1024 rows) at a time, and it makes a mask first: filters and semi-joins turn
 * packed columns into a mask of surviving rows, and only survivors are looked at after that. Nothing in a
 * query names a thread, a width or a codec.
 *
 *     TILE_QUERY(q11, q, t)                        one kernel; q holds the bound columns, t is the tile
 *     tile_mask tile_all(t)                        all rows of the tile
 *     tile_mask tile_filter(t, keep, q->column)    the rows of keep with a value in the column's bound range
 *     tile_mask tile_semi_join(t, keep, q->key, q->dimension)
 *                                                  the rows of keep whose key is not NULL and has a matching
 *                                                  dimension row that passed the dimension's filter
 *     tile_fetch(t, keep, q->column)               prepares tile_value for the survivors: decodes the whole
 *                                                  tile where that is cheaper than fetching single values
 *     tile_each(t, keep, row) { ... }              runs the body for every survivor
 *     int32_t tile_value(t, q->column, row)        a survivor's value (inside tile_each, after tile_fetch)
 *     uint32_t tile_code(q->dimension, position)   the group attribute of the dimension row at that
 *                                                  position, as a number from 0 to its domain - 1
 *     uint32_t tile_group2(q->sums, a, b), tile_group3(q->sums, a, b, c)
 *                                                  the group's slot; the sums know the sizes of the domains
 *     tile_sum(t, q->sums, slot, value)            adds an int64_t to the group's sum; marks it as present
 *
 * Filters may be applied in any order. A column may be filtered and also fetched. Masks are values. On a CPU
 * one thread owns the tile. On a GPU one warp owns it, and a lane's mask holds the rows lane, lane + 32, ...
 * of the tile. A third dialect, tile_trace.h, does nothing but note what a kernel uses.
 */
#ifndef TESSERA_OPERATORS_DIALECT_TILE_H
#define TESSERA_OPERATORS_DIALECT_TILE_H

#if defined(TILE_CUDA)
#include "operators/dialect/tile_cuda.h"
#elif defined(TILE_TRACE)
#include "operators/dialect/tile_trace.h"
#else
#include "operators/dialect/tile_cpu.h"
#endif

#endif
