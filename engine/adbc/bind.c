/* bind.c: parameters from rows of Arrow: numbers, decimals, truth values, dates, timestamps, texts and NULL. A date or a
 * timestamp is bound as its text, as everywhere in tessera.h. */
#include "engine/adbc/driver.h"
#include "loader/arrow/arrow_value.h"
#include "storage/base/calendar.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

AdbcStatusCode bind_check(const struct ArrowSchema *schema, uint32_t parameters, struct AdbcError *error)
{
    if (strcmp(schema->format, "+s") != 0 || schema->n_children != (int64_t)parameters)
        return driver_error(error, ADBC_STATUS_INVALID_ARGUMENT,
                            "the statement has %u parameters; %" PRId64 " columns are bound", parameters,
                            schema->n_children);
    for (int64_t c = 0; c < schema->n_children; c++)
        if (schema->children[c]->dictionary || arrow_type_of(schema->children[c]->format).kind == ARROW_OTHER)
            return driver_error(error, ADBC_STATUS_NOT_IMPLEMENTED,
                                "parameter %" PRId64
                                " has Arrow's type \"%s\"%s; bind a number, a decimal of 128 bits, a truth "
                                "value, a date, a timestamp or a text",
                                c + 1, schema->children[c]->format,
                                schema->children[c]->dictionary ? " with a dictionary" : "");
    return ADBC_STATUS_OK;
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
    scale = number ? scale : scale < 0 ? 0 : scale > 18 ? 18 : scale; /* which may be any number */
    for (; (scale > 18 || (scale > 0 && (number > INT64_MAX || number <= INT64_MIN))) && number % 10 == 0;
         scale--)
        number /= 10;
    for (; scale < 0 && number <= INT64_MAX && number >= INT64_MIN; scale++)
        number *= 10;
    if (scale > 18 || number > INT64_MAX || number <= INT64_MIN)
        return refuse(c, "is a decimal that has more than 18 digits", error);
    return tessera_bind_decimal(statement, c, (int64_t)number, (unsigned)scale, error);
}

static enum tessera_status bind_moment(struct tessera_statement *statement, uint32_t c, int64_t value,
                                       const struct arrow_type *type, struct tessera_error *error)
{
    const int64_t per_second = type->per_second;
    const int64_t day = calendar_floor(value, 86400 * per_second);
    const int64_t left = (int64_t)(value - (__int128)day * 86400 * per_second);
    const int64_t second = left / per_second;
    const struct calendar_date date = calendar_date_of(day);
    char text[64];
    const int length =
        snprintf(text, sizeof text, "%04d-%02d-%02d %02d:%02d:%02d.%06d%s", (int)date.year, (int)date.month,
                 (int)date.day, (int)(second / 3600), (int)(second / 60 % 60), (int)(second % 60),
                 (int)((__int128)(left % per_second) * 1000000 / per_second), type->zoned ? "+00" : "");
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

static const char no_layout[] = "does not keep to Arrow's layout (lengths, offsets, buffers)";

static enum tessera_status bind_text(struct tessera_statement *statement, uint32_t c,
                                     const struct arrow_type *type, const struct ArrowArray *array,
                                     int64_t at, struct tessera_error *error)
{
    const char *text;
    uint32_t length;
    if (!arrow_text(type, array, at, &text, &length))
        return refuse(c, no_layout, error);
    return tessera_bind_text(statement, c, text, length, error);
}

static enum tessera_status bind_value(struct tessera_statement *statement, uint32_t c,
                                      const struct arrow_type *type, const struct ArrowArray *array,
                                      int64_t at, struct tessera_error *error)
{
    int64_t number = 0;
    if (type->kind == ARROW_NULLS || arrow_is_null(array, at))
        return tessera_bind_null(statement, c, error);
    const void *const values = array->buffers[1];
    switch (type->kind) {
    case ARROW_UNSIGNED:
    case ARROW_SIGNED:
        return arrow_whole_number(type, values, at, &number)
                   ? tessera_bind_int64(statement, c, number, error)
                   : refuse(c, "is above 9223372036854775807", error);
    case ARROW_BIT:
        return tessera_bind_int64(statement, c, arrow_bit(values, at), error);
    case ARROW_FLOAT:
        return tessera_bind_double(statement, c, arrow_float(type, values, at), error);
    case ARROW_DECIMAL:
        return bind_decimal(statement, c, type->scale, (const uint8_t *)values + 16 * at, error);
    case ARROW_DATE:
        (void)arrow_whole_number(type, values, at, &number);
        return bind_date(statement, c, type->bytes == 4 ? number : calendar_floor(number, 86400000), error);
    case ARROW_TIMESTAMP:
        return bind_moment(statement, c, ((const int64_t *)values)[at], type, error);
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
        const struct arrow_type type = arrow_type_of(schema->children[c]->format);
        const enum tessera_status status = arrow_array_whole(array, &type, batch->length + batch->offset)
                                               ? bind_value(statement, (uint32_t)c, &type, array,
                                                            row + batch->offset + array->offset, &inner)
                                               : refuse((uint32_t)c, no_layout, &inner);
        if (status != TESSERA_OK)
            return driver_failed(error, &inner);
    }
    return ADBC_STATUS_OK;
}
