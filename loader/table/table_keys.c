/* table_keys.c: see table_loader_internal.h. */
#include "loader/table/table_loader_internal.h"

#include "storage/base/memory.h"
#include "storage/codec/chunk_reader.h"
#include "storage/column/positions.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void table_keys_free(struct table_keys *keys)
{
    key_index_destroy(keys->numbers);
    dictionary_builder_destroy(keys->strings);
    free(keys->positions);
    *keys = (struct table_keys){0};
}

/* Adds the key strings of rows first, first + 1, ... */
static enum status take_strings(const struct key_owner *owner, const int64_t *codes, uint64_t first,
                                uint64_t rows, const struct dictionary *words, struct table_keys *keys,
                                struct error *error)
{
    if (!keys->strings)
        RETURN_IF_ERROR(dictionary_builder_create(&keys->strings, error));
    for (uint64_t row = first; row < first + rows; row++) {
        uint32_t length;
        int32_t position;
        const char *text = dictionary_string(words, (uint32_t)codes[row - first], &length);
        RETURN_IF_ERROR(dictionary_builder_add(keys->strings, text, length, &position, error));
        if ((uint64_t)position != row) {
            char shown[256];
            snprintf(shown, sizeof shown, "%.*s", (int)(length < 200 ? length : 200), text);
            return key_twice(owner, shown, (uint64_t)position, row, error);
        }
    }
    return STATUS_OK;
}

static enum status read_segment(struct chunk_reader *reader, const struct segment_data *segment,
                                int64_t *values, uint8_t *nulls, struct error *error)
{
    const struct chunk_view *const chunk = &segment->chunk;
    for (uint32_t tile = 0; tile < chunk->tiles; tile++) {
        const uint32_t first = tile * TILE_ROWS, left = chunk->rows - first;
        const void *decoded;
        RETURN_IF_ERROR(chunk_reader_tile(reader, chunk, tile, &decoded, error));
        for (uint32_t r = 0; r < TILE_ROWS && r < left; r++)
            values[first + r] = row_value(decoded, chunk->value_bytes, r);
        for (uint32_t r = 0; nulls && segment->validity && r < TILE_ROWS && r < left; r++)
            nulls[first + r] = !tile_row_valid(segment->validity + (size_t)tile * TILE_LANES, r);
    }
    return STATUS_OK;
}

enum status stored_values_read(struct database *database, const struct column *column, unsigned threads,
                               uint64_t more, int64_t **values, uint8_t **nulls, struct error *error)
{
    const uint64_t rows = column->table->rows + more + 1;
    struct column_data *data;
    *values = NULL;
    RETURN_IF_ERROR(column_data_open(database, column, column->own, threads, &data, error));
    RETURN_IF_ERROR(memory_take(values, rows * sizeof **values, "keys", error));
    if (nulls)
        RETURN_IF_ERROR(memory_zeros(nulls, rows, "keys", error));
    struct chunk_reader reader = {0};
    enum status status = STATUS_OK;
    uint64_t row = 0;
    for (uint32_t s = 0; status == STATUS_OK && s < data->segment_count; s++) {
        status = read_segment(&reader, &data->segments[s], *values + row, nulls ? *nulls + row : NULL, error);
        row += data->segments[s].chunk.rows;
    }
    chunk_reader_close(&reader);
    return status;
}

/* Reads the primary key of a stored table: its values, or codes of its dictionary, with room for `more`
 * values after them. `own_rows`: the keys are compared with rows of the same table, so they may be positions
 * in a table that the key references. */
static enum status read_keys(struct database *database, const char *name, unsigned threads, uint64_t more,
                             bool own_rows, const struct column **key, int64_t **values, struct error *error)
{
    const struct table *table;
    const struct column *column = NULL;
    RETURN_IF_ERROR(database_table(database, name, &table, error));
    for (uint32_t c = 0; c < table->column_count; c++)
        if (table->columns[c].schema.primary_key)
            column = &table->columns[c];
    if (!column || (column->references && !own_rows))
        return error_set(error, STATUS_BAD_INPUT, "table %s of the database has no primary key of its own",
                         name);
    *key = column;
    return stored_values_read(database, column, threads, more, values, NULL, error);
}

/* Leaves out the keys of rows that were deleted, which may come again: nothing references such a table. */
static enum status leave_deleted(struct database *database, const struct table *table, int64_t *keys,
                                 uint64_t *rows, struct error *error)
{
    int64_t *live = NULL;
    uint64_t kept = 0;
    if (!table_live(table))
        return STATUS_OK;
    const enum status status = stored_values_read(database, table_live(table), 0, 0, &live, NULL, error);
    for (uint64_t row = 0; status == STATUS_OK && row < *rows; row++)
        if (live[row])
            keys[kept++] = keys[row];
    *rows = kept;
    free(live);
    return status;
}

