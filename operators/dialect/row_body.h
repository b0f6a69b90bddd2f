/*
 * row_body.h: the bodies of functions that are computed row by row (engine/function/list.h), for
 * CPUs and in CUDA kernels. Arguments and results are as in columns: doubles by their keys. *missing is false
 * when a function is called, and becomes true if the result is NULL.
 */
#ifndef TESSERA_OPERATORS_DIALECT_ROW_BODY_H
#define TESSERA_OPERATORS_DIALECT_ROW_BODY_H

#include "operators/group/sketch.h"
#include "storage/base/calendar.h"
#include "storage/base/number/real_angle.h"

#ifdef TILE_CUDA
#define CALL_KEY(real) double_key(real)
#else
#include "storage/base/double_key.h"
#define CALL_KEY(real) double_key_of(real)
#endif

#define CALL_FUNCTION(name) \
    REAL_INLINE int64_t call_##name(int64_t a, int64_t b, int64_t c, int unit, bool *missing)
#define CALL_UNUSED(x) (void)(x)

/* A function of doubles: x and y are the first two arguments. The expression is computed also where the result is NULL, so
 * that there is no branch. */
#define CALL_OF_REALS(name, expression, is_missing)              \
    CALL_FUNCTION(name)                                          \
    {                                                            \
        const double x = double_of_key(a), y = double_of_key(b); \
        CALL_UNUSED(y);                                          \
        CALL_UNUSED(c);                                          \
        CALL_UNUSED(unit);                                       \
        const int64_t key = CALL_KEY(expression);                \
        *missing = (is_missing);                                 \
        return *missing ? 0 : key;                               \
    }

CALL_OF_REALS(floor, floor(x), false)
CALL_OF_REALS(ceil, ceil(x), false)
CALL_OF_REALS(trunc, trunc(x), false)
CALL_OF_REALS(round, real_round(x, y), false)
CALL_OF_REALS(round_tens, real_round_tens(x, y), false)
CALL_OF_REALS(sqrt, REAL_SQUARE_ROOT(x), x < 0.0)
CALL_OF_REALS(exp, real_exp(x), false)
CALL_OF_REALS(ln, real_ln(x), x <= 0.0)
CALL_OF_REALS(log10, real_log10(x), x <= 0.0)
CALL_OF_REALS(log2, real_log2(x), x <= 0.0)
CALL_OF_REALS(power, real_power(x, y), x < 0.0 && y - y == 0.0 && floor(y) != y)

CALL_OF_REALS(cbrt, real_cube_root(x), false)
CALL_OF_REALS(degrees, REAL_MULTIPLY(x, 57.29577951308232), false)
CALL_OF_REALS(radians, REAL_MULTIPLY(x, 0.017453292519943295), false)
#define CALL_ANGLE(x) (fabs(x) < REAL_ANGLE_MOST ? (x) : 0.0)
CALL_OF_REALS(sin, real_sine(CALL_ANGLE(x)), !(fabs(x) < REAL_ANGLE_MOST))
CALL_OF_REALS(cos, real_cosine(CALL_ANGLE(x)), !(fabs(x) < REAL_ANGLE_MOST))
CALL_OF_REALS(tan, real_tangent(CALL_ANGLE(x)), !(fabs(x) < REAL_ANGLE_MOST))
CALL_OF_REALS(asin, real_angle(x, real_beside(x)), fabs(x) > 1.0)
CALL_OF_REALS(acos, real_angle(real_beside(x), x), fabs(x) > 1.0)
CALL_OF_REALS(atan, real_angle(x, 1.0), false)
CALL_OF_REALS(atan2, real_angle(x, y), false)

CALL_FUNCTION(whole)
{
    CALL_UNUSED(unit);
    return real_whole(round(REAL_MULTIPLY(double_of_key(a), double_of_key(b))), c, missing);
}

CALL_FUNCTION(cut)
{
    CALL_UNUSED(unit);
    return real_whole(trunc(REAL_MULTIPLY(double_of_key(a), double_of_key(b))), c, missing);
}

CALL_FUNCTION(date_trunc)
{
    CALL_UNUSED(b);
    CALL_UNUSED(c);
    CALL_UNUSED(missing);
    return calendar_date_truncate(a, unit);
}

CALL_FUNCTION(time_trunc)
{
    CALL_UNUSED(b);
    CALL_UNUSED(c);
    CALL_UNUSED(missing);
    return calendar_timestamp_truncate(a, unit);
}

CALL_FUNCTION(make_date)
{
    CALL_UNUSED(unit);
    *missing = a < -5000000 || a > 5000000 || b < 1 || b > 12 || c < 1 || c > 31 ||
               c > calendar_month_days(a, (int32_t)b);
    return *missing ? 0 : calendar_days(a, (int32_t)b, (int32_t)c);
}

