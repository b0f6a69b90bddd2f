/* regroup.h: merges the groups of a scan into those of grouping sets (engine/plan/grouping/grouping.h). */
#ifndef TESSERA_ENGINE_PLAN_PARTIAL_REGROUP_H
#define TESSERA_ENGINE_PLAN_PARTIAL_REGROUP_H

#include "engine/plan/partial.h"

/* Merges the groups that are alike in the terms of set `s`, on up to `threads` threads, some 50 ns a group. to[g], which has `from->count`
 * places, becomes the group of `into` to which group g went. Terms that are not in the set have code 0 in the numbers of
 * `into`. The empty set always has one group. Free `into` with partial_free, also after an error. The plan must count no
 * distinct values. */
NODISCARD enum status partial_regroup(const struct plan *plan, const struct partial *from, uint32_t s,
                                      unsigned threads, struct partial *into, uint64_t *to,
                                      struct error *error);

/* Gives the numbers that the groups of a scan have in set `s`, word by word: numbers[word] has `from->count` places. */
NODISCARD enum status partial_renumber(const struct plan *plan, const struct partial *from, uint32_t s,
                                       unsigned threads, uint64_t *const *numbers, struct error *error);

/* Appends the groups of `from` to those of `into`. After an error `into` can only be freed. */
NODISCARD enum status partial_append_groups(const struct plan *plan, struct partial *into,
                                            const struct partial *from, struct error *error);

/* The code of a term of GROUP BY in a group's number. */
static inline uint64_t partial_group_code(const struct partial *partial, const struct plan_group *group,
                                          uint64_t at)
{
    return partial->keys[group->word][at] / group->stride % group->domain;
}

/* The value of a code; false: NULL. */
static inline bool plan_group_value(const struct plan_group *group, uint64_t code, int64_t *value)
{
    const bool null = group->nullable && code == 0;
    *value = null            ? 0
             : group->values ? group->values[code]
                             : (int64_t)((uint64_t)group->low + code - group->nullable);
    return !null;
}

#endif
