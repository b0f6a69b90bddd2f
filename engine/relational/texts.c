/*
 * texts.c: numbers, dates and times that become text (relational.h). A plan knows all strings of an expression before it
 * runs, so it makes texts of a million possible values at most, and of no doubles. A block that it refuses for that is
 * answered over rows in memory: what becomes text is computed first, its texts become a column of strings with a
 * dictionary of their own, and the SELECT names that column. Of an aggregation groups and aggregates are answered
 * first, and what is above them over their rows.
 *
 * A value takes some 200 ns, most of it for sorting the dictionary.
 */
#include "engine/relational/relational.h"
#include "engine/sql/aggregates/aggregate_names.h"
#include "engine/sql/functions/functions.h"

#include <string.h>

/* ---- What becomes text ---- */

static bool makes_text(const struct sql_expression *node)
{
    return node->operation == SQL_CONCAT ||
           (node->operation == SQL_CAST && functions_is_text_type(node->name)) ||
           (node->operation == SQL_FUNCTION &&
            (strcmp(node->name, "concat") == 0 || strcmp(node->name, "concat_ws") == 0));
}

/* True if text is made outside aggregates. */
static bool makes_text_above(const struct sql_expression *tree)
{
    bool any = tree && makes_text(tree);
    for (uint32_t c = 0; tree && c < tree->child_count && !any && !sql_is_aggregate(tree); c++)
        any = makes_text_above(tree->children[c]);
    return any;
}

/* ---- Columns of texts ---- */

struct made_text {
    const struct sql_expression *of;
    uint32_t number; /* the column's */
    bool is_string;  /* it is text already */
};

struct texts {
    struct relational *run;
    struct result *from;
    uint32_t count;
    struct made_text *list;
};

/* Makes a column of the texts of another one's values. */
static enum status write_texts(struct relational *run, const struct rowset_column *values, uint64_t count,
                               struct rowset_column *texts)
{
    static const char *const names[] = {"text"};
    const struct value_type type = {.kind = VALUE_STRING};
    struct rowset_builder *builder;
    struct rowset rows = {0};
    RETURN_IF_ERROR(rowset_builder_create(1, names, &type, &builder, run->error));
    enum status status = STATUS_OK;
    for (uint64_t row = 0; status == STATUS_OK && row < count; row++) {
        char buffer[ROWSET_TEXT_BYTES];
        struct rowset_cell cell = {0};
        cell.string = rowset_text(values, row, buffer, &cell.length);
        cell.null = !cell.string;
        status = rowset_builder_add(builder, &cell, run->error);
    }
    if (status == STATUS_OK)
        status = rowset_builder_finish(builder, &rows, run->error);
    rowset_builder_free(builder);
    if (status == STATUS_OK)
        status = relation_sort_dictionaries(&rows, run->error);
    if (status == STATUS_OK)
        status = relational_keep(run, &rows);
    if (status == STATUS_OK) {
        *texts = rows.columns[0];
        rows.columns[0] = (struct rowset_column){0};
    }
    rowset_free(&rows);
    return status;
}

/* Computes an expression; if it is no text, its texts become a column. */
static enum status make_texts(struct texts *texts, const struct sql_expression *expression,
                              struct made_text *made)
{
    struct relational *const run = texts->run;
    struct rowset_column values, strings;
    *made = (struct made_text){.of = expression, .number = run->next_column};
    RETURN_IF_ERROR(relational_compute(run, texts->from, (struct sql_expression *)expression, &values));
    made->is_string = values.type.kind == VALUE_STRING || values.type.untyped;
    enum status status = STATUS_OK;
    if (!made->is_string) {
        status = write_texts(run, &values, texts->from->rows, &strings);
        if (status == STATUS_OK)
            status = result_add(run, texts->from, run->next_column++, &strings);
    }
    relation_column_free(&values);
    RETURN_IF_ERROR(status);
    return sql_tree_append(run->arena, &texts->list, &texts->count, sizeof *made, made, run->error);
}

/* The column that has an expression's texts; *tree stays if it is text. */
static enum status text_of(struct texts *texts, struct sql_expression **tree, bool *made)
{
    struct relational *const run = texts->run;
    struct made_text found = {0};
    *made = false;
    if ((*tree)->operation <= SQL_PARAMETER || sql_has_aggregate(*tree))
        return STATUS_OK;
    uint32_t t = 0;
    while (t < texts->count && !sql_same_expression(texts->list[t].of, *tree))
        t++;
    if (t < texts->count)
        found = texts->list[t];
    else
        RETURN_IF_ERROR(make_texts(texts, *tree, &found));
    *made = !found.is_string;
    if (!*made)
        return STATUS_OK;
    RETURN_IF_ERROR(sql_tree_node(run->arena, SQL_INPUT, (*tree)->position, tree, run->error));
    (*tree)->index = found.number;
    return STATUS_OK;
}

static enum status replace_texts(void *context, const struct sql_expression *node,
                                 struct sql_expression **out)
{
    struct texts *const texts = context;
    struct relational *const run = texts->run;
    struct sql_expression *copy;
    bool made = false;
    if (!makes_text(node))
        return STATUS_OK;
    RETURN_IF_ERROR(relational_memory(run, sizeof *copy, &copy));
    *copy = *node;
    RETURN_IF_ERROR(
        relational_memory(run, (node->child_count + 1) * sizeof *copy->children, &copy->children));
    for (uint32_t c = 0; c < node->child_count; c++) {
        RETURN_IF_ERROR(sql_tree_rewrite(run->arena, node->children[c], replace_texts, texts,
                                         &copy->children[c], run->error));
        RETURN_IF_ERROR(text_of(texts, &copy->children[c], &made));
    }
    *out = made && node->operation == SQL_CAST ? copy->children[0] : copy;
    return STATUS_OK;
}

