/*
 * same.c: a join of a table with itself by the same columns is one scan, grouped by them (rewrite.h), where all that is asked are
 * totals:
 *
 *     aggregate 9: sum(@2 - @5)              aggregate 9: sum(@11 * nullif(@14, 0) - @13 * nullif(@12, 0))
 *       join inner @1 = @4                     aggregate 10..14: by @1: sum(@2) and count(*) where @3 = 1, the same where @3 = 2
 *         filter @3 = 1                          filter @3 = 1 or @3 = 2
 *           scan lines a: 1 2 3                    scan lines a: 1 2 3
 *         filter @6 = 2
 *           scan lines b: 4 5 6
 *
 * The totals are added up as groups are completed (engine/relational/blocks/totals.h). A CPU does so where rows of
 * the same key follow each other, as lines of an order do. Elsewhere the join is as fast, because a group has few
 * rows where the keys have many values; where they have few, early.c groups both sides.
 *
 * A join with groups of the same table, by their keys, is windows over its rows, which a GPU computes without giving rows to the
 * host (C. Zuzarte et al., "WinMagic: Subquery Elimination Using Window Aggregation", SIGMOD 2003):
 *
 *     join inner @1 = @5 and @2 = @6         filter @2 = @6
 *       scan lines a: 1 2                      window 6: max(@2) over (partition by @1)
 *       aggregate 5 6: by @3: max(@4)            scan lines a: 1 2
 *         scan lines b: 3 4
 */
#include "engine/logical/rewrite/rewrite.h"

#include <string.h>

/* A join of more pairs is refused (RELATION_ROWS_MAX of engine/relational). So a sum over the pairs of a group leaves 64 bits only
 * where the join would be, if its values are no larger than SUM_MOST by this. */
#define PAIRS_MOST (UINT64_C(1) << 32)
#define SUM_MOST   1e18
#define TERMS_MOST 8u

/* On a CPU: the least rows of a run of a key, and the share of the tiles in which a side has a row of which it is
 * little: 1 / FEW_TILES. */
#define RUN_ROWS  2u
#define FEW_TILES 4u

/* Groups by keys of more numbers are no dimension (SPAN_MOST of engine/relational/dimension.c). */
#define ARRAY_PLACES_MOST 16777216.0

struct same_side {
    struct logical_node *scan;
    struct logical_set gives;
    struct conjuncts conditions; /* over the first side's columns */
    uint32_t count;              /* the column of its rows in a group */
};

struct same {
    struct rewriter *rewriter;
    struct logical_node *groups;
    struct column_map map; /* from the second side's columns to the first's */
    struct same_side sides[2];
};

/* ---- What is joined ---- */

static enum status find_scan(struct rewriter *rewriter, struct logical_node *node, struct same_side *side)
{
    RETURN_IF_ERROR(rewrite_gives(rewriter, node, &side->gives));
    for (; node->kind == LOGICAL_FILTER; node = node->inputs[0])
        RETURN_IF_ERROR(rewrite_split(rewriter, node->filter.condition, &side->conditions));
    side->scan = node->kind == LOGICAL_SCAN ? node : NULL;
    return STATUS_OK;
}

/* The first side's column for each of the second's: its scan gets those that it has not. */
static enum status map_columns(struct same *same)
{
    struct rewriter *const rewriter = same->rewriter;
    struct logical_node *const first = same->sides[0].scan, *const second = same->sides[1].scan;
    for (uint32_t c = 0; c < second->column_count; c++) {
        struct sql_expression *input;
        uint32_t of = 0;
        while (of < first->column_count && first->scan.stored[of] != second->scan.stored[c])
            of++;
        if (of == first->column_count) {
            uint32_t *stored;
            RETURN_IF_ERROR(
                sql_tree_take(rewriter->tree->arena, (of + 1) * sizeof *stored, &stored, rewriter->error));
            memcpy(stored, first->scan.stored, of * sizeof *stored);
            stored[of] = second->scan.stored[c];
            first->scan.stored = stored;
            RETURN_IF_ERROR(logical_gives(rewriter->tree, first, second->columns[c], rewriter->error));
        }
        RETURN_IF_ERROR(rewrite_input(rewriter, second->position, first->columns[of], &input));
        RETURN_IF_ERROR(rewrite_map_add(rewriter, &same->map, second->columns[c], input));
    }
    return STATUS_OK;
}

