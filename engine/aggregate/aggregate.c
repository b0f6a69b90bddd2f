/* aggregate.c: see aggregate.h. A state is described by two steps, of a row and of another state, which are written once
 * and become three loops; the rest is the table. */
#include "engine/aggregate/aggregate.h"

/* ---- Steps ---- */

#define STEP static inline __attribute__((always_inline)) void

STEP count_row(int64_t *low, int64_t *high, int64_t value, bool present)
{
    (void)high;
    (void)value;
    *low += present;
}

STEP sum_row(int64_t *low, int64_t *high, int64_t value, bool present)
{
    (void)high;
    *low = (int64_t)((uint64_t)*low + (present ? (uint64_t)value : 0));
}

STEP sum_state(int64_t *low, int64_t *high, int64_t other, int64_t other_high)
{
    (void)high;
    (void)other_high;
    *low = (int64_t)((uint64_t)*low + (uint64_t)other);
}

STEP sum_wide_state(int64_t *low, int64_t *high, int64_t other, int64_t other_high)
{
    uint64_t words[] = {(uint64_t)*low, (uint64_t)*high};
    state_merge_words(MERGE_ADD_WIDE, &words[0], &words[1], (uint64_t)other, (uint64_t)other_high);
    *low = (int64_t)words[0];
    *high = (int64_t)words[1];
}

STEP sum_wide_row(int64_t *low, int64_t *high, int64_t value, bool present)
{
    if (present)
        sum_wide_state(low, high, value, value >> 63);
}

STEP min_row(int64_t *low, int64_t *high, int64_t value, bool present)
{
    (void)high;
    if (present && value < *low)
        *low = value;
}

STEP max_row(int64_t *low, int64_t *high, int64_t value, bool present)
{
    (void)high;
    if (present && value > *low)
        *low = value;
}

STEP min_state(int64_t *low, int64_t *high, int64_t other, int64_t other_high)
{
    (void)other_high;
    min_row(low, high, other, true);
}

STEP max_state(int64_t *low, int64_t *high, int64_t other, int64_t other_high)
{
    (void)other_high;
    max_row(low, high, other, true);
}

STEP bit_and_row(int64_t *low, int64_t *high, int64_t value, bool present)
{
    (void)high;
    *low &= present ? value : -1;
}

STEP bit_or_row(int64_t *low, int64_t *high, int64_t value, bool present)
{
    (void)high;
    *low |= present ? value : 0;
}

STEP bit_xor_row(int64_t *low, int64_t *high, int64_t value, bool present)
{
    (void)high;
    *low ^= present ? value : 0;
}

STEP bit_and_state(int64_t *low, int64_t *high, int64_t other, int64_t other_high)
{
    (void)other_high;
    bit_and_row(low, high, other, true);
}

STEP bit_or_state(int64_t *low, int64_t *high, int64_t other, int64_t other_high)
{
    (void)other_high;
    bit_or_row(low, high, other, true);
}

STEP bit_xor_state(int64_t *low, int64_t *high, int64_t other, int64_t other_high)
{
    (void)other_high;
    bit_xor_row(low, high, other, true);
}

/* ---- Loops ---- */

/* Rows are looped over once without NULLs and once with them. VALUED: the argument's values are read. */
#define AGGREGATE_ROWS(name, WORDS, VALUED)                                                                 \
    static void name##_add(int64_t *low, int64_t *high, uint32_t count, const uint64_t *at,                 \
                           const int64_t *values, const uint8_t *nulls)                                     \
    {                                                                                                       \
        if (!nulls)                                                                                         \
            for (uint32_t i = 0; i < count; i++)                                                            \
                name##_row(&low[at[i]], (WORDS) > 1 ? &high[at[i]] : NULL, (VALUED) ? values[i] : 0, true); \
        else                                                                                                \
            for (uint32_t i = 0; i < count; i++)                                                            \
                name##_row(&low[at[i]], (WORDS) > 1 ? &high[at[i]] : NULL, (VALUED) ? values[i] : 0,        \
                           !nulls[i]);                                                                      \
    }                                                                                                       \
    static void name##_fold(int64_t *low, int64_t *high, uint32_t count, const int64_t *values,             \
                            const uint8_t *nulls)                                                           \
    {                                                                                                       \
        int64_t first = *low, second = (WORDS) > 1 ? *high : 0;                                             \
        if (!nulls)                                                                                         \
            for (uint32_t i = 0; i < count; i++)                                                            \
                name##_row(&first, &second, (VALUED) ? values[i] : 0, true);                                \
        else                                                                                                \
            for (uint32_t i = 0; i < count; i++)                                                            \
                name##_row(&first, &second, (VALUED) ? values[i] : 0, !nulls[i]);                           \
        *low = first;                                                                                       \
        if ((WORDS) > 1)                                                                                    \
            *high = second;                                                                                 \
    }

