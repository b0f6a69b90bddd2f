/*
 * test_level_find.c: which levels are found in a dimension's columns, and how rows are laid out by them. Every layout is
 * compared with a plain one: rows sorted by their values, ranks counted, depths looked for row by row.
 */
#define _GNU_SOURCE
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "storage/column/column.h"
#include "storage/database/levels/level_find.h"
#include "tests/support/database_cases.h"

#define COLUMNS_MAX 12

/* A dimension in memory; INT32_MIN stands for NULL. */
struct dimension {
    uint64_t rows;
    uint32_t columns;
    int32_t *values[COLUMNS_MAX];
    uint64_t *validity[COLUMNS_MAX];
    struct level_codes codes[COLUMNS_MAX];
};

static void dimension_make(struct dimension *dimension, uint64_t rows, uint32_t columns)
{
    *dimension = (struct dimension){.rows = rows, .columns = columns};
    for (uint32_t c = 0; c < columns; c++) {
        dimension->values[c] = calloc(rows + 1, sizeof(int32_t));
        dimension->validity[c] = calloc(rows / 64 + 1, sizeof(uint64_t));
        assert_non_null(dimension->values[c]);
        assert_non_null(dimension->validity[c]);
    }
}

static void dimension_free(struct dimension *dimension)
{
    for (uint32_t c = 0; c < dimension->columns; c++) {
        free(dimension->values[c]);
        free(dimension->validity[c]);
        level_codes_free(&dimension->codes[c]);
    }
}

static struct level_values values_of(const struct dimension *dimension, uint32_t c)
{
    return (struct level_values){.values = dimension->values[c],
                                 .value_bytes = 4,
                                 .validity = dimension->validity[c],
                                 .rows = dimension->rows};
}

/* Finds levels; returns their number. */
static uint32_t find(struct dimension *dimension, uint32_t levels[LEVELS_MAX])
{
    uint32_t count;
    for (uint32_t c = 0; c < dimension->columns; c++) {
        for (uint64_t r = 0; r < dimension->rows; r++)
            if (dimension->values[c][r] != INT32_MIN)
                dimension->validity[c][r / 64] |= UINT64_C(1) << r % 64;
        const struct level_values values = values_of(dimension, c);
        level_codes_free(&dimension->codes[c]);
        must(level_codes_make(&values, &dimension->codes[c], error));
    }
    must(levels_find(dimension->codes, dimension->columns, dimension->rows, levels, &count, error));
    return count;
}

/* ---- The plain layout ---- */

static const struct dimension *sorted;
static const uint32_t *sorted_levels;
static uint32_t sorted_count;

/* Compares rows by their first `count` levels. */
static int compare_levels(uint64_t a, uint64_t b, uint32_t count)
{
    for (uint32_t l = 0; l < count; l++) {
        const int32_t x = sorted->values[sorted_levels[l]][a], y = sorted->values[sorted_levels[l]][b];
        if (x != y)
            return x < y ? -1 : 1; /* NULL is the least int32 */
    }
    return 0;
}

static int compare_rows(const void *left, const void *right)
{
    const uint32_t a = *(const uint32_t *)left, b = *(const uint32_t *)right;
    const int order = compare_levels(a, b, sorted_count);
    return order ? order : (a > b) - (a < b);
}

static bool decides(const struct dimension *dimension, const uint32_t *order, uint32_t levels, uint32_t c)
{
    for (uint64_t i = 1; i < dimension->rows; i++)
        if (compare_levels(order[i - 1], order[i], levels) == 0 &&
            dimension->values[c][order[i - 1]] != dimension->values[c][order[i]])
            return false;
    return true;
}

/* The code of the row at place i of `order` in level l. */
static uint32_t rank_of(const uint32_t *order, uint64_t i, uint32_t l)
{
    uint32_t rank = 0;
    for (; i > 0 && compare_levels(order[i - 1], order[i], l) == 0; i--)
        rank += compare_levels(order[i - 1], order[i], l + 1) != 0;
    return rank;
}

