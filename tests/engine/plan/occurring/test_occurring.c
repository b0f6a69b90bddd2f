/* Functions of several columns of strings, of which few combinations occur among millions: the answers are SQLite's, on
 * one thread and on several, whether the columns are of the fact, of dimensions, of both, or of groups. */
#define _GNU_SOURCE
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>

#include "engine/plan/occurring/pair_set.h"
#include "loader/table/table_loader.h"
#include "tests/support/sql_answer.h"

#include <inttypes.h>
#include <sqlite3.h>
#include <stdlib.h>

#define KINDS 3000u
#define SOLD  7001u

static const char script[] =
    "CREATE TABLE kinds (kind INT PRIMARY KEY, label TEXT NOT NULL, maker TEXT, size INT NOT NULL);"
    "CREATE TABLE sold (kind INT REFERENCES kinds(kind), a TEXT NOT NULL, b TEXT, c TEXT, n INT NOT NULL);";

static char path[PATH_BYTES];
static struct database *database;
static struct engine *engines[2];
static sqlite3 *sqlite;

static uint32_t scramble(uint64_t number)
{
    number = (number + 1) * 0x9e3779b97f4a7c15ull;
    return (uint32_t)((number ^ number >> 29) * 0xbf58476d1ce4e5b9ull >> 33);
}

/* Adds a row to a file and to SQLite; NULL is an empty field, so no string is empty but those in quotes. */
static void add_row(FILE *file, const char *table, const char *row)
{
    char sql[400], *to = sql + sprintf(sql, "insert into %s values (", table);
    fprintf(file, "%s\n", row);
    for (const char *at = row;; at++) {
        const size_t length = strcspn(at, ",");
        if (length == 0)
            to += sprintf(to, "null");
        else if (*at == '"')
            to += sprintf(to, "''");
        else
            to += sprintf(to, "'%.*s'", (int)length, at);
        at += length;
        to += sprintf(to, "%s", *at ? "," : ")");
        if (!*at)
            break;
    }
    if (sqlite3_exec(sqlite, sql, NULL, NULL, NULL) != SQLITE_OK)
        fail_msg("%s: %s", sql, sqlite3_errmsg(sqlite));
}

static const char *optional(char *text, uint32_t number, const char *form, uint32_t of, uint32_t nulls)
{
    if (scramble(number) % 100 < nulls)
        return "";
    if (scramble(number * 7 + 1) % 50 == 0)
        return "\"\"";
    snprintf(text, 40, form, scramble(number * 3 + 2) % of);
    return text;
}

/* The second half of `sold` goes to a file of its own, which is appended. */
static void make_rows(FILE *kinds, FILE *const sold[2])
{
    char row[200], one[40], two[40], three[40];
    for (uint32_t k = 0; k < KINDS; k++) {
        snprintf(row, sizeof row, "%u,label-%05u,%s,%u", k, scramble(k) % 100000,
                 optional(one, k + 5, "made by %u", 2000, 20), k % 7);
        add_row(kinds, "kinds", row);
    }
    for (uint32_t s = 0; s < SOLD; s++) {
        char kind[12] = "";
        if (scramble(s) % 100 >= 10)
            snprintf(kind, sizeof kind, "%u", scramble(s + 77) % KINDS);
        const uint32_t popular = scramble(s * 11) % 3 ? scramble(s * 5) % 4000 : scramble(s) % 3;
        snprintf(one, sizeof one, "a/%u", popular);
        snprintf(row, sizeof row, "%s,%s,%s,%s,%u", kind, one, optional(two, s * 13 + 3, "b %u", 3500, 15),
                 optional(three, s * 17 + 1, "c%u", 40, 30), s % 100);
        add_row(sold[s >= SOLD / 2], "sold", row);
    }
}

static int open_all(void **state)
{
    char files[3][PATH_BYTES + 64];
    struct load_report report;
    struct schema_script schema;
    (void)state;
    directory_make(path);
    assert_int_equal(sqlite3_open(":memory:", &sqlite), SQLITE_OK);
    assert_int_equal(sqlite3_exec(sqlite, script, NULL, NULL, NULL), SQLITE_OK);
    for (uint32_t f = 0; f < 3; f++)
        snprintf(files[f], sizeof files[f], "%.*s/%u.csv", (int)(strlen(path) - 3), path, f);
    FILE *const kinds = fopen(files[0], "wb"), *const sold[] = {fopen(files[1], "wb"), fopen(files[2], "wb")};
    assert_true(kinds && sold[0] && sold[1]);
    make_rows(kinds, sold);
    fclose(kinds);
    fclose(sold[0]);
    fclose(sold[1]);
    const char *const paths[] = {files[0], files[1], files[2]};
    const struct load_input inputs[] = {{.table = "kinds", .paths = &paths[0], .path_count = 1},
                                        {.table = "sold", .paths = &paths[1], .path_count = 1},
                                        {.table = "sold", .paths = &paths[2], .path_count = 1}};
    struct load_options options = {.directory = path, .inputs = inputs, .input_count = 2, .threads = 1};
    must(schema_script_parse("star.sql", script, strlen(script), &schema, error));
    must(tables_load(&schema, &options, &report, NULL, error));
    options.inputs = &inputs[2];
    options.input_count = 1;
    options.append = true;
    must(tables_load(&schema, &options, &report, NULL, error));
    schema_script_free(&schema);
    must(database_open(path, &database, error));
    for (uint32_t e = 0; e < 2; e++)
        must(engine_open(&(struct engine_options){.device = test_device(), .threads = e ? 3 : 1}, &engines[e],
                         error));
    return 0;
}

