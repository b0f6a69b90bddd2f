/* inspect_levels.c: see inspect_levels.h. */
#include "engine/program/inspect_levels.h"

#include <inttypes.h>
#include <stdio.h>

/* Rows a position. */
static double fill(const struct table *table)
{
    return (double)table->rows / (double)table->levels->positions;
}

static void leaf_rows(const struct table_levels *levels, uint32_t *least, uint32_t *most)
{
    *least = *most = levels->leaves[0].rows;
    for (uint32_t f = 1; f < levels->leaf_count; f++) {
        const uint32_t rows = levels->leaves[f].rows;
        *least = rows < *least ? rows : *least;
        *most = rows > *most ? rows : *most;
    }
}

static const char *level_name(const struct table *table, uint32_t level)
{
    return table->columns[table->levels->level[level].column].schema.name;
}

void inspect_levels_print(const struct table *table)
{
    const struct table_levels *const levels = table->levels;
    uint32_t least, most;
    leaf_rows(levels, &least, &most);
    printf("  levels: ");
    for (uint32_t l = 0; l < levels->count; l++)
        printf("%s:%" PRIu32 " | ", level_name(table, l), levels->level[l].bits);
    printf("rest:%" PRIu32 ", %" PRIu32 " bits of %" PRIu32 " a position\n", levels->rest_bits,
           levels->prefix_bits, levels->prefix_bits + levels->rest_bits);
    printf("  %" PRIu64 " positions, %.1f%% of them with a row; %" PRIu32 " lea%s of %" PRIu32 " to %" PRIu32
           " rows\n",
           levels->positions, 100 * fill(table), levels->leaf_count, levels->leaf_count == 1 ? "f" : "ves",
           least, most);
}

void inspect_depth_print(const struct column *column)
{
    const struct table *const table = column->table;
    const uint8_t depth = table->levels->depth[column - table->columns];
    if (depth > table->levels->count)
        return;
    printf("    decided by %s%s\n",
           depth == 0   ? "no level: it has one value"
           : depth == 1 ? "the level "
                        : "the levels down to ",
           depth ? level_name(table, depth - 1u) : "");
}

json_t *inspect_levels_json(const struct table *table)
{
    const struct table_levels *const levels = table->levels;
    json_t *list = json_array(), *depth = json_object();
    uint32_t least, most;
    int failed = !list || !depth;
    leaf_rows(levels, &least, &most);
    for (uint32_t l = 0; l < levels->count; l++)
        failed |= json_array_append_new(list, json_pack("{s:s, s:I}", "column", level_name(table, l), "bits",
                                                        (json_int_t)levels->level[l].bits));
    for (uint32_t c = 0; c < table->column_count; c++)
        failed |= json_object_set_new(depth, table->columns[c].schema.name, json_integer(levels->depth[c]));
    json_t *object = json_pack("{s:o, s:I, s:I, s:I, s:f, s:I, s:I, s:I, s:o}", "levels", list, "prefix_bits",
                               (json_int_t)levels->prefix_bits, "rest_bits", (json_int_t)levels->rest_bits,
                               "positions", (json_int_t)levels->positions, "fill", fill(table), "leaves",
                               (json_int_t)levels->leaf_count, "least_leaf_rows", (json_int_t)least,
                               "most_leaf_rows", (json_int_t)most, "depth", depth);
    if (!failed)
        return object;
    json_decref(object);
    return NULL;
}
