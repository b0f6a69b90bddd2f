/* expression.c: the names of an expression become inputs (bind.h). */
#include "engine/logical/bind/bind.h"
#include "engine/sql/functions/functions.h"
#include "storage/base/words/near_word.h"
#include "storage/base/words/word.h"

#include <stdio.h>
#include <string.h>

/* ---- What is known ---- */

/* What a node has become, also only above the groups; or NULL. */
static const struct bind_made *find_made(const struct bind_block *block, const struct sql_expression *node,
                                         bool above)
{
    for (uint32_t k = 0; k < block->known_count; k++)
        if (block->known[k].node == node && (block->known[k].above || !above))
            return &block->known[k];
    return NULL;
}

enum status bind_keep_made(struct bind_block *block, const struct sql_expression *node,
                           struct sql_expression *input, bool above)
{
    const struct bind_made known = {node, input, above};
    return sql_tree_append(block->state->arena, &block->known, &block->known_count, sizeof known, &known,
                           block->state->error);
}

/* ---- Aliases ---- */

uint32_t bind_alias_of(const struct bind_block *block, const struct sql_expression *name)
{
    const struct sql_select *const select = block->select;
    uint32_t i = 0;
    while (i < select->item_count && (name->qualifier || !select->items[i].alias ||
                                      word_compare(select->items[i].alias, name->name) != 0))
        i++;
    return i;
}

/* The item whose alias a name is, unless it is a column; item_count: none. */
static uint32_t alias_meant(const struct bind_block *block, const struct sql_expression *name)
{
    struct sql_scope_column column;
    return sql_scope_find(&block->scope, name, &column) ? block->select->item_count
                                                        : bind_alias_of(block, name);
}

static enum status take_bits(struct bind_block *block, uint64_t **bits)
{
    return *bits ? STATUS_OK
                 : sql_tree_take(block->state->arena, (block->select->item_count / 64 + 1) * sizeof **bits,
                                 bits, block->state->error);
}

/* It bounds the recursion over aliases of aliases. */
#define ALIAS_DEPTH_MAX 500u

/* Opens an alias while it is resolved: one that leads to itself is refused. */
static enum status open_alias(struct bind_block *block, const struct sql_expression *name, uint32_t item)
{
    struct bind_state *const state = block->state;
    RETURN_IF_ERROR(take_bits(block, &block->open));
    if (block->open[item / 64] >> item % 64 & 1)
        return logical_refuse(state, name->position, "the alias %s leads to itself", name->name);
    if (block->open_count == ALIAS_DEPTH_MAX)
        return logical_refuse(state, name->position, "aliases name each other more than %u deep; use fewer",
                              ALIAS_DEPTH_MAX);
    block->open_count++;
    block->open[item / 64] |= UINT64_C(1) << item % 64;
    return STATUS_OK;
}

static void close_alias(struct bind_block *block, uint32_t item)
{
    block->open_count--;
    block->open[item / 64] &= ~(UINT64_C(1) << item % 64);
}

/* A larger expression becomes a column where an alias names it: aliases of aliases would grow without bound. */
#define ALIAS_NODES_MAX 64u

/* The nodes of an expression, or more than ALIAS_NODES_MAX. */
static uint32_t size_of(const struct sql_expression *expression)
{
    uint32_t size = 1;
    for (uint32_t c = 0; c < expression->child_count && size <= ALIAS_NODES_MAX; c++)
        size += size_of(expression->children[c]);
    return size;
}

