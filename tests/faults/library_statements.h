/* library_statements.h: a statement that is asked by tessera.h with failing calls (test_library_faults.c), and what must hold after it: the
 * answer is noted whole, and the same connection gives it when no call fails. Behind cmocka.h. */
#ifndef TESSERA_TESTS_FAULTS_LIBRARY_STATEMENTS_H
#define TESSERA_TESTS_FAULTS_LIBRARY_STATEMENTS_H

#include "engine/library/tessera.h"
#include "tests/faults/shop_files.h"
#include "tests/support/own_faults.h"

struct asked {
    char *sql;
    const char *memory; /* that it may take; NULL: much */
};

static inline void note_value(struct tessera_result *result, uint32_t column, uint64_t row,
                              struct own_outcome *outcome)
{
    uint32_t length = 0;
    const char *const text = tessera_text(result, column, row, &length);
    own_note(outcome, text ? text : "NULL", text ? length : 5);
}

static inline void note_result(struct tessera_result *result, struct own_outcome *outcome)
{
    for (uint32_t column = 0; column < tessera_columns(result); column++) {
        const char *const name = tessera_column_name(result, column);
        const int type = (int)tessera_column_type(result, column);
        own_note(outcome, name, strlen(name) + 1);
        own_note(outcome, &type, sizeof type);
    }
    for (uint64_t row = 0; row < tessera_rows(result); row++)
        for (uint32_t column = 0; column < tessera_columns(result); column++)
            note_value(result, column, row, outcome);
}

static inline bool run_prepared(struct tessera_statement *statement, struct own_outcome *outcome)
{
    struct tessera_error error;
    struct tessera_result *result = NULL;
    if (!own_ended(outcome, (int)tessera_run(statement, &result, &error), error.text))
        return false;
    note_result(result, outcome);
    tessera_result_free(result);
    return true;
}

static inline bool is_right(const struct own_outcome *outcome, bool may_vary)
{
    const struct own_outcome *const right = &own_shared->right;
    return outcome->code == right->code && strcmp(outcome->text, right->text) == 0 &&
           (may_vary || outcome->answer == right->answer);
}

/* Whether the answer tells times. */
static inline bool varies(const char *sql)
{
    return strncmp(sql, "EXPLAIN ANALYZE", 15) == 0 || strncmp(sql, "EXPLAIN (ANALYZE", 16) == 0;
}

/* Without faults the connection answers rightly: the statement that was prepared before, and a new one. */
static inline const char *ask_again(struct tessera_database *database, struct tessera_statement *prepared,
                                    const char *sql)
{
    struct tessera_error error;
    struct own_outcome again = {.code = 0};
    if (prepared) {
        (void)run_prepared(prepared, &again);
        if (!is_right(&again, varies(sql))) {
            fprintf(stderr, "%s\n", again.text);
            return "the statement, run again without faults, does not give the right answer";
        }
        tessera_finalize(prepared);
    }
    again = (struct own_outcome){.code = 0};
    prepared = NULL;
    if (own_ended(&again, (int)tessera_prepare(database, sql, &prepared, &error), error.text))
        (void)run_prepared(prepared, &again);
    tessera_finalize(prepared);
    if (!is_right(&again, varies(sql))) {
        fprintf(stderr, "%s\n", again.text);
        return "the same connection does not give the right answer";
    }
    return NULL;
}

static inline void ask(const void *argument, struct own_outcome *outcome)
{
    const struct asked *const asked = argument;
    const struct tessera_options options = {
        .size = sizeof options, .device = "cpu", .threads = 2, .memory = asked->memory};
    struct tessera_error error;
    struct tessera_database *database;
    struct tessera_statement *statement = NULL;
    if (tessera_open_with(path, &options, &database, &error)) {
        outcome->afterwards = "the database cannot be opened";
        return;
    }
    own_arm();
    if (own_ended(outcome, (int)tessera_prepare(database, asked->sql, &statement, &error), error.text))
        (void)run_prepared(statement, outcome);
    if (outcome->code == 0) {
        tessera_finalize(statement);
        statement = NULL;
    }
    own_disarm();
    if (own_failed())
        outcome->afterwards = ask_again(database, statement, asked->sql);
    else
        tessera_finalize(statement);
    tessera_close(database);
}

#endif