static void check_depths(const struct dimension *dimension, const struct level_layout *layout,
                         const uint32_t *order)
{
    for (uint32_t c = 0; c < dimension->columns; c++) {
        const struct level_values values = values_of(dimension, c);
        uint32_t least = 0;
        uint8_t depth;
        while (least <= layout->count && !decides(dimension, order, least, c))
            least++;
        must(level_layout_depth(layout, &values, &depth, error));
        assert_int_equal(depth, least);
    }
}

static void check_positions(const struct dimension *dimension, const struct level_layout *layout,
                            const uint32_t *order, const int32_t *positions)
{
    uint64_t within = 0, stride = dimension->rows > 5000 ? 97 : 1;
    for (uint64_t i = 0; i < dimension->rows; i++) {
        within = i > 0 && compare_levels(order[i - 1], order[i], layout->count) == 0 ? within + 1 : 0;
        uint64_t position = within;
        uint32_t shift = layout->rest_bits;
        assert_true(within < UINT64_C(1) << layout->rest_bits);
        if (i % stride)
            continue;
        for (uint32_t l = layout->count; l-- > 0;) {
            const uint64_t rank = rank_of(order, i, l);
            assert_true(rank < UINT64_C(1) << layout->bits[l]);
            position |= rank << shift;
            shift += layout->bits[l];
        }
        assert_int_equal(shift, layout->prefix_bits + layout->rest_bits);
        assert_int_equal(positions[order[i]], position);
        assert_true(position < layout->positions);
    }
    assert_int_equal(positions[order[dimension->rows - 1]], layout->positions - 1);
}

/* Lays the dimension out by these levels and compares everything. */
static void check_layout(const struct dimension *dimension, const uint32_t *levels, uint32_t count)
{
    const struct level_codes *codes[LEVELS_MAX];
    struct level_layout layout;
    bool fits;
    for (uint32_t l = 0; l < count; l++)
        codes[l] = &dimension->codes[levels[l]];
    must(level_layout_make(codes, count, dimension->rows, NULL, 0, &fits, &layout, error));
    assert_true(fits);
    uint32_t *order = calloc(dimension->rows, sizeof *order),
             *expected = calloc(dimension->rows, sizeof *expected);
    int32_t *positions = calloc(dimension->rows, sizeof *positions);
    assert_true(order && expected && positions);
    for (uint64_t r = 0; r < dimension->rows; r++)
        expected[r] = (uint32_t)r;
    sorted = dimension;
    sorted_levels = levels;
    sorted_count = count;
    qsort(expected, dimension->rows, sizeof *expected, compare_rows);
    level_layout_order(&layout, order, positions);
    assert_memory_equal(order, expected, dimension->rows * sizeof *order);
    uint64_t first = 0;
    for (uint32_t f = 0; f < layout.leaf_count; first += layout.leaves[f++].rows)
        assert_int_equal(layout.leaves[f].first_row, first);
    assert_int_equal(first, dimension->rows);
    check_positions(dimension, &layout, order, positions);
    check_depths(dimension, &layout, order);
    level_layout_free(&layout);
    free(order);
    free(expected);
    free(positions);
}

static void check_found(struct dimension *dimension, uint32_t count, const uint32_t *expected)
{
    uint32_t levels[LEVELS_MAX];
    assert_int_equal(find(dimension, levels), count);
    for (uint32_t l = 0; l < count; l++)
        if (levels[l] != expected[l])
            fail_msg("level %u is column %u, not %u", l, levels[l], expected[l]);
    if (count)
        check_layout(dimension, levels, count);
}

/* ---- Hierarchies ---- */

static uint32_t scramble(uint64_t number)
{
    number = (number + 1) * 0x9e3779b97f4a7c15ull;
    return (uint32_t)((number ^ number >> 29) * 0xbf58476d1ce4e5b9ull >> 33);
}

/* key, city, segment, nation, region: as SSB's customers. */
static void make_customers(struct dimension *dimension, uint64_t rows)
{
    dimension_make(dimension, rows, 5);
    for (uint64_t r = 0; r < rows; r++) {
        const int32_t city = (int32_t)(scramble(r) % 250);
        dimension->values[0][r] = (int32_t)r;
        dimension->values[1][r] = city;
        dimension->values[2][r] = (int32_t)(scramble(r + 77777) % 5);
        dimension->values[3][r] = 100 - city / 10;
        dimension->values[4][r] = city / 50 * 1000000;
    }
}

