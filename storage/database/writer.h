/*
 * writer.h: changing a database: tables written anew or appended to, and further encodings of columns that are there.
 *
 * One writer at a time adds tables, column by column and segment by segment from any thread, then commits; what was
 * there before stays readable until the commit's rename, and after a crash. docs/format.md draws the bytes.
 */
#ifndef TESSERA_STORAGE_DATABASE_WRITER_H
#define TESSERA_STORAGE_DATABASE_WRITER_H

#include "storage/base/parallel.h"
#include "storage/database/database.h"

/* ---- Tables ---- */

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

/* Checks that everything was written, fsyncs, and makes the change visible by renaming the catalogue. Frees
 * the writer, also on failure (the database is then as it was). */
NODISCARD enum status database_writer_commit(struct database_writer *writer, struct error *error);

/* Gives the change up: removes what was written (and the directory, if this writer created it). NULL is
 * legal. */
void database_writer_abort(struct database_writer *writer);

/* ---- Further encodings ---- */

/* Makes sure that the column has the encoding that `choice` stands for: encodes it from its own encoding if
 * it is missing, and commits it beside the others. *codec says which codec that is. Pointers to columns stay
 * valid; the column's encodings are up to date afterwards. Not for use by two threads or processes at once.
 */
NODISCARD enum status database_encode(struct database *database, const struct column *column,
                                      const struct codec_choice *choice, unsigned threads,
                                      enum codec_id *codec, struct error *error);

#endif
