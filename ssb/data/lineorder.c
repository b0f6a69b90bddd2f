/*
 * lineorder.c: generates rows of lineorder, from any row on, directly into columns.
 *
 * Orders are generated in batches of at most 256 (about 1000 rows), whose numbers stay in the first two
 * levels of cache. A batch draws from one stream after the other: one number an order, or seven an order, of
 * which an order of n lines uses the first n. All loops over a batch, but those of skewed numbers, have no branches, so that
 * compilers vectorise them: 16 states of a stream advance together, each by 16 steps. The table has 1 to 10^11 rows;
 * one call generates thousands to millions of them.
 */
#include "ssb/data/generator.h"

#include "ssb/data/generator_internal.h"
#include "ssb/data/words.h"

#include <string.h>

#define BATCH_ORDERS 256u
#define BATCH_ROWS   (BATCH_ORDERS * ORDER_LINES_MAX)
#define LANES        16u /* states of one stream that advance together */

/* Computes the states after 1 .. count steps; `states` has room for count rounded up to LANES. Then *state is
 * the state after `count` steps. */
static void stream_states(uint32_t *state, uint32_t count, uint32_t *states)
{
    uint32_t power = 1;
    for (uint32_t lane = 0; lane < LANES; lane++) {
        power = random_step(power);
        states[lane] = random_multiply(*state, power);
    }
    for (uint32_t i = LANES; i < count; i += LANES)
        for (uint32_t lane = 0; lane < LANES; lane++)
            states[i + lane] = random_multiply(states[i + lane - LANES], power);
    *state = states[count - 1];
}

/* Draws one number from low .. low + width - 1 for each state. It is random_draw for numbers below 2^31,
 * which every instruction set can convert in vectors. */
static void draw_all(const uint32_t *states, uint32_t count, int32_t low, int64_t width, int32_t *values)
{
    for (uint32_t i = 0; i < count; i++)
        values[i] = low + (int32_t)((double)(int32_t)states[i] / 2147483647.0 * (double)width);
}

uint32_t lineorder_count_lines(const struct ssb_generator *generator, uint64_t first_order, uint32_t orders)
{
    uint32_t states[BLOCK_ORDERS];
    int32_t lines[BLOCK_ORDERS];
    uint32_t state = stream_state(generator, STREAM_ORDER_LINES, first_order);
    stream_states(&state, orders, states);
    draw_all(states, orders, 1, ORDER_LINES_MAX, lines);
    uint32_t sum = 0;
    for (uint32_t i = 0; i < orders; i++)
        sum += (uint32_t)lines[i];
    return sum;
}

/* What the batches of a range share. */
struct range {
    const struct ssb_generator *generator;
    uint64_t order;            /* the next order, 0-based */
    uint32_t streams[STREAMS]; /* current states */
    bool needs[LO_COLUMNS];    /* the caller wants the column, or another wanted column depends on it */
    bool needs_price;
};

struct batch {
    uint32_t orders, rows;
    uint16_t slot[BATCH_ROWS + 8];        /* each row's draw among the batch's draws, seven an order */
    uint16_t order[BATCH_ROWS + 8];       /* each row's order in the batch */
    uint32_t first_row[BATCH_ORDERS + 1]; /* of each order, then the number of rows */
    int32_t days[BATCH_ORDERS];           /* order dates */
    int32_t price[BATCH_ROWS];            /* of each row's part, in cents */

    /* Where the batch's columns are written: into the caller's arrays, or into the scratch arrays. */
    int64_t *order_keys;
    int32_t *columns[LO_COLUMNS];
    int64_t scratch_keys[BATCH_ROWS];
    int32_t scratch[LO_COLUMNS][BATCH_ROWS];
};

/* Which distribution a stream's numbers have in skewed data; SKEWS: they stay uniform. */
static enum skew stream_skew(enum stream stream)
{
    switch ((int)stream) {
    case STREAM_ORDER_CUSTOMER:
    case STREAM_LINE_PART:
    case STREAM_LINE_SUPPLIER:
        return SKEW_KEY;
    case STREAM_LINE_QUANTITY:
        return SKEW_QUANTITY;
    case STREAM_LINE_DISCOUNT:
        return SKEW_DISCOUNT;
    default:
        return SKEWS;
    }
}

