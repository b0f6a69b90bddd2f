/*
 * early.c: sides of a join with many rows for one of the other are grouped before it (rewrite.h).
 *
 *     aggregate by town: count(*), sum(@3)            aggregate by town: sum(@7 * @9), sum(@8 * @9)
 *       join inner @2 = @4                              join inner town = @4
 *         scan shops: 2 town, 3 area                      aggregate by town: 7 count(*), 8 sum(area)
 *         scan people: 4 home                               scan shops: 2 town, 3 area
 *                                                         aggregate by 4: 9 count(*)
 *                                                           scan people: 4 home
 *
 * Of an inner join both sides are grouped, if each has several rows with the same key and terms of GROUP BY: else the join gives
 * no more rows than one of them has, and may be part of a scan. Of a left join the right side is grouped, which then has a row
 * for each key, and so may be a dimension (engine/relational/dimension.c). Weipeng Yan and Per-Åke Larson, "Eager Aggregation
 * and Lazy Aggregation", VLDB 1995.
 *
 * Nothing is computed of rows without a partner that may fail, and no sum may leave 64 bits that did not before: a sum of a side's rows is a sum of pairs only if the key is found, and a
 * product of sums may be larger than the sum of all, where numbers of both signs cancel out.
 */
#include "engine/logical/rewrite/rewrite.h"

#include <math.h>
#include <string.h>

/* Rows for each group, from which on a side is grouped. */
#define ROWS_A_GROUP 4.0

/* Sums of whole numbers up to this are far from leaving 64 bits. */
#define SUM_MOST 4e18

#define NO_COLUMN UINT32_MAX

struct side {
    struct logical_node *node; /* what is joined: if it is grouped, an aggregate */
    struct logical_set gives;
    double rows, groups;
    bool grouped;
    uint32_t count; /* of a grouped side: the column of count(*) */
};

struct early {
    struct rewriter *rewriter;
    struct logical_node *join;
    struct conjuncts equalities;
    struct side sides[2];
};

/* ---- Sides ---- */

/* The side that has all columns of the expression, 0 if it names none; false: it needs both. */
static bool side_of(const struct early *early, const struct sql_expression *expression, int *side)
{
    *side = rewrite_names_any(expression, &early->sides[1].gives);
    return !*side || !rewrite_names_any(expression, &early->sides[0].gives);
}

/* Which side an equality's child is of; false: the condition does not join both sides. */
static bool is_key(const struct early *early, const struct sql_expression *condition, int *first)
{
    int second;
    return condition->operation == SQL_EQUAL && side_of(early, condition->children[0], first) &&
           side_of(early, condition->children[1], &second) && *first != second &&
           rewrite_names_any(condition->children[*first == 0 ? 0 : 1], &early->sides[0].gives);
}

/* Estimates the groups of each side by its keys and terms; false: they are not known, or a term needs both sides. */
static bool count_groups(struct early *early, const struct logical_node *aggregate)
{
    int side;
    for (uint32_t e = 0; e < early->equalities.count; e++) {
        if (!is_key(early, early->equalities.list[e], &side))
            return false;
        for (int child = 0; child < 2; child++) {
            struct side *const of = &early->sides[child ? !side : side];
            if (!rewrite_times_values(of->node, early->equalities.list[e]->children[child], &of->groups))
                return false;
        }
    }
    for (uint32_t g = 0; g < aggregate->aggregate.group_count; g++) {
        struct sql_expression *const term = aggregate->aggregate.groups[g];
        if (!side_of(early, term, &side) || !rewrite_never_fails(term))
            return false;
        bool key = false; /* which is counted */
        for (uint32_t e = 0; e < early->equalities.count && !key; e++)
            key = sql_same_expression(early->equalities.list[e]->children[0], term) ||
                  sql_same_expression(early->equalities.list[e]->children[1], term);
        if (!key && !rewrite_times_values(early->sides[side].node, term, &early->sides[side].groups))
            return false;
    }
    return early->equalities.count > 0;
}

static bool choose_sides(struct early *early)
{
    const bool left = early->join->join.join == LOGICAL_LEFT;
    for (int s = 0; s < 2; s++)
        early->sides[s].grouped = early->sides[s].rows >= ROWS_A_GROUP * early->sides[s].groups;
    early->sides[0].grouped &= !left;
    return early->sides[1].grouped && (left || early->sides[0].grouped);
}

/* ---- Aggregates ---- */

struct extremes {
    int64_t least, greatest;
};

static bool take_extremes(void *context, const struct column *column)
{
    struct extremes *const extremes = context;
    if (!column)
        return false;
    extremes->least = column->statistics.min < extremes->least ? column->statistics.min : extremes->least;
    extremes->greatest =
        column->statistics.max > extremes->greatest ? column->statistics.max : extremes->greatest;
    return true;
}

