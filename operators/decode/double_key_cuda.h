/*
 * double_key_cuda.h: doubles as whole numbers of the same order, and their limbs, as storage/base/double_key.h and
 * storage/base/doubles/double_bits.h have them.
 */
#ifndef TESSERA_OPERATORS_DECODE_DOUBLE_KEY_CUDA_H
#define TESSERA_OPERATORS_DECODE_DOUBLE_KEY_CUDA_H

#include "operators/decode/decode_cuda.h"

TILE_INLINE int64_t double_key_turn(int64_t value)
{
    return value ^ (int64_t)((uint64_t)(value >> 63) >> 1);
}
TILE_INLINE int64_t double_key(double number)
{
    const int64_t key = double_key_turn(__double_as_longlong(number));
    return number != number ? 0x7ff8000000000000ll : key + (key == -1); /* -0 becomes 0 */
}
TILE_INLINE double double_of_key(int64_t key)
{
    return __longlong_as_double(double_key_turn(key));
}

/* storage/base/doubles/double_bits.h */
TILE_INLINE int64_t double_limb(int64_t key, int first, unsigned width)
{
    const uint64_t bits = (uint64_t)double_key_turn(key) & 0x7fffffffffffffffull, biased = bits >> 52;
    const uint64_t fraction = bits & 0xfffffffffffffull,
                   mantissa = biased == 2047 ? 0 : fraction | (uint64_t)(biased > 0) << 52;
    const int shift = (int)(biased ? biased : 1) - 1075 - first;
    const uint64_t moved =
        shift >= 0 ? (shift < 64 ? mantissa << shift : 0) : (shift > -64 ? mantissa >> -shift : 0);
    const int64_t limb = (int64_t)(moved & ((1ull << width) - 1));
    return key < 0 ? -limb : limb;
}

#endif
