/*
 * aggregate.c: see aggregate.h. A state of one word is what some operation makes of the group's values, in any order. The
 * loops are written once for such operations; counts and sums of 128 bits have their own. The rest is the table. Loops are
 * called once for each tile and aggregate, mostly with 1024 rows.
 */
#include "engine/aggregate/aggregate.h"
#include "storage/base/isa.h"

/* ---- Operations, of words or of 32-bit values ---- */

#define SUM(a, b)      ((int64_t)((uint64_t)(a) + (uint64_t)(b)))
#define LEAST(a, b)    ((b) < (a) ? (b) : (a))
#define GREATEST(a, b) ((b) > (a) ? (b) : (a))
#define BITS_AND(a, b) ((a) & (b))
#define BITS_OR(a, b)  ((a) | (b))
#define BITS_XOR(a, b) ((a) ^ (b))

/* ---- Loops ---- */

/* A row's value, or `identity` if it is NULL, without a branch. */
#define VALUE(identity) (values[row])
#define PRESENT(identity) \
    (((int64_t)values[row] & ((int64_t)nulls[row] - 1)) | ((identity) & -(int64_t)nulls[row]))

#define ADD_ROWS(operation, value)             \
    for (uint32_t row = 0; row < count; row++) \
        low[at[row]] = operation(low[at[row]], value);

/* Values are folded into some states, which fill vectors and do not wait for each other. */
#define FOLD_STATES 16u
#define FOLD_ROWS(type, operation, identity, value)                       \
    {                                                                     \
        type states[FOLD_STATES];                                         \
        uint32_t row = 0;                                                 \
        for (uint32_t state = 0; state < FOLD_STATES; state++)            \
            states[state] = (identity);                                   \
        while (row + FOLD_STATES <= count)                                \
            for (uint32_t state = 0; state < FOLD_STATES; state++, row++) \
                states[state] = operation(states[state], value);          \
        for (; row < count; row++)                                        \
            states[0] = operation(states[0], value);                      \
        for (uint32_t state = 0; state < FOLD_STATES; state++)            \
            *low = operation(*low, states[state]);                        \
    }

/* The loops over values of a type. Where none is NULL they are folded in the type `folded`, whose identity changes no
 * value of that type: there is at least one. */
#define ROWS_OF(name, type, operation, identity, folded, folded_identity)                    \
    static void name##_add(int64_t *low, int64_t *high, uint32_t count, const uint64_t *at,  \
                           const type *values, const uint8_t *nulls)                         \
    {                                                                                        \
        (void)high;                                                                          \
        if (nulls)                                                                           \
            ADD_ROWS(operation, PRESENT(identity))                                           \
        else                                                                                 \
            ADD_ROWS(operation, VALUE(identity))                                             \
    }                                                                                        \
    static void name##_fold(int64_t *low, int64_t *high, uint32_t count, const type *values, \
                            const uint8_t *nulls)                                            \
    {                                                                                        \
        (void)high;                                                                          \
        if (nulls)                                                                           \
            FOLD_ROWS(int64_t, operation, identity, PRESENT(identity))                       \
        else if (count)                                                                      \
            FOLD_ROWS(folded, operation, folded_identity, VALUE(identity))                   \
    }

#define WORD_OF(name, operation, identity, folded, folded_identity)                              \
    ROWS_OF(name, int64_t, operation, identity, int64_t, identity)                               \
    ROWS_OF(name##_narrow, int32_t, operation, identity, folded, folded_identity)                \
    static void name##_merge(int64_t *low, int64_t *high, uint32_t count, const uint64_t *at,    \
                             const int64_t *from_low, const int64_t *from_high, uint64_t stride) \
    {                                                                                            \
        (void)high;                                                                              \
        (void)from_high;                                                                         \
        for (uint32_t i = 0; i < count; i++)                                                     \
            low[at[i]] = operation(low[at[i]], from_low[i * stride]);                            \
    }

