/*
 * measures.c: see measures.h. The variance of n values with the sum S and the sum of squares Q is (n Q - S S) / (n n), or
 * over n (n - 1) for a sample. The numerator is computed exactly, in 256 bits, so that nothing cancels, and all devices
 * give the same bits: the result has three roundings.
 */
#include "engine/answer/measures.h"

#include "storage/base/decimal.h"
#include "storage/base/double_key.h"

#include <math.h>
#include <string.h>

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

static __int128 sum_of(const struct plan *plan, const struct partial *groups, uint32_t aggregate,
                       uint64_t group)
{
    const int64_t low = groups->states[aggregate][group];
    if (plan->aggregates[aggregate].kind != AGGREGATE_SUM_WIDE)
        return low;
    return (__int128)groups->states_high[aggregate][group] * ((__int128)1 << 64) + (__int128)(uint64_t)low;
}

/* The sum of y * y, from its parts: y = (high << MEASURE_PART_BITS) + low. */
static struct wide squares_of(const struct plan *plan, const struct partial *groups,
                              const struct plan_measure *measure, uint64_t group)
{
    const struct wide unit = wide_of((unsigned __int128)1 << MEASURE_PART_BITS), twice = wide_add(unit, unit);
    if (measure->parts == 1)
        return wide_scale(sum_of(plan, groups, measure->squares[0], group), wide_of(1));
    const struct wide high = wide_scale(sum_of(plan, groups, measure->squares[0], group),
                                        wide_multiply(unit, unit)),
                      mixed = wide_scale(sum_of(plan, groups, measure->squares[1], group), twice),
                      low = wide_scale(sum_of(plan, groups, measure->squares[2], group), wide_of(1));
    return wide_add(wide_add(high, mixed), low);
}

/* The variance or its root of `rows` values, of which there are enough. */
static double spread(const struct plan *plan, const struct partial *groups,
                     const struct plan_measure *measure, uint64_t group, uint64_t rows)
{
    const __int128 sum = sum_of(plan, groups, measure->sum, group);
    const bool sample = measure->kind == MEASURE_VAR_SAMP || measure->kind == MEASURE_STDDEV_SAMP;
    const unsigned __int128 size = sum < 0 ? -(unsigned __int128)sum : (unsigned __int128)sum;
    const struct wide all = wide_multiply(squares_of(plan, groups, measure, group), wide_of(rows)),
                      square = wide_multiply(wide_of(size), wide_of(size));
    const double numerator = wide_double(wide_add(all, wide_negate(square))),
                 unit = (double)power_of_ten(measure->scale),
                 denominator = (double)((unsigned __int128)rows * (rows - sample)) * (unit * unit),
                 variance = numerator / denominator;
    return measure->kind == MEASURE_VAR_POP || measure->kind == MEASURE_VAR_SAMP ? variance : sqrt(variance);
}

static void fill_spread(const struct plan *plan, const struct partial *groups,
                        const struct plan_measure *measure, uint64_t first, uint32_t count,
                        struct vector leaf)
{
    const bool sample = measure->kind == MEASURE_VAR_SAMP || measure->kind == MEASURE_STDDEV_SAMP;
    for (uint32_t i = 0; i < count; i++) {
        const uint64_t rows = (uint64_t)groups->states[measure->count][first + i];
        leaf.nulls[i] = rows <= (uint64_t)sample || rows == 0;
        leaf.values[i] = leaf.nulls[i] ? 0 : double_key_of(spread(plan, groups, measure, first + i, rows));
    }
}

/* ---- Covariances ---- */

/* rows * the sum of products - the product of the sums, of which the first is aggregate `products`. */
static double moment(const struct plan *plan, const struct partial *groups, uint32_t products, uint32_t left,
                     uint32_t right, uint64_t group, uint64_t rows)
{
    const __int128 a = sum_of(plan, groups, left, group), b = sum_of(plan, groups, right, group);
    const unsigned __int128 size = b < 0 ? -(unsigned __int128)b : (unsigned __int128)b;
    const struct wide all = wide_scale(sum_of(plan, groups, products, group), wide_of(rows)),
                      product = wide_scale(b < 0 ? -a : a, wide_of(size)),
                      difference = wide_add(all, wide_negate(product));
    return difference.word[3] >> 63 ? -wide_double(wide_negate(difference)) : wide_double(difference);
}

/* The covariance or correlation of a group; false: it is NULL. */
static bool covariance(const struct plan *plan, const struct partial *groups,
                       const struct plan_measure *measure, uint64_t group, double *value)
{
    const uint64_t rows = (uint64_t)groups->states[measure->count][group];
    const bool sample = measure->kind == MEASURE_COVAR_SAMP;
    if (rows <= (uint64_t)sample || rows == 0)
        return false;
    const double both =
        moment(plan, groups, measure->squares[2], measure->sum, measure->other_sum, group, rows);
    if (measure->kind != MEASURE_CORR) {
        *value = both / ((double)((unsigned __int128)rows * (rows - sample)) *
                         (double)power_of_ten(measure->scale) * (double)power_of_ten(measure->other_scale));
        return true;
    }
    const double x = moment(plan, groups, measure->squares[0], measure->sum, measure->sum, group, rows),
                 y = moment(plan, groups, measure->squares[1], measure->other_sum, measure->other_sum, group,
                            rows);
    *value = both / (sqrt(x) * sqrt(y));
    return x > 0 && y > 0;
}

static void fill_covariance(const struct plan *plan, const struct partial *groups,
                            const struct plan_measure *measure, uint64_t first, uint32_t count,
                            struct vector leaf)
{
    for (uint32_t i = 0; i < count; i++) {
        double value = 0;
        leaf.nulls[i] = !covariance(plan, groups, measure, first + i, &value);
        leaf.values[i] = leaf.nulls[i] ? 0 : double_key_of(value);
    }
}

/* ---- Leaves ---- */

static void fill_grouping(const struct plan *plan, const struct regrouped *regrouped,
                          const struct plan_measure *measure, uint64_t first, uint32_t count,
                          struct vector leaf)
{
    for (uint32_t i = 0; i < count; i++) {
        leaf.values[i] = 0;
        leaf.nulls[i] = 0;
        for (uint32_t t = 0; t < measure->term_count; t++)
            leaf.values[i] =
                2 * leaf.values[i] + !regrouped_has(plan, regrouped, first + i, measure->terms[t]);
    }
}

void measure_values(const struct plan *plan, const struct partial *groups, const struct regrouped *regrouped,
                    uint32_t index, uint64_t first, uint32_t count, struct vector leaf)
{
    const struct plan_measure *const measure = &plan->measures[index];
    if (measure->kind == MEASURE_GROUPING) {
        fill_grouping(plan, regrouped, measure, first, count, leaf);
    } else if (measure->kind >= MEASURE_COVAR_POP && measure->kind <= MEASURE_CORR) {
        fill_covariance(plan, groups, measure, first, count, leaf);
    } else if (measure->kind < MEASURE_VALUES) {
        fill_spread(plan, groups, measure, first, count, leaf);
    } else {
        memcpy(leaf.values, regrouped->measures[index].values + first, count * sizeof *leaf.values);
        memcpy(leaf.nulls, regrouped->measures[index].nulls + first, count);
    }
}
