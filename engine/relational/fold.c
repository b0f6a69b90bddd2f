/*
 * fold.c: subqueries that are answered before the block around them is planned (region.h). A value becomes a parameter, and
 * EXISTS and IN become lists of keys: so the plan of a stored table may skip tiles by them, and asks nothing of rows that
 * it does not need.
 *
 *     join single, right (select max(x) from s)             its column is a parameter
 *     join inner or left, a side that has one row           its columns are parameters
 *     join semi @1 = @5, right (select x from s)            @1 in (its values)
 *     join anti                                             (@1 in (its values)) is not true
 *     join mark                                             its mark is: @1 in (its values)
 *
 * A list of many values for few rows of the left side is not made: the right side is answered for their keys, and joined.
 */
#include "engine/relational/region.h"

#include "storage/base/execution/spillable.h"
#include "storage/base/number/number_set.h"

#include <math.h>
#include <string.h>

#define LIST_ROWS_MAX       (UINT64_C(1) << 18) /* a longer list is joined, unless it makes a bitmap */
#define LEFT_ROWS_MAX       (UINT64_C(1) << 17) /* rows whose keys are a condition on the right side, */
#define VALUES_A_ROW        8u                  /* which is then answered for a part of its values */
#define OTHER_TYPE_ROWS_MAX 1000u /* values of another type than the key are compared one by one */

/* ---- The answer ---- */

struct folded *region_find_folded(const struct region *region, const struct logical_node *join)
{
    for (struct folded *at = *region->folded; at; at = at->next)
        if (at->node == join)
            return at;
    return NULL;
}

enum status region_answer(struct region *region, const struct logical_node *join,
                          const struct logical_node *node, const char *what, struct folded **out)
{
    struct relational *const run = region->run;
    struct logical_set needed;
    *out = region_find_folded(region, join);
    if (*out)
        return STATUS_OK;
    RETURN_IF_ERROR(relational_set(run, &needed));
    for (uint32_t c = 0; c < node->column_count; c++)
        logical_put(&needed, node->columns[c]);
    RETURN_IF_ERROR(relational_memory(run, sizeof **out, out));
    RETURN_IF_ERROR(relational_node(run, node, &needed, &(*out)->result));
    (*out)->explained = explain_new(run->explained, "inner answer");
    explain_words((*out)->explained, "name", "%s at line %u, column %u", what, join->position.line,
                  join->position.column);
    (*out)->node = join;
    (*out)->next = *region->folded;
    *region->folded = *out;
    return STATUS_OK;
}

static enum status make_node(struct region *region, enum logical_kind kind, const struct logical_node *input,
                             struct logical_node **node)
{
    RETURN_IF_ERROR(relational_memory(region->run, sizeof **node, node));
    **node = (struct logical_node){.kind = kind,
                                   .position = input->position,
                                   .input_count = 1,
                                   .inputs = {(struct logical_node *)input}};
    return STATUS_OK;
}

/* ---- Values ---- */

/* True if there are no two rows. */
static bool has_one_row(const struct logical_node *node)
{
    switch (node->kind) {
    case LOGICAL_AGGREGATE:
        return node->aggregate.group_count == 0 && node->aggregate.set_count == 0;
    case LOGICAL_LIMIT:
        return (node->limit.limit && node->limit.limit->operation == SQL_NUMBER &&
                strcmp(node->limit.limit->text, "1") == 0) ||
               has_one_row(node->inputs[0]);
    case LOGICAL_FILTER:
    case LOGICAL_PROJECT:
    case LOGICAL_SORT:
    case LOGICAL_WINDOW:
        return has_one_row(node->inputs[0]);
    case LOGICAL_VALUES:
        return node->values.row_count == 1 && node->column_count > 0;
    case LOGICAL_SCAN:
    case LOGICAL_JOIN:
    case LOGICAL_SET:
    case LOGICAL_SHARED:
    case LOGICAL_RECURSIVE:
    case LOGICAL_WORKING:
        break;
    }
    return false;
}

enum status region_make_unknown(struct region *region, uint32_t column)
{
    struct column_use *use;
    RETURN_IF_ERROR(region_use(region, column, &use));
    *use = (struct column_use){0};
    return STATUS_OK;
}

