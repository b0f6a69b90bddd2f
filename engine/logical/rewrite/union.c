/*
 * union.c: what stands over UNION ALL goes into its parts (rewrite.h), because a part of stored tables joins what it
 * references, and groups, as it is scanned:
 *
 *     aggregate by name: sum(@3)                        aggregate by name: sum of the sums
 *       join inner @1 = @4                                union all
 *         union all: 1 3                                    aggregate by name: sum(paid)
 *           scan sales: day, paid                             join inner day = @4: sales, days
 *           scan returns: day, paid                         aggregate by name: sum(paid)
 *         scan days: 4 name                                   join inner day = @5: returns, days
 *
 * A join goes into the parts if each has a reference to the other side, which is a stored table. Aggregates do if they can be
 * put together from those of parts, and the groups are few. Other sets give each row once: so may their parts.
 */
#include "engine/logical/rewrite/rewrite.h"

#include <math.h>
#include <string.h>

/* More groups might be as many as the rows. */
#define GROUPS_MOST 65536.0

/* Rows for each different one, from which on each is made once. */
#define ROWS_A_GROUP 4.0

/* Columns of a table that drops no rows: those that are asked are copied with the rows of each part. */
#define COLUMNS_FEW 4u

/* ---- Where columns come from ---- */

static bool is_literal(const struct sql_expression *expression)
{
    return expression->operation == SQL_NUMBER || expression->operation == SQL_STRING;
}

bool rewrite_all_stored(const struct logical_node *node, uint32_t column, rewrite_stored_test *test,
                        void *context)
{
    uint32_t c = 0;
    while (c < node->column_count && node->columns[c] != column)
        c++;
    if (c == node->column_count)
        return false;
    switch (node->kind) {
    case LOGICAL_SCAN:
        return test(context, &node->scan.table->columns[node->scan.stored[c]]);
    case LOGICAL_PROJECT:
        return node->project.expressions[c]->operation == SQL_INPUT
                   ? rewrite_all_stored(node->inputs[0], node->project.expressions[c]->index, test, context)
                   : is_literal(node->project.expressions[c]) && test(context, NULL);
    case LOGICAL_FILTER:
        return rewrite_all_stored(node->inputs[0], column, test, context);
    case LOGICAL_JOIN:
        return rewrite_all_stored(node->inputs[0], column, test, context) ||
               rewrite_all_stored(node->inputs[1], column, test, context);
    case LOGICAL_SET:
        return node->set.set == SQL_SET_UNION && node->set.all &&
               rewrite_all_stored(node->inputs[0], node->inputs[0]->columns[c], test, context) &&
               rewrite_all_stored(node->inputs[1], node->inputs[1]->columns[c], test, context);
    default:
        return false;
    }
}

static bool references(void *key, const struct column *column)
{
    return column && column->references == key;
}

static bool take_column(void *taken, const struct column *column)
{
    *(const struct column **)taken = column;
    return column != NULL;
}

/* Keeps the most different values, NULL among them. */
static bool take_values(void *most, const struct column *column)
{
    double *const values = most;
    if (column)
        *values = fmax(*values, (double)column->statistics.distinct + (column->statistics.nulls > 0));
    return !column || column->statistics.distinct > 0;
}

bool rewrite_times_values(const struct logical_node *node, const struct sql_expression *expression,
                          double *product)
{
    double most = 1;
    if (expression->operation == SQL_INPUT &&
        !rewrite_all_stored(node, expression->index, take_values, &most))
        return false;
    *product *= most;
    for (uint32_t c = 0; c < expression->child_count; c++)
        if (!rewrite_times_values(node, expression->children[c], product))
            return false;
    return true;
}

/* ---- The parts ---- */

/* A node that is UNION ALL, or projections of it: what each of its columns is in either part, below the part's projection. */
struct parts {
    struct logical_node *inputs[2];
    struct column_map maps[2];
};

/* True if the set's columns have the types of the parts' ones, so that what is computed from either is the same. */
static bool is_alike(const struct logical_tree *tree, const struct logical_node *set)
{
    bool alike = true;
    for (uint32_t c = 0; c < set->column_count; c++)
        for (int i = 0; i < 2; i++)
            alike &= rewrite_is_same_type(tree->columns[set->columns[c]].type,
                                          tree->columns[set->inputs[i]->columns[c]].type);
    return alike;
}

