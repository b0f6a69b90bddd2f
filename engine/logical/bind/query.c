/* query.c: binds a whole query: WITH, UNION, EXCEPT and INTERSECT, VALUES (bind.h). */
#include "engine/logical/bind/bind.h"
#include "engine/sql/bind_internal.h"
#include "engine/sql/sql_error.h"
#include "storage/base/calendar_text.h"

#include <string.h>

enum status logical_refuse(const struct bind_state *state, struct sql_position position, const char *format,
                           ...)
{
    va_list arguments;
    va_start(arguments, format);
    const enum status status = sql_refuse(state->error, position, format, arguments);
    va_end(arguments);
    return status;
}

/* ---- UNION and the like ---- */

struct parts {
    struct bind_state *state;
    const struct sql_select *select;
    const struct bind_named *named;
    const struct bind_place *around;
    const char **names; /* of the first part */
    uint32_t at;        /* the next part */
};

static struct sql_input input_of(const struct bind_state *state, uint32_t column)
{
    return (struct sql_input){state->tree->columns[column].type, state->tree->columns[column].nullable};
}

/* The type of values of both columns in one. */
static enum status type_together(const struct bind_state *state, struct sql_position position, uint32_t left,
                                 uint32_t right, struct sql_input *type)
{
    const struct sql_input a = input_of(state, left), b = input_of(state, right);
    struct error why; /* which does not name the columns */
    const enum status status = sql_common_type(state->scalars, position, a, b, type, &why);
    if (status == STATUS_OK && a.type.zoned != b.type.zoned && !a.type.untyped && !b.type.untyped)
        return logical_refuse(state, position, "one of %s and %s is with time zone; CAST the other one",
                              state->tree->columns[left].name, state->tree->columns[right].name);
    if (status == STATUS_BAD_INPUT)
        return logical_refuse(state, position, "%s is %s and %s is %s; CAST one of them",
                              state->tree->columns[left].name, bind_kind_name(a.type.kind),
                              state->tree->columns[right].name, bind_kind_name(b.type.kind));
    if (status != STATUS_OK)
        *state->error = why;
    return status;
}

/* ---- Literals beside times ---- a string of VALUES that stands in a column with dates, times or truth values is one, as where it
 * is compared with them. */

/* True if a part's column is made of literal strings and NULLs alone. */
static bool is_of_literals(const struct logical_node *node, uint32_t c)
{
    if (node->kind == LOGICAL_SET)
        return is_of_literals(node->inputs[0], c) && is_of_literals(node->inputs[1], c);
    return node->kind == LOGICAL_PROJECT && (node->project.expressions[c]->operation == SQL_STRING ||
                                             node->project.expressions[c]->operation == SQL_NULL);
}

/* A text with a time of day is no date, and one with an offset is an instant. */
static struct value_type type_of_literal(const char *text, struct value_type beside)
{
    const size_t length = strlen(text);
    int64_t value;
    if (beside.kind == VALUE_DATE && !bind_date_parse(text, length, &value) &&
        bind_timestamp_parse(text, length, &value))
        beside.kind = VALUE_TIMESTAMP;
    beside.zoned |= beside.kind == VALUE_TIMESTAMP && calendar_has_offset(text, text + length);
    return beside;
}

static enum status cast_literals(const struct bind_state *state, struct logical_node *node, uint32_t c,
                                 struct value_type beside)
{
    struct logical_column *const column = &state->tree->columns[node->columns[c]];
    struct sql_input type;
    if (node->kind == LOGICAL_SET) {
        const uint32_t left = node->inputs[0]->columns[c], right = node->inputs[1]->columns[c];
        RETURN_IF_ERROR(cast_literals(state, node->inputs[0], c, beside));
        RETURN_IF_ERROR(cast_literals(state, node->inputs[1], c, beside));
        RETURN_IF_ERROR(type_together(state, node->position, left, right, &type));
    } else {
        struct sql_expression **const literal = &node->project.expressions[c];
        if ((*literal)->operation == SQL_STRING)
            RETURN_IF_ERROR(bind_coerce(state, type_of_literal((*literal)->text, beside), literal));
        RETURN_IF_ERROR(sql_scalar_type(state->scalars, *literal, &type, state->error));
    }
    column->type = type.type;
    column->nullable = type.nullable;
    return STATUS_OK;
}

/* If one side's column c is of literals, and the other one's are times or truth values, the literals become such. */
static enum status read_literals(const struct bind_state *state, struct logical_node *literals,
                                 const struct logical_node *other, uint32_t c)
{
    const struct value_type type = state->tree->columns[other->columns[c]].type;
    const bool takes = type.kind == VALUE_DATE || type.kind == VALUE_TIMESTAMP || type.kind == VALUE_BOOLEAN;
    return takes && !type.untyped && state->tree->columns[literals->columns[c]].type.kind == VALUE_STRING &&
                   is_of_literals(literals, c)
               ? cast_literals(state, literals, c, type)
               : STATUS_OK;
}

