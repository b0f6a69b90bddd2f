/* levels_file.c: see levels_file.h. */
#include "storage/column/levels_file.h"

#include "storage/base/memory.h"
#include "storage/column/side_file.h"

#include <stdlib.h>
#include <string.h>

struct stored_leaf {
    uint32_t prefix, rows;
};

const struct column *levels_key(const struct table *table)
{
    for (uint32_t c = 0; c < table->column_count; c++)
        if (table->columns[c].schema.primary_key && !table->columns[c].schema.references_table[0])
            return &table->columns[c];
    return NULL;
}

void levels_free(struct table_levels *levels)
{
    if (!levels)
        return;
    free((void *)levels->leaves);
    free((void *)levels->depth);
    free(levels);
}

/* Takes the leaves over; false unless they ascend, have the table's rows and end where positions end. */
static bool take_leaves(const struct stored_leaf *stored, const struct table_levels *levels, uint64_t rows,
                        struct level_leaf *leaves)
{
    uint64_t first = 0;
    for (uint32_t f = 0; f < levels->leaf_count; f++) {
        if (stored[f].rows == 0 || stored[f].rows > UINT64_C(1) << levels->rest_bits ||
            stored[f].prefix >= UINT64_C(1) << levels->prefix_bits ||
            (f > 0 && stored[f].prefix <= stored[f - 1].prefix))
            return false;
        leaves[f] =
            (struct level_leaf){.prefix = stored[f].prefix, .rows = stored[f].rows, .first_row = first};
        first += stored[f].rows;
    }
    const struct level_leaf *const last = &leaves[levels->leaf_count - 1];
    return leaves[0].prefix == 0 && first == rows &&
           ((uint64_t)last->prefix << levels->rest_bits) + last->rows == levels->positions;
}

static enum status read_leaves(const struct column_file *file, const struct table *table,
                               struct level_leaf *leaves, struct error *error)
{
    const struct column_part *const part = column_file_part(file, PART_LEVELS, 0);
    if (part && part->bytes == table->levels->leaf_count * sizeof(struct stored_leaf)) {
        RETURN_IF_ERROR(column_file_part_check(file, part, error));
        if (take_leaves((const struct stored_leaf *)(file->map.bytes + part->offset), table->levels,
                        table->rows, leaves))
            return STATUS_OK;
    }
    return error_set(error, STATUS_BAD_INPUT,
                     "%s: the levels of table %s are missing or not valid; load the table again", file->path,
                     table->name);
}

static enum status copy_levels(const struct table *table, struct table_levels **levels, struct error *error)
{
    struct level_leaf *leaves;
    uint8_t *depth;
    RETURN_IF_ERROR(memory_take(levels, sizeof **levels, "levels", error));
    **levels = *table->levels;
    (*levels)->leaves = NULL;
    (*levels)->depth = NULL;
    RETURN_IF_ERROR(memory_take(&depth, table->column_count, "levels", error));
    (*levels)->depth = memcpy(depth, table->levels->depth, table->column_count);
    RETURN_IF_ERROR(memory_take(&leaves, table->levels->leaf_count * sizeof *leaves, "levels", error));
    (*levels)->leaves = leaves;
    return STATUS_OK;
}

enum status levels_read(const char *directory, const struct table *table, struct table_levels **levels,
                        struct error *error)
{
    struct column_file *file = NULL;
    *levels = NULL;
    enum status status = copy_levels(table, levels, error);
    status = AND_THEN(status, side_file_open(directory, levels_key(table), &file, error));
    status = AND_THEN(status, read_leaves(file, table, (struct level_leaf *)(*levels)->leaves, error));
    column_file_close(file);
    if (status != STATUS_OK) {
        levels_free(*levels);
        *levels = NULL;
    }
    return status;
}

enum status levels_fill(const char *directory, struct table *table, struct error *error)
{
    struct table_levels *levels;
    if (!table->levels)
        return STATUS_OK;
    RETURN_IF_ERROR(levels_read(directory, table, &levels, error));
    levels_free((struct table_levels *)table->levels);
    table->levels = levels;
    return STATUS_OK;
}

enum status levels_add(const struct table_levels *levels, struct column_file_writer *side,
                       struct error *error)
{
    const uint64_t bytes = levels->leaf_count * sizeof(struct stored_leaf);
    struct stored_leaf *stored;
    RETURN_IF_ERROR(memory_zeros(&stored, part_padded(bytes), "levels", error));
    for (uint32_t f = 0; f < levels->leaf_count; f++)
        stored[f] = (struct stored_leaf){.prefix = levels->leaves[f].prefix, .rows = levels->leaves[f].rows};
    const enum status status =
        column_file_add(side, PART_LEVELS, 0, levels->leaf_count, stored, bytes, error);
    free(stored);
    return status;
}