static enum status find_parts(struct rewriter *rewriter, const struct logical_node *node, struct parts *parts,
                              bool *found)
{
    struct parts below;
    struct sql_expression *made;
    const bool projects = node->kind == LOGICAL_PROJECT;
    *found = node->kind == LOGICAL_SET && node->set.set == SQL_SET_UNION && node->set.all &&
             is_alike(rewriter->tree, node);
    *parts = (struct parts){.inputs = {NULL}};
    if (projects)
        RETURN_IF_ERROR(find_parts(rewriter, node->inputs[0], &below, found));
    for (int i = 0; *found && i < 2; i++) {
        struct logical_node *const input = projects ? below.inputs[i] : node->inputs[i];
        const bool computes = !projects && input->kind == LOGICAL_PROJECT;
        parts->inputs[i] = computes ? input->inputs[0] : input;
        for (uint32_t c = 0; c < node->column_count; c++) {
            if (projects)
                RETURN_IF_ERROR(rewrite_map(rewriter, &below.maps[i], node->project.expressions[c], &made));
            else if (computes)
                made = input->project.expressions[c];
            else
                RETURN_IF_ERROR(rewrite_input(rewriter, node->position, input->columns[c], &made));
            RETURN_IF_ERROR(rewrite_map_add(rewriter, &parts->maps[i], node->columns[c], made));
        }
    }
    return STATUS_OK;
}

/* A column like another one. */
static enum status column_like(struct rewriter *rewriter, uint32_t column, uint32_t *made)
{
    const struct logical_column like = rewriter->tree->columns[column];
    return logical_column_new(rewriter->tree, like.name, like.type, like.nullable, made, rewriter->error);
}

/* Gives an expression as a new column, which is like another one. */
static enum status give_like(struct rewriter *rewriter, struct logical_node *project,
                             struct sql_expression *expression, uint32_t like)
{
    uint32_t column;
    RETURN_IF_ERROR(column_like(rewriter, like, &column));
    return rewrite_project_add(rewriter, project, expression, column);
}

static enum status unite(struct rewriter *rewriter, struct sql_position position,
                         struct logical_node *const *parts, struct logical_node **set)
{
    RETURN_IF_ERROR(
        logical_node_new(rewriter->tree, LOGICAL_SET, position, parts[0], parts[1], set, rewriter->error));
    (*set)->set.set = SQL_SET_UNION;
    (*set)->set.all = true;
    return STATUS_OK;
}

/* ---- Joins ---- */

/* The stored table that filters and projections are over, or NULL. */
static const struct logical_node *scan_of(const struct logical_node *node, bool *drops)
{
    for (; node->kind == LOGICAL_FILTER || node->kind == LOGICAL_PROJECT; node = node->inputs[0])
        *drops |= node->kind == LOGICAL_FILTER;
    return node->kind == LOGICAL_SCAN ? node : NULL;
}

/* Makes the same node again, with columns of its own; `map` gets what each was. */
static enum status copy_table(struct rewriter *rewriter, const struct logical_node *from,
                              struct column_map *map, struct logical_node **copy)
{
    struct logical_tree *const tree = rewriter->tree;
    struct logical_node *input = NULL;
    if (from->input_count)
        RETURN_IF_ERROR(copy_table(rewriter, from->inputs[0], map, &input));
    RETURN_IF_ERROR(logical_node_new(tree, from->kind, from->position, input, NULL, copy, rewriter->error));
    if (from->kind == LOGICAL_FILTER) {
        (*copy)->filter = from->filter;
        RETURN_IF_ERROR(rewrite_map_node(rewriter, map, *copy));
        return rewrite_regive(rewriter, *copy);
    }
    if (from->kind == LOGICAL_SCAN) {
        (*copy)->scan = from->scan;
        RETURN_IF_ERROR(sql_tree_take(tree->arena, sizeof *(*copy)->scan.counted, &(*copy)->scan.counted,
                                      rewriter->error));
        RETURN_IF_ERROR(sql_tree_take(tree->arena, (from->column_count + 1) * sizeof *(*copy)->scan.stored,
                                      &(*copy)->scan.stored, rewriter->error));
        memcpy((*copy)->scan.stored, from->scan.stored, from->column_count * sizeof *from->scan.stored);
    }
    for (uint32_t c = 0; c < from->column_count; c++) {
        struct sql_expression *made;
        uint32_t column;
        RETURN_IF_ERROR(column_like(rewriter, from->columns[c], &column));
        if (from->kind == LOGICAL_PROJECT) {
            RETURN_IF_ERROR(rewrite_map(rewriter, map, from->project.expressions[c], &made));
            RETURN_IF_ERROR(rewrite_project_add(rewriter, *copy, made, column));
        } else {
            RETURN_IF_ERROR(logical_gives(tree, *copy, column, rewriter->error));
        }
        RETURN_IF_ERROR(rewrite_input(rewriter, from->position, column, &made));
        RETURN_IF_ERROR(rewrite_map_add(rewriter, map, from->columns[c], made));
    }
    return STATUS_OK;
}

