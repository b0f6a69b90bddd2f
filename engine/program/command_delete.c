/* command_delete.c: `tessera delete`: rows that pass a condition. */
#include "engine/library/change/change.h"
#include "engine/library/delete.h"
#include "engine/program/commands.h"

#include "storage/base/command/command_line.h"

#include <inttypes.h>
#include <stdio.h>

struct delete_options {
    const char *database, *table, *condition;
    struct engine_options engine;
};

static enum status read_word(void *arguments, const char *text, struct error *error)
{
    struct delete_options *const options = arguments;
    const char **const place = options->table ? &options->condition : &options->table;
    if (*place)
        return error_set(error, STATUS_BAD_INPUT,
                         "'%s' is a word too many; put the condition in quotes: \"day < DATE '2024-02-01'\"",
                         text);
    *place = text;
    return STATUS_OK;
}

static enum status check_complete(void *arguments, const char *unused, struct error *error)
{
    const struct delete_options *const options = arguments;
    (void)unused;
    if (!options->table)
        return error_set(error, STATUS_BAD_INPUT, "of which table? Add TABLE CONDITION");
    if (!options->condition)
        return error_set(error, STATUS_BAD_INPUT,
                         "which rows? Add a condition, or \"true\" for all rows of %s", options->table);
    return STATUS_OK;
}

/* *superseded: somebody else has changed the database since it was opened here, and rows of another state were found. */
static enum status delete_once(const struct delete_options *options, struct engine *engine, uint64_t *rows,
                               bool *superseded, struct error *error)
{
    struct database *database;
    const struct row_condition condition = {.text = options->condition, .place = {1, 1}};
    *superseded = false;
    RETURN_IF_ERROR(database_open(options->database, &database, error));
    const enum status status = rows_delete(engine, database, options->table, &condition, rows, error);
    *superseded = status == STATUS_BAD_INPUT && !database_is_current(database);
    database_close(database);
    return status;
}

static enum status delete_from(const struct delete_options *options, struct engine *engine,
                               struct error *error)
{
    uint64_t rows = 0;
    bool superseded;
    enum status status = delete_once(options, engine, &rows, &superseded, error);
    for (uint32_t i = 1; superseded && i < CHANGE_TRIES; i++)
        status = delete_once(options, engine, &rows, &superseded, error);
    if (status == STATUS_OK)
        fprintf(stderr, "%s: %" PRIu64 " row%s deleted\n", options->table, rows, rows == 1 ? "" : "s");
    return status;
}

enum status command_delete(int argc, char **argv, struct progress *progress, struct error *error)
{
    static const struct command_option known[] = {
        {"db", 'd', "DIR", "the database", TO_TEXT(struct delete_options, database),
         .missing = "which database? Add --db DIR"},
        {"device", 'D', "DEVICE", "where the rows are found, as of `tessera sql`",
         TO_TEXT(struct delete_options, engine.device)},
        {"threads", 't', "N", "threads; by default all processors",
         TO_NUMBER(struct delete_options, engine.threads, 0, PARALLEL_THREADS_MAX)},
        {0},
    };
    static const struct command_line line = {
        .options = known,
        .words_help = "TABLE CONDITION",
        .word = read_word,
        .finish = check_complete,
        .help =
            "Deletes the rows of a table that pass a condition, as WHERE of SQL has it, over the table's own "
            "columns; subqueries may ask other tables. Rows are marked, in one commit; `tessera compact` "
            "removes them. Programs that have the database open go on reading the state that they opened. "
            "Rows that rows of other tables reference are not deleted: the command ends with an error that "
            "names the table and the number of its rows, and nothing is deleted.\vExamples:\n"
            "  tessera delete --db shop.db sales \"day < DATE '2024-02-01'\"\n"
            "  tessera delete --db shop.db sales \"shop = 7 AND paid IS NULL\"\n"
            "  tessera delete --db shop.db shops \"NOT EXISTS (SELECT * FROM sales WHERE shop = id)\"",
    };
    struct delete_options options = {.engine = {.device = "auto"}};
    struct engine *engine;
    (void)progress;
    RETURN_IF_ERROR(command_line_read(&line, argc, argv, &options, error));
    RETURN_IF_ERROR(engine_open(&options.engine, &engine, error));
    const enum status status = delete_from(&options, engine, error);
    engine_close(engine);
    return status;
}
