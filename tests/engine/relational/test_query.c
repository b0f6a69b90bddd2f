/*
 * test_query.c: statements of several query blocks (engine/relational/execute.h) over the small star of sql_star.h: WITH,
 * subqueries, UNION and the like, window functions, joins of answers. SQLite, which has the same rows, is asked the
 * same text; an answer without ORDER BY is compared as a set of lines.
 */
#define _GNU_SOURCE
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>

#include "tests/support/sql/as_sqlite.h"
#include "tests/support/sql/sql_star.h"

#include <sys/resource.h>

static const char sqlite_script[] =
    "create table regions (id int, label text);"
    "insert into regions values (1,'north'),(2,'south');"
    "create table shops (name text, region int, opened text, area real);"
    "insert into shops values ('A',1,'2001-05-06',120.5),('B',2,'1999-12-31',80),('C',null,null,null);"
    "create table products (id int, kind text, since text);"
    "insert into products values (-5,'tea','2000-01-01'),(12,'tea','1999-09-09'),(70,'coffee',null);"
    "create table sales (shop text, product int, gift int, day text, at text, pieces int, paid real, online "
    "int,"
    " note text, big int);"
    "insert into sales values"
    "('A',12,null,'2024-01-31','2024-01-31 10:11:12.000000',3,2.97,1,'plain',9000000000000000000),"
    "('A',70,-5,'2024-02-29',null,1,12.00,0,'100%',9000000000000000000),"
    "('B',12,12,'2024-02-29','2024-02-29 23:59:59.250000',null,null,1,'Mixed',1),"
    "('C',-5,12,'2023-12-31',null,-2,7.00,0,null,-7),"
    "('B',null,70,'2024-03-01','2024-03-01 00:00:00',10,0.50,1,'a_b',0);"
    "create table visits (shop text, people int);"
    "insert into visits values ('A',100),('B',250),('A',3);";

static sqlite3 *sqlite;

static int open_both(void **state)
{
    assert_int_equal(sqlite3_open(":memory:", &sqlite), SQLITE_OK);
    assert_int_equal(sqlite3_exec(sqlite, sqlite_script, NULL, NULL, NULL), SQLITE_OK);
    return star_open(state);
}

static int close_both(void **state)
{
    sqlite3_close(sqlite);
    return star_close(state);
}

static void as_sqlite(const char *sql)
{
    answers_as_sqlite(star_engine, star_database, sqlite, sql);
}

static void each_as_sqlite(const char *const *statements, size_t count)
{
    for (size_t i = 0; i < count; i++)
        as_sqlite(statements[i]);
}
#define EACH_AS_SQLITE(statements) each_as_sqlite(statements, sizeof(statements) / sizeof *(statements))

/* ---- Statements ---- */

