/* engine/plan/query_bind.c: see engine/plan/query_bind.h. */
#include "engine/plan/query_bind.h"

#include "engine/plan/fact_data.h"
#include "operators/dialect/dimension_filter.h"
#include "storage/base/clock.h"
#include "storage/database/writer.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

static uint32_t names_count(const char *const *names)
{
    uint32_t count = 0;
    while (count < STAR_NAMES_MAX && names[count])
        count++;
    return count;
}

static enum status place_of(const char *const *names, const char *name, const char *query, uint32_t *place,
                            struct error *error)
{
    for (uint32_t i = 0; i < STAR_NAMES_MAX && names[i]; i++)
        if (strcmp(names[i], name) == 0) {
            *place = i;
            return STATUS_OK;
        }
    return error_set(error, STATUS_BAD_INPUT, "query %s names %s, which its parameters do not have", query,
                     name);
}

/* ---- Fact columns ---- */

static enum status fact_column_add(struct bound_query *bound, const char *name, struct fact_column **added,
                                   struct error *error)
{
    for (uint32_t i = 0; i < bound->column_count; i++)
        if (strcmp(bound->columns[i].column->schema.name, name) == 0) {
            *added = &bound->columns[i];
            return STATUS_OK;
        }
    if (bound->column_count == BOUND_COLUMNS_MAX)
        return error_set(error, STATUS_BAD_INPUT, "query %s uses more than %u fact columns",
                         bound->query->name, BOUND_COLUMNS_MAX);
    struct fact_column column = {.low = INT32_MIN, .high = INT32_MAX};
    RETURN_IF_ERROR(table_column(bound->fact, name, &column.column, error));
    RETURN_IF_ERROR(
        place_of(bound->query->layout->column_names, name, bound->query->name, &column.place, error));
    if (column.column->value_bytes != 4)
        return error_set(
            error, STATUS_BAD_INPUT,
            "column %s.%s holds 64-bit values, which query kernels do not read; load it as a 32-bit type",
            bound->fact->name, name);
    *added = &bound->columns[bound->column_count];
    bound->columns[bound->column_count++] = column;
    return STATUS_OK;
}

static enum status fact_column_open(struct database *database, const char *codec, unsigned threads,
                                    struct fact_column *column, struct error *error)
{
    struct fact_data opened;
    RETURN_IF_ERROR(fact_data_open(database, column->column, codec, threads, &opened, error));
    column->data = opened.data;
    column->nullable = opened.nullable;
    column->width_low = opened.width_low;
    column->width_high = opened.width_high;
    return STATUS_OK;
}

/* ---- Dimension attributes ---- */

static enum status attribute_copy(struct attribute *attribute, struct error *error)
{
    uint64_t bytes = attribute->rows * sizeof(uint32_t);
    uint32_t *values = malloc(bytes + TILE_ROWS * sizeof *values);
    if (!values)
        return error_out_of_memory(error, bytes, attribute->column->schema.name);
    attribute->copy = values;
    for (uint32_t s = 0; s < attribute->data->segment_count; s++) {
        const struct chunk_view *chunk = &attribute->data->segments[s].chunk;
        for (uint32_t tile = 0; tile < chunk->tiles; tile++) {
            _Alignas(64) int32_t decoded[TILE_ROWS];
            chunk->codec->decode_tile(chunk, tile, decoded);
            uint32_t rows =
                chunk->rows - tile * TILE_ROWS < TILE_ROWS ? chunk->rows - tile * TILE_ROWS : TILE_ROWS;
            memcpy(values, decoded, rows * sizeof *values);
            values += rows;
        }
    }
    attribute->values = attribute->copy;
    attribute->value_bytes = sizeof(uint32_t);
    return STATUS_OK;
}