static uint32_t stored_of(const struct logical_node *scan, const struct sql_expression *input)
{
    uint32_t c = 0;
    while (c < scan->column_count && scan->columns[c] != input->index)
        c++;
    return c < scan->column_count ? scan->scan.stored[c] : UINT32_MAX;
}

/* True if the condition compares the same stored column of both sides. */
static bool is_same_column(const struct same *same, const struct sql_expression *condition)
{
    if (condition->operation != SQL_EQUAL || condition->children[0]->operation != SQL_INPUT ||
        condition->children[1]->operation != SQL_INPUT)
        return false;
    const bool turned = logical_has(&same->sides[1].gives, condition->children[0]->index);
    const uint32_t first = stored_of(same->sides[0].scan, condition->children[turned]),
                   second = stored_of(same->sides[1].scan, condition->children[!turned]);
    return first == second && first != UINT32_MAX;
}

/* ---- What is asked ---- */

/* A column of whole numbers without NULLs whose sums over any pairs are far from leaving 64 bits. */
static bool is_plain(const struct same *same, const struct sql_expression *input)
{
    if (input->operation != SQL_INPUT)
        return false;
    const struct same_side *const side = &same->sides[logical_has(&same->sides[1].gives, input->index)];
    const uint32_t stored = stored_of(side->scan, input);
    if (stored == UINT32_MAX)
        return false;
    const struct column *const column = &side->scan->scan.table->columns[stored];
    const uint64_t rows = side->scan->scan.table->rows;
    const double most = SUM_MOST / (double)(rows > PAIRS_MOST ? rows : PAIRS_MOST);
    return same->rewriter->tree->columns[input->index].type.kind == VALUE_INTEGER &&
           column->statistics.nulls == 0 && (double)column->statistics.min > -most &&
           (double)column->statistics.max < most;
}

/* The columns that a value is a sum and difference of; more than TERMS_MOST: it is something else. */
static uint32_t count_terms(const struct same *same, const struct sql_expression *value)
{
    if (value->operation != SQL_ADD && value->operation != SQL_SUBTRACT)
        return is_plain(same, value) ? 1 : TERMS_MOST + 1;
    const uint32_t first = count_terms(same, value->children[0]);
    return first > TERMS_MOST ? first : first + count_terms(same, value->children[1]);
}

/* True for count(*), and for sums of sums and differences of columns. */
static bool can_total(const struct same *same, const struct sql_expression *call)
{
    if (call->distinct || call->ordered || call->child_count != 1)
        return false;
    return call->children[0]->operation == SQL_STAR
               ? strcmp(call->name, "count") == 0
               : strcmp(call->name, "sum") == 0 && count_terms(same, call->children[0]) <= TERMS_MOST;
}

/* ---- The tree ---- */

/* Adds `function`(value) over a side's rows to the groups, and gives its column. */
static enum status add_state(struct same *same, const struct same_side *side, const char *function,
                             struct sql_expression *value, uint32_t *column)
{
    struct rewriter *const rewriter = same->rewriter;
    struct logical_node *const groups = same->groups;
    const struct value_type integer = {.kind = VALUE_INTEGER};
    struct sql_expression *test, *call;
    const struct value_type type =
        value->operation == SQL_INPUT ? rewriter->tree->columns[value->index].type : integer;
    RETURN_IF_ERROR(rewrite_join(rewriter, &side->conditions, &test));
    if (test)
        RETURN_IF_ERROR(rewrite_apply(rewriter, SQL_CASE, NULL, test, value, &value));
    RETURN_IF_ERROR(rewrite_apply(rewriter, SQL_FUNCTION, function, value, NULL, &call));
    RETURN_IF_ERROR(sql_tree_append(rewriter->tree->arena, &groups->aggregate.aggregates,
                                    &groups->aggregate.aggregate_count, sizeof call, &call, rewriter->error));
    RETURN_IF_ERROR(logical_column_new(rewriter->tree, function, type, true, column, rewriter->error));
    return logical_gives(rewriter->tree, groups, *column, rewriter->error);
}

