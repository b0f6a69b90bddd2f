/* arrow_sources.c: the sources of exported batches: answers, tables, values in memory (arrow_export.h). */
#include "engine/library/arrow_export_internal.h"
#include "engine/library/library.h"
#include "engine/plan/fact_data.h"
#include "engine/plan/plan.h"
#include "engine/plan/value_text.h"
#include "storage/base/memory.h"
#include "storage/codec/chunk_reader.h"
#include "storage/database/changes/live_rows.h"

#include <stdlib.h>
#include <string.h>

/* ---- Answers ---- */

struct rows_stream {
    struct export_stream base;
    struct rowset rows;
};

static struct export_values values_from(const struct rowset_column *column, uint64_t first)
{
    return (struct export_values){.nulls = column->nulls ? column->nulls + first : NULL,
                                  .values = column->values ? column->values + first : NULL,
                                  .strings = column->type.kind == VALUE_STRING ? column : NULL,
                                  .first = first};
}

static enum status rows_next(struct export_stream *stream, uint32_t count, struct error *error)
{
    const struct rowset *rows = &((struct rows_stream *)stream)->rows;
    (void)count;
    (void)error;
    for (uint32_t c = 0; c < rows->column_count; c++)
        stream->batch[c] = values_from(&rows->columns[c], stream->done);
    return STATUS_OK;
}

enum status arrow_export_batch(const struct rowset *rows, uint64_t first, uint32_t count,
                               struct ArrowArray *batch, struct error *error)
{
    struct value_type *types = NULL;
    struct export_values *values = NULL;
    enum status status = memory_take(&types, rows->column_count * sizeof *types, "types", error);
    status = AND_THEN(status, memory_take(&values, rows->column_count * sizeof *values, "values", error));
    for (uint32_t c = 0; status == STATUS_OK && c < rows->column_count; c++) {
        types[c] = rows->columns[c].type;
        values[c] = values_from(&rows->columns[c], first);
    }
    if (status == STATUS_OK && !export_batch_make(types, values, rows->column_count, count, batch))
        status = error_out_of_memory(error, (uint64_t)count * rows->column_count * 8, "a batch of rows");
    free(types);
    free(values);
    return status;
}

static void rows_close(struct export_stream *stream)
{
    rowset_free(&((struct rows_stream *)stream)->rows);
}

enum status arrow_export_rows(struct rowset *rows, struct ArrowArrayStream *stream, struct error *error)
{
    struct export_stream *made;
    RETURN_IF_ERROR(export_stream_make(sizeof(struct rows_stream), rows->column_count, &made, error));
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
    export_stream_give(made, stream);
    if (status != STATUS_OK) {
        export_stream_release(stream);
        return status;
    }
    ((struct rows_stream *)made)->rows = *rows;
    *rows = (struct rowset){0};
    return STATUS_OK;
}

/* ---- Tables ---- */

struct table_column {
    struct column_data *data;
    struct chunk_reader reader;
    int64_t *keys; /* the values of the referenced key, by position; or NULL */
    int64_t values[ARROW_BATCH_ROWS];
    uint8_t nulls[ARROW_BATCH_ROWS];
};

struct table_stream {
    struct export_stream base;
    uint32_t segment, tile, row; /* where the next batch begins: a segment has any number of rows */
    struct table_column **columns;
    struct table_column *live; /* false in rows that were deleted, which are left out; NULL: none was */
};

/* Decodes the tile's rows that `picked` numbers to places of the batch from `to` on. */
static enum status decode_tile(struct table_column *column, uint32_t segment, uint32_t tile,
                               const uint16_t *picked, uint32_t rows, uint32_t to, struct error *error)
{
    const struct segment_data *const data = &column->data->segments[segment];
    const uint32_t *const valid = data->validity ? data->validity + tile * TILE_LANES : NULL;
    const void *decoded;
    RETURN_IF_ERROR(chunk_reader_tile(&column->reader, &data->chunk, tile, &decoded, error));
    for (uint32_t i = 0; i < rows; i++) {
        const uint32_t r = picked[i];
        const bool null = valid && !(valid[r % TILE_LANES] >> r / TILE_LANES & 1);
        const int64_t value = row_value(decoded, data->chunk.value_bytes, r);
        column->nulls[to + i] = null;
        column->values[to + i] = !column->keys ? value : null ? 0 : column->keys[value];
    }
    return STATUS_OK;
}

