/* sql_dot.c: the dot commands of prompts and scripts (sql_shell.h). */
#include "engine/library/show.h"
#include "engine/program/sql_shell.h"

#include "storage/base/words/near_word.h"
#include "storage/base/words/sql_name.h"
#include "storage/base/zone/zone.h"
#include "storage/database/changes/live_rows.h"
#include "storage/database/table_script.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define WORD_BYTES 4096u /* of paths */

/* The position of the dot in its line; sql_shell_script turns it into the position in the script. */
#define HERE "line 1, column 1: "

static enum status dot_tables(struct sql_shell *shell, const char *unused, struct error *error)
{
    FILE *const out = sql_shell_out(shell);
    (void)unused;
    for (uint32_t t = 0; t < database_table_count(shell->database); t++) {
        const struct table *table = database_table_at(shell->database, t);
        bool first = true;
        uint64_t live;
        RETURN_IF_ERROR(live_rows_count(database_path(shell->database), table, &live, error));
        fprintf(out, "%-16s %12" PRIu64 " row%s %3" PRIu32 " columns", table->name, live,
                live == 1 ? ", " : "s,", table_visible_columns(table));
        for (uint32_t c = 0; c < table->column_count; c++)
            if (table->columns[c].references) {
                fprintf(out, "%s%s", first ? "; references " : ", ",
                        table->columns[c].references->table->name);
                first = false;
            }
        putc('\n', out);
    }
    for (uint32_t v = 0; v < database_view_count(shell->database); v++)
        fprintf(out, "%-16s view\n", database_view_at(shell->database, v));
    return STATUS_OK;
}

static void write_view(FILE *out, const struct database *database, const char *name)
{
    fputs("CREATE VIEW ", out);
    sql_name_write(out, name, false);
    fprintf(out, " AS %s;\n", database_view(database, name));
}

/* `.schema`. It accepts a table's name like FROM: with or without quotes, and in any case if no table has
 * exactly this name. */
static enum status dot_schema(struct sql_shell *shell, const char *argument, struct error *error)
{
    const struct table *found;
    char name[WORD_BYTES];
    const size_t length = strlen(argument);
    const bool quoted = length > 1 && argument[0] == '"' && argument[length - 1] == '"';
    snprintf(name, sizeof name, "%.*s", (int)(length - 2 * quoted), argument + quoted);
    for (uint32_t t = 0; !*name && t < database_table_count(shell->database); t++)
        table_script_write(sql_shell_out(shell), shell->database, database_table_at(shell->database, t));
    for (uint32_t v = 0; !*name && v < database_view_count(shell->database); v++)
        write_view(sql_shell_out(shell), shell->database, database_view_at(shell->database, v));
    if (*name && database_view(shell->database, name) && !database_find(shell->database, name)) {
        write_view(sql_shell_out(shell), shell->database, name);
    } else if (*name) {
        RETURN_IF_ERROR(show_table(shell->database, name, &found, error));
        table_script_write(sql_shell_out(shell), shell->database, found);
    }
    return STATUS_OK;
}

/* Sets *choice to the number of a word, or prints the word that it is at. `what` is for the error: "the timer is on or
 * off". */
static enum status choose(const char *const *words, const char *what, const char *argument, int *choice,
                          struct error *error)
{
    int word = 0;
    if (!*argument) {
        puts(words[*choice]);
        return STATUS_OK;
    }
    while (words[word] && strcmp(argument, words[word]) != 0)
        word++;
    if (!words[word])
        return error_set(error, STATUS_BAD_INPUT, HERE "%s, not '%s'", what, argument);
    *choice = word;
    return STATUS_OK;
}

static enum status dot_timer(struct sql_shell *shell, const char *argument, struct error *error)
{
    static const char *const words[] = {"off", "on", NULL};
    int timer = shell->timer;
    RETURN_IF_ERROR(choose(words, "the timer is on or off", argument, &timer, error));
    shell->timer = timer;
    return STATUS_OK;
}

static enum status dot_index(struct sql_shell *shell, const char *argument, struct error *error)
{
    static const char *const words[] = {
        [PLAN_INDEX_AUTO] = "auto", [PLAN_INDEX_ON] = "on", [PLAN_INDEX_OFF] = "off", NULL};
    int use = shell->index;
    RETURN_IF_ERROR(choose(words, "indexes are used auto, on or off", argument, &use, error));
    shell->index = (enum plan_index_use)use;
    return STATUS_OK;
}

static enum status dot_explain(struct sql_shell *shell, const char *argument, struct error *error)
{
    static const char *const words[] = {
        [SQL_EXPLAIN_NONE] = "off", [SQL_EXPLAIN] = "on", [SQL_EXPLAIN_ANALYZE] = "analyze", NULL};
    int explain = shell->explain;
    RETURN_IF_ERROR(choose(words, "explain is on, analyze or off", argument, &explain, error));
    shell->explain = (enum sql_explain)explain;
    return STATUS_OK;
}