/* The rows that a side has in a group; NULL: none, if it is a factor. */
static enum status rows_of(struct same *same, int s, bool factor, struct sql_position position,
                           struct sql_expression **rows)
{
    struct rewriter *const rewriter = same->rewriter;
    struct sql_expression *zero;
    RETURN_IF_ERROR(rewrite_input(rewriter, position, same->sides[s].count, rows));
    if (!factor)
        return STATUS_OK;
    RETURN_IF_ERROR(rewrite_number(rewriter, position, "0", &zero));
    return rewrite_apply(rewriter, SQL_FUNCTION, "nullif", *rows, zero, rows);
}

/* The sum of a linear expression over the pairs of a group; NULL if there are none. */
static enum status sum_of_pairs(struct same *same, struct sql_expression *value, struct sql_expression **sum)
{
    struct rewriter *const rewriter = same->rewriter;
    if (value->operation != SQL_INPUT) {
        struct sql_expression *first, *second;
        RETURN_IF_ERROR(sum_of_pairs(same, value->children[0], &first));
        RETURN_IF_ERROR(sum_of_pairs(same, value->children[1], &second));
        return rewrite_apply(rewriter, value->operation, NULL, first, second, sum);
    }
    const int s = logical_has(&same->sides[1].gives, value->index);
    struct sql_expression *rows;
    uint32_t column;
    RETURN_IF_ERROR(rewrite_map(rewriter, &same->map, value, &value));
    RETURN_IF_ERROR(add_state(same, &same->sides[s], "sum", value, &column));
    RETURN_IF_ERROR(rewrite_input(rewriter, value->position, column, sum));
    RETURN_IF_ERROR(rows_of(same, !s, true, value->position, &rows));
    return rewrite_apply(rewriter, SQL_MULTIPLY, NULL, *sum, rows, sum);
}

/* The sum of all groups' pairs; a count is 0 without one. */
static enum status total(struct same *same, struct logical_node *aggregate, uint32_t a,
                         struct logical_node *project)
{
    struct rewriter *const rewriter = same->rewriter;
    struct sql_expression **const call = &aggregate->aggregate.aggregates[a], *const value =
                                                                                  (*call)->children[0];
    const bool counts = value->operation == SQL_STAR;
    const struct sql_position position = (*call)->position;
    struct sql_expression *first, *second, *pairs;
    if (!counts) {
        RETURN_IF_ERROR(sum_of_pairs(same, value, &pairs));
        RETURN_IF_ERROR(rewrite_apply(rewriter, SQL_FUNCTION, "sum", pairs, NULL, call));
        return rewrite_pass(rewriter, project, aggregate->columns[a]);
    }
    RETURN_IF_ERROR(rows_of(same, 0, false, position, &first));
    RETURN_IF_ERROR(rows_of(same, 1, false, position, &second));
    RETURN_IF_ERROR(rewrite_apply(rewriter, SQL_MULTIPLY, NULL, first, second, &pairs));
    RETURN_IF_ERROR(rewrite_apply(rewriter, SQL_FUNCTION, "sum", pairs, NULL, call));
    const uint32_t given = aggregate->columns[a];
    RETURN_IF_ERROR(logical_column_new(rewriter->tree, "sum", (struct value_type){.kind = VALUE_INTEGER},
                                       true, &aggregate->columns[a], rewriter->error));
    RETURN_IF_ERROR(rewrite_input(rewriter, position, aggregate->columns[a], &first));
    RETURN_IF_ERROR(rewrite_number(rewriter, position, "0", &second));
    RETURN_IF_ERROR(rewrite_apply(rewriter, SQL_FUNCTION, "coalesce", first, second, &first));
    return rewrite_project_add(rewriter, project, first, given);
}

