/* bind.c: parameters from rows of Arrow: numbers, decimals, truth values, dates, timestamps, texts and NULL. A date or a
 * timestamp is bound as its text, as everywhere in tessera.h. */
#include "engine/adbc/driver.h"
#include "storage/base/calendar.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum bind_kind {
    BIND_NOTHING,
    BIND_SIGNED,
    BIND_UNSIGNED,
    BIND_BIT,
    BIND_FLOAT,
    BIND_DECIMAL,
    BIND_DATE,
    BIND_MOMENT,
    BIND_TEXT,
    BIND_VIEW,
    BIND_OTHER
};

struct bind_type {
    enum bind_kind kind;
    unsigned bytes; /* of a value, or of an offset of text */
    int scale;
    int64_t per_second;
};

static struct bind_type type_of(const struct ArrowSchema *schema)
{
    static const struct {
        const char *format;
        struct bind_type type;
    } types[] = {
        {"n", {BIND_NOTHING, 0, 0, 0}},  {"b", {BIND_BIT, 0, 0, 0}},      {"c", {BIND_SIGNED, 1, 0, 0}},
        {"C", {BIND_UNSIGNED, 1, 0, 0}}, {"s", {BIND_SIGNED, 2, 0, 0}},   {"S", {BIND_UNSIGNED, 2, 0, 0}},
        {"i", {BIND_SIGNED, 4, 0, 0}},   {"I", {BIND_UNSIGNED, 4, 0, 0}}, {"l", {BIND_SIGNED, 8, 0, 0}},
        {"L", {BIND_UNSIGNED, 8, 0, 0}}, {"f", {BIND_FLOAT, 4, 0, 0}},    {"g", {BIND_FLOAT, 8, 0, 0}},
        {"tdD", {BIND_DATE, 4, 0, 0}},   {"tdm", {BIND_DATE, 8, 0, 0}},   {"u", {BIND_TEXT, 4, 0, 0}},
        {"U", {BIND_TEXT, 8, 0, 0}},     {"vu", {BIND_VIEW, 16, 0, 0}}};
    struct bind_type type = {.kind = BIND_OTHER};
    const char *const format = schema->format;
    int digits, end = 0;
    if (schema->dictionary)
        return type;
    for (size_t i = 0; i < sizeof types / sizeof *types; i++)
        if (strcmp(format, types[i].format) == 0)
            return types[i].type;
    if (strncmp(format, "ts", 2) == 0 && format[2] && strchr("smun", format[2]))
        return (struct bind_type){.kind = BIND_MOMENT,
                                  .bytes = 8,
                                  .per_second = format[2] == 's'   ? 1
                                                : format[2] == 'm' ? 1000
                                                : format[2] == 'u' ? 1000000
                                                                   : 1000000000};
    if (sscanf(format, "d:%d,%d%n", &digits, &type.scale, &end) == 2 &&
        (!format[end] || strcmp(format + end, ",128") == 0)) {
        type.kind = BIND_DECIMAL;
        type.bytes = 16;
    }
    return type;
}

AdbcStatusCode bind_check(const struct ArrowSchema *schema, uint32_t parameters, struct AdbcError *error)
{
    if (strcmp(schema->format, "+s") != 0 || schema->n_children != (int64_t)parameters)
        return driver_error(error, ADBC_STATUS_INVALID_ARGUMENT,
                            "the statement has %u parameters; %" PRId64 " columns are bound", parameters,
                            schema->n_children);
    for (int64_t c = 0; c < schema->n_children; c++)
        if (type_of(schema->children[c]).kind == BIND_OTHER)
            return driver_error(error, ADBC_STATUS_NOT_IMPLEMENTED,
                                "parameter %" PRId64
                                " has Arrow's type \"%s\"%s; bind a number, a decimal of 128 bits, a truth "
                                "value, a date, a timestamp or a text",
                                c + 1, schema->children[c]->format,
                                schema->children[c]->dictionary ? " with a dictionary" : "");
    return ADBC_STATUS_OK;
}

static bool bit(const void *bits, int64_t at)
{
    return ((const uint8_t *)bits)[at / 8] >> at % 8 & 1;
}

static int64_t whole(const struct bind_type *type, const void *values, int64_t at)
{
    int64_t value = 0;
    memcpy(&value, (const uint8_t *)values + (size_t)at * type->bytes, type->bytes); /* little-endian */
    const unsigned unused = 64 - 8 * type->bytes;
    return type->kind == BIND_UNSIGNED ? value : (int64_t)((uint64_t)value << unused) >> unused;
}

static double floating(const struct bind_type *type, const void *values, int64_t at)
{
    return type->bytes == 4 ? (double)((const float *)values)[at] : ((const double *)values)[at];
}

static enum tessera_status refuse(uint32_t c, const char *why, struct tessera_error *error)
{
    *error = (struct tessera_error){.status = TESSERA_BAD_INPUT};
    snprintf(error->text, sizeof error->text, "parameter %u %s", c + 1, why);
    return TESSERA_BAD_INPUT;
}

static enum tessera_status bind_decimal(struct tessera_statement *statement, uint32_t c, int scale,
                                        const void *value, struct tessera_error *error)
{
    __int128 number;
    memcpy(&number, value, sizeof number);
    for (; scale > 0 && number % 10 == 0; scale--)
        number /= 10;
    for (; scale < 0 && number <= INT64_MAX && number >= INT64_MIN; scale++)
        number *= 10;
    if (scale > 18 || number > INT64_MAX || number <= INT64_MIN)
        return refuse(c, "is a decimal that has more than 18 digits", error);
    return tessera_bind_decimal(statement, c, (int64_t)number, (unsigned)scale, error);
}

