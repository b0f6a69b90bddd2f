/*
 * arrow_export.c: see arrow_export.h. A source gives batches as int64 values and NULL flags, a column each, as a rowset
 * has them; here they become Arrow's buffers. Every array owns its buffers and can be moved or released by itself.
 */
#include "engine/arrow_export.h"

#include "engine/fact_data.h"
#include "engine/value_text.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- Arrays ---- */

/* private_data of an array: the buffers that it frees. */
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

static bool fill_strings(struct ArrowArray *array, const struct dictionary *dictionary, const int64_t *codes,
                         const uint8_t *nulls, int64_t rows)
{
    int64_t *offsets = malloc(((size_t)rows + 1) * sizeof *offsets), at = 0;
    uint32_t length;
    array->buffers[1] = offsets;
    for (int64_t row = 0; offsets && row < rows; row++) {
        offsets[row] = at;
        length = 0;
        if (!(nulls && nulls[row]))
            (void)dictionary_string(dictionary, (uint32_t)codes[row], &length);
        at += length;
    }
    char *bytes = malloc((size_t)at + 1);
    array->buffers[2] = bytes;
    if (!offsets || !bytes)
        return false;
    offsets[rows] = at;
    for (int64_t row = 0; row < rows; row++)
        if (offsets[row + 1] > offsets[row])
            memcpy(bytes + offsets[row], dictionary_string(dictionary, (uint32_t)codes[row], &length),
                   (size_t)(offsets[row + 1] - offsets[row]));
    return true;
}

static bool fill_values(struct ArrowArray *array, const struct value_type *type, const int64_t *values,
                        const uint8_t *nulls, int64_t rows)
{
    const bool decimal = type->kind == VALUE_INTEGER && type->scale > 0;
    if (type->kind == VALUE_STRING)
        return fill_strings(array, type->dictionary, values, nulls, rows);
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
        } else {
            ((int64_t *)out)[row] = values[row];
        }
    }
    return out != NULL;
}

/* One column of a batch. */
struct export_values {
    const int64_t *values;
    const uint8_t *nulls; /* or NULL */
};

/* False: out of memory; what was made is released. */
static bool make_batch(const struct value_type *types, const struct export_values *columns, uint32_t count,
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
        made = fill_validity(child, columns[c].nulls, rows) &&
               fill_values(child, &types[c], columns[c].values, columns[c].nulls, rows);
    }
    if (!made)
        batch->release(batch);
    return made;
}

/* ---- Schemas ---- */

/* private_data of a schema; the texts that it points at. */
struct schema_memory {
    char name[256], format[32];
};

static void release_schema(struct ArrowSchema *schema)
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

static bool schema_begin(struct ArrowSchema *schema, const char *name, const struct value_type *type)
{
    static const char *const formats[] = {
        [VALUE_INTEGER] = "l", [VALUE_DATE] = "tdD", [VALUE_TIMESTAMP] = "tsu:",
        [VALUE_BOOLEAN] = "b", [VALUE_STRING] = "U", [VALUE_DOUBLE] = "g"};
    struct schema_memory *memory = calloc(1, sizeof *memory);
    *schema = (struct ArrowSchema){0};
    if (!memory)
        return false;
    snprintf(memory->name, sizeof memory->name, "%s", name);
    if (type && type->kind == VALUE_INTEGER && type->scale > 0)
        snprintf(memory->format, sizeof memory->format, "d:19,%u", type->scale);
    else
        snprintf(memory->format, sizeof memory->format, "%s", type ? formats[type->kind] : "+s");
    schema->name = memory->name;
    schema->format = memory->format;
    schema->private_data = memory;
    schema->release = release_schema;
    return true;
}

