/*
 * recursive.c: binds WITH RECURSIVE (bind.h):
 *
 *     WITH RECURSIVE r (n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM r WHERE n < 5)
 *
 * The SELECTs before the first one that names r are its first part, the others its step, in which r is the rows that the
 * step before found (LOGICAL_WORKING). Both are queries of the tree's `shared`, so that the rewriter treats each alone.
 * A column has the common type of both parts. As the step's type follows from what it sees, it is bound again with that
 * type until it stays the same.
 */
#include "engine/logical/bind/bind.h"
#include "storage/base/words/word.h"

#include <stdlib.h>

/* A step whose types do not stay the same after so many bindings never does: n * 1.1 has a digit more each time. */
#define TRIES_MAX 4

/* ---- Whether it names itself ---- */

static bool tree_names(const struct sql_expression *tree, const char *name)
{
    bool any = tree && tree->query && logical_query_names(tree->query, name);
    for (uint32_t c = 0; tree && c < tree->child_count && !any; c++)
        any = tree_names(tree->children[c], name);
    return any;
}

bool logical_query_names(const struct sql_select *select, const char *name)
{
    bool any = tree_names(select->where, name) || tree_names(select->having, name) ||
               tree_names(select->qualify, name) || tree_names(select->limit, name) ||
               tree_names(select->offset, name);
    for (uint32_t s = 0; s < select->source_count && !any; s++) {
        const struct sql_source *const source = &select->sources[s];
        any = (source->table && word_compare(source->table, name) == 0) || tree_names(source->on, name) ||
              (source->query && logical_query_names(source->query, name));
    }
    for (uint32_t w = 0; w < select->with_count && !any; w++)
        any = logical_query_names(select->withs[w].query, name);
    for (uint32_t p = 0; p < select->part_count && !any; p++)
        any = logical_query_names(select->parts[p].select, name);
    for (uint32_t i = 0; i < select->item_count && !any; i++)
        any = tree_names(select->items[i].expression, name);
    for (uint32_t g = 0; g < select->group_count && !any; g++)
        any = tree_names(select->groups[g], name);
    for (uint32_t o = 0; o < select->order_count && !any; o++)
        any = tree_names(select->orders[o].expression, name);
    return any;
}

bool bind_is_recursive(const struct sql_with *with)
{
    return with->recursive && logical_query_names(with->query, with->name);
}

/* ---- Its two parts ---- */

struct recursion {
    struct bind_state *state;
    const struct bind_named *named;
    struct bind_named self; /* as the step sees it */
    struct sql_select first, step;
    bool all;
    uint64_t most;
    struct logical_node *nodes[2]; /* of both parts */
};

static enum status refuse_parts(const struct recursion *recursion, struct sql_position position)
{
    return logical_refuse(recursion->state, position,
                          "%s names itself: then its query is SELECT ... UNION [ALL] SELECT ... FROM %s ..., "
                          "of which only the last parts name it, by the same UNION",
                          recursion->named->with->name, recursion->named->with->name);
}

static enum status split_parts(struct recursion *recursion)
{
    const struct sql_with *const with = recursion->named->with;
    const struct sql_select *const query = with->query;
    uint32_t first = 0;
    while (first < query->part_count && !logical_query_names(query->parts[first].select, with->name))
        first++;
    if (first == 0 || first == query->part_count)
        return refuse_parts(recursion, with->position);
    recursion->all = query->parts[first].all;
    for (uint32_t p = first; p < query->part_count; p++)
        if (query->parts[p].set != SQL_SET_UNION || query->parts[p].all != recursion->all)
            return refuse_parts(recursion, query->parts[p].position);
    recursion->first = recursion->step = *query;
    recursion->first.part_count = first;
    recursion->step.part_count -= first;
    recursion->step.parts += first;
    for (int i = 0; i < 2; i++) {
        struct sql_select *const part = i ? &recursion->step : &recursion->first;
        part->order_count = 0;
        part->limit = part->offset = NULL;
    }
    return STATUS_OK;
}

