/* command_help.c: lines of --help; see command_help.h. */
#include "storage/base/command/command_help.h"

#include "storage/base/words/word.h"

#include <stdlib.h>
#include <string.h>

/* ---- What stands before and after the options ---- */

#define COMMAND_INDENT 6u
#define COMMAND_FOLD   " \\\n      "

/* The last blank of the first `room` bytes after which there is room for a backslash, outside single quotes; 0: none. */
static size_t fold_place(const char *text, size_t room)
{
    size_t place = 0;
    bool quoted = false;
    for (size_t i = 0; i + 2 <= room; i++) {
        quoted ^= text[i] == '\'';
        if (text[i] == ' ' && !quoted && i > 2)
            place = i;
    }
    return place;
}

/* Prints a command, broken as a shell reads it: by backslashes at the ends of lines. */
static void print_command(const char *text, size_t length, FILE *out)
{
    size_t room = HELP_COLUMNS, place;
    while (length > room && (place = fold_place(text, room)) > 0) {
        fprintf(out, "%.*s" COMMAND_FOLD, (int)place, text);
        text += place + 1;
        length -= place + 1;
        room = HELP_COLUMNS - COMMAND_INDENT;
    }
    fprintf(out, "%.*s\n", (int)length, text);
}

/* Prints a line, broken at blanks; a long word has a line of its own. */
static void print_words(const char *text, size_t length, FILE *out)
{
    while (length > HELP_COLUMNS + 1) {
        size_t end = HELP_COLUMNS + 1;
        while (end > 0 && text[end] != ' ')
            end--;
        end = end > 0 ? end : strcspn(text, " \n");
        if (end >= length)
            break;
        fprintf(out, "%.*s\n", (int)end, text);
        text += end + 1;
        length -= end + 1;
    }
    fprintf(out, "%.*s\n", (int)length, text);
}

void command_help_text(const char *text, size_t length, FILE *out)
{
    const char *const end = text + length;
    while (text < end) {
        const size_t line = strcspn(text, "\n"), left = (size_t)(end - text),
                     bytes = line < left ? line : left;
        if (strncmp(text, "  ", 2) == 0)
            print_command(text, bytes, out);
        else
            print_words(text, bytes, out);
        text += bytes < left ? bytes + 1 : bytes;
    }
}

/* ---- Options ---- */

#define NAMES_COLUMNS 29u
#define OPTIONS_MOST  64u

static const struct command_option of_every_command[] = {
    {.name = "help", .letter = '?', .help = "Gives this list"},
    {.name = "usage", .help = "Gives a short message"},
    {.name = "version", .letter = 'V', .help = "Prints the program's version"},
    {0},
};

/* Below each other stand -a, -A and what begins with a and has no letter. */
static int by_letter(const void *a, const void *b)
{
    const struct command_option *const x = *(const struct command_option *const *)a,
                                       *const y = *(const struct command_option *const *)b;
    const int x_letter = x->letter ? x->letter : x->name[0], y_letter = y->letter ? y->letter : y->name[0];
    if (word_letter((char)x_letter) != word_letter((char)y_letter))
        return word_letter((char)x_letter) - word_letter((char)y_letter);
    if (x_letter != y_letter)
        return y_letter - x_letter; /* the small one first */
    return strcmp(x->name, y->name);
}

/* Prints `text` from column `at` on, in lines that begin at NAMES_COLUMNS. */
static void print_lines(const char *text, size_t at, FILE *out)
{
    const char *between = "";
    while (*text) {
        const size_t blanks = strspn(text, " "), length = strcspn(text + blanks, " ");
        if (*between && at + 1 + length > HELP_COLUMNS) {
            at = (size_t)fprintf(out, "\n%*s", (int)NAMES_COLUMNS, "") - 1;
            between = "";
        }
        at += (size_t)fprintf(out, "%s%.*s", between, (int)length, text + blanks);
        between = " ";
        text += blanks + length;
    }
    fputc('\n', out);
}

static void print_option(const struct command_option *option, FILE *out)
{
    size_t at = (size_t)(option->letter ? fprintf(out, "  -%c, ", option->letter) : fprintf(out, "      "));
    const struct command_option *name = option;
    do /* other names follow */
        at += (size_t)fprintf(out, "%s--%s%s%s", name == option ? "" : ", ", name->name,
                              name->value ? "=" : "", name->value ? name->value : "");
    while ((++name)->name && name->kind == OPTION_ANOTHER_NAME);
    if (at + 2 > NAMES_COLUMNS) {
        fputc('\n', out);
        at = 0;
    }
    fprintf(out, "%*s", (int)(NAMES_COLUMNS - at), "");
    print_lines(option->help, NAMES_COLUMNS, out);
}

void command_help_options(const struct command_line *line, FILE *out)
{
    const struct command_option *const tables[] = {line->options, line->shared}, *sorted[OPTIONS_MOST];
    unsigned count = 0;
    for (unsigned t = 0; t < 2; t++)
        for (const struct command_option *option = tables[t]; option && option->name; option++)
            if (option->kind != OPTION_ANOTHER_NAME && count < OPTIONS_MOST)
                sorted[count++] = option;
    qsort(sorted, count, sizeof *sorted, by_letter);
    for (unsigned i = 0; i < count; i++)
        print_option(sorted[i], out);
    for (const struct command_option *option = of_every_command; option->name; option++)
        print_option(option, out);
}
