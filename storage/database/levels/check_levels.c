/* check_levels.c: see check_levels.h. */
#include "storage/database/levels/check_levels.h"

#include "storage/base/parallel.h"
#include "storage/codec/chunk_reader.h"
#include "storage/column/column_data.h"

#include <inttypes.h>

/* A value of the column that is looked at. */
struct seen {
    bool valid;
    int64_t value; /* 0 for NULL */
};

struct column_check {
    const char *directory;
    const struct table *table;
    const struct column *column;
    uint32_t shift; /* of a prefix: the bits of the levels that do not decide the column */
    uint32_t depth; /* of the column */
    uint32_t level; /* the level that the column is, or the number of levels */
    uint32_t leaf;  /* of the row */
    uint64_t row;
    struct seen before; /* of the row before */
};

/* The bits of a prefix that lie below its first `depth` levels. */
static uint32_t prefix_shift(const struct table_levels *levels, uint32_t depth)
{
    return levels_shift(levels, depth) - levels->rest_bits;
}

static bool same(struct seen a, struct seen b)
{
    return a.valid == b.valid && a.value == b.value;
}

/* NULL comes first. */
static bool less(struct seen a, struct seen b)
{
    return a.valid != b.valid ? !a.valid : a.value < b.value;
}

/* Whether the value may have the code that the leaf's prefix has for its level. */
static bool code_fits(const struct column_check *check, struct seen now)
{
    const struct table_levels *const levels = check->table->levels;
    const uint32_t bits = levels->level[check->level].bits, shift = prefix_shift(levels, check->level + 1);
    const uint32_t path = levels->leaves[check->leaf].prefix >> shift,
                   before = check->leaf ? levels->leaves[check->leaf - 1].prefix >> shift : 0;
    if (check->leaf == 0 || path >> bits != before >> bits)
        return (path & ((1u << bits) - 1)) == 0; /* the first value of a parent */
    return path == before ? same(now, check->before) : path == before + 1 && less(check->before, now);
}

static enum status wrong(const struct column_check *check, const char *what, struct error *error)
{
    return error_set(error, STATUS_CHECK_FAILED,
                     "%s: table %s, column %s, row %" PRIu64
                     " as stored: %s; load the table again (queries may give wrong answers)",
                     check->directory, check->table->name, check->column->schema.name, check->row, what);
}

static enum status check_row(struct column_check *check, struct seen now, struct error *error)
{
    const struct table_levels *const levels = check->table->levels;
    const struct level_leaf *leaf = &levels->leaves[check->leaf];
    const bool begins = check->row == leaf->first_row;
    if (begins && check->level < levels->count && !code_fits(check, now))
        return wrong(check, "its value has not the rank that its position says", error);
    const bool decided =
        check->row > 0 && check->depth <= levels->count &&
        (!begins || levels->leaves[check->leaf - 1].prefix >> check->shift == leaf->prefix >> check->shift);
    if (decided && !same(now, check->before))
        return wrong(check, "levels that decide the column do not decide its value", error);
    check->before = now;
    check->row++;
    check->leaf += check->row == leaf->first_row + leaf->rows;
    return STATUS_OK;
}

static enum status check_segment(struct column_check *check, const struct segment_data *segment,
                                 struct chunk_reader *reader, struct error *error)
{
    for (uint32_t tile = 0; tile < segment->chunk.tiles; tile++) {
        const uint32_t left = segment->chunk.rows - tile * TILE_ROWS;
        const uint32_t *const validity = segment->validity ? segment->validity + tile * TILE_LANES : NULL;
        const void *values;
        RETURN_IF_ERROR(chunk_reader_tile(reader, &segment->chunk, tile, &values, error));
        for (uint32_t r = 0; r < TILE_ROWS && r < left; r++) {
            const bool valid = !validity || tile_row_valid(validity, r);
            const struct seen now = {valid, valid ? row_value(values, segment->chunk.value_bytes, r) : 0};
            RETURN_IF_ERROR(check_row(check, now, error));
        }
    }
    return cancel_check(error);
}

static enum status check_column(const char *directory, const struct table *table, uint32_t c,
                                struct error *error)
{
    const struct table_levels *const levels = table->levels;
    struct column_check check = {.directory = directory,
                                 .table = table,
                                 .column = &table->columns[c],
                                 .depth = levels->depth[c],
                                 .level = levels->count};
    for (uint32_t l = 0; l < levels->count; l++)
        check.level = levels->level[l].column == c ? l : check.level;
    if (check.depth > levels->count)
        return STATUS_OK;
    check.shift = prefix_shift(levels, check.depth);
    struct column_data *data;
    struct chunk_reader reader = {0};
    RETURN_IF_ERROR(column_data_read(directory, check.column, check.column->own, 1, &data, error));
    enum status status = STATUS_OK;
    for (uint32_t s = 0; s < data->segment_count && status == STATUS_OK; s++)
        status = check_segment(&check, &data->segments[s], &reader, error);
    chunk_reader_close(&reader);
    column_data_free(data);
    return status;
}

enum status levels_check(const char *directory, const struct table *table, struct error *error)
{
    for (uint32_t c = 0; c < table->column_count; c++)
        RETURN_IF_ERROR(check_column(directory, table, c, error));
    return STATUS_OK;
}
