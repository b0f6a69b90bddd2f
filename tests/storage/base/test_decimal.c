/* test_decimal.c: a decimal as a double is what strtod reads from its text, whatever its digits. */
#include "storage/base/decimal.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#define RANDOM_VALUES 400000

static void must_equal_strtod(int64_t value, unsigned scale)
{
    char text[64];
    snprintf(text, sizeof text, "%" PRId64 "e-%u", value, scale);
    const double got = decimal_to_double(value, scale), want = strtod(text, NULL);
    if (got != want)
        fail_msg("%s is %.20g, not %.20g", text, want, got);
}

static void powers_are_those_of_ten(void **state)
{
    (void)state;
    int64_t power = 1;
    for (unsigned exponent = 0; exponent <= 18; exponent++, power *= exponent <= 18 ? 10 : 1)
        assert_int_equal(power_of_ten(exponent), power);
}

/* 0.07 divided by ten twice is 0.06999999999999999. */
static void small_decimals_are_exact(void **state)
{
    (void)state;
    for (unsigned scale = 0; scale <= 18; scale++)
        for (int64_t value = -2000; value <= 2000; value++)
            must_equal_strtod(value, scale);
}

/* Around 2^53, where values stop being doubles, around every power of two above, and at the ends. */
static void large_decimals_are_rounded_once(void **state)
{
    (void)state;
    for (unsigned scale = 0; scale <= 18; scale++) {
        must_equal_strtod(INT64_MAX, scale);
        must_equal_strtod(INT64_MIN, scale);
        for (unsigned bit = 50; bit < 63; bit++)
            for (int64_t near = -40; near <= 40; near++) {
                must_equal_strtod((INT64_C(1) << bit) + near, scale);
                must_equal_strtod(-(INT64_C(1) << bit) + near, scale);
            }
    }
}

static void random_decimals_agree_with_strtod(void **state)
{
    uint64_t seed = 20240713;
    (void)state;
    for (int i = 0; i < RANDOM_VALUES; i++) {
        seed = seed * 6364136223846793005u + 1442695040888963407u;
        const uint64_t mixed = seed ^ seed >> 29;
        must_equal_strtod((int64_t)(mixed << 1) >> (seed >> 58), (unsigned)(mixed >> 33) % 19);
    }
}

/* count numbers of about the same size, as their sum, where it is exact; and quotients that must be rounded once. */
static void averages_are_rounded_once(void **state)
{
    (void)state;
    assert_true(decimal_average(42707405, 206, 2) == 2073.175); /* 427074.05 / 206 is 2073.1749999999997 */
    for (unsigned scale = 0; scale <= 18; scale++)
        for (int64_t count = 1; count < INT64_MAX / 7; count = count * 7 + scale) {
            const int64_t values[] = {0, 1, -3, 99999, INT64_MAX, INT64_MIN, (INT64_C(1) << 53) + 1};
            for (size_t i = 0; i < sizeof values / sizeof *values; i++)
                assert_true(decimal_average((__int128)values[i] * count, (uint64_t)count, scale) ==
                            decimal_to_double(values[i], scale));
        }
    const __int128 tie = ((__int128)1 << 54) + 2; /* half of it is 2^53 + 1, between two doubles */
    assert_true(decimal_average(tie, 2, 0) == 0x1p53);
    assert_true(decimal_average(tie * 1000 + 1, 2000, 0) == 0x1p53 + 2);
    assert_true(decimal_average(-tie * 1000 - 1, 20, 2) == -(0x1p53 + 2));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(powers_are_those_of_ten),
        cmocka_unit_test(small_decimals_are_exact),
        cmocka_unit_test(large_decimals_are_rounded_once),
        cmocka_unit_test(random_decimals_agree_with_strtod),
        cmocka_unit_test(averages_are_rounded_once),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
