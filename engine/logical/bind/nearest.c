/*
 * nearest.c: ASOF JOIN: of the right rows that equalities join to a left one, the one whose value is next to the left one's.
 *
 *     a ASOF JOIN b ON a.k = b.k AND a.t >= b.t
 *
 * becomes a window over the rows of both sides together, in the order of t: the row of b before a row of a, or in the same
 * place, is the last one of b's up to it. A row of b is known by its number, by which it is joined at last:
 *
 *     n:  b with row_number() as number, where k and t are not NULL
 *     m:  SELECT *, last_value(number IGNORE NULLS) OVER (PARTITION BY k ORDER BY t NULLS FIRST ROWS UNBOUNDED PRECEDING) AS
 *         found FROM (SELECT k, t, number FROM n UNION ALL SELECT k, t, NULL, columns of a FROM a)
 *     m JOIN n ON found = number, of m's rows of a
 *
 * A window keeps rows that are alike in its order in that of its input, so rows of b come first where those of the same t are
 * meant (>=, <=), else rows of a; and of several rows of b with one k and t the last is taken. For <= and < the order descends.
 * The left side is a part of the union, because a join with it by numbers would take longer than sorting its columns.
 */
#include "engine/logical/bind/bind.h"

#include <string.h>

#define KEYS_MOST 64u

/* a.k = b.k, or a.t >= b.t: what is compared, of the left and of the right. */
struct comparison {
    struct sql_expression *sides[2];
    struct sql_input type;
};

struct nearest {
    struct bind_block *block;
    struct bind_state *state;
    struct logical_tree *tree;
    struct sql_position position;
    struct logical_node *left, *right;
    struct logical_set makes[2]; /* the columns of both sides */
    uint32_t key_count;
    struct comparison keys[KEYS_MOST + 1]; /* and then the order */
    enum sql_operation order;              /* SQL_EQUAL: not found yet */
    uint32_t number;                       /* the column of the right rows' numbers */
};

/* ---- The condition ---- */

static enum status refuse(const struct nearest *nearest, struct sql_position position)
{
    return logical_refuse(
        nearest->state, position,
        "ON of ASOF JOIN is equalities of both sides and one of >=, >, <=, <, joined by AND: "
        "a.k = b.k AND a.at >= b.at; put other conditions into WHERE, or a subquery");
}

/* Whether the expression names columns of this side alone, and at least one. */
static enum status is_of(const struct nearest *nearest, const struct sql_expression *expression, int side,
                         bool *is, struct error *error)
{
    struct logical_set names;
    RETURN_IF_ERROR(logical_set_new(nearest->tree, &names, error));
    logical_names(expression, &names);
    *is = !logical_is_empty(&names) && logical_is_subset(&names, &nearest->makes[side]);
    return STATUS_OK;
}

static enum status add_comparison(struct nearest *nearest, const struct sql_expression *condition)
{
    struct bind_state *const state = nearest->state;
    struct comparison made = {.sides = {condition->children[0], condition->children[1]}};
    struct sql_input types[2];
    enum sql_operation operation = condition->operation;
    bool straight[2], crossed[2];
    for (int side = 0; side < 2; side++) {
        RETURN_IF_ERROR(is_of(nearest, made.sides[side], side, &straight[side], state->error));
        RETURN_IF_ERROR(is_of(nearest, made.sides[side], !side, &crossed[side], state->error));
        RETURN_IF_ERROR(sql_scalar_type(state->scalars, made.sides[side], &types[side], state->error));
    }
    if (!(straight[0] && straight[1]) && !(crossed[0] && crossed[1]))
        return refuse(nearest, condition->position);
    if (!straight[0]) {
        made = (struct comparison){.sides = {made.sides[1], made.sides[0]}};
        operation = sql_turned(operation);
    }
    RETURN_IF_ERROR(
        sql_common_type(state->scalars, condition->position, types[0], types[1], &made.type, state->error));
    made.type.nullable = true;
    if (operation != SQL_EQUAL) {
        if (nearest->order != SQL_EQUAL)
            return refuse(nearest, condition->position);
        nearest->order = operation;
        nearest->keys[KEYS_MOST] = made;
        return STATUS_OK;
    }
    if (nearest->key_count == KEYS_MOST)
        return logical_refuse(state, condition->position, "ASOF JOIN has more than %u equalities", KEYS_MOST);
    nearest->keys[nearest->key_count++] = made;
    return STATUS_OK;
}