static void subqueries_in_from(void **state)
{
    static const char *const statements[] = {
        "select * from (select shop, sum(pieces) as s from sales group by shop) t order by shop",
        "select t.s + 1 as more, upper(t.shop) from (select shop, sum(pieces) as s from sales group by shop) "
        "t "
        "where s > 0",
        "select max(s), min(s), avg(s), count(*), sum(s) from (select shop, sum(pieces) as s from sales "
        "group by shop)",
        "select a, count(*) from (select avg(paid) as a from sales group by shop) t where a > 1.5 group by a",
        "select s, count(*) from (select shop, count(*) as s from sales group by shop) t group by s having "
        "count(*) > 1",
        "select x.shop, y.n from (select shop, pieces from sales where pieces > 0) x join (select shop as "
        "sh, "
        "count(*) as n from visits group by shop) y on x.shop = y.sh order by x.pieces",
        "select x.shop, y.n from (select distinct shop from sales) x left join (select shop as sh, count(*) "
        "as n from "
        "visits group by shop) y on x.shop = y.sh order by 1",
        "select x.shop, y.n from (select distinct shop from sales) x left join (select shop as sh, count(*) "
        "as n from "
        "visits group by shop) y on x.shop = y.sh and y.n > 1 order by 1",
        "select x.shop, y.shop from (select distinct shop from sales) x left join (select distinct shop from "
        "visits) y "
        "on x.shop < y.shop order by 1, 2",
        "select a.shop, b.shop from (select distinct shop from sales) a, (select distinct shop from visits) "
        "b",
        "select a.shop, b.shop from (select distinct shop from sales) a cross join (select distinct shop "
        "from visits) "
        "b where a.shop <> b.shop",
        "select count(*) from (select shop from sales) t",
        "select count(*) from (select shop from sales where pieces > 1000) t",
        "select sum(pieces), max(shop) from (select * from sales where pieces > 1000) t",
        "select * from (select * from (select day, pieces from sales order by pieces desc limit 3) order by "
        "day limit "
        "2) order by pieces",
        "select d, n from (select day as d, count(*) as n from sales group by day) t where d >= '2024-01-01' "
        "order by d",
        "select note, length(note) from (select note from sales) t where note like '%a%' order by note",
        "select s.day, p.kind, t.n from sales s, products p, (select shop, count(*) as n from visits group "
        "by shop) t "
        "where s.product = p.id and t.shop = s.shop order by 1, 2",
        "select r.label, t.n from shops h join regions r on h.region = r.id join (select shop, count(*) as n "
        "from "
        "visits group by shop) t on t.shop = h.name order by 1",
        "select h.name, t.n from (select shop, count(*) as n from visits group by shop) t left join shops h "
        "on h.name "
        "= t.shop and h.area > 100 order by 2",
        "select a.pieces, b.pieces from (select day, pieces from sales) a, (select day, pieces from sales) b "
        "where "
        "a.day = b.day and a.pieces > 0",
        "select a.n, b.n from (select shop, count(*) as n from sales group by shop) a join (select shop, "
        "sum(people) as "
        "n from visits group by shop) b on a.shop = b.shop and a.n * 1.0 = 2 order by 2",
        "select a.p, b.m from (select paid as p from sales) a join (select pieces as m from sales) b on a.p "
        "+ 3 = b.m",
        "select case when s > 5 then 'big' when s is null then 'none' else 'small' end as size, count(*) "
        "from (select "
        "shop, sum(pieces) as s from sales group by shop) t group by 1",
        "select x from (select pieces as x, shop from sales) t where shop in ('A', 'C') and x between -5 and "
        "2",
        "select online, count(*) from (select online from sales) t group by online order by 1",
    };
    (void)state;
    EACH_AS_SQLITE(statements);
}

static void outer_joins(void **state)
{
    static const char *const statements[] = {
        "select a.shop, b.n from (select distinct shop from sales where shop <> 'A') a full join (select "
        "shop, count(*) "
        "as n from visits group by shop) b on a.shop = b.shop",
        "select a.shop, b.n from (select distinct shop from sales where shop <> 'A') a right join (select "
        "shop, count(*) "
        "as n from visits group by shop) b on a.shop = b.shop",
        "select a.shop, b.n from (select distinct shop from sales) a full outer join (select shop, count(*) "
        "as n from "
        "visits group by shop) b on a.shop = b.shop and b.n > 1",
        "select s.pieces, v.people from sales s full join visits v on s.shop = v.shop where v.people is null "
        "or "
        "v.people > 50",
        "select h.name, p.id from shops h right join products p on h.region = p.id where h.name is null",
        "select count(*), count(a.d), count(b.d) from (select day as d from sales) a full join (select "
        "opened as d from "
        "shops) b on a.d = b.d",
        "select h.name, v.people, s.pieces from shops h full join visits v on h.name = v.shop join sales s "
        "on s.shop = "
        "h.name",
        "select coalesce(a.shop, b.shop), c.k from (select distinct shop from sales where shop <> 'A') a "
        "full join (select "
        "distinct shop from visits) b on a.shop = b.shop left join (select 'A' as k union select 'C') c on "
        "coalesce(a.shop, "
        "b.shop) = c.k",
        /* a key that is an expression of a row that the join before did not find */
        "select a.shop, b.n, c.k from (select distinct shop from sales) a left join (select shop, count(*) "
        "as n "
        "from visits where shop <> 'A' group by shop) b on a.shop = b.shop join (select 0 as k union select "
        "1) c on "
        "coalesce(b.n, 0) = c.k",
        "select a.shop, c.k from (select distinct shop from sales) a left join (select shop from visits "
        "where "
        "shop <> 'A') b on a.shop = b.shop left join (select 1 as k) c on (b.shop is null) = c.k",
    };
    (void)state;
    EACH_AS_SQLITE(statements);
}

