/* test_sql_wide.c: statements that read very many columns: rows and sums of all of them, and where that ends. */
#define _GNU_SOURCE
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>

#include "loader/table_loader.h"
#include "tests/database_cases.h"
#include "tests/star_compile.h"

#define COLUMNS 300
#define ROWS    40

static char path[PATH_BYTES], text[COLUMNS * ROWS * 8], sql[COLUMNS * 16];
static struct database *database;

/* "<before>c0<between>c1 ...": into sql, behind what is there. */
static void list(const char *before, const char *after, const char *between, int count)
{
    size_t at = strlen(sql);
    for (int c = 0; c < count; c++)
        at += (size_t)sprintf(sql + at, "%s%sc%d%s", c ? between : "", before, c, after);
}

static int setup(void **state)
{
    char file[PATH_BYTES + 16];
    struct star_schema schema;
    struct load_report report;
    (void)state;
    directory_make(path);
    snprintf(file, sizeof file, "%.*s/wide.csv", (int)strlen(path) - 3, path);
    size_t at = 0;
    for (int row = 0; row < ROWS; row++)
        for (int c = 0; c < COLUMNS; c++)
            at += (size_t)sprintf(text + at, "%d%s", row * c % 97, c + 1 < COLUMNS ? "," : "\n");
    FILE *out = fopen(file, "wb");
    assert_non_null(out);
    assert_int_equal(fwrite(text, 1, at, out), at);
    fclose(out);
    strcpy(sql, "CREATE TABLE wide (");
    list("", " INT", ", ", COLUMNS);
    strcat(sql, ")");
    must(star_schema_parse("wide.sql", sql, strlen(sql), &schema, error));
    const char *const paths[] = {file};
    const struct load_input input = {.table = "wide", .paths = paths, .path_count = 1};
    const struct load_options options = {.directory = path, .inputs = &input, .input_count = 1, .threads = 2};
    must(tables_load(&schema, &options, &report, NULL, error));
    star_schema_free(&schema);
    must(database_open(path, &database, error));
    return 0;
}

static int teardown(void **state)
{
    (void)state;
    database_close(database);
    directory_remove(path);
    return 0;
}

/* Runs what is in `sql`. */
static enum status ask(const char *device, struct rowset *rows, struct error *told)
{
    struct engine *engine;
    struct sql_statement *statement;
    size_t used;
    must(engine_open(device, 2, &engine, error));
    must(sql_prepare(engine, database, sql, strlen(sql), NULL, &statement, &used, error));
    const enum status status = sql_run(statement, rows, NULL, told);
    sql_statement_free(statement);
    engine_close(engine);
    return status;
}

static void rows_of_many_columns(void **state)
{
    struct rowset rows;
    struct error told = {0};
    (void)state;
    strcpy(sql, "SELECT ");
    list("", "", ", ", 256);
    strcat(sql, " FROM wide WHERE c3 > 90");
    if (ask(test_device(), &rows, &told) != STATUS_OK)
        fail_msg("%s", told.text);
    assert_int_equal(rows.rows, 2); /* 31 and 32 times 3 */
    for (int c = 0; c < 256; c++)
        for (int row = 0; row < 2; row++)
            assert_int_equal(rows.columns[c].values[row], (31 + row) * c % 97);
    rowset_free(&rows);
}

static void sums_of_many_columns(void **state)
{
    struct rowset rows;
    struct error told = {0};
    (void)state;
    strcpy(sql, "SELECT ");
    list("sum(", ")", ", ", 60);
    strcat(sql, " FROM wide");
    must(ask("cpu", &rows, error));
    for (int c = 0; c < 60; c++) {
        int64_t sum = 0;
        for (int row = 0; row < ROWS; row++)
            sum += row * c % 97;
        assert_int_equal(rows.columns[c].values[0], sum);
    }
    rowset_free(&rows);
    /* planned for a GPU, whether there is one or not */
    assert_int_equal(compile_statement(database, sql, NULL, &compile_targets[2], &told), STATUS_BAD_INPUT);
    if (!strstr(told.text, "read 60 columns of wide, and on a GPU they may read 32"))
        fail_msg("%s", told.text);
}

static void where_it_ends(void **state)
{
    struct rowset rows;
    (void)state;
    strcpy(sql, "SELECT * FROM wide");
    must_refuse(STATUS_BAD_INPUT, "more than 256 columns of wide", "", "", ask("cpu", &rows, error));
    strcpy(sql, "SELECT ");
    list("sum(", ")", ", ", 129);
    strcat(sql, " FROM wide");
    must_refuse(STATUS_BAD_INPUT, "more than 128 aggregates", "", "", ask("cpu", &rows, error));
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(rows_of_many_columns),
                                       cmocka_unit_test(sums_of_many_columns),
                                       cmocka_unit_test(where_it_ends)};
    return cmocka_run_group_tests_name("sql wide", tests, setup, teardown);
}
