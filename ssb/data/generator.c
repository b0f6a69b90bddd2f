/*
 * generator.c: computes how many rows each table has, where each random stream starts, and the index of
 * lineorder's rows.
 *
 * Creating a generator costs one draw an order (5 ms at SF 1 on one core, seconds at SF 1000). After that the
 * generator is read-only and all threads share it.
 */
#include "ssb/data/generator.h"

#include "ssb/data/generator_internal.h"
#include "ssb/data/words.h"
#include "storage/base/memory.h"
#include "storage/base/number/number_text.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define NUMBER(column)                 \
    {                                  \
        .name = column, .number = true \
    }
#define STRING(column) \
    {                  \
        .name = column \
    }
#define REFERENCE(column, referenced)                            \
    {                                                            \
        .name = column, .number = true, .references = referenced \
    }

static const struct ssb_table_info table_infos[SSB_TABLES] = {
    [SSB_PART] = {"part",
                  9,
                  {NUMBER("p_partkey"), STRING("p_name"), STRING("p_mfgr"), STRING("p_category"),
                   STRING("p_brand1"), STRING("p_color"), STRING("p_type"), NUMBER("p_size"),
                   STRING("p_container")}},
    [SSB_SUPPLIER] = {"supplier",
                      7,
                      {NUMBER("s_suppkey"), STRING("s_name"), STRING("s_address"), STRING("s_city"),
                       STRING("s_nation"), STRING("s_region"), STRING("s_phone")}},
    [SSB_CUSTOMER] = {"customer",
                      8,
                      {NUMBER("c_custkey"), STRING("c_name"), STRING("c_address"), STRING("c_city"),
                       STRING("c_nation"), STRING("c_region"), STRING("c_phone"), STRING("c_mktsegment")}},
    [SSB_DATE] = {"date",
                  17,
                  {NUMBER("d_datekey"), STRING("d_date"), STRING("d_dayofweek"), STRING("d_month"),
                   NUMBER("d_year"), NUMBER("d_yearmonthnum"), STRING("d_yearmonth"),
                   NUMBER("d_daynuminweek"), NUMBER("d_daynuminmonth"), NUMBER("d_daynuminyear"),
                   NUMBER("d_monthnuminyear"), NUMBER("d_weeknuminyear"), STRING("d_sellingseason"),
                   NUMBER("d_lastdayinweekfl"), NUMBER("d_lastdayinmonthfl"), NUMBER("d_holidayfl"),
                   NUMBER("d_weekdayfl")}},
    [SSB_LINEORDER] = {"lineorder",
                       LO_COLUMNS,
                       {[LO_ORDERKEY] = {.name = "lo_orderkey", .number = true, .wide = true},
                        [LO_LINENUMBER] = NUMBER("lo_linenumber"),
                        [LO_CUSTKEY] = REFERENCE("lo_custkey", "customer"),
                        [LO_PARTKEY] = REFERENCE("lo_partkey", "part"),
                        [LO_SUPPKEY] = REFERENCE("lo_suppkey", "supplier"),
                        [LO_ORDERDATE] = REFERENCE("lo_orderdate", "date"),
                        [LO_ORDERPRIORITY] = STRING("lo_orderpriority"),
                        [LO_SHIPPRIORITY] = NUMBER("lo_shippriority"),
                        [LO_QUANTITY] = NUMBER("lo_quantity"),
                        [LO_EXTENDEDPRICE] = NUMBER("lo_extendedprice"),
                        [LO_ORDTOTALPRICE] = NUMBER("lo_ordtotalprice"),
                        [LO_DISCOUNT] = NUMBER("lo_discount"),
                        [LO_REVENUE] = NUMBER("lo_revenue"),
                        [LO_SUPPLYCOST] = NUMBER("lo_supplycost"),
                        [LO_TAX] = NUMBER("lo_tax"),
                        [LO_COMMITDATE] = REFERENCE("lo_commitdate", "date"),
                        [LO_SHIPMODE] = STRING("lo_shipmode")}},
};

const struct ssb_table_info *ssb_table_info(enum ssb_table table)
{
    return &table_infos[table];
}

/* The seeds in ssb-dbgen's tables. Customer and supplier use the same streams for phones, and the same for
 * cities. */
