/*
 * main.c: the program. It finds the command of the first words in the tables of engine, loader, ssb and lab, runs
 * it, and turns its status into a sentence and an exit code. It is the only file that sees all modules.
 */
#include "engine/gpu/byte_decoder.h"
#include "engine/library/replace.h"
#include "engine/program/commands.h"
#include "engine/program/manual/manual.h"
#include "engine/program/progress_bar.h"
#include "engine/run/engine.h"
#include "lab/commands.h"
#include "loader/commands.h"
#include "ssb/commands.h"
#include "storage/base/command/command_line.h"
#include "storage/base/file_map.h"
#include "storage/base/isa.h"
#include "storage/base/words/near_word.h"
#include "storage/base/parallel.h"

#include <argp.h>
#include <errno.h>
#include <malloc.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdio_ext.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define PATH_BYTES 64u /* room for the words of a command: "tessera ssb generate" */

static const struct command *const tables[] = {ssb_commands, loader_commands, engine_commands, lab_commands};
#define TABLES (sizeof tables / sizeof *tables)

#define EACH_COMMAND(command)                          \
    for (size_t table_ = 0; table_ < TABLES; table_++) \
        for (const struct command *command = tables[table_]; command->path; command++)

/* ---- Words ---- */

static unsigned words_of(const char *path)
{
    unsigned words = 1;
    for (; *path; path++)
        words += *path == ' ';
    return words;
}

/* Joins the first `words` arguments with single blanks. The text is cut where it is longer than any
 * command. */
static void join(char path[PATH_BYTES], char **arguments, unsigned words)
{
    path[0] = '\0';
    for (unsigned i = 0; i < words; i++) {
        size_t used = strlen(path);
        snprintf(path + used, PATH_BYTES - used, "%s%s", i ? " " : "", arguments[i]);
    }
}

/* Finds the command with the most words with which the arguments begin; NULL if there is none. */
static const struct command *find_command(char **arguments, unsigned count)
{
    const struct command *best = NULL;
    EACH_COMMAND(command)
    {
        unsigned words = words_of(command->path);
        char path[PATH_BYTES];
        if (words > count || (best && words <= words_of(best->path)))
            continue;
        join(path, arguments, words);
        if (strcmp(path, command->path) == 0)
            best = command;
    }
    return best;
}

/* True if `word` is the first word of several commands, like "ssb". */
static bool is_group(const char *word)
{
    size_t length = strlen(word);
    EACH_COMMAND(command)
    if (strncmp(command->path, word, length) == 0 && command->path[length] == ' ')
        return true;
    return false;
}

/* ---- Help ---- */

/* Prints all commands, or those of one group. */
static void print_help(FILE *file, const char *group)
{
    fprintf(file,
            "Usage: tessera %s%sCOMMAND [OPTION...]\n%s\n"
            "Tessera keeps star schemas compressed and answers queries straight from the\n"
            "compressed columns, on GPU and CPU.\n\nCommands:\n",
            group ? group : "", group ? " " : "",
            group ? "" : "   or: tessera DATABASE [OPTION...] [\"STATEMENT; ...\"]\n");
    size_t length = group ? strlen(group) : 0;
    EACH_COMMAND(command)
    if (!group || (strncmp(command->path, group, length) == 0 && command->path[length] == ' '))
        fprintf(file, "  tessera %-14s  %s\n", command->path, command->summary);
    fputs("\n`tessera COMMAND --help` explains a command, `tessera --version` names the version.\n"
          "`tessera --man [COMMAND]` prints its manual page, `tessera --completion bash|zsh|fish` what a\n"
          "shell completes, `tessera --commands` the commands, one a line.\n" MANUAL_EXIT_CODES "\n",
          file);
}

/* ---- The manual ---- */

#define COMMANDS_MAX 64u

static void take_line(void *context, const struct command_line *line)
{
    ((struct manual_command *)context)->line = line;
}

/* A command gives its options when it is run with a visitor: it reads them first, and stops then. */
static enum status take_command(const struct command *command, struct manual_command *entry,
                                struct error *error)
{
    char *arguments[] = {(char *)command->path, NULL};
    *entry = (struct manual_command){.path = command->path, .summary = command->summary};
    command_line_visit(take_line, entry);
    const enum status status = command->run(1, arguments, NULL, error);
    command_line_visit(NULL, NULL);
    if (status == STATUS_MACHINE)
        return status;
    if (status != STATUS_INTERRUPTED || !entry->line)
        abort();
    *error = (struct error){0};
    return STATUS_OK;
}

/* Fills `commands` from the tables. */
static enum status list_commands(struct manual_command *commands, uint32_t *count, struct error *error)
{
    enum status status = STATUS_OK;
    *count = 0;
    EACH_COMMAND(command)
    if (status == STATUS_OK) {
        if (*count == COMMANDS_MAX)
            abort();
        status = take_command(command, &commands[(*count)++], error);
    }
    return status;
}

