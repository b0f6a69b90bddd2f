/* test_real.c: functions of doubles are within one unit in the last place of the C library's long doubles, and
 * almost always nearest; special values are those of C99. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>

#include "storage/base/number/real.h"

#include <stdlib.h>

#define TRIES 20000

static uint64_t state = 4711;

/* Between 0 and 1. */
static double next(void)
{
    state = state * 6364136223846793005ull + 1442695040888963407ull;
    return (double)(state >> 11) * 0x1p-53;
}

static struct {
    int tried, not_nearest;
} count;

static void check(const char *name, double x, double y, double result, long double exact)
{
    const double nearest = (double)exact;
    count.tried++;
    if (result == nearest || (result != result && nearest != nearest))
        return;
    count.not_nearest++;
    if (result != nextafter(nearest, INFINITY) && result != nextafter(nearest, -INFINITY))
        fail_msg("%s(%a, %a) is %a, not %a", name, x, y, result, nearest);
}

static void functions_are_within_one_unit(void **unused)
{
    (void)unused;
    for (int i = 0; i < TRIES; i++) {
        const double x = ldexp(1 + next(), (int)(next() * 2000) - 1000), near = 0.5 + next() * 2;
        const double y = (next() - 0.5) * 1400, base = ldexp(1 + next(), (int)(next() * 40) - 20),
                     power = (next() - 0.5) * 60;
        check("ln", x, 0, real_ln(x), logl(x));
        check("ln", near, 0, real_ln(near), logl(near));
        check("log10", x, 0, real_log10(x), log10l(x));
        check("log2", near, 0, real_log2(near), log2l(near));
        check("exp", y, 0, real_exp(y), expl(y));
        check("exp", y / 1e5, 0, real_exp(y / 1e5), expl(y / 1e5));
        check("power", base, power, real_power(base, power), powl(base, power));
    }
    print_message("%d of %d are not the nearest\n", count.not_nearest, count.tried);
    assert_true(count.not_nearest < count.tried / 200);
}

static void special_values(void **unused)
{
    static const double values[] = {
        0.0,  -0.0,  1,      -1,     0.5,   -0.5,     2,         -2,  3,      -3,
        1e20, 1e300, 1e-300, 5e-324, 709.7, INFINITY, -INFINITY, NAN, -1e300, 4503599627370497.0};
    (void)unused;
    for (size_t i = 0; i < sizeof values / sizeof *values; i++) {
        const double x = values[i];
        check("ln", x, 0, real_ln(x), log(x));
        check("log10", x, 0, real_log10(x), log10(x));
        check("exp", x, 0, real_exp(x), exp(x));
        for (size_t j = 0; j < sizeof values / sizeof *values; j++)
            check("power", x, values[j], real_power(x, values[j]), pow(x, values[j]));
    }
    assert_true(real_log10(1000) == 3 && real_log2(8) == 3 && real_power(10, 2) == 100);
}

static void rounding(void **unused)
{
    bool missing;
    (void)unused;
    assert_true(real_round(2.5, 1) == 3 && real_round(-2.5, 1) == -3 && real_round(2.346, 100) == 2.35);
    assert_true(real_round(1e300, 1e10) == 1e300 && real_round_tens(1250, 100) == 1300);
    assert_int_equal(real_whole(12.0, 99, &missing), 12);
    assert_false(missing);
    (void)real_whole(100.0, 99, &missing);
    assert_true(missing);
    (void)real_whole(NAN, 99, &missing);
    assert_true(missing);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(functions_are_within_one_unit),
                                       cmocka_unit_test(special_values), cmocka_unit_test(rounding)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
