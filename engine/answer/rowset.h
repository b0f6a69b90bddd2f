/*
 * rowset.h: the answer to a statement, column by column: up to millions of rows of typed values.
 *
 * Values are as in expression.h: one int64 each, with its type. Strings are codes of dictionaries that belong
 * to the database, or to the rowset if the statement made them. Owned by the caller: rowset_free.
 */
#ifndef TESSERA_ENGINE_ANSWER_ROWSET_H
#define TESSERA_ENGINE_ANSWER_ROWSET_H

#include "engine/plan/expression.h"

#include <stdio.h>

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
    struct dictionary **dictionaries; /* own ones, a column each, or NULL */
};

void rowset_free(struct rowset *rows);

/* Frees all columns but the first `columns`, which it must have. */
void rowset_cut(struct rowset *rows, uint32_t columns);

/* Makes `count` columns of `capacity` rows each, names copied, values to be filled in, no NULLs yet. Strings'
 * dictionaries are taken as they are. */
NODISCARD enum status rowset_create(struct rowset *rows, uint32_t count, const char *const *names,
                                    const struct value_type *types, uint64_t capacity, struct error *error);

/* A dictionary in one piece of memory, to be filled in: count + 1 starts and `bytes` of text. NULL: no memory. */
struct dictionary *rowset_dictionary(uint32_t count, uint64_t bytes, uint64_t **starts, char **text);

/* Makes the column's dictionary the rowset's own, if it has one: it may then outlive what made it. */
NODISCARD enum status rowset_own_dictionary(struct rowset *rows, uint32_t column, struct error *error);

/* ---- Row by row: engine/answer/rowset_builder.c ---- */

/* A value of a row that is added; a string is copied. */
struct rowset_cell {
    bool null;
    int64_t number;
    const char *string; /* of a VALUE_STRING column */
    uint32_t length;
};

struct rowset_builder;

/* An empty rowset of these columns. Their strings get dictionaries of the rowset's own, in the order in which they are added
 * (so codes are not sorted, and nothing may be looked up in them). Free with rowset_builder_free. */
NODISCARD enum status rowset_builder_create(uint32_t count, const char *const *names,
                                            const struct value_type *types, struct rowset_builder **builder,
                                            struct error *error);
void rowset_builder_free(struct rowset_builder *builder); /* NULL is legal */

/* Adds a row of a cell for each column. */
NODISCARD enum status rowset_builder_add(struct rowset_builder *builder, const struct rowset_cell *cells,
                                         struct error *error);

/* Moves what was added into `rows`, the caller's (rowset_free); the builder may only be freed then. */
NODISCARD enum status rowset_builder_finish(struct rowset_builder *builder, struct rowset *rows,
                                            struct error *error);

/* A rowset of one string column, a row a line of `text`. */
NODISCARD enum status rowset_of_lines(struct rowset *rows, const char *name, const char *text,
                                      struct error *error);

#define ROWSET_TEXT_BYTES 64

/* The value as text: of a string itself (with whatever bytes it has), else as write_value (value_write.h)
 * writes it, into `buffer`; NULL for NULL. *length bytes, not zero-terminated. */
const char *rowset_text(const struct rowset_column *column, uint64_t row, char buffer[ROWSET_TEXT_BYTES],
                        uint32_t *length);

/* ---- Printing: engine/answer/rowset_print.c ---- */

enum rowset_format { ROWSET_TABLE, ROWSET_CSV, ROWSET_JSON, ROWSET_MARKDOWN };

/* "table", "csv", "json" or "markdown" */
bool rowset_format_by_name(const char *name, enum rowset_format *format);

/* Everything to `out`, made on `threads` threads (0: all), some megabytes each at a time. CSV by RFC 4180 with a header,
 * NULL an empty field, "" an empty string; JSON an array of objects, whose keys are made unique (a, a_1); a table and
 * Markdown right-align numbers and have blanks for control characters. What cannot be written is STATUS_MACHINE, and the
 * rest is not made; STATUS_INTERRUPTED on Ctrl-C. */
NODISCARD enum status rowset_print(const struct rowset *rows, enum rowset_format format, unsigned threads,
                                   FILE *out, struct error *error);

#endif
