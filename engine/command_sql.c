/*
 * command_sql.c: `tessera sql`: one statement from the command line, or all of standard input, each answered in
 * turn; the first that fails ends the program with its exit code.
 */
#include "engine/commands.h"
#include "engine/sql.h"

#include <argp.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

struct sql_options {
    const char *database, *statement, *codec, *device;
    unsigned threads;
    bool timer;
    enum rowset_format format;
};

enum option_key {
    KEY_DB = 'd',
    KEY_FORMAT = 'f',
    KEY_CODEC = 'c',
    KEY_THREADS = 't',
    KEY_DEVICE = 'D',
    KEY_TIMER = 'T'
};

static const struct argp_option option_list[] = {
    {"db", KEY_DB, "DIR", 0, "The database", 0},
    {"format", KEY_FORMAT, "FORMAT", 0, "table (the default), csv, json or markdown", 0},
    {"codec", KEY_CODEC, "NAME|COLUMN=CODEC,...", 0,
     "Codec of the fact columns, encoded and kept where it is missing. By default each column's own", 0},
    {"device", KEY_DEVICE, "DEVICE", 0, "cpu (the default): where statements run", 0},
    {"threads", KEY_THREADS, "N", 0, "Threads; by default all processors", 0},
    {"timer", KEY_TIMER, NULL, 0, "Print the time of each statement to standard error", 0},
    {0}};

static error_t parse_key(int key, char *argument, struct argp_state *state)
{
    struct sql_options *options = state->input;
    char *end;
    switch (key) {
    case KEY_DB:
        options->database = argument;
        return 0;
    case KEY_FORMAT:
        if (!rowset_format_by_name(argument, &options->format))
            argp_error(state, "'%s' is no format; use table, csv, json or markdown", argument);
        return 0;
    case KEY_CODEC:
        options->codec = argument;
        return 0;
    case KEY_DEVICE:
        options->device = argument;
        return 0;
    case KEY_TIMER:
        options->timer = true;
        return 0;
    case KEY_THREADS:
        options->threads = (unsigned)strtoul(argument, &end, 10);
        if (*end || options->threads < 1 || options->threads > PARALLEL_THREADS_MAX)
            argp_error(state, "'%s' is no number of threads from 1 to %u", argument, PARALLEL_THREADS_MAX);
        return 0;
    case ARGP_KEY_ARG:
        if (options->statement)
            argp_error(state, "more than one statement on the command line; put both into quotes together");
        options->statement = argument;
        return 0;
    case ARGP_KEY_END:
        if (!options->database)
            argp_error(state, "--db DIR is missing: which database?");
        return 0;
    default:
        return ARGP_ERR_UNKNOWN;
    }
}

static const struct argp parser = {
    .options = option_list,
    .parser = parse_key,
    .args_doc = "[\"STATEMENT; ...\"]",
    .doc = "Answers SELECT statements over one fact table and the tables that it references, from their "
           "compressed columns. Without a statement it reads them from standard input.\v"
           "docs/sql.md says what is supported; EXPLAIN and EXPLAIN ANALYZE show how a statement is "
           "answered.\n\n"
           "Examples:\n"
           "  tessera sql --db ssb1.db \"select d_year, sum(lo_revenue) from lineorder, date where "
           "lo_orderdate = "
           "d_datekey group by d_year order by d_year\"\n"
           "  tessera sql --db ssb1.db --format csv < report.sql > report.csv",
};

static enum status read_all(FILE *in, char **text, size_t *length, struct error *error)
{
    size_t capacity = 0, got;
    *text = NULL;
    *length = 0;
    do {
        if (capacity - *length < 4096) {
            capacity = capacity ? 2 * capacity : 16384;
            char *grown = realloc(*text, capacity);
            if (!grown)
                return error_out_of_memory(error, capacity, "the statements");
            *text = grown;
        }
        got = fread(*text + *length, 1, capacity - *length, in);
        *length += got;
    } while (got > 0);
    return ferror(in) ? error_set_errno(error, errno, "standard input cannot be read") : STATUS_OK;
}

static enum status run_one(const struct sql_options *options, struct sql_statement *statement,
                           struct error *error)
{
    struct rowset rows = {0};
    struct star_timing timing;
    if (sql_parameter_count(statement))
        return error_set(error, STATUS_BAD_INPUT,
                         "the statement has parameters (?), which only programs can set; write the values");
    enum status status = sql_run(statement, &rows, &timing, error);
    if (status == STATUS_OK)
        status = rowset_print(&rows, options->format, stdout, error);
    if (status == STATUS_OK && options->timer)
        fprintf(stderr, "%llu row%s; plan %.3f ms, run %.3f ms, output %.3f ms\n",
                (unsigned long long)rows.rows, rows.rows == 1 ? "" : "s", timing.plan_ms, timing.total_ms,
                timing.output_ms);
    rowset_free(&rows);
    return status;
}

static enum status run_script(const struct sql_options *options, struct engine *engine,
                              struct database *database, const char *text, size_t length, struct error *error)
{
    while (length > 0) {
        struct sql_statement *statement;
        size_t used;
        RETURN_IF_ERROR(
            sql_prepare(engine, database, text, length, options->codec, &statement, &used, error));
        if (!statement)
            return STATUS_OK;
        const enum status status = run_one(options, statement, error);
        sql_statement_free(statement);
        RETURN_IF_ERROR(status);
        text += used;
        length -= used;
    }
    return STATUS_OK;
}

static enum status run_input(const struct sql_options *options, struct engine *engine,
                             struct database *database, struct error *error)
{
    char *text = NULL;
    size_t length;
    enum status status = options->statement ? STATUS_OK : read_all(stdin, &text, &length, error);
    if (status == STATUS_OK)
        status = run_script(options, engine, database, options->statement ? options->statement : text,
                            options->statement ? strlen(options->statement) : length, error);
    free(text);
    return status;
}

enum status command_sql(int argc, char **argv, struct progress *progress, struct error *error)
{
    struct sql_options options = {.device = "cpu"};
    struct database *database;
    struct engine *engine;
    (void)progress;
    if (argp_parse(&parser, argc, argv, 0, NULL, &options) != 0)
        return error_set(error, STATUS_BAD_INPUT, "the options cannot be read");
    RETURN_IF_ERROR(database_open(options.database, &database, error));
    enum status status = engine_open(options.device, options.threads, &engine, error);
    if (status == STATUS_OK) {
        status = run_input(&options, engine, database, error);
        engine_close(engine);
    }
    database_close(database);
    return status;
}
