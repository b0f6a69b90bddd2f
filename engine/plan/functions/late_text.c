/* late_text.c: see late_text.h. */
#include "engine/plan/functions/late_text.h"

#include "storage/base/memory.h"

#include <stdlib.h>

/* The strings of a measure (string_agg) are made with the answer. */
static void see_measure(void *context, const struct expression *leaf)
{
    *(bool *)context |= leaf->operation == EXPRESSION_MEASURE;
}

bool late_text_fits(const struct expression_list *list, const struct string_call *call,
                    const uint32_t *children)
{
    bool measures = false, columns = false;
    uint64_t count = 1;
    for (uint32_t c = 0; c < call->count; c++) {
        const struct expression *const child = &list->nodes[children[c]];
        if (child->operation == EXPRESSION_CONSTANT)
            continue;
        const uint64_t strings = child->type.dictionary->count ? child->type.dictionary->count : 1;
        expression_visit(list, children[c], see_measure, &measures);
        if (count > (UINT64_C(1) << 62) / strings)
            return false;
        count *= strings;
        columns = true;
    }
    return columns && !measures && call->type.kind == VALUE_STRING && !call->context;
}

enum status late_text_make(struct expression_list *list, const struct string_call *call,
                           const uint32_t *children, struct late_text **late, uint32_t *index,
                           struct error *error)
{
    struct late_text *made;
    RETURN_IF_ERROR(memory_zeros(&made, sizeof *made, "a function", error));
    made->call = *call;
    for (uint32_t c = 0; c < call->count; c++)
        made->children[c] = children[c];
    const enum status status = string_combinations_all(list, made->children, call->count, &made->of, error);
    *index = made->of.node;
    if (status == STATUS_OK)
        *late = made;
    else
        late_text_free(made);
    return status;
}

void late_text_free(struct late_text *late)
{
    if (late)
        string_combinations_free(&late->of);
    free(late);
}

/* ---- Computing ---- */

struct late_rows {
    const struct late_text *late;
    const int64_t *values;
    const uint8_t *nulls;
};

static bool of_row(const void *context, const void *thread, uint64_t number, struct string_call *call,
                   struct string_value *strings)
{
    const struct late_rows *const rows = context;
    (void)thread;
    (void)call;
    if (rows->nulls && rows->nulls[number])
        return false;
    string_combination(&rows->late->of, (uint64_t)rows->values[number], strings);
    return true;
}

static bool of_combination(const void *context, const void *thread, uint64_t number, struct string_call *call,
                           struct string_value *strings)
{
    const struct late_rows *const rows = context;
    (void)thread;
    (void)call;
    string_combination(&rows->late->of, number, strings);
    return true;
}

enum status late_text_compute(const struct late_text *late, uint64_t rows, int64_t *values,
                              const uint8_t *nulls, struct expression_list *owner,
                              const struct dictionary **dictionary, struct error *error)
{
    const struct late_rows of = {late, values, nulls};
    const bool by_row = rows < late->of.count;
    const struct string_source source = {.count = by_row ? rows : late->of.count,
                                         .context = &of,
                                         .arguments = by_row ? of_row : of_combination};
    const struct expression leaf = {.operation = EXPRESSION_GROUP, .high = INT64_MAX};
    uint32_t number, text;
    RETURN_IF_ERROR(expression_add(owner, &leaf, &number, error));
    RETURN_IF_ERROR(string_table(owner, &late->call, &source, number, &text, error));
    const struct value_table *const table = &owner->tables[owner->nodes[text].table];
    for (uint64_t row = 0; row < rows; row++) {
        const uint64_t at = by_row ? row : (uint64_t)values[row];
        const bool null = (nulls && nulls[row]) || at >= table->count; /* more only in damaged files */
        values[row] = null ? INT64_MIN : table->values[at];
    }
    *dictionary = owner->nodes[text].type.dictionary;
    return STATUS_OK;
}
