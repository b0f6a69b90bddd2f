/* columnar_convert.c: see columnar_convert.h. */
#include "loader/columnar/columnar_convert.h"

#include "storage/base/calendar.h"
#include "storage/base/calendar_text.h"
#include "storage/base/decimal.h"
#include "storage/base/double_key.h"
#include "storage/base/number/number_text.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

static const char too_many_decimals[] = "has more decimals than the column (--round rounds such numbers)";

static bool is_floating(const struct columnar_type *type)
{
    return type->kind == COLUMNAR_FLOATING;
}

bool columnar_type_fits(const struct columnar_type *type, enum column_type want, bool round)
{
    const bool number = want == TYPE_INT32 || want == TYPE_INT64 || want == TYPE_DECIMAL;
    switch (type->kind) {
    case COLUMNAR_BOOLEAN:
        return want == TYPE_BOOL;
    case COLUMNAR_INTEGER:
        return number || want == TYPE_BOOL || want == TYPE_DOUBLE;
    case COLUMNAR_FLOATING:
        return want == TYPE_DOUBLE || (round && number);
    case COLUMNAR_DECIMAL:
        return number || want == TYPE_DOUBLE;
    case COLUMNAR_DATE:
    case COLUMNAR_TIMESTAMP:
        return want == TYPE_DATE || want == TYPE_TIMESTAMP;
    case COLUMNAR_TEXT:
        return true; /* like a field of text */
    case COLUMNAR_OTHER:
        break;
    }
    return false;
}

static struct columnar_range range_of(const struct column_schema *want)
{
    switch (want->type) {
    case TYPE_INT64:
    case TYPE_TIMESTAMP:
        return (struct columnar_range){INT64_MIN, INT64_MAX, 1};
    case TYPE_BOOL:
        return (struct columnar_range){0, 1, 1};
    case TYPE_INT32:
    case TYPE_DECIMAL:
    case TYPE_DATE:
    case TYPE_STRING:
    case TYPE_DOUBLE:
        break;
    }
    return (struct columnar_range){INT32_MIN, INT32_MAX, 1};
}

/* The range of a number with `scale` decimals, if no decimals have to be cut. */
static bool decimal_range(const struct column_schema *want, uint32_t scale, struct columnar_range *range)
{
    const uint32_t wanted = want->type == TYPE_DECIMAL ? want->scale : 0;
    *range = range_of(want);
    if (want->type != TYPE_DECIMAL)
        return scale == 0;
    if (scale > wanted)
        return false;
    range->factor = power_of_ten(wanted - scale);
    range->high = (power_of_ten(want->precision) - 1) / range->factor;
    range->low = -range->high;
    return true;
}

/* The range of a time's ticks as microseconds. */
static bool plan_ticks(const struct columnar_values *values, const struct column_schema *want,
                       struct columnar_range *range)
{
    if (values->nanoseconds || want->type != TYPE_TIMESTAMP)
        return false;
    const int64_t factor = 1000000 / values->ticks;
    *range = (struct columnar_range){INT64_MIN / factor, INT64_MAX / factor, factor};
    return true;
}

bool columnar_range_plan(const struct columnar_type *type, const struct columnar_values *values,
                         const struct column_schema *want, struct columnar_range *range)
{
    const bool doubles = is_floating(type);
    if ((want->type == TYPE_DOUBLE) != doubles)
        return false;
    if (doubles) { /* their values are keys already */
        *range = (struct columnar_range){INT64_MIN, INT64_MAX, 1};
        return true;
    }
    switch (type->kind) {
    case COLUMNAR_DECIMAL:
        return !values->wide && decimal_range(want, type->scale, range);
    case COLUMNAR_DATE:
        *range = (struct columnar_range){INT32_MIN, INT32_MAX, 1};
        if (want->type == TYPE_TIMESTAMP)
            *range =
                (struct columnar_range){INT64_MIN / CALENDAR_DAY_MICROSECONDS,
                                        INT64_MAX / CALENDAR_DAY_MICROSECONDS, CALENDAR_DAY_MICROSECONDS};
        return true;
    case COLUMNAR_TIMESTAMP:
        return plan_ticks(values, want, range);
    default:
        return decimal_range(want, 0, range);
    }
}

