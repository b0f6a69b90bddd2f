/* two.c: joins two sides of a region, by equal keys and by conditions on pairs (sides.h); part by part, if memory does not
 * suffice (spill/spill.h). */
#include "engine/relational/join/residual.h"
#include "engine/relational/sides.h"
#include "engine/relational/spill/spill.h"
#include "engine/sql/sql_error.h"

#include "storage/base/memory.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* ---- Keys ---- */

/* a = b, of which the left side has a. */
static void add_key(struct join_keys *keys, struct conjunct *from, struct sql_expression *a,
                    struct sql_expression *b, bool nulls_match)
{
    keys->trees[0][keys->count] = a;
    keys->trees[1][keys->count] = b;
    keys->nulls_match[keys->count] = nulls_match;
    keys->from[keys->count++] = from;
}

void join_find_keys(const struct conjuncts *conjuncts, const struct region *region, uint64_t left,
                    uint64_t right, struct join_keys *keys)
{
    memset(keys, 0, sizeof *keys);
    for (uint32_t i = 0; i < conjuncts->count && keys->count < JOIN_KEYS_MAX; i++) {
        struct sql_expression *const tree = conjuncts->list[i].tree;
        const bool same = tree->operation == SQL_IS_DISTINCT && tree->negated;
        if (conjuncts->list[i].done || (tree->operation != SQL_EQUAL && !same))
            continue;
        for (int turned = 0; turned < 2; turned++) {
            struct sql_expression *const a = tree->children[turned], *const b = tree->children[!turned];
            if (!side_within(region_reads(region, a), left) || !side_within(region_reads(region, b), right))
                continue;
            add_key(keys, &conjuncts->list[i], a, b, same);
            break;
        }
    }
}

/* 5 IN (SELECT k ...): all left rows have the key 5. A test alone has such keys: other conditions on the right side are asked
 * before the join, but a mark is unknown where a k is NULL. */
static void find_constant_key(const struct conjuncts *test, const struct region *region, uint64_t right,
                              struct join_keys *keys)
{
    for (uint32_t i = 0; i < test->count && keys->count == 0; i++) {
        struct sql_expression *const tree = test->list[i].tree;
        if (!test->list[i].done && tree->operation == SQL_EQUAL && !region_reads(region, tree->children[0]) &&
            side_within(region_reads(region, tree->children[1]), right))
            add_key(keys, &test->list[i], tree->children[0], tree->children[1], false);
    }
}

