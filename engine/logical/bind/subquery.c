/*
 * subquery.c: subqueries in expressions become joins (bind.h): a value a single join, EXISTS and IN a mark join, whose
 * mark takes the subquery's place. A subquery that names columns around it makes the join dependent.
 */
#include "engine/logical/bind/bind.h"

static enum status one_column(const struct bind_state *state, const struct sql_expression *node,
                              const struct logical_node *query)
{
    return query->column_count == 1
               ? STATUS_OK
               : logical_refuse(state, node->position,
                                "this subquery stands for one value, so it has one column, not %u",
                                query->column_count);
}

/* The subquery's only column is a value, or NULL if it has no row. */
static enum status bind_single(const struct bind_place *place, const struct sql_expression *node,
                               struct logical_node *query, struct sql_expression **out)
{
    struct bind_state *const state = place->block->state;
    RETURN_IF_ERROR(one_column(state, node, query));
    state->tree->columns[query->columns[0]].nullable = true;
    RETURN_IF_ERROR(logical_join_new(state->tree, LOGICAL_SINGLE, node->position, *place->node, query, NULL,
                                     place->node, state->error));
    return logical_input(state->tree, node->position, query->columns[0], out, state->error);
}

static enum status bind_mark(const struct bind_place *place, const struct sql_expression *node,
                             struct logical_node *query, struct sql_expression *test,
                             struct sql_expression **out)
{
    struct bind_state *const state = place->block->state;
    struct sql_expression *mark;
    uint32_t column;
    RETURN_IF_ERROR(logical_join_new(state->tree, LOGICAL_MARK, node->position, *place->node, query, NULL,
                                     place->node, state->error));
    RETURN_IF_ERROR(logical_column_new(state->tree, "mark", (struct value_type){.kind = VALUE_BOOLEAN},
                                       test != NULL, &column, state->error));
    (*place->node)->join.test = test;
    (*place->node)->join.mark = column;
    RETURN_IF_ERROR(logical_gives(state->tree, *place->node, column, state->error));
    RETURN_IF_ERROR(logical_input(state->tree, node->position, column, &mark, state->error));
    *out = mark;
    if (!node->negated)
        return STATUS_OK;
    RETURN_IF_ERROR(sql_tree_node(state->arena, SQL_NOT, node->position, out, state->error));
    return sql_tree_child(state->arena, *out, mark, state->error);
}

/* a AND b */
static enum status add_test(const struct bind_state *state, struct sql_expression *test,
                            struct sql_expression **all)
{
    return logical_and(state->tree, *all, test, all, state->error);
}

/* value IN (query), value < ANY (query), (a, b) IN (query): true for some row. */
static enum status bind_in_query(const struct bind_place *place, const struct sql_expression *node,
                                 struct logical_node *query, struct sql_expression **out)
{
    struct bind_state *const state = place->block->state;
    struct sql_expression *tests = NULL;
    if (query->column_count != node->child_count)
        return logical_refuse(state, node->position, "%u value%s compared with a subquery of %u column%s",
                              node->child_count, node->child_count == 1 ? " is" : "s are",
                              query->column_count, query->column_count == 1 ? "" : "s");
    for (uint32_t c = 0; c < node->child_count; c++) {
        struct sql_expression *value, *column, *test;
        RETURN_IF_ERROR(bind_resolve(place, node->children[c], &value));
        RETURN_IF_ERROR(logical_input(state->tree, node->position, query->columns[c], &column, state->error));
        RETURN_IF_ERROR(sql_tree_node(state->arena, node->comparison, node->position, &test, state->error));
        RETURN_IF_ERROR(sql_tree_child(state->arena, test, value, state->error));
        RETURN_IF_ERROR(sql_tree_child(state->arena, test, column, state->error));
        RETURN_IF_ERROR(sql_scalar_condition(state->scalars, test, state->error));
        RETURN_IF_ERROR(add_test(state, test, &tests));
    }
    return bind_mark(place, node, query, tests, out);
}

/* In ON of an outer join: the side on whose columns a subquery depends. A subquery that depends on both is the right
 * side's, which then depends on the left one. */
static enum status choose_side(const struct bind_place *place, const struct sql_expression *node,
                               const struct logical_node *query, struct bind_place *side)
{
    struct bind_state *const state = place->block->state;
    struct logical_set named, left;
    *side = *place;
    if (!place->left)
        return STATUS_OK;
    RETURN_IF_ERROR(logical_free(state->tree, query, &named, state->error));
    RETURN_IF_ERROR(logical_set_new(state->tree, &left, state->error));
    for (uint32_t c = 0; node->operation == SQL_IN && c < node->child_count; c++) {
        struct sql_expression *value;
        RETURN_IF_ERROR(bind_resolve(place, node->children[c], &value));
        logical_names(value, &named);
    }
    logical_makes(*place->left, &left);
    if (!logical_is_empty(&named) && logical_is_subset(&named, &left)) {
        side->node = place->left;
        return STATUS_OK;
    }
    bool both = false;
    for (uint32_t w = 0; w < named.words && w < left.words; w++)
        both |= (named.bits[w] & left.bits[w]) != 0;
    if (both && place->both)
        *place->both = true;
    return STATUS_OK;
}

enum status bind_subquery(const struct bind_place *place, const struct sql_expression *node,
                          struct sql_expression **out)
{
    struct bind_block *const block = place->block;
    struct logical_node *query;
    const char **names;
    RETURN_IF_ERROR(bind_query(block->state, node->query, block->named, place, &query, &names));
    struct bind_place side;
    RETURN_IF_ERROR(choose_side(place, node, query, &side));
    if (node->operation == SQL_SUBQUERY)
        RETURN_IF_ERROR(bind_single(&side, node, query, out));
    else if (node->operation == SQL_EXISTS)
        RETURN_IF_ERROR(bind_mark(&side, node, query, NULL, out));
    else
        RETURN_IF_ERROR(bind_in_query(&side, node, query, out));
    return bind_keep_made(block, node, *out, place->above);
}
