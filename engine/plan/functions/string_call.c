/* string_call.c: see string_call.h. */
#include "engine/plan/functions/string_call.h"

#include "engine/plan/expression_vector.h"
#include "engine/plan/functions/late_text.h"
#include "storage/base/memory.h"

#include <stdlib.h>

/* ---- Combinations of strings ---- */

static bool combination(const void *context, const void *thread, uint64_t number, struct string_call *call,
                        struct string_value *strings)
{
    (void)thread;
    (void)call;
    string_combination(context, number, strings);
    return true;
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

enum status expression_string_call(struct expression_list *list, const struct string_call *call,
                                   const uint32_t *children, uint32_t *index, struct error *error)
{
    struct late_text **const late = list->late;
    struct string_combinations of;
    list->late = NULL;
    for (uint32_t c = 0; c < call->count; c++)
        if (list->nodes[children[c]].operation == EXPRESSION_CONSTANT && list->nodes[children[c]].is_null)
            return null_result(list, call->type, index, error);
    if (late && late_text_fits(list, call, children))
        return late_text_make(list, call, children, late, index, error);
    const bool costly = call->type.kind == VALUE_STRING || (call->context && call->body != string_like);
    enum status status = string_combinations_make(list, children, call->count, costly, &of, error);
    if (status == STATUS_OK) {
        const struct string_source source = {.count = of.count,
                                             .context = &of,
                                             .arguments = combination,
                                             .cells = of.cells,
                                             .cell_count = of.cell_count};
        status = string_table(list, call, &source, of.node, index, error);
    }
    string_combinations_free(&of);
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
    for (uint32_t r = 0; r < root_count; r++)
        expression_visit(list, roots[r], see_leaf, &one);
    if (one.several || one.leaf == EXPRESSION_NONE || list->nodes[one.leaf].type.kind != VALUE_STRING)
        return error_set(
            error, STATUS_BAD_INPUT,
            "the numbers of a string function are constants, or made of the same column as its string");
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

/* numbers[2] of value `number` is *context + number. */
static bool number_arguments(const void *context, const void *thread, uint64_t number,
                             struct string_call *call, struct string_value *strings)
{
    const int64_t *const low = context;
    (void)thread;
    strings[0] = (struct string_value){"", 0};
    call->numbers[2] = *low + (int64_t)number;
    return true;
}

enum status expression_number_texts(struct expression_list *list, const struct string_call *call,
                                    uint32_t child, int64_t low, int64_t high, uint32_t *index,
                                    struct error *error)
{
    const struct value_type whole = {.kind = VALUE_INTEGER};
    const struct string_source source = {
        .count = (uint64_t)(high - low) + 1, .context = &low, .arguments = number_arguments};
    uint32_t first, place;
    RETURN_IF_ERROR(expression_constant(list, whole, -low, &first, error));
    RETURN_IF_ERROR(expression_apply(list, EXPRESSION_ADD, first, child, EXPRESSION_NONE, &place, error));
    return string_table(list, call, &source, place, index, error);
}
