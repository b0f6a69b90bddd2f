/* test_sql.c: every feature of SQL once, over a star of five sales (sql_star.h), with the answer that SQLite gives. */
#define _GNU_SOURCE
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>

#include "tests/support/sql/sql_star.h"

static void rows_themselves(void **state)
{
    (void)state;
    answers("select shop, product, pieces, paid from sales",
            "A,12,3,2.97\nA,70,1,12.00\nB,12,,\nC,-5,-2,7.00\nB,,10,0.50\n");
    answers("select s.* from shops s where name < 'C'", "A,1,2001-05-06,120.5\nB,2,1999-12-31,80.0\n");
    answers("select at, online, note from sales where pieces is null",
            "2024-02-29 23:59:59.250000,true,Mixed\n");
    answers("select pieces from sales limit 2", "3\n1\n");
    answers("select pieces from sales limit 2 offset 3", "-2\n10\n");
    answers("select pieces from sales limit 3, 1", "-2\n");
    answers("select pieces from sales limit 0", "");
    answers("select paid from sales where pieces > 100", "");
}

static void order(void **state)
{
    (void)state;
    answers("select pieces from sales order by pieces", "\n-2\n1\n3\n10\n");
    answers("select pieces from sales order by pieces desc", "10\n3\n1\n-2\n\n");
    answers("select pieces from sales order by pieces nulls last", "-2\n1\n3\n10\n\n");
    answers("select pieces from sales order by pieces desc nulls first limit 2", "\n10\n");
    answers("select shop, pieces as p from sales order by 1 desc, p", "C,-2\nB,\nB,10\nA,1\nA,3\n");
    answers("select shop from sales order by paid * 2 desc, day limit 2", "A\nC\n");
}

static void aggregates(void **state)
{
    (void)state;
    answers("select count(*), count(pieces), count(distinct shop), count(distinct product) from sales",
            "5,4,3,3\n");
    answers("select sum(pieces), min(pieces), max(pieces), avg(pieces) from sales", "12,-2,10,3.0\n");
    answers("select sum(paid), min(paid), max(day), min(shop), max(note) from sales",
            "22.47,0.50,2024-03-01,A,plain\n");
    answers("select count(*), sum(pieces), min(day), avg(paid) from sales where pieces > 100", "0,,,\n");
    answers("select sum(pieces) / count(*), sum(paid) / count(paid), 1 + max(pieces) from sales",
            "2,5.6175,11\n");
    answers("select sum(case when online then 1 else 0 end), sum(online), sum(pieces > 1) from sales",
            "3,3,2\n");
    answers("select max(paid) - min(paid) as spread from sales having count(*) = 5", "11.50\n");
    answers("select max(paid) from sales having count(*) > 5", "");
}

static void groups(void **state)
{
    (void)state;
    answers("select shop, sum(pieces) from sales group by shop order by shop", "A,4\nB,10\nC,-2\n");
    answers("select product, count(*) from sales group by product order by product",
            ",1\n-5,1\n12,2\n70,1\n");
    answers("select year(day), month(day), count(*) from sales group by 1, 2 order by 1, 2",
            "2023,12,1\n2024,1,1\n2024,2,2\n2024,3,1\n");
    answers("select pieces > 1 as many, count(*) from sales group by many order by 1",
            ",1\nfalse,2\ntrue,2\n");
    answers(
        "select shop, sum(pieces) s from sales group by shop having s > 0 and count(*) = 2 order by s desc",
        "B,10\nA,4\n");
    answers("select sum(pieces) from sales group by shop order by shop desc limit 1 offset 1", "10\n");
}

static void distinct(void **state)
{
    (void)state;
    answers("select distinct shop from sales order by shop", "A\nB\nC\n");
    answers("select distinct online, product from sales order by 1, 2",
            "false,-5\nfalse,70\ntrue,\ntrue,12\n");
}

static void joins(void **state)
{
    (void)state;
    answers("select label, sum(pieces) from sales, shops, regions where shop = name and region = id "
            "group by label order by label",
            "north,4\nsouth,10\n");
    answers("select s.shop, r.label from sales s join shops h on s.shop = h.name left join regions r on "
            "h.region = r.id order by s.day",
            "C,\nA,north\nA,north\nB,south\nB,south\n");
    answers("select p.kind, g.kind, count(*) from sales f left join products p on f.product = p.id left join "
            "products g on f.gift = g.id group by 1, 2 order by 1, 2",
            ",coffee,1\ncoffee,tea,1\ntea,,1\ntea,tea,2\n");
    answers("select f.shop, p.kind from sales f join products p on f.product = p.id order by day, shop",
            "C,tea\nA,tea\nA,coffee\nB,tea\n");
    answers("select f.shop, g.kind from sales f left join products g on f.gift = g.id and g.kind = 'tea' "
            "where f.shop <> 'C' order by day, shop",
            "A,\nA,tea\nB,tea\nB,\n");
    answers("select f.shop from sales f left join products g on f.gift = g.id where g.id is null", "A\n");
    answers("select h.opened, v.people from visits v, shops h where v.shop = h.name order by people",
            "2001-05-06,3\n2001-05-06,100\n1999-12-31,250\n");
    answers(
        "select count(*) from sales, products where id = product and since < '2000-01-01' and kind = 'tea'",
        "2\n");
}

