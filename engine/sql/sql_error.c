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

enum status sql_placed_anew(struct error *error, struct sql_position position, const char *view,
                            enum status status)
{
    char text[ERROR_TEXT_BYTES];
    const char *said;
    if (status != STATUS_BAD_INPUT || !error)
        return status;
    memcpy(text, error->text, sizeof text);
    said = strncmp(text, "line ", 5) == 0 ? strstr(text, ": ") : NULL;
    return error_set(error, status, "line %u, column %u: %s%.100s%s%.800s", position.line, position.column,
                     view ? "view " : "", view ? view : "", view ? ": " : "", said ? said + 2 : text);
}

void sql_error_move(struct error *error, struct sql_position from, struct sql_position to)
{
    char text[ERROR_TEXT_BYTES];
    struct sql_position own;
    int after = 0;
    if (!error || sscanf(error->text, "line %u, column %u%n", &own.line, &own.column, &after) != 2)
        return;
    memcpy(text, error->text, sizeof text);
    if (own.line < from.line || (own.line == from.line && own.column < from.column))
        own = from;
    error_set_lines(error, error->status, "line %u, column %u%.900s", own.line - from.line + to.line,
                    own.line == from.line ? own.column - from.column + to.column : own.column, text + after);
}
