/*
 * test_query_prepared.c: statements of several query blocks that are prepared, over the small star of sql_star.h: they run
 * again with other values, and are bound again where values or their types would make another tree of them.
 */
#define _GNU_SOURCE
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>

#include "tests/support/sql/sql_star.h"

static void set_number(struct sql_statement *statement, uint32_t p, int64_t value)
{
    const struct sql_parameter number = {.type = {.kind = VALUE_INTEGER}, .value = value};
    must(sql_parameter_set(statement, p, &number, error));
}

/* The answer as CSV, which the caller frees. */
static char *csv_of(struct sql_statement *statement)
{
    struct rowset rows;
    must(sql_run(statement, &rows, NULL, error));
    char *const text = rowset_csv(&rows);
    rowset_free(&rows);
    return text;
}

/* A statement is bound once, and answers with each value as the one in which the value is written. */
static void a_tree_runs_again_with_other_values(void **state)
{
    static const char *const written[] = {
        "select shop as s, sum(pieces) as p from sales where pieces >= (select avg(people) * 0 + %d from "
        "visits) "
        "group by shop having count(*) >= %d order by 1",
        "select pieces, rank() over (order by pieces + %d) as r from sales where shop in (select shop from "
        "visits where people > %d) order by 1, 2",
        "select pieces from sales where pieces > %d union select people from visits where people > %d order "
        "by 1",
        "select s.pieces, v.people from sales s full join visits v on s.shop = v.shop and v.people > "
        "s.pieces * "
        "%d and s.pieces <> %d order by 1, 2",
        "select pieces * %d as p, (select count(*) from visits v where v.people > s.pieces + %d) as n from "
        "sales "
        "s order by 1, 2"};
    (void)state;
    for (size_t w = 0; w < sizeof written / sizeof *written; w++) {
        char text[512], *place;
        strcpy(text, written[w]);
        while ((place = strstr(text, "%d"))) {
            *place = '?';
            memmove(place + 1, place + 2, strlen(place + 2) + 1);
        }
        struct sql_statement *const statement = prepare_query(text);
        for (int64_t value = 0; value < 12; value++) {
            set_number(statement, 0, value % 4);
            set_number(statement, 1, value / 4);
            snprintf(text, sizeof text, written[w], (int)(value % 4), (int)(value / 4));
            struct sql_statement *const other = prepare_query(text);
            char *const ours = csv_of(statement), *const theirs = csv_of(other);
            assert_string_equal(ours, theirs);
            free(ours);
            free(theirs);
            sql_statement_free(other);
        }
        sql_statement_free(statement);
    }
}

/* What a statement means may depend on the types of its parameters, and a term of GROUP BY on their values. */
static void a_tree_is_bound_again_where_it_would_be_another(void **state)
{
    const char *const sums = "select pieces + ?, count(*) from sales group by pieces + ? order by 1 limit 1",
                      *const notes = "select count(*) from (select note, ? as x from sales) t where note = x";
    const struct sql_parameter word = {.type = {.kind = VALUE_STRING}, .string = "new", .length = 3};
    struct sql_statement *statement = prepare_query(sums);
    struct rowset rows;
    struct error why;
    (void)state;
    for (int64_t value = 0; value < 3; value++) {
        char *text[2];
        for (uint32_t p = 0; p < 2; p++)
            set_number(statement, p, value * 100);
        text[0] = csv_of(statement);
        set_number(statement, 1, value * 100 + 1);
        assert_int_equal(sql_run(statement, &rows, NULL, &why), STATUS_BAD_INPUT);
        assert_non_null(strstr(why.text, "neither in GROUP BY nor inside an aggregate"));
        set_number(statement, 1, value * 100);
        text[1] = csv_of(statement);
        assert_string_equal(text[0], text[1]);
        free(text[0]);
        free(text[1]);
    }
    sql_statement_free(statement);
    statement = prepare_query(notes);
    for (int round = 0; round < 2; round++) {
        must(sql_parameter_set(statement, 0, &word, error));
        free(csv_of(statement));
        must(sql_parameter_set(statement, 0,
                               &(struct sql_parameter){.type = {.kind = VALUE_DATE}, .value = 7}, error));
        assert_int_equal(sql_run(statement, &rows, NULL, &why), STATUS_BAD_INPUT);
    }
    sql_statement_free(statement);
}

static void parameters_stay_in_their_order(void **state)
{
    static const char sql[] =
        "select shop, pieces from sales where pieces > ? and shop in (select shop from visits "
        "where people > ?) and paid < (select ? + max(paid) from sales)";
    const int64_t values[] = {0, 50, 1};
    (void)state;
    struct sql_statement *const statement = prepare_query(sql);
    assert_int_equal(sql_parameter_count(statement), 3);
    for (uint32_t p = 0; p < 3; p++)
        must(sql_parameter_set(statement, p,
                               &(struct sql_parameter){.type = {.kind = VALUE_INTEGER}, .value = values[p]},
                               error));
    statement_answers(statement, sql, "A,3\nA,1\nB,10\n");
    must(sql_parameter_set(statement, 1,
                           &(struct sql_parameter){.type = {.kind = VALUE_INTEGER}, .value = 200}, error));
    statement_answers(statement, sql, "B,10\n");
    sql_statement_free(statement);
}

static void like_is_the_settings_in_every_block(void **state)
{
    static const char sql[] =
        "with t as (select note from sales where note like 'MIXED') select count(*) from t "
        "where note like 'mixed' union all select count(*) from sales where note like 'MIXED'";
    (void)state;
    answers(sql, "0\n0\n");
    struct sql_statement *const statement = prepare_query(sql);
    sql_statement_set(statement, (struct sql_settings){.like = SQL_LIKE_SQLITE});
    statement_answers(statement, sql, "1\n1\n");
    sql_statement_free(statement);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_tree_runs_again_with_other_values),
        cmocka_unit_test(a_tree_is_bound_again_where_it_would_be_another),
        cmocka_unit_test(parameters_stay_in_their_order),
        cmocka_unit_test(like_is_the_settings_in_every_block),
    };
    return cmocka_run_group_tests(tests, star_open, star_close);
}
