/*
 * rowset.h: the answer to a statement, column by column: up to millions of rows of typed values.
 *
 * A value is an int64 and has the column's type (engine/plan/expression.h). Strings are codes of a
 * dictionary, which belongs to the database, or to the rowset if the statement made it; or they are views
 * (engine/function/string_view.h) if they were computed for the rows. Such a column has no values and no dictionary, and
 * is printed and exported; for all else it gets codes (view_codes.h). The caller frees the answer with rowset_free.
 */
#ifndef TESSERA_ENGINE_ANSWER_ROWSET_H
#define TESSERA_ENGINE_ANSWER_ROWSET_H

#include "engine/function/string_view.h"
#include "engine/plan/expression.h"
#include "storage/base/execution/spillable.h"

#include <stdio.h>

/* `values`, `nulls` and `views` are spillable (storage/base/execution/spillable.h). */
struct rowset_column {
    char *name;
    struct value_type type;
    int64_t *values;
    uint8_t *nulls;                 /* 1: the value is NULL; NULL: none is */
    struct string_view *views;      /* of strings, instead of values; or NULL */
    struct string_buffers *buffers; /* of the views; the column has a reference */
    const struct zone *zone;        /* by whose clock times with time zone are written */
};

/* Frees what the column has; it is then empty. */
void rowset_column_free(struct rowset_column *column);

/* Gives a column of strings room for views beside its values. */
NODISCARD enum status rowset_add_views(struct rowset_column *column, uint64_t rows, struct error *error);
/* The column has views from now on, and no values. */
void rowset_become_views(struct rowset_column *column);

/* The string of a row that is not NULL. */
struct string_value rowset_string(const struct rowset_column *column, uint64_t row);

/* Valid if zero-initialised: no columns, no rows. */
struct rowset {
    uint32_t column_count;
    struct rowset_column *columns;
    uint64_t rows;
    struct dictionary **dictionaries; /* for each column its dictionary if the rowset owns it, else NULL */
};

void rowset_free(struct rowset *rows);

/* The answer is the program's from now on: it counts no more in the account of its statement, and may outlive it. */
void rowset_hand_over(struct rowset *rows);

/* Frees all columns but the first `columns`, which must exist. */
void rowset_cut(struct rowset *rows, uint32_t columns);

/* Makes `count` columns with room for `capacity` rows; the caller fills in the values, and `nulls` if there
 * are any. Names are copied. String columns refer to the dictionaries of their types. */
NODISCARD enum status rowset_create(struct rowset *rows, uint32_t count, const char *const *names,
                                    const struct value_type *types, uint64_t capacity, struct error *error);

/* Copies the column's dictionary, if it has one, so that the rowset owns it and may outlive the original. */
NODISCARD enum status rowset_own_dictionary(struct rowset *rows, uint32_t column, struct error *error);

/* Makes a name for the column that none of the columns before it has, whose names so made are `before`: the second "a"
 * becomes "a_1", as in DuckDB. The caller frees it; NULL: no memory. */
char *rowset_unique_name(const struct rowset *rows, uint32_t column, char *const *before);

/* ---- Row by row (rowset_builder.c) ---- */

/* A value of a row to add; a string is copied. */
struct rowset_cell {
    bool null;
    int64_t number;
    const char *string; /* of a VALUE_STRING column */
    uint32_t length;
};

struct rowset_builder;

/* Makes an empty rowset with these columns; strings are views. Free with rowset_builder_free. */
NODISCARD enum status rowset_builder_create(uint32_t count, const char *const *names,
                                            const struct value_type *types, struct rowset_builder **builder,
                                            struct error *error);
void rowset_builder_free(struct rowset_builder *builder); /* NULL is legal */

/* Adds a row, with a cell for each column. */
NODISCARD enum status rowset_builder_add(struct rowset_builder *builder, const struct rowset_cell *cells,
                                         struct error *error);

/* Moves the rows into `rows`, which the caller frees with rowset_free. Afterwards the builder can only be
 * freed. */
void rowset_builder_finish(struct rowset_builder *builder, struct rowset *rows);

/* Makes a rowset of one string column, with a row for each line of `text`. */
NODISCARD enum status rowset_of_lines(struct rowset *rows, const char *name, const char *text,
                                      struct error *error);

#define ROWSET_TEXT_BYTES 64

/* Gives a value as text of *length bytes, not zero-terminated; NULL for NULL. A string is given as it is
 * stored; other values are written into `buffer` by write_value (engine/plan/value_write.h). */
const char *rowset_text(const struct rowset_column *column, uint64_t row, char buffer[ROWSET_TEXT_BYTES],
                        uint32_t *length);

/* ---- Printing (rowset_print.c) ---- */

enum rowset_format { ROWSET_TABLE, ROWSET_CSV, ROWSET_JSON, ROWSET_MARKDOWN };

/* "table", "csv", "json" or "markdown" */
bool rowset_format_by_name(const char *name, enum rowset_format *format);

/* Prints the answer to `out`, on `threads` threads (0: all), each of which needs some megabytes of memory.
 *
 *     ROWSET_CSV                      as in RFC 4180, with a header; empty strings are "", NULLs are empty
 *     ROWSET_JSON                     an array of objects, whose keys are made unique (a, a_1)
 *     ROWSET_TABLE, ROWSET_MARKDOWN   numbers are right-aligned; control characters are blanks
 *
 * STATUS_MACHINE if a write fails; the rest is then not printed. STATUS_INTERRUPTED on Ctrl-C. */
NODISCARD enum status rowset_print(const struct rowset *rows, enum rowset_format format, unsigned threads,
                                   FILE *out, struct error *error);

/* How an answer is written where rowset_print's way is not the only one; zeros are that way. */
#define ROWSET_NULL_BYTES 16u /* with its zero; it is copied as a whole */
struct rowset_style {
    enum rowset_format format;
    bool lines;     /* ROWSET_JSON: an object a line, with no array around them and no blanks */
    bool headless;  /* ROWSET_CSV: without the line of names */
    char delimiter; /* ROWSET_CSV: 0 is a comma */
    char null_text
        [ROWSET_NULL_BYTES]; /* ROWSET_CSV: stands for NULL; a string that is the same is in quotes */
};
NODISCARD enum status rowset_write(const struct rowset *rows, const struct rowset_style *style,
                                   unsigned threads, FILE *out, struct error *error);

#endif
