/* commands.h: the loader's commands (storage/base/command/command.h). */
#ifndef TESSERA_LOADER_COMMANDS_H
#define TESSERA_LOADER_COMMANDS_H

#include "loader/table/table_loader.h"
#include "storage/base/command/command.h"

extern const struct command loader_commands[]; /* ends with an entry whose path is NULL */

/* The device that `tessera load --device` opens, which main.c gives. */
void loader_use_device(const struct byte_device *device);

/* What finds the rows of `tessera load --replace-where`, likewise. */
void loader_use_conditions(const struct load_conditions *conditions);

enum status command_load(int argc, char **argv, struct progress *progress, struct error *error);

#endif
