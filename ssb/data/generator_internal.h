/*
 * generator_internal.h: the start of each random stream. generator.c prepares it; lineorder.c and
 * dimensions.c read it.
 *
 * Every column draws from a stream of its own. Row i of a table (0-based) begins per_row * i steps after the
 * start of each of its streams. An order is a "row" of the order streams; it takes seven steps of each line
 * stream, one for each line that it might have. `mode` and `variant` only change starts and steps, so the
 * code that draws does not look at them, except for the texts that Crystal's variant changes.
 */
#ifndef TESSERA_SSB_DATA_GENERATOR_INTERNAL_H
#define TESSERA_SSB_DATA_GENERATOR_INTERNAL_H

#include "ssb/data/generator.h"
#include "ssb/data/random.h"
#include "ssb/data/skew.h"
#include "ssb/data/words.h"

#define CALENDAR_DAYS   2557u /* 1992-01-01 .. 1998-12-31 */
#define ORDER_DATES     2406u /* days on which orders are placed, from 1992-01-01 */
#define ORDER_LINES_MAX 7u
#define BLOCK_ORDERS    1024u /* orders between two entries of the row index */
#define PART_NAME_DRAWS COLOR_COUNT
#define PHONE_DRAWS     3u
#define ADDRESS_DRAWS   9u

enum stream {
    STREAM_PART_MFGR,
    STREAM_PART_CATEGORY,
    STREAM_PART_BRAND,
    STREAM_PART_TYPE,
    STREAM_PART_SIZE,
    STREAM_PART_CONTAINER,
    STREAM_PART_NAME,
    STREAM_SUPPLIER_ADDRESS,
    STREAM_SUPPLIER_NATION,
    STREAM_SUPPLIER_PHONE,
    STREAM_SUPPLIER_CITY,
    STREAM_CUSTOMER_ADDRESS,
    STREAM_CUSTOMER_NATION,
    STREAM_CUSTOMER_PHONE,
    STREAM_CUSTOMER_CITY,
    STREAM_CUSTOMER_SEGMENT,
    STREAM_ORDER_DATE,
    STREAM_ORDER_CUSTOMER,
    STREAM_ORDER_PRIORITY,
    STREAM_ORDER_LINES,
    STREAM_LINE_QUANTITY,
    STREAM_LINE_DISCOUNT,
    STREAM_LINE_TAX,
    STREAM_LINE_SHIP_MODE,
    STREAM_LINE_PART,
    STREAM_LINE_SUPPLIER,
    STREAM_LINE_COMMIT_DATE,
    STREAMS
};

struct stream_start {
    uint32_t state;   /* before the first row's first step */
    uint32_t per_row; /* steps that each row takes */
};

struct ssb_generator {
    struct ssb_options options;
    uint64_t rows[SSB_TABLES];
    uint64_t orders;
    int64_t part_keys; /* lo_partkey is from 1 .. part_keys: at most scale factors fewer than the parts */
    struct random_jumps jumps;
    struct stream_start streams[STREAMS];
    struct skew_table skews[SKEWS];   /* if options.skew */
    int32_t date_keys[CALENDAR_DAYS]; /* yyyymmdd */
    uint64_t blocks;                  /* of BLOCK_ORDERS orders each; the last may be shorter */
    uint64_t *block_rows;             /* blocks + 1 entries: first row of each block, then all rows */
};

/* The stream's state before the first step of `row`. */
static inline uint32_t stream_state(const struct ssb_generator *generator, enum stream stream, uint64_t row)
{
    const struct stream_start *start = &generator->streams[stream];
    return random_jump(&generator->jumps, start->state, start->per_row * row);
}

/* A calendar date; `month`, `day` and `day_of_year` count from 1. */
struct calendar_date {
    int year, month, day;
    int day_of_year;
    int month_days; /* days of that month */
};

/* The date `day` days after 1992-01-01. */
struct calendar_date calendar_date(uint32_t day);

/* The number of lines of `orders` orders from first_order on, at most BLOCK_ORDERS orders. */
uint32_t lineorder_count_lines(const struct ssb_generator *generator, uint64_t first_order, uint32_t orders);

#endif
