/*
 * table_loader.h: the tables of a star schema from delimited text into a database.
 *
 * Tables are loaded in the schema's order, dimensions before what references them. Threads take blocks of text,
 * turn fields into values, strings into codes and foreign keys into row positions; a table's values are kept until its
 * last row was read (4 or 8 bytes and a flag each), in memory as far as the budget goes and else in a file without a
 * name, then encoded and written segment by segment. One commit makes all tables visible; until then the database is
 * as it was. Rows may also come from Arrow streams (arrow.h), or be made by the caller (struct row_maker).
 */
#ifndef TESSERA_LOADER_TABLE_TABLE_LOADER_H
#define TESSERA_LOADER_TABLE_TABLE_LOADER_H

#include "loader/arrow/arrow.h"
#include "loader/table/schema_script.h"
#include "loader/text/text_source.h"

/* A value of a row that is made: a number, or the string of a string column. */
struct made_value {
    int64_t number;
    const char *text;
    uint32_t length;
};

/* Rows that the caller makes, none of them NULL: any range, on any thread (0 .. options->threads - 1). One of two ways. */
struct row_maker {
    uint64_t rows;
    void *context;
    /* Row by row, for tables without foreign keys: values[c] of column c. Texts must stay until the thread's next call. */
    void (*row)(void *context, uint64_t row, unsigned thread, struct made_value *values);
    /* By columns, for tables without a primary key that are larger than memory: `rows` values for each columns[c] that is
     * not NULL, as they are stored (int32_t or int64_t), strings as codes of dictionaries[c]. A foreign key, a number of 32
     * bits, is given as it is and looked up by the loader. At most MADE_ROWS rows a call. */
    void (*columns)(void *context, uint64_t first, uint32_t rows, unsigned thread, void *const *columns);
    const struct dictionary *dictionaries;
};
#define MADE_ROWS 65536u

/* A table and where its rows come from: files, or one of the others. */
struct load_input {
    const char *table;
    const char *const *paths;
    uint32_t path_count;
    struct ArrowArrayStream *stream; /* or NULL. Released by the load, whatever becomes of it */
    const struct row_maker *maker;   /* or NULL */
};

struct load_options {
    const char *directory; /* of the database, which is made if it does not exist */
    const struct load_input *inputs;
    uint32_t input_count;
    struct text_options text;
    const char *codecs;  /* NULL, or as --codec */
    const char *sort_by; /* NULL, or a column of one of the tables that are no dimensions */
    bool dangling_null;  /* store NULL for a key that finds no row; else it is an error */
    bool replace;        /* tables that exist */
    bool append;         /* to tables that exist, all of them; not together with `replace` */
    uint64_t max_errors; /* rows that may be left out */
    const char *reject;  /* where they are written, as they came; NULL: nowhere */
    unsigned threads;    /* 0: all */
    /* Bytes of memory for values and for segments that are encoded; 0: half of what is available. What it is not for: a
     * column's different strings, the primary keys, 3 MB of text a thread. */
    uint64_t memory;
    const char *narrow; /* NULL, or a BIGINT column that is stored as INT where all of its values fit */
    /* What is said behind the complaint about a bad row; NULL: that --max-errors leaves such rows out. */
    const char *advice;
    /* NULL, or called when all tables are written, before they become visible: its failure ends the load. */
    enum status (*before_commit)(void *context, struct error *error);
    void *before_commit_context;
};

struct load_report {
    uint64_t rows, rejected, bytes;        /* rows: read now */
    char first_rejected[ERROR_TEXT_BYTES]; /* why, if any was */
};

/* A row that is none (fields, types, NULL, a key twice, a key that finds no row): STATUS_BAD_INPUT with
 * "FILE:LINE: column NAME: 'TEXT' COMPLAINT", or, with max_errors, left out. A table that is referenced must be
 * among the inputs or in the database. */
NODISCARD enum status tables_load(const struct schema_script *schema, const struct load_options *options,
                                  struct load_report *report, struct progress *progress, struct error *error);

#endif
