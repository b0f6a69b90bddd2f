/* infer.c: see infer.h; writes what the other files of this folder found. */
#include "loader/infer/infer_internal.h"

#include "loader/text/reading_options.h"
#include "storage/base/calendar.h"
#include "storage/base/double_key.h"
#include "storage/base/memory.h"
#include "storage/base/number/number_text.h"
#include "storage/base/words/sql_name.h"
#include "storage/base/words/word.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

static void put_day(FILE *out, int64_t microseconds)
{
    const struct calendar_date date =
        calendar_date_of(calendar_floor(microseconds, CALENDAR_DAY_MICROSECONDS));
    fprintf(out, "%04" PRId64 "-%02d-%02d", date.year, date.month, date.day);
}

static void put_evidence(FILE *out, const struct infer_column *column, const char *type)
{
    struct infer_form form;
    char range[64];
    const bool number = strcmp(type, "INT") == 0 || strcmp(type, "BIGINT") == 0;
    const bool time = strcmp(type, "DATE") == 0 || strncmp(type, "TIMESTAMP", 9) == 0;
    const bool formed = infer_form_find(column, &form);
    if (!column->values)
        fprintf(out, "no value");
    else if (formed)
        fprintf(out, "%s %s, up to %u bytes", form.option, form.value, column->longest);
    else if (number && column->has_range)
        fprintf(out, "%" PRId64 " to %" PRId64, column->least, column->greatest);
    else if (time && column->has_range) {
        put_day(out, column->least);
        fprintf(out, " to ");
        put_day(out, column->greatest);
    } else if (column->declared && column->kinds == KIND_FLOAT && column->has_range) {
        number_print(range, sizeof range, "%.15g to %.15g", double_of_key(column->least),
                     double_of_key(column->greatest));
        fputs(range, out);
    } else
        fprintf(out, "up to %u bytes", column->longest);
    if (column->values && !column->duplicates)
        fprintf(out, ", no duplicates");
    else if (column->uncounted)
        fprintf(out, ", more than %u different", DISTINCT_MAX);
    else if (column->values)
        fprintf(out, ", %" PRIu64 " different", column->distinct.table.count);
    if (column->nulls)
        fprintf(out, ", %" PRIu64 " NULL", column->nulls);
    if (strcmp(type, "TEXT") == 0 && column->zeros_in_front)
        fprintf(out, ", numbers with zeros in front");
    if (strcmp(type, "TEXT") == 0 && column->not_number[0] && column->has_range)
        fprintf(out, ", first other value '%s'", column->not_number);
    if (strcmp(type, "DOUBLE") == 0 && column->declared && column->kinds & KIND_DECIMAL)
        fprintf(out, ", more than 18 digits, which a DOUBLE rounds");
    if (column->nanoseconds)
        fprintf(out, ", nanoseconds: load with --nanoseconds cut");
}

static void put_column(FILE *out, const struct infer_column *column, bool last)
{
    char type[32];
    infer_column_type(column, type);
    if (column->skipped[0]) {
        fprintf(out, "    -- column %s of type %s is skipped: no table can have it\n", column->name,
                column->skipped);
        return;
    }
    if (column->unnamed) {
        fputs("    -- a field without a name is skipped\n", out);
        return;
    }
    fputs("    ", out);
    sql_name_write(out, column->name, false);
    fprintf(out, " %s%s", type,
            column->key                        ? " PRIMARY KEY"
            : column->nulls || !column->values ? ""
                                               : " NOT NULL");
    if (column->sure) {
        fputs(" REFERENCES ", out);
        sql_name_write(out, column->references->name, false);
    }
    fprintf(out, "%s -- ", last ? "" : ",");
    put_evidence(out, column, type);
    if (column->sure)
        fprintf(out, "; all are keys of %s", column->references->name);
    else if (column->references)
        fprintf(out, "; REFERENCES %s? %" PRIu64 " of its values are no keys (--dangling null)",
                column->references->name, column->missing);
    putc('\n', out);
}

static void put_table(FILE *out, const struct infer_table *table)
{
    fprintf(out, "\n-- %s%s: %" PRIu64 " row%s, ", table->input->paths[0],
            table->input->path_count > 1 ? " and others" : "", table->rows, table->rows == 1 ? "" : "s");
    if (table->json)
        fputs("JSON\n", out);
    else if (table->format)
        fprintf(out, "%s, %" PRIu64 " %s%s\n", table->format->name, table->parts, table->format->part,
                table->parts == 1 ? "" : "s");
    else
        fprintf(out, "%s between fields, %s\n",
                table->delimiter == '\t' ? "tabs" : (char[]){'\'', table->delimiter, '\'', 0},
                table->header ? "with a header" : "without a header: load with --header no");
    if (table->faults)
        fprintf(out, "-- %" PRIu64 " row%s unlike the others (--max-errors leaves them out); the first: %s\n",
                table->faults, table->faults == 1 ? " is" : "s are", table->fault);
    fputs("CREATE TABLE ", out);
    sql_name_write(out, table->name, false);
    fputs(" (\n", out);
    uint32_t last = table->column_count - 1;
    while (last > 0 && table->columns[last].unnamed)
        last--;
    for (uint32_t c = 0; c < table->column_count; c++)
        put_column(out, &table->columns[c], c == last);
    fputs(");\n", out);
}