enum status table_keys_make(const struct schema_table *table, const int64_t *values, uint64_t rows,
                            const struct dictionary *words, const struct key_owner *owner,
                            struct database *before, struct table_keys *keys, struct error *error)
{
    int64_t *all = NULL;
    const struct column *old = NULL;
    if (before)
        RETURN_IF_ERROR(read_keys(before, table->name, 0, rows, true, &old, &all, error));
    uint64_t old_rows = old ? old->table->rows : 0;
    const struct dictionary *dictionary;
    enum status status = old ? leave_deleted(before, old->table, all, &old_rows, error) : STATUS_OK;
    *keys = (struct table_keys){.key = *schema_key(table), .rows = old_rows + rows};
    if (status == STATUS_OK && keys->rows > INT32_MAX)
        status = error_set(error, STATUS_BAD_INPUT,
                           "table %s has %llu rows; a table that has a primary key may have %d", table->name,
                           (unsigned long long)keys->rows, INT32_MAX);
    if (status == STATUS_OK && words) {
        if (old)
            status = column_dictionary(old, 0, &dictionary, error);
        if (old && status == STATUS_OK)
            status = take_strings(owner, all, 0, old_rows, dictionary, keys, error);
        status = AND_THEN(status, take_strings(owner, values, old_rows, rows, words, keys, error));
    } else if (status == STATUS_OK) {
        if (old)
            memcpy(all + old_rows, values, rows * sizeof *all);
        status = key_index_create(old ? all : values, keys->rows, owner, &keys->numbers, error);
    }
    free(all);
    return status;
}

enum status table_keys_place(struct table_keys *keys, const int32_t *positions, struct error *error)
{
    if (keys->numbers) {
        key_index_renumber(keys->numbers, positions);
        return STATUS_OK;
    }
    RETURN_IF_ERROR(memory_take(&keys->positions, keys->rows * sizeof *positions, "keys", error));
    if (keys->rows)
        memcpy(keys->positions, positions, keys->rows * sizeof *positions);
    return STATUS_OK;
}

static enum status place_stored(const struct table *table, struct table_keys *keys, struct error *error)
{
    int32_t *positions;
    RETURN_IF_ERROR(positions_of_rows(table, &positions, error));
    const enum status status = table_keys_place(keys, positions, error);
    free(positions);
    return status;
}

enum status table_keys_read(struct database *database, const char *name, unsigned threads,
                            struct table_keys *keys, struct error *error)
{
    int64_t *values;
    const struct column *column;
    RETURN_IF_ERROR(read_keys(database, name, threads, 0, false, &column, &values, error));
    const uint64_t rows = column->table->rows;
    *keys = (struct table_keys){.key = column->schema, .rows = rows};
    const struct key_owner owner = {.table = name, .column = keys->key.name};
    const struct dictionary *dictionary;
    enum status status = column_dictionary(column, threads, &dictionary, error);
    status = AND_THEN(status, keys->key.type == TYPE_STRING
                                  ? take_strings(&owner, values, 0, rows, dictionary, keys, error)
                                  : key_index_create(values, rows, &owner, &keys->numbers, error));
    free(values);
    if (status == STATUS_OK && column->table->levels)
        status = place_stored(column->table, keys, error);
    if (status != STATUS_OK)
        table_keys_free(keys);
    return status;
}

int32_t table_keys_find(const struct table_keys *keys, const struct text_reading *reading, const char *text,
                        uint32_t length, const char **complaint)
{
    int64_t value = 0;
    *complaint = NULL;
    if (keys->strings) {
        const int32_t row = dictionary_builder_find(keys->strings, text, length);
        return row < 0 || !keys->positions ? row : keys->positions[row];
    }
    *complaint = text_value(reading, &keys->key, text, length, &value);
    return *complaint ? -1 : key_index_find(keys->numbers, value);
}

int32_t table_keys_find_value(const struct table_keys *keys, int64_t value)
{
    return key_index_find(keys->numbers, value);
}

bool table_keys_key(const struct table_keys *keys, int32_t position, int64_t *number, const char **text,
                    uint32_t *length)
{
    uint64_t row = 0;
    *text = NULL;
    if (keys->numbers)
        return key_index_key(keys->numbers, position, number);
    if (!keys->strings)
        return false;
    while (keys->positions && row < keys->rows && keys->positions[row] != position)
        row++;
    row = keys->positions ? row : (uint64_t)position;
    if (row >= keys->rows)
        return false;
    *text = dictionary_builder_string(keys->strings, (int32_t)row, length);
    return true;
}
