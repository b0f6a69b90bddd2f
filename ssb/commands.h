/*
 * commands.h: the benchmark's commands, one function each, and the table that names them
 * (storage/base/command/command.h).
 */
#ifndef TESSERA_SSB_COMMANDS_H
#define TESSERA_SSB_COMMANDS_H

#include "storage/base/command/command.h"

extern const struct command ssb_commands[]; /* ends with an entry whose path is NULL */

enum status ssb_generate_command(int argc, char **argv, struct progress *progress, struct error *error);
enum status ssb_load_command(int argc, char **argv, struct progress *progress, struct error *error);
enum status ssb_run_command(int argc, char **argv, struct progress *progress, struct error *error);
enum status ssb_compare_command(int argc, char **argv, struct progress *progress, struct error *error);

#endif
