/* table_script.c: see table_script.h. */
#include "storage/database/table_script.h"

#include "storage/base/words/sql_name.h"

static void write_type(FILE *script, const struct column_schema *schema)
{
    static const char *const types[] = {
        [TYPE_INT32] = "INT",   [TYPE_INT64] = "BIGINT",        [TYPE_DECIMAL] = "DECIMAL",
        [TYPE_DATE] = "DATE",   [TYPE_TIMESTAMP] = "TIMESTAMP", [TYPE_BOOL] = "BOOLEAN",
        [TYPE_STRING] = "TEXT", [TYPE_DOUBLE] = "DOUBLE"};
    fputs(types[schema->type], script);
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

void table_script_write(FILE *script, const struct table *table)
{
    fputs("CREATE TABLE ", script);
    sql_name_write(script, table->name, false);
    for (uint32_t c = 0; c < table->column_count; c++) {
        fputs(c ? ",\n    " : " (\n    ", script);
        write_column(script, &table->columns[c]);
    }
    fputs("\n);\n", script);
}