/* LIMIT without an order ends the recursion. */
static enum status find_most(struct recursion *recursion)
{
    const struct sql_select *const query = recursion->named->with->query;
    recursion->most = UINT64_MAX;
    if (!query->limit || query->order_count)
        return STATUS_OK;
    recursion->most = 0;
    for (int i = 0; i < 2; i++) {
        const struct sql_expression *const bound = i ? query->offset : query->limit;
        char *end;
        if (!bound)
            continue;
        if (bound->operation != SQL_NUMBER)
            return logical_refuse(recursion->state, bound->position,
                                  "LIMIT and OFFSET of a query that names itself take numbers");
        recursion->most += strtoull(bound->text, &end, 10);
        if (*end)
            return logical_refuse(recursion->state, bound->position,
                                  "LIMIT and OFFSET take whole numbers from 0");
    }
    return STATUS_OK;
}

/* ---- Types ---- */

static bool is_same_type(struct value_type a, struct value_type b)
{
    return a.kind == b.kind && a.scale == b.scale && a.decimal == b.decimal && a.zoned == b.zoned &&
           a.untyped == b.untyped;
}

/* The types that values of both parts have together; *same: they are those that the step was bound with. */
static enum status unite_types(struct recursion *recursion, bool *same)
{
    struct bind_state *const state = recursion->state;
    const struct logical_node *const step = recursion->nodes[1];
    struct bind_named *const self = &recursion->self;
    *same = true;
    if (step->column_count != self->column_count)
        return logical_refuse(state, step->position, "this SELECT has %u columns, and the one before it %u",
                              step->column_count, self->column_count);
    for (uint32_t c = 0; c < self->column_count; c++) {
        struct sql_input type;
        RETURN_IF_ERROR(sql_common_type(
            state->scalars, step->position, (struct sql_input){self->types[c], true},
            (struct sql_input){state->tree->columns[step->columns[c]].type, true}, &type, state->error));
        *same &= is_same_type(type.type, self->types[c]);
        self->types[c] = type.type;
    }
    return STATUS_OK;
}

static const char *type_name(struct value_type type)
{
    switch (type.kind) {
    case VALUE_INTEGER:
        return "BIGINT";
    case VALUE_DATE:
        return "DATE";
    case VALUE_TIMESTAMP:
        return type.zoned ? "TIMESTAMPTZ" : "TIMESTAMP";
    case VALUE_BOOLEAN:
        return "BOOLEAN";
    case VALUE_STRING:
        return "VARCHAR";
    case VALUE_DOUBLE:
        return "DOUBLE";
    }
    return NULL;
}

enum status bind_coerce(const struct bind_state *state, struct value_type type, struct sql_expression **tree)
{
    struct sql_expression *cast;
    RETURN_IF_ERROR(sql_tree_node(state->arena, SQL_CAST, (*tree)->position, &cast, state->error));
    cast->name = type_name(type);
    if (value_is_decimal(type)) {
        cast->name = "DECIMAL";
        cast->has_operand = true;
        cast->index = 18u << 8 | type.scale;
    }
    RETURN_IF_ERROR(sql_tree_child(state->arena, cast, *tree, state->error));
    *tree = cast;
    return STATUS_OK;
}

