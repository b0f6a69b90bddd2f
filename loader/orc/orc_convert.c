/* orc_convert.c: see orc_convert.h. */
#include "loader/orc/orc_convert.h"

#include "storage/base/calendar.h"
#include "storage/base/calendar_text.h"
#include "storage/base/decimal.h"
#include "storage/base/double_key.h"
#include "storage/base/number/number_text.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>

static const char too_many_decimals[] = "has more decimals than the column (--round rounds such numbers)";

static bool is_floating(const struct orc_type *type)
{
    return type->kind == ORC_FLOAT || type->kind == ORC_DOUBLE;
}

bool orc_type_fits(const struct orc_type *type, enum column_type want, bool round)
{
    switch (type->kind) {
    case ORC_BOOLEAN:
        return want == TYPE_BOOL;
    case ORC_BYTE:
    case ORC_SHORT:
    case ORC_INT:
    case ORC_LONG:
        return want == TYPE_INT32 || want == TYPE_INT64 || want == TYPE_DECIMAL || want == TYPE_BOOL ||
               want == TYPE_DOUBLE;
    case ORC_FLOAT:
    case ORC_DOUBLE:
        return want == TYPE_DOUBLE ||
               (round && (want == TYPE_INT32 || want == TYPE_INT64 || want == TYPE_DECIMAL));
    case ORC_DECIMAL: /* those of Hive 0.11 have a scale each, and no precision */
        return type->precision > 0 &&
               (want == TYPE_INT32 || want == TYPE_INT64 || want == TYPE_DECIMAL || want == TYPE_DOUBLE);
    case ORC_DATE:
    case ORC_TIMESTAMP:
    case ORC_TIMESTAMP_INSTANT:
        return want == TYPE_DATE || want == TYPE_TIMESTAMP;
    case ORC_STRING:
    case ORC_VARCHAR:
    case ORC_CHAR:
        return true; /* like a field of text */
    default:
        return false;
    }
}

static struct orc_range range_of(const struct column_schema *want)
{
    switch (want->type) {
    case TYPE_INT64:
    case TYPE_TIMESTAMP:
        return (struct orc_range){INT64_MIN, INT64_MAX, 1};
    case TYPE_BOOL:
        return (struct orc_range){0, 1, 1};
    case TYPE_INT32:
    case TYPE_DECIMAL:
    case TYPE_DATE:
    case TYPE_STRING:
    case TYPE_DOUBLE:
        break;
    }
    return (struct orc_range){INT32_MIN, INT32_MAX, 1};
}

/* The range of a number with `scale` decimals, if no decimals have to be cut. */
static bool decimal_range(const struct column_schema *want, uint32_t scale, struct orc_range *range)
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

bool orc_range_plan(const struct orc_type *type, const struct orc_values *values,
                    const struct column_schema *want, struct orc_range *range)
{
    const bool doubles = is_floating(type);
    if ((want->type == TYPE_DOUBLE) != doubles)
        return false;
    if (doubles) { /* their values are keys already */
        *range = (struct orc_range){INT64_MIN, INT64_MAX, 1};
        return true;
    }
    switch (type->kind) {
    case ORC_DECIMAL:
        return !values->wide && decimal_range(want, type->scale, range);
    case ORC_DATE:
        *range = (struct orc_range){INT32_MIN, INT32_MAX, 1};
        if (want->type == TYPE_TIMESTAMP)
            *range = (struct orc_range){INT64_MIN / CALENDAR_DAY_MICROSECONDS,
                                        INT64_MAX / CALENDAR_DAY_MICROSECONDS, CALENDAR_DAY_MICROSECONDS};
        return true;
    case ORC_TIMESTAMP:
    case ORC_TIMESTAMP_INSTANT:
        return false;
    default:
        return decimal_range(want, 0, range);
    }
}

/* Converts a number with `scale` decimals to the wanted type. Half goes away from 0 if it is rounded. */
static const char *convert_decimal(const struct column_schema *want, __int128 number, uint32_t scale,
                                   bool round, int64_t *value)
{
    const uint32_t wanted = want->type == TYPE_DECIMAL ? want->scale : 0;
    struct orc_range range;
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
    struct orc_range range;
    decimal_range(want, scale, &range);
    if (!(number >= -9.2e18 && number <= 9.2e18) || (int64_t)number < range.low ||
        (int64_t)number > range.high)
        return text_out_of_range;
    *value = (int64_t)number;
    return NULL;
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

const char *orc_convert_number(const struct orc_type *type, const struct orc_values *values, uint32_t at,
                               const struct column_schema *want, const struct orc_range *range,
                               const struct text_reading *reading, int64_t *value)
{
    const int64_t number = values->numbers[at];
    if (want->type != TYPE_DOUBLE && is_floating(type))
        return convert_floating(want, number, value);
    if (want->type == TYPE_DOUBLE && !is_floating(type))
        return text_decimal_double(type->kind == ORC_DECIMAL && values->wide ? values->wide[at] : number,
                                   type->kind == ORC_DECIMAL ? (int)type->scale : 0, value);
    if (type->kind == ORC_DECIMAL)
        return convert_decimal(want, values->wide ? values->wide[at] : number, type->scale, reading->round,
                               value);
    if (values->nanoseconds)
        return convert_timestamp(want, number, values->nanoseconds[at], reading->cut_nanoseconds, value);
    if (number < range->low || number > range->high)
        return want->type == TYPE_BOOL ? "is neither 0 nor 1" : text_out_of_range;
    *value = number * range->factor;
    return NULL;
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

static void show_time(const struct orc_values *values, uint32_t at, char shown[TEXT_SHOWN_BYTES])
{
    const int64_t number = values->numbers[at];
    const int64_t day = values->nanoseconds ? calendar_floor(number, 86400) : number;
    const int64_t second = values->nanoseconds ? number - day * 86400 : 0;
    char time[32] = "";
    if (day > INT32_MAX || day < INT32_MIN) {
        snprintf(shown, TEXT_SHOWN_BYTES, "day %" PRId64 " from 1970", day);
        return;
    }
    const struct calendar_date date = calendar_date_of(day);
    if (values->nanoseconds)
        snprintf(time, sizeof time, " %02d:%02d:%02d.%09d", (int)(second / 3600), (int)(second / 60 % 60),
                 (int)(second % 60), (int)values->nanoseconds[at]);
    snprintf(shown, TEXT_SHOWN_BYTES, "%04" PRId64 "-%02d-%02d%s", date.year, date.month, date.day, time);
}

void orc_show_number(const struct orc_type *type, const struct orc_values *values, uint32_t at,
                     char shown[TEXT_SHOWN_BYTES])
{
    if (is_floating(type))
        number_print(shown, TEXT_SHOWN_BYTES, "%.15g", double_of_key(values->numbers[at]));
    else if (type->kind == ORC_DECIMAL)
        show_decimal(values->wide ? values->wide[at] : values->numbers[at], type->scale, shown);
    else if (type->kind == ORC_DATE || values->nanoseconds)
        show_time(values, at, shown);
    else
        snprintf(shown, TEXT_SHOWN_BYTES, "%" PRId64, values->numbers[at]);
}
