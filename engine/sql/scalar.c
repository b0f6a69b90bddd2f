/* scalar.c: see scalar.h. */
#include "engine/sql/scalar.h"

#include "engine/sql/bind_internal.h"
#include "storage/base/memory.h"

#include <stdlib.h>

/* Inputs are leaves of a plan that is never run, over a table of one row. */
struct sql_scalars {
    const struct sql_scalar_options *options;
    struct plan plan;
    struct table fact;
    struct sql_select select; /* empty */
    struct binder binder;
};

static const uint64_t no_starts[1] = {0};
static const struct dictionary no_strings = {.starts = no_starts, .bytes = ""};

enum status sql_scalars_new(const struct sql_scalar_options *options, struct sql_scalars **out,
                            struct error *error)
{
    struct sql_scalars *scalars;
    RETURN_IF_ERROR(memory_zeros(&scalars, sizeof *scalars, "a statement", error));
    scalars->options = options;
    scalars->fact.rows = 1;
    scalars->plan.fact = &scalars->fact;
    scalars->plan.expressions.threads = options->range ? options->threads : 1;
    scalars->binder = (struct binder){.plan = &scalars->plan,
                                      .list = &scalars->plan.expressions,
                                      .select = &scalars->select,
                                      .parameters = options->parameters,
                                      .parameter_count = options->parameter_count,
                                      .planner = {.plan = &scalars->plan, .threads = 1, .error = error},
                                      .now = options->now,
                                      .like_ignores_case = options->like == SQL_LIKE_SQLITE,
                                      .zone = options->zone,
                                      .scalars = scalars,
                                      .error = error};
    *out = scalars;
    return STATUS_OK;
}

void sql_scalars_free(struct sql_scalars *scalars)
{
    if (!scalars)
        return;
    plan_clear(&scalars->plan);
    bind_free(&scalars->binder);
    free(scalars);
}

/* ---- Leaves ---- */

static enum status leaf_of(struct binder *binder, struct sql_input input, uint32_t index, uint32_t *node)
{
    if (input.type.untyped)
        return expression_null(binder->list, VALUE_UNTYPED, node, binder->error);
    struct expression leaf = {
        .operation = EXPRESSION_COLUMN, .type = input.type, .nullable = input.nullable, .index = index};
    leaf.type.literal = false;
    const struct sql_scalar_options *const options = binder->scalars->options;
    if (options->range)
        options->range(options->context, index, &leaf.low, &leaf.high);
    else
        leaf.type.dictionary = input.type.kind == VALUE_STRING ? &no_strings : NULL;
    return expression_add(binder->list, &leaf, node, binder->error);
}

enum status bind_scalar_input(struct binder *binder, const struct sql_expression *ast, uint32_t *node)
{
    const struct sql_scalar_options *const options = binder->scalars->options;
    return leaf_of(binder, options->input(options->context, ast->index), ast->index, node);
}

bool bind_may_be_constant(const struct binder *binder, uint32_t node)
{
    return bind_node(binder, node)->operation == EXPRESSION_COLUMN && binder->scalars &&
           !binder->scalars->options->range;
}

/* ---- Types ---- */

static void type_of_node(const struct binder *binder, uint32_t node, struct sql_input *type)
{
    const struct expression *const made = bind_node(binder, node);
    *type = (struct sql_input){made->type, made->nullable};
    type->type.dictionary = NULL;
    type->type.literal = false;
}

enum status sql_scalar_type(struct sql_scalars *scalars, const struct sql_expression *expression,
                            struct sql_input *type, struct error *error)
{
    uint32_t node;
    scalars->binder.error = scalars->binder.planner.error = error;
    RETURN_IF_ERROR(bind_expression(&scalars->binder, expression, BIND_BELOW, &node));
    type_of_node(&scalars->binder, node, type);
    return STATUS_OK;
}

enum status sql_scalar_condition(struct sql_scalars *scalars, const struct sql_expression *condition,
                                 struct error *error)
{
    uint32_t node;
    scalars->binder.error = scalars->binder.planner.error = error;
    return bind_condition(&scalars->binder, condition, BIND_BELOW, &node);
}

enum status sql_scalar_condition_node(struct sql_scalars *scalars, const struct sql_expression *condition,
                                      const struct expression_list **list, uint32_t *node,
                                      struct error *error)
{
    scalars->binder.error = scalars->binder.planner.error = error;
    RETURN_IF_ERROR(bind_condition(&scalars->binder, condition, BIND_BELOW, node));
    *list = scalars->binder.list;
    return STATUS_OK;
}

enum status sql_aggregate_type(struct sql_scalars *scalars, const struct sql_expression *call,
                               struct sql_input *type, struct error *error)
{
    struct binder *const binder = &scalars->binder;
    struct plan *const plan = &scalars->plan;
    uint32_t node;
    binder->error = binder->planner.error = error;
    binder->aggregated = true;
    const enum status status = bind_placed(binder, call->position, bind_aggregate(binder, call, &node));
    binder->aggregated = false;
    plan->group_count = plan->aggregate_count = plan->measure_count = 0; /* that it has added */
    if (status == STATUS_OK)
        type_of_node(binder, node, type);
    return status;
}

enum status sql_common_type(struct sql_scalars *scalars, struct sql_position position, struct sql_input a,
                            struct sql_input b, struct sql_input *type, struct error *error)
{
    struct binder *const binder = &scalars->binder;
    uint32_t left, right;
    binder->error = binder->planner.error = error;
    RETURN_IF_ERROR(leaf_of(binder, a, UINT32_MAX, &left));
    RETURN_IF_ERROR(leaf_of(binder, b, UINT32_MAX - 1, &right));
    RETURN_IF_ERROR(bind_alike(binder, position, &left, &right));
    type_of_node(binder, left, type);
    type->nullable = a.nullable || b.nullable;
    return STATUS_OK;
}
