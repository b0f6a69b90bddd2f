/* completion_fish.c: the script of fish (manual.h), a line for each command and option. */
#include "engine/program/manual/manual.h"

#include <string.h>

static void put_option(const struct manual_command *command, const struct command_option *option, FILE *out)
{
    char summary[MANUAL_SUMMARY_BYTES], words[MANUAL_WORDS_BYTES];
    const enum manual_values values = manual_values(command->line, option, words);
    manual_summary(option->help ? option->help : "", summary);
    fprintf(out, "complete -c tessera -n '__tessera_runs %s' -l %s", command->path, option->name);
    if (option->letter)
        fprintf(out, " -s %c", option->letter);
    if (values == MANUAL_WORDS)
        fprintf(out, " -x -a '%s'", words);
    else if (values == MANUAL_FOLDERS)
        fputs(" -x -a '(__fish_complete_directories)'", out);
    else if (values == MANUAL_FILES)
        fputs(" -r -F", out);
    else if (values == MANUAL_ANY)
        fputs(" -x", out);
    fprintf(out, " -d '%s'\n", summary);
}

/* Completes the second word after the first word of `path`, or the first word. */
static void put_word(const char *path, size_t length, const char *summary, FILE *out)
{
    char text[MANUAL_SUMMARY_BYTES];
    manual_summary(summary, text);
    if (strchr(path, ' ') && length != strcspn(path, " "))
        fprintf(out, "complete -c tessera -f -n '__tessera_begins %.*s' -a '%s' -d '%s'\n",
                (int)strcspn(path, " "), path, strchr(path, ' ') + 1, text);
    else
        fprintf(out, "complete -c tessera -f -n '__tessera_begins' -a '%.*s' -d '%s'\n", (int)length, path,
                text);
}

void manual_fish(const struct manual *manual, FILE *out)
{
    size_t length;
    fputs("# Completion of tessera for fish, made by `tessera --completion fish`.\n"
          "function __tessera_begins\n    test \"$(commandline -opc | tail -n +2 | string join -- ' ')\" = "
          "\"$argv\"\nend\n"
          "function __tessera_runs\n    set -l typed (commandline -opc)\n"
          "    test \"$(string join -- ' ' $typed[2..(math 1 + (count $argv))])\" = \"$argv\"\nend\n"
          "complete -c tessera -n '__tessera_begins' -l help -d 'List the commands'\n"
          "complete -c tessera -n '__tessera_begins' -l version -d 'Print the version'\n"
          "complete -c tessera -n '__tessera_begins' -l man -d 'Print a manual page'\n"
          "complete -c tessera -n '__tessera_begins' -l commands -d 'Print the commands, one a line'\n"
          "complete -c tessera -n '__tessera_begins' -l completion -x -a 'bash zsh fish' -d 'Print what a "
          "shell completes'\n",
          out);
    for (uint32_t c = 0; c < manual->count; c++) {
        const struct manual_command *const command = &manual->commands[c];
        if (manual_new_word(manual, c, &length))
            put_word(command->path, length, manual_is_grouped(command) ? "" : command->summary, out);
        if (manual_is_grouped(command))
            put_word(command->path, strlen(command->path), command->summary, out);
        for (const struct command_option *option = manual_next_option(command->line, NULL); option;
             option = manual_next_option(command->line, option))
            put_option(command, option, out);
        fprintf(out, "complete -c tessera -n '__tessera_runs %s' -l help -d 'Explain the command'\n",
                command->path);
    }
}
