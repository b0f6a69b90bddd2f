/* key_moves.c: foreign keys after their dimension was laid out anew.
 *
 * Rows that are appended to a table with levels may leave its old rows at their positions (table_levels.c). If not, or
 * if positions get more bits, the keys of all tables that reference it are written again: in tables of the same change
 * when their old rows are taken over (table_append.c), in others here, alone, as if no rows were appended to a table of
 * this one column; the commit puts it in the place of the old one. So a crash leaves the dimension and all keys as they
 * were, or all of them new. It takes what appending takes for the column, about 10 ns a row. */
#include "storage/database/writer_internal.h"

#include "storage/base/memory.h"
#include "storage/column/levels_file.h"
#include "storage/database/database_files.h"

#include <stdlib.h>
#include <string.h>

/* ---- Where rows went ---- */

/* Whether keys are written in other bits, though rows may stay where they are: a level has got a bit before those that it
 * had. All chunks of a key column have the same bits (column_codec_input). */
static bool widths_differ(const struct table_levels *before, const struct table_levels *after)
{
    return before &&
           (!after || before->prefix_bits != after->prefix_bits || before->rest_bits != after->rest_bits);
}

static enum status fill_moves(struct table_writer *table, struct error *error)
{
    const uint64_t count = table_positions(table->old);
    struct table_levels *levels = NULL;
    bool moved = widths_differ(table->old->levels, table->table.levels);
    RETURN_IF_ERROR(memory_take(&table->moves, count * sizeof *table->moves, "positions", error));
    if (table->old->levels)
        RETURN_IF_ERROR(levels_read(table->database->path, table->old, &levels, error));
    const struct level_leaf whole = {.rows = (uint32_t)count};
    const struct level_leaf *const leaves = levels ? levels->leaves : &whole;
    const uint32_t leaf_count = levels ? levels->leaf_count : 1, shift = levels ? levels->rest_bits : 0;
    memset(table->moves, 0xff, count * sizeof *table->moves);
    for (uint32_t f = 0; f < leaf_count; f++)
        for (uint32_t i = 0; i < leaves[f].rows; i++) {
            const uint64_t row = leaves[f].first_row + i, before = ((uint64_t)leaves[f].prefix << shift) + i;
            table->moves[before] = table->positions ? table->positions[row] : (int32_t)row;
            moved |= (uint64_t)table->moves[before] != before;
        }
    levels_free(levels);
    table->move_count = count;
    if (!moved) {
        free(table->moves);
        table->moves = NULL;
    }
    return STATUS_OK;
}

enum status table_moves(struct table_writer *table, struct error *error)
{
    if (!table->old || table->old->rows == 0 || table->moves_known)
        return STATUS_OK;
    if (table->sorter && !table_sorter_done(table->sorter))
        return error_set(error, STATUS_BAD_INPUT,
                         "table %s is not complete; write it before tables that reference it",
                         table->table.name);
    table->moves_known = true;
    return table->old->levels || table->positions ? fill_moves(table, error) : STATUS_OK;
}

struct table_writer *database_writer_appended(const struct database_writer *writer, const char *name)
{
    for (struct table_writer *table = writer->tables; table; table = table->next)
        if (table->old && strcmp(table->table.name, name) == 0)
            return table;
    return NULL;
}

/* ---- Rewriting keys ---- */

/* Makes the writer of a table that has only this column of an old one. */
static enum status begin_rewrite(struct database_writer *writer, const struct column *column,
                                 struct error *error)
{
    struct key_rewrite *rewrite;
    RETURN_IF_ERROR(tables_check(writer->path, column->table->name, error));
    RETURN_IF_ERROR(memory_zeros(&rewrite, sizeof *rewrite, "keys to rewrite", error));
    rewrite->column = column;
    rewrite->old = *column->table;
    rewrite->old.columns = column;
    rewrite->old.column_count = 1;
    rewrite->old.levels = NULL;
    rewrite->next = writer->rewrites;
    writer->rewrites = rewrite;
    RETURN_IF_ERROR(table_writer_create(writer, column->table->name, &column->schema, 1, column->table->rows,
                                        &rewrite->table, error));
    RETURN_IF_ERROR(table_append_begin(rewrite->table, &rewrite->old, rewrite->old.segment_count, error));
    return table_writer_codec(rewrite->table, 0, column->own_name, error);
}

static enum status write_rewrite(struct key_rewrite *rewrite, struct error *error)
{
    struct old_rows left;
    if (!rewrite->written)
        RETURN_IF_ERROR(table_writer_old(rewrite->table, 0, NULL, NULL, &left, error));
    return table_writer_check(rewrite->table, error);
}

