/* test_tile_skip.c: no tile is left out that holds a row that passes, every tile that statistics rule out is,
 * and what is left is handed out exactly once. */
#define _GNU_SOURCE
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "tests/support/database_cases.h"

#include "engine/plan/tile_skip.h"
#include "storage/column/statistics.h"

/* ---- Sets of positions ---- */

static uint64_t seed = 20261121;

static uint32_t draw(uint32_t below)
{
    seed = seed * 6364136223846793005u + 1442695040888963407u;
    return (uint32_t)(seed >> 33) % below;
}

static void a_range_meets_a_set_as_counting_says(void **state)
{
    (void)state;
    const uint64_t sizes[] = {0, 1, 63, 64, 65, 128, 1000};
    for (size_t s = 0; s < sizeof sizes / sizeof *sizes; s++) {
        const int64_t rows = (int64_t)sizes[s];
        for (uint32_t gap = 1; gap < 200; gap = gap * 3 + 1) { /* 0: none */
            struct position_set set;
            bool *member = calloc((size_t)rows + 1, sizeof *member);
            must(position_set_create(sizes[s], &set, error));
            for (int64_t p = 0; p < rows; p++)
                if (draw(gap) == 0) {
                    member[p] = true;
                    position_set_add(&set, (uint64_t)p);
                }
            position_set_count(&set);
            for (int i = 0; i < 400; i++) {
                const int64_t first = (int64_t)draw((uint32_t)rows + 20) - 10,
                              last = first + (int64_t)draw(80) - 10;
                bool meets = false;
                for (int64_t p = first < 0 ? 0 : first; p <= last && p < rows; p++)
                    meets |= member[p];
                assert_int_equal(position_set_meets(&set, first, last), meets);
            }
            bool any = false;
            for (int64_t p = 0; p < rows; p++)
                any |= member[p];
            assert_int_equal(position_set_meets(&set, INT64_MIN, INT64_MAX), any);
            assert_false(position_set_meets(&set, INT64_MAX, INT64_MIN)); /* a tile of NULLs */
            position_set_free(&set);
            free(member);
        }
    }
}

/* ---- Tiles ---- */

#define TILES_MAX 2100 /* more than a thread takes at a time */

/* A table in memory, as far as skipping looks at one: a segment for each entry of `rows`. */
struct made {
    struct table table;
    uint32_t rows[3];
    struct segment_data segments[2][3]; /* of two columns */
    int64_t min_max[2][3][2 * TILES_MAX];
    struct tile_bounds bounds[2][3][2 + TILES_MAX / BOUNDS_TILES];
    struct column_data data[2];
};

static uint32_t tiles_of(uint32_t rows)
{
    return (rows + TILE_ROWS - 1) / TILE_ROWS;
}

/* How tiles are made: anywhere; neighbours alike, so that their bounds rule out some; nearly all of them wide, so that bounds
 * keep some; as the first, but without bounds. */
enum made_as { MADE_ANYWHERE, MADE_NEAR, MADE_WIDE, MADE_WITHOUT_BOUNDS, MADE_AS };

static void make_tile(enum made_as as, uint32_t tile, int64_t *min_max)
{
    const bool null = draw(as == MADE_ANYWHERE ? 10 : 200) == 0;
    const int64_t low = as == MADE_NEAR   ? tile / 40 * 7 % 95 + draw(3)
                        : as == MADE_WIDE ? draw(20)
                                          : (int64_t)draw(100);
    min_max[0] = null ? INT64_MAX : low;
    min_max[1] = null ? INT64_MIN : low + draw(5) + (as == MADE_WIDE && draw(300) ? 70 : 0);
}

static void make(struct made *made, const uint32_t *rows, uint32_t segments, enum made_as as)
{
    memset(made, 0, sizeof *made);
    made->table.segment_count = segments;
    made->table.segment_rows = made->rows;
    for (uint32_t s = 0; s < segments; s++) {
        made->rows[s] = rows[s];
        made->table.rows += rows[s];
        for (int c = 0; c < 2; c++) {
            made->segments[c][s].tile_min_max = made->min_max[c][s];
            for (uint32_t t = 0; t < tiles_of(rows[s]); t++)
                make_tile(as, t, &made->min_max[c][s][2 * t]);
            statistics_bounds(made->min_max[c][s], tiles_of(rows[s]), made->bounds[c][s]);
            made->segments[c][s].bounds = as == MADE_WITHOUT_BOUNDS ? NULL : made->bounds[c][s];
        }
    }
    for (int c = 0; c < 2; c++)
        made->data[c] = (struct column_data){.segment_count = segments, .segments = made->segments[c]};
}

