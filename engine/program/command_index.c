/* command_index.c: `tessera index create` and `tessera index drop`: bitmap indexes of columns. */
#include "engine/program/commands.h"

#include "storage/base/command/command_line.h"
#include "storage/database/writer.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct index_options {
    const char *database;
    const char *what; /* TABLE.COLUMN */
    struct index_wish wish;
    unsigned threads;
};

static enum status read_what(void *arguments, const char *text, struct error *error)
{
    struct index_options *const options = arguments;
    const char *const dot = strchr(text, '.');
    if (options->what)
        return error_set(error, STATUS_BAD_INPUT, "one column at a time, not also '%s'", text);
    if (!dot || dot == text || !dot[1] || dot - text >= NAME_BYTES)
        return error_set(error, STATUS_BAD_INPUT, "'%s' is not TABLE.COLUMN", text);
    options->what = text;
    return STATUS_OK;
}

static enum status read_bins(void *arguments, const char *text, struct error *error)
{
    struct index_options *const options = arguments;
    return index_wish_bins(text, &options->wish, error);
}

static enum status read_format(void *arguments, const char *text, struct error *error)
{
    struct index_options *const options = arguments;
    return index_wish_format(text, &options->wish, error);
}

static enum status check_complete(void *arguments, const char *unused, struct error *error)
{
    const struct index_options *const options = arguments;
    (void)unused;
    if (!options->what)
        return error_set(error, STATUS_BAD_INPUT, "which column? Add TABLE.COLUMN");
    return STATUS_OK;
}

#define OPTION_DB                                                                  \
    {                                                                              \
        "db", 'd', "DIR", "the database", TO_TEXT(struct index_options, database), \
            .missing = "which database? Add --db DIR"                              \
    }

enum status command_index_create(int argc, char **argv, struct progress *progress, struct error *error)
{
    static const struct command_option known[] = {
        OPTION_DB,
        {"bins", 'b', "auto|values|N|N:width",
         "values: a bit vector for each value, of which there are at most 4096. N: N bins of equal depth, "
         "which have about the same number of rows. N:width: N bins of equal width, which span as many "
         "values. auto (the default): values if there are at most 4096, else 256 bins of equal depth",
         BY_FUNCTION(read_bins)},
        {"format", 'f', "wah64|wah32|flat",
         "compressed in words of 64 (the default) or 32 bits, or a bit a row", BY_FUNCTION(read_format)},
        {"threads", 't', "N", "threads; by default all processors",
         TO_NUMBER(struct index_options, threads, 0, PARALLEL_THREADS_MAX)},
        {0},
    };
    static const struct command_line line = {
        .options = known,
        .words_help = "TABLE.COLUMN",
        .word = read_what,
        .finish = check_complete,
        .help = "Gives a column a bitmap index: a bit vector of the rows of each value, or of each bin of "
                "values, and one of the NULLs. Foreign keys are indexed by the row that they refer to, "
                "strings by their place in the column's dictionary. The index is built again whenever rows "
                "are appended or the table is replaced. Either the whole index is there afterwards, or the "
                "database is as it was.\vdocs/bitmaps.md says what an index is for.\n\n"
                "Examples:\n"
                "  tessera index create --db shop.db sales.pieces\n"
                "  tessera index create --db shop.db --bins 64 sales.paid",
    };
    struct index_options options = {.wish = {.format = INDEX_WAH64}};
    char table[NAME_BYTES] = "";
    RETURN_IF_ERROR(command_line_read(&line, argc, argv, &options, error));
    const char *const dot = strchr(options.what, '.');
    memcpy(table, options.what, (size_t)(dot - options.what));
    return database_index_create(options.database, table, dot + 1, options.wish, options.threads, progress,
                                 error);
}

enum status command_index_drop(int argc, char **argv, struct progress *progress, struct error *error)
{
    static const struct command_option known[] = {OPTION_DB, {0}};
    static const struct command_line line = {
        .options = known,
        .words_help = "TABLE.COLUMN",
        .word = read_what,
        .finish = check_complete,
        .help = "Drops the bitmap index of a column. Its file goes with the last reader that has the "
                "database open.",
    };
    struct index_options options = {0};
    char table[NAME_BYTES] = "";
    (void)progress;
    RETURN_IF_ERROR(command_line_read(&line, argc, argv, &options, error));
    const char *const dot = strchr(options.what, '.');
    memcpy(table, options.what, (size_t)(dot - options.what));
    return database_index_drop(options.database, table, dot + 1, error);
}
