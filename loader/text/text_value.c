/*
 * text_value.c: converts one field of text to a stored value (text_source.h). It is called for every field of
 * every row. Numbers of up to 16 digits are converted eight digits at a time, without branches on their
 * length, which would be mispredicted: about 3 ns for any length.
 */
#include "loader/text/text_value_internal.h"

#include "storage/base/calendar_text.h"
#include "storage/base/decimal.h"
#include "storage/base/words/word.h"
#include "storage/base/zone/zone.h"

#include <stdio.h>
#include <string.h>

const char text_out_of_range[] = "is out of range";

/* Reads digits up to the first byte that is not a digit; false if one more digit would overflow 64 bits. */
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

/* 1 to 8 bytes as a word, with the first byte lowest. No byte after `length` is read. */
static inline uint64_t short_text(const char *at, uint32_t length)
{
    if (length >= 4) {
        uint32_t first, last;
        memcpy(&first, at, 4);
        memcpy(&last, at + length - 4, 4);
        return first | (uint64_t)last << 8 * (length - 4);
    }
    return (uint64_t)(unsigned char)at[0] | (uint64_t)(unsigned char)at[length / 2] << 8 * (length / 2) |
           (uint64_t)(unsigned char)at[length - 1] << 8 * (length - 1);
}

/* The number in short_text's word of 1 to 8 digits; false if a byte is not a digit. Neighbours are combined:
 * digits to pairs, pairs to fours, fours to eight. */
static inline bool short_number(uint64_t word, uint32_t length, uint64_t *number)
{
    const uint64_t zeros = 0x3030303030303030ull, high = 0x8080808080808080ull;
    word = word << 8 * (8 - length) | zeros >> 1 >> (8 * length - 1); /* zeros in front */
    if (((word + 0x4646464646464646ull) | (word - zeros)) & high)
        return false;
    word = ((word & 0x0f0f0f0f0f0f0f0full) * 2561) >> 8;
    word = ((word & 0x00ff00ff00ff00ffull) * 6553601) >> 16;
    *number = ((word & 0x0000ffff0000ffffull) * 42949672960001ull) >> 32;
    return true;
}

static const char *whole_number(const char *at, const char *end, int64_t low, int64_t high, int64_t *value)
{
    const bool minus = at < end && *at == '-';
    uint64_t number = 0;
    uint32_t count;
    at += at < end && (*at == '-' || *at == '+');
    const size_t length = (size_t)(end - at);
    if (length - 1 < 16) { /* 1 to 16 */
        const uint32_t front = length > 8 ? (uint32_t)length - 8 : 0;
        uint64_t before = 0;
        if ((front && !short_number(short_text(at, front), front, &before)) ||
            !short_number(short_text(at + front, (uint32_t)length - front), (uint32_t)length - front,
                          &number))
            return "is no whole number";
        number += before * 100000000;
        *value = minus ? -(int64_t)number : (int64_t)number;
        return *value < low || *value > high ? text_out_of_range : NULL;
    }
    if (!digits(&at, end, &number, &count)) {
        /* 19 digits may fit; they are rare and take the slow way */
        unsigned __int128 wide = number;
        for (; at < end && (unsigned char)(*at - '0') < 10; at++)
            wide = wide >> 100 ? wide : wide * 10 + (unsigned)(*at - '0');
        if (at == end && wide > (unsigned __int128)INT64_MAX + minus)
            return text_out_of_range;
        number = (uint64_t)wide;
        count = 19;
    }
    if (count == 0 || at != end)
        return "is no whole number";
    *value = minus ? (int64_t)(0 - number) : (int64_t)number;
    return *value < low || *value > high ? text_out_of_range : NULL;
}

/* Reads up to 8 characters with at most `scale` digits after an optional point: *number gets all digits,
 * *behind the number of digits after the point. False for any other text. */
static bool short_decimal(const char *at, size_t length, uint32_t scale, uint64_t *number, uint32_t *behind)
{
    if (length - 1 >= 8)
        return false;
    uint64_t word = short_text(at, (uint32_t)length);
    uint32_t count = (uint32_t)length;
    const uint64_t other = word ^ 0x2e2e2e2e2e2e2e2eull, low = 0x7f7f7f7f7f7f7f7full;
    const uint64_t points = ~(((other & low) + low) | other | low);
    *behind = 0;
    if (points) { /* the first point; a second one is not a digit */
        const uint32_t place = (uint32_t)__builtin_ctzll(points) / 8;
        const uint64_t front = (1ull << 8 * place) - 1;
        word = (word & front) | (word >> 8 & ~front);
        count--;
        *behind = count - place;
    }
    return count > 0 && *behind <= scale && short_number(word, count, number);
}