WORD_OF(sum, SUM, 0, int64_t, 0)
WORD_OF(min, LEAST, INT64_MAX, int32_t, INT32_MAX)
WORD_OF(max, GREATEST, INT64_MIN, int32_t, INT32_MIN)
WORD_OF(bit_and, BITS_AND, INT64_C(-1), int32_t, -1)
WORD_OF(bit_or, BITS_OR, INT64_C(0), int32_t, 0)
WORD_OF(bit_xor, BITS_XOR, INT64_C(0), int32_t, 0)

/* Counts read no values. */
#define COUNT_OF(name, type)                                                                 \
    static void name##_add(int64_t *low, int64_t *high, uint32_t count, const uint64_t *at,  \
                           const type *values, const uint8_t *nulls)                         \
    {                                                                                        \
        (void)high;                                                                          \
        (void)values;                                                                        \
        for (uint32_t row = 0; row < count; row++)                                           \
            low[at[row]] += nulls ? !nulls[row] : 1;                                         \
    }                                                                                        \
    static void name##_fold(int64_t *low, int64_t *high, uint32_t count, const type *values, \
                            const uint8_t *nulls)                                            \
    {                                                                                        \
        (void)high;                                                                          \
        (void)values;                                                                        \
        *low += count;                                                                       \
        for (uint32_t row = 0; nulls && row < count; row++)                                  \
            *low -= nulls[row];                                                              \
    }

COUNT_OF(count, int64_t)
COUNT_OF(count_narrow, int32_t)

static inline void add_wide(int64_t *low, int64_t *high, int64_t other, int64_t other_high)
{
    uint64_t words[] = {(uint64_t)*low, (uint64_t)*high};
    state_merge_words(MERGE_ADD_WIDE, &words[0], &words[1], (uint64_t)other, (uint64_t)other_high);
    *low = (int64_t)words[0];
    *high = (int64_t)words[1];
}

/* The sum of the values' lower and that of their upper 32 bits fit 64 bits, for any number of rows. */
#define FOLD_HALVES(value)                       \
    for (uint32_t row = 0; row < count; row++) { \
        lower += (uint32_t)(value);              \
        upper += (int64_t)(value) >> 32;         \
    }

#define SUM_WIDE_OF(name, type)                                                              \
    static void name##_add(int64_t *low, int64_t *high, uint32_t count, const uint64_t *at,  \
                           const type *values, const uint8_t *nulls)                         \
    {                                                                                        \
        for (uint32_t row = 0; row < count; row++) {                                         \
            const int64_t value = nulls ? PRESENT(0) : VALUE(0);                             \
            add_wide(&low[at[row]], &high[at[row]], value, value >> 63);                     \
        }                                                                                    \
    }                                                                                        \
    static void name##_fold(int64_t *low, int64_t *high, uint32_t count, const type *values, \
                            const uint8_t *nulls)                                            \
    {                                                                                        \
        uint64_t lower = 0;                                                                  \
        int64_t upper = 0;                                                                   \
        if (nulls)                                                                           \
            FOLD_HALVES(PRESENT(0))                                                          \
        else                                                                                 \
            FOLD_HALVES(VALUE(0))                                                            \
        const __int128 total = (__int128)upper * ((__int128)1 << 32) + lower;                \
        add_wide(low, high, (int64_t)total, (int64_t)(total >> 64));                         \
    }

SUM_WIDE_OF(sum_wide, int64_t)
SUM_WIDE_OF(sum_wide_narrow, int32_t)

static void sum_wide_merge(int64_t *low, int64_t *high, uint32_t count, const uint64_t *at,
                           const int64_t *from_low, const int64_t *from_high, uint64_t stride)
{
    for (uint32_t i = 0; i < count; i++)
        add_wide(&low[at[i]], &high[at[i]], from_low[i * stride], from_high[i * stride]);
}

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

#define LOOPS_OF(name, merged)                                               \
    .add = name##_add, .fold = name##_fold, .add_narrow = name##_narrow_add, \
    .fold_narrow = name##_narrow_fold, .merge = merged##_merge
