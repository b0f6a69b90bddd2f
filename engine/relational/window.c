/* window.c: window functions over the rows of an operator (execute.h). */
#include "engine/relational/relational.h"
#include "engine/relational/window_functions.h"
#include "engine/sql/sql_error.h"

#include "storage/base/memory.h"

#include <stdlib.h>
#include <string.h>

/* The rows, to which the functions add columns, and which column of the tree each is. */
struct windows {
    struct relational *run;
    const struct logical_node *node;
    struct rowset rows;
    uint32_t *numbers;
    struct window_sort sort; /* of the last function */
};

static enum status refuse(const struct windows *windows, const struct sql_expression *call, const char *what)
{
    return relational_refuse(windows->run, call->position, "%s in a window function is not supported", what);
}

/* ---- Columns ---- */

static enum status add_column(struct windows *windows, uint32_t number, struct rowset_column *column)
{
    struct rowset *const rows = &windows->rows;
    struct error *const error = windows->run->error;
    const size_t more = (size_t)rows->column_count + 2;
    enum status status = memory_grow(&rows->columns, more * sizeof *rows->columns, "an answer", error);
    if (status == STATUS_OK)
        status = memory_grow(&rows->dictionaries, more * sizeof *rows->dictionaries, "an answer", error);
    if (status == STATUS_OK)
        status = memory_grow(&windows->numbers, more * sizeof *windows->numbers, "an answer", error);
    if (status != STATUS_OK) {
        relation_column_free(column);
        return status;
    }
    rows->dictionaries[rows->column_count] = NULL;
    windows->numbers[rows->column_count] = number;
    rows->columns[rows->column_count++] = *column;
    *column = (struct rowset_column){0};
    return STATUS_OK;
}

/* The column of an argument or a term; a constant becomes one. */
static enum status column_of(struct windows *windows, const struct sql_expression *tree, uint32_t *column)
{
    struct relational *const run = windows->run;
    const struct result rows = {.rows = windows->rows.rows};
    struct rowset_column made;
    for (*column = 0; tree->operation == SQL_INPUT && *column < windows->rows.column_count; (*column)++)
        if (windows->numbers[*column] == tree->index)
            return STATUS_OK;
    *column = windows->rows.column_count;
    RETURN_IF_ERROR(relational_compute(run, &rows, (struct sql_expression *)tree, &made));
    return add_column(windows, run->next_column++, &made);
}

/* ---- One function ---- */

static enum status add_terms(struct windows *windows, const struct sql_window *tree, struct window *window)
{
    struct relational *const run = windows->run;
    uint32_t *partitions;
    struct window_order *orders;
    RETURN_IF_ERROR(relational_memory(run, (tree->partition_count + 1) * sizeof *partitions, &partitions));
    RETURN_IF_ERROR(relational_memory(run, (tree->order_count + 1) * sizeof *orders, &orders));
    for (uint32_t p = 0; p < tree->partition_count; p++)
        if (tree->partitions[p]->operation == SQL_INPUT)
            RETURN_IF_ERROR(column_of(windows, tree->partitions[p], &partitions[window->partition_count++]));
    for (uint32_t o = 0; o < tree->order_count; o++) {
        if (tree->orders[o].expression->operation != SQL_INPUT)
            continue;
        struct window_order *const order = &orders[window->order_count++];
        order->descending = tree->orders[o].descending;
        order->nulls_first = tree->orders[o].nulls_first;
        RETURN_IF_ERROR(column_of(windows, tree->orders[o].expression, &order->column));
    }
    window->partitions = partitions;
    window->orders = orders;
    return STATUS_OK;
}

static enum status add_arguments(struct windows *windows, const struct sql_expression *call,
                                 struct window *window)
{
    window->argument = window->otherwise = WINDOW_NO_COLUMN;
    if (call->child_count && call->children[0]->operation != SQL_STAR && window->function != WINDOW_NTILE)
        RETURN_IF_ERROR(column_of(windows, call->children[0], &window->argument));
    if (call->child_count == 3)
        return column_of(windows, call->children[2], &window->otherwise);
    return STATUS_OK;
}

