/*
 * complete.c: completes keywords, tables, columns and dot commands (complete.h).
 *
 * After FROM, JOIN, INTO, DESCRIBE and .schema a table is meant; after `table.` or `alias.`, one of its columns; elsewhere
 * columns of the tables that the statement names so far, or of all if it names none, and keywords and functions. Case does not matter;
 * a keyword gets the case of what was typed.
 */
#include "engine/program/shell/complete.h"
#include "engine/logical/logical.h"
#include "engine/program/sql_shell.h"
#include "engine/sql/functions/functions.h"
#include "storage/base/memory.h"
#include "storage/base/sort/sort.h"
#include "storage/base/words/sql_name.h"
#include "storage/base/words/word.h"
#include "storage/base/text/text_stream.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#define TOKENS_MAX 4096u /* of a statement, from its beginning; more are not read for tables */

/* What statements have besides the words that no name may be (sql_name.h), and functions. */
static const char *const words[] = {
    "all",       "analyze",   "asof",     "cube",      "current", "current_date", "current_timestamp",
    "date",      "describe",  "exclude",  "explain",   "false",   "filter",       "first",
    "following", "grouping",  "interval", "last",      "over",    "partition",    "pivot",
    "preceding", "rename",    "replace",  "rollup",    "row",     "rows",         "sets",
    "show",      "summarize", "tables",   "timestamp", "true",    "unbounded",    "values",
    "within"};

static const char *word_at(size_t index)
{
    return index < sizeof words / sizeof *words ? words[index] : NULL;
}

struct search {
    const struct database *database;
    struct completion *completion;
    const char *word; /* what was typed, without a quote before it */
    size_t length;
    bool quoted;
};

/* ---- Candidates ---- */

static enum status add(struct search *search, const char *word, struct error *error)
{
    struct completion *const completion = search->completion;
    RETURN_IF_ERROR(memory_grow(&completion->words, (completion->count + 1) * sizeof *completion->words,
                                "words to complete", error));
    completion->words[completion->count] = strdup(word);
    if (!completion->words[completion->count])
        return error_out_of_memory(error, strlen(word), "words to complete");
    completion->count++;
    return STATUS_OK;
}

static bool begins(const struct search *search, const char *name)
{
    return word_compare_bytes(name, search->word, search->length) == 0;
}

/* Adds a name of the database, in quotes if it needs them or if one was typed. */
static enum status add_name(struct search *search, const char *name, struct error *error)
{
    char *text = NULL;
    size_t bytes;
    if (!begins(search, name))
        return STATUS_OK;
    FILE *const out = text_stream(&text, &bytes);
    if (out)
        sql_name_write(out, name, search->quoted);
    const bool written = out && fclose(out) == 0;
    const enum status status =
        written ? add(search, text, error) : error_out_of_memory(error, strlen(name), "words to complete");
    free(text);
    return status;
}

/* A word gets the case of what was typed. */
static enum status add_word(struct search *search, const char *word, struct error *error)
{
    char text[32];
    const bool upper = search->length && isupper((unsigned char)*search->word);
    size_t i = 0;
    if (!begins(search, word))
        return STATUS_OK;
    for (; word[i] && i < sizeof text - 1; i++)
        text[i] = upper ? (char)toupper((unsigned char)word[i]) : word[i];
    text[i] = '\0';
    return add(search, text, error);
}

/* Keywords, and the names of functions. */
static enum status add_words(struct search *search, struct error *error)
{
    static const char *(*const lists[])(size_t) = {sql_keyword, word_at, function_name, aggregate_name,
                                                   logical_window_name};
    for (size_t l = 0; l < sizeof lists / sizeof *lists; l++)
        for (size_t w = 0; lists[l](w); w++)
            RETURN_IF_ERROR(add_word(search, lists[l](w), error));
    return STATUS_OK;
}

