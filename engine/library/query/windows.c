/*
 * windows.c: answers a level with window functions (query_internal.h). It becomes a level below, which answers all that
 * is no window; the windows, columns that are added to that answer; and a level above, with the expressions over
 * windows, DISTINCT, the order and the limit.
 */
#include "engine/library/query/query_internal.h"

#include "engine/sql/aggregates/aggregate_names.h"
#include "storage/base/memory.h"
#include "storage/base/words/word.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define WINDOWS_MAX 128u

#define KEYS_KEPT 64u /* terms of PARTITION BY and ORDER BY that are looked for again */

struct window_key {
    const struct sql_expression *tree;
    uint32_t column; /* of the level below */
};

struct windows {
    struct query *query;
    const struct sql_select *select;
    const struct query_sources *sources;
    struct sql_select *below;
    uint32_t count;
    const struct sql_expression *calls[WINDOWS_MAX];
    struct window windows[WINDOWS_MAX];
    uint32_t key_count;
    struct window_key keys[KEYS_KEPT];
};

/* ---- Finding windows ---- */

static void see_window(void *context, const struct sql_expression *node)
{
    *(bool *)context |= node->window != NULL;
}

static bool has_window(const struct sql_expression *tree)
{
    bool found = false;
    query_visit(tree, see_window, &found);
    return found;
}

bool query_has_windows(const struct sql_select *select)
{
    bool found = false;
    query_visit_all(select, see_window, &found);
    return found;
}

static enum status check_places(struct windows *windows)
{
    const struct sql_select *const select = windows->select;
    const struct sql_expression *wrong = select->where && has_window(select->where) ? select->where : NULL;
    if (select->having && has_window(select->having))
        wrong = select->having;
    for (uint32_t g = 0; g < select->group_count; g++)
        wrong = has_window(select->groups[g]) ? select->groups[g] : wrong;
    for (uint32_t s = 0; s < select->source_count; s++)
        if (select->sources[s].on && has_window(select->sources[s].on))
            wrong = select->sources[s].on;
    return wrong ? query_refuse(
                       windows->query, wrong->position,
                       "a window function stands in the select list or in ORDER BY; to set a condition "
                       "on it, write QUALIFY, or ask a subquery: SELECT ... FROM (SELECT ..., rank() OVER "
                       "(...) AS r ...) t "
                       "WHERE r <= 10")
                 : STATUS_OK;
}

/* ---- The level below ---- */

static void name_of(char text[16], char letter, uint32_t number)
{
    snprintf(text, 16, "%c%u", letter, number);
}

static enum status column_named(struct query *query, struct sql_position position, char letter,
                                uint32_t number, struct sql_expression **out)
{
    char text[16];
    name_of(text, letter, number);
    const char *const name = query_text(query, text);
    return name ? query_column_node(query, position, NULL, name, out)
                : error_out_of_memory(query->error, sizeof text, "a statement");
}

/* Adds an expression to the level below, and gives its column. */
static enum status add_below(struct windows *windows, const struct sql_expression *tree, uint32_t *column)
{
    struct query *const query = windows->query;
    if (has_window(tree))
        return query_refuse(query, tree->position,
                            "a window function stands inside another; ask the inner one in a subquery");
    *column = windows->below->item_count;
    return query_item(query, windows->below, (struct sql_expression *)tree, NULL);
}

/* ---- One window ---- */

static enum status number_argument(struct windows *windows, const struct sql_expression *call, uint32_t index,
                                   int64_t least, int64_t *number)
{
    const struct sql_expression *tree = call->child_count > index ? call->children[index] : NULL;
    const bool minus = tree && tree->operation == SQL_NEGATE;
    char *end;
    if (minus)
        tree = tree->children[0];
    if (!tree || tree->operation != SQL_NUMBER || strlen(tree->text) > 18)
        return query_refuse(windows->query, call->position, "%s takes a whole number as argument %u",
                            call->name, index + 1);
    *number = strtoll(tree->text, &end, 10) * (minus ? -1 : 1);
    if (*end || *number < least)
        return query_refuse(windows->query, tree->position,
                            "%s takes a whole number from %lld as argument %u", call->name, (long long)least,
                            index + 1);
    return STATUS_OK;
}

