/* tile_skip.c: see tile_skip.h. */
#include "engine/plan/tiles/tile_skip_loops.h"
#include "storage/base/memory.h"
#include "storage/base/parallel.h"
#include "storage/codec/chunk_reader.h"

#include <stdlib.h>
#include <string.h>

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
    set->least = (uint64_t)INT64_MAX >> set->shift;
    for (uint64_t word = 0; word <= (set->positions + 63) / 64; word++) {
        if (count == 0 && set->bits[word])
            set->least = word * 64 + (unsigned)__builtin_ctzll(set->bits[word]);
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

uint64_t position_set_members(const struct position_set *set, uint64_t first, uint64_t last)
{
    return members_below(set, (last >> set->shift) + 1) - members_below(set, first >> set->shift);
}

bool position_set_meets(const struct position_set *set, int64_t first, int64_t last)
{
    if (last < 0 || first > last)
        return false;
    const uint64_t from = first < 0 ? 0 : (uint64_t)first >> set->shift;
    last = last >> set->shift;
    if (from >= set->positions)
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

/* A thread takes so many tiles at a time, and is started for so many tests of a piece that look at each tile, which take it
 * longer than starting. */
#define SKIP_PIECE_TILES   2048u
#define SKIP_THREAD_PIECES 16u

/* True if any of the values, which are ascending, is in low .. high. */
static bool meets(const int64_t *values, uint64_t count, int64_t low, int64_t high)
{
    uint64_t first = 0;
    for (uint64_t end = count; first < end;) {
        const uint64_t middle = first + (end - first) / 2;
        if (values[middle] < low)
            first = middle + 1;
        else
            end = middle;
    }
    return first < count && values[first] <= high;
}

/* True if a value of low .. high may be in the test's set and in its list. */
static bool may_pass(const struct tile_test *test, int64_t low, int64_t high)
{
    return low <= high && (!test->set || position_set_meets(test->set, low, high)) &&
           (!test->values || meets(test->values, test->value_count, low, high));
}

static int64_t least(int64_t a, int64_t b)
{
    return a < b ? a : b;
}

static int64_t greatest(int64_t a, int64_t b)
{
    return a > b ? a : b;
}

/* Of some tiles none passes a test, or all do, or it depends on the tile. A set and a list are tested one by one: both may meet
 * the values that all tiles span, in different places. */
enum verdict { VERDICT_NONE, VERDICT_ALL, VERDICT_EACH };

static enum verdict judge(const struct tile_test *test, const struct tile_bounds *bounds)
{
    /* every tile has its values within the first of these, and spans all of the second */
    if (!may_pass(test, greatest(bounds->min_low, test->low), least(bounds->max_high, test->high)))
        return VERDICT_NONE;
    return may_pass(test, greatest(bounds->min_high, test->low), least(bounds->max_low, test->high))
               ? VERDICT_ALL
               : VERDICT_EACH;
}

/* Of all tiles of a segment. */
static enum verdict judge_segment(const struct tile_test *test, uint32_t segment)
{
    const struct tile_bounds *const bounds = test->data->segments[segment].bounds;
    return bounds ? judge(test, bounds) : VERDICT_EACH;
}

/* Returns those of up to BOUNDS_TILES tiles, the bits of `keep`, that may have a row which passes the test. A tile with only
 * NULLs has min > max. */
static uint64_t test_tiles(const struct tile_test *test, const int64_t *min_max, uint32_t tiles,
                           uint64_t keep)
{
    uint64_t unsure;
    keep &= ISA_CHOICE(tile_skip_ranges)(test, min_max, tiles, &unsure);
    unsure = test->values ? keep : unsure & keep;
    for (uint64_t left = test->set || test->values ? unsure : 0; left; left &= left - 1) {
        const unsigned t = (unsigned)__builtin_ctzll(left);
        if (!may_pass(test, greatest(min_max[2 * t], test->low), least(min_max[2 * t + 1], test->high)))
            keep &= ~(UINT64_C(1) << t);
    }
    return keep;
}

bool tile_test_may_skip(const struct tile_test *test, const struct table *table)
{
    bool may = false;
    for (uint32_t s = 0; s < table->segment_count; s++)
        may |= judge_segment(test, s) == VERDICT_EACH;
    return may;
}

/* Keeps the tiles of some groups, from `group` of the table on, that may have a code of the set. */
static void test_codes(const struct tile_test *test, uint64_t group, uint32_t groups, uint64_t *keep)
{
    uint64_t any[SKIP_PIECE_TILES / BOUNDS_TILES] = {0};
    for (uint64_t left = test->code_set; left; left &= left - 1) {
        const uint64_t *const words =
            test->codes + (unsigned)__builtin_ctzll(left) * test->code_stride + group;
        for (uint32_t g = 0; g < groups; g++)
            any[g] |= words[g];
    }
    for (uint32_t g = 0; g < groups; g++)
        keep[g] &= any[g];
}

/* Tests the tiles of a piece, which begins with a group of BOUNDS_TILES tiles; `keep` has a word for each group. */
static void test_piece(const struct tile_test *test, uint32_t segment, uint32_t first, uint32_t end,
                       uint64_t *keep)
{
    const struct segment_data *const data = &test->data->segments[segment];
    const enum verdict all = judge_segment(test, segment);
    for (uint32_t tile = first; tile < end && all != VERDICT_ALL; tile += BOUNDS_TILES) {
        uint64_t *const word = &keep[(tile - first) / BOUNDS_TILES];
        const enum verdict verdict = all == VERDICT_EACH && data->bounds && *word
                                         ? judge(test, &data->bounds[1 + tile / BOUNDS_TILES])
                                         : all;
        if (verdict == VERDICT_NONE)
            *word = 0;
        else if (verdict == VERDICT_EACH && *word)
            *word = test_tiles(test, data->tile_min_max + 2 * (size_t)tile, least(end - tile, BOUNDS_TILES),
                               *word);
    }
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

/* A piece of a segment's tiles, for one thread, and the runs that it keeps. */
struct skip_piece {
    uint32_t segment, first, end;
    uint64_t group;        /* the table's groups of BOUNDS_TILES tiles before it */
    struct tile_skip kept; /* runs and kept_tiles; `before` counts from the piece's first run */
};

struct skip_search {
    const struct table *table;
    const struct tile_test *tests;
    uint32_t count;
    struct skip_piece *pieces;
};

/* The first bit from `first` to `end` that is set, or clear if `invert` is all ones; `end` if there is none. */
static uint32_t next_bit(const uint64_t *words, uint32_t first, uint32_t end, uint64_t invert)
{
    while (first < end) {
        const uint64_t rest = (words[first / 64] ^ invert) >> first % 64;
        if (rest)
            return least(first + (uint32_t)__builtin_ctzll(rest), end);
        first = (first / 64 + 1) * 64;
    }
    return end;
}

static enum status search_piece(void *context, uint64_t item, unsigned thread, struct error *error)
{
    const struct skip_search *search = context;
    struct skip_piece *piece = &search->pieces[item];
    const uint32_t tiles = piece->end - piece->first;
    uint64_t keep[SKIP_PIECE_TILES / BOUNDS_TILES];
    (void)thread;
    memset(keep, 0xff, sizeof keep);
    for (uint32_t i = 0; i < search->count; i++)
        if (search->tests[i].codes)
            test_codes(&search->tests[i], piece->group, (tiles + BOUNDS_TILES - 1) / BOUNDS_TILES, keep);
    for (uint32_t i = 0; i < search->count; i++)
        if (!search->tests[i].codes || !search->tests[i].code_exact)
            test_piece(&search->tests[i], piece->segment, piece->first, piece->end, keep);
    for (uint32_t tile = next_bit(keep, 0, tiles, 0); tile < tiles;) {
        const uint32_t end = next_bit(keep, tile, tiles, UINT64_MAX);
        const struct tile_run run = {.segment = piece->segment,
                                     .first = piece->first + tile,
                                     .tiles = end - tile,
                                     .before = piece->kept.kept_tiles};
        RETURN_IF_ERROR(add_run(&piece->kept, &run, error));
        tile = next_bit(keep, end, tiles, 0);
    }
    return STATUS_OK;
}

/* The tests of a piece in which each tile must be looked at. */
static uint64_t count_long_tests(const struct skip_search *search)
{
    uint64_t tests = 0;
    for (uint32_t s = 0; s < search->table->segment_count; s++)
        for (uint32_t i = 0; i < search->count; i++)
            if (!(search->tests[i].codes && search->tests[i].code_exact) &&
                judge_segment(&search->tests[i], s) == VERDICT_EACH)
                tests += 1 + segment_tiles(search->table, s) / SKIP_PIECE_TILES;
    return tests;
}

/* Cuts the table into pieces. */
static enum status cut_pieces(struct skip_search *search, uint64_t *count, struct error *error)
{
    uint64_t most = 1, at = 0, groups = 0;
    for (uint32_t segment = 0; segment < search->table->segment_count; segment++)
        most += segment_tiles(search->table, segment) / SKIP_PIECE_TILES + 1;
    RETURN_IF_ERROR(memory_take(&search->pieces, most * sizeof *search->pieces, "the list of tiles", error));
    for (uint32_t segment = 0; segment < search->table->segment_count; segment++) {
        const uint32_t tiles = segment_tiles(search->table, segment);
        for (uint32_t first = 0; first < tiles; first += SKIP_PIECE_TILES) {
            const uint32_t left = tiles - first;
            search->pieces[at++] =
                (struct skip_piece){.segment = segment,
                                    .first = first,
                                    .group = groups + first / BOUNDS_TILES,
                                    .end = first + (left < SKIP_PIECE_TILES ? left : SKIP_PIECE_TILES)};
        }
        groups += tile_group_count(search->table, segment);
    }
    *count = at;
    return STATUS_OK;
}

/* Appends a piece's runs; a run that goes on from the piece before becomes one with it. */
static enum status append_piece(const struct table *table, const struct skip_piece *piece,
                                struct tile_skip *skip, struct error *error)
{
    skip->tiles += piece->end - piece->first;
    for (uint64_t r = 0; r < piece->kept.run_count; r++) {
        struct tile_run run = piece->kept.runs[r];
        struct tile_run *const last = skip->run_count ? &skip->runs[skip->run_count - 1] : NULL;
        const uint32_t end = run.first + run.tiles, rows = table->segment_rows[run.segment];
        skip->kept_rows += (end * TILE_ROWS < rows ? end * TILE_ROWS : rows) - run.first * TILE_ROWS;
        if (last && last->segment == run.segment && last->first + last->tiles == run.first) {
            last->tiles += run.tiles;
            skip->kept_tiles += run.tiles;
            continue;
        }
        run.before = skip->kept_tiles;
        RETURN_IF_ERROR(add_run(skip, &run, error));
    }
    return STATUS_OK;
}

enum status tile_skip_find(const struct table *table, const struct tile_test *tests, uint32_t count,
                           unsigned threads, struct tile_skip *skip, struct error *error)
{
    struct skip_search search = {.table = table, .tests = tests, .count = count};
    uint64_t pieces;
    *skip = (struct tile_skip){.rows = table->rows};
    RETURN_IF_ERROR(cut_pieces(&search, &pieces, error));
    const uint64_t useful = 1 + count_long_tests(&search) / SKIP_THREAD_PIECES;
    enum status status =
        parallel_for(useful < threads ? (unsigned)useful : threads, pieces, search_piece, &search, error);
    for (uint64_t p = 0; p < pieces; p++) {
        if (status == STATUS_OK)
            status = append_piece(table, &search.pieces[p], skip, error);
        tile_skip_free(&search.pieces[p].kept);
    }
    free(search.pieces);
    if (status != STATUS_OK)
        tile_skip_free(skip);
    return status;
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

enum status tile_skip_narrow(struct tile_skip *skip, const struct table *table,
                             bool (*keep)(const void *context, uint32_t segment, uint32_t tile),
                             const void *context, struct error *error)
{
    struct tile_skip kept = {.tiles = skip->tiles, .rows = skip->rows};
    for (uint64_t r = 0; r < skip->run_count; r++) {
        const struct tile_run *from = &skip->runs[r];
        const uint32_t end = from->first + from->tiles, rows = table->segment_rows[from->segment];
        for (uint32_t tile = from->first; tile < end; tile++) {
            const struct tile_run run = {.segment = from->segment, .first = tile, .before = kept.kept_tiles};
            while (tile < end && keep(context, from->segment, tile))
                tile++;
            if (tile == run.first)
                continue;
            struct tile_run added = run;
            added.tiles = tile - run.first;
            kept.kept_rows += (tile * TILE_ROWS < rows ? tile * TILE_ROWS : rows) - run.first * TILE_ROWS;
            const enum status status = add_run(&kept, &added, error);
            if (status != STATUS_OK) {
                tile_skip_free(&kept);
                return status;
            }
        }
    }
    tile_skip_free(skip);
    *skip = kept;
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
