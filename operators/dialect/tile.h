/*
 * tile.h: the tile dialect, in which every query kernel is written once for CPU and GPU.
 *
 * A query works on one tile (1024 rows) at a time and mask first: filters and semi-joins turn packed columns into a mask
 * of surviving rows; then only survivors are looked at. Nothing in a query names a thread, a width or a codec.
 *
 *     TILE_QUERY(q11, q, t)                          one kernel; q holds the bound columns, t is the tile
 *     tile_mask tile_all(t)                          every row that the tile has
 *     tile_mask tile_filter(t, keep, q->column)      of keep, the rows whose value lies in the column's bound range
 *     tile_mask tile_semi_join(t, keep, q->key, q->dimension)
 *                                                    of keep, the rows whose key is not NULL and finds a dimension row
 *                                                    that passed the dimension's filter
 *     tile_fetch(t, keep, q->column)                 says that the survivors' values will be read by tile_value: decodes
 *                                                    the tile once where that is cheaper than fetching values one by one
 *     tile_each(t, keep, row) { ... }                runs the body for every survivor
 *     int32_t tile_value(t, q->column, row)          the value of a survivor (inside tile_each, after tile_fetch)
 *     uint32_t tile_code(q->dimension, position)     the group attribute of the dimension row at that position, as a
 *                                                    number from 0 to its domain - 1
 *     uint32_t tile_group2(q->sums, a, b), tile_group3(q->sums, a, b, c)
 *                                                    the group's slot; the sizes of the domains are bound with the sums
 *     tile_sum(t, q->sums, slot, value)              adds an int64_t to the group's sum and marks the group as present
 *
 * Filters may be applied in any order; a column may be a filter and be fetched. Masks are values. On a CPU a thread
 * owns the tile; on a GPU a warp does, and a lane's mask holds the rows lane, lane + 32, ... of the tile.
 */
#ifndef TESSERA_OPERATORS_DIALECT_TILE_H
#define TESSERA_OPERATORS_DIALECT_TILE_H

#ifdef TILE_CUDA
#include "operators/dialect/tile_cuda.h"
#else
#include "operators/dialect/tile_cpu.h"
#endif

#endif
