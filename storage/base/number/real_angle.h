/*
 * real_angle.h: cube roots, and functions of angles in radians, with the same bits on CPUs and in CUDA kernels (real.h). Results
 * are within a unit in the last place, tan's within two. A call takes 10 to 50 ns on a CPU.
 */
#ifndef TESSERA_STORAGE_BASE_NUMBER_REAL_ANGLE_H
#define TESSERA_STORAGE_BASE_NUMBER_REAL_ANGLE_H

#include "storage/base/number/real.h"

/* From here on an angle is not reduced exactly by the three doubles of pi/2 that are used. */
#define REAL_ANGLE_MOST 35184372088832.0 /* 2^45 */

/* ---- Cube roots ---- */

/* By a power, and a step of Newton's with the cube's exact rest, so that cubes of whole numbers have whole roots. */
REAL_INLINE double real_cube_root(double x)
{
    const struct real_pair third = {0.3333333333333333, 1.850371707708594e-17};
    const double size = fabs(x);
    if (size == 0.0 || !(size < REAL_INFINITY))
        return x;
    double root = real_exp_pair(real_pair_multiply(real_log_pair(size), third));
    if (size > 1e-280 && size < 1e280) {
        const struct real_pair cube =
            real_pair_multiply(real_product(root, root), real_sum_ordered(root, 0.0));
        const double rest = REAL_ADD(REAL_SUBTRACT(cube.high, size), cube.low);
        root = REAL_SUBTRACT(root, REAL_DIVIDE(rest, REAL_MULTIPLY(3.0, REAL_MULTIPLY(root, root))));
    }
    return x < 0.0 ? -root : root;
}

/* ---- Sines ---- */

/* x - quarter * pi/2, between about -pi/4 and pi/4; |x| < REAL_ANGLE_MOST. */
REAL_INLINE struct real_pair real_reduce(double x, int64_t *quarter)
{
    const double k = floor(REAL_ADD(REAL_MULTIPLY(x, 0.6366197723675814), 0.5));
    const struct real_pair first = real_product(-k, 1.5707963267948966);
    const struct real_pair second = real_product(-k, 6.123233995736766e-17);
    const struct real_pair a = real_sum(x, first.high);
    const struct real_pair b = real_sum(a.high, first.low);
    const struct real_pair c = real_sum(b.high, second.high);
    double low = REAL_ADD(REAL_ADD(a.low, b.low), REAL_ADD(c.low, second.low));
    low = REAL_ADD(low, REAL_MULTIPLY(-k, -1.4973849048591698e-33));
    *quarter = (int64_t)k & 3;
    return real_sum(c.high, low);
}

/* The rest of a series of Taylor after its term with r^from: 1 - z / ((from + 1) (from + 2)) + ..., with z = r^2. */
REAL_INLINE double real_series(double z, int from)
{
    double sum = 1.0;
    for (int n = from + 18; n >= from; n -= 2)
        sum = REAL_SUBTRACT(1.0, REAL_MULTIPLY(REAL_DIVIDE(z, (double)((n + 1) * (n + 2))), sum));
    return sum;
}

REAL_INLINE double real_sine_of(struct real_pair r)
{
    const double z = REAL_MULTIPLY(r.high, r.high);
    const double cube = REAL_MULTIPLY(REAL_DIVIDE(z, -6.0), REAL_MULTIPLY(r.high, real_series(z, 3)));
    const double low = REAL_MULTIPLY(r.low, REAL_SUBTRACT(1.0, REAL_MULTIPLY(0.5, z)));
    return REAL_ADD(r.high, REAL_ADD(cube, low));
}