/* The columns of an answer of one row, or of none, become values. */
static enum status define_values(struct region *region, const struct logical_node *node,
                                 const struct result *rows)
{
    struct relational *const run = region->run;
    for (uint32_t c = 0; c < node->column_count; c++) {
        if (run->dry) {
            RETURN_IF_ERROR(region_make_unknown(region, node->columns[c]));
            continue;
        }
        const uint64_t *places;
        const struct rowset_column *const column = result_column(rows, node->columns[c], &places);
        const uint64_t row = rows->rows == 0 ? RELATION_NO_ROW : places ? places[0] : 0;
        struct sql_expression *value;
        RETURN_IF_ERROR(relational_value(run, node->position, column, row, &value));
        RETURN_IF_ERROR(region_define(region, node->columns[c], value));
    }
    return STATUS_OK;
}

static enum status fold_value(struct region *region, const struct logical_node *join)
{
    struct folded *folded;
    RETURN_IF_ERROR(region_answer(region, join, join->inputs[1], "value", &folded));
    if (folded->result.rows > 1 && !region->run->dry)
        return relational_refuse(region->run, join->position,
                                 "the subquery has %llu rows where one value should stand; aggregate it, or "
                                 "add ORDER BY and LIMIT 1",
                                 (unsigned long long)folded->result.rows);
    return define_values(region, join->inputs[1], &folded->result);
}

enum status region_fold_side(struct region *region, const struct logical_node *side, bool left, bool *folded)
{
    struct folded *done;
    struct sql_expression *none;
    *folded = has_one_row(side);
    if (!*folded)
        return STATUS_OK;
    RETURN_IF_ERROR(region_answer(region, side, side, "value", &done));
    RETURN_IF_ERROR(define_values(region, side, &done->result));
    if (left || done->result.rows)
        return STATUS_OK;
    RETURN_IF_ERROR(relational_literal(region->run, side->position, SQL_FALSE, NULL, &none));
    return region_split(region, none, &region->conjuncts);
}

/* ---- EXISTS of a subquery that names nothing outside ---- */

/* condition IS TRUE */
static enum status is_true(struct relational *run, struct sql_expression **condition)
{
    struct sql_expression *truth;
    RETURN_IF_ERROR(relational_literal(run, (*condition)->position, SQL_IS_TRUTH, "true", &truth));
    RETURN_IF_ERROR(sql_tree_child(run->arena, truth, *condition, run->error));
    *condition = truth;
    return STATUS_OK;
}

static enum status take_truth(struct region *region, const struct logical_node *join,
                              struct sql_expression *truth)
{
    struct relational *const run = region->run;
    if (join->join.join == LOGICAL_MARK)
        return region_define(region, join->join.mark, truth);
    if (join->join.join == LOGICAL_ANTI) {
        RETURN_IF_ERROR(is_true(run, &truth));
        truth->negated = true;
    }
    return region_split(region, truth, &region->conjuncts);
}

static enum status fold_exists(struct region *region, const struct logical_node *join)
{
    struct relational *const run = region->run;
    struct sql_expression *one, *truth;
    struct logical_node *first;
    struct folded *folded;
    RETURN_IF_ERROR(make_node(region, LOGICAL_LIMIT, join->inputs[1], &first));
    RETURN_IF_ERROR(relational_literal(run, join->position, SQL_NUMBER, "1", &one));
    first->limit.limit = one;
    RETURN_IF_ERROR(region_answer(region, join, first, "exists", &folded));
    if (run->dry && join->inputs[1]->column_count) {
        RETURN_IF_ERROR(region_make_unknown(region, join->inputs[1]->columns[0]));
        RETURN_IF_ERROR(sql_tree_node(run->arena, SQL_INPUT, join->position, &truth, run->error));
        truth->index = join->inputs[1]->columns[0];
    } else {
        RETURN_IF_ERROR(relational_literal(run, join->position, folded->result.rows ? SQL_TRUE : SQL_FALSE,
                                           NULL, &truth));
    }
    return take_truth(region, join, truth);
}

/* ---- Lists ---- */

/* A join that may be a list: its condition, or a mark's test, is key = value, and other conditions are on the right side
 * alone. */
struct list_of {
    struct sql_expression *key;   /* or NULL: it is none */
    uint32_t value;               /* the right side's column */
    struct sql_expression *right; /* or NULL */
};

static bool names_any(const struct sql_expression *tree, const struct logical_node *node)
{
    if (tree->operation == SQL_INPUT)
        for (uint32_t c = 0; c < node->column_count; c++)
            if (node->columns[c] == tree->index)
                return true;
    for (uint32_t c = 0; c < tree->child_count; c++)
        if (names_any(tree->children[c], node))
            return true;
    return false;
}

/* True if it names columns of the right side alone, or is a constant. */
static bool names_only(const struct sql_expression *tree, const struct logical_node *node)
{
    if (tree->operation == SQL_INPUT)
        return names_any(tree, node);
    for (uint32_t c = 0; c < tree->child_count; c++)
        if (!names_only(tree->children[c], node))
            return false;
    return true;
}