/* Gives a table the name before =, or that of its file: sales of data/sales.csv.gz. */
static void name_table(struct infer_table *table)
{
    const char *const path = table->input->paths[0], *const slash = strrchr(path, '/');
    const char *const base = slash ? slash + 1 : path;
    if (table->input->table[0])
        snprintf(table->name, sizeof table->name, "%.63s", table->input->table);
    else
        snprintf(table->name, sizeof table->name, "%.*s", (int)strcspn(base, "."), base);
    if (!name_valid(table->name))
        snprintf(table->name, sizeof table->name, "t");
}

/* Whether the load must be told what a file's fields are: its header has names twice or such as no column may have, or
 * fields without a name, by which the load would not find that there are semicolons between fields. */
static bool needs_columns(const struct infer_table *table)
{
    bool unnamed = false;
    for (uint32_t c = 0; c < table->column_count; c++)
        unnamed |= table->columns[c].unnamed;
    return !table->format && !table->json && (table->renamed || (unnamed && table->delimiter != ','));
}

static void put_columns(FILE *out, const struct infer_table *table)
{
    fprintf(out, "%s --columns '%s=", table->renamed ? " --header yes" : "", table->name);
    for (uint32_t c = 0; c < table->column_count; c++)
        fprintf(out, "%s%s", c ? "," : "", table->columns[c].unnamed ? "-" : table->columns[c].name);
    putc('\'', out);
}

/* The options that say how the files were read. */
static void put_options(FILE *out, const struct text_options *options)
{
    if (options->encoding)
        fprintf(out, " --encoding '%s'", options->encoding);
    for (uint32_t o = 0; o < options->reading_count; o++)
        fprintf(out, strchr(options->readings[o].text, '\'') ? " %s \"%s\"" : " %s '%s'",
                reading_option_name(options->readings[o].field), options->readings[o].text);
}

/* The options that read columns whose values are written in another form. */
static void put_forms(FILE *out, const struct infer_table *table)
{
    for (uint32_t c = 0; c < table->column_count; c++) {
        struct infer_form form;
        if (!table->columns[c].unnamed && infer_form_find(&table->columns[c], &form))
            fprintf(out, " %s '%s.%s=%s'", form.option, table->name, table->columns[c].name, form.value);
    }
}

static void put_command(FILE *out, const struct infer_table *tables, uint32_t count,
                        const struct text_options *options)
{
    fputs("-- Proposed by tessera load --infer. Correct it, then load:\n"
          "--     tessera load --db DIR --schema FILE.sql",
          out);
    put_options(out, options);
    for (uint32_t t = 0; t < count; t++) {
        if (tables[t].input->encoding)
            fprintf(out, " --encoding '%s=%s'", tables[t].name, tables[t].input->encoding);
        fprintf(out, " '%s=", tables[t].name);
        for (uint32_t p = 0; p < tables[t].input->path_count; p++)
            fprintf(out, "%s%s", p ? "," : "", tables[t].input->paths[p]);
        putc('\'', out);
        if (needs_columns(&tables[t]))
            put_columns(out, &tables[t]);
        put_forms(out, &tables[t]);
    }
    putc('\n', out);
}

static enum status read_tables(const struct load_options *options, struct progress *progress,
                               struct infer_table *tables, struct error *error)
{
    const struct load_input *const inputs = options->inputs;
    const uint32_t count = options->input_count;
    for (uint32_t t = 0; t < count; t++) {
        tables[t].input = &inputs[t];
        name_table(&tables[t]);
        for (uint32_t before = 0; before < t; before++)
            if (word_compare(tables[before].name, tables[t].name) == 0)
                return error_set(error, STATUS_BAD_INPUT, "two tables would be named %s; name them: TABLE=%s",
                                 tables[t].name, inputs[t].paths[0]);
        struct text_options own = options->text;
        own.encoding = inputs[t].encoding ? inputs[t].encoding : own.encoding;
        progress_report(progress, tables[t].name, "tables", t, count);
        RETURN_IF_ERROR(columnar_format_find(inputs[t].paths[0], &tables[t].format, error));
        RETURN_IF_ERROR(tables[t].format ? infer_columnar_read(&tables[t], options, error)
                                         : infer_table_read(&tables[t], &own, options->threads, error));
    }
    progress_report(progress, "", "tables", count, count);
    return STATUS_OK;
}

enum status schema_infer(const struct load_options *options, struct progress *progress, FILE *out,
                         struct error *error)
{
    const uint32_t count = options->input_count;
    struct infer_table *tables;
    RETURN_IF_ERROR(memory_zeros(&tables, count * sizeof *tables, "tables", error));
    const enum status status = read_tables(options, progress, tables, error);
    if (status == STATUS_OK) {
        infer_keys_find(tables, count);
        put_command(out, tables, count, &options->text);
        for (uint32_t t = 0; t < count; t++)
            put_table(out, &tables[t]);
    }
    for (uint32_t t = 0; t < count; t++)
        infer_table_free(&tables[t]);
    free(tables);
    return status;
}
