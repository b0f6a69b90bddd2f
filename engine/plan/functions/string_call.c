/* string_call.c: see string_call.h. */
#include "engine/plan/functions/string_call.h"

#include "engine/plan/functions/string_table.h"
#include "storage/base/memory.h"

#include <stdlib.h>
#include <string.h>

/* ---- What a table is made of ---- */

/* A node whose values are known when a statement is bound: low .. low + count - 1. */
struct given {
    uint32_t node;
    int64_t low;
    uint64_t count;
};

/* A function for all combinations of given values. The number of a combination has the first one in its highest digit. */
struct tabulated {
    const struct expression_list *list;
    const struct text_call *call;
    uint32_t given_count;
    struct given given[STRINGS_MAX + TEXT_NUMBERS_MAX];
    uint64_t combinations; /* UINT64_MAX: 2^64 or more */
};

static uint32_t argument_count(const struct text_call *call)
{
    return call->call.count + call->number_count;
}

static bool is_constant(const struct expression_list *list, uint32_t node)
{
    return list->nodes[node].operation == EXPRESSION_CONSTANT;
}

static void give(struct tabulated *of, uint32_t node)
{
    const struct expression *const made = &of->list->nodes[node];
    const bool none = made->low > made->high; /* it is always NULL */
    struct given given = {.node = node, .low = none ? 0 : made->low};
    for (uint32_t g = 0; g < of->given_count; g++)
        if (of->given[g].node == node)
            return;
    given.count = none ? 1 : (uint64_t)made->high - (uint64_t)made->low + 1;
    bool unknown = made->low == INT64_MIN || made->type.kind == VALUE_DOUBLE;
    if (made->type.kind == VALUE_STRING) { /* also where the range of its codes is unknown */
        given.low = 0;
        given.count = made->type.dictionary->count;
        unknown = false;
    }
    if (__builtin_mul_overflow(of->combinations, given.count, &of->combinations) || unknown)
        of->combinations = UINT64_MAX;
    of->given[of->given_count++] = given;
}

struct one_leaf {
    const struct expression_list *list;
    uint32_t leaf; /* EXPRESSION_NONE before the first */
    bool several;
};

static void see_leaf(void *context, const struct expression *leaf)
{
    struct one_leaf *one = context;
    const uint32_t index = (uint32_t)(leaf - one->list->nodes);
    one->several |= one->leaf != EXPRESSION_NONE && one->leaf != index;
    one->leaf = index;
}

/* Finds what is given: the only argument that is no constant; else the column of strings that all are made of; else all of
 * them. */
static struct tabulated tabulated_of(const struct expression_list *list, const struct text_call *call)
{
    struct tabulated of = {.list = list, .call = call, .combinations = 1};
    struct one_leaf one = {.list = list, .leaf = EXPRESSION_NONE};
    for (uint32_t a = 0; a < argument_count(call); a++)
        if (!is_constant(list, call->arguments[a])) {
            give(&of, call->arguments[a]);
            expression_visit(list, call->arguments[a], see_leaf, &one);
        }
    if (of.given_count > 1 && !one.several && list->nodes[one.leaf].type.kind == VALUE_STRING &&
        !is_run_time(list->nodes[one.leaf].type)) {
        of.given_count = 0;
        of.combinations = 1;
        give(&of, one.leaf);
    }
    return of;
}

/* True if a table is not worth its while, or cannot be. */
static bool is_for_rows(const struct tabulated *of)
{
    const struct expression_list *const list = of->list;
    const struct string_call *const call = &of->call->call;
    const bool costly = call->type.kind == VALUE_STRING || (call->context && call->body != string_like);
    for (uint32_t a = 0; a < argument_count(of->call); a++)
        if (list->nodes[of->call->arguments[a]].by_row ||
            is_run_time(list->nodes[of->call->arguments[a]].type))
            return true;
    if (of->given_count == 1 && list->nodes[of->given[0].node].type.kind == VALUE_STRING)
        return costly && list->table_most && of->combinations > list->table_most;
    return of->combinations > 1 && of->combinations > list->tables_most;
}