static bool take_equality(const struct sql_expression *tree, const struct logical_node *right,
                          struct list_of *list)
{
    if (tree->operation != SQL_EQUAL || list->key)
        return false;
    for (int turned = 0; turned < 2; turned++) {
        struct sql_expression *const key = tree->children[turned], *const value = tree->children[!turned];
        if (value->operation != SQL_INPUT || !names_any(value, right) || names_any(key, right))
            continue;
        list->key = key;
        list->value = value->index;
        return true;
    }
    return false;
}

static enum status conjuncts_of(struct region *region, const struct sql_expression *condition,
                                struct conjuncts *conjuncts)
{
    struct sql_expression *rewritten;
    *conjuncts = (struct conjuncts){0};
    RETURN_IF_ERROR(region_rewrite(region, condition, &rewritten));
    return region_split(region, rewritten, conjuncts);
}

static enum status find_list(struct region *region, const struct logical_node *join, struct list_of *list)
{
    const struct logical_node *const right = join->inputs[1];
    const bool tested = join->join.join == LOGICAL_MARK && join->join.test;
    struct conjuncts condition, test = {0};
    bool is_list = true;
    *list = (struct list_of){0};
    RETURN_IF_ERROR(conjuncts_of(region, join->join.condition, &condition));
    if (tested)
        RETURN_IF_ERROR(conjuncts_of(region, join->join.test, &test));
    for (uint32_t i = 0; i < test.count; i++)
        is_list &= take_equality(test.list[i].tree, right, list);
    for (uint32_t i = 0; i < condition.count && is_list; i++) {
        struct sql_expression *const tree = condition.list[i].tree;
        if (!tested && take_equality(tree, right, list))
            continue;
        is_list = names_only(tree, right);
        if (is_list)
            RETURN_IF_ERROR(relational_and(region->run, &list->right, tree));
    }
    if (!is_list)
        list->key = NULL;
    return STATUS_OK;
}

static bool is_number(enum value_kind kind)
{
    return kind == VALUE_INTEGER || kind == VALUE_DOUBLE || kind == VALUE_BOOLEAN;
}

/* True if the list is not joined. What makes a bitmap may be of any length. */
static bool is_short(const struct region *region, const struct list_of *list, const struct sql_keys *keys)
{
    const struct logical_column *const columns = region->run->tree->columns;
    const enum value_kind value = keys->type.kind, key = list->key->operation == SQL_INPUT
                                                             ? columns[list->key->index].type.kind
                                                             : value;
    if (!keys->values && !keys->bits) /* EXPLAIN: it is not known how close they are */
        return keys->count <= LIST_ROWS_MAX;
    if (keys->bits)
        return true;
    return keys->count <=
               (key == value || (is_number(key) && is_number(value)) ? LIST_ROWS_MAX : OTHER_TYPE_ROWS_MAX) ||
           (relational_is_set(region->run, list->key, keys) &&
            number_set_is_dense(keys->values, keys->count));
}

enum status region_add_unknown(struct region *region, uint32_t value, uint64_t rows,
                               struct sql_expression *in)
{
    struct relational *const run = region->run;
    struct sql_expression *input;
    RETURN_IF_ERROR(region_make_unknown(region, value));
    run->values[value] = (double)rows;
    RETURN_IF_ERROR(sql_tree_node(run->arena, SQL_INPUT, in->position, &input, run->error));
    input->index = value;
    return sql_tree_child(run->arena, in, input, run->error);
}

/* key IN (keys). Nothing is in an empty list, not even NULL. Only a test asks for NULL. */
static enum status make_list(struct region *region, const struct logical_node *join,
                             const struct list_of *list, const struct sql_keys *keys,
                             struct sql_expression **in)
{
    const bool tested = join->join.join == LOGICAL_MARK && join->join.test;
    struct sql_keys asked = *keys;
    asked.null &= tested;
    RETURN_IF_ERROR(relational_in(region->run, list->key, &asked, in));
    return (*in)->operation == SQL_FALSE || tested || join->join.join != LOGICAL_MARK
               ? STATUS_OK
               : is_true(region->run, in);
}

/* key IN (values that nobody knows yet) */
static enum status make_unknown_list(struct region *region, const struct logical_node *join,
                                     const struct list_of *list, uint64_t rows, struct sql_expression **in)
{
    struct relational *const run = region->run;
    RETURN_IF_ERROR(sql_tree_node(run->arena, SQL_IN, join->position, in, run->error));
    RETURN_IF_ERROR(sql_tree_child(run->arena, *in, list->key, run->error));
    return region_add_unknown(region, list->value, rows, *in);
}