static void conditions(void **state)
{
    (void)state;
    answers("select pieces from sales where pieces between 1 and 3 order by 1", "1\n3\n");
    answers("select pieces from sales where pieces not between 1 and 3 order by 1", "-2\n10\n");
    answers("select pieces from sales where pieces in (1, 10, 11) order by 1", "1\n10\n");
    answers("select shop from sales where note in ('plain', 'nowhere', 'Mixed') order by 1", "A\nB\n");
    answers("select pieces from sales where pieces not in (1, 10) order by 1", "-2\n3\n");
    answers("select pieces from sales where pieces not in (1, null)", "");
    answers("select note from sales where note like 'p%'", "plain\n");
    answers("select note from sales where note like '%0!%' escape '!'", "100%\n");
    answers("select note from sales where note like 'a!_b' escape '!'", "a_b\n");
    answers("select note from sales where note not like '%i%' order by note", "100%\na_b\n");
    answers("select shop from sales where product is null or gift is null order by day", "A\nB\n");
    answers("select pieces from sales where not (pieces > 1 and online) order by 1", "-2\n1\n");
    answers("select pieces from sales where pieces * 2 > paid order by 1", "3\n10\n");
    answers("select pieces from sales where paid = 2.970", "3\n");
    answers("select pieces from sales where paid > 2.969 and paid < 2.9701", "3\n");
    answers("select pieces from sales where paid = 2.971", "");
    answers("select count(*) from sales where online", "3\n");
    answers("select count(*) from sales where null", "0\n");
    answers("select count(*) from sales where 1", "5\n");
    answers("select shop from sales where note > 'a' and note < 'b'", "B\n");
}

static void arithmetic(void **state)
{
    (void)state;
    answers("select 7 / 2, -7 / 2, 7 % 3, -7 % 3, 7 / 0, 7 % 0, 2 * 3 - 1 from regions limit 1",
            "3,-3,1,-1,,,5\n");
    answers("select pieces / 3, pieces % 3 from sales order by pieces", ",\n0,-2\n0,1\n1,0\n3,1\n");
    answers("select paid + 1, paid * 2, paid * 0.5, paid * paid, -paid from sales where pieces = 3",
            "3.97,5.94,1.485,8.8209,-2.97\n");
    answers("select paid / 2, paid / 0, 7.0 / 2, 7 / 2.00, 1e3 from sales where pieces = 3",
            "1.485,,3.5,3.5,1000.0\n");
    answers("select abs(pieces), abs(-2.5), coalesce(pieces, 0), ifnull(pieces, -1), nullif(pieces, 3) "
            "from sales order by day, shop",
            "2,2.5,-2,-2,-2\n3,2.5,3,3,\n1,2.5,1,1,1\n,2.5,0,-1,\n10,2.5,10,10,10\n");
    answers("select case when pieces > 2 then 'many' when pieces > 0 then 'few' end from sales order by day, "
            "shop",
            "\nmany\nfew\n\nmany\n");
    answers("select case shop when 'A' then 1.5 when 'B' then 2 else 0 end from sales order by day, shop",
            "0.0\n1.5\n1.5\n2.0\n2.0\n");
    answers("select cast(2.97 as integer), cast(-2.97 as int), cast(1 as real), cast(true as bigint) "
            "from regions limit 1",
            "2,-2,1.0,1\n");
}

static void strings(void **state)
{
    (void)state;
    answers("select upper(note), lower(note), length(note), substr(note, 2, 3) from sales where shop = 'B' "
            "order by day",
            "MIXED,mixed,5,ixe\nA_B,a_b,3,_b\n");
    answers("select substr(note, -2), trim('  x '), upper('\xc3\xa4') from sales where note = 'plain'",
            "in,x,\xc3\x84\n");
    answers("select substr(note, 1, 1) as letter, count(*) from sales group by letter order by letter",
            ",1\n1,1\nM,1\na,1\np,1\n");
    answers("select 'it''s', '' from regions limit 1", "it's,\"\"\n");
}