static enum status combine(struct parts *parts, const struct sql_part *part, struct logical_node **left,
                           struct logical_node *right)
{
    struct bind_state *const state = parts->state;
    struct logical_node *set;
    if ((*left)->column_count != right->column_count)
        return logical_refuse(state, part->position, "this SELECT has %u columns, and the one before it %u",
                              right->column_count, (*left)->column_count);
    RETURN_IF_ERROR(
        logical_node_new(state->tree, LOGICAL_SET, part->position, *left, right, &set, state->error));
    set->set.set = part->set;
    set->set.all = part->all;
    for (uint32_t c = 0; c < right->column_count; c++) {
        struct sql_input type;
        uint32_t column;
        RETURN_IF_ERROR(read_literals(state, *left, right, c));
        RETURN_IF_ERROR(read_literals(state, right, *left, c));
        RETURN_IF_ERROR(type_together(state, part->position, (*left)->columns[c], right->columns[c], &type));
        RETURN_IF_ERROR(logical_column_new(state->tree, state->tree->columns[(*left)->columns[c]].name,
                                           type.type, type.nullable, &column, state->error));
        RETURN_IF_ERROR(logical_gives(state->tree, set, column, state->error));
    }
    *left = set;
    return STATUS_OK;
}

static enum status bind_part(struct parts *parts, struct logical_node **node)
{
    const char **names;
    RETURN_IF_ERROR(bind_query(parts->state, parts->select->parts[parts->at].select, parts->named,
                               parts->around, node, &names));
    if (parts->at++ == 0)
        parts->names = names;
    return STATUS_OK;
}

/* INTERSECT binds closer than UNION and EXCEPT. */
static enum status bind_term(struct parts *parts, struct logical_node **node)
{
    const struct sql_select *const select = parts->select;
    RETURN_IF_ERROR(bind_part(parts, node));
    while (parts->at < select->part_count && select->parts[parts->at].set == SQL_SET_INTERSECT) {
        const struct sql_part *const part = &select->parts[parts->at];
        struct logical_node *right;
        RETURN_IF_ERROR(bind_part(parts, &right));
        RETURN_IF_ERROR(combine(parts, part, node, right));
    }
    return STATUS_OK;
}

/* The part after the term that begins with part `at`. */
static uint32_t term_end(const struct sql_select *select, uint32_t at)
{
    for (at++; at < select->part_count && select->parts[at].set == SQL_SET_INTERSECT; at++)
        continue;
    return at;
}

/* The terms from part `at` on that UNION ALL, or UNION, adds to each other and to what is before them. */
static uint32_t terms_of_run(const struct sql_select *select, uint32_t at)
{
    const uint32_t second = term_end(select, at);
    const bool all = select->parts[at > 0 || second == select->part_count ? at : second].all;
    uint32_t terms = 1;
    if (at > 0 && select->parts[at].set != SQL_SET_UNION)
        return 1;
    for (at = second;
         at < select->part_count && select->parts[at].set == SQL_SET_UNION && select->parts[at].all == all;
         at = term_end(select, at))
        terms++;
    return terms;
}

/* Halves are added, so that the tree is not as deep as there are parts. */
static enum status bind_terms(struct parts *parts, uint32_t terms, struct logical_node **node)
{
    struct logical_node *right;
    if (terms == 1)
        return bind_term(parts, node);
    RETURN_IF_ERROR(bind_terms(parts, terms / 2, node));
    const struct sql_part *const part = &parts->select->parts[parts->at];
    RETURN_IF_ERROR(bind_terms(parts, terms - terms / 2, &right));
    return combine(parts, part, node, right);
}

static enum status bind_parts(struct parts *parts, struct logical_node **node)
{
    RETURN_IF_ERROR(bind_terms(parts, terms_of_run(parts->select, 0), node));
    while (parts->at < parts->select->part_count) {
        const struct sql_part *const part = &parts->select->parts[parts->at];
        struct logical_node *right;
        RETURN_IF_ERROR(bind_terms(parts, terms_of_run(parts->select, parts->at), &right));
        RETURN_IF_ERROR(combine(parts, part, node, right));
    }
    return STATUS_OK;
}