static enum status resolve_alias(const struct bind_place *place, const struct sql_expression *name,
                                 uint32_t item, struct sql_expression **out)
{
    struct bind_block *const block = place->block;
    struct bind_state *const state = block->state;
    const struct sql_expression *const node = block->select->items[item].expression;
    const struct bind_made *const known = find_made(block, node, place->above);
    uint32_t column;
    if (known) {
        *out = known->input;
        return STATUS_OK;
    }
    RETURN_IF_ERROR(open_alias(block, name, item));
    const enum status status = bind_resolve(place, node, out);
    close_alias(block, item);
    RETURN_IF_ERROR(status);
    if (size_of(*out) <= ALIAS_NODES_MAX)
        return STATUS_OK;
    RETURN_IF_ERROR(bind_column_of(state, name->name, *out, &column));
    RETURN_IF_ERROR(bind_extend(state, out, &column, 1, place->node));
    RETURN_IF_ERROR(logical_input(state->tree, name->position, column, out, state->error));
    return bind_keep_made(block, node, *out, place->above);
}

/* ---- Names ---- */

/* A table of the database that has the column; NULL: none. */
static const struct table *table_with(const struct database *database, const char *name)
{
    for (uint32_t t = 0; t < database_table_count(database); t++) {
        const struct table *const table = database_table_at(database, t);
        for (uint32_t c = 0; c < table_visible_columns(table); c++)
            if (word_compare(table->columns[c].schema.name, name) == 0)
                return table;
    }
    return NULL;
}

/* "x.a", where FROM has no x: it may have one that is written alike, or hide it behind an alias. */
static enum status refuse_qualifier(const struct bind_block *block, const struct sql_expression *name)
{
    struct near_word near = near_word_begin(name->qualifier);
    const struct sql_expression alone = {.operation = SQL_COLUMN, .name = name->qualifier};
    const char *alias = NULL;
    char names[400] = "";
    size_t used = 0;
    struct sql_scope_column column;
    if (sql_scope_find(&block->scope, &alone, &column) == 1)
        return logical_refuse(block->state, name->position,
                              "%s is a column and no table; a member of JSON in it is \"%s\" ->> '%s'",
                              name->qualifier, name->qualifier, name->name);
    for (uint32_t s = 0; s < block->scope.count; s++) {
        const struct sql_source *const source = &block->scope.sources[s];
        if (source->table && source->alias && word_compare(source->table, name->qualifier) == 0)
            alias = source->alias;
        if (!block->sources[s].name || block->sources[s].name[0] == '#')
            continue;
        near_word_try(&near, block->sources[s].name);
        if (used < sizeof names - 100)
            used += (size_t)snprintf(names + used, sizeof names - used, "%s%.80s", used ? ", " : "; it has ",
                                     block->sources[s].name);
    }
    if (alias)
        return logical_refuse(block->state, name->position,
                              "table %s has the alias %s here, which names its columns: %s.%s",
                              name->qualifier, alias, alias, name->name);
    return logical_refuse(block->state, name->position, "there is no table or alias '%s' in FROM%s%s%s",
                          name->qualifier, near.nearest ? "; did you mean " : names,
                          near.nearest ? near.nearest : "", near.nearest ? "?" : "");
}

static enum status refuse_unknown(const struct bind_place *place, const struct sql_expression *name)
{
    const struct bind_block *const block = place->block;
    const char *const qualifier = name->qualifier ? name->qualifier : "", *const dot =
                                                                              name->qualifier ? "." : "";
    struct near_word near = near_word_begin(name->name);
    char list[512] = "";
    size_t used = 0;
    bool table = false;
    for (uint32_t s = 0; s < block->scope.count; s++) {
        const struct bind_source *const source = &block->sources[s];
        if (name->qualifier && (!source->name || word_compare(name->qualifier, source->name) != 0))
            continue;
        table = true;
        for (uint32_t c = 0; c < source->count; c++) {
            near_word_try(&near, source->names[c]);
            if (used < sizeof list - 100)
                used += (size_t)snprintf(list + used, sizeof list - used, "%s%.80s", used ? ", " : "",
                                         source->names[c]);
        }
    }
    if (name->qualifier && !table)
        return refuse_qualifier(block, name);
    if (!table)
        return logical_refuse(block->state, name->position,
                              "there is no column %s, because the statement has no FROM", name->name);
    const struct table *const elsewhere =
        name->qualifier ? NULL : table_with(block->state->database, name->name);
    if (elsewhere)
        return logical_refuse(block->state, name->position,
                              "FROM has no column %s; table %s has it: join it in FROM", name->name,
                              elsewhere->name);
    if (near.nearest)
        return logical_refuse(block->state, name->position, "there is no column %s%s%s; did you mean %s?",
                              qualifier, dot, name->name, near.nearest);
    return logical_refuse(block->state, name->position, "there is no column %s%s%s; there are %s%s%s",
                          qualifier, dot, name->name, list, used >= sizeof list - 100 ? ", ..." : "",
                          name->qualifier ? "" : "; strings are in single quotes");
}