/* Puts a projection over a part whose columns have other types. */
static enum status coerce_part(const struct recursion *recursion, struct logical_node **node)
{
    struct bind_state *const state = recursion->state;
    struct logical_node *const input = *node, *project;
    bool same = true;
    for (uint32_t c = 0; c < input->column_count; c++)
        same &= is_same_type(state->tree->columns[input->columns[c]].type, recursion->self.types[c]);
    if (same)
        return STATUS_OK;
    RETURN_IF_ERROR(
        logical_node_new(state->tree, LOGICAL_PROJECT, input->position, input, NULL, &project, state->error));
    RETURN_IF_ERROR(sql_tree_take(state->arena,
                                  (input->column_count + 1) * sizeof *project->project.expressions,
                                  &project->project.expressions, state->error));
    for (uint32_t c = 0; c < input->column_count; c++) {
        struct sql_expression *value;
        uint32_t column;
        RETURN_IF_ERROR(logical_input(state->tree, input->position, input->columns[c], &value, state->error));
        if (!is_same_type(state->tree->columns[input->columns[c]].type, recursion->self.types[c]))
            RETURN_IF_ERROR(bind_coerce(state, recursion->self.types[c], &value));
        project->project.expressions[c] = value;
        RETURN_IF_ERROR(logical_column_new(state->tree, recursion->self.names[c], recursion->self.types[c],
                                           true, &column, state->error));
        RETURN_IF_ERROR(logical_gives(state->tree, project, column, state->error));
    }
    *node = project;
    return STATUS_OK;
}

/* ---- The whole ---- */

static enum status see_itself(struct recursion *recursion, const char **names)
{
    struct bind_state *const state = recursion->state;
    const struct logical_node *const first = recursion->nodes[0];
    struct bind_named *const self = &recursion->self;
    *self = *recursion->named;
    self->working = true;
    self->column_count = first->column_count;
    self->names = names;
    RETURN_IF_ERROR(sql_tree_take(state->arena, (self->column_count + 1) * sizeof *self->types, &self->types,
                                  state->error));
    for (uint32_t c = 0; c < self->column_count; c++) {
        self->types[c] = state->tree->columns[first->columns[c]].type;
        self->types[c].literal = false;
    }
    return STATUS_OK;
}

static enum status add_shared(const struct recursion *recursion, struct logical_node *root,
                              const char **names, uint32_t *number)
{
    struct logical_tree *const tree = recursion->state->tree;
    RETURN_IF_ERROR(
        logical_share(tree, recursion->named->with->name, root, names, number, recursion->state->error));
    tree->shared[*number].references = 2;
    return STATUS_OK;
}

/* True if the query is named in the step of another one, whose rows it may depend on. */
static bool is_within_step(const struct bind_named *named)
{
    while (named && !named->working)
        named = named->before;
    return named != NULL;
}

static bool has_outer(const struct logical_outer *outer, uint32_t column)
{
    uint32_t c = 0;
    while (c < outer->count && outer->columns[c] != column)
        c++;
    return c < outer->count;
}

/* The working rows of the step are then those for some values of the outer columns. */
static void mark_working(const struct logical_tree *tree, struct logical_node *node, uint32_t step,
                         const struct logical_outer *outer)
{
    if (node->kind == LOGICAL_WORKING && node->working.step == step)
        node->working.outer = *outer;
    for (uint32_t i = 0; i < node->input_count; i++)
        mark_working(tree, node->inputs[i], step, outer);
}

/* Finds the columns around the query that it names. */
static enum status find_outer(const struct recursion *recursion, struct logical_node *node)
{
    const struct bind_state *const state = recursion->state;
    struct logical_outer *const outer = &node->recursive.outer;
    for (int i = 0; i < 2; i++) {
        struct logical_set outside;
        RETURN_IF_ERROR(logical_free(state->tree, recursion->nodes[i], &outside, state->error));
        for (uint32_t c = 0; c < state->tree->column_count; c++)
            if (logical_has(&outside, c) && !has_outer(outer, c))
                RETURN_IF_ERROR(sql_tree_append(state->arena, &outer->columns, &outer->count, sizeof c, &c,
                                                state->error));
    }
    if (outer->count && (recursion->most != UINT64_MAX || is_within_step(recursion->named)))
        return logical_refuse(state, node->position,
                              "a query that names itself and columns of the statement around it has no LIMIT "
                              "without ORDER BY, and is not within another that names itself");
    mark_working(state->tree, recursion->nodes[1], node->recursive.step, outer);
    return STATUS_OK;
}

