/*
 * table_loader.h: loads the tables of a star schema from files into a database.
 *
 * Tables are loaded in the schema's order, dimensions before the tables that reference them. Threads take
 * blocks of text and turn fields into values, strings into codes and foreign keys into positions. A
 * table's values (4 or 8 bytes and a flag each) are kept until its last row is read: in memory within the
 * budget, the others in a file without a name. Then they are encoded and written segment by segment. One
 * commit makes all tables visible; until then the database has its old state. Rows may also come from columnar files,
 * which are recognised by their bytes (loader/columnar/), from Arrow streams (arrow.h) or from the caller (struct
 * row_maker).
 */
#ifndef TESSERA_LOADER_TABLE_TABLE_LOADER_H
#define TESSERA_LOADER_TABLE_TABLE_LOADER_H

#include "loader/arrow/arrow.h"
#include "loader/table/schema_script.h"
#include "loader/text/text_source.h"
#include "storage/codec/bytes/byte_decoder.h"

/* A value of a row that a row_maker makes: a number, or the string of a string column. */
struct made_value {
    int64_t number;
    const char *text;
    uint32_t length;
};

/* Makes rows without NULLs: any range, on any thread (0 .. options->threads - 1), in one of two ways. */
struct row_maker {
    uint64_t rows;
    void *context;

    /* Row by row, for tables without foreign keys: sets values[c] for each column c. Texts must stay valid
     * until the thread's next call. */
    void (*row)(void *context, uint64_t row, unsigned thread, struct made_value *values);

    /* By columns, for tables without a primary key that are larger than memory: writes `rows` stored values
     * (int32_t or int64_t) to each columns[c] that is not NULL; strings are codes of dictionaries[c]. A
     * foreign key is given as the key, a number of 32 bits; the loader looks it up. A call makes at most
     * MADE_ROWS rows. */
    void (*columns)(void *context, uint64_t first, uint32_t rows, unsigned thread, void *const *columns);
    const struct dictionary *dictionaries;
};
#define MADE_ROWS 65536u

/* A table and the source of its rows: files, a stream or a maker. */
struct load_input {
    const char *table;
    const char *const *paths;
    uint32_t path_count;
    const char *columns;             /* NULL, or the fields of text files, as text_options.columns */
    const char *encoding;            /* NULL, or that of text files, before text_options.encoding */
    struct ArrowArrayStream *stream; /* or NULL. The load always releases it, also after a failure */
    const struct row_maker *maker;   /* or NULL */
};

/* The order in which rows of tables that are referenced are stored: that of their levels, which are found
 * (storage/column/levels.h), or that of the file. */
enum dimension_order { DIMENSION_LEVELS, DIMENSION_FILE };
#define DIMENSION_ORDERS "levels|file" /* as words of an option; the first is the default */

#define CLUSTER_BY_VALUES "auto|none|COLUMN[:N],..." /* of an option */
#define WORKLOAD_HELP                                                                                  \
    "--cluster-by auto then chooses for the SQL statements of this file: levels and columns that the " \
    "conditions of many of them name"

/* Where appended rows stand in a table: after all others, as they came; after all others; anywhere. */
enum appended_place { APPENDED_AS_THEY_CAME, APPENDED_LAST, APPENDED_ANYWHERE };

/* Which rows of a table a load replaces. Before rows are appended those that `find` gives are deleted, in the same commit. When
 * all is written `find` is asked again, about the state that the commit would make, and must give as many rows as were
 * appended; else `refuse` makes the error that names one that it does not give, and nothing changes. */
struct load_replacement {
    const char *table;
    /* Gives the numbers of rows, ascending; the caller frees them. */
    enum status (*find)(void *context, struct database *state, const char *table, uint64_t **rows,
                        uint64_t *count, struct error *error);
    /* Of `appended` rows `found` were found. */
    enum status (*refuse)(void *context, struct database *state, const char *table, uint64_t appended,
                          uint64_t found, enum appended_place place, struct error *error);
    void *context;
};

