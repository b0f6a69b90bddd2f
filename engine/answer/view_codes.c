/* view_codes.c: see view_codes.h. */
#include "engine/answer/view_codes.h"

#include "engine/plan/functions/string_table.h"
#include "storage/base/memory.h"

#include <stdlib.h>

static bool view_of_row(const void *context, const void *thread, uint64_t row, struct string_call *call,
                        struct string_value *strings)
{
    const struct rowset_column *const column = context;
    (void)thread;
    (void)call;
    if (column->nulls && column->nulls[row])
        return false;
    strings[0] = rowset_string(column, row);
    return true;
}

static enum status take_codes(struct rowset_column *column, uint64_t rows, const int64_t *codes,
                              struct error *error)
{
    RETURN_IF_ERROR(spillable_rows(&column->values, (rows + 1) * sizeof *codes, "an answer", error));
    for (uint64_t row = 0; row < rows; row++)
        column->values[row] = column->nulls && column->nulls[row] ? 0 : codes[row];
    string_buffers_release(column->buffers);
    column->buffers = NULL;
    spillable_free(column->views);
    column->views = NULL;
    return STATUS_OK;
}

static enum status make_codes(struct rowset *rows, uint32_t c, unsigned threads, struct error *error)
{
    struct rowset_column *const column = &rows->columns[c];
    struct expression_list owner = {.threads = threads};
    const struct string_call same = {.body = string_concat, .type = {.kind = VALUE_STRING}, .count = 1};
    const struct string_source source = {
        .count = rows->rows, .repeats = true, .context = column, .arguments = view_of_row};
    const struct expression leaf = {.operation = EXPRESSION_GROUP, .high = INT64_MAX};
    uint32_t number, text;
    enum status status = expression_add(&owner, &leaf, &number, error);
    if (status == STATUS_OK)
        status = string_table(&owner, &same, &source, number, &text, error);
    if (status == STATUS_OK)
        status = take_codes(column, rows->rows, owner.tables[owner.nodes[text].table].values, error);
    if (status == STATUS_OK) {
        column->type.dictionary = owner.nodes[text].type.dictionary;
        status = rowset_own_dictionary(rows, c, error);
    }
    if (status != STATUS_OK)
        column->type.dictionary = NULL;
    expression_list_free(&owner);
    return status;
}

enum status view_codes_make(struct rowset *rows, unsigned threads, struct error *error)
{
    for (uint32_t c = 0; c < rows->column_count; c++)
        if (rows->columns[c].views)
            RETURN_IF_ERROR(make_codes(rows, c, threads, error));
    return STATUS_OK;
}
