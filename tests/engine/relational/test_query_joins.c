/*
 * test_query_joins.c: stored tables that no reference joins as a star are joined as answers are (engine/relational/execute.h), over
 * the small star of sql_star.h.
 *
 * @name stands for a table: the answer must be that of the same statement in which it is (select * from name), which
 * test_query.c compares with SQLite's.
 */
#define _GNU_SOURCE
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>

#include "tests/support/sql/sql_star.h"

#include <ctype.h>

/* Writes the statement with tables, or with queries, in place of @name. */
static char *with_tables(const char *statement, bool queries)
{
    char *text;
    size_t bytes;
    FILE *const out = open_memstream(&text, &bytes);
    for (const char *at = statement; *at;) {
        const size_t before = strcspn(at, "@");
        fwrite(at, 1, before, out);
        at += before;
        if (!*at++)
            break;
        size_t name = 0;
        while (isalpha((unsigned char)at[name]))
            name++;
        fprintf(out, queries ? "(select * from %.*s)" : "%.*s", (int)name, at);
        at += name;
    }
    fclose(out);
    return text;
}

static char *answer_of(const char *statement, bool queries)
{
    char *const sql = with_tables(statement, queries);
    struct sql_statement *const prepared = prepare_query(sql);
    struct rowset rows;
    must(sql_run(prepared, &rows, NULL, error));
    char *const csv = rowset_csv(&rows);
    rowset_free(&rows);
    sql_statement_free(prepared);
    free(sql);
    return csv;
}

static void tables_are_joined_by_any_condition(void **state)
{
    static const char *const statements[] = {
        "select a.pieces, b.pieces from @sales a join @sales b on a.shop = b.shop and a.pieces < b.pieces "
        "order by 1, 2",
        "select a.name, b.name from @shops a, @shops b where a.opened > b.opened order by 1, 2",
        "select count(*) from @sales s join @visits v on s.shop = v.shop",
        "select s.pieces, p.id, p.kind from @sales s left join @products p on s.pieces > p.id order by 1, 2",
        "select p.id, count(s.pieces), sum(s.paid) from @products p left join @sales s on s.product = p.id "
        "group by p.id "
        "order by 1",
        "select p.id from @products p left join @sales s on s.product = p.id and s.pieces > 2 where s.shop "
        "is null order by 1",
        "select r.label, count(s.pieces) from @regions r left join @shops h on h.region = r.id left join "
        "@sales s on s.shop = "
        "h.name group by r.label order by 1",
        "select count(*) from @shops a cross join @products b",
        "select a.name, b.id from @shops a join @products b on true order by 1, 2",
        "select a.name, b.id from @shops a left join @products b on false order by 1",
        "select h.name, v.people, row_number() over (partition by h.name order by v.people) as r from @shops "
        "h left join "
        "@visits v on v.shop = h.name order by 1, 3",
        "select kind, count(*) from @products a join @products b using (kind) group by kind order by 1",
        "select count(*) from @sales s left join @shops h on s.shop = h.name and s.pieces > 1 join @regions "
        "r on h.region = "
        "r.id",
        "select max(n) from (select a.name, count(*) as n from @shops a join @shops b on a.opened >= "
        "b.opened group by "
        "a.name) t",
        "select count(*) from @regions r where exists (select 1 from @shops a join @shops b on a.area > "
        "b.area where a.region "
        "= r.id)",
    };
    (void)state;
    for (size_t i = 0; i < sizeof statements / sizeof *statements; i++) {
        char *const tables = answer_of(statements[i], false), *const queries = answer_of(statements[i], true);
        if (strcmp(tables, queries) != 0)
            fail_msg("%s\n%s\nof tables, of queries\n%s", statements[i], tables, queries);
        assert_true(strchr(tables, '\n')[1] != '\0'); /* there are rows */
        free(tables);
        free(queries);
    }
}

/* One that references join stays one plan. */
static void a_star_is_one_plan(void **state)
{
    (void)state;
    char *const star = answer_of(
        "explain select h.name, count(*) from sales s join shops h on s.shop = h.name group by 1", false);
    assert_null(strstr(star, "join by"));
    free(star);
    char *const joined = answer_of("explain analyze select h.name, count(*) from shops h left join sales s "
                                   "on s.shop = h.name group by 1",
                                   false);
    assert_non_null(strstr(joined, "left join by 1 key"));
    assert_non_null(strstr(joined, "scan answer: 5 rows"));
    free(joined);
}

static void explain_tells_what_was_joined(void **state)
{
    char text[8192] = "explain analyze select * from (select ";
    (void)state;
    for (int i = 0; i < 30;
         i++) /* a line of more than 1,024 bytes: it is cut nowhere, least within a character */
        sprintf(text + strlen(text), "%s1 as \"\u00e9\u00e9\u00e9\u00e9\u00e9%d\"", i ? ", " : "", i);
    strcat(text, " union all select 2");
    for (int i = 1; i < 30; i++)
        strcat(text, ", 2");
    strcat(text, ") t, (select shop from sales) s order by 1");
    char *const explained = answer_of(text, false);
    assert_non_null(
        strstr(explained, "inner join by 0 keys: 5 rows with 2, estimated 10 rows, gave 10 rows"));
    const char *const scan = strstr(explained, "scan answer:");
    assert_non_null(scan);
    assert_true(strcspn(scan, "\n") > 1024);
    assert_non_null(strstr(scan, "\u00e9\u00e9\u00e9\u00e9\u00e929 (plain"));
    free(explained);
    char *const keyed =
        answer_of("explain analyze select count(*) from shops a full join products p on a.region = p.id, "
                  "(select shop, people from visits) v where v.shop = a.name",
                  false);
    assert_non_null(
        strstr(keyed, "full join by 1 key ((region = id)): 3 rows with 3, estimated 3 rows, gave 6 rows"));
    assert_non_null(
        strstr(keyed, "inner join by 1 key ((shop = name)): 6 rows with 3, estimated 6 rows, gave 3 rows"));
    free(keyed);
    char *const constant = answer_of(
        "explain select x, 2 in (select people from visits where people > x) from (values (1), (2)) t (x)",
        false);
    assert_non_null(strstr(constant, "mark join by 1 key ((2 = people)) and"));
    free(constant);
}

static void refusals_are_those_of_the_block(void **state)
{
    (void)state;
    refused("select nope from sales a join sales b on a.shop = b.shop",
            "line 1, column 8: there is no column nope");
    refused("select pieces from sales a join sales b on a.shop = b.shop",
            "line 1, column 8: pieces could be a column of more than one table");
    refused("select 1 from sales left join products",
            "line 1, column 31: an outer JOIN of products needs ON");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(tables_are_joined_by_any_condition),
        cmocka_unit_test(a_star_is_one_plan),
        cmocka_unit_test(explain_tells_what_was_joined),
        cmocka_unit_test(refusals_are_those_of_the_block),
    };
    return cmocka_run_group_tests(tests, star_open, star_close);
}
