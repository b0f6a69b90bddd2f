/* table_append.c: appends rows to a table; see writer.h.
 *
 * All segments but the last stay full, so nothing else has to know of appends. The partial last segment is
 * written again together with the new rows. Full segments are written again as they were, because a file has
 * the whole column, and new strings may be between old ones. In addition to reading the new rows, an append
 * decodes the table, computes its statistics and encodes it: about 4 ns a value. */
#include "storage/database/writer_internal.h"

#include "storage/base/memory.h"
#include "storage/codec/chunk_reader.h"
#include "storage/column/column_data.h"
#include "storage/column/dictionary/stored_dictionary.h"

#include <stdlib.h>
#include <string.h>

void table_appended_free(struct table_writer *table)
{
    for (uint32_t c = 0; table->appended && c < table->table.column_count; c++)
        free(table->appended[c].codes);
    free(table->appended);
}

enum status database_writer_append(struct database_writer *writer, const char *name, uint64_t rows,
                                   struct table_writer **out, uint64_t *old_rows, struct error *error)
{
    const struct table *old = catalogue_table(&writer->catalogue, name);
    *out = NULL;
    if (!old)
        return error_set(error, STATUS_BAD_INPUT, "%s has no table %.63s to append to; load it first",
                         writer->path, name);
    if (old->part.of)
        return error_set(error, STATUS_BAD_INPUT,
                         "table %s of %s is part %u of %u of a load, and rows cannot be appended to a part; "
                         "load all parts again",
                         name, writer->path, old->part.number, old->part.of);
    if (rows > TABLE_ROWS_MAX - old->rows)
        return error_set(error, STATUS_BAD_INPUT, "table %s would have more than %llu rows", name,
                         TABLE_ROWS_MAX);
    struct column_schema *columns = malloc(old->column_count * sizeof *columns);
    struct table_writer *table;
    if (!columns)
        return error_out_of_memory(error, old->column_count * sizeof *columns, "a table");
    for (uint32_t c = 0; c < old->column_count; c++)
        columns[c] = old->columns[c].schema;
    enum status status =
        database_writer_add(writer, name, columns, old->column_count, old->rows + rows, &table, error);
    free(columns);
    RETURN_IF_ERROR(status);
    table->old = old;
    table->table.key = old->key;
    RETURN_IF_ERROR(
        memory_zeros(&table->appended, old->column_count * sizeof *table->appended, "a table", error));
    for (uint32_t c = 0; c < old->column_count; c++)
        RETURN_IF_ERROR(table_writer_codec(table, c, old->columns[c].own_name, error));
    *old_rows = old->rows;
    *out = table;
    return STATUS_OK;
}

/* ---- Codes ---- */

static enum status translate(const struct dictionary *from, const struct dictionary *to, const char *column,
                             int32_t **codes, struct error *error)
{
    bool same = true;
    RETURN_IF_ERROR(memory_take(codes, ((size_t)from->count + 1) * sizeof **codes, "a dictionary", error));
    for (uint32_t code = 0; code < from->count; code++) {
        uint32_t length;
        const char *string = dictionary_string(from, code, &length);
        const int64_t found = dictionary_find(to, string, length);
        if (found < 0)
            return error_set(error, STATUS_BAD_INPUT,
                             "column %s: its new dictionary lacks '%.*s', which the table's rows have",
                             column, (int)(length < 100 ? length : 100), string);
        (*codes)[code] = (int32_t)found;
        same &= found == code;
    }
    if (same) {
        free(*codes);
        *codes = NULL;
    }
    return STATUS_OK;
}

enum status table_appended_dictionary(struct table_writer *table, uint32_t column,
                                      const struct dictionary *dictionary, struct error *error)
{
    const struct column *old = &table->old->columns[column];
    struct stored_dictionary before;
    stored_dictionary_begin(table->database->path, old, &before);
    enum status status = stored_dictionary_load(&before, 1, error);
    status = AND_THEN(status, translate(&before.dictionary, dictionary, old->schema.name,
                                        &table->appended[column].codes, error));
    stored_dictionary_close(&before);
    return status;
}

/* ---- Old rows ---- */

struct old_segment {
    const int32_t *codes; /* the new code (or position) of each old one, or NULL */
    uint32_t strings;     /* the number of old ones */
    uint32_t rows, value_bytes;
    void *values;
    uint64_t *validity;
    bool nulls;
    struct chunk_reader reader;
};

/* Takes a tile's values, in which codes or positions are replaced; false if there is none for one of them, as in a
 * damaged file. */
static bool take_tile(const struct segment_data *data, struct old_segment *to, uint32_t tile,
                      const void *decoded)
{
    uint8_t *const values = (uint8_t *)to->values + (size_t)tile * TILE_ROWS * to->value_bytes;
    const uint32_t first = tile * TILE_ROWS, left = to->rows - first,
                   rows = left < TILE_ROWS ? left : TILE_ROWS;
    const uint32_t *const valid = data->validity ? data->validity + tile * TILE_LANES : NULL;
    memcpy(values, decoded, (size_t)rows * to->value_bytes);
    int32_t *const codes = (int32_t *)(void *)values;
    for (uint32_t r = 0; to->codes && r < rows; r++) {
        if ((uint32_t)codes[r] >= to->strings || to->codes[codes[r]] < 0)
            return false;
        codes[r] = to->codes[codes[r]];
    }
    for (uint32_t r = 0; valid && r < rows; r++)
        if (!tile_row_valid(valid, r)) {
            to->validity[(first + r) / 64] &= ~(UINT64_C(1) << (first + r) % 64);
            to->nulls = true;
        }
    return true;
}

