/* test_sql_limits.c: every limit of SQL that docs/sql.md names: a statement at it is planned, one beyond it
 * is refused with a sentence that says which limit and what to do. */
#define _GNU_SOURCE
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>

#include "engine/library/tessera.h"
#include "engine/library/statement.h"
#include "engine/run/engine.h"
#include "tests/support/database_cases.h"
#include "tests/support/gpu/query_compile.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define COLUMNS 300
#define KEYS    36
#define TEXT    ((size_t)1 << 20)

static char path[PATH_BYTES];
static struct database *database;
static struct engine *engine;
static char *sql, *end;

static void begin(const char *text)
{
    end = stpcpy(sql, text);
}

/* Appends `count` parts, each with its number from `first` where it has a %d, with `between` between them. */
static void parts(const char *part, int first, int count, const char *between)
{
    const char *const number = strstr(part, "%d");
    for (int i = first; i < first + count; i++) {
        end = stpcpy(end, i > first ? between : "");
        if (number)
            end += sprintf(end, "%.*s%d%s", (int)(number - part), part, i, number + 2);
        else
            end = stpcpy(end, part);
    }
}

static void ends(const char *text)
{
    end = stpcpy(end, text);
}

static enum status plan_it(struct error *told)
{
    struct sql_statement *statement;
    struct rowset rows = {0};
    size_t used;
    assert_true(strlen(sql) < TEXT);
    RETURN_IF_ERROR(sql_prepare(engine, database, sql, strlen(sql), NULL, &statement, &used, told));
    const enum status status = sql_run(statement, &rows, NULL, told);
    rowset_free(&rows);
    sql_statement_free(statement);
    return status;
}

static void is_planned(void)
{
    struct error told = {0};
    if (plan_it(&told) != STATUS_OK)
        fail_msg("%.200s: %s", sql, told.text);
}

/* The sentence may begin with a position. */
static void is_refused(const char *sentence)
{
    struct error told = {0};
    if (plan_it(&told) != STATUS_BAD_INPUT || !strstr(told.text, sentence))
        fail_msg("%.200s: %s\nand not  %s", sql, told.text, sentence);
}

static void load(const char *table, const char *const *names, uint32_t count, const char *script)
{
    static const int64_t one = 1;
    struct tessera_values columns[COLUMNS + 1];
    struct tessera_error told;
    for (uint32_t c = 0; c < count; c++)
        columns[c] = (struct tessera_values){.name = names[c], .numbers = &one};
    if (tessera_load_rows(path, script, table, columns, count, 1, TESSERA_LOAD_NEW, &told) != TESSERA_OK)
        fail_msg("%s", told.text);
}

static int setup(void **state)
{
    static char text[COLUMNS + 1][8];
    const char *names[COLUMNS + 1];
    (void)state;
    sql = malloc(TEXT);
    assert_non_null(sql);
    directory_make(path);
    begin("CREATE TABLE d (id INT PRIMARY KEY, ");
    parts("a%d INT", 0, KEYS, ", ");
    ends("); CREATE TABLE f (");
    parts("k%d INT REFERENCES d, ", 0, KEYS, "");
    ends("n INT); CREATE TABLE w (k INT REFERENCES d, ");
    parts("c%d INT", 1, COLUMNS, ", ");
    ends(")");
    for (int c = 0; c <= COLUMNS; c++)
        names[c] = text[c];
    strcpy(text[0], "id");
    for (int c = 0; c < KEYS; c++)
        sprintf(text[c + 1], "a%d", c);
    load("d", names, KEYS + 1, sql);
    strcpy(text[0], "n");
    for (int c = 0; c < KEYS; c++)
        sprintf(text[c + 1], "k%d", c);
    load("f", names, KEYS + 1, sql);
    strcpy(text[0], "k");
    for (int c = 1; c <= COLUMNS; c++)
        sprintf(text[c], "c%d", c);
    load("w", names, COLUMNS + 1, sql);
    must(database_open(path, &database, error));
    must(engine_open(&(struct engine_options){.device = "cpu", .threads = 1}, &engine, error));
    return 0;
}

static int teardown(void **state)
{
    (void)state;
    engine_close(engine);
    database_close(database);
    directory_remove(path);
    free(sql);
    return 0;
}

static void nesting(void **state)
{
    (void)state;
    for (int over = 0; over < 2; over++) {
        begin("select ");
        parts("(", 0, 199 + over, "");
        ends("n");
        parts(")", 0, 199 + over, "");
        ends(" from f");
        over ? is_refused("expressions are nested more than 200 deep; use fewer parentheses") : is_planned();
    }
}

