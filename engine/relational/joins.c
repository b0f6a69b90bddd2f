/*
 * joins.c: answers the sources of a region, and joins them (region.h).
 *
 * Sides are answers that are joined already; at first each unit is one. Small tables are answered first, so that their keys
 * are conditions on larger ones (reduce.c). A source that is not INNER is joined to the side that
 * has all that its condition reads, as soon as there is one, SEMI and ANTI joins first. Of the sides that an equality is
 * between, those two are joined whose pairs are expected to be fewest; if there are none, the two smallest.
 */
#include "engine/relational/join/residual.h"
#include "engine/relational/region.h"
#include "engine/sql/sql_error.h"

#include "storage/base/memory.h"

#include <stdlib.h>
#include <string.h>

#define KEYS_MAX 32u

/* More pairs of rows than this are made only if some condition is on both sides: who forgets one should be told. */
#define PAIRS_WITHOUT_CONDITION_MAX (UINT64_C(1) << 24)

#define UNKNOWN_ROWS UINT64_MAX

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

static uint64_t bit(uint32_t s)
{
    return UINT64_C(1) << s;
}

static bool is_within(uint64_t sources, uint64_t of)
{
    return sources && !(sources & ~of);
}

/* ---- Conditions on one unit ---- */

static uint64_t unit_sources(const struct region *region, uint32_t unit)
{
    uint64_t sources = 0;
    for (uint32_t s = 0; s < region->source_count; s++)
        sources |= region->sources[s].unit == unit ? bit(s) : 0;
    return sources;
}