static const struct stream_start stream_seeds[STREAMS] = {
    [STREAM_PART_MFGR] = {1, 1},
    [STREAM_PART_CATEGORY] = {637858759, 1},
    [STREAM_PART_BRAND] = {46831694, 1},
    [STREAM_PART_TYPE] = {1841581359, 1},
    [STREAM_PART_SIZE] = {1193163244, 1},
    [STREAM_PART_CONTAINER] = {727633698, 1},
    [STREAM_PART_NAME] = {709314158, PART_NAME_DRAWS},
    [STREAM_SUPPLIER_ADDRESS] = {706178559, ADDRESS_DRAWS},
    [STREAM_SUPPLIER_NATION] = {110356601, 1},
    [STREAM_SUPPLIER_PHONE] = {1521138112, PHONE_DRAWS},
    [STREAM_SUPPLIER_CITY] = {1495190827, 1},
    [STREAM_CUSTOMER_ADDRESS] = {881155353, ADDRESS_DRAWS},
    [STREAM_CUSTOMER_NATION] = {1489529863, 1},
    [STREAM_CUSTOMER_PHONE] = {1521138112, PHONE_DRAWS},
    [STREAM_CUSTOMER_CITY] = {1495190827, 1},
    [STREAM_CUSTOMER_SEGMENT] = {1140279430, 1},
    [STREAM_ORDER_DATE] = {1066728069, 1},
    [STREAM_ORDER_CUSTOMER] = {851767375, 1},
    [STREAM_ORDER_PRIORITY] = {591449447, 1},
    [STREAM_ORDER_LINES] = {1434868289, 1},
    [STREAM_LINE_QUANTITY] = {209208115, ORDER_LINES_MAX},
    [STREAM_LINE_DISCOUNT] = {554590007, ORDER_LINES_MAX},
    [STREAM_LINE_TAX] = {721958466, ORDER_LINES_MAX},
    [STREAM_LINE_SHIP_MODE] = {675466456, ORDER_LINES_MAX},
    [STREAM_LINE_PART] = {1808217256, ORDER_LINES_MAX},
    [STREAM_LINE_SUPPLIER] = {2095021727, ORDER_LINES_MAX},
    [STREAM_LINE_COMMIT_DATE] = {904914315, ORDER_LINES_MAX},
};

static void stream_skip(struct ssb_generator *generator, enum stream stream, uint64_t steps)
{
    struct stream_start *start = &generator->streams[stream];
    start->state = random_jump(&generator->jumps, start->state, steps);
}

/* `dates` is the number of date rows that ssb-dbgen would write, even if this generator writes more. */
static void place_streams(struct ssb_generator *generator, uint64_t dates)
{
    struct stream_start *streams = generator->streams;
    const uint64_t suppliers = generator->rows[SSB_SUPPLIER];
    memcpy(streams, stream_seeds, sizeof stream_seeds);

    if (generator->options.variant == SSB_VARIANT_CRYSTAL) {
        /* In Crystal's variant, categories and cities have no streams of their own. They share the stream of
         * manufacturers, which takes two steps a part: one for the manufacturer, then one for the
         * category. */
        streams[STREAM_PART_MFGR].per_row = 2;
        streams[STREAM_PART_CATEGORY] = streams[STREAM_PART_MFGR];
        stream_skip(generator, STREAM_PART_CATEGORY, 1);
        streams[STREAM_SUPPLIER_CITY] = stream_seeds[STREAM_PART_MFGR];
        streams[STREAM_CUSTOMER_CITY] = stream_seeds[STREAM_PART_MFGR];
        if (generator->options.mode == SSB_MODE_ALL) {
            stream_skip(generator, STREAM_SUPPLIER_CITY, 2 * generator->rows[SSB_PART]);
            stream_skip(generator, STREAM_CUSTOMER_CITY, 2 * generator->rows[SSB_PART]);
        }
    }
    if (generator->options.mode == SSB_MODE_ALL) {
        /* In this mode one process writes supplier, customer, date and lineorder, in that order. So customers
         * continue the streams where suppliers stopped. Each date row also steps each order stream once,
         * which is a mistake of ssb-dbgen. */
        stream_skip(generator, STREAM_CUSTOMER_PHONE, PHONE_DRAWS * suppliers);
        stream_skip(generator, STREAM_CUSTOMER_CITY, suppliers);
        for (enum stream stream = STREAM_ORDER_DATE; stream <= STREAM_ORDER_LINES; stream++)
            stream_skip(generator, stream, dates);
    }
}

/* Rows of a table whose size is proportional to the scale factor. Below 1, ssb-dbgen truncates the product;
 * from 1 on, it truncates the scale factor. */
static uint64_t scaled(uint64_t base, double scale_factor)
{
    if (scale_factor >= 1)
        return base * (uint64_t)scale_factor;
    uint64_t rows = (uint64_t)((double)base * scale_factor);
    return rows ? rows : 1;
}

/* Fills every count; returns the number of date rows that ssb-dbgen would write. */
static uint64_t count_rows(struct ssb_generator *generator)
{
    const double scale_factor = generator->options.scale_factor;
    const uint64_t calendar =
        generator->options.variant == SSB_VARIANT_CRYSTAL ? CALENDAR_DAYS - 1 : CALENDAR_DAYS;
    const uint64_t classic_dates = scale_factor < 1 ? scaled(calendar, scale_factor) : calendar;

    generator->rows[SSB_SUPPLIER] = scaled(2000, scale_factor);
    generator->rows[SSB_CUSTOMER] = scaled(30000, scale_factor);
    generator->rows[SSB_DATE] = generator->options.dates == SSB_DATES_CLASSIC ? classic_dates : calendar;
    generator->orders = scaled(1500000, scale_factor);
    if (scale_factor < 1) {
        generator->rows[SSB_PART] = scaled(200000, scale_factor);
        generator->part_keys = (int64_t)generator->rows[SSB_PART];
    } else {
        /* In ssb-dbgen, the part table grows with the binary logarithm, but lo_partkey with the natural
         * one. */
        const uint64_t whole = (uint64_t)scale_factor;
        generator->rows[SSB_PART] = 200000 * (64 - (uint64_t)__builtin_clzll(whole));
        generator->part_keys = 200000 * (int64_t)(floor(log((double)whole)) + 1);
    }
    return classic_dates;
}

