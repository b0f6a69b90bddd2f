/*
 * index_arguments.h: what the host hands to the kernels on bitmap indexes: vectors and ranges of them.
 *
 * Device addresses are 64-bit numbers. This header is C and CUDA.
 */
#ifndef TESSERA_OPERATORS_INDEX_INDEX_ARGUMENTS_H
#define TESSERA_OPERATORS_INDEX_INDEX_ARGUMENTS_H

#include <stdint.h>

/* A compressed vector (storage/index/wah_format.h). The 32-byte sectors in which its words lie are readable as a whole,
 * which is so if the memory begins and ends at a multiple of 32 bytes. */
struct bound_vector {
    uint64_t words;  /* const uint64_t * */
    uint64_t starts; /* const struct wah_start *, one for each piece of 1024 groups */
    uint64_t count;  /* of words; less than 2^32 */
};

#endif
