/*
 * order.c: which two sides are joined first (sides.h). Of up to 12 sides that equalities connect, all orders are compared by
 * the rows of their joins together, the sides of each subset once (Selinger et al., SIGMOD 1979; with bushy trees and
 * without products, as Moerkotte and Neumann, VLDB 2006, count them): 3^12 splits take a few milliseconds. Of more sides the
 * two are joined that give the fewest rows. After each join the order is chosen anew, for the rows are known then.
 */
#include "engine/relational/sides.h"

#include "storage/base/memory.h"

#include <math.h>
#include <stdlib.h>

/* The sides that can be reached from one of them. */
static uint64_t connected(const struct join_graph *graph, uint32_t from)
{
    uint64_t sides = side_bit(from), before = 0;
    while (sides != before) {
        before = sides;
        for (uint32_t s = 0; s < graph->count; s++)
            sides |= (before & graph->joins[s]) ? side_bit(s) : 0;
    }
    return sides;
}

/* Subsets of the connected sides, by number. */
struct subset {
    double rows, cost; /* of the best tree; infinite: none without a product */
    uint16_t left;     /* a side of its last join; 0: it is one side */
};

struct search {
    const struct join_graph *graph;
    uint32_t count, sides[JOIN_SEARCH_MAX];
    struct subset *subsets;
};

/* The rows of a subset: those of one side less, with that one. */
static double rows_of(const struct search *search, uint32_t subset)
{
    const uint32_t first = (uint32_t)__builtin_ctz(subset), rest = subset & (subset - 1);
    double rows = search->graph->rows[search->sides[first]];
    if (!rest)
        return rows;
    rows *= search->subsets[rest].rows;
    for (uint32_t i = 0; i < search->count; i++)
        if (rest >> i & 1)
            rows *= search->graph->share[search->sides[first]][search->sides[i]];
    return rows;
}

static bool joins(const struct search *search, uint32_t a, uint32_t b)
{
    for (uint32_t i = 0; i < search->count; i++)
        for (uint32_t j = 0; (a >> i & 1) && j < search->count; j++)
            if ((b >> j & 1) && (search->graph->joins[search->sides[i]] & side_bit(search->sides[j])))
                return true;
    return false;
}

static void fill(struct search *search)
{
    for (uint32_t subset = 1; subset < 1u << search->count; subset++) {
        struct subset *const at = &search->subsets[subset];
        const bool one = (subset & (subset - 1)) == 0;
        *at = (struct subset){.rows = rows_of(search, subset), .cost = one ? 0 : INFINITY};
        /* splits twice, turned: take those with the lowest side on the left */
        for (uint32_t left = (subset - 1) & subset; left; left = (left - 1) & subset) {
            const struct subset *const a = &search->subsets[left], *const b = &search->subsets[subset ^ left];
            const double cost = a->cost + b->cost + at->rows;
            if ((left & subset & -subset) && cost < at->cost && joins(search, left, subset ^ left)) {
                at->cost = cost;
                at->left = (uint16_t)left;
            }
        }
    }
}

/* The join of two single sides in the best tree that gives the fewest rows. */
static void first_of(const struct search *search, uint32_t subset, double *least, uint32_t *first,
                     uint32_t *second)
{
    const struct subset *const at = &search->subsets[subset];
    const uint32_t left = at->left, right = subset ^ left;
    if (!left)
        return;
    if (!search->subsets[left].left && !search->subsets[right].left && at->rows < *least) {
        *least = at->rows;
        *first = search->sides[__builtin_ctz(left)];
        *second = search->sides[__builtin_ctz(right)];
    }
    first_of(search, left, least, first, second);
    first_of(search, right, least, first, second);
}

/* The two sides that give the fewest rows: of those that an equality connects, if there are any. */
static void choose_fewest(const struct join_graph *graph, uint32_t *first, uint32_t *second)
{
    double least = INFINITY;
    bool connects = false;
    for (uint32_t a = 0; a < graph->count; a++)
        for (uint32_t b = a + 1; b < graph->count; b++) {
            const bool edge = graph->joins[a] & side_bit(b);
            const double rows = graph->rows[a] * graph->rows[b] * graph->share[a][b];
            if (connects > edge || (connects == edge && rows >= least))
                continue;
            connects = edge;
            least = rows;
            *first = a;
            *second = b;
        }
}

enum status join_choose(const struct join_graph *graph, uint32_t *first, uint32_t *second,
                        struct error *error)
{
    struct search search = {.graph = graph};
    double least = INFINITY;
    *first = 0;
    *second = 1;
    choose_fewest(graph, first, second);
    const uint64_t sides = connected(graph, *first);
    const int count = __builtin_popcountll(sides);
    if (count < 3 || count > (int)JOIN_SEARCH_MAX)
        return STATUS_OK;
    for (uint32_t s = 0; s < graph->count; s++)
        if (sides & side_bit(s))
            search.sides[search.count++] = s;
    RETURN_IF_ERROR(memory_take(&search.subsets, (sizeof *search.subsets) << count, "a join", error));
    fill(&search);
    first_of(&search, (1u << count) - 1, &least, first, second);
    free(search.subsets);
    return STATUS_OK;
}
