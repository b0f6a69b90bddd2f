/*
 * test_sql_lists.c: IN lists of 100,000 values, over a fact and a dimension, whole numbers, decimals, dates
 * and strings, NULLs among them and in the rows: the answers are SQLite's, and the time does not grow with
 * the square. Nested functions, aliases and chains likewise.
 */
#define _GNU_SOURCE
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>

#include "engine/library/tessera.h"
#include "tests/support/sql/sql_answer.h"

#include <sqlite3.h>
#include <time.h>

#define FACTS  60000
#define KEYS   30000
#define LISTED 100000
#define ITEM   32

static char path[PATH_BYTES];
static struct database *database;
static struct engine *engine;
static sqlite3 *sqlite;
static char *sql;

static const char script[] =
    "CREATE TABLE d (k BIGINT PRIMARY KEY, name TEXT, level INT);"
    "CREATE TABLE f (k BIGINT REFERENCES d, n INT, b BIGINT, p DECIMAL(9,2), day DATE, s TEXT)";

/* Both databases get the same rows. */
static void load(const char *table, const struct tessera_values *columns, uint32_t count, uint64_t rows,
                 enum tessera_load_mode mode)
{
    struct tessera_error told;
    char insert[128] = "";
    sqlite3_stmt *statement;
    if (tessera_load_rows(path, script, table, columns, count, rows, mode, &told) != TESSERA_OK)
        fail_msg("%s", told.text);
    snprintf(insert, sizeof insert, "INSERT INTO %s VALUES (?", table);
    for (uint32_t c = 1; c < count; c++)
        strcat(insert, ",?");
    strcat(insert, ")");
    assert_int_equal(sqlite3_prepare_v2(sqlite, insert, -1, &statement, NULL), SQLITE_OK);
    for (uint64_t row = 0; row < rows; row++) {
        for (uint32_t c = 0; c < count; c++)
            if (columns[c].texts && columns[c].texts[row])
                sqlite3_bind_text(statement, (int)c + 1, columns[c].texts[row], -1, SQLITE_STATIC);
            else if (columns[c].texts || (columns[c].nulls && columns[c].nulls[row]))
                sqlite3_bind_null(statement, (int)c + 1);
            else
                sqlite3_bind_int64(statement, (int)c + 1, columns[c].numbers[row]);
        assert_int_equal(sqlite3_step(statement), SQLITE_DONE);
        sqlite3_reset(statement);
    }
    sqlite3_finalize(statement);
}

static void load_both(void)
{
    static int64_t k[KEYS], level[KEYS], fk[FACTS], n[FACTS], b[FACTS];
    static uint8_t nulls[FACTS];
    static char names[KEYS][ITEM], prices[FACTS][ITEM], days[FACTS][ITEM], strings[FACTS][ITEM];
    static const char *name[KEYS], *price[FACTS], *day[FACTS], *string[FACTS];
    for (int64_t i = 0; i < KEYS; i++) {
        k[i] = i * 1000003 - 7;
        level[i] = i % 1000;
        snprintf(names[i], ITEM, "name %05d", (int)(i * 7 % 99991));
        name[i] = i % 50 ? names[i] : NULL;
    }
    for (int64_t i = 0; i < FACTS; i++) {
        fk[i] = k[i * 11 % KEYS];
        n[i] = i * 17 % 250001 - 1000;
        b[i] = (i * 31 % 150000) * 1000000007;
        nulls[i] = i % 40 == 0;
        snprintf(prices[i], ITEM, "%d.%02d", (int)(i % 5000), (int)(i % 100));
        snprintf(days[i], ITEM, "%04d-%02d-%02d", 1900 + (int)(i % 200), 1 + (int)(i % 12),
                 1 + (int)(i % 28));
        snprintf(strings[i], ITEM, "s%d", (int)(i % 30011));
        price[i] = prices[i];
        day[i] = i % 30 ? days[i] : NULL;
        string[i] = i % 60 ? strings[i] : NULL;
    }
    const struct tessera_values of_d[] = {{.name = "k", .numbers = k},
                                          {.name = "name", .texts = name},
                                          {.name = "level", .numbers = level}},
                                of_f[] = {{.name = "k", .numbers = fk},
                                          {.name = "n", .numbers = n, .nulls = nulls},
                                          {.name = "b", .numbers = b},
                                          {.name = "p", .texts = price},
                                          {.name = "day", .texts = day},
                                          {.name = "s", .texts = string}};
    load("d", of_d, 3, KEYS, TESSERA_LOAD_NEW);
    load("f", of_f, 6, FACTS, TESSERA_LOAD_NEW);
}

