/*
 * sides.h: shared by the files that answer and join the sources of a region (region.h).
 *
 *     answers.c   conditions on single units, and their answers
 *     two.c       the join of two sides
 *     order.c     which are joined first
 *     joins.c     all of them
 */
#ifndef TESSERA_ENGINE_RELATIONAL_SIDES_H
#define TESSERA_ENGINE_RELATIONAL_SIDES_H

#include "engine/relational/region.h"

/* Answers that are joined; at first a side is one unit. */
struct side {
    struct result result;
    uint64_t sources; /* a bit each; 0: it is joined to another */
};

struct sides {
    struct region *region;
    const struct logical_set *above; /* columns that are asked above */
    struct logical_set needed;       /* and by conditions that are not done */
    uint32_t count;
    struct side list[REGION_SOURCES_MAX];
};

static inline uint64_t side_bit(uint32_t s)
{
    return UINT64_C(1) << s;
}

/* True if there are sources, and all are of these. */
static inline bool side_within(uint64_t sources, uint64_t of)
{
    return sources && !(sources & ~of);
}

/* ---- answers.c ---- */

/* Makes conditions on one unit its own, and notes which columns are needed. */
NODISCARD enum status sides_open(struct sides *sides);
/* Notes anew which columns are needed. */
void sides_note_names(struct sides *sides);
/* Answers the unit of a source. */
NODISCARD enum status sides_answer_unit(struct sides *sides, uint32_t s, struct result *result);
/* Answers all units of INNER sources. Without any there is a side of one row without columns. */
NODISCARD enum status sides_answer(struct sides *sides);

/* ---- two.c ---- */

struct join_of {
    enum logical_join join;
    struct sql_position position;
    uint32_t mark;
    struct conjuncts *conjuncts; /* those that are asked become done */
    struct conjuncts *test;      /* of MARK; or NULL */
    uint64_t left, right;        /* sources */
};

/* The equalities by which two sides may be joined. */
#define JOIN_KEYS_MAX 32u
struct join_keys {
    uint32_t count;
    struct sql_expression *trees[2][JOIN_KEYS_MAX]; /* of the left and of the right side */
    struct conjunct *from[JOIN_KEYS_MAX];
    bool nulls_match[JOIN_KEYS_MAX];
    struct rowset_column columns[2][JOIN_KEYS_MAX];
    bool lent[2][JOIN_KEYS_MAX]; /* the column is one of the side's rows */
};

void join_find_keys(const struct conjuncts *conjuncts, const struct region *region, uint64_t left,
                    uint64_t right, struct join_keys *keys);
/* The expected pairs of two sides by these keys: of two, those of the side with fewer values are expected to be all among the
 * other's. */
double join_pairs_expected(struct relational *run, const struct result *left, const struct result *right,
                           const struct join_keys *keys);
/* *left becomes the rows of the join; *right is used up, or not read any more. */
NODISCARD enum status join_two(struct region *region, const struct join_of *by, struct result *left,
                               struct result *right);

/* ---- joins.c ---- */

/* Joins two sides of the list: the first becomes both. */
NODISCARD enum status sides_join(struct sides *sides, uint32_t first, uint32_t second);

/* ---- order.c ---- */

#define JOIN_SEARCH_MAX 12u

/* Sides, and what joins them. */
struct join_graph {
    uint32_t count;
    double rows[REGION_SOURCES_MAX];
    uint64_t joins[REGION_SOURCES_MAX]; /* the sides that an equality connects with it, a bit each */
    double share[REGION_SOURCES_MAX]
                [REGION_SOURCES_MAX]; /* of the pairs of two sides, those that are joined */
};
/* The two sides to be joined next; there are at least two. */
NODISCARD enum status join_choose(const struct join_graph *graph, uint32_t *first, uint32_t *second,
                                  struct error *error);

#endif
