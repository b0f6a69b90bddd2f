/* level_options.c: see level_options.h. */
#include "loader/table/level_options.h"

#include "storage/base/words/word.h"

#include <string.h>

static const char none[] = "none";

static bool is_name(const char *text, size_t length, const char *name)
{
    return length == strlen(name) && word_compare_bytes(text, name, length) == 0;
}

/* The number of a column by its name, or by what stands after the first _ of only one name; UINT32_MAX if there is
 * none. */
static uint32_t find_column(const struct schema_table *table, const char *text, size_t length)
{
    uint32_t found = UINT32_MAX, ends = 0;
    for (uint32_t c = 0; c < table->column_count; c++)
        if (is_name(text, length, table->columns[c].name))
            return c;
    for (uint32_t c = 0; c < table->column_count; c++) {
        const char *const low = strchr(table->columns[c].name, '_');
        if (low && is_name(text, length, low + 1)) {
            found = c;
            ends++;
        }
    }
    return ends == 1 ? found : UINT32_MAX;
}

static enum status check_columns(const char *option, const struct schema_table *table, const char *list,
                                 struct error *error)
{
    uint32_t count = 0;
    if (word_compare(list, none) == 0)
        return STATUS_OK;
    for (size_t length;; list += length + 1) {
        length = strcspn(list, ",");
        if (find_column(table, list, length) == UINT32_MAX)
            return error_set(error, STATUS_BAD_INPUT, "--levels %s: table %s has no column '%.*s'", option,
                             table->name, (int)(length < NAME_BYTES ? length : NAME_BYTES), list);
        if (++count > LEVELS_MAX)
            return error_set(error, STATUS_BAD_INPUT, "--levels %s: more than %u levels", option, LEVELS_MAX);
        if (!list[length])
            return STATUS_OK;
    }
}

static enum status check_option(const struct schema_script *schema, const struct load_options *options,
                                const char *option, struct error *error)
{
    const size_t length = strcspn(option, "=");
    char name[NAME_BYTES] = "";
    memcpy(name, option, length < sizeof name ? length : sizeof name - 1);
    if (!option[length])
        return error_set(error, STATUS_BAD_INPUT, "--levels %s: give TABLE=COLUMN,COLUMN... or TABLE=none",
                         option);
    for (uint32_t i = 0; i < options->input_count; i++) {
        const struct schema_table *const table = schema_table(schema, options->inputs[i].table);
        if (table && is_name(option, length, table->name))
            return check_columns(option, table, option + length + 1, error);
    }
    return error_set(error, STATUS_BAD_INPUT, "--levels %s: no table that is loaded is named '%s'", option,
                     name);
}

enum status level_options_check(const struct schema_script *schema, const struct load_options *options,
                                struct error *error)
{
    for (uint32_t o = 0; o < options->level_count; o++) {
        const size_t length = strcspn(options->levels[o], "=") + 1;
        RETURN_IF_ERROR(check_option(schema, options, options->levels[o], error));
        for (uint32_t before = 0; before < o; before++)
            if (word_compare_bytes(options->levels[o], options->levels[before], length) == 0)
                return error_set(error, STATUS_BAD_INPUT, "--levels %s: the table's levels are given twice",
                                 options->levels[o]);
    }
    return STATUS_OK;
}

bool level_options_find(const struct load_options *options, const struct schema_table *table, bool dimension,
                        struct levels_wish *wish)
{
    *wish = (struct levels_wish){0};
    for (uint32_t o = 0; o < options->level_count; o++) {
        const char *list = strchr(options->levels[o], '=') + 1;
        if (!is_name(options->levels[o], (size_t)(list - 1 - options->levels[o]), table->name))
            continue;
        if (word_compare(list, none) == 0)
            return false;
        for (size_t length; wish->count < LEVELS_MAX; list += length + 1) {
            length = strcspn(list, ",");
            wish->columns[wish->count++] = find_column(table, list, length);
            if (!list[length])
                return true;
        }
        return true;
    }
    return dimension && options->dimension_order == DIMENSION_LEVELS;
}
