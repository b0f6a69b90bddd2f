/*
 * aggregate.h: what a scan adds up for each group, and all that the rest of the engine must know of it. An aggregate is
 * one descriptor, and the table of them (aggregate.c) is the only place where their kinds are told apart: dense and
 * hashed groups, kernels, merges of threads, GPUs, segments and processes, answers and EXPLAIN loop over descriptors.
 * docs/adding-an-aggregate.md adds some.
 *
 * A *state* is what a group has of an aggregate: one or two words of 64 bits. It must hold that
 *
 *   - merging is exact, associative and commutative, so that no result depends on the order of rows, segments,
 *     threads, devices or processes;
 *   - merging the identity changes nothing: a group's state is the identity before its first value.
 *
 * A *measure* is what an answer computes from the states of a group, or from the groups of all its values (measure.h).
 * Functions of SQL become aggregates and measures (names.h).
 *
 * Descriptors are constant and never freed. The loops over rows are the descriptor's own, so that the compiler sees one
 * aggregate in each. They take 0.04 to 0.5 ns a row.
 */
#ifndef TESSERA_ENGINE_AGGREGATE_AGGREGATE_H
#define TESSERA_ENGINE_AGGREGATE_AGGREGATE_H

#include "engine/aggregate/kinds.h"
#include "operators/group/state.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define AGGREGATE_WORDS_MAX 2u

/* The states of many groups: word 0 of group g is low[g], word 1 high[g]. `high` is not used, and may be NULL, if the
 * state has one word. */

/* Adds value i to the state at[i]. `values` may be NULL if there is no argument, `nulls` if no value is NULL. */
typedef void aggregate_add(int64_t *low, int64_t *high, uint32_t count, const uint64_t *at,
                           const int64_t *values, const uint8_t *nulls);

/* Adds all values to one state. */
typedef void aggregate_fold(int64_t *low, int64_t *high, uint32_t count, const int64_t *values,
                            const uint8_t *nulls);

/* The same of values of 32 bits, as columns have them. */
typedef void aggregate_add_narrow(int64_t *low, int64_t *high, uint32_t count, const uint64_t *at,
                                  const int32_t *values, const uint8_t *nulls);
typedef void aggregate_fold_narrow(int64_t *low, int64_t *high, uint32_t count, const int32_t *values,
                                   const uint8_t *nulls);

/* Merges state i * stride of another list into state at[i]. */
typedef void aggregate_merge(int64_t *low, int64_t *high, uint32_t count, const uint64_t *at,
                             const int64_t *from_low, const int64_t *from_high, uint64_t stride);

/* The state in kernels (operators/group/states_cuda.h), where all words are 0 at first. */
struct aggregate_device {
    const char *
        state; /* its type, which takes the place, the aggregate's number and the first 32-bit word of a block */
    enum state_value value;        /* what a row adds */
    enum merge_kind merge;         /* how GPUs merge it */
    int64_t (*host)(uint64_t low); /* the host's first word; NULL: the same */
};

struct aggregate {
    const char *name;    /* "sum", for EXPLAIN */
    const char *scanned; /* "sum in 64 bits": what EXPLAIN says of the scan */
    uint32_t words;      /* of a state: 1, or 2 for a number of 128 bits, the low one first */
    uint32_t bits;       /* the number's */
    int64_t identity[AGGREGATE_WORDS_MAX];

    /* Of no values it is 0; the others are NULL, so that a plan counts the values beside them. */
    bool counts;

    bool numbers; /* it takes numbers alone; true is 1, and false 0 */
    bool sums;    /* a state is the sum of its values, so that of a window's frame is a difference */
    int extreme;  /* it is the least of its values: -1, or the greatest: 1 */
    bool whole;   /* it takes whole numbers alone, and all of them: DISTINCT is refused */

    /* It needs the set of a group's values. Its word is their number, and is made when sets are merged: no loop adds to
     * it, and hash tables of a CPU have no word for it. */
    bool distinct;

    /* Makes the result's range of the argument's, for up to `rows` values. NULL: it stays. The result's type is a whole number
     * if the aggregate counts, else the argument's. */
    void (*range)(int64_t *low, int64_t *high, uint64_t rows);

    bool by_hand; /* a hand-written kernel may make it (operators/dialect/tile.h: tile_sum) */
    aggregate_add *add;
    aggregate_fold *fold;
    aggregate_add_narrow *add_narrow;
    aggregate_fold_narrow *fold_narrow;
    aggregate_merge *merge;
    struct aggregate_device device;
};

/* The tables, whose loops are compiled for each instruction set (aggregate.c), and this machine's (names.c). */
extern const struct aggregate aggregate_table_baseline[AGGREGATE_KINDS],
    aggregate_table_avx2[AGGREGATE_KINDS], aggregate_table_avx512[AGGREGATE_KINDS];
const struct aggregate *aggregate_of(enum aggregate_kind kind);

/* The number that a state stands for. */
static inline __int128 aggregate_number(const struct aggregate *aggregate, const int64_t *low,
                                        const int64_t *high, uint64_t at)
{
    return aggregate->words == 1 ? (__int128)low[at]
                                 : (__int128)high[at] * ((__int128)1 << 64) + (__int128)(uint64_t)low[at];
}

/* The aggregate that the same is of values whose range is not known. */
enum aggregate_kind aggregate_of_any_range(enum aggregate_kind kind);

/* The number of rows, or of values that are not NULL. */
enum aggregate_kind aggregate_of_rows(void);

/* The sum of up to `rows` values from *low to *high: in 64 bits if it must fit them. *low and *high become the range of
 * what an answer may give, which is never INT64_MIN. */
enum aggregate_kind aggregate_sum_of(int64_t *low, int64_t *high, uint64_t rows);

#endif
