/*
 * test_delete.c: rows are deleted unless live rows reference them; keys of deleted rows are free, and no reference finds
 * them. Random changes are in test_changes_fuzz.c.
 */
#define _GNU_SOURCE
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>

#include "tests/support/database_files.h"
#include "tests/support/one_directory.h"
#include "tests/support/run_program.h"

#include <jansson.h>

#define SCHEMA                                                                                            \
    "CREATE TABLE shops (id INT PRIMARY KEY, city TEXT);"                                                 \
    "CREATE TABLE goods (code TEXT PRIMARY KEY, kind TEXT NOT NULL, price INT);"                          \
    "CREATE TABLE lots (house INT NOT NULL, lot INT NOT NULL, owner TEXT, PRIMARY KEY (house, lot));"     \
    "CREATE TABLE staff (id INT PRIMARY KEY, boss INT REFERENCES staff);"                                 \
    "CREATE TABLE sales (number INT PRIMARY KEY, shop INT REFERENCES shops, good TEXT REFERENCES goods, " \
    "house INT, lot INT, pieces INT, FOREIGN KEY (house, lot) REFERENCES lots (house, lot));"

#define LOAD   "$T load --db $D --schema star.sql "
#define ASK    "$T sql --db $D --device cpu --format csv "
#define DELETE "$T delete --db $D --device cpu "

static struct program_run run;

/* The command succeeds and prints that. */
static void gives(const char *shell, const char *printed)
{
    char text[2048];
    snprintf(text, sizeof text, "cd $D/.. && %s", shell);
    run_shell(text, &run);
    if (run.exit_code != 0)
        fail_msg("%s: %s", shell, run.errors);
    assert_string_equal(run.output, printed);
}

/* The command fails with a sentence that has these words. */
static void is_refused(const char *shell, const char *words)
{
    char text[2048];
    snprintf(text, sizeof text, "cd $D/.. && %s", shell);
    run_shell(text, &run);
    assert_int_equal(run.exit_code, 2);
    if (!strstr(run.errors, words))
        fail_msg("%s: %s", shell, run.errors);
}

static void file_write(const char *name, const char *text)
{
    char file[PATH_BYTES];
    snprintf(file, sizeof file, "%.*s%s", (int)strlen(path) - (int)strlen("db"), path, name);
    FILE *const out = fopen(file, "w");
    assert_non_null(out);
    fputs(text, out);
    fclose(out);
}

/* Sales 0 to 9 of shops 1 to 5, goods g1 to g5 and lots (1, 1) to (1, 5); there are 8 of each dimension. */
static void load_star(const char *options)
{
    char shops[256] = "", goods[256] = "", lots[256] = "", sales[512] = "", shell[512];
    for (int i = 1; i <= 8; i++) {
        sprintf(shops + strlen(shops), "%d,city %d\n", i, i % 3);
        sprintf(goods + strlen(goods), "g%d,kind %d,%d\n", i, i % 2, 10 * i);
        sprintf(lots + strlen(lots), "1,%d,owner %d\n", i, i);
    }
    for (int i = 0; i < 10; i++)
        sprintf(sales + strlen(sales), "%d,%d,g%d,1,%d,%d\n", i, i % 5 + 1, i % 5 + 1, i % 5 + 1, i);
    file_write("star.sql", SCHEMA);
    file_write("shops.csv", shops);
    file_write("goods.csv", goods);
    file_write("lots.csv", lots);
    file_write("staff.csv", "1,\n2,1\n3,2\n4,1\n");
    file_write("sales.csv", sales);
    snprintf(shell, sizeof shell,
             "rm -rf $D && " LOAD
             "%s shops=shops.csv goods=goods.csv lots=lots.csv staff=staff.csv sales=sales.csv",
             options);
    gives(shell, "");
}

static const char *const orders[] = {"--dimension-order file", "--levels goods=kind --levels shops=city"};

static void referenced_rows_stay(void **state)
{
    (void)state;
    for (int o = 0; o < 2; o++) {
        load_star(orders[o]);
        is_refused(DELETE "shops 'id IN (5, 7)'", "2 rows of table sales (column shop) reference them");
        is_refused(DELETE "goods \"code = 'g3' OR kind = 'kind 0'\"",
                   "6 rows of table sales (column good) reference them");
        is_refused(DELETE "lots 'house = 1 AND lot = 2'",
                   "2 rows of table sales (column house and others) reference them");
        gives(ASK "'SELECT count(*) FROM shops, goods, lots'", "count(*)\n512\n");
        gives(DELETE "sales 'number = 4'", "");
        is_refused(DELETE "shops 'id IN (5, 7)'", "1 row of table sales (column shop) references them");
        gives(DELETE "sales 'number = 9' && " DELETE "shops 'id IN (5, 7)'", "");
        gives(ASK "'SELECT count(*), max(id) FROM shops'", "count(*),max(id)\n6,8\n");
        gives("$T check --db $D >/dev/null", "");
    }
}

static void rows_of_one_table_go_together(void **state)
{
    (void)state;
    load_star("");
    is_refused(DELETE "staff 'id = 2'", "1 row of table staff (column boss) references them");
    gives(DELETE "staff 'id IN (2, 3)'", "");
    gives(ASK "'SELECT e.id, m.id FROM staff e LEFT JOIN staff m ON e.boss = m.id ORDER BY 1'",
          "id,id\n1,\n4,1\n");
    is_refused(DELETE "staff 'id = 1'", "1 row of table staff (column boss) references them");
}

