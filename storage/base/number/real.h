/*
 * real.h: functions of floating-point numbers for queries on CPUs and in CUDA kernels, with the same bits on
 * both. exp, log and pow of C libraries differ in their last bits from library to library, so they are
 * computed here: in pairs of doubles (Dekker, Numer. Math. 18, 1971; about 100 bits), by operations that IEEE
 * 754 defines exactly. The results are the nearest doubles except in about one of 1000 cases, where they are
 * the next ones. A call takes 50 to 100 ns on a CPU, a logarithm in a vector one or two.
 *
 * Compilers must not fuse multiplications and additions by themselves: CMakeLists.txt turns that off for the files that
 * include this header, and CUDA code uses intrinsics. Where a product's rest is exact, one fused operation gives it: the
 * same bits as by halves.
 */
#ifndef TESSERA_STORAGE_BASE_NUMBER_REAL_H
#define TESSERA_STORAGE_BASE_NUMBER_REAL_H

#ifdef TILE_CUDA
#define REAL_INLINE         static __device__ __forceinline__
#define REAL_ADD(x, y)      __dadd_rn(x, y)
#define REAL_SUBTRACT(x, y) __dsub_rn(x, y)
#define REAL_MULTIPLY(x, y) __dmul_rn(x, y)
#define REAL_DIVIDE(x, y)   __ddiv_rn(x, y)
#define REAL_SQUARE_ROOT(x) __dsqrt_rn(x)
#define REAL_FUSED(x, y, z) __fma_rn(x, y, z)
#define REAL_TABLE          static __device__ const double
#define REAL_OF_BITS(bits)  __longlong_as_double((long long)(bits))
#define REAL_BITS(real)     ((int64_t)__double_as_longlong(real))
#else
#include <math.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>
#define REAL_INLINE         static inline
#define REAL_ADD(x, y)      ((x) + (y))
#define REAL_SUBTRACT(x, y) ((x) - (y))
#define REAL_MULTIPLY(x, y) ((x) * (y))
#define REAL_DIVIDE(x, y)   ((x) / (y))
#define REAL_SQUARE_ROOT(x) sqrt(x)
#if defined(__FMA__) || defined(__ARM_FEATURE_FMA)
#define REAL_FUSED(x, y, z) __builtin_fma(x, y, z) /* where it is one instruction */
#endif
#define REAL_TABLE         static const double
#define REAL_OF_BITS(bits) real_of_bits(bits)
#define REAL_BITS(real)    real_bits(real)

static inline double real_of_bits(int64_t bits)
{
    double real;
    memcpy(&real, &bits, sizeof real);
    return real;
}

static inline int64_t real_bits(double real)
{
    int64_t bits;
    memcpy(&bits, &real, sizeof bits);
    return bits;
}
#endif

#include "storage/base/number/real_log_table.h"

#define REAL_INFINITY REAL_OF_BITS(0x7ff0000000000000ll)
#define REAL_NAN      REAL_OF_BITS(0x7ff8000000000000ll)

/* ---- Pairs: high + low, where high is the nearest double to the sum ---- */

struct real_pair {
    double high, low;
};

/* x + y exactly, for |x| >= |y|. */
REAL_INLINE struct real_pair real_sum_ordered(double x, double y)
{
    struct real_pair sum;
    sum.high = REAL_ADD(x, y);
    sum.low = REAL_SUBTRACT(y, REAL_SUBTRACT(sum.high, x));
    return sum;
}

/* x + y exactly. */
REAL_INLINE struct real_pair real_sum(double x, double y)
{
    struct real_pair sum;
    sum.high = REAL_ADD(x, y);
    const double of_y = REAL_SUBTRACT(sum.high, x);
    sum.low = REAL_ADD(REAL_SUBTRACT(x, REAL_SUBTRACT(sum.high, of_y)), REAL_SUBTRACT(y, of_y));
    return sum;
}

#ifdef REAL_FUSED
/* x * y exactly. */
REAL_INLINE struct real_pair real_product(double x, double y)
{
    struct real_pair product;
    product.high = REAL_MULTIPLY(x, y);
    product.low = REAL_FUSED(x, y, -product.high);
    return product;
}
#else
/* The upper 26 bits of x, by which a product of halves is exact; |x| < 2^996. */
REAL_INLINE double real_upper(double x)
{
    const double scaled = REAL_MULTIPLY(134217729.0, x);
    return REAL_SUBTRACT(scaled, REAL_SUBTRACT(scaled, x));
}

/* x * y exactly. */
REAL_INLINE struct real_pair real_product(double x, double y)
{
    const double x_high = real_upper(x), x_low = REAL_SUBTRACT(x, x_high);
    const double y_high = real_upper(y), y_low = REAL_SUBTRACT(y, y_high);
    struct real_pair product;
    product.high = REAL_MULTIPLY(x, y);
    double rest = REAL_SUBTRACT(REAL_MULTIPLY(x_high, y_high), product.high);
    rest = REAL_ADD(rest, REAL_MULTIPLY(x_high, y_low));
    rest = REAL_ADD(rest, REAL_MULTIPLY(x_low, y_high));
    product.low = REAL_ADD(rest, REAL_MULTIPLY(x_low, y_low));
    return product;
}
#endif

