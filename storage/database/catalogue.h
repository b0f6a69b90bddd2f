/*
 * catalogue.h: which tables, columns and files a database has: one small text file, replaced whole at every
 * commit.
 *
 *     tessera catalogue 1 <16 hex digits>\n    version, then XXH3-64 of every byte behind this line; the version
 *                                              is the least that has all that the text uses
 *     {"generation": 3, "tables": [ ... ]}     JSON; docs/format.md lists every field
 *
 * Read once when a database is opened and once by a writer; about 400 bytes a column. A commit is the rename
 * of `catalogue.new` to `catalogue`. Its text is not trusted: every name, number and reference is checked
 * here, so that whoever holds a struct catalogue may build paths and array sizes from it.
 */
#ifndef TESSERA_STORAGE_DATABASE_CATALOGUE_H
#define TESSERA_STORAGE_DATABASE_CATALOGUE_H

#include "storage/column/column.h"

/* 1: types without timestamp, segments all full but the last. 2: those too. */
#define CATALOGUE_VERSION   2
#define CATALOGUE_FILE      "catalogue"
#define CATALOGUE_NEW_FILE  "catalogue.new"
#define CATALOGUE_BYTES_MAX (1u << 30) /* 2 million columns; more is no catalogue */

struct catalogue {
    uint64_t generation; /* of the last change; the next one's files carry generation + 1 */
    uint32_t table_count;
    struct table *tables; /* columns, segment_rows, encodings, own_name: owned by the catalogue */
};

/* The catalogue of the database in `directory`; free with catalogue_free. A directory that is none:
 * STATUS_BAD_INPUT; a wrong checksum: STATUS_CHECK_FAILED. */
NODISCARD enum status catalogue_read(const char *directory, struct catalogue *catalogue, struct error *error);

/* The same, and holds that state: until *descriptor is closed, no writer removes a file that it names
 * (database_files.h); let go with state_release. */
NODISCARD enum status catalogue_hold(const char *directory, struct catalogue *catalogue, int *descriptor,
                                     struct error *error);

/* A catalogue by its own path: one that was superseded and is held. */
NODISCARD enum status catalogue_read_file(const char *path, struct catalogue *catalogue, struct error *error);
void catalogue_free(struct catalogue *catalogue);

/* Writes the catalogue and makes it the current one: new file, fsync, rename, fsync of the directory. The one before
 * keeps a name with its generation, for readers that hold it.
 * *renamed tells whether readers see it already, which a failure of the last step leaves so. */
NODISCARD enum status catalogue_write(const char *directory, const struct catalogue *catalogue, bool *renamed,
                                      struct error *error);

const struct table *catalogue_table(const struct catalogue *catalogue, const char *name); /* or NULL */

#endif