static void keys_of_deleted_rows_come_again(void **state)
{
    (void)state;
    file_write("g.csv", "g8,kind 1,99\n");
    file_write("s.csv", "7,city new\n");
    file_write("l.csv", "1,6,owner new\n");
    file_write("f.csv", "20,7,g8,1,6,1\n");
    file_write("twice.csv", "g1,kind 1,99\n");
    for (int o = 0; o < 2; o++) {
        load_star(orders[o]);
        gives(DELETE "goods \"code IN ('g6', 'g8')\" && " DELETE "shops 'id >= 7' && " DELETE
                     "lots 'lot = 6'",
              "");
        is_refused(LOAD "--append sales=f.csv", "no row of table shops has id '7'");
        gives(LOAD "--append shops=s.csv goods=g.csv", "");
        is_refused(LOAD "--append sales=f.csv", "no row of table lots has the key (1, 6)");
        gives(LOAD "--append lots=l.csv sales=f.csv", "");
        is_refused(LOAD "--append goods=twice.csv", "'g1' is that of row");
        gives(ASK
              "'SELECT city, price, owner FROM sales JOIN shops ON shop = id JOIN goods ON good = code JOIN "
              "lots ON sales.house = lots.house AND sales.lot = lots.lot WHERE number = 20'",
              "city,price,owner\ncity new,99,owner new\n");
        gives(ASK "\"SELECT count(*), max(price) FROM goods WHERE code >= 'g6'\"",
              "count(*),max(price)\n2,99\n");
        is_refused(DELETE "goods \"code = 'g8'\"", "1 row of table sales (column good)");
        gives("$T check --db $D >/dev/null", "");
    }
}

static void conditions_have_subqueries(void **state)
{
    (void)state;
    load_star(orders[1]);
    gives(DELETE "sales 'number = 3'", ""); /* numbers of rows are not those of live ones */
    gives(DELETE "sales 'pieces > (SELECT avg(pieces) + 1 FROM sales) AND number <> 7'", "");
    gives(ASK "'SELECT number FROM sales ORDER BY 1'", "number\n0\n1\n2\n4\n5\n7\n");
    gives(DELETE "goods 'code NOT IN (SELECT good FROM sales) AND price < 80'", "");
    gives(DELETE "shops 'NOT EXISTS (SELECT * FROM sales WHERE shop = shops.id)'", "");
    gives(ASK "'SELECT count(*), (SELECT count(*) FROM shops) FROM goods'",
          "count(*),(SELECT count(*) FROM shops)\n5,4\n");
    is_refused(DELETE "sales 'true) LIMIT 3 --'", "line 1, column 5");
    is_refused(DELETE "sales 'count(*) > 1'", "aggregate");
    is_refused(DELETE "sales 'number = ?'", "parameters");
    is_refused(DELETE "sales 'shop = (SELECT id FROM shops)'", "the subquery has 4 rows");
}

static void references_are_not_asked_for_live_rows(void **state)
{
    (void)state;
    load_star("");
    gives(DELETE "shops 'id > 6' && " DELETE "sales 'number = 0'", "");
    gives(ASK "'EXPLAIN SELECT sum(pieces) FROM sales JOIN shops ON shop = id GROUP BY city' | grep -c live",
          "2\n"); /* of sales: the column and the condition */
    gives(ASK "'EXPLAIN SELECT count(*) FROM shops' | grep -c live", "2\n");
}

/* Makes a deleted row live again, behind the back of all checks. */
static void check_finds_references_to_deleted_rows(void **state)
{
    (void)state;
    load_star("");
    gives(DELETE "sales 'shop = 5' && " DELETE "shops 'id = 5'", "");
    gives("$T check --db $D >/dev/null && head -c 20 $D/catalogue", "tessera catalogue 9 ");
    struct bytes bytes = bytes_read(path, "catalogue");
    const char *const body = memchr(bytes.data, '\n', bytes.size);
    json_t *const root = json_loadb(body, bytes.size - (size_t)(body - (char *)bytes.data), 0, NULL),
                  *const columns =
                      json_object_get(json_array_get(json_object_get(root, "tables"), 4), "columns");
    assert_int_equal(json_array_remove(columns, json_array_size(columns) - 1), 0);
    char *const text = json_dumps(root, 0);
    catalogue_forge(bytes.path, 9, text, strlen(text));
    run_shell("$T check --db $D", &run);
    assert_int_equal(run.exit_code, 1);
    assert_non_null(strstr(run.output, "column sales.shop: 2 rows reference deleted rows of table shops"));
    free(text);
    json_decref(root);
    free(bytes.data);
}

static void compaction_keeps_their_positions(void **state)
{
    (void)state;
    load_star("--dimension-order file");
    gives(DELETE "shops 'id = 7' && " DELETE "sales 'shop = 2' && $T compact --db $D", "");
    assert_non_null(strstr(run.errors, "shops: 1 deleted row stays"));
    assert_non_null(strstr(run.errors, "without 2 deleted rows"));
    gives("$T inspect --db $D sales | head -1", "sales: 8 rows, 1 segment, 1 tile\n");
    gives("$T inspect --db $D shops | head -1", "shops: 8 rows, of which 1 is deleted, 1 segment, 1 tile\n");
    gives(ASK "'SELECT id, count(number) FROM shops LEFT JOIN sales ON shop = id GROUP BY id ORDER BY id'",
          "id,count(number)\n1,2\n2,0\n3,2\n4,2\n5,2\n6,0\n8,0\n");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(referenced_rows_stay),
        cmocka_unit_test(rows_of_one_table_go_together),
        cmocka_unit_test(keys_of_deleted_rows_come_again),
        cmocka_unit_test(conditions_have_subqueries),
        cmocka_unit_test(references_are_not_asked_for_live_rows),
        cmocka_unit_test(check_finds_references_to_deleted_rows),
        cmocka_unit_test(compaction_keeps_their_positions),
    };
    return cmocka_run_group_tests(tests, setup, teardown);
}
