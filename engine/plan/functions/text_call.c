/* text_call.c: see text_call.h. */
#include "engine/plan/functions/text_call.h"

#include "storage/base/memory.h"

#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

static const uint64_t no_starts[1] = {0};
const struct dictionary run_time_strings = {.starts = no_starts, .bytes = ""};

/* A failure of some row: the first is kept. */
struct expression_failure {
    atomic_bool taken, known;
    enum status status;
    struct error error;
};

/* ---- Making nodes ---- */

static void release_context(const struct string_call *call)
{
    if (call->release)
        call->release(call->context);
}

void text_calls_free(struct expression_list *list)
{
    for (uint32_t t = 0; t < list->text_count; t++)
        release_context(&list->texts[t].call);
    free(list->texts);
    free(list->failure);
}

static bool same_call(const struct text_call *a, const struct text_call *b)
{
    return a->call.body == b->call.body && a->call.type.kind == b->call.type.kind &&
           a->call.type.scale == b->call.type.scale && a->call.type.zoned == b->call.type.zoned &&
           a->call.context == b->call.context && a->call.count == b->call.count &&
           a->number_count == b->number_count && a->first_number == b->first_number &&
           memcmp(a->call.numbers, b->call.numbers, sizeof a->call.numbers) == 0 &&
           memcmp(a->arguments, b->arguments, (a->call.count + a->number_count) * sizeof *a->arguments) == 0;
}

static enum status find_call(struct expression_list *list, const struct text_call *call, uint32_t *number,
                             struct error *error)
{
    for (*number = 0; *number < list->text_count; ++*number)
        if (same_call(&list->texts[*number], call))
            return STATUS_OK;
    enum status status =
        list->failure ? STATUS_OK : memory_zeros(&list->failure, sizeof *list->failure, "expressions", error);
    if (status == STATUS_OK)
        status =
            memory_grow(&list->texts, (list->text_count + 1) * sizeof *list->texts, "expressions", error);
    if (status != STATUS_OK) {
        release_context(&call->call);
        return status;
    }
    list->texts[list->text_count] = *call;
    if (!call->call.release) /* a context of others is for tables alone */
        list->texts[list->text_count].call.context = NULL;
    list->text_count++;
    return STATUS_OK;
}

/* The range of the numbers that a call gives. */
static void set_range(struct expression *node, const struct string_call *call)
{
    if (call->bounded) {
        node->low = call->low;
        node->high = call->high;
        return;
    }
    switch (node->type.kind) {
    case VALUE_BOOLEAN:
        node->high = 1;
        break;
    case VALUE_INTEGER:
        node->low = call->wide ? INT64_MIN : -(int64_t)UINT32_MAX;
        node->high = call->wide ? INT64_MAX : UINT32_MAX;
        break;
    case VALUE_DOUBLE:
        node->low = DOUBLE_KEY_MINUS_INFINITY;
        node->high = DOUBLE_KEY_NAN;
        break;
    case VALUE_DATE:
        node->low = INT32_MIN;
        node->high = INT32_MAX;
        break;
    case VALUE_TIMESTAMP:
        node->low = INT64_MIN;
        node->high = INT64_MAX;
        break;
    case VALUE_STRING:
        break;
    }
}

enum status text_call_add(struct expression_list *list, const struct text_call *call, uint32_t *index,
                          struct error *error)
{
    struct expression node = {.operation = EXPRESSION_TEXT, .type = call->call.type};
    for (uint32_t a = 0; a < call->call.count + call->number_count; a++)
        if (list->nodes[call->arguments[a]].operation != EXPRESSION_CONSTANT)
            node.child[node.children++] = call->arguments[a];
    if (node.type.kind == VALUE_STRING)
        node.type.dictionary = &run_time_strings;
    set_range(&node, &call->call);
    RETURN_IF_ERROR(find_call(list, call, &node.table, error));
    return expression_add(list, &node, index, error);
}

/* ---- Failures ---- */

static void fail(const struct expression_list *list, enum status status, const struct error *error)
{
    struct expression_failure *const failure = list->failure;
    if (atomic_exchange(&failure->taken, true))
        return;
    failure->status = status;
    failure->error = *error;
    atomic_store(&failure->known, true);
}

