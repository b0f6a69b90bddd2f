/*
 * file_table.h: the rows of files that a statement names in FROM, as a table of columns that are loaded when they are needed.
 *
 * The schema is found first (loader/infer/file_schema.h). Columns are loaded as `tessera load` loads them, into a database in
 * a folder for that, whose files are mapped and then removed: so the columns are compressed, have statistics, and are answered
 * as those of a stored table, on both devices; they stay until the table is freed, and nothing of them is left when the
 * program ends. A further statement loads what columns it needs more.
 */
#ifndef TESSERA_ENGINE_LIBRARY_FILE_TABLE_H
#define TESSERA_ENGINE_LIBRARY_FILE_TABLE_H

#include "loader/infer/file_schema.h"
#include "loader/input_files.h"
#include "storage/database/database.h"

#include <sys/stat.h>

/* With what files are read. */
struct file_reading {
    unsigned threads;
    uint64_t memory;   /* bytes; 0: half of what is available */
    const char *spill; /* the folder in which the folder of the columns is made */
};

/* A file as it was. */
struct file_stamp {
    dev_t device;
    ino_t number;
    off_t bytes;
    struct timespec changed;
};

struct file_part; /* of the columns, those that were loaded together */

struct file_table {
    char *name; /* as it is written in the statement */
    uint32_t path_count;
    char **paths;
    struct file_stamp *stamps;
    struct file_schema own;
    const struct file_schema *schema; /* `own`, or that of `whole` */
    const struct file_table *whole;   /* it has some rows of this table, which lives longer; or NULL */
    uint64_t first;                   /* at least so many first ones; 0: it is of other rows */
    uint64_t part_words;              /* of `kept` */
    uint64_t *kept;   /* those of these parts, as load_options.parts; NULL: it is of other rows */
    uint32_t *fields; /* of the schema, of each column */
    struct table table;
    struct file_part *parts;
    struct file_table *next;
};

/* Finds the files of the name, a pattern or a folder, and their schema. STATUS_BAD_INPUT with the path for files that cannot be
 * read as rows. Free with file_table_free; NULL is legal. */
NODISCARD enum status file_table_open(const char *name, const struct file_reading *reading,
                                      struct file_table **table, struct error *error);
void file_table_free(struct file_table *table);

/* Makes a table of the first rows of another one. Its number of rows is known when a column is loaded. */
NODISCARD enum status file_table_first(const struct file_table *whole, uint64_t first,
                                       struct file_table **table, struct error *error);

/* Makes a table of the rows of some parts of another one's files: `kept`, of `count` parts in all, which have `rows` rows.
 * `what` they are called is in the table's name. */
NODISCARD enum status file_table_some(const struct file_table *whole, const uint64_t *kept, uint64_t count,
                                      uint64_t rows, const char *what, struct file_table **table,
                                      struct error *error);

/* Whether the name still stands for the same files, and none was changed. */
NODISCARD enum status file_table_compare(const struct file_table *table, bool *same, struct error *error);

/* Loads those of the columns for which `needed` is true that are not there yet. One thread at a time may call. Columns that are
 * there do not change, so statements over them may run meanwhile. */
NODISCARD enum status file_table_load(struct file_table *table, const bool *needed,
                                      const struct file_reading *reading, struct error *error);

#endif