static enum status dot_pager(struct sql_shell *shell, const char *argument, struct error *error)
{
    static const char *const words[] = {"on", "off", NULL};
    int off = shell->no_pager;
    RETURN_IF_ERROR(choose(words, "the pager is on or off", argument, &off, error));
    shell->no_pager = off;
    return STATUS_OK;
}

static enum status dot_rows(struct sql_shell *shell, const char *argument, struct error *error)
{
    if (*argument)
        return sql_shell_rows(argument, &shell->rows_shown, error) == STATUS_OK
                   ? STATUS_OK
                   : error_set(error, STATUS_BAD_INPUT, HERE "rows are a number or all, not '%s'", argument);
    if (shell->rows_shown == UINT64_MAX)
        puts("all");
    else
        printf("%" PRIu64 "\n", shell->rows_shown ? shell->rows_shown : SQL_SHELL_ROWS);
    return STATUS_OK;
}

enum status sql_shell_rows(const char *text, uint64_t *rows, struct error *error)
{
    char *end;
    if (strcmp(text, "all") == 0) {
        *rows = UINT64_MAX;
        return STATUS_OK;
    }
    const unsigned long long number = strtoull(text, &end, 10);
    if (*text < '1' || *text > '9' || *end)
        return error_set(error, STATUS_BAD_INPUT, "--rows is a number from 1, or all, not '%.40s'", text);
    *rows = number;
    return STATUS_OK;
}

static enum status dot_like(struct sql_shell *shell, const char *argument, struct error *error)
{
    const bool sqlite = strcmp(argument, "sqlite") == 0;
    if (*argument && !sqlite && strcmp(argument, "standard") != 0)
        return error_set(error, STATUS_BAD_INPUT, HERE "LIKE is that of the standard or of sqlite, not '%s'",
                         argument);
    if (*argument)
        shell->like = sqlite ? SQL_LIKE_SQLITE : SQL_LIKE_STANDARD;
    else
        puts(shell->like == SQL_LIKE_SQLITE ? "sqlite" : "standard");
    return STATUS_OK;
}

static enum status dot_time_zone(struct sql_shell *shell, const char *argument, struct error *error)
{
    if (*argument)
        return zone_find(argument, &shell->zone, error);
    puts(zone_name(shell->zone));
    return STATUS_OK;
}

static enum status dot_mode(struct sql_shell *shell, const char *argument, struct error *error)
{
    static const char *const names[] = {[ROWSET_TABLE] = "table",
                                        [ROWSET_CSV] = "csv",
                                        [ROWSET_JSON] = "json",
                                        [ROWSET_MARKDOWN] = "markdown"};
    if (!*argument)
        puts(names[shell->format]);
    else if (!rowset_format_by_name(argument, &shell->format))
        return error_set(error, STATUS_BAD_INPUT, HERE "'%s' is no mode; use table, csv, json or markdown",
                         argument);
    return STATUS_OK;
}

/* Opens another engine; the current one stays until it is open. */
static enum status reopen(struct sql_shell *shell, const struct engine_options *options, struct error *error)
{
    struct engine *engine;
    struct sql_cache *cache;
    RETURN_IF_ERROR(engine_open(options, &engine, error));
    const enum status status = sql_cache_open(engine, shell->database, shell->plan_cache, &cache, error);
    if (status != STATUS_OK) {
        engine_close(engine);
        return status;
    }
    sql_cache_close(shell->cache);
    engine_close(shell->engine);
    shell->engine = engine;
    shell->cache = cache;
    return STATUS_OK;
}

static enum status dot_device(struct sql_shell *shell, const char *argument, struct error *error)
{
    struct engine_options options = shell->options;
    options.device = argument;
    if (*argument) {
        RETURN_IF_ERROR(reopen(shell, &options, error));
        snprintf(shell->device, sizeof shell->device, "%s", argument);
        shell->options.device = shell->device;
    }
    const char *const why = engine_why_cpu(shell->engine);
    printf("%s%s%s%s\n", engine_device_text(shell->engine), why ? " (no GPU can be used: " : "",
           why ? why : "", why ? ")" : "");
    return STATUS_OK;
}

static enum status dot_gpu_memory(struct sql_shell *shell, const char *argument, struct error *error)
{
    struct engine_options options = shell->options;
    options.gpu_memory = strcmp(argument, "free") == 0 ? NULL : argument;
    if (*argument) {
        RETURN_IF_ERROR(reopen(shell, &options, error));
        snprintf(shell->gpu_memory, sizeof shell->gpu_memory, "%s", argument);
        shell->options.gpu_memory = options.gpu_memory ? shell->gpu_memory : NULL;
    }
    puts(shell->options.gpu_memory ? shell->options.gpu_memory : "free");
    return STATUS_OK;
}

static enum status dot_quit(struct sql_shell *shell, const char *unused, struct error *error)
{
    (void)unused;
    (void)error;
    shell->quit = true;
    return STATUS_OK;
}

