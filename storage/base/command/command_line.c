/* command_line.c: reads options with argp; see command_line.h. */
#include "storage/base/command/command_line.h"

#include "storage/base/command/command_help.h"
#include "storage/base/words/near_word.h"

#include <argp.h>
#include <errno.h>
#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define OPTIONS_MAX 40u
#define HELP_LETTER '?'
#define NO_LETTER   0x100 /* the first of argp's keys for options without a letter */

struct reading {
    const struct command_line *line;
    void *arguments;
    const struct command_option *options[OPTIONS_MAX + 1]; /* those of both tables, and NULL */
    struct argp_option known[OPTIONS_MAX + 2];             /* and --help, which argp's own would be */
    const char *help;                                      /* the command's, folded; or NULL */
    struct error error;
};

static enum status read_number(const struct command_option *option, const char *text, uint64_t *number,
                               struct error *error)
{
    errno = 0;
    *number = strtoull(text, NULL, 10);
    if (*text && !errno && strspn(text, "0123456789") == strlen(text) && *number >= option->least &&
        *number <= option->most)
        return STATUS_OK;
    return error_set(error, STATUS_BAD_INPUT, "--%s '%.40s' is not a number from %" PRIu64 " to %" PRIu64,
                     option->name, text, option->least, option->most);
}

/* Gives the position of `text` in the option's words. */
static enum status read_word(const struct command_option *option, const char *text, uint64_t *position,
                             struct error *error)
{
    char all[128];
    size_t used = 0;
    const char *word = option->words;
    for (*position = 0;; ++*position) {
        const size_t length = strcspn(word, "|");
        if (strlen(text) == length && memcmp(text, word, length) == 0)
            return STATUS_OK;
        const bool last = word[length] == '\0';
        used += (size_t)snprintf(all + used, sizeof all - used, "%s%.*s",
                                 *position == 0 ? ""
                                 : last         ? " or "
                                                : ", ",
                                 (int)length, word);
        if (last)
            return error_set(error, STATUS_BAD_INPUT, "--%s '%.40s' does not exist; give %s", option->name,
                             text, all);
        word += length + 1;
    }
}

static enum status read_value(const struct command_option *option, const char *text, void *arguments,
                              struct error *error)
{
    void *const field = (char *)arguments + option->offset;
    uint64_t number = true; /* the value of a flag */
    if (option->kind == OPTION_OWN)
        return option->read(arguments, text, error);
    if (option->kind == OPTION_TEXT) {
        *(const char **)field = text;
        return STATUS_OK;
    }
    if (option->kind == OPTION_NUMBER)
        RETURN_IF_ERROR(read_number(option, text, &number, error));
    if (option->kind == OPTION_WORD)
        RETURN_IF_ERROR(read_word(option, text, &number, error));
    if (option->bytes == sizeof(bool))
        *(bool *)field = number != 0;
    else if (option->bytes == sizeof(uint32_t))
        *(uint32_t *)field = (uint32_t)number;
    else
        *(uint64_t *)field = number;
    return STATUS_OK;
}

static enum status finish(const struct reading *reading, struct error *error)
{
    for (unsigned i = 0; reading->options[i]; i++) {
        const struct command_option *const option = reading->options[i];
        if (option->missing && !*(const char **)((char *)reading->arguments + option->offset))
            return error_set(error, STATUS_BAD_INPUT, "%s", option->missing);
    }
    return reading->line->finish ? reading->line->finish(reading->arguments, NULL, error) : STATUS_OK;
}

/* A line for each line of what `words_help` says that stands behind the options. */
static void print_usage(const char *name, const char *words)
{
    const char *before = "Usage:";
    do {
        const int length = (int)strcspn(words, "\n");
        printf("%s %s [OPTION...]%s%.*s\n", before, name, length ? " " : "", length, words);
        words += length;
        before = "  or: ";
    } while (*words && *++words);
}

static void print_help(const struct command_line *line, const char *name)
{
    const char *const help = line->help ? line->help : "";
    const size_t before = strcspn(help, "\v");
    print_usage(name, line->words_help ? line->words_help : "");
    command_help_text(help, before, stdout);
    putchar('\n');
    command_help_options(line, stdout);
    if (help[before]) {
        putchar('\n');
        command_help_text(help + before + 1, strlen(help + before + 1), stdout);
    }
    exit(0); /* what cannot be written is told there, as of all output */
}