/* What column of the map's part the expression is, or NULL. */
static const struct sql_expression *mapped(const struct column_map *map, const struct sql_expression *of)
{
    for (uint32_t m = 0; of->operation == SQL_INPUT && m < map->count; m++)
        if (map->from[m] == of->index)
            return map->to[m]->operation == SQL_INPUT ? map->to[m] : NULL;
    return NULL;
}

/* True if one of the conditions is, in each part, an equality along a reference to the table. */
static bool is_referenced(const struct conjuncts *conditions, const struct parts *parts,
                          const struct logical_node *table)
{
    for (uint32_t c = 0; c < conditions->count; c++)
        for (int turned = 0; turned < 2 && conditions->list[c]->operation == SQL_EQUAL; turned++) {
            const struct sql_expression *const own = conditions->list[c]->children[turned],
                                               *const other = conditions->list[c]->children[!turned];
            const struct column *key = NULL;
            bool all =
                other->operation == SQL_INPUT && rewrite_all_stored(table, other->index, take_column, &key);
            for (int i = 0; all && i < 2; i++) {
                const struct sql_expression *const input = mapped(&parts->maps[i], own);
                all = input && rewrite_all_stored(parts->inputs[i], input->index, references, (void *)key);
            }
            if (all)
                return true;
        }
    return false;
}

/* Part i joined with the table, as a projection of the columns that the join gives. */
static enum status join_part(struct rewriter *rewriter, const struct logical_node *join,
                             const struct parts *parts, int i, struct logical_node *table,
                             struct logical_node **part)
{
    struct column_map map = {0};
    struct logical_node *joined;
    struct sql_expression *made;
    for (uint32_t m = 0; m < parts->maps[i].count; m++)
        RETURN_IF_ERROR(rewrite_map_add(rewriter, &map, parts->maps[i].from[m], parts->maps[i].to[m]));
    if (i) /* the first part has the table itself */
        RETURN_IF_ERROR(copy_table(rewriter, table, &map, &table));
    RETURN_IF_ERROR(rewrite_map(rewriter, &map, join->join.condition, &made));
    RETURN_IF_ERROR(logical_join_new(rewriter->tree, LOGICAL_INNER, join->position, parts->inputs[i], table,
                                     made, &joined, rewriter->error));
    RETURN_IF_ERROR(rewrite_union(rewriter, &joined));
    RETURN_IF_ERROR(logical_node_new(rewriter->tree, LOGICAL_PROJECT, join->position, joined, NULL, part,
                                     rewriter->error));
    for (uint32_t c = 0; c < join->column_count; c++) {
        RETURN_IF_ERROR(rewrite_input(rewriter, join->position, join->columns[c], &made));
        RETURN_IF_ERROR(rewrite_map(rewriter, &map, made, &made));
        RETURN_IF_ERROR(give_like(rewriter, *part, made, join->columns[c]));
    }
    return STATUS_OK;
}

static enum status join_parts(struct rewriter *rewriter, struct logical_node **node)
{
    const struct logical_node *const join = *node;
    struct conjuncts conditions = {0};
    RETURN_IF_ERROR(rewrite_split(rewriter, join->join.condition, &conditions));
    for (int side = 0; side < 2; side++) {
        struct logical_node *const table = join->inputs[!side], *made[2], *set;
        struct parts parts;
        bool found, drops = false;
        RETURN_IF_ERROR(find_parts(rewriter, join->inputs[side], &parts, &found));
        if (!found || !scan_of(table, &drops) || !(drops || table->column_count <= COLUMNS_FEW) ||
            !is_referenced(&conditions, &parts, table))
            continue;
        for (int i = 0; i < 2; i++)
            RETURN_IF_ERROR(join_part(rewriter, join, &parts, i, table, &made[i]));
        RETURN_IF_ERROR(unite(rewriter, join->position, made, &set));
        RETURN_IF_ERROR(logical_gives_all(rewriter->tree, set, join, rewriter->error));
        rewriter->united = true;
        *node = set;
        return STATUS_OK;
    }
    return STATUS_OK;
}

