/*
 * delete.c: finds the rows that pass a condition, and deletes them; see delete.h.
 *
 * A condition over the table's own columns is one scan, which gives the numbers of rows. One with subqueries is a tree of
 * operators, whose rows have no numbers; so it is asked over the rows with their numbers as a column, which a window computes:
 *
 *     SELECT row FROM (SELECT *, row_number() OVER () AS row FROM sales) AS sales WHERE (condition)
 *
 * That reads all rows of the columns that the condition names. A window counts the rows that were not deleted before.
 */
#define _GNU_SOURCE
#include "engine/library/delete.h"

#include "engine/sql/sql.h"
#include "engine/sql/sql_error.h"
#include "storage/base/memory.h"
#include "storage/base/words/sql_name.h"
#include "storage/base/words/word.h"
#include "storage/database/changes/live_rows.h"
#include "storage/database/writer.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct deletion {
    struct engine *engine;
    struct database *database;
    const struct table *table;
    const struct row_condition *condition;
    uint64_t *rows; /* the numbers of its rows, ascending */
    uint64_t count;
};

/* ---- Statements ---- */

/* A name that no column has. */
static void name_numbers(const struct table *table, char name[NAME_BYTES])
{
    bool found = true;
    memcpy(name, "row", 4);
    for (unsigned number = 2; found; number++) {
        found = false;
        for (uint32_t c = 0; c < table->column_count; c++)
            found |= word_compare(table->columns[c].schema.name, name) == 0;
        if (found)
            snprintf(name, NAME_BYTES, "row %u", number);
    }
}

/* Where the condition begins in the query. */
#define WRITTEN ((struct sql_position){.line = 2, .column = 1})

/* `numbered`: the answer has the numbers of the rows. Else any column is as good. */
static enum status write_query(const struct deletion *deletion, bool numbered, char **text,
                               struct error *error)
{
    const struct table *const table = deletion->table;
    char number[NAME_BYTES];
    size_t bytes;
    FILE *const out = open_memstream(text, &bytes);
    if (!out)
        return error_out_of_memory(error, strlen(deletion->condition->text), "a condition");
    name_numbers(table, number);
    fputs("SELECT ", out);
    sql_name_write(out, numbered ? number : table->columns[0].schema.name, true);
    fputs(" FROM ", out);
    if (numbered) {
        fputs("(SELECT *, row_number() OVER () AS ", out);
        sql_name_write(out, number, true);
        fputs(" FROM ", out);
        sql_name_write(out, table->name, true);
        fputs(") AS ", out);
    }
    sql_name_write(out, table->name, true);
    fprintf(out, " WHERE (\n%s\n)", deletion->condition->text); /* at WRITTEN */
    const bool written = !ferror(out);
    return fclose(out) == 0 && written && *text ? STATUS_OK
                                                : error_out_of_memory(error, bytes, "a condition");
}

/* Refuses what is more than one condition, and so another statement than the one that is written around it. */
static enum status check_condition(const struct deletion *deletion, struct error *error)
{
    struct sql_statement_tree *tree;
    RETURN_IF_ERROR(sql_parse_condition(deletion->condition->text, strlen(deletion->condition->text),
                                        deletion->condition->place, &tree, error));
    sql_tree_free(tree);
    return STATUS_OK;
}

static enum status prepare(const struct deletion *deletion, bool numbered, struct sql_statement **statement,
                           struct error *error)
{
    char *text = NULL;
    size_t used;
    *statement = NULL;
    enum status status = write_query(deletion, numbered, &text, error);
    if (status == STATUS_OK)
        status = sql_prepare(deletion->engine, deletion->database, text, strlen(text), NULL, statement, &used,
                             error);
    free(text);
    const struct row_condition *const condition = deletion->condition;
    if (status == STATUS_OK)
        sql_statement_set(*statement, condition->settings);
    if (status == STATUS_OK && sql_parameter_count(*statement) != condition->parameter_count)
        status = error_set(error, STATUS_BAD_INPUT, "the condition has parameters; write their values in it");
    for (uint32_t p = 0; status == STATUS_OK && p < condition->parameter_count; p++)
        status = sql_parameter_set(*statement, p, &condition->parameters[p], error);
    if (status != STATUS_OK)
        sql_statement_free(*statement);
    return status;
}

