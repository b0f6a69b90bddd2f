/* level_positions.h: positions of rows one at a time; the product's loops over rows go leaf by leaf (levels.h). */
#ifndef TESSERA_TESTS_SUPPORT_LEVEL_POSITIONS_H
#define TESSERA_TESTS_SUPPORT_LEVEL_POSITIONS_H

#include "storage/column/levels.h"

/* The position of a row, and the row of a position; false if no row has it. Binary searches over leaves. */
static inline uint64_t levels_position(const struct table_levels *levels, uint64_t row)
{
    uint32_t low = 0, high = levels->leaf_count - 1;
    while (low < high) {
        const uint32_t middle = low + (high - low + 1) / 2;
        if (levels->leaves[middle].first_row <= row)
            low = middle;
        else
            high = middle - 1;
    }
    const struct level_leaf *leaf = &levels->leaves[low];
    return ((uint64_t)leaf->prefix << levels->rest_bits) + (row - leaf->first_row);
}

static inline bool levels_row(const struct table_levels *levels, uint64_t position, uint64_t *row)
{
    const uint64_t prefix = position >> levels->rest_bits, rest = position - (prefix << levels->rest_bits);
    uint32_t low = 0, high = levels->leaf_count;
    while (low < high) {
        const uint32_t middle = low + (high - low) / 2;
        if (levels->leaves[middle].prefix < prefix)
            low = middle + 1;
        else
            high = middle;
    }
    if (low == levels->leaf_count || levels->leaves[low].prefix != prefix || rest >= levels->leaves[low].rows)
        return false;
    *row = levels->leaves[low].first_row + rest;
    return true;
}

#endif
