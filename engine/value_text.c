/* value_text.c: see value_text.h. */
#include "engine/value_text.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

/* The Gregorian date `days` after 1970-01-01, by counting in eras of 400 years (146 097 days) that begin in
 * March. */
static void date_text(int64_t days, char *text, size_t bytes)
{
    int64_t shifted = days + 719468; /* from 0000-03-01 */
    int64_t era = (shifted >= 0 ? shifted : shifted - 146096) / 146097;
    int64_t day_of_era = shifted - era * 146097;
    int64_t year_of_era = (day_of_era - day_of_era / 1460 + day_of_era / 36524 - day_of_era / 146096) / 365;
    int64_t day_of_year = day_of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
    int64_t month = (5 * day_of_year + 2) / 153; /* 0: March */
    int64_t day = day_of_year - (153 * month + 2) / 5 + 1;
    int64_t year = year_of_era + era * 400 + (month >= 10);
    snprintf(text, bytes, "%04" PRId64 "-%02d-%02d", year, (int)(month < 10 ? month + 3 : month - 9),
             (int)day);
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
    else if (schema->type == TYPE_DECIMAL)
        decimal_text(value, schema->scale, text, bytes);
    else if (schema->type == TYPE_BOOL)
        snprintf(text, bytes, "%s", value ? "true" : "false");
    else
        snprintf(text, bytes, "%" PRId64, value);
    return text;
}