/* The rows of either side, but those with a key that is NULL. */
static enum status filter_rows(struct same *same, const struct conjuncts *equalities,
                               struct logical_node **node)
{
    struct rewriter *const rewriter = same->rewriter;
    struct conjuncts wanted = {0};
    struct sql_expression *either[2], *both;
    for (int s = 0; s < 2; s++)
        RETURN_IF_ERROR(rewrite_join(rewriter, &same->sides[s].conditions, &either[s]));
    if (either[0] && either[1]) {
        RETURN_IF_ERROR(rewrite_apply(rewriter, SQL_OR, NULL, either[0], either[1], &both));
        RETURN_IF_ERROR(rewrite_add(rewriter, both, &wanted));
    }
    for (uint32_t e = 0; e < equalities->count; e++) {
        struct sql_expression *key, *known;
        RETURN_IF_ERROR(rewrite_map(rewriter, &same->map, equalities->list[e]->children[0], &key));
        const struct logical_node *const scan = same->sides[0].scan;
        if (scan->scan.table->columns[stored_of(scan, key)].statistics.nulls == 0)
            continue;
        RETURN_IF_ERROR(rewrite_apply(rewriter, SQL_IS_NULL, NULL, key, NULL, &known));
        known->negated = true;
        RETURN_IF_ERROR(rewrite_add(rewriter, known, &wanted));
    }
    *node = same->sides[0].scan;
    return rewrite_filter(rewriter, &wanted, node);
}

static enum status group(struct same *same, const struct conjuncts *equalities, struct logical_node **node)
{
    struct rewriter *const rewriter = same->rewriter;
    struct logical_node *const aggregate = *node;
    struct logical_node *rows, *project;
    uint32_t column;
    RETURN_IF_ERROR(map_columns(same));
    for (uint32_t c = 0; c < same->sides[1].conditions.count; c++)
        RETURN_IF_ERROR(rewrite_map(rewriter, &same->map, same->sides[1].conditions.list[c],
                                    &same->sides[1].conditions.list[c]));
    RETURN_IF_ERROR(filter_rows(same, equalities, &rows));
    RETURN_IF_ERROR(logical_node_new(rewriter->tree, LOGICAL_AGGREGATE, aggregate->position, rows, NULL,
                                     &same->groups, rewriter->error));
    for (uint32_t e = 0; e < equalities->count; e++) {
        struct sql_expression *key;
        RETURN_IF_ERROR(rewrite_map(rewriter, &same->map, equalities->list[e]->children[0], &key));
        RETURN_IF_ERROR(rewrite_add_group(rewriter, same->groups, key, &column));
    }
    for (int s = 0; s < 2; s++) {
        struct sql_expression *one;
        RETURN_IF_ERROR(rewrite_number(rewriter, aggregate->position, "1", &one));
        RETURN_IF_ERROR(add_state(same, &same->sides[s], "count", one, &same->sides[s].count));
    }
    RETURN_IF_ERROR(logical_node_new(rewriter->tree, LOGICAL_PROJECT, aggregate->position, aggregate, NULL,
                                     &project, rewriter->error));
    for (uint32_t a = 0; a < aggregate->aggregate.aggregate_count; a++)
        RETURN_IF_ERROR(total(same, aggregate, a, project));
    aggregate->inputs[0] = same->groups;
    *node = project;
    return STATUS_OK;
}

/* The rows that a side is expected to have at most, by its comparisons of columns with constants. */
static double rows_at_most(const struct same_side *side)
{
    double rows = (double)side->scan->scan.table->rows;
    for (uint32_t c = 0; c < side->conditions.count; c++) {
        const struct sql_expression *const condition = side->conditions.list[c];
        for (int child = 0; condition->operation == SQL_EQUAL && child < 2; child++) {
            const uint32_t stored = condition->children[child]->operation == SQL_INPUT
                                        ? stored_of(side->scan, condition->children[child])
                                        : UINT32_MAX;
            if (stored != UINT32_MAX && side->scan->scan.table->columns[stored].statistics.distinct)
                rows /= (double)side->scan->scan.table->columns[stored].statistics.distinct;
        }
    }
    return rows;
}

/* A CPU adds rows of the same key up quickly where they follow each other. A side that has rows in few tiles excludes
 * most of the other's, if they are joined. */
static bool is_fast(const struct same *same, const struct conjuncts *equalities)
{
    const struct table *const table = same->sides[0].scan->scan.table;
    for (int s = 0; s < 2; s++)
        if (rows_at_most(&same->sides[s]) * FEW_TILES * TILE_ROWS < (double)table->rows)
            return false;
    for (uint32_t e = 0; e < equalities->count; e++) {
        const struct sql_expression *const *const children =
            (const struct sql_expression *const *)equalities->list[e]->children;
        const bool turned = logical_has(&same->sides[1].gives, children[0]->index);
        const struct column *const key = &table->columns[stored_of(same->sides[0].scan, children[turned])];
        if (key->statistics.runs * RUN_ROWS > table->rows)
            return false;
    }
    return true;
}