/* Clears a terminal. */
static enum status dot_clear(struct sql_shell *shell, const char *unused, struct error *error)
{
    (void)shell;
    (void)unused;
    (void)error;
    if (isatty(STDOUT_FILENO))
        fputs("\033[H\033[2J", stdout);
    return STATUS_OK;
}

static enum status dot_help(struct sql_shell *shell, const char *unused, struct error *error);

static const struct {
    const char *name, *argument, *help;
    enum status (*run)(struct sql_shell *shell, const char *argument, struct error *error);
} commands[] = {
    {".tables", "", "the tables, their rows, and which others they reference", dot_tables},
    {".schema", "[TABLE]", "CREATE TABLE of one table, or of all", dot_schema},
    {".mode", "[table|csv|json|markdown]", "how answers are written", dot_mode},
    {".timer", "[on|off]", "the time of each statement, on standard error", dot_timer},
    {".device", "[cpu|cuda|cuda:N,...|auto]", "where statements run", dot_device},
    {".gpu_memory", "[BYTES|free]", "the most bytes of a GPU's memory for columns and statements",
     dot_gpu_memory},
    {".index", "[auto|on|off]", "whether bitmap indexes decide conditions", dot_index},
    {".like", "[standard|sqlite]", "whether the case of letters matters to LIKE", dot_like},
    {".time_zone", "[ZONE]", "whose clock shows timestamps with time zone, as Europe/Berlin", dot_time_zone},
    {".explain", "[on|analyze|off]", "statements are explained instead of answered", dot_explain},
    {".rows", "[N|all]", "the most rows of an answer that a terminal shows", dot_rows},
    {".pager", "[on|off]", "whether what exceeds the terminal goes through PAGER, or less", dot_pager},
    {".output", "[FILE]", "answers go to that file from now on; without one, to standard output again",
     sql_dot_output},
    {".once", "FILE", "the next answer goes to that file", sql_dot_once},
    {".read", "FILE", "runs the statements of that file", sql_dot_read},
    {".clear", "", "clears the screen; so does clear", dot_clear},
    {".help", "", "this list", dot_help},
    {".quit", "", "ends; so do exit, quit and Ctrl-D", dot_quit}};
#define COMMANDS (sizeof commands / sizeof *commands)

static enum status dot_help(struct sql_shell *shell, const char *unused, struct error *error)
{
    (void)shell;
    (void)unused;
    (void)error;
    for (size_t i = 0; i < COMMANDS; i++)
        printf("%-12s %-27s %s\n", commands[i].name, commands[i].argument, commands[i].help);
    puts("SHOW TABLES; and DESCRIBE TABLE; are statements; Tab completes names and keywords.");
    puts("Statements end with a semicolon and may take several lines; Ctrl-C stops one.");
    return STATUS_OK;
}

/* Reads the next word of the line, "" at its end. A word in quotes, which stay, may contain blanks. A closing semicolon is
 * ignored. */
static void take_word(const char **at, const char *end, char word[WORD_BYTES])
{
    static const char blanks[] = " \t\r";
    size_t length = 0;
    while (*at < end && strchr(blanks, **at))
        (*at)++;
    char quote = '\0';
    while (*at < end && (quote || !strchr(blanks, **at))) {
        if (strchr("\"'", **at) && (!quote || quote == **at))
            quote = quote ? '\0' : **at;
        if (length + 1 < WORD_BYTES)
            word[length++] = **at;
        (*at)++;
    }
    while (length > 0 && word[length - 1] == ';')
        length--;
    word[length] = '\0';
}

enum status sql_shell_dot(struct sql_shell *shell, const char *line, size_t length, struct error *error)
{
    const char *const end = line + length;
    char name[WORD_BYTES], argument[WORD_BYTES], rest[WORD_BYTES];
    take_word(&line, end, name);
    take_word(&line, end, argument);
    take_word(&line, end, rest);
    for (size_t i = 0; i < COMMANDS; i++) {
        if (strcmp(commands[i].name, strcmp(name, ".exit") == 0 ? ".quit" : name) != 0)
            continue;
        if (*rest || (*argument && !*commands[i].argument))
            return error_set(error, STATUS_BAD_INPUT, HERE "%s takes %s, not '%s' too", name,
                             *commands[i].argument ? "one word" : "nothing behind it",
                             *commands[i].argument ? rest : argument);
        return commands[i].run(shell, argument, error);
    }
    struct near_word near = near_word_begin(name);
    for (size_t i = 0; i < COMMANDS; i++)
        near_word_try(&near, commands[i].name);
    if (near.nearest)
        return error_set(error, STATUS_BAD_INPUT, HERE "there is no command '%s'; did you mean %s?", name,
                         near.nearest);
    return error_set(error, STATUS_BAD_INPUT, HERE "there is no command '%s'; .help lists them", name);
}

const char *sql_shell_dot_name(uint32_t i, const char **argument)
{
    *argument = i < COMMANDS ? commands[i].argument : "";
    return i < COMMANDS ? commands[i].name : NULL;
}
