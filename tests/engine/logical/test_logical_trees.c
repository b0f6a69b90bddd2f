/* test_logical_trees.c: which tree of operators a statement becomes, over the star of sql_star.h. Numbers are those of
 * columns (engine/logical/node.h). */
#define _GNU_SOURCE
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>

#include "tests/support/logical_text.h"
#include "tests/support/sql/sql_star.h"

#include "engine/logical/logical.h"

#include <stdlib.h>
#include <string.h>

/* Binds a statement, rewrites it if asked, and compares the tree's text, or the error's. */
static void tree_is(bool rewritten, bool for_gpu, const char *sql, const char *expected)
{
    struct sql_statement_tree *syntax, *const arena = sql_tree_new();
    const struct logical_options options = {.device_totals = for_gpu};
    struct logical_tree tree;
    struct error why;
    size_t used, bytes;
    char *text = NULL;
    assert_non_null(arena);
    must(sql_parse(sql, strlen(sql), &syntax, &used, error));
    enum status status = logical_bind(star_database, sql_tree_select(syntax), &options, arena, &tree, &why);
    if (status == STATUS_OK && rewritten)
        status = logical_rewrite(&options, &tree, &why);
    FILE *const out = open_memstream(&text, &bytes);
    assert_non_null(out);
    if (status == STATUS_OK)
        tree_write(&tree, out);
    else
        fprintf(out, "%s\n", why.text);
    fclose(out);
    if (strcmp(text, expected) != 0)
        fail_msg("%s\n%s-- expected\n%s", sql, text, expected);
    free(text);
    sql_tree_free(arena);
    sql_tree_free(syntax);
}

static void bound(const char *sql, const char *expected)
{
    tree_is(false, false, sql, expected);
}

static void rewritten(const char *sql, const char *expected)
{
    tree_is(true, false, sql, expected);
}

static void trees_of_the_binder(void **state)
{
    (void)state;
    /* Names become columns, terms of GROUP BY columns of the aggregate. */
    bound("select shop, sum(pieces) * 2 as s from sales where day > '2024-01-01' group by shop having "
          "count(*) > 1 order by s desc limit 2",
          "limit 2\n"
          "  sort 14 desc\n"
          "    project 13 14: @10, (@11 * 2)\n"
          "      filter (@12 > 1)\n"
          "        aggregate 10 11 12: @0; sum(@5), count(*)\n"
          "          filter (@3 > '2024-01-01')\n"
          "            scan sales: 0 1 2 3 4 5 6 7 8 9\n");
    /* An alias is its expression; a column of that name comes first. */
    bound("select pieces + 1 as shop, shop as x from sales where x = 'A'",
          "project 10 11: (@5 + 1), @0\n"
          "  filter (@0 = 'A')\n"
          "    scan sales: 0 1 2 3 4 5 6 7 8 9\n");
    /* USING has one column. */
    bound("select shop, v.people from sales join visits v using (shop)",
          "project 12 13: @0, @11\n"
          "  filter (@0 = @10)\n"
          "    join inner\n"
          "      scan sales: 0 1 2 3 4 5 6 7 8 9\n"
          "      scan v: 10 11\n");
    /* NATURAL JOIN is USING of the columns that both have. */
    bound("select shop, people, day from visits natural join sales",
          "project 12 13 14: @0, @1, @5\n"
          "  filter (@0 = @2)\n"
          "    join inner\n"
          "      scan visits: 0 1\n"
          "      scan sales: 2 3 4 5 6 7 8 9 10 11\n");
    /* Windows over groups. */
    bound("select shop, rank() over (order by sum(pieces)) from sales group by shop",
          "project 13 14: @10, @12\n"
          "  window 12: rank()\n"
          "    aggregate 10 11: @0; sum(@5)\n"
          "      scan sales: 0 1 2 3 4 5 6 7 8 9\n");
}