static bool is_grouped(const struct logical_node *node)
{
    while (node->kind == LOGICAL_FILTER || node->kind == LOGICAL_PROJECT)
        node = node->inputs[0];
    return node->kind == LOGICAL_AGGREGATE;
}

/* Each value once: of a list of rows of stored tables, a scan finds them faster than the list is made. Groups are few. */
static enum status each_once(struct region *region, const struct logical_node *join,
                             const struct list_of *list, const struct logical_node **values)
{
    struct relational *const run = region->run;
    const struct logical_node *input = join->inputs[1];
    struct sql_expression **groups;
    struct logical_node *filter, *once;
    uint32_t *columns;
    if (list->right) {
        RETURN_IF_ERROR(make_node(region, LOGICAL_FILTER, input, &filter));
        filter->filter.condition = list->right;
        filter->column_count = input->column_count;
        filter->columns = input->columns;
        input = filter;
    }
    *values = input;
    if (is_grouped(input))
        return STATUS_OK;
    RETURN_IF_ERROR(make_node(region, LOGICAL_AGGREGATE, input, &once));
    RETURN_IF_ERROR(relational_memory(run, sizeof *groups, &groups));
    RETURN_IF_ERROR(relational_memory(run, sizeof *columns, &columns));
    RETURN_IF_ERROR(sql_tree_node(run->arena, SQL_INPUT, join->position, &groups[0], run->error));
    groups[0]->index = columns[0] = list->value;
    once->aggregate.group_count = once->column_count = 1;
    once->aggregate.groups = groups;
    once->columns = columns;
    *values = once;
    return STATUS_OK;
}

/* Whether a plan's keys may come as a set: all of them are of one device. */
static bool keys_are_possible(const struct relational *run)
{
    const struct engine *const engine = run->task->engine;
    return engine_members(engine) == 1 && !engine_cluster(engine) && !run->dry && !run->kept;
}

/* As number_range_is_near. */
static bool keys_are_near(const struct sql_keys *keys)
{
    return ((uint64_t)keys->high - (uint64_t)keys->low) / RELATIONAL_KEYS_APART < keys->count;
}

/* Answers the right side. A GPU may give its keys alone, as a bitmap. */
static enum status answer_list(struct region *region, const struct logical_node *join,
                               const struct list_of *list, struct folded **done)
{
    struct relational *const run = region->run;
    struct key_set *const before = run->keys;
    struct key_set set = {.number = list->value};
    RETURN_IF_ERROR(each_once(region, join, list, &set.node));
    run->keys = keys_are_possible(run) ? &set : NULL;
    const enum status status = region_answer(region, join, set.node, "list", done);
    run->keys = before;
    if (status == STATUS_OK && set.done)
        (*done)->keys = set;
    return status;
}

/* Makes the keys of an answer: a sorted list, which the caller frees (spillable_free), or a bitmap if they are many and
 * near. */
static enum status find_keys(struct relational *run, const struct list_of *list, const struct folded *answer,
                             struct sql_keys *keys)
{
    if (answer->keys.done) {
        *keys = answer->keys.keys;
        return keys->count <= RELATIONAL_LIST_KEYS || !keys_are_near(keys) ||
                       !relational_is_set(run, list->key, keys)
                   ? relational_list_bits(run, keys)
                   : STATUS_OK;
    }
    RETURN_IF_ERROR(relational_keys(run, &answer->result, list->value, keys));
    return relational_each_key_once(run, list->key, keys);
}

/* The rows of a list that is joined: the answer's, or its keys. */
static enum status answer_rows_of(struct relational *run, const struct folded *answer, uint32_t value,
                                  struct result *answered)
{
    const struct sql_keys *const set = &answer->keys.keys;
    const char *const name = "key";
    struct sql_keys keys = *set;
    struct rowset rows = {0};
    if (!answer->keys.done)
        return result_renamed(run, &answer->result, 1, &value, &value, answered);
    RETURN_IF_ERROR(relational_list_bits(run, &keys));
    enum status status = rowset_create(&rows, 1, &name, &set->type, set->count + 1, run->error);
    if (status == STATUS_OK && set->null)
        status = spillable_rows(&rows.columns[0].nulls, set->count + 1, "an answer", run->error);
    if (status == STATUS_OK) {
        memcpy(rows.columns[0].values, keys.values, set->count * sizeof *keys.values);
        rows.columns[0].values[set->count] = 0;
        if (set->null)
            memset(rows.columns[0].nulls, 0, set->count);
        if (set->null)
            rows.columns[0].nulls[set->count] = 1;
        rows.rows = set->count + set->null;
    }
    spillable_free(keys.values);
    if (status == STATUS_OK)
        return result_of_rows(run, &rows, &value, answered);
    rowset_free(&rows);
    return status;
}