REAL_INLINE struct real_pair real_pair_add(struct real_pair x, struct real_pair y)
{
    const struct real_pair sum = real_sum(x.high, y.high);
    return real_sum_ordered(sum.high, REAL_ADD(sum.low, REAL_ADD(x.low, y.low)));
}

REAL_INLINE struct real_pair real_pair_multiply(struct real_pair x, struct real_pair y)
{
    const struct real_pair product = real_product(x.high, y.high);
    const double crossed = REAL_ADD(REAL_MULTIPLY(x.high, y.low), REAL_MULTIPLY(x.low, y.high));
    return real_sum_ordered(product.high, REAL_ADD(product.low, crossed));
}

/* ---- Logarithms ---- */

/* The natural logarithm of a finite x > 0. x is 2^k * m with m between 0.6875 and 1.375, and m * inverse is exactly 1 + r
 * with |r| < 2^-7 and an inverse from a table (real_log_table.py; Tang, ACM TOMS 16, 1990), which is 1 beside 1. So the
 * logarithm is k log(2) - log(inverse) + r - r^2/2 + r^3/3 - ..., of which only the last part is a mere double: the result
 * errs by 2^-67 of itself. There are no branches, so that loops become vectors. */
REAL_INLINE struct real_pair real_log_pair(double x)
{
    const bool subnormal = x < 2.2250738585072014e-308;
    const double scaled = subnormal ? REAL_MULTIPLY(x, 18014398509481984.0) : x;
    /* 0.6875 * 2^k has k + 1023 in the upper bits, and 0 in the others. */
    const uint64_t bits = (uint64_t)REAL_BITS(scaled) + 0x000a000000000000ull;
    const uint64_t fraction = bits & 0x000fffffffffffffull, place = fraction >> 45;
    const double m = REAL_OF_BITS((int64_t)(fraction + 0x3fe6000000000000ull));
    const double k =
        REAL_SUBTRACT(REAL_OF_BITS((int64_t)(bits >> 52 | 0x4330000000000000ull)),
                      subnormal ? 4503599627371573.0 : 4503599627371519.0); /* 2^52 + 1023 + 54 */
    const struct real_pair moved = real_product(m, real_log_inverses[place]);
    const double r = REAL_ADD(REAL_SUBTRACT(moved.high, 1.0), moved.low);
    /* The first parts have 42 bits after the point, so their sum is exact. */
    const double first = REAL_ADD(REAL_MULTIPLY(k, 0.6931471805598903), real_log_firsts[place]);
    const double second = REAL_ADD(REAL_MULTIPLY(k, 5.497923018708371e-14), real_log_seconds[place]);
    const struct real_pair square = real_product(r, r), head = real_sum(first, r);
    const struct real_pair next = real_sum_ordered(head.high, REAL_MULTIPLY(-0.5, square.high));
    const double z = square.high;
    const double third = REAL_SUBTRACT(1.0 / 3.0, REAL_MULTIPLY(r, 1.0 / 4.0)),
                 fifth = REAL_SUBTRACT(1.0 / 5.0, REAL_MULTIPLY(r, 1.0 / 6.0)),
                 seventh = REAL_SUBTRACT(1.0 / 7.0, REAL_MULTIPLY(r, 1.0 / 8.0)),
                 ninth = REAL_SUBTRACT(1.0 / 9.0, REAL_MULTIPLY(r, 1.0 / 10.0));
    const double series =
        REAL_ADD(REAL_ADD(third, REAL_MULTIPLY(z, fifth)),
                 REAL_MULTIPLY(REAL_MULTIPLY(z, z), REAL_ADD(seventh, REAL_MULTIPLY(z, ninth))));
    const double small = REAL_ADD(REAL_ADD(second, REAL_MULTIPLY(-0.5, square.low)),
                                  REAL_MULTIPLY(REAL_MULTIPLY(z, r), series));
    return real_sum_ordered(next.high, REAL_ADD(REAL_ADD(head.low, next.low), small));
}

/* The logarithm of any x, of which `of_finite` is that of a finite x > 0. */
REAL_INLINE double real_log_special(double x, double of_finite)
{
    const double of_least = x == 0.0 ? -REAL_INFINITY : REAL_NAN,
                 of_most = x == REAL_INFINITY ? x : of_finite;
    return x > 0.0 ? of_most : of_least;
}

/* The logarithm of any x to the base whose logarithm's inverse is `factor`. */
REAL_INLINE double real_log(double x, struct real_pair factor)
{
    return real_log_special(x, real_pair_multiply(real_log_pair(x), factor).high);
}