static bool passes(const struct made *made, int column, uint32_t segment, uint32_t tile, int64_t low,
                   int64_t high, const bool *member)
{
    const int64_t *min_max = &made->min_max[column][segment][2 * tile];
    for (int64_t value = min_max[0]; value <= min_max[1]; value++)
        if (value >= low && value <= high && (!member || member[value]))
            return true;
    return false;
}

/* Runs and what they are taken as, `width` tiles at a time, against the tiles that must be there. */
static void check(const struct made *made, const struct tile_skip *skip, bool wanted[3][TILES_MAX])
{
    uint64_t tiles = 0, kept = 0, rows = 0, number = 0;
    uint64_t run = 0;
    for (uint32_t s = 0; s < made->table.segment_count; s++)
        for (uint32_t t = 0; t < tiles_of(made->rows[s]); t++) {
            tiles++;
            if (!wanted[s][t])
                continue;
            kept++;
            rows += made->rows[s] - t * TILE_ROWS < TILE_ROWS ? made->rows[s] - t * TILE_ROWS : TILE_ROWS;
            run = tile_skip_run(skip, number);
            assert_int_equal(skip->runs[run].segment, s);
            assert_int_equal(skip->runs[run].first + (number - skip->runs[run].before), t);
            number++;
        }
    assert_int_equal(skip->tiles, tiles);
    assert_int_equal(skip->rows, made->table.rows);
    assert_int_equal(skip->kept_tiles, kept);
    assert_int_equal(skip->kept_rows, rows);
    for (uint32_t width = 1; width <= 64; width *= 2) {
        static bool taken[3][TILES_MAX];
        memset(taken, 0, sizeof taken);
        uint64_t next = 0;
        uint32_t first = skip->run_count ? skip->runs[0].first : 0;
        while (next < skip->run_count) {
            const uint32_t segment = skip->runs[next].segment, begin = first;
            const uint32_t count = tile_skip_take(skip, width, &next, &first);
            assert_in_range(count, 1, width);
            assert_true(wanted[segment][begin] && wanted[segment][begin + count - 1]);
            for (uint32_t t = begin; t < begin + count; t++) {
                assert_false(taken[segment][t]);
                taken[segment][t] = true;
            }
        }
        for (uint32_t s = 0; s < made->table.segment_count; s++)
            for (uint32_t t = 0; t < tiles_of(made->rows[s]); t++)
                assert_true(!wanted[s][t] || taken[s][t]);
    }
}

static void tiles_that_can_hold_a_row_are_kept_and_no_others(void **state)
{
    (void)state;
    static const uint32_t shapes[][3] = {{1, 0, 0},
                                         {31, 0, 0},
                                         {1023, 0, 0},
                                         {1025, 0, 0},
                                         {64 * 1024, 1, 0},
                                         {66000, 70000, 1025},
                                         {2049 * 1024, 2100 * 1024 - 7, 1},
                                         {0, 0, 0}};
    static struct made made;
    for (size_t shape = 0; shape < sizeof shapes / sizeof *shapes; shape++)
        for (int round = 0; round < 40; round++) {
            uint32_t segments = 0;
            while (segments < 3 && shapes[shape][segments])
                segments++;
            make(&made, shapes[shape], segments, (enum made_as)(round % MADE_AS));
            struct position_set set;
            bool member[110] = {false};
            must(position_set_create(110, &set, error));
            for (int i = 0; i < round; i++) {
                const uint32_t p = draw(110);
                member[p] = true;
                position_set_add(&set, p);
            }
            position_set_count(&set);
            const int64_t low = draw(60), high = low + draw(60);
            const struct tile_test tests[] = {
                {.data = &made.data[0], .low = low, .high = high},
                {.data = &made.data[1], .low = INT64_MIN, .high = INT64_MAX, .set = &set}};
            for (uint32_t count = 0; count <= 2; count++) {
                static bool wanted[3][TILES_MAX];
                for (uint32_t s = 0; s < segments; s++)
                    for (uint32_t t = 0; t < tiles_of(made.rows[s]); t++)
                        wanted[s][t] = (count < 1 || passes(&made, 0, s, t, low, high, NULL)) &&
                                       (count < 2 || passes(&made, 1, s, t, 0, 109, member));
                struct tile_skip skip;
                must(tile_skip_find(&made.table, tests, count, 3, &skip, error));
                check(&made, &skip, wanted);
                if (count == 0)
                    assert_int_equal(skip.run_count, segments); /* no cost where nothing is left out */
                tile_skip_free(&skip);
            }
            position_set_free(&set);
        }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_range_meets_a_set_as_counting_says),
        cmocka_unit_test(tiles_that_can_hold_a_row_are_kept_and_no_others),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