static enum status take_condition(struct nearest *nearest, const struct sql_expression *condition)
{
    if (condition->operation == SQL_AND) {
        for (uint32_t c = 0; c < condition->child_count; c++)
            RETURN_IF_ERROR(take_condition(nearest, condition->children[c]));
        return STATUS_OK;
    }
    if (condition->operation == SQL_NOT_EQUAL || condition->operation < SQL_EQUAL ||
        condition->operation > SQL_GREATER_EQUAL || condition->negated)
        return refuse(nearest, condition->position);
    return add_comparison(nearest, condition);
}

static enum status read_condition(struct nearest *nearest, const struct sql_source *source)
{
    struct bind_state *const state = nearest->state;
    struct logical_node *left = nearest->left, *right = nearest->right;
    const struct bind_place place = {
        .block = nearest->block, .node = &right, .left = &left, .on = source, .aliases = true};
    struct sql_expression *condition;
    struct logical_set outside;
    if (!source->on)
        return refuse(nearest, source->position);
    for (int side = 0; side < 2; side++) {
        RETURN_IF_ERROR(logical_set_new(nearest->tree, &nearest->makes[side], state->error));
        logical_makes(side ? right : left, &nearest->makes[side]);
    }
    RETURN_IF_ERROR(bind_resolve_condition(&place, source->on, &condition));
    if (left != nearest->left || right != nearest->right)
        return logical_refuse(state, source->on->position, "ON of ASOF JOIN has no subqueries");
    RETURN_IF_ERROR(logical_free(nearest->tree, right, &outside, state->error));
    if (!logical_is_empty(&outside))
        return logical_refuse(state, source->position,
                              "the right side of ASOF JOIN names columns around it; let WHERE compare them");
    RETURN_IF_ERROR(take_condition(nearest, condition));
    if (nearest->order == SQL_EQUAL)
        return refuse(nearest, source->on->position);
    nearest->keys[nearest->key_count] = nearest->keys[KEYS_MOST]; /* the order is the last one */
    return STATUS_OK;
}

/* ---- Conditions of WHERE ---- */

/* Whether a part of WHERE is over the left side's columns alone, without queries. */
static bool is_of_left(const struct nearest *nearest, const struct sql_expression *written)
{
    const struct bind_block *const block = nearest->block;
    struct sql_scope_column column;
    if (written->query || written->window || sql_is_aggregate(written))
        return false;
    if (written->operation == SQL_COLUMN) {
        bool left = sql_scope_find(&block->scope, written, &column) == 1;
        for (uint32_t i = 0; left && i < column.count; i++)
            left =
                logical_has(&nearest->makes[0], block->sources[column.sources[i]].columns[column.columns[i]]);
        return left;
    }
    for (uint32_t c = 0; c < written->child_count; c++)
        if (!is_of_left(nearest, written->children[c]))
            return false;
    return true;
}

/* Whether each row of FROM has one of the left side's, so that WHERE may be asked there. */
static bool has_left_rows(const struct nearest *nearest, const struct sql_source *source)
{
    const struct sql_scope *const scope = &nearest->block->scope;
    bool plain = source->depth == 0;
    for (uint32_t s = 0; s < scope->count; s++)
        plain &= scope->sources[s].join < SQL_JOIN_RIGHT;
    return plain;
}

/* Lets the left side have only rows that WHERE keeps: no condition is pushed through the window over both sides. */
static enum status filter_left(struct nearest *nearest, const struct sql_expression *where)
{
    struct bind_state *const state = nearest->state;
    const struct bind_place place = {.block = nearest->block, .node = &nearest->left};
    struct sql_expression *condition;
    if (!where)
        return STATUS_OK;
    if (where->operation == SQL_AND) {
        for (uint32_t c = 0; c < where->child_count; c++)
            RETURN_IF_ERROR(filter_left(nearest, where->children[c]));
        return STATUS_OK;
    }
    if (!is_of_left(nearest, where))
        return STATUS_OK;
    RETURN_IF_ERROR(bind_resolve_condition(&place, where, &condition));
    return logical_filter(nearest->tree, condition, &nearest->left, state->error);
}