static enum tessera_status bind_moment(struct tessera_statement *statement, uint32_t c, int64_t value,
                                       int64_t per_second, struct tessera_error *error)
{
    const int64_t day = calendar_floor(value, 86400 * per_second);
    const int64_t left = (int64_t)(value - (__int128)day * 86400 * per_second);
    const int64_t second = left / per_second;
    const struct calendar_date date = calendar_date_of(day);
    char text[64];
    const int length =
        snprintf(text, sizeof text, "%04d-%02d-%02d %02d:%02d:%02d.%06d", (int)date.year, (int)date.month,
                 (int)date.day, (int)(second / 3600), (int)(second / 60 % 60), (int)(second % 60),
                 (int)((__int128)(left % per_second) * 1000000 / per_second));
    return tessera_bind_text(statement, c, text, (size_t)length, error);
}

static enum tessera_status bind_date(struct tessera_statement *statement, uint32_t c, int64_t days,
                                     struct tessera_error *error)
{
    const struct calendar_date date = calendar_date_of(days);
    char text[32];
    const int length =
        snprintf(text, sizeof text, "%04d-%02d-%02d", (int)date.year, (int)date.month, (int)date.day);
    return tessera_bind_text(statement, c, text, (size_t)length, error);
}

/* Gives a text between two offsets, or a view: its length, then up to 12 bytes of text, or 4 bytes of it, the number of a
 * buffer and a place in it. False if that cannot be. */
static bool text_at(const struct bind_type *type, const struct ArrowArray *array, int64_t at,
                    const char **text, int64_t *length)
{
    const char *const view = (const char *)array->buffers[1] + 16 * at;
    int32_t parts[4];
    if (type->kind == BIND_TEXT) {
        const struct bind_type offset = {BIND_SIGNED, type->bytes, 0, 0};
        const int64_t from = whole(&offset, array->buffers[1], at),
                      to = whole(&offset, array->buffers[1], at + 1);
        *length = to - from;
        *text = to > from ? (const char *)array->buffers[2] + from : "";
        return from >= 0 && to >= from;
    }
    memcpy(parts, view, sizeof parts);
    *length = parts[0];
    *text = view + 4;
    if (parts[0] <= 12)
        return parts[0] >= 0;
    if (parts[2] < 0 || parts[2] + 3 >= array->n_buffers || parts[3] < 0)
        return false;
    *text = (const char *)array->buffers[2 + parts[2]] + parts[3];
    return true;
}

static enum tessera_status bind_text(struct tessera_statement *statement, uint32_t c,
                                     const struct bind_type *type, const struct ArrowArray *array, int64_t at,
                                     struct tessera_error *error)
{
    const char *text;
    int64_t length;
    if (!text_at(type, array, at, &text, &length))
        return refuse(c, "does not keep to Arrow's layout of texts", error);
    return tessera_bind_text(statement, c, text, (size_t)length, error);
}

static enum tessera_status bind_value(struct tessera_statement *statement, uint32_t c,
                                      const struct bind_type *type, const struct ArrowArray *array,
                                      int64_t at, struct tessera_error *error)
{
    if (type->kind == BIND_NOTHING ||
        (array->n_buffers > 0 && array->buffers[0] && !bit(array->buffers[0], at)))
        return tessera_bind_null(statement, c, error);
    const void *const values = array->buffers[1];
    switch (type->kind) {
    case BIND_UNSIGNED:
        if (type->bytes == 8 && ((const int64_t *)values)[at] < 0)
            return refuse(c, "is above 9223372036854775807", error);
        return tessera_bind_int64(statement, c, whole(type, values, at), error);
    case BIND_SIGNED:
        return tessera_bind_int64(statement, c, whole(type, values, at), error);
    case BIND_BIT:
        return tessera_bind_int64(statement, c, bit(values, at), error);
    case BIND_FLOAT:
        return tessera_bind_double(statement, c, floating(type, values, at), error);
    case BIND_DECIMAL:
        return bind_decimal(statement, c, type->scale, (const uint8_t *)values + 16 * at, error);
    case BIND_DATE:
        return bind_date(statement, c,
                         type->bytes == 4 ? whole(type, values, at)
                                          : calendar_floor(whole(type, values, at), 86400000),
                         error);
    case BIND_MOMENT:
        return bind_moment(statement, c, ((const int64_t *)values)[at], type->per_second, error);
    default:
        return bind_text(statement, c, type, array, at, error);
    }
}

AdbcStatusCode bind_row(struct tessera_statement *statement, const struct ArrowSchema *schema,
                        const struct ArrowArray *batch, int64_t row, struct AdbcError *error)
{
    struct tessera_error inner;
    for (int64_t c = 0; c < schema->n_children; c++) {
        const struct ArrowArray *const array = batch->children[c];
        const struct bind_type type = type_of(schema->children[c]);
        if (bind_value(statement, (uint32_t)c, &type, array, row + batch->offset + array->offset, &inner) !=
            TESSERA_OK)
            return driver_failed(error, &inner);
    }
    return ADBC_STATUS_OK;
}