/* Makes replacements of conditions of SQL, for a load, which knows no statements (engine/library/replace.h). The texts must
 * outlive one. `memory`: the most bytes; 0: half of what is available. `close` also after a failure of `open`. */
struct load_conditions {
    enum status (*open)(const char *table, const char *condition, unsigned threads, uint64_t memory,
                        struct load_replacement *replacement, struct error *error);
    void (*close)(struct load_replacement *replacement);
};

struct load_options {
    const char *directory; /* of the database, which is created if it does not exist */
    const struct load_input *inputs;
    uint32_t input_count;
    struct text_options text;
    const char *codecs;     /* NULL, or as --codec */
    const char *sort_by;    /* NULL, or a column of a table that is not a dimension */
    const char *cluster_by; /* NULL, or as --cluster-by: "auto", "none", "day,shop:2" */
    const char *workload;   /* NULL, or a file of statements that "auto" chooses for */
    const char *indexes;    /* NULL, or the columns that get a bitmap index: "a,b" */
    enum dimension_order dimension_order;
    const char *const *levels; /* "customer=region,nation,city", "part=none": levels of single tables */
    uint32_t level_count;
    bool dangling_null; /* store NULL for a key without a matching row; else it is an error */
    bool replace;       /* replace existing tables */
    bool append;        /* append to tables, all of which must exist; not together with `replace` */
    const struct load_replacement *replacement; /* with `append`: rows of one of the tables; or NULL */
    uint64_t max_errors;                        /* the number of bad rows that may be skipped */
    const char *reject; /* where skipped rows are written, as CSV: file,line,reason,row; NULL: nowhere */
    unsigned threads;   /* 0: all */

    const struct byte_decoder *decoder; /* of compressed columnar files; NULL: the host's */

    /* Bytes of memory for values and for segments that are being encoded; 0: half of the available memory. A
     * column's different strings, the primary keys and 3 MB of text a thread do not count. */
    uint64_t memory;
    const char *spill; /* the folder of rows beyond it; NULL: $TMPDIR, or else the database's */

    uint64_t
        first_rows; /* of files: reading may end when so many rows were read, on one thread; 0: it does not */
    const uint64_t *
        parts; /* NULL, or which parts of columnar files are read, numbered through all of them: bit n % 64 of
                            * word n / 64 */
    bool transient; /* the database is removed before the program ends, and need not reach the disk */

    /* NULL, or what rows of a load the input of table `part_table` has. */
    const struct table_part *part;
    const char *part_table;

    const char *narrow; /* NULL, or a BIGINT column that is stored as INT if all of its values fit */
    const char *advice; /* text after an error about a bad row; NULL: that --max-errors skips such rows */

    /* Rows of streams are those of a statement: columns that a stream does not have are NULL, numbers are rounded to the
     * column's digits, and errors tell rows by their numbers in the statement, and advise no options. */
    bool of_statement;

    /* NULL, or called when all tables are written and not yet visible. Its failure ends the load. */
    enum status (*before_commit)(void *context, struct error *error);
    void *before_commit_context;
};

struct load_report {
    uint64_t rows, rejected, bytes;        /* `rows` does not count the rows that an appended table had */
    uint64_t replaced;                     /* the rows that were deleted */
    uint64_t spilled;                      /* bytes that were kept in files meanwhile */
    char first_rejected[ERROR_TEXT_BYTES]; /* the error about the first rejected row */
};

/* Loads the tables. A bad row (its fields, types, NULLs, or a key without a matching row) is skipped within
 * max_errors; otherwise it ends the load with STATUS_BAD_INPUT and "FILE:LINE: column NAME: 'TEXT'
 * COMPLAINT". A duplicate primary key always ends the load. A referenced table must be among the inputs or in
 * the database. */
NODISCARD enum status tables_load(const struct schema_script *schema, const struct load_options *options,
                                  struct load_report *report, struct progress *progress, struct error *error);

#endif
