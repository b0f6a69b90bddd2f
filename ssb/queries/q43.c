/* Q4.3: profit by year, supplier city and brand, for two years, one supplier nation and one category. */
#include "ssb/queries/query.h"

SSB_QUERY(q43, "q4.3",
          "select d_year, s_city, p_brand1, sum(lo_revenue - lo_supplycost) as profit from lineorder, date, "
          "customer, supplier, part where lo_custkey = c_custkey and lo_suppkey = s_suppkey and lo_partkey = "
          "p_partkey and lo_orderdate = d_datekey and c_region = 'AMERICA' and s_nation = 'UNITED STATES' "
          "and p_category = 'MFGR#14' and (d_year = 1997 or d_year = 1998) group by d_year, s_city, p_brand1 "
          "order by d_year, s_city, p_brand1")

TILE_QUERY(q43, q, t)
{
    tile_mask keep = tile_all(t);
    keep = tile_semi_join(t, keep, q->lo_orderdate, q->date);
    keep = tile_semi_join(t, keep, q->lo_suppkey, q->supplier);
    keep = tile_semi_join(t, keep, q->lo_partkey, q->part);
    keep = tile_semi_join(t, keep, q->lo_custkey, q->customer);
    tile_fetch(t, keep, q->lo_orderdate);
    tile_fetch(t, keep, q->lo_suppkey);
    tile_fetch(t, keep, q->lo_partkey);
    tile_fetch(t, keep, q->lo_revenue);
    tile_fetch(t, keep, q->lo_supplycost);
    tile_each (t, keep, row) {
        uint32_t year = tile_code(q->date, tile_value(t, q->lo_orderdate, row));
        uint32_t city = tile_code(q->supplier, tile_value(t, q->lo_suppkey, row));
        uint32_t brand = tile_code(q->part, tile_value(t, q->lo_partkey, row));
        int64_t profit = (int64_t)tile_value(t, q->lo_revenue, row) - tile_value(t, q->lo_supplycost, row);
        tile_sum(t, q->sums, tile_group3(q->sums, year, city, brand), profit);
    }
}