static void joins_by_using(void **state)
{
    static const char *const statements[] = {
        "select * from (select shop, pieces from sales) a join visits using (shop)",
        "select shop, n from (select distinct shop from sales) a left join (select shop, count(*) as n from "
        "visits group by shop) b using (shop) where shop > 'A' order by shop",
        "select shop, pieces, people from (select shop, pieces from sales where shop <> 'A') a full join "
        "visits "
        "using (shop) order by shop, 2, 3",
        "select * from (select shop, pieces from sales where shop <> 'A') a full join visits using (shop)",
        "select * from (select shop, pieces from sales where shop <> 'A') a right join visits using (shop)",
        "select shop, count(*) from (select shop, pieces from sales where shop <> 'A') a full join visits "
        "using "
        "(shop) group by shop having shop < 'C'",
        "select a.*, b.shop from (select shop, pieces from sales) a join (select distinct shop from visits) "
        "b "
        "using (shop)",
        "select shop, c.people from (select shop from sales) a full join visits b using (shop) join visits c "
        "using "
        "(shop)",
        "select 1 from (select shop from sales) a join (select shop from visits) using (shop)",
    };
    (void)state;
    EACH_AS_SQLITE(statements);
}

static void with(void **state)
{
    static const char *const statements[] = {
        "with t as (select shop, sum(pieces) as s from sales group by shop) select * from t order by s",
        "with t as (select shop, sum(pieces) as s from sales group by shop), u as (select max(s) as m from "
        "t) select "
        "t.shop from t, u where t.s = u.m",
        "with t (a, b) as (select shop, sum(pieces) from sales group by shop) select a, b from t order by a",
        "with t as (select shop, pieces from sales) select a.shop, count(*) from t a join t b on a.shop = "
        "b.shop group "
        "by a.shop order by 1",
        "with t as (select 1 as one, shop from visits) select sum(one) from t",
        "with a as (select shop as k from sales), b as (select k from a where k > 'A') select distinct k "
        "from b",
        "with t as (select 3 as a, 'x' as b union select 2, 'y') select * from t order by a",
        "select (select count(*) from sales) as n, (select sum(people) from visits) as p",
        "select pieces from sales, (select 2 as least) p where pieces > least",
        "select column1, column2 from (values (1, 'one'), (2, null), (3, 'three')) t order by column1",
        "with t (n, name) as (values (1, 'A'), (2, 'B')) select s.pieces, t.n from sales s, t where s.shop = "
        "t.name",
        "select count(*) from sales where pieces in (values (1), (10))",
        "with sales as (select shop, people as pieces from visits) select sum(pieces) from sales",
        "select * from (with t as (select max(day) as d from sales) select d from t) u",
        "with t as (select day, pieces from sales) select s.shop, t.pieces from sales s join t on s.day = "
        "t.day where "
        "s.pieces is not null order by 1, 2",
    };
    (void)state;
    EACH_AS_SQLITE(statements);
}

