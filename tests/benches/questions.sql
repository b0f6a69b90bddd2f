-- The questions of bench_questions.py, on the tables of the Star Schema Benchmark. A line "-- kind: name" begins each.
-- They were written before the operators that they measure were made fast; none of them is changed to suit an engine.
-- Each answer has one right order, so that any two engines' answers are compared row by row.

-- whole columns: three aggregates
select min(lo_revenue), max(lo_extendedprice), sum(lo_supplycost) from lineorder;
-- whole columns: one sum
select sum(lo_revenue) from lineorder;
-- whole columns: five counts and sums
select count(*), count(lo_tax), sum(lo_quantity), sum(lo_discount), sum(lo_tax) from lineorder;
-- whole columns: extrema of six columns
select min(lo_orderkey), max(lo_orderkey), min(lo_orderdate), max(lo_orderdate), min(lo_partkey), max(lo_custkey) from lineorder;
-- whole columns: sum of a product
select sum(lo_extendedprice * lo_discount), count(*) from lineorder;
-- whole columns: most rows pass
select count(*), sum(lo_revenue), min(lo_supplycost) from lineorder where lo_quantity <> 7;
-- whole columns: half of the rows pass
select count(*), sum(lo_revenue), max(lo_tax) from lineorder where lo_quantity > 25;
-- whole columns: two columns compared
select count(*), sum(lo_extendedprice) from lineorder where lo_revenue > lo_supplycost * 40;
-- whole columns: conditions joined by or
select count(*), sum(lo_revenue) from lineorder where lo_discount = 3 or lo_tax = 5 or lo_quantity < 4;

-- dense groups: by discount
select lo_discount, count(*), sum(lo_revenue) from lineorder group by lo_discount order by lo_discount;
-- dense groups: by quantity and tax
select lo_quantity, lo_tax, count(*), sum(lo_extendedprice), max(lo_revenue) from lineorder group by 1, 2 order by 1, 2;
-- dense groups: by ship mode and priority
select lo_shipmode, lo_orderpriority, count(*), sum(lo_revenue) from lineorder group by 1, 2 order by 1, 2;
-- dense groups: by year and nation
select d_year, c_nation, sum(lo_revenue), count(*) from lineorder, date, customer
where lo_orderdate = d_datekey and lo_custkey = c_custkey group by 1, 2 order by 1, 2;
-- dense groups: by three regions
select c_region, s_region, p_mfgr, sum(lo_revenue - lo_supplycost) from lineorder, customer, supplier, part
where lo_custkey = c_custkey and lo_suppkey = s_suppkey and lo_partkey = p_partkey group by 1, 2, 3 order by 1, 2, 3;
-- dense groups: by day
select lo_orderdate, count(*), sum(lo_quantity) from lineorder group by 1 order by 2 desc, 1 limit 10;
-- dense groups: rollup
select d_year, d_month, sum(lo_revenue) from lineorder, date where lo_orderdate = d_datekey group by rollup (d_year, d_month)
order by 1 nulls first, 2 nulls first;

-- case: groups by classes
select case when lo_quantity < 10 then 'few' when lo_quantity < 40 then 'some' else 'many' end as class, count(*), sum(lo_revenue)
from lineorder group by 1 order by 1;
-- case: sums of six years
select sum(case when d_year = 1992 then lo_revenue else 0 end), sum(case when d_year = 1993 then lo_revenue else 0 end),
sum(case when d_year = 1994 then lo_revenue else 0 end), sum(case when d_year = 1995 then lo_revenue else 0 end),
sum(case when d_year = 1996 then lo_revenue else 0 end), sum(case when d_year = 1997 then lo_revenue else 0 end)
from lineorder, date where lo_orderdate = d_datekey;
-- case: margin classes by arithmetic
select (lo_revenue - lo_supplycost) % 13 as class, count(*), sum(lo_revenue * (100 - lo_tax)) from lineorder group by 1 order by 1;
-- case: counts of what holds
select lo_tax, sum(case when lo_revenue > 2 * lo_supplycost then 1 else 0 end), count(case when lo_discount = 0 then 1 end)
from lineorder group by lo_tax order by lo_tax;
-- case: arithmetic without groups
select sum(case when lo_discount > 5 then lo_extendedprice * (100 - lo_discount) else lo_extendedprice * 100 end),
max(lo_revenue + lo_tax * lo_quantity), min(abs(lo_revenue - 100 * lo_supplycost)) from lineorder;

