/* schema_type.c: the types of columns by their names in SQL's dialects (schema_parser.h). Types that only name a kind of
 * text (UUID, JSON, TIME) are strings, as their values are in a file. */
#include "loader/schema/schema_parser.h"

#include "storage/base/words/word.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define DIGITS_MAX 18u /* of a DECIMAL: they fit an int64 */

static enum status take_number(struct schema_parser *parser, unsigned long *number)
{
    if (parser->token.kind != TOKEN_NUMBER || parser->token.length > 9 ||
        memchr(parser->token.text, '.', parser->token.length))
        return schema_complain_of(parser, "'%s' stands where a whole number should");
    *number = strtoul(parser->token.text, NULL, 10);
    return schema_advance(parser);
}

/* Parses (n) or (n, m) after a type; *count gets the number of numbers. */
static enum status take_sizes(struct schema_parser *parser, unsigned long sizes[2], unsigned *count)
{
    bool more, max;
    *count = 0;
    RETURN_IF_ERROR(schema_take(parser, "(", &more));
    while (more) {
        if (*count == 2)
            return schema_complain(parser, "a type has at most two numbers");
        RETURN_IF_ERROR(schema_take(parser, "MAX", &max)); /* SQL Server's varchar(max) */
        if (!max)
            RETURN_IF_ERROR(take_number(parser, &sizes[(*count)++]));
        RETURN_IF_ERROR(schema_take(parser, ",", &more));
        if (!more)
            RETURN_IF_ERROR(schema_expect(parser, ")"));
    }
    return STATUS_OK;
}

struct type_word {
    const char *word;
    enum column_type type;
    unsigned sizes; /* the numbers that may follow the type */
};

static const struct type_word types[] = {
    {"INT", TYPE_INT32, 1},
    {"INTEGER", TYPE_INT32, 1},
    {"SMALLINT", TYPE_INT32, 1},
    {"TINYINT", TYPE_INT32, 1},
    {"MEDIUMINT", TYPE_INT32, 1},
    {"INT4", TYPE_INT32, 0},
    {"INT2", TYPE_INT32, 0},
    {"INT1", TYPE_INT32, 0},
    {"INT32", TYPE_INT32, 0},
    {"INT16", TYPE_INT32, 0},
    {"SHORT", TYPE_INT32, 0},
    {"UTINYINT", TYPE_INT32, 0},
    {"USMALLINT", TYPE_INT32, 0},
    {"SERIAL", TYPE_INT32, 0},
    {"SMALLSERIAL", TYPE_INT32, 0},
    {"SERIAL4", TYPE_INT32, 0},
    {"SERIAL2", TYPE_INT32, 0},
    {"YEAR", TYPE_INT32, 1},
    {"BIGINT", TYPE_INT64, 1},
    {"INT8", TYPE_INT64, 0},
    {"INT64", TYPE_INT64, 0},
    {"LONG", TYPE_INT64, 0},
    {"UINTEGER", TYPE_INT64, 0},
    {"UBIGINT", TYPE_INT64, 0},
    {"HUGEINT", TYPE_INT64, 0},
    {"BIGSERIAL", TYPE_INT64, 0},
    {"SERIAL8", TYPE_INT64, 0},
    {"OID", TYPE_INT64, 0},
    {"DECIMAL", TYPE_DECIMAL, 2},
    {"NUMERIC", TYPE_DECIMAL, 2},
    {"DEC", TYPE_DECIMAL, 2},
    {"NUMBER", TYPE_DECIMAL, 2},
    {"DOUBLE", TYPE_DOUBLE, 2},
    {"FLOAT", TYPE_DOUBLE, 2},
    {"REAL", TYPE_DOUBLE, 0},
    {"FLOAT8", TYPE_DOUBLE, 0},
    {"FLOAT4", TYPE_DOUBLE, 0},
    {"FLOAT64", TYPE_DOUBLE, 0},
    {"FLOAT32", TYPE_DOUBLE, 0},
    {"BINARY_DOUBLE", TYPE_DOUBLE, 0},
    {"BINARY_FLOAT", TYPE_DOUBLE, 0},
    {"DATE", TYPE_DATE, 0},
    {"TIMESTAMP", TYPE_TIMESTAMP, 1},
    {"TIMESTAMPTZ", TYPE_TIMESTAMP, 1},
    {"TIMESTAMP_S", TYPE_TIMESTAMP, 0},
    {"TIMESTAMP_MS", TYPE_TIMESTAMP, 0},
    {"TIMESTAMP_US", TYPE_TIMESTAMP, 0},
    {"TIMESTAMP_NS", TYPE_TIMESTAMP, 0},
    {"DATETIME", TYPE_TIMESTAMP, 1},
    {"DATETIME2", TYPE_TIMESTAMP, 1},
    {"SMALLDATETIME", TYPE_TIMESTAMP, 0},
    {"DATETIMEOFFSET", TYPE_TIMESTAMP, 1},
    {"BOOLEAN", TYPE_BOOL, 0},
    {"BOOL", TYPE_BOOL, 0},
    {"LOGICAL", TYPE_BOOL, 0},
    {"CHAR", TYPE_STRING, 1},
    {"CHARACTER", TYPE_STRING, 1},
    {"VARCHAR", TYPE_STRING, 1},
    {"NCHAR", TYPE_STRING, 1},
    {"NVARCHAR", TYPE_STRING, 1},
    {"VARCHAR2", TYPE_STRING, 1},
    {"NVARCHAR2", TYPE_STRING, 1},
    {"BPCHAR", TYPE_STRING, 1},
    {"TEXT", TYPE_STRING, 1},
    {"TINYTEXT", TYPE_STRING, 0},
    {"MEDIUMTEXT", TYPE_STRING, 0},
    {"LONGTEXT", TYPE_STRING, 0},
    {"NTEXT", TYPE_STRING, 0},
    {"CLOB", TYPE_STRING, 1},
    {"CITEXT", TYPE_STRING, 0},
    {"STRING", TYPE_STRING, 1},
    {"NAME", TYPE_STRING, 0},
    {"UUID", TYPE_STRING, 0},
    {"UNIQUEIDENTIFIER", TYPE_STRING, 0},
    {"TIME", TYPE_STRING, 1},
    {"TIMETZ", TYPE_STRING, 1},
    {"INTERVAL", TYPE_STRING, 0},
    {"JSON", TYPE_STRING, 0},
    {"JSONB", TYPE_STRING, 0},
    {"XML", TYPE_STRING, 0},
    {"INET", TYPE_STRING, 0},
    {"CIDR", TYPE_STRING, 0},
    {"MACADDR", TYPE_STRING, 0},
    {"TSVECTOR", TYPE_STRING, 0},
};

