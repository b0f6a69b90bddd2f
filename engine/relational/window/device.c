/* device.c: see device.h. */
#include "engine/relational/window/device.h"

#include "engine/plan/device/device_window.h"
#include "engine/sql/aggregates/aggregate_names.h"

#include <stdlib.h>
#include <string.h>

/* More digits than a number of rows has: no table has so many. */
#define DIGITS_MAX 12u

/* ---- Which functions ---- */

static bool is_number(const struct sql_expression *tree)
{
    return tree->operation == SQL_NUMBER && strlen(tree->text) <= DIGITS_MAX &&
           strspn(tree->text, "0123456789") == strlen(tree->text);
}

static bool is_column(const struct sql_expression *tree)
{
    return tree->operation == SQL_INPUT;
}

static bool aggregate_result(const struct logical_window *of, enum window_result *result)
{
    const struct aggregate_name *const name = aggregate_name_find(of->call->name);
    const bool star = of->call->child_count == 1 && of->call->children[0]->operation == SQL_STAR;
    if (name->family != FAMILY_BASIC || name->as || of->call->distinct || of->call->child_count > 1 ||
        (of->call->child_count && !star && !is_column(of->call->children[0])))
        return false;
    const struct aggregate *const aggregate = aggregate_of(aggregate_of_any_range(name->aggregate));
    if (name->average)
        *result = WINDOW_GIVES_AVERAGE;
    else if (aggregate->counts)
        *result = WINDOW_GIVES_COUNT;
    else if (aggregate->sums)
        *result = WINDOW_GIVES_SUM;
    else if (strcmp(name->name, "min") == 0)
        *result = WINDOW_GIVES_MIN;
    else if (strcmp(name->name, "max") == 0)
        *result = WINDOW_GIVES_MAX;
    else
        return false;
    return aggregate->counts || of->call->child_count == 1;
}

static bool result_of(const struct logical_window *of, enum window_result *result)
{
    const struct sql_expression *const call = of->call;
    switch (of->function) {
    case WINDOW_ROW_NUMBER:
        *result = WINDOW_GIVES_ROW_NUMBER;
        return true;
    case WINDOW_RANK:
        *result = WINDOW_GIVES_RANK;
        return true;
    case WINDOW_DENSE_RANK:
        *result = WINDOW_GIVES_DENSE_RANK;
        return true;
    case WINDOW_PERCENT_RANK:
        *result = WINDOW_GIVES_PERCENT_RANK;
        return true;
    case WINDOW_CUME_DIST:
        *result = WINDOW_GIVES_CUME_DIST;
        return true;
    case WINDOW_NTILE:
        *result = WINDOW_GIVES_NTILE;
        return is_number(call->children[0]) && strtoll(call->children[0]->text, NULL, 10) > 0;
    case WINDOW_LAG:
    case WINDOW_LEAD:
        *result = WINDOW_GIVES_MOVED;
        return is_column(call->children[0]) && call->child_count < 3 &&
               (call->child_count < 2 || is_number(call->children[1]));
    case WINDOW_FIRST_VALUE:
    case WINDOW_LAST_VALUE:
        *result = of->function == WINDOW_FIRST_VALUE ? WINDOW_GIVES_FIRST : WINDOW_GIVES_LAST;
        return is_column(call->children[0]);
    case WINDOW_AGGREGATE:
        return aggregate_result(of, result);
    case WINDOW_NTH_VALUE:
        break;
    }
    return false;
}

static bool has_frame(const struct sql_window *window)
{
    const bool rows = window->frame == SQL_FRAME_ROWS || (!window->begin_value && !window->end_value);
    return rows && window->exclude == SQL_EXCLUDE_NONE &&
           (!window->begin_value || is_number(window->begin_value)) &&
           (!window->end_value || is_number(window->end_value));
}

bool window_device_can(const struct logical_node *node)
{
    enum window_result result;
    bool can = true;
    for (uint32_t w = 0; w < node->window.count; w++) {
        const struct logical_window *const of = &node->window.windows[w];
        can = can && !of->call->ignores_nulls && has_frame(of->window) && result_of(of, &result) &&
              of->window->partition_count + of->window->order_count <= WINDOW_TERMS_MAX;
    }
    return can;
}

/* ---- What the GPU is told ---- */

