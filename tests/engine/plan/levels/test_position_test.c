/* test_position_test.c: every row that passes is in a cube, no other one is if the test is exact, and no test with
 * fewer bits is. Compared with all rows and, for small positions, with all sets of bits. */
#define _GNU_SOURCE
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "engine/plan/levels/position_test.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define LEAVES 70000u

static uint64_t seed = 20261122;

static uint32_t draw(uint32_t below)
{
    seed = seed * 6364136223846793005u + 1442695040888963407u;
    return (uint32_t)(seed >> 33) % below;
}

/* A dimension: levels of these bits, each parent with up to `children[l]` children, and leaves of up to `rows` rows. */
static struct level_leaf leaves[LEAVES];
static uint64_t passing[LEAVES];

static uint32_t bits_for(uint64_t values)
{
    uint32_t bits = 0;
    while (values > UINT64_C(1) << bits)
        bits++;
    return bits;
}

static void add_leaves(struct table_levels *levels, const uint32_t *children, uint32_t level, uint32_t prefix,
                       bool random, uint32_t rows)
{
    if (level == levels->count) {
        struct level_leaf *leaf = &leaves[levels->leaf_count];
        const struct level_leaf *before = levels->leaf_count ? leaf - 1 : NULL;
        *leaf = (struct level_leaf){.prefix = prefix, .rows = 1 + draw(rows)};
        leaf->first_row = before ? before->first_row + before->rows : 0;
        levels->positions = ((uint64_t)prefix << levels->rest_bits) + leaf->rows;
        levels->leaf_count++;
        return;
    }
    const uint32_t count = random ? 1 + draw(children[level]) : children[level];
    for (uint32_t child = 0; child < count; child++)
        add_leaves(levels, children, level + 1, prefix << levels->level[level].bits | child, random, rows);
}

static struct table_levels make(uint32_t count, const uint32_t *children, bool random, uint32_t rows)
{
    struct table_levels levels = {.count = count, .rest_bits = bits_for(rows), .leaves = leaves};
    for (uint32_t l = 0; l < count; l++) {
        levels.level[l].bits = bits_for(children[l]);
        levels.prefix_bits += levels.level[l].bits;
    }
    add_leaves(&levels, children, 0, 0, random, rows);
    return levels;
}

/* The code of a leaf's level. */
static uint32_t code(const struct table_levels *levels, uint32_t leaf, uint32_t level)
{
    const uint32_t shift = levels_shift(levels, level + 1) - levels->rest_bits;
    return leaves[leaf].prefix >> shift & ((1u << levels->level[level].bits) - 1);
}

/* Checks a test against the leaves' rows; returns the number of rows in cubes. */
static void check(const struct table_levels *levels, const struct position_test *test)
{
    uint64_t inside = 0, rows = 0;
    uint32_t care = 0;
    if (test->cube_count == 0)
        return;
    for (uint32_t c = 0; c < test->cube_count; c++) {
        care |= test->cubes[c].care;
        assert_int_equal(test->cubes[c].value_bits & ~test->cubes[c].care, 0);
    }
    assert_int_equal(care, test->care);
    assert_int_equal(care & ((1u << levels->rest_bits) - 1), 0);
    for (uint32_t l = 0; l < levels->leaf_count; l++) {
        const bool in = position_test_passes(test, leaves[l].prefix << levels->rest_bits);
        assert_true(in || passing[l] == 0);
        if (test->exact)
            assert_int_equal(in ? leaves[l].rows : 0, passing[l]);
        rows += leaves[l].rows;
        inside += in ? leaves[l].rows : 0;
    }
    assert_true(test->share > (double)inside / (double)rows - 1e-9 &&
                test->share < (double)inside / (double)rows + 1e-9);
}

/* The best test; those that are found with less work are right, too. */
static struct position_test found(const struct table_levels *levels)
{
    static const uint64_t work[] = {0, 1, 300, 20000, POSITION_TEST_WORK_MOST};
    struct position_test test;
    struct error error;
    for (size_t w = 0; w < sizeof work / sizeof *work; w++) {
        assert_int_equal(position_test_find(levels, passing, work[w], &test, &error), STATUS_OK);
        check(levels, &test);
    }
    return test;
}

