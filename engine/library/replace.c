/* replace.c: see replace.h. */
#include "engine/library/replace.h"

#include "engine/library/statement.h"
#include "engine/sql/sql_error.h"
#include "storage/base/memory.h"
#include "storage/base/text/text_stream.h"
#include "storage/base/words/sql_name.h"
#include "storage/database/changes/live_rows.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct replacing {
    struct engine *engine;
    const struct row_condition *condition;
    struct row_condition own; /* of `tessera load` */
};

static enum status find(void *context, struct database *state, const char *table, uint64_t **rows,
                        uint64_t *count, struct error *error)
{
    const struct replacing *const replacing = context;
    return rows_find(replacing->engine, state, table, replacing->condition, rows, count, error);
}

/* ---- The row that the condition does not find ---- */

/* The first of the rows after `before` live ones, with all its columns and, last, its number among them. */
static enum status write_query(const struct replacing *replacing, const struct table *table, uint64_t before,
                               char **text, struct error *error)
{
    size_t bytes;
    FILE *const out = text_stream(text, &bytes);
    if (!out)
        return error_out_of_memory(error, strlen(replacing->condition->text), "a condition");
    fputs("SELECT * FROM (SELECT *, row_number() OVER () FROM ", out);
    sql_name_write(out, table->name, true);
    fputs(") AS ", out);
    sql_name_write(out, table->name, true);
    fputs(" (", out);
    for (uint32_t c = 0; c < table_visible_columns(table); c++) {
        sql_name_write(out, table->columns[c].schema.name, true);
        fputs(", ", out);
    }
    /* A name that no column has: each is shorter. */
    fprintf(out, "\"%0*d\") WHERE (\n%s\n) IS NOT TRUE AND \"%0*d\" > %" PRIu64 " LIMIT 1", NAME_BYTES, 0,
            replacing->condition->text, NAME_BYTES, 0, before);
    return fclose(out) == 0 ? STATUS_OK : error_out_of_memory(error, bytes, "a condition");
}

static enum status ask_row(const struct replacing *replacing, struct database *state,
                           const struct table *table, uint64_t before, struct rowset *row,
                           struct error *error)
{
    struct sql_statement *statement = NULL;
    char *text = NULL;
    size_t used;
    enum status status = write_query(replacing, table, before, &text, error);
    status = AND_THEN(
        status, sql_prepare(replacing->engine, state, text, strlen(text), NULL, &statement, &used, error));
    if (status == STATUS_OK)
        sql_statement_set(statement, replacing->condition->settings);
    for (uint32_t p = 0; status == STATUS_OK && p < replacing->condition->parameter_count; p++)
        status = sql_parameter_set(statement, p, &replacing->condition->parameters[p], error);
    status = AND_THEN(status, sql_run(statement, row, NULL, error));
    sql_statement_free(statement);
    free(text);
    return status;
}

/* Writes "day = 2024-05-01, shop = 3, ..." as far as there is room. */
#define ROW_SHOWN 400u
static void describe(const struct rowset *row, char text[ROW_SHOWN])
{
    size_t used = 0;
    text[0] = '\0';
    for (uint32_t c = 0; c + 1 < row->column_count; c++) {
        char buffer[ROWSET_TEXT_BYTES];
        uint32_t length = 4;
        const char *const value = rowset_text(&row->columns[c], 0, buffer, &length);
        const int wrote = snprintf(text + used, ROW_SHOWN - used, "%s%s = %.*s", c ? ", " : "",
                                   row->columns[c].name, value ? (int)length : 4, value ? value : "NULL");
        if (wrote < 0 || (size_t)wrote >= ROW_SHOWN - used - 5) {
            snprintf(text + used, ROW_SHOWN - used, "%s", used ? ", ..." : "...");
            return;
        }
        used += (size_t)wrote;
    }
}

/* Finds the row among the table's last ones, and tells its values. */
static enum status name_row(const struct replacing *replacing, struct database *state,
                            const struct table *table, uint64_t appended, bool numbered,
                            char text[ROW_SHOWN + 40], struct error *error)
{
    struct live_rows live = {0};
    struct rowset row = {0};
    char values[ROW_SHOWN];
    enum status status = live_rows_read(database_path(state), table, &live, error);
    free(live.bits);
    const uint64_t before = live.rows - appended;
    status = AND_THEN(status, ask_row(replacing, state, table, before, &row, error));
    if (status == STATUS_OK && row.rows) {
        describe(&row, values);
        if (numbered)
            snprintf(text, ROW_SHOWN + 40, "row %" PRIu64 " (%s)",
                     (uint64_t)row.columns[row.column_count - 1].values[0] - before, values);
        else
            snprintf(text, ROW_SHOWN + 40, "a row (%s)", values);
    }
    rowset_free(&row);
    return status;
}

static enum status refuse(void *context, struct database *state, const char *name, uint64_t appended,
                          uint64_t found, enum appended_place place, struct error *error)
{
    const struct replacing *const replacing = context;
    const struct table *table;
    char row[ROW_SHOWN + 40] = "a row";
    RETURN_IF_ERROR(database_table(state, name, &table, error));
    if (found > appended)
        return sql_placed(
            error, replacing->condition->place,
            error_set(error, STATUS_BAD_INPUT,
                      "the condition is true for %" PRIu64 " rows after %" PRIu64
                      " took the place of those for which it was true; let it name the table's columns alone",
                      found, appended));
    if (place != APPENDED_ANYWHERE)
        RETURN_IF_ERROR(
            name_row(replacing, state, table, appended, place == APPENDED_AS_THEY_CAME, row, error));
    return sql_placed(error, replacing->condition->place,
                      error_set(error, STATUS_BAD_INPUT,
                                "%s does not meet the condition of the rows that are replaced (%" PRIu64
                                " of %" PRIu64 " rows); nothing was changed",
                                row, appended - found, appended));
}

/* ---- Opening ---- */

enum status replacement_open(const char *table, const struct row_condition *condition, unsigned threads,
                             uint64_t memory, struct load_replacement *replacement, struct error *error)
{
    char limit[32];
    struct replacing *replacing;
    struct engine_options options = {.device = "cpu", .threads = threads};
    *replacement = (struct load_replacement){.table = table, .find = find, .refuse = refuse};
    RETURN_IF_ERROR(memory_zeros(&replacing, sizeof *replacing, "a condition", error));
    replacing->condition = condition;
    replacement->context = replacing;
    snprintf(limit, sizeof limit, "%" PRIu64, memory);
    options.memory = memory ? limit : NULL;
    return engine_open(&options, &replacing->engine, error);
}

void replacement_close(struct load_replacement *replacement)
{
    struct replacing *const replacing = replacement->context;
    if (replacing && replacing->engine)
        engine_close(replacing->engine);
    free(replacing);
    replacement->context = NULL;
}

static enum status open_text(const char *table, const char *condition, unsigned threads, uint64_t memory,
                             struct load_replacement *replacement, struct error *error)
{
    static const struct row_condition none = {0};
    RETURN_IF_ERROR(replacement_open(table, &none, threads, memory, replacement, error));
    struct replacing *const replacing = replacement->context;
    replacing->own = (struct row_condition){.text = condition, .place = {1, 1}};
    replacing->condition = &replacing->own;
    return STATUS_OK;
}

const struct load_conditions replace_conditions = {.open = open_text, .close = replacement_close};