/* One work item counts 256 blocks: 262144 orders, about a millisecond. */
#define COUNT_BLOCKS 256u

static enum status count_blocks(void *context, uint64_t item, unsigned thread, struct error *error)
{
    struct ssb_generator *generator = context;
    (void)thread;
    RETURN_IF_ERROR(cancel_check(error));
    const uint64_t first = item * COUNT_BLOCKS;
    for (uint64_t block = first; block < first + COUNT_BLOCKS && block < generator->blocks; block++) {
        const uint64_t order = block * BLOCK_ORDERS;
        const uint64_t left = generator->orders - order;
        const uint32_t orders = left < BLOCK_ORDERS ? (uint32_t)left : BLOCK_ORDERS;
        generator->block_rows[block + 1] = lineorder_count_lines(generator, order, orders);
    }
    return STATUS_OK;
}

static enum status index_lineorder(struct ssb_generator *generator, unsigned threads, struct error *error)
{
    generator->blocks = (generator->orders + BLOCK_ORDERS - 1) / BLOCK_ORDERS;
    const uint64_t bytes = (generator->blocks + 1) * sizeof *generator->block_rows;
    RETURN_IF_ERROR(memory_take(&generator->block_rows, bytes, "the index of lineorder's rows", error));
    generator->block_rows[0] = 0;
    const uint64_t items = (generator->blocks + COUNT_BLOCKS - 1) / COUNT_BLOCKS;
    RETURN_IF_ERROR(parallel_for(threads, items, count_blocks, generator, error));
    for (uint64_t block = 0; block < generator->blocks; block++)
        generator->block_rows[block + 1] += generator->block_rows[block];
    generator->rows[SSB_LINEORDER] = generator->block_rows[generator->blocks];
    return STATUS_OK;
}

static enum status check_scale_factor(double scale_factor, const char *text, struct error *error)
{
    if (!(scale_factor > 0))
        return error_set(error, STATUS_BAD_INPUT,
                         "scale factor %s: must be greater than 0; give one like 1, 0.1 or 20", text);
    if (scale_factor > SSB_SCALE_FACTOR_MAX)
        return error_set(error, STATUS_BAD_INPUT,
                         "scale factor %s: the largest is %d, where customer keys fill 32 bits", text,
                         SSB_SCALE_FACTOR_MAX);
    return STATUS_OK;
}

const char *const ssb_mode_words[2] = {[SSB_MODE_SINGLE] = "single", [SSB_MODE_ALL] = "all"};
const char *const ssb_variant_words[2] = {
    [SSB_VARIANT_EYALROZ] = "eyalroz", [SSB_VARIANT_CRYSTAL] = "crystal"};
const char *const ssb_dates_words[2] = {[SSB_DATES_FULL] = "full", [SSB_DATES_CLASSIC] = "classic"};

enum status ssb_scale_factor_parse(const char *text, double *scale_factor, struct error *error)
{
    /* strtod alone would also accept "nan", "inf", " 1" and "0x1p3". */
    char *end = NULL;
    double value = number_parse(text, &end);
    if (*text == '\0' || *end != '\0' || strspn(text, "0123456789.eE+-") != strlen(text))
        return error_set(error, STATUS_BAD_INPUT,
                         "scale factor '%.40s' is not a number; give one like 1, 0.1 or 20", text);
    char quoted[48];
    snprintf(quoted, sizeof quoted, "'%.40s'", text);
    RETURN_IF_ERROR(check_scale_factor(value, quoted, error));
    *scale_factor = value;
    return STATUS_OK;
}

enum status ssb_generator_create(const struct ssb_options *options, unsigned threads,
                                 struct ssb_generator **generator, struct error *error)
{
    char text[32];
    number_print(text, sizeof text, "%g", options->scale_factor);
    RETURN_IF_ERROR(check_scale_factor(options->scale_factor, text, error));

    struct ssb_generator *made;
    RETURN_IF_ERROR(memory_zeros(&made, sizeof *made, "the generator", error));
    made->options = *options;
    random_jumps_init(&made->jumps);
    place_streams(made, count_rows(made));
    if (options->skew)
        skew_tables_make(made->skews);
    for (uint32_t day = 0; day < CALENDAR_DAYS; day++) {
        const struct calendar_date date = calendar_date(day);
        made->date_keys[day] = date.year * 10000 + date.month * 100 + date.day;
    }
    enum status status = index_lineorder(made, threads, error);
    if (status != STATUS_OK) {
        ssb_generator_destroy(made);
        return status;
    }
    *generator = made;
    return STATUS_OK;
}

void ssb_generator_destroy(struct ssb_generator *generator)
{
    if (!generator)
        return;
    free(generator->block_rows);
    free(generator);
}

uint64_t ssb_rows(const struct ssb_generator *generator, enum ssb_table table)
{
    return generator->rows[table];
}
