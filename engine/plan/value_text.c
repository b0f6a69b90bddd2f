/* value_text.c: see value_text.h. */
#include "engine/plan/value_text.h"

#include "storage/base/calendar.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void date_text(int64_t days, char *text, size_t bytes)
{
    const struct calendar_date date = calendar_date_of(days);
    snprintf(text, bytes, "%04" PRId64 "-%02d-%02d", date.year, date.month, date.day);
}

/* The fraction of a second only where there is one. */
static void timestamp_text(int64_t microseconds, char *text, size_t bytes)
{
    const int64_t second = 1000000, days = calendar_floor(microseconds, CALENDAR_DAY_MICROSECONDS);
    const int64_t behind = microseconds % CALENDAR_DAY_MICROSECONDS;
    const int64_t of_day = behind < 0 ? behind + CALENDAR_DAY_MICROSECONDS : behind;
    const int seconds = (int)(of_day / second);
    char date[32], fraction[8] = "";
    date_text(days, date, sizeof date);
    if (of_day % second)
        snprintf(fraction, sizeof fraction, ".%06d", (int)(of_day % second));
    snprintf(text, bytes, "%s %02d:%02d:%02d%s", date, seconds / 3600, seconds / 60 % 60, seconds % 60,
             fraction);
}

static void decimal_text(int64_t value, unsigned scale, char *text, size_t bytes)
{
    uint64_t magnitude = value < 0 ? 0 - (uint64_t)value : (uint64_t)value, unit = 1;
    for (unsigned i = 0; i < scale; i++)
        unit *= 10;
    if (scale == 0)
        snprintf(text, bytes, "%" PRId64, value);
    else
        snprintf(text, bytes, "%s%" PRIu64 ".%0*" PRIu64, value < 0 ? "-" : "", magnitude / unit, (int)scale,
                 magnitude % unit);
}

static void string_text(const struct dictionary *dictionary, int64_t code, char *text, size_t bytes)
{
    uint32_t length = 0;
    const char *string = "";
    if (dictionary)
        string = dictionary_string(dictionary, code, &length);
    size_t kept = length < bytes ? length : bytes - 1;
    for (size_t i = 0; i < kept; i++)
        text[i] = (unsigned char)string[i] < ' ' || string[i] == 127 ? '?' : string[i];
    while (kept < length && kept > 0 && ((unsigned char)string[kept] & 0xc0) == 0x80)
        kept--; /* not in the middle of a UTF-8 character */
    text[kept] = '\0';
}

/* The fewest digits that read back alike; always with a point, an exponent or a word, so that it is no integer. */
static void double_text(int64_t bits, char *text, size_t bytes)
{
    double number;
    memcpy(&number, &bits, sizeof number);
    for (int digits = 15; digits <= 17; digits++) {
        snprintf(text, bytes, "%.*g", digits, number);
        if (strtod(text, NULL) == number)
            break;
    }
    if (strspn(text, "-0123456789") == strlen(text) && strlen(text) + 2 < bytes)
        strcat(text, ".0");
}

const char *typed_text(struct value_type type, int64_t value, char *text, size_t bytes)
{
    switch (type.kind) {
    case VALUE_STRING:
        string_text(type.dictionary, value, text, bytes);
        break;
    case VALUE_DATE:
        date_text(value, text, bytes);
        break;
    case VALUE_TIMESTAMP:
        timestamp_text(value, text, bytes);
        break;
    case VALUE_BOOLEAN:
        snprintf(text, bytes, "%s", value ? "true" : "false");
        break;
    case VALUE_DOUBLE:
        double_text(value, text, bytes);
        break;
    default:
        decimal_text(value, type.scale, text, bytes);
    }
    return text;
}

struct value_type column_value_type(const struct column *column)
{
    static const enum value_kind kinds[] = {
        [TYPE_INT32] = VALUE_INTEGER,      [TYPE_INT64] = VALUE_INTEGER, [TYPE_DECIMAL] = VALUE_INTEGER,
        [TYPE_DATE] = VALUE_DATE,          [TYPE_BOOL] = VALUE_BOOLEAN,  [TYPE_STRING] = VALUE_STRING,
        [TYPE_TIMESTAMP] = VALUE_TIMESTAMP};
    return (struct value_type){.kind = kinds[column->schema.type],
                               .scale = column->schema.type == TYPE_DECIMAL ? column->schema.scale : 0,
                               .dictionary = column->dictionary};
}

const char *value_text(const struct column *column, int64_t value, char *text, size_t bytes)
{
    if (!column->schema.references_table[0])
        return typed_text(column_value_type(column), value, text, bytes);
    snprintf(text, bytes, "row %" PRId64, value);
    return text;
}