static enum status group_same(struct rewriter *rewriter, struct logical_node **node)
{
    const struct logical_node *const aggregate = *node, *const join = aggregate->inputs[0];
    struct same same = {.rewriter = rewriter};
    struct conjuncts equalities = {0};
    if (aggregate->aggregate.group_count || aggregate->aggregate.set_count || join->kind != LOGICAL_JOIN ||
        join->join.join != LOGICAL_INNER || !join->join.condition)
        return STATUS_OK;
    for (int s = 0; s < 2; s++)
        RETURN_IF_ERROR(find_scan(rewriter, join->inputs[s], &same.sides[s]));
    if (!same.sides[0].scan || !same.sides[1].scan ||
        same.sides[0].scan->scan.table != same.sides[1].scan->scan.table)
        return STATUS_OK;
    RETURN_IF_ERROR(rewrite_split(rewriter, join->join.condition, &equalities));
    bool can = true;
    for (int s = 0; s < 2; s++)
        for (uint32_t c = 0; c < same.sides[s].conditions.count; c++)
            can &= rewrite_never_fails(same.sides[s].conditions.list[c]);
    for (uint32_t e = 0; e < equalities.count; e++)
        can &= is_same_column(&same, equalities.list[e]);
    for (uint32_t a = 0; a < aggregate->aggregate.aggregate_count; a++)
        can &= can_total(&same, aggregate->aggregate.aggregates[a]);
    can = can && (!rewriter->on_host || is_fast(&same, &equalities));
    return can ? group(&same, &equalities, node) : STATUS_OK;
}

/* ---- Windows ---- */

/* A join of a table with groups of it. */
struct own {
    struct same same;            /* sides[0]: the rows; sides[1]: those that are grouped */
    struct logical_node *groups; /* a copy of the aggregation */
    struct conjuncts filters;    /* what is asked of pairs, over the rows' columns and those of the groups */
    struct conjuncts outputs;    /* what the join gives */
    uint32_t key_count, *keys;   /* the rows' columns that equal the groups' terms */
};

static enum status map_all(struct rewriter *rewriter, const struct column_map *map, struct conjuncts *list)
{
    for (uint32_t i = 0; i < list->count; i++)
        RETURN_IF_ERROR(rewrite_map(rewriter, map, list->list[i], &list->list[i]));
    return STATUS_OK;
}

/* What is asked of a side is asked below its filter or projection. */
static enum status go_below(struct own *own, const struct logical_node *node)
{
    struct rewriter *const rewriter = own->same.rewriter;
    struct column_map map = {0};
    if (node->kind == LOGICAL_FILTER)
        return rewrite_split(rewriter, node->filter.condition, &own->filters);
    for (uint32_t c = 0; c < node->column_count; c++)
        RETURN_IF_ERROR(rewrite_map_add(rewriter, &map, node->columns[c], node->project.expressions[c]));
    RETURN_IF_ERROR(map_all(rewriter, &map, &own->filters));
    return map_all(rewriter, &map, &own->outputs);
}

/* Finds the groups of a side of the join. */
static enum status find_groups(struct own *own, const struct logical_node *join, int side, bool *found)
{
    struct rewriter *const rewriter = own->same.rewriter;
    struct logical_node *node = join->inputs[side];
    RETURN_IF_ERROR(rewrite_split(rewriter, join->join.condition, &own->filters));
    for (uint32_t c = 0; c < join->column_count; c++) {
        struct sql_expression *input;
        RETURN_IF_ERROR(rewrite_input(rewriter, join->position, join->columns[c], &input));
        RETURN_IF_ERROR(rewrite_add(rewriter, input, &own->outputs));
    }
    for (; node->kind == LOGICAL_FILTER || node->kind == LOGICAL_PROJECT; node = node->inputs[0])
        RETURN_IF_ERROR(go_below(own, node));
    *found = node->kind == LOGICAL_AGGREGATE && node->aggregate.group_count && !node->aggregate.set_count;
    if (!*found)
        return STATUS_OK;
    RETURN_IF_ERROR(sql_tree_take(rewriter->tree->arena, sizeof *own->groups, &own->groups, rewriter->error));
    *own->groups = *node;
    RETURN_IF_ERROR(rewrite_aggregate_below(rewriter, own->groups));
    return find_scan(rewriter, own->groups->inputs[0], &own->same.sides[1]);
}

