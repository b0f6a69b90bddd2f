/*
 * test_every_byte.c: each byte of each file of a small database is changed in turn, and each file is cut at each length:
 * `tessera check` must find it, and statements, which read most of the files, must give an error or the right answer. The
 * database has every kind of file that one can have: columns with dictionaries, levels and NULLs in several codecs, of two
 * loads, clustered rows, deleted rows, bitmap indexes, a view.
 *
 * In `make check` some hundred places are tried, others for each length of the files. All of them, or each N-th:
 *
 *     TESSERA_EVERY_BYTE=1 build/sanitize/test_every_byte          hours; 101 takes minutes
 *
 * On the device that TESSERA_TEST_DEVICE names.
 */
#define _GNU_SOURCE
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>

#include "engine/library/statement.h"
#include "tests/support/database_files.h"
#include "tests/support/one_directory.h"
#include "tests/support/run_program.h"
#include "tests/support/sql/sql_answer.h"

#define PLACES 400u /* at least, in make check */

/* What the database is made by, beside $D. */
static const char making[] =
    "cd $D/.. && seq 1 40 | awk 'BEGIN { print \"k,name,city,region\" } { print $1 * 3 \",shop \" $1 \",city "
    "\" "
    "$1 % 10 \",\" ($1 % 7 ? \"region \" $1 % 2 : \"\") }' >shops.csv && "
    "seq 1 3000 | awk 'BEGIN { print \"id,shop,paid,day,note,part\" } { print $1 \",\" ($1 % 11 ? $1 * 7 % "
    "40 * 3 + 3 : "
    "\"\") \",\" $1 * 37 % 1000 \".\" 10 + $1 % 90 \",2024-0\" 1 + $1 % 9 \"-1\" $1 % 10 \",\" ($1 % 5 ? "
    "\"note \" $1 % "
    "50 : \"\") \",\" $1 / 8 }' >sales.csv && "
    "(head -1 sales.csv; seq 3001 3300 | sed 's/$/,6,1.50,2025-01-01,late,0.5/') >more.csv && "
    "echo 'CREATE TABLE shops (k INTEGER PRIMARY KEY, name VARCHAR, city VARCHAR, region VARCHAR);"
    "CREATE TABLE sales (id INTEGER NOT NULL, shop INTEGER REFERENCES shops (k), paid DECIMAL(9,2), day "
    "DATE, note VARCHAR, "
    "part DOUBLE);' >star.sql && "
    "$T load --db $D --schema star.sql --header yes --cluster-by note:3 shops=shops.csv sales=sales.csv && "
    "$T index create --db $D sales.shop && $T index create --db $D sales.note && "
    "$T sql --db $D --device cpu --codec lane-for 'SELECT sum(paid), max(shop) FROM sales' && "
    "$T load --db $D --schema star.sql --header yes --append sales=more.csv && "
    "$T delete --db $D --device cpu sales 'id % 9 = 4' && "
    "$T sql --db $D --device cpu \"CREATE VIEW cheap AS SELECT * FROM sales WHERE paid < 10\"";

static const char *const statements[] = {
    "SELECT count(*), sum(id), sum(paid), count(note), max(part), min(day) FROM sales",
    "SELECT city, region, count(*), sum(paid), max(name) FROM sales JOIN shops ON shop = k GROUP BY 1, 2 "
    "ORDER BY 1, 2",
    "SELECT note, day, count(*), sum(part) FROM sales GROUP BY 1, 2 ORDER BY 1, 2",
    "SELECT id, shop, note FROM sales WHERE note = 'note 7' OR shop = 6 ORDER BY id",
    "SELECT count(*), max(id) FROM cheap WHERE shop IS NULL OR note LIKE '%9'",
};
#define STATEMENTS (sizeof statements / sizeof *statements)

static struct engine *engine;
static char *right[STATEMENTS];
static uint64_t tried, refused, unseen;

