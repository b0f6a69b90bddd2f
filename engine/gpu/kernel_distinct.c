/* kernel_distinct.c: chooses the set of a count(distinct) (kernel.h). */
#include "engine/gpu/kernel.h"

/* The most bits of a bitmap for count(distinct), with a bit for each slot and value: 64 for each row of the
 * fact table, but at least 2^23 and at most 2^33. */
#define DISTINCT_BITS_A_ROW  64u
#define DISTINCT_BITS_ALWAYS (UINT64_C(1) << 23)
#define DISTINCT_BITS_MAX    (UINT64_C(1) << 33)

/* The number of possible values of an argument, without NULL; 0 stands for 2^64. */
static uint64_t argument_domain(const struct plan_aggregate *aggregate)
{
    return aggregate->low > aggregate->high ? 1 : (uint64_t)aggregate->high - (uint64_t)aggregate->low + 1;
}

enum distinct_kind kernel_distinct_of(const struct plan *plan, const struct plan_aggregate *aggregate)
{
    const uint64_t domain = argument_domain(aggregate),
                   rows = plan->fact->rows < UINT64_MAX / DISTINCT_BITS_A_ROW ? plan->fact->rows : 0;
    const unsigned __int128 bits = (unsigned __int128)plan->slots * domain;
    if (domain && plan->shape != PLAN_HASH && bits <= DISTINCT_BITS_MAX &&
        (bits <= DISTINCT_BITS_ALWAYS || bits <= (unsigned __int128)rows * DISTINCT_BITS_A_ROW))
        return DISTINCT_BY_BITS;
    const struct plan_group *outermost = &plan->groups[0];
    const uint64_t numbers = plan->shape == PLAN_HASH ? outermost->stride * outermost->domain : plan->slots;
    if (domain && plan->key_words == 1 && (unsigned __int128)numbers * domain <= INT64_MAX)
        return DISTINCT_BY_KEYS;
    return DISTINCT_BY_PAIRS;
}