static void operators_in_a_row(void **state)
{
    (void)state;
    for (int over = 0; over < 2; over++) {
        begin("select n");
        parts(" - 1", 0, 200 + over, "");
        ends(" from f");
        over ? is_refused("more than 200 operators follow each other; use parentheses") : is_planned();
        begin("select n");
        parts(" = 1", 0, 200 + over, "");
        ends(" from f");
        over ? is_refused("more than 200 comparisons follow each other; use AND") : is_planned();
    }
}

static void depth(void **state)
{
    (void)state;
    for (int over = 0; over < 2; over++) {
        begin("select (((((n");
        for (int chain = 0; chain < 5; chain++) {
            parts(" - 1", 0, chain == 4 ? 199 + over : 200, "");
            ends(")");
        }
        ends(" from f");
        over ? is_refused("an expression is more than 1000 operators deep; use fewer, or split it")
             : is_planned();
        begin("select n as b0, ");
        for (int i = 1; i <= 499 + over; i++)
            end += sprintf(end, "1 + b%d as b%d, ", i - 1, i);
        end += sprintf(end, "0 from f where b%d = 1", 499 + over);
        over ? is_refused("aliases name each other more than 500 deep; use fewer") : is_planned();
    }
    begin("select b as a, a as b from f");
    is_refused("line 1, column 8: the alias b leads to itself");
}

static void expressions(void **state)
{
    (void)state;
    for (int over = 0; over < 2; over++) {
        begin("select n from f where ");
        parts("n = %d", 0, 21800 + 100 * over, " or ");
        over ? is_refused("more than 65536 different expressions; split it, or put values into one IN list")
             : is_planned();
    }
    begin("select n from f where n in (");
    parts("%d", 0, 100000, ",");
    ends(")");
    is_planned();
}

/* Conditions have no limit of their own: those after the last step of the scan share it. */
static void conditions(void **state)
{
    (void)state;
    static const int counts[] = {46, 47, 48, 64, 65, 257, 1025, 5000};
    for (size_t c = 0; c < sizeof counts / sizeof *counts; c++) {
        begin("select k from w where ");
        parts("c1 * %d < 1000000", 1, counts[c], " and ");
        is_planned();
        begin("select k from w where ");
        parts("c1 < %d", 2, counts[c], " and ");
        is_planned();
        begin("select k from w where ");
        parts("c%d = 1", 1, counts[c] < 200 ? counts[c] : 200, " and ");
        ends(" and ");
        parts("c2 * %d < 1000000", 1, counts[c], " and ");
        is_planned();
    }
    begin("select n from f, ");
    parts("d d%d", 0, 15, ", ");
    ends(" where n < 9");
    for (int i = 0; i < 15; i++)
        end += sprintf(end, " and k%d = d%d.id and d%d.a1 = 1", i, i, i);
    for (int i = 1; i < 100; i++)
        end += sprintf(end, " and n * %d < 1000", i);
    is_planned();
}

/* One plan joins all tables of a star on a CPU. */
static void is_one_scan(uint32_t joins)
{
    struct sql_statement *statement;
    const struct plan *plan;
    size_t used;
    must(sql_prepare(engine, database, sql, strlen(sql), NULL, &statement, &used, error));
    must(sql_plan(statement, &plan, error));
    assert_int_equal(plan->join_count, joins);
    assert_true(plan_bytes(plan) < 100000);
    sql_statement_free(statement);
}

static void tables(void **state)
{
    (void)state;
    begin("select n from f, ");
    parts("d d%d", 0, KEYS, ", ");
    ends(" where ");
    parts("k%d = 1", 0, 1, "");
    for (int i = 0; i < KEYS; i++)
        end += sprintf(end, " and k%d = d%d.id", i, i);
    is_planned();
    is_one_scan(KEYS);
    for (int over = 0; over < 2; over++) {
        begin("select 1 from ");
        parts("f f%d", 0, 128 + over, ", ");
        ends("");
        over ? is_refused("FROM has more than 128 tables; ask in several query blocks") : is_planned();
        begin("select ");
        parts("k%d", 0, 32 + over, ", ");
        ends(" from f");
        is_one_scan(32 + over);
        if (!over)
            must(compile_statement(database, sql, NULL, 0, NULL, compile_sm_90, error));
        else
            must_refuse(STATUS_BAD_INPUT, "joins more than 32 tables", "on a GPU", "--device cpu",
                        compile_statement(database, sql, NULL, 0, NULL, compile_sm_90, error));
    }
}

/* A plan takes the memory of what it has. */
static void small_plans(void **state)
{
    struct sql_statement *statement;
    const struct plan *plan;
    size_t used;
    (void)state;
    begin("select sum(n), a1 from f, d where k1 = id and a2 = 1 group by a1");
    must(sql_prepare(engine, database, sql, strlen(sql), NULL, &statement, &used, error));
    must(sql_plan(statement, &plan, error));
    assert_true(plan_bytes(plan) < 16384);
    sql_statement_free(statement);
}