#define AGGREGATE_STATES(name, WORDS)                                                            \
    static void name##_merge(int64_t *low, int64_t *high, uint32_t count, const uint64_t *at,    \
                             const int64_t *from_low, const int64_t *from_high, uint64_t stride) \
    {                                                                                            \
        for (uint32_t i = 0; i < count; i++)                                                     \
            name##_state(&low[at[i]], (WORDS) > 1 ? &high[at[i]] : NULL, from_low[i * stride],   \
                         (WORDS) > 1 ? from_high[i * stride] : 0);                               \
    }

AGGREGATE_ROWS(count, 1, false)
AGGREGATE_ROWS(sum, 1, true)
AGGREGATE_ROWS(sum_wide, 2, true)
AGGREGATE_ROWS(min, 1, true)
AGGREGATE_ROWS(max, 1, true)
AGGREGATE_STATES(sum, 1)
AGGREGATE_STATES(sum_wide, 2)
AGGREGATE_STATES(min, 1)
AGGREGATE_STATES(max, 1)
AGGREGATE_ROWS(bit_and, 1, true)
AGGREGATE_ROWS(bit_or, 1, true)
AGGREGATE_ROWS(bit_xor, 1, true)
AGGREGATE_STATES(bit_and, 1)
AGGREGATE_STATES(bit_or, 1)
AGGREGATE_STATES(bit_xor, 1)

/* ---- Ranges ---- */

static void count_range(int64_t *low, int64_t *high, uint64_t rows)
{
    *low = 0;
    *high = (int64_t)rows;
}

/* Of values that are known to fit. */
static void sum_range(int64_t *low, int64_t *high, uint64_t rows)
{
    *low = *low < 0 ? (int64_t)(*low * (__int128)rows) : 0;
    *high = *high > 0 ? (int64_t)(*high * (__int128)rows) : 0;
}

/* What does not fit 64 bits is an error of the answer. */
static void sum_wide_range(int64_t *low, int64_t *high, uint64_t rows)
{
    (void)rows;
    *low = INT64_MIN + 1;
    *high = INT64_MAX;
}

/* Any of the bits that values have, and the sign if one has it. */
static void bits_range(int64_t *low, int64_t *high, uint64_t rows)
{
    uint64_t bits = (uint64_t)(*low < 0 ? ~*low : *low) | (uint64_t)(*high < 0 ? ~*high : *high);
    (void)rows;
    for (uint32_t shift = 1; shift < 64; shift *= 2)
        bits |= bits >> shift;
    *low = *low < 0 ? ~(int64_t)bits : 0;
    *high = (int64_t)bits;
}

/* ---- The table ---- */

#define SUM_STATE      "state_sum<%s, false, %u, %u>"
#define SUM_WIDE_STATE "state_sum<%s, true, %u, %u>"
#define GREATEST_STATE "state_greatest<%s, %u, %u>"
#define OR_STATE       "state_bits<%s, false, %u, %u>"
#define XOR_STATE      "state_bits<%s, true, %u, %u>"