static void values(void **state)
{
    static const char *const statements[] = {
        "select pieces from sales where pieces > (select avg(pieces) from sales)",
        "select pieces, (select max(people) from visits) as m from sales",
        "select count(*) from sales where paid = (select min(paid) from sales)",
        "select count(*) from sales where day = (select max(day) from sales)",
        "select count(*) from sales where shop = (select name from shops where opened = (select min(opened) "
        "from "
        "shops))",
        "select pieces from sales where pieces > (select pieces from sales where shop = 'Z')",
        "select sum(pieces) * 100.0 / (select sum(pieces) from sales) as share from sales group by shop",
        "select shop, sum(pieces) from sales group by shop having sum(pieces) > (select avg(pieces) from "
        "sales)",
        "select shop from sales where shop in (select shop from visits)",
        "select shop from sales where shop not in (select shop from visits)",
        "select pieces from sales where pieces in (select people - 2 from visits)",
        "select pieces from sales where pieces not in (select pieces from sales where pieces > 2)",
        "select pieces from sales where pieces not in (select pieces from sales)",
        "select pieces from sales where pieces not in (select people from visits where people > 1000)",
        "select pieces from sales where pieces in (select people from visits where people > 1000)",
        "select count(*) from sales where paid in (select paid + 0.5 - 0.5 from sales where online)",
        "select count(*) from sales where product in (select id from products where kind = 'tea')",
        "select count(*) from sales where exists (select 1 from visits where people > 200)",
        "select count(*) from sales where not exists (select * from visits where people > 2000)",
        "select count(*) from sales where day in (select day from sales where pieces is null)",
        "select (select count(*) from sales) - (select count(*) from visits) as more from regions where id = "
        "1",
        "select pieces from sales order by pieces > (select 2 from regions where id = 1), pieces",
        "select h.name from shops h where h.name in (select shop from sales group by shop having sum(pieces) "
        "> 0)",
        "with t as (select avg(people) as a from visits) select people from visits where people > (select a "
        "from t)",
        "select online, note in (select note from sales where note is not null) from sales",
        "select pieces + (select sum(people) from visits where shop = 'Z') from sales",
    };
    (void)state;
    EACH_AS_SQLITE(statements);
}

static void correlated_by_a_key(void **state)
{
    static const char *const statements[] = {
        "select name from shops h where exists (select 1 from sales s where s.shop = h.name and s.pieces > "
        "2)",
        "select name from shops h where not exists (select 1 from visits v where v.shop = h.name)",
        "select id from products p where not exists (select * from sales where product = p.id)",
        "select id, exists (select 1 from sales s where p.id = s.gift) from products p",
        "select pieces from sales s where not exists (select 1 from products p where p.id = s.product)",
        "select name, (select sum(people) from visits v where v.shop = h.name) as n from shops h",
        "select name, (select count(*) from sales s where s.shop = h.name and s.pieces > 1) as n from shops "
        "h order by name",
        "select shop, pieces from sales s where pieces = (select max(t.pieces) from sales t where t.shop = "
        "s.shop)",
        "select *, (select count(*) from visits v where v.shop = s.shop) as n from visits s order by people",
        "select name from shops h where area > (select avg(people) from visits where shop = h.name) / 2",
        "select name from shops h where exists (select count(*) from visits v where v.shop = 'Z')",
        "select kind, n from (select kind, count(*) as n from products group by kind) p where exists (select "
        "1 from sales "
        "where pieces = n + 1)",
        "select label, (select min(opened) from shops where region = r.id) as first from regions r order by "
        "label",
        "select shop, (select max(label) from regions where id = 1) from visits v where exists (select 1 "
        "from sales s, "
        "products p where s.product = p.id and s.shop = v.shop and p.kind = 'coffee')",
    };
    (void)state;
    EACH_AS_SQLITE(statements);
}

static void sets(void **state)
{
    static const char *const statements[] = {
        "select shop from sales union select shop from visits",
        "select shop from sales union all select shop from visits order by 1",
        "select shop from sales except select shop from visits",
        "select shop from sales intersect select shop from visits",
        "select pieces from sales union select people from visits order by pieces desc",
        "select pieces from sales union select paid from sales",
        "select name, area from shops union select shop, people from visits",
        "select product, note from sales union select null, shop from visits",
        "select label from regions union select kind from products union all select 'north' from regions "
        "where id = 1",
        "select label as a from regions union all select kind from products order by a limit 3",
        "select label as a from regions union all select kind from products order by 1 desc limit 2 offset 1",
        "select a, count(*) from (select shop as a from sales union all select shop from visits) t group by "
        "a order by "
        "a",
        "select shop from sales where shop in (select shop from visits union select 'C' from regions where "
        "id = 1)",
        "select product from sales union select gift from sales",
        "select product from sales except select gift from sales",
        "select product from sales intersect select gift from sales",
        "select day from sales where pieces > 2 union select opened from shops",
        "with a as (select shop from sales), b as (select shop from visits) select * from a except select * "
        "from b",
        "select avg(pieces) from sales union select sum(people) from visits",
    };
    (void)state;
    EACH_AS_SQLITE(statements);
    /* INTERSECT binds closer, as in the standard and in DuckDB; in SQLite it does not */
    answers("select name from shops union select 'Z' from regions intersect select 'Q' from regions",
            "A\nB\nC\n");
    answers("select * from (values (1, 'one'), (2, 'two')) as t (n, name) order by n desc", "2,two\n1,one\n");
    answers("values (1, 2.5), (3, 4)", "1,2.5\n3,4.0\n");
    answers("select name from shops except (select shop from visits)", "C\n");
    answers("(select shop from sales order by pieces desc limit 1) union all (select shop from visits order "
            "by people "
            "limit 1)",
            "B\nA\n");
}

