/* test_opening.c: opening a database reads its catalogue alone, and a statement reads the columns that it names and the
 * levels of their tables. A damaged file is found by the statement that needs it. */
#define _GNU_SOURCE
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>

#include "engine/library/tessera.h"
#include "tests/support/database_files.h"

#include <ftw.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define SHOPS 400
#define SALES 3000

static char path[PATH_BYTES];
static struct tessera_error reason;

static const char script[] =
    "CREATE TABLE shops (shop INT PRIMARY KEY, town TEXT, region TEXT);\n"
    "CREATE TABLE sales (shop INT REFERENCES shops, pieces INT, paid DECIMAL(9,2), note TEXT)";

/* Loads the database into an empty folder. The dimension has levels: region, town. */
static int setup(void **state)
{
    static char files[2][PATH_BYTES + 32];
    static const char *const tables[] = {"shops", "sales"};
    const char *const paths[] = {files[0], files[1]};
    FILE *out[2];
    (void)state;
    directory_make(path);
    for (int t = 0; t < 2; t++) {
        snprintf(files[t], sizeof files[t], "%.*s/%s.csv", (int)(strlen(path) - 3), path, tables[t]);
        out[t] = fopen(files[t], "w");
        assert_non_null(out[t]);
    }
    for (int shop = 0; shop < SHOPS; shop++)
        fprintf(out[0], "%d,town %d,region %d\n", shop, shop % 20, shop % 4);
    for (int row = 0; row < SALES; row++)
        fprintf(out[1], "%d,%d,%d.%02d,n%d\n", row * 7 % SHOPS, row * 13 % 101, row % 90, row % 100,
                row % 33);
    fclose(out[0]);
    fclose(out[1]);
    return tessera_load(path, script, tables, paths, 2, TESSERA_LOAD_NEW, NULL, &reason) == TESSERA_OK ? 0
                                                                                                       : -1;
}

static int teardown(void **state)
{
    (void)state;
    directory_remove(path);
    return 0;
}

/* Opens the database, which must succeed, and asks. The first value of the answer as text; the caller frees it. */
static enum tessera_status ask(const char *sql, char **text)
{
    struct tessera_database *database;
    struct tessera_statement *statement;
    struct tessera_result *result;
    uint32_t length;
    *text = NULL;
    assert_int_equal(tessera_open(path, test_device(), 1, &database, &reason), TESSERA_OK);
    enum tessera_status status = tessera_prepare(database, sql, &statement, &reason);
    if (status == TESSERA_OK) {
        status = tessera_run(statement, &result, &reason);
        if (status == TESSERA_OK) {
            const char *const value = tessera_text(result, 0, 0, &length);
            *text = value ? strndup(value, length) : NULL;
            tessera_result_free(result);
        }
        tessera_finalize(statement);
    }
    tessera_close(database);
    return status;
}

static void assert_answer(const char *sql, const char *expected)
{
    char *text;
    if (ask(sql, &text) != TESSERA_OK)
        fail_msg("%s: %s", sql, reason.text);
    assert_string_equal(text, expected);
    free(text);
}

/* ---- What is not needed may be missing ---- */

static const char *const
    *kept; /* beginnings of the names of files that stay: TABLE/COLUMN. ; the last is NULL */

static int remove_other(const char *file, const struct stat *stat, int type, struct FTW *walk)
{
    const char *const name = strstr(file, "/tables/");
    (void)stat, (void)walk;
    if (type != FTW_F || !name)
        return 0;
    for (const char *const *keep = kept; *keep; keep++)
        if (strncmp(name + strlen("/tables/"), *keep, strlen(*keep)) == 0)
            return 0;
    return unlink(file);
}

static void keep_only(const char *const *names)
{
    kept = names;
    assert_int_equal(nftw(path, remove_other, 8, FTW_PHYS), 0);
}