/* True if the sums of the argument by groups leave 64 bits only where the sum of all does. */
static bool is_safe_sum(const struct early *early, const struct sql_expression *argument, int side)
{
    struct extremes extremes = {0};
    if (argument->operation != SQL_INPUT ||
        !rewrite_all_stored(early->sides[side].node, argument->index, take_extremes, &extremes))
        return false;
    const double most = fmax(-(double)extremes.least, (double)extremes.greatest),
                 one = most * early->sides[side].rows;
    return one < SUM_MOST &&
           (extremes.least == 0 || extremes.greatest == 0 || one * early->sides[!side].rows < SUM_MOST);
}

static bool is_nullable(struct early *early, const struct sql_expression *argument, enum status *status)
{
    struct sql_input type = {.nullable = true};
    *status = sql_scalar_type(early->rewriter->scalars, argument, &type, early->rewriter->error);
    return type.nullable;
}

static bool is_star(const struct sql_expression *call)
{
    return call->children[0]->operation == SQL_STAR;
}

/* True if the aggregate can be made from those of groups. */
static enum status can_divide(struct early *early, const struct sql_expression *call, struct value_type type,
                              bool *can)
{
    enum status status = STATUS_OK;
    int side;
    *can = !call->distinct && !call->ordered && call->child_count == 1;
    if (!*can || (is_star(call) && strcmp(call->name, "count") == 0))
        return STATUS_OK;
    const struct sql_expression *const argument = call->children[0];
    *can = !is_star(call) && rewrite_never_fails(argument) && side_of(early, argument, &side) &&
           rewrite_names_any(argument, &early->sides[side].gives);
    if (!*can || strcmp(call->name, "min") == 0 || strcmp(call->name, "max") == 0)
        return STATUS_OK;
    if (strcmp(call->name, "count") == 0)
        *can = early->sides[side].grouped || !is_nullable(early, argument, &status);
    else
        *can = strcmp(call->name, "sum") == 0 && type.kind == VALUE_INTEGER &&
               is_safe_sum(early, argument, side);
    return status;
}

static enum status can_divide_all(struct early *early, const struct logical_node *aggregate, bool *can)
{
    *can = true;
    for (uint32_t a = 0; a < aggregate->aggregate.aggregate_count && *can; a++)
        RETURN_IF_ERROR(can_divide(
            early, aggregate->aggregate.aggregates[a],
            early->rewriter->tree->columns[aggregate->columns[aggregate->aggregate.group_count + a]].type,
            can));
    return STATUS_OK;
}

/* Adds an aggregate to those of a grouped side, and gives its column. */
static enum status add_aggregate(struct early *early, struct side *side, struct sql_expression *call,
                                 struct value_type type, bool nullable, uint32_t *column)
{
    struct rewriter *const rewriter = early->rewriter;
    struct logical_node *const made = side->node;
    RETURN_IF_ERROR(sql_tree_append(rewriter->tree->arena, &made->aggregate.aggregates,
                                    &made->aggregate.aggregate_count, sizeof call, &call, rewriter->error));
    RETURN_IF_ERROR(logical_column_new(rewriter->tree, call->name, type, nullable, column, rewriter->error));
    return logical_gives(rewriter->tree, made, *column, rewriter->error);
}

/* The column of a side's rows in a group. */
static enum status count_rows(struct early *early, struct side *side, struct sql_position position,
                              uint32_t *column)
{
    struct sql_expression *star, *call;
    if (side->count == NO_COLUMN) {
        RETURN_IF_ERROR(
            sql_tree_node(early->rewriter->tree->arena, SQL_STAR, position, &star, early->rewriter->error));
        RETURN_IF_ERROR(rewrite_apply(early->rewriter, SQL_FUNCTION, "count", star, NULL, &call));
        RETURN_IF_ERROR(add_aggregate(early, side, call, (struct value_type){.kind = VALUE_INTEGER}, false,
                                      &side->count));
    }
    *column = side->count;
    return STATUS_OK;
}

/* Multiplies by the rows that a side has for each of the other one: of a left join one of NULLs if there is none. */
static enum status times_rows(struct early *early, int s, struct sql_position position,
                              struct sql_expression **product)
{
    struct rewriter *const rewriter = early->rewriter;
    struct sql_expression *rows, *one;
    uint32_t column;
    if (!early->sides[s].grouped)
        return STATUS_OK;
    RETURN_IF_ERROR(count_rows(early, &early->sides[s], position, &column));
    RETURN_IF_ERROR(rewrite_input(rewriter, position, column, &rows));
    if (early->join->join.join == LOGICAL_LEFT) {
        RETURN_IF_ERROR(rewrite_number(rewriter, position, "1", &one));
        RETURN_IF_ERROR(rewrite_apply(rewriter, SQL_FUNCTION, "coalesce", rows, one, &rows));
    }
    if (!*product) {
        *product = rows;
        return STATUS_OK;
    }
    return rewrite_apply(rewriter, SQL_MULTIPLY, NULL, *product, rows, product);
}

