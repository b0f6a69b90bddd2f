/*
 * push.c: conditions go down to where their columns are (rewrite.h). On their way they tell that rows with NULLs, or without
 * a partner, are not wanted: a left join becomes an inner one, a mark join a semi- or anti-join.
 */
#include "engine/logical/rewrite/rewrite.h"

#include <string.h>

static enum status push(struct rewriter *rewriter, struct conjuncts *conditions, struct logical_node **node);

/* ---- Conditions ---- */

bool rewrite_is_over(const struct sql_expression *condition, const struct logical_set *set)
{
    bool over = condition->operation != SQL_INPUT || logical_has(set, condition->index);
    for (uint32_t c = 0; c < condition->child_count && over; c++)
        over = rewrite_is_over(condition->children[c], set);
    return over;
}

/* True if the value is NULL whenever all columns of the set are. */
static bool is_strict(const struct sql_expression *value, const struct logical_set *set)
{
    switch (value->operation) {
    case SQL_INPUT:
        return logical_has(set, value->index);
    case SQL_NEGATE:
    case SQL_CAST:
    case SQL_EXTRACT:
        return is_strict(value->children[0], set);
    case SQL_ADD:
    case SQL_SUBTRACT:
    case SQL_MULTIPLY:
    case SQL_DIVIDE:
    case SQL_REMAINDER:
        return is_strict(value->children[0], set) || is_strict(value->children[1], set);
    default: /* functions and CASE may give a value for NULLs */
        return false;
    }
}

/* True if the condition is not true where all columns of the set are NULL. */
static bool rejects_nulls(const struct sql_expression *condition, const struct logical_set *set)
{
    bool all = condition->child_count > 0;
    switch (condition->operation) {
    case SQL_EQUAL:
    case SQL_NOT_EQUAL:
    case SQL_LESS:
    case SQL_LESS_EQUAL:
    case SQL_GREATER:
    case SQL_GREATER_EQUAL:
        return is_strict(condition->children[0], set) || is_strict(condition->children[1], set);
    case SQL_BETWEEN:
    case SQL_LIKE:
    case SQL_IN:
        return is_strict(condition->children[0], set);
    case SQL_IS_NULL:
        return condition->negated && is_strict(condition->children[0], set);
    case SQL_AND:
        for (uint32_t c = 0; c < condition->child_count; c++)
            if (rejects_nulls(condition->children[c], set))
                return true;
        return false;
    case SQL_OR:
        for (uint32_t c = 0; c < condition->child_count && all; c++)
            all = rejects_nulls(condition->children[c], set);
        return all;
    default: /* not known */
        return false;
    }
}

static bool any_rejects(const struct conjuncts *conditions, const struct logical_set *set)
{
    bool any = false;
    for (uint32_t c = 0; c < conditions->count && !any; c++)
        any = rejects_nulls(conditions->list[c], set);
    return any;
}

/* True if rows are not wanted where all columns of the set are NULL: a condition that is pushed, or one above, says so. */
static bool drops_nulls(const struct rewriter *rewriter, const struct conjuncts *conditions,
                        const struct logical_set *set)
{
    return any_rejects(conditions, set) || any_rejects(&rewriter->told, set);
}

static const struct conjuncts nothing = {0};

/* Pushes conditions into a node of whose rows only those are wanted for which `told` may be true. */
static enum status push_told(struct rewriter *rewriter, const struct conjuncts *told,
                             struct conjuncts *conditions, struct logical_node **node)
{
    const struct conjuncts before = rewriter->told;
    rewriter->told = *told;
    const enum status status = push(rewriter, conditions, node);
    rewriter->told = before;
    return status;
}

/* ---- What all branches of an OR have ---- */

static bool has_conjunct(const struct conjuncts *conjuncts, const struct sql_expression *condition)
{
    for (uint32_t c = 0; c < conjuncts->count; c++)
        if (sql_same_expression(conjuncts->list[c], condition))
            return true;
    return false;
}

