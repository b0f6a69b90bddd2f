/*
 * catalogue.h: the tables, columns and files of a database, in one small text file that every commit
 * replaces.
 *
 *     tessera catalogue 1 <16 hex digits>\n    version, then XXH3-64 of all bytes after this line; the
 *                                              version is the lowest that knows all of the text
 *     {"generation": 3, "tables": [ ... ]}     JSON; docs/format.md lists every field
 *
 * The catalogue is read once when a database is opened, and once by a writer. It has about 400 bytes a
 * column. A commit is the rename of `catalogue.new` to `catalogue`. The text is not trusted: every name,
 * number and reference is checked here, so that other code may compute paths and array sizes from a struct
 * catalogue.
 */
#ifndef TESSERA_STORAGE_DATABASE_CATALOGUE_H
#define TESSERA_STORAGE_DATABASE_CATALOGUE_H

#include "storage/column/column.h"

/* Version 1 has no timestamps, and all segments but the last are full. Version 2 has both, version 3 has bitmap
 * indexes, which an older program would lose with the next table that it writes, and version 4 has levels, by which
 * foreign keys are no longer numbers of rows. Version 5 has tables that are parts: an older program would take one for
 * the whole. Version 6 has doubles, and version 7 dictionaries in blocks and keys of several columns, whose references
 * an older program would show as columns. Version 8 has columns of several files, and version 9 indexes of several, and deleted
 * rows whose positions keys have. Version 10 has views, which an older program would lose with the next change. */
#define CATALOGUE_VERSION   11
#define CATALOGUE_FILE      "catalogue"
#define CATALOGUE_NEW_FILE  "catalogue.new"
#define CATALOGUE_BYTES_MAX (1u << 30) /* 2 million columns; a larger file is not a catalogue */

/* A query with a name, which FROM may name as a table (CREATE VIEW). */
struct catalogue_view {
    char name[NAME_BYTES]; /* no table's, nor another view's, in any case of letters */
    char *query;           /* UTF-8, owned; it is not trusted: a statement that names the view parses it */
};
#define CATALOGUE_VIEW_BYTES_MAX (1u << 20) /* of a query */

struct catalogue {
    uint64_t generation; /* of the last change; the next change's files have generation + 1 */
    uint32_t table_count;
    struct table *tables; /* the catalogue owns their columns, segment_rows, levels, encodings and own_name */
    uint32_t view_count;
    struct catalogue_view *views; /* owned */
};

/* Reads the catalogue of the database in `directory`; free it with catalogue_free. STATUS_BAD_INPUT if the
 * directory is not a database; STATUS_CHECK_FAILED for a wrong checksum. */
NODISCARD enum status catalogue_read(const char *directory, struct catalogue *catalogue, struct error *error);

/* Reads the catalogue and holds its state: until *descriptor is closed, no writer removes a file that the
 * catalogue names (database_files.h). Release it with state_release. */
NODISCARD enum status catalogue_hold(const char *directory, struct catalogue *catalogue, int *descriptor,
                                     struct error *error);

/* Reads a catalogue's text, which is the bytes of its file; `path` is for sentences. */
NODISCARD enum status catalogue_parse(const char *path, const char *text, size_t size,
                                      struct catalogue *catalogue, struct error *error);

/* Reads a catalogue by its own path: one that was superseded and is held by a reader. */
NODISCARD enum status catalogue_read_file(const char *path, struct catalogue *catalogue, struct error *error);
void catalogue_free(struct catalogue *catalogue);

/* Writes the catalogue and makes it the current one: new file, fsync, rename, fsync of the directory. The old
 * catalogue keeps a name with its generation, for readers that hold it. *renamed is true if readers see the
 * new catalogue: if the call succeeds, or its last step fails, with STATUS_NOT_DURABLE. */
NODISCARD enum status catalogue_write(const char *directory, const struct catalogue *catalogue, bool *renamed,
                                      struct error *error);

/* Makes a copy that owns all that it names, as if the catalogue had been written and read; `path` is for sentences. */
NODISCARD enum status catalogue_copy(const char *path, const struct catalogue *catalogue,
                                     struct catalogue *copy, struct error *error);

/* The table of that name, or NULL. */
const struct table *catalogue_table(const struct catalogue *catalogue, const char *name);

/* The view of that name, in any case of letters, or NULL. */
struct catalogue_view *catalogue_view(const struct catalogue *catalogue, const char *name);

/* Whether positions of the table's rows are in other places, too: in keys that reference it, or in levels. Such rows stay where
 * they are: deleted ones are kept, and none goes to another cell. */
bool catalogue_has_positions(const struct catalogue *catalogue, const struct table *table);

#endif
