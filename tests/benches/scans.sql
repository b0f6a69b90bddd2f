select sum(lo_revenue), min(lo_supplycost), max(lo_extendedprice) from lineorder
select sum(lo_extendedprice * (100 - lo_discount)) from lineorder
select sum(case when lo_discount > 5 then lo_revenue else 0 end) from lineorder
select avg(lo_revenue), avg(lo_quantity) from lineorder where lo_quantity < 45
select lo_discount, count(*) from lineorder group by 1
select lo_discount, count(*), sum(lo_revenue) from lineorder group by 1
select lo_discount, count(*), sum(lo_revenue) from lineorder where lo_quantity < 45 group by 1
select lo_quantity, min(lo_revenue), max(lo_revenue) from lineorder group by 1
select lo_discount, avg(lo_revenue), avg(lo_quantity) from lineorder group by 1
select lo_quantity, lo_discount, count(*), sum(lo_revenue) from lineorder group by 1, 2
select case when lo_quantity < 10 then 1 when lo_quantity < 30 then 2 else 3 end, count(*), sum(lo_revenue) from lineorder group by 1
select lo_tax, sum(lo_quantity), sum(lo_extendedprice * (100 - lo_discount)), sum(lo_extendedprice * (100 - lo_discount) * (100 + lo_tax)), count(*) from lineorder group by 1
select d_year, count(*), sum(lo_revenue) from lineorder, date where lo_orderdate = d_datekey group by 1
select lo_custkey, count(*), sum(lo_revenue) from lineorder group by 1
select lo_discount, count(distinct lo_quantity) from lineorder group by 1
select lo_discount, sum(cast(lo_revenue as double)) from lineorder group by 1