/* The value of a column of FROM. */
static enum status column_value(const struct bind_block *block, const struct sql_scope_column *column,
                                struct sql_position position, struct sql_expression **out)
{
    struct bind_state *const state = block->state;
    for (uint32_t i = 0; i < column->count; i++) {
        struct sql_expression *input, *first = *out;
        RETURN_IF_ERROR(logical_input(state->tree, position,
                                      block->sources[column->sources[i]].columns[column->columns[i]], &input,
                                      state->error));
        *out = input;
        if (i == 0)
            continue;
        RETURN_IF_ERROR(sql_tree_node(state->arena, SQL_FUNCTION, position, out, state->error));
        (*out)->name = "coalesce";
        RETURN_IF_ERROR(sql_tree_child(state->arena, *out, first, state->error));
        RETURN_IF_ERROR(sql_tree_child(state->arena, *out, input, state->error));
    }
    return STATUS_OK;
}

/* The column of the aggregate's groups whose value an expression over its input is; NULL: it is none. */
static enum status group_of(const struct bind_block *block, const struct sql_expression *below,
                            struct sql_expression **out)
{
    const struct logical_node *const aggregate = block->aggregate;
    const bool constant = below->operation < SQL_PARAMETER && aggregate->aggregate.set_count;
    for (uint32_t g = 0; g < aggregate->aggregate.group_count; g++)
        if (sql_same_expression(constant ? block->group_trees[g] : aggregate->aggregate.groups[g], below))
            return logical_input(block->state->tree, below->position, aggregate->columns[g], out,
                                 block->state->error);
    return STATUS_OK;
}

/* Resolves a name in the innermost place, or in one around it. */
static enum status resolve_from(const struct bind_place *place, const struct bind_place *inner,
                                const struct sql_expression *name, struct sql_expression **out)
{
    struct bind_block *const block = place->block;
    struct sql_scope_column column;
    const uint32_t count =
        place->on
            ? sql_scope_find_on(&block->scope, (uint32_t)(place->on - block->scope.sources), name, &column)
            : sql_scope_find(&block->scope, name, &column);
    char owners[OWNERS_BYTES];
    if (count > 1)
        return logical_refuse(block->state, name->position, "%s could be a column of more than one table%s",
                              name->name, sql_scope_owners(&block->scope, name, owners, sizeof owners));
    if (count == 0) {
        const uint32_t item = place->aliases ? bind_alias_of(block, name) : block->select->item_count;
        if (item < block->select->item_count)
            return resolve_alias(place, name, item, out);
        if (functions_is_current_time(name)) {
            *out = (struct sql_expression *)name;
            return STATUS_OK;
        }
        return block->around ? resolve_from(block->around, inner, name, out) : refuse_unknown(inner, name);
    }
    RETURN_IF_ERROR(column_value(block, &column, name->position, out));
    if (!place->above)
        return STATUS_OK;
    struct sql_expression *const below = *out;
    *out = NULL;
    RETURN_IF_ERROR(group_of(block, below, out));
    return *out ? STATUS_OK
                : logical_refuse(
                      block->state, name->position,
                      "%s is neither in GROUP BY nor inside an aggregate, so it has no one value; add "
                      "it to GROUP BY, or write min(%s)",
                      name->name, name->name);
}