static error_t read_key(int key, char *text, struct argp_state *state)
{
    struct reading *const reading = state->input;
    enum status status = STATUS_OK;
    unsigned i = 0;
    while (reading->options[i] && (key == ARGP_KEY_ARG || reading->known[i].key != key))
        i++; /* key 0 is both another name of an option and an argument that is not an option */
    if (reading->options[i])
        status = read_value(reading->options[i], text, reading->arguments, &reading->error);
    else if (key == HELP_LETTER)
        print_help(reading->line, state->name);
    else if (key == ARGP_KEY_END)
        status = finish(reading, &reading->error);
    else if (key == ARGP_KEY_ARG && reading->line->word)
        status = reading->line->word(reading->arguments, text, &reading->error);
    else if (key == ARGP_KEY_ARG)
        status = error_set(&reading->error, STATUS_BAD_INPUT, "it takes no argument, not '%s'", text);
    else
        return ARGP_ERR_UNKNOWN;
    return status == STATUS_OK ? 0 : EINVAL;
}

/* Refuses an option that does not exist but is near one that does; argp refuses others. It takes beginnings of names. */
static enum status refuse_slip(const struct reading *reading, int argc, char **argv, struct error *error)
{
    for (int a = 1; a < argc && strcmp(argv[a], "--") != 0; a++) {
        char typed[64];
        if (strncmp(argv[a], "--", 2) != 0)
            continue;
        snprintf(typed, sizeof typed, "%.*s", (int)strcspn(argv[a] + 2, "="), argv[a] + 2);
        struct near_word near = near_word_begin(typed);
        bool known = strncmp("help", typed, strlen(typed)) == 0 ||
                     strncmp("usage", typed, strlen(typed)) == 0 ||
                     strncmp("version", typed, strlen(typed)) == 0;
        for (unsigned i = 0; reading->options[i]; i++) {
            known |= strncmp(reading->options[i]->name, typed, strlen(typed)) == 0;
            near_word_try(&near, reading->options[i]->name);
        }
        if (!known && near.nearest)
            return error_set(error, STATUS_BAD_INPUT, "there is no option --%s; did you mean --%s?", typed,
                             near.nearest);
    }
    return STATUS_OK;
}

static struct {
    command_line_visitor *visit;
    void *context;
} visitor;

void command_line_visit(command_line_visitor *visit, void *context)
{
    visitor.visit = visit;
    visitor.context = context;
}

enum status command_line_read(const struct command_line *line, int argc, char **argv, void *arguments,
                              struct error *error)
{
    struct reading reading = {.line = line, .arguments = arguments};
    const struct command_option *const tables[] = {line->options, line->shared};
    unsigned count = 0;
    if (visitor.visit) {
        visitor.visit(visitor.context, line);
        return STATUS_INTERRUPTED;
    }
    for (unsigned t = 0; t < 2; t++)
        for (const struct command_option *option = tables[t]; option && option->name; option++) {
            const bool alias = option->kind == OPTION_ANOTHER_NAME;
            reading.known[count] = (struct argp_option){.name = option->name,
                                                        .key = alias            ? 0
                                                               : option->letter ? option->letter
                                                                                : NO_LETTER + (int)count,
                                                        .arg = option->value,
                                                        .flags = alias ? OPTION_ALIAS : 0,
                                                        .doc = option->help};
            reading.options[count++] = option;
        }
    reading.known[count] = (struct argp_option){.name = "help", .key = HELP_LETTER};
    RETURN_IF_ERROR(refuse_slip(&reading, argc, argv, error));
    const struct argp argp = {.options = reading.known, .parser = read_key, .args_doc = line->words_help};
    const int failed = argp_parse(&argp, argc, argv, 0, NULL, &reading);
    if (!failed)
        return STATUS_OK;
    if (failed == ENOMEM && reading.error.status == STATUS_OK)
        return error_out_of_memory(error, sizeof reading, "the options");
    if (error && reading.error.status != STATUS_OK)
        *error = reading.error;
    return reading.error.status != STATUS_OK
               ? reading.error.status
               : error_set(error, STATUS_BAD_INPUT, "the options could not be read; see `%s --help`",
                           argv[0]);
}
