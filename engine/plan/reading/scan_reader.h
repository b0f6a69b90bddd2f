/*
 * scan_reader.h: reads ahead the columns that a scan needs, in the order of its tiles (storage/base/disk/read_ahead.h).
 *
 * For data that are larger than the memory of the host, or not in it yet. Of a column, the kept tiles alone are
 * read. A step is as many tiles as take READ_AHEAD_STEP_BYTES in the largest column, so that the disk has long
 * stretches to read. It costs half a microsecond for each 16 MiB of a column to
 * find that all is in memory.
 */
#ifndef TESSERA_ENGINE_PLAN_READING_SCAN_READER_H
#define TESSERA_ENGINE_PLAN_READING_SCAN_READER_H

#include "engine/plan/tile_skip.h"

struct scan_reader;

/* Starts to read `count` columns of the table that `scan` is of, from its last tile on if it runs `backwards`. Both must
 * outlive the reader, `columns` need not. NULL if there is nothing to read, or no memory or thread for it. */
struct scan_reader *scan_reader_start(const struct tile_skip *scan, const struct column_data *const *columns,
                                      uint32_t count, bool backwards);
/* The scan begins its kept tile `tile`; threads may call it in any order. NULL is legal. */
void scan_reader_reach(struct scan_reader *reader, uint64_t tile);
/* At the end of the scan, at the latest. NULL is legal. */
void scan_reader_stop(struct scan_reader *reader);

#endif