/* ---- All expressions of a SELECT ---- */

static enum status rewrite(struct relational *run, sql_replace *replace, void *context,
                           struct sql_expression **tree)
{
    return sql_tree_rewrite(run->arena, *tree, replace, context, tree, run->error);
}

static enum status rewrite_above(struct relational *run, sql_replace *replace, void *context,
                                 struct sql_select *select)
{
    for (uint32_t i = 0; i < select->item_count; i++)
        RETURN_IF_ERROR(rewrite(run, replace, context, &select->items[i].expression));
    for (uint32_t o = 0; o < select->order_count; o++)
        RETURN_IF_ERROR(rewrite(run, replace, context, &select->orders[o].expression));
    return rewrite(run, replace, context, &select->having);
}

static enum status select_texts(struct relational *run, const struct result *from, struct sql_select *select,
                                const uint32_t *numbers, struct result *result)
{
    struct result rows;
    struct texts texts = {.run = run, .from = &rows};
    uint32_t *own;
    RETURN_IF_ERROR(relational_memory(run, (from->column_count + 1) * sizeof *own, &own));
    for (uint32_t c = 0; c < from->column_count; c++)
        own[c] = from->columns[c].number;
    RETURN_IF_ERROR(result_renamed(run, from, from->column_count, own, own, &rows));
    enum status status = rewrite_above(run, replace_texts, &texts, select);
    for (uint32_t g = 0; status == STATUS_OK && g < select->group_count; g++)
        status = rewrite(run, replace_texts, &texts, &select->groups[g]);
    if (status == STATUS_OK)
        status = rewrite(run, replace_texts, &texts, &select->where);
    if (status == STATUS_OK)
        status = relational_select(run, &rows, select, numbers, result);
    result_free(&rows);
    return status;
}

/* ---- Aggregations ---- */

/* Groups and aggregates, each an item of the first SELECT. */
struct grouped {
    struct relational *run;
    struct sql_select *first;
    uint32_t number_count, *numbers;
};

static enum status add_grouped(struct grouped *grouped, struct sql_expression *expression)
{
    struct relational *const run = grouped->run;
    const uint32_t number = run->next_column++;
    RETURN_IF_ERROR(relational_item(run, grouped->first, expression, number));
    return sql_tree_append(run->arena, &grouped->numbers, &grouped->number_count, sizeof number, &number,
                           run->error);
}

static enum status replace_grouped(void *context, const struct sql_expression *node,
                                   struct sql_expression **out)
{
    struct grouped *const grouped = context;
    uint32_t i = 0;
    while (i < grouped->first->item_count && !sql_same_expression(grouped->first->items[i].expression, node))
        i++;
    if (i == grouped->first->item_count) {
        if (!sql_is_aggregate(node))
            return STATUS_OK;
        RETURN_IF_ERROR(add_grouped(grouped, (struct sql_expression *)node));
    }
    RETURN_IF_ERROR(sql_tree_node(grouped->run->arena, SQL_INPUT, node->position, out, grouped->run->error));
    (*out)->index = grouped->numbers[i];
    return STATUS_OK;
}

static enum status select_grouped(struct relational *run, const struct result *from,
                                  struct sql_select *select, const uint32_t *numbers, struct result *result)
{
    struct sql_select first = {.position = select->position,
                               .where = select->where,
                               .group_count = select->group_count,
                               .groups = select->groups,
                               .set_count = select->set_count,
                               .sets = select->sets};
    struct grouped grouped = {.run = run, .first = &first};
    struct result rows;
    for (uint32_t g = 0; g < select->group_count; g++)
        RETURN_IF_ERROR(add_grouped(&grouped, select->groups[g]));
    RETURN_IF_ERROR(rewrite_above(run, replace_grouped, &grouped, select));
    select->where = select->having;
    select->having = NULL;
    select->group_count = select->set_count = 0;
    RETURN_IF_ERROR(select_texts(run, from, &first, grouped.numbers, &rows));
    const enum status status = select_texts(run, &rows, select, numbers, result);
    result_free(&rows);
    return status;
}

enum status relational_select_texts(struct relational *run, const struct result *from,
                                    struct sql_select *select, const uint32_t *numbers, struct result *result)
{
    bool aggregated = select->group_count || select->set_count || select->having;
    bool above = makes_text_above(select->having);
    for (uint32_t i = 0; i < select->item_count; i++) {
        aggregated |= sql_has_aggregate(select->items[i].expression);
        above |= makes_text_above(select->items[i].expression);
    }
    for (uint32_t o = 0; o < select->order_count; o++) {
        aggregated |= sql_has_aggregate(select->orders[o].expression);
        above |= makes_text_above(select->orders[o].expression);
    }
    *result = (struct result){0};
    if (run->dry)
        return relational_select(run, from, select, numbers, result);
    return aggregated && above ? select_grouped(run, from, select, numbers, result)
                               : select_texts(run, from, select, numbers, result);
}
