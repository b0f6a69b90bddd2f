/* string_call.c: see string_call.h. */
#include "engine/plan/functions/string_call.h"

#include "engine/plan/expression_vector.h"
#include "engine/plan/functions/string_table.h"
#include <string.h>

/* ---- Combinations of strings ---- */

/* The arguments of a function that are no constants. */
struct varying {
    uint32_t count;
    bool by_row;           /* one has no dictionary */
    uint64_t combinations; /* of their strings; UINT64_MAX: of some 2^63 or more */
};

static struct varying varying_of(const struct expression_list *list, const uint32_t *strings, uint32_t count)
{
    struct varying varying = {.combinations = 1};
    for (uint32_t s = 0; s < count; s++) {
        const struct expression *const node = &list->nodes[strings[s]];
        if (node->operation == EXPRESSION_CONSTANT)
            continue;
        varying.count++;
        varying.by_row |= is_run_time(node->type);
        if (__builtin_mul_overflow(varying.combinations, (uint64_t)node->type.dictionary->count,
                                   &varying.combinations))
            varying.combinations = UINT64_MAX;
    }
    return varying;
}

/* True if a table is not worth its while, or too large. */
static bool is_for_rows(const struct expression_list *list, const struct string_call *call,
                        const struct varying *varying)
{
    const bool costly = call->type.kind == VALUE_STRING || (call->context && call->body != string_like);
    if (varying->by_row)
        return true;
    if (varying->count > 1)
        return varying->combinations > list->tables_most;
    return costly && list->table_most && varying->combinations > list->table_most;
}

struct combinations {
    const struct expression_list *list;
    const uint32_t *strings;
    uint32_t count;
};

/* The number of a combination has the first string's code in its highest digit. */
static bool combination(const void *context, const void *thread, uint64_t number, struct string_call *call,
                        struct string_value *strings)
{
    const struct combinations *const of = context;
    (void)thread;
    (void)call;
    for (uint32_t s = of->count; s-- > 0;) {
        const struct expression *const node = &of->list->nodes[of->strings[s]];
        int64_t code = node->constant;
        if (node->operation != EXPRESSION_CONSTANT) {
            code = (int64_t)(number % node->type.dictionary->count);
            number /= node->type.dictionary->count;
        }
        strings[s].text = dictionary_string(node->type.dictionary, code, &strings[s].length);
    }
    return true;
}

