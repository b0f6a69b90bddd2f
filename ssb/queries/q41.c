/* Q4.1: profit by year and customer nation, within one region, for two manufacturers. */
#include "ssb/queries/query.h"

SSB_QUERY(q41, "q4.1",
          "select d_year, c_nation, sum(lo_revenue - lo_supplycost) as profit from lineorder, date, "
          "customer, supplier, part where lo_custkey = c_custkey and lo_suppkey = s_suppkey and lo_partkey = "
          "p_partkey and lo_orderdate = d_datekey and c_region = 'AMERICA' and s_region = 'AMERICA' and "
          "(p_mfgr = 'MFGR#1' or p_mfgr = 'MFGR#2') group by d_year, c_nation order by d_year, c_nation")

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