static void windows(void **state)
{
    static const char *const statements[] = {
        "select shop, pieces, row_number() over (order by day, shop) as r from sales order by r",
        "select shop, rank() over (order by shop) as r, dense_rank() over (order by shop) as d from sales "
        "order by 1, 2",
        "select shop, pieces, row_number() over (partition by shop order by pieces desc) as r from sales "
        "order by 1, 3",
        "select pieces, ntile(2) over (order by pieces) as h, ntile(7) over (order by pieces desc) as s from "
        "sales "
        "order by pieces",
        "select day, lag(pieces) over (order by day, shop) as a, lead(pieces, 2) over (order by day, shop) "
        "as b, "
        "lag(pieces, 1, 99) over (order by day, shop) as c from sales order by day, shop",
        "select day, first_value(pieces) over (order by day, shop) as a, last_value(pieces) over (order by "
        "day, shop) "
        "as b, nth_value(pieces, 2) over (order by day, shop) as c from sales order by day, shop",
        "select shop, sum(pieces) over (partition by shop) as s, count(*) over (partition by shop) as n, "
        "count(pieces) "
        "over () as m from sales order by 1",
        "select day, sum(pieces) over (order by day) as s, avg(paid) over (order by day) as a from sales "
        "order by day, "
        "shop",
        "select day, shop, sum(paid) over (order by day, shop rows between 1 preceding and 1 following) as s "
        "from sales "
        "order by day, shop",
        "select day, shop, min(pieces) over (order by day, shop rows between 2 preceding and current row) as "
        "a, "
        "max(pieces) over (order by day, shop rows between current row and unbounded following) as b from "
        "sales order "
        "by day, shop",
        "select day, shop, min(note) over (order by day, shop rows 1 preceding) as a, max(day) over (order "
        "by shop rows "
        "between 2 following and 3 following) as b, sum(pieces) over (order by day, shop rows between 3 "
        "preceding and "
        "2 preceding) as c from sales order by day, shop",
        "select shop, sum(pieces) as s, rank() over (order by sum(pieces) desc) as r from sales group by "
        "shop order by r",
        "select shop, sum(pieces) as s, sum(sum(pieces)) over (order by shop) as running from sales group by "
        "shop order "
        "by shop",
        "select shop, sum(pieces) * 100.0 / sum(sum(pieces)) over () as share from sales group by shop order "
        "by share",
        "select * from (select shop, day, row_number() over (partition by shop order by day desc) as r from "
        "sales) t "
        "where r = 1 order by shop",
        "select percent_rank() over (order by pieces) as p, cume_dist() over (order by pieces) as c from "
        "sales order "
        "by 1, 2",
        "select pieces, sum(pieces) over w as s, count(*) over w as n from sales window w as (order by "
        "pieces) order by "
        "pieces",
        "select distinct shop, count(*) over (partition by shop) as n from sales order by shop",
        "select shop, pieces - lag(pieces) over (partition by shop order by day) as change from sales order "
        "by shop, day",
        "select h.name, s.pieces, max(s.pieces) over (partition by h.region) as m from sales s join shops h "
        "on s.shop = "
        "h.name order by 1, 2",
        "select year, n, n - lag(n) over (order by year) as more from (select substr(note, 1, 1) as year, "
        "count(*) as n "
        "from sales group by 1) t order by year",
        "select shop, case when row_number() over (order by day, shop) > 2 then 'late' else 'early' end as t "
        "from sales "
        "order by day, shop",
        "select row_number() over () from visits",
        "select *, row_number() over (order by people) as r from visits order by r desc",
        "select shop from sales order by row_number() over (order by day, shop) desc",
        "select shop, rank() over (order by pieces desc nulls first) as r from sales order by r limit 2",
        "with t as (select shop, avg(paid) as a from sales group by shop) select shop, a, sum(a) over (order "
        "by shop) "
        "as s, max(a) over () as m from t order by shop",
        "select pieces from sales where pieces > 100 order by rank() over (order by pieces)",
        "select count(*) over () from sales where pieces > 100",
        /* names in any case of letters; the alias comes before the column in ORDER BY */
        "select -pieces as Pieces, row_number() over (order by pieces) as R from sales order by pieces, r",
        "select sum(pieces) over W, count(*) over w from sales window w as (partition by shop) order by 1, 2",
    };
    (void)state;
    EACH_AS_SQLITE(statements);
}