static int setup(void **state)
{
    (void)state;
    sql = malloc((size_t)LISTED * ITEM);
    assert_non_null(sql);
    directory_make(path);
    assert_int_equal(sqlite3_open(":memory:", &sqlite), SQLITE_OK);
    assert_int_equal(
        sqlite3_exec(sqlite,
                     "CREATE TABLE d (k INT, name TEXT, level INT); CREATE TABLE f (k INT, n INT, b INT, p "
                     "NUMERIC, day TEXT, s TEXT); BEGIN",
                     NULL, NULL, NULL),
        SQLITE_OK);
    load_both();
    must(database_open(path, &database, error));
    must(engine_open(&(struct engine_options){.device = test_device(), .threads = 2}, &engine, error));
    return 0;
}

static int teardown(void **state)
{
    (void)state;
    engine_close(engine);
    database_close(database);
    sqlite3_close(sqlite);
    directory_remove(path);
    free(sql);
    return 0;
}

/* "<before> <items> <after>" into sql; item i as `write` writes it. */
static void list(const char *before, uint32_t count, int (*write)(char *text, uint32_t i), const char *after)
{
    char *at = sql + sprintf(sql, "%s", before);
    for (uint32_t i = 0; i < count; i++) {
        *at = ',';
        at += i > 0;
        at += write(at, i);
    }
    sprintf(at, "%s", after);
}

static int integers(char *text, uint32_t i)
{
    return sprintf(text, "%d", (int)(i * 2) - 500);
}
static int wide_integers(char *text, uint32_t i)
{
    return sprintf(text, "%lld", (long long)(i * 7 % 150000) * 1000000007);
}
static int decimals(char *text, uint32_t i)
{
    return sprintf(text, i % 3 ? "%u.%02u" : "%u.%02u0", i % 6000, i % 1000 / 10);
}
static int dates(char *text, uint32_t i)
{
    return sprintf(text, i % 2 ? "'%04u-%02u-%02u'" : "'%04u-%02u-%02u'", 1850 + i % 300, 1 + i % 12,
                   1 + i % 28);
}
static int strings(char *text, uint32_t i)
{
    return sprintf(text, "'s%u'", i * 3);
}
static int names(char *text, uint32_t i)
{
    return sprintf(text, "'name %05u'", i);
}
static int mixed(char *text, uint32_t i)
{
    return i % 1000 == 999 ? sprintf(text, "NULL")
           : i % 100 == 99 ? sprintf(text, "%u.0", i)
           : i % 100 == 98 ? sprintf(text, "%ue0", i)
           : i % 100 == 97 ? sprintf(text, "%u.5", i)
                           : sprintf(text, "%u", i);
}

/* Of this process: other work on the machine does not count. */
static double processor_ms(void)
{
    struct timespec now;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
    return (double)now.tv_sec * 1e3 + (double)now.tv_nsec * 1e-6;
}

/* Our answer is SQLite's, row by row; `most_ms` is a generous bound on parsing, binding and answering here. */
static void same_as_sqlite(double most_ms)
{
    const double begin = processor_ms();
    char *const answer = sql_answer(engine, database, sql);
    const double took = processor_ms() - begin;
    char *expected, *at;
    size_t bytes;
    sqlite3_stmt *statement;
    FILE *out = open_memstream(&expected, &bytes);
    if (sqlite3_prepare_v2(sqlite, sql, -1, &statement, NULL) != SQLITE_OK)
        fail_msg("%s", sqlite3_errmsg(sqlite));
    while (sqlite3_step(statement) == SQLITE_ROW)
        for (int c = 0; c < sqlite3_column_count(statement); c++) {
            const unsigned char *text = sqlite3_column_text(statement, c);
            fprintf(out, "%s%s", text ? (const char *)text : "",
                    c + 1 < sqlite3_column_count(statement) ? "," : "\n");
        }
    sqlite3_finalize(statement);
    fclose(out);
    at = strchr(answer, '\n') + 1;
    if (strcmp(at, expected) != 0)
        fail_msg("%.100s ...\nanswers  %s\nand not  %s", sql, at, expected);
    print_message("%.60s ...: %.0f ms\n", sql, took);
    if (took > most_ms)
        fail_msg("%.100s ... took %.0f ms, more than %.0f", sql, took, most_ms);
    free(answer);
    free(expected);
}

