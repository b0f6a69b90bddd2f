/* Q4.2: profit by year, supplier nation and category, for one region, two years and two manufacturers. */
#include "ssb/queries/query.h"

SSB_QUERY(q42, "q4.2",
          "select d_year, s_nation, p_category, sum(lo_revenue - lo_supplycost) as profit from lineorder, "
          "date, customer, supplier, part where lo_custkey = c_custkey and lo_suppkey = s_suppkey and "
          "lo_partkey = p_partkey and lo_orderdate = d_datekey and c_region = 'AMERICA' and s_region = "
          "'AMERICA' and (p_mfgr = 'MFGR#1' or p_mfgr = 'MFGR#2') and (d_year = 1997 or d_year = 1998) group "
          "by d_year, s_nation, p_category order by d_year, s_nation, p_category")

TILE_QUERY(q42, q, t)
{
    tile_mask keep = tile_all(t);
    keep = tile_semi_join(t, keep, q->lo_suppkey, q->supplier);
    keep = tile_semi_join(t, keep, q->lo_orderdate, q->date);
    keep = tile_semi_join(t, keep, q->lo_custkey, q->customer);
    keep = tile_semi_join(t, keep, q->lo_partkey, q->part);
    tile_fetch(t, keep, q->lo_orderdate);
    tile_fetch(t, keep, q->lo_suppkey);
    tile_fetch(t, keep, q->lo_partkey);
    tile_fetch(t, keep, q->lo_revenue);
    tile_fetch(t, keep, q->lo_supplycost);
    tile_each (t, keep, row) {
        uint32_t year = tile_code(q->date, tile_value(t, q->lo_orderdate, row));
        uint32_t nation = tile_code(q->supplier, tile_value(t, q->lo_suppkey, row));
        uint32_t category = tile_code(q->part, tile_value(t, q->lo_partkey, row));
        int64_t profit = (int64_t)tile_value(t, q->lo_revenue, row) - tile_value(t, q->lo_supplycost, row);
        tile_sum(t, q->sums, tile_group3(q->sums, year, nation, category), profit);
    }
}