static void dates(void **state)
{
    (void)state;
    answers(
        "select extract(year from day), extract(quarter from day), extract(dow from day), extract(doy from "
        "day), day(day) from sales where shop = 'A' order by day",
        "2024,1,3,31,31\n2024,1,4,60,29\n");
    answers("select extract(hour from at), extract(minute from at), extract(second from at) from sales "
            "where pieces = 3",
            "10,11,12\n");
    answers("select day + 1, day - 31, 7 + day from sales where pieces = 3",
            "2024-02-01,2023-12-31,2024-02-07\n");
    answers("select day + interval '1' month, day - interval '1' year, day + interval '2' weeks from sales "
            "where pieces = 3",
            "2024-02-29,2023-01-31,2024-02-14\n");
    answers("select date '2024-03-01' - day from sales order by day", "61\n30\n1\n1\n0\n");
    answers("select count(*) from sales where day between '2024-01-01' and date '2024-02-29'", "3\n");
    answers("select count(*) from sales where at < timestamp '2024-02-29 23:59:59.5'", "2\n");
    answers("select cast(at as date), at + interval '1' second from sales where pieces is null",
            "2024-02-29,2024-03-01 00:00:00.250000\n");
    answers("select count(*) from sales where day = at", "1\n");
}

/* Twice 9e18 leaves 64 bits: summed in 128, and told only where the result does. */
static void wide_sums(void **state)
{
    (void)state;
    answers("select sum(big) from sales where pieces = 3 or pieces = -2", "8999999999999999993\n");
    answers("select avg(big) from sales where shop = 'A'", "9e+18\n");
    answers("select shop, sum(big) from sales where shop <> 'A' group by shop order by 1", "B,1\nC,-7\n");
    refused("select sum(big) from sales", "a sum leaves 64 bits (it is about 1.8e+19)");
}

static void parameters(void **state)
{
    (void)state;
    static const char sql[] =
        "select shop, paid + ? from sales where shop = ? and day >= ? order by day limit ?";
    struct sql_statement *statement = prepare_query(sql);
    const struct sql_parameter more = {.type = {.kind = VALUE_INTEGER, .scale = 1}, .value = 15},
                               shop = {.type = {.kind = VALUE_STRING}, .string = "Axx", .length = 1},
                               day = {.type = {.kind = VALUE_DATE}, .value = calendar_days(2024, 1, 1)},
                               one = {.type = {.kind = VALUE_INTEGER}, .value = 1},
                               two = {.type = {.kind = VALUE_INTEGER}, .value = 2}, null = {.is_null = true};
    assert_int_equal(sql_parameter_count(statement), 4);
    must(sql_parameter_set(statement, 3, &two, error));
    statement_answers(statement, sql, ""); /* all others are NULL */
    must(sql_parameter_set(statement, 0, &more, error));
    must(sql_parameter_set(statement, 1, &shop, error));
    must(sql_parameter_set(statement, 2, &day, error));
    statement_answers(statement, sql, "A,4.47\nA,13.50\n");
    statement_answers(statement, sql, "A,4.47\nA,13.50\n");
    must(sql_parameter_set(statement, 3, &one, error));
    must(sql_parameter_set(statement, 0, &null, error));
    statement_answers(statement, sql, "A,\n");
    must_refuse(STATUS_BAD_INPUT, "there is no parameter 4; the statement has 4, from 0", "", "",
                sql_parameter_set(statement, 4, &one, error));
    sql_statement_free(statement);
}

static void explains(void **state)
{
    (void)state;
    static const char *const words[] = {
        "scan sales: 5 rows",  "inner join shops: 3 rows by shop", "semi-join",
        "result: dense slots", "sum in 64 bits of pieces",         "order by",
        "limit 1 from 0"};
    static const char sql[] = "select region, sum(pieces) from sales, shops where shop = name and opened > "
                              "'2000-01-01' group by region order by 2 limit 1";
    for (int analyse = 0; analyse < 2; analyse++) {
        struct rowset rows;
        char explain[400], *text;
        size_t bytes;
        snprintf(explain, sizeof explain, "explain %s %s", analyse ? "analyze" : "", sql);
        struct sql_statement *statement = prepare_query(explain);
        must(sql_run(statement, &rows, NULL, error));
        FILE *out = open_memstream(&text, &bytes);
        must(rowset_print(&rows, ROWSET_CSV, 1, out, error));
        fclose(out);
        for (size_t w = 0; w < sizeof words / sizeof *words; w++)
            if (!strstr(text, words[w]))
                fail_msg("no '%s' in %s", words[w], text);
        assert_int_equal(strstr(text, "kept 2 of 5 rows") != NULL, analyse);
        assert_int_equal(strstr(text, "time: plan") != NULL, analyse);
        free(text);
        rowset_free(&rows);
        sql_statement_free(statement);
    }
}