/* ---- Lists that are too long ---- */

/* The values that a list of the right side is expected to have, if that is a stored table; else 0. */
static double expected_list(const struct region *region, const struct logical_node *right,
                            const struct list_of *list)
{
    const struct relational *const run = region->run;
    double share = estimate_share(run, list->right);
    while (right->kind == LOGICAL_FILTER || right->kind == LOGICAL_PROJECT) {
        share *= right->kind == LOGICAL_FILTER ? estimate_share(run, right->filter.condition) : 1;
        right = right->inputs[0];
    }
    const double values = run->values[list->value];
    const double rows = right->kind == LOGICAL_SCAN ? share * (double)right->scan.table->rows : 0;
    return values < rows ? values : rows;
}

/* The rows of the key's table that pass its own conditions, if that is a stored one; else infinitely many. */
static enum status count_left(struct region *region, const struct sql_expression *key, double *rows)
{
    const uint32_t maker = key->operation == SQL_INPUT ? region_maker(region, key->index) : 0;
    struct source *const source = maker ? &region->sources[maker - 1] : NULL;
    *rows = INFINITY;
    if (!source || source->node->kind != LOGICAL_SCAN || source->join != LOGICAL_INNER ||
        source_is_answered(source))
        return STATUS_OK;
    struct sql_expression *const before = source->filter;
    double *const counted = source->node->scan.counted, counted_before = *counted;
    for (uint32_t i = 0; i < region->conjuncts.count; i++)
        if (region->conjuncts.list[i].sources == UINT64_C(1) << (maker - 1))
            RETURN_IF_ERROR(relational_and(region->run, &source->filter, region->conjuncts.list[i].tree));
    const enum status status = source->filter ? region_count(region, UINT64_C(1) << (maker - 1)) : STATUS_OK;
    *rows = *counted > 0 ? *counted : INFINITY;
    source->filter = before;
    *counted = counted_before; /* other conditions may follow */
    return status;
}

/* True if the right side is better answered for the left side's keys alone (reduce.c), because these are few: then it is
 * joined. */
static enum status is_reduced(struct region *region, const struct logical_node *join,
                              const struct list_of *list, bool *reduced)
{
    const double expected = expected_list(region, join->inputs[1], list);
    double rows = INFINITY;
    if (expected > LIST_ROWS_MAX && join->join.join != LOGICAL_MARK && !region_find_folded(region, join))
        RETURN_IF_ERROR(count_left(region, list->key, &rows));
    *reduced = rows <= LEFT_ROWS_MAX && rows * VALUES_A_ROW <= expected;
    return STATUS_OK;
}

enum status region_fold(struct region *region, const struct logical_node *join, bool *folded,
                        struct result *answered)
{
    struct relational *const run = region->run;
    struct sql_expression *in;
    struct folded *done;
    struct list_of list;
    const bool tested = join->join.join == LOGICAL_MARK && join->join.test;
    *folded = !join->join.condition && !tested;
    if (*folded)
        return join->join.join == LOGICAL_SINGLE ? fold_value(region, join) : fold_exists(region, join);
    if (join->join.join == LOGICAL_SINGLE)
        return STATUS_OK;
    RETURN_IF_ERROR(find_list(region, join, &list));
    bool reduced = false;
    /* A GPU makes a bitmap sooner than it joins any rows. */
    if (list.key && !engine_is_cuda(run->task->engine))
        RETURN_IF_ERROR(is_reduced(region, join, &list, &reduced));
    if (!list.key || reduced)
        return STATUS_OK;
    RETURN_IF_ERROR(answer_list(region, join, &list, &done));
    struct sql_keys keys = {.type = run->tree->columns[list.value].type, .count = done->result.rows};
    if (!run->dry)
        RETURN_IF_ERROR(find_keys(run, &list, done, &keys));
    *folded = is_short(region, &list, &keys) && relational_list_fits(run, list.key, &keys);
    enum status status = STATUS_OK;
    if (!*folded) {
        status = answer_rows_of(run, done, list.value, answered);
    } else if (run->dry) {
        status = make_unknown_list(region, join, &list, keys.count, &in);
    } else {
        status = make_list(region, join, &list, &keys, &in);
    }
    spillable_free(keys.values);
    return status == STATUS_OK && *folded ? take_truth(region, join, in) : status;
}
