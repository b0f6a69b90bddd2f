/* test_tile_codes.c: the tiles that bits of codes leave are those that a look at each tile's least and greatest key leaves, for random
 * sets of prefixes and positions, in generated order and clustered; and they are kept for the next statement. */
#define _GNU_SOURCE
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>

#include "engine/plan/tiles/tile_codes.h"
#include "storage/column/column_data.h"
#include "storage/column/positions.h"
#include "tests/support/database_cases.h"
#include "tests/support/run_program.h"

static char path[PATH_BYTES];
static uint64_t seed = 20261128;

static uint32_t draw(uint32_t below)
{
    seed = seed * 6364136223846793005u + 1442695040888963407u;
    return (uint32_t)(seed >> 33) % below;
}

/* Few members or many, next to each other or anywhere; of prefixes, if `shift` is not 0. */
static void make_set(const struct table *referenced, uint32_t shift, struct position_set *set)
{
    const uint64_t positions = ((table_positions(referenced) - 1) >> shift) + 1;
    const uint32_t members = 1 + draw(draw(2) ? 2 : 20);
    const uint64_t from = draw((uint32_t)positions);
    must(position_set_create(positions, set, error));
    set->shift = shift;
    for (uint32_t m = 0; m < members; m++) {
        const uint64_t member = draw(2) ? (from + m) % positions : draw((uint32_t)positions);
        position_set_add(set, member << shift);
    }
    position_set_count(set);
}

static bool same_runs(const struct tile_skip *a, const struct tile_skip *b)
{
    bool same =
        a->run_count == b->run_count && a->kept_tiles == b->kept_tiles && a->kept_rows == b->kept_rows;
    for (uint64_t r = 0; same && r < a->run_count; r++)
        same = a->runs[r].segment == b->runs[r].segment && a->runs[r].first == b->runs[r].first &&
               a->runs[r].tiles == b->runs[r].tiles;
    return same;
}

/* Tests of the four keys with random sets; the numbers of statements with codes, and of those that leave some tiles out. */
static void compare(struct database *database, uint32_t *coded, uint32_t *skipping)
{
    static const char *const keys[] = {"lo_custkey", "lo_partkey", "lo_suppkey", "lo_orderdate"};
    const struct table *table;
    const struct column *key;
    must(database_table(database, "lineorder", &table, error));
    for (uint32_t i = 0; i < 300; i++) {
        struct tile_test tests[4] = {{0}};
        struct position_set sets[4] = {{0}};
        const struct kept_array *kept[4] = {NULL};
        struct tile_skip each, by_codes;
        const uint32_t count = 1 + draw(4);
        for (uint32_t t = 0; t < count; t++) {
            struct column_data *data;
            must(table_column(table, keys[draw(4)], &key, error));
            must(column_data_open(database, key, key->own, 1, &data, error));
            const struct table_levels *const levels = key->references->table->levels;
            make_set(key->references->table, draw(5) ? levels_shift(levels, draw(levels->count + 1)) : 0,
                     &sets[t]);
            tests[t] = (struct tile_test){.data = data, .low = INT64_MIN, .high = INT64_MAX, .set = &sets[t]};
            if (draw(6) == 0)
                tests[t].high = draw((uint32_t)table_positions(key->references->table));
        }
        must(tile_skip_find(table, tests, count, 1, &each, error));
        for (uint32_t t = 0; t < count; t++) {
            must(tile_codes_find(database, table, &tests[t], &kept[t], error));
            *coded += kept[t] != NULL;
        }
        must(tile_skip_find(table, tests, count, 2, &by_codes, error));
        if (!same_runs(&each, &by_codes))
            fail_msg("statement %u: %llu tiles by codes, %llu by looking at each", i,
                     (unsigned long long)by_codes.kept_tiles, (unsigned long long)each.kept_tiles);
        *skipping += each.kept_tiles < each.tiles;
        for (uint32_t t = 0; t < count; t++) {
            kept_array_release(database, kept[t]);
            position_set_free(&sets[t]);
        }
        tile_skip_free(&each);
        tile_skip_free(&by_codes);
    }
}

static void codes_leave_the_tiles_that_extrema_leave(void **state)
{
    static const char *const orders[] = {"none", "auto"};
    (void)state;
    for (uint32_t o = 0; o < 2; o++) {
        struct program_run run;
        struct database *database;
        uint32_t coded = 0, skipping = 0;
        directory_make(path);
        setenv("D", path, 1);
        setenv("O", orders[o], 1);
        run_shell("$T ssb load --sf 0.4 --db $D --cluster-by $O", &run);
        assert_int_equal(run.exit_code, 0);
        must(database_open(path, &database, error));
        compare(database, &coded, &skipping);
        assert_true(o == 0 || (coded > 300 && skipping > 200));
        const uint64_t bytes = kept_arrays_bytes(database).all, groups = 2400000 / TILE_ROWS / 64 + 2;
        assert_true(bytes <= 4 * TILE_CODES * groups * sizeof(uint64_t)); /* once for each key */
        assert_true(o == 0 || bytes > 0);
        database_close(database);
        directory_remove(path);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(codes_leave_the_tiles_that_extrema_leave)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
