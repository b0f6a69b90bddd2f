/* test_positions.c: runs of positions, arrays by position and the check of keys, against loops over all rows. */
#define _GNU_SOURCE
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "tests/support/database_cases.h"
#include "tests/support/made_levels.h"

#include "storage/column/positions.h"
#include "tests/support/level_positions.h"

static void begin(struct table *table, struct made_levels *made, uint32_t rows, int round)
{
    levels_make(made, rows, (uint32_t)round % 12, below(101), below(101));
    *table = (struct table){.rows = rows, .levels = &made->levels};
}

/* The row at each position; -1: a gap. */
static int32_t *rows_by_levels(const struct table *table)
{
    int32_t *rows;
    must(rows_of_positions(table, &rows, error));
    for (uint64_t position = 0; position < table_positions(table); position++) {
        uint64_t row = position;
        const bool found = !table->levels || levels_row(table->levels, position, &row);
        assert_int_equal(rows[position], found ? (int64_t)row : -1);
    }
    return rows;
}

static void check_runs(const struct table *table, const int32_t *rows)
{
    struct position_run run = {0};
    uint64_t at = 0, seen = 0;
    while (position_run_next(table, &run)) {
        assert_true(run.first >= at && run.rows > 0 && run.row == seen);
        for (; at < run.first; at++)
            assert_int_equal(rows[at], -1);
        for (; at < run.first + run.rows; at++)
            assert_int_equal(rows[at], (int64_t)seen++);
        assert_true(at == table_positions(table) || rows[at] == -1); /* it ends at a gap */
    }
    assert_int_equal(seen, table->rows);
    assert_int_equal(at, table_positions(table));
    assert_false(position_run_next(table, &run));
}

static void check_runs_from(const struct table *table, const int32_t *rows)
{
    const uint64_t positions = table_positions(table);
    for (int i = 0; i < 200; i++) {
        struct position_run run;
        uint64_t from = below((uint32_t)positions + 3), first = from;
        const bool found = position_run_from(table, from, &run);
        while (first < positions && rows[first] < 0)
            first++;
        assert_int_equal(found, first < positions);
        if (!found)
            continue;
        assert_int_equal(run.first, first);
        assert_int_equal(run.row, rows[first]);
        while (first < positions && rows[first] >= 0)
            first++;
        assert_int_equal(run.first + run.rows, first);
        assert_int_equal(position_run_next(table, &run), first < positions);
    }
}

/* Stretches have all rows of a part, once, and no large gap. */
static void check_stretches(const struct table *table, const int32_t *rows, uint64_t begin_at, uint64_t limit)
{
    uint64_t at = begin_at, done = begin_at, first, end;
    limit = limit < table_positions(table) ? limit : table_positions(table);
    for (; position_stretch(table, at, limit, &first, &end); at = (end + 31) / 32 * 32) {
        assert_true(first % 32 == 0 && first >= done && first < end && end <= limit);
        for (; done < first; done++)
            assert_int_equal(rows[done], -1);
        for (uint32_t gap = 0; done < end; done++)
            assert_true((gap = rows[done] < 0 ? gap + 1 : 0) < POSITION_GAP_MIN + 32);
    }
    for (; done < limit; done++)
        assert_int_equal(rows[done], -1);
}

static void runs_have_every_row_once(void **state)
{
    (void)state;
    for (int round = 0; round < 60; round++) {
        struct table table;
        struct made_levels made;
        begin(&table, &made, 1 + below(3000), round);
        int32_t *rows = rows_by_levels(&table), *positions;
        must(positions_of_rows(&table, &positions, error));
        for (uint64_t row = 0; row < table.rows; row++)
            assert_int_equal(positions[row], levels_position(&made.levels, row));
        check_runs(&table, rows);
        check_runs_from(&table, rows);
        check_stretches(&table, rows, 0, UINT64_MAX);
        for (int i = 0; i < 20; i++)
            check_stretches(&table, rows, below(100) * 32, 32 + below(10000));
        free(rows);
        free(positions);
        levels_free(&made);
    }
}

