/* file_schema.c: see file_schema.h. */
#include "loader/infer/file_schema.h"

#include "loader/infer/infer_internal.h"
#include "storage/base/file.h"
#include "storage/base/memory.h"
#include "storage/base/text/text_stream.h"
#include "storage/base/words/sql_name.h"

#include <stdlib.h>
#include <string.h>

/* ---- Reading ---- */

/* Whether the table is without it: no table can have it, or a header does not name it and all rows leave it empty, as where lines
 * end in a delimiter. */
static bool is_left_out(const struct infer_column *column)
{
    return column->skipped[0] || (column->unnamed && !column->values);
}

/* Keeps the option by which the column's values are read. */
static enum status add_form(struct file_schema *schema, const struct infer_column *columns, uint32_t number,
                            struct error *error)
{
    const struct infer_column *const column = &columns[number];
    const uint32_t n = schema->reading_count;
    struct infer_form form;
    if (is_left_out(column) || !infer_form_find(column, &form))
        return STATUS_OK;
    for (enum reading_field field = READING_THOUSANDS; field <= READING_TIMESTAMP_FORMAT; field++) {
        if (strcmp(form.option, reading_option_name(field)) != 0)
            continue;
        RETURN_IF_ERROR(path_format(&schema->reading_texts[n], error, "%s=%s", column->name, form.value));
        schema->reading_columns[schema->reading_count++] = number;
        return reading_option_read(field, schema->reading_texts[n], &schema->readings[n], error);
    }
    return STATUS_OK;
}

static enum status take(const struct infer_table *table, struct file_schema *schema, struct error *error)
{
    const uint64_t count = table->column_count;
    schema->rows = table->rows;
    schema->text = !table->format;
    schema->delimiter = table->delimiter;
    schema->header = table->header;
    schema->listed = !table->json && (!table->header || table->renamed); /* members have names */
    RETURN_IF_ERROR(memory_zeros(&schema->columns, (count + 1) * sizeof *schema->columns, "columns", error));
    RETURN_IF_ERROR(
        memory_zeros(&schema->readings, (count + 1) * sizeof *schema->readings, "columns", error));
    RETURN_IF_ERROR(
        memory_zeros(&schema->reading_texts, (count + 1) * sizeof *schema->reading_texts, "columns", error));
    RETURN_IF_ERROR(memory_zeros(&schema->reading_columns, (count + 1) * sizeof *schema->reading_columns,
                                 "columns", error));
    schema->column_count = table->column_count;
    for (uint32_t c = 0; c < count; c++) {
        const struct infer_column *const from = &table->columns[c];
        struct file_column *const column = &schema->columns[c];
        memcpy(column->name, from->name, sizeof column->name);
        schema->listed |= from->unnamed && !table->json;
        if (!is_left_out(from))
            infer_column_type(from, column->type);
        if (schema->text)
            RETURN_IF_ERROR(add_form(schema, table->columns, c, error));
    }
    return STATUS_OK;
}

enum status file_schema_read(const struct load_options *options, struct file_schema *schema,
                             struct error *error)
{
    struct infer_table table = {.input = options->inputs, .name = FILE_TABLE, .types_alone = true};
    *schema = (struct file_schema){.text = false};
    enum status status = columnar_format_find(options->inputs[0].paths[0], &table.format, error);
    if (status == STATUS_OK)
        status = table.format ? infer_columnar_read(&table, options, error)
                              : infer_table_read(&table, &options->text, options->threads, error);
    if (status == STATUS_OK && table.faults)
        status =
            error_set(error, STATUS_BAD_INPUT,
                      "%s; %llu row%s not like the others: `tessera load --max-errors` leaves such rows "
                      "out",
                      table.fault, (unsigned long long)table.faults, table.faults == 1 ? " is" : "s are");
    status = AND_THEN(status, take(&table, schema, error));
    infer_table_free(&table);
    return status;
}

void file_schema_free(struct file_schema *schema)
{
    for (uint32_t o = 0; schema->reading_texts && o < schema->column_count; o++)
        free(schema->reading_texts[o]);
    free(schema->columns);
    free(schema->readings);
    free(schema->reading_texts);
    free(schema->reading_columns);
    *schema = (struct file_schema){.text = false};
}

/* ---- Loading ---- */

void file_schema_write(const struct file_schema *schema, const bool *wanted, FILE *script)
{
    const char *before = " (";
    fputs("CREATE TABLE " FILE_TABLE, script);
    for (uint32_t c = 0; c < schema->column_count; c++) {
        if (!wanted[c])
            continue;
        fputs(before, script);
        sql_name_write(script, schema->columns[c].name, false);
        fprintf(script, " %s", schema->columns[c].type);
        before = ", ";
    }
    fputs(");\n", script);
}

/* "a,-,c": the text's fields, of which those that are not wanted are skipped. */
static enum status list_fields(const struct file_schema *schema, const bool *wanted, char **list,
                               struct error *error)
{
    size_t bytes;
    FILE *const out = text_stream(list, &bytes);
    if (!out)
        return error_out_of_memory(error, BUFSIZ, "a list of columns");
    for (uint32_t c = 0; c < schema->column_count; c++)
        fprintf(out, "%s%s", c ? "," : "", wanted[c] ? schema->columns[c].name : "-");
    return fclose(out) == 0 ? STATUS_OK : error_out_of_memory(error, bytes, "a list of columns");
}

/* Takes the forms of the columns that are wanted: an option about another one would be refused. */
static enum status take_readings(const struct file_schema *schema, const bool *wanted,
                                 struct text_options *text, struct file_loading *loading, struct error *error)
{
    RETURN_IF_ERROR(memory_zeros(
        &loading->readings, (schema->reading_count + 1ull) * sizeof *loading->readings, "columns", error));
    text->readings = loading->readings;
    for (uint32_t o = 0; o < schema->reading_count; o++)
        if (wanted[schema->reading_columns[o]])
            loading->readings[text->reading_count++] = schema->readings[o];
    return STATUS_OK;
}

enum status file_schema_options(const struct file_schema *schema, const bool *wanted,
                                struct load_options *options, struct load_input *input,
                                struct file_loading *loading, struct error *error)
{
    *loading = (struct file_loading){.list = NULL};
    options->text.reading.cut_nanoseconds = true;
    options->advice = "a statement reads all rows of a file, or none; * EXCLUDE leaves columns out";
    if (!schema->text)
        return STATUS_OK;
    options->text.delimiter = schema->delimiter;
    options->text.header = schema->header ? TEXT_HEADER_YES : TEXT_HEADER_NO;
    RETURN_IF_ERROR(take_readings(schema, wanted, &options->text, loading, error));
    if (!schema->listed)
        return STATUS_OK;
    for (uint32_t c = 0; c < schema->column_count; c++)
        if (wanted[c] && strchr(schema->columns[c].name, ','))
            return error_set(
                error, STATUS_BAD_INPUT,
                "%s: the header is not the columns' names, and '%s' has a comma; rename the column",
                input->paths[0], schema->columns[c].name);
    RETURN_IF_ERROR(list_fields(schema, wanted, &loading->list, error));
    input->columns = loading->list;
    return STATUS_OK;
}

void file_loading_free(struct file_loading *loading)
{
    free(loading->list);
    free(loading->readings);
    *loading = (struct file_loading){.list = NULL};
}