static void trees_of_the_rewriter(void **state)
{
    (void)state;
    /* An equality joins each table to those before it. */
    rewritten("select label, sum(paid) from regions, sales, shops where sales.shop = name and region = id "
              "and label = 'north' group by label",
              "project 18 19: @16, @17\n"
              "  aggregate 16 17: @1; sum(@8)\n"
              "    join inner: (@2 = @12)\n"
              "      join inner: (@13 = @0)\n"
              "        filter (@1 = 'north')\n"
              "          scan regions: 0 1\n"
              "        scan shops: 12 13\n"
              "      scan sales: 2 8\n");
    /* A condition on the outer rows alone makes fewer values for which the subquery is answered. */
    rewritten("select name from shops where name > 'b' and (select sum(people) from (select people from "
              "visits where "
              "shop < name limit 2) v) > 1",
              "with outer:\n"
              "  project 0: @0\n"
              "    filter (@0 > 'b')\n"
              "      scan shops: 0\n"
              "with domain:\n"
              "  aggregate 18: @14\n"
              "    with outer: 14\n"
              "project 9: @0\n"
              "  filter (@8 > 1)\n"
              "    join single: is not distinct(@0, @22)\n"
              "      project 0: @10\n"
              "        with outer: 10\n"
              "      project 8 22: @7, @22\n"
              "        project 22 7: @22, @23\n"
              "          join left: is not distinct(@22, @21)\n"
              "            with domain: 22\n"
              "            aggregate 21 23: @19; sum(@6)\n"
              "              filter (@20 <= 2)\n"
              "                window 20: row_number()\n"
              "                  project 6 19: @5, @19\n"
              "                    join inner: (@4 < @19)\n"
              "                      scan visits: 4 5\n"
              "                      with domain: 19\n");
    /* EXISTS is a semi-join. */
    rewritten("select name from shops where exists (select * from visits where shop = name and people > 5)",
              "project 9: @0\n"
              "  join semi: (@4 = @0)\n"
              "    scan shops: 0\n"
              "    project 4: @4\n"
              "      filter (@5 > 5)\n"
              "        scan visits: 4 5\n");
    /* NOT EXISTS is an anti-join. */
    rewritten("select name from shops where not exists (select * from visits where shop = name)",
              "project 9: @0\n"
              "  join anti: (@4 = @0)\n"
              "    scan shops: 0\n"
              "    project 4: @4\n"
              "      scan visits: 4\n");
    /* IN under OR is a mark. */
    rewritten("select name from shops where area > 100 or name in (select shop from visits)",
              "project 8: @0\n"
              "  filter ((@3 > 100) or @7)\n"
              "    join mark 7, test (@0 = @6)\n"
              "      scan shops: 0 3\n"
              "      project 6: @4\n"
              "        scan visits: 4\n");
    /* NOT IN keeps its NULLs. */
    rewritten("select name from shops where name not in (select shop from visits where people < 5)",
              "project 8: @0\n"
              "  filter not(@7)\n"
              "    join mark 7, test (@0 = @6)\n"
              "      scan shops: 0\n"
              "      project 6: @4\n"
              "        filter (@5 < 5)\n"
              "          scan visits: 4 5\n");
    /* A value of groups is a join by them; a count of no rows is 0. */
    rewritten("select name, (select count(*) from visits where shop = name) from shops",
              "project 8 9: @0, @7\n"
              "  project 0 7: @0, coalesce(@6, 0)\n"
              "    join left: (@10 = @0)\n"
              "      scan shops: 0\n"
              "      aggregate 10 6: @4; count(*)\n"
              "        scan visits: 4\n");
    /* A value that the statement compares makes the join an inner one. */
    rewritten("select pieces from sales s where pieces > (select avg(people) / 10 from visits v where v.shop "
              "= s.shop)",
              "project 14: @5\n"
              "  project 5: @5\n"
              "    join inner: ((@5 > (@12 / 10)) and (@15 = @0))\n"
              "      scan s: 0 5\n"
              "      aggregate 15 12: @10; avg(@11)\n"
              "        scan v: 10 11\n");
    /* No equality: the values of the outer columns are joined into it. */
    rewritten("select name, (select max(people) from visits where people < area) from shops",
              "with outer:\n"
              "  project 0 3: @0, @3\n"
              "    scan shops: 0 3\n"
              "with domain:\n"
              "  aggregate 18: @17\n"
              "    with outer: 14 17\n"
              "project 8 9: @0, @7\n"
              "  join single: is not distinct(@3, @21)\n"
              "    project 0 3: @10, @13\n"
              "      with outer: 10 13\n"
              "    project 7 21: @6, @21\n"
              "      project 21 6: @21, @22\n"
              "        join left: is not distinct(@21, @20)\n"
              "          with domain: 21\n"
              "          aggregate 20 22: @19; max(@5)\n"
              "            join inner: (@5 < @19)\n"
              "              scan visits: 5\n"
              "              with domain: 19\n");
    /* What all branches have, and what they say of one table. */
    rewritten(
        "select count(*) from sales, products where (product = id and kind = 'tea' and pieces > 2) or "
        "(product = id and kind = 'coffee' and pieces < 2)",
        "project 14: @13\n"
        "  aggregate 13: count(*)\n"
        "    join inner: ((@1 = @10) and (((@11 = 'tea') and (@5 > 2)) or ((@11 = 'coffee') and (@5 < 2))))\n"
        "      filter ((@5 > 2) or (@5 < 2))\n"
        "        scan sales: 1 5\n"
        "      filter ((@11 = 'tea') or (@11 = 'coffee'))\n"
        "        scan products: 10 11\n");
    /* A left join whose NULLs are not wanted. */
    rewritten("select name, people from shops left join visits on shop = name where people > 3",
              "project 6 7: @0, @5\n"
              "  join inner: (@4 = @0)\n"
              "    scan shops: 0\n"
              "    filter (@5 > 3)\n"
              "      scan visits: 4 5\n");
    /* Conditions go into UNION and below windows. */
    rewritten("select * from (select shop, people from visits union all select shop, pieces from sales) u "
              "where shop = 'A'",
              "project 18 19: @16, @17\n"
              "  union all 16 17\n"
              "    project 2 3: @0, @1\n"
              "      filter (@0 = 'A')\n"
              "        scan visits: 0 1\n"
              "    project 14 15: @4, @9\n"
              "      filter (@4 = 'A')\n"
              "        scan sales: 4 9\n");
    /* The first row of each. */
    rewritten(
        "select name, (select people from visits where shop = name order by people desc limit 1) from shops",
        "project 7 8: @0, @6\n"
        "  join single: (@4 = @0)\n"
        "    scan shops: 0\n"
        "    filter (@9 <= 1)\n"
        "      window 9: row_number()\n"
        "        project 6 4: @5, @4\n"
        "          scan visits: 4 5\n");
    /* WITH that is named twice is shared. */
    rewritten("with w as (select shop, sum(people) as p from visits group by shop) select a.shop from w a, w "
              "b where a.p > b.p",
              "with w:\n"
              "  project 4 5: @2, @3\n"
              "    aggregate 2 3: @0; sum(@1)\n"
              "      scan visits: 0 1\n"
              "project 10: @6\n"
              "  join inner: (@7 > @9)\n"
              "    with w: 6 7\n"
              "    with w: 8 9\n");
    /* LATERAL. */
    rewritten("select name, x.p from shops, lateral (select people as p from visits where shop = name) x",
              "project 7 8: @0, @6\n"
              "  join inner: (@4 = @0)\n"
              "    scan shops: 0\n"
              "    project 6 4: @5, @4\n"
              "      scan visits: 4 5\n");
    /* Rows in IN. */
    rewritten("select shop from sales where (shop, pieces) in (select shop, people from visits)",
              "project 15: @0\n"
              "  join semi: ((@0 = @12) and (@5 = @13))\n"
              "    scan sales: 0 5\n"
              "    project 12 13: @10, @11\n"
              "      scan visits: 10 11\n");
    /* ALL is no row that is otherwise. */
    rewritten("select shop from sales where pieces > all (select people from visits)",
              "project 14: @0\n"
              "  filter not(@13)\n"
              "    join mark 13, test (@5 <= @12)\n"
              "      scan sales: 0 5\n"
              "      project 12: @11\n"
              "        scan visits: 11\n");
    /* Values of two arguments are those of two scans, and states of a third. */
    rewritten("select shop, count(*), sum(pieces), median(pieces), median(pieces * 2), quantile_disc(pieces, "
              "0.9) from sales "
              "group by shop",
              "project 16 17 18 19 20 21: @10, @11, @12, @13, @14, @15\n"
              "  project 10 11 12 13 14 15: @10, @11, @12, @13, @14, @15\n"
              "    join inner: is not distinct(@10, @23)\n"
              "      join inner: is not distinct(@10, @22)\n"
              "        aggregate 10 11 12: @0; count(*), sum(@5)\n"
              "          scan sales: 0 5\n"
              "        aggregate 22 13 15: @0; median(@5), quantile_disc(@5, 0.9)\n"
              "          scan sales: 0 5\n"
              "      aggregate 23 14: @0; median((@5 * 2))\n"
              "        scan sales: 0 5\n");
    /* Not where the rows are joined by no reference. */
    rewritten("select median(pieces), sum(people) from sales, visits",
              "project 14 15: @12, @13\n"
              "  aggregate 12 13: median(@5), sum(@11)\n"
              "    join inner\n"
              "      scan sales: 5\n"
              "      scan visits: 11\n");
}

