/* Q1.3: Q1.1 for one week. */
#include "ssb/queries/query.h"

SSB_QUERY(q13, "q1.3",
          "select sum(lo_extendedprice * lo_discount) as revenue from lineorder, date where lo_orderdate = "
          "d_datekey and d_weeknuminyear = 6 and d_year = 1994 and lo_discount between 5 and 7 and "
          "lo_quantity between 26 and 35")

TILE_QUERY(q13, q, t)
{
    tile_mask keep = tile_all(t);
    keep = tile_filter(t, keep, q->lo_discount);
    keep = tile_filter(t, keep, q->lo_quantity);
    keep = tile_semi_join(t, keep, q->lo_orderdate, q->date);
    tile_fetch(t, keep, q->lo_extendedprice);
    tile_fetch(t, keep, q->lo_discount);
    tile_each (t, keep, row) {
        int64_t price = tile_value(t, q->lo_extendedprice, row);
        tile_sum(t, q->sums, 0, price * tile_value(t, q->lo_discount, row));
    }
}
