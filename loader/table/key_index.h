/*
 * key_index.h: from a primary key to the position of its row.
 *
 * Built once from a dimension's key column (up to 2^31 - 1 rows), then asked for every fact row by all
 * threads, so the look-up is what counts. Keys that lie close together (1 .. n, as in SSB; dates as yyyymmdd)
 * are looked up in an array that they index directly, 4 bytes for each possible key; others in an
 * open-addressing hash table of 16-byte slots, at most half full.
 */
#ifndef TESSERA_LOADER_TABLE_KEY_INDEX_H
#define TESSERA_LOADER_TABLE_KEY_INDEX_H

#include "storage/base/status.h"

#include <stdbool.h>
#include <stdint.h>

struct key_index;

#define KEY_PLACE_BYTES 600

/* Whose keys they are, for the complaint about one that is there twice. */
struct key_owner {
    const char *table, *column;
    bool positions; /* values are positions of what the key references, not the key as it was written */
    /* Where a row (from 0) comes from: "sales.csv:17". NULL: it is "row N", from 1. */
    void (*place)(const void *context, uint64_t row, char text[KEY_PLACE_BYTES]);
    const void *context;
};

/* That complaint: STATUS_BAD_INPUT naming both places; `key` as text (unused of positions). */
enum status key_twice(const struct key_owner *owner, const char *key, uint64_t first, uint64_t second,
                      struct error *error);

/* The keys of rows 0 .. rows-1. Two equal keys: key_twice. */
NODISCARD enum status key_index_create(const int64_t *keys, uint64_t rows, const struct key_owner *owner,
                                       struct key_index **index, struct error *error);
void key_index_destroy(struct key_index *index);

/* The row of the key, or -1. */
int32_t key_index_find(const struct key_index *index, int64_t key);

/* Replaces `count` keys by the rows that they name, and those that name none by -1, in place. Returns how
 * many name none. */
uint64_t key_index_resolve(const struct key_index *index, int32_t *keys, uint64_t count);

#endif
