/*
 * sketch.h: the cells of sketches, for CPUs and GPUs alike. A sketch is a small map from a cell to a number. A scan groups
 * by (the statement's groups, cell of the value) and adds up the number, as any other aggregate, so that no device needs a
 * wide state, memory is taken for cells that occur alone, and a sketch depends on no order of rows or merges.
 *
 *     approx_count_distinct   HyperLogLog (Flajolet et al., 2007): 2^12 registers, each with the greatest rank of the
 *                             hashes in it. The rank is the place of the first 1 of the hash's other 52 bits.
 *     approx_quantile         buckets that are linear within a power of two: the number of rows in each. A bucket is at
 *                             most 2^-8 of its values wide, so its middle is within 2^-9 of each of them.
 *
 * This header is C and CUDA.
 */
#ifndef TESSERA_OPERATORS_GROUP_SKETCH_H
#define TESSERA_OPERATORS_GROUP_SKETCH_H

#include "operators/group/state.h"
#include "storage/base/hash.h"

/* The leading zeros of a number that is not 0. */
STATE_INLINE uint32_t sketch_zeros(uint64_t number)
{
#ifdef TILE_CUDA
    return (uint32_t)__clzll((long long)number);
#else
    return (uint32_t)__builtin_clzll(number);
#endif
}

/* ---- HyperLogLog ---- */

#define SKETCH_REGISTER_BITS 12u
#define SKETCH_REGISTERS     (1u << SKETCH_REGISTER_BITS)
#define SKETCH_RANKS         (64u - SKETCH_REGISTER_BITS + 1u) /* ranks are 1 .. SKETCH_RANKS */

/* The hash of 0 would be 0, whose rank is the greatest; so the number that has it is an unlikely one. */
STATE_INLINE uint64_t sketch_hash(int64_t value)
{
    return hash_mix((uint64_t)value ^ 0x9e3779b97f4a7c15ull);
}

STATE_INLINE int64_t sketch_register(int64_t value)
{
    return (int64_t)(sketch_hash(value) >> (64u - SKETCH_REGISTER_BITS));
}

STATE_INLINE int64_t sketch_rank(int64_t value)
{
    return 1 + sketch_zeros(sketch_hash(value) << SKETCH_REGISTER_BITS | 1ull << (SKETCH_REGISTER_BITS - 1u));
}

/* ---- Buckets ---- */

#define SKETCH_BUCKET_BITS 8u                          /* 2^8 buckets between two powers of two */
#define SKETCH_SINGLE      (2ll << SKETCH_BUCKET_BITS) /* whole numbers below this have a bucket each */

/* The bucket of a whole number. Buckets have the order of their values, and that of -x is the negated one of x. */
STATE_INLINE int64_t sketch_bucket(int64_t value)
{
    const uint64_t magnitude = value < 0 ? 0 - (uint64_t)value : (uint64_t)value;
    int64_t bucket = (int64_t)magnitude;
    if (magnitude >= (uint64_t)SKETCH_SINGLE) {
        const uint32_t shift = 63u - SKETCH_BUCKET_BITS - sketch_zeros(magnitude);
        bucket = ((int64_t)shift << SKETCH_BUCKET_BITS) + (int64_t)(magnitude >> shift);
    }
    return value < 0 ? -bucket : bucket;
}

/* The middle of a bucket of whole numbers. */
STATE_INLINE int64_t sketch_middle(int64_t bucket)
{
    const uint64_t magnitude = (uint64_t)(bucket < 0 ? -bucket : bucket),
                   top = (1ull << SKETCH_BUCKET_BITS) | (magnitude & ((1ull << SKETCH_BUCKET_BITS) - 1));
    if (magnitude < (uint64_t)SKETCH_SINGLE)
        return bucket;
    const uint32_t shift = (uint32_t)(magnitude >> SKETCH_BUCKET_BITS) - 1u;
    const uint64_t middle = (top << shift) + ((1ull << shift) - 1) / 2;
    if (bucket < 0) /* the last bucket has -2^63 alone */
        return middle < 1ull << 63 ? -(int64_t)middle : -(int64_t)(~0ull >> 1) - 1;
    return (int64_t)middle;
}

/* The bucket of a double, from its key (storage/base/double_key.h): sign, exponent and 8 bits. */
#define SKETCH_KEY_BITS (52u - SKETCH_BUCKET_BITS)
STATE_INLINE int64_t sketch_double_bucket(int64_t key)
{
    return key >> SKETCH_KEY_BITS;
}

#endif