/* Answers `--man`, `--completion` and `--commands`; false if `argv` asks for none of them. */
static bool print_manual(int argc, char **argv, enum status *status, struct error *error)
{
    struct manual_command commands[COMMANDS_MAX];
    char path[PATH_BYTES];
    struct manual manual = {.commands = commands, .version = argp_program_version};
    if (strcmp(argv[1], "--man") != 0 && strcmp(argv[1], "--completion") != 0 &&
        strcmp(argv[1], "--commands") != 0)
        return false;
    *status = list_commands(commands, &manual.count, error);
    if (*status != STATUS_OK)
        return true;
    join(path, argv + 2, (unsigned)argc - 2);
    if (strcmp(argv[1], "--man") == 0)
        *status = manual_page(&manual, path, stdout, error);
    else if (strcmp(argv[1], "--completion") == 0)
        *status = manual_completion(&manual, path, stdout, error);
    else
        *status = manual_list(&manual, path, stdout, error);
    return true;
}

/* A database in the place of a command: `tessera DIR ...` is `tessera sql --db DIR ...`, which also says why it cannot be
 * reached. */
static bool is_database(const char *path)
{
    char catalogue[4096];
    return (size_t)snprintf(catalogue, sizeof catalogue, "%s/catalogue", path) < sizeof catalogue &&
           (access(catalogue, F_OK) == 0 || (errno != ENOENT && errno != ENOTDIR && errno != ENAMETOOLONG));
}

static enum status run_command(const struct command *command, int argc, char **argv, struct progress *bar,
                               struct error *error);

static enum status ask_database(int argc, char **argv, struct progress *bar, struct error *error)
{
    char *words[] = {"sql"}, **const line = calloc((size_t)argc + 3, sizeof *line);
    if (!line)
        return error_out_of_memory(error, (size_t)argc, "a command line");
    line[0] = argv[0];
    line[1] = words[0];
    line[2] = "--db";
    memcpy(line + 3, argv + 1, (size_t)argc * sizeof *argv); /* with the NULL at its end */
    const enum status status = run_command(find_command(words, 1), argc + 2, line, bar, error);
    free(line);
    return status;
}

static enum status unknown_command(char **arguments, unsigned count, struct error *error)
{
    unsigned words = 1;
    while (words < count && words < 2 && arguments[words][0] != '-' && is_group(arguments[0]))
        words++;
    char typed[PATH_BYTES];
    join(typed, arguments, words);
    struct near_word near = near_word_begin(typed);
    EACH_COMMAND(command)
    near_word_try(&near, command->path);
    if (strchr(typed, '/') || strchr(typed, '.'))
        return error_set(
            error, STATUS_BAD_INPUT,
            "there is no command and no database '%s'; `tessera --help` lists commands, and `tessera "
            "load` makes databases, as CREATE TABLE does in `tessera sql --db DIR`",
            typed);
    if (near.nearest)
        return error_set(error, STATUS_BAD_INPUT, "there is no command '%s'; did you mean '%s'?", typed,
                         near.nearest);
    return error_set(error, STATUS_BAD_INPUT, "there is no command '%s'; `tessera --help` lists them", typed);
}

/* ---- The process ---- */

/* All that the program does is a part of it. */
static struct execution program;

/* The first signal tells the work to stop and clean up; the second one ends the program at once. */
static void on_signal(int signal_number)
{
    (void)signal_number;
    if (program.stopped)
        _exit(STATUS_INTERRUPTED);
    execution_stop(&program);
}

/* Handles a mapped file that became shorter, or whose disk does not answer. Any other bus error ends the
 * program as it would without this handler. */
static void on_bus_error(int signal_number, siginfo_t *info, void *context)
{
    static const char
        before[] = "tessera: ",
        after[] = ": the file became shorter while it was read, or its disk failed; leave an open database's "
                  "files alone, and restore this one from a copy or load the table again\n";
    const char *path = info->si_code == BUS_ADRERR ? file_map_path(info->si_addr) : NULL;
    (void)context;
    if (!path) {
        signal(signal_number, SIG_DFL); /* the access is repeated, and ends the program */
        return;
    }
    if (write(STDERR_FILENO, before, sizeof before - 1) < 0 || write(STDERR_FILENO, path, strlen(path)) < 0 ||
        write(STDERR_FILENO, after, sizeof after - 1) < 0) {
        /* standard error is closed: nobody reads it */
    }
    _exit(STATUS_BAD_INPUT);
}

