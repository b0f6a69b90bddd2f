/*
 * database.h: tables of compressed columns in a directory.
 *
 * Reading: open a database, find tables and columns, open a column in one encoding (memory-mapped, checked),
 * decode tiles. Writing: one writer adds tables, column by column and segment by segment from any thread,
 * then commits; what was there before stays readable until the commit's rename, and after a crash.
 * docs/format.md draws the bytes.
 */
#ifndef TESSERA_STORAGE_DATABASE_DATABASE_H
#define TESSERA_STORAGE_DATABASE_DATABASE_H

#include "storage/codec/codec.h"
#include "storage/base/parallel.h"
#include "storage/base/status.h"

#include <stdbool.h>
#include <stdint.h>

#define NAME_BYTES 64 /* names of tables and columns, the closing zero included */

/* 2^40: 65536 segments, 180 times lineorder at SF 1000; keeps every product of rows and bytes in 64 bits. */
#define TABLE_ROWS_MAX (1ull << 40)

/* Names become file names: 1 .. 63 of A-Z a-z 0-9 _ # $ - and inner spaces, first a letter or _. */
bool name_valid(const char *name);

/* ---- Schema ---- */

enum column_type { TYPE_INT32, TYPE_INT64, TYPE_DECIMAL, TYPE_DATE, TYPE_TIMESTAMP, TYPE_BOOL, TYPE_STRING };

/* What is stored for each row: TYPE_STRING: its code (int32) in the column's sorted dictionary. A column that
 * references another table: the row position (int32) of the referenced row, whatever the key's type.
 * TYPE_DECIMAL: the scaled integer, int64 if precision > 9. TYPE_DATE: days since 1970-01-01, int32.
 * TYPE_TIMESTAMP: microseconds since 1970-01-01 00:00:00, int64. TYPE_BOOL: 0 or 1, int32. */
struct column_schema {
    char name[NAME_BYTES];
    enum column_type type;
    uint8_t precision, scale; /* TYPE_DECIMAL */
    bool nullable;
    bool primary_key;
    char references_table[NAME_BYTES];  /* "" if the column is no foreign key */
    char references_column[NAME_BYTES]; /* the referenced table's primary key column */
};

/* "int32", "decimal(12,2)", ... into text of at least 32 bytes. */
const char *column_type_text(const struct column_schema *schema, char *text);

/* ---- Reading ---- */

/* Sorted by bytes (memcmp order), without duplicates; codes 0 .. count-1. Strings are not zero-terminated. */
struct dictionary {
    uint32_t count;
    const uint64_t *starts; /* count + 1 byte offsets into bytes */
    const char *bytes;
};

/* The code of a string, or -1; the number of strings that are less than it (lower bound); a string by its
 * code. */
int64_t dictionary_find(const struct dictionary *dictionary, const char *string, uint32_t length);
uint32_t dictionary_lower_bound(const struct dictionary *dictionary, const char *string, uint32_t length);
/* The first code whose string is not greater than the one before it, or -1 if the dictionary is as it should
 * be. */
int64_t dictionary_unsorted(const struct dictionary *dictionary);
static inline const char *dictionary_string(const struct dictionary *dictionary, uint32_t code,
                                            uint32_t *length)
{
    *length = (uint32_t)(dictionary->starts[code + 1] - dictionary->starts[code]);
    return dictionary->bytes + dictionary->starts[code];
}

/* Over the stored values (codes, positions, scaled integers) of the rows that are not NULL; min > max if
 * there are none. */
struct column_statistics {
    int64_t min, max;
    uint64_t nulls;
    uint64_t runs;     /* maximal runs of equal values, segments counted apart */
    uint64_t distinct; /* exact up to some limit, else an estimate (docs/format.md) */
};

/* One stored encoding of a column, as the catalogue knows it. */
struct encoding_info {
    enum codec_id codec;
    uint64_t bytes;      /* of all chunks, headers and directories included: what a kernel may read */
    uint64_t generation; /* the change that wrote it, a part of its file's name */
};