/* The fewest of the prefix's bits that decide which leaves pass; each leaf passes or fails as a whole. */
static uint32_t fewest_bits(const struct table_levels *levels)
{
    uint32_t fewest = levels->prefix_bits;
    for (uint32_t bits = 0; bits < 1u << levels->prefix_bits; bits++) {
        bool decides = (uint32_t)__builtin_popcount(bits) < fewest;
        for (uint32_t a = 0; decides && a < levels->leaf_count; a++)
            for (uint32_t b = 0; decides && b < levels->leaf_count; b++)
                decides =
                    (passing[a] > 0) == (passing[b] > 0) || ((leaves[a].prefix ^ leaves[b].prefix) & bits);
        fewest = decides ? (uint32_t)__builtin_popcount(bits) : fewest;
    }
    return fewest;
}

/* ---- Known cases ---- */

static void one_of_five_regions_is_two_planes(void **state)
{
    (void)state;
    const struct table_levels levels = make(3, (const uint32_t[]){5, 5, 10}, false, 4000);
    /* 4 alone has the first bit; 0 must differ from 1, 2 and 4 */
    const uint32_t planes[] = {3, 2, 2, 2, 1};
    for (uint32_t region = 0; region < 5; region++) {
        for (uint32_t l = 0; l < levels.leaf_count; l++)
            passing[l] = code(&levels, l, 0) == region ? leaves[l].rows : 0;
        const struct position_test test = found(&levels);
        check(&levels, &test);
        assert_true(test.exact);
        assert_int_equal(test.cube_count, 1);
        assert_int_equal(__builtin_popcount(test.care), planes[region]);
    }
}

static void six_of_seven_years_are_two_planes(void **state)
{
    (void)state;
    const struct table_levels levels = make(3, (const uint32_t[]){7, 12, 31}, false, 1);
    for (uint32_t l = 0; l < levels.leaf_count; l++)
        passing[l] = code(&levels, l, 0) <= 5;
    const struct position_test test = found(&levels);
    check(&levels, &test);
    assert_true(test.exact);
    assert_int_equal(__builtin_popcount(test.care), 2);
    assert_int_equal(test.cube_count, 2);
}

static void two_cities_of_one_nation_share_their_bits(void **state)
{
    (void)state;
    const struct table_levels levels = make(3, (const uint32_t[]){5, 5, 10}, false, 4000);
    for (uint32_t l = 0; l < levels.leaf_count; l++)
        passing[l] = code(&levels, l, 0) == 3 && code(&levels, l, 1) == 4 &&
                             (code(&levels, l, 2) == 1 || code(&levels, l, 2) == 5)
                         ? leaves[l].rows
                         : 0;
    const struct position_test test = found(&levels);
    check(&levels, &test);
    assert_true(test.exact);
    assert_int_equal(test.cube_count, 1); /* 0001 and 0101 */
    assert_int_equal(__builtin_popcount(test.care), 2 + 1 + 3);
}

static void a_range_of_brands_takes_few_cubes(void **state)
{
    (void)state;
    const struct table_levels levels = make(3, (const uint32_t[]){5, 5, 40}, false, 1000);
    for (uint32_t l = 0; l < levels.leaf_count; l++)
        passing[l] = code(&levels, l, 0) == 1 && code(&levels, l, 1) == 1 && code(&levels, l, 2) - 20 < 8
                         ? leaves[l].rows
                         : 0;
    const struct position_test test = found(&levels);
    check(&levels, &test);
    assert_true(test.exact);
    assert_in_range(test.cube_count, 1, 3);
}

static void all_rows_and_none(void **state)
{
    (void)state;
    const struct table_levels levels = make(2, (const uint32_t[]){5, 5}, false, 3);
    for (uint32_t l = 0; l < levels.leaf_count; l++)
        passing[l] = leaves[l].rows;
    struct position_test test = found(&levels);
    check(&levels, &test);
    assert_true(test.exact && test.cube_count == 1 && test.care == 0 && test.share == 1);
    memset(passing, 0, sizeof passing);
    test = found(&levels);
    assert_int_equal(test.cube_count, 0);
}

static void a_level_of_one_value_has_no_bits(void **state)
{
    (void)state;
    const struct table_levels levels = make(1, (const uint32_t[]){1}, false, 9);
    passing[0] = 1;
    const struct position_test test = found(&levels);
    assert_int_equal(test.cube_count, 0); /* nothing to test, and not exact */
}

