/* command_compact.c: `tessera compact`: full segments instead of the small ones that appends have made. */
#include "engine/program/commands.h"

#include "storage/base/command/command_line.h"
#include "storage/database/database.h"
#include "storage/database/changes/live_rows.h"
#include "storage/database/writer.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

struct compact_options {
    const char *database, *table;
    unsigned threads;
    uint64_t tables; /* that changed */
};

static enum status read_table(void *arguments, const char *text, struct error *error)
{
    struct compact_options *const options = arguments;
    if (options->table)
        return error_set(error, STATUS_BAD_INPUT, "one table at a time, or all; not also '%s'", text);
    options->table = text;
    return STATUS_OK;
}

static void print_table(void *context, const struct table *before, const struct table *after)
{
    struct compact_options *const options = context;
    options->tables++;
    fprintf(stderr, "%s: %u segment%s became %u", before->name, before->segment_count,
            before->segment_count == 1 ? "" : "s", after->segment_count);
    if (after->rows < before->rows)
        fprintf(stderr, ", without %" PRIu64 " deleted rows", before->rows - after->rows);
    fputs("\n", stderr);
}

/* Deleted rows stay where positions of rows are stored in keys or levels. */
static enum status print_deleted(const struct compact_options *options, bool *any, struct error *error)
{
    struct database *database;
    RETURN_IF_ERROR(database_open(options->database, &database, error));
    enum status status = STATUS_OK;
    for (uint32_t t = 0; status == STATUS_OK && t < database_table_count(database); t++) {
        const struct table *const table = database_table_at(database, t);
        uint64_t live;
        if (!table_live(table) || (options->table && strcmp(options->table, table->name) != 0))
            continue;
        status = live_rows_count(database_path(database), table, &live, error);
        if (status == STATUS_OK)
            fprintf(stderr, "%s: %" PRIu64 " deleted row%s stay%s, because %s\n", table->name,
                    table->rows - live, table->rows - live == 1 ? "" : "s",
                    table->rows - live == 1 ? "s" : "",
                    table->levels ? "the table has levels" : "positions in the table are keys of others");
        *any = true;
    }
    database_close(database);
    return status;
}

enum status command_compact(int argc, char **argv, struct progress *progress, struct error *error)
{
    static const struct command_option known[] = {
        {"db", 'd', "DIR", "the database", TO_TEXT(struct compact_options, database),
         .missing = "which database? Add --db DIR"},
        {"threads", 't', "N", "threads; by default all processors",
         TO_NUMBER(struct compact_options, threads, 0, PARALLEL_THREADS_MAX)},
        {0},
    };
    static const struct command_line line = {
        .options = known,
        .words_help = "[TABLE]",
        .word = read_table,
        .help =
            "Writes the rows of small segments, of which each `load --append` makes one, into full ones, and "
            "removes the rows that `tessera delete` has marked: of all tables, or of one. Segments before "
            "those stay as they are, and so do deleted rows of tables that others reference, or that have "
            "levels. Rows keep their order, those of clustered tables that of their cells "
            "(docs/clustering.md). "
            "Programs that have the database open go on reading the state that they opened; while it "
            "runs, another program may append, delete and index, but not compact. If that writes old rows "
            "again, as a string between old ones does, the table is compacted once more, and others wait. "
            "It can be stopped at any time: then nothing has "
            "changed.\vExamples:\n"
            "  tessera compact --db shop.db\n"
            "  tessera compact --db shop.db sales",
    };
    struct compact_options options = {0};
    RETURN_IF_ERROR(command_line_read(&line, argc, argv, &options, error));
    RETURN_IF_ERROR(database_compact(options.database, options.table, options.threads, print_table, &options,
                                     progress, error));
    bool deleted = false;
    struct error why = {0};
    const enum status told = print_deleted(&options, &deleted, &why);
    if (told != STATUS_OK && !options.tables)
        return error_set(error, told, "%s", why.text);
    if (told != STATUS_OK) /* what was committed is done */
        fprintf(stderr, "%s: compacted, but which deleted rows stay cannot be told: %s\n", options.database,
                why.text);
    else if (!options.tables && !deleted)
        fprintf(stderr, "%s: no small segments and no deleted rows\n", options.database);
    return STATUS_OK;
}
