/* value_text.c: see value_text.h. Also has the functions of value_write.h that are not inline. */
#include "engine/plan/value_text.h"

#include "engine/plan/value_write.h"
#include "storage/base/number/number_text.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

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
        kept--; /* do not cut within a UTF-8 character */
    text[kept] = '\0';
}

/* x * 10^places rounded to a whole number, ties to even, for 0.01 <= x < 10^14 and places <= 18. So the
 * product of the 53 bits of x and the power of ten fits 128 bits; 6 to 59 of them are a fraction, which is
 * cut. */
static int64_t scaled(double x, unsigned places)
{
    uint64_t bits;
    memcpy(&bits, &x, sizeof bits);
    const uint64_t mantissa = (bits & ((1ull << 52) - 1)) | 1ull << 52;
    const unsigned cut = 1075 - (unsigned)(bits >> 52);
    const unsigned __int128 product = (unsigned __int128)mantissa * (uint64_t)power_of_ten(places),
                            half = (unsigned __int128)1 << (cut - 1);
    const unsigned __int128 rest = product & (2 * half - 1);
    const uint64_t whole = (uint64_t)(product >> cut);
    return (int64_t)(whole + (rest > half || (rest == half && whole & 1)));
}

/* Writes most numbers by integer arithmetic, about ten times as fast as printf and strtod, with the same
 * digits. NULL for other numbers. */
static char *write_common_double(char *at, double number)
{
    const double x = number < 0 ? -number : number;
    if (!(x >= 0.01 && x < 1e14))
        return NULL;
    int whole_digits = x >= 0.1 ? 0 : -1;
    while ((double)power_of_ten((unsigned)(whole_digits < 0 ? 0 : whole_digits)) <= x)
        whole_digits++;
    for (int digits = 15; digits <= 17; digits++) {
        const unsigned places = (unsigned)(digits - whole_digits);
        const int64_t decimal = scaled(x, places);
        if (decimal_to_double(decimal, places) != x)
            continue;
        *at = '-';
        at = write_decimal(at + (number < 0), decimal, places);
        while (at[-1] == '0' && at[-2] != '.')
            at--;
        return at;
    }
    return NULL;
}

char *write_double(char *at, int64_t key)
{
    const double number = double_of_key(key);
    char *const end = write_common_double(at, number);
    if (end)
        return end;
    const bool normal = number > 0x1p-1022 || number < -0x1p-1022 || number == 0;
    for (int digits = normal ? 15 : 1; digits <= 17; digits++) { /* the least doubles have fewer digits */
        number_print(at, VALUE_WRITE_BYTES, "%.*g", digits, number);
        if (number_parse(at, NULL) == number)
            break;
    }
    if (strspn(at, "-0123456789") == strlen(at))
        strcat(at, ".0");
    return at + strlen(at);
}

char *write_value(char *at, struct value_type type, const struct zone *zone, int64_t value)
{
    switch (type.kind) {
    case VALUE_DATE:
        return write_date(at, value);
    case VALUE_TIMESTAMP:
        return type.zoned ? write_zoned(at, value, zone) : write_timestamp(at, value);
    case VALUE_BOOLEAN:
        return write_boolean(at, value);
    case VALUE_DOUBLE:
        return write_double(at, value);
    case VALUE_INTEGER:
    case VALUE_STRING: /* written as its code */
        break;
    }
    return type.scale ? write_decimal(at, value, type.scale) : write_integer(at, value);
}

const char *typed_text(struct value_type type, int64_t value, char *text, size_t bytes)
{
    char whole[VALUE_WRITE_BYTES];
    if (type.kind == VALUE_STRING) {
        string_text(type.dictionary, value, text, bytes);
    } else {
        const size_t length = (size_t)(write_value(whole, type, NULL, value) - whole);
        snprintf(text, bytes, "%.*s", (int)length, whole);
    }
    return text;
}

static enum value_kind kind_of(enum column_type type)
{
    switch (type) {
    case TYPE_INT32:
    case TYPE_INT64:
    case TYPE_DECIMAL:
        return VALUE_INTEGER;
    case TYPE_DATE:
        return VALUE_DATE;
    case TYPE_TIMESTAMP:
        return VALUE_TIMESTAMP;
    case TYPE_BOOL:
        return VALUE_BOOLEAN;
    case TYPE_STRING:
        return VALUE_STRING;
    case TYPE_DOUBLE:
        return VALUE_DOUBLE;
    }
    return VALUE_INTEGER;
}

struct value_type schema_value_type(const struct column_schema *schema)
{
    return (struct value_type){.kind = kind_of(schema->type),
                               .scale = schema->type == TYPE_DECIMAL ? schema->scale : 0,
                               .decimal = schema->type == TYPE_DECIMAL,
                               .zoned = schema->zoned};
}

struct value_type column_value_type(const struct column *column)
{
    struct value_type type = schema_value_type(&column->schema);
    type.untyped = column->untyped;
    return type;
}

const char *value_text(const struct column *column, int64_t value, char *text, size_t bytes)
{
    struct value_type type = column_value_type(column);
    if (!column->schema.references_table[0]) {
        if (column_dictionary(column, 0, &type.dictionary, NULL) != STATUS_OK)
            type.dictionary = NULL;
        return typed_text(type, value, text, bytes);
    }
    snprintf(text, bytes, "row %" PRId64, value);
    return text;
}
