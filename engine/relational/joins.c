/*
 * joins.c: joins the answers of a region (sides.h).
 *
 * Sides are answers that are joined already; at first each unit is one. A source that is not INNER is joined to the side that
 * has all that its condition reads, as soon as there is one, SEMI and ANTI joins first. Of the others order.c says which two
 * come next.
 */
#include "engine/relational/join/residual.h"
#include "engine/relational/sides.h"

#include "storage/base/memory.h"

#include <stdlib.h>

/* ---- Sources that are not INNER ---- */

static uint64_t reads_on(const struct region *region, uint32_t s)
{
    const struct source *const source = &region->sources[s];
    uint64_t reads = 0;
    for (uint32_t i = 0; i < source->on.count; i++)
        reads |= region_reads(region, source->on.list[i].tree);
    for (uint32_t i = 0; i < source->test.count; i++)
        reads |= region_reads(region, source->test.list[i].tree);
    return reads & ~side_bit(s);
}

static enum status attach(struct sides *sides, struct side *side, uint32_t s)
{
    struct region *const region = sides->region;
    struct source *const source = &region->sources[s];
    struct result right;
    if (!region->full)
        RETURN_IF_ERROR(region_reduce(region, &source->on, &side->result, side->sources, s));
    RETURN_IF_ERROR(sides_answer_unit(sides, s, &right));
    const struct join_of by = {.join = source->join,
                               .position = source->position,
                               .mark = source->mark,
                               .conjuncts = &source->on,
                               .test = source->test.count ? &source->test : NULL,
                               .left = side->sources,
                               .right = side_bit(s)};
    const enum status status = join_two(region, &by, &side->result, &right);
    result_free(&right);
    source->joined = true;
    side->sources |= side_bit(s);
    return status;
}

/* Joins the first source that can be: SEMI and ANTI before others. `any`: also one whose condition reads no source. */
static enum status attach_one(struct sides *sides, bool any, bool *found)
{
    struct region *const region = sides->region;
    *found = false;
    for (int pass = 0; pass < 2; pass++)
        for (uint32_t s = 0; s < region->source_count; s++) {
            const struct source *const source = &region->sources[s];
            const bool reduces = source->join == LOGICAL_SEMI || source->join == LOGICAL_ANTI;
            if (source->joined || reduces != (pass == 0))
                continue;
            const uint64_t reads = reads_on(region, s);
            for (uint32_t i = 0; i < sides->count; i++)
                if (side_within(reads, sides->list[i].sources) || (any && reads == 0)) {
                    *found = true;
                    return attach(sides, &sides->list[i], s);
                }
        }
    return STATUS_OK;
}

/* ---- Inner joins ---- */

/* The two sides to be joined next. */
static enum status choose_sides(const struct sides *sides, uint32_t *first, uint32_t *second)
{
    const struct region *const region = sides->region;
    struct join_graph *graph;
    struct join_keys keys;
    *first = 0;
    *second = 1;
    if (sides->count == 2)
        return STATUS_OK;
    RETURN_IF_ERROR(memory_zeros(&graph, sizeof *graph, "a join", region->run->error));
    graph->count = sides->count;
    for (uint32_t a = 0; a < sides->count; a++) {
        graph->rows[a] = (double)sides->list[a].result.rows;
        for (uint32_t b = 0; b < a; b++) {
            const struct result *const left = &sides->list[a].result, *const right = &sides->list[b].result;
            const double pairs = graph->rows[a] * graph->rows[b];
            join_find_keys(&region->conjuncts, region, sides->list[a].sources, sides->list[b].sources, &keys);
            graph->joins[a] |= keys.count ? side_bit(b) : 0;
            graph->joins[b] |= keys.count ? side_bit(a) : 0;
            graph->share[a][b] = graph->share[b][a] =
                keys.count && pairs > 0 ? join_pairs_expected(region->run, left, right, &keys) / pairs : 1;
        }
    }
    const enum status status = join_choose(graph, first, second, region->run->error);
    free(graph);
    return status;
}