enum status text_calls_check(const struct expression_list *list, struct error *error)
{
    struct expression_failure *const failure = list->failure;
    if (!failure || !atomic_load(&failure->known))
        return STATUS_OK;
    const enum status status = failure->status;
    if (error)
        *error = failure->error;
    atomic_store(&failure->known, false);
    atomic_store(&failure->taken, false);
    return status;
}

/* ---- Rooms ---- */

enum status text_room_open(struct text_room *room, struct error *error)
{
    *room = (struct text_room){0};
    RETURN_IF_ERROR(string_buffers_new(&room->buffers, error));
    room->writer.to = room->buffers;
    return STATUS_OK;
}

void text_room_close(struct text_room *room)
{
    string_buffers_release(room->buffers);
    free(room->result.bytes);
}

/* ---- Arguments ---- */

struct text_argument text_argument(const struct expression_list *list, uint32_t node, struct vector vector,
                                   const struct dictionary *dictionary)
{
    const struct expression *const of = &list->nodes[node];
    return (struct text_argument){.vector = vector,
                                  .dictionary = dictionary == &run_time_strings ? NULL : dictionary,
                                  .constant = of->operation == EXPRESSION_CONSTANT,
                                  .value = of->constant};
}

static bool is_null(const struct vector *vector, uint32_t row)
{
    return vector->nulls && vector->nulls[row];
}

static int64_t value_at(const struct text_argument *argument, uint32_t row)
{
    return argument->constant ? argument->value : argument->vector.values[row];
}

static struct string_value string_at(const struct text_argument *argument,
                                     const struct string_buffers *buffers, uint32_t row)
{
    struct string_value string;
    if (!argument->dictionary)
        return string_of_view(buffers,
                              (const struct string_view *)(const void *)argument->vector.values + row);
    string.text = dictionary_string(argument->dictionary, value_at(argument, row), &string.length);
    return string;
}

/* A number of a function of strings beyond any string's length is as good as that length. */
static int64_t limited(int64_t number)
{
    const int64_t most = INT64_C(1) << 33;
    return number > most ? most : number < -most ? -most : number;
}

bool text_arguments_take(const struct text_call *of, const struct text_argument *arguments,
                         const struct string_buffers *buffers, uint32_t row, struct string_call *call,
                         struct string_value *strings)
{
    const uint32_t count = of->call.count;
    for (uint32_t a = 0; a < count + of->number_count; a++)
        if (!arguments[a].constant && is_null(&arguments[a].vector, row))
            return false;
    for (uint32_t s = 0; s < count; s++)
        strings[s] = string_at(&arguments[s], buffers, row);
    for (uint32_t n = 0; n < of->number_count; n++) {
        const int64_t value = value_at(&arguments[count + n], row);
        call->numbers[of->first_number + n] = of->first_number ? value : limited(value);
    }
    return true;
}

/* ---- Rows ---- */

/* Computes the result of a row. */
static enum status call_row(const struct string_call *call, const struct string_value *strings,
                            struct text_room *room, uint32_t row, struct vector out, struct error *error)
{
    struct string_result result = {.text = &room->result, .error = error};
    room->result.used = 0;
    call->body(call, strings, &result);
    RETURN_IF_ERROR(result.status);
    if (room->result.failed || room->result.used > INT32_MAX)
        return error_out_of_memory(error, room->result.used, "the results of a function");
    if (out.nulls)
        out.nulls[row] = result.null;
    if (call->type.kind != VALUE_STRING) {
        out.values[row] = call->type.kind == VALUE_BOOLEAN ? result.number > 0 : result.number;
        return STATUS_OK;
    }
    return string_writer_put(
        &room->writer,
        (struct string_value){room->result.used ? room->result.bytes : "", (uint32_t)room->result.used},
        (struct string_view *)(void *)out.values + row, error);
}

static struct text_argument argument_of(const struct expression_list *list, const struct text_values *values,
                                        uint32_t node)
{
    return text_argument(list, node, values->vectors[node], values->dictionaries[node]);
}

