/* plan_array.c: makes a dimension column an array by position (plan.h): the file's bytes as they are mapped, if the
 * table has no levels and the codec allows it, or a copy. */
#include "engine/plan/dimensions/column_parts.h"
#include "engine/plan/levels/level_plan.h"

#include "storage/base/memory.h"
#include "storage/base/parallel.h"
#include "storage/codec/chunk_reader.h"
#include "storage/column/positions.h"

#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

struct whole {
    int64_t *values;
    uint8_t *nulls; /* 1 for each NULL; NULL: none is */
};

static void whole_free(struct whole *whole)
{
    free(whole->values);
    free(whole->nulls);
}

static enum status take_tile(void *context, const struct column_tile *tile, struct error *error)
{
    const struct whole *const whole = context;
    int64_t *const to = whole->values + tile->row;
    (void)error;
    if (tile->value_bytes == 4)
        for (uint32_t row = 0; row < tile->rows; row++)
            to[row] = ((const int32_t *)tile->values)[row];
    else
        memcpy(to, tile->values, tile->rows * sizeof *to);
    for (uint32_t row = 0; whole->nulls && row < tile->rows; row++)
        whole->nulls[tile->row + row] = tile->validity && !tile_row_valid(tile->validity, row);
    return STATUS_OK;
}

static enum status read_whole(struct database *database, const struct column *column, unsigned threads,
                              struct whole *whole, struct error *error)
{
    struct column_data *data;
    const uint64_t rows = column->table->rows;
    bool nullable = false;
    RETURN_IF_ERROR(column_data_open(database, column, column->own, threads, &data, error));
    for (uint32_t s = 0; s < data->segment_count; s++)
        nullable |= data->segments[s].validity != NULL;
    *whole = (struct whole){.values = malloc((rows + 1) * sizeof *whole->values),
                            .nulls = nullable ? malloc(rows) : NULL};
    if (!whole->values || (nullable && !whole->nulls)) {
        whole_free(whole);
        return error_out_of_memory(error, rows * 9, column->schema.name);
    }
    whole->values[0] = 0; /* for a column without rows */
    const enum status status = column_tiles_read(data, threads, take_tile, whole, error);
    if (status != STATUS_OK)
        whole_free(whole);
    return status;
}

enum status plan_column_read(struct database *database, const struct column *column, unsigned threads,
                             int64_t **values, struct error *error)
{
    struct whole whole;
    RETURN_IF_ERROR(read_whole(database, column, threads, &whole, error));
    free(whole.nulls);
    const enum status status =
        column->table->levels
            ? positions_spread_own(column->table, sizeof *whole.values, &whole.values, error)
            : STATUS_OK;
    *values = status == STATUS_OK ? whole.values : NULL;
    if (status != STATUS_OK)
        free(whole.values);
    return status;
}

/* The fewest bytes that the value fits: 1 and 2 are unsigned, 4 and 8 signed. */
static uint32_t bytes_of(int64_t value)
{
    return value >= 0 && value <= UINT8_MAX           ? 1
           : value >= 0 && value <= UINT16_MAX        ? 2
           : value >= INT32_MIN && value <= INT32_MAX ? 4
                                                      : 8;
}

/* What parts of plan_array_fill share. */
struct fill {
    const int64_t *values;
    const uint8_t *nulls;
    uint64_t value_count;
    const int32_t *rows; /* of each element, or NULL */
    uint64_t count;
    uint32_t value_bytes;
    void *narrow; /* the values in value_bytes, before they are gathered by `rows` */
    void *to;
    uint32_t *valid;
    _Atomic int64_t low, high;       /* of the values; those of NULLs count as 0 */
    _Atomic bool any_none, any_null; /* some element has no row; is NULL */
};

static uint64_t part_end(uint64_t item, uint64_t count)
{
    return count - item * PART_ROWS < PART_ROWS ? count : (item + 1) * PART_ROWS;
}