/* Draws a number of the stream for each state. */
static void draw_stream(const struct range *range, enum stream stream, const uint32_t *states, uint32_t count,
                        int32_t low, int64_t width, int32_t *values)
{
    const enum skew skew = range->generator->options.skew ? stream_skew(stream) : SKEWS;
    if (skew == SKEWS) {
        draw_all(states, count, low, width, values);
        return;
    }
    for (uint32_t i = 0; i < count; i++)
        values[i] = low + (int32_t)skew_number(&range->generator->skews[skew], states[i], (uint64_t)width);
}

/* Draws one number an order. */
static void draw_orders(struct range *range, const struct batch *batch, enum stream stream, int32_t low,
                        int64_t width, int32_t *values)
{
    uint32_t states[BATCH_ORDERS + LANES];
    stream_states(&range->streams[stream], batch->orders, states);
    draw_stream(range, stream, states, batch->orders, low, width, values);
}

/* Draws one number a row. */
static void draw_rows(struct range *range, const struct batch *batch, enum stream stream, int32_t low,
                      int64_t width, int32_t *values)
{
    uint32_t states[BATCH_ROWS + LANES], used[BATCH_ROWS];
    stream_states(&range->streams[stream], batch->orders * ORDER_LINES_MAX, states);
    for (uint32_t row = 0; row < batch->rows; row++)
        used[row] = states[batch->slot[row]];
    draw_stream(range, stream, used, batch->rows, low, width, values);
}

/* Gives each row its order's value. */
static void spread(const struct batch *batch, const int32_t *order_values, int32_t *values)
{
    for (uint32_t row = 0; row < batch->rows; row++)
        values[row] = order_values[batch->order[row]];
}

static void lay_out_rows(struct range *range, struct batch *batch)
{
    int32_t lines[BATCH_ORDERS];
    draw_orders(range, batch, STREAM_ORDER_LINES, 1, ORDER_LINES_MAX, lines);
    uint32_t row = 0;
    for (uint32_t order = 0; order < batch->orders; order++) {
        batch->first_row[order] = row;
        for (uint32_t line = 0; line < 8; line++) { /* one whole vector; the next order overwrites the rest */
            batch->slot[row + line] = (uint16_t)(order * ORDER_LINES_MAX + line);
            batch->order[row + line] = (uint16_t)order;
        }
        row += (uint32_t)lines[order];
    }
    batch->first_row[batch->orders] = row;
    batch->rows = row;
}

static void make_keys(struct range *range, struct batch *batch)
{
    if (range->needs[LO_ORDERKEY])
        for (uint32_t row = 0; row < batch->rows; row++) {
            /* ssb-dbgen uses eight keys of every 32. */
            const uint64_t number = range->order + batch->order[row] + 1;
            batch->order_keys[row] = (int64_t)((number >> 3 << 5) | (number & 7));
        }
    if (range->needs[LO_LINENUMBER])
        for (uint32_t row = 0; row < batch->rows; row++)
            batch->columns[LO_LINENUMBER][row] =
                batch->slot[row] - batch->order[row] * (int32_t)ORDER_LINES_MAX + 1;
    if (range->needs[LO_CUSTKEY]) {
        /* A third of the customers never order: a multiple of three is replaced by a neighbour. */
        const int32_t customers = (int32_t)range->generator->rows[SSB_CUSTOMER];
        int32_t keys[BATCH_ORDERS];
        draw_orders(range, batch, STREAM_ORDER_CUSTOMER, 1, customers, keys);
        for (uint32_t order = 0; order < batch->orders; order++) {
            const int32_t step = keys[order] == customers ? -1 : 1;
            keys[order] += keys[order] % 3 == 0 ? step : 0;
        }
        spread(batch, keys, batch->columns[LO_CUSTKEY]);
    }
    if (range->needs[LO_PARTKEY])
        draw_rows(range, batch, STREAM_LINE_PART, 1, range->generator->part_keys, batch->columns[LO_PARTKEY]);
    if (range->needs[LO_SUPPKEY])
        draw_rows(range, batch, STREAM_LINE_SUPPLIER, 1, (int64_t)range->generator->rows[SSB_SUPPLIER],
                  batch->columns[LO_SUPPKEY]);
}

