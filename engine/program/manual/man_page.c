/*
 * man_page.c: prints manual pages in the macros of man(7) (manual.h).
 *
 * A help text has, as argp wants it, what stands before the options, \v, and what stands after them. In it, lines that
 * begin with two blanks are examples, an empty line ends a paragraph, and `words in backquotes` are typed.
 */
#include "engine/program/manual/manual.h"

#include <ctype.h>
#include <string.h>

/* ---- Text ---- */

/* Prints text so that roff changes nothing: a backslash is doubled, a hyphen can be copied and typed, and no line begins with
 * a command. `first`: the text begins a line. */
static void put_text(const char *text, size_t length, bool first, FILE *out)
{
    bool bold = false;
    if (first && length && (*text == '.' || *text == '\''))
        fputs("\\&", out);
    for (size_t i = 0; i < length; i++) {
        if (text[i] == '\\')
            fputs("\\e", out);
        else if (text[i] == '-')
            fputs("\\-", out);
        else if (text[i] == '`') {
            bold = !bold;
            fputs(bold ? "\\fB" : "\\fR", out);
        } else
            fputc(text[i], out);
    }
    fputs(bold ? "\\fR" : "", out);
}

/* Prints the lines of a help text up to `end`. */
static void put_lines(const char *text, const char *end, FILE *out)
{
    bool example = false, paragraph = true; /* after the head of a section no paragraph begins */
    while (text < end) {
        const char *const newline = memchr(text, '\n', (size_t)(end - text));
        const size_t length = (size_t)((newline ? newline : end) - text);
        const bool indented = length > 2 && text[0] == ' ' && text[1] == ' ';
        if (example && !indented)
            fputs(".EE\n.RE\n", out);
        if (!example && indented)
            fputs(".RS 2\n.EX\n", out);
        example = indented;
        if (length == strlen("Examples:") && memcmp(text, "Examples:", length) == 0) {
            fputs(".SH EXAMPLES\n", out);
            paragraph = true;
        } else if (length) {
            fputs(indented || paragraph ? "" : ".PP\n", out);
            put_text(text + 2 * indented, length - 2 * indented, true, out);
            fputc('\n', out);
            paragraph = false;
        }
        text = newline ? newline + 1 : end;
    }
    fputs(example ? ".EE\n.RE\n" : "", out);
}

static void put_word(const char *before, const char *text, FILE *out)
{
    fputs(before, out);
    put_text(text, strlen(text), false, out);
    fputs("\\fR", out);
}

/* The name of a page: "tessera-ssb-run". */
static void put_name(const char *path, FILE *out)
{
    fputs(*path ? "tessera-" : "tessera", out);
    for (; *path; path++)
        fputc(*path == ' ' ? '-' : *path, out);
}

static void put_title(const struct manual *manual, const char *path, const char *summary, FILE *out)
{
    fputs(".\\\" Made from the options' own table by `tessera --man`.\n.TH ", out);
    fputs(*path ? "TESSERA\\-" : "TESSERA", out);
    for (const char *at = path; *at; at++)
        if (*at == ' ')
            fputs("\\-", out);
        else
            fputc(toupper((unsigned char)*at), out);
    fprintf(out, " 1 \"\" \"%s\" \"Tessera\"\n.SH NAME\n", manual->version);
    put_name(path, out);
    fputs(" \\- ", out);
    put_text(summary, strlen(summary), false, out);
    fputs("\n.SH SYNOPSIS\n", out);
}

static void put_exit_codes(FILE *out)
{
    fputs(".SH EXIT STATUS\n", out);
    const char *const text = strchr(MANUAL_EXIT_CODES, ':') + 2;
    put_text(text, strlen(text), true, out);
    fputs("\n", out);
}

/* ---- A command ---- */

static void put_synopsis(const struct manual_command *command, FILE *out)
{
    const char *words = command->line->words_help ? command->line->words_help : "";
    do { /* a line for each of several ways to call it */
        const size_t length = strcspn(words, "\n");
        fprintf(out, ".B tessera %s\n[\\fIOPTION\\fR...] ", command->path);
        put_text(words, length, false, out);
        fputs("\n.br\n", out);
        words += length + (words[length] == '\n');
    } while (*words);
}

static void put_option_name(const struct command_option *option, FILE *out)
{
    if (option->letter)
        fprintf(out, "\\fB\\-%c\\fR, ", option->letter);
    put_word("\\fB\\-\\-", option->name, out);
}

