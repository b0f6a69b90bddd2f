/* table_loader_internal.h: the parts of a load: keys (table_keys.c), rows (table_rows.c), all together
 * (table_loader.c). */
#ifndef TESSERA_LOADER_TABLE_LOADER_INTERNAL_H
#define TESSERA_LOADER_TABLE_LOADER_INTERNAL_H

#include "loader/dictionary_builder.h"
#include "loader/key_index.h"
#include "loader/table_loader.h"
#include "storage/spool.h"

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
 * NULL. */
NODISCARD enum status table_keys_make(const struct star_schema_table *table, const int64_t *values,
                                      uint64_t rows, const struct dictionary *words, const char *path,
                                      struct database *before, struct table_keys *keys, struct error *error);
void table_keys_free(struct table_keys *keys);

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
};

/* All rows of one table. */
struct parsed_table {
    const struct star_schema_table *table;
    uint64_t block_count, block_room, rows;
    struct parsed_block *blocks;
    unsigned threads;
    struct dictionary_builder **words; /* threads * columns; NULL but for strings that are no foreign keys */
    uint64_t held, hold_most;          /* bytes of blocks in memory */
    struct spool spool;                /* of the others */
};

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

/* keys[c]: what column c references, or NULL. */
NODISCARD enum status table_rows_parse(const struct star_schema_table *table, const struct load_input *input,
                                       const struct load_options *options,
                                       const struct table_keys *const *keys, struct rejects *rejects,
                                       struct parsed_table *parsed, struct progress *progress,
                                       struct error *error);
void table_rows_free(struct parsed_table *parsed);

#endif
