/* string_call.c: see string_call.h. */
#include "engine/plan/functions/string_call.h"

#include "engine/plan/expression_vector.h"
#include "engine/plan/functions/string_pieces.h"
#include "storage/base/memory.h"
#include "storage/base/parallel.h"

#include <stdlib.h>

#define STRINGS_MAX 16u

void string_put(struct string_buffer *buffer, const char *text, uint64_t length)
{
    if (buffer->failed || length == 0)
        return;
    if (length > buffer->capacity - buffer->used) {
        const uint64_t capacity = 2 * (buffer->used + length) + 4096;
        char *const grown = realloc(buffer->bytes, capacity);
        buffer->failed = !grown;
        if (!grown)
            return;
        buffer->bytes = grown;
        buffer->capacity = capacity;
    }
    memcpy(buffer->bytes + buffer->used, text, length);
    buffer->used += length;
}

/* ---- Tables ---- */

/* The results of one table while it is made. */
struct table_made {
    uint64_t count;
    int64_t *values;      /* numbers, or codes */
    struct piece *pieces; /* of strings: those that are not NULL */
    uint64_t *starts;     /* of pieces in the buffer */
    uint32_t piece_count;
    struct string_buffer buffer;
};

static enum status made_begin(struct table_made *made, uint64_t count, bool strings, struct error *error)
{
    *made = (struct table_made){.count = count};
    made->values = malloc((count + 1) * sizeof *made->values);
    made->pieces = strings ? malloc((count + 1) * sizeof *made->pieces) : NULL;
    made->starts = strings ? malloc((count + 1) * sizeof *made->starts) : NULL;
    return made->values && (!strings || (made->pieces && made->starts))
               ? STATUS_OK
               : error_out_of_memory(error, count * sizeof *made->values, "the results of a function");
}

static void made_end(struct table_made *made)
{
    free(made->values);
    free(made->pieces);
    free(made->starts);
    free(made->buffer.bytes);
}

/* Computes value `number` of the table. */
static enum status made_add(struct table_made *made, const struct string_call *call, uint64_t number,
                            const struct string_value *strings, struct error *error)
{
    struct string_result result = {.text = &made->buffer};
    const uint64_t start = made->buffer.used;
    call->body(call, strings, &result);
    if (made->buffer.failed || made->buffer.used - start > INT32_MAX)
        return error_out_of_memory(error, made->buffer.used, "the results of a function");
    made->values[number] = result.null ? INT64_MIN : result.number;
    if (result.null || call->type.kind != VALUE_STRING) {
        made->buffer.used = start;
        return STATUS_OK;
    }
    made->pieces[made->piece_count] =
        (struct piece){.length = (uint32_t)(made->buffer.used - start), .number = (uint32_t)number};
    made->starts[made->piece_count++] = start;
    return number % 4096 == 0 ? cancel_check(error) : STATUS_OK;
}

/* Truth values become the set of what is true. */
static enum status made_test(struct expression_list *list, struct table_made *made, uint32_t child,
                             uint32_t *index, struct error *error)
{
    int64_t *const members = made->values;
    uint64_t count = 0;
    for (uint64_t i = 0; i < made->count; i++)
        if (members[i])
            members[count++] = (int64_t)i;
    made->values = NULL;
    return expression_in_set(list, child, members, count, index, error);
}

/* Adds the node that looks the values up by `child`; the table owns the values. */
static enum status made_look_up(struct expression_list *list, struct table_made *made,
                                const struct string_call *call, uint32_t child, uint32_t *index,
                                struct error *error)
{
    struct value_type type = call->type;
    if (type.kind == VALUE_BOOLEAN)
        return made_test(list, made, child, index, error);
    if (type.kind == VALUE_STRING) {
        for (uint32_t p = 0; p < made->piece_count; p++)
            made->pieces[p].text = made->buffer.bytes + made->starts[p];
        RETURN_IF_ERROR(expression_dictionary_of_pieces(list, made->pieces, made->piece_count, made->values,
                                                        &type.dictionary, error));
    }
    int64_t *const values = made->values;
    made->values = NULL;
    return expression_lookup(list, child, type, values, made->count, index, error);
}

