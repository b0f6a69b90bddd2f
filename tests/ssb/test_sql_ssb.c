/*
 * test_sql_ssb.c: the SQL of the 13 SSB queries gives the same names and rows as the hand-written kernels,
 * whose answers SQLite checks (test_ssb_run.c). The scale factor is 0.01. One database is sorted by date, so
 * that tiles are skipped.
 */
#define _GNU_SOURCE
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>

#include "engine/run/engine.h"
#include "engine/library/statement.h"
#include "ssb/data/load.h"
#include "ssb/queries/queries.h"
#include "tests/support/database_cases.h"

static char path[PATH_BYTES];

static void same_cell(const char *query, uint64_t row, const struct result_cell *cell,
                      const struct rowset_column *column)
{
    char buffer[ROWSET_TEXT_BYTES];
    uint32_t length;
    const char *text = rowset_text(column, row, buffer, &length);
    const bool same = cell->null     ? !text
                      : !text        ? false
                      : cell->string ? length == strlen(cell->string) && !memcmp(text, cell->string, length)
                                     : column->values[row] == cell->number;
    if (!same)
        fail_msg("%s, row %llu, column %s: %.*s", query, (unsigned long long)row + 1, column->name,
                 (int)length, text ? text : "");
}

static void answers_are_the_same(struct engine *engine, struct database *database,
                                 const struct star_query *query, const char *codec)
{
    struct prepared *prepared;
    struct sql_statement *statement;
    struct query_timing timing;
    struct result expected = {0};
    struct rowset rows;
    size_t used;
    must(engine_prepare(engine, database, query, codec, &prepared, error));
    must(engine_run(prepared, &timing, &expected, error));
    must(sql_prepare(engine, database, query->sql, strlen(query->sql), codec, &statement, &used, error));
    assert_int_equal(used, strlen(query->sql));
    for (int round = 0; round < 2; round++) { /* a plan may run again */
        must(sql_run(statement, &rows, NULL, error));
        assert_int_equal(rows.rows, expected.rows);
        assert_int_equal(rows.column_count, expected.column_count);
        for (uint32_t c = 0; c < rows.column_count; c++) {
            assert_string_equal(rows.columns[c].name, expected.names[c]);
            for (uint64_t row = 0; row < rows.rows; row++)
                same_cell(query->name, row, result_cell(&expected, row, c), &rows.columns[c]);
        }
        rowset_free(&rows);
    }
    result_destroy(&expected);
    sql_statement_free(statement);
    prepared_destroy(prepared);
}

static void load(const char *sort_by, const char *date_codec)
{
    struct ssb_load_options options = {
        .directory = path, .sort_by = sort_by, .codecs = date_codec, .threads = 2};
    options.data.scale_factor = 0.01;
    directory_make(path);
    must(ssb_load(&options, NULL, error));
}

static void every_query(const char *codec)
{
    struct database *database;
    struct engine *engine;
    must(database_open(path, &database, error));
    must(engine_open(test_device(), 2, &engine, error));
    for (uint32_t q = 0; q < SSB_QUERIES; q++)
        answers_are_the_same(engine, database, ssb_queries[q], codec);
    engine_close(engine);
    database_close(database);
}

static void by_the_codecs_of_auto(void **state)
{
    (void)state;
    load(NULL, NULL);
    every_query(NULL);
    every_query("plain");
    every_query("gpu-star");
    directory_remove(path);
}

static void where_tiles_are_skipped(void **state)
{
    (void)state;
    load("lo_orderdate", "rank-rle");
    every_query(NULL);
    directory_remove(path);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(by_the_codecs_of_auto),
                                       cmocka_unit_test(where_tiles_are_skipped)};
    return cmocka_run_group_tests_name("sql_ssb", tests, NULL, NULL);
}
