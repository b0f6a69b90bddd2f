/* lab_tables.h: runs an experiment of `tessera lab` as a user would and finds its tables, for the tests of experiments. */
#ifndef TESSERA_TESTS_SUPPORT_LAB_TABLES_H
#define TESSERA_TESTS_SUPPORT_LAB_TABLES_H

#include "tests/support/run_program.h"

#include <jansson.h>

/* Runs `tessera lab ARGUMENTS` on the processor; *tables gets the first experiment's tables. The caller calls json_decref
 * on the result. */
static inline json_t *lab_tables(const char *arguments, json_t **tables)
{
    static struct program_run run;
    char path[] = "/tmp/tessera-lab-XXXXXX", shell[512];
    const int file = mkstemp(path);
    assert_true(file >= 0);
    snprintf(shell, sizeof shell, "\"$T\" lab --device cpu --format json %s > %s", arguments, path);
    run_shell(shell, &run);
    assert_string_equal(run.errors, "");
    assert_int_equal(run.exit_code, 0);
    json_t *const result = json_load_file(path, 0, NULL);
    close(file);
    remove(path);
    assert_non_null(result);
    *tables = json_object_get(json_array_get(json_object_get(result, "experiments"), 0), "tables");
    assert_non_null(*tables);
    return result;
}

/* The rows of the table whose caption begins with `caption`. */
static inline json_t *lab_rows_of(json_t *tables, const char *caption)
{
    size_t t;
    json_t *table;
    json_array_foreach(tables, t,
                       table) if (strncmp(json_string_value(json_object_get(table, "table")), caption,
                                          strlen(caption)) == 0) return json_object_get(table, "rows");
    fail_msg("there is no table '%s'", caption);
    return NULL;
}

/* The row of a table with this text in its cell `key`. */
static inline json_t *lab_row_of(json_t *rows, const char *key, const char *text)
{
    size_t r;
    json_t *row;
    json_array_foreach(rows, r,
                       row) if (strcmp(json_string_value(json_object_get(row, key)), text) == 0) return row;
    fail_msg("there is no row '%s'", text);
    return NULL;
}

static inline double lab_number(json_t *row, const char *key)
{
    const json_t *const number = json_object_get(row, key);
    assert_true(json_is_number(number));
    return json_number_value(number);
}

#endif
