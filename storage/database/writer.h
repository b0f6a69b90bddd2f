/*
 * writer.h: changes a database: it writes or appends to tables, and adds encodings of existing columns.
 *
 * One writer at a time adds tables, column by column and segment by segment from any thread, and then
 * commits. The old state stays readable until the commit's rename, and after a crash. docs/format.md draws
 * the bytes.
 */
#ifndef TESSERA_STORAGE_DATABASE_WRITER_H
#define TESSERA_STORAGE_DATABASE_WRITER_H

#include "storage/base/parallel.h"
#include "storage/database/database.h"

/* ---- Tables ---- */

struct database_writer;
struct table_writer;

/* Begins a change of the database at `path`. The directory is created if it does not exist; its parent must
 * exist. An existing directory that is neither empty nor a database is refused, and so are tables whose catalogue is
 * gone. While another writer is at work, waits a few seconds for it; then the error says who that is. */
NODISCARD enum status database_writer_open(const char *path, struct database_writer **writer,
                                           struct error *error);

/* The state that is being changed: whether there is one, and its table of that name, or NULL. Nobody else changes it
 * before the writer ends. */
bool database_writer_existed(const struct database_writer *writer);
const struct table *database_writer_old(const struct database_writer *writer, const char *name);

/* Adds a new table of `rows` rows (0 is legal), whose segments have SEGMENT_ROWS rows, except for the last.
 * The commit replaces an existing table of that name. Referenced tables must exist, or must have been added
 * before. */
NODISCARD enum status database_writer_table(struct database_writer *writer, const char *name,
                                            const struct column_schema *columns, uint32_t column_count,
                                            uint64_t rows, struct table_writer **table, struct error *error);

/* Appends `rows` rows to the existing table `name`. The table_writer has the table's own columns. Rows keep
 * their positions, so tables that reference it do not change.
 *
 * For each column the caller gives first the dictionary, if the column has one (table_writer_dictionary, with
 * all old and new strings), then calls table_writer_old once, then gives the segments of new rows, from the one that this
 * says on, each of SEGMENT_ROWS rows but the last.
 *
 * New rows are written in segments and files of their own, in the column's own codec; the files of old rows stay if their
 * stored values do (table_append.c), else the column is written again, and of its encodings only the own one is kept; others
 * are made again when they are needed. STATUS_BAD_INPUT if the table does not exist. */
NODISCARD enum status database_writer_append(struct database_writer *writer, const char *name, uint64_t rows,
                                             struct table_writer **table, struct error *error);

/* Where new rows begin: in `segment`, of which `rows` old rows are the beginning. */
struct old_rows {
    uint32_t segment, rows;
    bool nulls; /* there are any among these rows */
};

/* The most old rows that table_writer_old gives to the caller; none if old segments stay. Known before the first call. */
uint64_t table_writer_old_most(const struct table_writer *table);

/* Takes over one column's old rows. Those that begin the segment of the first new ones, which is so only in a table that is
 * laid out anew, go to `values` and `validity` (as for table_writer_segment; only the bits of NULLs are cleared), and after
 * them the caller puts new rows. Call it once a column, from any thread. It needs memory of 4 or 8 bytes a row of a
 * segment. */
NODISCARD enum status table_writer_old(struct table_writer *table, uint32_t column, void *values,
                                       uint64_t *validity, struct old_rows *left, struct error *error);

/* Gives the strings of a TYPE_STRING column, sorted and without duplicates; they are copied. Call it once,
 * before the table is finished. */
NODISCARD enum status table_writer_dictionary(struct table_writer *table, uint32_t column,
                                              const struct dictionary *dictionary, struct error *error);

/* Sets the codec or chooser of the column; the default is `auto`. A chooser decides on the first segment that
 * arrives. So if several threads write the column, give a codec, or write segment 0 first. */
NODISCARD enum status table_writer_codec(struct table_writer *table, uint32_t column, const char *choice,
                                         struct error *error);

/* Gives the column a bitmap index, which the commit builds. A column of a table that is appended to or replaced has the
 * index that the column of that name had, unless this call gives it another. */
NODISCARD enum status table_writer_index(struct table_writer *table, uint32_t column, struct index_wish wish,
                                         struct error *error);

/* Says that the table has a part of a load's rows; the catalogue keeps it. Rows cannot be appended to it. */
void table_writer_part(struct table_writer *table, const struct table_part *part);