/* Rows before a row when the place of its string is asked for, and its bytes: codes of rows come in any order, so that each
 * string waits for the memory twice. Where it is called, a compiler takes a function that only prefetches for one of no effect. */
#define STARTS_AHEAD 16u
#define BYTES_AHEAD  8u

static inline __attribute__((always_inline)) void fetch_string(const struct text_argument *argument,
                                                               uint32_t row, uint32_t rows)
{
    const struct dictionary *const dictionary = argument->dictionary;
    const int64_t *const codes = argument->vector.values;
    if (row + STARTS_AHEAD < rows && (uint64_t)codes[row + STARTS_AHEAD] < dictionary->count)
        __builtin_prefetch(&dictionary->starts[codes[row + STARTS_AHEAD]]);
    if (row + BYTES_AHEAD < rows && (uint64_t)codes[row + BYTES_AHEAD] < dictionary->count)
        __builtin_prefetch(dictionary->bytes + dictionary->starts[codes[row + BYTES_AHEAD]]);
}

/* After a failure at a row: other nodes read the results of all rows before anybody asks for the failure. */
static void clear_rows(const struct expression *node, uint32_t row, uint32_t rows, struct vector out)
{
    if (node->type.kind == VALUE_STRING)
        memset((struct string_view *)(void *)out.values + row, 0, (rows - row) * sizeof(struct string_view));
    else
        memset(out.values + row, 0, (rows - row) * sizeof *out.values);
    if (out.nulls)
        memset(out.nulls + row, 0, (rows - row) * sizeof *out.nulls);
}

static void run_call(const struct expression_list *list, const struct expression *node, uint32_t rows,
                     const struct text_values *values, struct text_room *room, struct vector out)
{
    const struct text_call *const of = &list->texts[node->table];
    struct text_argument arguments[STRINGS_MAX + TEXT_NUMBERS_MAX];
    struct string_call call = of->call;
    struct string_value strings[STRINGS_MAX];
    struct error error = {0};
    enum status status = STATUS_OK;
    const struct text_argument *coded = NULL; /* the first string that is a code */
    for (uint32_t a = 0; a < call.count + of->number_count; a++) {
        arguments[a] = argument_of(list, values, of->arguments[a]);
        coded = !coded && a < call.count && arguments[a].dictionary && !arguments[a].constant ? &arguments[a]
                                                                                              : coded;
    }
    uint32_t row = 0;
    for (; row < rows && status == STATUS_OK; row++) {
        if (coded)
            fetch_string(coded, row, rows);
        if (text_arguments_take(of, arguments, room->buffers, row, &call, strings))
            status = call_row(&call, strings, room, row, out, &error);
        else
            out.nulls[row] = 1;
    }
    if (status == STATUS_OK)
        return;
    clear_rows(node, row - 1, rows, out);
    fail(list, status, &error);
}

static void run_choice(const struct expression_list *list, const struct expression *node, uint32_t rows,
                       const struct text_values *values, struct text_room *room, struct vector out)
{
    const struct vector *const condition = &values->vectors[node->child[0]];
    const struct text_argument choices[] = {argument_of(list, values, node->child[1]),
                                            argument_of(list, values, node->child[2])};
    struct string_view *const views = (struct string_view *)(void *)out.values;
    struct error error = {0};
    enum status status = STATUS_OK;
    uint32_t row = 0;
    for (; row < rows && status == STATUS_OK; row++) {
        const bool first = condition->values[row] && !is_null(condition, row);
        const struct text_argument *const chosen = &choices[first ? 0 : 1];
        const bool null = is_null(&chosen->vector, row);
        if (out.nulls)
            out.nulls[row] = null;
        if (!null)
            status =
                string_writer_put(&room->writer, string_at(chosen, room->buffers, row), &views[row], &error);
    }
    if (status == STATUS_OK)
        return;
    clear_rows(node, row - 1, rows, out);
    fail(list, status, &error);
}

void text_node_run(const struct expression_list *list, const struct expression *node, uint32_t rows,
                   const struct text_values *values, struct text_room *room, struct vector out)
{
    if (node->operation == EXPRESSION_TEXT)
        run_call(list, node, rows, values, room, out);
    else
        run_choice(list, node, rows, values, room, out);
}
