/*
 * number_index.h: a hash table that finds the number of a thing (a node, a table, a dictionary).
 *
 * The things themselves belong to the caller, who says whether a number is that of the thing in question.
 * Open addressing, at most half full, 16 to 32 bytes a thing. A zero-initialised index is empty;
 * number_index_free empties it.
 */
#ifndef TESSERA_STORAGE_BASE_NUMBER_INDEX_H
#define TESSERA_STORAGE_BASE_NUMBER_INDEX_H

#include "storage/base/status.h"

#include <stdbool.h>
#include <stdint.h>

struct number_index {
    uint32_t count, capacity; /* a power of two, or 0 */
    uint64_t *slots;          /* the high 32 bits of the hash, then the number; UINT64_MAX: free */
};

#define NUMBER_NONE UINT32_MAX

/* Gives the number that was added with this hash and for which `same` is true, or NUMBER_NONE. */
uint32_t number_index_find(const struct number_index *index, uint64_t hash,
                           bool (*same)(const void *context, uint32_t number), const void *context);

/* Adds a number, which must be less than NUMBER_NONE; several numbers may have the same hash. */
NODISCARD enum status number_index_add(struct number_index *index, uint64_t hash, uint32_t number,
                                       struct error *error);

void number_index_free(struct number_index *index);

#endif