/* A column whose codec is an array: the mapped bytes are used as they are. */
static enum status attribute_open(struct database *database, struct bound_query *bound,
                                  const struct table *table, const char *name, unsigned threads,
                                  uint32_t *index, struct error *error)
{
    for (uint32_t i = 0; i < bound->attribute_count; i++)
        if (bound->attributes[i].column->table == table &&
            strcmp(bound->attributes[i].column->schema.name, name) == 0) {
            *index = i;
            return STATUS_OK;
        }
    *index = bound->attribute_count;
    struct attribute *attribute = &bound->attributes[bound->attribute_count];
    *attribute = (struct attribute){.rows = table->rows};
    RETURN_IF_ERROR(table_column(table, name, &attribute->column, error));
    if (attribute->column->value_bytes != 4)
        return error_set(error, STATUS_BAD_INPUT,
                         "column %s.%s holds 64-bit values, which cannot filter or group a query",
                         table->name, name);
    const struct codec_choice array = {.codec = codec_array(), .name = codec_array()->name};
    enum codec_id codec;
    RETURN_IF_ERROR(database_encode(database, attribute->column, &array, threads, &codec, error));
    RETURN_IF_ERROR(column_data_open(database, attribute->column, codec, threads, &attribute->data, error));
    bound->attribute_count++; /* from here on bound_query_close frees it */
    for (uint32_t s = 0; s < attribute->data->segment_count; s++)
        if (attribute->data->segments[s].validity)
            return error_set(error, STATUS_BAD_INPUT,
                             "column %s.%s has NULLs, which cannot filter or group a query", table->name,
                             name);
    if (attribute->data->segment_count != 1)
        return attribute_copy(attribute, error);
    attribute->values = attribute->data->segments[0].chunk.data;
    attribute->value_bytes = attribute->data->segments[0].chunk.width_high / 8;
    return STATUS_OK;
}

static int64_t attribute_value(const struct attribute *attribute, uint64_t row)
{
    switch (attribute->value_bytes) {
    case 1:
        return ((const uint8_t *)attribute->values)[row];
    case 2:
        return ((const uint16_t *)attribute->values)[row];
    default:
        return ((const int32_t *)attribute->values)[row];
    }
}

/* ---- Literals ---- */

static enum status number_parse(const struct column *column, const char *text, int64_t *number,
                                struct error *error)
{
    char *end;
    errno = 0;
    *number = strtoll(text, &end, 10);
    if (errno || end == text || *end)
        return error_set(error, STATUS_BAD_INPUT,
                         "column %s.%s is compared with '%s', which is no whole number", column->table->name,
                         column->schema.name, text);
    return STATUS_OK;
}

/* The stored values that lie in the range, ends included; *low > *high if there are none. */
static enum status range_bind(const struct column *column, const struct star_range *range, int32_t *low,
                              int32_t *high, struct error *error)
{
    int64_t first = column->statistics.min, last = column->statistics.max;
    if (column->dictionary) {
        const struct dictionary *dictionary = column->dictionary;
        if (range->low)
            first = dictionary_lower_bound(dictionary, range->low, (uint32_t)strlen(range->low));
        if (range->high) {
            uint32_t length = (uint32_t)strlen(range->high);
            last = dictionary_lower_bound(dictionary, range->high, length);
            last -= dictionary_find(dictionary, range->high, length) < 0;
        }
    } else {
        if (range->low)
            RETURN_IF_ERROR(number_parse(column, range->low, &first, error));
        if (range->high)
            RETURN_IF_ERROR(number_parse(column, range->high, &last, error));
    }
    if (first < column->statistics.min)
        first = column->statistics.min;
    if (last > column->statistics.max)
        last = column->statistics.max;
    *low = first > last ? 1 : (int32_t)first; /* within min .. max, which fit what is stored */
    *high = first > last ? 0 : (int32_t)last;
    return STATUS_OK;
}

static enum status predicate_bind(struct database *database, struct bound_query *bound,
                                  const struct table *table, const struct star_predicate *predicate,
                                  unsigned threads, struct attribute_predicate *bind, struct error *error)
{
    RETURN_IF_ERROR(
        attribute_open(database, bound, table, predicate->column, threads, &bind->attribute, error));
    const struct column *column = bound->attributes[bind->attribute].column;
    for (uint32_t i = 0; i < TILE_RANGES_MAX && (predicate->any_of[i].low || predicate->any_of[i].high);
         i++) {
        RETURN_IF_ERROR(range_bind(column, &predicate->any_of[i], &bind->low[bind->ranges],
                                   &bind->high[bind->ranges], error));
        bind->ranges += bind->low[bind->ranges] <= bind->high[bind->ranges];
    }
    return STATUS_OK;
}

/* ---- Joins and groups ---- */

static bool row_passes(const struct bound_query *bound, const struct dimension_join *join, uint64_t row)
{
    for (uint32_t p = 0; p < join->predicate_count; p++) {
        const struct attribute_predicate *predicate = &join->predicates[p];
        int64_t value = attribute_value(&bound->attributes[predicate->attribute], row);
        bool any = false;
        for (uint32_t i = 0; i < predicate->ranges; i++)
            any |= value >= predicate->low[i] && value <= predicate->high[i];
        if (!any)
            return false;
    }
    return true;
}

/* The filter is evaluated once here, for what the plan can gain from it: codes of rows that do not pass are
 * never looked up, so sums need slots only for those that do; and rows that stand together need no bitmap to
 * be found. */