/* Numbers the live rows of the present tile from row `first` on, at most `most`, and tells at which row the search ended. */
static enum status pick_rows(const struct table_stream *table, uint32_t tile_rows, uint32_t first,
                             uint32_t most, uint16_t *picked, uint32_t *count, uint32_t *end,
                             struct error *error)
{
    const void *live = NULL;
    *count = 0;
    if (table->live)
        RETURN_IF_ERROR(chunk_reader_tile(&table->live->reader,
                                          &table->live->data->segments[table->segment].chunk, table->tile,
                                          &live, error));
    const uint32_t bytes =
        live ? table->live->data->segments[table->segment].chunk.value_bytes : sizeof(int32_t);
    for (*end = first; *end < tile_rows && *count < most; ++*end)
        if (!live || row_value(live, bytes, *end))
            picked[(*count)++] = (uint16_t)*end;
    return STATUS_OK;
}

/* Fills the batch with the next `wanted` live rows, tile by tile. */
static enum status decode_batch(struct export_stream *stream, uint32_t wanted, struct error *error)
{
    struct table_stream *const table = (struct table_stream *)stream;
    const struct column_data *const any = table->columns[0]->data;
    uint16_t picked[TILE_ROWS];
    RETURN_IF_ERROR(cancel_check(error));
    for (uint32_t c = 0; c < stream->count; c++)
        stream->batch[c] =
            (struct export_values){.values = table->columns[c]->values, .nulls = table->columns[c]->nulls};
    for (uint32_t seen = 0; seen < wanted && table->segment < any->segment_count;) {
        const struct chunk_view *const chunk = &any->segments[table->segment].chunk;
        const uint32_t left = chunk->rows - table->tile * TILE_ROWS,
                       rows = left < TILE_ROWS ? left : TILE_ROWS;
        uint32_t count, end;
        RETURN_IF_ERROR(pick_rows(table, rows, table->row, wanted - seen, picked, &count, &end, error));
        for (uint32_t c = 0; count && c < stream->count; c++)
            RETURN_IF_ERROR(
                decode_tile(table->columns[c], table->segment, table->tile, picked, count, seen, error));
        seen += count;
        table->row = end;
        if (end < rows)
            continue;
        table->row = 0;
        if (++table->tile >= chunk->tiles) {
            table->tile = 0;
            table->segment++;
        }
    }
    return STATUS_OK;
}

static enum status table_next(struct export_stream *stream, uint32_t count, struct error *error)
{
    struct execution call = {.outer = NULL};
    library_call_begin(&call);
    const enum status status = decode_batch(stream, count, error);
    execution_leave(&call);
    return status;
}

static void column_close(struct table_column *column)
{
    if (!column)
        return;
    chunk_reader_close(&column->reader);
    free(column->keys);
    free(column);
}

static void table_close(struct export_stream *stream)
{
    struct table_stream *table = (struct table_stream *)stream;
    for (uint32_t c = 0; table->columns && c < stream->count; c++)
        column_close(table->columns[c]);
    column_close(table->live);
    free(table->columns);
}

static enum status open_column(struct database *database, const struct column *of, unsigned threads,
                               struct table_column **column, struct value_type *type, struct error *error)
{
    struct fact_data opened;
    const struct column *const value = of->references ? of->references : of;
    RETURN_IF_ERROR(memory_zeros(column, sizeof **column, "a stream", error));
    *type = column_value_type(value);
    RETURN_IF_ERROR(column_dictionary(value, threads, &type->dictionary, error));
    RETURN_IF_ERROR(fact_data_open(database, of, NULL, threads, &opened, error)); /* checks positions, too */
    (*column)->data = opened.data;
    if (!of->references)
        return STATUS_OK;
    return plan_column_read(database, of->references, threads, &(*column)->keys, error);
}