static void conditions_go_further(void **state)
{
    (void)state;
    /* Of a join above the left join, which drops its NULLs. */
    rewritten("select label, s.people from (select id, label from regions) r, (select region, people from "
              "shops left join visits on visits.shop = name) s where r.id = s.region and s.people = r.id",
              "project 12 13: @3, @11\n"
              "  join inner: ((@2 = @10) and (@11 = @2))\n"
              "    project 2 3: @0, @1\n"
              "      scan regions: 0 1\n"
              "    project 10 11: @5, @9\n"
              "      join inner: (@8 = @4)\n"
              "        scan shops: 4 5\n"
              "        scan visits: 8 9\n");
    /* A constant of the left side is one of the right side. */
    rewritten("select name, x.p from shops left join (select shop, sum(people) as p from visits group by "
              "shop) x on x.shop = name where name = 'A'",
              "project 10 11: @0, @9\n"
              "  join left: (@8 = @0)\n"
              "    filter (@0 = 'A')\n"
              "      scan shops: 0\n"
              "    project 8 9: @6, @7\n"
              "      aggregate 6 7: @4; sum(@5)\n"
              "        filter (@4 = 'A')\n"
              "          scan visits: 4 5\n");
    /* The days that either of the two references wants. */
    rewritten(
        "with y as (select shop, day, sum(pieces) as p from sales group by shop, day) select a.p, b.p from y "
        "a, y b where a.shop = b.shop and a.day = '2024-02-29' and b.day = '2024-01-31' and b.p > 1",
        "with y:\n"
        "  project 13 14 15: @10, @11, @12\n"
        "    filter ((@11 = '2024-02-29') or ((@11 = '2024-01-31') and (@12 > 1)))\n"
        "      aggregate 10 11 12: @0, @3; sum(@5)\n"
        "        filter ((@3 = '2024-02-29') or (@3 = '2024-01-31'))\n"
        "          scan sales: 0 3 5\n"
        "project 22 23: @18, @21\n"
        "  join inner: (@16 = @19)\n"
        "    filter (@17 = '2024-02-29')\n"
        "      with y: 16 17 18\n"
        "    filter ((@20 = '2024-01-31') and (@21 > 1))\n"
        "      with y: 19 20 21\n");
    /* Joins and aggregates of UNION ALL are those of its parts. */
    rewritten("select label, sum(n) from (select region, 1 as n from shops union all select region, 2 from "
              "shops where area > 5) u join regions r on u.region = r.id group by label",
              "project 18 19: @16, @17\n"
              "  aggregate 16 17: @38; sum(@39)\n"
              "    union all 38 39\n"
              "      project 31 33: @30, @32\n"
              "        aggregate 30 32: @15; sum(1)\n"
              "          join inner: (@1 = @14)\n"
              "            scan shops: 1\n"
              "            scan r: 14 15\n"
              "      project 35 37: @34, @36\n"
              "        aggregate 34 36: @25; sum(2)\n"
              "          join inner: (@7 = @24)\n"
              "            filter (@9 > 5)\n"
              "              scan shops: 7 9\n"
              "            scan r: 24 25\n");
    /* What IN reads may have each row once: no pairs are made; one of several values is another one if an extreme is. */
    rewritten("select label from regions where id in (select a.pieces from sales a, sales b where a.online = "
              "b.online and a.product <> b.product)",
              "project 24: @1\n"
              "  join semi: (@0 = @22)\n"
              "    scan regions: 0 1\n"
              "    project 22: @7\n"
              "      join inner: ((@25 = @9) and ((@26 <> @3) or (@27 <> @3)))\n"
              "        scan a: 3 7 9\n"
              "        aggregate 25 26 27: @19; min(@13), max(@13)\n"
              "          scan b: 13 19\n");
    rewritten("select label from regions where id in (select a.people from visits a, sales b where a.people "
              "> 1 = b.online and b.pieces > 1)",
              "project 16: @1\n"
              "  join semi: (@0 = @14)\n"
              "    scan regions: 0 1\n"
              "    project 14: @3\n"
              "      join semi: ((@3 > 1) = @11)\n"
              "        scan a: 3\n"
              "        filter (@9 > 1)\n"
              "          scan b: 9 11\n");
    /* Rows without a partner; no column of the query is needed that no reference names. */
    rewritten("with y as (select name, region, opened, area from shops left join visits on shop = name where "
              "shop is null) select a.name, b.region from y a, y b where a.name = b.name",
              "with y:\n"
              "  project 6 7: @0, @1\n"
              "    join anti: (@4 = @0)\n"
              "      scan shops: 0 1\n"
              "      scan visits: 4\n"
              "project 18 19: @10, @15\n"
              "  join inner: (@10 = @14)\n"
              "    with y: 10 11\n"
              "    with y: 14 15\n");
    /* Aggregates of the same rows are computed together. */
    rewritten("select (select count(*) from visits where people > 2), id, (select sum(people) from visits "
              "where people > 2) from regions",
              "project 10 11 12: @5, @0, @9\n"
              "  join left\n"
              "    scan regions: 0\n"
              "    project 5 9: @4, @8\n"
              "      aggregate 4 8: count(*), sum(@3)\n"
              "        filter (@3 > 2)\n"
              "          scan visits: 3\n");
}