/* So slow machines and sanitizers pass; what grows with the square takes minutes. */
#define GENEROUS_MS 2000.0

static void long_lists_on_the_fact(void **state)
{
    static const struct {
        const char *column;
        int (*write)(char *text, uint32_t i);
    } lists[] = {{"n", integers}, {"b", wide_integers}, {"p", decimals}, {"day", dates}, {"s", strings}};
    (void)state;
    for (size_t l = 0; l < sizeof lists / sizeof *lists; l++)
        for (int not = 0; not < 2; not ++) {
            char before[128];
            snprintf(before, sizeof before,
                     "select count(*), count(n), sum(b), min(s) from f where %s %s in (", lists[l].column,
                     not ? "not" : "");
            list(before, LISTED, lists[l].write, ")");
            same_as_sqlite(GENEROUS_MS);
        }
}

static void long_lists_on_a_dimension(void **state)
{
    (void)state;
    list("select count(*), sum(b) from f join d on f.k = d.k where name in (", LISTED, names, ")");
    same_as_sqlite(GENEROUS_MS);
    list("select count(*), sum(b) from f join d on f.k = d.k where name not in (", LISTED / 2, names, ")");
    same_as_sqlite(GENEROUS_MS);
    list("select count(*), sum(b) from f left join d on f.k = d.k and level in (", LISTED, integers,
         ") where name is null");
    same_as_sqlite(GENEROUS_MS);
    list("select count(*) from f where f.k in (", LISTED, wide_integers, ")");
    same_as_sqlite(GENEROUS_MS);
}

static void nulls_and_other_types_in_lists(void **state)
{
    (void)state;
    list("select count(*) from f where n in (", LISTED, mixed, ")");
    same_as_sqlite(GENEROUS_MS);
    list("select count(*) from f where n not in (", LISTED, mixed, ")");
    same_as_sqlite(GENEROUS_MS);
    list("select count(*) from f where (n in (", LISTED, mixed, ")) is null");
    same_as_sqlite(GENEROUS_MS);
    list("select count(*) from f where p / 2 in (", LISTED, mixed, ")");
    same_as_sqlite(GENEROUS_MS);
    list("select count(*) from f where n in (b, n + 1, n - 0, k, ", 1000, integers, ")");
    same_as_sqlite(GENEROUS_MS);
    list("select count(*) from f where null in (", LISTED, strings, ")");
    same_as_sqlite(GENEROUS_MS);
    list("select s, case when sum(n) in (", LISTED, integers,
         ") then 1 else 0 end from f where n < 50 and s is not null group by s order by s");
    same_as_sqlite(GENEROUS_MS);
    for (int few = 0; few < 6; few++) {
        static const char *const statements[] = {
            "select count(*) from f where n in (5, 6, 7)",
            "select count(*) from f where n in (5, 7)",
            "select count(*) from f where n not in (5, 6, 7)",
            "select count(*) from f where s in ('nowhere')",
            "select count(*) from f where s not in ('nowhere')",
            "select count(*) from f where p in (1, 1.01, 2.020, 3.001, -1)"};
        strcpy(sql, statements[few]);
        same_as_sqlite(GENEROUS_MS);
    }
}

/* ---- Other things that were not linear ---- */

static void repeat(const char *before, const char *open, const char *inner, const char *close, uint32_t count,
                   const char *after)
{
    char *at = sql + sprintf(sql, "%s", before);
    for (uint32_t i = 0; i < count; i++)
        at += sprintf(at, "%s", open);
    at += sprintf(at, "%s", inner);
    for (uint32_t i = 0; i < count; i++)
        at += sprintf(at, "%s", close);
    sprintf(at, "%s", after);
}