static bool is_whole(const struct rewriter *rewriter, const struct sql_expression *input)
{
    const enum value_kind kind =
        input->operation == SQL_INPUT ? rewriter->tree->columns[input->index].type.kind : VALUE_STRING;
    return kind == VALUE_INTEGER || kind == VALUE_DATE;
}

/* True for counts and extremes of columns of numbers. */
static bool can_be_window(const struct rewriter *rewriter, const struct sql_expression *call)
{
    const bool counts = strcmp(call->name, "count") == 0;
    return !call->distinct && !call->ordered && call->child_count == 1 &&
           (counts || strcmp(call->name, "min") == 0 || strcmp(call->name, "max") == 0) &&
           ((counts && call->children[0]->operation == SQL_STAR) || is_whole(rewriter, call->children[0]));
}

/* Finds the row's column that equals each of the groups' terms; the other conditions stay. */
static enum status find_own_keys(struct own *own, bool *found)
{
    struct rewriter *const rewriter = own->same.rewriter;
    const struct logical_node *const scan = own->same.sides[0].scan, *const groups = own->groups;
    struct conjuncts others = {0};
    uint32_t count = 0;
    own->key_count = groups->aggregate.group_count;
    RETURN_IF_ERROR(sql_tree_take(rewriter->tree->arena, (own->key_count + 1) * sizeof *own->keys, &own->keys,
                                  rewriter->error));
    for (uint32_t g = 0; g < own->key_count; g++)
        own->keys[g] = UINT32_MAX;
    for (uint32_t c = 0; c < own->filters.count; c++) {
        struct sql_expression *const condition = own->filters.list[c];
        bool key = false;
        for (int turned = 0; turned < 2 && condition->operation == SQL_EQUAL && !key; turned++) {
            const struct sql_expression *const row = condition->children[turned], *const group =
                                                                                      condition
                                                                                          ->children[!turned];
            for (uint32_t g = 0; g < own->key_count && !key; g++) {
                const struct sql_expression *const term = groups->aggregate.groups[g];
                key = own->keys[g] == UINT32_MAX && row->operation == SQL_INPUT &&
                      group->operation == SQL_INPUT && group->index == groups->columns[g] &&
                      is_whole(rewriter, term) && stored_of(scan, row) != UINT32_MAX &&
                      stored_of(scan, row) == stored_of(own->same.sides[1].scan, term);
                if (key)
                    own->keys[g] = row->index;
            }
        }
        count += key;
        if (!key)
            RETURN_IF_ERROR(rewrite_add(rewriter, condition, &others));
    }
    own->filters = others;
    *found = count == own->key_count;
    return STATUS_OK;
}

/* The places of an array over the keys, if it is one: groups of few are a dimension of the rows' scan, which is cheaper. */
static bool is_wide(const struct own *own)
{
    const struct logical_node *const scan = own->same.sides[0].scan;
    double places = 1;
    for (uint32_t k = 0; k < own->key_count; k++) {
        const struct sql_expression key = {.operation = SQL_INPUT, .index = own->keys[k]};
        const struct column_statistics *const of =
            &scan->scan.table->columns[stored_of(scan, &key)].statistics;
        places *= (double)of->max - (double)of->min + 1;
    }
    return places > ARRAY_PLACES_MOST;
}

static bool never_fail(const struct conjuncts *conditions)
{
    bool never = true;
    for (uint32_t c = 0; c < conditions->count; c++)
        never &= rewrite_never_fails(conditions->list[c]);
    return never;
}

