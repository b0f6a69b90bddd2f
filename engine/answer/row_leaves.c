/* row_leaves.c: see row_leaves.h. Rows ascend, so each tile is decoded once, and its rows are taken by one loop. */
#include "engine/answer/row_leaves.h"

#include <string.h>

/* ---- Fact columns ---- */

#define TAKE(type)                                                                 \
    {                                                                              \
        const type *const from = decoded;                                          \
        if (rows[count - 1] - rows[0] == count - 1) { /* they follow each other */ \
            for (uint32_t i = 0; i < count; i++)                                   \
                values[i] = from[rows[0] - first + i];                             \
        } else {                                                                   \
            for (uint32_t i = 0; i < count; i++)                                   \
                values[i] = from[rows[i] - first];                                 \
        }                                                                          \
    }

/* The values of a tile, whose first row is `first`, in rows of it. */
static void take_values(const void *decoded, uint32_t value_bytes, uint64_t first, const uint64_t *rows,
                        uint32_t count, int64_t *values)
{
    if (value_bytes == sizeof(int32_t))
        TAKE(int32_t)
    else
        TAKE(int64_t)
}

/* `lanes` is the validity of a tile (struct segment_data); NULL: no value is NULL. */
static void take_nulls(const uint32_t *lanes, uint64_t first, const uint64_t *rows, uint32_t count,
                       uint8_t *nulls)
{
    if (!lanes) {
        memset(nulls, 0, count);
        return;
    }
    for (uint32_t i = 0; i < count; i++) {
        const uint32_t row = (uint32_t)(rows[i] - first);
        nulls[i] = !(lanes[row % TILE_LANES] >> row / TILE_LANES & 1);
    }
}

/* Up to so many rows of a tile are fetched one by one, if the codec can: 5 to 16 cycles each, where decoding the tile takes 100 to
 * 350. */
#define ROWS_ALONE 12u

/* The same of a chunk's tile. */
static enum status tile_values(const struct row_leaves *leaves, uint32_t index,
                               const struct chunk_view *chunk, uint32_t tile, uint64_t first,
                               const uint64_t *rows, uint32_t count, int64_t *values, struct error *error)
{
    const void *decoded;
    if (count <= ROWS_ALONE && chunk->codec->random_access) {
        for (uint32_t i = 0; i < count; i++)
            values[i] = chunk->codec->value(chunk, (uint32_t)(tile * TILE_ROWS + (rows[i] - first)));
        return STATUS_OK;
    }
    RETURN_IF_ERROR(chunk_reader_tile(&leaves->readers[index], chunk, tile, &decoded, error));
    take_values(decoded, chunk->value_bytes, first, rows, count, values);
    return STATUS_OK;
}

/* How many of the rows are before `end`. */
static uint32_t rows_before(const uint64_t *rows, uint32_t count, uint64_t end)
{
    uint32_t low = 0, high = count;
    if (rows[count - 1] < end)
        return count;
    while (low < high) {
        const uint32_t middle = low + (high - low) / 2;
        if (rows[middle] < end)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

static enum status fact_values(const struct row_leaves *leaves, uint32_t index, const uint64_t *rows,
                               uint32_t count, int64_t *values, uint8_t *nulls, struct error *error)
{
    const struct column_data *const data = leaves->plan->columns[index].data;
    uint64_t segment_first = 0;
    uint32_t segment = 0;
    for (uint32_t i = 0, here; i < count; i += here) {
        while (rows[i] >= segment_first + data->segments[segment].chunk.rows)
            segment_first += data->segments[segment++].chunk.rows;
        const struct segment_data *const at = &data->segments[segment];
        const uint32_t tile = (uint32_t)((rows[i] - segment_first) / TILE_ROWS);
        const uint64_t first = segment_first + (uint64_t)tile * TILE_ROWS,
                       segment_end = segment_first + at->chunk.rows,
                       end = segment_end - first < TILE_ROWS ? segment_end : first + TILE_ROWS;
        here = rows_before(rows + i, count - i, end);
        RETURN_IF_ERROR(
            tile_values(leaves, index, &at->chunk, tile, first, rows + i, here, values + i, error));
        if (nulls)
            take_nulls(at->validity ? at->validity + tile * TILE_LANES : NULL, first, rows + i, here,
                       nulls + i);
    }
    return STATUS_OK;
}

/* ---- Dimension columns ---- */

static bool matches(const struct plan *plan, const struct plan_join *join, int64_t position,
                    struct expression_program *program)
{
    plan_fill_dimension(plan, program, (uint64_t)position, 1);
    expression_program_run(program, 1);
    const struct vector truth = expression_program_vector(program, join->match);
    return truth.values[0] && !(truth.nulls && truth.nulls[0]);
}

/* Rows that have no match because of the predicate of a left join are missing; that of an inner join has already been
 * applied. */
static enum status find_missing(const struct plan *plan, const struct plan_join *join,
                                const int64_t *positions, uint32_t count, uint8_t *missing,
                                struct error *error)
{
    struct expression_program *program;
    if (join->inner || join->match == EXPRESSION_NONE)
        return STATUS_OK;
    RETURN_IF_ERROR(expression_program_create(&plan->expressions, &join->match, 1, &program, error));
    for (uint32_t i = 0; i < count; i++)
        missing[i] = missing[i] || !matches(plan, join, positions[i], program);
    expression_program_free(program);
    return STATUS_OK;
}

static enum status dimension_values(const struct row_leaves *leaves, const struct plan_source *source,
                                    const uint64_t *rows, uint32_t count, struct vector leaf,
                                    struct error *error)
{
    const struct plan *const plan = leaves->plan;
    const struct plan_join *const join = &plan->joins[source->join];
    int64_t positions[VECTOR_ROWS];
    uint8_t missing[VECTOR_ROWS];
    RETURN_IF_ERROR(fact_values(leaves, join->column, rows, count, positions, missing, error));
    RETURN_IF_ERROR(find_missing(plan, join, positions, count, missing, error));
    const bool any = memchr(missing, 1, count) != NULL;
    for (uint32_t i = 0; any && i < count; i++)
        positions[i] = missing[i] ? 0 : positions[i];
    plan_array_gather(&plan->arrays[source->column], positions, any ? missing : NULL, count, leaf.values,
                      leaf.nulls);
    for (uint32_t i = 0; any && i < count; i++)
        leaf.values[i] = missing[i] ? 0 : leaf.values[i];
    return STATUS_OK;
}

enum status row_leaves_fill(const struct row_leaves *leaves, const struct plan_source *source,
                            const uint64_t *rows, uint32_t count, struct vector leaf, struct error *error)
{
    return count == 0 ? STATUS_OK
           : source->join < 0
               ? fact_values(leaves, source->column, rows, count, leaf.values, leaf.nulls, error)
               : dimension_values(leaves, source, rows, count, leaf, error);
}
