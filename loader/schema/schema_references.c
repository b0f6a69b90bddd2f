/* schema_references.c: what is known when a whole schema script has been read (schema_parser.h): the keys that columns
 * reference, the order of the tables, and the conditions of CHECK. */
#include "loader/check/check.h"
#include "loader/schema/schema_parser.h"
#include "storage/base/memory.h"
#include "storage/base/words/word.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Whether the table has a primary key of several columns. */
static bool has_wide_key(const struct schema_table *table)
{
    for (uint32_t i = 0; i < table->tuple_count; i++)
        if (table->tuples[i].primary)
            return true;
    return false;
}

/* Gives a referenced table without a primary key the unique column that is referenced as its key. */
static const struct column_schema *key_of(struct schema_table *target, const char *referenced)
{
    const struct column_schema *const key = schema_key(target);
    struct column_schema *const column = referenced[0] ? schema_column_named(target, referenced) : NULL;
    if (key || has_wide_key(target) || !column || !target->unique ||
        !target->unique[column - target->columns])
        return key;
    column->primary_key = true;
    column->nullable = false;
    return column;
}

static enum status check_reference(struct schema_parser *parser, const struct schema_table *table,
                                   struct column_schema *column)
{
    struct schema_table *const target = schema_own_table(parser, column->references_table);
    if (!target)
        return error_set(&parser->error, STATUS_BAD_INPUT,
                         "%s:%u: column %s.%s references table %s, which the script does not create",
                         parser->path, table->line, table->name, column->name, column->references_table);
    if (target == table)
        return schema_widen_reference(parser, table, column);
    const struct column_schema *const key = key_of(target, column->references_column);
    const struct column_schema *const named = schema_column_named(target, column->references_column);
    if (named && named != key && target->unique[named - target->columns])
        return schema_widen_reference(parser, table, column);
    if (!key || (column->references_column[0] && word_compare(key->name, column->references_column) != 0))
        return error_set(&parser->error, STATUS_BAD_INPUT,
                         "%s:%u: column %s.%s references %s.%s, which is no primary key; %s", parser->path,
                         table->line, table->name, column->name, target->name,
                         column->references_column[0] ? column->references_column : "(its key)",
                         has_wide_key(target) ? "the table's primary key has several columns, and a "
                                                "reference names all of them: FOREIGN KEY (a, b) REFERENCES"
                                              : "say PRIMARY KEY there");
    if (key->references_table[0])
        return error_set(
            &parser->error, STATUS_BAD_INPUT,
            "%s:%u: column %s.%s references %s.%s, which references %s itself; let both reference %s",
            parser->path, table->line, table->name, column->name, target->name, key->name,
            key->references_table, key->references_table);
    if ((key->type == TYPE_STRING) != (column->type == TYPE_STRING))
        return error_set(&parser->error, STATUS_BAD_INPUT,
                         "%s:%u: column %s.%s and the key %s.%s that it references are of different types",
                         parser->path, table->line, table->name, column->name, target->name, key->name);
    snprintf(column->references_table, NAME_BYTES, "%s", target->name);
    snprintf(column->references_column, NAME_BYTES, "%s", key->name);
    return STATUS_OK;
}

/* ---- Order ---- */

static bool ready(const struct schema_script *schema, const struct schema_table *table, const bool *placed)
{
    for (uint32_t c = 0; c < schema_columns(table); c++) {
        const struct schema_table *target = table->columns[c].references_table[0]
                                                ? schema_table(schema, table->columns[c].references_table)
                                                : NULL;
        if (target && target != table && !placed[target - schema->tables])
            return false;
    }
    return true;
}

/* Orders the tables so that each comes after those that it references. Tables that remain reference each
 * other in a circle. */
static enum status order_tables(struct schema_parser *parser)
{
    struct schema_script *schema = parser->schema;
    bool placed[SCHEMA_TABLES_MAX] = {false};
    struct schema_table *ordered = calloc(SCHEMA_TABLES_MAX, sizeof *ordered);
    uint32_t count = 0;
    if (!ordered)
        return error_out_of_memory(&parser->error, SCHEMA_TABLES_MAX * sizeof *ordered, "a schema");
    for (bool found = true; found;) {
        found = false;
        for (uint32_t t = 0; t < schema->table_count; t++)
            if (!placed[t] && ready(schema, &schema->tables[t], placed)) {
                ordered[count++] = schema->tables[t];
                placed[t] = found = true;
            }
    }
    for (uint32_t t = 0; t < schema->table_count; t++)
        if (!placed[t]) {
            free(ordered);
            return error_set(&parser->error, STATUS_BAD_INPUT,
                             "%s:%u: table %s references itself through others; a star has no circles: take "
                             "one REFERENCES out, then that column has plain values",
                             parser->path, schema->tables[t].line, schema->tables[t].name);
        }
    free(schema->tables);
    schema->tables = ordered;
    return STATUS_OK;
}

/* ---- CHECK ---- */

static enum status read_condition(struct schema_parser *parser, const struct schema_condition *condition)
{
    struct schema_table *const table = &parser->schema->tables[condition->table];
    const struct check_source source = {.text = condition->text,
                                        .length = condition->length,
                                        .line = condition->line,
                                        .column = condition->column,
                                        .table = table->name,
                                        .columns = table->columns,
                                        .column_count = table->column_count};
    struct check *check;
    struct error reason;
    const enum status status = check_parse(&source, &check, &reason);
    if (status == STATUS_BAD_INPUT)
        return schema_note(parser, condition->line, "CHECK (%.*s) of table %s is not tested: %s",
                           (int)(condition->length < 100 ? condition->length : 100), condition->text,
                           table->name, reason.text);
    if (status != STATUS_OK) {
        parser->error = reason;
        return status;
    }
    if (memory_grow(&table->checks, (table->check_count + (size_t)1) * sizeof *table->checks, "a schema",
                    &parser->error) != STATUS_OK) {
        check_free(check);
        return parser->error.status;
    }
    table->checks[table->check_count++] = check;
    return STATUS_OK;
}

enum status schema_resolve(struct schema_parser *parser)
{
    struct schema_script *const schema = parser->schema;
    for (uint32_t t = 0; t < schema->table_count; t++)
        for (uint32_t c = 0; c < schema->tables[t].column_count; c++)
            if (schema->tables[t].columns[c].references_table[0])
                RETURN_IF_ERROR(schema_error_keep(
                    parser, check_reference(parser, &schema->tables[t], &schema->tables[t].columns[c])));
    RETURN_IF_ERROR(schema_resolve_wide(parser));
    for (uint32_t i = 0; i < parser->condition_count; i++)
        RETURN_IF_ERROR(read_condition(parser, &parser->conditions[i]));
    return parser->complaint_count ? STATUS_OK : order_tables(parser);
}