/* Adds a window over all rows of a partition. */
static enum status add_window(struct own *own, struct logical_node *window, const char *function,
                              struct sql_expression *argument, uint32_t column)
{
    struct rewriter *const rewriter = own->same.rewriter;
    struct sql_statement_tree *const arena = rewriter->tree->arena;
    struct logical_window made = {.function = WINDOW_AGGREGATE};
    struct sql_expression *call;
    struct sql_window *over;
    RETURN_IF_ERROR(rewrite_apply(rewriter, SQL_FUNCTION, function, argument, NULL, &call));
    RETURN_IF_ERROR(sql_tree_take(arena, sizeof *over, &over, rewriter->error));
    over->position = argument->position;
    for (uint32_t k = 0; k < own->key_count; k++) {
        struct sql_expression *key;
        RETURN_IF_ERROR(rewrite_input(rewriter, argument->position, own->keys[k], &key));
        RETURN_IF_ERROR(sql_tree_append(arena, &over->partitions, &over->partition_count, sizeof key, &key,
                                        rewriter->error));
    }
    made.call = call;
    made.window = over;
    RETURN_IF_ERROR(sql_tree_append(arena, &window->window.windows, &window->window.count, sizeof made, &made,
                                    rewriter->error));
    return logical_gives(rewriter->tree, window, column, rewriter->error);
}

/* The argument of a window, of the rows that are grouped alone: a column of the projection. */
static enum status argument_of(struct own *own, struct logical_node *project, struct sql_expression *value,
                               struct sql_expression **argument)
{
    struct rewriter *const rewriter = own->same.rewriter;
    struct sql_expression *test;
    uint32_t column;
    *argument = value;
    RETURN_IF_ERROR(rewrite_join(rewriter, &own->same.sides[1].conditions, &test));
    if (!test)
        return value->operation == SQL_STAR ? STATUS_OK
                                            : rewrite_map(rewriter, &own->same.map, value, argument);
    if (value->operation == SQL_STAR)
        RETURN_IF_ERROR(rewrite_number(rewriter, value->position, "1", &value));
    else
        RETURN_IF_ERROR(rewrite_map(rewriter, &own->same.map, value, &value));
    RETURN_IF_ERROR(rewrite_apply(rewriter, SQL_CASE, NULL, test, value, &value));
    RETURN_IF_ERROR(rewrite_column(rewriter, value, &column));
    RETURN_IF_ERROR(rewrite_project_add(rewriter, project, value, column));
    return rewrite_input(rewriter, value->position, column, argument);
}

/* The windows over the rows of either side, and the filters above them. */
static enum status make_windows(struct own *own, struct logical_node *rows, struct logical_node **node)
{
    struct rewriter *const rewriter = own->same.rewriter;
    const struct logical_node *const groups = own->groups;
    const struct value_type integer = {.kind = VALUE_INTEGER};
    struct logical_node *window;
    struct sql_expression *argument, *star, *zero;
    uint32_t column;
    RETURN_IF_ERROR(rewrite_project(rewriter, &rows));
    RETURN_IF_ERROR(logical_node_new(rewriter->tree, LOGICAL_WINDOW, groups->position, rows, NULL, &window,
                                     rewriter->error));
    struct sql_expression **arguments;
    const uint32_t count = groups->aggregate.aggregate_count, first = groups->aggregate.group_count;
    RETURN_IF_ERROR(
        sql_tree_take(rewriter->tree->arena, (count + 1) * sizeof *arguments, &arguments, rewriter->error));
    for (uint32_t a = 0; a < count; a++)
        RETURN_IF_ERROR(argument_of(own, rows, groups->aggregate.aggregates[a]->children[0], &arguments[a]));
    RETURN_IF_ERROR(sql_tree_node(rewriter->tree->arena, SQL_STAR, groups->position, &star, rewriter->error));
    RETURN_IF_ERROR(argument_of(own, rows, star, &argument));
    RETURN_IF_ERROR(logical_gives_all(rewriter->tree, window, rows, rewriter->error));
    for (uint32_t a = 0; a < count; a++)
        RETURN_IF_ERROR(add_window(own, window, groups->aggregate.aggregates[a]->name, arguments[a],
                                   groups->columns[first + a]));
    if (argument != star) { /* a group without rows is none */
        RETURN_IF_ERROR(
            logical_column_new(rewriter->tree, "count", integer, false, &column, rewriter->error));
        RETURN_IF_ERROR(add_window(own, window, "count", argument, column));
        RETURN_IF_ERROR(rewrite_input(rewriter, groups->position, column, &argument));
        RETURN_IF_ERROR(rewrite_number(rewriter, groups->position, "0", &zero));
        RETURN_IF_ERROR(rewrite_apply(rewriter, SQL_GREATER, NULL, argument, zero, &argument));
        RETURN_IF_ERROR(rewrite_add(rewriter, argument, &own->filters));
    }
    *node = window;
    return rewrite_filter(rewriter, &own->filters, node);
}

