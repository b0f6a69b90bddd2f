/*
 * value_write.h: numbers, dates and times as text, for millions of them: some nanoseconds each.
 *
 * Each function writes at `at`, where VALUE_WRITE_BYTES are free (it may store more bytes than its text has), and
 * returns the text's end. There is no closing zero.
 */
#ifndef TESSERA_ENGINE_PLAN_VALUE_WRITE_H
#define TESSERA_ENGINE_PLAN_VALUE_WRITE_H

#include "engine/plan/expression.h"
#include "storage/base/calendar.h"
#include "storage/base/decimal.h"

#include <string.h>

#define VALUE_WRITE_BYTES 40u

/* The eight digits of number < 10^8, 0 .. 9, the first in the lowest byte: quotients of all parts side by side, by
 * reciprocals that are exact for parts so small. */
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

/* Exactly `count` digits, 1 .. 18, zeros first. */
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
    const unsigned zeros = (unsigned)__builtin_ctzll(digits | 1ull << 56) / 8; /* the last digit stays */
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

/* "-0.05": value / 10^scale with all its decimals; scale 1 .. 18. */
static inline char *write_decimal(char *at, int64_t value, unsigned scale)
{
    uint64_t magnitude;
    const uint64_t unit = (uint64_t)power_of_ten(scale);
    at = write_sign(at, value, &magnitude);
    at = write_unsigned(at, magnitude / unit);
    *at++ = '.';
    return write_digits(at, magnitude % unit, scale);
}

/* "1994-02-28": days since 1970-01-01. A year has four digits at least, with its sign. */
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

/* "1994-02-28 23:59:59.000001": the fraction of a second only where there is one. */
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

static inline char *write_boolean(char *at, int64_t value)
{
    memcpy(at, value ? "true\0\0\0" : "false\0\0", 8);
    return at + (value ? 4 : 5);
}

/* The fewest digits that read back alike; always with a point, an exponent or a word, so that it is no integer. */
char *write_double(char *at, int64_t bits);

/* By its type, which is no string's. */
char *write_value(char *at, struct value_type type, int64_t value);

#endif