/* A condition becomes one on source s if it reads no others than `within`. */
static enum status push(struct region *region, struct conjunct *conjunct, uint64_t within, uint32_t s)
{
    if (conjunct->done || !is_within(conjunct->sources, within) || region->texts)
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
        if (source->answered.part_count && is_within(source->on.list[i].sources, bit(s)))
            source->on.list[i].done = true;
        else
            RETURN_IF_ERROR(push(region, &source->on.list[i], bit(s), s));
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
        const uint64_t sources = unit_sources(region, region->sources[s].unit);
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
static void note_all_names(struct sides *sides)
{
    const struct region *const region = sides->region;
    memcpy(sides->needed.bits, sides->above->bits, sides->above->words * sizeof *sides->above->bits);
    note_names(sides, &region->conjuncts);
    for (uint32_t s = 0; s < region->source_count; s++)
        if (unit_sources(region, region->sources[s].unit) == bit(s)) {
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
    RETURN_IF_ERROR(relational_line(run, "columns of %s%s:", first->node->scan.table->name,
                                    sources & (sources - 1) ? " and what it references" : ""));
    run->level++;
    const enum status status = region_plan(region, sources, select, numbers, false, result);
    run->level--;
    return status;
}

/* Answers a source that is no stored table, with the conditions on it alone. */
static enum status answer_alone(struct sides *sides, struct source *source, struct result *result)
{
    struct relational *const run = sides->region->run;
    struct logical_node *filter;
    if (source->answered.part_count) {
        *result = source->answered;
        source->answered = (struct result){0};
        return STATUS_OK;
    }
    if (!source->filter)
        return relational_node(run, source->node, &sides->needed, false, result);
    RETURN_IF_ERROR(relational_memory(run, sizeof *filter, &filter));
    *filter = (struct logical_node){.kind = LOGICAL_FILTER,
                                    .position = source->node->position,
                                    .input_count = 1,
                                    .inputs = {(struct logical_node *)source->node},
                                    .column_count = source->node->column_count,
                                    .columns = source->node->columns,
                                    .filter = {source->filter}};
    return relational_node(run, filter, &sides->needed, false, result);
}

static enum status answer_unit(struct sides *sides, uint32_t first, struct result *result)
{
    struct region *const region = sides->region;
    struct source *const source = &region->sources[first];
    if (source->node->kind == LOGICAL_SCAN && !source->answered.part_count)
        return answer_stored(sides, unit_sources(region, source->unit), result);
    return answer_alone(sides, source, result);
}

/* Each table of a unit becomes one of its own, because their references are no star. */
static enum status divide_unit(struct sides *sides, uint32_t unit)
{
    struct region *const region = sides->region;
    const uint64_t sources = unit_sources(region, unit);
    for (uint32_t i = 0; i < region->conjuncts.count; i++) {
        struct conjunct *const conjunct = &region->conjuncts.list[i];
        if (conjunct->by && (sources & bit(conjunct->by - 1)))
            conjunct->done = false;
    }
    for (uint32_t s = 0; s < region->source_count; s++)
        if (sources & bit(s)) {
            region->sources[s].unit = s;
            region->sources[s].filter = NULL;
            for (uint32_t i = 0; i < region->sources[s].on.count; i++)
                region->sources[s].on.list[i].done = false;
        }
    RETURN_IF_ERROR(push_all(region));
    note_all_names(sides);
    return STATUS_OK;
}

/* ---- Keys ---- */

struct keys {
    uint32_t count;
    struct sql_expression *trees[2][KEYS_MAX]; /* of the left and of the right side */
    struct conjunct *from[KEYS_MAX];
    bool nulls_match[KEYS_MAX];
    struct rowset_column columns[2][KEYS_MAX];
};

static void find_keys(const struct conjuncts *conjuncts, const struct region *region, uint64_t left,
                      uint64_t right, struct keys *keys)
{
    memset(keys, 0, sizeof *keys);
    for (uint32_t i = 0; i < conjuncts->count && keys->count < KEYS_MAX; i++) {
        struct sql_expression *const tree = conjuncts->list[i].tree;
        const bool same = tree->operation == SQL_IS_DISTINCT && tree->negated;
        if (conjuncts->list[i].done || (tree->operation != SQL_EQUAL && !same))
            continue;
        for (int turned = 0; turned < 2; turned++) {
            struct sql_expression *const a = tree->children[turned], *const b = tree->children[!turned];
            if (!is_within(region_reads(region, a), left) || !is_within(region_reads(region, b), right))
                continue;
            keys->trees[0][keys->count] = a;
            keys->trees[1][keys->count] = b;
            keys->nulls_match[keys->count] = same;
            keys->from[keys->count++] = &conjuncts->list[i];
            break;
        }
    }
}

static enum status key_column(struct relational *run, const struct result *result,
                              struct sql_expression *tree, struct rowset_column *column)
{
    return tree->operation == SQL_INPUT ? result_gather(run, result, tree->index, column)
                                        : relational_compute(run, result, tree, column);
}

static enum status make_keys(struct relational *run, const struct result *left, const struct result *right,
                             struct keys *keys)
{
    for (uint32_t k = 0; k < keys->count; k++) {
        struct dictionary *made;
        RETURN_IF_ERROR(key_column(run, left, keys->trees[0][k], &keys->columns[0][k]));
        RETURN_IF_ERROR(key_column(run, right, keys->trees[1][k], &keys->columns[1][k]));
        RETURN_IF_ERROR(sql_placed(run->error, keys->from[k]->tree->position,
                                   relation_alike(&keys->columns[0][k], left->rows, &keys->columns[1][k],
                                                  right->rows, &made, run->error)));
        struct rowset holder = {.column_count = 1, .dictionaries = &made};
        RETURN_IF_ERROR(relational_keep(run, &holder));
    }
    return STATUS_OK;
}

/* ---- One join ---- */

/* The conditions that are asked of pairs: of a join of its own all that are no keys; of an inner one those on both sides. */
static enum status find_others(struct relational *run, struct conjuncts *conjuncts, bool own, uint64_t left,
                               uint64_t right, struct sql_expression **other)
{
    *other = NULL;
    for (uint32_t i = 0; i < conjuncts->count; i++) {
        struct conjunct *const conjunct = &conjuncts->list[i];
        if (conjunct->done || (!own && !(is_within(conjunct->sources, left | right) &&
                                         (conjunct->sources & left) && (conjunct->sources & right))))
            continue;
        conjunct->done = true;
        RETURN_IF_ERROR(relational_and(run, other, conjunct->tree));
    }
    return STATUS_OK;
}

struct join_of {
    enum logical_join join;
    struct sql_position position;
    uint32_t mark;
    struct conjuncts *conjuncts;
    struct conjuncts *test; /* of MARK; or NULL */
    uint64_t left, right;   /* sources */
};

/* The rows of the left side become those of the join. A mark without a test is never NULL. */
static enum status take_result(struct relational *run, const struct join_of *by, struct result *left,
                               struct result *right, struct join_result *made)
{
    const bool tested = by->test != NULL;
    struct rowset_column column = {.type = {.kind = VALUE_BOOLEAN}};
    switch (by->join) {
    case LOGICAL_SEMI:
    case LOGICAL_ANTI:
        return made->count < left->rows ? result_select(run, left, made->lefts, made->count) : STATUS_OK;
    case LOGICAL_MARK:
        column.name = strdup("mark");
        if (!column.name)
            return error_out_of_memory(run->error, sizeof "mark", "a name");
        column.values = made->marks;
        column.nulls = tested ? made->mark_nulls : NULL;
        column.charge = made->charge;
        made->charge = (struct memory_charge){0};
        made->marks = NULL;
        made->mark_nulls = tested ? NULL : made->mark_nulls;
        return result_add(run, left, by->mark, &column);
    case LOGICAL_INNER:
    case LOGICAL_LEFT:
    case LOGICAL_FULL:
    case LOGICAL_SINGLE:
        break;
    }
    return result_pair(run, left, right, made->lefts, made->rights, made->count);
}

static enum status join_pairs(struct region *region, const struct join_of *by, struct result *left,
                              struct result *right, struct keys *keys, bool unknown_keys,
                              struct sql_expression *other)
{
    struct relational *const run = region->run;
    const unsigned threads = engine_threads(run->task->engine);
    struct residual *residual = NULL;
    struct join_result made = {0};
    struct join_test test;
    enum status status = make_keys(run, left, right, keys);
    if (status == STATUS_OK && other)
        status = residual_create(run, other, left, right, threads, &residual, &test);
    const struct join_task task = {.join = by->join,
                                   .key_count = keys->count,
                                   .left_keys = keys->columns[0],
                                   .right_keys = keys->columns[1],
                                   .nulls_match = keys->nulls_match,
                                   .unknown_keys = unknown_keys,
                                   .left_rows = left->rows,
                                   .right_rows = right->rows,
                                   .test = other ? &test : NULL,
                                   .threads = threads};
    if (status == STATUS_OK)
        status = sql_placed(run->error, by->position, join_rows(&task, &made, run->error));
    residual_free(residual);
    for (uint32_t k = 0; k < keys->count; k++) {
        relation_column_free(&keys->columns[0][k]);
        relation_column_free(&keys->columns[1][k]);
    }
    if (status == STATUS_OK)
        status = take_result(run, by, left, right, &made);
    join_result_free(&made);
    return status;
}

/* What a MARK join asks of pairs: the test, of those for which the condition is true. */
static enum status add_test(struct relational *run, const struct join_of *by, struct sql_expression **other)
{
    struct sql_expression *test, *is_true;
    if (*other) {
        RETURN_IF_ERROR(relational_literal(run, by->position, SQL_IS_TRUTH, "true", &is_true));
        RETURN_IF_ERROR(sql_tree_child(run->arena, is_true, *other, run->error));
        *other = is_true;
    }
    RETURN_IF_ERROR(find_others(run, by->test, true, by->left, by->right, &test));
    return test ? relational_and(run, other, test) : STATUS_OK;
}

static enum status join_two(struct region *region, const struct join_of *by, struct result *left,
                            struct result *right)
{
    static const char *const names[] = {
        [LOGICAL_INNER] = "inner",  [LOGICAL_LEFT] = "left", [LOGICAL_FULL] = "full",
        [LOGICAL_SEMI] = "semi",    [LOGICAL_ANTI] = "anti", [LOGICAL_MARK] = "mark",
        [LOGICAL_SINGLE] = "single"};
    struct relational *const run = region->run;
    const uint64_t left_rows = left->rows, right_rows = right->rows;
    struct sql_expression *other;
    struct keys keys;
    find_keys(by->conjuncts, region, by->left, by->right, &keys);
    const bool by_test = by->test && keys.count == 0;
    if (by_test)
        find_keys(by->test, region, by->left, by->right, &keys);
    for (uint32_t k = 0; k < keys.count; k++)
        keys.from[k]->done = true;
    RETURN_IF_ERROR(find_others(run, by->conjuncts, by->join != LOGICAL_INNER, by->left, by->right, &other));
    if (by->test)
        RETURN_IF_ERROR(add_test(run, by, &other));
    RETURN_IF_ERROR(join_pairs(region, by, left, right, &keys, by_test && keys.count, other));
    return relational_line(run, "%s join by %u key%s%s: %llu rows with %llu give %llu", names[by->join],
                           keys.count, keys.count == 1 ? "" : "s", other ? " and a condition" : "",
                           (unsigned long long)left_rows, (unsigned long long)right_rows,
                           (unsigned long long)left->rows);
}

/* ---- Sources that are not INNER ---- */

static uint64_t reads_on(const struct region *region, uint32_t s)
{
    const struct source *const source = &region->sources[s];
    uint64_t reads = 0;
    for (uint32_t i = 0; i < source->on.count; i++)
        reads |= region_reads(region, source->on.list[i].tree);
    for (uint32_t i = 0; i < source->test.count; i++)
        reads |= region_reads(region, source->test.list[i].tree);
    return reads & ~bit(s);
}

static enum status attach(struct sides *sides, struct side *side, uint32_t s)
{
    struct region *const region = sides->region;
    struct source *const source = &region->sources[s];
    struct result right;
    if (!region->full)
        RETURN_IF_ERROR(region_reduce(region, &source->on, &side->result, side->sources, s));
    RETURN_IF_ERROR(answer_unit(sides, s, &right));
    const struct join_of by = {.join = source->join,
                               .position = source->position,
                               .mark = source->mark,
                               .conjuncts = &source->on,
                               .test = source->test.count ? &source->test : NULL,
                               .left = side->sources,
                               .right = bit(s)};
    const enum status status = join_two(region, &by, &side->result, &right);
    result_free(&right);
    source->joined = true;
    side->sources |= bit(s);
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
                if (is_within(reads, sides->list[i].sources) || (any && reads == 0)) {
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
    struct keys keys;
    find_keys(&sides->region->conjuncts, sides->region, a->sources, b->sources, &keys);
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
        if (conjunct->done || !is_within(region_reads(region, conjunct->tree), side->sources))
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

/* The first source of the smallest unit that is not answered; their number: there is none. */
static uint32_t next_unit(const struct region *region)
{
    uint32_t next = region->source_count;
    for (uint32_t s = 0; s < region->source_count; s++) {
        const struct source *const source = &region->sources[s];
        if (!source->joined && source->join == LOGICAL_INNER &&
            (next == region->source_count ||
             unit_rows(region, source->unit) < unit_rows(region, region->sources[next].unit)))
            next = s;
    }
    return next;
}

/* Sides that are answered, and have less rows than their tables, are conditions on what is answered after them. */
static enum status reduce_unit(struct sides *sides, uint32_t unit)
{
    struct region *const region = sides->region;
    for (uint32_t i = 0; i < sides->count; i++) {
        const struct side *const side = &sides->list[i];
        const uint32_t of = region->sources[__builtin_ctzll(side->sources)].unit;
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
    const uint64_t sources = unit_sources(region, source->unit);
    RETURN_IF_ERROR(reduce_unit(sides, source->unit));
    enum status status = answer_unit(sides, s, &side->result);
    if (status == STATUS_BAD_INPUT && region->run->no_star && (sources & (sources - 1))) {
        *region->run->error = (struct error){0};
        RETURN_IF_ERROR(divide_unit(sides, source->unit));
        status = answer_unit(sides, s, &side->result);
    }
    RETURN_IF_ERROR(status);
    sides->count++;
    for (uint32_t other = 0; other < region->source_count; other++)
        if (region->sources[other].unit == source->unit) {
            region->sources[other].joined = true;
            side->sources |= bit(other);
        }
    return STATUS_OK;
}

static enum status answer_units(struct sides *sides)
{
    struct region *const region = sides->region;
    for (uint32_t s = next_unit(region); s < region->source_count; s = next_unit(region))
        RETURN_IF_ERROR(answer_inner(sides, s));
    if (sides->count == 0) /* one row of no columns, to which others are joined */
        sides->list[sides->count++].result.rows = 1;
    return STATUS_OK;
}

static enum status join_all(struct sides *sides)
{
    RETURN_IF_ERROR(answer_units(sides));
    for (;;) {
        bool found;
        uint32_t first, second;
        RETURN_IF_ERROR(cancel_check(sides->region->run->error));
        RETURN_IF_ERROR(attach_one(sides, sides->count == 1, &found));
        if (found)
            continue;
        for (uint32_t i = 0; i < sides->count; i++)
            RETURN_IF_ERROR(filter_side(sides, &sides->list[i]));
        note_all_names(sides);
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
    RETURN_IF_ERROR(push_all(region));
    note_all_names(sides);
    const enum status status = join_all(sides);
    if (status == STATUS_OK)
        *result = sides->list[0].result;
    for (uint32_t i = status == STATUS_OK; i < sides->count; i++)
        result_free(&sides->list[i].result);
    return status;
}