/* The values of lag and the value in their place get one type. */
static enum status make_alike(struct windows *windows, const struct sql_expression *call,
                              struct window *window)
{
    struct relational *const run = windows->run;
    struct rowset *const rows = &windows->rows;
    struct dictionary *made;
    if (window->otherwise == WINDOW_NO_COLUMN)
        return STATUS_OK;
    struct rowset_column copy;
    uint32_t *const argument = &window->argument;
    RETURN_IF_ERROR(relation_gather(&rows->columns[*argument], NULL, rows->rows, &copy, run->error));
    *argument = rows->column_count; /* others may read the column as it is */
    RETURN_IF_ERROR(add_column(windows, run->next_column++, &copy));
    const enum status status =
        relation_alike(&rows->columns[*argument], rows->rows, &rows->columns[window->otherwise], rows->rows,
                       &made, run->error);
    if (status == STATUS_BAD_INPUT)
        return relational_refuse(
            run, call->children[2]->position,
            "this and the first argument of %s have no common type; CAST it, or write DATE '...'",
            call->name);
    RETURN_IF_ERROR(status);
    struct rowset holder = {.column_count = 1, .dictionaries = &made};
    return relational_keep(run, &holder);
}

static enum status add_function(struct windows *windows, const struct logical_window *of, uint32_t number)
{
    struct relational *const run = windows->run;
    const struct sql_expression *const call = of->call;
    struct rowset_column column;
    struct window window;
    RETURN_IF_ERROR(cancel_check(run->error));
    if (call->distinct)
        return refuse(windows, call, "DISTINCT");
    if (call->ordered)
        return refuse(windows, call, "ORDER BY in its arguments");
    RETURN_IF_ERROR(window_function_of(call, of->window, &window, run->error));
    RETURN_IF_ERROR(add_arguments(windows, call, &window));
    RETURN_IF_ERROR(add_terms(windows, of->window, &window));
    RETURN_IF_ERROR(make_alike(windows, call, &window));
    RETURN_IF_ERROR(
        sql_placed(run->error, call->position,
                   relation_window(&windows->rows, &window, call->name, engine_threads(run->task->engine),
                                   &windows->sort, &column, run->error)));
    return add_column(windows, number, &column);
}

/* ---- The whole ---- */

static enum status answer_input(struct windows *windows, const struct logical_set *needed)
{
    struct relational *const run = windows->run;
    const struct logical_node *const input = windows->node->inputs[0];
    struct logical_set names;
    struct result result;
    uint32_t *numbers, count = 0;
    RETURN_IF_ERROR(relational_set(run, &names));
    memcpy(names.bits, needed->bits, needed->words * sizeof *needed->bits);
    logical_node_names(windows->node, &names);
    RETURN_IF_ERROR(relational_memory(run, (input->column_count + 1) * sizeof *numbers, &numbers));
    for (uint32_t c = 0; c < input->column_count; c++)
        if (logical_has(&names, input->columns[c]))
            numbers[count++] = input->columns[c];
    RETURN_IF_ERROR(relational_node(run, input, &names, false, &result));
    RETURN_IF_ERROR(memory_take(&windows->numbers, (count + 1) * sizeof *numbers, "an answer", run->error));
    memcpy(windows->numbers, numbers, count * sizeof *numbers);
    return result_rows(run, &result, numbers, count, &windows->rows);
}

static enum status add_functions(struct windows *windows, const struct logical_set *needed)
{
    const struct logical_node *const node = windows->node;
    RETURN_IF_ERROR(answer_input(windows, needed));
    for (uint32_t w = 0; w < node->window.count; w++)
        RETURN_IF_ERROR(add_function(windows, &node->window.windows[w],
                                     node->columns[node->column_count - node->window.count + w]));
    return relational_line(windows->run, "%u window functions over %llu rows", node->window.count,
                           (unsigned long long)windows->rows.rows);
}

enum status relational_windows(struct relational *run, const struct logical_node *node,
                               const struct logical_set *needed, struct result *result)
{
    struct windows windows = {.run = run, .node = node};
    enum status status = add_functions(&windows, needed);
    if (status == STATUS_OK)
        status = result_of_rows(run, &windows.rows, windows.numbers, result);
    else
        rowset_free(&windows.rows);
    free(windows.sort.places);
    free(windows.numbers);
    return status;
}