static enum status find_range(void *context, uint64_t item, unsigned thread, struct error *error)
{
    struct fill *fill = context;
    int64_t low = 0, high = 0;
    (void)thread, (void)error;
    for (uint64_t i = item * PART_ROWS, end = part_end(item, fill->value_count); i < end; i++) {
        const int64_t value = fill->nulls && fill->nulls[i] ? 0 : fill->values[i];
        low = value < low ? value : low;
        high = value > high ? value : high;
    }
    for (int64_t seen = fill->low; low < seen && !atomic_compare_exchange_weak(&fill->low, &seen, low);)
        ;
    for (int64_t seen = fill->high; high > seen && !atomic_compare_exchange_weak(&fill->high, &seen, high);)
        ;
    return STATUS_OK;
}

#define NARROW(type)                       \
    for (uint64_t i = first; i < end; i++) \
        ((type *)to)[i] = fill->nulls && fill->nulls[i] ? 0 : (type)fill->values[i];

static enum status narrow_part(void *context, uint64_t item, unsigned thread, struct error *error)
{
    const struct fill *fill = context;
    void *const to = fill->narrow ? fill->narrow : fill->to;
    const uint64_t first = item * PART_ROWS, end = part_end(item, fill->value_count);
    (void)thread, (void)error;
    if (fill->value_bytes == 1) {
        NARROW(uint8_t)
    } else if (fill->value_bytes == 2) {
        NARROW(uint16_t)
    } else if (fill->value_bytes == 4) {
        NARROW(int32_t)
    } else {
        NARROW(int64_t)
    }
    return STATUS_OK;
}

#define GATHER_ROWS(type)                                                                            \
    for (uint64_t i = first; i < end; i++) {                                                         \
        ((type *)fill->to)[i] = fill->rows[i] < 0 ? 0 : ((const type *)fill->narrow)[fill->rows[i]]; \
        none |= fill->rows[i];                                                                       \
    }

static enum status gather_part(void *context, uint64_t item, unsigned thread, struct error *error)
{
    struct fill *fill = context;
    const uint64_t first = item * PART_ROWS, end = part_end(item, fill->count);
    int32_t none = 0; /* negative: a row is */
    (void)thread, (void)error;
    if (fill->value_bytes == 1) {
        GATHER_ROWS(uint8_t)
    } else if (fill->value_bytes == 2) {
        GATHER_ROWS(uint16_t)
    } else if (fill->value_bytes == 4) {
        GATHER_ROWS(int32_t)
    } else {
        GATHER_ROWS(int64_t)
    }
    if (none < 0)
        fill->any_none = true;
    return STATUS_OK;
}

/* The bits of elements first .. end - 1, at most 32, that are not NULL. */
static uint32_t valid_word(const struct fill *fill, uint64_t first, uint64_t end)
{
    uint32_t word = 0;
    if (!fill->rows)
        for (uint64_t i = first; i < end; i++)
            word |= (uint32_t)!fill->nulls[i] << (i - first);
    else if (!fill->nulls)
        for (uint64_t i = first; i < end; i++)
            word |= (uint32_t)(fill->rows[i] >= 0) << (i - first);
    else
        for (uint64_t i = first; i < end; i++)
            word |= (uint32_t)(fill->rows[i] >= 0 && !fill->nulls[fill->rows[i]]) << (i - first);
    return word;
}

static enum status mark_part(void *context, uint64_t item, unsigned thread, struct error *error)
{
    struct fill *fill = context;
    bool any_null = false;
    (void)thread, (void)error;
    for (uint64_t first = item * PART_ROWS, end = part_end(item, fill->count); first < end; first += 32) {
        const uint64_t elements = end - first < 32 ? end - first : 32;
        const uint32_t word = valid_word(fill, first, first + elements);
        any_null |= word != UINT32_MAX >> (32 - elements);
        fill->valid[first / 32] = word;
    }
    if (any_null)
        fill->any_null = true;
    return STATUS_OK;
}

