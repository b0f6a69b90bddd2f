/* Q1.3: the same for one week. */
#include "ssb/queries/star.h"

STAR_QUERY(q13, .name = "q1.3",
           .sql = "select sum(lo_extendedprice * lo_discount) as revenue "
                  "from lineorder, date "
                  "where lo_orderdate = d_datekey "
                  "and d_weeknuminyear = 6 and d_year = 1994 "
                  "and lo_discount between 5 and 7 "
                  "and lo_quantity between 26 and 35",
           .where = {{"lo_discount", {BETWEEN("5", "7")}}, {"lo_quantity", {BETWEEN("26", "35")}}},
           .join = {{.dimension = "date",
                     .key = "lo_orderdate",
                     .where = {{"d_weeknuminyear", {EQUALS("6")}}, {"d_year", {EQUALS("1994")}}}}},
           .fetch = {"lo_extendedprice", "lo_discount"}, .measure = {"lo_extendedprice", '*', "lo_discount"},
           .output = {{.label = "revenue"}})

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
