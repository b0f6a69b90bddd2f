/*
 * double_sum.h: sums and averages of doubles from their limbs (struct plan_double_sum), rounded once: the double that is
 * nearest to the exact sum, or to the exact sum divided by the count. Takes some 50 ns a group.
 */
#ifndef TESSERA_ENGINE_ANSWER_DOUBLE_SUM_H
#define TESSERA_ENGINE_ANSWER_DOUBLE_SUM_H

#include "engine/plan/partial.h"

/* The key of the sum of `group`; with `divisor` other than 1, of the average. */
int64_t double_sum_of(const struct plan *plan, const struct partial *groups, uint32_t aggregate,
                      uint64_t group, uint64_t divisor);

/* The same of `count` limbs of `width` bits, lowest first; the lowest bit of the first one is 2^first. */
int64_t double_sum_round(const __int128 *limbs, uint32_t count, unsigned width, int first, uint64_t divisor);

#endif