/* ---- Aggregates ---- */

static bool is_grouping(const struct sql_expression *call)
{
    return strcmp(call->name, "grouping") == 0;
}

/* The aggregate that makes one of all rows from those of parts; NULL: there is none. */
static const char *whole_of(const struct logical_tree *tree, const struct sql_expression *call,
                            uint32_t column)
{
    const bool exact = tree->columns[column].type.kind == VALUE_INTEGER; /* doubles depend on the order */
    if (call->distinct || call->ordered || call->child_count != 1)
        return NULL;
    if (strcmp(call->name, "min") == 0 || strcmp(call->name, "max") == 0)
        return call->name;
    return exact && (strcmp(call->name, "sum") == 0 || strcmp(call->name, "count") == 0) ? "sum" : NULL;
}

/* True if all aggregates can be made from those of parts, and the groups are few in each. */
static enum status can_divide(struct rewriter *rewriter, const struct logical_node *node,
                              const struct parts *parts, bool *can)
{
    const uint32_t groups = node->aggregate.group_count;
    *can = true;
    for (uint32_t a = 0; a < node->aggregate.aggregate_count && *can; a++)
        *can = is_grouping(node->aggregate.aggregates[a]) ||
               whole_of(rewriter->tree, node->aggregate.aggregates[a], node->columns[groups + a]);
    for (int i = 0; i < 2 && *can; i++) {
        double product = 1;
        bool any = groups == 0; /* a part without groups has a row also if it has no rows */
        for (uint32_t g = 0; g < groups && *can; g++) {
            struct sql_expression *term;
            struct logical_set given;
            RETURN_IF_ERROR(rewrite_gives(rewriter, parts->inputs[i], &given));
            RETURN_IF_ERROR(rewrite_map(rewriter, &parts->maps[i], node->aggregate.groups[g], &term));
            any |= rewrite_names_any(term, &given);
            *can = rewrite_times_values(parts->inputs[i], term, &product);
        }
        *can = *can && any && product <= GROUPS_MOST;
    }
    return STATUS_OK;
}

/* The groups and aggregates of part i, as a projection: constants are no groups. */
static enum status divide_part(struct rewriter *rewriter, const struct logical_node *node,
                               const struct parts *parts, int i, struct logical_node **part)
{
    struct logical_tree *const tree = rewriter->tree;
    const uint32_t groups = node->aggregate.group_count;
    struct sql_expression *made;
    struct logical_node *own;
    struct logical_set given;
    uint32_t column;
    RETURN_IF_ERROR(rewrite_gives(rewriter, parts->inputs[i], &given));
    RETURN_IF_ERROR(logical_node_new(tree, LOGICAL_AGGREGATE, node->position, parts->inputs[i], NULL, &own,
                                     rewriter->error));
    RETURN_IF_ERROR(
        logical_node_new(tree, LOGICAL_PROJECT, node->position, own, NULL, part, rewriter->error));
    for (uint32_t g = 0; g < groups; g++) {
        RETURN_IF_ERROR(rewrite_map(rewriter, &parts->maps[i], node->aggregate.groups[g], &made));
        if (rewrite_names_any(made, &given)) {
            RETURN_IF_ERROR(rewrite_add_group(rewriter, own, made, &column));
            RETURN_IF_ERROR(rewrite_input(rewriter, node->position, column, &made));
        }
        RETURN_IF_ERROR(give_like(rewriter, *part, made, node->columns[g]));
    }
    for (uint32_t a = 0; a < node->aggregate.aggregate_count; a++) {
        if (is_grouping(node->aggregate.aggregates[a]))
            continue;
        RETURN_IF_ERROR(rewrite_map(rewriter, &parts->maps[i], node->aggregate.aggregates[a], &made));
        RETURN_IF_ERROR(column_like(rewriter, node->columns[groups + a], &column));
        RETURN_IF_ERROR(sql_tree_append(tree->arena, &own->aggregate.aggregates,
                                        &own->aggregate.aggregate_count, sizeof made, &made,
                                        rewriter->error));
        RETURN_IF_ERROR(logical_gives(tree, own, column, rewriter->error));
        RETURN_IF_ERROR(rewrite_input(rewriter, node->position, column, &made));
        RETURN_IF_ERROR(give_like(rewriter, *part, made, column));
    }
    return rewrite_union(rewriter, &(*part)->inputs[0]);
}