/* Makes the array of the fill's values, which are narrow: of its rows, and the bits of those that are not NULL. */
static enum status fill_elements(struct plan_array *array, struct fill *fill, unsigned threads,
                                 struct error *error)
{
    const char *const name = array->column->schema.name;
    const uint64_t parts = (fill->count + PART_ROWS - 1) / PART_ROWS;
    if (fill->rows) /* readers load whole vectors */
        RETURN_IF_ERROR(
            memory_zeros(&array->copy, (fill->count + TILE_ROWS) * fill->value_bytes, name, error));
    array->value_bytes = fill->value_bytes;
    fill->to = array->copy;
    if (fill->rows)
        RETURN_IF_ERROR(parallel_for(threads, parts, gather_part, fill, error));
    array->values = array->copy;
    if (!fill->nulls && !fill->any_none)
        return STATUS_OK;
    RETURN_IF_ERROR(memory_zeros(&array->valid_copy, (fill->count / 32 + 1) * sizeof(uint32_t), name, error));
    fill->valid = array->valid_copy;
    RETURN_IF_ERROR(parallel_for(threads, parts, mark_part, fill, error));
    array->valid = fill->any_null ? array->valid_copy : NULL;
    return STATUS_OK;
}

enum status plan_array_fill(struct plan_array *array, const int64_t *values, const uint8_t *nulls,
                            uint64_t value_count, const int32_t *rows, uint64_t count, unsigned threads,
                            struct error *error)
{
    const char *const name = array->column->schema.name;
    const uint64_t value_parts = (value_count + PART_ROWS - 1) / PART_ROWS;
    struct fill fill = {
        .values = values, .nulls = nulls, .value_count = value_count, .rows = rows, .count = count};
    RETURN_IF_ERROR(parallel_for(threads, value_parts, find_range, &fill, error));
    const uint32_t low_bytes = bytes_of(fill.low), high_bytes = bytes_of(fill.high);
    fill.value_bytes = low_bytes > high_bytes ? low_bytes : high_bytes;
    if (rows)
        RETURN_IF_ERROR(memory_take(&fill.narrow, (value_count + 1) * fill.value_bytes, name, error));
    else
        RETURN_IF_ERROR(memory_zeros(&array->copy, (count + TILE_ROWS) * fill.value_bytes, name, error));
    fill.to = array->copy;
    enum status status = parallel_for(threads, value_parts, narrow_part, &fill, error);
    status = AND_THEN(status, fill_elements(array, &fill, threads, error));
    free(fill.narrow);
    return status;
}

/* Makes the array, which is by row of a table with levels, one by position. */
static enum status spread_array(struct plan_array *array, struct error *error)
{
    const struct table *const table = array->column->table;
    void *const values = calloc(array->rows + TILE_ROWS, array->value_bytes);
    uint32_t *const valid = array->valid ? calloc(array->rows / 32 + 1, sizeof *valid) : NULL;
    if (!values || (array->valid && !valid)) {
        free(values);
        free(valid);
        return error_out_of_memory(error, array->rows * array->value_bytes, array->column->schema.name);
    }
    positions_spread(table, array->values, array->value_bytes, values);
    if (valid)
        positions_spread_bits(table, array->valid, valid);
    free(array->copy);
    free(array->valid_copy);
    array->values = array->copy = values;
    array->valid = array->valid_copy = valid;
    return STATUS_OK;
}

/* True if the column can be read in a codec whose data are an array already: then the mapped bytes are
 * used. */
static bool is_array(const struct column *column)
{
    return column->value_bytes == 4 && column->table->segment_count == 1 && !column->statistics.nulls &&
           column_encoding(column, codec_array()->id);
}

/* ---- Columns without NULLs: tile by tile in their final width ---- */

struct tiles_read {
    const struct column_data *data;
    uint32_t parts; /* of the largest segment */
    uint32_t value_bytes;
    int64_t low, high; /* that fit it */
    uint8_t *to;
    _Atomic bool wider; /* a value is outside of these */
};

#define STORE_TILE(from_type, type)                               \
    for (uint32_t row = 0; row < rows; row++) {                   \
        const from_type value = ((const from_type *)values)[row]; \
        low = value < low ? value : low;                          \
        high = value > high ? value : high;                       \
        ((type *)to)[row] = (type)value;                          \
    }

