/*
 * levels_file.h: the leaves of a table's levels (levels.h) on disk. They are a part of the side file of the table's
 * primary key column (column_file.h), one entry of 8 bytes a leaf, ascending by prefix:
 *
 *      0       4  prefix: the position of the leaf's rows without its rest
 *      4       4  rows of the leaf, at least 1, at most 2^rest bits
 *
 * The catalogue has the rest: columns, bits, number of positions and of leaves, depths. A table_levels that was read from
 * the catalogue alone has no leaves (NULL). Those of an open database are read when a column of the table, or a key that
 * references it, is first opened.
 */
#ifndef TESSERA_STORAGE_COLUMN_LEVELS_FILE_H
#define TESSERA_STORAGE_COLUMN_LEVELS_FILE_H

#include "storage/column/column_file.h"

#include <pthread.h>

/* The column whose side file has the leaves: the table's primary key; NULL if there is none, or it is a foreign key,
 * whose files are replaced alone (storage/database/levels/key_moves.c). */
const struct column *levels_key(const struct table *table);

/* Reads the leaves of a table with levels, and checks them against what the catalogue says. *levels is a copy of
 * table->levels with leaves; free it with levels_free. STATUS_BAD_INPUT if they do not fit; STATUS_CHECK_FAILED for a
 * wrong checksum. */
NODISCARD enum status levels_read(const char *directory, const struct table *table,
                                  struct table_levels **levels, struct error *error);

/* Gives a table of a catalogue its leaves in the same way; nothing happens without levels. */
NODISCARD enum status levels_fill(const char *directory, struct table *table, struct error *error);

/* Where the leaves of a table of an open database are. */
struct stored_levels {
    const char *directory;
    pthread_mutex_t lock; /* of reading */
    _Atomic bool loaded;
};

/* Reads the leaves if table->levels->stored says where they are and nobody has read them yet. Who looks at leaves calls
 * it first, or opens a column of the table, or a key that references it (column_data_open does it). Thread-safe. */
NODISCARD enum status levels_load(const struct table *table, struct error *error);

/* Adds the part to the side file of levels_key. */
NODISCARD enum status levels_add(const struct table_levels *levels, struct column_file_writer *side,
                                 struct error *error);

/* NULL is legal. */
void levels_free(struct table_levels *levels);

#endif
