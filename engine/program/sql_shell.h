/*
 * sql_shell.h: `tessera sql` as a person or a script meets it: statements and dot commands, one after the other,
 * from a text or from a prompt. engine/program/command_sql.c makes it of the command line.
 */
#ifndef TESSERA_ENGINE_PROGRAM_SQL_SHELL_H
#define TESSERA_ENGINE_PROGRAM_SQL_SHELL_H

#include "engine/library/statement.h"

/* Where statements run and how answers are written; dot commands change it. */
struct sql_shell {
    struct database *database;
    struct engine *engine; /* owned: `.device` opens another one; engine_close it at the end */
    const char *codec;     /* or NULL; as sql_prepare takes it */
    unsigned threads;      /* of an engine that `.device` opens */
    enum rowset_format format;
    bool timer;
    bool quit; /* .quit was met */
};

/* Runs all statements and dot commands of the text; answers go to standard output, times to standard error.
 * Stops at the first that fails; the lines and columns of its sentence are the text's. */
NODISCARD enum status sql_shell_script(struct sql_shell *shell, const char *text, size_t length,
                                       struct error *error);

/* Runs the dot command in `line`, which begins with its dot and ends where `length` does: engine/program/sql_dot.c. */
NODISCARD enum status sql_shell_dot(struct sql_shell *shell, const char *line, size_t length,
                                    struct error *error);

/* Asks for statements on the terminal until Ctrl-D or .quit: line editing and history on standard error and
 * input, errors told and gone on from, Ctrl-C gives up a line or a running statement: engine/program/sql_prompt.c.
 * Only where standard input is a terminal. SIGTERM: STATUS_INTERRUPTED. */
NODISCARD enum status sql_shell_prompt(struct sql_shell *shell, struct error *error);

#endif
