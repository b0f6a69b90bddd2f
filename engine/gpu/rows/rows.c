/* rows.c: see rows.h. */
#include "engine/gpu/rows/rows.h"

#include "engine/gpu/device.h"
#include "engine/gpu/run_internal.h"
#include "storage/base/memory.h"

#include <stdlib.h>
#include <string.h>

static void release(struct device_rows *rows)
{
    for (uint32_t c = 0; c < rows->column_count; c++)
        cuda_free(rows->device->cuda, rows->columns[c].values);
    free(rows->columns);
    free(rows);
}

enum status cuda_rows_make(struct device *device, uint64_t count, struct device_rows **rows,
                           struct error *error)
{
    RETURN_IF_ERROR(memory_zeros(rows, sizeof **rows, "rows", error));
    **rows = (struct device_rows){.rows = count, .device = device, .release = release};
    return STATUS_OK;
}

static uint64_t tiles_of(const struct device_rows *rows)
{
    return (rows->rows + TILE_ROWS - 1) / TILE_ROWS;
}

static uint64_t validity_words(const struct device_rows *rows)
{
    return tiles_of(rows) * TILE_LANES;
}

static enum status make_column(struct cuda *cuda, const struct device_rows *rows, bool nullable,
                               struct device_column *column, struct error *error)
{
    const uint64_t bytes = tiles_of(rows) * TILE_ROWS * column->value_bytes,
                   words = nullable ? validity_words(rows) : 0;
    column->values = column->validity = 0;
    RETURN_IF_ERROR(cuda_columns_allocate_now(rows->device->columns,
                                              bytes + words * sizeof(uint32_t) + sizeof(uint64_t),
                                              "a column of rows", &column->values, error));
    column->validity = nullable ? column->values + bytes : 0;
    return words ? cuda_set_words(cuda, column->validity, 0, words, error) : STATUS_OK;
}

enum status cuda_rows_add(struct cuda *cuda, struct device_rows *rows, struct value_type type, int64_t low,
                          int64_t high, bool nullable, struct error *error)
{
    struct device_column column = {
        .value_bytes = device_column_bytes(type, low, high), .type = type, .low = low, .high = high};
    RETURN_IF_ERROR(memory_grow(&rows->columns, (rows->column_count + 1ull) * sizeof column, "rows", error));
    const enum status status = make_column(cuda, rows, nullable, &column, error);
    if (column.values)
        rows->columns[rows->column_count++] = column;
    return status;
}

enum status cuda_rows_make_alike(struct cuda *cuda, const struct device_rows *rows,
                                 const struct device_column *like, struct device_column *column,
                                 struct error *error)
{
    *column = *like;
    return make_column(cuda, rows, like->validity != 0, column, error);
}

void cuda_rows_keep(struct cuda *cuda, struct device_rows *rows, const bool *kept, uint32_t count)
{
    uint32_t left = 0;
    for (uint32_t c = 0; c < rows->column_count; c++)
        if (c >= count || kept[c])
            rows->columns[left++] = rows->columns[c];
        else
            cuda_free(cuda, rows->columns[c].values);
    rows->column_count = left;
}

/* ---- To the host ---- */

/* Narrow values are copied to the end of the memory, and become wide from its beginning on. */
static enum status fetch_values(struct cuda *cuda, const struct device_column *column, uint64_t count,
                                int64_t *values, struct error *error)
{
    const uint64_t bytes = count * column->value_bytes;
    uint8_t *const from = (uint8_t *)values + (count * sizeof *values - bytes);
    RETURN_IF_ERROR(cuda_copy_to_host(cuda, from, column->values, bytes, error));
    RETURN_IF_ERROR(cuda_synchronize(cuda, error));
    for (uint64_t i = 0; column->value_bytes == sizeof(int32_t) && i < count; i++) {
        int32_t value;
        memcpy(&value, from + i * sizeof value, sizeof value);
        values[i] = value;
    }
    return STATUS_OK;
}

static enum status fetch_nulls(struct cuda *cuda, const struct device_rows *rows, cuda_address validity,
                               uint8_t *nulls, struct error *error)
{
    uint32_t *words;
    const uint64_t bytes = validity_words(rows) * sizeof *words;
    RETURN_IF_ERROR(memory_take(&words, bytes + 1, "rows", error));
    enum status status = cuda_copy_to_host(cuda, words, validity, bytes, error);
    status = AND_THEN(status, cuda_synchronize(cuda, error));
    for (uint64_t row = 0; status == STATUS_OK && row < rows->rows; row++)
        nulls[row] = !tile_row_valid(words + row / TILE_ROWS * TILE_LANES, (uint32_t)(row % TILE_ROWS));
    free(words);
    return status;
}

enum status cuda_rows_fetch(const struct device_rows *rows, uint32_t column, int64_t *values, uint8_t *nulls,
                            struct error *error)
{
    const struct device_column *const of = &rows->columns[column];
    struct cuda *cuda;
    RETURN_IF_ERROR(gpu_stream(rows->device, &cuda, error));
    if (rows->rows == 0)
        return STATUS_OK;
    RETURN_IF_ERROR(fetch_values(cuda, of, rows->rows, values, error));
    return of->validity ? fetch_nulls(cuda, rows, of->validity, nulls, error) : STATUS_OK;
}
