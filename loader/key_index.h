/*
 * key_index.h: from a primary key to the position of its row.
 *
 * Built once from a dimension's key column (up to 2^31 - 1 rows), then asked for every fact row by all
 * threads, so the look-up is what counts. Keys that lie close together (1 .. n, as in SSB; dates as yyyymmdd)
 * are looked up in an array that they index directly, 4 bytes for each possible key; others in an
 * open-addressing hash table of 16-byte slots, at most half full.
 */
#ifndef TESSERA_LOADER_KEY_INDEX_H
#define TESSERA_LOADER_KEY_INDEX_H

#include "storage/status.h"

#include <stdint.h>

struct key_index;

/* The keys of rows 0 .. rows-1. Two equal keys: STATUS_BAD_INPUT naming `table`, `column`, the key and both
 * rows (counted from 1, as lines are); `source` is the file that the rows came from, or NULL. */
NODISCARD enum status key_index_create(const int64_t *keys, uint64_t rows, const char *table,
                                       const char *column, const char *source, struct key_index **index,
                                       struct error *error);
void key_index_destroy(struct key_index *index);

/* The row of the key, or -1. */
int32_t key_index_find(const struct key_index *index, int64_t key);

/* Replaces `count` keys by the rows that they name, and those that name none by -1, in place. Returns how
 * many name none. */
uint64_t key_index_resolve(const struct key_index *index, int32_t *keys, uint64_t count);

#endif