static bool make_schema(const char *const *names, const struct value_type *types, uint32_t count,
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

/* private_data of a stream: what all kinds of sources have. */
struct export_stream {
    uint32_t count;
    const char **names;
    struct value_type *types;
    struct export_values *batch; /* what `next` fills */
    uint64_t rows, done;
    /* Points batch[] at rows done .. done + count - 1. */
    enum status (*next)(struct export_stream *stream, uint32_t count, struct error *error);
    void (*close)(struct export_stream *stream);
    struct error error;
};

static int stream_schema(struct ArrowArrayStream *stream, struct ArrowSchema *out)
{
    const struct export_stream *from = stream->private_data;
    return make_schema(from->names, from->types, from->count, out) ? 0 : ENOMEM;
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
    if (!make_batch(from->types, from->batch, from->count, rows, out)) {
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

static void stream_release(struct ArrowArrayStream *stream)
{
    struct export_stream *from = stream->private_data;
    from->close(from);
    free(from->names);
    free(from->types);
    free(from->batch);
    free(from);
    stream->release = NULL;
}

/* `bytes`: of the source's own struct, which begins with an export_stream. */
static enum status stream_make(size_t bytes, uint32_t count, struct export_stream **out, struct error *error)
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
    return error_out_of_memory(error, bytes, "a stream");
}

static void stream_give(struct export_stream *from, struct ArrowArrayStream *stream)
{
    *stream = (struct ArrowArrayStream){.get_schema = stream_schema,
                                        .get_next = stream_next,
                                        .get_last_error = stream_error,
                                        .release = stream_release,
                                        .private_data = from};
}

/* ---- Answers ---- */

struct rows_stream {
    struct export_stream base;
    struct rowset rows;
};

static enum status rows_next(struct export_stream *stream, uint32_t count, struct error *error)
{
    const struct rowset *rows = &((struct rows_stream *)stream)->rows;
    (void)count;
    (void)error;
    for (uint32_t c = 0; c < rows->column_count; c++)
        stream->batch[c] =
            (struct export_values){rows->columns[c].values + stream->done,
                                   rows->columns[c].nulls ? rows->columns[c].nulls + stream->done : NULL};
    return STATUS_OK;
}

static void rows_close(struct export_stream *stream)
{
    rowset_free(&((struct rows_stream *)stream)->rows);
}

enum status arrow_export_rows(struct rowset *rows, struct ArrowArrayStream *stream, struct error *error)
{
    struct export_stream *made;
    RETURN_IF_ERROR(stream_make(sizeof(struct rows_stream), rows->column_count, &made, error));
    made->next = rows_next;
    made->close = rows_close;
    made->rows = rows->rows;
    enum status status = STATUS_OK;
    for (uint32_t c = 0; status == STATUS_OK && c < rows->column_count; c++)
        if (rows->columns[c].type.kind == VALUE_STRING)
            status = rowset_own_dictionary(rows, c, error);
    for (uint32_t c = 0; c < rows->column_count; c++) {
        made->names[c] = rows->columns[c].name;
        made->types[c] = rows->columns[c].type;
    }
    stream_give(made, stream);
    if (status != STATUS_OK) {
        stream_release(stream);
        return status;
    }
    ((struct rows_stream *)made)->rows = *rows;
    *rows = (struct rowset){0};
    return STATUS_OK;
}

/* ---- Tables ---- */

struct table_column {
    struct column_data *data, *keys_data; /* keys_data: of the key that is referenced, or NULL */
    int64_t *keys;                        /* its values, by row position */
    int64_t values[ARROW_BATCH_ROWS];
    uint8_t nulls[ARROW_BATCH_ROWS];
};

struct table_stream {
    struct export_stream base;
    uint32_t segment, tile; /* where the next batch begins */
    struct table_column **columns;
};

static void decode_tile(const struct segment_data *segment, uint32_t tile, uint32_t rows, const int64_t *keys,
                        int64_t *values, uint8_t *nulls)
{
    _Alignas(64) int64_t decoded[TILE_ROWS];
    const uint32_t *const valid = segment->validity ? segment->validity + tile * TILE_LANES : NULL;
    segment->chunk.codec->decode_tile(&segment->chunk, tile, decoded);
    for (uint32_t r = 0; r < rows; r++) {
        nulls[r] = valid && !(valid[r % TILE_LANES] >> r / TILE_LANES & 1);
        values[r] =
            segment->chunk.value_bytes == 4 ? ((const int32_t *)(const void *)decoded)[r] : decoded[r];
        if (keys)
            values[r] = nulls[r] ? 0 : keys[values[r]];
    }
}

/* Segments are full but for the last, and hold a whole number of batches. */
static enum status table_next(struct export_stream *stream, uint32_t count, struct error *error)
{
    struct table_stream *table = (struct table_stream *)stream;
    RETURN_IF_ERROR(cancel_check(error));
    for (uint32_t c = 0; c < stream->count; c++) {
        struct table_column *column = table->columns[c];
        uint32_t segment = table->segment, tile = table->tile;
        for (uint32_t done = 0; done < count;) {
            const struct segment_data *data = &column->data->segments[segment];
            const uint32_t in_tile = data->chunk.rows - tile * TILE_ROWS,
                           rows = in_tile < TILE_ROWS ? in_tile : TILE_ROWS;
            decode_tile(data, tile, rows, column->keys, column->values + done, column->nulls + done);
            done += rows;
            segment += ++tile == data->chunk.tiles;
            tile = tile == data->chunk.tiles ? 0 : tile;
        }
        stream->batch[c] = (struct export_values){column->values, column->nulls};
        if (c + 1 == stream->count) {
            table->segment = segment;
            table->tile = tile;
        }
    }
    return STATUS_OK;
}

static void table_close(struct export_stream *stream)
{
    struct table_stream *table = (struct table_stream *)stream;
    for (uint32_t c = 0; table->columns && c < stream->count; c++) {
        if (!table->columns[c])
            continue;
        column_data_close(table->columns[c]->data);
        column_data_close(table->columns[c]->keys_data);
        free(table->columns[c]->keys);
        free(table->columns[c]);
    }
    free(table->columns);
}

static enum status read_keys(const struct column *key, struct table_column *column, struct error *error)
{
    uint64_t row = 0;
    uint8_t nulls[TILE_ROWS];
    column->keys = malloc((key->table->rows + 1) * sizeof *column->keys);
    if (!column->keys)
        return error_out_of_memory(error, key->table->rows * sizeof *column->keys, "keys");
    column->keys[0] = 0;
    for (uint32_t s = 0; s < column->keys_data->segment_count; s++) {
        const struct segment_data *data = &column->keys_data->segments[s];
        for (uint32_t tile = 0; tile < data->chunk.tiles; tile++) {
            const uint32_t left = data->chunk.rows - tile * TILE_ROWS,
                           rows = left < TILE_ROWS ? left : TILE_ROWS;
            decode_tile(data, tile, rows, NULL, column->keys + row, nulls);
            row += rows;
        }
    }
    return STATUS_OK;
}

static enum status open_column(struct database *database, const struct column *of, unsigned threads,
                               struct table_column *column, struct value_type *type, struct error *error)
{
    struct fact_data opened;
    *type = column_value_type(of->references ? of->references : of);
    RETURN_IF_ERROR(
        fact_data_open(database, of, NULL, threads, &opened, error)); /* which checks row positions */
    column->data = opened.data;
    if (!of->references)
        return STATUS_OK;
    RETURN_IF_ERROR(
        column_data_open(database, of->references, of->references->own, threads, &column->keys_data, error));
    return read_keys(of->references, column, error);
}

enum status arrow_export_table(struct database *database, const struct table *table, unsigned threads,
                               struct ArrowArrayStream *stream, struct error *error)
{
    struct export_stream *made;
    RETURN_IF_ERROR(stream_make(sizeof(struct table_stream), table->column_count, &made, error));
    struct table_stream *of = (struct table_stream *)made;
    made->next = table_next;
    made->close = table_close;
    made->rows = table->rows;
    of->columns = calloc(table->column_count, sizeof *of->columns);
    enum status status =
        of->columns ? STATUS_OK
                    : error_out_of_memory(error, table->column_count * sizeof *of->columns, "a stream");
    for (uint32_t c = 0; status == STATUS_OK && c < table->column_count; c++) {
        made->names[c] = table->columns[c].schema.name;
        of->columns[c] = calloc(1, sizeof **of->columns);
        status = of->columns[c] ? open_column(database, &table->columns[c], threads, of->columns[c],
                                              &made->types[c], error)
                                : error_out_of_memory(error, sizeof **of->columns, "a stream");
    }
    stream_give(made, stream);
    if (status != STATUS_OK)
        stream_release(stream);
    return status;
}

/* ---- Values in memory ---- */

/* A column of texts: those of a batch as a dictionary of their own, in order. */
struct text_batch {
    struct dictionary dictionary;
    uint64_t starts[ARROW_BATCH_ROWS + 1];
    int64_t codes[ARROW_BATCH_ROWS];
    uint8_t nulls[ARROW_BATCH_ROWS];
    char *bytes;
};

struct values_stream {
    struct export_stream base;
    const struct tessera_values *columns;
    struct text_batch **texts; /* of each column that has texts */
};

static enum status take_texts(const char *const *texts, uint32_t count, struct text_batch *batch,
                              struct error *error)
{
    uint64_t at = 0;
    for (uint32_t row = 0; row < count; row++) {
        batch->starts[row] = at;
        batch->codes[row] = row;
        batch->nulls[row] = texts[row] == NULL;
        at += texts[row] ? strlen(texts[row]) : 0;
    }
    batch->starts[count] = at;
    free(batch->bytes);
    batch->bytes = malloc(at + 1);
    if (!batch->bytes)
        return error_out_of_memory(error, at, "texts");
    for (uint32_t row = 0; row < count; row++)
        if (texts[row])
            memcpy(batch->bytes + batch->starts[row], texts[row],
                   batch->starts[row + 1] - batch->starts[row]);
    batch->dictionary = (struct dictionary){.count = count, .starts = batch->starts, .bytes = batch->bytes};
    return STATUS_OK;
}

static enum status values_next(struct export_stream *stream, uint32_t count, struct error *error)
{
    const struct values_stream *from = (struct values_stream *)stream;
    for (uint32_t c = 0; c < stream->count; c++) {
        const struct tessera_values *column = &from->columns[c];
        struct text_batch *texts = from->texts[c];
        if (texts)
            RETURN_IF_ERROR(take_texts(column->texts + stream->done, count, texts, error));
        stream->batch[c] = texts
                               ? (struct export_values){texts->codes, texts->nulls}
                               : (struct export_values){column->numbers + stream->done,
                                                        column->nulls ? column->nulls + stream->done : NULL};
    }
    return STATUS_OK;
}

static void values_close(struct export_stream *stream)
{
    struct values_stream *from = (struct values_stream *)stream;
    for (uint32_t c = 0; from->texts && c < stream->count; c++) {
        if (from->texts[c])
            free(from->texts[c]->bytes);
        free(from->texts[c]);
    }
    free(from->texts);
}

enum status arrow_export_values(const struct tessera_values *columns, uint32_t column_count, uint64_t rows,
                                struct ArrowArrayStream *stream, struct error *error)
{
    struct export_stream *made;
    RETURN_IF_ERROR(stream_make(sizeof(struct values_stream), column_count, &made, error));
    struct values_stream *from = (struct values_stream *)made;
    from->columns = columns;
    from->texts = calloc(column_count + 1, sizeof *from->texts);
    made->next = values_next;
    made->close = values_close;
    made->rows = rows;
    bool fits = from->texts != NULL;
    for (uint32_t c = 0; fits && c < column_count; c++) {
        made->names[c] = columns[c].name;
        made->types[c].kind = columns[c].numbers ? VALUE_INTEGER : VALUE_STRING;
        if (columns[c].numbers)
            continue;
        fits = (from->texts[c] = calloc(1, sizeof **from->texts)) != NULL;
        made->types[c].dictionary = fits ? &from->texts[c]->dictionary : NULL;
    }
    stream_give(made, stream);
    if (fits)
        return STATUS_OK;
    stream_release(stream);
    return error_out_of_memory(error, column_count * sizeof **from->texts, "rows");
}
