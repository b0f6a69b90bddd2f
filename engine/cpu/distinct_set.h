/*
 * distinct_set.h: the set of (group, value) pairs that a thread has seen for a count(distinct): a bitmap with
 * a bit for each group and value if these are few, else a hash table of pairs.
 */
#ifndef TESSERA_ENGINE_CPU_DISTINCT_SET_H
#define TESSERA_ENGINE_CPU_DISTINCT_SET_H

#include "engine/plan/expression_vector.h"
#include "engine/plan/partial.h"

/* Must be zero-initialised before distinct_set_open; distinct_set_close frees it. */
struct distinct_set {
    int64_t low;
    uint64_t domain; /* of a bitmap: bits of each group, a multiple of 64; 0: there is no bitmap */
    uint64_t slots;
    uint64_t *bits;
    uint64_t count, capacity; /* of the hash table: pairs, and places, a power of two or 0 */
    struct distinct_pair *pairs;
};

NODISCARD enum status distinct_set_open(const struct plan *plan, uint32_t aggregate, struct distinct_set *set,
                                        struct error *error);
void distinct_set_close(struct distinct_set *set);
void distinct_set_clear(struct distinct_set *set);

/* Adds `count` rows, at most VECTOR_ROWS: the argument's values, and the index of each row's group. NULLs are
 * not added. */
NODISCARD enum status distinct_set_add(struct distinct_set *set, uint32_t count, const uint64_t *groups,
                                       struct vector argument, struct error *error);

/* Adds one part of another thread's set; parts of a set can be added in parallel, to one set each. With `to`,
 * groups are renamed: group g is to[g] in this set, and part p has the groups with to[g] >> GROUP_PART_SHIFT
 * == p. Without `to`, groups keep their names, and the hash of a pair decides its part among `parts`. A
 * bitmap must keep its groups' names and is all in part 0. */
#define GROUP_PART_SHIFT 48
NODISCARD enum status distinct_set_merge(struct distinct_set *set, const struct distinct_set *from,
                                         const uint64_t *to, uint64_t part, uint64_t parts,
                                         struct error *error);

/* Adds the number of each group's values to counts[place[group]], or to counts[group] if `place` is NULL.
 * Several threads may add to the same counts. */
void distinct_set_export(const struct distinct_set *set, const uint64_t *place, int64_t *counts);

/* Lists the set's values, each with place[group], or with the group if `place` is NULL. */
NODISCARD enum status distinct_set_list(const struct distinct_set *set, const uint64_t *place,
                                        struct partial_set *list, struct error *error);

#endif
