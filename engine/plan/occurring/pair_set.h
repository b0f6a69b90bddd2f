/* pair_set.h: a set of numbers less than 2^64 - 1, for one thread; 16 to 32 bytes a number, 5 to 50 ns an addition. */
#ifndef TESSERA_ENGINE_PLAN_OCCURRING_PAIR_SET_H
#define TESSERA_ENGINE_PLAN_OCCURRING_PAIR_SET_H

#include "storage/base/status.h"

#include <stdint.h>

/* Zero-initialised it is empty; pair_set_free empties it. */
struct pair_set {
    uint64_t count, capacity; /* a power of two, or 0 */
    uint64_t *slots;          /* UINT64_MAX: free */
    uint64_t last;            /* that was added, if there is one */
};

NODISCARD enum status pair_set_add(struct pair_set *set, uint64_t number, struct error *error);
void pair_set_free(struct pair_set *set);

/* Gives the numbers of several sets, ascending and each once, in an array that the caller frees. */
NODISCARD enum status pair_sets_join(const struct pair_set *const *sets, uint32_t set_count,
                                     uint64_t **numbers, uint64_t *count, struct error *error);

#endif
