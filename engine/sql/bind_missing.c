/* bind_missing.c: says which column may be meant by a name that no table of FROM has (bind_internal.h). */
#include "engine/sql/bind_internal.h"
#include "storage/base/words/near_word.h"
#include "storage/base/words/word.h"

#include <stdio.h>
#include <string.h>

/* A table of the database that is not in FROM and has the column; NULL: none. */
static const struct table *table_with(const struct binder *binder, const char *name)
{
    const struct database *const database = binder->plan->database;
    for (uint32_t t = 0; t < database_table_count(database); t++) {
        const struct table *const table = database_table_at(database, t);
        for (uint32_t c = 0; c < table_visible_columns(table); c++)
            if (word_compare(table->columns[c].schema.name, name) == 0)
                return table;
    }
    return NULL;
}

enum status bind_missing_column(const struct binder *binder, const struct sql_expression *name)
{
    const char *const dot = name->qualifier ? "." : "", *const qualifier =
                                                            name->qualifier ? name->qualifier : "";
    struct near_word near = near_word_begin(name->name);
    const struct table *const elsewhere = name->qualifier ? NULL : table_with(binder, name->name);
    char list[512] = "";
    size_t used = 0;
    for (uint32_t t = 0; t < binder->table_count; t++)
        for (uint32_t c = 0; c < table_visible_columns(binder->tables[t].table); c++) {
            const char *const column = binder->tables[t].table->columns[c].schema.name;
            if (name->qualifier && word_compare(name->qualifier, binder->tables[t].name) != 0)
                continue;
            near_word_try(&near, column);
            if (used < sizeof list - 100)
                used += (size_t)snprintf(list + used, sizeof list - used, "%s%s", used ? ", " : "", column);
        }
    if (elsewhere)
        return bind_refuse(binder, name->position, "FROM has no column %s; table %s has it: join it in FROM",
                           name->name, elsewhere->name);
    if (near.nearest)
        return bind_refuse(binder, name->position, "there is no column %s%s%s; did you mean %s?", qualifier,
                           dot, name->name, near.nearest);
    return bind_refuse(binder, name->position, "there is no column %s%s%s; there are %s%s", qualifier, dot,
                       name->name, list, used >= sizeof list - 100 ? ", ..." : "");
}
