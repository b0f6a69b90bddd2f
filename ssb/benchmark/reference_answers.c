/*
 * reference_answers.c: computes SQLite's answers once and keeps them.
 *
 * Each statement runs on a connection of its own. A scan of lineorder with its look-ups takes one core about
 * a second per scale factor. The time that is kept is the thread's processor time: statements that run in
 * parallel do not slow each other down in it. So SQLite is compared at its best.
 */
#define _GNU_SOURCE
#include "ssb/benchmark/reference_internal.h"

#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

/* The whole file is memory-mapped, so that connections share the page cache. Without automatic_index SQLite
 * builds no index during a query. */
static const char QUERY_PRAGMAS[] = "PRAGMA query_only = ON; PRAGMA mmap_size = 1099511627776;PRAGMA "
                                    "cache_size = -65536; PRAGMA automatic_index = OFF;";

static enum status open_readonly(const char *path, sqlite3 **connection, struct error *error)
{
    enum status status = STATUS_OK;
    if (reference_connect(path, SQLITE_OPEN_READONLY, connection) != SQLITE_OK)
        status = reference_error(*connection, path, "opening", error);
    status = AND_THEN(status, reference_execute(*connection, path, QUERY_PRAGMAS, "opening", error));
    if (status != STATUS_OK) {
        sqlite3_close(*connection);
        *connection = NULL;
    }
    return status;
}

/* The most columns of an answer; those of the 13 queries have 1 to 4. */
#define COLUMNS_MAX 8

/* Prepares a statement and an answer with its columns. In SQLite only columns of text have the type TEXT;
 * sums have no type, integers have none or INTEGER. */
static enum status prepare_answer(sqlite3 *connection, const char *path, const char *statement,
                                  sqlite3_stmt **select, struct value_type types[COLUMNS_MAX],
                                  struct rowset_builder **builder, struct error *error)
{
    const char *names[COLUMNS_MAX];
    if (sqlite3_prepare_v2(connection, statement, -1, select, NULL) != SQLITE_OK)
        return reference_error(connection, path, statement, error);
    const int count = sqlite3_column_count(*select);
    if (count < 1 || count > COLUMNS_MAX)
        return error_set(error, STATUS_BAD_INPUT, "SQLite is asked for 1 to %d columns, not %d: %s",
                         COLUMNS_MAX, count, statement);
    for (int c = 0; c < count; c++) {
        const char *type = sqlite3_column_decltype(*select, c);
        names[c] = sqlite3_column_name(*select, c);
        types[c] =
            (struct value_type){.kind = type && strcmp(type, "TEXT") == 0 ? VALUE_STRING : VALUE_INTEGER};
    }
    return rowset_builder_create((uint32_t)count, names, types, builder, error);
}

/* SQLite's value as a cell. Text points into SQLite's memory and is valid until the next step. A value that
 * has not the type of its column becomes NULL and so differs from any answer. */
static struct rowset_cell cell_of(sqlite3_stmt *select, int column, struct value_type of)
{
    const int type = sqlite3_column_type(select, column);
    if (of.kind == VALUE_STRING && type == SQLITE_TEXT)
        return (struct rowset_cell){.string = (const char *)sqlite3_column_text(select, column),
                                    .length = (uint32_t)sqlite3_column_bytes(select, column)};
    if (of.kind != VALUE_STRING && type == SQLITE_INTEGER)
        return (struct rowset_cell){.number = sqlite3_column_int64(select, column)};
    return (struct rowset_cell){.null = true};
}

/* Adds all rows of a statement; `what` is being done. */
static enum status read_rows(sqlite3 *connection, const char *path, const char *what, sqlite3_stmt *select,
                             const struct value_type *types, struct rowset_builder *builder,
                             struct error *error)
{
    struct rowset_cell cells[COLUMNS_MAX];
    int stepped;
    while ((stepped = sqlite3_step(select)) == SQLITE_ROW) {
        for (int c = 0; c < sqlite3_column_count(select); c++)
            cells[c] = cell_of(select, c, types[c]);
        RETURN_IF_ERROR(rowset_builder_add(builder, cells, error));
    }
    return stepped == SQLITE_DONE ? STATUS_OK : reference_error(connection, path, what, error);
}

static double thread_ms(void)
{
    struct timespec now;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
    return 1e3 * (double)now.tv_sec + 1e-6 * (double)now.tv_nsec;
}

