/* table_loader_internal.h: the parts of a load: keys (table_keys.c), rows (table_rows.c, arrow_rows.c, table_made.c),
 * columns (table_columns.c), all together (table_loader.c). */
#ifndef TESSERA_LOADER_TABLE_TABLE_LOADER_INTERNAL_H
#define TESSERA_LOADER_TABLE_TABLE_LOADER_INTERNAL_H

#include "loader/table/dictionary_builder.h"
#include "loader/table/key_index.h"
#include "loader/table/table_loader.h"
#include "storage/base/spool.h"
#include "storage/database/writer.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>

/* From a dimension's key to its row's position: one of the two. */
struct table_keys {
    struct column_schema key; /* as it is written: the type that foreign keys are read as */
    uint64_t rows;
    struct key_index *numbers;
    struct dictionary_builder *strings; /* codes are positions */
};

/* The keys of a table that is in the database already. */
NODISCARD enum status table_keys_read(struct database *database, const char *table, unsigned threads,
                                      struct table_keys *keys, struct error *error);
/* `values`: int64 a row, or codes of `words` for strings. `before`: the database that has the rows before these, or
 * NULL. A key that is there twice: STATUS_BAD_INPUT (key_twice). */
NODISCARD enum status table_keys_make(const struct schema_table *table, const int64_t *values, uint64_t rows,
                                      const struct dictionary *words, const struct key_owner *owner,
                                      struct database *before, struct table_keys *keys, struct error *error);
void table_keys_free(struct table_keys *keys);

/* The row of a key that is a stored value of keys->key, no string; or -1. */
int32_t table_keys_find_value(const struct table_keys *keys, int64_t value);

/* The row of a key as it was written, or -1; *complaint: NULL, or why the text is no key at all. */
int32_t table_keys_find(const struct table_keys *keys, const char *text, uint32_t length,
                        const char **complaint);

/* What one block of text became: for each column its values, and 1 for each that is NULL. */
struct parsed_block {
    uint32_t rows, thread;
    void **values;   /* int32_t[] or int64_t[] by the column; strings: codes of the thread's builder */
    uint8_t **nulls; /* NULL: none is */
    uint64_t *
        kept; /* NULL: it is in memory. Else where each column's values are in the spool, and behind them nulls */
    bool *kept_nulls; /* whether there are nulls behind a column's values */
    /* Of a table with a primary key, from text: where each row stood, counted from the block's first line. */
    const char *path;
    uint64_t first_line;
    uint32_t *lines;
};

/* All rows of one table. */
struct parsed_table {
    const struct schema_table *table;
    uint64_t block_count, block_room, rows;
    struct parsed_block *blocks;
    unsigned threads;
    struct dictionary_builder **words; /* threads * columns; NULL but for strings that are no foreign keys */
    uint64_t held, hold_most;          /* bytes of blocks in memory */
    struct spool spool;                /* of the others */
};

/* Where a row of the table (from 0) was read: "sales.csv:17", or "row 17 of the stream". */
void parsed_row_place(const struct parsed_table *parsed, uint64_t row, char text[KEY_PLACE_BYTES]);

/* Rows from .. from + count - 1 of a block's column: `values` of the column's width, `nulls` 1 where a row is NULL, unless
 * *any_null says that none is. */
NODISCARD enum status parsed_block_read(const struct parsed_table *parsed, const struct parsed_block *block,
                                        uint32_t column, uint32_t from, uint32_t count, void *values,
                                        uint8_t *nulls, bool *any_null, struct error *error);

/* Moves blocks that are in memory to the spool, all of them. */
NODISCARD enum status parsed_table_spill(struct parsed_table *parsed, const char *directory,
                                         struct error *error);

struct rejects {
    FILE *file; /* or NULL */
    uint64_t count, most;
    char first[ERROR_TEXT_BYTES];
};

/* ---- Rows on their way into blocks: table_rows.c, for text, arrow_rows.c and table_made.c ---- */

struct row_parse {
    const struct load_options *options;
    const struct table_keys *const *keys;
    struct parsed_table *parsed;
    struct text_source *source; /* NULL: an Arrow stream */
    struct rejects *rejects;
    struct progress *progress;
    pthread_mutex_t lock;
    bool keyed; /* the table has a primary key: rows remember their lines */
    bool stop;
    uint64_t error_block; /* of the error that is told: the first of the input, of those that were met */
    struct error error;
    uint32_t value_bytes[SCHEMA_COLUMNS_MAX];
};