/* ---- Rows ---- */

static int compare_rows(const void *a, const void *b)
{
    const uint64_t left = *(const uint64_t *)a, right = *(const uint64_t *)b;
    return left < right ? -1 : left > right;
}

/* Makes numbers of rows of the ascending numbers, from 1, of those among them that are live. */
static void find_places(uint64_t *rows, uint64_t count, const struct live_rows *live, uint64_t table_rows)
{
    uint64_t number = 0, done = 0;
    for (uint64_t row = 0; row < table_rows && done < count; row++) {
        if (live->bits && !row_valid(live->bits, row))
            continue;
        number++;
        if (rows[done] == number)
            rows[done++] = row;
    }
}

static enum status take_numbers(struct deletion *deletion, const struct rowset *answer, struct error *error)
{
    struct live_rows live = {0};
    RETURN_IF_ERROR(
        memory_take(&deletion->rows, (answer->rows + 1) * sizeof *deletion->rows, "rows to delete", error));
    for (uint64_t i = 0; i < answer->rows; i++)
        deletion->rows[i] = (uint64_t)answer->columns[0].values[i];
    deletion->count = answer->rows;
    qsort(deletion->rows, deletion->count, sizeof *deletion->rows, compare_rows);
    const enum status status =
        live_rows_read(database_path(deletion->database), deletion->table, &live, error);
    if (status == STATUS_OK)
        find_places(deletion->rows, deletion->count, &live, deletion->table->rows);
    free(live.bits);
    return status;
}

static enum status find_by_tree(struct deletion *deletion, struct error *error)
{
    struct sql_statement *statement;
    struct rowset answer = {0};
    RETURN_IF_ERROR(prepare(deletion, true, &statement, error));
    enum status status = sql_run(statement, &answer, NULL, error);
    status = AND_THEN(status, take_numbers(deletion, &answer, error));
    rowset_free(&answer);
    sql_statement_free(statement);
    return status;
}

static enum status find_rows(struct deletion *deletion, struct error *error)
{
    struct sql_statement *statement;
    bool found = false;
    RETURN_IF_ERROR(prepare(deletion, false, &statement, error));
    const enum status status =
        sql_rows(statement, deletion->table, &deletion->rows, &deletion->count, &found, error);
    sql_statement_free(statement);
    return status != STATUS_OK || found ? status : find_by_tree(deletion, error);
}

static enum status find_placed(struct deletion *deletion, struct error *error)
{
    RETURN_IF_ERROR(check_condition(deletion, error));
    const enum status status = find_rows(deletion, error);
    if (status == STATUS_BAD_INPUT)
        sql_error_move(error, WRITTEN, deletion->condition->place);
    return status;
}

enum status rows_find(struct engine *engine, struct database *database, const char *name,
                      const struct row_condition *condition, uint64_t **rows, uint64_t *count,
                      struct error *error)
{
    struct deletion deletion = {.engine = engine, .database = database, .condition = condition};
    *rows = NULL;
    *count = 0;
    RETURN_IF_ERROR(database_table(database, name, &deletion.table, error));
    const enum status status = find_placed(&deletion, error);
    if (status == STATUS_OK) {
        *rows = deletion.rows;
        *count = deletion.count;
    } else {
        free(deletion.rows);
    }
    return status;
}

enum status rows_delete(struct engine *engine, struct database *database, const char *name,
                        const struct row_condition *condition, uint64_t *count, struct error *error)
{
    const struct table *table;
    uint64_t *rows, found;
    *count = 0;
    RETURN_IF_ERROR(database_table(database, name, &table, error));
    RETURN_IF_ERROR(rows_find(engine, database, name, condition, &rows, &found, error));
    const enum status status = database_delete(database_path(database), table, rows, found, error);
    if (status == STATUS_OK || status == STATUS_NOT_DURABLE)
        *count = found;
    free(rows);
    return status;
}