static enum status compute(sqlite3 *connection, const char *path, const char *statement,
                           struct reference_answer *answer, struct error *error)
{
    sqlite3_stmt *select = NULL;
    struct value_type types[COLUMNS_MAX];
    struct rowset_builder *builder = NULL;
    double begun = thread_ms();
    enum status status = prepare_answer(connection, path, statement, &select, types, &builder, error);
    status = AND_THEN(status, read_rows(connection, path, statement, select, types, builder, error));
    if (status == STATUS_OK)
        rowset_builder_finish(builder, &answer->rows);
    rowset_builder_free(builder);
    sqlite3_finalize(select);
    answer->sqlite_ms = thread_ms() - begun;
    time_t now = time(NULL);
    struct tm utc;
    gmtime_r(&now, &utc);
    strftime(answer->made, sizeof answer->made, "%Y-%m-%d %H:%M:%S", &utc);
    snprintf(answer->sqlite, sizeof answer->sqlite, "%s", sqlite3_libversion());
    return status;
}

/* ---- Kept answers ---- */

/* Reads the rows of a kept answer. The table answer_cell has one row for each cell; SQLite puts the cells of
 * an answer's row side by side. */
static enum status read_cells(sqlite3 *connection, const char *path, int64_t id, int columns,
                              const struct value_type *types, struct rowset_builder *builder,
                              struct error *error)
{
    char rows[1024];
    size_t used = 0;
    sqlite3_stmt *select = NULL;
    for (int c = 0; c < columns; c++)
        used += (size_t)snprintf(rows + used, sizeof rows - used,
                                 "%s max(CASE WHEN column = %d THEN value END)", c ? "," : "SELECT", c);
    snprintf(rows + used, sizeof rows - used, " FROM answer_cell WHERE answer = ? GROUP BY row ORDER BY row");
    if (sqlite3_prepare_v2(connection, rows, -1, &select, NULL) != SQLITE_OK)
        return reference_error(connection, path, "reading kept answers", error);
    sqlite3_bind_int64(select, 1, id);
    const enum status status =
        read_rows(connection, path, "reading kept answers", select, types, builder, error);
    sqlite3_finalize(select);
    return status;
}

static enum status read_kept(sqlite3 *connection, const char *path, const char *statement,
                             struct reference_answer *answer, struct error *error)
{
    sqlite3_stmt *select = NULL, *shape = NULL;
    struct value_type types[COLUMNS_MAX];
    struct rowset_builder *builder = NULL;
    if (sqlite3_prepare_v2(connection,
                           "SELECT id, milliseconds, made, sqlite FROM answer WHERE statement = ?", -1,
                           &select, NULL) != SQLITE_OK)
        return reference_error(connection, path, "reading kept answers", error);
    sqlite3_bind_text(select, 1, statement, -1, SQLITE_STATIC);
    enum status status = STATUS_OK;
    int stepped = sqlite3_step(select);
    if (stepped == SQLITE_ROW) {
        answer->kept = true;
        answer->sqlite_ms = sqlite3_column_double(select, 1);
        snprintf(answer->made, sizeof answer->made, "%s", (const char *)sqlite3_column_text(select, 2));
        snprintf(answer->sqlite, sizeof answer->sqlite, "%s", (const char *)sqlite3_column_text(select, 3));
        status = prepare_answer(connection, path, statement, &shape, types, &builder, error);
        status = AND_THEN(status, read_cells(connection, path, sqlite3_column_int64(select, 0),
                                             sqlite3_column_count(shape), types, builder, error));
        if (status == STATUS_OK)
            rowset_builder_finish(builder, &answer->rows);
    } else if (stepped != SQLITE_DONE) {
        status = reference_error(connection, path, "reading kept answers", error);
    }
    rowset_builder_free(builder);
    sqlite3_finalize(shape);
    sqlite3_finalize(select);
    return status;
}

