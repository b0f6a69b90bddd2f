-- Statements over the Star Schema Benchmark's data for which a GPU and a CPU must give the same bytes
-- (tests/gpu.sh sql). They reach what the small tables of tests/fuzz/test_sql_fuzz.c do not reach.
SELECT count(*) FROM lineorder;
-- from scale factor 1 on: more groups than a group table has room for at first
SELECT lo_orderkey, lo_linenumber, count(*), sum(lo_revenue) FROM lineorder GROUP BY lo_orderkey, lo_linenumber ORDER BY 4 DESC, 1, 2 LIMIT 20;
SELECT lo_orderkey, sum(lo_revenue), min(lo_discount), max(lo_quantity), avg(lo_supplycost) FROM lineorder GROUP BY lo_orderkey HAVING count(*) = 7 ORDER BY 2 DESC, 1 LIMIT 100;
SELECT lo_custkey, lo_partkey, count(*) FROM lineorder WHERE lo_quantity < 10 GROUP BY lo_custkey, lo_partkey ORDER BY 3 DESC, 1, 2 LIMIT 50;
-- group numbers of two and three words: many groups, and few groups that all rows update at once
SELECT lo_orderkey * 1000000007 AS k, lo_custkey * 1000003 AS c, count(*), sum(lo_revenue), count(distinct lo_partkey) FROM lineorder GROUP BY lo_orderkey * 1000000007, lo_custkey * 1000003 ORDER BY 4 DESC, 1 LIMIT 50;
SELECT lo_orderkey * 1000000007 AS k, lo_partkey * 1000000000003 AS p, lo_custkey * 100000000000003 AS c, max(lo_revenue) FROM lineorder GROUP BY lo_orderkey * 1000000007, lo_partkey * 1000000000003, lo_custkey * 100000000000003 HAVING count(*) > 1 LIMIT 50;
SELECT lo_discount * 900000000000000000, lo_tax * 900000000000000000, count(*), min(lo_revenue) FROM lineorder GROUP BY lo_discount * 900000000000000000, lo_tax * 900000000000000000 ORDER BY 1, 2;
-- dense group slots in global memory, and in shared memory
SELECT lo_quantity, lo_discount, lo_tax, count(*), sum(lo_extendedprice * lo_discount), min(lo_revenue), max(lo_revenue) FROM lineorder GROUP BY lo_quantity, lo_discount, lo_tax ORDER BY 1, 2, 3;
SELECT d_year, lo_shipmode, count(*), sum(lo_extendedprice * lo_quantity * lo_discount), avg(lo_ordtotalprice), count(distinct lo_quantity) FROM lineorder, date WHERE lo_orderdate = d_datekey GROUP BY d_year, lo_shipmode ORDER BY 1, 2;
-- sets of distinct values: as bits, and hashed
SELECT count(distinct lo_custkey), count(distinct lo_orderkey), count(distinct lo_extendedprice), min(lo_orderkey), max(lo_orderkey) FROM lineorder WHERE lo_discount BETWEEN 2 AND 4;
SELECT c_nation, count(distinct lo_orderkey), count(distinct lo_partkey) FROM lineorder JOIN customer ON c_custkey = lo_custkey GROUP BY c_nation ORDER BY 1;
SELECT lo_custkey, count(distinct lo_partkey), count(distinct lo_ordtotalprice) FROM lineorder GROUP BY lo_custkey ORDER BY 2 DESC, 3, 1 LIMIT 40;
-- answers that are rows, conditions on rows, NULLs of a left join, strings by look-up, dates
SELECT lo_orderkey, lo_linenumber, lo_revenue, p_name FROM lineorder JOIN part ON p_partkey = lo_partkey WHERE lo_quantity = 50 AND lo_discount = 10 AND p_name LIKE '%rose%' ORDER BY lo_orderkey, lo_linenumber LIMIT 100;
SELECT lo_orderkey, lo_linenumber FROM lineorder WHERE lo_quantity * 3 - lo_discount = 14 OR lo_tax = 8 AND lo_revenue % 7 = 3 LIMIT 25;
SELECT s_nation, count(*), sum(lo_revenue), count(s_nation) FROM lineorder LEFT JOIN supplier ON s_suppkey = lo_suppkey AND s_region = 'ASIA' GROUP BY s_nation ORDER BY 1;
SELECT upper(substr(p_color, 1, 2)), p_size, sum(CASE WHEN lo_shipmode = 'AIR' THEN lo_revenue ELSE 0 END), count(*) FROM lineorder JOIN part ON p_partkey = lo_partkey WHERE p_mfgr IN ('MFGR#1', 'MFGR#3') GROUP BY upper(substr(p_color, 1, 2)), p_size ORDER BY 1, 2;
SELECT d.d_yearmonth, sum(lo_revenue), sum(lo_revenue - lo_supplycost) FROM lineorder JOIN date d ON d.d_datekey = lo_orderdate JOIN supplier ON s_suppkey = lo_suppkey WHERE s_city LIKE 'UNITED%' AND d.d_year BETWEEN 1993 AND 1995 GROUP BY d.d_yearmonth ORDER BY 1;
SELECT sum(lo_extendedprice), sum(lo_ordtotalprice), count(lo_tax), avg(lo_quantity) FROM lineorder WHERE lo_orderkey > 100000000000;
-- sketches: cells in dense groups and in hashed ones, of whole numbers, doubles and strings
SELECT approx_count_distinct(lo_orderkey), count(*) FROM lineorder;
SELECT lo_discount, approx_count_distinct(lo_partkey), approx_count_distinct(lo_partkey) FILTER (WHERE lo_tax = 3) FROM lineorder GROUP BY lo_discount ORDER BY 1;
SELECT lo_suppkey, approx_quantile(lo_revenue, 0.5), approx_quantile(lo_revenue, 0.99), min(lo_revenue), max(lo_revenue) FROM lineorder GROUP BY lo_suppkey ORDER BY 2 DESC, 1 LIMIT 50;
SELECT d_year, approx_count_distinct(c_name), approx_quantile(lo_extendedprice / 7.0, 0.9) FROM lineorder, date, customer WHERE lo_orderdate = d_datekey AND lo_custkey = c_custkey AND lo_quantity = 7 AND lo_discount = 4 GROUP BY ROLLUP (d_year) ORDER BY 1;
-- bits: in registers, in shared memory, and in global memory
SELECT bit_and(lo_orderkey), bit_or(lo_orderkey), bit_xor(lo_orderkey), bit_and(lo_revenue - 5000000), bit_or(lo_tax), bit_xor(lo_revenue) FROM lineorder;
SELECT lo_discount, bit_and(lo_orderkey - 3000000000000), bit_or(lo_partkey), bit_xor(lo_extendedprice) FROM lineorder GROUP BY lo_discount ORDER BY 1;
SELECT lo_orderkey, bit_and(lo_partkey), bit_or(lo_suppkey), bit_xor(lo_revenue) FROM lineorder GROUP BY lo_orderkey ORDER BY 4 DESC, 1 LIMIT 50;
