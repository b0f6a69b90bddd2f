/* tables.c: the tables in memory by which joined rows, or rows of one unit, are asked (joining.h). */
#include "engine/library/query/joining.h"
#include "storage/base/memory.h"
#include "storage/database/database_memory.h"

#include <stdio.h>
#include <stdlib.h>

static struct memory_column memory_column(const char *name, const struct rowset_column *from)
{
    static const enum column_type types[] = {
        [VALUE_INTEGER] = TYPE_INT64, [VALUE_DATE] = TYPE_DATE,     [VALUE_TIMESTAMP] = TYPE_TIMESTAMP,
        [VALUE_BOOLEAN] = TYPE_BOOL,  [VALUE_STRING] = TYPE_STRING, [VALUE_DOUBLE] = TYPE_INT64};
    return (struct memory_column){.name = name,
                                  .type =
                                      value_is_decimal(from->type) ? TYPE_DECIMAL : types[from->type.kind],
                                  .scale = from->type.scale,
                                  .is_double = from->type.kind == VALUE_DOUBLE,
                                  .untyped = from->type.untyped,
                                  .dictionary = from->type.dictionary,
                                  .values = from->values,
                                  .nulls = from->nulls};
}

/* The columns that are gathered for tables in memory, which are freed when these are made. */
struct gathered {
    struct rowset_column *columns;
    uint32_t count;
};

static enum status memory_table(struct joining *joining, uint32_t s, uint64_t rows, struct gathered *gathered,
                                struct memory_table *table)
{
    struct query *const query = joining->query;
    const struct query_source *const source = &joining->sources->list[s];
    const struct unit *const unit = &joining->units[source->unit];
    struct memory_column *columns;
    RETURN_IF_ERROR(query_memory(query, (source->column_count + 1) * sizeof *columns, &columns));
    *table = (struct memory_table){.name = source->name, .columns = columns};
    for (uint32_t c = 0; c < source->column_count; c++) {
        if (!source->used[c])
            continue;
        const struct rowset_column *from = &unit->rows->columns[source->unit_column[c]];
        if (unit->places) {
            struct rowset_column *const made = &gathered->columns[gathered->count];
            RETURN_IF_ERROR(relation_gather(from, unit->places, rows, made, query->error));
            gathered->count++;
            from = made;
        }
        columns[table->column_count++] = memory_column(source->columns[c], from);
    }
    return STATUS_OK;
}

enum status joining_database(struct joining *joining, uint64_t mask, uint64_t rows, struct sql_select *select,
                             struct database **database)
{
    struct query *const query = joining->query;
    struct memory_table tables[SQL_SOURCES_MAX];
    struct gathered gathered = {0};
    uint32_t count = 0, columns = 0;
    char name[16];
    enum status status = STATUS_OK;
    select->sources = NULL;
    select->source_count = 0;
    for (uint32_t s = 0; s < joining->sources->count; s++)
        columns += joining->sources->list[s].column_count;
    RETURN_IF_ERROR(
        memory_zeros(&gathered.columns, (columns + 1) * sizeof *gathered.columns, "an answer", query->error));
    for (uint32_t s = 0; status == STATUS_OK && s < joining->sources->count; s++) {
        if (!(mask >> s & 1))
            continue;
        status = memory_table(joining, s, rows, &gathered, &tables[count]);
        snprintf(name, sizeof name, "#%u", s);
        tables[count].name = query_text(query, name);
        const struct sql_source from = {.table = tables[count].name,
                                        .alias = joining->sources->list[s].name,
                                        .position = joining->sources->list[s].from->position};
        if (status == STATUS_OK)
            status = from.table ? sql_tree_append(query->tree, &select->sources, &select->source_count,
                                                  sizeof from, &from, query->error)
                                : error_out_of_memory(query->error, sizeof name, "a statement");
        count++;
    }
    if (status == STATUS_OK)
        status = database_of_memory(tables, count, rows, database, query->error);
    for (uint32_t c = 0; c < gathered.count; c++)
        relation_column_free(&gathered.columns[c]);
    free(gathered.columns);
    return status;
}

enum status joining_compute(struct joining *joining, uint64_t mask, uint64_t rows,
                            struct sql_expression *tree, struct rowset *made)
{
    struct query *const query = joining->query;
    struct sql_select *select;
    struct database *database;
    RETURN_IF_ERROR(query_memory(query, sizeof *select, &select));
    RETURN_IF_ERROR(query_item(query, select, tree, "key"));
    RETURN_IF_ERROR(joining_database(joining, mask, rows, select, &database));
    const enum status status = query_plan(query, database, select, false, made);
    database_close(database);
    return status;
}
