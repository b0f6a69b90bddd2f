/*
 * completion_bash.c: the script of bash (manual.h).
 *
 * It needs nothing of the bash-completion package. Bash divides --db=DIR into three words, so the value of an option is
 * the word after it or the one after "=".
 */
#include "engine/program/manual/manual.h"

#include <string.h>

static void put_names(const struct command_option *option, const char *path, FILE *out)
{
    fprintf(out, "\"%s --%s\"", path, option->name);
    if (option->letter)
        fprintf(out, "|\"%s -%c\"", path, option->letter);
}

/* The lines of `case "$command $previous"` for a command's options with values. */
static void put_values(const struct manual_command *command, FILE *out)
{
    char words[MANUAL_WORDS_BYTES];
    for (const struct command_option *option = manual_next_option(command->line, NULL); option;
         option = manual_next_option(command->line, option)) {
        const enum manual_values values = manual_values(command->line, option, words);
        if (values == MANUAL_NO_VALUE)
            continue;
        fputs("        ", out);
        put_names(option, command->path, out);
        if (values == MANUAL_WORDS)
            fprintf(out, ") COMPREPLY=($(compgen -W '%s' -- \"$word\")) ;;\n", words);
        else if (values == MANUAL_FOLDERS)
            fputs(") compopt -o filenames; COMPREPLY=($(compgen -d -- \"$word\")) ;;\n", out);
        else if (values == MANUAL_FILES)
            fputs(") compopt -o filenames; COMPREPLY=($(compgen -f -- \"$word\")) ;;\n", out);
        else
            fputs(") COMPREPLY=() ;;\n", out);
    }
}

static void put_options(const struct manual_command *command, FILE *out)
{
    fprintf(out, "        \"%s\") options='", command->path);
    for (const struct command_option *option = manual_next_option(command->line, NULL); option;
         option = manual_next_option(command->line, option))
        fprintf(out, "--%s%s ", option->name, option->value ? "=" : "");
    fputs("--help' ;;\n", out);
}

/* The lines of `case "$first"` that find a command of two words. */
static void put_group(const struct manual *manual, uint32_t c, size_t length, FILE *out)
{
    const char *const path = manual->commands[c].path;
    fprintf(out, "        %.*s) seconds='", (int)length, path);
    for (uint32_t d = c; d < manual->count; d++)
        if (strncmp(manual->commands[d].path, path, length + 1) == 0)
            fprintf(out, "%s ", manual->commands[d].path + length + 1);
    fputs("--help' ;;\n", out);
}

static void put_first_words(const struct manual *manual, FILE *out)
{
    size_t length;
    for (uint32_t c = 0; c < manual->count; c++)
        if (manual_new_word(manual, c, &length))
            fprintf(out, "%.*s ", (int)length, manual->commands[c].path);
}

void manual_bash(const struct manual *manual, FILE *out)
{
    size_t length;
    fputs("# Completion of tessera for bash, made by `tessera --completion bash`.\n"
          "_tessera()\n{\n"
          "    local word=${COMP_WORDS[COMP_CWORD]} previous=${COMP_WORDS[COMP_CWORD - 1]}\n"
          "    local command=${COMP_WORDS[1]} seconds='' options=''\n"
          "    if [ \"$word\" = = ]; then\n        word=''\n"
          "    elif [ \"$previous\" = = ]; then\n        previous=${COMP_WORDS[COMP_CWORD - 2]}\n    fi\n"
          "    COMPREPLY=()\n"
          "    if [ \"$COMP_CWORD\" = 1 ]; then\n"
          "        COMPREPLY=($(compgen -W '",
          out);
    put_first_words(manual, out);
    fputs("--help --version --man --completion --commands' -- \"$word\"))\n        return\n    fi\n"
          "    case \"$command\" in\n"
          "        --completion) seconds='bash zsh fish' ;;\n"
          "        --man) seconds='",
          out);
    put_first_words(manual, out);
    fputs("' ;;\n", out);
    for (uint32_t c = 0; c < manual->count; c++)
        if (manual_is_grouped(&manual->commands[c]) && manual_new_word(manual, c, &length))
            put_group(manual, c, length, out);
    fputs("    esac\n"
          "    if [ -n \"$seconds\" ]; then\n"
          "        if [ \"$COMP_CWORD\" = 2 ]; then\n"
          "            COMPREPLY=($(compgen -W \"$seconds\" -- \"$word\"))\n            return\n        fi\n"
          "        command=\"$command ${COMP_WORDS[2]}\"\n    fi\n"
          "    case \"$command $previous\" in\n",
          out);
    for (uint32_t c = 0; c < manual->count; c++)
        put_values(&manual->commands[c], out);
    fputs("        *) case \"$command\" in\n", out);
    for (uint32_t c = 0; c < manual->count; c++)
        put_options(&manual->commands[c], out);
    fputs("        esac\n"
          "        if [ \"${word#-}\" != \"$word\" ]; then\n"
          "            COMPREPLY=($(compgen -W \"$options\" -- \"$word\"))\n"
          "            if [ \"${COMPREPLY[0]%=}\" != \"${COMPREPLY[0]}\" ]; then compopt -o nospace; fi\n"
          "        else\n"
          "            compopt -o filenames\n"
          "            COMPREPLY=($(compgen -f -- \"$word\"))\n"
          "        fi ;;\n"
          "    esac\n}\n"
          "complete -F _tessera tessera\n",
          out);
}
