/*
 * database.h: reads tables of compressed columns in a directory.
 *
 * A reader opens a database, finds tables and columns, opens a column in one encoding (mapped and checked),
 * and decodes tiles. column.h describes tables and columns, writer.h changes a database, docs/format.md draws
 * the bytes.
 */
#ifndef TESSERA_STORAGE_DATABASE_DATABASE_H
#define TESSERA_STORAGE_DATABASE_DATABASE_H

#include "storage/base/parallel.h"
#include "storage/base/status.h"
#include "storage/column/column.h"

struct database;

/* Opens the database in the directory `path`. It reads the catalogue alone: dictionaries, levels, statistics of tiles and
 * values are read when they are first asked for, by any thread, and stay until it is closed. STATUS_BAD_INPUT, with
 * the path, if the directory is missing, is not a database, was written by a newer version, or has a damaged
 * catalogue; STATUS_CHECK_FAILED for its wrong checksum. Until it is closed, the reader sees the state of this moment,
 * whatever writers do. */
NODISCARD enum status database_open(const char *path, struct database **database, struct error *error);
void database_close(struct database *database);
const char *database_path(const struct database *database);

uint32_t database_table_count(const struct database *database);
const struct table *database_table_at(const struct database *database, uint32_t index);
/* Finds a table by its name. If it is missing: STATUS_BAD_INPUT with a sentence that lists the tables. */
NODISCARD enum status database_table(const struct database *database, const char *name,
                                     const struct table **table, struct error *error);

/* The table of that name as statements find it: in any case of letters if none has exactly this name; or NULL. */
const struct table *database_find(const struct database *database, const char *name);
/* Views: the number of them, the name of each, and the query of that name, in any case of letters, or NULL. */
uint32_t database_view_count(const struct database *database);
const char *database_view_at(const struct database *database, uint32_t index);
const char *database_view(const struct database *database, const char *name);
/* Whether the state that was opened still is the newest one; false if that cannot be told. */
bool database_is_current(const struct database *database);

/* What somebody keeps with an open database, until it is closed: tables of files that statements name
 * (engine/library/files). `free` frees it. */
struct database_companion {
    void (*free)(struct database_companion *companion);
};

/* Gives it; the first call makes it by `make`, which gives NULL if there is no memory. Any thread may call. */
struct database_companion *database_companion(struct database *database,
                                              struct database_companion *(*make)(void));

/* *is_new: whether a first change may make a database at the path: nothing is there, in a directory that is, or a directory that is
 * empty or has only what a first change left that did not end. */
NODISCARD enum status database_is_new(const char *path, bool *is_new, struct error *error);

/* Opens a database without tables, of which there is nothing on disk: at `path`, where a writer may make it, or "": nowhere. */
NODISCARD enum status database_open_none(const char *path, struct database **database, struct error *error);

/* The first table that is a part of a load's rows, or NULL; and whether there is one. */
const struct table *database_part(const struct database *database);
static inline bool database_is_part(const struct database *database)
{
    return database_part(database) != NULL;
}

/* Gives a table the statistics of all its parts, by which statements are planned then; one struct a column. Nothing may
 * have been planned yet. */
void database_widen(struct database *database, const struct table *table,
                    const struct column_statistics *statistics);

/* Maps the column in that encoding and checks all of it (checksums, then chunk_open of every segment, on
 * `threads` threads). STATUS_BAD_INPUT for a missing encoding; STATUS_CHECK_FAILED for a wrong checksum,
 * naming file and segment. The database keeps the mapped and checked column until database_close, so opening
 * it again gives the same struct at once. The leaves of its table's levels, and of the table that it references, are
 * read, too (levels_load). Any thread may call. */
NODISCARD enum status column_data_open(struct database *database, const struct column *column,
                                       enum codec_id codec, unsigned threads, struct column_data **data,
                                       struct error *error);

/* Maps the column's bitmap index and checks all of it, on `threads` threads. STATUS_BAD_INPUT if the column has none
 * or its words are not valid; STATUS_CHECK_FAILED for a wrong checksum; both name file, segment and vector. The
 * database keeps it until database_close, as for column_data_open. Any thread may call. */
struct index_data; /* storage/index/index_file.h */
NODISCARD enum status index_data_open(struct database *database, const struct column *column,
                                      unsigned threads, const struct index_data **index, struct error *error);

/* The bytes that files take on disk, by the file system. */
struct disk_bytes {
    uint64_t columns;         /* files of the columns' own encodings */
    uint64_t other_encodings; /* files of further encodings */
    uint64_t dictionaries;    /* the dictionaries in side files */
    uint64_t indexes;
    uint64_t side_files; /* the rest of side files: validity, tile minima and maxima */
    uint64_t catalogue;
};

/* Adds the bytes of a column, or of the catalogue (NULL), to *bytes. STATUS_BAD_INPUT if a file is
 * missing. */
NODISCARD enum status database_disk_bytes(const struct database *database, const struct column *column,
                                          struct disk_bytes *bytes, struct error *error);
uint64_t disk_bytes_total(const struct disk_bytes *bytes);

/* Checks the catalogue, every encoding and every dictionary: all checksums and all values. `report` (may be
 * NULL) is called with each fault, with each file that is not a database's, and once with the number of
 * files that the catalogue does not name. The first fault is the result. It checks the state at its
 * beginning and removes nothing, except that it may be the last reader of a state that a writer has
 * superseded meanwhile: then it removes the files that only that state named. */
typedef void database_check_report(void *context, const char *line, bool fault);
NODISCARD enum status database_check(const char *path, unsigned threads, database_check_report *report,
                                     void *context, struct progress *progress, struct error *error);

#endif
