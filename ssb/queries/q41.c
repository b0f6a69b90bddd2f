/* Q4.1: profit by year and customer nation, within one region, of two manufacturers. */
#include "ssb/queries/star.h"

STAR_QUERY(
    q41, .name = "q4.1",
    .sql = "select d_year, c_nation, sum(lo_revenue - lo_supplycost) as profit "
           "from lineorder, date, customer, supplier, part "
           "where lo_custkey = c_custkey and lo_suppkey = s_suppkey and lo_partkey = p_partkey "
           "and lo_orderdate = d_datekey "
           "and c_region = 'AMERICA' and s_region = 'AMERICA' and (p_mfgr = 'MFGR#1' or p_mfgr = 'MFGR#2') "
           "group by d_year, c_nation order by d_year, c_nation",
    .join = {{.dimension = "supplier", .key = "lo_suppkey", .where = {{"s_region", {EQUALS("AMERICA")}}}},
             {.dimension = "customer",
              .key = "lo_custkey",
              .where = {{"c_region", {EQUALS("AMERICA")}}},
              .code = "c_nation"},
             {.dimension = "part",
              .key = "lo_partkey",
              .where = {{"p_mfgr", {EQUALS("MFGR#1"), EQUALS("MFGR#2")}}}},
             {.dimension = "date", .key = "lo_orderdate", .code = "d_year"}},
    .fetch = {"lo_orderdate", "lo_custkey", "lo_revenue", "lo_supplycost"}, .group = {"d_year", "c_nation"},
    .measure = {"lo_revenue", '-', "lo_supplycost"},
    .output = {{"d_year", "d_year"}, {"c_nation", "c_nation"}, {.label = "profit"}},
    .order = {{"d_year", 0}, {"c_nation", 0}})

TILE_QUERY(q41, q, t)
{
    tile_mask keep = tile_all(t);
    keep = tile_semi_join(t, keep, q->lo_suppkey, q->supplier);
    keep = tile_semi_join(t, keep, q->lo_custkey, q->customer);
    keep = tile_semi_join(t, keep, q->lo_partkey, q->part);
    keep = tile_semi_join(t, keep, q->lo_orderdate, q->date);
    tile_fetch(t, keep, q->lo_orderdate);
    tile_fetch(t, keep, q->lo_custkey);
    tile_fetch(t, keep, q->lo_revenue);
    tile_fetch(t, keep, q->lo_supplycost);
    tile_each (t, keep, row) {
        uint32_t year = tile_code(q->date, tile_value(t, q->lo_orderdate, row));
        uint32_t nation = tile_code(q->customer, tile_value(t, q->lo_custkey, row));
        int64_t profit = (int64_t)tile_value(t, q->lo_revenue, row) - tile_value(t, q->lo_supplycost, row);
        tile_sum(t, q->sums, tile_group2(q->sums, year, nation), profit);
    }
}
