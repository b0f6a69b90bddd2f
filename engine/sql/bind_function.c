/* bind_function.c: binds functions, aggregates and CAST (bind_internal.h). */
#include "engine/sql/bind_internal.h"
#include "engine/sql/functions/functions.h"
#include "storage/base/memory.h"

/* ---- Aggregates ---- */

enum status bind_aggregate_add(struct binder *binder, struct plan_aggregate aggregate, const char *counted,
                               uint32_t *index)
{
    struct plan *const plan = binder->plan;
    if (plan->aggregate_count == PLAN_AGGREGATES_MAX)
        return error_set(
            binder->error, STATUS_BAD_INPUT,
            "the statement has more than %u aggregates, where %s; ask for them in several statements",
            PLAN_AGGREGATES_MAX, counted);
    RETURN_IF_ERROR(memory_grow(&plan->aggregates, (plan->aggregate_count + 1) * sizeof *plan->aggregates,
                                "a plan", binder->error));
    *index = plan->aggregate_count++;
    aggregate.count = *index;
    plan->aggregates[*index] = aggregate;
    return STATUS_OK;
}

enum status bind_aggregate_find(struct binder *binder, struct plan_aggregate aggregate, uint32_t *index)
{
    struct plan *plan = binder->plan;
    for (uint32_t a = 0; a < plan->aggregate_count; a++)
        if (plan->aggregates[a].kind == aggregate.kind && !plan->aggregates[a].limb &&
            plan->aggregates[a].argument == aggregate.argument) {
            *index = a;
            return STATUS_OK;
        }
    return bind_aggregate_add(binder, aggregate, "avg and sums of what may be NULL count as two", index);
}

/* Makes the range of an aggregate's leaf of that of its argument. */
static void bind_aggregate_range(const struct binder *binder, enum aggregate_kind kind,
                                 struct expression *leaf)
{
    if (aggregate_of(kind)->range)
        aggregate_of(kind)->range(&leaf->low, &leaf->high, table_whole_rows(binder->plan->fact));
}

void bind_sum_range(const struct binder *binder, struct plan_aggregate *aggregate, struct expression *leaf)
{
    leaf->low = aggregate->low;
    leaf->high = aggregate->high;
    aggregate->kind = aggregate_sum_of(&leaf->low, &leaf->high, table_whole_rows(binder->plan->fact));
}

enum status bind_aggregate_argument(struct binder *binder, const struct sql_expression *ast,
                                    uint32_t *argument)
{
    RETURN_IF_ERROR(bind_below(binder, ast, argument));
    const struct expression *const node = bind_node(binder, *argument);
    return bind_is_by_row(binder, node) && (node->type.kind == VALUE_STRING || binder->planner.on_gpu)
               ? bind_refuse_text(binder, ast->position, SQL_CUT_BELOW_GROUPS)
               : STATUS_OK;
}

/* CASE WHEN c THEN x END is NULL where CASE WHEN c THEN 1 END is, if x never is: one count serves all such x. */
static enum status find_counted(struct binder *binder, uint32_t *argument)
{
    const struct expression of = *bind_node(binder, *argument);
    uint32_t one, null;
    if (of.operation != EXPRESSION_CHOOSE || bind_node(binder, of.child[1])->nullable ||
        bind_node(binder, of.child[2])->operation != EXPRESSION_CONSTANT ||
        !bind_node(binder, of.child[2])->is_null)
        return STATUS_OK;
    RETURN_IF_ERROR(bind_integer(binder, 1, 0, &one));
    RETURN_IF_ERROR(expression_null(binder->list, bind_node(binder, one)->type, &null, binder->error));
    return expression_apply(binder->list, EXPRESSION_CHOOSE, of.child[0], one, null, argument, binder->error);
}