/* Stores the table's rows in ascending order of that column (strings by their codes), with NULLs first. Rows
 * with equal values keep the order in which they are given. Call table_writer_sort_by before the first
 * segment. Segments are then kept in a file without a name (spool.h): 4 or 8 bytes a value,
 * and a bit for each value that may be NULL. Call table_writer_sort after the last segment and before the
 * commit; it sorts and writes them.
 *
 * Sorting needs 24 bytes of memory a row (16 to sort, and the column; later 4, and as many columns as threads
 * write and memory can hold) and 300 MB for each thread. If memory or disk is not enough, the call returns
 * STATUS_MACHINE with the bytes needed, before the first row is given. STATUS_BAD_INPUT for more than
 * SORT_ROWS_MAX rows. */
#define SORT_ROWS_MAX UINT32_MAX
NODISCARD enum status table_writer_sort_by(struct table_writer *table, uint32_t column, struct error *error);
NODISCARD enum status table_writer_sort(struct table_writer *table, unsigned threads,
                                        struct progress *progress, struct error *error);

/* The levels that a table is to have: columns, the outermost first; count 0: those that it has (appending), or else
 * those that save most (levels/level_find.h). */
struct levels_wish {
    uint32_t count;
    uint32_t columns[LEVELS_MAX];
};

/* Stores the table's rows in the order of levels (storage/column/levels.h), so that keys of tables that reference it
 * say where in its hierarchy a row stands. As for table_writer_sort_by: call it before the first segment, and
 * table_writer_sort after the last one; and that before other tables that reference this one are added.
 *
 * Without named columns nothing happens where levels are of no use or not possible: a table of few rows, without a
 * primary key, that references itself, that had no levels though it had rows enough, or too little memory (24 bytes a
 * row and 2 a value) or disk. Named columns are then refused with STATUS_BAD_INPUT or STATUS_MACHINE. */
NODISCARD enum status table_writer_levels(struct table_writer *table, const struct levels_wish *wish,
                                          struct error *error);

/* Stores rows next to those of the same cell, segment by segment (clustering/clustering.h). `wish` without terms: levels of the
 * foreign keys are chosen, or none if no referenced table has any; NULL: rows keep their order. A term's number 0: one level, or four bits. The table must
 * not be sorted nor have levels of its own, and no other may reference it, as rows move. Call it before the first segment; an
 * append goes on as the table is clustered without it. STATUS_BAD_INPUT for a column twice, more levels than there are, or
 * cells of more than CELL_BITS_MAX bits. */
NODISCARD enum status table_writer_cluster(struct table_writer *table, const struct clustering *wish,
                                           struct error *error);

/* The columns that conditions of statements name. A name is one of a column, without its table, in any case. */
struct cluster_workload {
    uint32_t count;
    const char *const *names;
    const uint32_t *statements; /* the number of each name's statement, ascending */
};

/* The same, for statements: levels are chosen that many statements name, and leading bits of columns of the table that they
 * name. The table is not clustered if they name none. */
NODISCARD enum status table_writer_cluster_for(struct table_writer *table,
                                               const struct cluster_workload *workload, struct error *error);

/* The terms of the table; `count` 0: it is not clustered. Else the caller gives the values of these columns of a segment
 * (as for table_writer_segment) before it writes any column of it, and one segment at a time. */
const struct clustering *table_writer_clustering(const struct table_writer *table);
struct cluster_values {
    const void *values;
    const uint64_t *validity;
};
NODISCARD enum status table_writer_cells(struct table_writer *table, uint32_t segment,
                                         const struct cluster_values *values, unsigned threads,
                                         struct error *error);

/* Whether rows are kept to be sorted: then table_writer_sort must be called. */
bool table_writer_sorts(const struct table_writer *table);

/* Says that these columns are the primary key, before any row is written. */
void table_writer_key(struct table_writer *table, const struct key_columns *key);

/* After table_writer_sort: the position of each row in the order in which it was given (when appending, old rows first,
 * as they were stored). NULL: a row's position is its number. The writer owns it. */
const int32_t *table_writer_positions(const struct table_writer *table);