/* (a AND b) OR (a AND c) becomes a AND (b OR c). */
static enum status take_common(struct rewriter *rewriter, struct sql_expression *condition,
                               struct conjuncts *out)
{
    struct conjuncts *branches, common = {0};
    const uint32_t count = condition->child_count;
    bool always = false;
    RETURN_IF_ERROR(
        sql_tree_take(rewriter->tree->arena, (count + 1) * sizeof *branches, &branches, rewriter->error));
    for (uint32_t b = 0; b < count; b++)
        RETURN_IF_ERROR(rewrite_split(rewriter, condition->children[b], &branches[b]));
    for (uint32_t c = 0; c < branches[0].count; c++) {
        bool all = true;
        for (uint32_t b = 1; b < count && all; b++)
            all = has_conjunct(&branches[b], branches[0].list[c]);
        if (all)
            RETURN_IF_ERROR(rewrite_add(rewriter, branches[0].list[c], &common));
    }
    if (common.count == 0)
        return rewrite_add(rewriter, condition, out);
    struct sql_expression *rest;
    RETURN_IF_ERROR(
        sql_tree_node(rewriter->tree->arena, SQL_OR, condition->position, &rest, rewriter->error));
    for (uint32_t b = 0; b < count; b++) {
        struct conjuncts left = {0};
        struct sql_expression *branch;
        for (uint32_t c = 0; c < branches[b].count; c++)
            if (!has_conjunct(&common, branches[b].list[c]))
                RETURN_IF_ERROR(rewrite_add(rewriter, branches[b].list[c], &left));
        RETURN_IF_ERROR(rewrite_join(rewriter, &left, &branch));
        always |= branch == NULL;
        if (branch)
            RETURN_IF_ERROR(sql_tree_child(rewriter->tree->arena, rest, branch, rewriter->error));
    }
    for (uint32_t c = 0; c < common.count; c++)
        RETURN_IF_ERROR(rewrite_add(rewriter, common.list[c], out));
    return always ? STATUS_OK : rewrite_add(rewriter, rest, out);
}

/* What an OR implies for the columns of one side: the OR of what each branch says of them; nothing if one says nothing. */
static enum status implied(struct rewriter *rewriter, const struct sql_expression *condition,
                           const struct logical_set *side, struct conjuncts *out)
{
    struct sql_expression *any;
    if (condition->operation != SQL_OR || rewrite_is_over(condition, side))
        return STATUS_OK;
    RETURN_IF_ERROR(sql_tree_node(rewriter->tree->arena, SQL_OR, condition->position, &any, rewriter->error));
    for (uint32_t b = 0; b < condition->child_count; b++) {
        struct conjuncts branch = {0}, own = {0};
        struct sql_expression *part;
        RETURN_IF_ERROR(rewrite_split(rewriter, condition->children[b], &branch));
        for (uint32_t c = 0; c < branch.count; c++)
            if (rewrite_is_over(branch.list[c], side))
                RETURN_IF_ERROR(rewrite_add(rewriter, branch.list[c], &own));
        RETURN_IF_ERROR(rewrite_join(rewriter, &own, &part));
        if (!part)
            return STATUS_OK;
        RETURN_IF_ERROR(sql_tree_child(rewriter->tree->arena, any, part, rewriter->error));
    }
    return rewrite_add(rewriter, any, out);
}

static enum status factor(struct rewriter *rewriter, struct conjuncts *conditions)
{
    struct conjuncts made = {0};
    for (uint32_t c = 0; c < conditions->count; c++)
        RETURN_IF_ERROR(conditions->list[c]->operation == SQL_OR
                            ? take_common(rewriter, conditions->list[c], &made)
                            : rewrite_add(rewriter, conditions->list[c], &made));
    *conditions = made;
    return STATUS_OK;
}

/* ---- Joins ---- */

/* Moves conditions over a set of columns to another list. */
static enum status take_over(struct rewriter *rewriter, struct conjuncts *conditions,
                             const struct logical_set *set, struct conjuncts *taken)
{
    struct conjuncts left = {0};
    for (uint32_t c = 0; c < conditions->count; c++)
        RETURN_IF_ERROR(rewrite_add(rewriter, conditions->list[c],
                                    rewrite_is_over(conditions->list[c], set) ? taken : &left));
    *conditions = left;
    return STATUS_OK;
}