-- groups of many keys: suppliers and discounts
select lo_suppkey, lo_discount, count(*), sum(lo_revenue) s from lineorder group by 1, 2 order by s desc, 1, 2 limit 10;
-- groups of many keys: customers
select lo_custkey, sum(lo_revenue) s, count(*) from lineorder group by lo_custkey order by s desc, lo_custkey limit 10;
-- groups of many keys: parts
select lo_partkey, min(lo_supplycost), max(lo_extendedprice) m, count(*) from lineorder group by lo_partkey order by m desc, 1 limit 10;
-- groups of many keys: orders
select lo_orderkey, sum(lo_extendedprice) s from lineorder group by lo_orderkey order by s desc, lo_orderkey limit 10;
-- groups of many keys: customers and suppliers
select lo_custkey, lo_suppkey, count(*) n from lineorder group by 1, 2 order by n desc, 1, 2 limit 10;
-- groups of many keys: parts and days
select lo_partkey, lo_orderdate, sum(lo_quantity) q from lineorder group by 1, 2 order by q desc, 1, 2 limit 10;
-- groups of many keys: how many are large
select count(*), max(n), sum(s) from (select lo_custkey, lo_orderdate, count(*) n, sum(lo_revenue) s from lineorder
group by lo_custkey, lo_orderdate having count(*) > 1) g;
-- groups of many keys: names of customers
select c_name, sum(lo_revenue) s from lineorder, customer where lo_custkey = c_custkey group by c_name order by s desc, c_name limit 10;
-- groups of many keys: a value that is computed
select lo_extendedprice % 100003 as k, count(*) n from lineorder group by 1 order by n desc, k limit 10;

-- distinct: customers
select count(distinct lo_custkey) from lineorder;
-- distinct: orders
select count(distinct lo_orderkey) from lineorder;
-- distinct: customers by year
select d_year, count(distinct lo_custkey) from lineorder, date where lo_orderdate = d_datekey group by d_year order by d_year;
-- distinct: parts by supplier
select lo_suppkey, count(distinct lo_partkey) n, count(*) from lineorder group by lo_suppkey order by n desc, lo_suppkey limit 10;
-- distinct: two counts by discount
select lo_discount, count(distinct lo_custkey), count(distinct lo_suppkey) from lineorder group by 1 order by 1;
-- distinct: how many pairs
select count(*) from (select distinct lo_partkey, lo_suppkey from lineorder) p;
-- distinct: prices
select count(distinct lo_extendedprice), sum(distinct lo_tax) from lineorder where lo_quantity < 30;

-- quantiles: median of a column
select median(lo_extendedprice) from lineorder;
-- quantiles: medians of brands
select p_brand1, median(lo_extendedprice) from lineorder, part where lo_partkey = p_partkey and p_mfgr = 'MFGR#3'
group by p_brand1 order by p_brand1;
-- quantiles: three of a column
select quantile_cont(lo_revenue, 0.1), quantile_cont(lo_revenue, 0.5), quantile_cont(lo_revenue, 0.99) from lineorder;
-- quantiles: medians of quantities by discount
select lo_discount, median(lo_quantity), median(lo_revenue) from lineorder group by lo_discount order by lo_discount;
-- quantiles: of each supplier
select lo_suppkey, quantile_cont(lo_revenue, 0.9) q from lineorder group by lo_suppkey order by q desc, lo_suppkey limit 10;