/* A constant from 0 to 1, as numerator and denominator. */
static enum status fraction_argument(struct windows *windows, const struct sql_expression *call,
                                     struct window *window)
{
    const struct sql_expression *const tree = call->children[1];
    const char *at = tree->operation == SQL_NUMBER ? tree->text : "";
    bool point = false, any = false;
    window->whole = 1;
    window->fraction = 0;
    for (; (*at >= '0' && *at <= '9') || (*at == '.' && !point); at++) {
        point |= *at == '.';
        if (*at == '.')
            continue;
        any = true;
        if (window->whole > INT64_MAX / 100 || window->fraction > INT64_MAX / 100)
            break;
        window->fraction = 10 * window->fraction + (*at - '0');
        window->whole *= point ? 10 : 1;
    }
    if (*at || !any || window->fraction > window->whole)
        return query_refuse(windows->query, tree->position,
                            "%s takes a constant from 0 to 1, as in %s(x, 0.5)", call->name, call->name);
    return STATUS_OK;
}

struct function_name {
    const char *name;
    enum window_function function;
    uint32_t least, most; /* arguments */
};

static const struct function_name functions[] = {
    {"row_number", WINDOW_ROW_NUMBER, 0, 0},
    {"rank", WINDOW_RANK, 0, 0},
    {"dense_rank", WINDOW_DENSE_RANK, 0, 0},
    {"percent_rank", WINDOW_PERCENT_RANK, 0, 0},
    {"cume_dist", WINDOW_CUME_DIST, 0, 0},
    {"ntile", WINDOW_NTILE, 1, 1},
    {"lag", WINDOW_LAG, 1, 3},
    {"lead", WINDOW_LAG, 1, 3},
    {"first_value", WINDOW_FIRST, 1, 1},
    {"last_value", WINDOW_LAST, 1, 1},
    {"nth_value", WINDOW_NTH, 2, 2},
};

/* Aggregates (engine/aggregate/names.h): those of states, of which counts need no argument, and those of sketches,
 * without a fraction and with one. */
static const struct function_name states[] = {{"", WINDOW_AGGREGATE, 1, 1}, {"", WINDOW_AGGREGATE, 0, 1}};
static const struct function_name sketches[] = {{"", WINDOW_MEASURE, 1, 1}, {"", WINDOW_MEASURE, 2, 2}};

const char *query_window_name(size_t index)
{
    return index < sizeof functions / sizeof *functions ? functions[index].name : NULL;
}

static enum status find_function(struct windows *windows, const struct sql_expression *call,
                                 const struct function_name **found)
{
    *found = NULL;
    for (size_t f = 0; f < sizeof functions / sizeof *functions; f++)
        if (strcmp(functions[f].name, call->name) == 0)
            *found = &functions[f];
    const struct aggregate_name *const aggregate = *found ? NULL : aggregate_name_find(call->name);
    if (aggregate && aggregate->family == FAMILY_BASIC)
        *found = &states[aggregate->counts];
    if (aggregate && aggregate->family == FAMILY_SKETCH)
        *found = &sketches[measure_of(aggregate->measure)->fraction];
    if (!*found)
        return query_refuse(
            windows->query, call->position,
            "%s is no window function; there are row_number, rank, dense_rank, percent_rank, "
            "cume_dist, ntile, lag, lead, first_value, last_value, nth_value, count, sum, avg, min, "
            "max, approx_count_distinct and approx_quantile",
            call->name);
    if (call->distinct)
        return query_refuse(windows->query, call->position, "DISTINCT in a window function is not supported");
    if (call->child_count < (*found)->least || call->child_count > (*found)->most)
        return query_refuse(windows->query, call->position, "%s takes %u to %u arguments", call->name,
                            (*found)->least, (*found)->most);
    return STATUS_OK;
}