static int close_all(void **state)
{
    (void)state;
    engine_close(engines[0]);
    engine_close(engines[1]);
    database_close(database);
    sqlite3_close(sqlite);
    directory_remove(path);
    return 0;
}

/* SQLite's answer as CSV. */
static char *expected_of(const char *sql)
{
    static char *text;
    static size_t bytes;
    sqlite3_stmt *statement;
    FILE *const out = open_memstream(&text, &bytes);
    if (sqlite3_prepare_v2(sqlite, sql, -1, &statement, NULL) != SQLITE_OK)
        fail_msg("%s: %s", sql, sqlite3_errmsg(sqlite));
    while (sqlite3_step(statement) == SQLITE_ROW)
        for (int c = 0; c < sqlite3_column_count(statement); c++) {
            const char *const value = (const char *)sqlite3_column_text(statement, c);
            const bool empty = value && !*value;
            fprintf(out, "%s%s",
                    empty   ? "\"\""
                    : value ? value
                            : "",
                    c + 1 < sqlite3_column_count(statement) ? "," : "\n");
        }
    sqlite3_finalize(statement);
    fclose(out);
    return text;
}

static void same(const char *sql)
{
    char *const expected = expected_of(sql);
    for (uint32_t e = 0; e < 2; e++) {
        char *const answer = sql_answer(engines[e], database, sql);
        if (strcmp(strchr(answer, '\n') + 1, expected) != 0)
            fail_msg("%s\nanswers  %.3000s\nand not  %.3000s", sql, strchr(answer, '\n') + 1, expected);
        free(answer);
    }
    free(expected);
}

static void columns_of_the_fact(void **state)
{
    (void)state;
    same("select a || b, n from sold order by 1, 2");
    same("select a || ' ' || coalesce(b, '-') as x, count(*), sum(n) from sold group by x order by x");
    same("select count(distinct a || coalesce(b, '')), count(a || b), min(b || a), max(b || a) from sold");
    same("select a || coalesce(b, '?') || '/' || coalesce(c, '') as x, count(*) from sold group by x order "
         "by x");
    same("select count(*) from sold where a || b like '%7b%1'");
    same("select b || a as x from sold where n = 5 and a || b > 'a/3' order by x limit 40");
    same("select replace(b, 'b ', a) as x, count(*) from sold where n < 50 group by x order by x");
    same("select count(*) from sold where b || a = 'nothing'");
}

static void columns_of_dimensions(void **state)
{
    (void)state;
    same("select label || coalesce(maker, '') as x, count(*) from sold join kinds on sold.kind = kinds.kind "
         "group by "
         "x order by x");
    same("select label || maker as x, count(*) from sold left join kinds on sold.kind = kinds.kind group by "
         "x order "
         "by x");
    same("select coalesce(label, 'none') || coalesce(maker, '-') as x, count(*) from sold left join kinds on "
         "sold.kind = kinds.kind group by x order by x");
    same("select coalesce(label, 'none') || coalesce(maker, '-') as x, count(*) from sold left join kinds on "
         "sold.kind = kinds.kind and size = 3 group by x order by x");
    same("select label || maker as x from kinds where size < 2 order by x");
    same("select count(*) from sold join kinds on sold.kind = kinds.kind where label || maker like '%5made%' "
         "and size > 1");
}

static void columns_of_several_tables(void **state)
{
    (void)state;
    same("select a || label as x, count(*) from sold join kinds on sold.kind = kinds.kind group by x order "
         "by x");
    same("select b || coalesce(maker, '-') as x, count(*), sum(n) from sold left join kinds on sold.kind = "
         "kinds.kind "
         "group by x order by x");
    same("select a || coalesce(maker, '-') || coalesce(b, '') as x, count(*) from sold left join kinds on "
         "sold.kind = "
         "kinds.kind and size < 4 where n > 20 group by x order by x");
    same("select a || coalesce(maker, '-') as x, n from sold left join kinds on sold.kind = kinds.kind and n "
         "< 60 "
         "order by x, n limit 300");
}