static enum status resolve_name(const struct bind_place *place, const struct sql_expression *name,
                                struct sql_expression **out)
{
    return resolve_from(place, place, name, out);
}

/* ---- Above groups ---- */

static bool window_reaches_aggregate(const struct bind_block *block, const struct sql_window *written)
{
    const struct sql_window *window;
    bool reaches = false;
    if (bind_window_of((struct bind_block *)block, written, &window) != STATUS_OK)
        return false; /* which is refused when it is resolved */
    for (uint32_t p = 0; p < window->partition_count && !reaches; p++)
        reaches = bind_reaches_aggregate(block, window->partitions[p]);
    for (uint32_t o = 0; o < window->order_count && !reaches; o++)
        reaches = bind_reaches_aggregate(block, window->orders[o].expression);
    return reaches;
}

bool bind_reaches_aggregate(const struct bind_block *block, const struct sql_expression *expression)
{
    if (expression->window ? window_reaches_aggregate(block, expression->window)
                           : sql_is_aggregate(expression))
        return true;
    for (uint32_t c = 0; c < expression->child_count; c++)
        if (bind_reaches_aggregate(block, expression->children[c]))
            return true;
    const uint32_t item =
        expression->operation == SQL_COLUMN ? alias_meant(block, expression) : block->select->item_count;
    if (item == block->select->item_count || block->select->items[item].expression == expression)
        return false;
    uint8_t *const reaches = &block->reaches[item];
    if (*reaches == REACHES_UNKNOWN) {
        struct bind_block *const opened = (struct bind_block *)block;
        *reaches = REACHES_NONE;
        if (open_alias(opened, expression, item) != STATUS_OK)
            return false; /* which is refused when it is resolved */
        if (bind_reaches_aggregate(block, block->select->items[item].expression))
            *reaches = REACHES_AGGREGATE;
        close_alias(opened, item);
    }
    return *reaches == REACHES_AGGREGATE;
}

/* True if a subquery or a window stands in it: then it is resolved part by part. */
static bool has_parts(const struct sql_expression *expression)
{
    bool any = expression->query || expression->window;
    for (uint32_t c = 0; c < expression->child_count && !any; c++)
        any = has_parts(expression->children[c]);
    return any;
}

/* True if all its names are columns of this SELECT, so that it may be a term of GROUP BY. */
static bool names_columns(const struct bind_block *block, const struct sql_expression *expression)
{
    struct sql_scope_column column;
    if (expression->operation == SQL_COLUMN)
        return sql_scope_find(&block->scope, expression, &column) == 1;
    bool all = true;
    for (uint32_t c = 0; c < expression->child_count && all; c++)
        all = names_columns(block, expression->children[c]);
    return all;
}

/* A term of GROUP BY, as it is written there, has the group's value. */
static enum status resolve_group(const struct bind_place *place, const struct sql_expression *node,
                                 struct sql_expression **out)
{
    struct bind_block *const block = place->block;
    const struct bind_place below = {.block = block, .node = place->node};
    struct sql_expression *resolved;
    for (uint32_t g = 0; has_parts(node) && g < block->aggregate->aggregate.group_count; g++)
        if (sql_same_expression(block->group_trees[g], node))
            return logical_input(block->state->tree, node->position, block->aggregate->columns[g], out,
                                 block->state->error);
    /* a constant is its own value, but NULL where a set of groups leaves it out */
    const bool constant = node->operation <= SQL_PARAMETER && !block->aggregate->aggregate.set_count;
    if (block->aggregate->aggregate.group_count == 0 || constant || bind_reaches_aggregate(block, node) ||
        has_parts(node) || !names_columns(block, node))
        return STATUS_OK;
    RETURN_IF_ERROR(bind_resolve(&below, node, &resolved));
    return group_of(block, resolved, out);
}

