/* Q3.4: Q3.3 for one month. */
#include "ssb/queries/query.h"

SSB_QUERY(
    q34, "q3.4",
    "select c_city, s_city, d_year, sum(lo_revenue) as revenue from lineorder, customer, supplier, date "
    "where lo_custkey = c_custkey and lo_suppkey = s_suppkey and lo_orderdate = d_datekey and (c_city = "
    "'UNITED KI1' or c_city = 'UNITED KI5') and (s_city = 'UNITED KI1' or s_city = 'UNITED KI5') and "
    "d_yearmonth = 'Dec1997' group by c_city, s_city, d_year order by d_year asc, revenue desc")

TILE_QUERY(q34, q, t)
{
    tile_mask keep = tile_all(t);
    keep = tile_semi_join(t, keep, q->lo_orderdate, q->date);
    keep = tile_semi_join(t, keep, q->lo_suppkey, q->supplier);
    keep = tile_semi_join(t, keep, q->lo_custkey, q->customer);
    tile_fetch(t, keep, q->lo_custkey);
    tile_fetch(t, keep, q->lo_suppkey);
    tile_fetch(t, keep, q->lo_orderdate);
    tile_fetch(t, keep, q->lo_revenue);
    tile_each (t, keep, row) {
        uint32_t from = tile_code(q->customer, tile_value(t, q->lo_custkey, row));
        uint32_t to = tile_code(q->supplier, tile_value(t, q->lo_suppkey, row));
        uint32_t year = tile_code(q->date, tile_value(t, q->lo_orderdate, row));
        tile_sum(t, q->sums, tile_group3(q->sums, from, to, year), tile_value(t, q->lo_revenue, row));
    }
}