static enum status add_tables(struct search *search, struct error *error)
{
    for (uint32_t t = 0; t < database_table_count(search->database); t++)
        RETURN_IF_ERROR(add_name(search, database_table_at(search->database, t)->name, error));
    for (uint32_t v = 0; v < database_view_count(search->database); v++)
        RETURN_IF_ERROR(add_name(search, database_view_at(search->database, v), error));
    return STATUS_OK;
}

static enum status add_columns(struct search *search, const struct table *table, struct error *error)
{
    for (uint32_t c = 0; c < table_visible_columns(table); c++)
        RETURN_IF_ERROR(add_name(search, table->columns[c].schema.name, error));
    return STATUS_OK;
}

/* ---- The statement so far ---- */

static const struct table *table_named(const struct database *database, const struct sql_token *token)
{
    char name[COMPLETE_WORD_BYTES];
    if ((token->kind != TOKEN_WORD && token->kind != TOKEN_NAME) || token->length >= sizeof name)
        return NULL;
    sql_token_text(token, name);
    for (uint32_t t = 0; t < database_table_count(database); t++)
        if (word_compare(database_table_at(database, t)->name, name) == 0)
            return database_table_at(database, t);
    return NULL;
}

static bool is_same(const struct sql_token *a, const struct sql_token *b)
{
    return a->length == b->length && word_compare_bytes(a->text, b->text, a->length) == 0;
}

/* What stands before the word. */
struct before {
    struct sql_token tokens[TOKENS_MAX];
    uint32_t count;
};

static void read_before(const char *text, size_t length, struct before *before)
{
    struct sql_tokens tokens;
    struct error unused;
    sql_tokens_begin(&tokens, text, length);
    before->count = 0;
    while (before->count < TOKENS_MAX &&
           sql_token_next(&tokens, &before->tokens[before->count], &unused) == STATUS_OK &&
           before->tokens[before->count].kind != TOKEN_END)
        before->count++;
}

/* The table that `name.` means: its name, or an alias, which follows its name, with or without AS. */
static const struct table *table_meant(const struct database *database, const struct before *before,
                                       const struct sql_token *name)
{
    for (uint32_t i = 1; i < before->count; i++) {
        const uint32_t of = i > 1 && sql_token_is(&before->tokens[i - 1], "AS") ? i - 2 : i - 1;
        if (is_same(&before->tokens[i], name) && table_named(database, &before->tokens[of]))
            return table_named(database, &before->tokens[of]);
    }
    return table_named(database, name);
}

/* Columns of the tables that are named, or of all. */
static enum status add_all_columns(struct search *search, const struct before *before, struct error *error)
{
    bool any = false;
    for (uint32_t i = 0; i < before->count; i++) {
        const struct table *const table = table_named(search->database, &before->tokens[i]);
        any |= table != NULL;
        if (table)
            RETURN_IF_ERROR(add_columns(search, table, error));
    }
    for (uint32_t t = 0; !any && t < database_table_count(search->database); t++)
        RETURN_IF_ERROR(add_columns(search, database_table_at(search->database, t), error));
    return STATUS_OK;
}

static enum status add_for_statement(struct search *search, const struct before *before, struct error *error)
{
    const struct sql_token *const last = before->count ? &before->tokens[before->count - 1] : NULL;
    if (last && sql_token_is(last, ".") && before->count > 1) {
        const struct table *const table = table_meant(search->database, before, last - 1);
        return table ? add_columns(search, table, error) : STATUS_OK;
    }
    if (last && (sql_token_is(last, "FROM") || sql_token_is(last, "JOIN") || sql_token_is(last, "INTO") ||
                 sql_token_is(last, "DESCRIBE")))
        return add_tables(search, error);
    if (!search->quoted)
        RETURN_IF_ERROR(add_words(search, error));
    RETURN_IF_ERROR(add_tables(search, error));
    return add_all_columns(search, before, error);
}