static enum status arguments(struct windows *windows, const struct sql_expression *call,
                             struct window *window)
{
    const bool star = call->child_count && call->children[0]->operation == SQL_STAR;
    window->argument = window->otherwise = WINDOW_NO_COLUMN;
    if (window->function == WINDOW_NTILE)
        return number_argument(windows, call, 0, 1, &window->number);
    if (call->child_count && !star)
        RETURN_IF_ERROR(add_below(windows, call->children[0], &window->argument));
    else if (star && (window->function != WINDOW_AGGREGATE || !aggregate_name_find(call->name)->counts))
        return query_refuse(windows->query, call->position, "* stands in count(*) only");
    if (window->function == WINDOW_NTH)
        return number_argument(windows, call, 1, 1, &window->number);
    if (window->function == WINDOW_AGGREGATE) {
        window->aggregate = aggregate_name_find(call->name)->aggregate;
        window->average = aggregate_name_find(call->name)->average;
    }
    if (window->function == WINDOW_MEASURE) {
        window->measure = aggregate_name_find(call->name)->measure;
        return call->child_count > 1 ? fraction_argument(windows, call, window) : STATUS_OK;
    }
    if (window->function != WINDOW_LAG)
        return STATUS_OK;
    window->number = 1;
    if (call->child_count > 1)
        RETURN_IF_ERROR(number_argument(windows, call, 1, INT64_MIN, &window->number));
    if (strcmp(call->name, "lead") == 0)
        window->number = -window->number;
    return call->child_count > 2 ? add_below(windows, call->children[2], &window->otherwise) : STATUS_OK;
}

static void frame(const struct sql_window *tree, struct window *window)
{
    static const enum window_bound bounds[] = {[SQL_BOUND_FIRST] = BOUND_FIRST,
                                               [SQL_BOUND_BEFORE] = BOUND_ROWS,
                                               [SQL_BOUND_CURRENT] = BOUND_ROWS,
                                               [SQL_BOUND_AFTER] = BOUND_ROWS,
                                               [SQL_BOUND_LAST] = BOUND_LAST};
    window->begin = BOUND_FIRST;
    window->end = tree->order_count ? BOUND_PEERS : BOUND_LAST;
    if (tree->frame == SQL_FRAME_NONE)
        return;
    window->begin = bounds[tree->begin];
    window->end = bounds[tree->end];
    window->begin_rows =
        tree->begin == SQL_BOUND_BEFORE ? -(int64_t)tree->begin_rows : (int64_t)tree->begin_rows;
    window->end_rows = tree->end == SQL_BOUND_BEFORE ? -(int64_t)tree->end_rows : (int64_t)tree->end_rows;
}

static enum status resolve_window(struct windows *windows, const struct sql_window **tree)
{
    const struct sql_select *const select = windows->select;
    const char *const name = (*tree)->name;
    if (!name)
        return STATUS_OK;
    for (uint32_t w = 0; w < select->window_count; w++)
        if (word_compare(select->windows[w].name, name) == 0) {
            *tree = select->windows[w].window;
            return STATUS_OK;
        }
    return query_refuse(windows->query, (*tree)->position, "there is no WINDOW %s", name);
}

/* Gives the column of a term of PARTITION BY or ORDER BY. Windows with the same terms have the same columns, so their rows
 * are sorted once. */
static enum status add_key(struct windows *windows, const struct sql_expression *tree, uint32_t *column)
{
    for (uint32_t k = 0; k < windows->key_count; k++)
        if (windows->keys[k].tree == tree || sql_is_same_column(windows->keys[k].tree, tree)) {
            *column = windows->keys[k].column;
            return STATUS_OK;
        }
    RETURN_IF_ERROR(add_below(windows, tree, column));
    if (windows->key_count < KEYS_KEPT)
        windows->keys[windows->key_count++] = (struct window_key){tree, *column};
    return STATUS_OK;
}

