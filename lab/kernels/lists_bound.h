/* lists_bound.h: a posting list in a GPU's memory, decoded; for the host, which fills it, and for lists_cuda.h. */
#ifndef TESSERA_LAB_KERNELS_LISTS_BOUND_H
#define TESSERA_LAB_KERNELS_LISTS_BOUND_H

#include <stdint.h>

/* Document i is sums[i] + gaps[i] - 1. The fields are 64 bits wide so that C and CUDA agree. */
typedef struct bound_list {
    uint64_t gaps;  /* uint32_t *: the d-gaps; the first one is the first document and 1 */
    uint64_t sums;  /* uint32_t *: of the gaps before each, room for as many */
    uint64_t count; /* of both, at least 1 */
} bound_list;

#endif