/* A block for up to `rows` rows; values go behind those that it has; then the row counts (block->rows). */
NODISCARD enum status row_block_begin(const struct row_parse *parse, uint32_t rows, unsigned thread,
                                      struct parsed_block *block, struct error *error);
NODISCARD enum status row_put(const struct row_parse *parse, struct parsed_block *block, uint32_t column,
                              uint32_t rows, int64_t value, bool null, struct error *error);
/* Puts the block in its place among the table's, or frees it if `status`, what became of it so far, is an error. */
NODISCARD enum status row_block_end(struct row_parse *parse, uint64_t number, struct parsed_block *block,
                                    enum status status, struct error *error);

/* A bad row, of which `text` says why: it is left out, and written out as it came (NULL: it has no text), or ends the
 * load. */
NODISCARD enum status row_reject(struct row_parse *parse, uint64_t block, const char *row, size_t bytes,
                                 const char *text);

/* What is stored for a field without a value, or for a key that was not found (row -1): NULL, or a complaint. */
const char *row_key_missing(const struct row_parse *parse, const struct column_schema *column, bool *null);

/* "PLACE: column NAME: 'SHOWN' COMPLAINT", and what the column may hold, if that is the matter. */
void row_complaint(char text[ERROR_TEXT_BYTES], const char *place, const struct row_parse *parse, uint32_t c,
                   const char *shown, const char *complaint);
/* The same of a key that names no row. */
void row_key_complaint(char text[ERROR_TEXT_BYTES], const char *place, const struct column_schema *column,
                       const char *shown, bool dangling_null);

/* All batches of the stream, which is released, also on failure. */
NODISCARD enum status arrow_rows_read(struct row_parse *parse, struct ArrowArrayStream *stream,
                                      struct error *error);

/* All rows of a maker that makes them one by one. */
NODISCARD enum status made_rows_read(struct row_parse *parse, const struct row_maker *maker,
                                     struct error *error);

/* keys[c]: what column c references, or NULL. */
NODISCARD enum status table_rows_parse(const struct schema_table *table, const struct load_input *input,
                                       const struct load_options *options,
                                       const struct table_keys *const *keys, struct rejects *rejects,
                                       struct parsed_table *parsed, struct progress *progress,
                                       struct error *error);
void table_rows_free(struct parsed_table *parsed);

/* ---- Columns: table_columns.c ---- */

/* codes[thread][c]: for each code of the thread's builder the final code. */
struct word_codes {
    struct dictionary_builder *all;
    struct dictionary dictionary;
    int32_t **codes; /* a thread each */
    unsigned threads;
};

/* `before`: the strings that the column has already, or NULL. What there is, also after an error, is freed by
 * word_codes_free. */
NODISCARD enum status word_codes_make(const struct parsed_table *parsed, uint32_t c,
                                      const struct dictionary *before, struct word_codes *words,
                                      struct error *error);
void word_codes_free(struct word_codes *words);

/* How far a table's columns are: work is counted in values, and told as a share of the rows. */
struct column_progress {
    struct progress *progress;
    char what[NAME_BYTES + 16];
    uint64_t rows, values; /* of all work */
    atomic_uint_fast64_t done;
};
void column_progress_begin(struct column_progress *progress, const char *verb, const char *table);
void column_progress_add(struct column_progress *progress, uint64_t values);

/* A step of which nobody knows how far it is: "storing star.db". It lasts until other work reports. */
void progress_step(struct progress *progress, const char *verb, const char *name);

struct column_write {
    const struct parsed_table *parsed;
    struct table_writer *writer;
    uint32_t column;
    bool narrow;                    /* stored as int32_t, read as int64_t */
    const struct word_codes *words; /* or NULL */
    uint64_t old_rows;              /* that the table has, if rows are appended */
    struct column_progress *progress;
};

/* Whether every value of an int64 column fits in 32 bits. */
NODISCARD enum status column_narrow(const struct parsed_table *parsed, uint32_t column, bool *narrow,
                                    struct error *error);

/* Gathers the column's rows, those that the table has already before them, and writes all of its segments. */
NODISCARD enum status column_write_all(const struct column_write *write, struct error *error);

/* ---- Tables that are made by columns: table_made.c ---- */

struct made_table {
    const struct schema_table *table;
    const struct row_maker *maker;
    const struct load_options *options;
    const struct table_keys *const *keys; /* as for table_rows_parse */
    struct table_writer *writer;
    struct progress *progress;
};

/* Every segment of every column. */
NODISCARD enum status made_columns_write(const struct made_table *made, struct error *error);

#endif