const char *text_too_many_decimals(uint32_t scale)
{
    static const char *const too_many[] = {
        "has more than 0 decimals",  "has more than 1 decimal",   "has more than 2 decimals",
        "has more than 3 decimals",  "has more than 4 decimals",  "has more than 5 decimals",
        "has more than 6 decimals",  "has more than 7 decimals",  "has more than 8 decimals",
        "has more than 9 decimals",  "has more than 10 decimals", "has more than 11 decimals",
        "has more than 12 decimals", "has more than 13 decimals", "has more than 14 decimals",
        "has more than 15 decimals", "has more than 16 decimals", "has more than 17 decimals",
        "has more than 18 decimals"};
    return too_many[scale];
}

static const char *decimal(const struct column_schema *column, const char *at, const char *end,
                           int64_t *value)
{
    const bool minus = at < end && *at == '-';
    const uint64_t most = (uint64_t)power_of_ten(column->precision);
    uint64_t number = 0;
    uint32_t whole, behind = 0;
    at += at < end && (*at == '-' || *at == '+');
    if (short_decimal(at, (size_t)(end - at), column->scale, &number, &behind)) {
        const uint64_t unit = (uint64_t)power_of_ten(column->scale - behind);
        if (number > (most - 1) / unit)
            return text_out_of_range;
        *value = minus ? -(int64_t)(number * unit) : (int64_t)(number * unit);
        return NULL;
    }
    number = behind = 0;
    if (!digits(&at, end, &number, &whole))
        return text_out_of_range;
    if (at < end && *at == '.') {
        for (at++; at < end && behind < column->scale && (unsigned char)(*at - '0') < 10; at++, behind++) {
            if (number > (uint64_t)INT64_MAX / 10 - 1)
                return text_out_of_range;
            number = number * 10 + (uint64_t)(*at - '0');
        }
        whole += behind;
        for (; at < end && *at == '0'; at++)
            whole++;
        if (at < end && (unsigned char)(*at - '0') < 10)
            return text_too_many_decimals(column->scale);
    }
    if (whole == 0 || at != end)
        return "is no number";
    for (; behind < column->scale; behind++) {
        if (number > (uint64_t)INT64_MAX / 10)
            return text_out_of_range;
        number *= 10;
    }
    if (number >= most)
        return text_out_of_range;
    *value = minus ? -(int64_t)number : (int64_t)number;
    return NULL;
}

static const char *truth(const char *text, uint32_t length, int64_t *value)
{
    static const char *const words[2][4] = {{"0", "f", "no", "false"}, {"1", "t", "yes", "true"}};
    for (int v = 0; v < 2; v++)
        for (int w = 0; w < 4; w++)
            if (strlen(words[v][w]) == length && word_compare_bytes(words[v][w], text, length) == 0) {
                *value = v;
                return NULL;
            }
    return "is neither true nor false";
}

/* Reads a date, or a time at midnight, as which some programs write dates. */
static const char *date(const char *text, const char *end, int64_t *value)
{
    const char *at = text;
    const char *const complaint = calendar_parse_date(&at, end, value);
    if (complaint || at == end)
        return complaint;
    if (calendar_parse_timestamp(text, end, value) || *value % CALENDAR_DAY_MICROSECONDS)
        return "is no date YYYY-MM-DD";
    *value /= CALENDAR_DAY_MICROSECONDS;
    return NULL;
}

/* Reads a date by the format; the time of day, if it has one, must be midnight. */
static const char *date_of_form(const struct text_reading *reading, const char *at, const char *end,
                                int64_t *value)
{
    const char *const complaint =
        time_format_parse(reading->date_format, at, end, reading->cut_nanoseconds, value);
    if (complaint)
        return complaint;
    if (*value % CALENDAR_DAY_MICROSECONDS)
        return "is no whole day, as a DATE is";
    *value /= CALENDAR_DAY_MICROSECONDS;
    return NULL;
}

