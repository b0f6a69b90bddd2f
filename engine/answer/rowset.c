/* rowset.c: see rowset.h. */
#include "engine/answer/rowset.h"

#include "engine/plan/value_write.h"
#include "storage/base/memory.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void rowset_column_free(struct rowset_column *column)
{
    free(column->name);
    spillable_free(column->values);
    spillable_free(column->nulls);
    spillable_free(column->views);
    string_buffers_release(column->buffers);
    *column = (struct rowset_column){0};
}

enum status rowset_add_views(struct rowset_column *column, uint64_t rows, struct error *error)
{
    RETURN_IF_ERROR(spillable_rows(&column->views, (rows + 1) * sizeof *column->views, "an answer", error));
    return string_buffers_new(&column->buffers, error);
}

void rowset_become_views(struct rowset_column *column)
{
    if (!column->views)
        return;
    column->type.dictionary = NULL;
    spillable_free(column->values);
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
        spillable_hand_over(rows->columns[c].values);
        spillable_hand_over(rows->columns[c].nulls);
        spillable_hand_over(rows->columns[c].views);
        string_buffers_hand_over(rows->columns[c].buffers);
    }
}

enum status rowset_create(struct rowset *rows, uint32_t count, const char *const *names,
                          const struct value_type *types, uint64_t capacity, struct error *error)
{
    *rows = (struct rowset){0};
    enum status status =
        memory_zeros(&rows->columns, (count + 1) * sizeof *rows->columns, "an answer", error);
    if (status == STATUS_OK)
        status =
            memory_zeros(&rows->dictionaries, (count + 1) * sizeof *rows->dictionaries, "an answer", error);
    for (uint32_t c = 0; status == STATUS_OK && c < count; c++) {
        struct rowset_column *const column = &rows->columns[rows->column_count++];
        column->type = types[c];
        column->name = strdup(names[c]);
        status = column->name ? spillable_rows(&column->values, (capacity + 1) * sizeof *column->values,
                                               "an answer", error)
                              : error_out_of_memory(error, strlen(names[c]), "a name");
    }
    if (status != STATUS_OK)
        rowset_free(rows);
    return status;
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

static bool is_one_of(char *const *names, uint32_t count, const char *name)
{
    for (uint32_t c = 0; c < count; c++)
        if (strcmp(names[c], name) == 0)
            return true;
    return false;
}

char *rowset_unique_name(const struct rowset *rows, uint32_t column, char *const *before)
{
    const char *const name = rows->columns[column].name;
    const size_t bytes = strlen(name) + 16;
    char *const made = malloc(bytes);
    uint32_t number = 0; /* the number of columns before with this name, or the next free number */
    for (uint32_t c = 0; c < column; c++)
        number += strcmp(rows->columns[c].name, name) == 0;
    if (!made)
        return NULL;
    do
        if (number == 0)
            snprintf(made, bytes, "%s", name);
        else
            snprintf(made, bytes, "%s_%u", name, number);
    while (number++, is_one_of(before, column, made));
    return made;
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
    *length = (uint32_t)(write_value(buffer, column->type, column->zone, column->values[row]) - buffer);
    return buffer;
}