enum status bind_count_of(struct binder *binder, uint32_t argument, uint32_t *count)
{
    RETURN_IF_ERROR(find_counted(binder, &argument));
    const struct expression *const of = bind_node(binder, argument);
    const struct plan_aggregate made = {.kind = AGGREGATE_COUNT,
                                        .argument = of->nullable ? argument : EXPRESSION_NONE,
                                        .type = {.kind = VALUE_INTEGER},
                                        .low = of->nullable ? of->low : 0,
                                        .high = of->nullable ? of->high : 0};
    return bind_aggregate_find(binder, made, count);
}

enum status bind_extreme_of(struct binder *binder, uint32_t argument, bool greatest, uint32_t *index)
{
    const struct expression of = *bind_node(binder, argument);
    const struct plan_aggregate made = {.kind = greatest ? AGGREGATE_MAX : AGGREGATE_MIN,
                                        .argument = argument,
                                        .type = of.type,
                                        .low = of.low,
                                        .high = of.high};
    RETURN_IF_ERROR(bind_aggregate_find(binder, made, index));
    if (!of.nullable)
        return STATUS_OK;
    uint32_t count;
    RETURN_IF_ERROR(bind_count_of(binder, argument, &count));
    binder->plan->aggregates[*index].count = count;
    return STATUS_OK;
}

enum status bind_sum_of(struct binder *binder, uint32_t argument, uint32_t count, uint32_t *index)
{
    const struct expression of = *bind_node(binder, argument);
    struct plan_aggregate sum = {.argument = argument, .type = of.type, .low = of.low, .high = of.high};
    struct expression leaf;
    bind_sum_range(binder, &sum, &leaf);
    RETURN_IF_ERROR(bind_aggregate_find(binder, sum, index));
    if (of.nullable)
        binder->plan->aggregates[*index].count = count;
    return STATUS_OK;
}

static enum status bind_count(struct binder *binder, const struct sql_expression *ast, uint32_t *node)
{
    struct plan_aggregate aggregate = {.kind = AGGREGATE_COUNT, .argument = EXPRESSION_NONE};
    struct expression leaf = {.operation = EXPRESSION_AGGREGATE, .type = {.kind = VALUE_INTEGER}};
    if (ast->distinct && (ast->child_count == 0 || ast->children[0]->operation == SQL_STAR))
        return bind_refuse(binder, ast->position,
                           "count(DISTINCT *) is not supported; name the columns: SELECT count(*) FROM "
                           "(SELECT DISTINCT a, b FROM ...) t");
    if (ast->distinct && binder->regroups && ast->child_count == 1)
        return bind_values_aggregate(binder, ast, aggregate_name_find(ast->name)->distinct, node);
    if (ast->child_count && ast->children[0]->operation != SQL_STAR) {
        RETURN_IF_ERROR(bind_aggregate_argument(binder, ast->children[0], &aggregate.argument));
        if (!ast->distinct)
            RETURN_IF_ERROR(find_counted(binder, &aggregate.argument));
        aggregate.low = bind_node(binder, aggregate.argument)->low;
        aggregate.high = bind_node(binder, aggregate.argument)->high;
        if (ast->distinct)
            aggregate.kind = AGGREGATE_COUNT_DISTINCT;
        else if (!bind_node(binder, aggregate.argument)->nullable)
            aggregate.argument = EXPRESSION_NONE;
    }
    aggregate.type = leaf.type;
    bind_aggregate_range(binder, aggregate.kind, &leaf);
    RETURN_IF_ERROR(bind_aggregate_find(binder, aggregate, &leaf.index));
    return expression_add(binder->list, &leaf, node, binder->error);
}

/* avg is a double: the leaf of the sum, which divides it by the count. */
static enum status bind_average(struct binder *binder, const struct sql_expression *ast, uint32_t *node)
{
    struct expression average = *bind_node(binder, *node);
    uint32_t count;
    RETURN_IF_ERROR(bind_count(binder, ast, &count));
    average.type.kind = VALUE_DOUBLE;
    average.low = DOUBLE_KEY_MINUS_INFINITY;
    average.high = DOUBLE_KEY_INFINITY;
    average.table = bind_node(binder, count)->index + 1;
    return expression_add(binder->list, &average, node, binder->error);
}

