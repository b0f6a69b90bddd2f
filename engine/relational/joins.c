/*
 * joins.c: joins the answers of a region (sides.h).
 *
 * Sides are answers that are joined already; at first each unit is one. A source that is not INNER is joined to the side that
 * has all that its condition reads, as soon as there is one, SEMI and ANTI joins first. Of the sides that an equality is
 * between, those two are joined whose pairs are expected to be fewest; if there are none, the two smallest.
 */
#include "engine/relational/join/residual.h"
#include "engine/relational/sides.h"

#include <string.h>

/* More pairs of rows than this are made only if some condition is on both sides: who forgets one should be told. */
#define PAIRS_WITHOUT_CONDITION_MAX (UINT64_C(1) << 24)

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

/* At most so many different values a column has. */
static double count_values(const struct result *result, const struct sql_expression *tree)
{
    const uint64_t *places;
    const struct rowset_column *const column =
        tree->operation == SQL_INPUT ? result_column(result, tree->index, &places) : NULL;
    const double rows = (double)result->rows;
    int64_t low = INT64_MAX, high = INT64_MIN;
    if (!column)
        return rows;
    if (column->type.kind == VALUE_STRING)
        return column->type.dictionary->count < rows ? column->type.dictionary->count : rows;
    for (uint64_t row = 0; row < result->rows; row++) {
        const uint64_t at = places ? places[row] : row;
        if (at == RELATION_NO_ROW)
            continue;
        low = column->values[at] < low ? column->values[at] : low;
        high = column->values[at] > high ? column->values[at] : high;
    }
    const double span = low > high ? 1 : (double)high - (double)low + 1;
    return span < rows ? span : rows;
}

/* The pairs of two sides that are expected; negative: there is no equality between them. */
static double expected_pairs(const struct sides *sides, const struct side *a, const struct side *b)
{
    const double rows_a = (double)a->result.rows, rows_b = (double)b->result.rows;
    double values_a = 1, values_b = 1;
    struct join_keys keys;
    join_find_keys(&sides->region->conjuncts, sides->region, a->sources, b->sources, &keys);
    for (uint32_t k = 0; k < keys.count; k++) {
        values_a *= count_values(&a->result, keys.trees[0][k]);
        values_b *= count_values(&b->result, keys.trees[1][k]);
    }
    values_a = values_a < rows_a ? values_a : rows_a;
    values_b = values_b < rows_b ? values_b : rows_b;
    const double most = values_a > values_b ? values_a : values_b;
    return keys.count == 0 ? -1 : rows_a * rows_b / (most < 1 ? 1 : most);
}

/* The two sides to be joined next, the first one before the second. */
static void choose_sides(const struct sides *sides, uint32_t *first, uint32_t *second)
{
    double least = -1;
    uint64_t pairs = UINT64_MAX;
    *first = 0;
    *second = 1;
    for (uint32_t a = 0; a < sides->count; a++)
        for (uint32_t b = a + 1; b < sides->count; b++) {
            const double expected = expected_pairs(sides, &sides->list[a], &sides->list[b]);
            uint64_t product;
            if (__builtin_mul_overflow(sides->list[a].result.rows, sides->list[b].result.rows, &product))
                product = UINT64_MAX - 1;
            if (expected >= 0 ? least < 0 || expected < least : least < 0 && product < pairs) {
                *first = a;
                *second = b;
                pairs = product;
            }
            if (expected >= 0 && (least < 0 || expected < least))
                least = expected;
        }
}

static enum status check_forgotten(const struct sides *sides, const struct side *left,
                                   const struct side *right)
{
    const struct region *const region = sides->region;
    const struct source *const source = &region->sources[__builtin_ctzll(right->sources)];
    const char *const name = source->node->kind == LOGICAL_SCAN ? source->node->scan.name : NULL;
    if (left->result.rows == 0 || right->result.rows <= PAIRS_WITHOUT_CONDITION_MAX / left->result.rows)
        return STATUS_OK;
    for (uint32_t i = 0; i < region->conjuncts.count; i++) {
        const uint64_t reads = region->conjuncts.list[i].sources;
        if ((reads & left->sources) && (reads & right->sources))
            return STATUS_OK;
    }
    return relational_refuse(
        region->run, source->position,
        "nothing joins %s to the tables before it, and each of %llu rows would be paired with each of %llu; "
        "add the condition that joins them",
        name ? name : "this", (unsigned long long)left->result.rows, (unsigned long long)right->result.rows);
}

/* Joins two sides. The smaller one is hashed. */
static enum status join_sides(struct sides *sides, uint32_t first, uint32_t second)
{
    struct side *const a = &sides->list[first], *const b = &sides->list[second];
    const bool turned = a->result.rows < b->result.rows;
    struct side *const left = turned ? b : a, *const right = turned ? a : b;
    RETURN_IF_ERROR(check_forgotten(sides, a, b));
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

/* Asks the conditions that a side can answer, so that fewer rows are joined or copied. One that cannot be computed so stays. */
static enum status filter_side(struct sides *sides, struct side *side)
{
    struct region *const region = sides->region;
    for (uint32_t i = 0; i < region->conjuncts.count; i++) {
        struct conjunct *const conjunct = &region->conjuncts.list[i];
        if (conjunct->done || !side_within(region_reads(region, conjunct->tree), side->sources))
            continue;
        const struct error before = *region->run->error;
        const enum status status = residual_filter(region->run, conjunct->tree, &side->result);
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
        choose_sides(sides, &first, &second);
        RETURN_IF_ERROR(join_sides(sides, first, second));
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