/* A dot command's name, or its word: one of "[a|b|c]", or a table. */
static enum status add_for_dot(struct search *search, const char *line, size_t length, struct error *error)
{
    const char *argument, *name;
    const size_t first = strcspn(line, " \t");
    for (uint32_t i = 0; (name = sql_shell_dot_name(i, &argument)); i++) {
        if (first >= length) { /* the name is being typed, with its dot */
            if (begins(search, name))
                RETURN_IF_ERROR(add(search, name, error));
            continue;
        }
        if (strlen(name) != first || strncmp(name, line, first) != 0)
            continue;
        if (strcmp(argument, "[TABLE]") == 0)
            return add_tables(search, error);
        for (const char *at = argument; *at; at += strcspn(at, "|]") + (at[strcspn(at, "|]")] != '\0')) {
            char word[COMPLETE_WORD_BYTES];
            at += *at == '[';
            snprintf(word, sizeof word, "%.*s", (int)strcspn(at, "|]"), at);
            if (islower((unsigned char)*word) && begins(search, word))
                RETURN_IF_ERROR(add(search, word, error));
        }
    }
    return STATUS_OK;
}

/* ---- The word ---- */

static bool is_of_word(char byte)
{
    return isalnum((unsigned char)byte) || byte == '_' || byte == '$' || (unsigned char)byte >= 0x80;
}

static int compare(const void *a, const void *b, const void *context)
{
    (void)context;
    return strcmp(*(char *const *)a, *(char *const *)b);
}

/* Sorts the words, drops doubles, and finds what is inserted. */
static void finish(struct completion *completion)
{
    uint32_t kept = 0;
    if (completion->count == 0)
        return;
    sort_items(completion->words, completion->count, sizeof *completion->words, compare, NULL);
    for (uint32_t i = 0; i < completion->count; i++)
        if (kept && strcmp(completion->words[kept - 1], completion->words[i]) == 0)
            free(completion->words[i]);
        else
            completion->words[kept++] = completion->words[i];
    completion->count = kept;
    size_t common = strlen(completion->words[0]);
    for (uint32_t i = 1; i < kept; i++) {
        size_t same = 0;
        while (same < common && completion->words[i][same] == completion->words[0][same])
            same++;
        common = same;
    }
    while (common && ((unsigned char)completion->words[0][common] & 0xc0) == 0x80)
        common--; /* no character is cut */
    snprintf(completion->insert, sizeof completion->insert, "%.*s%s", (int)common, completion->words[0],
             kept == 1 ? " " : "");
}

/* Finds where the word begins: after a double quote that is open, or after what cannot be in a name. */
static size_t begin_of_word(const char *text, size_t length, bool *quoted)
{
    size_t quote = length;
    *quoted = false;
    for (size_t i = 0; i < length; i++) {
        *quoted ^= text[i] == '"';
        quote = *quoted && text[i] == '"' ? i : quote;
    }
    if (*quoted)
        return quote;
    while (length > 0 && is_of_word(text[length - 1]))
        length--;
    return length;
}

enum status complete_word(const struct database *database, const char *text, size_t length,
                          struct completion *completion, struct error *error)
{
    *completion = (struct completion){0};
    struct search search = {.database = database, .completion = completion};
    size_t begin = begin_of_word(text, length, &search.quoted);
    const size_t blanks = strspn(text, " \t\r\n");
    const bool dot = blanks < length && text[blanks] == '.';
    if (dot && begin == blanks + 1)
        begin = blanks; /* the name of a dot command has its dot */
    completion->typed = length - begin;
    search.word = text + begin + search.quoted;
    search.length = completion->typed - search.quoted;
    enum status status;
    if (dot) {
        status = add_for_dot(&search, text + blanks, length - blanks, error);
    } else {
        struct before *const before = malloc(sizeof *before);
        if (!before)
            return error_out_of_memory(error, sizeof *before, "words to complete");
        read_before(text, begin, before);
        status = add_for_statement(&search, before, error);
        free(before);
    }
    if (status == STATUS_OK)
        finish(completion);
    else
        completion_free(completion);
    return status;
}

void completion_free(struct completion *completion)
{
    for (uint32_t i = 0; i < completion->count; i++)
        free(completion->words[i]);
    free(completion->words);
    *completion = (struct completion){0};
}