static void nested_functions(void **state)
{
    (void)state;
    repeat("select sum(", "abs(", "n", ")", 30, ") from f");
    same_as_sqlite(GENEROUS_MS);
    repeat("select count(*) from f where ", "abs(", "n", ")", 30, " > 100");
    same_as_sqlite(GENEROUS_MS);
    repeat("select count(*) from f join d on f.k = d.k where ", "abs(", "level", ")", 30, " > 100");
    same_as_sqlite(GENEROUS_MS);
    repeat("select ", "abs(", "sum(n)", ")", 30, " from f");
    same_as_sqlite(GENEROUS_MS);
    repeat("explain select ", "abs(", "n", ")", 190, " + 1, count(*) from f group by 1");
    const double begin = processor_ms();
    char *const text = sql_answer(engine, database, sql);
    assert_true(processor_ms() - begin < GENEROUS_MS);
    assert_true(strlen(text) < 100000);
    free(text);
}

static void aliases_of_aliases(void **state)
{
    (void)state;
    strcpy(sql, "select n as a0");
    for (int i = 1; i <= 7; i++) {
        sprintf(sql + strlen(sql), ", (a%d", i - 1);
        for (int j = 0; j < 20; j++)
            sprintf(sql + strlen(sql), " + a%d - a%d", i - 1, i - 1);
        sprintf(sql + strlen(sql), ") as a%d", i);
    }
    strcat(sql, " from f where n = 7");
    const double begin = processor_ms();
    char *const text = sql_answer(engine, database, sql);
    assert_non_null(strstr(text, "\n7,7,7,7,7,7,7,7\n"));
    assert_true(processor_ms() - begin < GENEROUS_MS);
    free(text);
}

/* Each alias names the one before twice. */
static void conditions_of_conditions(void **state)
{
    static const char *const columns[] = {"n", "level", "b"};
    (void)state;
    for (int c = 0; c < 3; c++) {
        char *at = sql + sprintf(sql, "select n, (%s > -9999) as a0", columns[c]);
        for (int i = 1; i <= 60; i++)
            at += sprintf(at, ", (a%d and a%d and %s > -%d) as a%d", i - 1, i - 1, columns[c], i + 1, i);
        sprintf(at, " from f join d on f.k = d.k where a60 order by 1 limit 1");
        const double begin = processor_ms();
        char *const text = sql_answer(engine, database, sql);
        assert_true(processor_ms() - begin < GENEROUS_MS);
        assert_non_null(strstr(text, "true,true,true"));
        free(text);
    }
}

static void many_alternatives(void **state)
{
    static const char *const columns[] = {"n", "level"};
    (void)state;
    for (int c = 0; c < 2; c++) {
        char *at =
            sql + sprintf(sql, "select count(*) from f join d on f.k = d.k where (%s = -1", columns[c]);
        for (int i = 0; i < 900; i++)
            at += sprintf(at, " or %s = %d", columns[c], i * 3);
        strcpy(at, ")");
        same_as_sqlite(10 * GENEROUS_MS);
    }
}

/* As deep as the parser lets it be (test_sql_limits.c). */
static void deep_expressions(void **state)
{
    (void)state;
    char *at = sql + sprintf(sql, "select ");
    for (int i = 0; i < 5; i++)
        at += sprintf(at, "(");
    at += sprintf(at, "n");
    for (int i = 0; i < 5; i++) {
        for (int j = 0; j < 199; j++)
            at += sprintf(at, j % 2 ? " - 1" : " + 1");
        at += sprintf(at, ")");
    }
    sprintf(at, " as deep from f where n = 7");
    char *const text = sql_answer(engine, database, sql);
    assert_string_equal(text, "deep\n12\n");
    free(text);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(long_lists_on_the_fact),
        cmocka_unit_test(long_lists_on_a_dimension),
        cmocka_unit_test(nulls_and_other_types_in_lists),
        cmocka_unit_test(nested_functions),
        cmocka_unit_test(aliases_of_aliases),
        cmocka_unit_test(conditions_of_conditions),
        cmocka_unit_test(many_alternatives),
        cmocka_unit_test(deep_expressions),
    };
    return cmocka_run_group_tests_name("sql lists", tests, setup, teardown);
}
