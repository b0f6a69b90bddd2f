/*
 * value_write.h: writes numbers, dates and times as text, in some nanoseconds each, for answers of millions
 * of rows.
 *
 * Each function writes at `at` and returns the end of its text. VALUE_WRITE_BYTES must be free there, because
 * it may store more bytes than its text has. There is no closing zero.
 */
#ifndef TESSERA_ENGINE_PLAN_VALUE_WRITE_H
#define TESSERA_ENGINE_PLAN_VALUE_WRITE_H

#include "engine/plan/expression.h"
#include "storage/base/calendar.h"
#include "storage/base/decimal.h"
#include "storage/base/zone/zone.h"

#include <string.h>

#define VALUE_WRITE_BYTES 48u

/* The eight digits, 0 .. 9, of number < 10^8, one a byte, the first in the lowest byte. The parts of the
 * number are divided in parallel within the word, by reciprocals that are exact for such small parts. */
static inline uint64_t eight_digits(uint32_t number)
{
    const uint64_t fours = number / 10000 | (uint64_t)(number % 10000) << 32;
    const uint64_t hundreds = fours * 5243 >> 19 & 0x7f0000007full;
    const uint64_t twos = hundreds | (fours - hundreds * 100) << 16;
    const uint64_t tens = twos * 103 >> 10 & 0x000f000f000f000full;
    return tens | (twos - tens * 10) << 8;
}

static inline void put_digits(char *at, uint64_t digits)
{
    digits |= 0x3030303030303030ull;
    memcpy(at, &digits, sizeof digits);
}

/* Writes exactly `count` digits, 1 .. 18, with leading zeros. */
static inline char *write_digits(char *at, uint64_t number, unsigned count)
{
    if (count > 8) {
        at = write_digits(at, number / 100000000, count - 8);
        number %= 100000000;
        count = 8;
    }
    put_digits(at, eight_digits((uint32_t)number) >> 8 * (8 - count));
    return at + count;
}

static inline char *write_unsigned(char *at, uint64_t number)
{
    if (number >= 100000000) {
        at = write_unsigned(at, number / 100000000);
        return write_digits(at, number % 100000000, 8);
    }
    const uint64_t digits = eight_digits((uint32_t)number);
    const unsigned zeros = (unsigned)__builtin_ctzll(digits | 1ull << 56) / 8; /* keeps the last digit */
    put_digits(at, digits >> 8 * zeros);
    return at + 8 - zeros;
}

static inline char *write_sign(char *at, int64_t value, uint64_t *magnitude)
{
    *magnitude = value < 0 ? 0 - (uint64_t)value : (uint64_t)value;
    *at = '-';
    return at + (value < 0);
}

static inline char *write_integer(char *at, int64_t value)
{
    uint64_t magnitude;
    at = write_sign(at, value, &magnitude);
    return write_unsigned(at, magnitude);
}

/* "-0.05": value / 10^scale, with `scale` decimals; scale 1 .. 18. */
static inline char *write_decimal(char *at, int64_t value, unsigned scale)
{
    uint64_t magnitude;
    const uint64_t unit = (uint64_t)power_of_ten(scale);
    at = write_sign(at, value, &magnitude);
    at = write_unsigned(at, magnitude / unit);
    *at++ = '.';
    return write_digits(at, magnitude % unit, scale);
}

/* "1994-02-28": days since 1970-01-01. A year has at least four characters, its sign included. */
static inline char *write_date(char *at, int64_t days)
{
    const struct calendar_date date = calendar_date_of(days);
    if (date.year >= 0 && date.year < 10000) {
        at = write_digits(at, (uint64_t)date.year, 4);
    } else {
        uint64_t year;
        at = write_sign(at, date.year, &year);
        at = year < 1000 ? write_digits(at, year, 3) : write_unsigned(at, year);
    }
    *at++ = '-';
    at = write_digits(at, (uint64_t)date.month, 2);
    *at++ = '-';
    return write_digits(at, (uint64_t)date.day, 2);
}

/* "1994-02-28 23:59:59.000001"; the fraction is left out if it is 0. */
static inline char *write_timestamp(char *at, int64_t microseconds)
{
    const int64_t days = calendar_floor(microseconds, CALENDAR_DAY_MICROSECONDS),
                  rest = microseconds % CALENDAR_DAY_MICROSECONDS,
                  of_day = rest < 0 ? rest + CALENDAR_DAY_MICROSECONDS : rest;
    const uint64_t seconds = (uint64_t)of_day / 1000000, fraction = (uint64_t)of_day % 1000000;
    at = write_date(at, days);
    *at++ = ' ';
    at = write_digits(at, seconds / 3600, 2);
    *at++ = ':';
    at = write_digits(at, seconds / 60 % 60, 2);
    *at++ = ':';
    at = write_digits(at, seconds % 60, 2);
    if (fraction == 0)
        return at;
    *at++ = '.';
    return write_digits(at, fraction, 6);
}

/* "+01", "-03:30", "+00:53:28" */
static inline char *write_offset(char *at, int32_t seconds)
{
    const uint32_t size = (uint32_t)(seconds < 0 ? -seconds : seconds);
    *at++ = seconds < 0 ? '-' : '+';
    at = write_digits(at, size / 3600, 2);
    for (uint32_t unit = 60; unit && size % (unit * 60); unit /= 60) {
        *at++ = ':';
        at = write_digits(at, size / unit % 60, 2);
    }
    return at;
}

/* "1994-02-28 23:59:59.5+01": a time of UTC by the clock of a zone. The clock of a time at the ends of 64 bits is UTC's. */
static inline char *write_zoned(char *at, int64_t microseconds, const struct zone *zone)
{
    int32_t offset = zone_offset(zone, calendar_floor(microseconds, 1000000));
    int64_t local;
    if (__builtin_add_overflow(microseconds, offset * INT64_C(1000000), &local)) {
        local = microseconds;
        offset = 0;
    }
    return write_offset(write_timestamp(at, local), offset);
}

static inline char *write_boolean(char *at, int64_t value)
{
    memcpy(at, value ? "true\0\0\0" : "false\0\0", 8);
    return at + (value ? 4 : 5);
}

/* Writes the fewest digits from which the same double is read, whose key is given. The text has a point or an exponent, or is a
 * word (inf, nan), so that it does not look like an integer. */
char *write_double(char *at, int64_t key);

/* Writes a value of a type that is not VALUE_STRING; one with time zone by the clock of `zone`. */
char *write_value(char *at, struct value_type type, const struct zone *zone, int64_t value);

#endif