/* The number of times that the tree names a column. */
static uint32_t count_names(const struct sql_expression *expression, uint32_t column)
{
    if (!expression)
        return 0;
    uint32_t count = expression->operation == SQL_INPUT && expression->index == column;
    for (uint32_t c = 0; c < expression->child_count; c++)
        count += count_names(expression->children[c], column);
    return count;
}

/* True if nothing but one of the conditions names the mark. */
static bool is_asked_once(const struct rewriter *rewriter, const struct conjuncts *conditions, uint32_t mark)
{
    uint32_t count = 0;
    for (uint32_t c = 0; c < conditions->count; c++)
        count += count_names(conditions->list[c], mark);
    return count == 1 && rewriter->asked[mark] == 1 && !rewriter->used[mark];
}

/* A mark that is asked once, to be true or not, makes a semi-join or, of EXISTS, an anti-join. */
static enum status use_mark(struct rewriter *rewriter, struct conjuncts *conditions,
                            struct logical_node *join)
{
    const uint32_t mark = join->join.mark;
    struct conjuncts left = {0};
    if (!is_asked_once(rewriter, conditions, mark))
        return STATUS_OK;
    for (uint32_t c = 0; c < conditions->count; c++) {
        const struct sql_expression *const condition = conditions->list[c];
        const bool not = condition->operation == SQL_NOT;
        const struct sql_expression *const tested = not ? condition->children[0] : condition;
        const bool is_mark = tested->operation == SQL_INPUT && tested->index == mark;
        if (!is_mark || (not &&join->join.test)) {
            RETURN_IF_ERROR(rewrite_add(rewriter, conditions->list[c], &left));
            continue;
        }
        join->join.join = not ? LOGICAL_ANTI : LOGICAL_SEMI;
        RETURN_IF_ERROR(logical_and(rewriter->tree, join->join.condition, join->join.test,
                                    &join->join.condition, rewriter->error));
        join->join.test = NULL;
    }
    *conditions = left;
    return STATUS_OK;
}

/* True if at most one row of the node has the same values in all of its columns that the condition sets equal to columns
 * of the other side: all groups of an aggregate are among them. */
static bool is_unique(const struct logical_node *node, const struct conjuncts *condition,
                      const struct logical_set *other)
{
    while (node->kind == LOGICAL_FILTER || node->kind == LOGICAL_SORT || node->kind == LOGICAL_PROJECT)
        node = node->inputs[0];
    if (node->kind == LOGICAL_LIMIT && node->limit.limit->operation == SQL_NUMBER &&
        strcmp(node->limit.limit->text, "1") == 0)
        return true;
    if (node->kind != LOGICAL_AGGREGATE || node->aggregate.set_count)
        return false;
    bool all = true;
    for (uint32_t g = 0; g < node->aggregate.group_count && all; g++) {
        bool equal = false;
        for (uint32_t c = 0; c < condition->count && !equal; c++)
            for (int turned = 0; turned < 2 && condition->list[c]->operation == SQL_EQUAL; turned++) {
                const struct sql_expression *const own = condition->list[c]->children[turned];
                equal |= own->operation == SQL_INPUT && own->index == node->columns[g] &&
                         rewrite_is_over(condition->list[c]->children[!turned], other);
            }
        all = equal;
    }
    return all;
}

