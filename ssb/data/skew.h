/*
 * skew.h: the distributions of --skew, as tables of which state of a random stream gives which value.
 *
 * ssb-dbgen draws every value uniformly. With skew, a draw takes the same step of the same stream, and only what the state
 * means changes: so rows can still be generated in any order, and columns that are not skewed stay as they are. Weights are
 * whole numbers, from which follow the states at which values end; nothing is rounded as doubles, so the rows are the same
 * on every machine. docs/ssb.md has the formulas.
 *
 * Prior art: Rabl, Poess, Jacobsen, P. and E. O'Neil, "Variations of the Star Schema Benchmark to Test the Effects of Data
 * Skew on Query Performance", ICPE 2013.
 */
#ifndef TESSERA_SSB_DATA_SKEW_H
#define TESSERA_SSB_DATA_SKEW_H

#include <stdint.h>

/* What has a distribution of its own, and the number of its values. */
enum skew {
    SKEW_MFGR,     /* and categories of a manufacturer: 5 */
    SKEW_BRAND,    /* of a category: 40 */
    SKEW_NATION,   /* 25, by their numbers in words.h */
    SKEW_CITY,     /* of a nation: 10 */
    SKEW_KEY,      /* customers, parts and suppliers of lines: hundredths of all keys */
    SKEW_QUANTITY, /* 50 */
    SKEW_DISCOUNT, /* 11 */
    SKEWS
};

#define SKEW_VALUES_MAX 100u
#define SKEW_GUIDE_BITS 8u

struct skew_table {
    uint32_t count;
    uint32_t begin[SKEW_VALUES_MAX + 1];  /* first state of each value, then the first state after all */
    uint8_t guide[1u << SKEW_GUIDE_BITS]; /* by the state's leading bits: the value of the first such state */
};

/* Fills the tables; 20 microseconds. */
void skew_tables_make(struct skew_table tables[SKEWS]);

/* The value, from 0, that a state (1 .. 2^31-2) gives. */
static inline uint32_t skew_value(const struct skew_table *table, uint32_t state)
{
    uint32_t value = table->guide[state >> (31 - SKEW_GUIDE_BITS)];
    while (state >= table->begin[value + 1])
        value++;
    return value;
}

/* A number in 0 .. width - 1, if the table's values are equal ranges of these numbers. Within a range numbers are uniform. */
static inline int64_t skew_number(const struct skew_table *table, uint32_t state, uint64_t width)
{
    const uint32_t value = skew_value(table, state), first = table->begin[value];
    if (width == table->count)
        return value;
    const uint64_t low = width * value / table->count, high = width * (value + 1) / table->count;
    return (int64_t)(low + (high - low) * (state - first) / (table->begin[value + 1] - first));
}

#endif
