/* tile_skip.c: see tile_skip.h. */
#include "engine/plan/tile_skip.h"
#include "storage/base/memory.h"
#include "storage/codec/chunk_reader.h"

#include <stdlib.h>

/* ---- Sets of positions ---- */

enum status position_set_create(uint64_t positions, struct position_set *set, struct error *error)
{
    const uint64_t words = (positions + 63) / 64;
    *set = (struct position_set){.positions = positions,
                                 .bits = calloc(words + 1, sizeof *set->bits),
                                 .before = malloc((words + 1) * sizeof *set->before)};
    if (set->bits && set->before)
        return STATUS_OK;
    position_set_free(set);
    return error_out_of_memory(error, words * (sizeof *set->bits + sizeof *set->before),
                               "a dimension's passing rows");
}

void position_set_count(struct position_set *set)
{
    uint32_t count = 0;
    for (uint64_t word = 0; word <= (set->positions + 63) / 64; word++) {
        set->before[word] = count;
        count += (uint32_t)__builtin_popcountll(set->bits[word]);
    }
}

/* The number of members less than `position`, which is at most set->positions. */
static uint32_t members_below(const struct position_set *set, uint64_t position)
{
    const uint64_t below = (UINT64_C(1) << position % 64) - 1;
    return set->before[position / 64] + (uint32_t)__builtin_popcountll(set->bits[position / 64] & below);
}

bool position_set_meets(const struct position_set *set, int64_t first, int64_t last)
{
    const uint64_t from = first < 0 ? 0 : (uint64_t)first;
    if (last < 0 || from >= set->positions || from > (uint64_t)last)
        return false;
    const uint64_t end = (uint64_t)last < set->positions ? (uint64_t)last + 1 : set->positions;
    return members_below(set, end) > members_below(set, from);
}

void position_set_free(struct position_set *set)
{
    free(set->bits);
    free(set->before);
    *set = (struct position_set){0};
}

/* ---- Tiles ---- */

/* True if the tile may have a row that passes the test. A tile with only NULLs has min > max. */
static bool may_hold(const struct tile_test *test, uint32_t segment, uint32_t tile)
{
    const int64_t *const min_max = test->data->segments[segment].tile_min_max + 2 * (size_t)tile;
    const int64_t low = min_max[0] > test->low ? min_max[0] : test->low;
    const int64_t high = min_max[1] < test->high ? min_max[1] : test->high;
    return low <= high && (!test->set || position_set_meets(test->set, low, high));
}

static bool all_may_hold(const struct tile_test *tests, uint32_t count, uint32_t segment, uint32_t tile)
{
    for (uint32_t i = 0; i < count; i++)
        if (!may_hold(&tests[i], segment, tile))
            return false;
    return true;
}

static uint32_t segment_tiles(const struct table *table, uint32_t segment)
{
    return (table->segment_rows[segment] + TILE_ROWS - 1) / TILE_ROWS;
}

static enum status add_run(struct tile_skip *skip, const struct tile_run *run, struct error *error)
{
    if ((skip->run_count & (skip->run_count - 1)) == 0) { /* the list is full at 0, 1, 2, 4, ... runs */
        const uint64_t room = skip->run_count ? 2 * skip->run_count : 1;
        RETURN_IF_ERROR(memory_grow(&skip->runs, room * sizeof *skip->runs, "the list of tiles", error));
    }
    skip->runs[skip->run_count++] = *run;
    skip->kept_tiles += run->tiles;
    return STATUS_OK;
}

static enum status skip_segment(const struct table *table, uint32_t segment, const struct tile_test *tests,
                                uint32_t count, struct tile_skip *skip, struct error *error)
{
    const uint32_t tiles = segment_tiles(table, segment);
    skip->tiles += tiles;
    for (uint32_t tile = 0; tile < tiles; tile++) {
        const uint32_t first = tile;
        while (tile < tiles && all_may_hold(tests, count, segment, tile))
            tile++;
        if (tile == first)
            continue;
        const struct tile_run run = {
            .segment = segment, .first = first, .tiles = tile - first, .before = skip->kept_tiles};
        RETURN_IF_ERROR(add_run(skip, &run, error));
        const uint32_t end = tile < tiles ? tile * TILE_ROWS : table->segment_rows[segment];
        skip->kept_rows += end - first * TILE_ROWS;
    }
    return STATUS_OK;
}

