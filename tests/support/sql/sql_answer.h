/* sql_answer.h: a statement's answer as CSV, for tests that compare answers as text. */
#ifndef TESSERA_TESTS_SUPPORT_SQL_SQL_ANSWER_H
#define TESSERA_TESTS_SUPPORT_SQL_SQL_ANSWER_H

#include "engine/library/statement.h"
#include "tests/support/database_cases.h"

#include <stdio.h>
#include <string.h>

/* The rows as CSV; the first line has the names. The caller frees the text. */
static inline char *rowset_csv(const struct rowset *rows)
{
    static char *text; /* static, because the compiler calls a local variable dangling when it inlines this */
    static size_t bytes;
    FILE *out = open_memstream(&text, &bytes);
    must(rowset_print(rows, ROWSET_CSV, 1, out, error));
    fclose(out);
    return text;
}

/* Runs the statement as it was prepared. The caller frees the text. */
static inline char *statement_csv(struct sql_statement *statement, struct run_timing *timing)
{
    struct rowset rows;
    must(sql_run(statement, &rows, timing, error));
    char *const text = rowset_csv(&rows);
    rowset_free(&rows);
    return text;
}

static inline char *sql_answer(struct engine *engine, struct database *database, const char *sql)
{
    struct sql_statement *statement;
    size_t used;
    must(sql_prepare(engine, database, sql, strlen(sql), NULL, &statement, &used, error));
    char *const text = statement_csv(statement, NULL);
    sql_statement_free(statement);
    return text;
}

#endif
