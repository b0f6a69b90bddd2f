/*
 * command_sql.c: `tessera sql`, which runs statements from the command line, from standard input, or, if that
 * is a terminal, from a prompt (sql_shell.h). The first statement that fails ends a script with its exit
 * code.
 */
#include "engine/program/cluster_command.h"
#include "engine/program/commands.h"
#include "engine/program/sql_shell.h"
#include "storage/base/command/command_line.h"
#include "storage/base/file.h"
#include "storage/base/zone/zone.h"
#include "storage/codec/codec_spec.h"
#include "storage/database/catalogue.h"
#include "storage/database/database_files.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

struct shell_options {
    const char *database, *statement, *codec, *cluster, *report, *plan_cache;
    int argc;
    char *const *argv;
    struct engine_options engine;
    bool timer, staged;
    enum plan_index_use index;
    enum sql_like like;
    const struct zone *zone;
    enum rowset_format format;
    uint64_t rows_shown;
};

static enum status read_rows(void *arguments, const char *text, struct error *error)
{
    return sql_shell_rows(text, &((struct shell_options *)arguments)->rows_shown, error);
}

static enum status read_zone(void *arguments, const char *text, struct error *error)
{
    return zone_find(text, &((struct shell_options *)arguments)->zone, error);
}

static const struct command_option option_list[] = {
    {"db", 'd', "DIR", "The database; without one, statements ask files alone: FROM 'trips.parquet'",
     TO_TEXT(struct shell_options, database)},
    {"format", 'f', "FORMAT", "table (the default), csv, json or markdown",
     TO_WORD(struct shell_options, format, "table|csv|json|markdown")},
    {"codec", 'c', "NAME|COLUMN=CODEC,...",
     "Codec of the fact columns, encoded and kept where it is missing. By default each column's own",
     TO_TEXT(struct shell_options, codec)},
    {"device", 'D', "DEVICE",
     "Where statements run: auto (the default: the first GPU, or else the CPU), cpu, cuda or cuda:N; "
     "cuda:0,1 or cuda:all for several GPUs, which share the rows",
     TO_TEXT(struct shell_options, engine.device)},
    {"gpu-memory", 'M', "BYTES",
     "The most bytes of a GPU's memory that columns and statements take (4G, 512M; 0: no column stays "
     "between "
     "statements). Columns that do not fit are streamed from the host's memory; statements may have 4 GiB "
     "however little it is. By default what is free, less a reserve",
     TO_TEXT(struct shell_options, engine.gpu_memory)},
    {"memory", 0, "BYTES",
     "The most bytes of the host's memory that answers, joins, groups and sorts of a statement take (4G, "
     "512M); by default half of what is available",
     TO_TEXT(struct shell_options, engine.memory)},
    {"spill", 0, "DIR",
     "Where rows are kept that are more than --memory, in files without names; by default $TMPDIR, or else "
     "/tmp",
     TO_TEXT(struct shell_options, engine.spill)},
    {"plan-cache", 0, "BYTES",
     "The most bytes of statements that are kept with their plans, so that the same text is not planned "
     "again (0: none). By default a 32nd of --memory, and at least 64M",
     TO_TEXT(struct shell_options, plan_cache)},
    {"late-transfer", 'L', "auto|off|on",
     "Columns that a GPU does not keep: auto (the default) lets its kernels read single sectors from the "
     "host's memory where this moves fewer bytes than copying the column, on everywhere, off nowhere",
     TO_WORD(struct shell_options, engine.late, "auto|off|on")},
    {"kernel", 0, "auto|general|specialised",
     "Which kernel of a GPU answers: auto (the default) takes the statement's own one if it is compiled, and "
     "meanwhile the general one, which is compiled ahead and reads the statement as data; specialised waits "
     "for the own one; general takes the general one wherever it can",
     TO_WORD(struct shell_options, engine.kernel, "auto|general|specialised")},
    {"threads", 't', "N", "Threads; by default all processors",
     TO_NUMBER(struct shell_options, engine.threads, 1, PARALLEL_THREADS_MAX)},
    {"staged", 'S', NULL,
     "Decode a statement's columns into scratch memory first and answer from there, to compare with the "
     "default, which decodes them inside the scan",
     TO_FLAG(struct shell_options, staged)},
    {"index", 'i', "auto|on|off",
     "Bitmap indexes (`tessera index`): auto (the default) uses one where it is expected to be faster than "
     "reading the column, on wherever it can decide a condition, off nowhere",
     TO_WORD(struct shell_options, index, "auto|on|off")},
    {"rows", 'r', "N|all",
     "The most rows of an answer that are printed; by default 1000 on a terminal, which says so, and else "
     "all",
     BY_FUNCTION(read_rows)},
    {"like", 'k', "standard|sqlite",
     "LIKE: standard (the default), where the case of letters matters, or sqlite, where that of ASCII "
     "letters does not",
     TO_WORD(struct shell_options, like, "standard|sqlite")},
    {"time-zone", 'z', "ZONE",
     "The zone whose clock shows timestamps with time zone, as Europe/Berlin; by default UTC",
     BY_FUNCTION(read_zone)},
    {"report", 'R', "FILE.html",
     "Also write what EXPLAIN ANALYZE tells as a page with charts: the plan, each step's rows, bytes and "
     "time, and the shares of several devices",
     TO_TEXT(struct shell_options, report)},
    {"cluster", 0, "mpi", CLUSTER_OPTION_HELP, TO_TEXT(struct shell_options, cluster)},
    {"timer", 'T', NULL, "Print the time of each statement to standard error",
     TO_FLAG(struct shell_options, timer)},
    {0}};

