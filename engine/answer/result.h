/*
 * result.h: the answer to a query: rows of integers and strings, with NULLs.
 *
 * Made by the engine and by the reference (SQLite), sorted, compared and printed. Answers of star queries are
 * small (at most a few thousand rows), so a row costs one comparison of plain structs and nothing is packed.
 */
#ifndef TESSERA_ENGINE_ANSWER_RESULT_H
#define TESSERA_ENGINE_ANSWER_RESULT_H

#include "storage/base/status.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define RESULT_COLUMNS_MAX 8u
#define RESULT_NAME_BYTES  64

/* One value. A string cell has `string` set, a number cell `number`; a NULL has neither (`null` is true).
 * sum() over no rows is NULL in SQL, so Q1.1 on an empty table answers one row with a NULL. */
struct result_cell {
    const char *string; /* zero-terminated, owned by the result */
    int64_t number;
    bool null;
};

struct result_strings;

/* Owned by the caller, filled by result_create, emptied by result_destroy. Zero-initialised is valid: no
 * columns, no rows. */
struct result {
    uint32_t column_count;
    char names[RESULT_COLUMNS_MAX][RESULT_NAME_BYTES];
    uint8_t is_string[RESULT_COLUMNS_MAX];
    uint64_t rows;
    struct result_cell *cells;      /* row-major: cells[row * column_count + column] */
    uint64_t capacity;              /* rows that fit before cells grows */
    struct result_strings *strings; /* what string cells point into */
};

struct result_order {
    uint32_t column;
    bool descending;
};

/* Begins an empty answer of 1 .. RESULT_COLUMNS_MAX columns in *result, whose former contents must have been
 * destroyed. Names that do not fit are cut. */
NODISCARD enum status result_create(struct result *result, uint32_t column_count, const char *const *names,
                                    const uint8_t *is_string, struct error *error);

/* Adds a row of column_count cells; strings are copied. A cell of a string column without a string counts as
 * NULL. On failure the result keeps the rows it had. */
NODISCARD enum status result_add_row(struct result *result, const struct result_cell *cells,
                                     struct error *error);

/* Frees what the result holds and leaves it empty; a zero-initialised result is legal. */
void result_destroy(struct result *result);

static inline const struct result_cell *result_cell(const struct result *result, uint64_t row,
                                                    uint32_t column)
{
    return &result->cells[row * result->column_count + column];
}

/* Sorts by the columns given, the first one first; equal rows keep their order. Strings by bytes, NULL before
 * everything (after it when descending), as SQLite does. */
NODISCARD enum status result_sort(struct result *result, const struct result_order *orders, uint32_t count,
                                  struct error *error);

/* The answer as text, owned by the caller (free): a header line of names, then the rows; commas, no quotes,
 * every line ends with \n, NULL is an empty field. *bytes does not count the closing zero. */
NODISCARD enum status result_csv(const struct result *result, char **text, size_t *bytes,
                                 struct error *error);

#endif
