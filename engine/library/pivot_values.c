/* pivot_values.c: see pivot_values.h. */
#include "engine/library/pivot_values.h"

#include "engine/library/statement.h"
#include "storage/base/text/text_stream.h"
#include "storage/base/words/sql_name.h"
#include "storage/base/words/sql_text.h"

#include <stdlib.h>
#include <string.h>

static void write_value(FILE *out, struct value_type type, const char *text)
{
    const enum value_kind kind = type.kind;
    static const char *const casts[] = {
        [VALUE_DATE] = "DATE", [VALUE_TIMESTAMP] = "TIMESTAMP", [VALUE_DOUBLE] = "DOUBLE"};
    if (kind == VALUE_STRING) {
        sql_text_write(out, text);
    } else if (kind == VALUE_INTEGER || kind == VALUE_BOOLEAN) {
        fputs(text, out);
    } else {
        fputs("CAST(", out);
        sql_text_write(out, text);
        fprintf(out, " AS %s)", type.zoned ? "TIMESTAMPTZ" : casts[kind]);
    }
    if (!*text)
        return; /* which is no name */
    fputs(" AS ", out);
    sql_name_write(out, text, true);
}

static enum status write_values(FILE *out, const struct rowset *rows, struct error *error)
{
    for (uint64_t row = 0; row < rows->rows; row++) {
        const struct string_value string = rowset_string(&rows->columns[1], row);
        char *const text = strndup(string.text, string.length);
        if (!text)
            return error_out_of_memory(error, string.length, "a value of PIVOT");
        fputs(row ? ", " : "", out);
        write_value(out, rows->columns[0].type, text);
        free(text);
    }
    return STATUS_OK;
}

/* The values of an answer as a list in SQL. */
static enum status list_values(const struct rowset *rows, char **values, struct error *error)
{
    size_t bytes;
    if (rows->rows == 0)
        return error_set(error, STATUS_BAD_INPUT,
                         "PIVOT finds no values that could become columns; write IN (...)");
    if (rows->rows > SQL_PIVOT_MAX)
        return error_set(error, STATUS_BAD_INPUT,
                         "PIVOT finds more than %u values that would become columns; choose some by IN (...)",
                         SQL_PIVOT_MAX);
    FILE *const out = text_stream(values, &bytes);
    if (!out)
        return error_out_of_memory(error, rows->rows, "the values of PIVOT");
    enum status status = write_values(out, rows, error);
    if (fclose(out) != 0 && status == STATUS_OK)
        status = error_out_of_memory(error, bytes, "the values of PIVOT");
    if (status != STATUS_OK) {
        free(*values);
        *values = NULL;
    }
    return status;
}

enum status pivot_values_ask(void *context, const char *query, char **values, struct error *error)
{
    const struct pivot_source *const source = context;
    struct sql_statement *statement;
    struct rowset rows = {0};
    *values = NULL;
    if (engine_cluster(source->engine))
        return error_set(error, STATUS_BAD_INPUT,
                         "several processes need the values of PIVOT: ON value IN (...)");
    RETURN_IF_ERROR(
        sql_prepare_asked(source->engine, source->database, query, source->codec, &statement, error));
    enum status status =
        sql_parameter_count(statement)
            ? error_set(error, STATUS_BAD_INPUT,
                        "PIVOT of a query with parameters needs its values: ON value IN (...)")
            : sql_run(statement, &rows, NULL, error);
    if (status == STATUS_OK)
        status = list_values(&rows, values, error);
    rowset_free(&rows);
    sql_statement_free(statement);
    return status;
}
