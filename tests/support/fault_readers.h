/*
 * fault_readers.h: readers of a database while its writer is killed (faults.h). Two open the old state before the
 * operation begins, and read no file of its columns. The first is asked when the writer is dead, the second when the next
 * writer has cleaned up: both answer from the old state, whose files must still be there. Then they close it.
 */
#ifndef TESSERA_TESTS_SUPPORT_FAULT_READERS_H
#define TESSERA_TESTS_SUPPORT_FAULT_READERS_H

#include "engine/library/statement.h"
#include "tests/support/sql/sql_answer.h"

#define FAULT_READERS 2

struct fault_readers {
    struct engine *engine;
    struct database *opened[FAULT_READERS]; /* NULL: closed */
    struct error why;                       /* of an answer that is missing */
};

/* The answer as CSV, or why there is none; the caller frees it. */
static inline char *fault_reader_answer(struct fault_readers *readers, struct database *database,
                                        const char *sql)
{
    struct sql_statement *statement = NULL;
    struct rowset rows = {0};
    size_t used;
    enum status status =
        sql_prepare(readers->engine, database, sql, strlen(sql), NULL, &statement, &used, &readers->why);
    if (status == STATUS_OK) {
        sql_statement_set(statement, (struct sql_settings){.index = PLAN_INDEX_ON});
        status = sql_run(statement, &rows, NULL, &readers->why);
    }
    char *const text = status == STATUS_OK ? rowset_csv(&rows) : strdup(readers->why.text);
    rowset_free(&rows);
    sql_statement_free(statement);
    return text;
}

static inline void fault_readers_close(struct fault_readers *readers)
{
    for (int r = 0; r < FAULT_READERS; r++) {
        database_close(readers->opened[r]);
        readers->opened[r] = NULL;
    }
}

static inline void fault_readers_open(struct fault_readers *readers, const char *directory)
{
    if (!readers->engine)
        must(engine_open(&(struct engine_options){.device = "cpu", .threads = 1}, &readers->engine, error));
    for (int r = 0; r < FAULT_READERS; r++)
        must(database_open(directory, &readers->opened[r], error));
}

/* Whether the reader, which is asked the statement for the first time, gives that answer; true if it is closed. */
static inline bool fault_reader_is_right(struct fault_readers *readers, int reader, const char *sql,
                                         const char *right)
{
    if (!readers->opened[reader])
        return true;
    char *const text = fault_reader_answer(readers, readers->opened[reader], sql);
    const bool same = strcmp(text, right) == 0;
    if (!same)
        fprintf(stderr, "reader %d: %s\nnot: %s\n", reader + 1, text, right);
    free(text);
    return same;
}

#endif