static void qualify(void **state)
{
    (void)state;
    answers("select shop, pieces from sales qualify row_number() over (partition by shop order by pieces "
            "desc) = 1 order "
            "by shop",
            "A,3\nB,10\nC,-2\n");
    answers("select shop, rank() over (order by sum(pieces) desc) as r from sales group by shop qualify r <= "
            "2 order by r",
            "B,1\nA,2\n");
    refused("select shop from sales qualify pieces > 1",
            "line 1, column 39: QUALIFY sets a condition on window");
}

static void subqueries_name_what_is_around_them(void **state)
{
    (void)state;
    answers(
        "select name from shops h where exists (select 1 from sales s where s.pieces > h.region) order by 1",
        "A\nB\n");
    answers(
        "select name from shops where exists (select 1 from visits where shop = name group by ()) order by 1",
        "A\nB\nC\n");
    answers("select name from shops where area > (select sum(people) + 1 from visits where shop = name)",
            "A\n");
    answers(
        "select name, (select sum(people) from visits where shop = name) from shops group by name order by 1",
        "A,103\nB,250\nC,\n");
}

static void what_cannot_be_is_refused(void **state)
{
    (void)state;
    refused("select (select shop from sales) from regions",
            "line 1, column 9: the subquery has 5 rows where one value should stand; aggregate it");
    refused("select 1 from sales where pieces in (select shop, people from visits)",
            "line 1, column 34: 1 value is compared with a subquery of 2 columns");
    refused("select shop from sales union select shop, people from visits",
            "line 1, column 30: this SELECT has 2 columns, and the one before it 1");
    refused("select shop from sales union select people from visits",
            "line 1, column 30: shop is a string and people is a number; CAST one of them");
    refused("select shop from sales where row_number() over () > 1",
            "line 1, column 30: a window function stands in the select list or in ORDER BY");
    refused("with t (a, b) as (select shop from sales) select a from t",
            "line 1, column 6: t names 2 columns");
    refused("select x from (select shop from sales) t",
            "line 1, column 8: there is no column x; there are shop");
    refused("select t.shop from (select shop from sales) t, nowhere n", "line 1, column 48: ");
}

static void types_and_names_stay(void **state)
{
    (void)state;
    answers("select paid, day, at, online, big from (select * from sales) t where shop = 'A' and pieces = 3",
            "2.97,2024-01-31,2024-01-31 10:11:12,true,9000000000000000000\n");
    answers("select max(paid), sum(paid), min(at) from (select paid, at from sales) t",
            "12.00,22.47,2024-01-31 10:11:12\n");
    answers("select day + 1 from (select max(day) as day from sales) t", "2024-03-02\n");
    struct sql_statement *const statement = prepare_query(
        "select * from (select shop, sum(case when pieces > 0 then pieces else 0 end), count(*) as shop "
        "from sales group by shop) t");
    struct rowset rows;
    must(sql_run(statement, &rows, NULL, error));
    assert_string_equal(rows.columns[0].name, "shop");
    assert_string_equal(rows.columns[1].name, "sum(case when pieces > 0 then pieces else 0 end)");
    assert_string_equal(rows.columns[2].name, "shop");
    rowset_free(&rows);
    sql_statement_free(statement);
}

