/*
 * reference_internal.h: reading of raw rows and SQLite's errors, shared by the reference's own files.
 */
#ifndef TESSERA_SSB_BENCHMARK_REFERENCE_INTERNAL_H
#define TESSERA_SSB_BENCHMARK_REFERENCE_INTERNAL_H

#include "ssb/benchmark/reference.h"

#include <sqlite3.h>

struct reference {
    char *path; /* a complete file */
    double load_seconds;
    bool loaded; /* by this reference_open */
};

/* ---- The tables (reference_load.c) ---- */

#define REFERENCE_COLUMNS_MAX 9

/* The columns that the 13 queries use, as positions in ssb_table_info(table)->columns. */
struct reference_table {
    enum ssb_table table;
    uint32_t column_count;
    uint32_t columns[REFERENCE_COLUMNS_MAX];
};

/* Begins a transaction on an empty SQLite file and loads all rows; the caller commits. STATUS_CHECK_FAILED if
 * the number of rows is not source->rows. */
NODISCARD enum status reference_load(sqlite3 *connection, const char *path,
                                     const struct reference_source *source, unsigned threads,
                                     struct progress *progress, struct error *error);

/* ---- Raw rows, generated or from .tbl files (reference_rows.c) ---- */

#define REFERENCE_BATCH_ROWS 32768u /* 9 columns of 4 bytes take 1.2 MB, which stays in L2 */

struct reference_rows;

NODISCARD enum status reference_rows_open(const struct reference_source *source, unsigned threads,
                                          struct reference_rows **rows, struct error *error);
void reference_rows_close(struct reference_rows *rows);

/* Goes to the first row of a table. */
NODISCARD enum status reference_rows_begin(struct reference_rows *rows, const struct reference_table *table,
                                           struct error *error);

/* Gives the next row of a dimension; *end is true, and no row given, after the last. From a .tbl file only
 * the table's columns are set. */
NODISCARD enum status reference_rows_next(struct reference_rows *rows, struct ssb_row *row, bool *end,
                                          struct error *error);

/* Gives the next rows of lineorder, at most REFERENCE_BATCH_ROWS: columns[i] is the table's i-th column.
 * *count is 0 after the last row. */
NODISCARD enum status reference_rows_batch(struct reference_rows *rows, int32_t *const *columns,
                                           uint32_t *count, struct error *error);

/* ---- SQLite ---- */

/* Opens the file with flags of SQLite's, and returns its code. The connection is to be closed in any case. It waits for other
 * processes, and ends with Ctrl-C. */
int reference_connect(const char *path, int flags, sqlite3 **connection);

/* Sets the error that SQLite reported for the file at `path`; `what` is the step that failed ("loading
 * lineorder"). */
enum status reference_error(sqlite3 *connection, const char *path, const char *what, struct error *error);

/* Runs statements that return no rows. */
NODISCARD enum status reference_execute(sqlite3 *connection, const char *path, const char *statements,
                                        const char *what, struct error *error);

#endif
