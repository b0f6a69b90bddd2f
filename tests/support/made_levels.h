/* made_levels.h: levels made by hand for tests of positions: leaves of random sizes with random gaps between them. */
#ifndef TESSERA_TESTS_SUPPORT_MADE_LEVELS_H
#define TESSERA_TESTS_SUPPORT_MADE_LEVELS_H

#include "storage/column/column.h"
#include "tests/fuzz/fuzz_random.h"

#include <stdlib.h>

struct made_levels {
    struct table_levels levels;
    struct level_leaf *leaves;
    uint8_t depth[16]; /* of each column: only the row decides */
};

/* Leaves of up to 2^rest_bits rows; `full` percent of them have as many, and before `gaps` percent some prefixes are
 * left out. */
static inline void levels_make(struct made_levels *made, uint32_t rows, uint32_t rest_bits, uint32_t full,
                               uint32_t gaps)
{
    struct table_levels *const levels = &made->levels;
    uint32_t prefix = chance(gaps) ? below(4) : 0;
    memset(made, 0, sizeof *made);
    memset(made->depth, 2, sizeof made->depth);
    made->leaves = calloc(rows + 1, sizeof *made->leaves);
    assert_non_null(made->leaves);
    for (uint32_t row = 0; row < rows; prefix += 1 + (chance(gaps) ? below(5) : 0)) {
        const uint32_t wanted = chance(full) ? 1u << rest_bits : 1 + below(1u << rest_bits),
                       taken = wanted < rows - row ? wanted : rows - row;
        made->leaves[levels->leaf_count++] = (struct level_leaf){prefix, taken, row};
        levels->positions = ((uint64_t)prefix << rest_bits) + taken;
        row += taken;
    }
    levels->count = 1;
    levels->rest_bits = rest_bits;
    while ((levels->positions - 1) >> rest_bits >> levels->prefix_bits)
        levels->prefix_bits++;
    levels->level[0].bits = levels->prefix_bits;
    levels->leaves = made->leaves;
    levels->depth = made->depth;
}

static inline void levels_free(struct made_levels *made)
{
    free(made->leaves);
}

#endif
