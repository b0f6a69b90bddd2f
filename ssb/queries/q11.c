/* Q1.1: the sum of a range of discounts that small orders of one year were given. */
#include "ssb/queries/query.h"

SSB_QUERY(q11, "q1.1",
          "select sum(lo_extendedprice * lo_discount) as revenue from lineorder, date where lo_orderdate = "
          "d_datekey and d_year = 1993 and lo_discount between 1 and 3 and lo_quantity < 25")

TILE_QUERY(q11, q, t)
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