static void sides_are_grouped_before_joins(void **state)
{
    (void)state;
    /* Both sides of an inner join, */
    rewritten("select a.shelf, count(*), sum(b.pieces), max(a.pieces) from boxes a, boxes b where a.shelf = "
              "b.shelf "
              "group by a.shelf",
              "project 8 9 10 11: @4, @5, @6, @7\n"
              "  project 4 5 6 7: @4, coalesce(@18, 0), @6, @7\n"
              "    aggregate 4 18 6 7: @12; sum((@14 * @15)), sum((@16 * @14)), max(@17)\n"
              "      join inner: (@12 = @13)\n"
              "        aggregate 12 14 17: @0; count(*), max(@1)\n"
              "          scan a: 0 1\n"
              "        aggregate 13 15 16: @2; count(*), sum(@3)\n"
              "          scan b: 2 3\n");
    /* the right one of a left join, which may have no row for one of the left. */
    rewritten("select count(*), count(pieces), sum(id) from regions left join boxes on id = shelf",
              "project 7 8 9: @4, @5, @6\n"
              "  project 4 5 6: coalesce(@13, 0), coalesce(@14, 0), @6\n"
              "    aggregate 13 14 6: sum(coalesce(@11, 1)), sum(@12), sum((@0 * coalesce(@11, 1)))\n"
              "      join left: (@0 = @10)\n"
              "        scan regions: 0\n"
              "        aggregate 10 11 12: @2; count(*), count(@3)\n"
              "          scan boxes: 2 3\n");
    /* Not by keys with few rows each, */
    rewritten("select count(*) from boxes a, boxes b where a.pieces = b.pieces", "project 5: @4\n"
                                                                                 "  aggregate 4: count(*)\n"
                                                                                 "    join inner: (@1 = @3)\n"
                                                                                 "      scan a: 1\n"
                                                                                 "      scan b: 3\n");
    /* and not where a row of one side is compared with one of the other. */
    rewritten("select count(*) from boxes a, boxes b where a.shelf = b.shelf and a.pieces < b.pieces",
              "project 5: @4\n"
              "  aggregate 4: count(*)\n"
              "    join inner: ((@0 = @2) and (@1 < @3))\n"
              "      scan a: 0 1\n"
              "      scan b: 2 3\n");
    rewritten("select sum(a.pieces - b.pieces) from boxes a, boxes b where a.shelf = b.shelf",
              "project 5: @4\n"
              "  aggregate 4: sum((@1 - @3))\n"
              "    join inner: (@0 = @2)\n"
              "      scan a: 0 1\n"
              "      scan b: 2 3\n");
}

