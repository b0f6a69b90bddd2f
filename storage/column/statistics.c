/* statistics.c: minima, maxima and runs; see statistics.h. */
#include "storage/column/statistics.h"

/* For values without NULLs: three loops without branches over one tile in the first-level cache, which
 * compilers vectorise. `previous` is the value before the tile. For the first tile it is the tile's own first
 * value, and the caller adds one run. */
#define DENSE_TILE(name, type)                                                               \
    static uint64_t name(const type *values, uint32_t rows, type previous, int64_t *min_max) \
    {                                                                                        \
        type min = values[0], max = values[0];                                               \
        uint32_t changes = values[0] != previous;                                            \
        for (uint32_t r = 0; r < rows; r++) {                                                \
            min = values[r] < min ? values[r] : min;                                         \
            max = values[r] > max ? values[r] : max;                                         \
        }                                                                                    \
        for (uint32_t r = 1; r < rows; r++)                                                  \
            changes += values[r] != values[r - 1];                                           \
        min_max[0] = min;                                                                    \
        min_max[1] = max;                                                                    \
        return changes;                                                                      \
    }
DENSE_TILE(dense_tile_int32, int32_t)
DENSE_TILE(dense_tile_int64, int64_t)

/* For tiles with NULLs, which count for runs only. */
#define SPARSE_TILE(name, type)                                                                       \
    static uint64_t name(const type *values, uint32_t first, uint32_t rows, const uint64_t *validity, \
                         type previous, int64_t *min_max)                                             \
    {                                                                                                 \
        int64_t min = INT64_MAX, max = INT64_MIN;                                                     \
        uint64_t changes = 0;                                                                         \
        for (uint32_t r = 0; r < rows; r++) {                                                         \
            bool valid = row_valid(validity, first + r);                                              \
            min = valid && values[r] < min ? values[r] : min;                                         \
            max = valid && values[r] > max ? values[r] : max;                                         \
            changes += values[r] != previous;                                                         \
            previous = values[r];                                                                     \
        }                                                                                             \
        min_max[0] = min;                                                                             \
        min_max[1] = max;                                                                             \
        return changes;                                                                               \
    }
SPARSE_TILE(sparse_tile_int32, int32_t)
SPARSE_TILE(sparse_tile_int64, int64_t)

void statistics_segment(const void *values, uint32_t value_bytes, uint32_t rows, const uint64_t *validity,
                        int64_t *tile_min_max, struct column_statistics *statistics)
{
    *statistics = COLUMN_STATISTICS_NONE;
    statistics->bits = (struct double_bits){0};
    statistics->runs = rows > 0;
    for (uint32_t row = 0; row < rows; row += TILE_ROWS) {
        uint32_t count = rows - row < TILE_ROWS ? rows - row : TILE_ROWS, before = row ? row - 1 : 0;
        int64_t *min_max = tile_min_max + 2 * (row / TILE_ROWS);
        if (value_bytes == 4) {
            const int32_t *all = values;
            statistics->runs += validity
                                    ? sparse_tile_int32(all + row, row, count, validity, all[before], min_max)
                                    : dense_tile_int32(all + row, count, all[before], min_max);
        } else {
            const int64_t *all = values;
            statistics->runs += validity
                                    ? sparse_tile_int64(all + row, row, count, validity, all[before], min_max)
                                    : dense_tile_int64(all + row, count, all[before], min_max);
        }
        statistics->min = min_max[0] < statistics->min ? min_max[0] : statistics->min;
        statistics->max = min_max[1] > statistics->max ? min_max[1] : statistics->max;
    }
    for (uint32_t row = 0; validity && row < rows; row++)
        statistics->nulls += !row_valid(validity, row);
}

static struct tile_bounds join_bounds(struct tile_bounds a, struct tile_bounds b)
{
    return (struct tile_bounds){.min_low = a.min_low < b.min_low ? a.min_low : b.min_low,
                                .min_high = a.min_high > b.min_high ? a.min_high : b.min_high,
                                .max_low = a.max_low < b.max_low ? a.max_low : b.max_low,
                                .max_high = a.max_high > b.max_high ? a.max_high : b.max_high};
}

void statistics_bounds(const int64_t *tile_min_max, uint32_t tiles, struct tile_bounds *bounds)
{
    static const struct tile_bounds none = {INT64_MAX, INT64_MIN, INT64_MAX, INT64_MIN};
    bounds[0] = none;
    for (uint32_t first = 0; first < tiles; first += BOUNDS_TILES) {
        struct tile_bounds *const group = &bounds[1 + first / BOUNDS_TILES];
        *group = none;
        for (uint32_t t = first; t < tiles && t < first + BOUNDS_TILES; t++) {
            const int64_t min = tile_min_max[2 * (size_t)t], max = tile_min_max[2 * (size_t)t + 1];
            *group = join_bounds(*group, (struct tile_bounds){min, min, max, max});
        }
        bounds[0] = join_bounds(bounds[0], *group);
    }
}

struct double_bits statistics_bits(const int64_t *keys, uint32_t rows)
{
    struct double_bits bits = DOUBLE_BITS_NONE;
    for (uint32_t row = 0; row < rows; row++)
        bits = double_bits_join(bits, double_bits_of_key(keys[row]));
    return bits;
}

void statistics_merge(struct column_statistics *into, const struct column_statistics *from)
{
    into->min = from->min < into->min ? from->min : into->min;
    into->max = from->max > into->max ? from->max : into->max;
    into->nulls += from->nulls;
    into->runs += from->runs;
    into->bits = double_bits_join(into->bits, from->bits);
}

uint64_t statistics_plausible_distinct(const struct column_statistics *statistics, uint64_t count,
                                       uint64_t rows)
{
    uint64_t span =
        (uint64_t)statistics->max - (uint64_t)statistics->min; /* one less than the numbers in it */
    if (statistics->min > statistics->max)
        return 0;
    count = count > rows - statistics->nulls ? rows - statistics->nulls : count;
    count = count > statistics->runs ? statistics->runs : count;
    return count - 1 > span ? span + 1 : count;
}
