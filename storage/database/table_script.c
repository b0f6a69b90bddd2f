/* table_script.c: see table_script.h. */
#include "storage/database/table_script.h"

#include "storage/base/words/sql_name.h"

#include <string.h>

static const char *type_name(enum column_type type)
{
    switch (type) {
    case TYPE_INT32:
        return "INT";
    case TYPE_INT64:
        return "BIGINT";
    case TYPE_DECIMAL:
        return "DECIMAL";
    case TYPE_DATE:
        return "DATE";
    case TYPE_TIMESTAMP:
        return "TIMESTAMP";
    case TYPE_BOOL:
        return "BOOLEAN";
    case TYPE_STRING:
        return "TEXT";
    case TYPE_DOUBLE:
        return "DOUBLE";
    }
    return NULL;
}

static void write_type(FILE *script, const struct column_schema *schema)
{
    fputs(type_name(schema->type), script);
    if (schema->zoned)
        fputs(" WITH TIME ZONE", script);
    if (schema->type == TYPE_DECIMAL)
        fprintf(script, "(%u,%u)", schema->precision, schema->scale);
}

/* A foreign key has the type of the key that it references. */
static void write_column(FILE *script, const struct column *column)
{
    const struct column *const key = column->references;
    sql_name_write(script, column->schema.name, false);
    putc(' ', script);
    write_type(script, key ? &key->schema : &column->schema);
    fputs(column->schema.primary_key ? " PRIMARY KEY" : column->schema.nullable ? "" : " NOT NULL", script);
    if (!key)
        return;
    fputs(" REFERENCES ", script);
    sql_name_write(script, key->table->name, false);
    putc('(', script);
    sql_name_write(script, key->schema.name, false);
    putc(')', script);
}

/* ---- Keys after the columns ---- */

#define BEFORE ",\n    "

static void write_list(FILE *script, const struct table *table, const struct key_columns *key)
{
    for (uint32_t k = 0; k < key->count; k++) {
        fputs(k ? ", " : "(", script);
        sql_name_write(script, table->columns[key->columns[k]].schema.name, false);
    }
    fputc(')', script);
}

static bool is_primary(const struct table *table, const struct key_columns *key)
{
    return memcmp(&table->key, key, sizeof *key) == 0 ||
           (key->count == 1 && table->columns[key->columns[0]].schema.primary_key);
}

/* The reference is the first of all by its key. */
static bool is_first(const struct database *database, const struct column *reference)
{
    for (uint32_t t = 0; t < database_table_count(database); t++) {
        const struct table *const table = database_table_at(database, t);
        for (uint32_t c = table_visible_columns(table); c < table->column_count; c++) {
            const struct column *const column = &table->columns[c];
            if (column == reference)
                return true;
            if (column->references && column->references->table == reference->references->table &&
                memcmp(&column->schema.key, &reference->schema.key, sizeof column->schema.key) == 0)
                return false;
        }
    }
    return false;
}

static void write_unique(FILE *script, const struct database *database, const struct table *table)
{
    for (uint32_t t = 0; t < database_table_count(database); t++) {
        const struct table *const from = database_table_at(database, t);
        for (uint32_t c = table_visible_columns(from); c < from->column_count; c++) {
            const struct column *const reference = &from->columns[c];
            if (!reference->references || reference->references->table != table ||
                is_primary(table, &reference->schema.key) || !is_first(database, reference))
                continue;
            fputs(BEFORE "UNIQUE ", script);
            write_list(script, table, &reference->schema.key);
        }
    }
}

/* A primary key of several columns, what other tables reference by, and references of several columns or to the table
 * itself. */
static void write_keys(FILE *script, const struct database *database, const struct table *table)
{
    if (table->key.count) {
        fputs(BEFORE "PRIMARY KEY ", script);
        write_list(script, table, &table->key);
    }
    write_unique(script, database, table);
    for (uint32_t c = table_visible_columns(table); c < table->column_count; c++) {
        const struct column *const reference = &table->columns[c];
        if (!reference->references)
            continue;
        fputs(BEFORE "FOREIGN KEY ", script);
        write_list(script, table, &reference->schema.of);
        fputs(" REFERENCES ", script);
        sql_name_write(script, reference->references->table->name, false);
        putc(' ', script);
        write_list(script, reference->references->table, &reference->schema.key);
    }
}

void table_script_write(FILE *script, const struct database *database, const struct table *table)
{
    fputs("CREATE TABLE ", script);
    sql_name_write(script, table->name, false);
    for (uint32_t c = 0; c < table_visible_columns(table); c++) {
        fputs(c ? ",\n    " : " (\n    ", script);
        write_column(script, &table->columns[c]);
    }
    write_keys(script, database, table);
    fputs("\n);\n", script);
}

void database_script_write(FILE *script, const struct database *database, const struct table *without)
{
    for (uint32_t t = 0; t < database_table_count(database); t++)
        if (database_table_at(database, t) != without)
            table_script_write(script, database, database_table_at(database, t));
}