/* Reads a time; one without an offset that is an instant, by the reading's zone. */
static const char *timestamp(const struct column_schema *column, const char *at, const char *end,
                             const struct text_reading *reading, int64_t *value)
{
    const struct time_format *const format = reading->timestamp_format;
    const char *const complaint = format ? time_format_parse(format, at, end, reading->cut_nanoseconds, value)
                                         : calendar_parse_time(at, end, reading->cut_nanoseconds, value);
    if (!complaint && column->zoned && reading->zone &&
        !(format ? time_format_has_zone(format) : calendar_has_offset(at, end)))
        *value = zone_instant(reading->zone, *value);
    return complaint;
}

/* The common forms, without marks in numbers. */
static const char *strict_value(const struct column_schema *column, const char *text, uint32_t length,
                                const struct text_reading *reading, int64_t *value)
{
    const char *const at = text, *const end = text + length;
    switch (column->type) {
    case TYPE_INT32:
        return whole_number(at, end, INT32_MIN, INT32_MAX, value);
    case TYPE_INT64:
        return whole_number(at, end, INT64_MIN, INT64_MAX, value);
    case TYPE_DECIMAL:
        return decimal(column, at, end, value);
    case TYPE_DATE:
        return reading->date_format ? date_of_form(reading, at, end, value) : date(at, end, value);
    case TYPE_TIMESTAMP:
        return timestamp(column, at, end, reading, value);
    case TYPE_DOUBLE:
        return text_double(text, length, value);
    case TYPE_BOOL:
        return truth(text, length, value);
    case TYPE_STRING:
        break;
    }
    return "is a string";
}

static bool is_number(enum column_type type)
{
    switch (type) {
    case TYPE_INT32:
    case TYPE_INT64:
    case TYPE_DECIMAL:
    case TYPE_DOUBLE:
        return true;
    case TYPE_DATE:
    case TYPE_TIMESTAMP:
    case TYPE_BOOL:
    case TYPE_STRING:
        break;
    }
    return false;
}

static const char *plain_value(const struct text_reading *reading, const struct column_schema *column,
                               const char *text, uint32_t length, int64_t *value)
{
    const char *const complaint = strict_value(column, text, length, reading, value);
    return complaint && is_number(column->type) && column->type != TYPE_DOUBLE
               ? text_number(column, text, length, reading->round, value)
               : complaint;
}

const char *text_value(const struct text_reading *reading, const struct column_schema *column,
                       const char *text, uint32_t length, int64_t *value)
{
    const bool number = is_number(column->type);
    char plain[TEXT_NUMBER_BYTES];
    uint32_t plain_length;
    if (!number || !text_has_marks(reading))
        return plain_value(reading, column, text, length, value);
    if (!text_unmark(reading, text, length, plain, &plain_length))
        return column->type <= TYPE_INT64 ? "is no whole number" : "is no number";
    return plain_value(reading, column, plain, plain_length, value);
}

const char *text_value_advice(const char *complaint)
{
    return strcmp(complaint, CALENDAR_NANOSECONDS) == 0    ? " (--nanoseconds cut cuts them)"
           : strncmp(complaint, "has more than ", 14) == 0 ? " (--round rounds such numbers)"
                                                           : "";
}

void text_value_range(const struct column_schema *column, char text[TEXT_RANGE_BYTES])
{
    const uint64_t most = column->type == TYPE_DECIMAL ? power_of_ten(column->precision) - 1
                          : column->type == TYPE_INT64 ? INT64_MAX
                                                       : INT32_MAX,
                   least = column->type == TYPE_DECIMAL ? most : most + 1,
                   unit = power_of_ten(column->type == TYPE_DECIMAL ? column->scale : 0);
    char decimals[32] = "";
    if (column->type == TYPE_DOUBLE) {
        snprintf(text, TEXT_RANGE_BYTES, "-1.7976931348623157e308 to 1.7976931348623157e308");
        return;
    }
    if (unit > 1)
        snprintf(decimals, sizeof decimals, ".%llu", (unsigned long long)(most % unit));
    snprintf(text, TEXT_RANGE_BYTES, "-%llu%s to %llu%s", (unsigned long long)(least / unit), decimals,
             (unsigned long long)(most / unit), decimals);
}
