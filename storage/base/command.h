/*
 * command.h: what a command of the program is. engine, loader and ssb each bring a table of commands, declared in
 * their commands.h; engine/program/main.c sees them all.
 */
#ifndef TESSERA_STORAGE_BASE_COMMAND_H
#define TESSERA_STORAGE_BASE_COMMAND_H

#include "storage/base/parallel.h"
#include "storage/base/status.h"

struct command {
    const char *path;    /* the words behind "tessera": "ssb run", "inspect" */
    const char *summary; /* one line for `tessera --help` */

    /* argv[0] is "tessera ssb run"; options are parsed with argp, whose usage errors exit with 2. Data go to
     * stdout; `progress` is a bar where standard error is a terminal, else NULL. A failure is returned with
     * its sentence, which main prints; its status is the exit code. */
    enum status (*run)(int argc, char **argv, struct progress *progress, struct error *error);
};

#endif
