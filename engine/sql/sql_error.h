/* sql_error.h: errors with their place in a statement. */
#ifndef TESSERA_ENGINE_SQL_SQL_ERROR_H
#define TESSERA_ENGINE_SQL_SQL_ERROR_H

#include "engine/sql/ast.h"
#include "storage/base/status.h"

#include <stdarg.h>

/* Sets "line L, column C: ..." and returns STATUS_BAD_INPUT. */
enum status sql_refuse(struct error *error, struct sql_position position, const char *format,
                       va_list arguments);
/* Returns the status; puts the place before the text of a STATUS_BAD_INPUT that has none. */
enum status sql_placed(struct error *error, struct sql_position position, enum status status);

/* As sql_placed, of a text that nobody sees: `position` replaces a place in it. `view` is the view whose query the text is, and
 * begins the sentence; or NULL. */
enum status sql_placed_anew(struct error *error, struct sql_position position, const char *view,
                            enum status status);

/* Moves the place of an error, if it has one: the text's place `from` is `to` in a larger text, and what follows it in the
 * same line moves with it. A place before `from` becomes `to`. */
void sql_error_move(struct error *error, struct sql_position from, struct sql_position to);

#endif
