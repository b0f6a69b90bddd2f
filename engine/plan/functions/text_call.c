/* text_call.c: see text_call.h. */
#include "engine/plan/functions/text_call.h"

#include "storage/base/memory.h"

#include <stdatomic.h>
#include <stdlib.h>

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
           a->call.type.scale == b->call.type.scale && a->call.context == b->call.context &&
           a->call.count == b->call.count && a->number_count == b->number_count &&
           a->first_number == b->first_number &&
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

/* ---- Rows ---- */

/* The string of a node in a row. */
static struct string_value string_at(const struct expression_list *list, const struct text_values *values,
                                     const struct text_room *room, uint32_t node, uint32_t row)
{
    const struct expression *const of = &list->nodes[node];
    struct string_value string;
    if (is_run_time(of->type) && values->dictionaries[node] == &run_time_strings)
        return string_of_view(room->buffers,
                              (const struct string_view *)(const void *)values->vectors[node].values + row);
    const int64_t code =
        of->operation == EXPRESSION_CONSTANT ? of->constant : values->vectors[node].values[row];
    string.text = dictionary_string(values->dictionaries[node], code, &string.length);
    return string;
}

static bool is_null(const struct vector *vector, uint32_t row)
{
    return vector->nulls && vector->nulls[row];
}

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

/* A number of a function of strings beyond any string's length is as good as that length. */
static int64_t limited(int64_t number)
{
    const int64_t most = INT64_C(1) << 33;
    return number > most ? most : number < -most ? -most : number;
}

static void run_call(const struct expression_list *list, const struct expression *node, uint32_t rows,
                     const struct text_values *values, struct text_room *room, struct vector out)
{
    const struct text_call *const of = &list->texts[node->table];
    struct string_call call = of->call;
    struct string_value strings[STRINGS_MAX];
    struct error error = {0};
    enum status status = STATUS_OK;
    for (uint32_t row = 0; row < rows && status == STATUS_OK; row++) {
        bool null = false;
        for (uint32_t c = 0; c < node->children; c++)
            null |= is_null(&values->vectors[node->child[c]], row);
        if (null) {
            out.nulls[row] = 1;
            continue;
        }
        for (uint32_t s = 0; s < call.count; s++)
            strings[s] = string_at(list, values, room, of->arguments[s], row);
        for (uint32_t n = 0; n < of->number_count; n++) {
            const uint32_t argument = of->arguments[call.count + n];
            const struct expression *const number = &list->nodes[argument];
            const int64_t value = number->operation == EXPRESSION_CONSTANT
                                      ? number->constant
                                      : values->vectors[argument].values[row];
            call.numbers[of->first_number + n] = of->first_number ? value : limited(value);
        }
        status = call_row(&call, strings, room, row, out, &error);
    }
    if (status != STATUS_OK)
        fail(list, status, &error);
}

static void run_choice(const struct expression_list *list, const struct expression *node, uint32_t rows,
                       const struct text_values *values, struct text_room *room, struct vector out)
{
    const struct vector *const condition = &values->vectors[node->child[0]];
    struct string_view *const views = (struct string_view *)(void *)out.values;
    struct error error = {0};
    enum status status = STATUS_OK;
    for (uint32_t row = 0; row < rows && status == STATUS_OK; row++) {
        const bool first = condition->values[row] && !is_null(condition, row);
        const uint32_t chosen = node->child[first ? 1 : 2];
        const bool null = is_null(&values->vectors[chosen], row);
        if (out.nulls)
            out.nulls[row] = null;
        if (!null)
            status = string_writer_put(&room->writer, string_at(list, values, room, chosen, row), &views[row],
                                       &error);
    }
    if (status != STATUS_OK)
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