/* The values that are added up of a sum or a count; NULL: one for each row. */
static enum status values_of(struct early *early, struct sql_expression *call, struct value_type type, int s,
                             struct sql_expression **values)
{
    struct side *const side = &early->sides[s];
    const bool counts = strcmp(call->name, "count") == 0;
    enum status status = STATUS_OK;
    uint32_t column;
    *values = NULL;
    if (!side->grouped) {
        *values = counts ? NULL : call->children[0];
        return STATUS_OK;
    }
    const bool all = counts && !is_nullable(early, call->children[0], &status);
    RETURN_IF_ERROR(status);
    RETURN_IF_ERROR(all ? count_rows(early, side, call->position, &column)
                        : add_aggregate(early, side, call, type, !counts, &column));
    return rewrite_input(early->rewriter, call->position, column, values);
}

/* Makes the aggregate one of what the sides' groups give. */
static enum status divide(struct early *early, struct value_type type, struct sql_expression **call)
{
    struct rewriter *const rewriter = early->rewriter;
    struct sql_expression *const whole = *call, *values = NULL;
    const bool extreme = strcmp(whole->name, "min") == 0 || strcmp(whole->name, "max") == 0;
    int side = 0;
    uint32_t column;
    if (!is_star(whole))
        (void)side_of(early, whole->children[0], &side);
    if (extreme) {
        if (!early->sides[side].grouped)
            return STATUS_OK;
        RETURN_IF_ERROR(add_aggregate(early, &early->sides[side], whole, type, true, &column));
        RETURN_IF_ERROR(rewrite_input(rewriter, whole->position, column, &values));
        return rewrite_apply(rewriter, SQL_FUNCTION, whole->name, values, NULL, call);
    }
    if (is_star(whole))
        RETURN_IF_ERROR(times_rows(early, side, whole->position, &values));
    else
        RETURN_IF_ERROR(values_of(early, whole, type, side, &values));
    RETURN_IF_ERROR(times_rows(early, !side, whole->position, &values));
    return rewrite_apply(rewriter, SQL_FUNCTION, "sum", values, NULL, call);
}

/* ---- The tree ---- */

/* Makes a term one of a grouped side's groups, and names that column. */
static enum status group_by(struct early *early, int s, struct sql_expression **term)
{
    struct logical_node *const made = early->sides[s].node;
    uint32_t column, g = 0;
    if (!early->sides[s].grouped)
        return STATUS_OK;
    while (g < made->aggregate.group_count && !sql_same_expression(made->aggregate.groups[g], *term))
        g++;
    if (g < made->aggregate.group_count)
        column = made->columns[g];
    else
        RETURN_IF_ERROR(rewrite_add_group(early->rewriter, made, *term, &column));
    return rewrite_input(early->rewriter, (*term)->position, column, term);
}

static enum status group_sides(struct early *early)
{
    struct rewriter *const rewriter = early->rewriter;
    struct conjuncts made = {0};
    for (int s = 0; s < 2; s++)
        if (early->sides[s].grouped)
            RETURN_IF_ERROR(logical_node_new(rewriter->tree, LOGICAL_AGGREGATE, early->join->position,
                                             early->sides[s].node, NULL, &early->sides[s].node,
                                             rewriter->error));
    for (uint32_t e = 0; e < early->equalities.count; e++) {
        struct sql_expression *const equality = early->equalities.list[e],
                                     *terms[2] = {equality->children[0], equality->children[1]};
        int first;
        (void)is_key(early, equality, &first);
        RETURN_IF_ERROR(group_by(early, first, &terms[0]));
        RETURN_IF_ERROR(group_by(early, !first, &terms[1]));
        RETURN_IF_ERROR(rewrite_apply(rewriter, SQL_EQUAL, NULL, terms[0], terms[1], &terms[0]));
        RETURN_IF_ERROR(rewrite_add(rewriter, terms[0], &made));
    }
    early->equalities = made;
    return STATUS_OK;
}