#define STORE_FROM(name, from_type)                                                              \
    static bool name(const struct tiles_read *read, const void *values, uint32_t rows, void *to) \
    {                                                                                            \
        from_type low = 0, high = 0;                                                             \
        if (read->value_bytes == 1) {                                                            \
            STORE_TILE(from_type, uint8_t)                                                       \
        } else if (read->value_bytes == 2) {                                                     \
            STORE_TILE(from_type, uint16_t)                                                      \
        } else if (read->value_bytes == 4) {                                                     \
            STORE_TILE(from_type, int32_t)                                                       \
        } else {                                                                                 \
            STORE_TILE(from_type, int64_t)                                                       \
        }                                                                                        \
        return low >= read->low && high <= read->high;                                           \
    }

/* Store the values of a tile; false: one of them does not fit. */
STORE_FROM(store_32, int32_t)
STORE_FROM(store_64, int64_t)

static enum status store_part(void *context, uint64_t item, unsigned thread, struct error *error)
{
    struct tiles_read *const read = context;
    const struct column_part of = column_part(read->data, read->parts, item);
    struct chunk_reader reader = {0};
    enum status status = STATUS_OK;
    const bool narrows =
        of.chunk->value_bytes == 8 && read->value_bytes <= 4 && of.chunk->codec->decode_narrow;
    _Alignas(64) int32_t narrow[TILE_ROWS];
    (void)thread;
    for (uint32_t tile = of.first; status == STATUS_OK && tile < of.end; tile++) {
        const uint32_t left = of.chunk->rows - tile * TILE_ROWS, rows = left < TILE_ROWS ? left : TILE_ROWS;
        const void *values = narrow;
        if (narrows)
            of.chunk->codec->decode_narrow(of.chunk, tile, narrow);
        else
            status = chunk_reader_tile(&reader, of.chunk, tile, &values, error);
        uint8_t *const to = read->to + (of.row + (uint64_t)tile * TILE_ROWS) * read->value_bytes;
        const bool is_narrow = narrows || of.chunk->value_bytes == 4;
        if (status == STATUS_OK && !(is_narrow ? store_32 : store_64)(read, values, rows, to))
            read->wider = true;
    }
    chunk_reader_close(&reader);
    return status;
}

/* Reads a column whose statistics say that it has no NULL, and the width of its values. *done is false if they do not. */
static enum status read_tiles(struct database *database, struct plan_array *array, unsigned threads,
                              bool *done, struct error *error)
{
    const struct column *const column = array->column;
    const uint32_t low_bytes = bytes_of(column->statistics.min),
                   high_bytes = bytes_of(column->statistics.max);
    struct tiles_read read = {.value_bytes = low_bytes > high_bytes ? low_bytes : high_bytes};
    struct column_data *data;
    *done = false;
    RETURN_IF_ERROR(column_data_open(database, column, column->own, threads, &data, error));
    read.data = data;
    read.parts = column_parts(data);
    for (uint32_t s = 0; s < data->segment_count; s++)
        if (data->segments[s].validity)
            return STATUS_OK;
    read.low = read.value_bytes < 4 ? 0 : read.value_bytes == 4 ? INT32_MIN : INT64_MIN;
    read.high = read.value_bytes == 1   ? UINT8_MAX
                : read.value_bytes == 2 ? UINT16_MAX
                : read.value_bytes == 4 ? INT32_MAX
                                        : INT64_MAX;
    const uint64_t bytes = column->table->rows * read.value_bytes,
                   slack = (uint64_t)TILE_ROWS * read.value_bytes;
    RETURN_IF_ERROR(memory_take(&read.to, bytes + slack, column->schema.name, error));
    memset(read.to + bytes, 0, slack); /* readers load whole vectors */
    const enum status status =
        parallel_for(threads, (uint64_t)data->segment_count * read.parts, store_part, &read, error);
    *done = status == STATUS_OK && !read.wider;
    if (!*done) {
        free(read.to);
        return status;
    }
    array->values = array->copy = read.to;
    array->value_bytes = read.value_bytes;
    return STATUS_OK;
}