static void columns_of_groups(void **state)
{
    (void)state;
    same("select a || '+' || coalesce(b, '-'), count(*) from sold group by a, b order by 1");
    same("select label || coalesce(maker, '-'), sum(n) from sold join kinds on sold.kind = kinds.kind group "
         "by label, "
         "maker having sum(n) > 100 order by 1");
}

/* Texts that stand alone in the select list are made for the answer's rows. */
static void texts_of_the_answer(void **state)
{
    (void)state;
    same("select a || '/' || coalesce(b, '-') || coalesce(c, '+'), n from sold order by n, a, b, c limit 30");
    same("select a || b || c || a || b || c || a || b, n from sold order by n, a, b, c limit 50 offset 7");
    same("select upper(b), lower(a || b), replace(a, '/', c) from sold order by n, a, b, c limit 99");
    same("select upper(c), count(*) from sold group by c order by count(*), c");
    same("select upper(c) as x, n from sold where n < 3 order by x, n");
    same("select upper(c), n from sold where n < 3 order by 1, 2");
    same("select b || c from sold where n = 1000");
    same("select max(a) || '-' || min(b), n from sold group by n order by n");
    same("select distinct substr(a, 1, 4) || coalesce(c, '') from sold order by 1");
    same("select x, count(*) from (select c || c as x from sold) as t group by x order by x");
    same("select upper(a) from sold where n < 2 union select lower(b) from sold where n = 3 order by 1");
    same("select upper(label) || coalesce(maker, '') from kinds order by kind limit 20");
    same("select count(*), upper('x' || 'y') from sold");
    same("select upper(maker), sum(n) from sold left join kinds on sold.kind = kinds.kind and size < 3 group "
         "by maker "
         "order by maker");
}

/* An expression that is named before and after conditions is one. */
static void expressions_are_named_again(void **state)
{
    (void)state;
    same("select a || b as x, count(*) from sold where a || b > 'a/2' and n < 40 group by a || b order by 1");
    same("select upper(b) as x, count(*) from sold where n < 3 and upper(b) > 'B 2' and n > 0 group by "
         "upper(b) order "
         "by 1");
    same("select upper(label), count(*) from sold join kinds on sold.kind = kinds.kind where size = 2 and "
         "upper(label) "
         "like 'L%7%' group by upper(label) order by 1");
    same("select replace(a, 'a/', b) as x, upper(b) from sold where n = 11 and b is not null order by x, 2");
    same("select upper(label) || lower(b) as x, count(*) from sold left join kinds on sold.kind = kinds.kind "
         "where n = "
         "5 group by upper(label) || lower(b) order by 1");
    same("select count(distinct upper(b)), min(lower(b)) from sold where n = 1000");
    same("select reverse_of.x, n from (select upper(b) as x, n from sold where n < 2) as reverse_of order by "
         "x, n");
}

/* ---- Sets ---- */

static void sets_are_joined_in_order(void **state)
{
    static const uint64_t counts[] = {0, 1, 511, 512, 513, 40000};
    (void)state;
    for (uint32_t c = 0; c < 2 * sizeof counts / sizeof *counts; c++) {
        const uint64_t added = counts[c / 2], domain = c % 2 ? PAIR_SET_BITS : UINT64_MAX - 1;
        struct pair_set sets[3] = {{.domain = domain}, {.domain = domain}, {.domain = domain}};
        const struct pair_set *const all[] = {&sets[0], &sets[1], &sets[2]};
        uint64_t *numbers, count;
        for (uint64_t i = 0; i < 3 * added; i++) /* each number in two sets, numbers of all sizes */
            must(pair_set_add(&sets[i % 3], (i / 2) << (c % 2 ? 0 : i / 2 % 4 * 10), error));
        must(pair_sets_join(all, 3, &numbers, &count, error));
        for (uint64_t i = 1; i < count; i++)
            assert_true(numbers[i - 1] < numbers[i]);
        if (added > 1)
            assert_in_range(count, added, 3 * added / 2 + 1);
        free(numbers);
        for (uint32_t s = 0; s < 3; s++)
            pair_set_free(&sets[s]);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(columns_of_the_fact),       cmocka_unit_test(columns_of_dimensions),
        cmocka_unit_test(columns_of_several_tables), cmocka_unit_test(columns_of_groups),
        cmocka_unit_test(texts_of_the_answer),       cmocka_unit_test(expressions_are_named_again),
        cmocka_unit_test(sets_are_joined_in_order),
    };
    return cmocka_run_group_tests(tests, open_all, close_all);
}
