/* commands.h: the engine's commands, one file each (command_NAME.c); commands.c has the table. Each follows
 * the contract of struct command's `run` (storage/base/command/command.h). */
#ifndef TESSERA_ENGINE_PROGRAM_COMMANDS_H
#define TESSERA_ENGINE_PROGRAM_COMMANDS_H

#include "storage/base/command/command.h"

extern const struct command engine_commands[]; /* ends with an entry whose path is NULL */

enum status command_inspect(int argc, char **argv, struct progress *progress, struct error *error);
enum status command_index_create(int argc, char **argv, struct progress *progress, struct error *error);
enum status command_index_drop(int argc, char **argv, struct progress *progress, struct error *error);
enum status command_check(int argc, char **argv, struct progress *progress, struct error *error);
enum status command_delete(int argc, char **argv, struct progress *progress, struct error *error);
enum status command_compact(int argc, char **argv, struct progress *progress, struct error *error);
enum status command_calibrate(int argc, char **argv, struct progress *progress, struct error *error);
enum status command_codecs(int argc, char **argv, struct progress *progress, struct error *error);
enum status command_devices(int argc, char **argv, struct progress *progress, struct error *error);
enum status command_sql(int argc, char **argv, struct progress *progress, struct error *error);

#endif