-- windows: rank over groups
select c_city, d_year, s, rank() over (partition by d_year order by s desc) r from (select c_city, d_year, sum(lo_revenue) s
from lineorder, customer, date where lo_custkey = c_custkey and lo_orderdate = d_datekey group by 1, 2) g order by d_year, r, c_city limit 20;
-- windows: running sum over days
select d, s, sum(s) over (order by d) r from (select lo_orderdate d, sum(lo_revenue) s from lineorder group by lo_orderdate) g
order by d limit 20;
-- windows: moving average over days
select d, avg(s) over (order by d rows between 6 preceding and current row) m from (select lo_orderdate d, sum(lo_quantity) s
from lineorder group by lo_orderdate) g order by m desc, d limit 10;
-- windows: change from the month before
select y, s - lag(s) over (order by y) from (select d_yearmonthnum y, sum(lo_revenue) s from lineorder, date
where lo_orderdate = d_datekey group by d_yearmonthnum) g order by y;
-- windows: dearest line of an order
select count(*), sum(lo_revenue) from (select lo_revenue, row_number() over (partition by lo_orderkey order by lo_extendedprice desc,
lo_linenumber) n from lineorder) w where n = 1;
-- windows: running sum of each customer
select max(r), sum(r % 1000) from (select sum(lo_quantity) over (partition by lo_custkey order by lo_orderkey, lo_linenumber) r
from lineorder) w;
-- windows: share of the order
select count(*) from (select lo_revenue, sum(lo_revenue) over (partition by lo_orderkey) t from lineorder) w where lo_revenue * 2 > t;
-- windows: moving maximum of a part
select sum(m) from (select max(lo_revenue) over (partition by lo_partkey order by lo_orderdate, lo_orderkey, lo_linenumber
rows between 5 preceding and 5 following) m from lineorder) w;
-- windows: days since the last order
select max(g), count(g) from (select lo_orderdate - lag(lo_orderdate) over (partition by lo_custkey order by lo_orderdate, lo_orderkey,
lo_linenumber) g from lineorder) w;
-- windows: rank of all rows
select lo_orderkey, lo_linenumber, r from (select lo_orderkey, lo_linenumber, rank() over (order by lo_revenue desc) r from lineorder) w
where r <= 10 order by r, lo_orderkey, lo_linenumber;
-- windows: ntile of the suppliers
select t, count(*), sum(s) from (select s, ntile(10) over (order by s, lo_suppkey) t from (select lo_suppkey, sum(lo_revenue) s
from lineorder group by lo_suppkey) g) w group by t order by t;

-- subqueries: above the average
select count(*), sum(lo_revenue) from lineorder where lo_revenue > (select avg(lo_revenue) from lineorder);
-- subqueries: in a list of large customers
select sum(lo_revenue), count(*) from lineorder where lo_custkey in (select lo_custkey from lineorder group by lo_custkey
having sum(lo_quantity) > 6000);
-- subqueries: not in
select p_partkey from part where p_partkey not in (select lo_partkey from lineorder where lo_quantity > 40) order by 1 limit 10;
-- subqueries: exists
select count(*) from customer where exists (select 1 from lineorder where lo_custkey = c_custkey and lo_discount = 10 and lo_quantity = 50);
-- subqueries: not exists
select count(*) from part where not exists (select 1 from lineorder where lo_partkey = p_partkey and lo_quantity < 5);
-- subqueries: correlated average
select count(*), sum(a.lo_revenue) from lineorder a
where a.lo_quantity < (select 0.2 * avg(b.lo_quantity) from lineorder b where b.lo_partkey = a.lo_partkey);
-- subqueries: correlated in the list
select s_nation, count(*), max(n) from (select s_nation, (select count(*) from lineorder where lo_suppkey = s_suppkey and lo_tax = 8) n
from supplier) t group by s_nation order by s_nation;
-- subqueries: another line of the order
select count(*) from lineorder a where a.lo_discount = 10 and exists (select 1 from lineorder b where b.lo_orderkey = a.lo_orderkey
and b.lo_suppkey <> a.lo_suppkey and b.lo_discount = 0);
-- subqueries: orders in both
select count(*) from lineorder where lo_orderkey in (select lo_orderkey from lineorder where lo_quantity = 50) and lo_quantity < 10;

-- joins: date of the commitment
select d_dayofweek, lo_shipmode, count(*) from lineorder, date where lo_commitdate = d_datekey and lo_orderdate < lo_commitdate - 100
group by 1, 2 order by 1, 2;
-- joins: year of the commitment
select d_year, count(*), sum(lo_revenue) from lineorder, date where lo_commitdate = d_datekey group by 1 order by 1;
-- joins: two dates
select o.d_year, c.d_year, count(*) from lineorder, date o, date c where lo_orderdate = o.d_datekey and lo_commitdate = c.d_datekey
group by 1, 2 order by 1, 2;
-- joins: a grouped answer
select count(*) from lineorder l join (select lo_orderkey k, max(lo_linenumber) m from lineorder group by lo_orderkey
having count(*) = 7) t on l.lo_orderkey = t.k where l.lo_linenumber = t.m;
-- joins: the dearest line of each part
select count(*), sum(l.lo_quantity) from lineorder l join (select lo_partkey k, max(lo_revenue) m from lineorder group by lo_partkey) t
on l.lo_partkey = t.k and l.lo_revenue = t.m;
-- joins: lines of one order
select count(*), sum(a.lo_revenue - b.lo_revenue) from lineorder a, lineorder b
where a.lo_orderkey = b.lo_orderkey and a.lo_linenumber = 1 and b.lo_linenumber = 2;
-- joins: the same customer and day
select count(*) from lineorder a join lineorder b on a.lo_custkey = b.lo_custkey and a.lo_orderdate = b.lo_orderdate
where a.lo_quantity = 1 and b.lo_quantity = 50;
-- joins: customers and suppliers of a city
select c_city, count(*) n from customer, supplier where c_city = s_city group by c_city order by n desc, c_city limit 10;
-- joins: customers without orders
select c_region, count(*), count(lo_orderkey) from customer left join lineorder on lo_custkey = c_custkey and lo_quantity = 13
group by c_region order by c_region;
-- joins: two grouped answers
select a.d_year, a.r, b.n from (select d_year, sum(lo_revenue) r from lineorder, date where lo_orderdate = d_datekey group by d_year) a
join (select d_year, count(*) n from lineorder, date where lo_commitdate = d_datekey group by d_year) b on a.d_year = b.d_year order by 1;
-- joins: a range of prices
select s_region, count(*) from lineorder join supplier on lo_suppkey = s_suppkey and lo_quantity > s_suppkey % 50 group by 1 order by 1;
-- joins: customers of one supplier's city
select c_nation, sum(lo_revenue) from lineorder, customer, supplier where lo_custkey = c_custkey and lo_suppkey = s_suppkey
and c_city = s_city group by c_nation order by 1;