static enum status push_inner(struct rewriter *rewriter, struct conjuncts *conditions,
                              struct logical_node *join, const struct logical_set *sides)
{
    struct conjuncts below[2] = {{0}, {0}};
    RETURN_IF_ERROR(rewrite_split(rewriter, join->join.condition, conditions));
    RETURN_IF_ERROR(factor(rewriter, conditions));
    for (uint32_t i = 0; i < 2; i++) {
        RETURN_IF_ERROR(take_over(rewriter, conditions, &sides[i], &below[i]));
        for (uint32_t c = 0; c < conditions->count; c++)
            RETURN_IF_ERROR(implied(rewriter, conditions->list[c], &sides[i], &below[i]));
    }
    RETURN_IF_ERROR(rewrite_join(rewriter, conditions, &join->join.condition));
    struct conjuncts told = *conditions;
    *conditions = (struct conjuncts){0};
    for (uint32_t c = 0; c < rewriter->told.count; c++)
        RETURN_IF_ERROR(rewrite_add(rewriter, rewriter->told.list[c], &told));
    for (uint32_t i = 0; i < 2; i++)
        RETURN_IF_ERROR(push_told(rewriter, &told, &below[i], &join->inputs[i]));
    return STATUS_OK;
}

/* left.a = right.b, and a condition over a alone holds on the left: of the right only rows are wanted for which it holds
 * of b. */
static enum status transfer(struct rewriter *rewriter, const struct conjuncts *equalities,
                            const struct conjuncts *left, const struct logical_set *sides,
                            struct conjuncts *right)
{
    const struct logical_column *const columns = rewriter->tree->columns;
    for (uint32_t e = 0; e < equalities->count; e++)
        for (int turned = 0; turned < 2 && equalities->list[e]->operation == SQL_EQUAL; turned++) {
            const struct sql_expression *const a = equalities->list[e]->children[turned];
            struct sql_expression *const b = equalities->list[e]->children[!turned];
            struct column_map map = {0};
            struct logical_set alone;
            if (a->operation != SQL_INPUT || b->operation != SQL_INPUT || !logical_has(&sides[0], a->index) ||
                !logical_has(&sides[1], b->index) ||
                !rewrite_is_same_type(columns[a->index].type, columns[b->index].type))
                continue;
            RETURN_IF_ERROR(logical_set_new(rewriter->tree, &alone, rewriter->error));
            logical_put(&alone, a->index);
            RETURN_IF_ERROR(rewrite_map_add(rewriter, &map, a->index, b));
            for (uint32_t c = 0; c < left->count; c++) {
                struct sql_expression *made;
                if (!rewrite_is_over(left->list[c], &alone) || !rewrite_names_any(left->list[c], &alone))
                    continue;
                RETURN_IF_ERROR(rewrite_map(rewriter, &map, left->list[c], &made));
                RETURN_IF_ERROR(rewrite_add(rewriter, made, right));
            }
        }
    return STATUS_OK;
}

/* Joins that give left rows: conditions over the left go there, those of the join over the right go there. */
static enum status push_outer(struct rewriter *rewriter, struct conjuncts *conditions,
                              struct logical_node *join, const struct logical_set *sides)
{
    struct conjuncts own = {0}, below[2] = {{0}, {0}};
    const bool semi = join->join.join == LOGICAL_SEMI;
    RETURN_IF_ERROR(rewrite_split(rewriter, join->join.condition, &own));
    RETURN_IF_ERROR(take_over(rewriter, conditions, &sides[0], &below[0]));
    if (semi)
        RETURN_IF_ERROR(take_over(rewriter, &own, &sides[0], &below[0]));
    RETURN_IF_ERROR(take_over(rewriter, &own, &sides[1], &below[1]));
    RETURN_IF_ERROR(transfer(rewriter, &own, &below[0], sides, &below[1]));
    RETURN_IF_ERROR(rewrite_join(rewriter, &own, &join->join.condition));
    RETURN_IF_ERROR(push(rewriter, &below[0], &join->inputs[0]));
    return push_told(rewriter, &own, &below[1], &join->inputs[1]);
}

