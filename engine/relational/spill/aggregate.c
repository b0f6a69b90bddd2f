/*
 * aggregate.c: a SELECT with groups over rows of which the account of memory refuses to make groups (spill.h). Its groups
 * are made part by part, each grouping set alone; what is ordered or limited is so after that, over the rows of all parts.
 */
#include "engine/relational/spill/spill.h"

#include "engine/relational/join/residual.h"
#include "engine/sql/aggregates/aggregate_names.h"

#include <string.h>

/* A SELECT that makes groups alone. */
struct grouping {
    struct relational *run;
    const struct sql_select *select;
    uint32_t *numbers; /* of its items */
};

static enum status select_part(void *context, struct result *inputs, struct result *result)
{
    const struct grouping *const grouping = context;
    struct sql_select *select; /* it may become two */
    RETURN_IF_ERROR(relational_copy_select(grouping->run, grouping->select, &select));
    return relational_select(grouping->run, &inputs[0], select, grouping->numbers, result);
}

/* Rows that WHERE keeps: an expression of a group may be an error for others. Without it if it cannot be asked so. */
static enum status keep_rows(struct relational *run, struct sql_select *select, struct result *rows)
{
    if (!select->where)
        return STATUS_OK;
    const enum status status = residual_filter(run, select->where, rows);
    if (status == STATUS_OK)
        select->where = NULL;
    if (status != STATUS_BAD_INPUT)
        return status;
    *run->error = (struct error){0};
    return STATUS_OK;
}

/* The columns that are the groups of a set, which are computed if they are none; *count 0: one group has all rows. */
static enum status find_keys(struct relational *run, const struct sql_select *select, uint64_t set,
                             struct result *rows, uint32_t *count, uint32_t **keys)
{
    *count = 0;
    RETURN_IF_ERROR(relational_memory(run, (select->group_count + 1) * sizeof **keys, keys));
    for (uint32_t g = 0; g < select->group_count; g++) {
        struct sql_expression *const group = select->groups[g];
        struct rowset_column column;
        if (g < 64 && !(set >> g & 1))
            continue;
        (*keys)[*count] = group->index;
        if (group->operation != SQL_INPUT && select->where)
            continue;
        if (group->operation != SQL_INPUT) {
            (*keys)[*count] = run->next_column;
            RETURN_IF_ERROR(relational_compute(run, rows, group, &column));
            RETURN_IF_ERROR(result_add(run, rows, run->next_column++, &column));
        }
        (*count)++;
    }
    return STATUS_OK;
}

/* ---- A grouping set alone ---- */

/* NULL of the term's type for each group. */
static enum status make_null(struct relational *run, struct sql_expression *term,
                             struct sql_expression **null)
{
    struct sql_expression *never, *when;
    RETURN_IF_ERROR(relational_literal(run, term->position, SQL_FALSE, NULL, &never));
    RETURN_IF_ERROR(sql_tree_node(run->arena, SQL_CASE, term->position, &when, run->error));
    RETURN_IF_ERROR(sql_tree_child(run->arena, when, never, run->error));
    RETURN_IF_ERROR(sql_tree_child(run->arena, when, term, run->error));
    RETURN_IF_ERROR(sql_tree_node(run->arena, SQL_FUNCTION, term->position, null, run->error));
    (*null)->name = "any_value";
    return sql_tree_child(run->arena, *null, when, run->error);
}

/* True if the expression is one of these groups: a term may be several, as each set lists its own. */
static bool is_group(const struct sql_select *select, uint64_t set, const struct sql_expression *expression)
{
    uint32_t g = 0;
    while (g < select->group_count && !(set >> g & 1 && sql_same_expression(select->groups[g], expression)))
        g++;
    return g < select->group_count;
}

/* The number that grouping(...) is in a set. */
static enum status make_grouping(struct relational *run, const struct sql_select *select, uint64_t set,
                                 const struct sql_expression *call, struct sql_expression **number)
{
    uint32_t value = 0;
    const char *text;
    for (uint32_t c = 0; c < call->child_count; c++)
        value = value << 1 | !is_group(select, set, call->children[c]);
    RETURN_IF_ERROR(relational_name(run, "", value, &text));
    return relational_literal(run, call->position, SQL_NUMBER, text, number);
}