static enum status partition_and_order(struct windows *windows, const struct sql_window *tree,
                                       struct window *window)
{
    struct query *const query = windows->query;
    uint32_t *partitions;
    struct window_order *orders;
    RETURN_IF_ERROR(query_memory(query, (tree->partition_count + 1) * sizeof *partitions, &partitions));
    RETURN_IF_ERROR(query_memory(query, (tree->order_count + 1) * sizeof *orders, &orders));
    for (uint32_t p = 0; p < tree->partition_count; p++)
        RETURN_IF_ERROR(add_key(windows, tree->partitions[p], &partitions[p]));
    for (uint32_t o = 0; o < tree->order_count; o++) {
        orders[o].descending = tree->orders[o].descending;
        orders[o].nulls_first = tree->orders[o].nulls_first;
        RETURN_IF_ERROR(add_key(windows, tree->orders[o].expression, &orders[o].column));
    }
    window->partition_count = tree->partition_count;
    window->order_count = tree->order_count;
    window->partitions = partitions;
    window->orders = orders;
    return STATUS_OK;
}

static enum status add_window(struct windows *windows, const struct sql_expression *call, uint32_t *number)
{
    const struct function_name *function;
    const struct sql_window *tree = call->window;
    if (windows->count == WINDOWS_MAX)
        return query_refuse(windows->query, call->position, "the statement has more than %u window functions",
                            WINDOWS_MAX);
    struct window *const window = &windows->windows[windows->count];
    RETURN_IF_ERROR(find_function(windows, call, &function));
    RETURN_IF_ERROR(resolve_window(windows, &tree));
    window->function = function->function;
    RETURN_IF_ERROR(arguments(windows, call, window));
    RETURN_IF_ERROR(partition_and_order(windows, tree, window));
    frame(tree, window);
    *number = windows->count;
    windows->calls[windows->count++] = call;
    return STATUS_OK;
}

/* ---- The level above ---- */

/* The item with windows that an alias names, or NULL. A column of that name comes first. */
static const struct sql_expression *window_alias(const struct windows *windows,
                                                 const struct sql_expression *name)
{
    const struct sql_select *const select = windows->select;
    struct sql_scope_column column;
    if (name->operation != SQL_COLUMN || name->qualifier ||
        sql_scope_find(&windows->sources->scope, name, &column) == 1)
        return NULL;
    for (uint32_t i = 0; i < select->item_count; i++)
        if (select->items[i].alias && word_compare(select->items[i].alias, name->name) == 0 &&
            has_window(select->items[i].expression))
            return select->items[i].expression;
    return NULL;
}

static bool is_constant(const struct sql_expression *node)
{
    return node->operation <= SQL_PARAMETER;
}

static void see_alias(void *context, const struct sql_expression *node)
{
    struct {
        const struct windows *windows;
        bool found;
    } *const search = context;
    search->found |= node->window || window_alias(search->windows, node);
}

static bool reaches_window(const struct windows *windows, const struct sql_expression *tree)
{
    struct {
        const struct windows *windows;
        bool found;
    } search = {windows, false};
    query_visit(tree, see_alias, &search);
    return search.found;
}

/* What is a window, or has none in it, becomes a column of the answer below. */
static enum status replace_above(void *context, const struct sql_expression *node,
                                 struct sql_expression **out)
{
    struct windows *const windows = context;
    struct query *const query = windows->query;
    const struct sql_expression *const item = window_alias(windows, node);
    uint32_t number = 0;
    if (item)
        return query_rewrite(query, item, replace_above, windows, out);
    if (node->window) {
        RETURN_IF_ERROR(add_window(windows, node, &number));
        return column_named(query, node->position, 'w', number, out);
    }
    if (reaches_window(windows, node))
        return sql_is_aggregate(node)
                   ? query_refuse(query, node->position,
                                  "a window function stands inside an aggregate; ask it in a subquery")
                   : STATUS_OK;
    if (is_constant(node)) {
        *out = (struct sql_expression *)node;
        return STATUS_OK;
    }
    RETURN_IF_ERROR(add_below(windows, node, &number));
    return column_named(query, node->position, 'c', number, out);
}

