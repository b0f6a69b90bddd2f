/* sources.c: the tables and answers that a level asks, and their columns (query_internal.h). */
#include "engine/library/query/query_internal.h"

#include "storage/base/words/word.h"
#include "storage/base/words/word.h"

#include <stdio.h>
#include <string.h>

/* ---- Finding them ---- */

const struct table *query_stored_table(const struct query *query, const char *name)
{
    const struct table *found = NULL;
    for (uint32_t t = 0; t < database_table_count(query->task->database); t++) {
        const struct table *const table = database_table_at(query->task->database, t);
        if (strcmp(table->name, name) == 0)
            return table;
        if (!found && word_compare(table->name, name) == 0)
            found = table;
    }
    return found;
}

static bool is_taken(const struct query_source *source, uint32_t count, const char *name)
{
    for (uint32_t c = 0; c < count; c++)
        if (word_compare(source->columns[c], name) == 0)
            return true;
    return false;
}

/* Gives a column of an answer a name that no other has, also if it is cut: SELECT a.x, b.x has x and x_1. */
static enum status name_column(struct query *query, struct query_source *source, uint32_t c)
{
    char name[NAME_BYTES];
    snprintf(name, sizeof name, "%s", source->labels[c]);
    for (uint32_t number = 1; is_taken(source, c, name) || !name[0]; number++)
        snprintf(name, sizeof name, "%.50s_%u", source->labels[c], number);
    source->columns[c] = query_text(query, name);
    return source->columns[c] ? STATUS_OK : error_out_of_memory(query->error, sizeof name, "a name");
}

static enum status find_columns(struct query *query, struct query_source *source)
{
    const uint32_t count = source->rows ? source->rows->column_count : table_visible_columns(source->table);
    source->column_count = count;
    RETURN_IF_ERROR(query_memory(query, (count + 1) * sizeof *source->columns, &source->columns));
    RETURN_IF_ERROR(query_memory(query, (count + 1) * sizeof *source->labels, &source->labels));
    RETURN_IF_ERROR(query_memory(query, (count + 1) * sizeof *source->used, &source->used));
    RETURN_IF_ERROR(query_memory(query, (count + 1) * sizeof *source->unit_column, &source->unit_column));
    for (uint32_t c = 0; c < count; c++) {
        source->unit_column[c] = c;
        source->labels[c] =
            source->rows ? source->rows->columns[c].name : source->table->columns[c].schema.name;
        source->columns[c] = source->labels[c];
        if (source->rows)
            RETURN_IF_ERROR(name_column(query, source, c));
    }
    return STATUS_OK;
}

static uint32_t columns_named(const struct query_source *source, const char *name, uint32_t *column)
{
    uint32_t count = 0;
    for (uint32_t c = 0; c < source->column_count; c++) {
        const bool exact = strcmp(source->columns[c], name) == 0 ||
                           (strlen(source->labels[c]) >= NAME_BYTES && strcmp(source->labels[c], name) == 0);
        if (!exact && word_compare(source->columns[c], name) != 0)
            continue;
        *column = c;
        count++;
        if (exact)
            return 1;
    }
    return count;
}

static uint32_t scope_find(const void *context, uint32_t source, const char *name, uint32_t *column)
{
    return columns_named(&((const struct query_sources *)context)->list[source], name, column);
}

static const char *scope_name(const void *context, uint32_t source, uint32_t column)
{
    return ((const struct query_sources *)context)->list[source].columns[column];
}

enum status query_sources_find(struct query *query, const struct sql_select *select,
                               const struct query_scope *scope, struct query_sources *sources)
{
    for (uint32_t s = 0; s < select->source_count; s++) {
        const struct sql_source *const from = &select->sources[s];
        struct query_named *named;
        RETURN_IF_ERROR(query_find(query, scope, from->table, from->position, &named));
        if (s == SQL_SOURCES_MAX)
            return query_refuse(
                query, from->position,
                "FROM names more than %u tables, with the subqueries that name columns of the "
                "statement around them; ask in several levels",
                SQL_SOURCES_MAX);
        struct query_source *const source = &sources->list[sources->count++];
        *source = (struct query_source){.name = sql_source_name(from),
                                        .table = named ? NULL : query_stored_table(query, from->table),
                                        .rows = named ? &named->rows : NULL,
                                        .from = from};
        sources->any_answer |= named != NULL;
        sources->any_strict |= from->join == SQL_JOIN_RIGHT || from->join == SQL_JOIN_FULL;
        if (!source->table && !source->rows)
            return query_placed(
                query, from->position,
                database_table(query->task->database, from->table, &source->table, query->error));
        for (uint32_t other = 0; other < s; other++)
            if (word_compare(sources->list[other].name, source->name) == 0)
                return query_refuse(query, from->position,
                                    "FROM has %s twice; give one of them another alias", source->name);
        RETURN_IF_ERROR(find_columns(query, source));
    }
    sources->scope = (struct sql_scope){.count = sources->count,
                                        .sources = select->sources,
                                        .find = scope_find,
                                        .name = scope_name,
                                        .context = sources};
    return STATUS_OK;
}

