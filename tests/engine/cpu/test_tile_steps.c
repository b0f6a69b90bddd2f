/* test_tile_steps.c: rows of a tile that a mask has give the values that the list of the same rows gives, and conditions the
 * mask that they give one by one, on each instruction set, of tiles of odd sizes and masks of any density. */
#define _GNU_SOURCE
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>

#include "engine/cpu/tile_steps.h"
#include "storage/base/isa.h"
#include "tests/fuzz/fuzz_random.h"

#include <string.h>

#if defined(__x86_64__)
#define OF_EACH(name) name##_baseline, name##_avx2, name##_avx512
#else
#define OF_EACH(name) name##_baseline
#endif
static tile_steps_rows *const rows_of[] = {OF_EACH(tile_steps_rows)};
static tile_steps_keep *const keep_of[] = {OF_EACH(tile_steps_keep)};
static tile_steps_values *const values_of[] = {OF_EACH(tile_steps_values)};
static tile_steps_term *const term_of[] = {OF_EACH(tile_steps_term)};
static tile_steps_rank *const rank_of[] = {OF_EACH(tile_steps_rank)};

static const uint32_t sizes[] = {1, 31, 63, 64, 65, 1000, 1023, TILE_ROWS};
#define SIZES (sizeof sizes / sizeof *sizes)

static struct tile_list list;
static int32_t stored[TILE_ROWS];
static uint16_t all_rows[TILE_ROWS];

/* A column whose tile is decoded. */
static struct tile_column column_of(const struct chunk_view *chunk)
{
    return (struct tile_column){.chunk = chunk, .values = stored, .decoded = 0, .needed = UINT32_MAX};
}

static tile_mask random_mask(uint32_t rows, uint32_t percent)
{
    tile_mask mask = {{0}};
    for (uint32_t row = 0; row < rows; row++)
        mask.bits[row / 64] |= (uint64_t)chance(percent) << row % 64;
    return mask;
}

static void mask_is_list(int level, uint32_t rows, uint32_t percent)
{
    const struct chunk_view chunk = {.codec = codec_baseline()};
    struct tile_column column = column_of(&chunk);
    const struct tile t = {.rows = rows, .list = &list};
    const tile_mask mask = random_mask(rows, percent);
    tile_mask dense;
    uint16_t listed[TILE_ROWS] = {0};
    int32_t buffers[2][TILE_ROWS + TILE_ROWS / 4];
    int64_t values[2][TILE_ROWS];
    memset(&list, 0, sizeof list);
    const uint32_t count = rows_of[level](NULL, 0, &t, mask.bits, NULL, listed, NULL, NULL);
    assert_int_equal(count, tile_count(&mask));
    assert_int_equal(rows_of[level](NULL, 0, &t, mask.bits, &dense, listed, NULL, NULL), count);
    if (tile_steps_dense(&t, count))
        assert_memory_equal(&dense, &mask, sizeof mask);
    values_of[level](&column, &t, listed, NULL, count, values[0], NULL);
    values_of[level](&column, &t, all_rows, &mask, count, values[1], NULL);
    assert_memory_equal(values[0], values[1], count * sizeof **values);
    for (uint32_t shift = 0; shift < 8; shift += 7) {
        const struct tile_term terms[2] = {{&column, shift, shift ? 63 : UINT32_MAX, buffers[0]},
                                           {&column, shift, shift ? 63 : UINT32_MAX, buffers[1]}};
        const struct row_vector by_list = term_of[level](&terms[0], &t, listed, NULL, count),
                                by_mask = term_of[level](&terms[1], &t, all_rows, &mask, count);
        assert_memory_equal(by_list.narrow, by_mask.narrow, count * sizeof *by_list.narrow);
        for (uint32_t i = 0; i < count; i++)
            assert_int_equal(by_mask.narrow[i], shift ? (int32_t)((uint32_t)stored[listed[i]] >> shift & 63)
                                                      : stored[listed[i]]);
    }
}

static void conditions_keep_what_is_true(int level, uint32_t rows, uint32_t percent)
{
    const struct tile t = {.rows = rows};
    int64_t values[VECTOR_ROWS];
    uint8_t nulls[VECTOR_ROWS];
    for (uint32_t row = 0; row < VECTOR_ROWS; row++) { /* also after the last */
        values[row] = chance(percent) ? (int64_t)1 << below(63) : 0;
        nulls[row] = chance(10);
    }
    for (int nullable = 0; nullable < 2; nullable++) {
        const struct vector truth = {values, nullable ? nulls : NULL};
        const tile_mask before = random_mask(rows, 80);
        tile_mask keep = before;
        const uint32_t count = keep_of[level](&truth, &t, &keep);
        assert_int_equal(count, tile_count(&keep));
        for (uint32_t row = 0; row < rows; row++)
            assert_int_equal(keep.bits[row / 64] >> row % 64 & 1, (before.bits[row / 64] >> row % 64 & 1) &&
                                                                      values[row] &&
                                                                      !(nullable && nulls[row]));
    }
}

static void ranks_add_up(int level, uint32_t rows)
{
    const struct first_term term = {.descending = chance(50),
                                    .shift = below(4),
                                    .low = -500,
                                    .high = 400,
                                    .best = below(2),
                                    .null = below(2) * 1000,
                                    .stride = 1 + below(1000)};
    int64_t values[VECTOR_ROWS];
    uint8_t nulls[VECTOR_ROWS];
    for (int nullable = 0; nullable < 2; nullable++) {
        const struct vector from = {values, nullable ? nulls : NULL};
        uint64_t ranks[VECTOR_ROWS], expected[VECTOR_ROWS], least = UINT64_MAX;
        for (uint32_t row = 0; row < rows; row++) {
            values[row] = (int64_t)below(1100) - 600;
            nulls[row] = chance(10);
            ranks[row] = below(50);
            expected[row] = ranks[row] + first_term_part(&term, values[row], nullable && nulls[row]);
            least = expected[row] < least ? expected[row] : least;
        }
        assert_true(rank_of[level](&term, &from, rows, ranks) == least);
        assert_memory_equal(ranks, expected, rows * sizeof *ranks);
    }
}

static void loops_of_a_tile(void **state)
{
    static const uint32_t percents[] = {0, 3, 25, 50, 97, 100};
    (void)state;
    random_state = 20261128;
    for (uint32_t row = 0; row < TILE_ROWS; row++) {
        stored[row] = (int32_t)(below(UINT32_MAX) - below(UINT32_MAX));
        all_rows[row] = (uint16_t)row;
    }
    for (int level = 0; level <= (int)isa_level(); level++)
        for (uint32_t s = 0; s < SIZES; s++)
            for (uint32_t p = 0; p < 6; p++)
                for (uint32_t again = 0; again < 20; again++) {
                    mask_is_list(level, sizes[s], percents[p]);
                    conditions_keep_what_is_true(level, sizes[s], percents[p]);
                    ranks_add_up(level, sizes[s]);
                }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(loops_of_a_tile)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
