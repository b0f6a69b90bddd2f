/* levels_file.c: see levels_file.h. */
#include "storage/column/levels_file.h"

#include "storage/base/memory.h"
#include "storage/column/column_span.h"

#include <stdatomic.h>
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

/* Gives the levels, which are the table's or a copy of them, the leaves on disk. */
static enum status fill_leaves(const char *directory, const struct table *table, struct table_levels *levels,
                               struct error *error)
{
    struct column_file *file = NULL;
    struct level_leaf *leaves;
    const struct column *const key = levels_key(table);
    RETURN_IF_ERROR(memory_take(&leaves, levels->leaf_count * sizeof *leaves, "levels", error));
    enum status status = span_open(directory, key, CODEC_NONE, &key->sides.list[0], &file, error);
    status = AND_THEN(status, read_leaves(file, table, leaves, error));
    column_file_close(file);
    if (status == STATUS_OK)
        levels->leaves = leaves;
    else
        free(leaves);
    return status;
}

static enum status copy_levels(const struct table *table, struct table_levels **levels, struct error *error)
{
    uint8_t *depth;
    RETURN_IF_ERROR(memory_take(levels, sizeof **levels, "levels", error));
    **levels = *table->levels;
    (*levels)->leaves = NULL;
    (*levels)->stored = NULL;
    (*levels)->depth = NULL;
    RETURN_IF_ERROR(memory_take(&depth, table->column_count, "levels", error));
    (*levels)->depth = memcpy(depth, table->levels->depth, table->column_count);
    return STATUS_OK;
}

enum status levels_read(const char *directory, const struct table *table, struct table_levels **levels,
                        struct error *error)
{
    *levels = NULL;
    enum status status = copy_levels(table, levels, error);
    status = AND_THEN(status, fill_leaves(directory, table, *levels, error));
    if (status != STATUS_OK) {
        levels_free(*levels);
        *levels = NULL;
    }
    return status;
}

enum status levels_fill(const char *directory, struct table *table, struct error *error)
{
    return table->levels ? fill_leaves(directory, table, (struct table_levels *)table->levels, error)
                         : STATUS_OK;
}

enum status levels_load(const struct table *table, struct error *error)
{
    struct stored_levels *const stored = table->levels ? table->levels->stored : NULL;
    if (!stored || atomic_load_explicit(&stored->loaded, memory_order_acquire))
        return STATUS_OK;
    pthread_mutex_lock(&stored->lock);
    enum status status = STATUS_OK;
    if (!stored->loaded) {
        status = fill_leaves(stored->directory, table, (struct table_levels *)table->levels, error);
        atomic_store_explicit(&stored->loaded, status == STATUS_OK, memory_order_release);
    }
    pthread_mutex_unlock(&stored->lock);
    return status;
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
