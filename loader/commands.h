/* commands.h: the loader's commands (storage/base/command.h). */
#ifndef TESSERA_LOADER_COMMANDS_H
#define TESSERA_LOADER_COMMANDS_H

#include "storage/base/command.h"

extern const struct command loader_commands[]; /* ends with an entry whose path is NULL */

enum status command_load(int argc, char **argv, struct progress *progress, struct error *error);

#endif
