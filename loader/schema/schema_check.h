/*
 * schema_check.h: conditions of CHECK, which rows are tested by when they are loaded.
 *
 * What is understood: comparisons of a column with a constant or a column of the same type, BETWEEN, IN (also as
 * PostgreSQL writes it: = ANY (ARRAY[...])), IS [NOT] NULL, the length of a string, AND, OR, NOT and brackets. Casts
 * are skipped. As in SQL, a condition that is neither true nor false because of a NULL lets the row pass. Called once a
 * row; a condition has at most CHECK_NODES_MAX nodes.
 */
#ifndef TESSERA_LOADER_SCHEMA_SCHEMA_CHECK_H
#define TESSERA_LOADER_SCHEMA_SCHEMA_CHECK_H

#include "storage/column/column.h"

#include <stddef.h>

#define CHECK_NODES_MAX    256u
#define CHECK_REASON_BYTES 160u

struct schema_check;

/* A row's value of a column: a stored value; of strings the text. */
struct check_value {
    bool null;
    int64_t number;
    const char *text;
    uint32_t length;
};

/* Reads a condition on these columns. *check is NULL if it is not understood; then `reason` says why. */
NODISCARD enum status schema_check_parse(const char *text, size_t length, const struct column_schema *columns,
                                         uint32_t column_count, struct schema_check **check,
                                         char reason[CHECK_REASON_BYTES], struct error *error);
void schema_check_free(struct schema_check *check);

/* The condition as it was written, cut. */
const char *schema_check_text(const struct schema_check *check);

/* Whether the condition is not false for the row; values[c] for each column that it names. */
bool schema_check_passes(const struct schema_check *check, const struct check_value *values);

/* Whether the condition names the column. */
bool schema_check_uses(const struct schema_check *check, uint32_t column);

#endif
