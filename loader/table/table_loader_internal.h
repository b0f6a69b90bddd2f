/* table_loader_internal.h: the parts of a load: keys (table_keys.c), rows (table_rows.c, arrow_rows.c,
 * columnar_rows.c, table_made.c), columns (table_columns.c), and the whole load (table_loader.c). */
#ifndef TESSERA_LOADER_TABLE_TABLE_LOADER_INTERNAL_H
#define TESSERA_LOADER_TABLE_TABLE_LOADER_INTERNAL_H

#include "storage/column/dictionary/dictionary_builder.h"
#include "loader/table/key_index.h"
#include "loader/table/table_loader.h"
#include "storage/base/execution/memory_account.h"
#include "storage/base/execution/spool.h"
#include "storage/database/writer.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>

/* Finds the position of a dimension's row by its key, by `numbers` or by `strings`. */
struct table_keys {
    struct column_schema key; /* the key's declared type, as which foreign keys are read */
    uint64_t rows;
    struct key_index *numbers;
    struct dictionary_builder *strings; /* its codes are rows, but for those that were deleted */
    int32_t *positions;                 /* of the codes of `strings`; NULL: the codes themselves */
};

/* The values of a stored column, or codes of its dictionary, with room for `more` after them; nulls[row] is 1 if the
 * row is NULL. The caller frees both, also after an error. `nulls` NULL: the column has none. */
NODISCARD enum status stored_values_read(struct database *database, const struct column *column,
                                         unsigned threads, uint64_t more, int64_t **values, uint8_t **nulls,
                                         struct error *error);

/* Reads the keys of a table in the database. */
NODISCARD enum status table_keys_read(struct database *database, const char *table, unsigned threads,
                                      struct table_keys *keys, struct error *error);
/* Makes the keys of loaded rows. `values` has an int64 a row, or for strings a code of `words`. `before` is
 * the database that has the rows before these, or NULL. A duplicate key gives STATUS_BAD_INPUT
 * (key_twice). */
NODISCARD enum status table_keys_make(const struct schema_table *table, const int64_t *values, uint64_t rows,
                                      const struct dictionary *words, const struct key_owner *owner,
                                      struct database *before, struct table_keys *keys, struct error *error);
/* Gives the rows of a table with levels their positions: positions[row], for the rows in the order in which the keys
 * were read or made. Call it once, before any key is looked up. */
NODISCARD enum status table_keys_place(struct table_keys *keys, const int32_t *positions,
                                       struct error *error);
void table_keys_free(struct table_keys *keys);

/* The position of a key that is a stored value of keys->key and not a string; or -1. */
int32_t table_keys_find_value(const struct table_keys *keys, int64_t value);

/* The position of a key that is given as text, or -1. *complaint gets NULL, or the reason why the text cannot be a
 * key. */
int32_t table_keys_find(const struct table_keys *keys, const struct text_reading *reading, const char *text,
                        uint32_t length, const char **complaint);

/* The key at a position, for an error: a number, or a text (*text is NULL for a number); false if it is not known. It
 * looks at all keys. */
bool table_keys_key(const struct table_keys *keys, int32_t position, int64_t *number, const char **text,
                    uint32_t *length);

/* The values of one block of text, of one batch, or of one part of a columnar file. */
#define KEPT_NOWHERE UINT64_MAX

struct parsed_block {
    uint32_t rows, thread;
    uint32_t *threads; /* NULL: one thread read all columns; else for each column its thread */
    void **values;     /* for each column int32_t[] or int64_t[]; strings: codes of the thread's builder */
    uint8_t **nulls;   /* for each column NULL (no row is NULL), or 1 for each row that is NULL */

    /* NULL: the block is in memory. Else the place of each column's values in the spool, */
    uint64_t *kept;
    uint64_t *kept_nulls; /* and of its nulls; KEPT_NOWHERE: it has none */

    /* If the table has a primary key and comes from files: each row's line, counted from the block's first line.
     * `lines` NULL: a line a row. counts_rows: they are rows of a columnar file, from 1. */
    const char *path;
    uint64_t first_line;
    uint32_t *lines;
    bool counts_rows;