/* EXPLAIN ANALYZE runs and counts each of them, also the last one. */
static void explain_analyze_measures_the_blocks(void **state)
{
    (void)state;
    struct sql_statement *const statement =
        prepare_query("explain analyze with t as (select shop, count(*) as n from visits group by shop) "
                      "select a.n from t a, t "
                      "b where a.n < b.n and a.n > (select count(*) from sales where pieces > 1000)");
    struct rowset rows;
    must(sql_run(statement, &rows, NULL, error));
    char *const text = rowset_csv(&rows);
    uint32_t scans = 0;
    for (const char *at = text; (at = strstr(at, "whole scan: ")); at++)
        scans++;
    if (scans != 1 || !strstr(text, "with t:") || !strstr(text, "no row can be in the answer"))
        fail_msg("%s", text);
    free(text);
    rowset_free(&rows);
    sql_statement_free(statement);
}

static void explain_shows_the_blocks(void **state)
{
    (void)state;
    struct sql_statement *const statement =
        prepare_query("explain with t as (select shop, count(*) as n from visits group by shop) select "
                      "s.shop, t.n, rank() over "
                      "(order by t.n) from sales s join t on s.shop = t.shop where s.pieces > (select "
                      "avg(pieces) from sales)");
    struct rowset rows;
    must(sql_run(statement, &rows, NULL, error));
    char *const text = rowset_csv(&rows);
    static const char *const parts[] = {"value at line 1", "after avg(pieces) is known",
                                        "scan visits",     "inner join by 1 key",
                                        "scan sales",      "1 window function"};
    for (size_t i = 0; i < sizeof parts / sizeof *parts; i++)
        if (!strstr(text, parts[i]))
            fail_msg("EXPLAIN does not say %s: %s", parts[i], text);
    free(text);
    rowset_free(&rows);
    sql_statement_free(statement);
}

static uint64_t most_memory(void)
{
    struct rusage usage;
    assert_int_equal(getrusage(RUSAGE_SELF, &usage), 0);
    return (uint64_t)usage.ru_maxrss * 1024;
}

/* A dictionary for each pair of rows took 6 GB, and 55 s. */
static void memory_for_values_grows_with_their_number(void **state)
{
    enum { ROWS = 20000 };
    static const char *const between[] = {"values ('number %d')", ", ('number %d')", "select 'number %d'",
                                          " union select 'number %d'"};
    (void)state;
    for (int set = 0; set < 2; set++) {
        char *const text = malloc(ROWS * 64), *at = text, expected[32];
        assert_non_null(text);
        at += sprintf(at, "select count(distinct x), min(x) from (");
        for (int row = 0; row < ROWS; row++)
            at += sprintf(at, between[2 * set + (row > 0)], row);
        sprintf(at, ") t(x)");
        snprintf(expected, sizeof expected, "%d,number 0\n", ROWS);
        const uint64_t before = most_memory();
        answers(text, expected);
#ifndef __SANITIZE_ADDRESS__ /* which keeps what is freed */
        assert_true(most_memory() - before < UINT64_C(500) << 20);
#else
        (void)before;
#endif
        free(text);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(subqueries_in_from),
        cmocka_unit_test(outer_joins),
        cmocka_unit_test(joins_by_using),
        cmocka_unit_test(with),
        cmocka_unit_test(values),
        cmocka_unit_test(correlated_by_a_key),
        cmocka_unit_test(sets),
        cmocka_unit_test(windows),
        cmocka_unit_test(qualify),
        cmocka_unit_test(subqueries_name_what_is_around_them),
        cmocka_unit_test(what_cannot_be_is_refused),
        cmocka_unit_test(types_and_names_stay),
        cmocka_unit_test(memory_for_values_grows_with_their_number),
        cmocka_unit_test(explain_analyze_measures_the_blocks),
        cmocka_unit_test(explain_shows_the_blocks),
    };
    return cmocka_run_group_tests_name("query", tests, open_both, close_both);
}