static enum status bind_step(struct recursion *recursion)
{
    struct bind_state *const state = recursion->state;
    const char **names;
    bool same = false;
    for (int tries = 0; !same && tries < TRIES_MAX; tries++) {
        RETURN_IF_ERROR(bind_query(state, &recursion->step, &recursion->self, recursion->named->around,
                                   &recursion->nodes[1], &names));
        RETURN_IF_ERROR(unite_types(recursion, &same));
    }
    return same ? STATUS_OK
                : logical_refuse(state, recursion->nodes[1]->position,
                                 "a column of %s gets another type in each step: CAST it to one",
                                 recursion->named->with->name);
}

static enum status make_recursive(struct recursion *recursion, uint32_t first, uint32_t step,
                                  struct logical_node **node)
{
    struct bind_state *const state = recursion->state;
    RETURN_IF_ERROR(logical_node_new(state->tree, LOGICAL_RECURSIVE, recursion->named->with->position, NULL,
                                     NULL, node, state->error));
    (*node)->recursive.first = first;
    (*node)->recursive.step = step;
    (*node)->recursive.all = recursion->all;
    (*node)->recursive.most = recursion->most;
    for (uint32_t c = 0; c < recursion->self.column_count; c++) {
        uint32_t column;
        RETURN_IF_ERROR(logical_column_new(state->tree, recursion->self.names[c], recursion->self.types[c],
                                           true, &column, state->error));
        RETURN_IF_ERROR(logical_gives(state->tree, *node, column, state->error));
    }
    return STATUS_OK;
}

enum status bind_recursive(struct bind_state *state, const struct bind_named *named,
                           struct logical_node **node, const char ***names)
{
    const struct sql_with *const with = named->with;
    struct recursion recursion = {.state = state, .named = named};
    uint32_t first;
    RETURN_IF_ERROR(split_parts(&recursion));
    RETURN_IF_ERROR(find_most(&recursion));
    RETURN_IF_ERROR(
        bind_query(state, &recursion.first, named->before, named->around, &recursion.nodes[0], names));
    RETURN_IF_ERROR(bind_rename(state, with->name, with->column_count, with->columns, with->position,
                                recursion.nodes[0], names));
    RETURN_IF_ERROR(see_itself(&recursion, *names));
    RETURN_IF_ERROR(add_shared(&recursion, NULL, *names, &recursion.self.number));
    const uint32_t step = recursion.self.number, workings = state->workings;
    RETURN_IF_ERROR(bind_step(&recursion));
    if (!is_within_step(named)) /* outside it is like any other query */
        state->workings = workings;
    for (int i = 0; i < 2; i++)
        RETURN_IF_ERROR(coerce_part(&recursion, &recursion.nodes[i]));
    RETURN_IF_ERROR(add_shared(&recursion, recursion.nodes[0], *names, &first));
    state->tree->shared[step].root = recursion.nodes[1];
    RETURN_IF_ERROR(make_recursive(&recursion, first, step, node));
    RETURN_IF_ERROR(find_outer(&recursion, *node));
    return bind_query_order(state, with->query, named->before, named->around, *names, node);
}

enum status bind_working(struct bind_state *state, const struct bind_named *named,
                         struct sql_position position, struct logical_node **node)
{
    state->workings++;
    RETURN_IF_ERROR(logical_node_new(state->tree, LOGICAL_WORKING, position, NULL, NULL, node, state->error));
    (*node)->working.step = named->number;
    for (uint32_t c = 0; c < named->column_count; c++) {
        uint32_t column;
        RETURN_IF_ERROR(
            logical_column_new(state->tree, named->names[c], named->types[c], true, &column, state->error));
        RETURN_IF_ERROR(logical_gives(state->tree, *node, column, state->error));
    }
    return STATUS_OK;
}
