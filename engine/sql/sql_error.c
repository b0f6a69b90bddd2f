/* sql_error.c: see sql_error.h. */
#include "engine/sql/sql_error.h"

#include "storage/base/number/number_text.h"

#include <stdio.h>
#include <string.h>

static enum status place(struct error *error, struct sql_position position, const char *text)
{
    return error_set(error, STATUS_BAD_INPUT, "line %u, column %u: %.900s", position.line, position.column,
                     text);
}

enum status sql_refuse(struct error *error, struct sql_position position, const char *format,
                       va_list arguments)
{
    char text[ERROR_TEXT_BYTES];
    number_print_list(text, sizeof text, format, arguments);
    return place(error, position, text);
}

enum status sql_placed(struct error *error, struct sql_position position, enum status status)
{
    char text[ERROR_TEXT_BYTES];
    if (status != STATUS_BAD_INPUT || !error || strncmp(error->text, "line ", 5) == 0)
        return status;
    memcpy(text, error->text, sizeof text);
    return place(error, position, text);
}