static void rewritten_for_gpu(const char *sql, const char *expected)
{
    tree_is(true, true, sql, expected);
}

static void joins_with_the_same_table_are_groups(void **state)
{
    (void)state;
    rewritten_for_gpu(
        "select count(*), sum(a.shelf - b.shelf) from boxes a join boxes b on a.pieces = b.pieces where "
        "a.shelf = 1 and b.shelf = 2",
        "project 6 7: @4, @5\n"
        "  project 4 5: coalesce(@11, 0), @5\n"
        "    aggregate 11 5: sum((@9 * @10)), sum(((@12 * nullif(@10, 0)) - (@13 * nullif(@9, 0))))\n"
        "      aggregate 8 9 10 12 13: @1; count(case((@0 = 1), 1)), count(case((@0 = 2), 1)), sum(case((@0 "
        "= 1), @0)), sum(case((@0 = 2), @0))\n"
        "        filter (((@0 = 1) or (@0 = 2)) and is not null(@1))\n"
        "          scan a: 0 1\n");
    /* Not by other columns, and not for what is no total. */
    rewritten_for_gpu("select count(*) from boxes a join boxes b on a.pieces = b.shelf",
                      "project 5: @4\n"
                      "  aggregate 4: count(*)\n"
                      "    join inner: (@1 = @2)\n"
                      "      scan a: 1\n"
                      "      scan b: 2\n");
    rewritten_for_gpu("select max(a.shelf) from boxes a join boxes b on a.pieces = b.pieces",
                      "project 5: @4\n"
                      "  aggregate 4: max(@0)\n"
                      "    join inner: (@1 = @3)\n"
                      "      scan a: 0 1\n"
                      "      scan b: 3\n");
    rewritten_for_gpu("select sum(a.pieces) from boxes a join boxes b on a.pieces = b.pieces",
                      "project 5: @4\n"
                      "  aggregate 4: sum(@1)\n"
                      "    join inner: (@1 = @3)\n"
                      "      scan a: 1\n"
                      "      scan b: 3\n"); /* it has NULLs */
    /* With groups of its own, of which an array would be too long: windows. */
    rewritten_for_gpu(
        "select count(*) from sales a join (select big k, max(pieces) m from sales where online group by "
        "big) t on a.big = k where a.pieces < m",
        "project 25: @24\n"
        "  aggregate 24: count(*)\n"
        "    project 5 9 22 23: @5, @9, @9, @21\n"
        "      filter ((@5 < @21) and (@28 > 0))\n"
        "        window 21 28: max(@26), count(@27)\n"
        "          project 5 9 17 26 27: @5, @9, @17, case(@17, @5), case(@17, 1)\n"
        "            scan a: 5 9 17\n");
    rewritten_for_gpu(
        "select count(*) from boxes a join (select shelf k, max(pieces) m from boxes group by shelf) t on "
        "a.shelf = k where a.pieces < m",
        "project 9: @8\n"
        "  aggregate 8: count(*)\n"
        "    join inner: ((@1 < @7) and (@0 = @6))\n"
        "      scan a: 0 1\n"
        "      project 6 7: @4, @5\n"
        "        aggregate 4 5: @2; max(@3)\n"
        "          scan boxes: 2 3\n");
}