static enum status divide(struct rewriter *rewriter, struct logical_node *node)
{
    const uint32_t groups = node->aggregate.group_count, count = node->aggregate.aggregate_count;
    struct logical_node *made[2], *set;
    struct parts parts;
    bool can;
    RETURN_IF_ERROR(find_parts(rewriter, node->inputs[0], &parts, &can));
    if (can)
        RETURN_IF_ERROR(can_divide(rewriter, node, &parts, &can));
    if (!can)
        return STATUS_OK;
    for (int i = 0; i < 2; i++)
        RETURN_IF_ERROR(divide_part(rewriter, node, &parts, i, &made[i]));
    RETURN_IF_ERROR(unite(rewriter, node->position, made, &set));
    for (uint32_t c = 0; c < made[0]->column_count; c++) {
        uint32_t column;
        RETURN_IF_ERROR(column_like(rewriter, made[0]->columns[c], &column));
        RETURN_IF_ERROR(logical_gives(rewriter->tree, set, column, rewriter->error));
    }
    for (uint32_t g = 0; g < groups; g++)
        RETURN_IF_ERROR(rewrite_input(rewriter, node->position, set->columns[g], &node->aggregate.groups[g]));
    for (uint32_t a = 0, at = groups; a < count; a++) {
        struct sql_expression **const call = &node->aggregate.aggregates[a], *input;
        if (is_grouping(*call))
            continue;
        RETURN_IF_ERROR(rewrite_input(rewriter, node->position, set->columns[at++], &input));
        RETURN_IF_ERROR(rewrite_apply(rewriter, SQL_FUNCTION,
                                      whole_of(rewriter->tree, *call, node->columns[groups + a]), input, NULL,
                                      call));
    }
    node->inputs[0] = set;
    rewriter->united = true;
    return STATUS_OK;
}

/* ---- Sets that give each row once ---- */

double rewrite_most_rows(const struct logical_node *node)
{
    double most = node->kind == LOGICAL_SCAN ? (double)node->scan.table->rows : 0;
    for (uint32_t i = 0; i < node->input_count; i++)
        most = fmax(most, rewrite_most_rows(node->inputs[i]));
    return most;
}

/* Groups a part by all of its columns, if these have few different values for its rows. */
static enum status distinct(struct rewriter *rewriter, struct logical_node **part)
{
    const struct logical_node *const input = *part;
    struct logical_node *once;
    double product = 1;
    for (uint32_t c = 0; c < input->column_count; c++) {
        double values = 1;
        if (!rewrite_all_stored(input, input->columns[c], take_values, &values))
            return STATUS_OK;
        product *= values;
    }
    if (product * ROWS_A_GROUP > rewrite_most_rows(input))
        return STATUS_OK;
    RETURN_IF_ERROR(logical_node_new(rewriter->tree, LOGICAL_AGGREGATE, input->position, *part, NULL, &once,
                                     rewriter->error));
    for (uint32_t c = 0; c < input->column_count; c++) {
        struct sql_expression *term;
        uint32_t column;
        RETURN_IF_ERROR(rewrite_input(rewriter, input->position, input->columns[c], &term));
        RETURN_IF_ERROR(rewrite_add_group(rewriter, once, term, &column));
    }
    *part = once;
    return STATUS_OK;
}

enum status rewrite_union(struct rewriter *rewriter, struct logical_node **node)
{
    struct logical_node *const at = *node;
    for (uint32_t i = 0; i < at->input_count; i++)
        RETURN_IF_ERROR(rewrite_union(rewriter, &at->inputs[i]));
    if (at->kind == LOGICAL_JOIN && at->join.join == LOGICAL_INNER && at->join.condition)
        return join_parts(rewriter, node);
    for (uint32_t i = 0; at->kind == LOGICAL_SET && !at->set.all && i < 2; i++)
        RETURN_IF_ERROR(distinct(rewriter, &at->inputs[i]));
    return at->kind == LOGICAL_AGGREGATE ? divide(rewriter, at) : STATUS_OK;
}
