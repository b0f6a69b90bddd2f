/* level_arrays.c: dimension columns with one value for each prefix (level_plan.h). A column of 25 nations is 25 values,
 * read at the first row of each, whatever the number of customers. */
#include "engine/plan/levels/level_plan.h"

#include "storage/base/memory.h"
#include "storage/codec/chunk_reader.h"

#include <stdlib.h>

uint32_t level_depth(const struct column *column)
{
    const struct table_levels *const levels = column->table->levels;
    const uint32_t depth = levels ? levels->depth[column - column->table->columns] : 0;
    return levels && depth <= levels->count ? depth : 0;
}

uint32_t level_array_depth(const struct plan_array *array)
{
    return array->composed ? 0 : level_depth(array->column);
}

bool level_part_next(const struct table_levels *levels, uint32_t depth, struct level_part *part)
{
    const uint32_t below = levels_shift(levels, depth) - levels->rest_bits, first = part->leaf + part->leaves;
    if (first == levels->leaf_count)
        return false;
    *part = (struct level_part){.prefix = levels->leaves[first].prefix >> below,
                                .leaf = first,
                                .first_row = levels->leaves[first].first_row};
    for (uint32_t l = first; l < levels->leaf_count && levels->leaves[l].prefix >> below == part->prefix;
         l++) {
        part->rows += levels->leaves[l].rows;
        part->leaves++;
    }
    return true;
}

/* ---- Values of single rows ---- */

/* Reads rows in ascending order. */
struct row_reader {
    const struct column_data *data;
    struct chunk_reader reader;
    uint64_t segment_first;
    uint32_t segment;
};

static enum status read_row(struct row_reader *at, uint64_t row, int64_t *value, bool *null,
                            struct error *error)
{
    while (row >= at->segment_first + at->data->segments[at->segment].chunk.rows)
        at->segment_first += at->data->segments[at->segment++].chunk.rows;
    const struct segment_data *segment = &at->data->segments[at->segment];
    const struct chunk_view *chunk = &segment->chunk;
    const uint32_t inside = (uint32_t)(row - at->segment_first), tile = inside / TILE_ROWS;
    *null = segment->validity && !tile_row_valid(segment->validity + tile * TILE_LANES, inside % TILE_ROWS);
    if (chunk->codec->random_access) {
        *value = chunk->codec->value(chunk, inside);
        return STATUS_OK;
    }
    const void *values;
    RETURN_IF_ERROR(chunk_reader_tile(&at->reader, chunk, tile, &values, error));
    *value = row_value(values, chunk->value_bytes, inside % TILE_ROWS);
    return STATUS_OK;
}

/* ---- Arrays ---- */

struct prefix_values {
    uint64_t count; /* the last prefix + 1 */
    int64_t *values;
    uint8_t *nulls;
};

/* Reads the value of each prefix at its first row. */
static enum status read_prefixes(struct row_reader *reader, const struct table_levels *levels, uint32_t depth,
                                 struct prefix_values *prefixes, struct error *error)
{
    struct level_part part = {0};
    uint64_t done = 0;
    while (level_part_next(levels, depth, &part)) {
        int64_t value;
        bool null;
        RETURN_IF_ERROR(read_row(reader, part.first_row, &value, &null, error));
        for (; done < part.prefix; done++) { /* a gap, or what comes before the first prefix */
            prefixes->values[done] = part.leaf ? prefixes->values[done - 1] : value;
            prefixes->nulls[done] = part.leaf ? prefixes->nulls[done - 1] : null;
        }
        prefixes->values[done] = null ? 0 : value;
        prefixes->nulls[done++] = null;
    }
    return STATUS_OK;
}

enum status level_array_open(struct plan *plan, const struct column *column, unsigned threads,
                             uint32_t *index, struct error *error)
{
    const struct table_levels *const levels = column->table->levels;
    const uint32_t depth = level_depth(column), shift = levels_shift(levels, depth);
    struct row_reader reader = {0};
    struct prefix_values prefixes = {.count = ((levels->positions - 1) >> shift) + 1};
    struct column_data *data;
    RETURN_IF_ERROR(column_data_open(plan->database, column, column->own, threads, &data, error));
    RETURN_IF_ERROR(plan_array_add(
        plan, (struct plan_array){.column = column, .rows = prefixes.count, .shift = shift}, index, error));
    struct plan_array *const array = &plan->arrays[*index];
    enum status status =
        memory_take(&prefixes.values, prefixes.count * sizeof *prefixes.values, column->schema.name, error);
    if (status == STATUS_OK)
        status = memory_take(&prefixes.nulls, prefixes.count, column->schema.name, error);
    reader.data = data;
    if (status == STATUS_OK)
        status = read_prefixes(&reader, levels, depth, &prefixes, error);
    if (status == STATUS_OK)
        status = plan_array_fill(array, prefixes.values, prefixes.nulls, prefixes.count, NULL, prefixes.count,
                                 threads, error);
    chunk_reader_close(&reader.reader);
    free(prefixes.values);
    free(prefixes.nulls);
    return status;
}
