/*
 * arrow_export.c: see arrow_export.h. A source (arrow_sources.c) gives batches: for each column int64 values
 * and NULL flags, as in a rowset. This file makes Arrow's buffers of them. Every array owns its buffers and
 * can be moved or released alone.
 */
#include "engine/library/arrow_export_internal.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- Arrays ---- */

/* An array's private_data: the buffers that it frees. */
struct array_memory {
    const void *buffers[3];
};

static void release_array(struct ArrowArray *array)
{
    struct array_memory *memory = array->private_data;
    for (int64_t c = 0; c < array->n_children; c++) {
        if (array->children[c]->release)
            array->children[c]->release(array->children[c]);
        free(array->children[c]);
    }
    free(array->children);
    for (int b = 0; b < 3; b++)
        free((void *)memory->buffers[b]);
    free(memory);
    array->release = NULL;
}

static bool array_begin(struct ArrowArray *array, int64_t rows, int64_t buffers)
{
    struct array_memory *memory = calloc(1, sizeof *memory);
    *array = (struct ArrowArray){.length = rows, .n_buffers = buffers};
    if (!memory)
        return false;
    array->buffers = memory->buffers;
    array->private_data = memory;
    array->release = release_array;
    return true;
}

static bool fill_validity(struct ArrowArray *array, const uint8_t *nulls, int64_t rows)
{
    uint8_t *bits;
    for (int64_t row = 0; nulls && row < rows; row++)
        array->null_count += nulls[row] != 0;
    if (array->null_count == 0)
        return true;
    array->buffers[0] = bits = calloc((size_t)rows / 8 + 1, 1);
    for (int64_t row = 0; bits && row < rows; row++)
        bits[row / 8] |= (uint8_t)(!nulls[row] << row % 8);
    return bits != NULL;
}

static struct string_value string_at(const struct export_values *from, const struct value_type *type,
                                     int64_t row)
{
    struct string_value string;
    if (from->texts)
        return (struct string_value){from->texts[row], (uint32_t)strlen(from->texts[row])};
    if (from->strings)
        return rowset_string(from->strings, from->first + (uint64_t)row);
    string.text = dictionary_string(type->dictionary, from->values[row], &string.length);
    return string;
}

static bool fill_strings(struct ArrowArray *array, const struct value_type *type,
                         const struct export_values *from, int64_t rows)
{
    int64_t *offsets = malloc(((size_t)rows + 1) * sizeof *offsets), at = 0;
    array->buffers[1] = offsets;
    for (int64_t row = 0; offsets && row < rows; row++) {
        offsets[row] = at;
        at += from->nulls && from->nulls[row] ? 0 : string_at(from, type, row).length;
    }
    char *bytes = malloc((size_t)at + 1);
    array->buffers[2] = bytes;
    if (!offsets || !bytes)
        return false;
    offsets[rows] = at;
    for (int64_t row = 0; row < rows; row++)
        if (offsets[row + 1] > offsets[row]) {
            const struct string_value string = string_at(from, type, row);
            memcpy(bytes + offsets[row], string.text, string.length);
        }
    return true;
}

static bool fill_values(struct ArrowArray *array, const struct value_type *type,
                        const struct export_values *from, int64_t rows)
{
    const int64_t *const values = from->values;
    const bool decimal = value_is_decimal(*type);
    if (type->kind == VALUE_STRING)
        return fill_strings(array, type, from, rows);
    void *const out = calloc((size_t)rows + 1, decimal ? 16 : 8);
    array->buffers[1] = out;
    for (int64_t row = 0; out && row < rows; row++) {
        if (decimal) {
            const __int128 wide = values[row];
            memcpy((uint8_t *)out + 16 * row, &wide, sizeof wide);
        } else if (type->kind == VALUE_DATE) {
            ((int32_t *)out)[row] = (int32_t)values[row];
        } else if (type->kind == VALUE_BOOLEAN) {
            ((uint8_t *)out)[row / 8] |= (uint8_t)((values[row] != 0) << row % 8);
        } else if (type->kind == VALUE_DOUBLE) {
            ((double *)out)[row] = double_of_key(values[row]);
        } else {
            ((int64_t *)out)[row] = values[row];
        }
    }
    return out != NULL;
}

bool export_batch_make(const struct value_type *types, const struct export_values *columns, uint32_t count,
                       int64_t rows, struct ArrowArray *batch)
{
    bool made = array_begin(batch, rows, 1);
    if (!made)
        return false;
    batch->children = calloc(count + 1, sizeof *batch->children);
    for (uint32_t c = 0; made && c < count; c++) {
        struct ArrowArray *child = batch->children ? calloc(1, sizeof *child) : NULL;
        made = child && array_begin(child, rows, types[c].kind == VALUE_STRING ? 3 : 2);
        if (!made) {
            free(child);
            break;
        }
        batch->children[batch->n_children++] = child;
        made =
            fill_validity(child, columns[c].nulls, rows) && fill_values(child, &types[c], &columns[c], rows);
    }
    if (!made)
        batch->release(batch);
    return made;
}

