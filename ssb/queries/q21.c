/* Q2.1: revenue by year and brand, for one category and the suppliers of one region. */
#include "ssb/queries/query.h"

SSB_QUERY(q21, "q2.1",
          "select sum(lo_revenue) as lo_revenue, d_year, p_brand1 from lineorder, date, part, supplier where "
          "lo_orderdate = d_datekey and lo_partkey = p_partkey and lo_suppkey = s_suppkey and p_category = "
          "'MFGR#12' and s_region = 'AMERICA' group by d_year, p_brand1 order by d_year, p_brand1")

TILE_QUERY(q21, q, t)
{
    tile_mask keep = tile_all(t);
    keep = tile_semi_join(t, keep, q->lo_partkey, q->part);
    keep = tile_semi_join(t, keep, q->lo_suppkey, q->supplier);
    keep = tile_semi_join(t, keep, q->lo_orderdate, q->date);
    tile_fetch(t, keep, q->lo_orderdate);
    tile_fetch(t, keep, q->lo_partkey);
    tile_fetch(t, keep, q->lo_revenue);
    tile_each (t, keep, row) {
        uint32_t year = tile_code(q->date, tile_value(t, q->lo_orderdate, row));
        uint32_t brand = tile_code(q->part, tile_value(t, q->lo_partkey, row));
        tile_sum(t, q->sums, tile_group2(q->sums, year, brand), tile_value(t, q->lo_revenue, row));
    }
}
