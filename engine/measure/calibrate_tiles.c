/* calibrate_tiles.c: runs the operators of the tile dialect over tiles of one column, for calibrate.h. */
#include "engine/measure/calibrate.h"

calibrate_tiles ISA(calibrate_tiles);

uint64_t ISA(calibrate_tiles)(enum codec_use use, struct tile_column *column,
                              const struct tile_dimension *dimension, const tile_mask *fetched,
                              uint32_t tiles, struct tile_list *list)
{
    uint64_t total = 0;
    column->decoded = -1;
    for (uint32_t index = 0; index < tiles; index++) {
        const struct tile tile = {.index = index, .rows = TILE_ROWS, .list = list}, *const t = &tile;
        tile_mask keep = use == CODEC_USE_FETCH ? *fetched : tile_all(t);
        if (use == CODEC_USE_FETCH) {
            tile_fetch(t, keep, *column);
            tile_each (t, keep, row)
                total += (uint32_t)tile_value(t, *column, row);
            continue;
        }
        keep = use == CODEC_USE_COMPARE ? tile_filter(t, keep, *column)
                                        : tile_semi_join(t, keep, *column, *dimension);
        total += tile_count(&keep);
    }
    return total;
}
