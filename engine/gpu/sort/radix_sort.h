/* radix_sort.h: sorts pairs of 64-bit words, or keys alone, on a GPU (operators/sort/radix_sort_cuda.h). The kernels are compiled
 * ahead, where CUB's headers were found then. */
#ifndef TESSERA_ENGINE_GPU_SORT_RADIX_SORT_H
#define TESSERA_ENGINE_GPU_SORT_RADIX_SORT_H

#include "engine/cuda/cuda.h"
#include "operators/sort/radix_sort.h"

#include <stdbool.h>

struct cuda_modules;

/* Must be zero-initialised. */
struct cuda_radix_sort {
    struct cuda_module *module;
    uint64_t number; /* of the module (modules.h) */
    struct cuda_function *histogram, *starts, *pairs, *keys;
    struct cuda_function *histogram_narrow, *narrow; /* of keys of 32 bits */
};

/* Whether the program has the kernels for this GPU. */
bool cuda_radix_sort_exists(const struct cuda *cuda);

/* Finds the kernels, in a module that stays for others (modules.h). */
NODISCARD enum status cuda_radix_sort_open(struct cuda *cuda, struct cuda_modules *modules,
                                           struct cuda_radix_sort *sort, struct error *error);
void cuda_radix_sort_close(struct cuda *cuda, struct cuda_modules *modules, struct cuda_radix_sort *sort);

/* The bytes of scratch memory for `count` pairs, up to RADIX_SORT_COUNT_MAX. */
uint64_t cuda_radix_sort_scratch(uint64_t count);

/* The pairs, and as much memory again. Keys alone have `values` 0, and may be `narrow`, of 32 bits. */
struct cuda_pairs {
    cuda_address keys, values;
    cuda_address other_keys, other_values;
    bool narrow;
};

/* Queues the sort by the bits first_bit .. bits - 1 of the keys, and pairs that are equal in them keep their order. The sorted
 * pairs are at keys and values of `pairs`, which may have changed places with the others. */
NODISCARD enum status cuda_radix_sort(struct cuda *cuda, const struct cuda_radix_sort *sort,
                                      struct cuda_pairs *pairs, uint64_t count, uint32_t first_bit,
                                      uint32_t bits, cuda_address scratch, struct error *error);

#endif
