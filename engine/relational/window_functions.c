/* window_functions.c: see window_functions.h. */
#include "engine/relational/window_functions.h"

#include "engine/sql/sql_error.h"

#include <stdlib.h>
#include <string.h>

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
    {"count", WINDOW_COUNT, 0, 1},
    {"sum", WINDOW_SUM, 1, 1},
    {"avg", WINDOW_AVG, 1, 1},
    {"min", WINDOW_MIN, 1, 1},
    {"max", WINDOW_MAX, 1, 1},
};

const char *window_function_name(size_t index)
{
    return index < sizeof functions / sizeof *functions ? functions[index].name : NULL;
}

static enum status refuse(struct error *error, struct sql_position position, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

static enum status refuse(struct error *error, struct sql_position position, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    const enum status status = sql_refuse(error, position, format, arguments);
    va_end(arguments);
    return status;
}

static enum status find_function(const struct sql_expression *call, const struct function_name **found,
                                 struct error *error)
{
    *found = NULL;
    for (size_t f = 0; f < sizeof functions / sizeof *functions; f++)
        if (strcmp(functions[f].name, call->name) == 0)
            *found = &functions[f];
    if (!*found)
        return refuse(error, call->position,
                      "%s is no window function; there are row_number, rank, dense_rank, percent_rank, "
                      "cume_dist, ntile, lag, lead, first_value, last_value, nth_value, count, sum, avg, min "
                      "and max",
                      call->name);
    if (call->child_count < (*found)->least || call->child_count > (*found)->most)
        return refuse(error, call->position, "%s takes %u to %u arguments", call->name, (*found)->least,
                      (*found)->most);
    if (call->child_count && call->children[0]->operation == SQL_STAR && (*found)->function != WINDOW_COUNT)
        return refuse(error, call->position, "* stands in count(*) only");
    return STATUS_OK;
}

static enum status number_argument(const struct sql_expression *call, uint32_t index, int64_t least,
                                   int64_t *number, struct error *error)
{
    const struct sql_expression *tree = call->child_count > index ? call->children[index] : NULL;
    const bool minus = tree && tree->operation == SQL_NEGATE;
    char *end;
    if (minus)
        tree = tree->children[0];
    if (!tree || tree->operation != SQL_NUMBER || strlen(tree->text) > 18)
        return refuse(error, call->position, "%s takes a whole number as argument %u", call->name, index + 1);
    *number = strtoll(tree->text, &end, 10) * (minus ? -1 : 1);
    if (*end || *number < least)
        return refuse(error, tree->position, "%s takes a whole number from %lld as argument %u", call->name,
                      (long long)least, index + 1);
    return STATUS_OK;
}

static enum status find_number(const struct sql_expression *call, struct window *window, struct error *error)
{
    window->number = 1;
    if (window->function == WINDOW_NTILE)
        return number_argument(call, 0, 1, &window->number, error);
    if (window->function == WINDOW_NTH)
        return number_argument(call, 1, 1, &window->number, error);
    if (window->function != WINDOW_LAG)
        return STATUS_OK;
    if (call->child_count > 1)
        RETURN_IF_ERROR(number_argument(call, 1, INT64_MIN, &window->number, error));
    if (strcmp(call->name, "lead") == 0)
        window->number = -window->number;
    return STATUS_OK;
}

static void find_frame(const struct sql_window *over, struct window *window)
{
    static const enum window_bound bounds[] = {[SQL_BOUND_FIRST] = BOUND_FIRST,
                                               [SQL_BOUND_BEFORE] = BOUND_ROWS,
                                               [SQL_BOUND_CURRENT] = BOUND_ROWS,
                                               [SQL_BOUND_AFTER] = BOUND_ROWS,
                                               [SQL_BOUND_LAST] = BOUND_LAST};
    window->begin = BOUND_FIRST;
    window->end = over->order_count ? BOUND_PEERS : BOUND_LAST;
    if (over->frame == SQL_FRAME_NONE)
        return;
    window->begin = bounds[over->begin];
    window->end = bounds[over->end];
    window->begin_rows =
        over->begin == SQL_BOUND_BEFORE ? -(int64_t)over->begin_rows : (int64_t)over->begin_rows;
    window->end_rows = over->end == SQL_BOUND_BEFORE ? -(int64_t)over->end_rows : (int64_t)over->end_rows;
}

enum status window_function_of(const struct sql_expression *call, const struct sql_window *over,
                               struct window *window, struct error *error)
{
    const struct function_name *function;
    *window = (struct window){0};
    RETURN_IF_ERROR(find_function(call, &function, error));
    window->function = function->function;
    find_frame(over, window);
    return find_number(call, window, error);
}
