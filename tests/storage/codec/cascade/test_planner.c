/* test_planner.c: planner: the general cases, the plans it chooses, and its bytes. */
#include "storage/codec/cascade/planner_layers.h"
#include "tests/support/codec/codec_cases.h"

#define ROWS (64 * TILE_ROWS)
static int64_t values[ROWS];

/* The first word of the directory: layers, bytes of a value, bytes of a run length; 0: NSV, or no run lengths. */
#define PLAN(LAYERS, VALUE, LENGTH) ((LAYERS) | (VALUE) << 8 | (LENGTH) << 16)

/* Encodes `values`, checks the round trip, and returns the plan and the bits a value. */
static uint32_t plan_of(void **state, uint32_t value_bytes, double *bits)
{
    const struct codec *codec = codec_by_id(cases_codec(state));
    uint8_t *chunk = cases_allocate(codec->bound(ROWS, value_bytes));
    int32_t *narrow = (int32_t *)values;
    for (uint32_t i = 0; value_bytes == 4 && i < ROWS; i++)
        narrow[i] = (int32_t)values[i];
    *bits = bits_a_value(cases_codec(state), values, ROWS, value_bytes);
    codec_encode(codec, values, ROWS, value_bytes, chunk);
    const uint32_t plan = *(const uint32_t *)(chunk + 64);
    free(chunk);
    return plan;
}

static void plans_follow_the_values(void **state)
{
    enum { SMALL, SKEWED, SORTED, AROUND, LONG_RUNS, FEW_LARGE, FEW_LARGE_IN_RUNS, LARGE, CASES };
    static const struct {
        uint32_t plan;
        double bits;
    } expected[CASES] = {
        [SMALL] = {PLAN(0, 1, 0), 8},
        [SKEWED] = {PLAN(0, 0, 0), 2 + 8 + 24.0 / 32 + 1.0 / 32},
        [SORTED] = {PLAN(PLANNER_DELTA, 1, 0), 8},
        [AROUND] = {PLAN(PLANNER_FOR, 1, 0), 8},
        [LONG_RUNS] = {PLAN(PLANNER_RLE | PLANNER_DICT, 1, 1), 16.0 / 64},
        [FEW_LARGE] = {PLAN(PLANNER_DICT, 1, 0), 8},
        [FEW_LARGE_IN_RUNS] = {PLAN(PLANNER_RLE | PLANNER_DICT, 1, 1), 16.0 / 8},
        [LARGE] = {PLAN(0, 4, 0), 32},
    };
    uint64_t random = CODEC_CASES_SEED;
    double bits;
    for (int c = 0; c < CASES; c++) {
        for (uint32_t i = 0; i < ROWS; i++) {
            const int64_t of_case[CASES] = {
                [SMALL] = (int64_t)random_bits(&random, 8),
                [SKEWED] = i % 32 ? (int64_t)random_bits(&random, 8) : INT32_MAX - (int64_t)i,
                [SORTED] = 1000 * (int64_t)(i / 16) + i * 100,
                [AROUND] = 1000000 + (int64_t)random_bits(&random, 8),
                [LONG_RUNS] = (i / 64 * 2654435761u) % 200 * 1000003,
                [FEW_LARGE] = (int64_t)(random_bits(&random, 7) * 16000003 + 5),
                [FEW_LARGE_IN_RUNS] = (i / 8 * 2654435761u) % 200 * 1000003,
                [LARGE] = (int64_t)random_bits(&random, 32) - (INT64_C(1) << 31),
            };
            values[i] = of_case[c];
        }
        if (c == SORTED) /* no difference above 255 */
            for (uint32_t i = 0; i < ROWS; i++)
                values[i] = i * 100 + (int64_t)random_bits(&random, 6);
        const uint32_t plan = plan_of(state, 4, &bits);
        if (plan != expected[c].plan)
            fail_msg("values %d: plan %08x, expected %08x; %.3f bits", c, plan, expected[c].plan, bits);
        check_bits(bits, expected[c].bits, 0.35);
    }
}

/* The worked example of docs/codecs.md: 70000, 70001, ... are differences. */
static void bytes_are_where_the_format_says(void **state)
{
    int32_t rows[TILE_ROWS];
    const struct codec *codec = codec_by_id(cases_codec(state));
    uint8_t *chunk = cases_allocate(codec->bound(TILE_ROWS, 4));
    for (uint32_t i = 0; i < TILE_ROWS; i++)
        rows[i] = 70000 + (int32_t)i;
    const size_t bytes = codec_encode(codec, rows, TILE_ROWS, 4, chunk);
    const uint32_t *const directory = (const uint32_t *)(chunk + 64);
    const uint32_t expected[] = {PLAN(PLANNER_DELTA, 1, 0), 0, 0, 0, 70000, 0};
    assert_memory_equal(directory, expected, sizeof expected);
    assert_int_equal(chunk[128], 0);
    for (uint32_t i = 1; i < TILE_ROWS; i++)
        assert_int_equal(chunk[128 + i], 1);
    assert_int_equal(bytes, 128 + 1024 + 128);
    free(chunk);
}

int main(void)
{
    static enum codec_id id = CODEC_PLANNER;
    const struct CMUnitTest tests[] = {
        CODEC_CASES(&id),
        cmocka_unit_test_prestate(plans_follow_the_values, &id),
        cmocka_unit_test_prestate(bytes_are_where_the_format_says, &id),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