static bool write_answer(sqlite3 *connection, sqlite3_stmt *answers, sqlite3_stmt *cells,
                         const char *statement, const struct reference_answer *answer)
{
    sqlite3_bind_text(answers, 1, statement, -1, SQLITE_STATIC);
    sqlite3_bind_double(answers, 2, answer->sqlite_ms);
    sqlite3_bind_text(answers, 3, answer->made, -1, SQLITE_STATIC);
    sqlite3_bind_text(answers, 4, answer->sqlite, -1, SQLITE_STATIC);
    if (sqlite3_step(answers) != SQLITE_DONE)
        return false;
    sqlite3_reset(answers);
    sqlite3_bind_int64(cells, 1, sqlite3_last_insert_rowid(connection));
    const struct rowset *rows = &answer->rows;
    for (uint64_t row = 0; row < rows->rows; row++)
        for (uint32_t c = 0; c < rows->column_count; c++) {
            const struct rowset_column *column = &rows->columns[c];
            char unused[ROWSET_TEXT_BYTES];
            uint32_t length;
            sqlite3_bind_int64(cells, 2, (sqlite3_int64)row);
            sqlite3_bind_int(cells, 3, (int)c);
            if (column->nulls[row])
                sqlite3_bind_null(cells, 4);
            else if (column->type.kind == VALUE_STRING) {
                const char *const text = rowset_text(column, row, unused, &length);
                sqlite3_bind_text(cells, 4, text, (int)length, SQLITE_STATIC);
            } else
                sqlite3_bind_int64(cells, 4, column->values[row]);
            if (sqlite3_step(cells) != SQLITE_DONE)
                return false;
            sqlite3_reset(cells);
        }
    return true;
}

/* Keeps all new answers in one transaction. If the file cannot be written (a read-only disk, another run that
 * keeps the same answers), it stays as it is, and the next run computes the answers again. */
static void keep_answers(const char *path, const char *const *statements, uint32_t count,
                         const struct reference_answer *answers)
{
    sqlite3 *connection = NULL;
    sqlite3_stmt *insert_answer = NULL, *insert_cell = NULL;
    bool done = reference_connect(path, SQLITE_OPEN_READWRITE, &connection) == SQLITE_OK &&
                sqlite3_exec(connection, "BEGIN IMMEDIATE", NULL, NULL, NULL) == SQLITE_OK &&
                sqlite3_prepare_v2(connection, "INSERT INTO answer VALUES (NULL, ?, ?, ?, ?)", -1,
                                   &insert_answer, NULL) == SQLITE_OK &&
                sqlite3_prepare_v2(connection, "INSERT INTO answer_cell VALUES (?, ?, ?, ?)", -1,
                                   &insert_cell, NULL) == SQLITE_OK;
    for (uint32_t i = 0; done && i < count; i++)
        if (!answers[i].kept)
            done = write_answer(connection, insert_answer, insert_cell, statements[i], &answers[i]);
    sqlite3_finalize(insert_answer);
    sqlite3_finalize(insert_cell);
    if (connection)
        sqlite3_exec(connection, done ? "COMMIT" : "ROLLBACK", NULL, NULL, NULL);
    sqlite3_close(connection);
}

/* ---- All statements ---- */

struct work {
    const char *path;
    const char *const *statements;
    struct reference_answer *answers;
    struct progress *progress;
    uint32_t count;
    atomic_uint done;
    atomic_bool computed;
};

static enum status answer_one(void *context, uint64_t item, unsigned thread, struct error *error)
{
    struct work *work = context;
    struct reference_answer *answer = &work->answers[item];
    sqlite3 *connection;
    (void)thread;
    RETURN_IF_ERROR(open_readonly(work->path, &connection, error));
    enum status status = read_kept(connection, work->path, work->statements[item], answer, error);
    if (status == STATUS_OK && !answer->kept) {
        status = compute(connection, work->path, work->statements[item], answer, error);
        atomic_store(&work->computed, true);
    }
    sqlite3_close(connection);
    progress_report(work->progress, "asking SQLite", "queries", atomic_fetch_add(&work->done, 1) + 1,
                    work->count);
    return status;
}

enum status reference_answers(struct reference *reference, const char *const *statements, uint32_t count,
                              unsigned threads, struct progress *progress, struct reference_answer *answers,
                              struct error *error)
{
    struct work work = {.path = reference->path,
                        .statements = statements,
                        .answers = answers,
                        .progress = progress,
                        .count = count};
    memset(answers, 0, count * sizeof *answers);
    RETURN_IF_ERROR(parallel_for(threads, count, answer_one, &work, error));
    if (atomic_load(&work.computed))
        keep_answers(reference->path, statements, count, answers);
    return STATUS_OK;
}