/* ---- Schemas ---- */

/* A schema's private_data: the texts that it points to. */
struct schema_memory {
    char format[32];
    char name[];
};

void arrow_schema_release(struct ArrowSchema *schema)
{
    for (int64_t c = 0; c < schema->n_children; c++) {
        if (schema->children[c]->release)
            schema->children[c]->release(schema->children[c]);
        free(schema->children[c]);
    }
    free(schema->children);
    free(schema->private_data);
    schema->release = NULL;
}

static const char *format_of(const struct value_type *type)
{
    switch (type->kind) {
    case VALUE_INTEGER:
        return "l";
    case VALUE_DATE:
        return "tdD";
    case VALUE_TIMESTAMP:
        return type->zoned ? "tsu:UTC" : "tsu:";
    case VALUE_BOOLEAN:
        return "b";
    case VALUE_STRING:
        return "U";
    case VALUE_DOUBLE:
        return "g";
    }
    return NULL;
}

static bool schema_begin(struct ArrowSchema *schema, const char *name, const struct value_type *type)
{
    struct schema_memory *memory = calloc(1, sizeof *memory + strlen(name) + 1);
    *schema = (struct ArrowSchema){0};
    if (!memory)
        return false;
    strcpy(memory->name, name);
    if (type && value_is_decimal(*type))
        snprintf(memory->format, sizeof memory->format, "d:19,%u", type->scale);
    else
        snprintf(memory->format, sizeof memory->format, "%s", type ? format_of(type) : "+s");
    schema->name = memory->name;
    schema->format = memory->format;
    schema->private_data = memory;
    schema->release = arrow_schema_release;
    return true;
}

bool arrow_export_schema(const char *const *names, const struct value_type *types, uint32_t count,
                         struct ArrowSchema *schema)
{
    bool made = schema_begin(schema, "", NULL);
    if (!made)
        return false;
    schema->children = calloc(count + 1, sizeof *schema->children);
    for (uint32_t c = 0; made && c < count; c++) {
        struct ArrowSchema *child = schema->children ? calloc(1, sizeof *child) : NULL;
        made = child && schema_begin(child, names[c], &types[c]);
        if (!made) {
            free(child);
            break;
        }
        child->flags = ARROW_FLAG_NULLABLE;
        schema->children[schema->n_children++] = child;
    }
    if (!made)
        schema->release(schema);
    return made;
}

/* ---- Streams ---- */

static int stream_schema(struct ArrowArrayStream *stream, struct ArrowSchema *out)
{
    struct export_stream *from = stream->private_data;
    if (arrow_export_schema(from->names, from->types, from->count, out))
        return 0;
    (void)error_out_of_memory(&from->error, (uint64_t)from->count * sizeof *out, "a schema");
    return ENOMEM;
}

static int stream_next(struct ArrowArrayStream *stream, struct ArrowArray *out)
{
    struct export_stream *from = stream->private_data;
    const uint64_t left = from->rows - from->done;
    const uint32_t rows = left < ARROW_BATCH_ROWS ? (uint32_t)left : ARROW_BATCH_ROWS;
    *out = (struct ArrowArray){0};
    if (rows == 0)
        return 0;
    if (from->next(from, rows, &from->error) != STATUS_OK)
        return EIO;
    if (!export_batch_make(from->types, from->batch, from->count, rows, out)) {
        (void)error_out_of_memory(&from->error, (uint64_t)rows * from->count * 8, "a batch of rows");
        return ENOMEM;
    }
    from->done += rows;
    return 0;
}

static const char *stream_error(struct ArrowArrayStream *stream)
{
    const struct export_stream *from = stream->private_data;
    return from->error.text[0] ? from->error.text : NULL;
}

static void free_stream(struct export_stream *from)
{
    free(from->names);
    free(from->types);
    free(from->batch);
    free(from);
}

void export_stream_release(struct ArrowArrayStream *stream)
{
    struct export_stream *from = stream->private_data;
    from->close(from);
    free_stream(from);
    stream->release = NULL;
}

enum status export_stream_make(size_t bytes, uint32_t count, struct export_stream **out, struct error *error)
{
    struct export_stream *made = calloc(1, bytes);
    if (made) {
        made->count = count;
        made->names = calloc(count + 1, sizeof *made->names);
        made->types = calloc(count + 1, sizeof *made->types);
        made->batch = calloc(count + 1, sizeof *made->batch);
    }
    *out = made;
    if (made && made->names && made->types && made->batch)
        return STATUS_OK;
    if (made)
        free_stream(made);
    return error_out_of_memory(error, bytes, "a stream");
}

void export_stream_give(struct export_stream *from, struct ArrowArrayStream *stream)
{
    *stream = (struct ArrowArrayStream){.get_schema = stream_schema,
                                        .get_next = stream_next,
                                        .get_last_error = stream_error,
                                        .release = export_stream_release,
                                        .private_data = from};
}
