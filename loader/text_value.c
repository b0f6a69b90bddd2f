/* text_value.c: one field of text as a stored value (text_source.h). Called for every field of every row. */
#include "loader/text_source.h"

#include "storage/calendar.h"
#include "storage/database.h"

#include <string.h>
#include <strings.h>

/* Digits up to the first byte that is none; false if they leave 18 digits. */
static bool digits(const char **at, const char *end, uint64_t *number, uint32_t *count)
{
    const char *const begin = *at;
    for (; *at < end && (unsigned char)(**at - '0') < 10; (*at)++) {
        if (*number > (uint64_t)INT64_MAX / 10 - 1)
            return false;
        *number = *number * 10 + (uint64_t)(**at - '0');
    }
    *count = (uint32_t)(*at - begin);
    return true;
}

static const char *whole_number(const char *at, const char *end, int64_t low, int64_t high, int64_t *value)
{
    const bool minus = at < end && *at == '-';
    uint64_t number = 0;
    uint32_t count;
    at += at < end && (*at == '-' || *at == '+');
    if (!digits(&at, end, &number, &count)) {
        /* 19 digits may still fit: rare, so by the long way */
        unsigned __int128 wide = number;
        for (; at < end && (unsigned char)(*at - '0') < 10; at++)
            wide = wide >> 100 ? wide : wide * 10 + (unsigned)(*at - '0');
        if (at == end && wide > (unsigned __int128)INT64_MAX + minus)
            return "is out of range";
        number = (uint64_t)wide;
        count = 19;
    }
    if (count == 0 || at != end)
        return "is no whole number";
    *value = minus ? (int64_t)(0 - number) : (int64_t)number;
    return *value < low || *value > high ? "is out of range" : NULL;
}

static const char *decimal(const struct column_schema *column, const char *at, const char *end,
                           int64_t *value)
{
    static const char *const too_many[] = {
        "has more than 0 decimals",  "has more than 1 decimal",   "has more than 2 decimals",
        "has more than 3 decimals",  "has more than 4 decimals",  "has more than 5 decimals",
        "has more than 6 decimals",  "has more than 7 decimals",  "has more than 8 decimals",
        "has more than 9 decimals",  "has more than 10 decimals", "has more than 11 decimals",
        "has more than 12 decimals", "has more than 13 decimals", "has more than 14 decimals",
        "has more than 15 decimals", "has more than 16 decimals", "has more than 17 decimals",
        "has more than 18 decimals"};
    const bool minus = at < end && *at == '-';
    uint64_t number = 0, most = 1;
    uint32_t whole, behind = 0;
    at += at < end && (*at == '-' || *at == '+');
    if (!digits(&at, end, &number, &whole))
        return "is out of range";
    if (at < end && *at == '.') {
        for (at++; at < end && behind < column->scale && (unsigned char)(*at - '0') < 10; at++, behind++) {
            if (number > (uint64_t)INT64_MAX / 10 - 1)
                return "is out of range";
            number = number * 10 + (uint64_t)(*at - '0');
        }
        whole += behind;
        for (; at < end && *at == '0'; at++)
            whole++;
        if (at < end && (unsigned char)(*at - '0') < 10)
            return too_many[column->scale];
    }
    if (whole == 0 || at != end)
        return "is no number";
    for (; behind < column->scale; behind++) {
        if (number > (uint64_t)INT64_MAX / 10)
            return "is out of range";
        number *= 10;
    }
    for (uint32_t i = 0; i < column->precision; i++)
        most *= 10;
    if (number >= most)
        return "is out of range";
    *value = minus ? -(int64_t)number : (int64_t)number;
    return NULL;
}

/* `count` digits as a number, or -1. */
static int32_t fixed(const char **at, const char *end, uint32_t count)
{
    int32_t number = 0;
    if ((size_t)(end - *at) < count)
        return -1;
    for (; count > 0; count--, (*at)++) {
        if ((unsigned char)(**at - '0') >= 10)
            return -1;
        number = number * 10 + (**at - '0');
    }
    return number;
}

static bool skip(const char **at, const char *end, char c)
{
    const bool there = *at < end && **at == c;
    *at += there;
    return there;
}

static const char *date_part(const char **at, const char *end, int64_t *days)
{
    const int32_t year = fixed(at, end, 4);
    if (year < 0 || !skip(at, end, '-'))
        return "is no date YYYY-MM-DD";
    const int32_t month = fixed(at, end, 2);
    if (month < 0 || !skip(at, end, '-'))
        return "is no date YYYY-MM-DD";
    const int32_t day = fixed(at, end, 2);
    if (day < 0)
        return "is no date YYYY-MM-DD";
    if (month < 1 || month > 12 || day < 1 || day > calendar_month_days(year, month))
        return "is a day that no calendar has";
    *days = calendar_days(year, month, day);
    return NULL;
}

static const char *timestamp(const char *at, const char *end, int64_t *value)
{
    static const char no_time[] = "is no time YYYY-MM-DD HH:MM[:SS[.ffffff]]";
    int64_t days;
    int32_t hour = 0, minute = 0, second = 0, fraction = 0;
    const char *complaint = date_part(&at, end, &days);
    if (complaint)
        return complaint;
    if (skip(&at, end, ' ') || skip(&at, end, 'T')) {
        hour = fixed(&at, end, 2);
        if (hour < 0 || hour > 23 || !skip(&at, end, ':') || (minute = fixed(&at, end, 2)) < 0 || minute > 59)
            return no_time;
        if (skip(&at, end, ':') && ((second = fixed(&at, end, 2)) < 0 || second > 59))
            return no_time;
        if (skip(&at, end, '.')) {
            int32_t place = 100000;
            const char *const begin = at;
            for (; at < end && (unsigned char)(*at - '0') < 10; at++, place /= 10) {
                if (place == 0 && *at != '0')
                    return "has more than 6 decimals of a second";
                fraction += (*at - '0') * place;
            }
            if (at == begin)
                return no_time;
        }
        (void)skip(&at, end, 'Z');
    }
    if (at != end)
        return no_time;
    *value = days * CALENDAR_DAY_MICROSECONDS + ((hour * 60ll + minute) * 60 + second) * 1000000 + fraction;
    return NULL;
}

static const char *truth(const char *text, uint32_t length, int64_t *value)
{
    static const char *const words[2][4] = {{"0", "f", "no", "false"}, {"1", "t", "yes", "true"}};
    for (int v = 0; v < 2; v++)
        for (int w = 0; w < 4; w++)
            if (strlen(words[v][w]) == length && strncasecmp(words[v][w], text, length) == 0) {
                *value = v;
                return NULL;
            }
    return "is neither true nor false";
}

const char *text_value(const struct column_schema *column, const char *text, uint32_t length, int64_t *value)
{
    const char *at = text, *const end = text + length;
    const char *complaint;
    switch (column->type) {
    case TYPE_INT32:
        return whole_number(at, end, INT32_MIN, INT32_MAX, value);
    case TYPE_INT64: /* INT64_MIN is not needed, and stands for NULL inside the engine */
        return whole_number(at, end, INT64_MIN + 1, INT64_MAX, value);
    case TYPE_DECIMAL:
        return decimal(column, at, end, value);
    case TYPE_DATE:
        complaint = date_part(&at, end, value);
        return complaint ? complaint : at != end ? "is no date YYYY-MM-DD" : NULL;
    case TYPE_TIMESTAMP:
        return timestamp(at, end, value);
    case TYPE_BOOL:
        return truth(text, length, value);
    default:
        return "is a string";
    }
}
