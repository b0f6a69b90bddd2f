/*
 * test_old_databases.c: databases that older programs wrote (tests/data/databases) open and answer as they did; rows are
 * appended to them, and compacted.
 */
#define _GNU_SOURCE
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>

#include "loader/table/table_loader.h"
#include "tests/support/sql/sql_answer.h"

#include <stdlib.h>

static char path[PATH_BYTES], folder[PATH_BYTES];

#define SALES                                                                                                \
    "CREATE TABLE sales (shop INT NOT NULL REFERENCES shops, paid DECIMAL(12,2), pieces INT NOT NULL, note " \
    "TEXT, day DATE"
#define SHOPS       "CREATE TABLE shops (id INT PRIMARY KEY, region TEXT);"
#define NAMED_SHOPS "CREATE TABLE shops (id INT PRIMARY KEY, name TEXT, region TEXT);"
#define LAST        NAMED_SHOPS SALES ", at TIMESTAMP, weight DOUBLE);"
#define LAST_ZONED  NAMED_SHOPS SALES ", at TIMESTAMPTZ, weight DOUBLE);"

static const struct {
    const char *name, *schema;
} versions[] = {
    {"v1", SHOPS SALES ");"},
    {"v2", SHOPS SALES ", at TIMESTAMP);"},
    {"v3", SHOPS SALES ");"},
    {"v4", SHOPS SALES ");"},
    {"v6", SHOPS SALES ", weight DOUBLE);"},
    {"v7", LAST},
    {"v8", LAST},
    {"v8-deleted", LAST},
    {"v9", LAST},
    {"v10", LAST},
    {"v11", LAST_ZONED},
};
enum { VERSIONS = sizeof versions / sizeof *versions };

/* What the programs answered that wrote them. */
static const char question[] = "select region, count(*), sum(paid), min(note), max(day), count(note), "
                               "sum(pieces) from sales join shops on "
                               "shop = id group by region order by 1";
static const char answer[] = "region,count(*),sum(paid),min(note),max(day),count(note),sum(pieces)\n"
                             "east,390,192444.09,blue,2024-09-19,289,56331\n"
                             "north,382,190966.49,blue,2024-09-19,290,55149\n"
                             "south,333,172928.81,blue,2024-09-19,248,51845\n"
                             "west,395,198551.06,blue,2024-09-19,296,59246\n";
/* After the two rows that are appended. */
static const char answer_after[] = "region,count(*),sum(paid),min(note),max(day),count(note),sum(pieces)\n"
                                   "east,390,192444.09,blue,2024-09-19,289,56331\n"
                                   "north,383,190967.74,blue,2025-01-02,291,55151\n"
                                   "south,333,172928.81,blue,2024-09-19,248,51845\n"
                                   "up,1,7.00,yellow,2025-01-03,1,3\n"
                                   "west,395,198551.06,blue,2024-09-19,296,59246\n";

static int unpack(void **state)
{
    char command[4 * PATH_BYTES];
    (void)state;
    directory_make(path);
    snprintf(folder, sizeof folder, "%.*s", (int)(strlen(path) - 3), path);
    snprintf(command, sizeof command,
             "tar -xJf '" TESSERA_SOURCE "/tests/data/databases/versions.tar.xz' -C '%s'", folder);
    return system(command);
}

static int remove_all(void **state)
{
    (void)state;
    directory_remove(path);
    return 0;
}

static void check_answer(const char *database_path, const char *right)
{
    struct engine *engine;
    struct database *database;
    must(database_open(database_path, &database, error));
    must(engine_open(&(struct engine_options){.device = "cpu", .threads = 2}, &engine, error));
    char *const text = sql_answer(engine, database, question);
    assert_string_equal(text, right);
    free(text);
    engine_close(engine);
    database_close(database);
    must(database_check(database_path, 2, NULL, NULL, NULL, error));
}

static void write_rows(const char *name, const char *rows, char file[2 * PATH_BYTES])
{
    snprintf(file, 2 * PATH_BYTES, "%s/%s.csv", folder, name);
    FILE *const out = fopen(file, "w");
    assert_non_null(out);
    fputs(rows, out);
    fclose(out);
}

static void append(const char *database_path, const char *schema_text)
{
    char files[2][2 * PATH_BYTES];
    const char *const paths[2] = {files[0], files[1]};
    struct schema_script schema;
    struct load_report report;
    struct load_input inputs[2] = {{.table = "shops", .paths = (const char **)&paths[0], .path_count = 1},
                                   {.table = "sales", .paths = (const char **)&paths[1], .path_count = 1}};
    const struct load_options options = {
        .directory = database_path, .inputs = inputs, .input_count = 2, .threads = 2, .append = true};
    write_rows("shops", "id,name,region\n2000,one more,up\n", files[0]);
    write_rows("sales",
               "shop,paid,pieces,note,day,at,weight\n"
               "1,1.25,2,red,2025-01-02,2025-01-02 03:04:05,0.5\n"
               "2000,7,3,yellow,2025-01-03,2025-01-03 03:04:05,1.5\n",
               files[1]);
    must(schema_script_parse("shop.sql", schema_text, strlen(schema_text), &schema, error));
    must(tables_load(&schema, &options, &report, NULL, error));
    schema_script_free(&schema);
}

static void ignore(void *context, const struct table *before, const struct table *after)
{
    (void)context;
    (void)before;
    (void)after;
}

static void every_version_is_read_and_written(void **state)
{
    (void)state;
    for (int v = 0; v < VERSIONS; v++) {
        char database_path[2 * PATH_BYTES];
        snprintf(database_path, sizeof database_path, "%s/%s", folder, versions[v].name);
        check_answer(database_path, answer);
        append(database_path, versions[v].schema);
        check_answer(database_path, answer_after);
        must(database_compact(database_path, NULL, 2, ignore, NULL, NULL, error));
        check_answer(database_path, answer_after);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(every_version_is_read_and_written)};
    return cmocka_run_group_tests(tests, unpack, remove_all);
}
