/* cluster_options.c: see cluster_options.h. */
#include "loader/table/cluster_options.h"

#include "storage/base/words/word.h"

#include <stdlib.h>
#include <string.h>

#define NUMBER_MOST 64u

/* One "COLUMN" or "COLUMN:N" of the list. */
struct cluster_word {
    const char *name;
    size_t name_length, length;
    uint32_t number; /* 0: none is given */
    bool wrong;
};

static struct cluster_word read_word(const char *list)
{
    struct cluster_word word = {.name = list, .length = strcspn(list, ",")};
    word.name_length = strcspn(list, ",:");
    if (word.name_length == word.length)
        return word;
    char *end;
    const unsigned long number = strtoul(list + word.name_length + 1, &end, 10);
    const char first = list[word.name_length + 1];
    word.wrong =
        first < '0' || first > '9' || end != list + word.length || number == 0 || number > NUMBER_MOST;
    word.number = (uint32_t)number;
    return word;
}

/* The column's number; UINT32_MAX: the table has none of that name. */
static uint32_t find_column(const struct schema_table *table, const struct cluster_word *word)
{
    for (uint32_t c = 0; c < table->column_count; c++)
        if (strlen(table->columns[c].name) == word->name_length &&
            word_compare_bytes(word->name, table->columns[c].name, word->name_length) == 0)
            return c;
    return UINT32_MAX;
}

/* A column of that name in a table that is loaded; if it can be, in one that no other references: a foreign key often has the
 * name of what it references. */
static const struct schema_table *find_table(const struct schema_script *schema,
                                             const struct load_options *options,
                                             const struct cluster_word *word)
{
    const struct schema_table *found = NULL;
    for (uint32_t i = 0; i < options->input_count; i++) {
        const struct schema_table *const table = schema_table(schema, options->inputs[i].table);
        if (table && find_column(table, word) != UINT32_MAX && (!found || schema_references(schema, found)))
            found = table;
    }
    return found;
}

static enum status check_word(const struct schema_script *schema, const struct load_options *options,
                              const struct cluster_word *word, struct error *error)
{
    const int length = (int)(word->length < NAME_BYTES ? word->length : NAME_BYTES);
    if (word->wrong)
        return error_set(
            error, STATUS_BAD_INPUT,
            "--cluster-by %.*s: give COLUMN or COLUMN:N, N levels of what it references, or bits, "
            "from 1",
            length, word->name);
    const struct schema_table *const table = find_table(schema, options, word);
    if (!table)
        return error_set(error, STATUS_BAD_INPUT,
                         "--cluster-by %.*s: no table that is loaded has that column", length, word->name);
    return schema_references(schema, table)
               ? error_set(error, STATUS_BAD_INPUT,
                           "--cluster-by %.*s: table %s is referenced, and positions of its rows are what "
                           "is stored; cluster a table that is not referenced",
                           length, word->name, table->name)
               : STATUS_OK;
}

static bool is_word(const struct load_options *options, const char *word)
{
    return word_compare(options->cluster_by, word) == 0;
}

enum status cluster_options_check(const struct schema_script *schema, const struct load_options *options,
                                  struct error *error)
{
    uint32_t count = 0;
    if (options->workload && !(options->cluster_by && is_word(options, "auto")))
        return error_set(error, STATUS_BAD_INPUT,
                         "--workload %s: says what --cluster-by auto chooses; give that, too",
                         options->workload);
    if (!options->cluster_by || is_word(options, "auto") || is_word(options, "none"))
        return STATUS_OK;
    for (const char *list = options->cluster_by;;) {
        const struct cluster_word word = read_word(list);
        if (++count > CLUSTER_TERMS_MAX)
            return error_set(error, STATUS_BAD_INPUT, "--cluster-by: more than %u columns",
                             CLUSTER_TERMS_MAX);
        RETURN_IF_ERROR(check_word(schema, options, &word, error));
        if (!list[word.length])
            return STATUS_OK;
        list += word.length + 1;
    }
}

bool cluster_options_find(const struct load_options *options, const struct schema_table *table,
                          struct clustering *wish, bool *none)
{
    *wish = (struct clustering){0};
    *none = options->cluster_by && is_word(options, "none");
    if (!options->cluster_by || *none || is_word(options, "auto"))
        return options->cluster_by;
    for (const char *list = options->cluster_by;;) {
        const struct cluster_word word = read_word(list);
        const uint32_t column = find_column(table, &word);
        if (column != UINT32_MAX)
            wish->terms[wish->count++] = (struct cluster_term){.column = column, .number = word.number};
        if (!list[word.length])
            return wish->count > 0;
        list += word.length + 1;
    }
}
