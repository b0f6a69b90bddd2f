/* bitmap_ssb.c: see bitmap_ssb.h. */
#include "lab/bitmaps/bitmap_ssb.h"

#include "lab/bench/dataset.h"
#include "storage/base/calendar.h"

const struct bitmap_kind bitmap_ssb_kinds[BITMAP_SSB_RANGES] = {
    [BITMAP_SSB_DISCOUNT] = {.name = "lo_discount 1..3"},
    [BITMAP_SSB_QUANTITY_LOW] = {.name = "lo_quantity 1..24"},
    [BITMAP_SSB_QUANTITY_MIDDLE] = {.name = "lo_quantity 26..35"},
    [BITMAP_SSB_YEAR] = {.name = "lo_orderdate 1993"},
    [BITMAP_SSB_MONTH] = {.name = "lo_orderdate 1994-01"},
    [BITMAP_SSB_WEEK] = {.name = "lo_orderdate week 6 of 1994"},
};

/* The first and the last value; dates are yyyymmdd numbers, as the generator makes them. */
static const struct range {
    enum ssb_lineorder_column column;
    int32_t low, high;
} ranges[BITMAP_SSB_RANGES] = {
    [BITMAP_SSB_DISCOUNT] = {LO_DISCOUNT, 1, 3},
    [BITMAP_SSB_QUANTITY_LOW] = {LO_QUANTITY, 1, 24},
    [BITMAP_SSB_QUANTITY_MIDDLE] = {LO_QUANTITY, 26, 35},
    [BITMAP_SSB_YEAR] = {LO_ORDERDATE, 19930101, 19931231},
    [BITMAP_SSB_MONTH] = {LO_ORDERDATE, 19940101, 19940131},
    [BITMAP_SSB_WEEK] = {LO_ORDERDATE, 19940205, 19940211},
};

static int32_t day_of(int32_t date)
{
    return (int32_t)calendar_days(date / 10000, date / 100 % 100, date % 100);
}

struct source {
    const struct ssb_generator *generator;
    enum ssb_lineorder_column column;
};

/* Days instead of dates. */
static void fill_column(const void *parameters, uint64_t first, uint32_t rows, uint64_t *random,
                        int32_t *values)
{
    const struct source *const source = parameters;
    void *columns[SSB_COLUMNS_MAX] = {NULL};
    (void)random;
    columns[source->column] = values;
    ssb_generate_lineorder(source->generator, first, rows, columns);
    for (uint32_t r = 0; source->column == LO_ORDERDATE && r < rows; r++)
        values[r] = day_of(values[r]);
}

enum status bitmap_ssb_make(struct lab *lab, const struct ssb_generator *generator, enum bitmap_ssb number,
                            uint64_t rows, struct bitmap_set *set, struct error *error)
{
    const struct range *const range = &ranges[number];
    const struct source source = {.generator = generator, .column = range->column};
    const bool dates = range->column == LO_ORDERDATE;
    const int32_t low = dates ? day_of(range->low) : range->low,
                  high = dates ? day_of(range->high) : range->high;
    struct lab host = *lab; /* the values are for the host alone */
    struct dataset column;
    host.cuda = NULL;
    *set = (struct bitmap_set){.kind = &bitmap_ssb_kinds[number]};
    enum status status =
        dataset_make(&host, "a column of lineorder", rows, fill_column, &source, &column, error);
    if (status == STATUS_OK)
        status = bitmap_set_of_values(lab, &bitmap_ssb_kinds[number], column.values, rows, low,
                                      (uint32_t)(high - low) + 1, set, error);
    dataset_free(&host, &column);
    return status;
}
