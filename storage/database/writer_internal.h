/* writer_internal.h: what the files that change a database share. No other file includes it. */
#ifndef TESSERA_STORAGE_DATABASE_WRITER_INTERNAL_H
#define TESSERA_STORAGE_DATABASE_WRITER_INTERNAL_H

#include "storage/column/dictionary/stored_dictionary.h"
#include "storage/column/encoding_writer.h"
#include "storage/column/statistics.h"
#include "storage/database/catalogue.h"
#include "storage/database/changes/live_rows.h"
#include "storage/database/writer.h"

#include <pthread.h>

/* ---- Writing tables (database_writer.c, table_writer.c) ---- */

/* A segment of NULLs alone is written when the column is finished: its values are to be within those of the others. */
enum segment_state { SEGMENT_MISSING, SEGMENT_BEGUN, SEGMENT_NULLS, SEGMENT_WRITTEN };

struct column_writer {
    struct encoding_writer encoding;
    struct column_file_identity side_identity;
    struct column_file_writer *side;
    pthread_mutex_t lock;   /* protects the fields below */
    uint8_t *segment_state; /* enum segment_state of each segment */
    struct column_statistics statistics;
    struct distinct distinct;
    bool dictionary_given, dictionary_blocks;
    struct column_span span; /* the segments that this change writes, in files of their own */
    bool indexed;            /* the commit builds an index by the wish */
    struct index_wish wish;
    uint64_t domain; /* values are 0 .. domain-1, or any values for DOMAIN_ANY */
};

/* What a column of an appended table needs to take its old rows over (table_append.c). */
struct appended_column {
    int32_t *codes;    /* the new code of each old code; NULL: codes do not change */
    bool same_strings; /* the dictionary is the old one */
    bool taken;
    bool moved;   /* old positions were replaced by new ones */
    bool recoded; /* it is written again: its codec is to be another one, or see compact.c */
};

struct table_sorter; /* table_sorter.c */

/* Where the rows of segments go that are being written (clustering/clustering.c). */
struct cell_places {
    uint32_t **rows; /* of each segment; NULL: its rows keep their order. They are of the change's buffers */
    uint32_t count;  /* of segments */
    uint32_t last;   /* the segment that table_writer_cells was called for, if `rows` has any */
    struct old_values
        *collected; /* while values of old rows are collected, instead of being written; or NULL */
};

struct table_writer {
    struct database_writer *database;
    struct table_sorter *sorter; /* NULL: rows keep their order */
    struct levels_wish levels;   /* the sorter finds levels */
    int32_t *positions;          /* of the rows as given; NULL: their numbers */
    struct cell_places cells;
    struct table_writer *next; /* the table that was added before this one */
    struct table table;        /* as the catalogue will have it */
    const struct table *old;   /* appending: the table in the writer's catalogue; NULL: a new table */
    uint32_t kept; /* appending: the first old segments, which stay; 0: all rows are laid out anew */
    struct appended_column *appended; /* appending: one for each column */
    const uint64_t *live;             /* appending: a bit for each old row that stays; NULL: all */
    bool moves_known;                 /* table_moves was called */
    int32_t *moves;                   /* the new position of each old one (-1: no row); NULL: keys may stay */
    uint64_t move_count;              /* the old positions */
    struct column_writer *columns;
};

/* A table whose files were complete before this change began (compact.c). */
struct ready_table {
    const struct table *table;
    struct ready_table *next;
};

struct database_writer {
    char *path;
    int lock_descriptor; /* -1: not held */
    unsigned wait_ms;    /* that it waits for the lock, at most */
    bool created_directory;
    bool existed;               /* there was a catalogue */
    struct catalogue catalogue; /* the old state */
    uint64_t on_disk;           /* the generation of the state that the change began with */
    uint64_t generation;        /* of this change; 0 until the catalogue has been read */
    bool finished;              /* database_writer_finish has completed all files */
    pthread_mutex_t lock;       /* protects the list */
    struct table_writer *tables;
    struct key_rewrite *rewrites;
    struct ready_table *ready;
    struct segment_buffers buffers; /* of encoded segments */
};

/* Makes a table_writer for files in an existing directory. The columns are already checked and resolved. */
NODISCARD enum status table_writer_create(struct database_writer *database, const char *name,
                                          const struct column_schema *columns, uint32_t column_count,
                                          uint64_t rows, struct table_writer **table, struct error *error);

/* Makes it one of `old` and new rows, of which the first `kept` old segments stay; before anything is written. The segments
 * after them are full but for the last. table_append_anew lets none stay. */
NODISCARD enum status table_append_begin(struct table_writer *table, const struct table *old, uint32_t kept,
                                         struct error *error);
NODISCARD enum status table_append_anew(struct table_writer *table, struct error *error);

/* Adds a writer of a table of the old catalogue that is to have `rows` rows and these first columns, and lets the first `kept`
 * segments stay. */