enum status tile_skip_find(const struct table *table, const struct tile_test *tests, uint32_t count,
                           struct tile_skip *skip, struct error *error)
{
    *skip = (struct tile_skip){.rows = table->rows};
    for (uint32_t segment = 0; segment < table->segment_count; segment++) {
        enum status status = skip_segment(table, segment, tests, count, skip, error);
        if (status != STATUS_OK) {
            tile_skip_free(skip);
            return status;
        }
    }
    return STATUS_OK;
}

void tile_skip_free(struct tile_skip *skip)
{
    free(skip->runs);
    *skip = (struct tile_skip){0};
}

enum status tile_skip_select(const struct tile_skip *skip, const uint32_t *segments, uint32_t count,
                             struct tile_skip *selected, struct error *error)
{
    uint32_t s = 0;
    *selected = (struct tile_skip){.tiles = skip->tiles, .rows = skip->rows};
    for (uint64_t r = 0; r < skip->run_count; r++) {
        struct tile_run run = skip->runs[r];
        while (s < count && segments[s] < run.segment)
            s++;
        if (s == count || segments[s] != run.segment)
            continue;
        run.before = selected->kept_tiles;
        const enum status status = add_run(selected, &run, error);
        if (status != STATUS_OK) {
            tile_skip_free(selected);
            return status;
        }
    }
    return STATUS_OK;
}

uint64_t tile_skip_run(const struct tile_skip *skip, uint64_t kept_tile)
{
    uint64_t first = 0, end = skip->run_count;
    while (end - first > 1) {
        const uint64_t middle = first + (end - first) / 2;
        if (skip->runs[middle].before <= kept_tile)
            first = middle;
        else
            end = middle;
    }
    return first;
}

uint32_t tile_skip_take(const struct tile_skip *skip, uint32_t width, uint64_t *run, uint32_t *first)
{
    const uint32_t begin = *first, segment = skip->runs[*run].segment;
    uint32_t end = begin;
    while (*run < skip->run_count && skip->runs[*run].segment == segment &&
           skip->runs[*run].first < begin + width) {
        const uint32_t run_end = skip->runs[*run].first + skip->runs[*run].tiles;
        if (run_end > begin + width) {
            *first = end = begin + width;
            return end - begin;
        }
        end = run_end;
        ++*run;
    }
    *first = *run < skip->run_count ? skip->runs[*run].first : 0;
    return end - begin;
}

static uint64_t add_blocks(const struct chunk_view *chunk, const struct tile_run *piece,
                           struct tile_run *units, uint64_t count)
{
    const uint32_t tiles = chunk_unit_tiles(chunk), end = piece->first + piece->tiles;
    for (uint32_t first = piece->first / tiles * tiles; first < end; first += tiles) {
        const struct tile_run *const last = count ? &units[count - 1] : NULL;
        const uint32_t left = chunk->tiles - first;
        if (!last || last->segment != piece->segment || last->first != first)
            units[count++] = (struct tile_run){
                .segment = piece->segment, .first = first, .tiles = left < tiles ? left : tiles};
    }
    return count;
}

enum status tile_skip_units(const struct tile_skip *skip, const struct column_data *data, uint32_t width,
                            struct tile_run **units, uint64_t *count, struct error *error)
{
    uint64_t most = 1, run = 0;
    *count = 0;
    for (uint64_t r = 0; r < skip->run_count; r++) {
        const uint32_t tiles = chunk_unit_tiles(&data->segments[skip->runs[r].segment].chunk);
        /* a run may begin and end within a unit; a scan may read up to `width` tiles behind it */
        most += (skip->runs[r].tiles + width) / (tiles > 1 ? tiles : width) + 2;
    }
    RETURN_IF_ERROR(memory_take(units, most * sizeof **units, "a list of tiles", error));
    uint32_t tile = skip->run_count ? skip->runs[0].first : 0;
    while (run < skip->run_count) {
        struct tile_run piece = {.segment = skip->runs[run].segment, .first = tile};
        const struct chunk_view *const chunk = &data->segments[piece.segment].chunk;
        piece.tiles = tile_skip_take(skip, width, &run, &tile);
        if (chunk_unit_tiles(chunk) == 1)
            (*units)[(*count)++] = piece;
        else
            *count = add_blocks(chunk, &piece, *units, *count);
    }
    return STATUS_OK;
}