/* Reads a column of the join's own table. */
static enum status read_own(struct database *database, struct plan_array *array, unsigned threads,
                            struct error *error)
{
    const struct column *const column = array->column;
    bool done = false;
    if (is_array(column)) {
        RETURN_IF_ERROR(column_data_open(database, column, codec_array()->id, threads, &array->data, error));
        const struct chunk_view *chunk = &array->data->segments[0].chunk;
        if (chunk->width_low == chunk->width_high) {
            array->values = chunk->data;
            array->value_bytes = chunk->width_high / 8;
            return STATUS_OK;
        }
    }
    RETURN_IF_ERROR(read_tiles(database, array, threads, &done, error));
    if (done)
        return STATUS_OK;
    struct whole whole;
    RETURN_IF_ERROR(read_whole(database, column, threads, &whole, error));
    const enum status status = plan_array_fill(array, whole.values, whole.nulls, column->table->rows, NULL,
                                               column->table->rows, threads, error);
    whole_free(&whole);
    return status;
}

/* Reads a column of a dimension of a dimension. */
static enum status read_composed(struct database *database, struct plan_array *array, const int32_t *rows,
                                 uint64_t count, unsigned threads, struct error *error)
{
    const struct column *const column = array->column;
    struct plan_array own = {.column = column};
    struct whole whole;
    bool done;
    RETURN_IF_ERROR(read_tiles(database, &own, threads, &done, error));
    if (done) {
        struct fill fill = {.rows = rows, .count = count, .value_bytes = own.value_bytes, .narrow = own.copy};
        const enum status status = fill_elements(array, &fill, threads, error);
        free(own.copy);
        return status;
    }
    RETURN_IF_ERROR(read_whole(database, column, threads, &whole, error));
    const enum status status =
        plan_array_fill(array, whole.values, whole.nulls, column->table->rows, rows, count, threads, error);
    whole_free(&whole);
    return status;
}

enum status plan_array_add(struct plan *plan, struct plan_array array, uint32_t *index, struct error *error)
{
    RETURN_IF_ERROR(
        memory_grow(&plan->arrays, (plan->array_count + 1) * sizeof *plan->arrays, "a plan", error));
    *index = plan->array_count++;
    plan->arrays[*index] = array;
    return STATUS_OK;
}

enum status plan_source_add(struct plan *plan, struct plan_source source, struct error *error)
{
    RETURN_IF_ERROR(
        memory_grow(&plan->sources, (plan->source_count + 1) * sizeof *plan->sources, "a plan", error));
    plan->sources[plan->source_count++] = source;
    return STATUS_OK;
}

/* Makes the array's values. */
static enum status make_values(struct database *database, struct plan_array *array, const int32_t *rows,
                               unsigned threads, struct error *error)
{
    const struct table *const table = array->column->table;
    if (!rows) {
        RETURN_IF_ERROR(read_own(database, array, threads, error));
        return table->levels ? spread_array(array, error) : STATUS_OK;
    }
    return read_composed(database, array, rows, array->rows, threads, error);
}

static void use_kept(struct plan_array *array, const struct kept_array *kept)
{
    array->kept = kept;
    array->values = kept->values;
    array->valid = kept->valid;
    array->value_bytes = kept->value_bytes;
}

/* Lets the database have the array's copies. */
static enum status keep_copies(struct database *database, struct plan_array *array,
                               const struct array_key *key, struct error *error)
{
    const struct kept_array *kept;
    if (!array->valid) {
        free(array->valid_copy);
        array->valid_copy = NULL;
    }
    const struct kept_array made = {.key = *key,
                                    .values = array->copy,
                                    .valid = array->valid_copy,
                                    .value_bytes = array->value_bytes,
                                    .bytes = (array->rows + TILE_ROWS) * array->value_bytes +
                                             (array->valid ? array->rows / 8 : 0)};
    array->copy = array->valid_copy = NULL;
    RETURN_IF_ERROR(kept_array_add(database, &made, &kept, error));
    use_kept(array, kept);
    return STATUS_OK;
}

