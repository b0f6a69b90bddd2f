/* schema.c: see schema.h. The generator (ssb_table_info) has the names and kinds of columns. */
#include "ssb/data/schema.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum ssb_table ssb_referenced_table(uint32_t lineorder_column)
{
    const char *name = ssb_table_info(SSB_LINEORDER)->columns[lineorder_column].references;
    if (!name || lineorder_column == LO_COMMITDATE)
        return SSB_TABLES;
    enum ssb_table table = 0;
    while (table < SSB_TABLES && strcmp(ssb_table_info(table)->name, name) != 0)
        table++;
    return table;
}

static void make_table(enum ssb_table number, bool wide_orderkeys, bool nullable_keys,
                       struct schema_table *table)
{
    const struct ssb_table_info *info = ssb_table_info(number);
    snprintf(table->name, sizeof table->name, "%s", info->name);
    table->column_count = info->column_count;
    for (uint32_t c = 0; c < info->column_count; c++) {
        struct column_schema *column = &table->columns[c];
        snprintf(column->name, sizeof column->name, "%s", info->columns[c].name);
        column->type = !info->columns[c].number                  ? TYPE_STRING
                       : info->columns[c].wide && wide_orderkeys ? TYPE_INT64
                                                                 : TYPE_INT32;
        column->primary_key = number != SSB_LINEORDER && c == 0;
        const enum ssb_table referenced = number == SSB_LINEORDER ? ssb_referenced_table(c) : SSB_TABLES;
        if (referenced == SSB_TABLES)
            continue;
        const struct ssb_table_info *dimension = ssb_table_info(referenced);
        snprintf(column->references_table, sizeof column->references_table, "%s", dimension->name);
        snprintf(column->references_column, sizeof column->references_column, "%s",
                 dimension->columns[0].name);
        column->nullable = nullable_keys;
    }
}

enum status ssb_schema_make(bool wide_orderkeys, bool nullable_keys, struct schema_script *schema,
                            struct error *error)
{
    *schema = (struct schema_script){.tables = calloc(SCHEMA_TABLES_MAX, sizeof *schema->tables)};
    for (enum ssb_table table = 0; schema->tables && table < SSB_TABLES; table++) {
        schema->tables[table].columns = calloc(SSB_COLUMNS_MAX, sizeof *schema->tables[table].columns);
        if (!schema->tables[table].columns)
            break;
        make_table(table, wide_orderkeys, nullable_keys, &schema->tables[table]);
        schema->table_count++;
    }
    if (schema->table_count == SSB_TABLES)
        return STATUS_OK;
    schema_script_free(schema);
    return error_out_of_memory(error, SCHEMA_TABLES_MAX * sizeof *schema->tables, "a schema");
}

enum status ssb_column_find(const char *name, enum ssb_table *table, uint32_t *column, struct error *error)
{
    for (*table = 0; *table < SSB_TABLES; ++*table) {
        const struct ssb_table_info *info = ssb_table_info(*table);
        for (*column = 0; *column < info->column_count; ++*column)
            if (strcmp(info->columns[*column].name, name) == 0)
                return STATUS_OK;
    }
    return error_set(error, STATUS_BAD_INPUT,
                     "no table of the benchmark has a column '%s'; columns are named like lo_quantity, "
                     "d_year, c_city, s_city or p_brand1",
                     name);
}

enum status ssb_lineorder_column_find(const char *name, uint32_t *column, struct error *error)
{
    const struct ssb_table_info *info = ssb_table_info(SSB_LINEORDER);
    char names[SSB_COLUMNS_MAX * NAME_BYTES];
    size_t used = 0;
    for (*column = 0; *column < info->column_count; ++*column) {
        if (strcmp(info->columns[*column].name, name) == 0)
            return STATUS_OK;
        used += (size_t)snprintf(names + used, sizeof names - used, "%s%s", *column ? ", " : "",
                                 info->columns[*column].name);
    }
    return error_set(error, STATUS_BAD_INPUT, "lineorder has no column '%.60s' to sort by; it has: %s", name,
                     names);
}