static enum status make_own(struct own *own, const struct logical_node *join, struct logical_node **node)
{
    struct rewriter *const rewriter = own->same.rewriter;
    struct same *const same = &own->same;
    struct conjuncts equalities = {0};
    struct column_map map = {0}; /* the groups' terms are the rows' columns */
    struct sql_expression *key;
    struct logical_node *rows, *above, *project;
    RETURN_IF_ERROR(map_columns(same));
    RETURN_IF_ERROR(map_all(rewriter, &same->map, &same->sides[1].conditions));
    for (uint32_t k = 0; k < own->key_count; k++) {
        RETURN_IF_ERROR(rewrite_input(rewriter, join->position, own->keys[k], &key));
        RETURN_IF_ERROR(rewrite_map_add(rewriter, &map, own->groups->columns[k], key));
        RETURN_IF_ERROR(rewrite_apply(rewriter, SQL_EQUAL, NULL, key, key, &key));
        RETURN_IF_ERROR(rewrite_add(rewriter, key, &equalities));
    }
    RETURN_IF_ERROR(filter_rows(same, &equalities, &rows));
    RETURN_IF_ERROR(map_all(rewriter, &map, &own->filters));
    RETURN_IF_ERROR(map_all(rewriter, &map, &own->outputs));
    for (uint32_t c = 0; c < same->sides[0].conditions.count; c++)
        RETURN_IF_ERROR(rewrite_add(rewriter, same->sides[0].conditions.list[c], &own->filters));
    RETURN_IF_ERROR(make_windows(own, rows, &above));
    RETURN_IF_ERROR(logical_node_new(rewriter->tree, LOGICAL_PROJECT, join->position, above, NULL, &project,
                                     rewriter->error));
    for (uint32_t c = 0; c < join->column_count; c++)
        RETURN_IF_ERROR(rewrite_project_add(rewriter, project, own->outputs.list[c], join->columns[c]));
    *node = project;
    return STATUS_OK;
}

/* Makes windows of the groups with which a table is joined, if they are its own and too many for an array. */
static enum status own_groups(struct rewriter *rewriter, struct logical_node **node)
{
    const struct logical_node *const join = *node;
    if (join->join.join != LOGICAL_INNER || !join->join.condition)
        return STATUS_OK;
    for (int s = 0; s < 2; s++) {
        struct own own = {.same = {.rewriter = rewriter}};
        bool found;
        RETURN_IF_ERROR(find_scan(rewriter, join->inputs[s], &own.same.sides[0]));
        RETURN_IF_ERROR(find_groups(&own, join, !s, &found));
        if (!found || !own.same.sides[0].scan || !own.same.sides[1].scan ||
            own.same.sides[0].scan->scan.table != own.same.sides[1].scan->scan.table)
            continue;
        RETURN_IF_ERROR(find_own_keys(&own, &found));
        for (uint32_t a = 0; a < own.groups->aggregate.aggregate_count; a++)
            found &= can_be_window(rewriter, own.groups->aggregate.aggregates[a]);
        if (found && is_wide(&own) && never_fail(&own.filters) && never_fail(&own.same.sides[0].conditions) &&
            never_fail(&own.same.sides[1].conditions))
            return make_own(&own, join, node);
    }
    return STATUS_OK;
}

enum status rewrite_own_groups(struct rewriter *rewriter, struct logical_node **node)
{
    for (uint32_t i = 0; i < (*node)->input_count; i++)
        RETURN_IF_ERROR(rewrite_own_groups(rewriter, &(*node)->inputs[i]));
    return (*node)->kind == LOGICAL_JOIN ? own_groups(rewriter, node) : STATUS_OK;
}

enum status rewrite_same(struct rewriter *rewriter, struct logical_node **node)
{
    for (uint32_t i = 0; i < (*node)->input_count; i++)
        RETURN_IF_ERROR(rewrite_same(rewriter, &(*node)->inputs[i]));
    return (*node)->kind == LOGICAL_AGGREGATE ? group_same(rewriter, node) : STATUS_OK;
}
