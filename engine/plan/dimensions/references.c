/*
 * references.c: which row of another table each row of a foreign key's table references, and of that table's own references
 * (plan.h, planner.h). The stored keys are positions; -1 stands for NULL. On all threads takes 1 ns a row.
 */
#include "engine/plan/dimensions/column_parts.h"
#include "engine/plan/planner.h"
#include "storage/base/memory.h"
#include "storage/base/parallel.h"
#include "storage/column/positions.h"

#include <stdlib.h>

struct references {
    const struct column *column;
    const int32_t *row_at; /* the row of each position of a referenced table with levels; else NULL */
    uint64_t limit;        /* its positions */
    int32_t *rows;
};

/* The row that is referenced from row `row` of the table. */
static enum status reference(const struct references *of, uint64_t row, int64_t position, struct error *error)
{
    const bool found =
        position >= 0 && (uint64_t)position < of->limit && (!of->row_at || of->row_at[position] >= 0);
    if (!found)
        return error_set(error, STATUS_BAD_INPUT,
                         "column %s.%s, row %llu points at position %lld of %s, where no row is; the file is "
                         "damaged: load the table again",
                         of->column->table->name, of->column->schema.name, (unsigned long long)row + 1,
                         (long long)position, of->column->references->table->name);
    of->rows[row] = of->row_at ? of->row_at[position] : (int32_t)position;
    return STATUS_OK;
}

static enum status take_tile(void *context, const struct column_tile *tile, struct error *error)
{
    const struct references *const of = context;
    for (uint32_t row = 0; row < tile->rows; row++)
        if (tile->validity && !tile_row_valid(tile->validity, row))
            of->rows[tile->row + row] = -1;
        else
            RETURN_IF_ERROR(
                reference(of, tile->row + row, row_value(tile->values, tile->value_bytes, row), error));
    return STATUS_OK;
}

enum status plan_references_read(struct plan *plan, const struct column *column, unsigned threads,
                                 int32_t **rows, struct error *error)
{
    const struct table *const to = column->references->table;
    struct column_data *data;
    int32_t *row_at = NULL;
    *rows = NULL;
    RETURN_IF_ERROR(column_data_open(plan->database, column, column->own, threads, &data, error));
    RETURN_IF_ERROR(memory_take(rows, (column->table->rows + 1) * sizeof **rows, column->schema.name, error));
    enum status status = to->levels ? rows_of_positions(to, &row_at, error) : STATUS_OK;
    struct references of = {.column = column, .row_at = row_at, .limit = table_positions(to), .rows = *rows};
    if (status == STATUS_OK)
        status = column_tiles_read(data, threads, take_tile, &of, error);
    if (status != STATUS_OK) {
        free(*rows);
        *rows = NULL;
    }
    free(row_at);
    return status;
}

/* ---- References of references ---- */

struct composing {
    const int32_t *rows, *own;
    uint64_t count;
    int32_t *referenced;
};

static enum status compose_part(void *context, uint64_t item, unsigned thread, struct error *error)
{
    const struct composing *const of = context;
    const uint64_t first = item * PART_ROWS,
                   end = of->count - first < PART_ROWS ? of->count : first + PART_ROWS;
    (void)thread, (void)error;
    for (uint64_t i = first; i < end; i++)
        of->referenced[i] = of->rows[i] < 0 ? -1 : of->own[of->rows[i]];
    return STATUS_OK;
}

/* Replaces the rows that `key` references in each row of its table, *own, by those at each of `count` positions. After a
 * failure they are as they were. */
static enum status rows_at_positions(struct planner *planner, const struct column *key,
                                     const struct kept_array *rows, uint64_t count, int32_t **own)
{
    int32_t *at;
    if (!rows)
        return key->table->levels ? positions_spread_own(key->table, sizeof **own, own, planner->error)
                                  : STATUS_OK;
    RETURN_IF_ERROR(memory_take(&at, (count + 1) * sizeof *at, "a dimension's positions", planner->error));
    const enum status status =
        parallel_for(planner->threads, (count + PART_ROWS - 1) / PART_ROWS, compose_part,
                     &(struct composing){rows->values, *own, count, at}, planner->error);
    if (status != STATUS_OK) {
        free(at);
        return status;
    }
    free(*own);
    *own = at;
    return STATUS_OK;
}

enum status planner_rows(struct planner *planner, const struct column *key, const struct kept_array *rows,
                         uint64_t count, const struct kept_array **referenced)
{
    struct database *const database = planner->plan->database;
    struct kept_array made = {.key = array_key_of(rows, key, ARRAY_ROWS), .value_bytes = sizeof(int32_t)};
    int32_t *own;
    *referenced = kept_array_find(database, &made.key);
    if (*referenced)
        return STATUS_OK;
    RETURN_IF_ERROR(plan_references_read(planner->plan, key, planner->threads, &own, planner->error));
    const enum status status = rows_at_positions(planner, key, rows, count, &own);
    if (status != STATUS_OK) {
        free(own);
        return status;
    }
    made.values = own;
    made.bytes = (count + 1) * sizeof *own;
    return kept_array_add(database, &made, referenced, planner->error);
}