#define SUM_STATE      "state_sum<%s, false, %u, %u>"
#define SUM_WIDE_STATE "state_sum<%s, true, %u, %u>"
#define GREATEST_STATE "state_greatest<%s, %u, %u>"
#define OR_STATE       "state_bits<%s, false, %u, %u>"
#define XOR_STATE      "state_bits<%s, true, %u, %u>"

const struct aggregate ISA(aggregate_table)[AGGREGATE_KINDS] = {
    [AGGREGATE_COUNT] = {.name = "count",
                         .scanned = "count",
                         .words = 1,
                         .bits = 64,
                         .counts = true,
                         .range = count_range,
                         LOOPS_OF(count, sum),
                         .device = {SUM_STATE, STATE_OF_ROW, MERGE_ADD, NULL}},
    [AGGREGATE_SUM] = {.name = "sum",
                       .scanned = "sum in 64 bits",
                       .words = 1,
                       .bits = 64,
                       .numbers = true,
                       .sums = true,
                       .range = sum_range,
                       .by_hand = true,
                       LOOPS_OF(sum, sum),
                       .device = {SUM_STATE, STATE_OF_VALUE, MERGE_ADD, NULL}},
    [AGGREGATE_SUM_WIDE] = {.name = "sum",
                            .scanned = "sum in 128 bits",
                            .words = 2,
                            .bits = 128,
                            .numbers = true,
                            .sums = true,
                            .range = sum_wide_range,
                            LOOPS_OF(sum_wide, sum_wide),
                            .device = {SUM_WIDE_STATE, STATE_OF_VALUE, MERGE_ADD_WIDE, NULL}},
    [AGGREGATE_MIN] = {.name = "min",
                       .scanned = "min",
                       .words = 1,
                       .bits = 64,
                       .identity = {INT64_MAX},
                       .extreme = -1,
                       LOOPS_OF(min, min),
                       .device = {GREATEST_STATE, STATE_OF_MIN, MERGE_GREATEST, min_of_greatest}},
    [AGGREGATE_MAX] = {.name = "max",
                       .scanned = "max",
                       .words = 1,
                       .bits = 64,
                       .identity = {INT64_MIN},
                       .extreme = 1,
                       LOOPS_OF(max, max),
                       .device = {GREATEST_STATE, STATE_OF_MAX, MERGE_GREATEST, max_of_greatest}},
    [AGGREGATE_COUNT_DISTINCT] = {.name = "count distinct",
                                  .scanned = "count distinct",
                                  .words = 1,
                                  .bits = 64,
                                  .counts = true,
                                  .distinct = true,
                                  .range = count_range,
                                  .merge = sum_merge,
                                  .device = {SUM_STATE, STATE_OF_ROW, MERGE_ADD, NULL}},
    [AGGREGATE_BIT_AND] = {.name = "bit_and",
                           .scanned = "bit_and",
                           .words = 1,
                           .bits = 64,
                           .identity = {-1},
                           .whole = true,
                           .range = bits_range,
                           LOOPS_OF(bit_and, bit_and),
                           .device = {OR_STATE, STATE_OF_AND, MERGE_OR, and_of_bits}},
    [AGGREGATE_BIT_OR] = {.name = "bit_or",
                          .scanned = "bit_or",
                          .words = 1,
                          .bits = 64,
                          .whole = true,
                          .range = bits_range,
                          LOOPS_OF(bit_or, bit_or),
                          .device = {OR_STATE, STATE_OF_VALUE, MERGE_OR, NULL}},
    [AGGREGATE_BIT_XOR] = {.name = "bit_xor",
                           .scanned = "bit_xor",
                           .words = 1,
                           .bits = 64,
                           .whole = true,
                           .range = bits_range,
                           LOOPS_OF(bit_xor, bit_xor),
                           .device = {XOR_STATE, STATE_OF_VALUE, MERGE_XOR, NULL}},
};