/* The edge of a frame; `past`: the place after it. */
static struct window_edge_at edge_of(const struct sql_window *window, enum sql_bound bound,
                                     const struct sql_expression *value, bool past)
{
    const bool rows = window->frame == SQL_FRAME_ROWS;
    const int64_t number = value ? strtoll(value->text, NULL, 10) : 0;
    if (window->frame == SQL_FRAME_NONE) /* from the partition's first row to the last peer */
        bound = past ? SQL_BOUND_CURRENT : SQL_BOUND_FIRST;
    if (bound == SQL_BOUND_FIRST || bound == SQL_BOUND_LAST)
        return (struct window_edge_at){.kind = WINDOW_EDGE_PARTITION};
    if (!rows)
        return (struct window_edge_at){.kind = WINDOW_EDGE_PEERS};
    return (struct window_edge_at){.kind = WINDOW_EDGE_ROW,
                                   .rows = (bound == SQL_BOUND_BEFORE ? -number : number) + past};
}

static bool add_term(const struct taken *taken, const struct sql_expression *tree, bool descending,
                     bool nulls_first, struct device_window *window)
{
    if (!is_column(tree)) /* a constant: it divides nothing */
        return true;
    const uint32_t column = taken_find(taken, tree->index);
    window->terms[window->term_count++] = (struct device_window_term){column, descending, nulls_first};
    return column != UINT32_MAX;
}

static bool add_terms(const struct taken *taken, const struct sql_window *of, struct device_window *window)
{
    bool found = true;
    for (uint32_t p = 0; p < of->partition_count; p++)
        found &= add_term(taken, of->partitions[p], false, true, window);
    window->partition_terms = window->term_count;
    for (uint32_t o = 0; o < of->order_count; o++)
        found &= add_term(taken, of->orders[o].expression, of->orders[o].descending,
                          of->orders[o].nulls_first, window);
    return found;
}

/* As the host has it: values of other rows have the argument's type, and so its dictionary. */
static struct value_type type_of(const struct relational *run, const struct taken *taken,
                                 const struct logical_window *of, const struct device_window *window,
                                 uint32_t number)
{
    const struct value_type type = run->tree->columns[number].type;
    return window->has_argument && (type.kind == VALUE_STRING || of->function != WINDOW_AGGREGATE)
               ? taken->rows->columns[window->argument].type
               : type;
}

static bool describe(const struct relational *run, const struct taken *taken, const struct logical_window *of,
                     uint32_t number, struct device_window *window)
{
    const struct sql_expression *const call = of->call, *const argument =
                                                            call->child_count ? call->children[0] : NULL;
    *window = (struct device_window){
        .begin = edge_of(of->window, of->window->begin, of->window->begin_value, false),
        .end = edge_of(of->window, of->window->end, of->window->end_value, true)};
    result_of(of, &window->result);
    window->has_argument = argument && is_column(argument);
    if (window->has_argument)
        window->argument = taken_find(taken, argument->index);
    if (window->result == WINDOW_GIVES_NTILE)
        window->number = strtoll(argument->text, NULL, 10);
    if (window->result == WINDOW_GIVES_MOVED)
        window->number = (call->child_count > 1 ? strtoll(call->children[1]->text, NULL, 10) : 1) *
                         (of->function == WINDOW_LAG ? -1 : 1);
    if (!add_terms(taken, of->window, window) || (window->has_argument && window->argument == UINT32_MAX))
        return false;
    window->type = type_of(run, taken, of, window, number);
    return true;
}

/* The columns that are kept move up. */
static void keep(struct taken *taken, const bool *kept)
{
    uint32_t left = 0;
    for (uint32_t c = 0; c < taken->count; c++)
        if (kept[c])
            taken->numbers[left++] = taken->numbers[c];
    taken->count = left;
}

enum status window_device_add(struct relational *run, const struct logical_node *node,
                              const struct logical_set *needed, struct taken *taken, const char **why)
{
    const uint32_t count = node->window.count;
    const uint32_t *const numbers = node->columns + (node->column_count - count);
    struct device_window *windows;
    bool *kept;
    *why = NULL;
    RETURN_IF_ERROR(relational_memory(run, count * sizeof *windows, &windows));
    RETURN_IF_ERROR(relational_memory(run, (taken->count + count + 1ull) * sizeof *kept, &kept));
    for (uint32_t c = 0; c < taken->count + count; c++)
        kept[c] = c >= taken->count || logical_has(needed, taken->numbers[c]);
    for (uint32_t w = 0; w < count; w++)
        if (!describe(run, taken, &node->window.windows[w], numbers[w], &windows[w]))
            *why = "a column is not on the GPU";
    if (*why)
        return STATUS_OK;
    RETURN_IF_ERROR(engine_windows(run->task->engine, taken->rows, windows, count, kept, why, run->error));
    if (!*why)
        keep(taken, kept);
    for (uint32_t w = 0; !*why && w < count; w++)
        RETURN_IF_ERROR(taken_add(run, taken, numbers[w]));
    return STATUS_OK;
}