#define TERMS_MOST 31u /* grouping() is a number of 32 bits then */

/* Makes the SELECT of one grouping set one without sets, whose groups are the terms of this one. It keeps its sets if it has too
 * many terms, or if nothing would tell that it has one row: SELECT grouping(a) of the set of no terms. */
static enum status make_alone(struct relational *run, struct sql_select *select, uint64_t set)
{
    struct sql_select *made;
    bool grouped = false;
    if (select->group_count > TERMS_MOST)
        return STATUS_OK;
    RETURN_IF_ERROR(relational_copy_select(run, select, &made));
    made->group_count = made->set_count = 0;
    for (uint32_t g = 0; g < select->group_count; g++)
        if (set >> g & 1)
            made->groups[made->group_count++] = select->groups[g];
    for (uint32_t i = 0; i < made->item_count; i++) {
        struct sql_expression **const item = &made->items[i].expression;
        if ((*item)->operation == SQL_FUNCTION && strcmp((*item)->name, "grouping") == 0)
            RETURN_IF_ERROR(make_grouping(run, select, set, *item, item));
        else if (!is_group(select, set, *item) && is_group(select, UINT64_MAX, *item))
            RETURN_IF_ERROR(make_null(run, *item, item));
        grouped |= sql_has_aggregate(*item);
    }
    if (grouped || made->group_count)
        *select = *made;
    return STATUS_OK;
}

/* ---- Groups ---- */

/* The groups of all rows, or of one grouping set. */
static enum status make_groups(struct grouping *grouping, uint64_t set, const struct result *from,
                               struct result *result)
{
    struct relational *const run = grouping->run;
    struct sql_select select = *grouping->select;
    struct grouping part = {run, &select, grouping->numbers};
    struct result rows = {0};
    uint32_t count, *keys;
    bool one_key = false;
    if (select.set_count)
        RETURN_IF_ERROR(make_alone(run, &select, set));
    if (select.set_count) {
        select.set_count = 1;
        select.sets = &set;
    } else {
        set = UINT64_MAX; /* all of its groups */
    }
    enum status status = result_shared(run, from, &rows);
    if (status == STATUS_OK)
        status = keep_rows(run, &select, &rows);
    if (status == STATUS_OK)
        status = find_keys(run, &select, set, &rows, &count, &keys);
    if (status == STATUS_OK)
        status = spill_is_one_key(run, &rows, count, keys, &one_key);
    if (status == STATUS_OK)
        status = one_key ? spill_undivided(run, select_part, &part, &rows, result)
                         : spill_run(run, 1, (struct result *const[]){&rows}, count,
                                     (const uint32_t *const[]){keys}, select_part, &part, result);
    result_free(&rows);
    return status;
}

/* The rows of all grouping sets, one after the other. */
static enum status make_sets(struct grouping *grouping, const struct result *from, struct result *result)
{
    const struct sql_select *const select = grouping->select;
    *result = (struct result){0};
    if (!select->set_count)
        return make_groups(grouping, UINT64_MAX, from, result);
    for (uint32_t s = 0; s < select->set_count; s++) {
        struct result made = {0};
        enum status status = make_groups(grouping, select->sets[s], from, &made);
        if (status == STATUS_OK)
            status = spill_append(grouping->run, result, &made);
        result_free(&made);
        if (status != STATUS_OK) {
            result_free(result);
            return status;
        }
    }
    return STATUS_OK;
}

/* ---- The whole ---- */

enum status spill_groups(struct relational *run, const struct result *from, struct sql_select *select,
                         const uint32_t *numbers, struct result *result)
{
    struct grouping grouping = {.run = run};
    struct sql_select *groups;
    struct operator operator;
    struct result rows;
    operator_begin(run, "groups", from, NULL, &operator);
    operator_words(run, operator.node, "groups", select->groups, select->group_count);
    RETURN_IF_ERROR(relational_cut(run, SQL_CUT_ABOVE_GROUPS, select, &groups, &grouping.numbers));
    grouping.select = groups;
    RETURN_IF_ERROR(make_sets(&grouping, from, &rows));
    operator_end(run, &operator,(double) rows.rows, &rows);
    return relational_second(run, &rows, select, numbers, result);
}