/* What EXPLAIN of the statement has. */
static void explain_says(const char *sql, const char *const *words, size_t count)
{
    struct rowset rows;
    char explain[400], *text;
    size_t bytes;
    snprintf(explain, sizeof explain, "explain %s", sql);
    struct sql_statement *const statement = prepare_query(explain);
    must(sql_run(statement, &rows, NULL, error));
    FILE *const out = open_memstream(&text, &bytes);
    must(rowset_print(&rows, ROWSET_CSV, 1, out, error));
    fclose(out);
    for (size_t w = 0; w < count; w++)
        if (!strstr(text, words[w]))
            fail_msg("no '%s' in %s", words[w], text);
    free(text);
    rowset_free(&rows);
    sql_statement_free(statement);
}

/* Only the sum is added up, and only its column is read; a condition takes that away. */
static void explains_what_statistics_know(void **state)
{
    static const char *const known[] = {"MB of big (", "by statistics: min of pieces",
                                        "by statistics: max of", "by statistics: count of note", "of big"},
                             *const scanned[] = {"min of pieces", "count of note"},
                             *const roots[] = {"exact sum in 1 words of 64 bits of sqrt("};
    (void)state;
    explain_says("select min(pieces), max(shop), count(note), sum(big) from sales", known, 5);
    explain_says("select min(pieces), count(note) from sales where big > 3", scanned, 2);
    explain_says("select sum(sqrt(pieces)) from sales", roots, 1);
}

/* The figures of all steps add up to those of the whole scan, whose columns none is read twice. */
static void analysed_steps_add_up(void **state)
{
    (void)state;
    static const char *const statements[] = {
        "select region, sum(pieces), max(paid) from sales, shops where shop = name and opened > '1990-01-01' "
        "and "
        "pieces > 0 and paid * 2 > pieces group by region",
        "select count(*) from sales where online",
        "select day, pieces + big from sales where paid > 1 or online",
        "select note, count(distinct product) from sales group by note, at"};
    for (size_t s = 0; s < sizeof statements / sizeof *statements; s++) {
        char explain[400], buffer[ROWSET_TEXT_BYTES];
        double megabytes = 0, ms = 0, whole_megabytes = -1, whole_ms = -1;
        struct rowset rows;
        snprintf(explain, sizeof explain, "explain analyze %s", statements[s]);
        struct sql_statement *statement = prepare_query(explain);
        must(sql_run(statement, &rows, NULL, error));
        for (uint64_t row = 0; row < rows.rows; row++) {
            uint32_t length;
            const char *text = rowset_text(&rows.columns[0], row, buffer, &length);
            char line[1000];
            double m, t;
            snprintf(line, sizeof line, "%.*s", (int)length, text);
            const char *figures = strstr(line, "             ");
            figures = figures ? figures : strstr(line, "groups: ") ? line + 8 : strstr(line, "rows: ");
            const char *whole = strstr(line, "whole scan: ");
            if (figures && !whole &&
                sscanf(figures + strspn(figures, " rows:"), "%lf MB in %lf ms", &m, &t) == 2) {
                megabytes += m;
                ms += t;
                assert_non_null(strstr(line, "of what this device reads at most"));
            }
            if (whole)
                assert_int_equal(sscanf(strstr(whole, "second, "), "second, %lf MB in %lf ms",
                                        &whole_megabytes, &whole_ms),
                                 2);
        }
        if (whole_megabytes <= 0 || whole_ms <= 0)
            fail_msg("%s: %g MB, %g ms", statements[s], whole_megabytes, whole_ms);
        if (megabytes < 0.998 * whole_megabytes || megabytes > 1.002 * whole_megabytes ||
            ms < 0.998 * whole_ms || ms > 1.002 * whole_ms)
            fail_msg("%s: %g of %g MB, %g of %g ms", statements[s], megabytes, whole_megabytes, ms, whole_ms);
        rowset_free(&rows);
        sql_statement_free(statement);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(rows_themselves),
        cmocka_unit_test(order),
        cmocka_unit_test(aggregates),
        cmocka_unit_test(groups),
        cmocka_unit_test(distinct),
        cmocka_unit_test(joins),
        cmocka_unit_test(conditions),
        cmocka_unit_test(arithmetic),
        cmocka_unit_test(strings),
        cmocka_unit_test(dates),
        cmocka_unit_test(wide_sums),
        cmocka_unit_test(parameters),
        cmocka_unit_test(explains),
        cmocka_unit_test(explains_what_statistics_know),
        cmocka_unit_test(analysed_steps_add_up),
    };
    return cmocka_run_group_tests_name("sql", tests, star_open, star_close);
}