/* ---- Both sides together ---- */

static enum status known(const struct nearest *nearest, struct sql_expression *value, bool is_known,
                         struct sql_expression **made)
{
    RETURN_IF_ERROR(
        sql_tree_node(nearest->state->arena, SQL_IS_NULL, nearest->position, made, nearest->state->error));
    (*made)->negated = is_known;
    return sql_tree_child(nearest->state->arena, *made, value, nearest->state->error);
}

/* Leaves out right rows that are joined to none, and numbers the others. */
static enum status number_right(struct nearest *nearest, uint32_t *shared)
{
    struct bind_state *const state = nearest->state;
    struct sql_expression *condition = NULL, *one;
    for (uint32_t k = 0; k <= nearest->key_count; k++) {
        RETURN_IF_ERROR(known(nearest, nearest->keys[k].sides[1], true, &one));
        RETURN_IF_ERROR(logical_and(nearest->tree, condition, one, &condition, state->error));
    }
    RETURN_IF_ERROR(sql_scalar_condition(state->scalars, condition, state->error));
    RETURN_IF_ERROR(logical_filter(nearest->tree, condition, &nearest->right, state->error));
    RETURN_IF_ERROR(logical_number_rows(nearest->tree, nearest->position, NULL, &nearest->right,
                                        &nearest->number, state->error));
    return logical_share_in_place(nearest->tree, "right side", &nearest->right, shared, state->error);
}

struct renaming {
    const struct nearest *nearest;
    const struct logical_node *from, *to;
};

static enum status rename_input(void *context, const struct sql_expression *node, struct sql_expression **out)
{
    const struct renaming *const renaming = context;
    if (node->operation != SQL_INPUT)
        return STATUS_OK;
    for (uint32_t c = 0; c < renaming->from->column_count; c++)
        if (renaming->from->columns[c] == node->index)
            return logical_input(renaming->nearest->tree, node->position, renaming->to->columns[c], out,
                                 renaming->nearest->state->error);
    return STATUS_OK;
}

static enum status add(const struct nearest *nearest, struct logical_node *project,
                       struct sql_expression *expression)
{
    struct bind_state *const state = nearest->state;
    uint32_t column;
    project->project.expressions[project->column_count] = expression;
    RETURN_IF_ERROR(bind_column_of(state, "", expression, &column));
    return logical_gives(nearest->tree, project, column, state->error);
}

static enum status add_null(const struct nearest *nearest, struct logical_node *project)
{
    struct sql_expression *null;
    RETURN_IF_ERROR(
        sql_tree_node(nearest->state->arena, SQL_NULL, nearest->position, &null, nearest->state->error));
    return add(nearest, project, null);
}

/* A part of the union: the keys and the order, the number, and the left side's columns. `right`: what the right side's columns
 * are in `input`; NULL: it is the left side. */
static enum status make_part(const struct nearest *nearest, struct logical_node *input,
                             const struct logical_node *right, struct logical_node **part)
{
    struct bind_state *const state = nearest->state;
    struct renaming renaming = {nearest, right, input};
    const uint32_t columns = nearest->left->column_count;
    RETURN_IF_ERROR(
        logical_node_new(nearest->tree, LOGICAL_PROJECT, nearest->position, input, NULL, part, state->error));
    RETURN_IF_ERROR(sql_tree_take(state->arena,
                                  (nearest->key_count + columns + 3) * sizeof *(*part)->project.expressions,
                                  &(*part)->project.expressions, state->error));
    for (uint32_t k = 0; k <= nearest->key_count; k++) {
        struct sql_expression *value = nearest->keys[k].sides[right != NULL];
        if (right)
            RETURN_IF_ERROR(
                sql_tree_rewrite(state->arena, value, rename_input, &renaming, &value, state->error));
        RETURN_IF_ERROR(add(nearest, *part, value));
    }
    struct sql_expression *value;
    if (right) {
        RETURN_IF_ERROR(
            logical_input(nearest->tree, nearest->position, nearest->number, &value, state->error));
        RETURN_IF_ERROR(sql_tree_rewrite(state->arena, value, rename_input, &renaming, &value, state->error));
        RETURN_IF_ERROR(add(nearest, *part, value));
    } else {
        RETURN_IF_ERROR(add_null(nearest, *part));
    }
    for (uint32_t c = 0; c < columns; c++) {
        if (right) {
            RETURN_IF_ERROR(add_null(nearest, *part));
            continue;
        }
        RETURN_IF_ERROR(
            logical_input(nearest->tree, nearest->position, input->columns[c], &value, state->error));
        RETURN_IF_ERROR(add(nearest, *part, value));
    }
    return STATUS_OK;
}

