/*
 * test_changes_fuzz.c: random appends, deletes and compactions of a table give the answers that SQLite gives after the same
 * changes; so does a reader that opened a state before later changes. TESSERA_CHANGES sets the number of changes,
 * TESSERA_CHANGES_SEED the first random number.
 */
#define _GNU_SOURCE
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>

#include "engine/library/delete.h"
#include "loader/table/table_loader.h"
#include "tests/fuzz/fuzz_random.h"
#include "tests/support/sql/as_sqlite.h"

#include <stdlib.h>

#define CHANGES    60u
#define COMPARE_AT 10u

static char path[PATH_BYTES];

static const char schema_text[] = "CREATE TABLE shops (id INT PRIMARY KEY, city TEXT);"
                                  "CREATE TABLE sales (number INT PRIMARY KEY, shop INT REFERENCES shops, "
                                  "pieces INT, note TEXT, weight DOUBLE);";

static struct {
    uint32_t next;    /* number of the next row */
    uint32_t strings; /* how many notes there are */
} world;

static int setup(void **state)
{
    (void)state;
    directory_make(path);
    return 0;
}

static int teardown(void **state)
{
    (void)state;
    directory_remove(path);
    return 0;
}

static void execute(sqlite3 *sqlite, const char *sql)
{
    if (sqlite3_exec(sqlite, sql, NULL, NULL, NULL) != SQLITE_OK)
        fail_msg("%s: %s", sql, sqlite3_errmsg(sqlite));
}

/* ---- Changes ---- */

static void load_files(const char *shops, const char *sales, bool append)
{
    const char *paths[2] = {sales, shops};
    struct schema_script schema;
    struct load_report report;
    struct load_input inputs[2] = {{.table = "sales", .paths = &paths[0], .path_count = 1},
                                   {.table = "shops", .paths = &paths[1], .path_count = 1}};
    const struct load_options options = {.directory = path,
                                         .inputs = inputs,
                                         .input_count = shops ? 2 : 1,
                                         .threads = 1 + below(3),
                                         .append = append};
    must(schema_script_parse("shop.sql", schema_text, strlen(schema_text), &schema, error));
    must(tables_load(&schema, &options, &report, NULL, error));
    schema_script_free(&schema);
}

static void make_shops(sqlite3 *sqlite, const char *file)
{
    FILE *const out = fopen(file, "w");
    char sql[256];
    assert_non_null(out);
    execute(sqlite, "CREATE TABLE shops (id INT PRIMARY KEY, city TEXT)");
    execute(sqlite,
            "CREATE TABLE sales (number INT PRIMARY KEY, shop INT, pieces INT, note TEXT, weight DOUBLE)");
    for (uint32_t i = 0; i < 40; i++) {
        fprintf(out, "%u,city %u\n", 3 * i + 1, i % 7);
        snprintf(sql, sizeof sql, "INSERT INTO shops VALUES (%u, 'city %u')", 3 * i + 1, i % 7);
        execute(sqlite, sql);
    }
    fclose(out);
}

/* Some columns are NULL in all rows of one append. */
static void append_rows(sqlite3 *sqlite, const char *file, uint32_t rows, const char *shops, bool append)
{
    FILE *const out = fopen(file, "w");
    const bool no_pieces = chance(15), no_notes = chance(15);
    assert_non_null(out);
    execute(sqlite, "BEGIN");
    world.strings += chance(30) ? below(3) : 0;
    for (uint32_t r = 0; r < rows; r++, world.next++) {
        char sql[512], pieces[16] = "", note[32] = "", shop[16] = "";
        if (!no_pieces && chance(90))
            snprintf(pieces, sizeof pieces, "%d", (int)below(300) - 40);
        if (!no_notes && chance(80))
            snprintf(note, sizeof note, "note %c%u", "mzk"[below(world.strings + 1) % 3],
                     below(world.strings + 1));
        if (chance(95))
            snprintf(shop, sizeof shop, "%u", 3 * below(40) + 1);
        const double weight = below(1000) / 8.0;
        fprintf(out, "%u,%s,%s,%s,%.3f\n", world.next, shop, pieces, note, weight);
        snprintf(sql, sizeof sql, "INSERT INTO sales VALUES (%u, %s, %s, %s%s%s, %.3f)", world.next,
                 shop[0] ? shop : "NULL", pieces[0] ? pieces : "NULL", note[0] ? "'" : "",
                 note[0] ? note : "NULL", note[0] ? "'" : "", weight);
        execute(sqlite, sql);
    }
    execute(sqlite, "COMMIT");
    fclose(out);
    load_files(shops, file, append);
}

static void delete_rows(struct engine *engine, sqlite3 *sqlite)
{
    static const char *const forms[] = {"pieces BETWEEN %u AND %u",
                                        "number > %u AND number < %u + 100",
                                        "shop = %u OR pieces IS NULL AND number < %u",
                                        "note LIKE 'note m%%' AND number > %u + %u",
                                        "weight > 120 AND number > %u + %u",
                                        "number < %u AND pieces < %u"};
    char condition[256], sql[512];
    struct database *database;
    uint64_t rows;
    const uint32_t a = below(world.next + 1), b = a + below(50);
    snprintf(condition, sizeof condition, forms[below(sizeof forms / sizeof *forms)], a, b);
    if (chance(2))
        strcpy(condition, "true");
    snprintf(sql, sizeof sql, "DELETE FROM sales WHERE %s", condition);
    execute(sqlite, sql);
    must(database_open(path, &database, error));
    must(rows_delete(engine, database, "sales", condition, &rows, error));
    assert_int_equal(rows, sqlite3_changes(sqlite));
    database_close(database);
}

