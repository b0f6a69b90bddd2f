/* rowset_builder.c: a rowset that grows row by row (rowset.h), for small answers of other programs and for
 * texts. */
#include "engine/answer/rowset.h"
#include "storage/base/memory.h"

#include <stdlib.h>
#include <string.h>

#define FIRST_ROWS 64u

struct builder_texts {
    uint64_t *starts; /* the start of each row's string */
    char *bytes;
    uint64_t used, room;
};

struct rowset_builder {
    struct rowset rows;
    uint64_t capacity;
    uint32_t count;              /* the number of columns */
    struct builder_texts *texts; /* one for each column */
};

void rowset_builder_free(struct rowset_builder *builder)
{
    if (!builder)
        return;
    for (uint32_t c = 0; builder->texts && c < builder->count; c++) {
        free(builder->texts[c].starts);
        free(builder->texts[c].bytes);
    }
    free(builder->texts);
    rowset_free(&builder->rows);
    free(builder);
}

static enum status reserve_rows(struct rowset_builder *builder, uint64_t capacity, struct error *error)
{
    for (uint32_t c = 0; c < builder->count; c++) {
        struct rowset_column *const column = &builder->rows.columns[c];
        RETURN_IF_ERROR(
            memory_charge_set(&column->charge, capacity * ROWSET_VALUE_BYTES, "an answer", error));
        RETURN_IF_ERROR(memory_grow(&column->values, capacity * sizeof *column->values, "an answer", error));
        RETURN_IF_ERROR(memory_grow(&column->nulls, capacity * sizeof *column->nulls, "an answer", error));
        if (column->type.kind == VALUE_STRING)
            RETURN_IF_ERROR(
                memory_grow(&builder->texts[c].starts, capacity * sizeof(uint64_t), "an answer", error));
    }
    builder->capacity = capacity;
    return STATUS_OK;
}

enum status rowset_builder_create(uint32_t count, const char *const *names, const struct value_type *types,
                                  struct rowset_builder **out, struct error *error)
{
    struct rowset_builder *builder;
    RETURN_IF_ERROR(memory_zeros(&builder, sizeof *builder, "an answer", error));
    builder->count = count;
    enum status status = rowset_create(&builder->rows, count, names, types, FIRST_ROWS, error);
    builder->texts = calloc(count + 1, sizeof *builder->texts);
    if (status == STATUS_OK && !builder->texts)
        status = error_out_of_memory(error, count * sizeof *builder->texts, "an answer");
    if (status == STATUS_OK)
        status = reserve_rows(builder, FIRST_ROWS, error);
    if (status == STATUS_OK)
        *out = builder;
    else
        rowset_builder_free(builder);
    return status;
}

static enum status add_text(struct builder_texts *texts, uint64_t row, const struct rowset_cell *cell,
                            struct error *error)
{
    const uint32_t length = cell->null ? 0 : cell->length;
    if (texts->used + length > texts->room) {
        const uint64_t room = 2 * (texts->used + length);
        RETURN_IF_ERROR(memory_grow(&texts->bytes, room, "strings of an answer", error));
        texts->room = room;
    }
    texts->starts[row] = texts->used;
    if (length)
        memcpy(texts->bytes + texts->used, cell->string, length);
    texts->used += length;
    return STATUS_OK;
}

enum status rowset_builder_add(struct rowset_builder *builder, const struct rowset_cell *cells,
                               struct error *error)
{
    const uint64_t row = builder->rows.rows;
    if (row == builder->capacity)
        RETURN_IF_ERROR(reserve_rows(builder, 2 * row, error));
    for (uint32_t c = 0; c < builder->count; c++) {
        struct rowset_column *const column = &builder->rows.columns[c];
        const bool string = column->type.kind == VALUE_STRING;
        if (string)
            RETURN_IF_ERROR(add_text(&builder->texts[c], row, &cells[c], error));
        column->nulls[row] = cells[c].null;
        column->values[row] = cells[c].null ? 0 : string ? (int64_t)row : cells[c].number;
    }
    builder->rows.rows++;
    return STATUS_OK;
}

enum status rowset_builder_finish(struct rowset_builder *builder, struct rowset *rows, struct error *error)
{
    const uint64_t count = builder->rows.rows;
    for (uint32_t c = 0; c < builder->count; c++) {
        struct builder_texts *const from = &builder->texts[c];
        uint64_t *starts;
        char *text;
        if (builder->rows.columns[c].type.kind != VALUE_STRING)
            continue;
        struct dictionary *dictionary = rowset_dictionary((uint32_t)count, from->used, &starts, &text);
        if (!dictionary)
            return error_out_of_memory(error, from->used, "strings of an answer");
        memcpy(starts, from->starts, count * sizeof *starts);
        starts[count] = from->used;
        if (from->used)
            memcpy(text, from->bytes, from->used);
        builder->rows.dictionaries[c] = dictionary;
        builder->rows.columns[c].type.dictionary = dictionary;
    }
    *rows = builder->rows;
    builder->rows = (struct rowset){0};
    return STATUS_OK;
}

static enum status add_lines(struct rowset_builder *builder, const char *lines, struct error *error)
{
    while (*lines) {
        const struct rowset_cell cell = {.string = lines, .length = (uint32_t)strcspn(lines, "\n")};
        RETURN_IF_ERROR(rowset_builder_add(builder, &cell, error));
        lines += cell.length;
        lines += *lines == '\n';
    }
    return STATUS_OK;
}

enum status rowset_of_lines(struct rowset *rows, const char *name, const char *text, struct error *error)
{
    const struct value_type type = {.kind = VALUE_STRING};
    struct rowset_builder *builder;
    RETURN_IF_ERROR(rowset_builder_create(1, &name, &type, &builder, error));
    enum status status = add_lines(builder, text, error);
    if (status == STATUS_OK)
        status = rowset_builder_finish(builder, rows, error);
    rowset_builder_free(builder);
    return status;
}