    int32_t **
        found; /* for each reference after the columns the positions that it has, -1: NULL (table_tuples.h) */
};

struct columnar_reader;

/* All rows of one table. */
struct parsed_table {
    const struct schema_table *table;
    uint64_t block_count, block_room, rows;
    struct parsed_block *blocks;
    unsigned threads;
    struct dictionary_builder **words; /* threads * columns; only for strings that are not foreign keys */
    struct memory_charge held;         /* blocks in memory ... */
    uint64_t hold_most;                /* ... and the most bytes of them that there may be */
    struct spool spool;                /* has the other blocks */

    struct row_parse *parse; /* how rows are read */

    /* A table from columnar files. Blocks do not have the columns that are `later`: they are read by `columnar` when
     * they are written. */
    struct columnar_reader *columnar;
    bool *later; /* for each column; or NULL */
};

static inline bool parsed_later(const struct parsed_table *parsed, uint32_t column)
{
    return parsed->later && parsed->later[column];
}

/* The thread whose dictionary has the codes of a block's column. */
static inline uint32_t parsed_block_thread(const struct parsed_block *block, uint32_t column)
{
    return block->threads ? block->threads[column] : block->thread;
}

/* Writes where a row of the table (from 0) was read: "sales.csv:17", or "row 17 of the stream". */
void parsed_row_place(const struct parsed_table *parsed, uint64_t row, char text[KEY_PLACE_BYTES]);

/* Reads rows from .. from + count - 1 of a block's column: `values` in the column's width, and `nulls` with 1
 * for each row that is NULL. If *any_null is false, no row is NULL and `nulls` is not written. No two calls at the same
 * time have the same thread. */
NODISCARD enum status parsed_block_read(const struct parsed_table *parsed, const struct parsed_block *block,
                                        uint32_t column, uint32_t from, uint32_t count, unsigned thread,
                                        void *values, uint8_t *nulls, bool *any_null, struct error *error);

/* All values of a block's column. Free with block_column_free. */
struct block_column {
    void *values; /* in the column's width, value_bytes */
    uint8_t *nulls;
    bool any_null; /* false: `nulls` says nothing */
    uint32_t value_bytes;
};
NODISCARD enum status block_column_read(const struct parsed_table *parsed, const struct parsed_block *block,
                                        uint32_t column, unsigned thread, struct block_column *read,
                                        struct error *error);
void block_column_free(struct block_column *column);

static inline bool block_column_null(const struct block_column *column, uint32_t row)
{
    return column->any_null && column->nulls[row];
}

static inline int64_t block_column_value(const struct block_column *column, uint32_t row)
{
    return column->value_bytes == 4 ? ((const int32_t *)column->values)[row]
                                    : ((const int64_t *)column->values)[row];
}

/* Says that parsed_block_read comes next for a column of these blocks, which a GPU may prepare together. */
NODISCARD enum status parsed_blocks_ahead(const struct parsed_table *parsed, uint64_t first, uint64_t count,
                                          uint32_t column, unsigned thread, struct error *error);

/* The memory that a thread takes for parsed_block_read. */
uint64_t parsed_read_bytes(const struct parsed_table *parsed);

/* Moves all blocks that are in memory to the spool. */
NODISCARD enum status parsed_table_spill(struct parsed_table *parsed, struct error *error);

struct rejects {
    FILE *file; /* or NULL */
    int failed; /* errno of the first write that failed; 0: none has */
    uint64_t count, most;
    char first[ERROR_TEXT_BYTES]; /* of the first row in the order of the first table that has any */
    const struct schema_table *first_table;
    uint64_t first_block;
};

/* ---- Reading rows into blocks: table_rows.c for text, arrow_rows.c, columnar_rows.c and table_made.c ---- */

