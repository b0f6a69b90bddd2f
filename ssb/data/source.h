/*
 * source.h: where the benchmark's rows come from when they are loaded: the generator, or .tbl files.
 *
 * A source knows how many rows each table has and gives any range of them, to any number of threads.
 * Dimensions come row by row, with their strings; lineorder, which is nearly everything, comes straight into
 * one array a column, its strings as codes of dictionaries that the source knows beforehand. Foreign keys are
 * still keys here.
 */
#ifndef TESSERA_SSB_DATA_SOURCE_H
#define TESSERA_SSB_DATA_SOURCE_H

#include "ssb/data/generator.h"
#include "storage/database/database.h"

/* What is worth one trip of a thread: a few milliseconds of either source. A multiple of 64, so that two
 * ranges share no word of a validity bitmap. */
#define SSB_RANGE_ROWS 65536u

/* Room for the place of a row: a path and a line. */
#define SSB_PLACE_BYTES 512

/* One row of a dimension: numbers[c], or strings[c] of lengths[c] bytes; good until the cursor's next row. */
struct ssb_values {
    int64_t numbers[SSB_COLUMNS_MAX];
    const char *strings[SSB_COLUMNS_MAX];
    uint32_t lengths[SSB_COLUMNS_MAX];
};

/* One thread's way into one table. */
struct ssb_cursor;

struct ssb_source {
    uint64_t rows[SSB_TABLES];
    int64_t largest_orderkey;
    struct dictionary_builder *words[SSB_COLUMNS_MAX]; /* of lineorder's string columns; owned */
    struct dictionary dictionaries[SSB_COLUMNS_MAX];   /* their sorted strings */
    const struct ssb_source_methods *methods;
};

struct ssb_source_methods {
    enum status (*cursor_open)(const struct ssb_source *source, enum ssb_table table,
                               struct ssb_cursor **cursor, struct error *error);
    void (*cursor_close)(struct ssb_cursor *cursor); /* NULL is legal */

    /* A row (0-based) of a dimension; cheapest in order. */
    enum status (*row)(struct ssb_cursor *cursor, uint64_t row, struct ssb_values *values,
                       struct error *error);

    /* Rows of lineorder as ssb_generate_lineorder gives them: int32_t arrays, int64_t for lo_orderkey, no
     * column for NULL. */
    enum status (*lineorder)(struct ssb_cursor *cursor, uint64_t first_row, uint64_t rows,
                             void *const columns[SSB_COLUMNS_MAX], struct error *error);

    /* Where a person finds that row: "DIR/part.tbl:17", or "row 17 of part". */
    void (*place)(const struct ssb_source *source, enum ssb_table table, uint64_t row,
                  char place[SSB_PLACE_BYTES]);

    /* The file of the table's rows, or NULL. */
    const char *(*path)(const struct ssb_source *source, enum ssb_table table);

    void (*close)(struct ssb_source *source);
};

NODISCARD enum status ssb_source_generate(const struct ssb_options *options, unsigned threads,
                                          struct ssb_source **source, struct error *error);

/* The files TABLE.tbl in a folder. Reads lineorder.tbl once, for its words and its largest key. */
NODISCARD enum status ssb_source_read(const char *directory, unsigned threads, struct progress *progress,
                                      struct ssb_source **source, struct error *error);

/* NULL is legal. */
void ssb_source_close(struct ssb_source *source);

/* For the two kinds of source: makes an empty words[column]; sorts it into dictionaries[column]. */
NODISCARD enum status ssb_source_words_create(struct ssb_source *source, uint32_t column,
                                              struct error *error);
NODISCARD enum status ssb_source_words_sort(struct ssb_source *source, uint32_t column, struct error *error);

#endif
