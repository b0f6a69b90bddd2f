/* answers.c: conditions on single units of a region, and their answers (sides.h). Small tables are answered first, so that
 * their keys are conditions on larger ones (reduce.c). */
#include "engine/relational/sides.h"

#include <math.h>
#include <string.h>

#define UNKNOWN_ROWS UINT64_MAX

/* Rows are counted where there are so many units to order, and a table has so many rows: a smaller one is answered as soon
 * as it is counted. */
#define ORDERED_UNITS 3u
#define COUNTED_ROWS  4096u

/* ---- Conditions on one unit ---- */

/* A condition becomes one on source s if it reads no others than `within`, and that is not answered. */
static enum status push(struct region *region, struct conjunct *conjunct, uint64_t within, uint32_t s)
{
    if (conjunct->done || source_is_answered(&region->sources[s]) || !side_within(conjunct->sources, within))
        return STATUS_OK;
    conjunct->done = true;
    conjunct->by = s + 1;
    return relational_and(region->run, &region->sources[s].filter, conjunct->tree);
}

/* Conditions of ON on the right side alone are asked of it before; if it is answered, they have been. */
static enum status push_on(struct region *region, uint32_t s)
{
    struct source *const source = &region->sources[s];
    for (uint32_t i = 0; i < source->on.count; i++)
        if (source_is_answered(source) && side_within(source->on.list[i].sources, side_bit(s)))
            source->on.list[i].done = true;
        else
            RETURN_IF_ERROR(push(region, &source->on.list[i], side_bit(s), s));
    return STATUS_OK;
}

/* A condition on no source, as FALSE, is one on each. */
static enum status push_constants(struct region *region)
{
    bool any = false;
    for (uint32_t i = 0; i < region->conjuncts.count; i++) {
        struct conjunct *const conjunct = &region->conjuncts.list[i];
        if (conjunct->sources || conjunct->done)
            continue;
        for (uint32_t s = 0; s < region->source_count; s++)
            if (region->sources[s].join == LOGICAL_INNER) {
                any = true;
                RETURN_IF_ERROR(relational_and(region->run, &region->sources[s].filter, conjunct->tree));
            }
        conjunct->done = any;
    }
    return STATUS_OK;
}

/* True if the source can be answered with conditions on it: they become part of its block. A single one of another kind is
 * answered, and then they are asked. */
static bool takes_conditions(const struct region *region)
{
    const enum logical_kind kind = region->sources[0].node->kind;
    return !region->full && (region->source_count > 1 || kind == LOGICAL_SCAN || kind == LOGICAL_AGGREGATE);
}

static enum status push_all(struct region *region)
{
    if (!takes_conditions(region))
        return STATUS_OK;
    RETURN_IF_ERROR(push_constants(region));
    for (uint32_t s = 0; s < region->source_count; s++) {
        const uint64_t sources = region_unit(region, region->sources[s].unit);
        if (region->sources[s].join != LOGICAL_INNER)
            RETURN_IF_ERROR(push_on(region, s));
        for (uint32_t i = 0; region->sources[s].join == LOGICAL_INNER && i < region->conjuncts.count; i++)
            RETURN_IF_ERROR(push(region, &region->conjuncts.list[i], sources, s));
    }
    return STATUS_OK;
}
/* ---- Answers ---- */

static void note_names(struct sides *sides, const struct conjuncts *conjuncts)
{
    for (uint32_t i = 0; i < conjuncts->count; i++)
        if (!conjuncts->list[i].done)
            logical_names(conjuncts->list[i].tree, &sides->needed);
}

/* The columns that joins and what is above them ask. A LEFT JOIN within a unit is asked by its plan. */
void sides_note_names(struct sides *sides)
{
    const struct region *const region = sides->region;
    memcpy(sides->needed.bits, sides->above->bits, sides->above->words * sizeof *sides->above->bits);
    note_names(sides, &region->conjuncts);
    for (uint32_t s = 0; s < region->source_count; s++)
        if (region_unit(region, region->sources[s].unit) == side_bit(s)) {
            note_names(sides, &region->sources[s].on);
            note_names(sides, &region->sources[s].test);
        }
}

