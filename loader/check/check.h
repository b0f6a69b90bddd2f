/*
 * check.h: conditions of CHECK, which rows are tested by when they are loaded.
 *
 * A condition is an expression of SQL, as statements have it (engine/sql/scalar.h): all functions, no subqueries and no
 * aggregates. As in SQL, a condition that is neither true nor false because of a NULL lets the row pass.
 *
 * Expressions of strings need a sorted dictionary of all strings that there are. While rows are read nobody knows these,
 * so a condition is bound over the strings of the next rows, and bound again when strings come that it has not seen:
 * seldom for a column of few values, once in CHECK_ROWS rows for one of many. A test takes 1 to 20 ns a row, and 0.3 us
 * for each string that is bound.
 */
#ifndef TESSERA_LOADER_CHECK_CHECK_H
#define TESSERA_LOADER_CHECK_CHECK_H

#include "storage/column/dictionary/dictionary_builder.h"

#include <stdbool.h>
#include <stddef.h>

#define CHECK_ROWS (1u << 14)

struct check;

/* The text of a condition and its place in a script, and the table whose columns it may name. */
struct check_source {
    const char *text;
    size_t length;
    uint32_t line, column;
    const char *table;
    const struct column_schema *columns;
    uint32_t column_count;
};

/* Reads a condition. STATUS_BAD_INPUT, "line L, column C: ...", if it is none. Free with check_free; NULL is legal. */
NODISCARD enum status check_parse(const struct check_source *source, struct check **check,
                                  struct error *error);
void check_free(struct check *check);

/* Whether the condition names the column. */
bool check_uses(const struct check *check, uint32_t column);

/* ---- Testing rows ---- */

/* The values of a column, by row: int32_t or int64_t; of strings codes of `words`. `nulls` NULL: no row is NULL. `values`
 * NULL: all are. */
struct check_values {
    const void *values;
    uint32_t value_bytes;
    const uint8_t *nulls;
    const struct dictionary_builder *words;
};

/* What one thread tests rows by. The checks must outlive it. */
struct check_test;
NODISCARD enum status check_test_create(struct check *const *checks, uint32_t count, struct check_test **test,
                                        struct error *error);
void check_test_free(struct check_test *test); /* NULL is legal */

/* Tests rows first .. end - 1; columns[c] has those of column c that a check uses. failed[row] gets 0 if the row passes;
 * n if check n - 1 is the first that is false; -n if a value in it leaves 64 bits, so that nobody knows. Sets *any if some
 * row does not pass. */
NODISCARD enum status check_test_rows(struct check_test *test, const struct check_values *columns,
                                      uint32_t first, uint32_t end, int32_t *failed, bool *any,
                                      struct error *error);

/* What the row of such a number does, for an error: "fails CHECK (a > 0)". */
#define CHECK_SAYS_BYTES 320
void check_says(struct check *const *checks, int32_t failed, char text[CHECK_SAYS_BYTES]);

#endif
