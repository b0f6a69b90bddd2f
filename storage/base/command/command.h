/*
 * command.h: a command of the program. engine, loader and ssb each have a table of commands, declared in
 * their commands.h; engine/program/main.c sees all tables.
 */
#ifndef TESSERA_STORAGE_BASE_COMMAND_COMMAND_H
#define TESSERA_STORAGE_BASE_COMMAND_COMMAND_H

#include "storage/base/parallel.h"
#include "storage/base/status.h"

struct command {
    const char *path;    /* the words after "tessera": "ssb run", "inspect" */
    const char *summary; /* one line for `tessera --help` */

    /* argv[0] is "tessera ssb run". Options are parsed with argp, whose usage errors exit with 2. Data go to
     * stdout. `progress` is a bar if standard error is a terminal, else NULL. A failure is returned with its
     * sentence, which main prints; the status is the exit code. */
    enum status (*run)(int argc, char **argv, struct progress *progress, struct error *error);
};

#endif
