/* value_text.c: see value_text.h. */
#include "engine/value_text.h"

#include "storage/calendar.h"

#include <inttypes.h>
#include <stdio.h>
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
    if (dictionary && code >= 0 && code < (int64_t)dictionary->count)
        string = dictionary_string(dictionary, (uint32_t)code, &length);
    size_t kept = length < bytes ? length : bytes - 1;
    for (size_t i = 0; i < kept; i++)
        text[i] = (unsigned char)string[i] < ' ' || string[i] == 127 ? '?' : string[i];
    while (kept < length && kept > 0 && ((unsigned char)string[kept] & 0xc0) == 0x80)
        kept--; /* not in the middle of a UTF-8 character */
    text[kept] = '\0';
}

const char *value_text(const struct column *column, int64_t value, char *text, size_t bytes)
{
    const struct column_schema *schema = &column->schema;
    if (schema->references_table[0])
        snprintf(text, bytes, "row %" PRId64, value);
    else if (schema->type == TYPE_STRING)
        string_text(column->dictionary, value, text, bytes);
    else if (schema->type == TYPE_DATE)
        date_text(value, text, bytes);
    else if (schema->type == TYPE_TIMESTAMP)
        timestamp_text(value, text, bytes);
    else if (schema->type == TYPE_DECIMAL)
        decimal_text(value, schema->scale, text, bytes);
    else if (schema->type == TYPE_BOOL)
        snprintf(text, bytes, "%s", value ? "true" : "false");
    else
        snprintf(text, bytes, "%" PRId64, value);
    return text;
}
