/* schema_script.c: reads and frees schema scripts (schema_script.h). loader/schema/ parses them. */
#include "loader/check/check.h"
#include "loader/schema/schema_parser.h"
#include "loader/text/text_file.h"
#include "loader/text/text_format.h"
#include "storage/base/memory.h"
#include "storage/base/text/text_stream.h"
#include "storage/base/words/word.h"
#include "storage/database/table_script.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* The longest script: a thousand tables of a thousand columns. */
#define SCRIPT_BYTES_MAX (64u << 20)

/* The error about all faults of the script. */
static enum status tell_complaints(const struct schema_parser *parser, struct error *error)
{
    uint32_t told = 1;
    for (const char *at = parser->complaints; (at = strchr(at, '\n')); at++)
        told++;
    if (parser->complaint_count > told)
        return error_set_lines(error, STATUS_BAD_INPUT, "%s\nand %u more", parser->complaints,
                               parser->complaint_count - told);
    return error_set_lines(error, STATUS_BAD_INPUT, "%s", parser->complaints);
}

static enum status parse(struct schema_parser *parser, struct error *error)
{
    struct error none = {0};
    parser->error = none;
    enum status status = schema_take_script(parser);
    status = AND_THEN(status, schema_resolve(parser));
    if (status == STATUS_OK && parser->complaint_count)
        return tell_complaints(parser, error);
    if (status != STATUS_OK && error)
        *error = parser->error;
    return status;
}

enum status schema_script_parse(const char *path, const char *text, size_t length,
                                struct schema_script *schema, struct error *error)
{
    *schema = (struct schema_script){0};
    struct schema_parser *parser = calloc(1, sizeof *parser);
    enum status status = STATUS_OK;
    schema->tables = calloc(SCHEMA_TABLES_MAX, sizeof *schema->tables);
    if (parser) {
        parser->path = path;
        parser->schema = schema;
        parser->own_types = calloc(SCHEMA_OWN_TYPES_MAX, sizeof *parser->own_types);
        parser->conditions = calloc(SCHEMA_CONDITIONS_MAX, sizeof *parser->conditions);
        parser->references = calloc(SCHEMA_REFERENCES_MAX, sizeof *parser->references);
        sql_tokens_begin(&parser->tokens, text, length);
    }
    if (!parser || !schema->tables || !parser->own_types || !parser->conditions || !parser->references)
        status = error_out_of_memory(error, SCHEMA_TABLES_MAX * sizeof *schema->tables, "a schema");
    else
        status = parse(parser, error);
    if (parser) {
        free(parser->own_types);
        free(parser->conditions);
        free(parser->references);
    }
    free(parser);
    if (status != STATUS_OK)
        schema_script_free(schema);
    return status;
}

enum status schema_script_read(const char *path, struct schema_script *schema, struct error *error)
{
    char *text;
    size_t length;
    RETURN_IF_ERROR(text_file_whole(path, SCRIPT_BYTES_MAX, &text, &length, error));
    enum status status = text_format_check(path, text, length, error);
    status = AND_THEN(status, schema_script_parse(path, text, length, schema, error));
    free(text);
    return status;
}

/* The script of a database's tables, which the caller frees. */
static enum status write_stored(const char *directory, char **text, size_t *length, struct error *error)
{
    struct database *database;
    RETURN_IF_ERROR(database_open(directory, &database, error));
    FILE *const script = text_stream(text, length);
    if (script)
        database_script_write(script, database, NULL);
    const bool written = script && fclose(script) == 0;
    database_close(database);
    return written ? STATUS_OK : error_out_of_memory(error, BUFSIZ, "a schema");
}

enum status schema_script_stored(const char *directory, struct schema_script *schema, struct error *error)
{
    char *text = NULL;
    size_t length;
    enum status status = write_stored(directory, &text, &length, error);
    status = AND_THEN(status, schema_script_parse(directory, text, length, schema, error));
    free(text);
    return status;
}

void schema_script_free(struct schema_script *schema)
{
    for (uint32_t t = 0; schema->tables && t < SCHEMA_TABLES_MAX; t++) {
        struct schema_table *const table = &schema->tables[t];
        for (uint32_t c = 0; c < table->check_count; c++)
            check_free(table->checks[c]);
        free(table->checks);
        free(table->unique);
        free(table->tuples);
        free(table->columns);
    }
    free(schema->tables);
    for (uint32_t n = 0; n < schema->note_count; n++)
        free(schema->notes[n]);
    *schema = (struct schema_script){0};
}

const struct column_schema *schema_key(const struct schema_table *table)
{
    for (uint32_t c = 0; c < table->column_count; c++)
        if (table->columns[c].primary_key)
            return &table->columns[c];
    return NULL;
}

const struct schema_table *schema_table(const struct schema_script *schema, const char *name)
{
    for (uint32_t t = 0; t < schema->table_count; t++)
        if (word_compare(schema->tables[t].name, name) == 0)
            return &schema->tables[t];
    return NULL;
}

bool schema_references(const struct schema_script *schema, const struct schema_table *table)
{
    for (uint32_t t = 0; t < schema->table_count; t++)
        for (uint32_t c = 0; c < schema_columns(&schema->tables[t]); c++)
            if (strcmp(schema->tables[t].columns[c].references_table, table->name) == 0)
                return true;
    return false;
}
