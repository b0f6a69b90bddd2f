/* level_layout.c: see level_layout.h. */
#include "storage/database/levels/level_layout.h"

#include "storage/base/memory.h"
#include "storage/column/column.h"

#include <stdlib.h>
#include <string.h>

bool level_bits_fit(uint32_t bits, uint64_t rows)
{
    const uint64_t most = rows * LEVEL_POSITIONS_A_ROW;
    return bits <= LEVELS_BITS_MAX &&
           UINT64_C(1) << bits <= (most > LEVEL_POSITIONS_MIN ? most : LEVEL_POSITIONS_MIN);
}

void level_layout_free(struct level_layout *layout)
{
    for (uint32_t l = 0; l < LEVELS_MAX; l++)
        level_groups_free(&layout->groups[l]);
    free(layout->leaves);
    *layout = (struct level_layout){0};
}

/* The most groups that one parent has. */
static uint32_t most_children(const struct level_groups *groups)
{
    uint32_t most = 0, children = 0;
    for (uint32_t g = 0; g < groups->count; g++) {
        children = g > 0 && groups->parent[g] == groups->parent[g - 1] ? children + 1 : 1;
        most = children > most ? children : most;
    }
    return most;
}

/* The prefix of each group of a level, from those of its parents. */
static void add_level(const struct level_groups *groups, uint32_t bits, const uint32_t *above,
                      uint32_t *prefixes)
{
    uint32_t rank = 0;
    for (uint32_t g = 0; g < groups->count; g++) {
        rank = g > 0 && groups->parent[g] == groups->parent[g - 1] ? rank + 1 : 0;
        prefixes[g] = (above ? above[groups->parent[g]] << bits : 0) | rank;
    }
}

static enum status fill_prefixes(struct level_layout *layout, struct error *error)
{
    uint32_t *above = NULL, *prefixes = NULL;
    enum status status = STATUS_OK;
    for (uint32_t l = 0; l < layout->count && status == STATUS_OK; l++) {
        status = memory_take(&prefixes, layout->groups[l].count * sizeof *prefixes, "levels", error);
        if (status == STATUS_OK)
            add_level(&layout->groups[l], layout->bits[l], above, prefixes);
        free(above);
        above = prefixes;
    }
    for (uint32_t f = 0; status == STATUS_OK && f < layout->leaf_count; f++)
        layout->leaves[f].prefix = above[f];
    free(above);
    return status;
}

/* Counts the rows of each leaf; gives those of the largest. */
static uint32_t count_rows(struct level_layout *layout)
{
    const uint32_t *const leaf_of = layout->groups[layout->count - 1].of_row;
    uint32_t most = 0;
    uint64_t first = 0;
    for (uint64_t r = 0; r < layout->rows; r++)
        layout->leaves[leaf_of[r]].rows++;
    for (uint32_t f = 0; f < layout->leaf_count; f++) {
        layout->leaves[f].first_row = first;
        first += layout->leaves[f].rows;
        most = layout->leaves[f].rows > most ? layout->leaves[f].rows : most;
    }
    return most;
}

static enum status make_groups(struct level_layout *layout, const struct level_codes *const *levels,
                               struct error *error)
{
    for (uint32_t l = 0; l < layout->count; l++) {
        struct level_groups *const above = l ? &layout->groups[l - 1] : NULL;
        RETURN_IF_ERROR(level_groups_make(above, levels[l], layout->rows, &layout->groups[l], error));
        if (layout->groups[l].count == 0)
            return STATUS_OK; /* too many */
        if (above) {
            free(above->of_row);
            above->of_row = NULL;
        }
    }
    layout->leaf_count = layout->groups[layout->count - 1].count;
    return STATUS_OK;
}

static enum status lay_out(struct level_layout *layout, const struct level_codes *const *levels,
                           const uint32_t *bits_least, uint32_t rest_least, bool *fits, struct error *error)
{
    RETURN_IF_ERROR(make_groups(layout, levels, error));
    if (layout->leaf_count == 0)
        return STATUS_OK;
    RETURN_IF_ERROR(
        memory_zeros(&layout->leaves, layout->leaf_count * sizeof *layout->leaves, "levels", error));
    for (uint32_t l = 0; l < layout->count; l++) {
        const uint32_t needed = level_bits(most_children(&layout->groups[l])),
                       least = bits_least ? bits_least[l] : 0;
        layout->bits[l] = needed > least ? needed : least;
        layout->prefix_bits += layout->bits[l];
    }
    const uint32_t rest = level_bits(count_rows(layout));
    layout->rest_bits = rest > rest_least ? rest : rest_least;
    if (!level_bits_fit(layout->prefix_bits + layout->rest_bits, layout->rows))
        return STATUS_OK;
    *fits = true;
    RETURN_IF_ERROR(fill_prefixes(layout, error));
    const struct level_leaf *const last = &layout->leaves[layout->leaf_count - 1];
    layout->positions = ((uint64_t)last->prefix << layout->rest_bits) + last->rows;
    return STATUS_OK;
}