static enum status read_statement(void *arguments, const char *text, struct error *error)
{
    struct shell_options *options = arguments;
    if (options->statement)
        return error_set(error, STATUS_BAD_INPUT,
                         "more than one statement on the command line; put both into quotes together");
    options->statement = text;
    return STATUS_OK;
}

/* Refuses a wrong --codec before any statement is read; -c is a statement elsewhere. */
static enum status check_codec(void *arguments, const char *unused, struct error *error)
{
    const struct shell_options *const options = arguments;
    struct codec_choice choice;
    enum codec_spec_part said;
    (void)unused;
    if (!options->database && options->cluster)
        return error_set(error, STATUS_BAD_INPUT, "--db DIR is missing: which database?");
    if (options->codec && strchr(options->codec, ' '))
        return error_set(error, STATUS_BAD_INPUT,
                         "--codec (-c) '%.100s' is no codec; a statement is given without an option: tessera "
                         "sql --db DIR \"select ...\"",
                         options->codec);
    return codec_spec_find(options->codec, "", &choice, &said, error);
}

static const struct command_line line = {
    .options = option_list,
    .word = read_statement,
    .finish = check_codec,
    .words_help = "[\"STATEMENT; ...\"]",
    .help = "Answers SELECT statements over one fact table and the tables that it references, from their "
            "compressed columns. `tessera DIR ...` is the same as `tessera sql --db DIR ...`. Without a "
            "statement it reads them from standard input, and asks for them "
            "where that is a terminal. COPY writes answers to files; INSERT, DELETE and CREATE TABLE change "
            "the database.\vdocs/sql.md says what is supported; EXPLAIN and EXPLAIN ANALYZE show "
            "how a statement is answered, SHOW TABLES and DESCRIBE TABLE what there is. Dot commands "
            "(.tables, .schema, .mode, .timer, .output, .read and others; .help lists them) "
            "have a line of their own between statements. A script is run while it arrives, and stops at the "
            "first error, with its exit code. The prompt completes names and keywords with Tab, shows long "
            "answers with the program that PAGER names, or less (empty: none), and keeps its history in "
            "~/.tessera_history, or the file that TESSERA_HISTORY names (empty: none).\n\n"
            "Examples:\n"
            "  tessera ssb load --sf 0.01 --db small.db\n"
            "  tessera sql --db small.db \"select d_year, sum(lo_revenue) from lineorder, date where "
            "lo_orderdate = d_datekey group by d_year order by d_year\"\n"
            "  tessera small.db \"summarize part\"\n"
            "  echo 'select count(*) from part' | tessera sql --db small.db --format csv > parts.csv\n"
            "  tessera sql --db small.db \"copy (select * from part where p_size > 40) to 'large.csv.gz'\"\n"
            "  tessera sql \"select count(*) from 'large.csv.gz'\"",
};