static enum status give(const struct nearest *nearest, struct logical_node *node, const char *name,
                        struct value_type type)
{
    uint32_t column;
    RETURN_IF_ERROR(logical_column_new(nearest->tree, name, type, true, &column, nearest->state->error));
    return logical_gives(nearest->tree, node, column, nearest->state->error);
}

static enum status make_union(const struct nearest *nearest, uint32_t shared, struct logical_node **node)
{
    static const struct value_type number = {.kind = VALUE_INTEGER};
    struct bind_state *const state = nearest->state;
    const bool right_first = nearest->order == SQL_GREATER_EQUAL || nearest->order == SQL_LESS_EQUAL;
    struct logical_node *inner, *parts[2];
    RETURN_IF_ERROR(logical_refer(nearest->tree, shared, nearest->position, &inner, state->error));
    RETURN_IF_ERROR(make_part(nearest, inner, nearest->right, &parts[!right_first]));
    RETURN_IF_ERROR(make_part(nearest, nearest->left, NULL, &parts[right_first]));
    RETURN_IF_ERROR(logical_node_new(nearest->tree, LOGICAL_SET, nearest->position, parts[0], parts[1], node,
                                     state->error));
    (*node)->set.set = SQL_SET_UNION;
    (*node)->set.all = true;
    for (uint32_t k = 0; k <= nearest->key_count; k++)
        RETURN_IF_ERROR(give(nearest, *node, "", nearest->keys[k].type.type));
    RETURN_IF_ERROR(give(nearest, *node, "number", number));
    for (uint32_t c = 0; c < nearest->left->column_count; c++) {
        const struct logical_column *const column = &nearest->tree->columns[nearest->left->columns[c]];
        RETURN_IF_ERROR(give(nearest, *node, column->name, column->type));
    }
    return STATUS_OK;
}

/* ---- The row before each ---- */

static enum status make_window(const struct nearest *nearest, const struct logical_node *both,
                               struct sql_window **window)
{
    struct bind_state *const state = nearest->state;
    RETURN_IF_ERROR(sql_tree_take(state->arena, sizeof **window, window, state->error));
    struct sql_window *const made = *window;
    made->position = nearest->position;
    made->frame = SQL_FRAME_ROWS;
    made->begin = SQL_BOUND_FIRST;
    made->end = SQL_BOUND_CURRENT;
    for (uint32_t k = 0; k < nearest->key_count; k++) {
        struct sql_expression *key;
        RETURN_IF_ERROR(
            logical_input(nearest->tree, nearest->position, both->columns[k], &key, state->error));
        RETURN_IF_ERROR(sql_tree_append(state->arena, &made->partitions, &made->partition_count, sizeof key,
                                        &key, state->error));
    }
    struct sql_order order = {.nulls_first = true,
                              .descending = nearest->order == SQL_LESS || nearest->order == SQL_LESS_EQUAL};
    RETURN_IF_ERROR(logical_input(nearest->tree, nearest->position, both->columns[nearest->key_count],
                                  &order.expression, state->error));
    return sql_tree_append(state->arena, &made->orders, &made->order_count, sizeof order, &order,
                           state->error);
}