enum status level_layout_make(const struct level_codes *const *levels, uint32_t count, uint64_t rows,
                              const uint32_t *bits_least, uint32_t rest_least, bool *fits,
                              struct level_layout *layout, struct error *error)
{
    *layout = (struct level_layout){.count = count, .rows = rows};
    *fits = false;
    const enum status status = lay_out(layout, levels, bits_least, rest_least, fits, error);
    if (status != STATUS_OK || !*fits)
        level_layout_free(layout);
    return status;
}

void level_layout_order(const struct level_layout *layout, uint32_t *order, int32_t *positions)
{
    const uint32_t *const leaf_of = layout->groups[layout->count - 1].of_row;
    for (uint64_t r = 0; r < layout->rows; r++) {
        struct level_leaf *const leaf = &layout->leaves[leaf_of[r]];
        positions[r] = (int32_t)(leaf->prefix << layout->rest_bits);
        order[leaf->first_row++] = (uint32_t)r;
    }
    for (uint32_t f = 0; f < layout->leaf_count; f++) {
        struct level_leaf *const leaf = &layout->leaves[f];
        leaf->first_row -= leaf->rows;
        for (uint32_t i = 0; i < leaf->rows; i++)
            positions[order[leaf->first_row + i]] += (int32_t)i;
    }
}

/* ---- Depth ---- */

/* The value that the rows of each group have. */
struct group_values {
    int64_t *values;
    uint8_t *states; /* 0: no row seen; 1: NULL; 2: a value */
};

/* False if the group has another value already. */
static bool take(const struct group_values *into, uint32_t group, int64_t value, uint8_t state)
{
    if (!into->states[group]) {
        into->values[group] = value;
        into->states[group] = state;
        return true;
    }
    return into->states[group] == state && (state == 1 || into->values[group] == value);
}

static int64_t value_of(const struct level_values *column, uint64_t row)
{
    return column->value_bytes == 2 ? ((const uint16_t *)column->values)[row]
                                    : row_value(column->values, column->value_bytes, row);
}

static bool take_rows(const struct level_layout *layout, const struct level_values *column,
                      const struct group_values *into)
{
    const uint32_t *const leaf_of = layout->groups[layout->count - 1].of_row;
    for (uint64_t r = 0; r < layout->rows; r++) {
        const bool valid = !column->validity || row_valid(column->validity, r);
        if (!take(into, leaf_of[r], value_of(column, r), valid ? 2 : 1))
            return false;
    }
    return true;
}

/* Merges groups into their parents, in place: a parent's number is never larger than its group's. */
static bool merge_groups(const struct level_groups *groups, const struct group_values *values, uint8_t *seen)
{
    memcpy(seen, values->states, groups->count);
    memset(values->states, 0, groups->count);
    for (uint32_t g = 0; g < groups->count; g++)
        if (!take(values, groups->parent[g], values->values[g], seen[g]))
            return false;
    return true;
}

enum status level_layout_depth(const struct level_layout *layout, const struct level_values *column,
                               uint8_t *depth, struct error *error)
{
    struct group_values values = {0};
    uint8_t *seen = NULL;
    uint32_t least = layout->count + 1;
    enum status status =
        memory_take(&values.values, layout->leaf_count * sizeof *values.values, "levels", error);
    status = AND_THEN(status, memory_zeros(&values.states, layout->leaf_count, "levels", error));
    status = AND_THEN(status, memory_take(&seen, layout->leaf_count, "levels", error));
    if (status == STATUS_OK && take_rows(layout, column, &values)) {
        least = layout->count;
        while (least > 0 && merge_groups(&layout->groups[least - 1], &values, seen))
            least--;
    }
    *depth = (uint8_t)least;
    free(seen);
    free(values.values);
    free(values.states);
    return status;
}