static void catch_signals(void)
{
    struct sigaction stop = {.sa_handler = on_signal, .sa_flags = SA_RESTART};
    struct sigaction ignore = {.sa_handler = SIG_IGN};
    struct sigaction bus = {.sa_sigaction = on_bus_error, .sa_flags = SA_SIGINFO};
    sigemptyset(&stop.sa_mask);
    sigemptyset(&bus.sa_mask);
    sigemptyset(&ignore.sa_mask);
    sigaction(SIGINT, &stop, NULL);
    sigaction(SIGTERM, &stop, NULL);
    sigaction(SIGBUS, &bus, NULL);
    sigaction(SIGPIPE, &ignore, NULL); /* a write to a closed pipe fails, but must not end a load half-way; */
    sigaction(SIGXFSZ, &ignore, NULL); /* the same for a write beyond the limit on a file's size */
}

/* True if standard output could not be written because the reader of its pipe has gone, as after `| head`. */
static bool reader_has_gone(void)
{
    struct pollfd output = {.fd = STDOUT_FILENO, .events = POLLOUT};
    return ferror(stdout) && poll(&output, 1, 0) == 1 && (output.revents & (POLLERR | POLLHUP));
}

/* Ends the program like one that does not handle SIGPIPE: without a message. */
static void end_by_closed_pipe(void)
{
    signal(SIGPIPE, SIG_DFL);
    raise(SIGPIPE);
    _exit(128 + SIGPIPE); /* the signal is blocked */
}

/* Reports data that could not be written to standard output, unless its reader has gone. It runs after every
 * command and, because argp exits by itself, at exit. */
static void close_stdout(int status, void *unused)
{
    (void)unused;
    bool failed = ferror(stdout) != 0;
    errno = 0;
    failed = (__fpending(stdout) && fflush(stdout) != 0) || failed; /* a load prints nothing, and is done */
    if (!failed || status != STATUS_OK)
        return;
    if (reader_has_gone())
        end_by_closed_pipe();
    fprintf(stderr, "tessera: standard output could not be written%s%s; what was printed is not complete\n",
            errno ? ": " : "", errno ? strerror(errno) : "");
    _exit(STATUS_MACHINE);
}

/* Runs a command. Its words become one argument, "tessera ssb run", for argp's messages. */
static enum status run_command(const struct command *command, int argc, char **argv, struct progress *bar,
                               struct error *error)
{
    char name[PATH_BYTES + 16];
    unsigned words = words_of(command->path);
    snprintf(name, sizeof name, "tessera %s", command->path);
    argv[words] = name;
    RETURN_IF_ERROR(isa_check(error));
    engine_choose_by_device();
    return command->run(argc - (int)words, argv + words, bar, error);
}

/* Memory that one statement frees is kept for the next: given back to the system, its pages come as zeros again, one fault
 * each, which is a quarter to two thirds of the time of a statement that takes some MB in many pieces. */
static void keep_freed_memory(void)
{
    mallopt(M_MMAP_THRESHOLD, 64 << 20);
    mallopt(M_TRIM_THRESHOLD, 512 << 20);
    mallopt(M_TOP_PAD, 4 << 20);
}

int main(int argc, char **argv)
{
    keep_freed_memory();
    argp_program_version = "tessera " TESSERA_VERSION;
    argp_err_exit_status = STATUS_BAD_INPUT;
    on_exit(close_stdout, NULL);
    execution_enter(&program);
    catch_signals();
    loader_use_device(&cuda_byte_device);
    loader_use_conditions(&replace_conditions);

    if (argc < 2) {
        print_help(stderr, NULL);
        return STATUS_BAD_INPUT;
    }
    const char *first = argv[1];
    if (strcmp(first, "--help") == 0 || strcmp(first, "-?") == 0 || strcmp(first, "-h") == 0) {
        print_help(stdout, NULL);
        return STATUS_OK;
    }
    if (strcmp(first, "--version") == 0 || strcmp(first, "-V") == 0) {
        puts(argp_program_version);
        return STATUS_OK;
    }

    struct error error = {0};
    enum status status;
    struct progress *bar = progress_bar_open();
    const struct command *command = find_command(argv + 1, (unsigned)argc - 1);
    if (print_manual(argc, argv, &status, &error)) {
        /* it is printed, or the error says why not */
    } else if (command) {
        status = run_command(command, argc, argv, bar, &error);
    } else if (is_group(first) && (argc == 2 || argv[2][0] == '-')) {
        bool asked = argc > 2 && (strcmp(argv[2], "--help") == 0 || strcmp(argv[2], "-?") == 0);
        print_help(asked ? stdout : stderr, first);
        return asked ? STATUS_OK : STATUS_BAD_INPUT;
    } else if (is_database(first)) {
        status = ask_database(argc, argv, bar, &error);
    } else {
        status = unknown_command(argv + 1, (unsigned)argc - 1, &error);
    }
    progress_bar_clear(bar);
    if (status == STATUS_MACHINE && reader_has_gone())
        end_by_closed_pipe();
    if (status != STATUS_OK && error.text[0]) /* one of several processes has told what all failed of */
        fprintf(stderr, "tessera: %s\n", error.text);
    /* Not at exit, where libraries may flush first and lose the reason. */
    close_stdout((int)status, NULL);
    return (int)status;
}