/* Adds the number of the right row that was found, and leaves left rows alone. */
static enum status find_before(const struct nearest *nearest, struct logical_node **node)
{
    struct bind_state *const state = nearest->state;
    const struct logical_node *const both = *node;
    const uint32_t number = both->columns[nearest->key_count + 1];
    struct sql_expression *call, *value, *none;
    struct sql_window *window;
    RETURN_IF_ERROR(make_window(nearest, both, &window));
    RETURN_IF_ERROR(sql_tree_node(state->arena, SQL_FUNCTION, nearest->position, &call, state->error));
    RETURN_IF_ERROR(logical_input(nearest->tree, nearest->position, number, &value, state->error));
    RETURN_IF_ERROR(sql_tree_child(state->arena, call, value, state->error));
    call->name = "last_value";
    call->ignores_nulls = true;
    RETURN_IF_ERROR(
        logical_node_new(nearest->tree, LOGICAL_WINDOW, nearest->position, *node, NULL, node, state->error));
    const struct logical_window made = {WINDOW_LAST_VALUE, call, window};
    RETURN_IF_ERROR(sql_tree_append(state->arena, &(*node)->window.windows, &(*node)->window.count,
                                    sizeof made, &made, state->error));
    RETURN_IF_ERROR(logical_gives_all(nearest->tree, *node, both, state->error));
    RETURN_IF_ERROR(give(nearest, *node, "found", (struct value_type){.kind = VALUE_INTEGER}));
    RETURN_IF_ERROR(known(nearest, value, false, &none));
    RETURN_IF_ERROR(sql_scalar_condition(state->scalars, none, state->error));
    return logical_filter(nearest->tree, none, node, state->error);
}

/* The left side's columns are those of the union from now on. */
static enum status see_left(const struct nearest *nearest, const uint32_t *columns)
{
    const struct bind_block *const block = nearest->block;
    const struct logical_node *const left = nearest->left;
    for (uint32_t s = 0; s < block->scope.count; s++) {
        struct bind_source *const source = &block->sources[s];
        uint32_t *seen;
        RETURN_IF_ERROR(sql_tree_take(nearest->state->arena, (source->count + 1) * sizeof *seen, &seen,
                                      nearest->state->error));
        for (uint32_t c = 0; c < source->count; c++) {
            seen[c] = source->columns[c];
            for (uint32_t l = 0; l < left->column_count; l++)
                if (left->columns[l] == source->columns[c])
                    seen[c] = columns[l];
        }
        source->columns = seen; /* a node has the others */
    }
    return STATUS_OK;
}

static enum status join_found(const struct nearest *nearest, bool outer, uint32_t found,
                              struct logical_node **node)
{
    struct bind_state *const state = nearest->state;
    struct sql_expression *same, *numbers[2];
    RETURN_IF_ERROR(sql_tree_node(state->arena, SQL_EQUAL, nearest->position, &same, state->error));
    RETURN_IF_ERROR(logical_input(nearest->tree, nearest->position, found, &numbers[0], state->error));
    RETURN_IF_ERROR(
        logical_input(nearest->tree, nearest->position, nearest->number, &numbers[1], state->error));
    for (int side = 0; side < 2; side++)
        RETURN_IF_ERROR(sql_tree_child(state->arena, same, numbers[side], state->error));
    RETURN_IF_ERROR(sql_scalar_condition(state->scalars, same, state->error));
    if (outer)
        return logical_join_new(nearest->tree, LOGICAL_LEFT, nearest->position, *node, nearest->right, same,
                                node, state->error);
    RETURN_IF_ERROR(logical_join_new(nearest->tree, LOGICAL_INNER, nearest->position, *node, nearest->right,
                                     NULL, node, state->error));
    return logical_filter(nearest->tree, same, node, state->error);
}

enum status bind_nearest(struct bind_block *block, const struct sql_source *source, struct logical_node *left,
                         struct logical_node *right, struct logical_node **node)
{
    struct nearest nearest = {.block = block,
                              .state = block->state,
                              .tree = block->state->tree,
                              .position = source->position,
                              .left = left,
                              .right = right,
                              .order = SQL_EQUAL};
    uint32_t shared;
    RETURN_IF_ERROR(read_condition(&nearest, source));
    if (has_left_rows(&nearest, source))
        RETURN_IF_ERROR(filter_left(&nearest, block->select->where));
    RETURN_IF_ERROR(number_right(&nearest, &shared));
    RETURN_IF_ERROR(make_union(&nearest, shared, node));
    RETURN_IF_ERROR(see_left(&nearest, (*node)->columns + nearest.key_count + 2));
    RETURN_IF_ERROR(find_before(&nearest, node));
    return join_found(&nearest, source->join == SQL_JOIN_LEFT, (*node)->columns[(*node)->column_count - 1],
                      node);
}
