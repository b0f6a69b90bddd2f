/*
 * calendar_text.h: reads dates and times from text, for loaders and statements: YYYY-MM-DD, and optionally a
 * blank or T, HH:MM[:SS[.ffffff]] and Z or an offset from UTC. Months, days, hours, minutes and seconds may have one digit;
 * 24:00:00 is the end of the day. Called for every field of every row; takes some nanoseconds.
 *
 * The functions return NULL, or the fault of the text ("is no date YYYY-MM-DD").
 */
#ifndef TESSERA_STORAGE_BASE_CALENDAR_TEXT_H
#define TESSERA_STORAGE_BASE_CALENDAR_TEXT_H

#include "storage/base/calendar.h"

#include <stdbool.h>
#include <stddef.h>

/* Reads `count` digits as a number; -1 if they are not digits. */
static inline int32_t calendar_digits(const char **at, const char *end, uint32_t count)
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

/* Reads a month, a day, an hour ...: one digit or two; -1 if there is none. */
static inline int32_t calendar_part(const char **at, const char *end)
{
    const int32_t first = calendar_digits(at, end, 1);
    if (first < 0 || *at == end || (unsigned char)(**at - '0') >= 10)
        return first;
    return first * 10 + (*(*at)++ - '0');
}

static inline bool calendar_skip(const char **at, const char *end, char c)
{
    const bool there = *at < end && **at == c;
    *at += there;
    return there;
}

/* Reads a date at *at and moves *at to its end. */
static inline const char *calendar_parse_date(const char **at, const char *end, int64_t *days)
{
    const int32_t year = calendar_digits(at, end, 4);
    if (year < 0 || !calendar_skip(at, end, '-'))
        return "is no date YYYY-MM-DD";
    const int32_t month = calendar_part(at, end);
    if (month < 0 || !calendar_skip(at, end, '-'))
        return "is no date YYYY-MM-DD";
    const int32_t day = calendar_part(at, end);
    if (day < 0)
        return "is no date YYYY-MM-DD";
    if (month < 1 || month > 12 || day < 1 || (day > 28 && day > calendar_month_days(year, month)))
        return "is a day that no calendar has";
    *days = calendar_days(year, month, day);
    return NULL;
}

/* Reads Z, UTC, +HH, +HHMM, +HH:MM or +HH:MM:SS, also after a blank; false if something else is there. *seconds is 0 if
 * nothing is. */
static inline bool calendar_parse_offset(const char **at, const char *end, int32_t *seconds)
{
    *seconds = 0;
    if (calendar_skip(at, end, 'Z'))
        return true;
    (void)calendar_skip(at, end, ' ');
    if (*at == end)
        return false;
    if (end - *at == 3 && (*at)[0] == 'U' && (*at)[1] == 'T' && (*at)[2] == 'C') {
        *at = end;
        return true;
    }
    const bool minus = **at == '-';
    if (!calendar_skip(at, end, '-') && !calendar_skip(at, end, '+'))
        return false;
    const int32_t hours = calendar_digits(at, end, 2);
    const bool colon = calendar_skip(at, end, ':');
    const int32_t minutes = colon || *at < end ? calendar_digits(at, end, 2) : 0;
    const int32_t rest = calendar_skip(at, end, ':') ? calendar_digits(at, end, 2) : 0;
    if (hours < 0 || hours > 15 || minutes < 0 || minutes > 59 || rest < 0 || rest > 59)
        return false;
    *seconds = (hours * 60 + minutes) * 60 + rest;
    *seconds = minus ? -*seconds : *seconds;
    return true;
}

#define CALENDAR_NANOSECONDS "has more than 6 decimals of a second"

/* Reads the whole text: a date, and a time if there is one. With an offset *value is in UTC. cut: digits after
 * microseconds are cut; else they must be 0. */
static inline const char *calendar_parse_time(const char *at, const char *end, bool cut, int64_t *value)
{
    static const char no_time[] = "is no time YYYY-MM-DD HH:MM[:SS[.ffffff]]";
    int64_t days;
    int32_t hour = 0, minute = 0, second = 0, fraction = 0, offset = 0;
    const char *complaint = calendar_parse_date(&at, end, &days);
    if (complaint)
        return complaint;
    if (calendar_skip(&at, end, ' ') || calendar_skip(&at, end, 'T')) {
        hour = calendar_part(&at, end);
        if (hour < 0 || hour > 24 || !calendar_skip(&at, end, ':') ||
            (minute = calendar_part(&at, end)) < 0 || minute > 59)
            return no_time;
        if (calendar_skip(&at, end, ':') && ((second = calendar_part(&at, end)) < 0 || second > 59))
            return no_time;
        if (calendar_skip(&at, end, '.')) {
            int32_t place = 100000;
            const char *const begin = at;
            for (; at < end && (unsigned char)(*at - '0') < 10; at++, place /= 10) {
                if (place == 0 && *at != '0' && !cut)
                    return CALENDAR_NANOSECONDS;
                fraction += (*at - '0') * place;
            }
            if (at == begin)
                return no_time;
        }
        if (hour == 24 && (minute || second || fraction)) /* 24:00 is the day's end */
            return no_time;
        if (at != end && !calendar_parse_offset(&at, end, &offset))
            return no_time;
    }
    if (at != end)
        return no_time;
    *value = days * CALENDAR_DAY_MICROSECONDS + ((hour * 60ll + minute) * 60 + second - offset) * 1000000 +
             fraction;
    if (offset && (*value < calendar_days(0, 1, 1) * CALENDAR_DAY_MICROSECONDS ||
                   *value >= calendar_days(10000, 1, 1) * CALENDAR_DAY_MICROSECONDS))
        return "is not in the years 0000 to 9999 of UTC";
    return NULL;
}

/* True if a text that is a time has Z or an offset. */
static inline bool calendar_has_offset(const char *at, const char *end)
{
    while (at < end && *at != ' ' && *at != 'T')
        at++;
    for (; at < end; at++)
        if (*at == 'Z' || *at == '+' || *at == '-' || *at == 'U')
            return true;
    return false;
}

static inline const char *calendar_parse_timestamp(const char *at, const char *end, int64_t *value)
{
    return calendar_parse_time(at, end, false, value);
}

#endif
