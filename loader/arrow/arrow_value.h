/*
 * arrow_value.h: types and single values of Arrow's C data interface (arrow.h), for those who read them row by row: the
 * loader (arrow_rows.c) and the parameters of the ADBC driver. A value takes some nanoseconds.
 */
#ifndef TESSERA_LOADER_ARROW_ARROW_VALUE_H
#define TESSERA_LOADER_ARROW_ARROW_VALUE_H

#include "loader/arrow/arrow.h"

#include <stdbool.h>
#include <stdint.h>

/* The type that an Arrow format string means. */
enum arrow_kind {
    ARROW_SIGNED,   /* of 1, 2, 4 or 8 bytes */
    ARROW_UNSIGNED, /* of 1, 2, 4 or 8 bytes */
    ARROW_BIT,
    ARROW_FLOAT,     /* of 4 or 8 bytes */
    ARROW_DECIMAL,   /* 128 bits, scaled */
    ARROW_DATE,      /* `bytes` 4: days, 8: milliseconds */
    ARROW_TIMESTAMP, /* units of 1 / per_second seconds */
    ARROW_TEXT,      /* offsets of 4 or 8 bytes */
    ARROW_TEXT_VIEW,
    ARROW_NULLS, /* every value is NULL */
    ARROW_OTHER
};

struct arrow_type {
    enum arrow_kind kind;
    uint32_t bytes;
    int precision, scale; /* of decimals, as the format says, which may be anything */
    int64_t per_second;
    bool zoned; /* ARROW_TIMESTAMP: with time zone, in UTC */
};

struct arrow_type arrow_type_of(const char *format);

static inline bool arrow_is_text(const struct arrow_type *type)
{
    return type->kind == ARROW_TEXT || type->kind == ARROW_TEXT_VIEW;
}

/* Whether the array has buffers for `rows` rows, as far as that can be seen. The lengths of buffers are not told. */
bool arrow_array_whole(const struct ArrowArray *array, const struct arrow_type *type, int64_t rows);

/* Value `at` of the array's buffers, with its offset. */
static inline bool arrow_bit(const void *bits, int64_t at)
{
    return ((const uint8_t *)bits)[at / 8] >> at % 8 & 1;
}
static inline bool arrow_is_null(const struct ArrowArray *array, int64_t at)
{
    return array->n_buffers > 0 && array->buffers[0] && !arrow_bit(array->buffers[0], at);
}
/* A whole number, or that of a date; false if it is above INT64_MAX. */
bool arrow_whole_number(const struct arrow_type *type, const void *values, int64_t at, int64_t *value);
static inline double arrow_float(const struct arrow_type *type, const void *values, int64_t at)
{
    return type->bytes == 4 ? (double)((const float *)values)[at] : ((const double *)values)[at];
}
/* A text; false if its offsets run backwards, or if a view names a missing buffer. */
bool arrow_text(const struct arrow_type *type, const struct ArrowArray *array, int64_t at, const char **text,
                uint32_t *length);

#endif
