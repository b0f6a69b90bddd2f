/*
 * sql_shell.h: the shell of `tessera sql`: runs statements and dot commands, one after the other, from a text
 * or from a prompt. engine/program/command_sql.c makes it from the command line.
 */
#ifndef TESSERA_ENGINE_PROGRAM_SQL_SHELL_H
#define TESSERA_ENGINE_PROGRAM_SQL_SHELL_H

#include "engine/library/statement_cache.h"
#include "engine/program/shell/report.h"
#include "storage/base/parallel.h"
#include "storage/base/sql_token.h"

#include <pthread.h>

/* The rows of an answer that a terminal shows, unless `.rows` or --rows says another number. */
#define SQL_SHELL_ROWS 1000u

/* The device of statements and the format of answers; dot commands change them. */
struct sql_shell {
    struct database *database;
    bool stale;              /* tables were changed, and are opened again by sql_shell_refresh */
    bool is_new;             /* there is no database yet; CREATE TABLE makes it. It is stale until then */
    struct engine *engine;   /* owned: dot commands open another one; engine_close it at the end */
    struct sql_cache *cache; /* owned; of `engine` */
    const char *plan_cache;  /* the argument of sql_cache_open */
    const char *codec;       /* or NULL; the argument of sql_prepare */
    struct engine_options options;    /* of `engine`, but for the device that `.device` has chosen */
    char device[256], gpu_memory[64]; /* texts of `options` that dot commands have set */
    enum rowset_format format;
    bool timer;
    bool staged;               /* struct sql_settings */
    enum plan_index_use index; /* the same */
    enum sql_explain explain;  /* the same */
    uint64_t rows_shown;       /* the most rows of an answer; 0: SQL_SHELL_ROWS on a terminal, else all */
    bool no_pager;             /* .pager off */
    enum sql_like like;        /* the same */
    const struct zone *zone;   /* the same */
    struct sql_report *report; /* gets what EXPLAIN ANALYZE measures; NULL: nobody does */
    struct progress *progress; /* shows how far a long statement is; NULL: nobody is shown */
    bool prompt;               /* statements are typed at a prompt: the rows of an answer are told */
    bool quit;                 /* .quit was read */
    FILE *out;                 /* owned: answers go there; NULL: to standard output */
    char *out_path;            /* of `out` */
    unsigned once;             /* so many statements and commands end before `out` is closed; 0: it stays */
    unsigned read_depth;       /* of .read in files that are read */
    bool in_stream;            /* texts follow each other in one script ... */
    uint32_t line, column;     /* ... in which the next one begins here, from 0 */
};

/* Runs all statements and dot commands of the text. Answers go to standard output, times to standard error.
 * It stops at the first one that fails; its sentence has the line and column in the text. */
NODISCARD enum status sql_shell_script(struct sql_shell *shell, const char *text, size_t length,
                                       struct error *error);

/* Runs standard input, statement by statement as they arrive (engine/program/shell/stream.c). */
NODISCARD enum status sql_shell_stream(struct sql_shell *shell, struct error *error);

/* Puts the line of an error's place after its sentence, and a caret under the place (engine/program/shell/caret.c). The
 * statement is at `at`, of whose text `length` bytes are known, and what is before it begins at `text`. */
void sql_shell_caret(struct error *error, const char *text, const char *at, size_t length);

/* Shows how far statements are, while they take longer than a second, between the two calls, on a thread that reads the
 * counts of the current thread's execution. Nothing for `progress` NULL (engine/program/shell/wait.c). */
struct sql_wait {
    struct progress *progress;
    struct execution *execution;
    pthread_t thread;
    pthread_mutex_t lock;
    pthread_cond_t ended;
    bool is_over;
};
void sql_wait_begin(struct progress *progress, struct sql_wait *wait);
void sql_wait_end(struct sql_wait *wait);

/* Where answers go: to standard output, or to the file of .output or .once (engine/program/shell/redirect.c). */
FILE *sql_shell_out(const struct sql_shell *shell);
/* A statement or command has ended: flushes that file, or ends it after .once. */
NODISCARD enum status sql_shell_out_done(struct sql_shell *shell, struct error *error);
/* Ends it, if there is one. */
NODISCARD enum status sql_shell_out_end(struct sql_shell *shell, struct error *error);

/* The dot commands of these files, and .read. */
NODISCARD enum status sql_dot_output(struct sql_shell *shell, const char *argument, struct error *error);
NODISCARD enum status sql_dot_once(struct sql_shell *shell, const char *argument, struct error *error);
NODISCARD enum status sql_dot_read(struct sql_shell *shell, const char *argument, struct error *error);

/* Prints an answer there. On a terminal it is cut after the rows that are shown, and goes through a pager if
 * it does not fit (engine/program/shell/output.c). */
NODISCARD enum status sql_shell_print(struct sql_shell *shell, const struct rowset *rows,
                                      struct error *error);

/* Runs COPY, DELETE, INSERT or CREATE TABLE (engine/sql/change/change.h), and tells what was done on standard error. What
 * changes tables begins with the newest state of the database. *used is as in sql_parse (engine/program/shell/change.c). */
NODISCARD enum status sql_shell_change(struct sql_shell *shell, const char *text, size_t length, size_t *used,
                                       struct error *error);

/* Opens the database as it is now, if the shell has changed it: before the next statement or command. */
NODISCARD enum status sql_shell_refresh(struct sql_shell *shell, struct error *error);

/* Runs the dot command in the first `length` bytes of `line`, which begins with the dot:
 * engine/program/sql_dot.c. */
NODISCARD enum status sql_shell_dot(struct sql_shell *shell, const char *line, size_t length,
                                    struct error *error);

/* Reads the number of rows that are shown, or "all". */
NODISCARD enum status sql_shell_rows(const char *text, uint64_t *rows, struct error *error);

/* The dot commands: the i-th name, and what may follow it ("[on|off]"); NULL after the last. */
const char *sql_shell_dot_name(uint32_t i, const char **argument);

/* Reads statements from the terminal until Ctrl-D or .quit, with line editing and history
 * (engine/program/sql_prompt.c). After an error it continues. Ctrl-C cancels a line or a running statement.
 * Standard input must be a terminal. STATUS_INTERRUPTED after SIGTERM. */
NODISCARD enum status sql_shell_prompt(struct sql_shell *shell, struct error *error);

/* ---- Several processes (engine/program/sql_cluster.c); nothing to do without a cluster ---- */

/* Process 0 gives the others a text, which all run then; NULL: there is no more. */
NODISCARD enum status sql_shell_share(struct sql_shell *shell, const char *text, size_t length,
                                      struct error *error);

/* The end of a text, whose status and sentence all processes get. */
NODISCARD enum status sql_shell_end(struct sql_shell *shell, enum status status, struct error *error);

/* Runs the texts of process 0 until it leaves. */
NODISCARD enum status sql_shell_follow(struct sql_shell *shell, struct error *error);

#endif