/* Opens the column of deleted rows, if there is one, and counts the others. */
static enum status open_live(struct database *database, const struct table *table, unsigned threads,
                             struct table_stream *stream, struct error *error)
{
    const struct column *const live = table_live(table);
    struct value_type type;
    stream->base.rows = table->rows;
    if (!live)
        return STATUS_OK;
    RETURN_IF_ERROR(open_column(database, live, threads, &stream->live, &type, error));
    return live_rows_count(database_path(database), table, &stream->base.rows, error);
}

enum status arrow_export_table(struct database *database, const struct table *table, unsigned threads,
                               struct ArrowArrayStream *stream, struct error *error)
{
    struct export_stream *made;
    RETURN_IF_ERROR(
        export_stream_make(sizeof(struct table_stream), table_visible_columns(table), &made, error));
    struct table_stream *of = (struct table_stream *)made;
    made->next = table_next;
    made->close = table_close;
    enum status status =
        memory_zeros(&of->columns, table->column_count * sizeof *of->columns, "a stream", error);
    for (uint32_t c = 0; status == STATUS_OK && c < table_visible_columns(table); c++) {
        made->names[c] = table->columns[c].schema.name;
        status = open_column(database, &table->columns[c], threads, &of->columns[c], &made->types[c], error);
    }
    status = AND_THEN(status, open_live(database, table, threads, of, error));
    export_stream_give(made, stream);
    if (status != STATUS_OK)
        export_stream_release(stream);
    return status;
}

/* ---- Values in memory ---- */

struct values_stream {
    struct export_stream base;
    const struct tessera_values *columns;
    uint8_t (*nulls)[ARROW_BATCH_ROWS]; /* of one batch, for each column */
};

static enum status values_next(struct export_stream *stream, uint32_t count, struct error *error)
{
    const struct values_stream *from = (struct values_stream *)stream;
    (void)error;
    for (uint32_t c = 0; c < stream->count; c++) {
        const struct tessera_values *const column = &from->columns[c];
        const bool texts = !column->numbers;
        for (uint32_t row = 0; texts && row < count; row++)
            from->nulls[c][row] = column->texts[stream->done + row] == NULL;
        stream->batch[c] = (struct export_values){.values = texts ? NULL : column->numbers + stream->done,
                                                  .texts = texts ? column->texts + stream->done : NULL,
                                                  .nulls = texts           ? from->nulls[c]
                                                           : column->nulls ? column->nulls + stream->done
                                                                           : NULL};
    }
    return STATUS_OK;
}

static void values_close(struct export_stream *stream)
{
    free(((struct values_stream *)stream)->nulls);
}

enum status arrow_export_values(const struct tessera_values *columns, uint32_t column_count, uint64_t rows,
                                struct ArrowArrayStream *stream, struct error *error)
{
    struct export_stream *made;
    RETURN_IF_ERROR(export_stream_make(sizeof(struct values_stream), column_count, &made, error));
    struct values_stream *from = (struct values_stream *)made;
    from->columns = columns;
    from->nulls = calloc(column_count + 1, sizeof *from->nulls);
    made->next = values_next;
    made->close = values_close;
    made->rows = rows;
    for (uint32_t c = 0; c < column_count; c++) {
        made->names[c] = columns[c].name;
        made->types[c].kind = columns[c].numbers ? VALUE_INTEGER : VALUE_STRING;
    }
    export_stream_give(made, stream);
    if (from->nulls)
        return STATUS_OK;
    export_stream_release(stream);
    return error_out_of_memory(error, column_count * sizeof *from->nulls, "rows");
}
