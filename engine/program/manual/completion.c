/* completion.c: what the scripts of all shells need to know of options (manual.h). */
#include "engine/program/manual/manual.h"

#include <ctype.h>
#include <string.h>

const struct command_option *manual_next_option(const struct command_line *line,
                                                const struct command_option *option)
{
    const struct command_option *next = option ? option + 1 : line->options;
    if (next->name)
        return next;
    /* The end of one table or the other: the second begins after the first. */
    for (const struct command_option *own = line->options; own != next; own++)
        if (!own->name)
            return NULL;
    return line->shared && line->shared->name && (!option || next != line->shared) ? line->shared : NULL;
}

/* ---- Values ---- */

/* Makes words of "auto|cpu|cuda[:N]" or "table|csv"; false if the text names what to write instead. Of a list
 * ("all|q1.1,...") the words that stand alone. */
static bool words_of(const char *text, char words[MANUAL_WORDS_BYTES])
{
    size_t used = 0;
    for (bool more = true; more; text++) {
        const size_t length = strcspn(text, "|"), word = strcspn(text, "|[,.");
        if (!islower((unsigned char)*text) && !isdigit((unsigned char)*text) && *text != '.')
            return false;
        if ((word == length || text[word] == '[') && used + word + 2 < MANUAL_WORDS_BYTES)
            used += (size_t)snprintf(words + used, MANUAL_WORDS_BYTES - used, "%s%.*s", used ? " " : "",
                                     (int)word, text);
        text += length;
        more = *text == '|';
    }
    return used > 0;
}

/* The option that `option` is, or is another name of: the nearest before it that is none. */
static const struct command_option *own_option(const struct command_line *line,
                                               const struct command_option *option)
{
    const struct command_option *own = option;
    for (const struct command_option *at = manual_next_option(line, NULL); at;
         at = manual_next_option(line, at)) {
        own = at->kind == OPTION_ANOTHER_NAME ? own : at;
        if (at == option)
            break;
    }
    return own;
}

enum manual_values manual_values(const struct command_line *line, const struct command_option *option,
                                 char words[MANUAL_WORDS_BYTES])
{
    static const struct {
        const char *value;
        enum manual_values values;
        const char *words;
    } known[] = {
        {"DIR", MANUAL_FOLDERS, ""}, {"FILE", MANUAL_FILES, ""}, {"DEVICE", MANUAL_WORDS, "auto cpu cuda"}};
    option = own_option(line, option);
    if (!option->value)
        return MANUAL_NO_VALUE;
    words[0] = '\0';
    if (words_of(option->words ? option->words : option->value, words))
        return MANUAL_WORDS;
    for (size_t k = 0; k < sizeof known / sizeof *known; k++)
        if (strncmp(option->value, known[k].value, strlen(known[k].value)) == 0) {
            strcpy(words, known[k].words);
            return known[k].values;
        }
    return MANUAL_ANY;
}

/* ---- Texts ---- */

#define APOSTROPHE "\xe2\x80\x99" /* one that ends no string of a shell */

void manual_summary(const char *help, char summary[MANUAL_SUMMARY_BYTES])
{
    const size_t end = strcspn(help, ".;:\n(");
    size_t length = end < MANUAL_SUMMARY_BYTES - 1 ? end : MANUAL_SUMMARY_BYTES - 1;
    while (length && length < end && help[length] != ' ')
        length--; /* no word is cut */
    while (length && help[length - 1] == ' ')
        length--;
    size_t used = 0;
    for (size_t i = 0; i < length && used + sizeof APOSTROPHE < MANUAL_SUMMARY_BYTES; i++)
        if (help[i] == '\'')
            used += (size_t)sprintf(summary + used, APOSTROPHE);
        else if (!strchr("`\"\\[]$", help[i])) /* shells would read them as their own */
            summary[used++] = help[i];
    summary[used] = '\0';
}

bool manual_new_word(const struct manual *manual, uint32_t c, size_t *length)
{
    const char *const path = manual->commands[c].path;
    *length = strcspn(path, " ");
    for (uint32_t b = 0; b < c; b++)
        if (strncmp(manual->commands[b].path, path, *length) == 0 &&
            strcspn(manual->commands[b].path, " ") == *length)
            return false;
    return true;
}

bool manual_is_grouped(const struct manual_command *command)
{
    return strchr(command->path, ' ') != NULL;
}

enum status manual_completion(const struct manual *manual, const char *shell, FILE *out, struct error *error)
{
    static const struct {
        const char *shell;
        void (*put)(const struct manual *manual, FILE *out);
    } shells[] = {{"bash", manual_bash}, {"zsh", manual_zsh}, {"fish", manual_fish}};
    for (size_t s = 0; s < sizeof shells / sizeof *shells; s++)
        if (strcmp(shell, shells[s].shell) == 0) {
            shells[s].put(manual, out);
            return STATUS_OK;
        }
    return error_set(error, STATUS_BAD_INPUT, "completion is for bash, zsh or fish, not '%s'", shell);
}

enum status manual_list(const struct manual *manual, const char *nothing, FILE *out, struct error *error)
{
    if (*nothing)
        return error_set(error, STATUS_BAD_INPUT, "--commands takes nothing, not '%s'", nothing);
    for (uint32_t c = 0; c < manual->count; c++)
        fprintf(out, "%s\n", manual->commands[c].path);
    return STATUS_OK;
}
