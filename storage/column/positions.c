/* positions.c: see positions.h. */
#include "storage/column/positions.h"

#include "storage/base/memory.h"
#include "storage/column/levels_file.h"
#include "storage/column/position_loops.h"

#include <stdlib.h>
#include <string.h>

/* ---- Runs ---- */

bool position_run_next(const struct table *table, struct position_run *run)
{
    const struct table_levels *const levels = table->levels;
    if (!levels) {
        const bool first = run->leaf == 0 && table->rows > 0;
        *run = (struct position_run){.rows = table->rows, .leaf = 1};
        return first;
    }
    if (run->leaf >= levels->leaf_count)
        return false;
    const struct level_leaf *leaf = &levels->leaves[run->leaf++];
    run->first = (uint64_t)leaf->prefix << levels->rest_bits;
    run->row = leaf->first_row;
    run->rows = leaf->rows;
    /* A leaf that begins where the one before it ends continues the run: that one is full. */
    for (; run->leaf < levels->leaf_count; run->leaf++) {
        leaf = &levels->leaves[run->leaf];
        if ((uint64_t)leaf->prefix << levels->rest_bits != run->first + run->rows)
            break;
        run->rows += leaf->rows;
    }
    return true;
}

/* The number of the first leaf that ends after the position. */
static uint32_t leaf_after(const struct table_levels *levels, uint64_t position)
{
    uint32_t low = 0, high = levels->leaf_count;
    while (low < high) {
        const uint32_t middle = low + (high - low) / 2;
        const struct level_leaf *leaf = &levels->leaves[middle];
        if (((uint64_t)leaf->prefix << levels->rest_bits) + leaf->rows <= position)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

bool position_run_from(const struct table *table, uint64_t position, struct position_run *run)
{
    *run = (struct position_run){.leaf = table->levels ? leaf_after(table->levels, position) : 0};
    if (!position_run_next(table, run) || run->first + run->rows <= position)
        return false;
    if (run->first < position) {
        const uint64_t cut = position - run->first;
        *run = (struct position_run){position, run->rows - cut, run->row + cut, run->leaf};
    }
    return true;
}

bool position_stretch(const struct table *table, uint64_t position, uint64_t limit, uint64_t *first,
                      uint64_t *end)
{
    struct position_run run;
    if (!position_run_from(table, position, &run) || run.first >= limit)
        return false;
    *first = run.first / 32 * 32;
    do
        *end = run.first + run.rows;
    while (*end < limit && position_run_next(table, &run) && run.first - *end < POSITION_GAP_MIN);
    *end = *end < limit ? *end : limit;
    return true;
}

/* ---- Arrays by position ---- */

static inline void fill(void *values, uint32_t value_bytes, uint64_t first, uint64_t end, const void *value)
{
    uint8_t *at = (uint8_t *)values + first * value_bytes;
    if (value_bytes == 1)
        memset(at, *(const uint8_t *)value, end - first);
    else
        for (; first < end; first++, at += value_bytes)
            memcpy(at, value, value_bytes);
}

static inline void spread(const struct table *table, const uint8_t *by_row, uint32_t value_bytes,
                          void *by_position)
{
    struct position_run run = {0};
    uint64_t done = 0; /* positions */
    while (position_run_next(table, &run)) {
        const uint8_t *const from = by_row + run.row * value_bytes;
        fill(by_position, value_bytes, done, run.first, run.row ? from - value_bytes : from);
        memcpy((uint8_t *)by_position + run.first * value_bytes, from, run.rows * value_bytes);
        done = run.first + run.rows;
    }
}

void positions_spread(const struct table *table, const void *by_row, uint32_t value_bytes, void *by_position)
{
    switch (value_bytes) { /* constants, so that each copy of a value is one instruction */
    case 1:
        spread(table, by_row, 1, by_position);
        break;
    case 2:
        spread(table, by_row, 2, by_position);
        break;
    case 4:
        spread(table, by_row, 4, by_position);
        break;
    default:
        spread(table, by_row, 8, by_position);
    }
}

static bool bit_at(const uint32_t *words, uint64_t bit)
{
    return words[bit / 32] >> bit % 32 & 1;
}

static void set_bits(uint32_t *words, uint64_t first, uint64_t end)
{
    for (; first < end && first % 32; first++)
        words[first / 32] |= 1u << first % 32;
    for (; first + 32 <= end; first += 32)
        words[first / 32] = ~0u;
    for (; first < end; first++)
        words[first / 32] |= 1u << first % 32;
}

enum status positions_spread_own(const struct table *table, uint32_t value_bytes, void *values,
                                 struct error *error)
{
    void *by_row, *by_position;
    memcpy(&by_row, values, sizeof by_row);
    RETURN_IF_ERROR(memory_take(&by_position, (table_positions(table) + 1) * value_bytes,
                                "a dimension's positions", error));
    positions_spread(table, by_row, value_bytes, by_position);
    free(by_row);
    memcpy(values, &by_position, sizeof by_position);
    return STATUS_OK;
}

void positions_spread_bits(const struct table *table, const uint32_t *by_row, uint32_t *by_position)
{
    struct position_run run = {0};
    uint64_t done = 0;
    while (position_run_next(table, &run)) {
        if (bit_at(by_row, run.row ? run.row - 1 : 0))
            set_bits(by_position, done, run.first);
        for (uint64_t i = 0; i < run.rows; i++)
            by_position[(run.first + i) / 32] |= (uint32_t)bit_at(by_row, run.row + i)
                                                 << (run.first + i) % 32;
        done = run.first + run.rows;
    }
}

enum status positions_of_rows(const struct table *table, int32_t **positions, struct error *error)
{
    struct position_run run = {0};
    RETURN_IF_ERROR(levels_load(table, error));
    RETURN_IF_ERROR(
        memory_take(positions, (table->rows + 1) * sizeof **positions, "a table's positions", error));
    while (position_run_next(table, &run))
        for (uint64_t i = 0; i < run.rows; i++)
            (*positions)[run.row + i] = (int32_t)(run.first + i);
    return STATUS_OK;
}

enum status rows_of_positions(const struct table *table, int32_t **rows, struct error *error)
{
    struct position_run run = {0};
    const uint64_t bytes = (table_positions(table) + 1) * sizeof **rows;
    RETURN_IF_ERROR(levels_load(table, error));
    RETURN_IF_ERROR(memory_take(rows, bytes, "a table's positions", error));
    memset(*rows, 0xff, bytes);
    while (position_run_next(table, &run))
        for (uint64_t i = 0; i < run.rows; i++)
            (*rows)[run.first + i] = (int32_t)(run.row + i);
    return STATUS_OK;
}

/* ---- Checks ---- */

enum status position_check_open(const struct table *table, struct position_check *check, struct error *error)
{
    const struct table_levels *const levels = table->levels;
    *check = (struct position_check){.positions = table_positions(table)};
    if (!levels)
        return STATUS_OK;
    RETURN_IF_ERROR(levels_load(table, error));
    check->rest_bits = levels->rest_bits;
    const uint64_t prefixes = ((levels->positions - 1) >> levels->rest_bits) + 1;
    RETURN_IF_ERROR(
        memory_zeros(&check->rows, prefixes * sizeof *check->rows, "the rows of each prefix", error));
    for (uint32_t l = 0; l < levels->leaf_count; l++)
        check->rows[levels->leaves[l].prefix] = levels->leaves[l].rows;
    return STATUS_OK;
}

void position_check_close(struct position_check *check)
{
    free(check->rows);
    *check = (struct position_check){0};
}

uint32_t position_highest(const uint32_t *values, uint32_t count)
{
    return ISA_CHOICE(position_loops).highest(values, count);
}

uint32_t position_check_tile(const struct position_check *check, const int32_t *keys,
                             const uint32_t *validity, uint32_t count)
{
    const uint32_t *const positions = (const uint32_t *)keys;
    if (check->rows ? ISA_CHOICE(position_loops).have_rows(check, positions, count)
                    : count == 0 || position_highest(positions, count) < check->positions)
        return count;
    for (uint32_t row = 0; row < count; row++)
        if ((!validity || tile_row_valid(validity, row)) && !position_has_row(check, (uint32_t)keys[row]))
            return row;
    return count;
}