/* The smaller one is hashed. */
enum status sides_join(struct sides *sides, uint32_t first, uint32_t second)
{
    struct side *const a = &sides->list[first], *const b = &sides->list[second];
    const bool turned = a->result.rows < b->result.rows;
    struct side *const left = turned ? b : a, *const right = turned ? a : b;
    const struct join_of by = {.join = LOGICAL_INNER,
                               .position = sides->region->sources[__builtin_ctzll(b->sources)].position,
                               .conjuncts = &sides->region->conjuncts,
                               .left = left->sources,
                               .right = right->sources};
    RETURN_IF_ERROR(join_two(sides->region, &by, &left->result, &right->result));
    const struct side joined = {left->result, left->sources | right->sources};
    left->result = (struct result){0};
    result_free(&right->result);
    *a = joined;
    *b = sides->list[--sides->count];
    sides->list[sides->count] = (struct side){0};
    return STATUS_OK;
}

/* ---- The whole ---- */

static enum status filter_rows(struct relational *run, struct sql_expression *condition,
                               struct result *result)
{
    const double expected = estimate_share(run, condition) * (double)result->rows;
    struct operator operator;
    operator_begin(run, "filter", result, NULL, &operator);
    operator_words(run, operator.node, "condition", &condition, 1);
    if (run->dry)
        operator_dry(&operator, expected, result);
    else
        RETURN_IF_ERROR(residual_filter(run, condition, result));
    operator_end(run, &operator, expected, result);
    return STATUS_OK;
}

/* Asks the conditions that a side can answer, so that fewer rows are joined or copied. One that cannot be computed so stays. */
static enum status filter_side(struct sides *sides, struct side *side)
{
    struct region *const region = sides->region;
    for (uint32_t i = 0; i < region->conjuncts.count; i++) {
        struct conjunct *const conjunct = &region->conjuncts.list[i];
        if (conjunct->done || !side_within(region_reads(region, conjunct->tree), side->sources))
            continue;
        const struct error before = *region->run->error;
        const enum status status = filter_rows(region->run, conjunct->tree, &side->result);
        conjunct->done = status == STATUS_OK;
        if (status == STATUS_BAD_INPUT)
            *region->run->error = before;
        else
            RETURN_IF_ERROR(status);
    }
    return STATUS_OK;
}

static enum status join_all(struct sides *sides)
{
    RETURN_IF_ERROR(sides_answer(sides));
    for (;;) {
        bool found;
        uint32_t first, second;
        RETURN_IF_ERROR(cancel_check(sides->region->run->error));
        RETURN_IF_ERROR(attach_one(sides, sides->count == 1, &found));
        if (found)
            continue;
        for (uint32_t i = 0; i < sides->count; i++)
            RETURN_IF_ERROR(filter_side(sides, &sides->list[i]));
        sides_note_names(sides);
        for (uint32_t i = 0; i < sides->count; i++)
            result_trim(&sides->list[i].result, &sides->needed);
        if (sides->count == 1)
            return STATUS_OK;
        RETURN_IF_ERROR(choose_sides(sides, &first, &second));
        RETURN_IF_ERROR(sides_join(sides, first, second));
    }
}

enum status region_join(struct region *region, const struct logical_set *needed, struct result *result)
{
    struct relational *const run = region->run;
    struct sides *sides;
    *result = (struct result){0};
    RETURN_IF_ERROR(relational_memory(run, sizeof *sides, &sides));
    sides->region = region;
    RETURN_IF_ERROR(relational_set(run, &sides->needed));
    sides->above = needed;
    region_find_units(region);
    enum status status = sides_open(sides);
    if (status == STATUS_OK)
        status = join_all(sides);
    if (status == STATUS_OK)
        *result = sides->list[0].result;
    for (uint32_t i = status == STATUS_OK; i < sides->count; i++)
        result_free(&sides->list[i].result);
    return status;
}