struct column {
    struct column_schema schema;
    uint32_t value_bytes;                /* 4 or 8 */
    const struct table *table;           /* that it belongs to */
    const struct column *references;     /* the resolved primary key column, or NULL */
    const struct dictionary *dictionary; /* TYPE_STRING that is no foreign key; else NULL */
    struct column_statistics statistics;
    enum codec_id own;    /* the encoding that the catalogue calls the column's own */
    const char *own_name; /* what chose it: "auto", "gpu-star", "plain", ... */
    uint32_t encoding_count;
    const struct encoding_info *encodings;
    uint64_t side_generation;               /* the change that wrote the column and its side file */
    enum codec_id chosen[CHOOSER_AUTO + 1]; /* by each chooser that was asked; else CODEC_NONE */
};

struct table {
    char name[NAME_BYTES];
    uint64_t rows;
    uint32_t segment_count;
    const uint32_t *segment_rows; /* each 1 .. SEGMENT_ROWS */
    uint32_t column_count;
    const struct column *columns;
};

/* A column opened in one encoding. All chunks are of one codec. */
struct segment_data {
    struct chunk_view chunk;
    const uint32_t
        *validity; /* NULL: no row is NULL. Else 32 words a tile: bit j of word l: row 32j+l is not NULL */
    const int64_t *tile_min_max; /* min, max of each tile (over rows that are not NULL; min > max if none) */
};

struct column_data {
    const struct column *column;
    const struct codec *codec;
    uint32_t segment_count;
    const struct segment_data *segments;
    uint64_t bytes; /* of all chunks */
    /* For who looks at every value: that it was done, and all row positions lie in the referenced table. */
    _Atomic bool positions_checked;
};

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
NODISCARD enum status table_column(const struct table *table, const char *name, const struct column **column,
                                   struct error *error);

/* Maps the column in that encoding and checks it whole (checksums, then chunk_open of every segment, on
 * `threads` threads). An encoding that is not there: STATUS_BAD_INPUT; a wrong checksum: STATUS_CHECK_FAILED,
 * naming file and segment. Free with column_data_close, before database_close. An open database keeps what was mapped
 * and checked: opening it again gives the same struct at once. From any thread. */
NODISCARD enum status column_data_open(struct database *database, const struct column *column,
                                       enum codec_id codec, unsigned threads, struct column_data **data,
                                       struct error *error);
void column_data_close(struct column_data *data);

/* Makes sure that the column has the encoding that `choice` stands for: encodes it from its own encoding if
 * it is missing, and commits it beside the others. *codec says which codec that is. Pointers to columns stay
 * valid; the column's encodings are up to date afterwards. Not for use by two threads or processes at once.
 */
NODISCARD enum status database_encode(struct database *database, const struct column *column,
                                      const struct codec_choice *choice, unsigned threads,
                                      enum codec_id *codec, struct error *error);

/* Every checksum of every file: the catalogue, every encoding, every dictionary; dangling and unknown files
 * are named in `report` lines, one call each (may be NULL). The first fault is the result, but all are
 * reported. */
typedef void database_check_report(void *context, const char *line, bool fault);
NODISCARD enum status database_check(const char *path, unsigned threads, database_check_report *report,
                                     void *context, struct progress *progress, struct error *error);

/* ---- Writing ---- */

struct database_writer;
struct table_writer;

/* Begins a change of the database at `path`, which is created if it does not exist (its parent must). An
 * existing directory that is not empty and no database is refused. One writer at a time (a lock file; a
 * second is refused). */
NODISCARD enum status database_writer_open(const char *path, struct database_writer **writer,
                                           struct error *error);

/* A new table of `rows` rows (0 is legal) in segments of SEGMENT_ROWS, all but the last full. A table of that
 * name that exists is replaced at commit. Referenced tables must have been added before, or exist. */
NODISCARD enum status database_writer_table(struct database_writer *writer, const char *name,
                                            const struct column_schema *columns, uint32_t column_count,
                                            uint64_t rows, struct table_writer **table, struct error *error);