/* At most so many different values a key has. */
static double count_values(struct relational *run, const struct result *result,
                           const struct sql_expression *tree)
{
    const uint64_t *places;
    const struct rowset_column *const column =
        tree->operation == SQL_INPUT ? result_column(result, tree->index, &places) : NULL;
    const double rows = estimate_values(run, tree, (double)result->rows);
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

double join_pairs_expected(struct relational *run, const struct result *left, const struct result *right,
                           const struct join_keys *keys)
{
    const double rows[2] = {(double)left->rows, (double)right->rows};
    double values[2] = {1, 1};
    for (uint32_t k = 0; k < keys->count; k++) {
        values[0] *= count_values(run, left, keys->trees[0][k]);
        values[1] *= count_values(run, right, keys->trees[1][k]);
    }
    for (int i = 0; i < 2; i++)
        values[i] = values[i] < rows[i] ? values[i] : rows[i];
    const double most = values[0] > values[1] ? values[0] : values[1];
    return rows[0] * rows[1] / (most < 1 ? 1 : most);
}

static enum status key_column(struct relational *run, const struct result *result,
                              struct sql_expression *tree, struct rowset_column *column)
{
    return tree->operation == SQL_INPUT ? result_gather(run, result, tree->index, column)
                                        : relational_compute(run, result, tree, column);
}

/* A key that is a column of a side as it stands, or NULL. */
static const struct rowset_column *standing_column(const struct result *side,
                                                   const struct sql_expression *tree)
{
    const uint64_t *places;
    const struct rowset_column *const column =
        tree->operation == SQL_INPUT ? result_column(side, tree->index, &places) : NULL;
    return column && !places && !column->views ? column : NULL;
}

/* Lends keys the columns of both sides that stand as they are wanted, and which relation_alike leaves as they are. */
static void lend_columns(const struct result *const sides[2], struct join_keys *keys, uint32_t k)
{
    const struct rowset_column *const columns[2] = {standing_column(sides[0], keys->trees[0][k]),
                                                    standing_column(sides[1], keys->trees[1][k])};
    const bool alike = columns[0] && columns[1] && columns[0]->type.kind == columns[1]->type.kind &&
                       columns[0]->type.scale == columns[1]->type.scale &&
                       columns[0]->type.zoned == columns[1]->type.zoned &&
                       columns[0]->type.untyped == columns[1]->type.untyped &&
                       columns[0]->type.dictionary == columns[1]->type.dictionary;
    for (int s = 0; s < 2 && alike; s++) {
        keys->columns[s][k] = *columns[s];
        keys->lent[s][k] = true;
    }
}

static enum status make_keys(struct relational *run, const struct result *left, const struct result *right,
                             bool lends, struct join_keys *keys)
{
    for (uint32_t k = 0; k < keys->count; k++) {
        struct dictionary *made;
        if (lends)
            lend_columns((const struct result *const[]){left, right}, keys, k);
        if (!keys->lent[0][k])
            RETURN_IF_ERROR(key_column(run, left, keys->trees[0][k], &keys->columns[0][k]));
        if (!keys->lent[1][k])
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
        if (conjunct->done || (!own && !(side_within(conjunct->sources, left | right) &&
                                         (conjunct->sources & left) && (conjunct->sources & right))))
            continue;
        conjunct->done = true;
        RETURN_IF_ERROR(relational_and(run, other, conjunct->tree));
    }
    return STATUS_OK;
}

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

/* A join of two sides, of the whole or of parts of them. */
struct joining {
    struct region *region;
    const struct join_of *by;
    struct join_keys *keys;
    bool unknown_keys;
    bool divided; /* the keys are columns of the sides */
    struct sql_expression *other;
};

static void free_keys(struct join_keys *keys)
{
    for (uint32_t k = 0; k < keys->count; k++)
        for (int s = 0; s < 2; s++) {
            if (!keys->lent[s][k])
                rowset_column_free(&keys->columns[s][k]);
            keys->columns[s][k] = (struct rowset_column){0};
            keys->lent[s][k] = false;
        }
}

static enum status join_whole(const struct joining *joining, struct result *left, struct result *right)
{
    struct relational *const run = joining->region->run;
    const struct join_of *const by = joining->by;
    struct join_keys *const keys = joining->keys;
    const unsigned threads = engine_threads(run->task->engine);
    struct residual *residual = NULL;
    struct join_result made = {0};
    struct join_test test;
    enum status status = make_keys(run, left, right, true, keys);
    if (status == STATUS_OK && joining->other)
        status = residual_create(run, joining->other, left, right, threads, &residual, &test);
    const struct join_task task = {.join = by->join,
                                   .key_count = keys->count,
                                   .left_keys = keys->columns[0],
                                   .right_keys = keys->columns[1],
                                   .nulls_match = keys->nulls_match,
                                   .unknown_keys = joining->unknown_keys,
                                   .left_rows = left->rows,
                                   .right_rows = right->rows,
                                   .test = joining->other ? &test : NULL,
                                   .threads = threads};
    if (status == STATUS_OK)
        status = sql_placed(run->error, by->position, join_rows(&task, &made, run->error));
    residual_free(residual);
    free_keys(keys);
    if (status == STATUS_OK)
        status = take_result(run, by, left, right, &made);
    join_result_free(&made);
    return status;
}

/* ---- Parts of both sides (spill/spill.h) ---- */

static enum status join_sides(struct joining *joining, struct result *left, struct result *right);

static enum status join_part(void *context, struct result *inputs, struct result *result)
{
    RETURN_IF_ERROR(join_sides(context, &inputs[0], &inputs[1]));
    *result = inputs[0];
    inputs[0] = (struct result){0};
    return STATUS_OK;
}

/* The keys become columns of both sides, unless they are. */
static enum status keep_keys(struct joining *joining, struct result *sides[2])
{
    struct relational *const run = joining->region->run;
    struct join_keys *const keys = joining->keys;
    if (joining->divided)
        return STATUS_OK;
    enum status status = make_keys(run, sides[0], sides[1], false, keys);
    for (uint32_t k = 0; k < keys->count; k++)
        for (int s = 0; s < 2 && status == STATUS_OK; s++) {
            status =
                sql_tree_node(run->arena, SQL_INPUT, joining->by->position, &keys->trees[s][k], run->error);
            if (status != STATUS_OK)
                break;
            keys->trees[s][k]->index = run->next_column;
            status = result_add(run, sides[s], run->next_column++, &keys->columns[s][k]);
        }
    free_keys(keys);
    joining->divided = true;
    return status;
}

/* The mark of a row is true if it is so with a part of the right side, and else unknown if it is so with one. */
static void add_marks(const struct result *part, uint32_t number, struct rowset_column *all)
{
    const uint64_t *places;
    const struct rowset_column *const marks = result_column(part, number, &places);
    for (uint64_t row = 0; row < part->rows; row++) {
        all->values[row] |= marks->values[row];
        all->nulls[row] = !all->values[row] && (all->nulls[row] || marks->nulls[row]);
    }
}

static enum status copy_range(struct relational *run, const struct result *from, uint64_t first, uint64_t end,
                              struct result *copy)
{
    uint64_t *places;
    *copy = (struct result){0};
    RETURN_IF_ERROR(spillable_rows(&places, (end - first + 1) * sizeof *places, "a join", run->error));
    for (uint64_t row = first; row < end; row++)
        places[row - first] = row;
    const enum status status = result_copied(run, from, places, end - first, copy);
    spillable_free(places);
    return status;
}

/* All rows of the left side are asked each part of the right side: of a key that is NULL all rows of the other side say
 * something. */
static enum status join_ranges(struct joining *joining, const struct result *left, const struct result *right,
                               struct rowset_column *marks)
{
    struct relational *const run = joining->region->run;
    for (uint64_t part = 0; part < SPILL_PARTS; part++) {
        struct result copy, range;
        RETURN_IF_ERROR(result_shared(run, left, &copy));
        enum status status = copy_range(run, right, right->rows * part / SPILL_PARTS,
                                        right->rows * (part + 1) / SPILL_PARTS, &range);
        if (status == STATUS_OK)
            status = join_sides(joining, &copy, &range);
        if (status == STATUS_OK)
            add_marks(&copy, joining->by->mark, marks);
        result_free(&copy);
        result_free(&range);
        RETURN_IF_ERROR(status);
    }
    return STATUS_OK;
}

static enum status join_marks(struct joining *joining, struct result *left, const struct result *right)
{
    struct relational *const run = joining->region->run;
    struct rowset_column marks = {.type = {.kind = VALUE_BOOLEAN}, .name = strdup("mark")};
    enum status status = marks.name ? STATUS_OK : error_out_of_memory(run->error, sizeof "mark", "a name");
    if (status == STATUS_OK)
        status =
            spillable_zeros(&marks.values, (left->rows + 1) * sizeof *marks.values, "a join", run->error);
    if (status == STATUS_OK)
        status = spillable_zeros(&marks.nulls, left->rows + 1, "a join", run->error);
    if (status == STATUS_OK)
        status = join_ranges(joining, left, right, &marks);
    if (status == STATUS_OK)
        return result_add(run, left, joining->by->mark, &marks);
    rowset_column_free(&marks);
    return status;
}

static enum status join_divided(struct joining *joining, struct result *left, struct result *right)
{
    struct relational *const run = joining->region->run;
    const struct join_keys *const keys = joining->keys;
    struct result *sides[2] = {left, right}, made;
    uint32_t numbers[2][JOIN_KEYS_MAX];
    bool one_key;
    RETURN_IF_ERROR(keep_keys(joining, sides));
    for (uint32_t k = 0; k < keys->count; k++)
        for (int s = 0; s < 2; s++)
            numbers[s][k] = keys->trees[s][k]->index;
    RETURN_IF_ERROR(spill_is_one_key(run, right, keys->count, numbers[1], &one_key));
    if (!one_key && joining->unknown_keys)
        return join_marks(joining, left, right);
    struct result inputs[2] = {*left, *right};
    *left = *right = (struct result){0};
    sides[0] = &inputs[0];
    sides[1] = &inputs[1];
    const enum status status =
        one_key ? spill_undivided(run, join_part, joining, inputs, &made)
                : spill_run(run, 2, sides, keys->count, (const uint32_t *const[]){numbers[0], numbers[1]},
                            join_part, joining, &made);
    result_free(&inputs[0]);
    result_free(&inputs[1]);
    if (status == STATUS_OK)
        *left = made;
    return status;
}

static enum status join_sides(struct joining *joining, struct result *left, struct result *right)
{
    struct relational *const run = joining->region->run;
    const struct spill_mark mark = spill_mark();
    const enum status status = join_whole(joining, left, right);
    return spill_wanted(run, &mark, status) ? join_divided(joining, left, right) : status;
}

/* ---- What is asked of pairs ---- */

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

/* The rows that the join is expected to give. */
static double expected_rows(struct relational *run, const struct join_of *by, const struct result *left,
                            const struct result *right, const struct join_keys *keys,
                            const struct sql_expression *other)
{
    const double rows = (double)left->rows,
                 pairs = join_pairs_expected(run, left, right, keys) * estimate_share(run, other),
                 with = pairs < rows ? pairs : rows; /* left rows that have a pair */
    switch (by->join) {
    case LOGICAL_INNER:
        return pairs;
    case LOGICAL_LEFT:
        return pairs > rows ? pairs : rows;
    case LOGICAL_FULL:
        return fmax(fmax(pairs, rows), (double)right->rows);
    case LOGICAL_SEMI:
        return with;
    case LOGICAL_ANTI:
        return rows - with;
    case LOGICAL_MARK:
    case LOGICAL_SINGLE:
        break;
    }
    return rows;
}

/* Tells the join's keys and conditions. */
static void explain_join(struct relational *run, const struct join_of *by, const struct join_keys *keys,
                         struct sql_expression *other, const struct result *left, const struct result *right,
                         struct explain_node *node)
{
    static const char *const names[] = {
        [LOGICAL_INNER] = "inner",  [LOGICAL_LEFT] = "left", [LOGICAL_FULL] = "full",
        [LOGICAL_SEMI] = "semi",    [LOGICAL_ANTI] = "anti", [LOGICAL_MARK] = "mark",
        [LOGICAL_SINGLE] = "single"};
    struct sql_expression *trees[JOIN_KEYS_MAX];
    for (uint32_t k = 0; k < keys->count; k++)
        trees[k] = keys->from[k]->tree;
    explain_words(node, "kind", "%s", names[by->join]);
    explain_count(node, "keys", keys->count);
    operator_words(run, node, "condition", trees, keys->count);
    operator_words(run, node, "residual", &other, other != NULL);
    if (run->dry)
        return;
    explain_count(node, "left_rows", left->rows);
    explain_count(node, "right_rows", right->rows);
}

enum status join_two(struct region *region, const struct join_of *by, struct result *left,
                     struct result *right)
{
    struct relational *const run = region->run;
    struct sql_expression *other;
    struct operator operator;
    struct join_keys keys;
    join_find_keys(by->conjuncts, region, by->left, by->right, &keys);
    const bool by_test = by->test && keys.count == 0;
    if (by_test) {
        join_find_keys(by->test, region, by->left, by->right, &keys);
        find_constant_key(by->test, region, by->right, &keys);
    }
    for (uint32_t k = 0; k < keys.count; k++)
        keys.from[k]->done = true;
    RETURN_IF_ERROR(find_others(run, by->conjuncts, by->join != LOGICAL_INNER, by->left, by->right, &other));
    if (by->test)
        RETURN_IF_ERROR(add_test(run, by, &other));
    struct joining joining = {
        .region = region, .by = by, .keys = &keys, .unknown_keys = by_test && keys.count, .other = other};
    operator_begin(run, "join", left, right, &operator);
    explain_join(run, by, &keys, other, left, right, operator.node);
    const double expected = operator.node ? expected_rows(run, by, left, right, &keys, other) : 0;
    if (run->dry)
        operator_dry(&operator, expected, left);
    else
        RETURN_IF_ERROR(join_sides(&joining, left, right));
    operator_end(run, &operator, expected, left);
    return STATUS_OK;
}
