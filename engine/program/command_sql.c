/*
 * command_sql.c: `tessera sql`, which runs statements from the command line, from standard input, or, if that
 * is a terminal, from a prompt (sql_shell.h). The first statement that fails ends a script with its exit
 * code.
 */
#include "engine/program/commands.h"
#include "engine/program/sql_shell.h"
#include "storage/base/memory.h"

#include <argp.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

struct sql_options {
    const char *database, *statement, *codec, *device;
    unsigned threads;
    bool timer, staged;
    enum rowset_format format;
};

enum option_key {
    KEY_DB = 'd',
    KEY_FORMAT = 'f',
    KEY_CODEC = 'c',
    KEY_THREADS = 't',
    KEY_DEVICE = 'D',
    KEY_TIMER = 'T',
    KEY_STAGED = 'S'
};

static const struct argp_option option_list[] = {
    {"db", KEY_DB, "DIR", 0, "The database", 0},
    {"format", KEY_FORMAT, "FORMAT", 0, "table (the default), csv, json or markdown", 0},
    {"codec", KEY_CODEC, "NAME|COLUMN=CODEC,...", 0,
     "Codec of the fact columns, encoded and kept where it is missing. By default each column's own", 0},
    {"device", KEY_DEVICE, "DEVICE", 0,
     "Where statements run: auto (the default: the first GPU, or else the CPU), cpu, cuda or cuda:N", 0},
    {"threads", KEY_THREADS, "N", 0, "Threads; by default all processors", 0},
    {"staged", KEY_STAGED, NULL, 0,
     "Decode a statement's columns into scratch memory first, then answer from there; what decoding inside "
     "the scan, the "
     "default, is compared with",
     0},
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
    case KEY_STAGED:
        options->staged = true;
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
           "compressed columns. Without a statement it reads them from standard input, and asks for them "
           "where that is a terminal.\v"
           "docs/sql.md says what is supported; EXPLAIN and EXPLAIN ANALYZE show how a statement is "
           "answered. Dot commands (.tables, .schema, .mode, .timer, .device; .help lists them) have a line "
           "of their own between statements. A script stops at the first error, with its exit code. The "
           "prompt keeps its history in ~/.tessera_history, or the file that TESSERA_HISTORY names (empty: "
           "none).\n\n"
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
            RETURN_IF_ERROR(memory_grow(text, capacity, "the statements", error));
        }
        got = fread(*text + *length, 1, capacity - *length, in);
        *length += got;
    } while (got > 0);
    return ferror(in) ? error_set_errno(error, errno, "standard input cannot be read") : STATUS_OK;
}

static enum status run_input(const struct sql_options *options, struct sql_shell *shell, struct error *error)
{
    char *text = NULL;
    size_t length;
    if (options->statement)
        return sql_shell_script(shell, options->statement, strlen(options->statement), error);
    if (isatty(STDIN_FILENO))
        return sql_shell_prompt(shell, error);
    enum status status = read_all(stdin, &text, &length, error);
    if (status == STATUS_OK)
        status = sql_shell_script(shell, text, length, error);
    free(text);
    return status;
}

enum status command_sql(int argc, char **argv, struct progress *progress, struct error *error)
{
    struct sql_options options = {.device = "auto"};
    (void)progress;
    if (argp_parse(&parser, argc, argv, 0, NULL, &options) != 0)
        return error_set(error, STATUS_BAD_INPUT, "the options cannot be read");
    struct sql_shell shell = {.codec = options.codec,
                              .threads = options.threads,
                              .format = options.format,
                              .timer = options.timer,
                              .staged = options.staged};
    RETURN_IF_ERROR(database_open(options.database, &shell.database, error));
    enum status status = engine_open(options.device, options.threads, &shell.engine, error);
    if (status == STATUS_OK) {
        status = run_input(&options, &shell, error);
        engine_close(shell.engine);
    }
    database_close(shell.database);
    return status;
}
