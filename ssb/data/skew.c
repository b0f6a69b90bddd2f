/* skew.c: see skew.h. */
#include "ssb/data/skew.h"

#include "ssb/data/random.h"
#include "ssb/data/words.h"

/* The weight of the first value. The sum of all is below 2^28, so that its product with a state has 59 bits. */
#define WEIGHT (UINT64_C(1) << 24)

/* Each value's rank, from 1: its weight is WEIGHT / rank. */
static void ranked_weights(uint32_t count, uint64_t *weights)
{
    for (uint32_t value = 0; value < count; value++)
        weights[value] = WEIGHT / (value + 1);
}

/* Each weight is that of the value before, times tenths / 10. */
static void falling_weights(uint32_t count, uint32_t tenths, uint64_t *weights)
{
    weights[0] = WEIGHT;
    for (uint32_t value = 1; value < count; value++)
        weights[value] = weights[value - 1] * tenths / 10;
}

/* WEIGHT / (rank of the region * rank of the nation in it). Ranks are those of the populations in 2013, the year of the
 * paper; nations are in the order of nation_words: Algeria, Argentina, Brazil, Canada, Egypt; Ethiopia, ... */
static void nation_weights(uint64_t *weights)
{
    static const uint8_t region_ranks[REGION_COUNT] = {4, 2, 1, 3, 5};
    static const uint8_t nation_ranks[NATION_COUNT] = {3, 3, 2, 4, 1, 1, 3, 2, 2, 3, 2, 3, 4,
                                                       5, 2, 4, 5, 5, 1, 5, 4, 5, 1, 4, 1};
    for (uint32_t nation = 0; nation < NATION_COUNT; nation++)
        weights[nation] = WEIGHT / (region_ranks[nation_words[nation].region] * nation_ranks[nation]);
}

static void make_table(struct skew_table *table, uint32_t count, const uint64_t *weights)
{
    uint64_t all = 0, sum = 0;
    for (uint32_t value = 0; value < count; value++)
        all += weights[value];
    table->count = count;
    for (uint32_t value = 0; value <= count; value++) {
        table->begin[value] = 1 + (uint32_t)((RANDOM_MODULUS - 1) * sum / all);
        sum += value < count ? weights[value] : 0;
    }
    uint8_t value = 0;
    for (uint32_t lead = 0; lead < 1u << SKEW_GUIDE_BITS; lead++) {
        const uint32_t state = lead << (31 - SKEW_GUIDE_BITS);
        while (value + 1u < count && state >= table->begin[value + 1])
            value++;
        table->guide[lead] = value;
    }
}

void skew_tables_make(struct skew_table tables[SKEWS])
{
    uint64_t weights[SKEW_VALUES_MAX];
    ranked_weights(SKEW_VALUES_MAX, weights); /* the first of them are those of fewer values */
    make_table(&tables[SKEW_MFGR], 5, weights);
    make_table(&tables[SKEW_BRAND], 40, weights);
    make_table(&tables[SKEW_CITY], 10, weights);
    make_table(&tables[SKEW_KEY], SKEW_VALUES_MAX, weights);
    nation_weights(weights);
    make_table(&tables[SKEW_NATION], NATION_COUNT, weights);
    falling_weights(50, 9, weights);
    make_table(&tables[SKEW_QUANTITY], 50, weights);
    falling_weights(11, 7, weights);
    make_table(&tables[SKEW_DISCOUNT], 11, weights);
}