struct row_parse {
    const struct load_options *options;
    const struct table_keys *const *keys;
    struct parsed_table *parsed;
    struct text_source *source; /* NULL: no text */
    struct rejects *rejects;
    struct progress *progress;
    pthread_mutex_t lock;
    bool keyed; /* the table has a key, UNIQUE columns or references of several: rows remember their lines */
    struct row_checks *checks; /* conditions of CHECK, table_checks.h; NULL: none */
    bool stop;
    uint64_t error_block; /* the block of `error`: the earliest error in the input that was found */
    struct error error;
    uint32_t value_bytes[SCHEMA_COLUMNS_MAX];
    struct text_reading readings[SCHEMA_COLUMNS_MAX]; /* of each column */
};

/* Begins a block for up to `rows` rows. row_put appends a row's values; then the caller counts the row
 * (block->rows). */
NODISCARD enum status row_block_begin(const struct row_parse *parse, uint32_t rows, unsigned thread,
                                      struct parsed_block *block, struct error *error);
NODISCARD enum status row_put(const struct row_parse *parse, struct parsed_block *block, uint32_t column,
                              uint32_t rows, int64_t value, bool null, struct error *error);
/* Puts the block in its place among the table's blocks. If `status`, its result so far, is an error, frees
 * it. */
NODISCARD enum status row_block_end(struct row_parse *parse, uint64_t number, struct parsed_block *block,
                                    enum status status, struct error *error);

void row_block_free(const struct row_parse *parse, struct parsed_block *block);

/* A bad row: its file (NULL: it comes from a stream), its first line there, or its number, both from 1, and its bytes
 * as they came (NULL: it has no text). */
struct bad_row {
    const char *file;
    uint64_t line;
    const char *text;
    size_t bytes;
};

/* Rejects a bad row; `text` says where it is and why: "PLACE: WHY". The row is skipped, and written to the rejects'
 * file, or it ends the load. */
NODISCARD enum status row_reject(struct row_parse *parse, uint64_t block, const struct bad_row *row,
                                 const char *text);

/* Decides about a key without a matching row: *null is set if NULL is stored for it; otherwise returns the
 * complaint. */
const char *row_key_missing(const struct row_parse *parse, const struct column_schema *column, bool *null);

/* Writes "PLACE: column NAME: 'SHOWN' COMPLAINT", and for a value out of range the column's range. */
void row_complaint(char text[ERROR_TEXT_BYTES], const char *place, const struct row_parse *parse, uint32_t c,
                   const char *shown, const char *complaint);
/* Writes the same sentence about a key without a matching row. */
void row_key_complaint(char text[ERROR_TEXT_BYTES], const char *place, const struct column_schema *column,
                       const char *shown, const struct load_options *options);

/* Reads all batches of the stream, and releases it, also after a failure. */
NODISCARD enum status arrow_rows_read(struct row_parse *parse, struct ArrowArrayStream *stream,
                                      struct error *error);

/* Opens files of a columnar format as parse->parsed->columnar, decides which columns are read later, and reads the
 * others. */
struct columnar_format;
NODISCARD enum status columnar_rows_read(struct row_parse *parse, const struct columnar_format *format,
                                         const struct load_input *input, struct error *error);
void columnar_rows_free(struct columnar_reader *reader);

/* Reads rows of a column that is read later; as parsed_block_read. */
struct columnar_row_range {
    uint32_t from, count;
};
NODISCARD enum status columnar_column_read(struct columnar_reader *reader, uint64_t block, uint32_t column,
                                           const struct columnar_row_range *range, unsigned thread,
                                           void *values, uint8_t *nulls, bool *any_null, struct error *error);
NODISCARD enum status columnar_column_ahead(struct columnar_reader *reader, uint64_t first, uint64_t count,
                                            uint32_t column, unsigned thread, struct error *error);
uint64_t
columnar_column_bytes(const struct columnar_reader *reader); /* of memory that a thread takes for it */

/* Reads all rows of a maker that makes them one by one. */
NODISCARD enum status made_rows_read(struct row_parse *parse, const struct row_maker *maker,
                                     struct error *error);

