/*
 * used_positions.c: which rows of another table some row of a foreign key's table references (planner.h). The catalogue has the
 * least and the greatest position of a key, but not the extremes of the referenced rows' columns. The database keeps the
 * answer (kept_arrays.h). All threads set bits of one bitmap, 1 ns a row and thread.
 */
#include "engine/plan/dimensions/column_parts.h"
#include "engine/plan/planner.h"
#include "storage/base/memory.h"

#include <stdatomic.h>
#include <stdlib.h>

struct marking {
    const struct column *key;
    uint64_t positions;
    atomic_uint_least64_t *words;
};

static enum status mark(const struct marking *of, int64_t position, struct error *error)
{
    if (position < 0 || (uint64_t)position >= of->positions)
        return error_set(
            error, STATUS_BAD_INPUT,
            "column %s.%s points at position %lld of %s, where no row is; the file is damaged: load "
            "the table again",
            of->key->table->name, of->key->schema.name, (long long)position,
            of->key->references->table->name);
    atomic_uint_least64_t *const word = &of->words[position / 64];
    const uint64_t bit = UINT64_C(1) << position % 64;
    if (!(atomic_load_explicit(word, memory_order_relaxed) & bit))
        atomic_fetch_or_explicit(word, bit, memory_order_relaxed);
    return STATUS_OK;
}

static enum status mark_tile(void *context, const struct column_tile *tile, struct error *error)
{
    const struct marking *const of = context;
    for (uint32_t row = 0; row < tile->rows; row++)
        if (!tile->validity || tile_row_valid(tile->validity, row))
            RETURN_IF_ERROR(mark(of, row_value(tile->values, tile->value_bytes, row), error));
    return STATUS_OK;
}

enum status planner_used_positions(struct planner *planner, const struct column *key,
                                   const struct kept_array **used)
{
    struct database *const database = planner->plan->database;
    struct error *const error = planner->error;
    struct kept_array made = {.key = array_key_of(NULL, key, ARRAY_USED), .value_bytes = sizeof(uint64_t)};
    struct column_data *data;
    *used = kept_array_find(database, &made.key);
    if (*used)
        return STATUS_OK;
    RETURN_IF_ERROR(column_data_open(database, key, key->own, planner->threads, &data, error));
    struct marking of = {.key = key, .positions = table_positions(key->references->table)};
    made.bytes = (of.positions / 64 + 1) * sizeof *of.words;
    RETURN_IF_ERROR(memory_zeros(&of.words, made.bytes, key->schema.name, error));
    const enum status status = column_tiles_read(data, planner->threads, mark_tile, &of, error);
    if (status != STATUS_OK) {
        free(of.words);
        return status;
    }
    made.values = of.words;
    return kept_array_add(database, &made, used, error);
}
