/* completion_zsh.c: the script of zsh (manual.h), which gives _arguments the options of the command. */
#include "engine/program/manual/manual.h"

#include <string.h>

static void put_action(const struct command_line *line, const struct command_option *option, FILE *out)
{
    char words[MANUAL_WORDS_BYTES];
    switch (manual_values(line, option, words)) {
    case MANUAL_NO_VALUE:
        break;
    case MANUAL_ANY:
        fputs(":value: ", out);
        break;
    case MANUAL_FILES:
        fputs(":file:_files", out);
        break;
    case MANUAL_FOLDERS:
        fputs(":folder:_files -/", out);
        break;
    case MANUAL_WORDS: /* a colon would end the word */
        fputs(":value:(", out);
        for (const char *at = words; *at; at++)
            fprintf(out, *at == ':' ? "\\\\%c" : "%c", *at);
        fputc(')', out);
        break;
    }
}

static void put_option(const struct command_line *line, const struct command_option *option, FILE *out)
{
    char summary[MANUAL_SUMMARY_BYTES], unused[MANUAL_WORDS_BYTES];
    const bool value = manual_values(line, option, unused) != MANUAL_NO_VALUE;
    manual_summary(option->help ? option->help : "", summary);
    fputs(" \\\n                ", out);
    if (option->letter)
        fprintf(out, "'(-%c --%s)'{-%c%s,--%s%s}'[%s]", option->letter, option->name, option->letter,
                value ? "+" : "", option->name, value ? "=" : "", summary);
    else
        fprintf(out, "'--%s%s[%s]", option->name, value ? "=" : "", summary);
    put_action(line, option, out);
    fputc('\'', out);
}

static void put_command(const struct manual_command *command, FILE *out)
{
    fprintf(out, "        '%s')\n            _arguments -s", command->path);
    for (const struct command_option *option = manual_next_option(command->line, NULL); option;
         option = manual_next_option(command->line, option))
        put_option(command->line, option, out);
    fputs(" \\\n                '--help[Explain the command]' '*:file:_files' ;;\n", out);
}

static void put_group(const struct manual *manual, uint32_t c, size_t length, FILE *out)
{
    char summary[MANUAL_SUMMARY_BYTES];
    const char *const path = manual->commands[c].path;
    fprintf(out, "        %.*s)\n            seconds=(", (int)length, path);
    for (uint32_t d = c; d < manual->count; d++)
        if (strncmp(manual->commands[d].path, path, length + 1) == 0) {
            manual_summary(manual->commands[d].summary, summary);
            fprintf(out, "'%s:%s' ", manual->commands[d].path + length + 1, summary);
        }
    fputs(") ;;\n", out);
}

void manual_zsh(const struct manual *manual, FILE *out)
{
    char summary[MANUAL_SUMMARY_BYTES];
    size_t length;
    fputs("#compdef tessera\n# Completion of tessera for zsh, made by `tessera --completion zsh`.\n"
          "_tessera()\n{\n    local command=$words[2]\n    local -a seconds\n"
          "    if (( CURRENT == 2 )); then\n        seconds=(",
          out);
    for (uint32_t c = 0; c < manual->count; c++)
        if (manual_new_word(manual, c, &length)) {
            manual_summary(manual_is_grouped(&manual->commands[c]) ? "" : manual->commands[c].summary,
                           summary);
            fprintf(out, "'%.*s:%s' ", (int)length, manual->commands[c].path, summary);
        }
    fputs("'--help:' '--version:' '--man:' '--completion:' '--commands:')\n"
          "        _describe command seconds\n        return\n    fi\n    case $command in\n"
          "        --completion)\n            seconds=(bash zsh fish) ;;\n",
          out);
    for (uint32_t c = 0; c < manual->count; c++)
        if (manual_is_grouped(&manual->commands[c]) && manual_new_word(manual, c, &length))
            put_group(manual, c, length, out);
    fputs("    esac\n    if (( $#seconds )); then\n"
          "        if (( CURRENT == 3 )); then\n            _describe command seconds\n            return\n  "
          "      fi\n"
          "        command=\"$command $words[3]\"\n        shift words\n        (( CURRENT-- ))\n    fi\n"
          "    shift words\n    (( CURRENT-- ))\n    case $command in\n",
          out);
    for (uint32_t c = 0; c < manual->count; c++)
        put_command(&manual->commands[c], out);
    fputs("    esac\n}\nif [[ $funcstack[1] == _tessera ]]; then\n    _tessera \"$@\"\nelse\n    compdef "
          "_tessera tessera\nfi\n",
          out);
}