/* Parses the rows of one table. keys[c] has the keys that column c references, or is NULL. */
NODISCARD enum status table_rows_parse(const struct schema_table *table, const struct load_input *input,
                                       const struct load_options *options,
                                       const struct table_keys *const *keys, struct rejects *rejects,
                                       struct parsed_table *parsed, struct progress *progress,
                                       struct error *error);
void table_rows_free(struct parsed_table *parsed);

/* ---- Columns: table_columns.c ---- */

/* The dictionary of a column, and the final code of each code of each thread's builder. */
struct word_codes {
    struct dictionary_builder *all;
    bool borrowed; /* `all` is a thread's builder */
    struct dictionary dictionary;
    int32_t **codes; /* codes[thread][c]: the final code of code c */
    unsigned threads;
};

/* Merges the threads' strings with those that the column `old` already has; NULL: there is none. `last`: the builder
 * that has the most strings gets the others, and no thread's builder of this column is used any more. word_codes_free
 * frees the result, also after an error. */
NODISCARD enum status word_codes_make(const struct parsed_table *parsed, uint32_t c, const struct column *old,
                                      bool last, struct word_codes *words, struct error *error);

/* The strings of a column in all threads' builders; 0: it has none. */
uint64_t parsed_word_count(const struct parsed_table *parsed, uint32_t c);
void word_codes_free(struct word_codes *words);

/* Gathers the values of all rows, or codes of `words` (NULL: they are no strings); with `rows`, of rows that are not
 * NULL, whose numbers it gets. Both have room for all rows. *count: of the values. */
NODISCARD enum status column_gather(const struct parsed_table *parsed, uint32_t column,
                                    const struct word_codes *words, int64_t *values, uint64_t *rows,
                                    uint64_t *count, struct error *error);

/* The progress of a table's columns. Work is counted in values and reported as a share of the rows. */
struct column_progress {
    struct progress *progress;
    char what[NAME_BYTES + 16];
    uint64_t rows, values; /* in all */
    atomic_uint_fast64_t done;
};
void column_progress_begin(struct column_progress *progress, const char *verb, const char *table);
void column_progress_add(struct column_progress *progress, uint64_t values);

/* Reports a step without a known length: "storing star.db". It lasts until other work reports. */
void progress_step(struct progress *progress, const char *verb, const char *name);

/* A thread's memory for a segment, used again for its next column. column_buffers_free frees it. */
struct column_buffers {
    uint8_t *values;
    uint64_t bytes;
    uint64_t *validity;
};
void column_buffers_free(struct column_buffers *buffers);

struct column_write {
    const struct parsed_table *parsed;
    struct table_writer *writer;
    uint32_t column;
    bool narrow;                    /* stored as int32_t, read as int64_t */
    const struct word_codes *words; /* or NULL */
    unsigned thread;
    struct column_buffers *buffers; /* of the thread */
    bool appends;                   /* the table has rows already */
    uint32_t first_segment; /* of the table, that has the first parsed rows; else table_writer_old says it */
    uint64_t first, end;    /* parsed rows: whole segments, or the last one */
    struct column_progress *progress;
};

/* Whether every value of an int64 column fits in 32 bits. */
NODISCARD enum status column_narrow(const struct parsed_table *parsed, uint32_t column, bool *narrow,
                                    struct error *error);

/* Gathers the column's rows and writes their segments. If the table already has rows, they come first, and
 * one call writes the whole column. */
NODISCARD enum status column_write_segments(const struct column_write *write, struct error *error);

/* Gathers the rows of one segment into the buffers; validity is that of the rows if *nulls, which no row needs not be. */
NODISCARD enum status column_read_segment(const struct column_write *write, bool *nulls, struct error *error);

/* ---- Tables whose rows are made by columns: table_made.c ---- */

struct made_table {
    const struct schema_table *table;
    const struct row_maker *maker;
    const struct load_options *options;
    const struct table_keys *const *keys; /* as for table_rows_parse */
    struct table_writer *writer;
    struct progress *progress;
};

/* Makes and writes every segment of every column. */
NODISCARD enum status made_columns_write(const struct made_table *made, struct error *error);

#endif