enum status plan_array_open(struct plan *plan, const struct column *column, const struct kept_array *rows,
                            uint64_t count, unsigned threads, uint32_t *index, struct error *error)
{
    const struct array_key key = array_key_of(rows, column, ARRAY_VALUES);
    RETURN_IF_ERROR(plan_array_add(
        plan, (struct plan_array){.column = column, .rows = count, .composed = rows != NULL}, index, error));
    struct plan_array *const array = &plan->arrays[*index];
    const struct kept_array *const found = kept_array_find(plan->database, &key);
    if (found) {
        use_kept(array, found);
        return STATUS_OK;
    }
    RETURN_IF_ERROR(make_values(plan->database, array, rows ? rows->values : NULL, threads, error));
    return array->copy ? keep_copies(plan->database, array, &key, error) : STATUS_OK;
}

/* Bit b of `bits`, which has 8, inverted, as byte b. Byte b of the product keeps bit b alone; adding carries it up. */
static uint64_t bytes_of_zeros(uint64_t bits)
{
    const uint64_t each = UINT64_C(0x0101010101010101), own = UINT64_C(0x8040201008040201);
    return ~((((bits * each) & own) + 0x7f * each) >> 7) & each;
}

static uint8_t is_null(const struct plan_array *array, uint64_t element)
{
    return !(array->valid[element / 32] >> element % 32 & 1);
}

static void read_nulls(const struct plan_array *array, uint64_t first, uint32_t count, uint8_t *nulls)
{
    uint32_t i = 0;
    for (; array->shift == 0 && i < count && (first + i) % 8; i++)
        nulls[i] = is_null(array, first + i);
    for (; array->shift == 0 && i + 8 <= count; i += 8) {
        const uint64_t at = first + i, bytes = bytes_of_zeros(array->valid[at / 32] >> at % 32 & 0xff);
        memcpy(nulls + i, &bytes, sizeof bytes);
    }
    for (; i < count; i++)
        nulls[i] = is_null(array, (first + i) >> array->shift);
}

#define READ(type)                                                \
    if (array->shift == 0)                                        \
        for (uint32_t i = 0; i < count; i++)                      \
            values[i] = ((const type *)array->values)[first + i]; \
    else                                                          \
        for (uint32_t i = 0; i < count; i++)                      \
            values[i] = ((const type *)array->values)[(first + i) >> array->shift];

void plan_array_read(const struct plan_array *array, uint64_t first, uint32_t count, int64_t *values,
                     uint8_t *nulls)
{
    if (array->value_bytes == 1) {
        READ(uint8_t)
    } else if (array->value_bytes == 2) {
        READ(uint16_t)
    } else if (array->value_bytes == 4) {
        READ(int32_t)
    } else {
        READ(int64_t)
    }
    if (nulls && array->valid)
        read_nulls(array, first, count, nulls);
    else if (nulls)
        memset(nulls, 0, count);
}

#define GATHER(type)                     \
    for (uint32_t i = 0; i < count; i++) \
        values[i] = ((const type *)array->values)[positions[i] >> array->shift];

void plan_array_gather(const struct plan_array *array, const int64_t *positions, const uint8_t *missing,
                       uint32_t count, int64_t *values, uint8_t *nulls)
{
    if (array->rows == 0) { /* no row has a match */
        memset(values, 0, count * sizeof *values);
    } else if (array->value_bytes == 1) {
        GATHER(uint8_t)
    } else if (array->value_bytes == 2) {
        GATHER(uint16_t)
    } else if (array->value_bytes == 4) {
        GATHER(int32_t)
    } else {
        GATHER(int64_t)
    }
    for (uint32_t i = 0; nulls && i < count; i++) {
        const int64_t at = positions[i] >> array->shift;
        nulls[i] = (missing && missing[i]) || (array->valid && !(array->valid[at / 32] >> at % 32 & 1));
    }
}

struct marks {
    const struct plan *plan;
    bool *used;
};

static void mark(void *context, const struct expression *leaf)
{
    const struct marks *marks = context;
    const struct plan_source *source = &marks->plan->sources[leaf->index];
    if (source->join >= 0 && !source->bits)
        marks->used[source->column] = true;
}

void plan_mark_arrays(const struct plan *plan, uint32_t expression, bool *used)
{
    expression_visit(&plan->expressions, expression, mark, &(struct marks){plan, used});
}
