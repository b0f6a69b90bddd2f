/*
 * kept_arrays.h: arrays that plans have made of stored columns, kept with the open database.
 *
 * A plan reads a dimension's column as an array by position (engine/plan/plan_array.c). To expand one of a table of millions
 * of rows takes longer than the scan that reads it, and most statements of a session read the same ones. An open database
 * never changes, so an array is made once and shared: by all plans that are alive, and after them by the next ones, as long
 * as arrays that nobody uses have at most KEPT_ARRAYS_SHARE of the memory that was available first. Beyond that those go
 * that were used least recently.
 *
 * Any thread may call. What two threads make at the same time is kept once.
 */
#ifndef TESSERA_STORAGE_DATABASE_KEPT_ARRAYS_H
#define TESSERA_STORAGE_DATABASE_KEPT_ARRAYS_H

#include "storage/database/database.h"

/* One of so many parts of the available memory is the most that unused arrays have. */
#define KEPT_ARRAYS_SHARE 8u

/* The columns that lead to an array, at most: a dimension of a dimension of … */
#define ARRAY_PATH_MAX 8u

enum array_kind {
    ARRAY_VALUES, /* of the last column */
    ARRAY_ROWS,   /* that it references, int32_t, -1: none */
    ARRAY_TILES,  /* of a key: bits of tiles (engine/plan/tiles/tile_codes.h) */
    ARRAY_USED    /* the positions that some row of it references: bit p % 64 of word p / 64 */
};

/* Which array: by position of the table whose columns begin the path. All columns but the last are foreign keys, each of
 * the table that the one before it references. A path without columns is that of an array which is found by nobody. */
struct array_key {
    const struct column *path[ARRAY_PATH_MAX]; /* filled with NULL */
    enum array_kind kind;                      /* if it is not ARRAY_VALUES, the last column is a key, too */
};

struct kept_array {
    struct array_key key;
    void *values;         /* from malloc */
    uint32_t *valid;      /* as of struct plan_array, from malloc; NULL: no value is NULL */
    uint32_t value_bytes; /* of one value */
    uint64_t bytes;       /* of all that was allocated */
    uint64_t number;      /* no two arrays of a process have the same; 0: not kept yet */

    /* The database's, under its lock: */
    unsigned uses;
    struct kept_array *next; /* used less recently */
};

/* The key of a column at the end of the path of `through`, which has the rows of its table; NULL: the path begins. */
struct array_key array_key_of(const struct kept_array *through, const struct column *column,
                              enum array_kind kind);

/* The array with this key, to be released; NULL: there is none. */
const struct kept_array *kept_array_find(struct database *database, const struct array_key *key);

/* Keeps an array and gives it, to be released; or, if another thread kept one with its key meanwhile, that one. Owns what
 * `made` has allocated, after a failure, too: it is freed then. */
NODISCARD enum status kept_array_add(struct database *database, const struct kept_array *made,
                                     const struct kept_array **kept, struct error *error);

/* NULL is legal. */
void kept_array_release(struct database *database, const struct kept_array *kept);

/* The bytes of all arrays of an open database, and of those that nobody uses. */
struct kept_arrays_bytes {
    uint64_t all, unused;
};
struct kept_arrays_bytes kept_arrays_bytes(struct database *database);

/* Frees them all, when the database is closed. */
void kept_arrays_free(struct database *database);

#endif