/* Counts are sums now: of no values they are NULL, and were 0. */
static enum status put_zeros(struct early *early, const bool *counts, struct logical_node **node)
{
    struct rewriter *const rewriter = early->rewriter;
    struct logical_node *const aggregate = *node;
    const struct value_type integer = {.kind = VALUE_INTEGER};
    struct logical_node *project;
    RETURN_IF_ERROR(logical_node_new(rewriter->tree, LOGICAL_PROJECT, aggregate->position, aggregate, NULL,
                                     &project, rewriter->error));
    for (uint32_t c = 0; c < aggregate->column_count; c++) {
        const uint32_t given = aggregate->columns[c], groups = aggregate->aggregate.group_count;
        struct sql_expression *value, *zero;
        if (c < groups || !counts[c - groups]) {
            RETURN_IF_ERROR(rewrite_pass(rewriter, project, given));
            continue;
        }
        RETURN_IF_ERROR(logical_column_new(rewriter->tree, "sum", integer, true, &aggregate->columns[c],
                                           rewriter->error));
        RETURN_IF_ERROR(rewrite_input(rewriter, aggregate->position, aggregate->columns[c], &value));
        RETURN_IF_ERROR(rewrite_number(rewriter, aggregate->position, "0", &zero));
        RETURN_IF_ERROR(rewrite_apply(rewriter, SQL_FUNCTION, "coalesce", value, zero, &value));
        RETURN_IF_ERROR(rewrite_project_add(rewriter, project, value, given));
    }
    *node = project;
    return STATUS_OK;
}

static enum status aggregate_early(struct early *early, struct logical_node **node)
{
    struct rewriter *const rewriter = early->rewriter;
    struct logical_node *const aggregate = *node;
    const uint32_t groups = aggregate->aggregate.group_count, count = aggregate->aggregate.aggregate_count;
    struct sql_expression *condition;
    bool *counts;
    int side;
    RETURN_IF_ERROR(
        sql_tree_take(rewriter->tree->arena, (count + 1) * sizeof *counts, &counts, rewriter->error));
    RETURN_IF_ERROR(group_sides(early));
    for (uint32_t g = 0; g < groups; g++) {
        (void)side_of(early, aggregate->aggregate.groups[g], &side);
        if (rewrite_names_any(aggregate->aggregate.groups[g], &early->sides[side].gives))
            RETURN_IF_ERROR(group_by(early, side, &aggregate->aggregate.groups[g]));
    }
    for (uint32_t a = 0; a < count; a++) {
        const struct value_type type = rewriter->tree->columns[aggregate->columns[groups + a]].type;
        counts[a] = strcmp(aggregate->aggregate.aggregates[a]->name, "count") == 0;
        RETURN_IF_ERROR(divide(early, type, &aggregate->aggregate.aggregates[a]));
    }
    RETURN_IF_ERROR(rewrite_join(rewriter, &early->equalities, &condition));
    RETURN_IF_ERROR(logical_join_new(rewriter->tree, early->join->join.join, early->join->position,
                                     early->sides[0].node, early->sides[1].node, condition,
                                     &aggregate->inputs[0], rewriter->error));
    return put_zeros(early, counts, node);
}

static enum status early_aggregate(struct rewriter *rewriter, struct logical_node **node)
{
    struct logical_node copy = **node;
    bool can;
    RETURN_IF_ERROR(rewrite_aggregate_below(rewriter, &copy));
    struct logical_node *const join = copy.inputs[0];
    if (copy.aggregate.set_count || join->kind != LOGICAL_JOIN ||
        (join->join.join != LOGICAL_INNER && join->join.join != LOGICAL_LEFT))
        return STATUS_OK;
    struct early early = {.rewriter = rewriter, .join = join};
    for (int s = 0; s < 2; s++) {
        early.sides[s] = (struct side){.node = join->inputs[s],
                                       .rows = rewrite_most_rows(join->inputs[s]),
                                       .groups = 1,
                                       .count = NO_COLUMN};
        RETURN_IF_ERROR(rewrite_gives(rewriter, join->inputs[s], &early.sides[s].gives));
    }
    RETURN_IF_ERROR(rewrite_split(rewriter, join->join.condition, &early.equalities));
    if (!count_groups(&early, &copy) || !choose_sides(&early))
        return STATUS_OK;
    RETURN_IF_ERROR(can_divide_all(&early, &copy, &can));
    if (!can)
        return STATUS_OK;
    **node = copy;
    return aggregate_early(&early, node);
}

enum status rewrite_early(struct rewriter *rewriter, struct logical_node **node)
{
    for (uint32_t i = 0; i < (*node)->input_count; i++)
        RETURN_IF_ERROR(rewrite_early(rewriter, &(*node)->inputs[i]));
    return (*node)->kind == LOGICAL_AGGREGATE ? early_aggregate(rewriter, node) : STATUS_OK;
}