/* ---- Whole numbers and their bits ---- */

#define CALL_OF_WHOLES(name, expression) \
    CALL_FUNCTION(name)                  \
    {                                    \
        CALL_UNUSED(b);                  \
        CALL_UNUSED(c);                  \
        CALL_UNUSED(unit);               \
        CALL_UNUSED(missing);            \
        return (int64_t)(expression);    \
    }

/* Shifts by `by` bits to the left, or to the right if it is negative, as SQLite: bits that leave are lost. */
REAL_INLINE int64_t call_shift(int64_t number, int64_t by)
{
    if (by >= 0)
        return by > 63 ? 0 : (int64_t)((uint64_t)number << by);
    return number >> (by < -63 ? 63 : -by);
}

REAL_INLINE uint64_t call_size(int64_t number)
{
    return number < 0 ? 0 - (uint64_t)number : (uint64_t)number;
}

REAL_INLINE uint64_t call_divisor(uint64_t a, uint64_t b)
{
    while (b) {
        const uint64_t rest = a % b;
        a = b;
        b = rest;
    }
    return a;
}

REAL_INLINE int64_t call_population(uint64_t bits)
{
    bits -= bits >> 1 & 0x5555555555555555ull;
    bits = (bits & 0x3333333333333333ull) + (bits >> 2 & 0x3333333333333333ull);
    bits = (bits + (bits >> 4)) & 0x0f0f0f0f0f0f0f0full;
    return (int64_t)(bits * 0x0101010101010101ull >> 56);
}

CALL_OF_WHOLES(bits_and, a &b)
CALL_OF_WHOLES(bits_or, a | b)
CALL_OF_WHOLES(bits_xor, a ^ b)
CALL_OF_WHOLES(bits_not, ~a)
CALL_OF_WHOLES(bits_set, call_population((uint64_t)a))
CALL_OF_WHOLES(shift_left, call_shift(a, b))
CALL_OF_WHOLES(shift_right, call_shift(a, b == INT64_MIN ? INT64_MAX : -b))

/* NULL if the result has more than 63 bits, as the next one. */
CALL_FUNCTION(gcd)
{
    const uint64_t divisor = call_divisor(call_size(a), call_size(b));
    CALL_UNUSED(c);
    CALL_UNUSED(unit);
    *missing = divisor > INT64_MAX;
    return *missing ? 0 : (int64_t)divisor;
}

CALL_FUNCTION(lcm)
{
    const uint64_t x = call_size(a), y = call_size(b);
    CALL_UNUSED(c);
    CALL_UNUSED(unit);
    if (x == 0 || y == 0)
        return 0;
    const uint64_t part = x / call_divisor(x, y);
    *missing = part > INT64_MAX / y;
    return *missing ? 0 : (int64_t)(part * y);
}

/* ---- Hashes ---- */

/* XXH64 of eight bytes, without its lowest bit, so that no hash is negative. */
REAL_INLINE int64_t call_hash_bytes(uint64_t bytes, uint64_t seed)
{
    const uint64_t one = 0x9e3779b185ebca87ull, two = 0xc2b2ae3d27d4eb4full, three = 0x165667b19e3779f9ull;
    uint64_t word = bytes * two, hash = seed + 0x27d4eb2f165667c5ull + 8;
    hash ^= (word << 31 | word >> 33) * one;
    hash = (hash << 27 | hash >> 37) * one + 0x85ebca77c2b2ae63ull;
    hash = (hash ^ hash >> 33) * two;
    hash = (hash ^ hash >> 29) * three;
    return (int64_t)((hash ^ hash >> 32) >> 1);
}

/* Of a number with `unit` digits after the point; zeros at its end do not count, so that 1.50 has the hash of 1.5. */
CALL_FUNCTION(hash)
{
    CALL_UNUSED(b);
    CALL_UNUSED(c);
    CALL_UNUSED(missing);
    while (unit > 0 && a % 10 == 0) {
        a /= 10;
        unit--;
    }
    return call_hash_bytes((uint64_t)a, (uint64_t)unit);
}

CALL_OF_WHOLES(hash_double, call_hash_bytes((uint64_t)REAL_BITS(double_of_key(a)), 0))
CALL_OF_WHOLES(hash_pair, call_hash_bytes((uint64_t)b, (uint64_t)a))

/* ---- Cells of sketches (operators/group/sketch.h) ---- */

CALL_OF_WHOLES(sketch_register, sketch_register(a))
CALL_OF_WHOLES(sketch_rank, sketch_rank(a))
CALL_OF_WHOLES(sketch_bucket, sketch_bucket(a))
CALL_OF_WHOLES(sketch_double_bucket, sketch_double_bucket(a))

#endif