static enum status rewrite_item(void *context, uint64_t item, unsigned thread, struct error *error)
{
    struct key_rewrite *rewrite = ((struct database_writer *)context)->rewrites;
    (void)thread;
    for (; item > 0; item--)
        rewrite = rewrite->next;
    RETURN_IF_ERROR(cancel_check(error));
    return write_rewrite(rewrite, error);
}

/* Looks at one key column of the old catalogue. */
static enum status begin_column(struct database_writer *writer, const struct column *column,
                                struct error *error)
{
    struct table_writer *const target = database_writer_appended(writer, column->schema.references_table),
                               *const own = database_writer_appended(writer, column->table->name);
    if (!target)
        return STATUS_OK;
    RETURN_IF_ERROR(table_moves(target, error));
    if (!target->moves || target == own || column->table->rows == 0)
        return STATUS_OK;
    if (!own)
        return begin_rewrite(writer, column, error);
    if (own->appended[column - column->table->columns].moved)
        return STATUS_OK;
    return error_set(error, STATUS_BAD_INPUT,
                     "table %s: column %s has old positions in table %s, which was laid out anew after it; "
                     "append to %s first",
                     column->table->name, column->schema.name, target->table.name, target->table.name);
}

enum status key_moves_write(struct database_writer *writer, struct error *error)
{
    uint64_t count = 0;
    for (uint32_t t = 0; t < writer->catalogue.table_count; t++) {
        const struct table *const table = &writer->catalogue.tables[t];
        const struct table *const after = database_writer_find(writer, table->name);
        if (after != table && !database_writer_appended(writer, table->name))
            continue; /* replaced: its keys are new */
        for (uint32_t c = 0; c < table->column_count; c++)
            if (table->columns[c].schema.references_table[0])
                RETURN_IF_ERROR(begin_column(writer, &table->columns[c], error));
    }
    for (const struct key_rewrite *rewrite = writer->rewrites; rewrite; rewrite = rewrite->next)
        count++;
    return parallel_for(0, count, rewrite_item, writer, error);
}

/* ---- The new catalogue ---- */

static bool is_rewritten(const struct database_writer *writer, const struct table *table)
{
    bool found = false;
    for (const struct key_rewrite *rewrite = writer->rewrites; rewrite; rewrite = rewrite->next)
        found |= strcmp(rewrite->old.name, table->name) == 0;
    return found;
}

/* The levels of a table that gets another column, whose values no level decides. */
static enum status extend_levels(struct table *table, struct error *error)
{
    struct table_levels *levels;
    uint8_t *depth;
    if (!table->levels)
        return STATUS_OK;
    RETURN_IF_ERROR(memory_take(&levels, sizeof *levels, "levels", error));
    *levels = *table->levels;
    levels->depth = NULL;
    const enum status status = memory_take(&depth, table->column_count + 1ull, "levels", error);
    if (status != STATUS_OK) {
        free(levels);
        return status;
    }
    memcpy(depth, table->levels->depth, table->column_count);
    depth[table->column_count] = (uint8_t)(levels->count + 1);
    levels->depth = depth;
    table->levels = levels;
    return STATUS_OK;
}

enum status key_moves_merge(const struct database_writer *writer, struct table *table, struct error *error)
{
    struct column *columns;
    enum status status = STATUS_OK;
    if (!is_rewritten(writer, table))
        return STATUS_OK;
    RETURN_IF_ERROR(
        memory_take(&columns, (table->column_count + 1ull) * sizeof *columns, "the catalogue", error));
    memcpy(columns, table->columns, table->column_count * sizeof *columns);
    for (const struct key_rewrite *rewrite = writer->rewrites; rewrite; rewrite = rewrite->next) {
        if (strcmp(rewrite->old.name, table->name) != 0)
            continue;
        if (!rewrite->column)
            status = AND_THEN(status, extend_levels(table, error));
        const uint32_t at =
            rewrite->column ? (uint32_t)(rewrite->column - table->columns) : table->column_count++;
        columns[at] = rewrite->table->table.columns[0];
    }
    table->columns = columns;
    return status;
}

void key_moves_unmerge(const struct database_writer *writer, const struct table *table)
{
    const struct table *const before = catalogue_table(&writer->catalogue, table->name);
    if (!is_rewritten(writer, table) || table->columns == before->columns)
        return;
    free((void *)table->columns);
    if (table->levels && table->levels != before->levels) {
        free((void *)table->levels->depth);
        free((void *)table->levels);
    }
}

void key_moves_free(struct database_writer *writer)
{
    while (writer->rewrites) {
        struct key_rewrite *const next = writer->rewrites->next;
        table_writer_free(writer->rewrites->table);
        free(writer->rewrites);
        writer->rewrites = next;
    }
}