/* An option, with its other names, which follow it in the table. */
static const struct command_option *put_option(const struct command_line *line,
                                               const struct command_option *option, FILE *out)
{
    const struct command_option *next = manual_next_option(line, option);
    fputs(".TP\n", out);
    put_option_name(option, out);
    for (; next && next->kind == OPTION_ANOTHER_NAME; next = manual_next_option(line, next)) {
        fputs(", ", out);
        put_option_name(next, out);
    }
    if (option->value)
        put_word("=\\fI", option->value, out);
    fputc('\n', out);
    put_text(option->help, strlen(option->help), true, out);
    fputc('\n', out);
    return next;
}

static void put_command(const struct manual *manual, const struct manual_command *command, FILE *out)
{
    const char *const help = command->line->help, *const cut = strchr(help, '\v');
    put_title(manual, command->path, command->summary, out);
    put_synopsis(command, out);
    fputs(".SH DESCRIPTION\n", out);
    put_lines(help, cut ? cut : help + strlen(help), out);
    fputs(".SH OPTIONS\n", out);
    for (const struct command_option *option = manual_next_option(command->line, NULL); option;)
        option = put_option(command->line, option, out);
    fputs(".TP\n\\fB\\-?\\fR, \\fB\\-\\-help\\fR\nPrints this text.\n", out);
    fputs(".TP\n\\fB\\-V\\fR, \\fB\\-\\-version\\fR\nPrints the version.\n", out);
    if (cut && strncmp(cut + 1, "Examples:", strlen("Examples:")) != 0)
        fputs(".SH NOTES\n", out);
    if (cut)
        put_lines(cut + 1, cut + strlen(cut), out);
    put_exit_codes(out);
    fputs(".SH SEE ALSO\n.BR tessera (1)\n", out);
}

/* ---- The program ---- */

static void put_program(const struct manual *manual, FILE *out)
{
    put_title(manual, "", "compressed columnar engine for star schemas, on GPU and CPU", out);
    fputs(
        ".B tessera\n\\fICOMMAND\\fR [\\fIOPTION\\fR...]\n.br\n.B tessera\n\\fIDATABASE\\fR "
        "[\\fIOPTION\\fR...] "
        "[\\fISTATEMENT\\fR; ...]\n.br\n.B tessera \\-\\-man\n[\\fICOMMAND\\fR]\n.br\n"
        ".B tessera \\-\\-completion\nbash|zsh|fish\n.br\n.B tessera \\-\\-commands\n.SH DESCRIPTION\n"
        "Tessera keeps star schemas compressed and answers queries straight from the compressed columns, on "
        "GPU and CPU.\n.PP\nEach command has a page of its own, and explains itself with "
        "\\fB\\-\\-help\\fR.\n.SH COMMANDS\n",
        out);
    for (uint32_t c = 0; c < manual->count; c++) {
        fprintf(out, ".TP\n\\fBtessera %s\\fR\n", manual->commands[c].path);
        put_text(manual->commands[c].summary, strlen(manual->commands[c].summary), true, out);
        fputs("\n", out);
    }
    fputs(".SH OPTIONS\n"
          ".TP\n\\fB\\-\\-man\\fR [\\fICOMMAND\\fR]\nPrints this page or the command's, for man(1).\n"
          ".TP\n\\fB\\-\\-completion\\fR bash|zsh|fish\nPrints the script by which a shell completes "
          "commands, options and values.\n"
          ".TP\n\\fB\\-\\-commands\\fR\nPrints the commands, one a line.\n"
          ".TP\n\\fB\\-\\-help\\fR\nLists the commands.\n"
          ".TP\n\\fB\\-V\\fR, \\fB\\-\\-version\\fR\nPrints the version.\n",
          out);
    put_exit_codes(out);
    fputs(".SH SEE ALSO\n", out);
    for (uint32_t c = 0; c < manual->count; c++) {
        fputs(".BR ", out);
        put_name(manual->commands[c].path, out);
        fputs(c + 1 < manual->count ? " (1),\n" : " (1)\n", out);
    }
}

enum status manual_page(const struct manual *manual, const char *path, FILE *out, struct error *error)
{
    if (!*path) {
        put_program(manual, out);
        return STATUS_OK;
    }
    for (uint32_t c = 0; c < manual->count; c++)
        if (strcmp(manual->commands[c].path, path) == 0) {
            put_command(manual, &manual->commands[c], out);
            return STATUS_OK;
        }
    return error_set(error, STATUS_BAD_INPUT, "there is no command '%s'; `tessera --commands` lists them",
                     path);
}