/* Converts a number with `scale` decimals to the wanted type. Half goes away from 0 if it is rounded. */
static const char *convert_decimal(const struct column_schema *want, __int128 number, uint32_t scale,
                                   bool round, int64_t *value)
{
    const uint32_t wanted = want->type == TYPE_DECIMAL ? want->scale : 0;
    struct columnar_range range;
    int last = 0; /* the last digit that was cut */
    for (; scale > wanted; scale--) {
        last = (int)(number % 10);
        if (last && !round)
            return too_many_decimals;
        number /= 10;
    }
    number += last >= 5 ? 1 : last <= -5 ? -1 : 0;
    decimal_range(want, scale, &range);
    if (number < range.low || number > range.high)
        return text_out_of_range;
    *value = (int64_t)number * range.factor;
    return NULL;
}

/* Rounds a floating-point number to the wanted type as CAST does: its product with the power of ten decides. */
static const char *convert_floating(const struct column_schema *want, int64_t key, int64_t *value)
{
    const uint32_t scale = want->type == TYPE_DECIMAL ? want->scale : 0;
    const double number = round(double_of_key(key) * (double)power_of_ten(scale));
    struct columnar_range range;
    decimal_range(want, scale, &range);
    if (!(number >= -9.2e18 && number <= 9.2e18) || (int64_t)number < range.low ||
        (int64_t)number > range.high)
        return text_out_of_range;
    *value = (int64_t)number;
    return NULL;
}

/* The second of a timestamp since 1970, and the nanoseconds after it. */
static int64_t split_time(const struct columnar_values *values, uint32_t at, int64_t *nanosecond)
{
    const int64_t number = values->numbers[at];
    *nanosecond = values->nanoseconds ? values->nanoseconds[at] : 0;
    if (values->nanoseconds)
        return number;
    const int64_t second = calendar_floor(number, values->ticks);
    *nanosecond = (number - second * values->ticks) * (1000000000 / values->ticks);
    return second;
}

static const char *convert_timestamp(const struct column_schema *want, int64_t second, int64_t nanosecond,
                                     bool cut, int64_t *value)
{
    const __int128 microsecond = (__int128)second * 1000000 + nanosecond / 1000;
    if (nanosecond % 1000 && !cut)
        return CALENDAR_NANOSECONDS;
    if (want->type == TYPE_TIMESTAMP) {
        *value = (int64_t)microsecond;
        return microsecond != (int64_t)microsecond ? text_out_of_range : NULL;
    }
    if (microsecond % CALENDAR_DAY_MICROSECONDS)
        return "is no whole day";
    *value = (int64_t)(microsecond / CALENDAR_DAY_MICROSECONDS);
    return *value != (int32_t)*value ? text_out_of_range : NULL;
}

const char *columnar_convert_number(const struct columnar_type *type, const struct columnar_values *values,
                                    uint32_t at, const struct column_schema *want,
                                    const struct columnar_range *range, const struct text_reading *reading,
                                    int64_t *value)
{
    const int64_t number = values->numbers[at];
    if (want->type != TYPE_DOUBLE && is_floating(type))
        return convert_floating(want, number, value);
    if (want->type == TYPE_DOUBLE && !is_floating(type))
        return text_decimal_double(type->kind == COLUMNAR_DECIMAL && values->wide ? values->wide[at] : number,
                                   type->kind == COLUMNAR_DECIMAL ? (int)type->scale : 0, value);
    if (type->kind == COLUMNAR_DECIMAL)
        return convert_decimal(want, values->wide ? values->wide[at] : number, type->scale, reading->round,
                               value);
    if (type->kind == COLUMNAR_TIMESTAMP) {
        int64_t nanosecond;
        const int64_t second = split_time(values, at, &nanosecond);
        return convert_timestamp(want, second, nanosecond, reading->cut_nanoseconds, value);
    }
    if (number < range->low || number > range->high)
        return want->type == TYPE_BOOL ? "is neither 0 nor 1" : text_out_of_range;
    *value = number * range->factor;
    return NULL;
}

