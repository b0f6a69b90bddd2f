/* test_function.c: the list of functions, and the bodies of those that are computed row by row: beside the C library's, and
 * xxHash's. Seeds are fixed. */
#define _GNU_SOURCE
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>

#include "engine/function/function.h"
#include "storage/base/double_key.h"

#include <math.h>
#include <stdlib.h>
#include <xxhash.h>

static uint64_t state_of_random = 20261123;

static uint64_t random_bits(void)
{
    state_of_random ^= state_of_random << 13;
    state_of_random ^= state_of_random >> 7;
    return state_of_random ^= state_of_random << 17;
}

/* -most .. most */
static double random_real(double most)
{
    return ((double)(random_bits() >> 11) / 4503599627370496.0 - 1.0) * most;
}

static int64_t call(enum row_function function, int64_t a, int64_t b, int unit)
{
    bool missing = false;
    const int64_t value = row_function(function)->body(a, b, 0, unit, &missing);
    return missing ? INT64_MIN : value;
}

static double real(enum row_function function, double x, double y)
{
    bool missing = false;
    const int64_t key = row_function(function)->body(double_key_of(x), double_key_of(y), 0, 0, &missing);
    return missing ? NAN : double_of_key(key);
}

/* ---- Names ---- */

static void every_name_is_found_once(void **state)
{
    (void)state;
    size_t place, before = 0;
    for (size_t i = 0; function_name(i); i++)
        for (size_t j = 0; j < i; j++)
            assert_string_not_equal(function_name(i), function_name(j));
    assert_string_equal(function_find("ceiling", &before)->names[0], "ceil");
    assert_ptr_equal(function_find("ceil", &place), function_find("ceiling", &before));
    assert_int_equal(place, before);
    assert_null(function_find("no_such", &place));
    assert_non_null(function_find("&", &place));
}

static void every_row_function_is_described(void **state)
{
    (void)state;
    for (int f = 0; f < ROW_FUNCTION_COUNT; f++) {
        const struct row_description *const function = row_function((enum row_function)f);
        assert_non_null(function->body);
        assert_non_null(function->range);
        assert_true(strncmp(function->cuda, "call_", 5) == 0);
    }
}

/* ---- Doubles ---- */

static double distance_of_units(double a, double b)
{
    const double unit = nextafter(fabs(b), INFINITY) - fabs(b);
    return fabs(a - b) / unit;
}

/* The C library's own cbrt errs by up to four units. */
static double cube_root(double x)
{
    return (double)cbrtl(x);
}

static void angles_are_those_of_the_c_library(void **state)
{
    static const struct {
        enum row_function function;
        double (*library)(double);
        double most, units;
    } tests[] = {{ROW_SIN, sin, 10, 1},          {ROW_SIN, sin, 1e6, 1}, {ROW_SIN, sin, 3e13, 1},
                 {ROW_COS, cos, 10, 1},          {ROW_COS, cos, 1e6, 1}, {ROW_COS, cos, 3e13, 1},
                 {ROW_TAN, tan, 10, 3},          {ROW_ATAN, atan, 3, 2}, {ROW_ATAN, atan, 1e9, 2},
                 {ROW_ASIN, asin, 1, 3},         {ROW_ACOS, acos, 1, 3}, {ROW_CBRT, cube_root, 1e3, 1},
                 {ROW_CBRT, cube_root, 1e300, 1}};
    (void)state;
    for (size_t t = 0; t < sizeof tests / sizeof *tests; t++)
        for (int i = 0; i < 20000; i++) {
            const double x = random_real(tests[t].most);
            const double units = distance_of_units(real(tests[t].function, x, 0), tests[t].library(x));
            if (units > tests[t].units)
                fail_msg("%s(%.17g) differs by %g units", row_function(tests[t].function)->text, x, units);
        }
    for (int i = 0; i < 20000; i++) {
        const double y = random_real(5), x = random_real(5);
        assert_true(distance_of_units(real(ROW_ATAN2, y, x), atan2(y, x)) <= 2);
    }
}