static void columns(void **state)
{
    (void)state;
    begin("select ");
    parts("a%d", 0, KEYS, ", ");
    ends(", ");
    parts("c%d", 1, COLUMNS, ", ");
    ends(" from w, d where k = id");
    is_planned();
    for (int over = 0; over < 2; over++) {
        begin("select ");
        parts("c1", 0, 2048 + over, ", ");
        ends(" from w");
        over ? is_refused("more than 2048 columns; ask in several statements") : is_planned();
        begin("select ");
        parts("c1", 0, 2047 + over, ", ");
        ends(" from w order by c2");
        over ? is_refused("what else ORDER BY names have more than 2048 columns") : is_planned();
        begin("select c1 from w order by ");
        parts("c1", 0, 2048 + over, ", ");
        over ? is_refused("ORDER BY has more than 2048 terms; leave out the last ones") : is_planned();
    }
}

static void groups_and_aggregates(void **state)
{
    (void)state;
    begin("select count(*) from w group by ");
    parts("c1 + %d", 1, 1000, ", ");
    is_planned();
    begin("select distinct ");
    parts("c1 + %d", 1, 1000, ", ");
    ends(" from w");
    is_planned();
    for (int over = 0; over < 2; over++) {
        begin("select ");
        for (int a = 0; a < 1024 + over; a++)
            end += sprintf(end, "%smax(c1 * %d)", a == 0 ? "" : a % 2 ? " + " : ", ", a + 1);
        ends(" from w");
        over ? is_refused("more than 1024 aggregates, where avg and sums of what may be NULL count as two")
             : is_planned();
        begin("select grouping(c1");
        parts(", c%d", 2, 61 + over, "");
        ends(") from w group by rollup (");
        parts("c%d", 1, 63, ", ");
        ends(")");
        over ? is_refused("grouping takes 1 to 62 terms of GROUP BY") : is_planned();
    }
}

static void values(void **state)
{
    static const struct {
        const char *within, *over, *sentence;
    } cases[] = {
        {"coalesce(n,1,2,3,4,5,6,7,8,9,10,11,12,13,14,15)",
         "coalesce(n,1,2,3,4,5,6,7,8,9,10,11,12,13,14,15,16)", "coalesce takes 2 to 16 values, not 17"},
        {"9223372036854775807", "9223372036854775808", "the number 9223372036854775808 does not fit"},
        {"-9223372036854775808", "-9223372036854775809", "the number 9223372036854775809 does not fit"},
        {"0.123456789012345678", "0.1234567890123456789", "up to 18 digits behind the point"},
        {"0.000000001 * 0.000000001", "0.000000001 * 0.0000000001",
         "a product of decimals has 19 digits behind the point, more than 18; use factors with fewer"},
        {"date '2024-01-01' + interval '999999999' second",
         "date '2024-01-01' + interval '1000000000' second",
         "INTERVAL '1000000000' is no whole number of up to 9 digits"},
        {"date '2024-01-01' + interval '100000' week", "date '2024-01-01' + interval '999999999' week",
         "INTERVAL '999999999' week is longer than 292,000 years"},
        {"date '2024-01-01' + 2147000000", "date '2024-01-01' + 2147483647",
         "a date may be more than 5 million years from today"},
    };
    (void)state;
    for (size_t c = 0; c < sizeof cases / sizeof *cases; c++) {
        begin("select ");
        ends(cases[c].within);
        ends(" from f");
        is_planned();
        begin("select ");
        ends(cases[c].over);
        ends(" from f");
        is_refused(cases[c].sentence);
    }
}

/* Names, strings, parameters and statements have none: these are long. */
static void what_has_no_limit(void **state)
{
    (void)state;
    begin("select n as ");
    parts("long", 0, 20000, "");
    ends(", '");
    parts("text", 0, 20000, "");
    ends("' from f where n in (");
    parts("?", 0, 100000, ",");
    ends(") /* ");
    parts("comment ", 0, 20000, "");
    ends("*/");
    is_planned();
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(nesting),
        cmocka_unit_test(operators_in_a_row),
        cmocka_unit_test(depth),
        cmocka_unit_test(expressions),
        cmocka_unit_test(conditions),
        cmocka_unit_test(tables),
        cmocka_unit_test(small_plans),
        cmocka_unit_test(columns),
        cmocka_unit_test(groups_and_aggregates),
        cmocka_unit_test(values),
        cmocka_unit_test(what_has_no_limit),
    };
    return cmocka_run_group_tests_name("sql limits", tests, setup, teardown);
}
