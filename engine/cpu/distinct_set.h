/*
 * distinct_set.h: the set of (group, value) pairs that a thread has seen for a count(distinct): a bitmap with
 * a bit for each slot and value if these are few, else hashed pairs of the group's number and the value.
 */
#ifndef TESSERA_ENGINE_CPU_DISTINCT_SET_H
#define TESSERA_ENGINE_CPU_DISTINCT_SET_H

#include "engine/cpu/group_hash.h"
#include "engine/cpu/row_vector.h"

/* Must be zero-initialised before distinct_set_open; distinct_set_close frees it. */
struct distinct_set {
    int64_t low;
    uint64_t domain; /* of a bitmap: bits of each slot, a multiple of 64 */
    uint64_t slots;  /* 0: groups are hashed */
    uint64_t *bits;  /* NULL: there is no bitmap */

    /* Keys are the words of a group's number and the value. All pairs of a hashed group are in the part that has the
     * group; those of a slot are in all parts, because a slot can have most of the pairs. */
    struct group_hash pairs;
};

/* `pairs` is the layout of hashed pairs (distinct_pairs_layout), which must outlive the set. */
NODISCARD enum status distinct_set_open(const struct plan *plan, uint32_t aggregate,
                                        const struct group_layout *pairs, struct distinct_set *set,
                                        struct error *error);
void distinct_pairs_layout(const struct plan *plan, struct group_layout *pairs);
void distinct_set_close(struct distinct_set *set);
void distinct_set_clear(struct distinct_set *set);

/* Adds `count` rows, at most VECTOR_ROWS: the argument's values, and the number of each row's group, of `words` words.
 * NULLs are not added. */
NODISCARD enum status distinct_set_add(struct distinct_set *set, uint32_t words, uint32_t count,
                                       const uint64_t (*numbers)[VECTOR_ROWS],
                                       const struct row_vector *argument, struct error *error);

/* ---- Bitmaps ---- */

/* Adds another thread's bits. */
void distinct_set_merge(struct distinct_set *set, const struct distinct_set *from);

/* Adds the number of each slot's values to counts[place[slot]]. */
void distinct_set_export(const struct distinct_set *set, const uint64_t *place, int64_t *counts);

/* Lists the set's values, each with place[slot]. */
NODISCARD enum status distinct_set_list(const struct distinct_set *set, const uint64_t *place,
                                        struct partial_set *list, struct error *error);

#endif
