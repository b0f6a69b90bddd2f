/*
 * insert.c: INSERT INTO: appends the rows of a query to a table, perhaps in the place of others; see change.h.
 *
 * The answer's columns get the names of the table's, and are loaded as a stream whose columns are found by name. Columns
 * that are not named, or are the word NULL in all rows, are not in the stream, and so are NULL.
 */
#include "engine/library/change/change_internal.h"

#include "engine/library/arrow_export.h"
#include "engine/library/replace.h"
#include "storage/base/calendar.h"
#include "storage/base/text/text_stream.h"
#include "storage/base/zone/zone.h"
#include "storage/database/table_script.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

/* ---- Columns ---- */

static enum status refuse_count(const struct sql_change *change, const struct table *table, uint32_t wanted,
                                uint32_t given, struct error *error)
{
    return sql_change_refuse(
        error, change->part_position, "the query has %u column%s, and INSERT INTO %s needs %u%s", given,
        given == 1 ? "" : "s", table->name, wanted,
        change->column_count ? "" : "; name the columns to fill: INSERT INTO t (a, b) ...");
}

/* The name of the n-th column that is filled, in the statement or, BY NAME, in its query. */
static struct sql_shared name_of(const struct sql_change *change, const struct rowset *rows, uint32_t n)
{
    return change->by_name
               ? (struct sql_shared){.name = rows->columns[n].name, .position = change->part_position}
               : change->columns[n];
}

/* The n-th column that is filled. */
static enum status find_target(const struct sql_change *change, const struct table *table,
                               const struct rowset *rows, uint32_t n, const struct column **column,
                               struct error *error)
{
    *column = &table->columns[n];
    if (!change->column_count && !change->by_name)
        return STATUS_OK;
    const struct sql_shared named = name_of(change, rows, n);
    RETURN_IF_ERROR(change_column(table, &named, column, error));
    for (uint32_t before = 0; before < n; before++) {
        const struct sql_shared earlier = name_of(change, rows, before);
        const struct column *other;
        RETURN_IF_ERROR(change_column(table, &earlier, &other, error));
        if (other == *column)
            return sql_change_refuse(error, named.position, "column %s is named twice", other->schema.name);
    }
    return STATUS_OK;
}

/* Whether values of an answer can be stored in the column; numbers are rounded, but not keys of a reference, and texts are
 * read like fields of files. */
static bool can_store(struct value_type type, enum column_type want, bool reference)
{
    const bool whole = type.kind == VALUE_INTEGER && !value_is_decimal(type);
    if (reference && type.kind != VALUE_STRING && !whole && (want == TYPE_INT32 || want == TYPE_INT64))
        return false;
    switch (want) {
    case TYPE_INT32:
    case TYPE_INT64:
    case TYPE_DECIMAL:
    case TYPE_DOUBLE:
        return type.kind == VALUE_INTEGER || type.kind == VALUE_DOUBLE || type.kind == VALUE_STRING;
    case TYPE_DATE:
        return type.kind == VALUE_DATE || type.kind == VALUE_STRING;
    case TYPE_TIMESTAMP:
        return type.kind == VALUE_DATE || type.kind == VALUE_TIMESTAMP || type.kind == VALUE_STRING;
    case TYPE_BOOL:
        return whole || type.kind == VALUE_BOOLEAN || type.kind == VALUE_STRING;
    case TYPE_STRING:
        return type.kind == VALUE_STRING;
    }
    return false;
}

/* Dates and times of the statement become those of a column with, or without, time zone by the clock of the statement's zone, as
 * a CAST makes them. Texts are read so by the load. */
static void follow_clock(struct rowset_column *column, uint64_t rows, const struct column_schema *schema)
{
    const bool day = column->type.kind == VALUE_DATE && schema->zoned;
    const bool moment = column->type.kind == VALUE_TIMESTAMP && column->type.zoned != schema->zoned;
    if (schema->type != TYPE_TIMESTAMP || !column->zone || (!day && !moment))
        return;
    for (uint64_t row = 0; row < rows; row++) { /* those of NULL are any */
        int64_t *const value = &column->values[row];
        if (day)
            *value = (int64_t)((uint64_t)*value * (uint64_t)CALENDAR_DAY_MICROSECONDS);
        *value = schema->zoned ? zone_instant(column->zone, *value) : zone_local(column->zone, *value);
    }
    column->type = (struct value_type){.kind = VALUE_TIMESTAMP, .zoned = schema->zoned};
}

static enum status refuse_type(const struct sql_change *change, const struct column *target, uint32_t n,
                               const struct rowset_column *column, struct error *error)
{
    char type[64];
    column_type_text(&(target->references ? target->references : target)->schema, type);
    return sql_change_refuse(
        error, change->part_position,
        "column %u of the query (%.100s) is %s, and column %s of %s is %s; write CAST(... AS %s)", n + 1,
        column->name, change_type_text(column->type), target->schema.name, target->table->name, type, type);
}