static void mistakes(void **state)
{
    (void)state;
    bound("select nothing from sales",
          "line 1, column 8: there is no column nothing; there are shop, "
          "product, gift, day, at, pieces, paid, online, note, big; strings are in "
          "single quotes\n");
    bound(
        "select shop from sales, visits",
        "line 1, column 8: shop could be a column of more than one table; write sales.shop or visits.shop\n");
    bound("select pieces, count(*) from sales", "line 1, column 8: pieces is neither in GROUP BY nor inside "
                                                "an aggregate, so it has no one value; add it "
                                                "to GROUP BY, or write min(pieces)\n");
    bound("select shop from sales where count(*) > 1",
          "line 1, column 30: count is an aggregate, which cannot stand in WHERE, ON, GROUP BY or another "
          "aggregate; use HAVING\n");
    bound("select (select shop, pieces from sales) from visits",
          "line 1, column 9: this subquery stands for one value, so it has one column, not 2\n");
    bound("select a as b, b as a from visits", "line 1, column 8: the alias a leads to itself\n");
    bound("select shop from sales union select shop, people from visits",
          "line 1, column 30: this SELECT has 2 columns, and the one before it 1\n");
    bound("select day + shop from sales",
          "line 1, column 12: a date and a string cannot be added or subtracted\n");
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(trees_of_the_binder),
                                       cmocka_unit_test(trees_of_the_rewriter),
                                       cmocka_unit_test(conditions_go_further),
                                       cmocka_unit_test(sides_are_grouped_before_joins),
                                       cmocka_unit_test(joins_with_the_same_table_are_groups),
                                       cmocka_unit_test(mistakes)};
    return cmocka_run_group_tests(tests, star_open, star_close);
}