static enum status push_join(struct rewriter *rewriter, struct conjuncts *conditions,
                             struct logical_node *join)
{
    struct conjuncts own = {0};
    struct logical_set sides[2];
    RETURN_IF_ERROR(rewrite_gives(rewriter, join->inputs[0], &sides[0]));
    RETURN_IF_ERROR(rewrite_gives(rewriter, join->inputs[1], &sides[1]));
    RETURN_IF_ERROR(rewrite_split(rewriter, join->join.condition, &own));
    if (join->join.join == LOGICAL_SINGLE && is_unique(join->inputs[1], &own, &sides[0]))
        join->join.join = LOGICAL_LEFT;
    if (join->join.join == LOGICAL_FULL && drops_nulls(rewriter, conditions, &sides[0]) &&
        drops_nulls(rewriter, conditions, &sides[1]))
        join->join.join = LOGICAL_INNER;
    if (join->join.join == LOGICAL_LEFT && drops_nulls(rewriter, conditions, &sides[1]))
        join->join.join = LOGICAL_INNER;
    if (join->join.join == LOGICAL_MARK)
        RETURN_IF_ERROR(use_mark(rewriter, conditions, join));
    switch (join->join.join) {
    case LOGICAL_INNER:
        RETURN_IF_ERROR(push_inner(rewriter, conditions, join, sides));
        break;
    case LOGICAL_FULL:
        for (uint32_t i = 0; i < 2; i++) {
            struct conjuncts none = {0}; /* those of the input's own filter are added */
            RETURN_IF_ERROR(push_told(rewriter, &nothing, &none, &join->inputs[i]));
        }
        break;
    case LOGICAL_LEFT:
    case LOGICAL_SINGLE:
    case LOGICAL_SEMI:
    case LOGICAL_ANTI:
    case LOGICAL_MARK:
        RETURN_IF_ERROR(push_outer(rewriter, conditions, join, sides));
        break;
    }
    return rewrite_regive(rewriter, join);
}

/* ---- Other nodes ---- */

/* Adds the conditions that AND joins, each once: aliases of aliases name the same ones again and again. */
static enum status split_once(struct rewriter *rewriter, struct sql_expression *condition,
                              struct conjuncts *conjuncts)
{
    struct conjuncts all = {0};
    RETURN_IF_ERROR(rewrite_split(rewriter, condition, &all));
    for (uint32_t c = 0; c < all.count; c++)
        if (!has_conjunct(conjuncts, all.list[c]))
            RETURN_IF_ERROR(rewrite_add(rewriter, all.list[c], conjuncts));
    return STATUS_OK;
}

/* A condition that would become larger by more than this stays where it is: each of several expressions, one over the
 * other, may name the one below it several times. */
#define GROWTH_NODES_MAX 1000u

/* The nodes of an expression, in which the columns of the map stand for theirs; at most about one more than `most`. */
static uint32_t size_of(const struct sql_expression *expression, const struct column_map *map, uint32_t most)
{
    uint32_t size = 1;
    for (uint32_t m = 0; map && expression->operation == SQL_INPUT && m < map->count; m++)
        if (map->from[m] == expression->index)
            return size_of(map->to[m], NULL, most);
    for (uint32_t c = 0; c < expression->child_count && size <= most; c++)
        size += size_of(expression->children[c], map, most - size);
    return size;
}

/* Adds the conditions with the map's columns to `below`; those that would become too large stay. */
static enum status map_conditions(struct rewriter *rewriter, const struct column_map *map,
                                  struct conjuncts *conditions, struct conjuncts *below)
{
    struct conjuncts kept = {0};
    for (uint32_t c = 0; c < conditions->count; c++) {
        struct sql_expression *const condition = conditions->list[c], *made;
        const uint32_t most = size_of(condition, NULL, UINT32_MAX / 2) + GROWTH_NODES_MAX;
        if (size_of(condition, map, most) > most) {
            RETURN_IF_ERROR(rewrite_add(rewriter, condition, &kept));
            continue;
        }
        RETURN_IF_ERROR(rewrite_map(rewriter, map, condition, &made));
        RETURN_IF_ERROR(split_once(rewriter, made, below));
    }
    *conditions = kept;
    return STATUS_OK;
}