/* ORDER BY of all parts names columns of the answer, or computes from them. */
static enum status order_parts(struct parts *parts, struct logical_node **node)
{
    const struct sql_select *const select = parts->select;
    struct bind_state *const state = parts->state;
    struct bind_block block = {
        .state = state, .select = select, .named = parts->named, .around = parts->around};
    const struct bind_place place = {.block = &block, .node = node};
    const struct logical_node *const answer = *node;
    struct sql_order *orders = select->orders;
    uint32_t *columns, count = select->order_count;
    RETURN_IF_ERROR(bind_only_source(&block, NULL, answer, parts->names));
    if (select->order_all && !bind_names_column(&block, orders->expression)) {
        count = answer->column_count;
        RETURN_IF_ERROR(bind_order_all(state, select->orders, count, &orders));
    }
    RETURN_IF_ERROR(sql_tree_take(state->arena, (count + 1) * sizeof *columns, &columns, state->error));
    for (uint32_t o = 0; o < count; o++) {
        const struct sql_expression *const term = orders[o].expression;
        struct sql_expression *resolved;
        uint32_t number;
        if (term->operation == SQL_NUMBER) {
            RETURN_IF_ERROR(bind_number(state, term, "ORDER BY", answer->column_count, &number));
            columns[o] = answer->columns[number];
            continue;
        }
        RETURN_IF_ERROR(bind_resolve(&place, term, &resolved));
        if (resolved->operation == SQL_INPUT) {
            columns[o] = resolved->index;
            continue;
        }
        RETURN_IF_ERROR(bind_column_of(state, "", resolved, &columns[o]));
        RETURN_IF_ERROR(bind_extend(state, &resolved, &columns[o], 1, node));
    }
    RETURN_IF_ERROR(bind_sort(state, orders, count, columns, node));
    RETURN_IF_ERROR(bind_limit(&block, node));
    if ((*node)->column_count == answer->column_count)
        return STATUS_OK;
    struct logical_node *const sorted = *node;
    RETURN_IF_ERROR(
        logical_node_new(state->tree, LOGICAL_PROJECT, select->position, sorted, NULL, node, state->error));
    RETURN_IF_ERROR(logical_gives_all(state->tree, *node, answer, state->error));
    RETURN_IF_ERROR(sql_tree_take(state->arena,
                                  ((*node)->column_count + 1) * sizeof *(*node)->project.expressions,
                                  &(*node)->project.expressions, state->error));
    for (uint32_t c = 0; c < (*node)->column_count; c++)
        RETURN_IF_ERROR(logical_input(state->tree, select->position, (*node)->columns[c],
                                      &(*node)->project.expressions[c], state->error));
    return STATUS_OK;
}

/* ---- WITH ---- */

static enum status see_withs(struct bind_state *state, const struct sql_select *select,
                             const struct bind_place *around, const struct bind_named **named)
{
    for (uint32_t w = 0; w < select->with_count; w++) {
        struct bind_named *made;
        RETURN_IF_ERROR(sql_tree_take(state->arena, sizeof *made, &made, state->error));
        *made = (struct bind_named){.with = &select->withs[w], .around = around, .before = *named};
        *named = made;
    }
    return STATUS_OK;
}

/* ---- The whole ---- */

enum status bind_query(struct bind_state *state, const struct sql_select *select,
                       const struct bind_named *named, const struct bind_place *around,
                       struct logical_node **node, const char ***names)
{
    struct parts parts = {.state = state, .select = select, .around = around};
    RETURN_IF_ERROR(see_withs(state, select, around, &named));
    if (select->summary)
        return bind_summary(state, select, named, node, names);
    if (select->part_count == 0)
        return bind_one_select(state, select, named, around, node, names);
    parts.named = named;
    RETURN_IF_ERROR(bind_parts(&parts, node));
    *names = parts.names;
    return bind_query_order(state, select, named, around, parts.names, node);
}

enum status bind_query_order(struct bind_state *state, const struct sql_select *select,
                             const struct bind_named *named, const struct bind_place *around,
                             const char **names, struct logical_node **node)
{
    struct parts parts = {.state = state, .select = select, .named = named, .around = around, .names = names};
    return select->order_count || select->limit ? order_parts(&parts, node) : STATUS_OK;
}

static struct sql_input scalar_input(const void *context, uint32_t index)
{
    return input_of(context, index);
}

enum status logical_bind(struct database *database, const struct sql_select *select,
                         const struct logical_options *options, struct sql_statement_tree *arena,
                         struct logical_tree *tree, struct error *error)
{
    struct bind_state state = {
        .tree = tree, .arena = arena, .database = database, .options = options, .error = error};
    const struct sql_scalar_options scalars = {.parameters = options->parameters,
                                               .parameter_count = options->parameter_count,
                                               .like = options->like,
                                               .zone = options->zone,
                                               .now = options->now,
                                               .input = scalar_input,
                                               .context = &state};
    *tree = (struct logical_tree){.arena = arena};
    RETURN_IF_ERROR(sql_scalars_new(&scalars, &state.scalars, error));
    const enum status status = bind_query(&state, select, NULL, NULL, &tree->root, &tree->names);
    sql_scalars_free(state.scalars);
    return status;
}
