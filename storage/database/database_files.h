/*
 * database_files.h: the places of a database's files, the writers' lock, and the removal of stale files.
 *
 *     DIR/catalogue                                 the committed state (catalogue.h)
 *     DIR/catalogue.new                             exists only while a commit writes it
 *     DIR/catalogue.GENERATION                      a catalogue that was superseded while readers held it
 *     DIR/tessera.lock                              the one writer holds it with flock; says who that is, else empty
 *     DIR/tessera.first                             empty; exists from the begin of the first change to its commit
 *     DIR/tessera.compact                           the one compaction holds it with flock; says whose it is and which files
 *     DIR/tables/TABLE/COLUMN.CODEC.GENERATION      one encoding of a column (column_file.h)
 *     DIR/tables/TABLE/COLUMN.side.GENERATION       its side file
 *     DIR/tables/TABLE/COLUMN.index.GENERATION      its bitmap index, if it has one
 *
 * Below `tables` nothing is removed unless we know that it is ours: the catalogue says what it has, or tessera.first that
 * no catalogue ever had anything. Where both are missing, the catalogue was moved or lost, and writers refuse.
 *
 * A file's part for a name has no dot (name_to_file), so a file's name has only one meaning. Files that the catalogue does not
 * name are not part of the database. The next writer removes those that look like ours, and no others.
 *
 * A reader holds the state that it opened by a shared flock on its catalogue's file. A writer that supersedes
 * a catalogue gives it a second name. Cleaning up tries to lock each of these catalogues: if it can, the
 * state has no reader any more; if it cannot, the files that the catalogue names stay. Writers clean up, and
 * so do readers that release a superseded state.
 *
 * A compaction writes for a long time without the writers' lock. It has a generation of its own, which a commit of nothing
 * else has taken for it, so that no other change makes files of these names. Cleaning up leaves files of that generation
 * alone while tessera.compact is locked.
 */
#ifndef TESSERA_STORAGE_DATABASE_DATABASE_FILES_H
#define TESSERA_STORAGE_DATABASE_DATABASE_FILES_H

#include "storage/database/catalogue.h"
#include "storage/column/column_path.h"

#define LOCK_FILE       "tessera.lock"
#define FIRST_FILE      "tessera.first"
#define COMPACTION_FILE "tessera.compact"

/* Creates the directory if it is missing. */
NODISCARD enum status directory_create(const char *path, bool *created, struct error *error);

/* Checks, before something is written below DIR, that DIR/tables and DIR/tables/TABLE (NULL: no table) are
 * directories or missing. A symbolic link is refused, because it might lead to the files of another
 * database. */
NODISCARD enum status tables_check(const char *directory, const char *table, struct error *error);

/* How long a change waits for the lock. A reader that cleans up, or adds an encoding of a column, has it for less; a
 * load may have it for hours. */
#define LOCK_WAIT_MS 5000u

/* Takes the writers' lock, and creates its file if it is missing. If another writer has it for longer than `wait_ms`,
 * the error says who that is. database_unlock releases it; -1 is legal. */
NODISCARD enum status database_lock(const char *directory, unsigned wait_ms, int *descriptor,
                                    struct error *error);
void database_unlock(int descriptor);

/* Takes the lock of the one compaction, as database_lock does; compaction_unlock releases it, and removes its file; -1 is
 * legal. compaction_owns says that files of a generation are the compaction's; the caller holds the writers' lock. */
NODISCARD enum status compaction_lock(const char *directory, int *descriptor, struct error *error);
NODISCARD enum status compaction_owns(const char *directory, int descriptor, uint64_t generation,
                                      struct error *error);
void compaction_unlock(const char *directory, int descriptor);

/* *found: whether DIR/NAME is there (file_found). */
NODISCARD enum status database_has(const char *directory, const char *name, bool *found, struct error *error);

/* *empty: whether nothing stands in the directory but the lock of a writer that failed; true if it is missing. */
NODISCARD enum status directory_is_empty(const char *path, bool *empty, struct error *error);

/* Whether the catalogue names a file in DIR/tables/TABLE (CURRENT), or not (STALE), or the file is not ours
 * (UNKNOWN). */
enum stored_file { FILE_UNKNOWN, FILE_STALE, FILE_CURRENT };
enum stored_file stored_file_kind(const struct table *table, const char *name);

/* Calls `visit` for every entry of every DIR/tables/TABLE, and after each such directory once with an empty
 * name. `table` is NULL if the catalogue has no table of that name. Stops with an error at a directory that cannot be
 * listed. */
typedef void stored_file_visit(void *context, const char *directory, const struct table *table,
                               const char *name);
NODISCARD enum status stored_files_visit(const char *directory, const struct catalogue *catalogue,
                                         stored_file_visit *visit, void *context, struct error *error);

/* *files: how many files below DIR/tables look like ours. */
NODISCARD enum status stored_files_count(const char *directory, uint64_t *files, struct error *error);

/* Removes the files that look like ours and are neither in the catalogue, nor in a state that a reader holds, nor those of a
 * compaction at work. The caller holds the lock, and the catalogue is the one on disk; generation 0: there is none, and FIRST_FILE says that there never
 * was. Removes nothing if the catalogue's name cannot be brought to disk: a power cut might bring back an older one.
 * What cannot be removed stays for the next writer. */
void database_clean(const char *directory, const struct catalogue *catalogue);

/* Cleans up as a writer does, unless another one is at work; then that one or the next one does. */
void database_clean_current(const char *directory);

/* Releases the state that catalogue_hold holds; -1 is legal. If the state was superseded, cleans up, unless a
 * writer is at work; then that writer or the next one does. */
void state_release(const char *directory, int descriptor);

#endif
