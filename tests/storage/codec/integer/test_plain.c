/* test_plain.c: plain: the general cases, and that it costs what the values cost. */
#include "tests/support/codec/codec_cases.h"

static void costs_what_the_values_cost(void **state)
{
    static int32_t values[64 * TILE_ROWS];
    assert_int_equal(check_round_trip(cases_codec(state), values, 64 * TILE_ROWS, 4),
                     sizeof values + CHUNK_ALIGNMENT);
}

int main(void)
{
    static enum codec_id id = CODEC_PLAIN;
    const struct CMUnitTest tests[] = {
        CODEC_CASES(&id),
        cmocka_unit_test_prestate(costs_what_the_values_cost, &id),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
