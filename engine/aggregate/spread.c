/*
 * spread.c: variances and covariances from exact sums (measure.h). The variance of n values with the sum S and the sum of
 * squares Q is (n Q - S S) / (n n), or over n (n - 1) for a sample. The numerator is computed exactly, in 256 bits, so
 * that nothing cancels, and all devices give the same bits: the result has three roundings.
 */
#include "engine/aggregate/measure.h"
#include "storage/base/decimal.h"

#include <math.h>

/* A number of 256 bits that is not negative, least significant word first. Arithmetic is modulo 2^256. */
struct wide {
    uint64_t word[4];
};

static struct wide wide_of(unsigned __int128 value)
{
    return (struct wide){{(uint64_t)value, (uint64_t)(value >> 64), 0, 0}};
}

static struct wide wide_add(struct wide a, struct wide b)
{
    unsigned __int128 carry = 0;
    for (int w = 0; w < 4; w++) {
        carry += (unsigned __int128)a.word[w] + b.word[w];
        a.word[w] = (uint64_t)carry;
        carry >>= 64;
    }
    return a;
}

static struct wide wide_negate(struct wide a)
{
    for (int w = 0; w < 4; w++)
        a.word[w] = ~a.word[w];
    return wide_add(a, wide_of(1));
}

static struct wide wide_multiply(struct wide a, struct wide b)
{
    struct wide product = {{0}};
    for (int i = 0; i < 4; i++) {
        unsigned __int128 carry = 0;
        for (int j = 0; i + j < 4; j++) {
            carry += (unsigned __int128)a.word[i] * b.word[j] + product.word[i + j];
            product.word[i + j] = (uint64_t)carry;
            carry >>= 64;
        }
    }
    return product;
}

/* a * b, where a may be negative. */
static struct wide wide_scale(__int128 a, struct wide b)
{
    const unsigned __int128 size = a < 0 ? -(unsigned __int128)a : (unsigned __int128)a;
    const struct wide product = wide_multiply(wide_of(size), b);
    return a < 0 ? wide_negate(product) : product;
}

/* Adds word by word: the least significant ones are lost where they are less than half a unit of the result. */
static double wide_double(struct wide a)
{
    double sum = 0;
    for (int w = 4; w-- > 0;)
        sum += ldexp((double)a.word[w], 64 * w);
    return sum;
}

/* ---- Variances ---- */

/* The sum of y * y, from its parts: y = (high << MEASURE_PART_BITS) + low. */
static struct wide squares_of(const struct measure_sums *sums)
{
    const struct wide unit = wide_of((unsigned __int128)1 << MEASURE_PART_BITS), twice = wide_add(unit, unit);
    if (sums->parts == 1)
        return wide_scale(sums->squares[0], wide_of(1));
    const struct wide high = wide_scale(sums->squares[0], wide_multiply(unit, unit)),
                      mixed = wide_scale(sums->squares[1], twice),
                      low = wide_scale(sums->squares[2], wide_of(1));
    return wide_add(wide_add(high, mixed), low);
}

bool measure_spread(const struct measure *measure, const struct measure_sums *sums, double *value)
{
    const uint64_t rows = sums->rows;
    const unsigned __int128 size =
        sums->sum < 0 ? -(unsigned __int128)sums->sum : (unsigned __int128)sums->sum;
    if (rows <= (uint64_t)measure->sample)
        return false;
    const struct wide all = wide_multiply(squares_of(sums), wide_of(rows)),
                      square = wide_multiply(wide_of(size), wide_of(size));
    const double numerator = wide_double(wide_add(all, wide_negate(square))),
                 unit = (double)power_of_ten(sums->scale),
                 denominator = (double)((unsigned __int128)rows * (rows - measure->sample)) * (unit * unit),
                 variance = numerator / denominator;
    *value = measure->root ? sqrt(variance) : variance;
    return true;
}

/* ---- Covariances ---- */

/* rows * the sum of products - the product of the sums. */
static double moment(__int128 products, __int128 a, __int128 b, uint64_t rows)
{
    const unsigned __int128 size = b < 0 ? -(unsigned __int128)b : (unsigned __int128)b;
    const struct wide all = wide_scale(products, wide_of(rows)),
                      product = wide_scale(b < 0 ? -a : a, wide_of(size)),
                      difference = wide_add(all, wide_negate(product));
    return difference.word[3] >> 63 ? -wide_double(wide_negate(difference)) : wide_double(difference);
}

bool measure_covariance(const struct measure *measure, const struct measure_sums *sums, double *value)
{
    const uint64_t rows = sums->rows;
    if (rows <= (uint64_t)measure->sample)
        return false;
    const double both = moment(sums->squares[2], sums->sum, sums->other_sum, rows);
    if (!measure->scaled) {
        *value = both / ((double)((unsigned __int128)rows * (rows - measure->sample)) *
                         (double)power_of_ten(sums->scale) * (double)power_of_ten(sums->other_scale));
        return true;
    }
    const double x = moment(sums->squares[0], sums->sum, sums->sum, rows),
                 y = moment(sums->squares[1], sums->other_sum, sums->other_sum, rows);
    *value = both / (sqrt(x) * sqrt(y));
    return x > 0 && y > 0;
}
