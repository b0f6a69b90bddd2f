/* test_nsf.c: nsf: the general cases, and where each number of bytes begins and ends. */
#include "tests/support/codec/codec_cases.h"

static void takes_the_fewest_whole_bytes(void **state)
{
    static const struct {
        int64_t largest;
        uint32_t value_bytes, stored_bytes;
    } cases[] = {
        {0, 4, 1},
        {255, 4, 1},
        {256, 4, 2},
        {65535, 4, 2},
        {65536, 4, 4},
        {INT32_MAX, 4, 4},
        {-1, 4, 4},
        {255, 8, 1},
        {65535, 8, 2},
        {UINT32_MAX, 8, 4},
        {INT32_MAX, 8, 4},
        {65536, 8, 4},
        {INT64_C(1) << 32, 8, 8},
        {-1, 8, 8},
        {INT64_MAX, 8, 8},
    };
    static int64_t values[2 * TILE_ROWS];
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        memset(values, 0, sizeof values);
        cases_set(values, 1500, cases[i].value_bytes, (uint64_t)cases[i].largest);
        assert_int_equal(check_round_trip(cases_codec(state), values, 2 * TILE_ROWS, cases[i].value_bytes),
                         2 * TILE_ROWS * cases[i].stored_bytes + CHUNK_ALIGNMENT);
    }
}

int main(void)
{
    static enum codec_id id = CODEC_NSF;
    const struct CMUnitTest tests[] = {
        CODEC_CASES(&id),
        cmocka_unit_test_prestate(takes_the_fewest_whole_bytes, &id),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