static void a_chain_of_dependencies_is_found(void **state)
{
    (void)state;
    static const uint64_t rows[] = {2000, 20000, 60000, 250000};
    for (size_t r = 0; r < sizeof rows / sizeof *rows; r++) {
        struct dimension customers;
        uint32_t levels[LEVELS_MAX];
        make_customers(&customers, rows[r]);
        const uint32_t count =
            find(&customers, levels); /* a segment may be a fourth level without a bit more */
        assert_true(count >= 3 && levels[0] == 4 && levels[1] == 3 && levels[2] == 1);
        check_layout(&customers, levels, count);
        dimension_free(&customers);
    }
}

static void a_dependency_that_one_row_breaks_is_none(void **state)
{
    (void)state;
    struct dimension customers;
    uint32_t levels[LEVELS_MAX];
    make_customers(&customers, 20000);
    customers.values[3][19999] =
        customers.values[3][19999] == 100 ? 99 : 100; /* a nation of another region, perhaps */
    customers.values[4][19999] = 7000000;             /* a region of its own */
    const uint32_t count = find(&customers, levels);
    for (uint32_t l = 1; l < count; l++)
        assert_false(levels[l - 1] == 4 && levels[l] == 3);
    check_layout(&customers, levels, count);
    dimension_free(&customers);
}

/* year, month, day in the order of time; no column names the month of a year. */
static void months_are_below_years_where_no_bit_is_needed(void **state)
{
    (void)state;
    struct dimension dates;
    dimension_make(&dates, 2520, 4);
    for (uint32_t r = 0; r < dates.rows; r++) {
        dates.values[0][r] = (int32_t)r;
        dates.values[1][r] = 1 + (int32_t)r % 30;
        dates.values[2][r] = 1 + (int32_t)r / 30 % 12;
        dates.values[3][r] = 1992 + (int32_t)r / 360;
    }
    check_found(&dates, 2, (uint32_t[]){3, 2});
    dimension_free(&dates);
}

static void columns_that_name_the_same_are_one_level(void **state)
{
    (void)state;
    struct dimension dates;
    dimension_make(&dates, 2520, 3);
    for (uint32_t r = 0; r < dates.rows; r++) {
        dates.values[0][r] = (int32_t)(r / 30) * 37 % 101; /* the month by a name, which is not in order */
        dates.values[1][r] = (int32_t)(r / 360 * 100 + r / 30 % 12);
        dates.values[2][r] = 1992 + (int32_t)r / 360;
    }
    check_found(&dates, 2, (uint32_t[]){2, 1});
    dimension_free(&dates);
}

static void nulls_are_a_value_of_their_own(void **state)
{
    (void)state;
    struct dimension shops;
    dimension_make(&shops, 3000, 3);
    for (uint32_t r = 0; r < shops.rows; r++) {
        const int32_t city = (int32_t)(scramble(r) % 40);
        shops.values[0][r] = (int32_t)r;
        shops.values[1][r] = city == 7 ? INT32_MIN : city;
        shops.values[2][r] = city / 10 == 2 || city == 7 ? INT32_MIN : city / 10;
    }
    check_found(&shops, 2, (uint32_t[]){2, 1});
    dimension_free(&shops);
}

static void a_parent_may_have_1025_children(void **state)
{
    (void)state;
    struct dimension parts;
    dimension_make(&parts, 40000, 2);
    for (uint32_t r = 0; r < parts.rows; r++) {
        const int32_t brand = (int32_t)(scramble(r) % 1035);
        parts.values[0][r] = brand;
        parts.values[1][r] = brand < 1025 ? 0 : brand - 1024;
    }
    uint32_t levels[LEVELS_MAX];
    const uint32_t count = find(&parts, levels);
    assert_true(count > 0);
    check_layout(&parts, levels, count);
    check_layout(&parts, (uint32_t[]){1, 0}, 2);
    dimension_free(&parts);
}

