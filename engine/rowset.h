/*
 * rowset.h: the answer to a statement, column by column: up to millions of rows of typed values.
 *
 * Values are as in expression.h: one int64 each, with its type. Strings are codes of dictionaries that belong
 * to the database, or to the rowset if the statement made them. Owned by the caller: rowset_free.
 */
#ifndef TESSERA_ENGINE_ROWSET_H
#define TESSERA_ENGINE_ROWSET_H

#include "engine/expression.h"

struct rowset_column {
    char *name;
    struct value_type type;
    int64_t *values;
    uint8_t *nulls; /* 1: NULL; NULL if no value is */
};

/* Zero-initialised is valid: no columns, no rows. */
struct rowset {
    uint32_t column_count;
    struct rowset_column *columns;
    uint64_t rows;
    struct dictionary *dictionaries; /* own ones */
    uint32_t dictionary_count;
};

void rowset_free(struct rowset *rows);

/* The most bytes that rowset_text writes for anything but a string, the closing zero included. */
#define ROWSET_TEXT_BYTES 64

/* The text of a value that is not NULL: "12.50", "1994-01-31", "1994-01-31 23:59:59.5", "true", the string
 * itself; doubles with 17 digits at most, the fewest that read back alike, always with a point or exponent.
 * Returns a pointer into `buffer` or the dictionary; *length bytes, not zero-terminated. */
const char *rowset_text(const struct rowset_column *column, uint64_t row, char buffer[ROWSET_TEXT_BYTES],
                        uint32_t *length);

#endif
