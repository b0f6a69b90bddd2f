/*
 * commands.h: the commands that ssb brings, one function each (storage/base/command.h says what a command is); the
 * table that names them, ssb_commands, is in commands.c.
 */
#ifndef TESSERA_SSB_COMMANDS_H
#define TESSERA_SSB_COMMANDS_H

#include "storage/base/parallel.h"
#include "storage/base/status.h"

enum status ssb_generate_command(int argc, char **argv, struct progress *progress, struct error *error);
enum status ssb_load_command(int argc, char **argv, struct progress *progress, struct error *error);
enum status ssb_run_command(int argc, char **argv, struct progress *progress, struct error *error);
enum status ssb_compare_command(int argc, char **argv, struct progress *progress, struct error *error);

#endif
