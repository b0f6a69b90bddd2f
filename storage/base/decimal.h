/*
 * decimal.h: powers of ten, and decimals as floating-point numbers. A decimal is a whole number of units of
 * 10^-scale, scale 0 .. 18.
 */
#ifndef TESSERA_STORAGE_BASE_DECIMAL_H
#define TESSERA_STORAGE_BASE_DECIMAL_H

#include <stdint.h>

/* 10^exponent, exponent 0 .. 18: the powers that fit an int64. */
static inline int64_t power_of_ten(unsigned exponent)
{
    static const int64_t powers[] = {1e0,  1e1,  1e2,  1e3,  1e4,  1e5,  1e6,  1e7,  1e8, 1e9,
                                     1e10, 1e11, 1e12, 1e13, 1e14, 1e15, 1e16, 1e17, 1e18};
    return powers[exponent];
}

/* The double nearest to value / 10^scale, ties to even, as strtod reads the decimal's text. Up to 2^53 value
 * and divisor are doubles, so one division rounds once. Above that, the quotient gets 64 more binary places,
 * which make it at least 4 bits longer than a double. A remainder sets its last bit, so that the conversion
 * rounds as if it saw all bits. */
static inline double decimal_to_double(int64_t value, unsigned scale)
{
    const uint64_t magnitude = value < 0 ? 0 - (uint64_t)value : (uint64_t)value;
    if (magnitude <= 1ull << 53)
        return (double)value / (double)power_of_ten(scale);
    const unsigned __int128 shifted = (unsigned __int128)magnitude << 64,
                            divisor = (unsigned __int128)power_of_ten(scale);
    const unsigned __int128 quotient = shifted / divisor | (shifted % divisor != 0);
    const double nearest = (double)quotient * 0x1p-64;
    return value < 0 ? -nearest : nearest;
}

#endif