static void make_dates(struct range *range, struct batch *batch)
{
    const int32_t *date_keys = range->generator->date_keys;
    if (range->needs[LO_ORDERDATE] || range->needs[LO_COMMITDATE])
        draw_orders(range, batch, STREAM_ORDER_DATE, 0, ORDER_DATES, batch->days);
    if (range->needs[LO_ORDERDATE])
        for (uint32_t row = 0; row < batch->rows; row++)
            batch->columns[LO_ORDERDATE][row] = date_keys[batch->days[batch->order[row]]];
    if (range->needs[LO_COMMITDATE]) {
        int32_t *dates = batch->columns[LO_COMMITDATE];
        draw_rows(range, batch, STREAM_LINE_COMMIT_DATE, 30, 61, dates);
        for (uint32_t row = 0; row < batch->rows; row++)
            dates[row] = date_keys[batch->days[batch->order[row]] + dates[row]];
    }
}

static void make_words(struct range *range, struct batch *batch)
{
    if (range->needs[LO_ORDERPRIORITY]) {
        int32_t priorities[BATCH_ORDERS];
        draw_orders(range, batch, STREAM_ORDER_PRIORITY, 0, ORDER_PRIORITY_COUNT, priorities);
        spread(batch, priorities, batch->columns[LO_ORDERPRIORITY]);
    }
    if (range->needs[LO_SHIPPRIORITY])
        memset(batch->columns[LO_SHIPPRIORITY], 0, batch->rows * sizeof(int32_t));
    if (range->needs[LO_SHIPMODE]) {
        int32_t *modes = batch->columns[LO_SHIPMODE];
        draw_rows(range, batch, STREAM_LINE_SHIP_MODE, 0, SHIP_MODE_COUNT, modes);
        for (uint32_t row = 0; row < batch->rows; row++)
            modes[row] = ship_mode_codes[modes[row]];
    }
}

/* An order's total is the sum of its lines' revenues with tax, each truncated to whole cents. It is the
 * difference of two prefix sums. Those wrap round in 32 bits, but the difference is exact, because a total is
 * below 80 million. */
static void make_order_totals(struct batch *batch)
{
    uint32_t sums[BATCH_ROWS + 1];
    int32_t totals[BATCH_ORDERS];
    const int32_t *revenue = batch->columns[LO_REVENUE], *tax = batch->columns[LO_TAX];
    sums[0] = 0;
    for (uint32_t row = 0; row < batch->rows; row++)
        sums[row + 1] = sums[row] + (uint32_t)revenue[row] * (uint32_t)(100 + tax[row]) / 100;
    for (uint32_t order = 0; order < batch->orders; order++)
        totals[order] = (int32_t)(sums[batch->first_row[order + 1]] - sums[batch->first_row[order]]);
    spread(batch, totals, batch->columns[LO_ORDTOTALPRICE]);
}

/* All values fit in 32 bits: a price is below 210000 cents, and 50 times that with a tax of 8 percent, in
 * hundredths of a cent, is below 1.14 * 10^9. */
static void make_money(struct range *range, struct batch *batch)
{
    int32_t *const *columns = batch->columns;
    if (range->needs_price)
        for (uint32_t row = 0; row < batch->rows; row++) {
            const uint32_t part = (uint32_t)columns[LO_PARTKEY][row];
            batch->price[row] = (int32_t)(90000 + part / 10 % 20001 + part % 1000 * 100);
        }
    if (range->needs[LO_QUANTITY])
        draw_rows(range, batch, STREAM_LINE_QUANTITY, 1, 50, columns[LO_QUANTITY]);
    if (range->needs[LO_DISCOUNT])
        draw_rows(range, batch, STREAM_LINE_DISCOUNT, 0, 11, columns[LO_DISCOUNT]);
    if (range->needs[LO_TAX])
        draw_rows(range, batch, STREAM_LINE_TAX, 0, 9, columns[LO_TAX]);
    if (range->needs[LO_EXTENDEDPRICE])
        for (uint32_t row = 0; row < batch->rows; row++)
            columns[LO_EXTENDEDPRICE][row] = batch->price[row] * columns[LO_QUANTITY][row];
    if (range->needs[LO_REVENUE])
        for (uint32_t row = 0; row < batch->rows; row++)
            columns[LO_REVENUE][row] = (int32_t)((uint32_t)columns[LO_EXTENDEDPRICE][row] *
                                                 (uint32_t)(100 - columns[LO_DISCOUNT][row]) / 100);
    if (range->needs[LO_SUPPLYCOST])
        for (uint32_t row = 0; row < batch->rows; row++)
            columns[LO_SUPPLYCOST][row] = (int32_t)((uint32_t)batch->price[row] * 6 / 10);
    if (range->needs[LO_ORDTOTALPRICE])
        make_order_totals(batch);
}