static void edges_of_doubles(void **state)
{
    (void)state;
    assert_true(real(ROW_CBRT, 27, 0) == 3 && real(ROW_CBRT, -1000, 0) == -10 && real(ROW_CBRT, 0, 0) == 0);
    assert_true(isinf(real(ROW_CBRT, INFINITY, 0)) && isnan(real(ROW_CBRT, NAN, 0)));
    assert_true(real(ROW_CBRT, 5e-324, 0) > 1.7e-108 && real(ROW_CBRT, 5e-324, 0) < 1.71e-108);
    for (int64_t whole = -2000; whole <= 2000; whole++)
        assert_true(real(ROW_CBRT, (double)(whole * whole * whole), 0) == (double)whole);
    assert_true(real(ROW_SIN, 0, 0) == 0 && real(ROW_COS, 0, 0) == 1);
    assert_true(real(ROW_SIN, M_PI, 0) == sin(M_PI) && real(ROW_COS, M_PI / 2, 0) == cos(M_PI / 2));
    assert_true(isnan(real(ROW_SIN, 4e13, 0)) && isnan(real(ROW_COS, INFINITY, 0)) &&
                isnan(real(ROW_SIN, NAN, 0)));
    assert_true(isnan(real(ROW_ASIN, 1.0000001, 0)) && isnan(real(ROW_ACOS, -2, 0)));
    assert_true(real(ROW_ASIN, 1, 0) == M_PI / 2 && real(ROW_ACOS, -1, 0) == M_PI &&
                real(ROW_ACOS, 1, 0) == 0);
    assert_true(real(ROW_ATAN2, 0, -1) == M_PI && real(ROW_ATAN2, 0, 0) == 0 &&
                real(ROW_ATAN2, -1, 0) == -M_PI / 2);
    assert_true(real(ROW_ATAN, INFINITY, 0) == M_PI / 2);
    assert_true(real(ROW_DEGREES, M_PI, 0) == 180 && real(ROW_RADIANS, 180, 0) == M_PI);
}

/* ---- Whole numbers ---- */

static void bits_are_those_of_c(void **state)
{
    (void)state;
    for (int i = 0; i < 20000; i++) {
        const int64_t a = (int64_t)(random_bits() >> random_bits() % 64), b = (int64_t)random_bits();
        const int by = (int)(random_bits() % 64);
        assert_int_equal(call(ROW_BITS_AND, a, b, 0), a & b);
        assert_int_equal(call(ROW_BITS_OR, a, b, 0), a | b);
        assert_int_equal(call(ROW_BITS_XOR, a, b, 0), a ^ b);
        assert_int_equal(call(ROW_BITS_NOT, b, 0, 0), ~b);
        assert_int_equal(call(ROW_BITS_SET, b, 0, 0), __builtin_popcountll((unsigned long long)b));
        assert_int_equal(call(ROW_SHIFT_LEFT, b, by, 0), (int64_t)((uint64_t)b << by));
        assert_int_equal(call(ROW_SHIFT_RIGHT, b, by, 0), b >> by);
        assert_int_equal(call(ROW_SHIFT_RIGHT, b, -by, 0), (int64_t)((uint64_t)b << by));
    }
    assert_int_equal(call(ROW_SHIFT_LEFT, -5, 64, 0), 0);
    assert_int_equal(call(ROW_SHIFT_RIGHT, -5, 64, 0), -1);
    assert_int_equal(call(ROW_SHIFT_RIGHT, -5, INT64_MIN, 0), 0);
    assert_int_equal(call(ROW_GCD, -12, 18, 0), 6);
    assert_int_equal(call(ROW_GCD, 0, 0, 0), 0);
    assert_int_equal(call(ROW_GCD, INT64_MIN, 0, 0), INT64_MIN); /* NULL */
    assert_int_equal(call(ROW_LCM, 4, -6, 0), 12);
    assert_int_equal(call(ROW_LCM, INT64_MAX, 2, 0), INT64_MIN);
}

/* The value of a random call lies in the range of the calls' arguments. */
static void ranges_hold(void **state)
{
    static const enum row_function functions[] = {ROW_BITS_AND, ROW_BITS_OR,     ROW_BITS_XOR,   ROW_BITS_NOT,
                                                  ROW_BITS_SET, ROW_SHIFT_RIGHT, ROW_SHIFT_LEFT, ROW_GCD};
    (void)state;
    for (int i = 0; i < 40000; i++) {
        struct function_range ranges[3] = {{0}};
        int64_t values[2];
        for (int v = 0; v < 2; v++) {
            const int64_t x = (int64_t)random_bits() >> random_bits() % 64,
                          y = (int64_t)random_bits() >> random_bits() % 64;
            ranges[v].low = x < y ? x : y;
            ranges[v].high = x < y ? y : x;
            const uint64_t span = (uint64_t)ranges[v].high - (uint64_t)ranges[v].low;
            values[v] = random_bits() % 3 == 0
                            ? x
                            : (int64_t)((uint64_t)ranges[v].low +
                                        (span == UINT64_MAX ? random_bits() : random_bits() % (span + 1)));
        }
        const struct row_description *const function = row_function(functions[i % 8]);
        __int128 low, high;
        bool missing = false;
        function->range(function, 0, ranges, &low, &high);
        const int64_t value = function->body(values[0], values[1], 0, 0, &missing);
        assert_true(missing || (value >= low && value <= high));
        assert_true(low >= INT64_MIN && high <= INT64_MAX);
    }
}

