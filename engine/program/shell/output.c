/*
 * output.c: prints answers where a person or a program reads them (sql_shell.h).
 *
 * On a terminal, which is where statements are typed too, a long answer is cut after some rows, and says so; what does
 * not fit the screen goes through a pager. Everywhere else all of it is written to standard output.
 */
#include "engine/answer/text_width.h"
#include "engine/program/sql_shell.h"
#include "storage/base/parallel.h"
#include "storage/base/text/text_stream.h"

#include <errno.h>
#include <inttypes.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/wait.h>
#include <unistd.h>

/* An answer of more rows is written to the pager at once; one of fewer is measured in memory first. */
#define MEASURED_ROWS 10000u

/* ---- The pager ---- */

/* True if a program of this name can be run. */
static bool is_installed(const char *name)
{
    char path[4096];
    for (const char *at = getenv("PATH"); at && *at;) {
        const size_t length = strcspn(at, ":");
        snprintf(path, sizeof path, "%.*s/%s", (int)length, at, name);
        if (access(path, X_OK) == 0)
            return true;
        at += length + (at[length] == ':');
    }
    return false;
}

/* The pager's command line: $TESSERA_PAGER, else $PAGER, else less; NULL: none, as where a variable is empty. */
static const char *pager_command(const struct sql_shell *shell)
{
    const char *const own = getenv("TESSERA_PAGER"), *const any = getenv("PAGER"),
                      *const terminal = getenv("TERM");
    const char *const asked = own ? own : any;
    if (shell->no_pager || !terminal || strcmp(terminal, "dumb") == 0)
        return NULL;
    if (asked)
        return *asked && strcmp(asked, "cat") != 0 ? asked : NULL;
    return is_installed("less") ? "less" : NULL;
}

struct pager {
    pid_t process; /* 0: none */
    FILE *out;
    struct sigaction before;
};

/* Starts the pager; false if it cannot be. Ctrl-C is the pager's own until it ends. less gets options that suit tables,
 * unless $LESS has others: long lines are cut, not folded, and an answer stays on the screen. */
static bool pager_open(const char *command, struct pager *pager)
{
    const struct sigaction ignore = {.sa_handler = SIG_IGN};
    int ends[2];
    if (pipe(ends) != 0)
        return false;
    fflush(NULL);
    pager->process = fork();
    if (pager->process == 0) {
        sigset_t none;
        sigemptyset(&none);
        sigprocmask(SIG_SETMASK, &none, NULL);
        signal(SIGINT, SIG_DFL);
        signal(SIGPIPE, SIG_DFL);
        dup2(ends[0], STDIN_FILENO);
        close(ends[0]);
        close(ends[1]);
        setenv("LESS", "SRX", 0);
        execl("/bin/sh", "sh", "-c", command, (char *)NULL);
        _exit(127);
    }
    close(ends[0]);
    pager->out = pager->process > 0 ? fdopen(ends[1], "w") : NULL;
    if (!pager->out) {
        close(ends[1]);
        return false;
    }
    sigaction(SIGINT, &ignore, &pager->before);
    return true;
}

/* Waits until the pager is left; false if it could not be run. Who leaves it early has seen enough: that is no failure. */
static bool pager_close(struct pager *pager)
{
    int status = 0;
    fclose(pager->out);
    while (waitpid(pager->process, &status, 0) < 0 && errno == EINTR) {
        /* a signal for the program; the pager has the terminal */
    }
    sigaction(SIGINT, &pager->before, NULL);
    return !WIFEXITED(status) || WEXITSTATUS(status) < 126;
}

/* ---- Answers ---- */

/* Prints the rows that are shown, and how many they are if these are not all: below a table, but not in data that a program
 * may read. */
static enum status print_rows(const struct sql_shell *shell, const struct rowset *rows, uint64_t shown,
                              FILE *out, struct error *error)
{
    struct rowset part = *rows;
    part.rows = shown;
    RETURN_IF_ERROR(rowset_print(&part, shell->format, engine_threads(shell->engine), out, error));
    if (shown < rows->rows)
        fprintf(shell->format == ROWSET_TABLE ? out : stderr,
                "%" PRIu64 " of %" PRIu64 " rows are shown; .rows all shows all at a prompt, --rows all on "
                "the command line, and > FILE keeps them\n",
                shown, rows->rows);
    return STATUS_OK;
}

/* True if the text has more lines or columns than the terminal. */
static bool exceeds(const char *text, size_t length, const struct winsize *size)
{
    unsigned lines = 0;
    for (size_t at = 0, bytes; at < length; at += bytes + 1, lines++) {
        const char *const end = memchr(text + at, '\n', length - at);
        bytes = end ? (size_t)(end - text) - at : length - at;
        if (lines + 2 > size->ws_row || text_width(text + at, bytes) > size->ws_col)
            return true; /* the last line is for the prompt */
    }
    return false;
}

/* Gives a text to the pager, or to standard output if it fits the terminal or the pager cannot be run. */
static void show_text(const char *command, const char *text, size_t length)
{
    struct winsize size = {0};
    struct pager pager;
    if (ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_row && size.ws_col &&
        exceeds(text, length, &size) && pager_open(command, &pager)) {
        fwrite(text, 1, length, pager.out);
        if (pager_close(&pager))
            return;
        fprintf(stderr, "the pager '%s' could not be run; PAGER names another, .pager off uses none\n",
                command);
    }
    fwrite(text, 1, length, stdout);
}

static enum status show_measured(const struct sql_shell *shell, const char *command,
                                 const struct rowset *rows, uint64_t shown, struct error *error)
{
    char *text = NULL;
    size_t length = 0;
    FILE *const out = text_stream(&text, &length);
    if (!out)
        return error_out_of_memory(error, MEASURED_ROWS, "an answer's text");
    enum status status = print_rows(shell, rows, shown, out, error);
    if (fclose(out) != 0 && status == STATUS_OK)
        status = error_out_of_memory(error, length, "an answer's text");
    if (status == STATUS_OK)
        show_text(command, text, length);
    free(text);
    return status;
}

enum status sql_shell_print(struct sql_shell *shell, const struct rowset *rows, struct error *error)
{
    /* mpirun gives its processes a terminal for their output, whatever its own is, but none for their input. */
    const bool terminal = !shell->out && isatty(STDOUT_FILENO) && isatty(STDIN_FILENO);
    const uint64_t most = shell->rows_shown ? shell->rows_shown : terminal ? SQL_SHELL_ROWS : UINT64_MAX;
    const uint64_t shown = rows->rows < most ? rows->rows : most;
    const char *const command = terminal ? pager_command(shell) : NULL;
    struct pager pager;
    if (!command)
        return print_rows(shell, rows, shown, sql_shell_out(shell), error);
    if (shown <= MEASURED_ROWS)
        return show_measured(shell, command, rows, shown, error);
    if (!pager_open(command, &pager))
        return print_rows(shell, rows, shown, stdout, error);
    const enum status status = print_rows(shell, rows, shown, pager.out, error);
    pager_close(&pager);
    return status == STATUS_MACHINE ? STATUS_OK : status; /* the pager was left before the end */
}