/* ---- Expressions ---- */

static bool is_same_value(const struct sql_parameter *a, const struct sql_parameter *b)
{
    return a->is_null == b->is_null && a->type.kind == b->type.kind && a->type.scale == b->type.scale &&
           a->type.zoned == b->type.zoned && a->value == b->value && a->length == b->length &&
           (!a->string || !b->string ? a->string == b->string : memcmp(a->string, b->string, a->length) == 0);
}

/* Terms of GROUP BY, and those of ORDER BY after DISTINCT, are found by what they are: so a parameter is the first one of its value, and the tree is one for these
 * values alone. */
static enum status same_parameter(struct bind_state *state, const struct sql_expression *node,
                                  struct sql_expression **out)
{
    const struct sql_parameter *const parameters = state->options->parameters;
    uint32_t first = 0;
    while (first < node->index && !is_same_value(&parameters[first], &parameters[node->index]))
        first++;
    if (first == node->index)
        return STATUS_OK;
    state->tree->of_values = true;
    RETURN_IF_ERROR(sql_tree_node(state->arena, SQL_PARAMETER, node->position, out, state->error));
    (*out)->index = first;
    return STATUS_OK;
}

/* A function that there is not, perhaps an aggregate of other systems: that is told before what its values lack above groups. */
static enum status check_function(const struct bind_block *block, const struct sql_expression *call)
{
    struct sql_expression alone = *call;
    struct sql_input type;
    size_t place;
    alone.child_count = 0;
    return call->operation != SQL_FUNCTION || function_find(call->name, &place)
               ? STATUS_OK
               : sql_scalar_type(block->state->scalars, &alone, &type, block->state->error);
}

/* f(*), where f is no aggregate: a mistyped count, mostly. */
static enum status refuse_star_of(const struct bind_block *block, const struct sql_expression *call)
{
    const char *const near = functions_near(call->name);
    return near && strcmp(near, call->name) != 0
               ? logical_refuse(block->state, call->position, "there is no function %s; did you mean %s?",
                                call->name, near)
               : logical_refuse(block->state, call->children[0]->position,
                                "* stands alone in a select list or in count(*)");
}

static enum status replace(void *context, const struct sql_expression *node, struct sql_expression **out)
{
    const struct bind_place *const place = context;
    struct bind_block *const block = place->block;
    const struct bind_made *const known = find_made(block, node, place->above);
    if (known) {
        *out = known->input;
        return STATUS_OK;
    }
    if (node->operation == SQL_PARAMETER && (block->select->group_count || block->select->distinct))
        return same_parameter(block->state, node, out);
    if (node->window)
        return logical_refuse(
            block->state, node->position,
            "a window function stands in the select list or in ORDER BY; to set a condition "
            "on it, write QUALIFY, or ask a subquery: SELECT ... FROM (SELECT ..., rank() "
            "OVER (...) AS r ...) t WHERE r <= 10");
    if (sql_is_aggregate(node))
        return logical_refuse(block->state, node->position,
                              "%s is an aggregate, which cannot stand in WHERE, ON, GROUP BY or another "
                              "aggregate; use HAVING",
                              node->name);
    if (place->above) {
        RETURN_IF_ERROR(resolve_group(place, node, out));
        if (*out)
            return STATUS_OK;
    }
    if (place->above)
        RETURN_IF_ERROR(check_function(block, node));
    if (node->query)
        return bind_subquery(place, node, out);
    if (node->operation == SQL_FUNCTION && node->child_count && node->children[0]->operation == SQL_STAR)
        return refuse_star_of(block, node);
    if (node->operation == SQL_STAR)
        return logical_refuse(block->state, node->position, "* stands alone in a select list or in count(*)");
    return node->operation == SQL_COLUMN ? resolve_name(place, node, out) : STATUS_OK;
}