static void what_has_no_levels_gets_none(void **state)
{
    (void)state;
    struct dimension dimension;
    for (uint64_t rows = 0; rows < 200; rows += 1 + rows / 3) {
        dimension_make(&dimension, rows, 2); /* all equal, and keys */
        for (uint64_t r = 0; r < rows; r++)
            dimension.values[1][r] = (int32_t)r * 5;
        check_found(&dimension, 0, NULL);
        dimension_free(&dimension);
        dimension_make(&dimension, rows, 1); /* nothing but NULLs */
        for (uint64_t r = 0; r < rows; r++)
            dimension.values[0][r] = INT32_MIN;
        check_found(&dimension, 0, NULL);
        dimension_free(&dimension);
    }
}

/* A status of three values orders a small table, a large one only if it is in that order already. */
static void one_column_is_no_hierarchy_of_a_large_table(void **state)
{
    (void)state;
    static const uint64_t rows[] = {1000, LEVEL_ALONE_ROWS_MAX, LEVEL_ALONE_ROWS_MAX + 1, 100000};
    for (size_t r = 0; r < sizeof rows / sizeof *rows; r++)
        for (int ordered = 0; ordered < 2; ordered++) {
            struct dimension orders;
            uint32_t levels[LEVELS_MAX];
            dimension_make(&orders, rows[r], 2);
            for (uint32_t i = 0; i < rows[r]; i++) {
                orders.values[0][i] = (int32_t)i;
                orders.values[1][i] = ordered ? (int32_t)(i / (rows[r] / 3)) : (int32_t)(scramble(i) % 3);
            }
            assert_int_equal(find(&orders, levels), ordered || rows[r] <= LEVEL_ALONE_ROWS_MAX);
            dimension_free(&orders);
        }
}

/* Where one child is far larger than the others, gaps are most of the positions, and a level does not pay. */
static void gaps_are_limited(void **state)
{
    (void)state;
    struct dimension users;
    const struct level_codes *codes[2];
    struct level_layout layout;
    bool fits;
    uint32_t levels[LEVELS_MAX];
    dimension_make(&users, 100000, 2);
    for (uint32_t r = 0; r < users.rows; r++) {
        users.values[0][r] = r < 30000 ? (int32_t)r : -1;
        users.values[1][r] = r < 30000 ? (int32_t)r / 2 : (int32_t)(r % 30000);
    }
    find(&users, levels);
    codes[0] = &users.codes[0];
    codes[1] = &users.codes[1];
    must(level_layout_make(codes, 2, users.rows, NULL, 0, &fits, &layout, error));
    assert_false(fits);
    assert_null(layout.leaves);
    dimension_free(&users);
}

/* Random hierarchies: of random widths, some broken in a row, some with NULLs, some the same under another name. */
static void random_hierarchies_are_laid_out_as_plainly(void **state)
{
    (void)state;
    for (uint64_t seed = 1; seed <= 150; seed++) {
        struct dimension dimension;
        uint32_t levels[LEVELS_MAX];
        const uint64_t rows = 16 + scramble(seed) % 3000;
        const uint32_t columns = 1 + scramble(seed + 1000) % 8;
        dimension_make(&dimension, rows, columns);
        for (uint32_t c = 0; c < columns; c++) {
            const uint32_t kind = scramble(seed * 31 + c) % 6, width = 1 + scramble(seed * 37 + c) % 40;
            for (uint64_t r = 0; r < rows; r++) {
                const uint32_t base = scramble(r + seed * 1000003) % 360, own = scramble(r * 8 + c);
                int32_t *const value = &dimension.values[c][r];
                *value = kind == 0   ? (int32_t)(own % width)
                         : kind == 1 ? (int32_t)(r / width)
                                     : (int32_t)(base / width) * (kind == 2 ? -1 : 1);
                if ((kind == 4 && base / width % 5 == 1) || (kind == 5 && r + 1 == rows))
                    *value = INT32_MIN;
            }
        }
        const uint32_t count = find(&dimension, levels);
        if (count)
            check_layout(&dimension, levels, count);
        dimension_free(&dimension);
    }
}

