/* table_keys.c: see table_loader_internal.h. */
#include "loader/table_loader_internal.h"

#include <stdlib.h>
#include <string.h>

void table_keys_free(struct table_keys *keys)
{
    key_index_destroy(keys->numbers);
    dictionary_builder_destroy(keys->strings);
    *keys = (struct table_keys){0};
}

static enum status take_strings(const char *table, const int64_t *codes, uint64_t rows,
                                const struct dictionary *words, struct table_keys *keys, struct error *error)
{
    RETURN_IF_ERROR(dictionary_builder_create(&keys->strings, error));
    for (uint64_t row = 0; row < rows; row++) {
        uint32_t length;
        int32_t position;
        const char *text = dictionary_string(words, (uint32_t)codes[row], &length);
        RETURN_IF_ERROR(dictionary_builder_add(keys->strings, text, length, &position, error));
        if ((uint64_t)position != row)
            return error_set(
                error, STATUS_BAD_INPUT,
                "table %s: column %s: the key '%.*s' is in row %d and again in row %llu; keys must "
                "differ",
                table, keys->key.name, (int)(length < 200 ? length : 200), text, position + 1,
                (unsigned long long)row + 1);
    }
    return STATUS_OK;
}

static const struct column_schema *primary_key(const struct column_schema *columns, uint32_t count)
{
    for (uint32_t c = 0; c < count; c++)
        if (columns[c].primary_key)
            return &columns[c];
    return NULL;
}

enum status table_keys_make(const struct star_schema_table *table, const int64_t *values, uint64_t rows,
                            const struct dictionary *words, const char *path, struct table_keys *keys,
                            struct error *error)
{
    *keys = (struct table_keys){.key = *primary_key(table->columns, table->column_count), .rows = rows};
    if (rows > INT32_MAX)
        return error_set(error, STATUS_BAD_INPUT,
                         "table %s has %llu rows; a table that is referenced may have %d", table->name,
                         (unsigned long long)rows, INT32_MAX);
    if (keys->key.type == TYPE_STRING)
        return take_strings(table->name, values, rows, words, keys, error);
    return key_index_create(values, rows, table->name, keys->key.name, path, &keys->numbers, error);
}

enum status table_keys_read(struct database *database, const char *name, unsigned threads,
                            struct table_keys *keys, struct error *error)
{
    const struct table *table;
    const struct column *column = NULL;
    struct column_data *data;
    RETURN_IF_ERROR(database_table(database, name, &table, error));
    for (uint32_t c = 0; c < table->column_count; c++)
        if (table->columns[c].schema.primary_key)
            column = &table->columns[c];
    if (!column || column->references)
        return error_set(error, STATUS_BAD_INPUT, "table %s of the database has no primary key of its own",
                         name);
    *keys = (struct table_keys){.key = column->schema, .rows = table->rows};
    RETURN_IF_ERROR(column_data_open(database, column, column->own, threads, &data, error));
    int64_t *values = malloc((table->rows + 1) * sizeof *values);
    enum status status =
        values ? STATUS_OK : error_out_of_memory(error, table->rows * sizeof *values, "keys");
    uint64_t row = 0;
    for (uint32_t s = 0; status == STATUS_OK && s < data->segment_count; s++)
        for (uint32_t r = 0; r < data->segments[s].chunk.rows; r++)
            values[row++] = data->segments[s].chunk.codec->value(&data->segments[s].chunk, r);
    if (status == STATUS_OK)
        status = keys->key.type == TYPE_STRING
                     ? take_strings(name, values, row, column->dictionary, keys, error)
                     : key_index_create(values, row, name, keys->key.name, NULL, &keys->numbers, error);
    free(values);
    column_data_close(data);
    if (status != STATUS_OK)
        table_keys_free(keys);
    return status;
}

int32_t table_keys_find(const struct table_keys *keys, const char *text, uint32_t length,
                        const char **complaint)
{
    int64_t value = 0;
    *complaint = NULL;
    if (keys->strings)
        return dictionary_builder_find(keys->strings, text, length);
    *complaint = text_value(&keys->key, text, length, &value);
    return *complaint ? -1 : key_index_find(keys->numbers, value);
}