/* Takes words that belong to the type before: CHARACTER VARYING, TIME WITH TIME ZONE, INT UNSIGNED. */
static enum status take_suffix(struct schema_parser *parser, struct column_schema *column)
{
    bool taken;
    const bool time = column->type == TYPE_TIMESTAMP || column->type == TYPE_STRING;
    if (time && (schema_is(parser, "WITH") || schema_is(parser, "WITHOUT"))) {
        column->zoned = column->type == TYPE_TIMESTAMP && schema_is(parser, "WITH");
        RETURN_IF_ERROR(schema_advance(parser));
        RETURN_IF_ERROR(schema_take(parser, "LOCAL", &taken));
        RETURN_IF_ERROR(schema_expect(parser, "TIME"));
        return schema_expect(parser, "ZONE");
    }
    for (bool more = true; more;) {
        RETURN_IF_ERROR(schema_take(parser, "SIGNED", &more));
        RETURN_IF_ERROR(schema_take(parser, "UNSIGNED", &taken));
        if (taken && column->type == TYPE_INT32)
            column->type = TYPE_INT64; /* 0 to 2^32 - 1 */
        more |= taken;
        RETURN_IF_ERROR(schema_take(parser, "ZEROFILL", &taken));
        more |= taken;
    }
    return STATUS_OK;
}

/* DECIMAL's digits. More than fit are accepted, because few values use them; those that do are refused when they are
 * loaded. */
static enum status set_digits(struct schema_parser *parser, const struct sql_token *type,
                              const unsigned long sizes[2], unsigned count, struct column_schema *column)
{
    const unsigned long scale = count > 1 ? sizes[1] : 0;
    if (sizes[0] < 1 || scale > sizes[0] || scale > DIGITS_MAX || sizes[0] > 1000)
        return schema_complain(parser, "DECIMAL(p, s) takes 1 to 18 digits, 0 to p of them after the point");
    if (sizes[0] > DIGITS_MAX)
        RETURN_IF_ERROR(schema_note(
            parser, type->line,
            "column %s is a DECIMAL(18,%lu) instead of (%lu,%lu): values of more digits will be refused",
            column->name, scale, sizes[0], scale));
    column->precision = (uint8_t)(sizes[0] > DIGITS_MAX ? DIGITS_MAX : sizes[0]);
    column->scale = (uint8_t)scale;
    return STATUS_OK;
}

