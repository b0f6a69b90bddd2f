/* test_first.c: the sample that bounds the first rows of an order on a GPU, and the rows that the host takes of a list: the
 * tiles with the best values, as many as are wanted, in each segment; exactly the wanted rows, ascending. Needs no GPU. */
#define _GNU_SOURCE
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>

#include "engine/gpu/first/first.h"
#include "tests/fuzz/fuzz_random.h"
#include "tests/support/database_cases.h"

#include <stdlib.h>

#define SEGMENTS 3u
#define ITEMS    40u /* of a segment */

static int64_t min_max[SEGMENTS][2 * ITEMS * WORK_TILES];
static struct plan plan; /* too large for a stack */

/* A table whose last segment ends within a tile. */
static uint32_t make(struct bound_work *work, uint64_t wanted, bool ranks)
{
    static struct segment_data segments[SEGMENTS];
    static struct column_data data;
    static uint32_t rows[SEGMENTS];
    static struct table fact;
    static struct plan_column column;
    uint32_t count = 0;
    for (uint32_t s = 0; s < SEGMENTS; s++) {
        rows[s] = ITEMS * WORK_TILES * TILE_ROWS - (s + 1 == SEGMENTS ? 3 * TILE_ROWS + 7 : 0);
        for (uint32_t t = 0; t < ITEMS * WORK_TILES; t++)
            min_max[s][2 * t] = min_max[s][2 * t + 1] = below(1000);
        segments[s].tile_min_max = min_max[s];
        for (uint32_t i = 0; i < ITEMS; i++) {
            const uint32_t first = i * WORK_TILES, left = rows[s] - first * TILE_ROWS;
            work[count++] =
                (struct bound_work){.segment = s, .first_tile = first, .rows = left < 8192 ? left : 8192};
        }
    }
    data.segments = segments;
    fact.segment_rows = rows;
    fact.segment_count = SEGMENTS;
    fact.rows = (uint64_t)rows[0] + rows[1] + rows[2];
    column.data = &data;
    plan = (struct plan){.fact = &fact, .column_count = 1, .columns = &column};
    plan.first = (struct first_rows){.wanted = wanted, .term_count = 1, .bound = UINT64_MAX};
    plan.first.terms[0] =
        (struct first_term){.column = ranks ? 0 : -1, .low = 0, .high = 1000, .null = 1001, .stride = 1};
    return count;
}

static void samples_are_the_best_tiles(void **state)
{
    static struct bound_work work[SEGMENTS * ITEMS];
    static uint64_t best[SEGMENTS * ITEMS * WORK_TILES];
    static const uint64_t wanted[] = {1, 10, 100, 1000, 20000};
    (void)state;
    random_state = 20261122;
    for (uint32_t round = 0; round < 10; round++) {
        const bool ranks = round % 2;
        struct cuda_first first = {0};
        const uint32_t count = make(work, wanted[round / 2], ranks);
        uint64_t marked = 0, worst[SEGMENTS] = {0}, least[SEGMENTS] = {UINT64_MAX, UINT64_MAX, UINT64_MAX};
        must(cuda_first_mark(&plan, work, count, ranks ? best : NULL, &first, error));
        for (uint32_t i = 0; i < count; i++)
            for (uint32_t t = 0; t < WORK_TILES; t++) {
                const bool exists = t * TILE_ROWS < work[i].rows,
                           sample = work[i].marks >> (FIRST_SAMPLE_SHIFT + t) & 1;
                const uint64_t rank = best[i * WORK_TILES + t];
                uint64_t *const of = sample ? &worst[work[i].segment] : &least[work[i].segment];
                assert_true(exists || !sample);
                marked += sample;
                if (ranks && exists && (sample ? rank > *of : rank < *of))
                    *of = rank;
            }
        assert_int_equal(marked, first.samples);
        assert_in_range(first.samples, 64, SEGMENTS * ITEMS * WORK_TILES);
        assert_int_equal(first.of_lanes, wanted[round / 2] * 4 > first.samples);
        for (uint32_t s = 0; ranks && s < SEGMENTS; s++)
            assert_true(worst[s] <= least[s]);
    }
}

/* Tiles' minima and maxima have told more. */
static void a_known_bound_needs_no_sample(void **state)
{
    static struct bound_work work[SEGMENTS * ITEMS];
    static uint64_t best[SEGMENTS * ITEMS * WORK_TILES];
    struct cuda_first first = {0};
    (void)state;
    const uint32_t count = make(work, 10, true);
    plan.first.bound = 3;
    must(cuda_first_mark(&plan, work, count, best, &first, error));
    assert_int_equal(first.samples, 0);
    must(cuda_first_mark(&plan, work, 0, best, &first, error));
    plan.first.bound = UINT64_MAX;
    must(cuda_first_mark(&plan, work, 0, best, &first, error)); /* nothing to scan */
    assert_int_equal(first.samples, 0);
}

static void the_wanted_rows_are_taken(void **state)
{
    static struct bound_work work[SEGMENTS * ITEMS];
    static struct first_entry entries[1000];
    (void)state;
    for (uint32_t round = 0; round < 100; round++) {
        const uint32_t count = below(1000);
        struct partial rows = {0};
        uint64_t expected = 0;
        make(work, 1 + below(200), false);
        for (uint32_t i = 0; i < count; i++)
            entries[i] = (struct first_entry){.rank = below(300), .segment = i % 3, .row = i};
        must(cuda_first_rows(&plan, entries, count, &rows, error));
        assert_true(rows.count >= (count < plan.first.wanted ? count : plan.first.wanted));
        for (uint64_t i = 1; i < rows.count; i++)
            assert_true(rows.rows[i] > rows.rows[i - 1]);
        for (uint64_t i = 0; i < rows.count; i++)
            expected +=
                rows.rows[i] / plan.fact->segment_rows[0] == rows.rows[i] % plan.fact->segment_rows[0] % 3;
        assert_int_equal(expected, rows.count);
        partial_free(&rows);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(samples_are_the_best_tiles),
        cmocka_unit_test(a_known_bound_needs_no_sample),
        cmocka_unit_test(the_wanted_rows_are_taken),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
