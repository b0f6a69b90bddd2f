/*
 * star_distinct.h: the values that a count(distinct) of a thread has seen, group by group: a bit for each group and value
 * where these are few, else a hash table of pairs.
 */
#ifndef TESSERA_ENGINE_STAR_DISTINCT_H
#define TESSERA_ENGINE_STAR_DISTINCT_H

#include "engine/expression_vector.h"
#include "engine/star_plan.h"

/* Zero-initialised, then star_distinct_open; freed by star_distinct_close. */
struct star_distinct {
    int64_t low;
    uint64_t domain; /* bits: codes of a group's values, rounded up to whole words; 0: pairs */
    uint64_t slots;
    uint64_t *bits;
    uint64_t count, capacity; /* pairs: capacity is a power of two, or 0 */
    struct star_pair *pairs;
};

NODISCARD enum status star_distinct_open(const struct star_plan *plan, uint32_t aggregate,
                                         struct star_distinct *set, struct error *error);
void star_distinct_close(struct star_distinct *set);
void star_distinct_clear(struct star_distinct *set);

/* The argument's values of `count` rows, at most VECTOR_ROWS, and the number of each row's group. */
NODISCARD enum status star_distinct_add(struct star_distinct *set, uint32_t count, const uint64_t *groups,
                                        struct vector argument, struct error *error);

/* Adds what another thread saw that belongs to `part`: of groups that have new names, those of which to[group], the name,
 * has it from bit STAR_PART_SHIFT on; to NULL: of groups that keep theirs, the pairs whose hashes fall to it among
 * `parts`. Bits are of groups that keep their names, and belong to part 0. */
#define STAR_PART_SHIFT 48
NODISCARD enum status star_distinct_merge(struct star_distinct *set, const struct star_distinct *from,
                                          const uint64_t *to, uint64_t part, uint64_t parts,
                                          struct error *error);

/* Adds each group's number of values to counts[place[group]]; place NULL: to counts[group]. Several threads may add to
 * the same counts. */
void star_distinct_export(const struct star_distinct *set, const uint64_t *place, int64_t *counts);

#endif