/* Takes a column out of the answer; the last one takes its place. */
static void drop_column(struct rowset *rows, uint32_t c)
{
    const uint32_t last = rows->column_count - 1;
    const struct rowset_column column = rows->columns[c];
    struct dictionary *const dictionary = rows->dictionaries[c];
    rows->columns[c] = rows->columns[last];
    rows->dictionaries[c] = rows->dictionaries[last];
    rows->columns[last] = column;
    rows->dictionaries[last] = dictionary;
    rowset_cut(rows, last);
}

static enum status place_columns(const struct sql_change *change, const struct table *table,
                                 struct rowset *rows, struct error *error)
{
    const uint32_t wanted = change->by_name        ? rows->column_count
                            : change->column_count ? change->column_count
                                                   : table_visible_columns(table);
    if (rows->column_count != wanted)
        return refuse_count(change, table, wanted, rows->column_count, error);
    for (uint32_t n = wanted; n-- > 0;) {
        const struct column *target;
        RETURN_IF_ERROR(find_target(change, table, rows, n, &target, error));
        const struct column *const typed = target->references ? target->references : target;
        if (rows->columns[n].type.untyped) {
            drop_column(rows, n); /* those after it have been placed */
            continue;
        }
        if (!can_store(rows->columns[n].type, typed->schema.type, target->references))
            return refuse_type(change, target, n, &rows->columns[n], error);
        follow_clock(&rows->columns[n], rows->rows, &typed->schema);
        RETURN_IF_ERROR(change_rename(rows, n, target->schema.name, error));
    }
    return STATUS_OK;
}

/* ---- The load ---- */

/* `replaces`: rows of the table go in the same change; or NULL. */
static enum status append(const struct change_task *task, const struct table *table, struct rowset *rows,
                          const struct load_replacement *replaces, struct load_report *report,
                          struct error *error)
{
    struct ArrowArrayStream stream;
    char *text = NULL;
    size_t bytes;
    FILE *const script = text_stream(&text, &bytes);
    if (!script)
        return error_out_of_memory(error, BUFSIZ, "a statement");
    database_script_write(script, task->database, NULL);
    if (fclose(script) != 0)
        return error_out_of_memory(error, BUFSIZ, "a statement");
    enum status status = arrow_export_rows(rows, &stream, error);
    if (status == STATUS_OK)
        status = change_load(task, text, table->name, &stream,
                             &(struct change_load){.mode = CHANGE_LOAD_APPEND, .replaces = replaces}, report,
                             error);
    free(text);
    return status;
}

/* Appends them in the place of those that pass the statement's condition. */
static enum status replace(const struct change_task *task, const struct sql_change *change,
                           const struct table *table, struct rowset *rows, struct load_report *report,
                           struct error *error)
{
    const struct row_condition condition = {.text = change->replaced.text,
                                            .place = change->replaced.position,
                                            .parameters = task->parameters,
                                            .parameter_count = change->replaced.parameter_count,
                                            .settings = change_settings(task)};
    struct load_replacement replaces;
    enum status status = replacement_open(table->name, &condition, engine_threads(task->engine),
                                          engine_memory(task->engine)->limit, &replaces, error);
    status = AND_THEN(status, append(task, table, rows, &replaces, report, error));
    replacement_close(&replaces);
    return status;
}

static void tell(const struct sql_change *change, const struct table *table, const struct load_report *loaded,
                 struct change_report *report)
{
    int used = snprintf(report->text, sizeof report->text, "%s: %" PRIu64 " row%s inserted", table->name,
                        loaded->rows, loaded->rows == 1 ? "" : "s");
    if (change->replaced.text)
        snprintf(report->text + used, sizeof report->text - (size_t)used, ", %" PRIu64 " deleted",
                 loaded->replaced);
    report->rows = loaded->rows + loaded->replaced;
    report->changed = report->rows > 0;
}

enum status insert_run(const struct change_task *task, const struct sql_change *change,
                       struct change_report *report, struct error *error)
{
    const struct table *table;
    struct rowset rows;
    struct load_report loaded = {0};
    RETURN_IF_ERROR(change_table(task, change, &table, error));
    RETURN_IF_ERROR(change_query(task, change->text, change->replaced.parameter_count, &rows, NULL, error));
    const bool any = rows.rows > 0;
    enum status status = place_columns(change, table, &rows, error);
    if (status == STATUS_OK && change->replaced.text)
        status = replace(task, change, table, &rows, &loaded, error);
    else if (status == STATUS_OK && any)
        status = append(task, table, &rows, NULL, &loaded, error);
    rowset_free(&rows);
    if (status != STATUS_OK && status != STATUS_NOT_DURABLE)
        loaded = (struct load_report){0};
    tell(change, table, &loaded, report);
    return status;
}
