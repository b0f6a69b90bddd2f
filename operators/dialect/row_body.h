/*
 * row_body.h: the bodies of functions that are computed row by row (engine/function/list.h), for
 * CPUs and in CUDA kernels. Arguments and results are as in columns: doubles by their keys. *missing is false
 * when a function is called, and becomes true if the result is NULL.
 */
#ifndef TESSERA_OPERATORS_DIALECT_ROW_BODY_H
#define TESSERA_OPERATORS_DIALECT_ROW_BODY_H

#include "operators/group/sketch.h"
#include "storage/base/calendar.h"
#include "storage/base/number/real.h"

#ifdef TILE_CUDA
#define CALL_KEY(real) double_key(real)
#else
#include "storage/base/double_key.h"
#define CALL_KEY(real) double_key_of(real)
#endif

#define CALL_FUNCTION(name) \
    REAL_INLINE int64_t call_##name(int64_t a, int64_t b, int64_t c, int unit, bool *missing)
#define CALL_UNUSED(x) (void)(x)

/* A function of doubles: x and y are the first two arguments. */
#define CALL_OF_REALS(name, expression, is_missing)              \
    CALL_FUNCTION(name)                                          \
    {                                                            \
        const double x = double_of_key(a), y = double_of_key(b); \
        CALL_UNUSED(y);                                          \
        CALL_UNUSED(c);                                          \
        CALL_UNUSED(unit);                                       \
        *missing = (is_missing);                                 \
        return *missing ? 0 : CALL_KEY(expression);              \
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

/* A function of one value as it is in a column. */
#define CALL_OF_VALUE(name, expression) \
    CALL_FUNCTION(name)                 \
    {                                   \
        CALL_UNUSED(b);                 \
        CALL_UNUSED(c);                 \
        CALL_UNUSED(unit);              \
        CALL_UNUSED(missing);           \
        return expression(a);           \
    }

CALL_OF_VALUE(sketch_register, sketch_register)
CALL_OF_VALUE(sketch_rank, sketch_rank)
CALL_OF_VALUE(sketch_bucket, sketch_bucket)
CALL_OF_VALUE(sketch_double_bucket, sketch_double_bucket)

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

#endif
