/*
 * real.h: functions of floating-point numbers for queries on CPUs and in CUDA kernels, with the same bits on
 * both. exp, log and pow of C libraries differ in their last bits from library to library, so they are
 * computed here: in pairs of doubles (Dekker, Numer. Math. 18, 1971; about 100 bits), by operations that IEEE
 * 754 defines exactly. The results are the nearest doubles except in about one of 1000 cases, where they are
 * the next ones. A call takes 50 to 100 ns on a CPU.
 *
 * Compilers must not fuse multiplications and additions: CMakeLists.txt turns that off for the one file that
 * includes this header, and CUDA code uses intrinsics.
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
#define REAL_OF_BITS(bits)  real_of_bits(bits)
#define REAL_BITS(real)     real_bits(real)

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

/* The natural logarithm of a finite x > 0. x is 2^k * m with m between sqrt(1/2) and sqrt(2), and with
 * s = (m - 1) / (m + 1) the logarithm of m is 2 (s + s^3/3 + s^5/5 + ...). Only the first terms need pairs. */
REAL_INLINE struct real_pair real_log_pair(double x)
{
    int64_t bits = REAL_BITS(x), exponent = -1023;
    if (bits < 0x0010000000000000ll) { /* x is subnormal */
        bits = REAL_BITS(REAL_MULTIPLY(x, 18014398509481984.0));
        exponent -= 54;
    }
    exponent += bits >> 52;
    double m = REAL_OF_BITS((bits & 0x000fffffffffffffll) | 0x3ff0000000000000ll);
    if (m > 1.4142135623730951) {
        m = REAL_MULTIPLY(m, 0.5);
        exponent++;
    }
    const double below = REAL_SUBTRACT(m, 1.0);
    const struct real_pair above = real_sum(m, 1.0);
    const double quotient = REAL_DIVIDE(below, above.high);
    const struct real_pair back = real_product(quotient, above.high);
    double rest = REAL_SUBTRACT(REAL_SUBTRACT(below, back.high), back.low);
    rest = REAL_SUBTRACT(rest, REAL_MULTIPLY(quotient, above.low));
    const struct real_pair s = real_sum_ordered(quotient, REAL_DIVIDE(rest, above.high));
    const struct real_pair z = real_pair_multiply(s, s);
    const struct real_pair third = {0.3333333333333333, 1.850371707708594e-17},
                           fifth = {0.2, -1.1102230246251566e-17};
    double tail = 1.0 / 31.0;
    for (int odd = 29; odd >= 7; odd -= 2)
        tail = REAL_ADD(REAL_DIVIDE(1.0, (double)odd), REAL_MULTIPLY(z.high, tail));
    struct real_pair series = real_sum_ordered(REAL_MULTIPLY(z.high, tail), 0.0);
    series = real_pair_add(third, real_pair_multiply(z, real_pair_add(fifth, series)));
    series = real_pair_multiply(z, series);
    struct real_pair twice = s;
    twice.high = REAL_MULTIPLY(2.0, s.high);
    twice.low = REAL_MULTIPLY(2.0, s.low);
    const struct real_pair of_m = real_pair_add(twice, real_pair_multiply(twice, series));
    /* The first part of log(2) has 32 bits, so its product with the exponent is exact. */
    const double k = (double)exponent;
    struct real_pair of_power = real_product(k, 1.9082149292705877e-10);
    of_power = real_pair_add(real_sum_ordered(REAL_MULTIPLY(k, 6.93147180369123816490e-01), 0.0), of_power);
    return real_pair_add(of_power, of_m);
}

/* The logarithm of any x to the base whose logarithm's inverse is `factor`. */
REAL_INLINE double real_log(double x, struct real_pair factor)
{
    if (!(x > 0.0))
        return x == 0.0 ? -REAL_INFINITY : REAL_NAN;
    if (x == REAL_INFINITY)
        return x;
    return real_pair_multiply(real_log_pair(x), factor).high;
}

REAL_INLINE double real_ln(double x)
{
    const struct real_pair one = {1.0, 0.0};
    return real_log(x, one);
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