/* Gives the columns of a unit that are needed. */
static enum status add_items(struct sides *sides, uint64_t sources, struct sql_select *select,
                             uint32_t **numbers)
{
    struct region *const region = sides->region;
    struct relational *const run = region->run;
    uint32_t count = 0;
    *numbers = NULL;
    for (uint32_t s = 0; s < region->source_count; s++)
        for (uint32_t c = 0; (sources >> s & 1) && c < region->sources[s].node->column_count; c++) {
            const uint32_t number = region->sources[s].node->columns[c];
            struct sql_expression *input;
            if (!logical_has(&sides->needed, number))
                continue;
            RETURN_IF_ERROR(sql_tree_node(run->arena, SQL_INPUT, select->position, &input, run->error));
            input->index = number;
            RETURN_IF_ERROR(relational_item(run, select, input, number));
            RETURN_IF_ERROR(sql_tree_append(run->arena, numbers, &count, sizeof number, &number, run->error));
        }
    if (count) /* else the rows are only counted */
        return STATUS_OK;
    const uint32_t number = run->next_column++;
    struct sql_expression *one;
    RETURN_IF_ERROR(relational_literal(run, select->position, SQL_NUMBER, "1", &one));
    RETURN_IF_ERROR(relational_item(run, select, one, number));
    return sql_tree_append(run->arena, numbers, &count, sizeof number, &number, run->error);
}

static enum status answer_stored(struct sides *sides, uint64_t sources, struct result *result)
{
    struct region *const region = sides->region;
    struct relational *const run = region->run;
    const struct source *const first = &region->sources[__builtin_ctzll(sources)];
    struct sql_select *select;
    uint32_t *numbers;
    RETURN_IF_ERROR(relational_memory(run, sizeof *select, &select));
    select->position = first->position;
    RETURN_IF_ERROR(add_items(sides, sources, select, &numbers));
    RETURN_IF_ERROR(region_plan(region, sources, select, numbers, result));
    RETURN_IF_ERROR(result_code(run, result));
    if (*first->node->scan.counted > 0) { /* better than what the plan expects */
        double expected = *first->node->scan.counted;
        for (uint32_t s = 0; s < region->source_count; s++)
            expected *= sources & side_bit(s) ? region->sources[s].reduced : 1;
        explain_count(result->explained, "estimated_rows", round(expected));
        result->rows = run->dry ? (uint64_t)llround(expected) : result->rows;
    }
    return STATUS_OK;
}

/* True for `@column = 1` and the like. */
static bool wants_first(const struct sql_expression *condition, uint32_t *column)
{
    const bool two = condition->child_count == 2, turned = two && condition->operation == SQL_EQUAL &&
                                                           condition->children[1]->operation == SQL_INPUT;
    const struct sql_expression *const left = two ? condition->children[turned] : NULL,
                                       *const right = two ? condition->children[!turned] : NULL;
    const char *const most = condition->operation == SQL_LESS ? "2" : "1";
    if (!two || left->operation != SQL_INPUT || right->operation != SQL_NUMBER ||
        (condition->operation != SQL_EQUAL && condition->operation != SQL_LESS &&
         condition->operation != SQL_LESS_EQUAL))
        return false;
    *column = left->index;
    return strcmp(right->text, most) == 0;
}

/* What the region asks of a window's rows; its conditions remain. */
static struct wanted_first first_of(const struct region *region, const struct source *source)
{
    uint32_t column;
    for (uint32_t i = 0; i < region->conjuncts.count && source->node->kind == LOGICAL_WINDOW &&
                         source->join == LOGICAL_INNER && !region->full;
         i++)
        if (!region->conjuncts.list[i].done && wants_first(region->conjuncts.list[i].tree, &column) &&
            region_maker(region, column) == (uint32_t)(source - region->sources) + 1)
            return (struct wanted_first){source->node, column};
    return (struct wanted_first){0};
}

/* Answers a source that is no stored table, with the conditions on it alone. */
static enum status answer_alone(struct sides *sides, struct source *source, struct result *result)
{
    struct relational *const run = sides->region->run;
    struct logical_node *filter;
    if (source_is_answered(source)) {
        *result = source->answered;
        source->answered = (struct result){0};
        return STATUS_OK;
    }
    if (!source->filter) {
        run->first = first_of(sides->region, source);
        return relational_node(run, source->node, &sides->needed, result);
    }
    RETURN_IF_ERROR(relational_filter(run, source->node, source->filter, &filter));
    return relational_node(run, filter, &sides->needed, result);
}

enum status sides_answer_unit(struct sides *sides, uint32_t first, struct result *result)
{
    struct region *const region = sides->region;
    struct source *const source = &region->sources[first];
    if (source->node->kind == LOGICAL_SCAN && !source_is_answered(source))
        return answer_stored(sides, region_unit(region, source->unit), result);
    return answer_alone(sides, source, result);
}

