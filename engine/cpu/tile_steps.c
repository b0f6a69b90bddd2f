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

void ISA(tile_steps_values)(struct tile_column *column, const struct tile *t, const uint16_t *rows,
                            uint32_t count, int64_t *values, uint8_t *nulls)
{
    tile_fetch_rows(t, column, rows, count);
    const int32_t *const from = column->values;
    for (uint32_t i = 0; i < count; i++)
        values[i] = from[rows[i]];
    if (!nulls)
        return;
    const uint32_t *const valid = column->validity ? column->validity + t->index * TILE_LANES : NULL;
    for (uint32_t i = 0; i < count; i++)
        nulls[i] = valid && !(valid[rows[i] % TILE_LANES] >> rows[i] / TILE_LANES & 1);
}
