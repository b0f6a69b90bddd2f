/* commands.h: the loader's commands (storage/base/command.h). */
#ifndef TESSERA_LOADER_COMMANDS_H
#define TESSERA_LOADER_COMMANDS_H

#include "storage/base/command.h"

enum status command_load(int argc, char **argv, struct progress *progress, struct error *error);

#endif