-- first rows: of all by three keys
select lo_orderkey, lo_linenumber, lo_revenue from lineorder order by lo_revenue desc, lo_orderkey, lo_linenumber limit 20;
-- first rows: ten thousand
select count(*), sum(r) from (select lo_revenue r from lineorder order by lo_revenue desc, lo_orderkey, lo_linenumber limit 10000) t;
-- first rows: of a dimension's words
select c_name, lo_orderkey, lo_linenumber from lineorder, customer where lo_custkey = c_custkey
order by c_name desc, lo_orderkey, lo_linenumber limit 15;
-- first rows: later ones
select lo_orderdate, lo_orderkey, lo_linenumber from lineorder where lo_discount > 2 order by lo_orderdate, lo_orderkey desc,
lo_linenumber limit 10 offset 1000;

-- sets: customers of one kind and not the other
select count(*) from (select lo_custkey from lineorder where lo_quantity = 1 except select lo_custkey from lineorder where lo_quantity = 50) t;
-- sets: parts of both
select count(*) from (select lo_partkey from lineorder where lo_discount = 0 intersect select lo_partkey from lineorder
where lo_discount = 10) t;
-- sets: union of dates
select count(*) from (select lo_orderdate d from lineorder union select lo_commitdate from lineorder) t;
-- sets: union all with groups
select k, sum(v) from (select lo_tax k, lo_revenue v from lineorder where lo_discount = 1 union all select lo_discount, lo_supplycost
from lineorder where lo_tax = 1) t group by k order by k;

-- strings: like inside
select count(*), min(p_name) from part where p_name like '%lace%' and p_type like '%BRASS';
-- strings: like of a joined word
select sum(lo_revenue), count(*) from lineorder, part where lo_partkey = p_partkey and p_type like '%STEEL%';
-- strings: groups by a part of a word
select substr(c_phone, 1, 2) as area, count(*), sum(lo_revenue) from lineorder, customer where lo_custkey = c_custkey
group by 1 order by 1;
-- strings: functions
select upper(substr(p_color, 1, 3)) as c, max(length(p_name)), count(*) from part group by 1 order by 2 desc, 1 limit 10;
-- strings: words joined
select c_mktsegment || '/' || lo_shipmode as w, count(*) from lineorder, customer where lo_custkey = c_custkey group by 1 order by 1;
-- strings: extrema of words
select min(c_address), max(s_name), count(*) from lineorder, customer, supplier where lo_custkey = c_custkey and lo_suppkey = s_suppkey;

-- doubles: averages by discount
select lo_discount, avg(lo_extendedprice), avg(lo_quantity) from lineorder group by lo_discount order by lo_discount;
-- doubles: deviations of whole columns
select stddev(lo_revenue), var_pop(lo_quantity), avg(lo_supplycost) from lineorder;
-- doubles: deviations by year
select d_year, stddev(lo_revenue), avg(lo_revenue * 1.5e0) from lineorder, date where lo_orderdate = d_datekey group by 1 order by 1;
-- doubles: averages of many groups
select lo_partkey, avg(lo_revenue) a from lineorder group by lo_partkey order by a desc, lo_partkey limit 10;
-- doubles: roots and logarithms
select sum(sqrt(lo_revenue)), avg(ln(lo_extendedprice)), max(lo_revenue / 3.0e0) from lineorder;
