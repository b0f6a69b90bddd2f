/*
 * radix_sort.h: what the host and the kernels of a radix sort (radix_sort_cuda.h) agree on. Host and device compilers lay it
 * out alike.
 */
#ifndef TESSERA_OPERATORS_SORT_RADIX_SORT_H
#define TESSERA_OPERATORS_SORT_RADIX_SORT_H

#ifndef TILE_CUDA
#include <stdint.h>
#endif

/* A pass moves all items by one digit. */
#define RADIX_SORT_BITS       8u
#define RADIX_SORT_DIGITS     (1u << RADIX_SORT_BITS)
#define RADIX_SORT_PASSES_MAX (64u / RADIX_SORT_BITS)

/* Threads of a block and its items, as CUB has tuned them for keys of 64 bits. */
#define RADIX_SORT_THREADS           384u
#define RADIX_SORT_ITEMS             3840u
#define RADIX_SORT_NARROW_ITEMS      8064u /* of keys of 32 bits */
#define RADIX_SORT_HISTOGRAM_THREADS 128u

/* The look-back keeps two bits of a count of 32. */
#define RADIX_SORT_COUNT_MAX (1u << 30)

struct radix_sort_pass {
    uint64_t keys, values; /* of 64 bits each; keys alone have values 0 */
    uint64_t keys_out, values_out;
    uint64_t bins;     /* RADIX_SORT_DIGITS of 32 bits: where the items of each digit begin */
    uint64_t lookback; /* RADIX_SORT_DIGITS of 32 bits for each block, zeros */
    uint64_t next;     /* 32 bits: the blocks that have begun; 0 */
    int32_t count, first_bit, bits;
};

#endif
