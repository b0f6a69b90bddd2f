/*
 * key_index.h: finds a row by its primary key: its number, or another number that the caller has given it.
 *
 * It is built once from a dimension's key column (up to 2^31 - 1 rows). Then all threads look up a key for
 * every fact row, so the look-up must be fast. Keys that are close together (1 .. n, as in SSB; dates as
 * yyyymmdd) index an array directly, with 4 bytes for each possible key. Other keys are in a hash table with
 * open addressing and 16-byte slots, at most half full.
 */
#ifndef TESSERA_LOADER_TABLE_KEY_INDEX_H
#define TESSERA_LOADER_TABLE_KEY_INDEX_H

#include "storage/base/status.h"

#include <stdbool.h>
#include <stdint.h>

struct key_index;

#define KEY_PLACE_BYTES 600

/* The origin of the keys, for the error about a duplicate key. */
struct key_owner {
    const char *table, *column;
    bool unique;    /* the column is UNIQUE, and not the primary key */
    bool positions; /* values are positions that the key references, not the key's text */
    /* Writes where a row (from 0) comes from: "sales.csv:17". NULL: "row N", from 1. */
    void (*place)(const void *context, uint64_t row, char text[KEY_PLACE_BYTES]);
    const void *context;
};

/* The error about a duplicate key: STATUS_BAD_INPUT naming both places. `key` is its text; positions do not
 * use it. */
enum status key_twice(const struct key_owner *owner, const char *key, uint64_t first, uint64_t second,
                      struct error *error);

/* Builds the index of the keys of rows 0 .. rows-1. `live` is 0 in those of the first `old_rows` that were deleted, whose
 * keys are left out; NULL: none was. Two equal keys give the error of key_twice. */
NODISCARD enum status key_index_create(const int64_t *keys, const int64_t *live, uint64_t old_rows,
                                       uint64_t rows, const struct key_owner *owner, struct key_index **index,
                                       struct error *error);
void key_index_destroy(struct key_index *index);

/* Gives each row the number numbers[row] >= 0 instead: its position in a table with levels. Call it once, before any key
 * is looked up. */
void key_index_renumber(struct key_index *index, const int32_t *numbers);

/* The row of the key, or its number; -1 if there is none. */
int32_t key_index_find(const struct key_index *index, int64_t key);

/* The key of a row, or of its number, for an error; false if there is none. It looks at all keys. */
bool key_index_key(const struct key_index *index, int32_t row, int64_t *key);

/* Replaces `count` keys in place by their rows (or numbers), or by -1 if there is no such row. Returns the number of keys
 * without a row. */
uint64_t key_index_resolve(const struct key_index *index, int32_t *keys, uint64_t count);

#endif