enum status bind_aggregate(struct binder *binder, const struct sql_expression *ast, uint32_t *node)
{
    const struct aggregate_name *const name = aggregate_name_find(ast->name);
    const bool sums = aggregate_of(name->aggregate)->numbers;
    if (name->family != FAMILY_BASIC)
        return bind_other_aggregate(binder, ast, node);
    if (ast->distinct && sums)
        return bind_values_aggregate(binder, ast, name->distinct, node);
    if (name->counts)
        return bind_count(binder, ast, node);
    if (ast->child_count != 1 || ast->children[0]->operation == SQL_STAR)
        return bind_refuse(binder, ast->position, "%s takes one value", ast->name);
    uint32_t argument;
    RETURN_IF_ERROR(bind_aggregate_argument(binder, ast->children[0], &argument));
    if (sums && bind_kind(binder, argument) == VALUE_BOOLEAN)
        RETURN_IF_ERROR(bind_number_of(binder, ast->position, &argument));
    const struct expression value = *bind_node(binder, argument);
    if (sums && value.type.kind == VALUE_DOUBLE)
        return bind_double_sum(binder, argument, name->average, node);
    if (sums && value.type.kind != VALUE_INTEGER)
        return bind_refuse(binder, ast->position, "%s takes numbers", ast->name);
    if (aggregate_of(name->aggregate)->whole &&
        (value.type.kind != VALUE_INTEGER || value.type.scale || ast->distinct))
        return bind_refuse(binder, ast->position,
                           ast->distinct ? "DISTINCT cannot stand in %s" : "%s takes whole numbers",
                           ast->name);
    struct plan_aggregate aggregate = {.argument = argument,
                                       .type = value.type,
                                       .low = value.low,
                                       .high = value.high,
                                       .kind = name->aggregate};
    struct expression leaf = {.operation = EXPRESSION_AGGREGATE,
                              .type = value.type,
                              .nullable = true,
                              .low = value.low,
                              .high = value.high};
    if (sums) {
        leaf.type.untyped = false;
        bind_sum_range(binder, &aggregate, &leaf);
    } else {
        bind_aggregate_range(binder, aggregate.kind, &leaf);
    }
    RETURN_IF_ERROR(bind_aggregate_find(binder, aggregate, &leaf.index));
    if (value.nullable) {
        uint32_t count; /* the list of aggregates may move */
        RETURN_IF_ERROR(bind_count_of(binder, argument, &count));
        binder->plan->aggregates[leaf.index].count = count;
    }
    RETURN_IF_ERROR(expression_add(binder->list, &leaf, node, binder->error));
    return name->average ? bind_average(binder, ast, node) : STATUS_OK;
}

/* ---- Functions ---- */

enum status bind_function(struct binder *binder, const struct sql_expression *ast, enum bind_level level,
                          uint32_t *node)
{
    if (sql_is_aggregate(ast)) {
        if (level == BIND_BELOW)
            return bind_refuse(binder, ast->position,
                               "%s is an aggregate, which cannot stand in WHERE, ON, GROUP BY or another "
                               "aggregate; use HAVING",
                               ast->name);
        return bind_placed(binder, ast->position, bind_aggregate(binder, ast, node));
    }
    if (aggregate_name_find(ast->name)) /* with more values than an aggregate has */
        return bind_refuse(binder, ast->position, "%s takes one value, not %u%s", ast->name, ast->child_count,
                           strcmp(ast->name, "max") == 0   ? "; the greatest of several is greatest(a, b)"
                           : strcmp(ast->name, "min") == 0 ? "; the least of several is least(a, b)"
                                                           : "");
    return functions_bind(binder, ast, level, node);
}
