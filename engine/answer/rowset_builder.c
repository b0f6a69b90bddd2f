/* rowset_builder.c: a rowset that grows row by row (rowset.h), for small answers of other programs and for
 * texts. */
#include "engine/answer/rowset.h"
#include "storage/base/memory.h"

#include <stdlib.h>
#include <string.h>

#define FIRST_ROWS 64u

struct rowset_builder {
    struct rowset rows;
    uint64_t capacity;
    struct string_writer *writers; /* one for each column */
};

void rowset_builder_free(struct rowset_builder *builder)
{
    if (!builder)
        return;
    free(builder->writers);
    rowset_free(&builder->rows);
    free(builder);
}

static enum status reserve_rows(struct rowset_builder *builder, uint64_t capacity, struct error *error)
{
    for (uint32_t c = 0; c < builder->rows.column_count; c++) {
        struct rowset_column *const column = &builder->rows.columns[c];
        if (column->views)
            RETURN_IF_ERROR(
                spillable_grow(&column->views, capacity * sizeof *column->views, "an answer", error));
        else
            RETURN_IF_ERROR(
                spillable_grow(&column->values, capacity * sizeof *column->values, "an answer", error));
        RETURN_IF_ERROR(spillable_grow(&column->nulls, capacity * sizeof *column->nulls, "an answer", error));
    }
    builder->capacity = capacity;
    return STATUS_OK;
}

enum status rowset_builder_create(uint32_t count, const char *const *names, const struct value_type *types,
                                  struct rowset_builder **out, struct error *error)
{
    struct rowset_builder *builder;
    RETURN_IF_ERROR(memory_zeros(&builder, sizeof *builder, "an answer", error));
    enum status status = rowset_create(&builder->rows, count, names, types, FIRST_ROWS, error);
    if (status == STATUS_OK)
        status = memory_zeros(&builder->writers, (count + 1) * sizeof *builder->writers, "an answer", error);
    for (uint32_t c = 0; status == STATUS_OK && c < count; c++)
        if (types[c].kind == VALUE_STRING)
            status = rowset_add_views(&builder->rows.columns[c], FIRST_ROWS, error);
    for (uint32_t c = 0; status == STATUS_OK && c < count; c++) {
        rowset_become_views(&builder->rows.columns[c]);
        builder->writers[c].to = builder->rows.columns[c].buffers;
    }
    if (status == STATUS_OK)
        status = reserve_rows(builder, FIRST_ROWS, error);
    if (status == STATUS_OK)
        *out = builder;
    else
        rowset_builder_free(builder);
    return status;
}

enum status rowset_builder_add(struct rowset_builder *builder, const struct rowset_cell *cells,
                               struct error *error)
{
    const uint64_t row = builder->rows.rows;
    if (row == builder->capacity)
        RETURN_IF_ERROR(reserve_rows(builder, 2 * row, error));
    for (uint32_t c = 0; c < builder->rows.column_count; c++) {
        struct rowset_column *const column = &builder->rows.columns[c];
        const struct string_value string = {cells[c].null ? "" : cells[c].string,
                                            cells[c].null ? 0 : cells[c].length};
        column->nulls[row] = cells[c].null;
        if (column->views)
            RETURN_IF_ERROR(string_writer_put(&builder->writers[c], string, &column->views[row], error));
        else
            column->values[row] = cells[c].null ? 0 : cells[c].number;
    }
    builder->rows.rows++;
    return STATUS_OK;
}

void rowset_builder_finish(struct rowset_builder *builder, struct rowset *rows)
{
    *rows = builder->rows;
    builder->rows = (struct rowset){0};
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
        rowset_builder_finish(builder, rows);
    rowset_builder_free(builder);
    return status;
}