static enum status passing_rows_bind(const struct bound_query *bound, struct dimension_join *join,
                                     struct error *error)
{
    int64_t least = INT64_MAX, greatest = INT64_MIN;
    if (join->predicate_count)
        RETURN_IF_ERROR(position_set_create(join->table->rows, &join->passing_rows, error));
    uint64_t first = 0, last = 0, passing = 0;
    for (uint64_t row = 0; row < join->table->rows; row++) {
        if (!row_passes(bound, join, row))
            continue;
        first = passing++ ? first : row;
        last = row;
        if (join->predicate_count)
            position_set_add(&join->passing_rows, row);
        if (join->code < 0)
            continue;
        int64_t code = attribute_value(&bound->attributes[join->code], row);
        least = code < least ? code : least;
        greatest = code > greatest ? code : greatest;
    }
    if (join->predicate_count)
        position_set_count(&join->passing_rows);
    join->passing = passing;
    join->contiguous = passing == 0 || last - first + 1 == passing;
    join->code_base = least <= greatest ? (int32_t)least : 0;
    join->domain = least <= greatest ? (uint32_t)(greatest - least + 1) : 1;
    return STATUS_OK;
}

static enum status join_bind(struct database *database, struct bound_query *bound,
                             const struct star_join *join, unsigned threads, struct error *error)
{
    struct dimension_join *bind = &bound->joins[bound->join_count++];
    *bind = (struct dimension_join){.code = -1};
    struct fact_column *key;
    RETURN_IF_ERROR(fact_column_add(bound, join->key, &key, error));
    RETURN_IF_ERROR(place_of(bound->query->layout->dimension_names, join->dimension, bound->query->name,
                             &bind->place, error));
    if (!key->column->references)
        return error_set(error, STATUS_BAD_INPUT,
                         "column %s.%s references no table, so query %s cannot join over it",
                         bound->fact->name, join->key, bound->query->name);
    bind->column = (uint32_t)(key - bound->columns);
    bind->table = key->column->references->table;
    for (uint32_t p = 0; p < TILE_PREDICATES_MAX && join->where[p].column; p++)
        RETURN_IF_ERROR(predicate_bind(database, bound, bind->table, &join->where[p], threads,
                                       &bind->predicates[bind->predicate_count++], error));
    if (join->code) {
        uint32_t code;
        RETURN_IF_ERROR(attribute_open(database, bound, bind->table, join->code, threads, &code, error));
        bind->code = (int32_t)code;
    }
    if (join->code || bind->predicate_count)
        RETURN_IF_ERROR(passing_rows_bind(bound, bind, error));
    return STATUS_OK;
}

static enum status groups_bind(struct bound_query *bound, struct error *error)
{
    const struct star_query *query = bound->query;
    uint64_t slots = 1;
    for (uint32_t g = 0; g < TILE_GROUPS_MAX; g++) {
        bound->domain[g] = 1;
        if (!query->group[g])
            continue;
        bound->group_count = g + 1;
        bound->group_join[g] = bound->join_count;
        for (uint32_t j = 0; j < bound->join_count; j++)
            if (query->join[j].code && strcmp(query->join[j].code, query->group[g]) == 0)
                bound->group_join[g] = j;
        if (bound->group_join[g] == bound->join_count)
            return error_set(error, STATUS_BAD_INPUT, "query %s groups by %s, which none of its joins brings",
                             query->name, query->group[g]);
        bound->domain[g] = bound->joins[bound->group_join[g]].domain;
        slots *= bound->domain[g];
        if (slots > BOUND_SLOTS_MAX)
            return error_set(error, STATUS_BAD_INPUT,
                             "query %s may have more than %u groups, the most that dense sums hold",
                             query->name, BOUND_SLOTS_MAX);
    }
    bound->slots = (uint32_t)slots;
    return STATUS_OK;
}

/* ---- Sums ---- */

static unsigned __int128 greatest_magnitude(const struct column *column)
{
    __int128 least = column->statistics.min, greatest = column->statistics.max;
    if (least > greatest)
        return 0;
    least = least < 0 ? -least : least;
    greatest = greatest < 0 ? -greatest : greatest;
    return (unsigned __int128)(least > greatest ? least : greatest);
}