REAL_INLINE double real_cosine_of(struct real_pair r)
{
    const struct real_pair z = real_product(r.high, r.high);
    const struct real_pair head = real_sum_ordered(1.0, REAL_MULTIPLY(-0.5, z.high));
    double rest = REAL_MULTIPLY(REAL_DIVIDE(REAL_MULTIPLY(z.high, z.high), 24.0), real_series(z.high, 4));
    rest = REAL_SUBTRACT(rest, REAL_ADD(REAL_MULTIPLY(0.5, z.low), REAL_MULTIPLY(r.high, r.low)));
    return REAL_ADD(head.high, REAL_ADD(head.low, rest));
}

REAL_INLINE double real_sine(double x)
{
    int64_t quarter;
    const struct real_pair r = real_reduce(x, &quarter);
    const double sine = quarter & 1 ? real_cosine_of(r) : real_sine_of(r);
    return quarter & 2 ? -sine : sine;
}

REAL_INLINE double real_cosine(double x)
{
    int64_t quarter;
    const struct real_pair r = real_reduce(x, &quarter);
    const double cosine = quarter & 1 ? real_sine_of(r) : real_cosine_of(r);
    return quarter == 1 || quarter == 2 ? -cosine : cosine;
}

REAL_INLINE double real_tangent(double x)
{
    return REAL_DIVIDE(real_sine(x), real_cosine(x));
}

/* ---- Angles ---- */

/* The angle whose tangent is x, 0 <= x <= 1: that of the nearest eighth, and a series for the difference. */
REAL_INLINE double real_angle_within(double x)
{
    const double eighths[9][2] = {{0.0, 0.0},
                                  {0.12435499454676144, -3.1253241424539383e-18},
                                  {0.24497866312686414, 1.0698755618734451e-17},
                                  {0.35877067027057225, -2.4623815582638635e-17},
                                  {0.4636476090008061, 2.2698777452961687e-17},
                                  {0.5585993153435624, -5.4556305485916264e-18},
                                  {0.6435011087932844, 1.5834785051444286e-17},
                                  {0.7188299996216245, -2.1478388444456983e-17},
                                  {0.7853981633974483, 3.061616997868383e-17}};
    const int near = (int)floor(REAL_ADD(REAL_MULTIPLY(x, 8.0), 0.5));
    const double c = REAL_MULTIPLY((double)near, 0.125);
    const double t = REAL_DIVIDE(REAL_SUBTRACT(x, c), REAL_ADD(1.0, REAL_MULTIPLY(x, c)));
    const double z = REAL_MULTIPLY(t, t);
    double tail = 0.0;
    for (int odd = 15; odd >= 3; odd -= 2)
        tail = REAL_MULTIPLY(z, REAL_SUBTRACT(REAL_DIVIDE(1.0, (double)odd), tail));
    const double rest = REAL_SUBTRACT(t, REAL_MULTIPLY(t, tail));
    return REAL_ADD(eighths[near][0], REAL_ADD(rest, eighths[near][1]));
}

/* The angle of the point (x, y), -pi to pi. */
REAL_INLINE double real_angle(double y, double x)
{
    const double height = fabs(y), width = fabs(x);
    double angle;
    if (x != x || y != y)
        return REAL_NAN;
    if (height == 0.0 && width == 0.0)
        angle = 0.0;
    else if (height == width)
        angle = 0.7853981633974483;
    else if (height < width)
        angle = real_angle_within(REAL_DIVIDE(height, width));
    else
        angle = REAL_ADD(REAL_SUBTRACT(1.5707963267948966, real_angle_within(REAL_DIVIDE(width, height))),
                         6.123233995736766e-17);
    if (x < 0.0)
        angle = REAL_ADD(REAL_SUBTRACT(3.141592653589793, angle), 1.2246467991473532e-16);
    return y < 0.0 ? -angle : angle;
}

/* sqrt(1 - x^2), |x| <= 1. */
REAL_INLINE double real_beside(double x)
{
    return REAL_SQUARE_ROOT(REAL_MULTIPLY(REAL_SUBTRACT(1.0, x), REAL_ADD(1.0, x)));
}

#endif