const struct aggregate aggregate_table[AGGREGATE_KINDS] = {
    [AGGREGATE_COUNT] = {.name = "count",
                         .scanned = "count",
                         .words = 1,
                         .bits = 64,
                         .counts = true,
                         .range = count_range,
                         .add = count_add,
                         .fold = count_fold,
                         .merge = sum_merge,
                         .device = {SUM_STATE, STATE_OF_ROW, MERGE_ADD, NULL}},
    [AGGREGATE_SUM] = {.name = "sum",
                       .scanned = "sum in 64 bits",
                       .words = 1,
                       .bits = 64,
                       .numbers = true,
                       .sums = true,
                       .range = sum_range,
                       .by_hand = true,
                       .add = sum_add,
                       .fold = sum_fold,
                       .merge = sum_merge,
                       .device = {SUM_STATE, STATE_OF_VALUE, MERGE_ADD, NULL}},
    [AGGREGATE_SUM_WIDE] = {.name = "sum",
                            .scanned = "sum in 128 bits",
                            .words = 2,
                            .bits = 128,
                            .numbers = true,
                            .sums = true,
                            .range = sum_wide_range,
                            .add = sum_wide_add,
                            .fold = sum_wide_fold,
                            .merge = sum_wide_merge,
                            .device = {SUM_WIDE_STATE, STATE_OF_VALUE, MERGE_ADD_WIDE, NULL}},
    [AGGREGATE_MIN] = {.name = "min",
                       .scanned = "min",
                       .words = 1,
                       .bits = 64,
                       .identity = {INT64_MAX},
                       .add = min_add,
                       .fold = min_fold,
                       .merge = min_merge,
                       .device = {GREATEST_STATE, STATE_OF_MIN, MERGE_GREATEST, min_of_greatest}},
    [AGGREGATE_MAX] = {.name = "max",
                       .scanned = "max",
                       .words = 1,
                       .bits = 64,
                       .identity = {INT64_MIN},
                       .add = max_add,
                       .fold = max_fold,
                       .merge = max_merge,
                       .device = {GREATEST_STATE, STATE_OF_MAX, MERGE_GREATEST, max_of_greatest}},
    [AGGREGATE_COUNT_DISTINCT] = {.name = "count distinct",
                                  .scanned = "count distinct",
                                  .words = 1,
                                  .bits = 64,
                                  .counts = true,
                                  .distinct = true,
                                  .range = count_range,
                                  .merge = sum_merge,
                                  .device = {.merge = MERGE_ADD}},
    [AGGREGATE_BIT_AND] = {.name = "bit_and",
                           .scanned = "bit_and",
                           .words = 1,
                           .bits = 64,
                           .identity = {-1},
                           .whole = true,
                           .range = bits_range,
                           .add = bit_and_add,
                           .fold = bit_and_fold,
                           .merge = bit_and_merge,
                           .device = {OR_STATE, STATE_OF_AND, MERGE_OR, and_of_bits}},
    [AGGREGATE_BIT_OR] = {.name = "bit_or",
                          .scanned = "bit_or",
                          .words = 1,
                          .bits = 64,
                          .whole = true,
                          .range = bits_range,
                          .add = bit_or_add,
                          .fold = bit_or_fold,
                          .merge = bit_or_merge,
                          .device = {OR_STATE, STATE_OF_VALUE, MERGE_OR, NULL}},
    [AGGREGATE_BIT_XOR] = {.name = "bit_xor",
                           .scanned = "bit_xor",
                           .words = 1,
                           .bits = 64,
                           .whole = true,
                           .range = bits_range,
                           .add = bit_xor_add,
                           .fold = bit_xor_fold,
                           .merge = bit_xor_merge,
                           .device = {XOR_STATE, STATE_OF_VALUE, MERGE_XOR, NULL}},
};

/* ---- Sums ---- */

enum aggregate_kind aggregate_of_any_range(enum aggregate_kind kind)
{
    return kind == AGGREGATE_SUM ? AGGREGATE_SUM_WIDE : kind;
}

enum aggregate_kind aggregate_sum_of(int64_t *low, int64_t *high, uint64_t rows)
{
    const __int128 least = *low < 0 ? *low * (__int128)rows : 0,
                   most = *high > 0 ? *high * (__int128)rows : 0;
    const enum aggregate_kind kind =
        least > INT64_MIN && most <= INT64_MAX ? AGGREGATE_SUM : AGGREGATE_SUM_WIDE;
    aggregate_of(kind)->range(low, high, rows);
    return kind;
}
