/*
 * decimal.h: powers of ten, and decimals as floating-point numbers. A decimal is a whole number of units of
 * 10^-scale, scale 0 .. 18.
 */
#ifndef TESSERA_STORAGE_BASE_DECIMAL_H
#define TESSERA_STORAGE_BASE_DECIMAL_H

#include <math.h>
#include <stdint.h>

/* 10^exponent, exponent 0 .. 18: the powers that fit an int64. */
static inline int64_t power_of_ten(unsigned exponent)
{
    static const int64_t powers[] = {1e0,  1e1,  1e2,  1e3,  1e4,  1e5,  1e6,  1e7,  1e8, 1e9,
                                     1e10, 1e11, 1e12, 1e13, 1e14, 1e15, 1e16, 1e17, 1e18};
    return powers[exponent];
}

/* The double nearest to sum / (count 10^scale), ties to even; count > 0. Up to 2^53 sum and divisor are doubles, so one
 * division rounds once. Above that, the quotient gets binary places until it is longer than a double; what remains sets
 * its last bit, so that the conversion rounds as if it saw all bits. */
static inline double decimal_average(__int128 sum, uint64_t count, unsigned scale)
{
    const unsigned __int128 magnitude = sum < 0 ? 0 - (unsigned __int128)sum : (unsigned __int128)sum,
                            divisor = (unsigned __int128)count * (uint64_t)power_of_ten(scale),
                            most = 1ull << 53;
    if (magnitude <= most && divisor <= most)
        return (double)(int64_t)sum / (double)(uint64_t)divisor;
    unsigned __int128 quotient = magnitude / divisor, rest = magnitude % divisor;
    int places = 0;
    for (; rest && quotient < most << 2; places++) {
        rest <<= 1;
        quotient = quotient << 1 | (rest >= divisor);
        rest -= rest >= divisor ? divisor : 0;
    }
    const double nearest = ldexp((double)(quotient | (rest != 0)), -places);
    return sum < 0 ? -nearest : nearest;
}

/* The double nearest to value / 10^scale, as strtod reads the decimal's text. */
static inline double decimal_to_double(int64_t value, unsigned scale)
{
    return decimal_average(value, 1, scale);
}

#endif