static void range_needs(struct range *range, void *const columns[SSB_COLUMNS_MAX])
{
    bool *needs = range->needs;
    for (int column = 0; column < LO_COLUMNS; column++)
        needs[column] = columns[column] != NULL;
    needs[LO_REVENUE] |= needs[LO_ORDTOTALPRICE];
    needs[LO_TAX] |= needs[LO_ORDTOTALPRICE];
    needs[LO_EXTENDEDPRICE] |= needs[LO_REVENUE];
    needs[LO_DISCOUNT] |= needs[LO_REVENUE];
    needs[LO_QUANTITY] |= needs[LO_EXTENDEDPRICE];
    range->needs_price = needs[LO_EXTENDEDPRICE] || needs[LO_SUPPLYCOST];
    needs[LO_PARTKEY] |= range->needs_price;
}

/* Finds the order that contains `row` of lineorder; *skip is the number of its lines before that row. */
static uint64_t find_order(const struct ssb_generator *generator, uint64_t row, uint32_t *skip)
{
    uint64_t block = 0, end = generator->blocks;
    while (end - block > 1) {
        const uint64_t middle = block + (end - block) / 2;
        if (generator->block_rows[middle] <= row)
            block = middle;
        else
            end = middle;
    }
    uint64_t order = block * BLOCK_ORDERS;
    uint64_t left = row - generator->block_rows[block];
    uint32_t state = stream_state(generator, STREAM_ORDER_LINES, order);
    for (;; order++) {
        state = random_step(state);
        const uint64_t lines = (uint64_t)random_draw(state, 1, ORDER_LINES_MAX);
        if (left < lines)
            break;
        left -= lines;
    }
    *skip = (uint32_t)left;
    return order;
}

static uint64_t least(uint64_t a, uint64_t b)
{
    return a < b ? a : b;
}

static void make_batch(struct range *range, struct batch *batch)
{
    make_keys(range, batch);
    make_dates(range, batch);
    make_words(range, batch);
    make_money(range, batch);
    range->order += batch->orders;
}

void ssb_generate_lineorder(const struct ssb_generator *generator, uint64_t first_row, uint64_t rows,
                            void *const columns[SSB_COLUMNS_MAX])
{
    if (rows == 0)
        return;
    uint32_t skip; /* lines of the first order that belong to rows before the range */
    struct range range = {.generator = generator};
    range.order = find_order(generator, first_row, &skip);
    range_needs(&range, columns);
    for (enum stream stream = STREAM_ORDER_DATE; stream < STREAMS; stream++)
        range.streams[stream] = stream_state(generator, stream, range.order);

    struct batch batch;
    for (uint64_t done = 0; done < rows;) {
        /* An order has at least one line, so this many orders are enough for the rows still missing. */
        batch.orders =
            (uint32_t)least(least(BATCH_ORDERS, rows - done + skip), generator->orders - range.order);
        lay_out_rows(&range, &batch);
        const uint64_t used = least(batch.rows - skip, rows - done);
        /* If not all rows of the batch are wanted, it is generated in the scratch arrays and copied. */
        const bool whole = used == batch.rows;
        batch.order_keys = batch.scratch_keys;
        if (whole && columns[LO_ORDERKEY])
            batch.order_keys = (int64_t *)columns[LO_ORDERKEY] + done;
        for (int column = LO_LINENUMBER; column < LO_COLUMNS; column++) {
            batch.columns[column] = batch.scratch[column];
            if (whole && columns[column])
                batch.columns[column] = (int32_t *)columns[column] + done;
        }
        make_batch(&range, &batch);
        if (!whole) {
            if (columns[LO_ORDERKEY])
                memcpy((int64_t *)columns[LO_ORDERKEY] + done, batch.scratch_keys + skip,
                       used * sizeof(int64_t));
            for (int column = LO_LINENUMBER; column < LO_COLUMNS; column++)
                if (columns[column])
                    memcpy((int32_t *)columns[column] + done, batch.scratch[column] + skip,
                           used * sizeof(int32_t));
        }
        done += used;
        skip = 0;
    }
}

uint32_t ssb_lineorder_words(const struct ssb_generator *generator, uint32_t column,
                             const char *const **words)
{
    if (column == LO_SHIPMODE) {
        *words = ship_mode_words;
        return SHIP_MODE_COUNT;
    }
    *words = generator->options.variant == SSB_VARIANT_CRYSTAL ? order_priority_words_crystal
                                                               : order_priority_words;
    return ORDER_PRIORITY_COUNT;
}
