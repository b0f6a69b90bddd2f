/*
 * arrow_columns.h: the values of an Arrow batch by columns, for arrow_rows.c: each column of some rows becomes decoded values as a
 * columnar file has them, which are stored as those are (loader/columnar/columnar_store.h), on all threads. A wrong value
 * is not told of: the caller reads the rows one by one then, and finds it.
 */
#ifndef TESSERA_LOADER_ARROW_ARROW_COLUMNS_H
#define TESSERA_LOADER_ARROW_ARROW_COLUMNS_H

#include "loader/arrow/arrow_value.h"
#include "loader/table/table_loader_internal.h"

/* A column of the table in the stream. */
struct arrow_column {
    const struct column_schema *want; /* the type to convert to: the column's, or the referenced key's */
    int64_t child;                    /* -1: the stream does not have it, and every value is NULL */
    struct arrow_type type;           /* of the values, or of the dictionary's values */
    struct arrow_type indices;        /* ARROW_OTHER: no dictionary */
    bool rounds;                      /* numbers are rounded to the column's digits; half goes away from 0 */
};

struct arrow_scratch;

/* What threads work in; *scratch is NULL if some column's values cannot be read so: numbers that are rounded, times of other
 * units than milli- and microseconds. Free with arrow_scratch_free. */
NODISCARD enum status arrow_scratch_new(const struct row_parse *parse, const struct arrow_column *columns,
                                        struct arrow_scratch **scratch, struct error *error);
void arrow_scratch_free(struct arrow_scratch *scratch, unsigned threads); /* or NULL */

/* Rows of a batch whose arrays were checked, and a block for as many. */
struct arrow_block {
    struct row_parse *parse;
    const struct arrow_column *columns;
    const struct ArrowArray *batch;
    int64_t first;
    uint32_t rows;
    struct arrow_scratch *scratch;
    struct parsed_block *block;
};

/* Stores all rows in the block. *right false: some value is wrong, and the block is as it was. */
NODISCARD enum status arrow_block_store(const struct arrow_block *read, bool *right, struct error *error);

#endif