static void hashes_are_those_of_xxhash(void **state)
{
    (void)state;
    for (int i = 0; i < 10000; i++) {
        const int64_t a = (int64_t)random_bits(), b = (int64_t)(random_bits() >> 1);
        const double x = random_real(1e9);
        assert_int_equal(call(ROW_HASH, a, 0, 0), XXH64(&a, 8, 0) >> 1);
        assert_int_equal(call(ROW_HASH_DOUBLE, double_key_of(x), 0, 0), XXH64(&x, 8, 0) >> 1);
        assert_int_equal(call(ROW_HASH_PAIR, b, a, 0), XXH64(&a, 8, (uint64_t)b) >> 1);
    }
    assert_int_equal(call(ROW_HASH, 150, 0, 2), call(ROW_HASH, 15, 0, 1));
    assert_int_equal(call(ROW_HASH, 700, 0, 2), call(ROW_HASH, 7, 0, 0));
    assert_int_not_equal(call(ROW_HASH, 15, 0, 1), call(ROW_HASH, 15, 0, 0));
}

/* ---- Bits and NULLs ---- */

/* Doubles that are small multiples of a power of two, of which functions have results within the bits that are told. */
static void bits_of_results_follow_from_those_of_arguments(void **state)
{
    static const enum row_function functions[] = {ROW_FLOOR, ROW_CEIL,  ROW_TRUNC, ROW_SQRT,
                                                  ROW_LN,    ROW_LOG10, ROW_LOG2};
    (void)state;
    for (size_t f = 0; f < sizeof functions / sizeof *functions; f++)
        for (uint32_t i = 0; i < 200000; i++) {
            const int finest = (int)(random_bits() % 130) - (i % 8 ? 100 : 1074),
                      size = (int)(random_bits() % 53);
            const double whole = (double)(int64_t)(random_bits() >> (63 - size)),
                         near = finest < 0 && finest > -53 && i % 3 == 0 ? 1.0 : 0.0,
                         x = near + ldexp(random_bits() % 2 ? -whole : whole, finest);
            const int64_t key = double_key_of(x), result = call(functions[f], key, key, 0);
            const struct double_bits of = double_bits_of_key(key), told = row_function_bits(functions[f], of);
            if (result == INT64_MIN || double_key_of(0) == result || !double_key_finite(result))
                continue;
            const struct double_bits has = double_bits_of_key(result);
            assert_true(has.finer >= told.finer && has.lower >= told.lower);
        }
}

static void functions_of_what_is_not_negative_miss_nothing(void **state)
{
    const int64_t one = double_key_of(1), least = double_key_of(5e-324), most = double_key_of(1e9);
    (void)state;
    assert_false(row_may_miss(row_function(ROW_SQRT), 0, (struct function_range[2]){{0, most, 0}}));
    assert_true(row_may_miss(row_function(ROW_SQRT), 0, (struct function_range[2]){{-one, most, 0}}));
    assert_true(row_may_miss(row_function(ROW_LN), 0, (struct function_range[2]){{0, most, 0}}));
    assert_false(row_may_miss(row_function(ROW_LN), 0, (struct function_range[2]){{least, most, 0}}));
    assert_false(row_may_miss(row_function(ROW_EXP), 0, (struct function_range[2]){{-one, most, 0}}));
    assert_true(row_may_miss(row_function(ROW_ASIN), 0, (struct function_range[2]){{0, one, 0}}));
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(every_name_is_found_once),
                                       cmocka_unit_test(every_row_function_is_described),
                                       cmocka_unit_test(angles_are_those_of_the_c_library),
                                       cmocka_unit_test(edges_of_doubles),
                                       cmocka_unit_test(bits_are_those_of_c),
                                       cmocka_unit_test(ranges_hold),
                                       cmocka_unit_test(hashes_are_those_of_xxhash),

                                       cmocka_unit_test(bits_of_results_follow_from_those_of_arguments),
                                       cmocka_unit_test(functions_of_what_is_not_negative_miss_nothing)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