static void ignore(void *context, const struct table *before, const struct table *after)
{
    (void)context;
    assert_true(after->rows <= before->rows);
}

/* ---- Comparison ---- */

static const char *const questions[] = {
    "SELECT count(*), sum(pieces), min(note), max(note), min(weight), max(pieces), count(shop) FROM sales",
    "SELECT min(number), max(note), min(shop), max(shop), max(weight), count(pieces) FROM sales",
    "SELECT min(city), max(city), min(id), max(number), count(*) FROM sales LEFT JOIN shops ON shop = id",
    "SELECT city, count(*), sum(weight), min(number) FROM sales JOIN shops ON shop = id GROUP BY city",
    "SELECT note, count(*), max(number) FROM sales GROUP BY note",
    "SELECT number, shop, pieces, note, weight FROM sales WHERE number % 7 = 3 ORDER BY number LIMIT 200",
    "SELECT count(*) FROM sales WHERE note >= 'note m' AND pieces IS NOT NULL",
    "SELECT id, count(number) FROM shops LEFT JOIN sales ON shop = id GROUP BY id",
    "SELECT count(DISTINCT shop), count(DISTINCT note) FROM sales WHERE weight < 60",
};

static void compare(struct engine *engine, struct database *database, sqlite3 *sqlite)
{
    for (size_t q = 0; q < sizeof questions / sizeof *questions; q++)
        answers_as_sqlite(engine, database, sqlite, questions[q]);
}

static void check_state(struct engine *engine, sqlite3 *sqlite)
{
    struct database *database;
    must(database_open(path, &database, error));
    compare(engine, database, sqlite);
    database_close(database);
    must(database_check(path, 1, NULL, NULL, NULL, error));
}

static void change(struct engine *engine, sqlite3 *sqlite, const char *file)
{
    static const uint32_t sizes[] = {1, 31, 200, 1023, 1025, 3000};
    const uint32_t kind = below(10);
    if (kind < 6)
        append_rows(sqlite, file, sizes[below(sizeof sizes / sizeof *sizes)], NULL, true);
    else if (kind < 9)
        delete_rows(engine, sqlite);
    else
        must(database_compact(path, chance(50) ? "sales" : NULL, 2, ignore, NULL, NULL, error));
}

/* A reader and what it must see, whatever is changed after it has opened the database. */
struct reader {
    struct database *database;
    sqlite3 *sqlite;
};

static void reader_open(struct reader *reader, sqlite3 *sqlite)
{
    must(database_open(path, &reader->database, error));
    assert_int_equal(sqlite3_open(":memory:", &reader->sqlite), SQLITE_OK);
    sqlite3_backup *const copy = sqlite3_backup_init(reader->sqlite, "main", sqlite, "main");
    assert_non_null(copy);
    sqlite3_backup_step(copy, -1);
    assert_int_equal(sqlite3_backup_finish(copy), SQLITE_OK);
}

static void reader_close(struct reader *reader)
{
    database_close(reader->database);
    sqlite3_close(reader->sqlite);
}

static void change_and_compare(struct engine *engine, sqlite3 *sqlite, const char *sales, uint32_t changes)
{
    struct reader reader;
    reader_open(&reader, sqlite);
    for (uint32_t i = 1; i <= changes; i++) {
        change(engine, sqlite, sales);
        if (i % COMPARE_AT)
            continue;
        check_state(engine, sqlite);
        compare(engine, reader.database, reader.sqlite);
        reader_close(&reader);
        reader_open(&reader, sqlite);
    }
    reader_close(&reader);
}

static void changes_are_those_of_sqlite(void **state)
{
    const char *const changes = getenv("TESSERA_CHANGES"), *const seed = getenv("TESSERA_CHANGES_SEED");
    char shops[PATH_BYTES + 16], sales[PATH_BYTES + 16];
    struct engine *engine;
    sqlite3 *sqlite;
    (void)state;
    random_state = seed ? strtoull(seed, NULL, 10) : 1;
    snprintf(shops, sizeof shops, "%.*s/shops.csv", (int)(strlen(path) - 3), path);
    snprintf(sales, sizeof sales, "%.*s/sales.csv", (int)(strlen(path) - 3), path);
    assert_int_equal(sqlite3_open(":memory:", &sqlite), SQLITE_OK);
    must(engine_open(&(struct engine_options){.device = "cpu", .threads = 2}, &engine, error));
    make_shops(sqlite, shops);
    append_rows(sqlite, sales, 500, shops, false);
    change_and_compare(engine, sqlite, sales, changes ? (uint32_t)atoi(changes) : CHANGES);
    engine_close(engine);
    sqlite3_close(sqlite);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(changes_are_those_of_sqlite)};
    return cmocka_run_group_tests(tests, setup, teardown);
}