/* The conditions over what is computed become conditions over what it is computed from. */
static enum status push_project(struct rewriter *rewriter, struct conjuncts *conditions,
                                struct logical_node *node)
{
    struct conjuncts below = {0};
    struct column_map map = {0};
    for (uint32_t c = 0; c < node->column_count; c++)
        RETURN_IF_ERROR(rewrite_map_add(rewriter, &map, node->columns[c], node->project.expressions[c]));
    RETURN_IF_ERROR(map_conditions(rewriter, &map, conditions, &below));
    struct conjuncts above = rewriter->told, told = {0};
    RETURN_IF_ERROR(map_conditions(rewriter, &map, &above, &told));
    return push_told(rewriter, &told, &below, &node->inputs[0]);
}

/* Conditions over groups alone. */
static enum status push_aggregate(struct rewriter *rewriter, struct conjuncts *conditions,
                                  struct logical_node *node)
{
    struct conjuncts over = {0}, below = {0};
    struct column_map map = {0};
    struct logical_set groups;
    RETURN_IF_ERROR(logical_set_new(rewriter->tree, &groups, rewriter->error));
    for (uint32_t g = 0; g < node->aggregate.group_count && !node->aggregate.set_count; g++) {
        logical_put(&groups, node->columns[g]);
        RETURN_IF_ERROR(rewrite_map_add(rewriter, &map, node->columns[g], node->aggregate.groups[g]));
    }
    if (node->aggregate.group_count && !node->aggregate.set_count) {
        RETURN_IF_ERROR(take_over(rewriter, conditions, &groups, &over));
        for (uint32_t c = 0; c < conditions->count; c++)
            RETURN_IF_ERROR(implied(rewriter, conditions->list[c], &groups, &over));
    }
    RETURN_IF_ERROR(map_conditions(rewriter, &map, &over, &below));
    for (uint32_t c = 0; c < over.count; c++)
        RETURN_IF_ERROR(rewrite_add(rewriter, over.list[c], conditions));
    return push_told(rewriter, &nothing, &below, &node->inputs[0]);
}

/* Conditions over columns by which all windows are partitioned. */
static enum status push_window(struct rewriter *rewriter, struct conjuncts *conditions,
                               struct logical_node *node)
{
    struct conjuncts below = {0};
    struct logical_set keys;
    RETURN_IF_ERROR(logical_set_new(rewriter->tree, &keys, rewriter->error));
    const struct sql_window *const first = node->window.windows[0].window;
    bool any = false;
    for (uint32_t p = 0; p < first->partition_count; p++) {
        bool all = first->partitions[p]->operation == SQL_INPUT;
        for (uint32_t w = 1; w < node->window.count && all; w++) {
            const struct sql_window *const window = node->window.windows[w].window;
            bool here = false;
            for (uint32_t q = 0; q < window->partition_count; q++)
                here |= sql_same_expression(window->partitions[q], first->partitions[p]);
            all = here;
        }
        if (all)
            logical_put(&keys, first->partitions[p]->index);
        any |= all;
    }
    if (any)
        RETURN_IF_ERROR(take_over(rewriter, conditions, &keys, &below));
    RETURN_IF_ERROR(push_told(rewriter, &nothing, &below, &node->inputs[0]));
    return rewrite_regive(rewriter, node);
}

static enum status push_set(struct rewriter *rewriter, struct conjuncts *conditions,
                            struct logical_node *node)
{
    for (uint32_t i = 0; i < 2; i++) {
        struct conjuncts below = {0};
        struct column_map map = {0};
        for (uint32_t c = 0; c < node->column_count; c++) {
            struct sql_expression *input;
            RETURN_IF_ERROR(rewrite_input(rewriter, node->position, node->inputs[i]->columns[c], &input));
            RETURN_IF_ERROR(rewrite_map_add(rewriter, &map, node->columns[c], input));
        }
        struct conjuncts all = *conditions; /* columns for columns: all go */
        RETURN_IF_ERROR(map_conditions(rewriter, &map, &all, &below));
        RETURN_IF_ERROR(push_told(rewriter, &nothing, &below, &node->inputs[i]));
    }
    *conditions = (struct conjuncts){0};
    return STATUS_OK;
}

