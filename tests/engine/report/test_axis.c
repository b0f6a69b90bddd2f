/* test_axis.c: the ticks of axes are few, readable and inside, for any range. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>

#include "engine/report/axis.h"

#include <math.h>
#include <string.h>

static const enum chart_scale scales[] = {CHART_LINEAR, CHART_LOG10, CHART_LOG2};

/* The texts of an axis' ticks, with blanks between them. */
static const char *texts(enum chart_scale scale, double low, double high, uint32_t ticks, bool round)
{
    static char all[AXIS_TICKS_MAX * 32];
    struct axis axis = {0};
    all[0] = '\0';
    axis_make(&axis, scale, low, high, ticks, round);
    for (uint32_t t = 0; t < axis.tick_count; t++)
        if (axis.ticks[t].label[0]) {
            strcat(all, all[0] ? ", " : "");
            strcat(all, axis.ticks[t].label);
        }
    return all;
}

static void ticks_read_well(void **state)
{
    (void)state;
    assert_string_equal(texts(CHART_LINEAR, 0, 0.29, 6, true), "0, 0.05, 0.10, 0.15, 0.20, 0.25, 0.30");
    assert_string_equal(texts(CHART_LINEAR, 2, 30, 9, false), "5, 10, 15, 20, 25, 30");
    assert_string_equal(texts(CHART_LINEAR, 0, 2500, 5, true), "0, 500, 1000, 1500, 2000, 2500");
    assert_string_equal(texts(CHART_LINEAR, 0, 250e6, 5, true), "0, 50 M, 100 M, 150 M, 200 M, 250 M");
    assert_string_equal(texts(CHART_LINEAR, 0, 12e3, 6, true), "0, 2 k, 4 k, 6 k, 8 k, 10 k, 12 k");
    assert_string_equal(texts(CHART_LINEAR, -30, 30, 6, true), "-30, -20, -10, 0, 10, 20, 30");
    assert_string_equal(texts(CHART_LINEAR, 0, 3e-7, 3, true), "0, 10^-7, 2×10^-7, 3×10^-7");
    assert_string_equal(texts(CHART_LINEAR, 0, 2e20, 2, true), "0, 10^20, 2×10^20");
    assert_string_equal(texts(CHART_LOG10, 0.02, 0.9, 6, true), "0.02, 0.05, 0.1, 0.2, 0.5, 1");
    assert_string_equal(texts(CHART_LOG10, 1, 2e9, 12, true), "1, 100, 10 k, 1 M, 100 M");
    assert_string_equal(texts(CHART_LOG10, 1e3, 1e6, 6, true), "1 k, 10 k, 100 k, 1 M");
    assert_string_equal(texts(CHART_LOG2, 1, 32, 9, false), "1, 2, 4, 8, 16, 32");
    assert_string_equal(texts(CHART_LOG2, 65536, 33554432, 12, false),
                        "2^16, 2^17, 2^18, 2^19, 2^20, 2^21, 2^22, 2^23, 2^24, 2^25");
    assert_string_equal(texts(CHART_LOG2, 65536, 33554432, 4, false), "2^16, 2^20, 2^24");
}

static void places_lie_between_the_ends(void **state)
{
    struct axis axis = {.from = 100, .to = 0};
    (void)state;
    axis_make(&axis, CHART_LINEAR, 0, 10, 5, true);
    assert_true(axis_place(&axis, 0) == 100 && axis_place(&axis, 10) == 0 && axis_place(&axis, 2.5) == 75);
    axis_make(&axis, CHART_LOG10, 1, 100, 5, true);
    assert_true(fabs(axis_place(&axis, 10) - 50) < 1e-9);
    axis_make(&axis, CHART_LOG2, 1, 16, 5, true);
    assert_true(fabs(axis_place(&axis, 4) - 50) < 1e-9);
}

/* Ranges of one number, of none, and of the largest and smallest: the axis holds them, has at least one text,
 * and every tick is inside. */
static void any_range_has_ticks(void **state)
{
    static const double numbers[] = {0,      1,         -1,   0.3,     7,      1e-290,    3e-290, 1e150,
                                     -1e150, 12345.678, 1e15, 999.999, 5e-324, 1.0000001, 1e-5,   4.65e12};
    const size_t count = sizeof numbers / sizeof *numbers;
    (void)state;
    for (size_t i = 0; i < count * count * 3 * 4; i++) {
        const enum chart_scale scale = scales[i % 3];
        const double low = numbers[i / 12 % count], high = numbers[i / 12 / count];
        const bool held = low <= high && axis_holds(scale, low) && axis_holds(scale, high);
        struct axis axis = {.from = 0, .to = 100};
        axis_make(&axis, scale, low, high, 1 + i / 3 % 2 * 6, i / 6 % 2);
        assert_true(axis.low < axis.high && isfinite(axis.low) && isfinite(axis.high));
        const double slack = 1e-8 * (scale == CHART_LINEAR ? axis.high - axis.low : 1);
        if (held && scale == CHART_LINEAR)
            assert_true(axis.low <= low + slack && axis.high >= high - slack);
        else if (held)
            assert_true(axis.low <= low * (1 + slack) && axis.high >= high * (1 - slack));
        assert_in_range(axis.tick_count, 1, AXIS_TICKS_MAX);
        for (uint32_t t = 0; t < axis.tick_count; t++) {
            const double place = axis_place(&axis, axis.ticks[t].value);
            assert_true(place > -0.01 && place < 100.01);
            assert_null(strstr(axis.ticks[t].label, "nan"));
            assert_null(strstr(axis.ticks[t].label, "inf"));
        }
    }
    assert_string_equal(texts(CHART_LINEAR, INFINITY, -INFINITY, 5, true), "0, 0.2, 0.4, 0.6, 0.8, 1.0");
    assert_string_equal(texts(CHART_LOG10, INFINITY, -INFINITY, 5, true), "1, 2, 5, 10");
    assert_string_equal(texts(CHART_LOG2, INFINITY, -INFINITY, 5, true), "1, 2, 4, 8, 16");
    assert_string_equal(texts(CHART_LINEAR, 5, 5, 5, true), "2, 3, 4, 5, 6, 7, 8");
}

static void log_scales_hold_positive_numbers_only(void **state)
{
    (void)state;
    assert_true(axis_holds(CHART_LINEAR, -3) && axis_holds(CHART_LINEAR, 0) && axis_holds(CHART_LOG10, 0.1));
    assert_false(axis_holds(CHART_LOG10, 0) || axis_holds(CHART_LOG2, -1) || axis_holds(CHART_LOG2, 5e-324));
    for (int i = 0; i < 3; i++)
        assert_false(axis_holds(scales[i], NAN) || axis_holds(scales[i], INFINITY) ||
                     axis_holds(scales[i], 1e300));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(ticks_read_well),
        cmocka_unit_test(places_lie_between_the_ends),
        cmocka_unit_test(any_range_has_ticks),
        cmocka_unit_test(log_scales_hold_positive_numbers_only),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