enum status bind_resolve(const struct bind_place *place, const struct sql_expression *expression,
                         struct sql_expression **out)
{
    const struct bind_state *const state = place->block->state;
    return sql_tree_rewrite(state->arena, expression, replace, (void *)place, out, state->error);
}

enum status bind_resolve_condition(const struct bind_place *place, const struct sql_expression *condition,
                                   struct sql_expression **out)
{
    const struct bind_state *const state = place->block->state;
    RETURN_IF_ERROR(bind_resolve(place, condition, out));
    return sql_scalar_condition(state->scalars, *out, state->error);
}

/* ---- Aggregates ---- */

enum status bind_arguments(const struct bind_place *place, const struct sql_expression *call,
                           struct sql_expression **out)
{
    const struct bind_state *const state = place->block->state;
    RETURN_IF_ERROR(sql_tree_take(state->arena, sizeof **out, out, state->error));
    **out = *call;
    (*out)->window = NULL;
    RETURN_IF_ERROR(sql_tree_take(state->arena, (call->child_count + 1) * sizeof *(*out)->children,
                                  &(*out)->children, state->error));
    for (uint32_t c = 0; c < call->child_count; c++) {
        if (call->children[c]->operation == SQL_STAR)
            (*out)->children[c] = call->children[c];
        else
            RETURN_IF_ERROR(bind_resolve(place, call->children[c], &(*out)->children[c]));
    }
    return STATUS_OK;
}

/* The arguments of grouping() are groups. */
static enum status resolve_grouping(const struct bind_place *below, struct sql_expression *call,
                                    struct sql_input *type)
{
    *type = (struct sql_input){.type = {.kind = VALUE_INTEGER}};
    for (uint32_t c = 0; c < call->child_count; c++) {
        struct sql_expression *const argument = call->children[c];
        call->children[c] = NULL;
        RETURN_IF_ERROR(group_of(below->block, argument, &call->children[c]));
        if (!call->children[c])
            return logical_refuse(below->block->state, argument->position,
                                  "grouping takes terms of GROUP BY, as they are written there");
    }
    return STATUS_OK;
}

/* ORDER BY of several terms is their rank(), a window under the aggregation. */
static enum status bind_order_of(const struct bind_place *below, const struct sql_expression *aggregate)
{
    if (!aggregate->ordered || !aggregate->children[aggregate->child_count - 1]->window)
        return STATUS_OK;
    RETURN_IF_ERROR(bind_windows_open(below->block));
    RETURN_IF_ERROR(bind_find_windows(below, aggregate->children[aggregate->child_count - 1]));
    return bind_windows_close(below->block, below->node);
}

static enum status add_aggregate(const struct bind_place *below, const struct sql_expression *node)
{
    struct bind_block *const block = below->block;
    struct bind_state *const state = block->state;
    struct logical_node *const aggregate = block->aggregate;
    const uint32_t groups = aggregate->aggregate.group_count;
    struct sql_expression *call, *input;
    struct sql_input type;
    uint32_t a = 0, column;
    RETURN_IF_ERROR(bind_order_of(below, node));
    RETURN_IF_ERROR(bind_arguments(below, node, &call));
    if (strcmp(call->name, "grouping") == 0)
        RETURN_IF_ERROR(resolve_grouping(below, call, &type));
    else
        RETURN_IF_ERROR(sql_aggregate_type(state->scalars, call, &type, state->error));
    while (a < aggregate->aggregate.aggregate_count &&
           !sql_same_expression(aggregate->aggregate.aggregates[a], call))
        a++;
    if (a == aggregate->aggregate.aggregate_count) {
        RETURN_IF_ERROR(sql_tree_append(state->arena, &aggregate->aggregate.aggregates,
                                        &aggregate->aggregate.aggregate_count, sizeof call, &call,
                                        state->error));
        RETURN_IF_ERROR(
            logical_column_new(state->tree, node->name, type.type, type.nullable, &column, state->error));
        RETURN_IF_ERROR(logical_gives(state->tree, aggregate, column, state->error));
    }
    RETURN_IF_ERROR(
        logical_input(state->tree, node->position, aggregate->columns[groups + a], &input, state->error));
    return bind_keep_made(block, node, input, true);
}