static enum status sum_check(const struct bound_query *bound, struct error *error)
{
    const struct star_measure *measure = &bound->query->measure;
    const struct column *column;
    RETURN_IF_ERROR(table_column(bound->fact, measure->left, &column, error));
    unsigned __int128 most = greatest_magnitude(column);
    if (measure->right) {
        RETURN_IF_ERROR(table_column(bound->fact, measure->right, &column, error));
        most =
            measure->operation == '*' ? most * greatest_magnitude(column) : most + greatest_magnitude(column);
    }
    if (most && most > (unsigned __int128)INT64_MAX / (bound->fact->rows ? bound->fact->rows : 1))
        return error_set(error, STATUS_BAD_INPUT,
                         "query %s: the sum over %llu rows of %s may leave 64 bits, going by the column's "
                         "least and greatest value",
                         bound->query->name, (unsigned long long)bound->fact->rows, bound->fact->name);
    return STATUS_OK;
}

/* ---- Tiles ---- */

/* A range and a dimension's passing rows for each column that has them; a join without predicates still drops
 * rows whose key is NULL. */
static enum status scan_bind(struct bound_query *bound, struct error *error)
{
    struct tile_test tests[BOUND_COLUMNS_MAX + TILE_DIMENSIONS_MAX];
    uint32_t count = 0;
    const double begin = clock_ms();
    for (uint32_t c = 0; c < bound->column_count; c++)
        if (bound->columns[c].filtered)
            tests[count++] = (struct tile_test){
                .data = bound->columns[c].data, .low = bound->columns[c].low, .high = bound->columns[c].high};
    for (uint32_t j = 0; j < bound->join_count; j++) {
        const struct dimension_join *join = &bound->joins[j];
        tests[count++] = (struct tile_test){.data = bound->columns[join->column].data,
                                            .low = INT64_MIN,
                                            .high = INT64_MAX,
                                            .set = join->predicate_count ? &join->passing_rows : NULL};
    }
    RETURN_IF_ERROR(tile_skip_find(bound->fact, tests, count, &bound->scan, error));
    for (uint32_t j = 0; j < bound->join_count; j++)
        position_set_free(&bound->joins[j].passing_rows);
    bound->skip_ms = clock_ms() - begin;
    return STATUS_OK;
}

/* ---- All together ---- */

static enum status bind_all(struct database *database, const char *codec, unsigned threads,
                            struct bound_query *bound, struct error *error)
{
    const struct star_query *query = bound->query;
    RETURN_IF_ERROR(database_table(database, query->fact, &bound->fact, error));
    bound->layout_columns = names_count(query->layout->column_names);
    bound->layout_dimensions = names_count(query->layout->dimension_names);
    for (uint32_t i = 0; i < STAR_FILTERS_MAX && query->where[i].column; i++) {
        struct fact_column *column;
        RETURN_IF_ERROR(fact_column_add(bound, query->where[i].column, &column, error));
        RETURN_IF_ERROR(
            range_bind(column->column, &query->where[i].any_of[0], &column->low, &column->high, error));
        column->filtered = true;
    }
    for (uint32_t i = 0; i < TILE_DIMENSIONS_MAX && query->join[i].key; i++)
        RETURN_IF_ERROR(join_bind(database, bound, &query->join[i], threads, error));
    for (uint32_t i = 0; i < STAR_FETCHES_MAX && query->fetch[i]; i++) {
        struct fact_column *column;
        RETURN_IF_ERROR(fact_column_add(bound, query->fetch[i], &column, error));
        column->fetched = true;
    }
    RETURN_IF_ERROR(groups_bind(bound, error));
    RETURN_IF_ERROR(sum_check(bound, error));
    for (uint32_t i = 0; i < bound->column_count; i++) {
        RETURN_IF_ERROR(fact_column_open(database, codec, threads, &bound->columns[i], error));
        bound->bytes += bound->columns[i].data->bytes;
    }
    return scan_bind(bound, error);
}

enum status bound_query_open(struct database *database, const struct star_query *query, const char *codec,
                             unsigned threads, struct bound_query *bound, struct error *error)
{
    *bound = (struct bound_query){.query = query};
    enum status status = bind_all(database, codec, threads, bound, error);
    if (status != STATUS_OK)
        bound_query_close(bound);
    return status;
}

void bound_query_close(struct bound_query *bound)
{
    for (uint32_t i = 0; i < bound->column_count; i++)
        column_data_close(bound->columns[i].data);
    for (uint32_t i = 0; i < bound->attribute_count; i++) {
        column_data_close(bound->attributes[i].data);
        free(bound->attributes[i].copy);
    }
    for (uint32_t j = 0; j < bound->join_count; j++)
        position_set_free(&bound->joins[j].passing_rows);
    tile_skip_free(&bound->scan);
    *bound = (struct bound_query){0};
}
