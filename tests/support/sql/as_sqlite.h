/* as_sqlite.h: compares a statement's answer with that of SQLite, which has the same rows. Without ORDER BY, answers are
 * compared as sets of lines. */
#ifndef TESSERA_TESTS_SUPPORT_SQL_AS_SQLITE_H
#define TESSERA_TESTS_SUPPORT_SQL_AS_SQLITE_H

#include "tests/support/sql/sql_answer.h"

#include <sqlite3.h>
#include <stdlib.h>
#include <unistd.h>

static inline int compare_lines(const void *a, const void *b)
{
    return strcmp(*(char *const *)a, *(char *const *)b);
}

static inline void add_number(FILE *line, double number)
{
    fprintf(line, "%.9g|", number == 0 ? 0.0 : number);
}

static inline char *our_line(const struct rowset *rows, uint64_t row)
{
    char *text;
    size_t bytes;
    FILE *const line = open_memstream(&text, &bytes);
    for (uint32_t c = 0; c < rows->column_count; c++) {
        const struct rowset_column *const column = &rows->columns[c];
        char buffer[ROWSET_TEXT_BYTES];
        uint32_t length;
        const char *const cell = rowset_text(column, row, buffer, &length);
        if (!cell)
            fputs("NULL|", line);
        else if (column->type.kind == VALUE_DOUBLE)
            add_number(line, double_of_key(column->values[row]));
        else if (column->type.kind == VALUE_INTEGER || column->type.kind == VALUE_BOOLEAN)
            add_number(line, decimal_to_double(column->values[row], column->type.scale));
        else
            fprintf(line, "%.*s|", (int)length, cell);
    }
    fclose(line);
    return text;
}

static inline char *their_line(sqlite3_stmt *statement)
{
    char *text;
    size_t bytes;
    FILE *const line = open_memstream(&text, &bytes);
    for (int c = 0; c < sqlite3_column_count(statement); c++) {
        const int type = sqlite3_column_type(statement, c);
        if (type == SQLITE_NULL)
            fputs("NULL|", line);
        else if (type == SQLITE_TEXT)
            fprintf(line, "%s|", (const char *)sqlite3_column_text(statement, c));
        else
            add_number(line, sqlite3_column_double(statement, c));
    }
    fclose(line);
    return text;
}

/* The last ORDER BY is the statement's own if no parenthesis is closed after it. */
static inline bool is_ordered(const char *sql)
{
    const char *last = NULL;
    for (const char *at = sql; (at = strstr(at, "order by")); at++)
        last = at;
    int depth = 0;
    for (; last && *last; last++) {
        depth += (*last == '(') - (*last == ')');
        if (depth < 0)
            return false;
    }
    return last != NULL;
}

/* How statements are run. */
static struct sql_settings answers_with;

/* Fails unless both answer alike. */
static inline void answers_as_sqlite(struct engine *engine, struct database *database, sqlite3 *sqlite,
                                     const char *sql)
{
    struct sql_statement *statement;
    struct rowset rows;
    struct error why = {0};
    sqlite3_stmt *expected;
    uint64_t count = 0;
    size_t used;
    if (sql_prepare(engine, database, sql, strlen(sql), NULL, &statement, &used, &why) != STATUS_OK)
        fail_msg("%.300s: %s", sql, why.text);
    sql_statement_set(statement, answers_with);
    if (sql_run(statement, &rows, NULL, &why) != STATUS_OK)
        fail_msg("%.300s: %s", sql, why.text);
    if (sqlite3_prepare_v2(sqlite, sql, -1, &expected, NULL) != SQLITE_OK)
        fail_msg("%.300s: SQLite: %s", sql, sqlite3_errmsg(sqlite));
    char **const ours = calloc(rows.rows + 1, sizeof *ours),
                 **const theirs = calloc(rows.rows + 1, sizeof *theirs);
    for (uint64_t row = 0; row < rows.rows; row++)
        ours[row] = our_line(&rows, row);
    for (; sqlite3_step(expected) == SQLITE_ROW; count++)
        if (count < rows.rows)
            theirs[count] = their_line(expected);
    if (rows.rows != count)
        fail_msg("%.300s: %llu rows, SQLite has %llu", sql, (unsigned long long)rows.rows,
                 (unsigned long long)count);
    if (!is_ordered(sql)) {
        qsort(ours, count, sizeof *ours, compare_lines);
        qsort(theirs, count, sizeof *theirs, compare_lines);
    }
    for (uint64_t row = 0; row < count; row++) {
        if (strcmp(ours[row], theirs[row]) != 0)
            fail_msg("%.300s: row %llu is %s, SQLite has %s", sql, (unsigned long long)row, ours[row],
                     theirs[row]);
        free(ours[row]);
        free(theirs[row]);
    }
    free(ours);
    free(theirs);
    sqlite3_finalize(expected);
    rowset_free(&rows);
    sql_statement_free(statement);
}

/* Where fuzzers spill: thousands of small statements wait for a disk longer than for memory. */
static inline const char *spill_folder(void)
{
    return access("/dev/shm", W_OK) == 0 ? "/dev/shm" : NULL;
}

#endif
