/*
 * number_index.h: finds the number that was given to a thing (a node, a table, a dictionary) among those of
 * equal hash.
 *
 * Open addressing, at most half full, 16 to 32 bytes a thing. What a number stands for is the owner's
 * business: it says whether a number is the thing that is looked for. Zero-initialised is empty;
 * number_index_free empties it.
 */
#ifndef TESSERA_STORAGE_BASE_NUMBER_INDEX_H
#define TESSERA_STORAGE_BASE_NUMBER_INDEX_H

#include "storage/base/status.h"

#include <stdbool.h>
#include <stdint.h>

struct number_index {
    uint32_t count, capacity; /* a power of two, or 0 */
    uint64_t *slots;          /* the hash's high 32 bits, then the number; UINT64_MAX: free */
};

#define NUMBER_NONE UINT32_MAX

/* The number that was added with this hash and for which `same` is true, or NUMBER_NONE. */
uint32_t number_index_find(const struct number_index *index, uint64_t hash,
                           bool (*same)(const void *context, uint32_t number), const void *context);

/* `number` is below NUMBER_NONE; there may be others of the same hash. */
NODISCARD enum status number_index_add(struct number_index *index, uint64_t hash, uint32_t number,
                                       struct error *error);

void number_index_free(struct number_index *index);

#endif