static void counting_reads_no_column(void **state)
{
    (void)state;
    char *text;
    keep_only((const char *const[]){NULL});
    assert_answer("select 1", "1");
    assert_answer("select count(*) from sales", "3000");
    assert_int_equal(ask("select sum(pieces) from sales", &text), TESSERA_BAD_INPUT);
    assert_non_null(strstr(reason.text, "/tables/sales/pieces."));
    assert_non_null(strstr(reason.text, "the file is missing"));
}

static void a_statement_reads_the_columns_that_it_names(void **state)
{
    static const char sql[] =
        "select sum(pieces) from sales, shops where sales.shop = shops.shop and region = "
        "'region 1' and note <> 'n7'";
    char *text;
    (void)state;
    assert_int_equal(ask(sql, &text), TESSERA_OK);
    keep_only((const char *const[]){"sales/shop.", "sales/pieces.", "sales/note.", "shops/region.",
                                    "shops/shop.side.", NULL}); /* the levels are in the key's side file */
    assert_answer(sql, text);
    free(text);
}

/* ---- Damage ---- */

/* The statement alone needs the file: another is answered, and this one names it, as it is and after the file came back. */
static void assert_needs(const char *file, const char *sql, const char *complaint)
{
    struct bytes bytes = bytes_read(path, file);
    char *text, *damaged;
    assert_int_equal(ask(sql, &text), TESSERA_OK);
    bytes_write(bytes.path, bytes.data, bytes.size - 100);
    assert_answer("select sum(pieces) from sales", "149970");
    if (ask(sql, &damaged) != TESSERA_BAD_INPUT || !strstr(reason.text, file) ||
        !strstr(reason.text, complaint))
        fail_msg("%s without %s: %s", sql, file, reason.text);
    bytes_write(bytes.path, bytes.data, bytes.size);
    assert_answer(sql, text);
    free(text);
    free(bytes.data);
}

static void a_damaged_file_is_found_when_it_is_needed(void **state)
{
    static const char truncated[] = "the file is truncated";
    (void)state;
    assert_needs("tables/sales/note.side.1", "select min(note) from sales", truncated);
    assert_needs("tables/shops/region.side.1", "select max(region) from shops", truncated);
    assert_needs("tables/shops/region.side.1",
                 "select region from sales, shops where sales.shop = shops.shop group by region order by 1",
                 truncated);
    assert_needs("tables/shops/shop.side.1",
                 "select count(*) from sales, shops where sales.shop = shops.shop "
                 "and town = 'town 3'",
                 truncated);
}

/* A file that came back is read by the database that was open meanwhile. */
static void a_failure_is_not_kept(void **state)
{
    (void)state;
    struct bytes bytes = bytes_read(path, "tables/sales/note.side.1");
    struct tessera_database *database;
    struct tessera_statement *statement;
    struct tessera_result *result;
    static const char sql[] = "select note from sales order by note limit 1";
    uint32_t length;
    bytes_write(bytes.path, bytes.data, bytes.size - 100);
    assert_int_equal(tessera_open(path, test_device(), 1, &database, &reason), TESSERA_OK);
    for (int twice = 0; twice < 2; twice++)
        if (tessera_prepare(database, sql, &statement, &reason) == TESSERA_OK) {
            assert_int_equal(tessera_run(statement, &result, &reason), TESSERA_BAD_INPUT);
            tessera_finalize(statement);
        }
    assert_non_null(strstr(reason.text, bytes.path));
    bytes_write(bytes.path, bytes.data, bytes.size);
    assert_int_equal(tessera_prepare(database, sql, &statement, &reason), TESSERA_OK);
    assert_int_equal(tessera_run(statement, &result, &reason), TESSERA_OK);
    assert_memory_equal(tessera_text(result, 0, 0, &length), "n0", 2);
    tessera_result_free(result);
    tessera_finalize(statement);
    tessera_close(database);
    free(bytes.data);
}

#define loaded(test) cmocka_unit_test_setup_teardown(test, setup, teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        loaded(counting_reads_no_column),
        loaded(a_statement_reads_the_columns_that_it_names),
        loaded(a_damaged_file_is_found_when_it_is_needed),
        loaded(a_failure_is_not_kept),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
