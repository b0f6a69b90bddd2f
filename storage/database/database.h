/*
 * database.h: reading tables of compressed columns in a directory.
 *
 * Open a database, find tables and columns, open a column in one encoding (memory-mapped, checked), decode tiles.
 * What a table and a column are: column.h; how a database is changed: writer.h. docs/format.md draws the bytes.
 */
#ifndef TESSERA_STORAGE_DATABASE_DATABASE_H
#define TESSERA_STORAGE_DATABASE_DATABASE_H

#include "storage/base/parallel.h"
#include "storage/base/status.h"
#include "storage/column/column.h"

struct database;

/* Opens the database in directory `path`. A directory that is missing, is no database, was written by a newer
 * version or has a damaged catalogue: STATUS_BAD_INPUT (a wrong checksum: STATUS_CHECK_FAILED), a sentence
 * with the path. What is read is the state of this moment until it is closed, whatever writers do meanwhile. */
NODISCARD enum status database_open(const char *path, struct database **database, struct error *error);
void database_close(struct database *database);
const char *database_path(const struct database *database);

uint32_t database_table_count(const struct database *database);
const struct table *database_table_at(const struct database *database, uint32_t index);
/* By name; STATUS_BAD_INPUT with a sentence that lists what there is. */
NODISCARD enum status database_table(const struct database *database, const char *name,
                                     const struct table **table, struct error *error);

/* Maps the column in that encoding and checks it whole (checksums, then chunk_open of every segment, on
 * `threads` threads). An encoding that is not there: STATUS_BAD_INPUT; a wrong checksum: STATUS_CHECK_FAILED,
 * naming file and segment. The database keeps what was mapped and checked until database_close frees it: opening it
 * again gives the same struct at once. From any thread. */
NODISCARD enum status column_data_open(struct database *database, const struct column *column,
                                       enum codec_id codec, unsigned threads, struct column_data **data,
                                       struct error *error);
void column_data_close(struct column_data *data);

/* What files take, in bytes, by the file system. */
struct disk_bytes {
    uint64_t columns;         /* files of the columns' own encodings */
    uint64_t other_encodings; /* and of those that are kept beside them */
    uint64_t dictionaries;    /* of the side files the dictionaries, */
    uint64_t side_files;      /* and the rest: validity, minima and maxima of tiles */
    uint64_t catalogue;       /* which belongs to no column */
};

/* Adds those of a column, or of the catalogue (NULL), to *bytes. A file that is missing: STATUS_BAD_INPUT. */
NODISCARD enum status database_disk_bytes(const struct database *database, const struct column *column,
                                          struct disk_bytes *bytes, struct error *error);
uint64_t disk_bytes_total(const struct disk_bytes *bytes);

/* Every checksum of every file: the catalogue, every encoding, every dictionary. `report` (which may be NULL) is called
 * with each fault, with each file that is not a database's, and once with the number of those that the catalogue does
 * not name. The first fault is the result. It reads the state of its beginning, and removes nothing (but as the last
 * reader of a state that a writer has superseded meanwhile, what only that state named). */
typedef void database_check_report(void *context, const char *line, bool fault);
NODISCARD enum status database_check(const char *path, unsigned threads, database_check_report *report,
                                     void *context, struct progress *progress, struct error *error);

#endif
