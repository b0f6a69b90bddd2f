/* test_using.c: JOIN ... USING over a star whose foreign keys have the names of the keys. */
#define _GNU_SOURCE
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>

#include "tests/support/sql/sql_star.h"

static char using_path[PATH_BYTES];

static char *write_rows(const char *name, const char *rows)
{
    static char paths[2][PATH_BYTES + 64];
    static unsigned next;
    char *const path = paths[next++ % 2];
    snprintf(path, sizeof paths[0], "%.*s/%s.csv", (int)(strlen(using_path) - 3), using_path, name);
    FILE *file = fopen(path, "wb");
    assert_non_null(file);
    fputs(rows, file);
    fclose(file);
    return path;
}

static int open_star(void **state)
{
    static const char script[] = "CREATE TABLE kinds (kind INT PRIMARY KEY, label TEXT, price INT);\n"
                                 "CREATE TABLE sold (kind INT REFERENCES kinds, price INT NOT NULL);\n";
    struct load_report report;
    struct schema_script schema;
    (void)state;
    directory_make(using_path);
    const char *const paths[] = {write_rows("kinds", "1,tea,5\n2,coffee,6\n"),
                                 write_rows("sold", "1,4\n2,6\n1,7\n,8\n")};
    const struct load_input inputs[] = {{.table = "kinds", .paths = &paths[0], .path_count = 1},
                                        {.table = "sold", .paths = &paths[1], .path_count = 1}};
    must(schema_script_parse("star.sql", script, strlen(script), &schema, error));
    must(tables_load(
        &schema,
        &(struct load_options){.directory = using_path, .inputs = inputs, .input_count = 2, .threads = 1},
        &report, NULL, error));
    schema_script_free(&schema);
    must(database_open(using_path, &star_database, error));
    must(engine_open(&(struct engine_options){.device = test_device(), .threads = 2}, &star_engine, error));
    return 0;
}

static int close_star(void **state)
{
    (void)state;
    engine_close(star_engine);
    database_close(star_database);
    directory_remove(using_path);
    return 0;
}

static void columns_of_using_are_one(void **state)
{
    (void)state;
    answers("select kind, label, sold.price from sold join kinds using (kind) order by kind, 3",
            "1,tea,4\n1,tea,7\n2,coffee,6\n");
    answers("select k.label, count(*) from sold s left join kinds k using (kind) group by 1 order by 1",
            ",1\ncoffee,1\ntea,2\n");
    answers("select kind, sum(sold.price) from kinds join sold using (kind) group by kind order by kind",
            "1,11\n2,6\n");
    answers("select kind, label from sold join kinds using (kind, price)", "2,coffee\n");
    answers("select * from sold join kinds using (kind) where kind = 2", "2,6,coffee,6\n");
    refused("select price from sold join kinds using (kind)",
            "line 1, column 8: price could be a column of more");
    refused("select label from sold join kinds using (nothing)",
            "line 1, column 42: USING (nothing): there is no column nothing in sold");
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(columns_of_using_are_one)};
    return cmocka_run_group_tests(tests, open_star, close_star);
}
