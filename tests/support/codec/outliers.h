/*
 * outliers.h: values with outliers, for the tests of codecs that patch them.
 */
#ifndef TESSERA_TESTS_SUPPORT_CODEC_OUTLIERS_H
#define TESSERA_TESTS_SUPPORT_CODEC_OUTLIERS_H

#include "tests/support/codec/codec_cases.h"

/* Values of `width` bits, but every twentieth has exactly `outlier_width`; with `both_sides` half of the outliers are
 * negative. */
static inline void fill_outliers(void *values, uint32_t rows, uint32_t value_bytes, uint32_t width,
                                 uint32_t outlier_width, bool both_sides)
{
    uint64_t random = CODEC_CASES_SEED;
    for (uint32_t i = 0; i < rows; i++) {
        uint64_t value = random_bits(&random, width);
        if (i % 20 == 0) {
            value = UINT64_C(1) << (outlier_width - 1) | random_bits(&random, outlier_width - 1);
            value = both_sides && random_bits(&random, 1) ? UINT64_C(0) - value : value;
        }
        cases_set(values, i, value_bytes, value);
    }
}

/* Values of a random number of bits each, on both sides of 0: every width has exceptions. */
static inline void fill_heavy_tails(void *values, uint32_t rows, uint32_t value_bytes, uint64_t *random)
{
    for (uint32_t i = 0; i < rows; i++) {
        const uint64_t value = random_bits(random, (uint32_t)(random_next(random) % (value_bytes * 8 + 1)));
        cases_set(values, i, value_bytes, random_bits(random, 1) ? UINT64_C(0) - value : value);
    }
}

/* Round trips of outliers at all widths, far and near, on one side and on both; and of heavy tails. */
static inline void outliers_round_trip(void **state)
{
    uint64_t random = CODEC_CASES_SEED;
    const uint32_t rows = TILE_ROWS + 300;
    int64_t *values = cases_allocate(rows * sizeof *values);
    for (uint32_t value_bytes = 4; value_bytes <= 8; value_bytes += 4) {
        for (uint32_t width = 0; width < value_bytes * 8; width += 3)
            for (uint32_t outlier_width = width + 1; outlier_width <= value_bytes * 8; outlier_width += 4)
                for (int both_sides = 0; both_sides < 2; both_sides++) {
                    fill_outliers(values, rows, value_bytes, width, outlier_width, both_sides);
                    check_round_trip(cases_codec(state), values, rows, value_bytes);
                }
        for (uint32_t round = 0; round < 20; round++) {
            fill_heavy_tails(values, rows, value_bytes, &random);
            check_round_trip(cases_codec(state), values, rows, value_bytes);
        }
    }
    free(values);
}

#endif
