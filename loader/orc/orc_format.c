/* orc_format.c: see orc_format.h. */
#include "loader/orc/orc_format.h"

#include "loader/orc/orc_values.h"
#include "storage/base/memory.h"

#include <stdlib.h>
#include <string.h>

static enum columnar_kind kind_of(const struct orc_type *type)
{
    switch (type->kind) {
    case ORC_BOOLEAN:
        return COLUMNAR_BOOLEAN;
    case ORC_BYTE:
    case ORC_SHORT:
    case ORC_INT:
    case ORC_LONG:
        return COLUMNAR_INTEGER;
    case ORC_FLOAT:
    case ORC_DOUBLE:
        return COLUMNAR_FLOATING;
    case ORC_DECIMAL: /* those of Hive 0.11 have a scale each, and no precision */
        return type->precision > 0 ? COLUMNAR_DECIMAL : COLUMNAR_OTHER;
    case ORC_DATE:
        return COLUMNAR_DATE;
    case ORC_TIMESTAMP:
    case ORC_TIMESTAMP_INSTANT:
        return COLUMNAR_TIMESTAMP;
    case ORC_STRING:
    case ORC_VARCHAR:
    case ORC_CHAR:
        return COLUMNAR_TEXT;
    default:
        return COLUMNAR_OTHER;
    }
}

static enum status list_columns(struct orc_file *file, struct error *error)
{
    const struct orc_type *const root = &file->types[0];
    RETURN_IF_ERROR(memory_zeros(&file->base.columns, (root->child_count + 1) * sizeof *file->base.columns,
                                 "columns", error));
    for (uint32_t c = 0; c < root->child_count; c++) {
        const struct orc_type *const type = &file->types[root->children[c]];
        struct columnar_column *const column = &file->base.columns[c];
        column->name = type->name;
        column->number = root->children[c];
        column->type = (struct columnar_type){.kind = kind_of(type),
                                              .precision = type->precision,
                                              .scale = type->scale,
                                              .narrow = type->kind == ORC_BYTE || type->kind == ORC_SHORT ||
                                                        type->kind == ORC_INT,
                                              .zoned = type->kind == ORC_TIMESTAMP_INSTANT};
        orc_type_text(type, column->type.name);
    }
    file->base.column_count = root->child_count;
    return STATUS_OK;
}

static enum status file_read(struct columnar_file *file, int descriptor, struct error *error)
{
    struct orc_file *const own = (struct orc_file *)file;
    RETURN_IF_ERROR(orc_file_read(own, descriptor, error));
    own->base.schemes = 1u << BYTE_STORED | 1u << orc_file_scheme(own);
    return list_columns(own, error);
}

static void file_end(struct columnar_file *file)
{
    orc_file_free((struct orc_file *)file);
}

static enum status part_open(struct columnar_opened *opened, struct error *error)
{
    struct orc_stripe_footer *footer;
    RETURN_IF_ERROR(memory_zeros(&footer, sizeof *footer, "a footer", error));
    opened->own = footer;
    return orc_stripe_footer_read(orc_file_of(opened->file), opened->descriptor, opened->part, footer, error);
}

static void part_close(struct columnar_opened *opened)
{
    orc_stripe_footer_free(opened->own);
    free(opened->own);
}

static enum status column_read(const struct columnar_opened *opened, uint32_t column, uint64_t most,
                               struct columnar_streams *streams, struct error *error)
{
    const struct columnar_place place = columnar_place_of(opened, column);
    struct orc_column_layout layout;
    RETURN_IF_ERROR(
        orc_column_layout_find(&place, opened->own, opened->file->columns[column].number, &layout, error));
    return orc_streams_read(&place, opened->descriptor, &layout, most, streams, error);
}

static enum status column_decode(const struct columnar_opened *opened, uint32_t column, uint64_t most,
                                 struct columnar_streams *streams, struct columnar_values *values,
                                 struct error *error)
{
    const struct columnar_place place = columnar_place_of(opened, column);
    const struct orc_stripe_footer *const footer = opened->own;
    const uint32_t number = opened->file->columns[column].number;
    RETURN_IF_ERROR(orc_streams_finish(&place, streams, error));
    return orc_values_decode(&place, &orc_file_of(opened->file)->types[number], &footer->encodings[number],
                             footer->timezone, streams, (uint32_t)opened->file->parts[opened->part].rows,
                             most, values, error);
}

static enum status column_ends(const struct columnar_file *file, uint32_t part, uint32_t column,
                               struct columnar_values *values, int64_t *nulls, struct error *error)
{
    const uint64_t rows = file->parts[part].rows;
    struct orc_statistics statistics;
    struct text_field *texts;
    int64_t *numbers;
    orc_statistics_find(orc_file_of(file), part, file->columns[column].number, &statistics);
    *nulls = statistics.values <= rows ? (int64_t)(rows - statistics.values) : -1;
    columnar_values_begin(values, 2);
    values->count = statistics.known ? 2 : 0;
    if (!statistics.known)
        return STATUS_OK;
    if (file->columns[column].type.kind == COLUMNAR_TEXT) {
        RETURN_IF_ERROR(columnar_values_take(values, 0, sizeof statistics.texts, &texts, error));
        memcpy(texts, statistics.texts, sizeof statistics.texts);
        values->texts = texts;
        values->text_count = 2;
        return STATUS_OK;
    }
    RETURN_IF_ERROR(columnar_values_take(values, 0, sizeof statistics.ends, &numbers, error));
    memcpy(numbers, statistics.ends, sizeof statistics.ends);
    values->numbers = numbers;
    return STATUS_OK;
}

const struct columnar_format orc_format = {
    .name = "ORC",
    .part = "stripe",
    .ending = ".orc",
    .first = "ORC",
    .last = "ORC",
    .after = 1,
    .file_bytes = sizeof(struct orc_file),
    .file_read = file_read,
    .file_end = file_end,
    .part_open = part_open,
    .part_close = part_close,
    .column_read = column_read,
    .column_decode = column_decode,
    .column_ends = column_ends,
    .inspect = orc_inspect,
};