/* Each table of a unit becomes one of its own, because their references are no star. */
static enum status divide_unit(struct sides *sides, uint32_t unit)
{
    struct region *const region = sides->region;
    const uint64_t sources = region_unit(region, unit);
    *region->sources[__builtin_ctzll(sources)].node->scan.counted = 0;
    for (uint32_t i = 0; i < region->conjuncts.count; i++) {
        struct conjunct *const conjunct = &region->conjuncts.list[i];
        if (conjunct->by && (sources & side_bit(conjunct->by - 1)))
            conjunct->done = false;
    }
    for (uint32_t s = 0; s < region->source_count; s++)
        if (sources & side_bit(s)) {
            region->sources[s].unit = s;
            region->sources[s].filter = NULL;
            for (uint32_t i = 0; i < region->sources[s].on.count; i++)
                region->sources[s].on.list[i].done = false;
        }
    RETURN_IF_ERROR(push_all(region));
    sides_note_names(sides);
    return STATUS_OK;
}

/* ---- All units ---- */

/* The rows of the largest table of a unit; of what is no stored table they are not known. */
static uint64_t unit_rows(const struct region *region, uint32_t unit)
{
    uint64_t rows = 0;
    for (uint32_t s = 0; s < region->source_count; s++) {
        const struct logical_node *const node = region->sources[s].node;
        if (region->sources[s].unit != unit)
            continue;
        if (node->kind != LOGICAL_SCAN)
            return UNKNOWN_ROWS;
        rows = node->scan.table->rows > rows ? node->scan.table->rows : rows;
    }
    return rows;
}

/* The rows that a unit is expected to have after its own conditions. */
static double unit_expected(const struct region *region, uint32_t unit)
{
    const uint64_t sources = region_unit(region, unit), rows = unit_rows(region, unit);
    const struct source *const first = &region->sources[__builtin_ctzll(sources)];
    double share = 1;
    if (source_is_answered(first))
        return (double)first->answered.rows;
    if (rows == UNKNOWN_ROWS)
        return INFINITY;
    const double counted = *first->node->scan.counted;
    for (uint32_t s = 0; s < region->source_count; s++)
        share *= sources & side_bit(s) ? estimate_share(region->run, region->sources[s].filter) : 1;
    return counted > 0 ? counted : share * (double)rows;
}

/* True if the unit has conditions, and an equality joins it to a smaller one: the number of its rows that pass decides which
 * of them is answered first. */
static bool is_undecided(const struct region *region, uint32_t unit)
{
    const uint64_t sources = region_unit(region, unit), rows = unit_rows(region, unit);
    bool asked = false, smaller = false;
    for (uint32_t s = 0; s < region->source_count; s++)
        asked |= (sources & side_bit(s)) && region->sources[s].filter;
    for (uint32_t i = 0; i < region->conjuncts.count; i++) {
        const struct conjunct *const conjunct = &region->conjuncts.list[i];
        if (conjunct->tree->operation != SQL_EQUAL || !(conjunct->sources & sources))
            continue;
        for (uint32_t s = 0; s < region->source_count; s++)
            smaller |= (conjunct->sources & ~sources & side_bit(s)) &&
                       unit_rows(region, region->sources[s].unit) < rows;
    }
    return asked && smaller && rows >= COUNTED_ROWS && rows != UNKNOWN_ROWS;
}

/* Counts the rows of units where they decide an order: of three units or more. */
static enum status count_units(struct sides *sides)
{
    struct region *const region = sides->region;
    uint32_t units = 0;
    for (uint32_t s = 0; s < region->source_count; s++)
        units += region->sources[s].unit == s && region->sources[s].join == LOGICAL_INNER;
    for (uint32_t s = 0; s < region->source_count && units >= ORDERED_UNITS; s++)
        if (region->sources[s].unit == s && region->sources[s].join == LOGICAL_INNER &&
            is_undecided(region, s))
            RETURN_IF_ERROR(region_count(region, region_unit(region, s)));
    return STATUS_OK;
}

/* The share of a unit's rows that the keys of answered sides are expected to leave (reduce_unit): of the side that leaves the
 * fewest. */
static double unit_reduced(const struct sides *sides, uint64_t sources)
{
    const struct region *const region = sides->region;
    struct join_keys keys;
    double share = 1;
    for (uint32_t i = 0; i < sides->count; i++) {
        const double rows = (double)sides->list[i].result.rows;
        join_find_keys(&region->conjuncts, region, sides->list[i].sources, sources, &keys);
        for (uint32_t k = 0; k < keys.count; k++)
            share = fmin(share, rows / estimate_values(region->run, keys.trees[1][k], INFINITY));
    }
    return share;
}