/* Makes the node of a combination's number. */
static enum status number_combination(struct expression_list *list, const uint32_t *strings, uint32_t count,
                                      uint32_t *index, struct error *error)
{
    const struct value_type whole = {.kind = VALUE_INTEGER};
    bool first = true;
    RETURN_IF_ERROR(expression_constant(list, whole, 0, index, error));
    for (uint32_t s = 0; s < count; s++) {
        const struct expression node = list->nodes[strings[s]];
        uint32_t size;
        if (node.operation == EXPRESSION_CONSTANT)
            continue;
        RETURN_IF_ERROR(expression_constant(list, whole, node.type.dictionary->count, &size, error));
        if (first) {
            *index = strings[s];
        } else {
            uint32_t zero;
            RETURN_IF_ERROR(expression_constant(list, whole, 0, &zero, error));
            RETURN_IF_ERROR(
                expression_apply(list, EXPRESSION_ADD, zero, *index, EXPRESSION_NONE, index, error));
            RETURN_IF_ERROR(
                expression_apply(list, EXPRESSION_MULTIPLY, *index, size, EXPRESSION_NONE, index, error));
            RETURN_IF_ERROR(
                expression_apply(list, EXPRESSION_ADD, *index, strings[s], EXPRESSION_NONE, index, error));
        }
        first = false;
    }
    return STATUS_OK;
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

static enum status table_of(struct expression_list *list, const struct string_call *call,
                            const uint32_t *children, uint64_t count, uint32_t *index, struct error *error)
{
    const struct combinations of = {list, children, call->count};
    const struct string_source source = {.count = count, .context = &of, .arguments = combination};
    uint32_t number;
    RETURN_IF_ERROR(number_combination(list, children, call->count, &number, error));
    return string_table(list, call, &source, number, index, error);
}

/* The most arguments of a row's function that are no constants. */
#define ROW_ARGUMENTS_MAX 3u

/* Puts the first strings together until few enough are left. */
static enum status join_first(struct expression_list *list, struct text_call *made, uint32_t varying,
                              struct error *error)
{
    while (varying > ROW_ARGUMENTS_MAX) {
        struct text_call first = *made;
        uint32_t taken = 0, strings = 0;
        for (; taken < ROW_ARGUMENTS_MAX; strings++)
            taken += list->nodes[made->arguments[strings]].operation != EXPRESSION_CONSTANT;
        first.call.count = strings;
        RETURN_IF_ERROR(text_call_add(list, &first, &made->arguments[0], error));
        memmove(made->arguments + 1, made->arguments + strings,
                (made->call.count - strings) * sizeof *made->arguments);
        made->call.count -= strings - 1;
        varying -= ROW_ARGUMENTS_MAX - 1;
    }
    return STATUS_OK;
}

static enum status rows_of(struct expression_list *list, const struct string_call *call,
                           const uint32_t *children, uint32_t varying, uint32_t *index, struct error *error)
{
    struct text_call made = {.call = *call};
    memcpy(made.arguments, children, call->count * sizeof *children);
    RETURN_IF_ERROR(join_first(list, &made, varying, error)); /* only || takes so many */
    return text_call_add(list, &made, index, error);
}

enum status expression_string_call(struct expression_list *list, const struct string_call *call,
                                   const uint32_t *children, uint32_t *index, struct error *error)
{
    const struct varying varying = varying_of(list, children, call->count);
    enum status status;
    bool null = false;
    for (uint32_t c = 0; c < call->count; c++)
        null |= list->nodes[children[c]].operation == EXPRESSION_CONSTANT && list->nodes[children[c]].is_null;
    if (!null && is_for_rows(list, call, &varying))
        return rows_of(list, call, children, varying.count, index, error);
    status = null ? null_result(list, call->type, index, error)
                  : table_of(list, call, children, varying.combinations, index, error);
    if (call->release)
        call->release(call->context);
    return status;
}

/* ---- Functions whose numbers depend on the string ---- */

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

/* The arguments of a function are evaluated over the codes of the leaf that all of them are made of. */
struct varied {
    const struct expression_list *list;
    const uint32_t *roots; /* the strings, then the numbers */
    uint32_t root_count, leaf;
};

static enum status varied_open(const void *context, void **thread, struct error *error)
{
    const struct varied *of = context;
    struct expression_program *program = NULL;
    const enum status status =
        expression_program_create(of->list, of->roots, of->root_count, &program, error);
    *thread = program;
    return status;
}

static void varied_close(void *thread)
{
    expression_program_free(thread);
}

static void varied_begin(const void *context, void *thread, uint64_t first, uint32_t rows)
{
    const struct varied *of = context;
    const struct vector codes = expression_program_vector(thread, of->leaf);
    for (uint32_t row = 0; row < rows; row++)
        codes.values[row] = (int64_t)(first + row);
    if (codes.nulls)
        memset(codes.nulls, 0, rows);
    expression_program_run(thread, rows);
}

static bool varied_arguments(const void *context, const void *thread, uint64_t number,
                             struct string_call *call, struct string_value *strings)
{
    const struct varied *of = context;
    const uint32_t row = (uint32_t)(number % VECTOR_ROWS);
    for (uint32_t r = 0; r < of->root_count; r++) {
        const struct vector value = expression_program_vector(thread, of->roots[r]);
        if (value.nulls && value.nulls[row])
            return false;
        if (r < call->count)
            strings[r].text = dictionary_string(of->list->nodes[of->roots[r]].type.dictionary,
                                                value.values[row], &strings[r].length);
        else
            call->numbers[r - call->count] = value.values[row];
    }
    return true;
}

enum status expression_string_call_varied(struct expression_list *list, const struct string_call *call,
                                          const uint32_t *children, const uint32_t *numbers,
                                          uint32_t number_count, uint32_t *index, struct error *error)
{
    uint32_t roots[STRINGS_MAX + 3], root_count = 0;
    struct one_leaf one = {.list = list, .leaf = EXPRESSION_NONE};
    for (uint32_t s = 0; s < call->count; s++)
        roots[root_count++] = children[s];
    for (uint32_t n = 0; n < number_count; n++)
        roots[root_count++] = numbers[n];
    bool by_row = false;
    for (uint32_t r = 0; r < root_count; r++) {
        expression_visit(list, roots[r], see_leaf, &one);
        by_row |= list->nodes[roots[r]].by_row;
    }
    if (by_row || one.several || one.leaf == EXPRESSION_NONE ||
        list->nodes[one.leaf].type.kind != VALUE_STRING || is_run_time(list->nodes[one.leaf].type)) {
        struct text_call made = {.call = *call, .number_count = number_count};
        memcpy(made.arguments, roots, root_count * sizeof *roots);
        return text_call_add(list, &made, index, error);
    }
    const struct varied of = {.list = list, .roots = roots, .root_count = root_count, .leaf = one.leaf};
    const struct string_source source = {.count = list->nodes[one.leaf].type.dictionary->count,
                                         .context = &of,
                                         .open = varied_open,
                                         .close = varied_close,
                                         .begin = varied_begin,
                                         .arguments = varied_arguments};
    return string_table(list, call, &source, one.leaf, index, error);
}

/* ---- Texts of numbers ---- */

struct number_range {
    const struct expression_list *list;
    const uint32_t *strings; /* constants */
    int64_t low;
};

/* numbers[2] of value `number` is low + number. */
static bool number_arguments(const void *context, const void *thread, uint64_t number,
                             struct string_call *call, struct string_value *strings)
{
    const struct number_range *const of = context;
    (void)thread;
    for (uint32_t s = 0; s < call->count; s++) {
        const struct expression *const node = &of->list->nodes[of->strings[s]];
        strings[s].text = dictionary_string(node->type.dictionary, node->constant, &strings[s].length);
    }
    call->numbers[2] = of->low + (int64_t)number;
    return true;
}

enum status expression_number_texts(struct expression_list *list, const struct string_call *call,
                                    const uint32_t *strings, uint32_t child, uint32_t *index,
                                    struct error *error)
{
    const struct value_type whole = {.kind = VALUE_INTEGER};
    const struct expression node = list->nodes[child];
    const bool none = node.low > node.high || (node.operation == EXPRESSION_CONSTANT && node.is_null);
    const int64_t low = none ? 0 : node.low, high = none ? 0 : node.high;
    const bool many = (__int128)high - low >= (__int128)list->tables_most && low != high;
    if (many || node.by_row || low == INT64_MIN || node.type.kind == VALUE_DOUBLE) {
        struct text_call made = {.call = *call, .number_count = 1, .first_number = 2};
        memcpy(made.arguments, strings, call->count * sizeof *strings);
        made.arguments[call->count] = child;
        return text_call_add(list, &made, index, error);
    }
    const struct number_range of = {list, strings, low};
    const struct string_source source = {
        .count = (uint64_t)(high - low) + 1, .context = &of, .arguments = number_arguments};
    uint32_t first, place;
    RETURN_IF_ERROR(expression_constant(list, whole, -low, &first, error));
    RETURN_IF_ERROR(expression_apply(list, EXPRESSION_ADD, first, child, EXPRESSION_NONE, &place, error));
    return string_table(list, call, &source, place, index, error);
}