/* Pushes conditions into *node; a filter over it keeps those that cannot go further. */
static enum status push(struct rewriter *rewriter, struct conjuncts *conditions, struct logical_node **node)
{
    struct logical_node *const at = *node;
    struct conjuncts none = {0};
    switch (at->kind) {
    case LOGICAL_FILTER:
        RETURN_IF_ERROR(split_once(rewriter, at->filter.condition, conditions));
        *node = at->inputs[0];
        return push(rewriter, conditions, node);
    case LOGICAL_PROJECT:
        RETURN_IF_ERROR(push_project(rewriter, conditions, at));
        break;
    case LOGICAL_JOIN:
        RETURN_IF_ERROR(push_join(rewriter, conditions, at));
        break;
    case LOGICAL_AGGREGATE:
        RETURN_IF_ERROR(push_aggregate(rewriter, conditions, at));
        break;
    case LOGICAL_WINDOW:
        RETURN_IF_ERROR(push_window(rewriter, conditions, at));
        break;
    case LOGICAL_SORT:
        RETURN_IF_ERROR(push(rewriter, conditions, &at->inputs[0]));
        *conditions = none;
        RETURN_IF_ERROR(rewrite_regive(rewriter, at));
        break;
    case LOGICAL_LIMIT:
        RETURN_IF_ERROR(push_told(rewriter, &nothing, &none, &at->inputs[0]));
        RETURN_IF_ERROR(rewrite_regive(rewriter, at));
        break;
    case LOGICAL_SET:
        RETURN_IF_ERROR(push_set(rewriter, conditions, at));
        break;
    case LOGICAL_SHARED:
        RETURN_IF_ERROR(rewrite_ask_shared(rewriter, at, conditions));
        break;
    case LOGICAL_SCAN:
    case LOGICAL_VALUES:
    case LOGICAL_RECURSIVE:
    case LOGICAL_WORKING:
        break;
    }
    RETURN_IF_ERROR(factor(rewriter, conditions));
    return rewrite_filter(rewriter, conditions, node);
}

/* ---- The whole ---- */

static void count_asked(uint32_t *asked, const struct sql_expression *condition)
{
    if (!condition)
        return;
    if (condition->operation == SQL_INPUT)
        asked[condition->index]++;
    for (uint32_t c = 0; c < condition->child_count; c++)
        count_asked(asked, condition->children[c]);
}

/* Finds how often conditions that can be pushed name each column, and what anything else names. */
static void count_uses(struct rewriter *rewriter, const struct logical_node *node, struct logical_set *named)
{
    if (node->kind == LOGICAL_FILTER) {
        count_asked(rewriter->asked, node->filter.condition);
    } else if (node->kind == LOGICAL_JOIN && node->join.join == LOGICAL_INNER) {
        count_asked(rewriter->asked, node->join.condition);
    } else {
        logical_node_names(node, named);
    }
    for (uint32_t i = 0; i < node->input_count; i++)
        count_uses(rewriter, node->inputs[i], named);
}

enum status rewrite_push(struct rewriter *rewriter, struct logical_node **node)
{
    struct conjuncts none = {0};
    const size_t columns = rewriter->tree->column_count + 1;
    struct sql_statement_tree *const arena = rewriter->tree->arena;
    struct logical_set named;
    RETURN_IF_ERROR(logical_set_new(rewriter->tree, &named, rewriter->error));
    RETURN_IF_ERROR(
        sql_tree_take(arena, columns * sizeof *rewriter->asked, &rewriter->asked, rewriter->error));
    RETURN_IF_ERROR(sql_tree_take(arena, columns * sizeof *rewriter->used, &rewriter->used, rewriter->error));
    count_uses(rewriter, *node, &named);
    for (uint32_t c = 0; c < rewriter->tree->column_count; c++)
        rewriter->used[c] = logical_has(&named, c);
    for (uint32_t c = 0; c < (*node)->column_count; c++)
        rewriter->used[(*node)->columns[c]] = true;
    return push(rewriter, &none, node);
}