/* ---- Its values ---- */

/* What one thread computes them with. */
struct tabulating {
    struct expression_program *program;
    struct text_argument arguments[STRINGS_MAX + TEXT_NUMBERS_MAX];
};

static enum status open_thread(const void *context, void **thread, struct error *error)
{
    const struct tabulated *const of = context;
    const uint32_t count = argument_count(of->call), *const arguments = of->call->arguments;
    struct tabulating *made;
    uint8_t *given = NULL;
    RETURN_IF_ERROR(memory_zeros(&made, sizeof *made, "a function", error));
    *thread = made;
    RETURN_IF_ERROR(memory_zeros(&given, of->list->count, "a function", error));
    for (uint32_t g = 0; g < of->given_count; g++)
        given[of->given[g].node] = 1;
    const enum status status =
        expression_program_over(of->list, given, arguments, count, &made->program, error);
    for (uint32_t a = 0; status == STATUS_OK && a < count; a++)
        made->arguments[a] =
            text_argument(of->list, arguments[a], expression_program_vector(made->program, arguments[a]),
                          of->list->nodes[arguments[a]].type.dictionary);
    free(given);
    return status;
}

static void close_thread(void *thread)
{
    expression_program_free(((struct tabulating *)thread)->program);
    free(thread);
}

static void begin(const void *context, void *thread, uint64_t first, uint32_t rows)
{
    const struct tabulated *const of = context;
    const struct tabulating *const own = thread;
    uint64_t stride = 1;
    for (uint32_t g = of->given_count; g-- > 0;) {
        const struct given *const given = &of->given[g];
        const struct vector to = expression_program_vector(own->program, given->node);
        for (uint32_t row = 0; row < rows; row++)
            to.values[row] = (int64_t)((uint64_t)given->low + (first + row) / stride % given->count);
        if (to.nulls)
            memset(to.nulls, 0, rows);
        stride *= given->count;
    }
    expression_program_run(own->program, rows);
}

static bool arguments_of(const void *context, const void *thread, uint64_t number, struct string_call *call,
                         struct string_value *strings)
{
    const struct tabulated *const of = context;
    const struct tabulating *const own = thread;
    return text_arguments_take(of->call, own->arguments, NULL, (uint32_t)(number % VECTOR_ROWS), call,
                               strings);
}

/* ---- The node ---- */

/* Makes the node of a combination's number. */
static enum status number_combination(struct expression_list *list, const struct tabulated *of,
                                      uint32_t *index, struct error *error)
{
    const struct value_type whole = {.kind = VALUE_INTEGER};
    uint32_t constant;
    RETURN_IF_ERROR(expression_constant(list, whole, 0, index, error));
    if (of->given_count == 1 && of->given[0].low == 0) {
        *index = of->given[0].node;
        return STATUS_OK;
    }
    for (uint32_t g = 0; g < of->given_count; g++) {
        const struct given *const given = &of->given[g];
        uint32_t place;
        RETURN_IF_ERROR(expression_constant(list, whole, -given->low, &constant, error));
        RETURN_IF_ERROR(
            expression_apply(list, EXPRESSION_ADD, constant, given->node, EXPRESSION_NONE, &place, error));
        RETURN_IF_ERROR(expression_constant(list, whole, (int64_t)given->count, &constant, error));
        RETURN_IF_ERROR(
            expression_apply(list, EXPRESSION_MULTIPLY, *index, constant, EXPRESSION_NONE, index, error));
        RETURN_IF_ERROR(expression_apply(list, EXPRESSION_ADD, *index, place, EXPRESSION_NONE, index, error));
    }
    return STATUS_OK;
}

static enum status table_of(struct expression_list *list, const struct tabulated *of, uint32_t *index,
                            struct error *error)
{
    const struct string_source source = {.count = of->combinations,
                                         .context = of,
                                         .open = open_thread,
                                         .close = close_thread,
                                         .begin = begin,
                                         .arguments = arguments_of};
    uint32_t number;
    RETURN_IF_ERROR(number_combination(list, of, &number, error));
    return string_table(list, &of->call->call, &source, number, index, error);
}

