/* tile_steps.c: see tile_steps.h. Called once for each tile and column; count <= 1024. */
#include "engine/cpu/tile_steps.h"

uint32_t ISA(tile_steps_rows)(const struct tile_step *steps, uint32_t step_count, const struct tile *t,
                              const uint64_t *mask, uint16_t *rows, struct scan_point *points,
                              uint64_t *since)
{
    tile_mask keep = tile_all(t);
    if (mask)
        memcpy(keep.bits, mask, sizeof keep.bits);
    for (uint32_t s = 0; s < step_count; s++) {
        if (points)
            scan_point_reach(&points[s], tile_count(&keep), since);
        keep = steps[s].dimension       ? tile_semi_join_(t, keep, steps[s].column, steps[s].dimension)
               : steps[s].probe.members ? tile_probe(t, keep, steps[s].column, &steps[s].probe)
                                        : tile_filter_(t, keep, steps[s].column);
    }
    const struct tile_list *list = tile_list_of(t, &keep);
    if (points)
        scan_point_reach(&points[step_count], list->count, since);
    memcpy(rows, list->rows, list->count * sizeof *rows);
    return list->count;
}

/* Writes a 1 for each NULL. The words of `valid` are in lane order (tile_bits_valid). */
static void find_nulls(const uint32_t *valid, const uint16_t *rows, uint32_t count, bool all, uint8_t *nulls)
{
    if (all)
        for (uint32_t row = 0; row < count; row++)
            nulls[row] = !(valid[row % TILE_LANES] >> row / TILE_LANES & 1);
    else
        for (uint32_t i = 0; i < count; i++)
            nulls[i] = !(valid[rows[i] % TILE_LANES] >> rows[i] / TILE_LANES & 1);
}

/* NULL: no row of the tile is NULL. */
static const uint32_t *tile_validity(const struct tile_column *column, const struct tile *t)
{
    const uint32_t *const valid = column->validity ? column->validity + t->index * TILE_LANES : NULL;
    uint32_t all = UINT32_MAX;
    for (uint32_t lane = 0; valid && lane < TILE_LANES; lane++)
        all &= valid[lane];
    return all == UINT32_MAX ? NULL : valid;
}

void ISA(tile_steps_values)(struct tile_column *column, const struct tile *t, const uint16_t *rows,
                            uint32_t count, int64_t *values, uint8_t *nulls)
{
    tile_fetch_rows(t, column, rows, count);
    const int32_t *const from = column->values;
    const bool all = count == t->rows;
    for (uint32_t i = 0; all && i < count; i++)
        values[i] = from[i];
    for (uint32_t i = 0; !all && i < count; i++)
        values[i] = from[rows[i]];
    if (!nulls)
        return;
    const uint32_t *const valid = tile_validity(column, t);
    if (valid)
        find_nulls(valid, rows, count, all, nulls);
    else
        memset(nulls, 0, count);
}

struct row_vector ISA(tile_steps_term)(const struct tile_term *term, const struct tile *t,
                                       const uint16_t *rows, uint32_t count)
{
    int32_t *const buffer = term->buffer;
    uint8_t *const nulls = (uint8_t *)(buffer + TILE_ROWS);
    tile_fetch_rows(t, term->column, rows, count);
    const int32_t *from = term->column->values;
    const uint32_t *const valid = tile_validity(term->column, t);
    const bool all = count == t->rows;
    if (!all) {
        for (uint32_t i = 0; i < count; i++)
            buffer[i] = from[rows[i]];
        from = buffer;
    }
    if (term->mask != UINT32_MAX) {
        for (uint32_t i = 0; i < count; i++)
            buffer[i] = (int32_t)((uint32_t)from[i] >> term->shift & term->mask);
        from = buffer;
    }
    if (valid)
        find_nulls(valid, rows, count, all, nulls);
    return (struct row_vector){.narrow = from, .nulls = valid ? nulls : NULL};
}

/* A code is NULL ? 0 : value - base, but at most `last`. Codes of small domains are multiplied in 32 bits. */
#define ADD_CODES(type, source, NULLS)                                                   \
    for (uint32_t i = 0; i < count; i++) {                                               \
        type code = (type)(source)[i] - (type)base;                                      \
        code = (NULLS) ? 0 : code;                                                       \
        code = code < (type)last ? code : (type)last;                                    \
        const uint64_t part = small ? (uint32_t)code * (uint32_t)stride : code * stride; \
        numbers[i] = (first ? i % GROUP_COPIES * spread : numbers[i]) + part;            \
    }

static inline __attribute__((always_inline)) void add_codes(const struct plan_group *group,
                                                            const struct row_vector *from, uint32_t count,
                                                            bool small, bool first, uint32_t spread,
                                                            uint64_t *restrict numbers)
{
    const uint64_t base = (uint64_t)group->low - group->nullable, last = group->domain - 1,
                   stride = group->stride;
    if (from->narrow && small && from->nulls)
        ADD_CODES(uint32_t, from->narrow, from->nulls[i])
    else if (from->narrow && small)
        ADD_CODES(uint32_t, from->narrow, false)
    else if (from->narrow)
        ADD_CODES(uint64_t, from->narrow, from->nulls && from->nulls[i])
    else if (from->nulls)
        ADD_CODES(uint64_t, from->values, from->nulls[i])
    else
        ADD_CODES(uint64_t, from->values, false)
}

void ISA(tile_steps_number)(const struct plan_group *group, const struct row_vector *from, uint32_t count,
                            bool first, uint32_t spread, uint64_t *numbers)
{
    const bool small = (unsigned __int128)group->domain * group->stride <= UINT32_MAX;
    if (small && first)
        add_codes(group, from, count, true, true, spread, numbers);
    else if (small)
        add_codes(group, from, count, true, false, 0, numbers);
    else
        add_codes(group, from, count, false, first, spread, numbers);
}
