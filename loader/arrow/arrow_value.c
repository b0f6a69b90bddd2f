/* arrow_value.c: see arrow_value.h. */
#include "loader/arrow/arrow_value.h"

#include <stdio.h>
#include <string.h>

static struct arrow_type timestamp_type(char unit, bool zoned)
{
    return (struct arrow_type){.kind = ARROW_TIMESTAMP,
                               .bytes = 8,
                               .zoned = zoned,
                               .per_second = unit == 's'   ? 1
                                             : unit == 'm' ? 1000
                                             : unit == 'u' ? 1000000
                                                           : 1000000000};
}

struct arrow_type arrow_type_of(const char *format)
{
    static const struct {
        const char *format;
        enum arrow_kind kind;
        uint32_t bytes;
    } types[] = {{"c", ARROW_SIGNED, 1},   {"C", ARROW_UNSIGNED, 1},   {"s", ARROW_SIGNED, 2},
                 {"S", ARROW_UNSIGNED, 2}, {"i", ARROW_SIGNED, 4},     {"I", ARROW_UNSIGNED, 4},
                 {"l", ARROW_SIGNED, 8},   {"L", ARROW_UNSIGNED, 8},   {"b", ARROW_BIT, 0},
                 {"tdD", ARROW_DATE, 4},   {"tdm", ARROW_DATE, 8},     {"u", ARROW_TEXT, 4},
                 {"U", ARROW_TEXT, 8},     {"vu", ARROW_TEXT_VIEW, 0}, {"n", ARROW_NULLS, 0},
                 {"f", ARROW_FLOAT, 4},    {"g", ARROW_FLOAT, 8}};
    struct arrow_type type = {.kind = ARROW_OTHER};
    int end = 0;
    for (size_t i = 0; format && i < sizeof types / sizeof *types; i++)
        if (strcmp(format, types[i].format) == 0)
            return (struct arrow_type){.kind = types[i].kind, .bytes = types[i].bytes};
    if (!format)
        return type;
    if (strncmp(format, "ts", 2) == 0 && format[2] && strchr("smun", format[2]) && format[3] == ':')
        return timestamp_type(format[2], format[4]);
    if (sscanf(format, "d:%d,%d%n", &type.precision, &type.scale, &end) == 2 &&
        (!format[end] || strcmp(format + end, ",128") == 0)) {
        type.kind = ARROW_DECIMAL;
        type.bytes = 16;
    }
    return type;
}

static int64_t buffers_needed(const struct arrow_type *type)
{
    return type->kind == ARROW_NULLS ? 0 : type->kind == ARROW_TEXT ? 3 : 2;
}

bool arrow_array_whole(const struct ArrowArray *array, const struct arrow_type *type, int64_t rows)
{
    if (!array || array->length < rows || array->offset < 0 ||
        array->length > INT64_MAX / 64 - array->offset || array->n_buffers < buffers_needed(type) ||
        (array->n_buffers && !array->buffers))
        return false;
    return rows == 0 || type->kind == ARROW_NULLS || array->buffers[1];
}

bool arrow_whole_number(const struct arrow_type *type, const void *values, int64_t at, int64_t *value)
{
    const bool is_signed = type->kind != ARROW_UNSIGNED;
    switch (type->bytes) {
    case 1:
        *value = is_signed ? ((const int8_t *)values)[at] : ((const uint8_t *)values)[at];
        return true;
    case 2:
        *value = is_signed ? ((const int16_t *)values)[at] : ((const uint16_t *)values)[at];
        return true;
    case 4:
        *value = is_signed ? ((const int32_t *)values)[at] : (int64_t)((const uint32_t *)values)[at];
        return true;
    default:
        *value = ((const int64_t *)values)[at];
        return is_signed || *value >= 0;
    }
}

bool arrow_text(const struct arrow_type *type, const struct ArrowArray *array, int64_t at, const char **text,
                uint32_t *length)
{
    if (type->kind == ARROW_TEXT) {
        const int64_t from = type->bytes == 4 ? ((const int32_t *)array->buffers[1])[at]
                                              : ((const int64_t *)array->buffers[1])[at],
                      to = type->bytes == 4 ? ((const int32_t *)array->buffers[1])[at + 1]
                                            : ((const int64_t *)array->buffers[1])[at + 1];
        if (from < 0 || to < from || to - from > INT32_MAX || (to > from && !array->buffers[2]))
            return false;
        *text = to > from ? (const char *)array->buffers[2] + from : "";
        *length = (uint32_t)(to - from);
        return true;
    }
    /* A view is the length, then either 12 bytes of text, or 4 bytes of it, the number of a buffer and a
     * place in it. */
    int32_t view[4];
    memcpy(view, (const uint8_t *)array->buffers[1] + 16 * at, sizeof view);
    *length = (uint32_t)view[0];
    if (view[0] < 0)
        return false;
    if (view[0] <= 12) {
        *text = (const char *)array->buffers[1] + 16 * at + 4;
        return true;
    }
    if (view[2] < 0 || view[2] + 3 >= array->n_buffers || view[3] < 0 || !array->buffers[2 + view[2]])
        return false;
    *text = (const char *)array->buffers[2 + view[2]] + view[3];
    return true;
}