NODISCARD enum status table_append_add(struct database_writer *writer, const struct table *old, uint64_t rows,
                                       uint32_t columns, uint32_t kept, struct table_writer **table,
                                       struct error *error);

/* Sets the codec of new segments: the old one, unless another is wanted, in which the column is then written anew. */
void table_append_choice(struct table_writer *table, uint32_t column, struct codec_choice *choice);

/* Writes a column whose table gets no new rows: table_writer_old, and the segment that it leaves to its caller. While
 * cells.collected is set, the values are kept there instead. */
NODISCARD enum status table_append_old(struct table_writer *table, uint32_t column, struct error *error);

/* Says of new rows that none is deleted, if the table has such a column, which callers do not see. */
NODISCARD enum status table_append_live(struct table_writer *table, struct error *error);

/* Whether the column's files of the old segments that stay do so, too. */
bool table_append_keeps(const struct table_writer *table, uint32_t column);

/* Lets a table that is written have these segments, whose rows are its. */
NODISCARD enum status table_writer_segments(struct table_writer *table, const uint32_t *rows, uint32_t count,
                                            struct error *error);

/* Sets which segments the column's new files have. */
void column_writer_span(struct table_writer *table, uint32_t column, uint32_t first, uint32_t count);
void table_writer_free(struct table_writer *table);
void table_appended_free(struct table_writer *table);

/* Refuses a number that no column of the table has. */
NODISCARD enum status table_writer_column(const struct table_writer *table, uint32_t column,
                                          struct error *error);

/* Gives a column of an appended table its new dictionary; the old strings are looked up in it now. */
NODISCARD enum status table_appended_dictionary(struct table_writer *table, uint32_t column,
                                                const struct dictionary *dictionary, struct error *error);

/* Adds a table_writer to the change; its schema is already checked. */
NODISCARD enum status database_writer_add(struct database_writer *writer, const char *name,
                                          const struct column_schema *columns, uint32_t column_count,
                                          uint64_t rows, struct table_writer **table, struct error *error);

/* table_writer_check checks that all of the table was written. Then table_writer_finish_column completes a
 * column's files and its entry for the catalogue; any thread may call it. */
NODISCARD enum status table_writer_check(const struct table_writer *table, struct error *error);
NODISCARD enum status table_writer_finish_column(struct table_writer *table, uint32_t column,
                                                 struct error *error);

/* The files of a column from a segment on, with which one begins, as those of a table that has only these segments; its
 * statistics are the whole column's (column_view.c). */
struct column_view {
    struct table table;
    struct column column;
    struct encoding_info encoding; /* the own one */
    struct stored_dictionary dictionary;
};
NODISCARD enum status column_view_open(const char *path, const struct column *whole, uint32_t first,
                                       struct column_view *view, struct error *error);
void column_view_close(struct column_view *view); /* also after a failure */

/* Encodes the segments of a column from `first` on, with which one of its files begins, into a file of another codec, whose
 * place is `at`; *possible is false if that cannot hold them (encode.c). */
NODISCARD enum status column_encode_from(const char *directory, const struct column *column, uint32_t first,
                                         enum codec_id codec, uint64_t generation, struct column_span *at,
                                         bool *possible, struct error *error);

/* Continues the further encodings of a column whose first segments are those of `before`; the own one has all of them
 * (encode.c). */
NODISCARD enum status column_encodings_extend(const char *directory, struct column *column,
                                              const struct column *before, uint64_t generation,
                                              struct error *error);

/* Adds a file of the column's further segments to an index that it had when `nulls` of its rows were NULL, or builds one
 * where that is better (index_change.c). */
NODISCARD enum status column_index_extend(const char *directory, struct column *column,
                                          const struct column_index *before, uint64_t nulls,
                                          uint64_t generation, struct error *error);

/* Builds an index of a column from its files (index_change.c). */
NODISCARD enum status column_index_build(const char *directory, struct column *column, struct index_wish wish,
                                         uint64_t generation, unsigned threads, struct progress *progress,
                                         struct error *error);

/* Builds the column's index, if it is to have one, from its finished files, on all threads. */
NODISCARD enum status table_writer_finish_index(struct table_writer *table, uint32_t column,
                                                struct error *error);

/* ---- Without the lock (compact.c) ---- */

/* Takes the generation of the change for a compaction, by a commit of nothing else; holds that state, and gives the lock back.
 * The writer then makes files, which database_writer_finish completes, and is freed, not aborted nor committed. */
NODISCARD enum status database_writer_reserve(struct database_writer *writer, int compaction, int *held,
                                              struct error *error);

/* As database_writer_open, with another wait for the lock. */
NODISCARD enum status database_writer_wait(const char *path, unsigned wait_ms,
                                           struct database_writer **writer, struct error *error);

/* Completes all files of a change, and syncs them; once. */
NODISCARD enum status database_writer_finish(struct database_writer *writer, struct error *error);

/* Makes what was changed so far the state that the rest of the change begins with, as if it had been committed. Files of the
 * rest get a generation of their own, so that a column may have one of each. */
