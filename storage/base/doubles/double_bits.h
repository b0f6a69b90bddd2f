/*
 * double_bits.h: doubles as fixed-point numbers of at most 2098 bits, which can be added exactly. A finite double is a
 * whole number of units of 2^-1074, and less than 2^1024. Columns and expressions know narrower bounds, so that few
 * words hold a sum: prices from 0.01 to 1000 have 69 bits.
 *
 * A number is cut into limbs: limb k has the `width` bits from 2^(first + k * width) on, with the number's sign. So sums
 * of doubles are sums of whole numbers, which do not depend on the order of rows.
 */
#ifndef TESSERA_STORAGE_BASE_DOUBLE_BITS_H
#define TESSERA_STORAGE_BASE_DOUBLE_BITS_H

#include "storage/base/double_key.h"

#define DOUBLE_FINEST (-1074) /* the exponent of the last bit of the least double */
#define DOUBLE_TOP    1024    /* all doubles are below 2^1024 */

/* What is known of doubles: all finite ones are multiples of 2^(DOUBLE_FINEST + finer), and their absolute values less
 * than 2^(DOUBLE_TOP - lower). Zeros say nothing. If only 0 is possible, the finest exponent is above the top. */
struct double_bits {
    int16_t finer, lower;
};

static inline int double_bits_finest(struct double_bits bits)
{
    return DOUBLE_FINEST + bits.finer;
}

static inline int double_bits_top(struct double_bits bits)
{
    return DOUBLE_TOP - bits.lower;
}

/* Exponents beyond those of doubles are cut. */
static inline struct double_bits double_bits_of(int finest, int top)
{
    finest = finest < DOUBLE_FINEST ? DOUBLE_FINEST : finest > DOUBLE_TOP ? DOUBLE_TOP : finest;
    top = top < DOUBLE_FINEST ? DOUBLE_FINEST : top > DOUBLE_TOP ? DOUBLE_TOP : top;
    return (struct double_bits){(int16_t)(finest - DOUBLE_FINEST), (int16_t)(DOUBLE_TOP - top)};
}

/* The bounds of no number but 0. */
#define DOUBLE_BITS_NONE ((struct double_bits){DOUBLE_TOP - DOUBLE_FINEST, DOUBLE_TOP - DOUBLE_FINEST})

/* The bounds of numbers that have these or those. */
static inline struct double_bits double_bits_join(struct double_bits a, struct double_bits b)
{
    return (struct double_bits){a.finer < b.finer ? a.finer : b.finer, a.lower < b.lower ? a.lower : b.lower};
}

/* The number's magnitude as mantissa * 2^exponent; 0 for infinities and NaN. */
static inline uint64_t double_mantissa(int64_t key, int *exponent)
{
    const uint64_t bits = (uint64_t)double_key_turn(key) & INT64_MAX, biased = bits >> 52;
    const uint64_t fraction = bits & ((UINT64_C(1) << 52) - 1);
    *exponent = (int)(biased ? biased : 1) - 1075;
    return biased == 2047 ? 0 : fraction | (uint64_t)(biased > 0) << 52;
}

static inline struct double_bits double_bits_of_key(int64_t key)
{
    int exponent;
    const uint64_t mantissa = double_mantissa(key, &exponent);
    return mantissa ? double_bits_of(exponent + __builtin_ctzll(mantissa),
                                     exponent + 64 - __builtin_clzll(mantissa))
                    : DOUBLE_BITS_NONE;
}

/* The limb of `width` bits, 1 .. 62, from 2^first on, without branches and in 64 bits throughout, so that loops become
 * vectors. GPU: double_limb in operators/decode/double_key_cuda.h. */
static inline int64_t double_limb(int64_t key, int first, unsigned width)
{
    const uint64_t bits = (uint64_t)double_key_turn(key) & INT64_MAX, biased = bits >> 52;
    const uint64_t fraction = bits & ((UINT64_C(1) << 52) - 1), normal = biased - 1 < 2046;
    const uint64_t mantissa = (biased == 2047 ? 0 : fraction) | normal << 52;
    const int64_t up = (int64_t)(biased + (biased == 0)) - 1075 - first, down = -up;
    const uint64_t higher = up < 64 ? mantissa << (up & 63) : 0,
                   lower = down < 64 ? mantissa >> (down & 63) : 0;
    const int64_t limb = (int64_t)((up >= 0 ? higher : lower) & ((UINT64_C(1) << width) - 1));
    return key < 0 ? -limb : limb;
}

#endif
