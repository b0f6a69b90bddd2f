/* rowset.c: see rowset.h. */
#include "engine/answer/rowset.h"

#include "engine/plan/value_write.h"
#include "storage/base/huge_pages.h"

#include <stdlib.h>
#include <string.h>

void rowset_cut(struct rowset *rows, uint32_t columns)
{
    for (uint32_t c = columns; c < rows->column_count; c++) {
        free(rows->columns[c].name);
        free(rows->columns[c].values);
        free(rows->columns[c].nulls);
        memory_charge_drop(&rows->columns[c].charge);
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
    for (uint32_t c = 0; c < rows->column_count; c++)
        memory_charge_drop(&rows->columns[c].charge);
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

struct dictionary *rowset_dictionary(uint32_t count, uint64_t bytes, uint64_t **starts, char **text)
{
    struct dictionary *dictionary =
        malloc(sizeof *dictionary + ((size_t)count + 1) * sizeof **starts + bytes);
    if (!dictionary)
        return NULL;
    *starts = (uint64_t *)(void *)(dictionary + 1);
    *text = (char *)(*starts + count + 1);
    *dictionary = (struct dictionary){.count = count, .starts = *starts, .bytes = *text};
    return dictionary;
}

enum status rowset_own_dictionary(struct rowset *rows, uint32_t column, struct error *error)
{
    const struct dictionary *from = rows->columns[column].type.dictionary;
    uint64_t *starts;
    char *text;
    if (!from || rows->dictionaries[column])
        return STATUS_OK;
    const uint64_t bytes = from->count ? from->starts[from->count] : 0;
    struct dictionary *copy = rowset_dictionary(from->count, bytes, &starts, &text);
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
    const int64_t value = column->values[row];
    if (column->type.kind == VALUE_STRING)
        return dictionary_string(column->type.dictionary, value, length);
    *length = (uint32_t)(write_value(buffer, column->type, value) - buffer);
    return buffer;
}