/* A row of one brand: its prefix is found, and rows of the same leaf that fail are left to the bitmap. */
static void a_predicate_that_no_level_decides_is_tested_in_part(void **state)
{
    (void)state;
    const struct table_levels levels = make(3, (const uint32_t[]){5, 5, 10}, false, 4000);
    memset(passing, 0, sizeof passing);
    passing[117] = 1;
    leaves[117].rows += 2;
    const struct position_test test = found(&levels);
    check(&levels, &test);
    assert_false(test.exact);
    assert_true(test.cube_count && test.share < 0.05);
}

/* Every second leaf of many passes: no test of few cubes. */
static void what_takes_too_many_cubes_has_no_exact_test(void **state)
{
    (void)state;
    const struct table_levels levels = make(2, (const uint32_t[]){200, 300}, true, 2);
    for (uint32_t l = 0; l < levels.leaf_count; l++)
        passing[l] = draw(2) ? leaves[l].rows : 0;
    const struct position_test test = found(&levels);
    check(&levels, &test);
    assert_false(test.exact);
}

/* ---- Random cases ---- */

static void the_fewest_bits_are_found(void **state)
{
    (void)state;
    uint32_t tested = 0;
    printf("seed %llu\n", (unsigned long long)seed);
    for (uint32_t round = 0; round < 3000; round++) {
        const struct table_levels levels =
            make(1, (const uint32_t[]){2 + draw(1u << (1 + draw(6)))}, false, 1 + draw(5));
        struct level_leaf *kept = leaves;
        struct table_levels gaps = levels;
        const uint32_t present = 1 + draw(8);
        for (uint32_t l = 0; l < levels.leaf_count; l++) /* leaves out some codes */
            if (draw(8) < present || kept == leaves)
                *kept++ = leaves[l];
        gaps.leaf_count = (uint32_t)(kept - leaves);
        const uint32_t most = 1 + draw(6), from = draw(gaps.leaf_count), to = from + draw(8);
        for (uint32_t l = 0; l < gaps.leaf_count; l++)
            passing[l] = round % 2              ? (draw(6) < most ? leaves[l].rows : 0)
                         : l >= from && l <= to ? leaves[l].rows
                                                : 0;
        const struct position_test test = found(&gaps);
        check(&gaps, &test);
        tested += test.cube_count > 0;
        if (test.cube_count)
            assert_int_equal(__builtin_popcount(test.care), fewest_bits(&gaps));
    }
    assert_true(tested > 2000);
}

static void random_hierarchies(void **state)
{
    (void)state;
    for (uint32_t round = 0; round < 400; round++) {
        const uint32_t children[4] = {1 + draw(9), 1 + draw(9), 1 + draw(9), 1 + draw(9)};
        const struct table_levels levels = make(1 + draw(4), children, true, 1 + draw(100));
        const uint32_t level = draw(levels.count), first = draw(5), last = first + draw(4);
        const bool in_part = draw(3) == 0;
        for (uint32_t l = 0; l < levels.leaf_count; l++) {
            const uint32_t at = code(&levels, l, level);
            passing[l] = at < first || at > last ? 0 : in_part ? draw(leaves[l].rows + 1) : leaves[l].rows;
        }
        const struct position_test test = found(&levels);
        check(&levels, &test);
    }
}

/* 60,000 leaves: the limits on work hold, and a test of the first level is still found. */
static void many_leaves(void **state)
{
    (void)state;
    const struct table_levels levels = make(3, (const uint32_t[]){6, 100, 100}, false, 3);
    for (uint32_t l = 0; l < levels.leaf_count; l++)
        passing[l] = code(&levels, l, 0) == 1 && code(&levels, l, 2) >= 37 ? leaves[l].rows : 0;
    const struct position_test test = found(&levels);
    check(&levels, &test);
    assert_true(test.cube_count > 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(one_of_five_regions_is_two_planes),
        cmocka_unit_test(six_of_seven_years_are_two_planes),
        cmocka_unit_test(two_cities_of_one_nation_share_their_bits),
        cmocka_unit_test(a_range_of_brands_takes_few_cubes),
        cmocka_unit_test(all_rows_and_none),
        cmocka_unit_test(a_level_of_one_value_has_no_bits),
        cmocka_unit_test(a_predicate_that_no_level_decides_is_tested_in_part),
        cmocka_unit_test(what_takes_too_many_cubes_has_no_exact_test),
        cmocka_unit_test(the_fewest_bits_are_found),
        cmocka_unit_test(random_hierarchies),
        cmocka_unit_test(many_leaves),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