/* Items without windows come first below, with their aliases, by which others may name them. */
static enum status split_items(struct windows *windows, struct sql_select *above)
{
    struct query *const query = windows->query;
    const struct sql_select *const select = windows->select;
    uint32_t *below;
    struct sql_expression *node;
    RETURN_IF_ERROR(query_memory(query, (select->item_count + 1) * sizeof *below, &below));
    for (uint32_t i = 0; i < select->item_count; i++) {
        const struct sql_item *const item = &select->items[i];
        below[i] = windows->below->item_count;
        if (!reaches_window(windows, item->expression))
            RETURN_IF_ERROR(sql_tree_append(query->tree, &windows->below->items, &windows->below->item_count,
                                            sizeof *item, item, query->error));
    }
    for (uint32_t i = 0; i < select->item_count; i++) {
        const struct sql_item *const item = &select->items[i];
        if (reaches_window(windows, item->expression))
            RETURN_IF_ERROR(query_rewrite(query, item->expression, replace_above, windows, &node));
        else
            RETURN_IF_ERROR(column_named(query, item->expression->position, 'c', below[i], &node));
        RETURN_IF_ERROR(query_item(query, above, node, query_item_name(item)));
    }
    return STATUS_OK;
}

static enum status split_orders(struct windows *windows, struct sql_select *above)
{
    struct query *const query = windows->query;
    const struct sql_select *const select = windows->select;
    for (uint32_t o = 0; o < select->order_count; o++) {
        struct sql_order order = select->orders[o];
        RETURN_IF_ERROR(query_order_term(query, windows->sources, select, &order.expression));
        if (order.expression->operation != SQL_NUMBER)
            RETURN_IF_ERROR(
                query_rewrite(query, order.expression, replace_above, windows, &order.expression));
        RETURN_IF_ERROR(sql_tree_append(query->tree, &above->orders, &above->order_count, sizeof order,
                                        &order, query->error));
    }
    return STATUS_OK;
}

/* GROUP BY 2 names an item, whose number is another one below. */
static enum status groups_below(struct windows *windows)
{
    struct query *const query = windows->query;
    const struct sql_select *const select = windows->select;
    struct sql_expression **groups;
    RETURN_IF_ERROR(query_memory(query, (select->group_count + 1) * sizeof *groups, &groups));
    for (uint32_t g = 0; g < select->group_count; g++) {
        const struct sql_expression *const group = select->groups[g];
        const unsigned long number = group->operation == SQL_NUMBER ? strtoul(group->text, NULL, 10) : 0;
        groups[g] = number >= 1 && number <= select->item_count ? select->items[number - 1].expression
                                                                : (struct sql_expression *)group;
        if (has_window(groups[g]))
            return query_refuse(query, group->position, "GROUP BY cannot hold a window function");
    }
    windows->below->groups = groups;
    return STATUS_OK;
}

/* ---- The answer ---- */

static enum status lag_alike(struct query *query, const struct window *window,
                             const struct sql_expression *call, struct rowset *rows)
{
    struct dictionary *made;
    if (window->function != WINDOW_LAG || window->otherwise == WINDOW_NO_COLUMN)
        return STATUS_OK;
    const enum status status =
        relation_alike(&rows->columns[window->argument], rows->rows, &rows->columns[window->otherwise],
                       rows->rows, &made, query->error);
    if (status == STATUS_BAD_INPUT)
        return query_refuse(
            query, call->children[2]->position,
            "this and the first argument of %s have no common type; CAST it, or write DATE '...'",
            call->name);
    RETURN_IF_ERROR(status);
    struct rowset holder = {.column_count = 1, .dictionaries = &made};
    return made ? query_keep_dictionaries(query, &holder) : STATUS_OK;
}