/* The answer, or NULL and why not. */
static char *answer(const char *sql, enum status *status, struct error *why)
{
    struct database *database;
    struct sql_statement *statement = NULL;
    struct rowset rows = {0};
    size_t used;
    char *text = NULL;
    *status = database_open(path, &database, why);
    if (*status != STATUS_OK)
        return NULL;
    *status = sql_prepare(engine, database, sql, strlen(sql), NULL, &statement, &used, why);
    if (*status == STATUS_OK)
        *status = sql_run(statement, &rows, NULL, why);
    if (*status == STATUS_OK)
        text = rowset_csv(&rows);
    rowset_free(&rows);
    sql_statement_free(statement);
    database_close(database);
    return text;
}

/* What must hold of the damaged file; `what` was done to it at a place. */
static void look(const struct bytes *file, const char *what, size_t place)
{
    struct error why = {0};
    const enum status checked = database_check(path, 1, NULL, NULL, NULL, &why);
    tried++;
    if (checked != STATUS_CHECK_FAILED && checked != STATUS_BAD_INPUT) {
        unseen++;
        print_error("%s, %s %zu of %zu: check gives %d: %s\n", file->path, what, place, file->size,
                    (int)checked, why.text);
    }
    for (size_t s = 0; s < STATEMENTS; s++) {
        enum status status;
        why = (struct error){0};
        char *const text = answer(statements[s], &status, &why);
        if (text ? strcmp(text, right[s]) != 0 : status != STATUS_CHECK_FAILED && status != STATUS_BAD_INPUT)
            fail_msg("%s, %s %zu of %zu: %s: status %d: %s", file->path, what, place, file->size,
                     statements[s], (int)status, text ? text : why.text);
        refused += !text;
        free(text);
    }
}

static void every_change_is_an_error_or_changes_nothing(void **state)
{
    (void)state;
    static struct program_run run;
    const char *const every = getenv("TESSERA_EVERY_BYTE");
    uint64_t bytes = 0, at = 0;
    run_shell(making, &run);
    if (run.exit_code != 0)
        fail_msg("%s", run.errors);
    must(engine_open(&(struct engine_options){.device = test_device(), .threads = 1}, &engine, error));
    for (size_t s = 0; s < STATEMENTS; s++) {
        enum status status;
        right[s] = answer(statements[s], &status, NULL);
        assert_non_null(right[s]);
    }
    must(database_check(path, 1, NULL, NULL, NULL, error));
    files_gather(path);
    for (int f = 0; f < gathered_count; f++)
        bytes += gathered[f].size;
    /* The places of files whose length is a multiple of a page are different ones. */
    const uint64_t step = every && atoi(every) > 0 ? strtoull(every, NULL, 10) : bytes / PLACES | 1;
    for (int f = 0; f < gathered_count; f++) {
        const struct bytes *const file = &gathered[f];
        for (; at < file->size; at += step) {
            byte_write(file->path, at, file->data[at] ^ (uint8_t)(1u << at % 8));
            look(file, "byte", at);
            byte_write(file->path, at, file->data[at]);
            if (every || at % 4 == 0) {
                assert_int_equal(truncate(file->path, (off_t)at), 0);
                look(file, "cut at", at);
                bytes_write(file->path, file->data, file->size);
            }
        }
        at -= file->size;
    }
    for (size_t s = 0; s < STATEMENTS; s++) {
        enum status status;
        char *const text = answer(statements[s], &status, NULL);
        assert_string_equal(text, right[s]);
        free(text);
        free(right[s]);
    }
    print_message("%d files, %llu bytes; %llu changes, of which %llu were not seen by check; %llu of %llu "
                  "answers refused\n",
                  gathered_count, (unsigned long long)bytes, (unsigned long long)tried,
                  (unsigned long long)unseen, (unsigned long long)refused,
                  (unsigned long long)(tried * STATEMENTS));
    engine_close(engine);
    files_forget();
    assert_int_equal(unseen, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(every_change_is_an_error_or_changes_nothing, setup, teardown)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