/* ---- Combinations of strings ---- */

/* Fills `strings` with those of combination `number`; the last child changes fastest. */
static void combination(const struct expression_list *list, const struct string_call *call,
                        const uint32_t *children, uint64_t number, struct string_value *strings)
{
    for (uint32_t s = call->count; s-- > 0;) {
        const struct expression *child = &list->nodes[children[s]];
        const struct dictionary *dictionary = child->type.dictionary;
        const bool constant = child->operation == EXPRESSION_CONSTANT;
        const uint64_t code = constant ? (uint64_t)child->constant : number % dictionary->count;
        strings[s].text = dictionary_string(dictionary, (int64_t)code, &strings[s].length);
        number /= constant ? 1 : dictionary->count;
    }
}

/* The node whose value is the number of a row's combination; for one column its codes. */
static enum status combination_node(struct expression_list *list, const struct string_call *call,
                                    const uint32_t *children, uint32_t *index, struct error *error)
{
    const struct value_type whole = {.kind = VALUE_INTEGER};
    uint32_t zero, size;
    *index = EXPRESSION_NONE;
    RETURN_IF_ERROR(expression_constant(list, whole, 0, &zero, error));
    for (uint32_t s = 0; s < call->count; s++) {
        if (list->nodes[children[s]].operation == EXPRESSION_CONSTANT)
            continue;
        const uint32_t count = list->nodes[children[s]].type.dictionary->count;
        if (*index == EXPRESSION_NONE) {
            *index = children[s];
            continue;
        }
        RETURN_IF_ERROR(expression_constant(list, whole, count, &size, error));
        RETURN_IF_ERROR(expression_apply(list, EXPRESSION_ADD, zero, *index, EXPRESSION_NONE, index, error));
        RETURN_IF_ERROR(
            expression_apply(list, EXPRESSION_MULTIPLY, *index, size, EXPRESSION_NONE, index, error));
        RETURN_IF_ERROR(
            expression_apply(list, EXPRESSION_ADD, *index, children[s], EXPRESSION_NONE, index, error));
    }
    if (*index == EXPRESSION_NONE)
        *index = zero;
    return STATUS_OK;
}

static enum status count_combinations(const struct expression_list *list, const struct string_call *call,
                                      const uint32_t *children, uint64_t *count, struct error *error)
{
    uint32_t columns = 0;
    *count = 1;
    for (uint32_t s = 0; s < call->count; s++)
        if (list->nodes[children[s]].operation != EXPRESSION_CONSTANT) {
            columns++;
            *count *= list->nodes[children[s]].type.dictionary->count;
            if (columns > 1 ? *count > STRING_COMBINATIONS_MAX : *count > INT32_MAX)
                return error_set(
                    error, STATUS_BAD_INPUT,
                    "the columns of this function have more than %llu combinations of strings; "
                    "output the columns side by side, or group by them and join their text later",
                    (unsigned long long)STRING_COMBINATIONS_MAX);
        }
    return STATUS_OK;
}

