/* value_text.h: a stored value as text for people. For the few values on a screen, not for rows of data. */
#ifndef TESSERA_ENGINE_PLAN_VALUE_TEXT_H
#define TESSERA_ENGINE_PLAN_VALUE_TEXT_H

#include "engine/plan/expression.h"
#include "storage/database/database.h"

/* Writes a value as "1994-02-28", "1994-02-28 23:59:59.000001", with time zone in UTC ("...+00"), "-0.05", "true", "MFGR#12" or a number. The
 * code of a string is looked up; bytes that cannot be printed become '?'. The position of a foreign key
 * is "row 17". Text that does not fit into `bytes` is cut. Returns `text`. */
const char *value_text(const struct column *column, int64_t value, char *text, size_t bytes);

/* Writes a value of a type, in the same way: decimals with all digits of their scale, doubles as write_double
 * does (value_write.h). */
const char *typed_text(struct value_type type, int64_t value, char *text, size_t bytes);

/* The type of a column's values in expressions, unless it is a foreign key. */
struct value_type column_value_type(const struct column *column);
/* The same by its schema alone; of strings without a dictionary. */
struct value_type schema_value_type(const struct column_schema *schema);

#endif