/* The first source of the smallest unit that is not answered; their number: there is none. */
static uint32_t next_unit(const struct sides *sides)
{
    const struct region *const region = sides->region;
    uint32_t next = region->source_count;
    double fewest = INFINITY;
    for (uint32_t s = 0; s < region->source_count; s++) {
        const struct source *const source = &region->sources[s];
        if (source->joined || source->join != LOGICAL_INNER)
            continue;
        const double expected =
            unit_expected(region, source->unit) * unit_reduced(sides, region_unit(region, source->unit));
        if (next == region->source_count || expected < fewest) {
            next = s;
            fewest = expected;
        }
    }
    return next;
}

/* Where one side has no rows no other is wanted: then lists of keys are not made. */
static enum status refuse_rows(struct region *region, uint32_t unit)
{
    struct relational *const run = region->run;
    struct sql_expression *none;
    for (uint32_t s = 0; s < region->source_count; s++)
        if (region->sources[s].unit == unit && region->sources[s].join == LOGICAL_INNER) {
            RETURN_IF_ERROR(relational_literal(run, region->sources[s].position, SQL_FALSE, NULL, &none));
            RETURN_IF_ERROR(relational_and(run, &region->sources[s].filter, none));
        }
    return STATUS_OK;
}

/* Sides that are answered, and have less rows than their tables, are conditions on what is answered after them. */
static enum status reduce_unit(struct sides *sides, uint32_t unit)
{
    struct region *const region = sides->region;
    for (uint32_t i = 0; i < sides->count; i++) {
        const struct side *const side = &sides->list[i];
        const uint32_t of = region->sources[__builtin_ctzll(side->sources)].unit;
        if (side->result.rows == 0 && !region->run->dry)
            return refuse_rows(region, unit);
        if (unit_rows(region, of) != UNKNOWN_ROWS && side->result.rows >= unit_rows(region, of))
            continue;
        for (uint32_t s = 0; s < region->source_count; s++)
            if (region->sources[s].unit == unit && region->sources[s].join == LOGICAL_INNER)
                RETURN_IF_ERROR(region_reduce(region, &region->conjuncts, &side->result, side->sources, s));
    }
    return STATUS_OK;
}

static enum status answer_inner(struct sides *sides, uint32_t s)
{
    struct region *const region = sides->region;
    struct source *const source = &region->sources[s];
    struct side *const side = &sides->list[sides->count];
    const uint64_t sources = region_unit(region, source->unit);
    RETURN_IF_ERROR(reduce_unit(sides, source->unit));
    enum status status = sides_answer_unit(sides, s, &side->result);
    if (status == STATUS_BAD_INPUT && region->run->cut != SQL_CUT_NOWHERE && (sources & (sources - 1))) {
        *region->run->error = (struct error){0};
        RETURN_IF_ERROR(divide_unit(sides, source->unit));
        status = sides_answer_unit(sides, s, &side->result);
    }
    RETURN_IF_ERROR(status);
    sides->count++;
    for (uint32_t other = 0; other < region->source_count; other++)
        if (region->sources[other].unit == source->unit) {
            region->sources[other].joined = true;
            side->sources |= side_bit(other);
        }
    return STATUS_OK;
}

/* Joins the last side with one that it is expected to have no more rows with than either: their keys are then fewer for what
 * is answered after them. */
static enum status join_last(struct sides *sides)
{
    const struct region *const region = sides->region;
    const uint32_t last = sides->count - 1;
    struct join_keys keys;
    for (uint32_t i = 0; i < last; i++) {
        const struct side *const a = &sides->list[i], *const b = &sides->list[last];
        const double fewest = (double)(a->result.rows < b->result.rows ? a->result.rows : b->result.rows);
        join_find_keys(&region->conjuncts, region, a->sources, b->sources, &keys);
        if (keys.count && join_pairs_expected(region->run, &a->result, &b->result, &keys) <= fewest)
            return sides_join(sides, i, last);
    }
    return STATUS_OK;
}

enum status sides_answer(struct sides *sides)
{
    struct region *const region = sides->region;
    RETURN_IF_ERROR(count_units(sides));
    for (uint32_t s = next_unit(sides); s < region->source_count; s = next_unit(sides)) {
        RETURN_IF_ERROR(answer_inner(sides, s));
        if (next_unit(sides) < region->source_count)
            RETURN_IF_ERROR(join_last(sides));
    }
    if (sides->count == 0) /* one row of no columns, to which others are joined */
        sides->list[sides->count++].result.rows = 1;
    return STATUS_OK;
}

enum status sides_open(struct sides *sides)
{
    RETURN_IF_ERROR(push_all(sides->region));
    sides_note_names(sides);
    return STATUS_OK;
}