/* Writes a whole number of up to 64 bits. */
static void show_whole(int64_t number, char shown[TEXT_SHOWN_BYTES])
{
    char digits[24], *first = digits + sizeof digits;
    uint64_t left = number < 0 ? 0 - (uint64_t)number : (uint64_t)number;
    do
        *--first = (char)('0' + left % 10);
    while (left /= 10);
    if (number < 0)
        *--first = '-';
    const size_t length = (size_t)(digits + sizeof digits - first);
    memcpy(shown, first, length);
    shown[length] = '\0';
}

/* Writes a double with up to 15 digits. Whole ones of fewer are written as such, which is ten times as fast. */
static void show_double(double number, char shown[TEXT_SHOWN_BYTES])
{
    if (fabs(number) < 1e15 && number == nearbyint(number))
        show_whole((int64_t)number, shown);
    else
        number_print(shown, TEXT_SHOWN_BYTES, "%.15g", number);
}

static void show_decimal(__int128 number, uint32_t scale, char shown[TEXT_SHOWN_BYTES])
{
    unsigned __int128 left = number < 0 ? 0 - (unsigned __int128)number : (unsigned __int128)number;
    char digits[TEXT_SHOWN_BYTES], *first = digits + sizeof digits - 1;
    *first = '\0';
    for (uint32_t d = 0; (left || d <= scale) && first > digits + 3; d++, left /= 10) {
        if (d && d == scale)
            *--first = '.';
        *--first = (char)('0' + (int)(left % 10));
    }
    snprintf(shown, TEXT_SHOWN_BYTES, "%s%s", number < 0 ? "-" : "", first);
}

/* Writes `count` digits of a number, and gives their end. Times are shown for every value when a schema is inferred. */
static char *put_digits(char *at, uint32_t number, uint32_t count)
{
    for (char *digit = at + count; digit > at; number /= 10)
        *--digit = (char)('0' + number % 10);
    return at + count;
}

static void show_time(const struct columnar_type *type, const struct columnar_values *values, uint32_t at,
                      char shown[TEXT_SHOWN_BYTES])
{
    int64_t day = values->numbers[at], second = 0, nanosecond = 0;
    if (type->kind == COLUMNAR_TIMESTAMP) {
        second = split_time(values, at, &nanosecond);
        day = calendar_floor(second, 86400);
        second -= day * 86400;
    }
    if (day > INT32_MAX || day < INT32_MIN) {
        snprintf(shown, TEXT_SHOWN_BYTES, "day %" PRId64 " from 1970", day);
        return;
    }
    const struct calendar_date date = calendar_date_of(day);
    char *end = date.year >= 0 && date.year <= 9999
                    ? put_digits(shown, (uint32_t)date.year, 4)
                    : shown + snprintf(shown, TEXT_SHOWN_BYTES, "%04" PRId64, date.year);
    *end = '-';
    end = put_digits(end + 1, (uint32_t)date.month, 2);
    *end = '-';
    end = put_digits(end + 1, (uint32_t)date.day, 2);
    if (type->kind == COLUMNAR_TIMESTAMP) {
        *end = ' ';
        end = put_digits(end + 1, (uint32_t)(second / 3600), 2);
        *end = ':';
        end = put_digits(end + 1, (uint32_t)(second / 60 % 60), 2);
        *end = ':';
        end = put_digits(end + 1, (uint32_t)(second % 60), 2);
        *end = '.';
        end = put_digits(end + 1, (uint32_t)nanosecond, 9);
    }
    *end = '\0';
}

void columnar_show_number(const struct columnar_type *type, const struct columnar_values *values, uint32_t at,
                          char shown[TEXT_SHOWN_BYTES])
{
    if (is_floating(type))
        show_double(double_of_key(values->numbers[at]), shown);
    else if (type->kind == COLUMNAR_DECIMAL)
        show_decimal(values->wide ? values->wide[at] : values->numbers[at], type->scale, shown);
    else if (type->kind == COLUMNAR_DATE || type->kind == COLUMNAR_TIMESTAMP)
        show_time(type, values, at, shown);
    else
        show_whole(values->numbers[at], shown);
}