/* Computes all windows, and adds them to the answer below as columns w0, w1, ... */
static enum status add_columns(struct windows *windows, struct rowset *rows)
{
    struct query *const query = windows->query;
    const uint32_t first = rows->column_count, all = first + windows->count;
    struct window_sort sort = {0};
    enum status status = STATUS_OK;
    RETURN_IF_ERROR(
        memory_grow(&rows->columns, (all + 1) * sizeof *rows->columns, "an answer", query->error));
    RETURN_IF_ERROR(
        memory_grow(&rows->dictionaries, (all + 1) * sizeof *rows->dictionaries, "an answer", query->error));
    for (uint32_t c = 0; status == STATUS_OK && c < first; c++) {
        char name[16];
        name_of(name, 'c', c);
        free(rows->columns[c].name);
        rows->columns[c].name = strdup(name);
        if (!rows->columns[c].name)
            status = error_out_of_memory(query->error, sizeof name, "a name");
    }
    for (uint32_t w = 0; status == STATUS_OK && w < windows->count; w++) {
        char name[16];
        name_of(name, 'w', w);
        status = lag_alike(query, &windows->windows[w], windows->calls[w], rows);
        if (status == STATUS_OK)
            status = relation_window(rows, &windows->windows[w], name, engine_threads(query->task->engine),
                                     &sort, &rows->columns[first + w], query->error);
        status = query_placed(query, windows->calls[w]->position, status);
        if (status == STATUS_OK) {
            rows->dictionaries[first + w] = NULL;
            rows->column_count++;
        }
    }
    free(sort.places);
    return status;
}

static enum status run_above(struct windows *windows, struct sql_select *above, struct rowset *answer,
                             struct rowset *rows)
{
    struct query *const query = windows->query;
    const struct sql_select *const select = windows->select;
    struct query_scope *scope;
    RETURN_IF_ERROR(query_explain_line(query, "%u window functions over %llu rows", windows->count,
                                       (unsigned long long)answer->rows));
    RETURN_IF_ERROR(query_name(query, answer, NULL, &scope));
    const struct sql_source source = {.table = scope->named->name, .position = select->position};
    RETURN_IF_ERROR(sql_tree_append(query->tree, &above->sources, &above->source_count, sizeof source,
                                    &source, query->error));
    above->distinct = select->distinct;
    above->limit = select->limit;
    above->offset = select->offset;
    return query_select(query, above, scope, false, rows);
}

enum status query_windows(struct query *query, const struct sql_select *select,
                          const struct query_scope *scope, struct rowset *rows)
{
    struct sql_select *expanded, *above;
    struct windows *windows;
    struct query_sources *sources;
    struct rowset answer = {0};
    RETURN_IF_ERROR(query_memory(query, sizeof *expanded, &expanded));
    RETURN_IF_ERROR(query_memory(query, sizeof *above, &above));
    RETURN_IF_ERROR(query_memory(query, sizeof *windows, &windows));
    RETURN_IF_ERROR(query_memory(query, sizeof *sources, &sources));
    *expanded = *select;
    windows->query = query;
    windows->select = expanded;
    windows->sources = sources;
    RETURN_IF_ERROR(query_memory(query, sizeof *windows->below, &windows->below));
    RETURN_IF_ERROR(check_places(windows));
    RETURN_IF_ERROR(query_sources_find(query, expanded, scope, sources));
    RETURN_IF_ERROR(query_expand_stars(query, sources, expanded));
    RETURN_IF_ERROR(split_items(windows, above));
    RETURN_IF_ERROR(split_orders(windows, above));
    RETURN_IF_ERROR(query_rewrite(query, select->qualify, replace_above, windows, &above->where));
    RETURN_IF_ERROR(groups_below(windows));
    struct sql_select *const below = windows->below;
    below->position = select->position;
    below->source_count = select->source_count;
    below->sources = select->sources;
    below->where = select->where;
    below->having = select->having;
    below->group_count = select->group_count;
    below->set_count = select->set_count;
    below->sets = select->sets;
    if (below->item_count == 0) { /* row_number() OVER () alone */
        struct sql_expression *one;
        RETURN_IF_ERROR(query_node(query, SQL_NUMBER, select->position, &one));
        one->text = "1";
        RETURN_IF_ERROR(query_item(query, below, one, "one"));
    }
    enum status status = query_select(query, below, scope, false, &answer);
    if (status == STATUS_OK)
        status = add_columns(windows, &answer);
    if (status == STATUS_OK)
        status = run_above(windows, above, &answer, rows);
    rowset_free(&answer);
    return status;
}
