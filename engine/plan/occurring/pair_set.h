/*
 * pair_set.h: a set of numbers less than 2^64 - 1, for one thread: a bitmap if all of them are small, in 1 to 3 ns an
 * addition; else a hash table of 16 to 32 bytes a number, in 5 to 50 ns.
 */
#ifndef TESSERA_ENGINE_PLAN_OCCURRING_PAIR_SET_H
#define TESSERA_ENGINE_PLAN_OCCURRING_PAIR_SET_H

#include "storage/base/status.h"

#include <stdint.h>

/* Sets of numbers less than this are bitmaps, of 4 MB. */
#define PAIR_SET_BITS (UINT64_C(1) << 25)

/* Zero-initialised but for `domain` it is empty; pair_set_free empties it. */
struct pair_set {
    uint64_t domain;          /* numbers are less */
    uint64_t *bits;           /* of a small domain */
    uint64_t count, capacity; /* a power of two, or 0 */
    uint64_t *slots;          /* UINT64_MAX: free */
    uint64_t last;            /* that was added, if there is one */
};

NODISCARD enum status pair_set_add(struct pair_set *set, uint64_t number, struct error *error);
void pair_set_free(struct pair_set *set);

/* Gives the numbers of several sets of one domain, ascending and each once, in an array that the caller frees. */
NODISCARD enum status pair_sets_join(const struct pair_set *const *sets, uint32_t set_count,
                                     uint64_t **numbers, uint64_t *count, struct error *error);

#endif
