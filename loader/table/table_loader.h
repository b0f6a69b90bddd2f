/*
 * table_loader.h: the tables of a star schema from delimited text into a database.
 *
 * Tables are loaded in the schema's order, dimensions before what references them. Threads take blocks of text,
 * turn fields into values, strings into codes and foreign keys into row positions; a table's values are kept until its
 * last row was read (4 or 8 bytes and a flag each), in memory as far as the budget goes and else in a file without a
 * name, then encoded and written segment by segment. One commit makes all tables visible; until then the database is
 * as it was.
 */
#ifndef TESSERA_LOADER_TABLE_TABLE_LOADER_H
#define TESSERA_LOADER_TABLE_TABLE_LOADER_H

#include "loader/arrow/arrow.h"
#include "loader/table/schema_script.h"
#include "loader/text/text_source.h"

/* A table and the files of its rows, or the stream. */
struct load_input {
    const char *table;
    const char *const *paths;
    uint32_t path_count;
    struct ArrowArrayStream *stream; /* NULL: files. Released by the load, whatever becomes of it */
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
