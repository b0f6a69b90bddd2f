/*
 * command_help.h: --help. argp's own is not used: that of glibc 2.36 writes the indentation of a line before what stands in
 * front of it, or leaves it out, where its buffer of 200 bytes happens to end; and it stops the program without memory.
 */
#ifndef TESSERA_STORAGE_BASE_COMMAND_COMMAND_HELP_H
#define TESSERA_STORAGE_BASE_COMMAND_COMMAND_HELP_H

#include "storage/base/command/command_line.h"

#include <stdio.h>

#define HELP_COLUMNS 78u

/* Prints all options of both tables, by their letters, else their first letters, with what they do beside them in lines of
 * at most HELP_COLUMNS bytes. Then --help, --usage and --version, which every command has. */
void command_help_options(const struct command_line *line, FILE *out);

/* Prints a text in lines of at most HELP_COLUMNS + 1 bytes. Commands, which are lines that begin with two blanks, are folded
 * as shells read them. */
void command_help_text(const char *text, size_t length, FILE *out);

#endif