/* ---- Codes and groups ---- */

static void values_of_any_span_have_ranks(void **state)
{
    (void)state;
    static const int64_t spans[] = {6, 1 << 19, 1 << 21, INT64_C(1) << 40, INT64_MAX};
    for (size_t s = 0; s < sizeof spans / sizeof *spans; s++) {
        int64_t values[300];
        uint64_t validity[5] = {UINT64_MAX, UINT64_MAX, UINT64_MAX - 4, UINT64_MAX, UINT64_MAX};
        struct level_codes codes;
        for (uint32_t r = 0; r < 300; r++)
            values[r] = (int64_t)(scramble(r) % 7) * (spans[s] / 6) - spans[s] / 2;
        for (int nulls = 0; nulls < 2; nulls++) {
            const struct level_values column = {
                .values = values, .value_bytes = 8, .validity = nulls ? validity : NULL, .rows = 300};
            must(level_codes_make(&column, &codes, error));
            assert_int_equal(codes.count, 7 + nulls);
            for (uint32_t r = 1; r < 300; r++)
                if (!nulls || (r != 130 && r != 131))
                    assert_int_equal(codes.codes[r] < codes.codes[r - 1], values[r] < values[r - 1]);
            level_codes_free(&codes);
        }
    }
}

static void more_values_than_a_level_may_have_are_no_codes(void **state)
{
    (void)state;
    for (int wide = 0; wide < 2; wide++)
        for (uint32_t more = 0; more < 2; more++) {
            const uint32_t rows = LEVEL_VALUES_MAX + more;
            int32_t *values = calloc(rows, sizeof *values);
            struct level_codes codes;
            assert_non_null(values);
            for (uint32_t r = 0; r < rows; r++)
                values[r] = (int32_t)r * (wide ? 30000 : 1);
            const struct level_values column = {.values = values, .value_bytes = 4, .rows = rows};
            must(level_codes_make(&column, &codes, error));
            assert_int_equal(codes.count, more ? 0 : LEVEL_VALUES_MAX);
            level_codes_free(&codes);
            free(values);
        }
}

static void more_groups_than_leaves_are_none(void **state)
{
    (void)state;
    const uint64_t rows = LEAVES_MAX + 1;
    struct dimension dimension;
    struct level_groups first, groups;
    uint32_t levels[LEVELS_MAX];
    dimension_make(&dimension, rows, 2);
    for (uint64_t r = 0; r < rows; r++) {
        dimension.values[0][r] = (int32_t)(r / 1024);
        dimension.values[1][r] = (int32_t)(r % 1024);
    }
    find(&dimension, levels);
    must(level_groups_make(NULL, &dimension.codes[0], rows, &first, error));
    must(level_groups_make(&first, &dimension.codes[1], rows, &groups, error));
    assert_int_equal(groups.count, 0);
    must(level_groups_make(&first, &dimension.codes[1], rows - 1, &groups, error));
    assert_int_equal(groups.count, LEAVES_MAX);
    level_groups_free(&groups);
    level_groups_free(&first);
    dimension_free(&dimension);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_chain_of_dependencies_is_found),
        cmocka_unit_test(a_dependency_that_one_row_breaks_is_none),
        cmocka_unit_test(months_are_below_years_where_no_bit_is_needed),
        cmocka_unit_test(columns_that_name_the_same_are_one_level),
        cmocka_unit_test(nulls_are_a_value_of_their_own),
        cmocka_unit_test(a_parent_may_have_1025_children),
        cmocka_unit_test(what_has_no_levels_gets_none),
        cmocka_unit_test(one_column_is_no_hierarchy_of_a_large_table),
        cmocka_unit_test(gaps_are_limited),
        cmocka_unit_test(random_hierarchies_are_laid_out_as_plainly),
        cmocka_unit_test(values_of_any_span_have_ranks),
        cmocka_unit_test(more_values_than_a_level_may_have_are_no_codes),
        cmocka_unit_test(more_groups_than_leaves_are_none),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
