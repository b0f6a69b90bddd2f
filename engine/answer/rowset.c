/* rowset.c: see rowset.h. */
#include "engine/answer/rowset.h"

#include "engine/plan/value_write.h"
#include "storage/base/huge_pages.h"
#include "storage/base/memory.h"

#include <stdlib.h>
#include <string.h>

void rowset_column_free(struct rowset_column *column)
{
    free(column->name);
    free(column->values);
    free(column->nulls);
    free(column->views);
    string_buffers_release(column->buffers);
    memory_charge_drop(&column->charge);
    *column = (struct rowset_column){0};
}

enum status rowset_add_views(struct rowset_column *column, uint64_t rows, struct error *error)
{
    RETURN_IF_ERROR(memory_charge_add(&column->charge, rows * sizeof *column->views, "an answer", error));
    RETURN_IF_ERROR(memory_take(&column->views, (rows + 1) * sizeof *column->views, "an answer", error));
    return string_buffers_new(&column->buffers, error);
}

void rowset_become_views(struct rowset_column *column)
{
    if (!column->views)
        return;
    column->type.dictionary = NULL;
    free(column->values);
    column->values = NULL;
}

struct string_value rowset_string(const struct rowset_column *column, uint64_t row)
{
    struct string_value string;
    if (column->views)
        return string_of_view(column->buffers, &column->views[row]);
    string.text = dictionary_string(column->type.dictionary, column->values[row], &string.length);
    return string;
}

void rowset_cut(struct rowset *rows, uint32_t columns)
{
    for (uint32_t c = columns; c < rows->column_count; c++) {
        rowset_column_free(&rows->columns[c]);
        free(rows->dictionaries[c]);
    }
    rows->column_count = columns;
}

void rowset_free(struct rowset *rows)
{
    rowset_cut(rows, 0);
    free(rows->columns);
    free(rows->dictionaries);
    *rows = (struct rowset){0};
}

void rowset_hand_over(struct rowset *rows)
{
    for (uint32_t c = 0; c < rows->column_count; c++) {
        memory_charge_drop(&rows->columns[c].charge);
        string_buffers_hand_over(rows->columns[c].buffers);
    }
}

static void free_unmade(struct rowset *rows)
{
    if (rows->columns && rows->dictionaries)
        rowset_cut(rows, 0);
    free(rows->columns);
    free(rows->dictionaries);
    *rows = (struct rowset){0};
}

enum status rowset_create(struct rowset *rows, uint32_t count, const char *const *names,
                          const struct value_type *types, uint64_t capacity, struct error *error)
{
    *rows = (struct rowset){.columns = calloc(count + 1, sizeof *rows->columns),
                            .dictionaries = calloc(count + 1, sizeof *rows->dictionaries)};
    bool fits = rows->columns && rows->dictionaries;
    rows->column_count = fits ? count : 0;
    for (uint32_t c = 0; fits && c < count; c++) {
        struct rowset_column *column = &rows->columns[c];
        const enum status status =
            memory_charge_add(&column->charge, capacity * ROWSET_VALUE_BYTES, "an answer", error);
        if (status != STATUS_OK) {
            free_unmade(rows);
            return status;
        }
        column->type = types[c];
        column->name = strdup(names[c]);
        column->values = malloc((capacity + 1) * sizeof *column->values);
        huge_pages_prefer(column->values, capacity * sizeof *column->values);
        fits = column->name && column->values;
    }
    if (fits)
        return STATUS_OK;
    free_unmade(rows);
    return error_out_of_memory(error, count * capacity * sizeof(int64_t), "an answer");
}

enum status rowset_own_dictionary(struct rowset *rows, uint32_t column, struct error *error)
{
    const struct dictionary *from = rows->columns[column].type.dictionary;
    uint64_t *starts;
    char *text;
    if (!from || rows->dictionaries[column])
        return STATUS_OK;
    const uint64_t bytes = from->count ? from->starts[from->count] : 0;
    struct dictionary *copy = dictionary_new(from->count, bytes, &starts, &text);
    if (!copy)
        return error_out_of_memory(error, bytes, "a dictionary");
    if (from->count)
        memcpy(starts, from->starts, ((size_t)from->count + 1) * sizeof *starts);
    else
        starts[0] = 0;
    if (bytes)
        memcpy(text, from->bytes, bytes);
    rows->dictionaries[column] = copy;
    rows->columns[column].type.dictionary = copy;
    return STATUS_OK;
}

const char *rowset_text(const struct rowset_column *column, uint64_t row, char buffer[ROWSET_TEXT_BYTES],
                        uint32_t *length)
{
    *length = 0;
    if (column->nulls && column->nulls[row])
        return NULL;
    if (column->type.kind == VALUE_STRING) {
        const struct string_value string = rowset_string(column, row);
        *length = string.length;
        return string.text;
    }
    *length = (uint32_t)(write_value(buffer, column->type, column->values[row]) - buffer);
    return buffer;
}
