/* test_sql_wide.c: statements that read very many columns, and answers of very many rows and groups. */
#define _GNU_SOURCE
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>

#include "loader/table/table_loader.h"
#include "tests/support/database_cases.h"
#include "tests/support/gpu/query_compile.h"

#define COLUMNS 300
#define ROWS    40
#define MANY    150000 /* rows of the second table, more than two chunks of an answer */

static char path[PATH_BYTES], text[MANY * 24], sql[COLUMNS * 16];
static struct database *database;

/* "<before>c0<between>c1 ...": into sql, behind what is there. */
static void list(const char *before, const char *after, const char *between, int count)
{
    size_t at = strlen(sql);
    for (int c = 0; c < count; c++)
        at += (size_t)sprintf(sql + at, "%s%sc%d%s", c ? between : "", before, c, after);
}

static void file_write(char file[PATH_BYTES + 16], const char *name, size_t bytes)
{
    snprintf(file, PATH_BYTES + 16, "%.*s/%s", (int)strlen(path) - 3, path, name);
    FILE *out = fopen(file, "wb");
    assert_non_null(out);
    assert_int_equal(fwrite(text, 1, bytes, out), bytes);
    fclose(out);
}

static int setup(void **state)
{
    char file[2][PATH_BYTES + 16];
    struct schema_script schema;
    struct load_report report;
    (void)state;
    directory_make(path);
    size_t at = 0;
    for (int row = 0; row < ROWS; row++)
        for (int c = 0; c < COLUMNS; c++)
            at += (size_t)sprintf(text + at, "%d%s", row * c % 97, c + 1 < COLUMNS ? "," : "\n");
    file_write(file[0], "wide.csv", at);
    at = 0;
    for (int row = 0; row < MANY; row++)
        at += (size_t)sprintf(text + at, "%d,%lld\n", row, row * 1000003ll);
    file_write(file[1], "many.csv", at);
    strcpy(sql, "CREATE TABLE wide (");
    list("", " INT", ", ", COLUMNS);
    strcat(sql, "); CREATE TABLE many (n INT, m BIGINT);");
    must(schema_script_parse("wide.sql", sql, strlen(sql), &schema, error));
    const char *const wide[] = {file[0]}, *const many[] = {file[1]};
    const struct load_input inputs[] = {{.table = "wide", .paths = wide, .path_count = 1},
                                        {.table = "many", .paths = many, .path_count = 1}};
    const struct load_options options = {.directory = path, .inputs = inputs, .input_count = 2, .threads = 2};
    must(tables_load(&schema, &options, &report, NULL, error));
    schema_script_free(&schema);
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
    must(engine_open(&(struct engine_options){.device = device, .threads = 2}, &engine, error));
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
    list("", "", ", ", COLUMNS);
    strcat(sql, " FROM wide WHERE c3 > 90");
    if (ask(test_device(), &rows, &told) != STATUS_OK)
        fail_msg("%s", told.text);
    assert_int_equal(rows.rows, 2); /* 31 and 32 times 3 */
    for (int c = 0; c < COLUMNS; c++)
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
    list("sum(", ")", ", ", 100);
    strcat(sql, " FROM wide");
    must(ask("cpu", &rows, error));
    for (int c = 0; c < 100; c++) {
        int64_t sum = 0;
        for (int row = 0; row < ROWS; row++)
            sum += row * c % 97;
        assert_int_equal(rows.columns[c].values[0], sum);
    }
    rowset_free(&rows);
    /* planned for a GPU, whether there is one or not */
    assert_int_equal(compile_statement(database, sql, NULL, 0, NULL, compile_sm_90, &told), STATUS_BAD_INPUT);
    if (!strstr(told.text, "read 100 columns of wide, and on a GPU they may read 96"))
        fail_msg("%s", told.text);
}

/* Chunks of groups lose rows to HAVING and close up; what ORDER BY leaves open is in the order of the groups. */
static void many_groups(void **state)
{
    static const struct {
        const char *end;
        uint64_t rows;
        int64_t first, step;
    } cases[] = {{"", MANY, 0, 1},
                 {" HAVING m / 1000003 % 3 = 1", MANY / 3, 1, 3},
                 {" HAVING min(n) >= 70000", MANY - 70000, 70000, 1},
                 {" HAVING m / 1000003 % 3 = 1 ORDER BY 3, 1 DESC", MANY / 3, MANY - 2, -3},
                 {" HAVING min(n) < 140000 ORDER BY 3 LIMIT 10 OFFSET 100000", 10, 100000, 1},
                 {" HAVING false", 0, 0, 0}};
    struct error told = {0};
    (void)state;
    for (size_t c = 0; c < sizeof cases / sizeof *cases; c++) {
        struct rowset rows;
        snprintf(sql, sizeof sql, "SELECT m, nullif(min(n) %% 5, 0), count(*) FROM many GROUP BY m%s",
                 cases[c].end);
        if (ask(test_device(), &rows, &told) != STATUS_OK)
            fail_msg("%s: %s", sql, told.text);
        assert_int_equal(rows.rows, cases[c].rows);
        for (uint64_t row = 0; row < rows.rows; row++) {
            const int64_t n = cases[c].first + (int64_t)row * cases[c].step;
            assert_int_equal(rows.columns[0].values[row], n * 1000003);
            assert_int_equal(rows.columns[1].nulls[row], n % 5 == 0);
            assert_true(n % 5 == 0 || rows.columns[1].values[row] == n % 5);
        }
        rowset_free(&rows);
    }
    strcpy(sql, "SELECT n + 1 FROM many");
    struct rowset rows;
    must(ask(test_device(), &rows, error));
    assert_int_equal(rows.rows, MANY);
    for (int64_t row = 0; row < MANY; row++)
        assert_int_equal(rows.columns[0].values[row], row + 1);
    rowset_free(&rows);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(rows_of_many_columns),
                                       cmocka_unit_test(sums_of_many_columns), cmocka_unit_test(many_groups)};
    return cmocka_run_group_tests_name("sql wide", tests, setup, teardown);
}
