/*
 * database_files.h: where a database's files lie, who may write, and what a dead writer left.
 *
 *     DIR/catalogue                                 what is committed (catalogue.h)
 *     DIR/catalogue.new                             only while a commit writes it
 *     DIR/catalogue.GENERATION                      one that was superseded while readers held it
 *     DIR/tessera.lock                              empty; held with flock by the one writer
 *     DIR/tables/TABLE/COLUMN.CODEC.GENERATION      one encoding of a column (column_file.h)
 *     DIR/tables/TABLE/COLUMN.side.GENERATION       its side file
 *
 * A name has no dot (name_valid), so a file's name falls apart in one way only. Files that the catalogue does
 * not name are invisible; those that look like ours are removed by the next writer, others are left alone.
 *
 * A reader holds the state that it opened by a shared flock on its catalogue's file. A writer that supersedes a
 * catalogue leaves it a second name; whoever cleans up tries to lock each of those for itself: where it can, the
 * state has no reader any more, and where it cannot, the files that it names stay. Writers clean up, and readers of a
 * state that was superseded when they let go of it.
 */
#ifndef TESSERA_STORAGE_DATABASE_DATABASE_FILES_H
#define TESSERA_STORAGE_DATABASE_DATABASE_FILES_H

#include "storage/database/catalogue.h"
#include "storage/column/column_path.h"

#define LOCK_FILE "tessera.lock"

/* Creates the directory if it is missing. */
NODISCARD enum status directory_create(const char *path, bool *created, struct error *error);

/* For who is about to write below DIR: that DIR/tables and DIR/tables/TABLE (NULL: no table) are directories or missing.
 * A symbolic link is refused: what is replaced and cleaned up behind it might be another database's. */
NODISCARD enum status tables_check(const char *directory, const char *table, struct error *error);

/* Takes the writers' lock, creating its file; a second writer is refused at once. close(*descriptor) lets go.
 */
NODISCARD enum status database_lock(const char *directory, int *descriptor, struct error *error);

/* What a file in DIR/tables/TABLE is, as far as the catalogue knows. */
enum stored_file { FILE_UNKNOWN, FILE_STALE, FILE_CURRENT };
enum stored_file stored_file_kind(const struct table *table, const char *name);

/* Calls `visit` with every entry of DIR/tables/TABLE (table: NULL if the catalogue has none of that name)
 * and, with an empty name, once behind each such directory. What cannot be listed is left out. */
typedef void stored_file_visit(void *context, const char *directory, const struct table *table,
                               const char *name);
void stored_files_visit(const char *directory, const struct catalogue *catalogue, stored_file_visit *visit,
                        void *context);

/* Removes what looks like ours and is neither in the catalogue nor in a state that a reader holds; the caller holds
 * the lock. */
void database_clean(const char *directory, const struct catalogue *catalogue);

/* Lets go of the state that catalogue_hold holds; -1 is legal. If it was superseded, cleans up, unless a writer is at
 * work: it will, or the next one. */
void state_release(const char *directory, int descriptor);

#endif