NODISCARD enum status database_writer_advance(struct database_writer *writer, struct error *error);

/* A compaction of a table, and the rows of it that stayed. */
struct compacted_table {
    struct table_writer *table;
    struct live_rows live;
    struct ready_table ready;
    struct compacted_table *next;
};

/* Puts a table that was compacted without the lock in the place of its rows in the writer's state, and appends what others
 * have appended meanwhile; *merged is false if the old rows are others now (compact_merge.c). */
NODISCARD enum status compaction_merge(struct database_writer *writer, struct compacted_table *compacted,
                                       bool *merged, struct error *error);

/* The exact extrema and number of NULLs of some stored segments, from their side files; of doubles, the column's bits. *nulls: a
 * segment has NULLs alone, whose stored values are in the column's range, and not of these extrema. */
NODISCARD enum status segments_statistics(const char *path, const struct column *column, uint32_t first,
                                          uint32_t count, struct column_statistics *statistics, bool *nulls,
                                          struct error *error);

/* Marks rows of a table as deleted (delete.c). */
NODISCARD enum status table_delete_rows(struct database_writer *writer, const struct table *table,
                                        const uint64_t *rows, uint64_t count, struct error *error);

/* ---- One segment (segment_writer.c) ---- */

/* Encodes and writes values after NULLs were checked; `validity` as for table_writer_segment. */
NODISCARD enum status segment_write(struct table_writer *table, uint32_t column, uint32_t segment,
                                    const void *values, const uint64_t *validity, struct error *error);

/* Writes segments of NULLs alone with that value. */
NODISCARD enum status segments_write_nulls(struct table_writer *table, uint32_t column, int64_t value,
                                           struct error *error);

/* ---- Sorting (table_sorter.c) ---- */

/* Keeps a segment for sorting, instead of segment_write. */
NODISCARD enum status table_sorter_take(struct table_writer *table, uint32_t column, uint32_t segment,
                                        const void *values, const uint64_t *validity, struct error *error);

/* A whole column in the order in which rows were given. The caller frees it, also after a failure to read it. */
struct whole_column {
    void *values;
    uint64_t *validity; /* NULL: no row is NULL */
};
NODISCARD enum status table_sorter_read(const struct table_writer *table, uint32_t column,
                                        struct whole_column *whole, struct error *error);
void whole_column_free(struct whole_column *whole);

/* The number of columns to work on at the same time: at most one a thread, at most what fits half of the available
 * memory, at least one. */
unsigned table_sorter_threads(const struct table *table, unsigned threads);

/* Keeps segments, to lay their rows out by levels. table_sorter_level_bytes is the memory that this takes. */
NODISCARD enum status table_sorter_open(struct table_writer *table, struct error *error);
uint64_t table_sorter_level_bytes(const struct table *table);

/* True once table_writer_sort has written everything. */
bool table_sorter_done(const struct table_sorter *sorter);
void table_sorter_free(struct table_sorter *sorter);

/* ---- Levels (levels/table_levels.c) ---- */

/* Bytes of memory a row, in addition to 2 a row and column: two layouts, the order and the positions. */
#define LEVEL_ROW_BYTES 24u

/* Finds the levels, or none, sets them in the table, and gives the order of the rows. free() it. */
NODISCARD enum status table_levels_order(struct table_writer *table, unsigned threads, uint32_t **order,
                                         struct error *error);

/* ---- Keys of tables that are laid out anew (levels/key_moves.c) ---- */

/* A key column of a table that does not change otherwise, or what tells its deleted rows (delete.c). */
struct key_rewrite {
    const struct column *column; /* in the old catalogue; NULL: it is added as the last one */
    struct table old;            /* its table with this column alone */
    struct table_writer *table;  /* writes it */
    bool written;
    struct key_rewrite *next;
};

/* Finds where the old rows of an appended table went, once it is complete. */
NODISCARD enum status table_moves(struct table_writer *table, struct error *error);

/* The writer of a table that rows are appended to in this change, or NULL. */
struct table_writer *database_writer_appended(const struct database_writer *writer, const char *name);

/* Rewrites the keys of tables that are not in this change. Then key_moves_merge puts them into the new catalogue's
 * table, whose columns key_moves_unmerge frees. */
NODISCARD enum status key_moves_write(struct database_writer *writer, struct error *error);
NODISCARD enum status key_moves_merge(const struct database_writer *writer, struct table *table,
                                      struct error *error);
void key_moves_unmerge(const struct database_writer *writer, const struct table *table);
void key_moves_free(struct database_writer *writer);

/* Frees the tables and keys that are being written. */
void database_writer_clear(struct database_writer *writer);

/* Releases the lock and the memory; files stay as they are. */
void database_writer_free(struct database_writer *writer);

/* The table as it is after this change: new, or unchanged; NULL if there is none. */
const struct table *database_writer_find(const struct database_writer *writer, const char *name);

#endif
