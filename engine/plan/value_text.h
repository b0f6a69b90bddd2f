/* value_text.h: a stored value as a person writes it. Called for a few values of a screen, not for rows of
 * data. */
#ifndef TESSERA_ENGINE_PLAN_VALUE_TEXT_H
#define TESSERA_ENGINE_PLAN_VALUE_TEXT_H

#include "engine/plan/expression.h"
#include "storage/database/database.h"

/* "1994-02-28", "1994-02-28 23:59:59.000001", "-0.05", "true", "MFGR#12" (a string's code is looked up; bytes that cannot be printed become
 * '?'), or the number; a foreign key's row position as "row 17". What does not fit into `bytes` is cut.
 * Returns text. */
const char *value_text(const struct column *column, int64_t value, char *text, size_t bytes);

/* The same by a type: decimals with their digits, doubles with the fewest that read back alike and always a
 * point or an exponent. */
const char *typed_text(struct value_type type, int64_t value, char *text, size_t bytes);

/* What a column's values are in expressions, unless it is a foreign key. */
struct value_type column_value_type(const struct column *column);

#endif
