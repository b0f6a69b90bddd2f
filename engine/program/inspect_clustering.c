/* inspect_clustering.c: see inspect_clustering.h. */
#include "engine/program/inspect_clustering.h"

#include "storage/base/memory.h"
#include "storage/column/column_data.h"
#include "storage/column/levels_file.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

/* The codes with rows of the first levels, ascending. */
struct codes {
    uint32_t *list;
    uint32_t count, shift; /* of a position */
};

static enum status list_codes(const struct table_levels *levels, uint32_t depth, struct codes *codes,
                              struct error *error)
{
    const uint32_t below = levels_shift(levels, depth) - levels->rest_bits;
    *codes = (struct codes){.shift = levels_shift(levels, depth)};
    RETURN_IF_ERROR(memory_take(&codes->list, (levels->leaf_count + 1ull) * sizeof *codes->list,
                                "a table's levels", error));
    for (uint32_t l = 0; l < levels->leaf_count; l++) {
        const uint32_t code = levels->leaves[l].prefix >> below;
        if (codes->count == 0 || codes->list[codes->count - 1] != code)
            codes->list[codes->count++] = code;
    }
    return STATUS_OK;
}

/* How many codes are before `end`. */
static uint32_t codes_before(const struct codes *codes, int64_t end)
{
    uint32_t low = 0, high = codes->count;
    while (low < high) {
        const uint32_t middle = low + (high - low) / 2;
        if (codes->list[middle] < end)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

/* The share of pairs of a tile and a code that the tile may have. */
static double share_of(const struct column_data *data, const struct codes *codes)
{
    uint64_t tiles = 0, pairs = 0;
    for (uint32_t s = 0; s < data->segment_count; s++) {
        const int64_t *const ends = data->segments[s].tile_min_max;
        tiles += data->segments[s].chunk.tiles;
        for (uint32_t tile = 0; tile < data->segments[s].chunk.tiles; tile++)
            if (ends[2 * tile] <= ends[2 * tile + 1])
                pairs += codes_before(codes, (ends[2 * tile + 1] >> codes->shift) + 1) -
                         codes_before(codes, ends[2 * tile] >> codes->shift);
    }
    return tiles && codes->count ? (double)pairs / ((double)tiles * codes->count) : 0;
}

static enum status read_term(const char *directory, const struct table *table,
                             const struct cluster_term *term, struct shown_term *shown, struct error *error)
{
    const struct column *const column = &table->columns[term->column];
    const struct table *const referenced = column->references ? column->references->table : NULL;
    struct column_data *data;
    struct codes codes;
    *shown = (struct shown_term){0};
    if (!referenced || !referenced->levels)
        return STATUS_OK;
    RETURN_IF_ERROR(levels_load(referenced, error));
    const struct table_levels *const levels = referenced->levels;
    const uint32_t depth = term->number < levels->count ? term->number : levels->count;
    if (depth == 0)
        return STATUS_OK;
    shown->level = referenced->columns[levels->level[depth - 1].column].schema.name;
    RETURN_IF_ERROR(list_codes(levels, depth, &codes, error));
    const enum status status = column_data_read(directory, column, column->own, 0, &data, error);
    if (status == STATUS_OK) {
        shown->left = share_of(data, &codes);
        column_data_free(data);
    }
    free(codes.list);
    return status;
}

enum status inspect_clustering_read(const char *directory, const struct table *table,
                                    struct shown_term shown[CLUSTER_TERMS_MAX], struct error *error)
{
    for (uint32_t t = 0; t < table->clustering.count; t++)
        RETURN_IF_ERROR(read_term(directory, table, &table->clustering.terms[t], &shown[t], error));
    return STATUS_OK;
}

void inspect_clustering_print(const struct table *table, const struct shown_term *shown)
{
    printf("  clustered by");
    for (uint32_t t = 0; t < table->clustering.count; t++) {
        const struct cluster_term *const term = &table->clustering.terms[t];
        printf("%s %s", t ? "," : "", table->columns[term->column].schema.name);
        if (shown[t].level)
            printf(" (%s: one value leaves %.1f%% of the tiles)", shown[t].level, 100 * shown[t].left);
        else
            printf(" (%" PRIu32 " bit%s)", term->number, term->number == 1 ? "" : "s");
    }
    putchar('\n');
}

json_t *inspect_clustering_json(const struct table *table, const struct shown_term *shown)
{
    json_t *list = json_array();
    int failed = !list;
    for (uint32_t t = 0; t < table->clustering.count; t++) {
        const struct cluster_term *const term = &table->clustering.terms[t];
        json_t *object = json_pack("{s:s, s:I}", "column", table->columns[term->column].schema.name,
                                   shown[t].level ? "levels" : "bits", (json_int_t)term->number);
        if (object && shown[t].level)
            failed |= json_object_set_new(object, "level", json_string(shown[t].level)) |
                      json_object_set_new(object, "tiles_left", json_real(shown[t].left));
        failed |= json_array_append_new(list, object);
    }
    if (!failed)
        return list;
    json_decref(list);
    return NULL;
}