/* Encodes and writes one segment of one column, and computes its statistics. `values` are int32_t[] or
 * int64_t[] by the column's value_bytes. `validity` is NULL, or has one bit a row in row order: bit r%64 of
 * word r/64 is set if row r is not NULL. Any thread may call; each (column, segment) must be written exactly
 * once. Codes and positions are checked to be in range. */
NODISCARD enum status table_writer_segment(struct table_writer *table, uint32_t column, uint32_t segment,
                                           const void *values, const uint64_t *validity, struct error *error);

/* Checks that everything was written, syncs it to disk, and makes the change visible by renaming the
 * catalogue. Frees the writer. After a failure the database has its old state, except after STATUS_NOT_DURABLE: then the
 * change was made, but a power cut may bring the old state back. */
NODISCARD enum status database_writer_commit(struct database_writer *writer, struct error *error);

/* Cancels the change: removes what was written, and the directory if this writer created it. NULL is
 * legal. */
void database_writer_abort(struct database_writer *writer);

/* ---- Deletes ---- */

/* Marks rows as deleted, by their numbers, ascending, in a table of an open database, and commits. Readers go on reading the
 * state that they opened. STATUS_BAD_INPUT if live rows reference one of the rows (the sentence names their table and their
 * number), for a part of a load and tables that one references, and for a table that was changed since it was opened. */
NODISCARD enum status database_delete(const char *path, const struct table *table, const uint64_t *rows,
                                      uint64_t count, struct error *error);

/* The same as the first part of a change, to whose table rows are then appended: all of it becomes visible by one commit, or
 * nothing. The table is found by its name in the state that is being changed. */
NODISCARD enum status database_writer_delete(struct database_writer *writer, const char *table,
                                             const uint64_t *rows, uint64_t count, struct error *error);

/* Opens the state that the commit would make now. If tables have been written, their files are completed for it, and then only
 * the commit may follow. Its files go if the change does, so close it before that ends. */
NODISCARD enum status database_writer_state(struct database_writer *writer, struct database **state,
                                            struct error *error);

/* ---- Compaction ---- */

/* Writes the rows of small segments, which appends have made, into full ones, leaves out deleted rows, and commits: of all
 * tables, or of one. Deleted rows stay in tables that others reference, and in those with levels. Segments before those stay as
 * they are, and rows keep their order. Readers go on reading the state that they opened. `report` is called for each table
 * that changes, before the commit. STATUS_BAD_INPUT if there is no such table. `threads` 0: all. */
typedef void compact_report(void *context, const struct table *before, const struct table *after);
NODISCARD enum status database_compact(const char *path, const char *table, unsigned threads,
                                       compact_report *report, void *context, struct progress *progress,
                                       struct error *error);

/* ---- Further encodings ---- */

/* Makes sure that the column has the encoding of `choice`: if it is missing, encodes it from the column's own
 * encoding and commits it in addition to the others. *codec gets its codec. Pointers to columns stay valid,
 * and the column's encodings are up to date afterwards. Two threads must not call it at the same time; other
 * processes may, and the later one waits and takes what the first one made. */
NODISCARD enum status database_encode(struct database *database, const struct column *column,
                                      const struct codec_choice *choice, unsigned threads,
                                      enum codec_id *codec, struct error *error);

/* ---- Views ---- */

/* Gives a query a name and commits it; an older view of that name is replaced if `replace`. Nothing is parsed here.
 * STATUS_BAD_INPUT if a table has the name, or a view and not `replace`, or if the name is too long or the query, or that
 * is no UTF-8. */
NODISCARD enum status database_view_create(const char *path, const char *name, const char *query,
                                           bool replace, struct error *error);

/* Takes the view away. STATUS_BAD_INPUT if there is none. */
NODISCARD enum status database_view_drop(const char *path, const char *name, struct error *error);

/* ---- Bitmap indexes ---- */

/* Builds the index of a column and commits it; a crash leaves the database with the whole index or as it was. Readers
 * of the database see it when they open it again. STATUS_BAD_INPUT if the column has an index. `threads` 0: all. */
NODISCARD enum status database_index_create(const char *path, const char *table, const char *column,
                                            struct index_wish wish, unsigned threads,
                                            struct progress *progress, struct error *error);

/* Drops it. STATUS_BAD_INPUT if the column has none. */
NODISCARD enum status database_index_drop(const char *path, const char *table, const char *column,
                                          struct error *error);

#endif
