/* row_order.c: see row_order.h. */
#include "storage/database/row_order.h"
#include "storage/column/column.h"

#include <stdlib.h>

/* 4096 places to write to still fit a core's second-level TLB and cache. */
#define DIGIT_BITS_MAX 12u

/* The fewest rows for which a further thread is worth its cost. */
#define PART_ROWS_MIN 65536u

struct pair {
    uint32_t key;
    uint32_t row;
};

/* The parts of a pair's key in the order of the passes, the least significant part first. */
enum key_part { KEY_LOW, KEY_HIGH, KEY_VALID, KEY_PARTS };

struct sort {
    const struct row_order_key *key;
    enum key_part part;
    struct pair *from, *to;
    unsigned parts; /* the rows are cut into this many parts, one a thread */
    uint32_t shift, bins;
    uint64_t *counts; /* for each part and bin: the number of pairs, later the place of the next pair */
};

/* The key's current part: bits of the row's distance from the least value; 0 for NULLs, whose values mean
 * nothing. */
static uint32_t key_of(const struct sort *sort, uint32_t row)
{
    const struct row_order_key *key = sort->key;
    if (key->validity && !row_valid(key->validity, row))
        return 0;
    if (sort->part == KEY_VALID)
        return 1;
    const uint64_t distance = (uint64_t)row_value(key->values, key->value_bytes, row) - (uint64_t)key->min;
    return (uint32_t)(sort->part == KEY_LOW ? distance : distance >> 32);
}

static uint64_t part_begin(const struct sort *sort, uint64_t part)
{
    return sort->key->rows * part / sort->parts;
}

static enum status number_rows(void *context, uint64_t part, unsigned thread, struct error *error)
{
    const struct sort *sort = context;
    (void)thread;
    for (uint64_t i = part_begin(sort, part); i < part_begin(sort, part + 1); i++)
        sort->from[i].row = (uint32_t)i;
    return cancel_check(error);
}

static enum status fill_keys(void *context, uint64_t part, unsigned thread, struct error *error)
{
    const struct sort *sort = context;
    (void)thread;
    for (uint64_t i = part_begin(sort, part); i < part_begin(sort, part + 1); i++)
        sort->from[i].key = key_of(sort, sort->from[i].row);
    return cancel_check(error);
}

static enum status count_digits(void *context, uint64_t part, unsigned thread, struct error *error)
{
    const struct sort *sort = context;
    uint64_t *const counts = sort->counts + part * sort->bins;
    (void)thread;
    for (uint32_t bin = 0; bin < sort->bins; bin++)
        counts[bin] = 0;
    for (uint64_t i = part_begin(sort, part); i < part_begin(sort, part + 1); i++)
        counts[sort->from[i].key >> sort->shift & (sort->bins - 1)]++;
    return cancel_check(error);
}

static enum status move_pairs(void *context, uint64_t part, unsigned thread, struct error *error)
{
    const struct sort *sort = context;
    uint64_t *const next = sort->counts + part * sort->bins;
    (void)thread;
    for (uint64_t i = part_begin(sort, part); i < part_begin(sort, part + 1); i++)
        sort->to[next[sort->from[i].key >> sort->shift & (sort->bins - 1)]++] = sort->from[i];
    return cancel_check(error);
}

/* Turns counts into places, by digit and then by part, so that pairs with equal digits keep their order. */
static void place_digits(struct sort *sort)
{
    uint64_t place = 0;
    for (uint32_t bin = 0; bin < sort->bins; bin++)
        for (unsigned part = 0; part < sort->parts; part++) {
            uint64_t *const count = &sort->counts[(uint64_t)part * sort->bins + bin];
            const uint64_t pairs = *count;
            *count = place;
            place += pairs;
        }
}

static enum status sort_digit(struct sort *sort, struct error *error)
{
    RETURN_IF_ERROR(parallel_for(sort->parts, sort->parts, count_digits, sort, error));
    place_digits(sort);
    RETURN_IF_ERROR(parallel_for(sort->parts, sort->parts, move_pairs, sort, error));
    struct pair *const moved = sort->to;
    sort->to = sort->from;
    sort->from = moved;
    return STATUS_OK;
}

static uint32_t bits_of(uint64_t number)
{
    return number ? 64 - (uint32_t)__builtin_clzll(number) : 0;
}

/* The number of bits in which the part's keys differ; 0: all are equal. */
static uint32_t part_bits(const struct row_order_key *key, enum key_part part)
{
    const uint64_t span = key->min <= key->max ? (uint64_t)key->max - (uint64_t)key->min : 0;
    switch (part) {
    case KEY_LOW:
        return span > UINT32_MAX ? 32 : bits_of(span);
    case KEY_HIGH:
        return bits_of(span >> 32);
    default:
        return key->validity ? 1 : 0;
    }
}

static enum status sort_all(struct sort *sort, struct error *error)
{
    RETURN_IF_ERROR(parallel_for(sort->parts, sort->parts, number_rows, sort, error));
    for (sort->part = KEY_LOW; sort->part < KEY_PARTS; sort->part++) {
        const uint32_t bits = part_bits(sort->key, sort->part);
        if (bits == 0)
            continue;
        const uint32_t passes = (bits + DIGIT_BITS_MAX - 1) / DIGIT_BITS_MAX,
                       digit = (bits + passes - 1) / passes;
        sort->bins = 1u << digit;
        RETURN_IF_ERROR(parallel_for(sort->parts, sort->parts, fill_keys, sort, error));
        for (sort->shift = 0; sort->shift < bits; sort->shift += digit)
            RETURN_IF_ERROR(sort_digit(sort, error));
    }
    return STATUS_OK;
}

/* Moves the rows to the front of the pairs' memory, and frees the rest of it. */
static uint32_t *pack_rows(struct pair *pairs, uint64_t rows)
{
    uint32_t *const order = (uint32_t *)(void *)pairs;
    for (uint64_t i = 0; i < rows; i++) {
        const uint32_t row = pairs[i].row;
        order[i] = row;
    }
    uint32_t *const shrunk = realloc(order, (rows + 1) * sizeof *order);
    return shrunk ? shrunk : order;
}

enum status row_order_find(const struct row_order_key *key, unsigned threads, uint32_t **order,
                           struct error *error)
{
    threads = threads ? threads : parallel_threads_available();
    const uint64_t worth = key->rows / PART_ROWS_MIN + 1;
    struct sort sort = {.key = key, .parts = threads < worth ? threads : (unsigned)worth};
    sort.from = malloc((key->rows + 1) * sizeof *sort.from);
    sort.to = malloc((key->rows + 1) * sizeof *sort.to);
    sort.counts = malloc(((uint64_t)sort.parts << DIGIT_BITS_MAX) * sizeof *sort.counts);
    enum status status = sort.from && sort.to && sort.counts
                             ? sort_all(&sort, error)
                             : error_out_of_memory(error, key->rows * ROW_ORDER_BYTES, "sorting rows");
    free(sort.counts);
    free(sort.to);
    if (status != STATUS_OK) {
        free(sort.from);
        return status;
    }
    *order = pack_rows(sort.from, key->rows);
    return STATUS_OK;
}