/* The existing table `name` with `rows` more rows behind those that it has: a table_writer whose columns are the
 * table's own. The positions of its rows stay, so that tables which reference it stay as they are. Of each column
 * the dictionary comes first, if it has one (table_writer_dictionary: all strings, old and new), then one call of
 * table_writer_old, then the segments from *old / SEGMENT_ROWS on; *old: rows that the table has. Codecs are chosen as
 * they were for the table, unless table_writer_codec says otherwise. What is encoded is the whole table: only the
 * column's own encoding is kept, others are made again when they are asked for. A table that does not exist:
 * STATUS_BAD_INPUT. */
NODISCARD enum status database_writer_append(struct database_writer *writer, const char *name, uint64_t rows,
                                             struct table_writer **table, uint64_t *old, struct error *error);

/* Writes the old rows' full segments of one column, and puts the rows behind them, old % SEGMENT_ROWS, where the
 * caller puts the new ones behind: the next segment's first values (as for table_writer_segment) and validity, of
 * which only bits of NULLs are cleared. *nulls: whether any was. Once a column; any thread; 4 or 8 bytes a row of a
 * segment of memory. */
NODISCARD enum status table_writer_old(struct table_writer *table, uint32_t column, void *values,
                                       uint64_t *validity, bool *nulls, struct error *error);

/* The column's strings, sorted and without duplicates; copied. Once, before the table is finished;
 * TYPE_STRING only. */
NODISCARD enum status table_writer_dictionary(struct table_writer *table, uint32_t column,
                                              const struct dictionary *dictionary, struct error *error);

/* How the column is to be encoded; by default `auto`. A column whose segments are written from several
 * threads should have a single codec here, or segment 0 written first: a chooser decides on the first segment
 * that arrives. */
NODISCARD enum status table_writer_codec(struct table_writer *table, uint32_t column, const char *choice,
                                         struct error *error);

/* Stores the table's rows in ascending order of that column (strings by their codes), NULLs first; rows with
 * equal values stay in the order in which they are given. Called before the first segment; the segments are
 * then kept as they come, in a file without a name in the database's directory (the values' bytes: 4 or 8 each,
 * and a bit for each that may be NULL), and table_writer_sort, called when all have been given and before the
 * commit, sorts and writes them. It takes 24 bytes of memory a row (16 to sort and the column, later 4 and as
 * many columns as threads write and memory holds), and 300 MB for each thread. Where memory or disk will not
 * do: STATUS_MACHINE with the bytes needed, before the first row is given. More than SORT_ROWS_MAX rows:
 * STATUS_BAD_INPUT. */
#define SORT_ROWS_MAX UINT32_MAX
NODISCARD enum status table_writer_sort_by(struct table_writer *table, uint32_t column, struct error *error);
NODISCARD enum status table_writer_sort(struct table_writer *table, unsigned threads,
                                        struct progress *progress, struct error *error);

/* Encodes and writes one segment of one column: `values` are int32_t[] or int64_t[] by the column's
 * value_bytes; `validity`: NULL or one bit a row in row order (bit r%64 of word r/64 set: row r is not NULL).
 * From any thread; each (column, segment) exactly once. Statistics are taken here. Values must be in range
 * (codes, positions): checked. */
NODISCARD enum status table_writer_segment(struct table_writer *table, uint32_t column, uint32_t segment,
                                           const void *values, const uint64_t *validity, struct error *error);

/* Bytes of a stored value of that column: 4 or 8. */
uint32_t column_schema_value_bytes(const struct column_schema *schema);

/* Checks that everything was written, fsyncs, and makes the change visible by renaming the catalogue. Frees
 * the writer, also on failure (the database is then as it was). */
NODISCARD enum status database_writer_commit(struct database_writer *writer, struct error *error);

/* Gives the change up: removes what was written (and the directory, if this writer created it). NULL is
 * legal. */
void database_writer_abort(struct database_writer *writer);

#endif
