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

/* Adds the key strings of rows first, first + 1, ... `live` is 0 in rows that were deleted, which have no keys; NULL: none
 * was. */
static enum status take_strings(const struct key_owner *owner, const int64_t *codes, const int64_t *live,
                                uint64_t first, uint64_t rows, const struct dictionary *words,
                                struct table_keys *keys, struct error *error)
{
    if (!keys->strings)
        RETURN_IF_ERROR(dictionary_builder_create(&keys->strings, error));
    for (uint64_t row = first; row < first + rows; row++) {
        const uint32_t known = dictionary_builder_count(keys->strings);
        uint32_t length;
        int32_t key;
        if (live && !live[row - first])
            continue;
        const char *text = dictionary_string(words, (uint32_t)codes[row - first], &length);
        RETURN_IF_ERROR(dictionary_builder_add(keys->strings, text, length, &key, error));
        if ((uint32_t)key != known) {
            char shown[256];
            snprintf(shown, sizeof shown, "%.*s", (int)(length < 200 ? length : 200), text);
            return key_twice(owner, shown, (uint64_t)(keys->positions ? keys->positions[key] : key), row,
                             error);
        }
        if (keys->positions)
            keys->positions[key] = (int32_t)row;
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

/* Reads what tells the rows of a stored table that were deleted, whose keys may come again; NULL: none was. */
static enum status read_live(struct database *database, const struct table *table, int64_t **live,
                             struct error *error)
{
    *live = NULL;
    return table_live(table) ? stored_values_read(database, table_live(table), 0, 0, live, NULL, error)
                             : STATUS_OK;
}

/* Makes room for the rows of key strings, which are no longer all rows. */
static enum status number_strings(const int64_t *live, struct table_keys *keys, struct error *error)
{
    return live ? memory_take(&keys->positions, (keys->rows + 1) * sizeof *keys->positions, "keys", error)
                : STATUS_OK;
}

/* The keys of old rows, of which `live` tells the deleted ones, and of new ones. */
struct key_values {
    const int64_t *values;
    const struct dictionary *words; /* of the old ones; NULL: they are no strings */
    const int64_t *live;
    uint64_t rows;
};

static enum status make_strings(const struct key_values *old, const int64_t *values,
                                const struct dictionary *words, const struct key_owner *owner,
                                struct table_keys *keys, struct error *error)
{
    RETURN_IF_ERROR(number_strings(old->live, keys, error));
    RETURN_IF_ERROR(take_strings(owner, old->values, old->live, 0, old->rows, old->words, keys, error));
    return take_strings(owner, values, NULL, old->rows, keys->rows - old->rows, words, keys, error);
}

enum status table_keys_make(const struct schema_table *table, const int64_t *values, uint64_t rows,
                            const struct dictionary *words, const struct key_owner *owner,
                            struct database *before, struct table_keys *keys, struct error *error)
{
    int64_t *all = NULL, *live = NULL;
    const struct column *old = NULL;
    struct key_values stored = {0};
    enum status status = STATUS_OK;
    if (before)
        status = read_keys(before, table->name, 0, rows, true, &old, &all, error);
    if (status == STATUS_OK && old) {
        status = read_live(before, old->table, &live, error);
        if (words)
            status = AND_THEN(status, column_dictionary(old, 0, &stored.words, error));
        stored.rows = old->table->rows;
    }
    stored.values = all;
    stored.live = live;
    *keys = (struct table_keys){.key = *schema_key(table), .rows = stored.rows + rows};
    if (status == STATUS_OK && keys->rows > INT32_MAX)
        status = error_set(error, STATUS_BAD_INPUT,
                           "table %s has %llu rows; a table that has a primary key may have %d", table->name,
                           (unsigned long long)keys->rows, INT32_MAX);
    if (status == STATUS_OK && words) {
        status = make_strings(&stored, values, words, owner, keys, error);
    } else if (status == STATUS_OK) {
        if (old)
            memcpy(all + stored.rows, values, rows * sizeof *all);
        status =
            key_index_create(old ? all : values, live, stored.rows, keys->rows, owner, &keys->numbers, error);
    }
    free(live);
    free(all);
    return status;
}

enum status table_keys_place(struct table_keys *keys, const int32_t *positions, struct error *error)
{
    if (keys->numbers) {
        key_index_renumber(keys->numbers, positions);
        return STATUS_OK;
    }
    if (keys->positions) {
        for (uint32_t key = 0; key < dictionary_builder_count(keys->strings); key++)
            keys->positions[key] = positions[keys->positions[key]];
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

static enum status index_stored(const struct column *column, unsigned threads, const int64_t *values,
                                const int64_t *live, struct table_keys *keys, struct error *error)
{
    const struct key_owner owner = {.table = column->table->name, .column = keys->key.name};
    const struct dictionary *words;
    RETURN_IF_ERROR(column_dictionary(column, threads, &words, error));
    if (keys->key.type != TYPE_STRING)
        return key_index_create(values, live, keys->rows, keys->rows, &owner, &keys->numbers, error);
    RETURN_IF_ERROR(number_strings(live, keys, error));
    return take_strings(&owner, values, live, 0, keys->rows, words, keys, error);
}

enum status table_keys_read(struct database *database, const char *name, unsigned threads,
                            struct table_keys *keys, struct error *error)
{
    int64_t *values, *live = NULL;
    const struct column *column;
    RETURN_IF_ERROR(read_keys(database, name, threads, 0, false, &column, &values, error));
    *keys = (struct table_keys){.key = column->schema, .rows = column->table->rows};
    enum status status = read_live(database, column->table, &live, error);
    status = AND_THEN(status, index_stored(column, threads, values, live, keys, error));
    free(live);
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
    uint32_t key = 0;
    *text = NULL;
    if (keys->numbers)
        return key_index_key(keys->numbers, position, number);
    if (!keys->strings)
        return false;
    const uint32_t count = dictionary_builder_count(keys->strings);
    while (keys->positions && key < count && keys->positions[key] != position)
        key++;
    key = keys->positions ? key : (uint32_t)position;
    if (key >= count)
        return false;
    *text = dictionary_builder_string(keys->strings, (int32_t)key, length);
    return true;
}