/* ---- Names ---- */

bool query_column_of(const struct query_sources *sources, const struct sql_expression *name, uint32_t *source,
                     uint32_t *column)
{
    struct sql_scope_column found;
    if (sql_scope_find(&sources->scope, name, &found) != 1 || found.count > 1)
        return false;
    *source = found.sources[0];
    *column = found.columns[0];
    return true;
}

enum status query_column_missing(const struct query *query, const struct query_sources *sources,
                                 const struct sql_expression *name)
{
    char list[512] = "";
    size_t used = 0;
    uint32_t tables = 0, holders = 0;
    for (uint32_t s = 0; s < sources->count; s++) {
        const struct query_source *const source = &sources->list[s];
        uint32_t column;
        if (name->qualifier && word_compare(name->qualifier, source->name) != 0)
            continue;
        tables++;
        holders += columns_named(source, name->name, &column) > 0;
        for (uint32_t c = 0; c < source->column_count && used < sizeof list - 100; c++)
            used += (size_t)snprintf(list + used, sizeof list - used, "%s%.80s", used ? ", " : "",
                                     source->columns[c]);
    }
    if (tables == 0)
        return query_refuse(query, name->position, "there is no table or alias '%s' in FROM",
                            name->qualifier);
    if (holders)
        return query_refuse(query, name->position,
                            "%s could be a column of more than one table; write TABLE.%s", name->name,
                            name->name);
    return query_refuse(query, name->position, "there is no column %s; there are %s%s", name->name, list,
                        used >= sizeof list - 100 ? ", ..." : "");
}

/* ---- Stars ---- */

static enum status expand(struct query *query, const struct query_sources *sources,
                          const struct sql_expression *star, struct sql_select *select)
{
    bool any = false;
    for (uint32_t s = 0; s < sources->count; s++) {
        const struct query_source *const source = &sources->list[s];
        if ((star->qualifier && word_compare(star->qualifier, source->name) != 0) || source->name[0] == '?')
            continue;
        any = true;
        for (uint32_t c = 0; c < source->column_count; c++) {
            struct sql_expression *node;
            struct sql_scope_column value = {.count = 1, .sources = {s}, .columns = {c}};
            if ((!star->qualifier && !sql_scope_visible(&sources->scope, s, c, &value)) ||
                strncmp(source->columns[c], QUERY_VALUE_NAME, strlen(QUERY_VALUE_NAME)) == 0)
                continue;
            RETURN_IF_ERROR(
                sql_scope_tree(&sources->scope, query->tree, &value, star->position, &node, query->error));
            RETURN_IF_ERROR(query_item(query, select, node, NULL));
            select->items[select->item_count - 1].text = source->labels[c];
            select->items[select->item_count - 1].of_star = true;
        }
    }
    return any ? STATUS_OK
               : query_refuse(query, star->position, "there is no table or alias '%s' in FROM",
                              star->qualifier);
}

enum status query_expand_stars(struct query *query, const struct query_sources *sources,
                               struct sql_select *select)
{
    const struct sql_item *const items = select->items;
    const uint32_t count = select->item_count;
    select->items = NULL;
    select->item_count = 0;
    for (uint32_t i = 0; i < count; i++)
        if (items[i].expression->operation == SQL_STAR)
            RETURN_IF_ERROR(expand(query, sources, items[i].expression, select));
        else
            RETURN_IF_ERROR(sql_tree_append(query->tree, &select->items, &select->item_count, sizeof items[i],
                                            &items[i], query->error));
    return STATUS_OK;
}