static enum status take_segment(struct table_writer *table, uint32_t c, const struct column_data *data,
                                uint32_t segment, struct old_segment *to, struct error *error)
{
    const struct segment_data *from = &data->segments[segment];
    RETURN_IF_ERROR(cancel_check(error));
    to->rows = from->chunk.rows;
    to->nulls = false;
    for (uint32_t tile = 0; tile < from->chunk.tiles; tile++) {
        const void *decoded;
        RETURN_IF_ERROR(chunk_reader_tile(&to->reader, &from->chunk, tile, &decoded, error));
        if (!take_tile(from, to, tile, decoded))
            return error_set(
                error, STATUS_BAD_INPUT,
                "column %s.%s, segment %u, tile %u: %s; the file is damaged: load the table again",
                table->table.name, data->column->schema.name, segment, tile,
                data->column->schema.references_table[0] ? "the referenced table has no such position"
                                                         : "a code is beyond its dictionary");
    }
    if (to->rows < SEGMENT_ROWS)
        return STATUS_OK; /* the caller appends new rows to it */
    return table_writer_segment(table, c, segment, to->values, to->nulls ? to->validity : NULL, error);
}

static enum status take_segments(struct table_writer *table, uint32_t c, const struct column_data *data,
                                 void *values, uint64_t *validity, bool *nulls, struct error *error)
{
    const uint32_t full = (uint32_t)(table->old->rows / SEGMENT_ROWS), bytes = data->column->value_bytes;
    const struct table_writer *const target =
        database_writer_appended(table->database, data->column->schema.references_table);
    const struct stored_dictionary *const strings = data->column->stored_dictionary;
    struct old_segment to = {.codes = table->appended[c].codes,
                             .strings = strings ? strings->dictionary.count : 0,
                             .value_bytes = bytes};
    if (table->appended[c].moved) {
        to.codes = target->moves;
        to.strings = (uint32_t)target->move_count;
    }
    if (full) {
        to.values = segment_buffer((size_t)SEGMENT_ROWS * bytes, "a segment", error);
        to.validity = malloc(SEGMENT_ROWS / 8);
        if (!to.values || !to.validity) {
            free(to.values);
            free(to.validity);
            return error_out_of_memory(error, (uint64_t)SEGMENT_ROWS * bytes, "a segment");
        }
    }
    enum status status = STATUS_OK;
    for (uint32_t segment = 0; status == STATUS_OK && segment < full; segment++) {
        memset(to.validity, 0xff, SEGMENT_ROWS / 8);
        status = take_segment(table, c, data, segment, &to, error);
    }
    free(to.values);
    free(to.validity);
    to.values = values;
    to.validity = validity;
    to.nulls = false;
    if (status == STATUS_OK && full < data->segment_count)
        status = take_segment(table, c, data, full, &to, error);
    chunk_reader_close(&to.reader);
    *nulls = to.nulls;
    return status;
}

enum status table_writer_old(struct table_writer *table, uint32_t column, void *values, uint64_t *validity,
                             bool *nulls, struct error *error)
{
    *nulls = false;
    if (!table->old || column >= table->table.column_count || table->appended[column].taken)
        return error_set(error, STATUS_BAD_INPUT,
                         "table %s: the old rows of column %u were asked for twice, or there are none",
                         table->table.name, column);
    table->appended[column].taken = true;
    struct table_writer *const target =
        database_writer_appended(table->database, table->old->columns[column].schema.references_table);
    if (target && target != table) {
        pthread_mutex_lock(&table->database->lock);
        const enum status found = table_moves(target, error);
        pthread_mutex_unlock(&table->database->lock);
        RETURN_IF_ERROR(found);
        table->appended[column].moved = target->moves != NULL;
    }
    struct column old = table->old->columns[column];
    const char *directory = table->database->path;
    struct stored_dictionary dictionary = {0};
    struct column_data *data;
    if (column_has_dictionary(&old.schema)) {
        stored_dictionary_begin(directory, &old, &dictionary);
        old.stored_dictionary = &dictionary;
    }
    enum status status = stored_dictionary_open(old.stored_dictionary, error);
    status = AND_THEN(status, column_data_read(directory, &old, old.own, 1, &data, error));
    for (uint32_t s = 0; status == STATUS_OK && s + 1 < data->segment_count; s++)
        if (data->segments[s].chunk.rows != SEGMENT_ROWS)
            status = error_set(error, STATUS_BAD_INPUT,
                               "table %s has a segment of fewer than %u rows before its last; load it again",
                               table->table.name, SEGMENT_ROWS);
    if (status == STATUS_OK) {
        status = take_segments(table, column, data, values, validity, nulls, error);
        column_data_free(data);
    }
    stored_dictionary_close(&dictionary);
    return status;
}
