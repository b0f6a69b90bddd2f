/* columns_write.h: writes the parsed rows of a table: dictionaries, and all segments of all columns, in an order that
 * fits the table: column by column, segment by segment, or each segment by its cells. */
#ifndef TESSERA_LOADER_TABLE_COLUMNS_WRITE_H
#define TESSERA_LOADER_TABLE_COLUMNS_WRITE_H

#include "loader/table/table_loader_internal.h"

struct columns_write {
    const struct parsed_table *parsed;
    struct table_writer *writer;
    struct word_codes *words;       /* of all columns; the key's are kept */
    const struct table *old;        /* the table to append to, or NULL */
    uint64_t old_rows;              /* the most that are written together with new ones */
    uint32_t first_segment;         /* of a clustered table's new rows */
    uint32_t narrow;                /* the column that is stored as INT, or UINT32_MAX */
    struct column_buffers *buffers; /* for each thread */
    uint32_t *order;                /* of the columns, those with the most strings first */
    struct column_progress progress;
};

/* Writes everything. all->words has room for each column of the table, and gets what the caller frees
 * (word_codes_free). */
NODISCARD enum status columns_write_all(struct columns_write *all, unsigned threads, struct error *error);

#endif
