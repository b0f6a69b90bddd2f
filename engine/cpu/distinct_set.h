/*
 * engine/cpu/distinct_set.h: the values that a count(distinct) of a thread has seen, group by group: a bit for each group and value
 * where these are few, else a hash table of pairs.
 */
#ifndef TESSERA_ENGINE_CPU_DISTINCT_SET_H
#define TESSERA_ENGINE_CPU_DISTINCT_SET_H

#include "engine/plan/expression_vector.h"
#include "engine/plan/partial.h"

/* Zero-initialised, then distinct_set_open; freed by distinct_set_close. */
struct distinct_set {
    int64_t low;
    uint64_t domain; /* bits: codes of a group's values, rounded up to whole words; 0: pairs */
    uint64_t slots;
    uint64_t *bits;
    uint64_t count, capacity; /* pairs: capacity is a power of two, or 0 */
    struct distinct_pair *pairs;
};

NODISCARD enum status distinct_set_open(const struct plan *plan, uint32_t aggregate, struct distinct_set *set,
                                        struct error *error);
void distinct_set_close(struct distinct_set *set);
void distinct_set_clear(struct distinct_set *set);

/* The argument's values of `count` rows, at most VECTOR_ROWS, and the number of each row's group. */
NODISCARD enum status distinct_set_add(struct distinct_set *set, uint32_t count, const uint64_t *groups,
                                       struct vector argument, struct error *error);

/* Adds what another thread saw that belongs to `part`: of groups that have new names, those of which to[group], the name,
 * has it from bit GROUP_PART_SHIFT on; to NULL: of groups that keep theirs, the pairs whose hashes fall to it among
 * `parts`. Bits are of groups that keep their names, and belong to part 0. */
#define GROUP_PART_SHIFT 48
NODISCARD enum status distinct_set_merge(struct distinct_set *set, const struct distinct_set *from,
                                         const uint64_t *to, uint64_t part, uint64_t parts,
                                         struct error *error);

/* Adds each group's number of values to counts[place[group]]; place NULL: to counts[group]. Several threads may add to
 * the same counts. */
void distinct_set_export(const struct distinct_set *set, const uint64_t *place, int64_t *counts);

/* The set's values one by one, with place[group], or the group where place is NULL. */
NODISCARD enum status distinct_set_list(const struct distinct_set *set, const uint64_t *place,
                                        struct partial_set *list, struct error *error);

#endif
