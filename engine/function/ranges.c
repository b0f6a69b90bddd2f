/* ranges.c: rules by which the values of a row function follow from those of its arguments (function.h). */
#include "engine/function/function.h"

#include "operators/group/sketch.h"
#include "storage/base/double_key.h"

void range_rising(const struct row_description *function, int unit, const struct function_range *of,
                  __int128 *low, __int128 *high)
{
    bool missing = false, also = false;
    *low = function->body(of[0].low, of[1].constant, 0, unit, &missing);
    *high = function->body(of[0].high, of[1].constant, 0, unit, &also);
    if (missing)
        *low = DOUBLE_KEY_MINUS_INFINITY;
    if (also)
        *high = DOUBLE_KEY_NAN;
}

void range_rising_nearly(const struct row_description *function, int unit, const struct function_range *of,
                         __int128 *low, __int128 *high)
{
    range_rising(function, unit, of, low, high);
    if (*low != DOUBLE_KEY_MINUS_INFINITY)
        *low -= 2;
    if (*high != DOUBLE_KEY_NAN)
        *high += 2;
}

/* A rising function that has a value of the least argument has one of all. */
bool row_may_miss(const struct row_description *function, int unit, const struct function_range *of)
{
    bool missing = function->misses;
    if (missing && (function->range == range_rising || function->range == range_rising_nearly)) {
        missing = false;
        (void)function->body(of[0].low, of[1].constant, 0, unit, &missing);
    }
    return missing;
}

/* Of the least magnitude that is not 0 a double has 53 bits. A root of what is 2^f or more is 2^(f / 2) or more. What is
 * not 1 and a multiple of 2^f differs from 1 by 2^f, or by 1 for f > 0, so its logarithm is 2^(f - 3) or more, also log10. */
struct double_bits row_function_bits(enum row_function function, struct double_bits of)
{
    const int finest = double_bits_finest(of), top = double_bits_top(of);
    switch (function) {
    case ROW_FLOOR:
    case ROW_CEIL:
    case ROW_TRUNC:
        return double_bits_of(finest > 0 ? finest : 0, top > 0 ? top + 1 : 1);
    case ROW_SQRT:
        return double_bits_of((finest - 1) / 2 - 53, (top + 1) / 2 + 1);
    case ROW_LN:
    case ROW_LOG10:
    case ROW_LOG2:
        return double_bits_of((finest < 0 ? finest : 0) - 3 - 53, 12);
    default:
        return (struct double_bits){0, 0};
    }
}

void range_double(const struct row_description *function, int unit, const struct function_range *of,
                  __int128 *low, __int128 *high)
{
    (void)function, (void)unit, (void)of;
    *low = DOUBLE_KEY_MINUS_INFINITY;
    *high = DOUBLE_KEY_NAN;
}

void range_whole(const struct row_description *function, int unit, const struct function_range *of,
                 __int128 *low, __int128 *high)
{
    const int64_t most = of[2].constant;
    bool missing = false, also = false;
    *low = function->body(of[0].low, of[1].constant, most, unit, &missing);
    *high = function->body(of[0].high, of[1].constant, most, unit, &also);
    if (missing)
        *low = -(__int128)most;
    if (also)
        *high = most;
}

void range_date_trunc(const struct row_description *function, int unit, const struct function_range *of,
                      __int128 *low, __int128 *high)
{
    (void)function;
    *low = calendar_date_truncate(of[0].low, unit);
    *high = calendar_date_truncate(of[0].high, unit);
}

/* A year earlier, so that no time at the edge of 64 bits is computed here. */
void range_time_trunc(const struct row_description *function, int unit, const struct function_range *of,
                      __int128 *low, __int128 *high)
{
    (void)function;
    *low = (__int128)of[0].low - 366 * (__int128)CALENDAR_DAY_MICROSECONDS;
    *high = of[0].high;
    if (*low >= INT64_MIN) {
        *low = calendar_timestamp_truncate(of[0].low, unit);
        *high = calendar_timestamp_truncate(of[0].high, unit);
    }
}

/* Within the years that it gives dates for. */
void range_make_date(const struct row_description *function, int unit, const struct function_range *of,
                     __int128 *low, __int128 *high)
{
    (void)function, (void)unit;
    *low = calendar_days(of[0].low < -5000000 ? -5000000 : of[0].low, 1, 1);
    *high = calendar_days(of[0].high > 5000000 ? 5000000 : of[0].high, 12, 31);
}

/* ---- Sketches ---- */

void range_sketch_register(const struct row_description *function, int unit, const struct function_range *of,
                           __int128 *low, __int128 *high)
{
    (void)function, (void)unit, (void)of;
    *low = 0;
    *high = SKETCH_REGISTERS - 1;
}

void range_sketch_rank(const struct row_description *function, int unit, const struct function_range *of,
                       __int128 *low, __int128 *high)
{
    (void)function, (void)unit, (void)of;
    *low = 1;
    *high = SKETCH_RANKS;
}

/* ---- Whole numbers ---- */

void range_whole_numbers(const struct row_description *function, int unit, const struct function_range *of,
                         __int128 *low, __int128 *high)
{
    (void)function, (void)unit, (void)of;
    *low = INT64_MIN;
    *high = INT64_MAX;
}

void range_not_negative(const struct row_description *function, int unit, const struct function_range *of,
                        __int128 *low, __int128 *high)
{
    (void)function, (void)unit, (void)of;
    *low = 0;
    *high = INT64_MAX;
}

/* The bits of a number, without those that repeat its sign. */
static uint64_t bits_of(int64_t number)
{
    return number < 0 ? ~(uint64_t)number : (uint64_t)number;
}

/* Results have no more bits than the arguments, and are negative only if one of them may be. */
void range_bits(const struct row_description *function, int unit, const struct function_range *of,
                __int128 *low, __int128 *high)
{
    uint64_t bits = bits_of(of[0].low) | bits_of(of[0].high) | bits_of(of[1].low) | bits_of(of[1].high);
    (void)function, (void)unit;
    for (unsigned by = 1; by < 64; by *= 2)
        bits |= bits >> by;
    *low = of[0].low < 0 || of[1].low < 0 ? -(__int128)bits - 1 : 0;
    *high = bits;
}

/* Not greater than an argument that is not negative. */
void range_bits_and(const struct row_description *function, int unit, const struct function_range *of,
                    __int128 *low, __int128 *high)
{
    range_bits(function, unit, of, low, high);
    for (int i = 0; i < 2; i++)
        if (of[i].low >= 0) {
            *low = 0;
            *high = of[i].high < *high ? of[i].high : *high;
        }
}

void range_bits_not(const struct row_description *function, int unit, const struct function_range *of,
                    __int128 *low, __int128 *high)
{
    (void)function, (void)unit;
    *low = ~of[0].high;
    *high = ~of[0].low;
}

void range_bits_set(const struct row_description *function, int unit, const struct function_range *of,
                    __int128 *low, __int128 *high)
{
    (void)function, (void)unit, (void)of;
    *low = 0;
    *high = 64;
}

/* Nearer to 0, unless the other argument may turn the shift round. */
void range_shift_right(const struct row_description *function, int unit, const struct function_range *of,
                       __int128 *low, __int128 *high)
{
    range_whole_numbers(function, unit, of, low, high);
    if (of[1].low < 0)
        return;
    *low = of[0].low < 0 ? of[0].low : 0;
    *high = of[0].high >= 0 ? of[0].high : -1;
}
