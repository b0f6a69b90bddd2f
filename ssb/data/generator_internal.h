/*
 * generator_internal.h: what generator.c prepares and the tables' files read: where each random stream
 * starts.
 *
 * Every column draws from a stream of its own. Row i of a table (0-based) begins at state jump(start, per_row
 * i) of each of its streams; an order is a "row" of the order streams, and takes seven steps of each line
 * stream, one for each line that it might have. `mode` and `variant` only move starts and steps, so that
 * nothing below this header asks for them, but for the texts in which Crystal's variant differs.
 */
#ifndef TESSERA_SSB_DATA_GENERATOR_INTERNAL_H
#define TESSERA_SSB_DATA_GENERATOR_INTERNAL_H

#include "ssb/data/generator.h"
#include "ssb/data/random.h"
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
    uint32_t per_row; /* steps from one row to the next */
};

struct ssb_generator {
    struct ssb_options options;
    uint64_t rows[SSB_TABLES];
    uint64_t orders;
    int64_t
        part_keys; /* lo_partkey is drawn from 1 .. part_keys: fewer than the parts at most scale factors */
    struct random_jumps jumps;
    struct stream_start streams[STREAMS];
    int32_t date_keys[CALENDAR_DAYS]; /* yyyymmdd */
    uint64_t blocks;                  /* of BLOCK_ORDERS orders, the last perhaps shorter */
    uint64_t *block_rows;             /* blocks + 1: the first row of each block, then the number of rows */
};

/* The state of a stream before the first step of `row`. */
static inline uint32_t stream_state(const struct ssb_generator *generator, enum stream stream, uint64_t row)
{
    const struct stream_start *start = &generator->streams[stream];
    return random_jump(&generator->jumps, start->state, start->per_row * row);
}

/* Calendar date of a day counted from 1992-01-01; month and day from 1. */
struct calendar_date {
    int year, month, day;
    int day_of_year; /* from 1 */
    int month_days;
};
struct calendar_date calendar_date(uint32_t day);

/* Lines of the orders [first_order, first_order + orders), at most BLOCK_ORDERS of them. */
uint32_t lineorder_count_lines(const struct ssb_generator *generator, uint64_t first_order, uint32_t orders);

#endif