static bool take_own_type(const struct schema_parser *parser, const char *name, struct column_schema *column)
{
    for (uint32_t t = 0; t < parser->own_type_count; t++)
        if (word_compare(parser->own_types[t].name, name) == 0) {
            column->type = parser->own_types[t].type.type;
            column->precision = parser->own_types[t].type.precision;
            column->scale = parser->own_types[t].type.scale;
            column->zoned = parser->own_types[t].type.zoned;
            return true;
        }
    return false;
}

/* Takes the schema's name before a type's, as in public.mood and pg_catalog.int4. */
static enum status take_type_schema(struct schema_parser *parser)
{
    const struct schema_place place = schema_here(parser);
    bool point;
    if (parser->token.kind != TOKEN_WORD && parser->token.kind != TOKEN_NAME)
        return schema_complain_of(parser, "'%s' stands where a type should");
    RETURN_IF_ERROR(schema_advance(parser));
    RETURN_IF_ERROR(schema_take(parser, ".", &point));
    if (!point)
        schema_go_back(parser, &place);
    return STATUS_OK;
}

enum status schema_take_type(struct schema_parser *parser, struct column_schema *column)
{
    unsigned long sizes[2] = {DIGITS_MAX, 0};
    unsigned count;
    size_t t = 0;
    bool varying;
    char name[4 * NAME_BYTES] = "";
    RETURN_IF_ERROR(take_type_schema(parser));
    const struct sql_token type = parser->token;
    if (parser->token.length < sizeof name)
        sql_token_text(&parser->token, name);
    while (t < sizeof types / sizeof *types && word_compare(name, types[t].word) != 0)
        t++;
    const bool own = take_own_type(parser, name, column);
    column->type = own || t == sizeof types / sizeof *types ? column->type : types[t].type;
    if (!own)
        column->zoned = word_compare(name, "TIMESTAMPTZ") == 0 || word_compare(name, "DATETIMEOFFSET") == 0;
    if (schema_is(parser, "ENUM") || schema_is(parser, "SET") || own) {
        column->type = own ? column->type : TYPE_STRING;
        RETURN_IF_ERROR(schema_advance(parser));
        if (!own && schema_is(parser, "("))
            RETURN_IF_ERROR(schema_skip_brackets(parser));
    } else if (t == sizeof types / sizeof *types) {
        return schema_complain_of(parser, "there is no type '%s' here; use INT, BIGINT, DECIMAL(p,s), "
                                          "DOUBLE, DATE, TIMESTAMP, BOOLEAN, CHAR(n), VARCHAR(n) or TEXT");
    } else {
        RETURN_IF_ERROR(schema_advance(parser));
        if (column->type == TYPE_DOUBLE)
            RETURN_IF_ERROR(schema_take(parser, "PRECISION", &varying));
        if (column->type == TYPE_STRING)
            RETURN_IF_ERROR(schema_take(parser, "VARYING", &varying));
        RETURN_IF_ERROR(take_sizes(parser, sizes, &count));
        if (count > types[t].sizes)
            return schema_complain(parser, "the type before takes fewer numbers");
        if (column->type == TYPE_DECIMAL)
            RETURN_IF_ERROR(set_digits(parser, &type, sizes, count, column));
        RETURN_IF_ERROR(take_suffix(parser, column));
    }
    if (parser->token.kind == TOKEN_NAME && parser->token.text[0] == '[')
        return schema_complain(parser, "a column holds single values and no arrays; write the column as "
                                       "TEXT, or its elements as rows of another table");
    return STATUS_OK;
}

/* Keeps the name of CREATE TYPE name AS ENUM (...), whose values are strings in a file, or of CREATE DOMAIN name AS
 * type. */
enum status schema_create_type(struct schema_parser *parser, bool domain)
{
    bool taken;
    struct column_schema type = {.type = TYPE_STRING};
    if (parser->own_type_count == SCHEMA_OWN_TYPES_MAX)
        return schema_complain(parser, "the script creates more than 256 types");
    RETURN_IF_ERROR(
        schema_take_qualified(parser, "a type's name", parser->own_types[parser->own_type_count].name));
    RETURN_IF_ERROR(schema_take(parser, "AS", &taken));
    if (domain) {
        snprintf(type.name, sizeof type.name, "%s", parser->own_types[parser->own_type_count].name);
        RETURN_IF_ERROR(schema_take_type(parser, &type));
    }
    parser->own_types[parser->own_type_count++].type = type;
    return STATUS_OK;
}