static void a_table_without_levels_is_one_run(void **state)
{
    (void)state;
    const struct table table = {.rows = 1000}, empty = {0};
    struct position_run run = {0};
    int32_t *rows = rows_by_levels(&table);
    check_runs(&table, rows);
    check_runs_from(&table, rows);
    check_stretches(&table, rows, 64, 500);
    assert_false(position_run_next(&empty, &run));
    assert_false(position_run_from(&empty, 0, &run));
    free(rows);
}

/* A gap has the value of the row before it; before the first row it is that of the first row. */
static void gaps_repeat_the_row_before(void **state)
{
    (void)state;
    for (int round = 0; round < 60; round++) {
        struct table table;
        struct made_levels made;
        begin(&table, &made, 1 + below(2000), round);
        const uint64_t positions = table_positions(&table);
        int32_t *rows = rows_by_levels(&table);
        uint8_t *by_row = malloc(table.rows * 8), *by_position = malloc(positions * 8);
        uint32_t *bits = calloc(table.rows / 32 + 1, 4), *spread = calloc(positions / 32 + 1, 4);
        assert_true(by_row && by_position && bits && spread);
        for (uint64_t b = 0; b < table.rows * 8; b++)
            by_row[b] = (uint8_t)below(256);
        for (uint64_t w = 0; w < table.rows / 32 + 1; w++)
            bits[w] = below(1u << 31) << below(2);
        positions_spread_bits(&table, bits, spread);
        for (uint32_t bytes = 1; bytes <= 8; bytes *= 2) {
            uint64_t row = 0;
            positions_spread(&table, by_row, bytes, by_position);
            for (uint64_t position = 0; position < positions; position++) {
                row = rows[position] >= 0 ? (uint64_t)rows[position] : row;
                assert_memory_equal(by_position + position * bytes, by_row + row * bytes, bytes);
                assert_int_equal(spread[position / 32] >> position % 32 & 1, bits[row / 32] >> row % 32 & 1);
            }
        }
        free(rows);
        free(by_row);
        free(by_position);
        free(bits);
        free(spread);
        levels_free(&made);
    }
}

static void a_key_in_a_gap_is_found_unless_it_is_null(void **state)
{
    (void)state;
    for (int round = 0; round < 60; round++) {
        struct table table;
        struct made_levels made;
        struct position_check check;
        begin(&table, &made, 1 + below(2000), round);
        int32_t *rows = rows_by_levels(&table), keys[TILE_ROWS];
        uint32_t validity[TILE_LANES];
        must(position_check_open(&table, &check, error));
        for (uint64_t position = 0; position < table_positions(&table) + 10; position++)
            assert_int_equal(position_has_row(&check, position),
                             position < table_positions(&table) && rows[position] >= 0);
        for (uint32_t row = 0; row < TILE_ROWS; row++)
            keys[row] = (int32_t)levels_position(&made.levels, below((uint32_t)table.rows));
        memset(validity, 0xff, sizeof validity);
        assert_int_equal(position_check_tile(&check, keys, NULL, 1000), 1000);
        keys[700] = (int32_t)table_positions(&table);
        assert_int_equal(position_check_tile(&check, keys, validity, 1000), 700);
        assert_int_equal(position_check_tile(&check, keys, NULL, 700), 700);
        validity[700 % TILE_LANES] &= ~(1u << 700 / TILE_LANES);
        assert_int_equal(position_check_tile(&check, keys, validity, 1000), 1000);
        position_check_close(&check);
        free(rows);
        levels_free(&made);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(runs_have_every_row_once),
                                       cmocka_unit_test(a_table_without_levels_is_one_run),
                                       cmocka_unit_test(gaps_repeat_the_row_before),
                                       cmocka_unit_test(a_key_in_a_gap_is_found_unless_it_is_null)};
    random_state = 20261122;
    return cmocka_run_group_tests_name("positions", tests, NULL, NULL);
}