/* What all processes run: the statements of the command line, or what process 0 reads. */
static enum status run_script(const struct shell_options *options, struct sql_shell *shell,
                              struct error *error)
{
    return options->statement ? sql_shell_script(shell, options->statement, strlen(options->statement), error)
                              : sql_shell_stream(shell, error);
}

static enum status run_input(const struct shell_options *options, struct sql_shell *shell,
                             struct error *error)
{
    if (cluster_rank(shell->options.cluster) > 0 && !options->statement)
        return sql_shell_follow(shell, error);
    RETURN_IF_ERROR(!options->statement && isatty(STDIN_FILENO) ? sql_shell_prompt(shell, error)
                                                                : run_script(options, shell, error));
    return options->statement || shell->quit ? STATUS_OK : sql_shell_share(shell, NULL, 0, error);
}

static enum status run_and_report(const struct shell_options *options, struct sql_shell *shell,
                                  struct error *error)
{
    if (!options->report)
        return run_input(options, shell, error);
    enum status status = sql_report_open(&shell->report, error);
    status = AND_THEN(status, run_input(options, shell, error));
    if (status == STATUS_OK && shell->engine && cluster_rank(options->engine.cluster) == 0)
        status = sql_report_write(shell->report, options->report, database_path(shell->database),
                                  engine_device_text(shell->engine), options->argc, options->argv, error);
    sql_report_close(shell->report);
    return status;
}

/* A database that does not exist is made by CREATE TABLE. */
static enum status open_database(const struct shell_options *options, struct sql_shell *shell,
                                 struct error *error)
{
    bool is_new = false;
    if (!options->database)
        return database_open_none("", &shell->database, error);
    if (!options->engine.cluster)
        RETURN_IF_ERROR(database_is_new(options->database, &is_new, error));
    if (!is_new)
        return cluster_command_open(options->engine.cluster, options->database, &shell->database, error);
    shell->stale = shell->is_new = true;
    if (!options->statement && isatty(STDIN_FILENO))
        fprintf(stderr, "There is no database %s yet; CREATE TABLE makes it.\n", options->database);
    return database_open_none(options->database, &shell->database, error);
}

static enum status open_and_run(const struct shell_options *options, struct progress *progress,
                                struct error *error)
{
    struct sql_shell shell = {.codec = options->codec,
                              .options = options->engine,
                              .format = options->format,
                              .timer = options->timer,
                              .staged = options->staged,
                              .plan_cache = options->plan_cache,
                              .index = options->index,
                              .rows_shown = options->rows_shown,
                              .like = options->like,
                              .zone = options->zone};
    if (!options->engine.cluster)
        shell.progress = progress;
    if (options->report && cluster_rank(options->engine.cluster) == 0)
        RETURN_IF_ERROR(page_check(options->report, error));
    RETURN_IF_ERROR(open_database(options, &shell, error));
    enum status status = engine_open(&options->engine, &shell.engine, error);
    if (status == STATUS_OK) {
        status = sql_cache_open(shell.engine, shell.database, shell.plan_cache, &shell.cache, error);
        status = AND_THEN(status, run_and_report(options, &shell, error));
        const enum status written = sql_shell_out_end(&shell, status == STATUS_OK ? error : NULL);
        status = status == STATUS_OK ? written : status;
        sql_cache_close(shell.cache);
        engine_close(shell.engine);
    }
    database_close(shell.database);
    return status;
}

enum status command_sql(int argc, char **argv, struct progress *progress, struct error *error)
{
    struct shell_options options = {.engine = {.device = "auto"}, .argc = argc, .argv = argv};
    RETURN_IF_ERROR(command_line_read(&line, argc, argv, &options, error));
    RETURN_IF_ERROR(cluster_command_begin(options.cluster, &options.engine.cluster, error));
    return cluster_command_end(options.engine.cluster, open_and_run(&options, progress, error), progress,
                               error);
}