REAL_INLINE double real_ln(double x)
{
    return real_log_special(x, real_log_pair(x).high);
}

REAL_INLINE double real_log10(double x)
{
    const struct real_pair factor = {0.4342944819032518, 1.098319650216765e-17};
    return real_log(x, factor);
}

REAL_INLINE double real_log2(double x)
{
    const struct real_pair factor = {1.4426950408889634, 2.0355273740931033e-17};
    return real_log(x, factor);
}

/* ---- Powers ---- */

/* e^x. x is n log(2) + 16 r, |r| < 0.022; e^r is a short series, which is squared four times. */
REAL_INLINE double real_exp_pair(struct real_pair x)
{
    if (!(x.high < 710.0))
        return x.high == x.high ? REAL_INFINITY : REAL_NAN;
    if (x.high < -746.0)
        return 0.0;
    const double n = floor(REAL_ADD(REAL_MULTIPLY(x.high, 1.4426950408889634), 0.5));
    struct real_pair r = real_product(-n, 1.9082149292705877e-10);
    r = real_pair_add(real_sum(x.high, REAL_MULTIPLY(-n, 6.93147180369123816490e-01)), r);
    r = real_pair_add(r, real_sum_ordered(x.low, 0.0));
    r.high = REAL_MULTIPLY(r.high, 0.0625);
    r.low = REAL_MULTIPLY(r.low, 0.0625);
    double tail = 1.0 / 3628800.0;
    double factorial = 3628800.0;
    for (int i = 10; i > 3; i--) {
        factorial = REAL_DIVIDE(factorial, (double)i);
        tail = REAL_ADD(REAL_DIVIDE(1.0, factorial), REAL_MULTIPLY(r.high, tail));
    }
    struct real_pair square = real_pair_multiply(r, r);
    tail = REAL_MULTIPLY(REAL_MULTIPLY(square.high, r.high), tail);
    square.high = REAL_MULTIPLY(0.5, square.high);
    square.low = REAL_MULTIPLY(0.5, square.low);
    struct real_pair power = real_pair_add(r, real_pair_add(square, real_sum_ordered(tail, 0.0)));
    power = real_pair_add(real_sum_ordered(1.0, 0.0), power);
    for (int i = 0; i < 4; i++)
        power = real_pair_multiply(power, power);
    /* 2^n by two factors, because n may be -1076. */
    const int64_t half = (int64_t)n / 2, other = (int64_t)n - half;
    const double scaled = REAL_MULTIPLY(power.high, REAL_OF_BITS((half + 1023) << 52));
    return REAL_MULTIPLY(scaled, REAL_OF_BITS((other + 1023) << 52));
}

REAL_INLINE double real_exp(double x)
{
    return real_exp_pair(real_sum_ordered(x, 0.0));
}

/* x^y, with the special values of C99. */
REAL_INLINE double real_power(double x, double y)
{
    const double size = fabs(x), whole = floor(y);
    if (y == 0.0 || x == 1.0)
        return 1.0;
    if (x != x || y != y)
        return REAL_NAN;
    const bool odd = whole == y && fabs(y) < 9007199254740992.0 && ((int64_t)y & 1);
    const double sign = odd && REAL_BITS(x) < 0 ? -1.0 : 1.0;
    if (size == 0.0 || size == REAL_INFINITY)
        return REAL_MULTIPLY(sign, (size == 0.0) == (y < 0.0) ? REAL_INFINITY : 0.0);
    if (x < 0.0 && whole != y)
        return REAL_NAN;
    if (size == 1.0)
        return sign;
    if (fabs(y) > 1e18)
        return (size > 1.0) == (y > 0.0) ? REAL_INFINITY : 0.0;
    const struct real_pair exponent = real_pair_multiply(real_log_pair(size), real_sum_ordered(y, 0.0));
    return REAL_MULTIPLY(sign, real_exp_pair(exponent));
}

/* ---- Rounding ---- */

/* x rounded to a multiple of 1 / unit, ties away from zero, as DuckDB rounds: the product decides. */
REAL_INLINE double real_round(double x, double unit)
{
    const double rounded = REAL_DIVIDE(round(REAL_MULTIPLY(x, unit)), unit);
    return rounded - rounded == 0.0 ? rounded : x;
}

/* x rounded to a multiple of `unit`. */
REAL_INLINE double real_round_tens(double x, double unit)
{
    return REAL_MULTIPLY(round(REAL_DIVIDE(x, unit)), unit);
}

/* x as a whole number of at most `most`, rounded by the caller. *missing: it is larger, or no number. */
REAL_INLINE int64_t real_whole(double x, int64_t most, bool *missing)
{
    *missing = !(fabs(x) < 9.2e18);
    const int64_t whole = *missing ? 0 : (int64_t)x;
    *missing |= whole > most || whole < -most;
    return *missing ? 0 : whole;
}

#endif