enum status expression_string_call(struct expression_list *list, const struct string_call *call,
                                   const uint32_t *children, uint32_t *index, struct error *error)
{
    struct string_value strings[STRINGS_MAX];
    struct table_made made;
    uint64_t count;
    uint32_t code;
    RETURN_IF_ERROR(count_combinations(list, call, children, &count, error));
    RETURN_IF_ERROR(combination_node(list, call, children, &code, error));
    enum status status = made_begin(&made, count, call->type.kind == VALUE_STRING, error);
    for (uint64_t i = 0; status == STATUS_OK && i < count; i++) {
        combination(list, call, children, i, strings);
        status = made_add(&made, call, i, strings, error);
    }
    if (status == STATUS_OK)
        status = made_look_up(list, &made, call, code, index, error);
    made_end(&made);
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

/* Computes the results for the codes from `first` on, whose leaf the program has been given. */
static enum status varied_rows(struct table_made *made, const struct expression_list *list,
                               const struct string_call *call, const uint32_t *roots, uint32_t root_count,
                               const struct expression_program *program, uint64_t first, uint32_t rows,
                               struct error *error)
{
    struct string_call own = *call;
    struct string_value strings[STRINGS_MAX];
    for (uint32_t row = 0; row < rows; row++) {
        bool null = false;
        for (uint32_t r = 0; r < root_count; r++) {
            const struct vector value = expression_program_vector(program, roots[r]);
            null |= value.nulls && value.nulls[row];
            if (null)
                break;
            if (r < call->count)
                strings[r].text = dictionary_string(list->nodes[roots[r]].type.dictionary, value.values[row],
                                                    &strings[r].length);
            else
                own.numbers[r - call->count] = value.values[row];
        }
        made->values[first + row] = INT64_MIN;
        if (!null)
            RETURN_IF_ERROR(made_add(made, &own, first + row, strings, error));
    }
    return STATUS_OK;
}

static enum status varied_table(struct table_made *made, const struct expression_list *list,
                                const struct string_call *call, const uint32_t *roots, uint32_t root_count,
                                uint32_t leaf, struct error *error)
{
    struct expression_program *program;
    enum status status = STATUS_OK;
    RETURN_IF_ERROR(expression_program_create(list, roots, root_count, &program, error));
    const struct vector codes = expression_program_vector(program, leaf);
    for (uint64_t first = 0; first < made->count && status == STATUS_OK; first += VECTOR_ROWS) {
        const uint32_t rows =
            made->count - first < VECTOR_ROWS ? (uint32_t)(made->count - first) : VECTOR_ROWS;
        for (uint32_t row = 0; row < rows; row++)
            codes.values[row] = (int64_t)(first + row);
        if (codes.nulls)
            memset(codes.nulls, 0, rows);
        expression_program_run(program, rows);
        status = varied_rows(made, list, call, roots, root_count, program, first, rows, error);
    }
    expression_program_free(program);
    return status;
}

enum status expression_string_call_varied(struct expression_list *list, const struct string_call *call,
                                          const uint32_t *children, const uint32_t *numbers,
                                          uint32_t number_count, uint32_t *index, struct error *error)
{
    uint32_t roots[STRINGS_MAX + 3], root_count = 0;
    struct one_leaf one = {.list = list, .leaf = EXPRESSION_NONE};
    struct table_made made;
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
    const uint64_t count = list->nodes[one.leaf].type.dictionary->count;
    enum status status = made_begin(&made, count, call->type.kind == VALUE_STRING, error);
    if (status == STATUS_OK)
        status = varied_table(&made, list, call, roots, root_count, one.leaf, error);
    if (status == STATUS_OK)
        status = made_look_up(list, &made, call, one.leaf, index, error);
    made_end(&made);
    return status;
}

/* ---- Texts of numbers ---- */

enum status expression_number_texts(struct expression_list *list, const struct string_call *call,
                                    uint32_t child, int64_t low, int64_t high, uint32_t *index,
                                    struct error *error)
{
    const struct value_type whole = {.kind = VALUE_INTEGER};
    const struct string_value none = {"", 0};
    struct string_call own = *call;
    struct table_made made;
    uint32_t first, place;
    RETURN_IF_ERROR(expression_constant(list, whole, -low, &first, error));
    RETURN_IF_ERROR(expression_apply(list, EXPRESSION_ADD, first, child, EXPRESSION_NONE, &place, error));
    enum status status = made_begin(&made, (uint64_t)(high - low) + 1, true, error);
    for (int64_t value = low; status == STATUS_OK && value <= high; value++) {
        own.numbers[2] = value;
        status = made_add(&made, &own, (uint64_t)(value - low), &none, error);
    }
    if (status == STATUS_OK)
        status = made_look_up(list, &made, call, place, index, error);
    made_end(&made);
    return status;
}