/* Calls `found` for each node that `is` wants, also those in windows, and behind aliases. */
struct search {
    const struct bind_place *place;
    bool (*is)(const struct sql_expression *node);
    enum status (*found)(const struct bind_place *place, const struct sql_expression *node);
    uint64_t **seen; /* bit i: the alias of item i was searched */
};

static enum status search(const struct search *in, const struct sql_expression *node);

static enum status search_window(const struct search *in, const struct sql_window *written)
{
    const struct sql_window *window;
    RETURN_IF_ERROR(bind_window_of(in->place->block, written, &window));
    if (window->begin_value)
        RETURN_IF_ERROR(search(in, window->begin_value));
    if (window->end_value)
        RETURN_IF_ERROR(search(in, window->end_value));
    for (uint32_t p = 0; p < window->partition_count; p++)
        RETURN_IF_ERROR(search(in, window->partitions[p]));
    for (uint32_t o = 0; o < window->order_count; o++)
        RETURN_IF_ERROR(search(in, window->orders[o].expression));
    return STATUS_OK;
}

static enum status search(const struct search *in, const struct sql_expression *node)
{
    struct bind_block *const block = in->place->block;
    if (in->is(node))
        return find_made(block, node, false) ? STATUS_OK : in->found(in->place, node);
    for (uint32_t c = 0; c < node->child_count; c++)
        RETURN_IF_ERROR(search(in, node->children[c]));
    if (node->window)
        RETURN_IF_ERROR(search_window(in, node->window));
    const uint32_t item =
        node->operation == SQL_COLUMN ? alias_meant(block, node) : block->select->item_count;
    if (item == block->select->item_count)
        return STATUS_OK;
    RETURN_IF_ERROR(open_alias(block, node, item));
    RETURN_IF_ERROR(take_bits(block, in->seen));
    const bool seen = (*in->seen)[item / 64] >> item % 64 & 1;
    (*in->seen)[item / 64] |= UINT64_C(1) << item % 64;
    const enum status status = seen ? STATUS_OK : search(in, block->select->items[item].expression);
    close_alias(block, item);
    return status;
}

static bool is_aggregate(const struct sql_expression *node)
{
    return sql_is_aggregate(node) && !node->window;
}

enum status bind_find_aggregates(const struct bind_place *below, const struct sql_expression *expression)
{
    return search(&(struct search){below, is_aggregate, add_aggregate, &below->block->seen[0]}, expression);
}

/* ---- Windows ---- */

static bool is_window(const struct sql_expression *node)
{
    return node->window != NULL;
}

enum status bind_find_windows(const struct bind_place *place, const struct sql_expression *expression)
{
    return search(&(struct search){place, is_window, bind_window, &place->block->seen[1]}, expression);
}

enum status bind_windows_open(struct bind_block *block)
{
    return logical_node_new(block->state->tree, LOGICAL_WINDOW, block->select->position, NULL, NULL,
                            &block->window, block->state->error);
}

enum status bind_windows_close(struct bind_block *block, struct logical_node **node)
{
    struct bind_state *const state = block->state;
    struct logical_node *const window = block->window;
    const struct logical_node made = *window;
    if (window->window.count == 0)
        return STATUS_OK;
    window->columns = NULL;
    window->column_count = 0;
    window->inputs[0] = *node;
    window->input_count = 1;
    RETURN_IF_ERROR(logical_gives_all(state->tree, window, *node, state->error));
    RETURN_IF_ERROR(logical_gives_all(state->tree, window, &made, state->error));
    *node = window;
    return STATUS_OK;
}