static enum status null_result(struct expression_list *list, struct value_type type, uint32_t *index,
                               struct error *error)
{
    if (type.kind == VALUE_STRING) { /* of a dictionary, as all strings */
        RETURN_IF_ERROR(expression_string_constant(list, "", 0, index, error));
        type = list->nodes[*index].type;
    }
    return expression_null(list, type, index, error);
}

/* The most arguments of a row's function that are no constants. */
#define ROW_ARGUMENTS_MAX 3u

/* Puts the first strings together until few enough are left: only || takes so many. */
static enum status rows_of(struct expression_list *list, struct text_call call, uint32_t *index,
                           struct error *error)
{
    uint32_t varying = 0;
    for (uint32_t a = 0; a < argument_count(&call); a++)
        varying += !is_constant(list, call.arguments[a]);
    for (; varying > ROW_ARGUMENTS_MAX; varying -= ROW_ARGUMENTS_MAX - 1) {
        struct text_call first = call;
        uint32_t taken = 0, strings = 0;
        for (; taken < ROW_ARGUMENTS_MAX; strings++)
            taken += !is_constant(list, call.arguments[strings]);
        first.call.count = strings;
        RETURN_IF_ERROR(text_call_add(list, &first, &call.arguments[0], error));
        memmove(call.arguments + 1, call.arguments + strings,
                (call.call.count - strings) * sizeof *call.arguments);
        call.call.count -= strings - 1;
    }
    return text_call_add(list, &call, index, error);
}

/* Makes an argument NULL in rows that do not ask for the value: then the call is not made. */
static enum status guard_argument(struct expression_list *list, struct text_call *call, struct error *error)
{
    uint32_t a = 0, null;
    while (is_constant(list, call->arguments[a]))
        a++;
    uint32_t *const argument = &call->arguments[a];
    for (const struct expression_guard *guard = list->guard; guard; guard = guard->outer) {
        RETURN_IF_ERROR(expression_null(list, list->nodes[*argument].type, &null, error));
        RETURN_IF_ERROR(expression_apply(list, EXPRESSION_CHOOSE, guard->condition,
                                         guard->taken ? *argument : null, guard->taken ? null : *argument,
                                         argument, error));
        if (is_constant(list, *argument)) /* no row asks */
            return STATUS_OK;
    }
    return STATUS_OK;
}

static enum status guarded_rows_of(struct expression_list *list, struct text_call call, uint32_t *index,
                                   struct error *error)
{
    if (call.call.fails && list->guard) {
        const enum status status = guard_argument(list, &call, error);
        if (status != STATUS_OK && call.call.release)
            call.call.release(call.call.context);
        RETURN_IF_ERROR(status);
    }
    return rows_of(list, call, index, error);
}

enum status expression_text_call(struct expression_list *list, const struct text_call *call, uint32_t *index,
                                 struct error *error)
{
    const struct tabulated of = tabulated_of(list, call);
    struct error why = {0};
    bool null = false;
    for (uint32_t a = 0; a < argument_count(call); a++)
        null |= is_constant(list, call->arguments[a]) && list->nodes[call->arguments[a]].is_null;
    if (!null && is_for_rows(&of))
        return guarded_rows_of(list, *call, index, error);
    const enum status status =
        null ? null_result(list, call->call.type, index, &why) : table_of(list, &of, index, &why);
    if (status == STATUS_BAD_INPUT && call->call.fails && of.given_count) /* no constant: rows tell */
        return guarded_rows_of(list, *call, index, error);
    if (call->call.release)
        call->call.release(call->call.context);
    if (status != STATUS_OK && error)
        *error = why;
    return status;
}

enum status expression_string_call(struct expression_list *list, const struct string_call *call,
                                   const uint32_t *children, uint32_t *index, struct error *error)
{
    struct text_call made = {.call = *call};
    memcpy(made.arguments, children, call->count * sizeof *children);
    return expression_text_call(list, &made, index, error);
}
