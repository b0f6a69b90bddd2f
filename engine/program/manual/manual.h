/*
 * manual.h: manual pages and shell completion, made from the tables of options that --help is made from, so that they
 * always say the same. main.c, which alone sees all commands, lists them for the calls below; the build prints each
 * page once and installs it (cmake/TesseraManual.cmake).
 */
#ifndef TESSERA_ENGINE_PROGRAM_MANUAL_MANUAL_H
#define TESSERA_ENGINE_PROGRAM_MANUAL_MANUAL_H

#include "storage/base/command/command_line.h"

#include <stdbool.h>
#include <stdio.h>

#define MANUAL_EXIT_CODES                                                                                   \
    "Exit codes: 0 fine, 1 a check failed, 2 bad usage or input, 3 the machine cannot, 4 the database was " \
    "changed, but a power cut may undo it."

struct manual_command {
    const char *path, *summary; /* as in struct command */
    const struct command_line *line;
};

struct manual {
    const struct manual_command *commands;
    uint32_t count;
    const char *version; /* "tessera 2.0.0" */
};

/* Prints the page of the command `path`, or of the program if it is empty, in the macros of man(7). */
NODISCARD enum status manual_page(const struct manual *manual, const char *path, FILE *out,
                                  struct error *error);

/* Prints the script by which `shell` ("bash", "zsh", "fish") completes commands, options and their values. */
NODISCARD enum status manual_completion(const struct manual *manual, const char *shell, FILE *out,
                                        struct error *error);

/* Prints the commands' words, a line each. `nothing` must be empty. */
NODISCARD enum status manual_list(const struct manual *manual, const char *nothing, FILE *out,
                                  struct error *error);

/* ---- For the scripts of completion ---- */

/* The options of a command, one after the other: NULL, the first one, ... NULL. Other names count as options. */
const struct command_option *manual_next_option(const struct command_line *line,
                                                const struct command_option *option);

/* What may follow an option. */
enum manual_values { MANUAL_NO_VALUE, MANUAL_ANY, MANUAL_FILES, MANUAL_FOLDERS, MANUAL_WORDS };

#define MANUAL_WORDS_BYTES 256u

/* `option` is one of `line`. With MANUAL_WORDS, `words` has them, separated by blanks. */
enum manual_values manual_values(const struct command_line *line, const struct command_option *option,
                                 char words[MANUAL_WORDS_BYTES]);

/* The beginning of a help text, which fits a line of a list of options. */
#define MANUAL_SUMMARY_BYTES 80u
void manual_summary(const char *help, char summary[MANUAL_SUMMARY_BYTES]);

/* True if the first word of command `c` is the first word of none before it; `length` is its length. */
bool manual_new_word(const struct manual *manual, uint32_t c, size_t *length);

/* True if the command has two words. */
bool manual_is_grouped(const struct manual_command *command);

void manual_bash(const struct manual *manual, FILE *out);
void manual_zsh(const struct manual *manual, FILE *out);
void manual_fish(const struct manual *manual, FILE *out);

#endif
