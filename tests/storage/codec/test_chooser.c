/* test_chooser.c: what gpu-star, smallest and auto choose, on shapes whose best codec is known and on SSB
 * data. */
#include "tests/support/codec/codec_cases.h"

#include "ssb/data/generator.h"
#include "storage/codec/codec_costs.h"

#define ROWS (40 * TILE_ROWS)

/* Encodes with a choice, checks the chunk, and says which codec it became. */
static const struct codec *choose_by(const struct codec_choice *choice, const void *values, uint32_t rows,
                                     uint32_t value_bytes, size_t *bytes)
{
    struct error error = {0};
    struct chunk_view chunk;
    const size_t bound = codec_choice_bound(choice, rows, value_bytes);
    uint8_t *out = cases_allocate(bound), *scratch = cases_allocate(bound);
    struct codec_input input = {.values = values, .rows = rows, .value_bytes = value_bytes};
    if (choice->codec) /* which may hold positions in a table with levels only */
        input = codec_input_of(values, rows, value_bytes);
    *bytes = codec_choose(choice, &input, out, scratch);
    assert_int_equal(chunk_open(out, *bytes, &chunk, &error), STATUS_OK);
    check_decodes(&chunk, values);
    free(out);
    free(scratch);
    return chunk.codec;
}

static const struct codec *choose(const char *name, const void *values, uint32_t rows, uint32_t value_bytes,
                                  size_t *bytes)
{
    struct codec_choice choice;
    struct error error = {0};
    assert_int_equal(codec_choice_parse(name, &choice, &error), STATUS_OK);
    assert_string_equal(choice.name, name);
    assert_int_equal((choice.codec != NULL) + (choice.chooser != CHOOSER_NONE), 1);
    return choose_by(&choice, values, rows, value_bytes, bytes);
}

static void expect_choice(const char *name, const void *values, uint32_t rows, enum codec_id expected)
{
    size_t bytes;
    const struct codec *codec = choose(name, values, rows, 4, &bytes);
    if (codec->id != expected)
        fail_msg("%s chose %s, expected %s", name, codec->name, codec_by_id(expected)->name);
}

static int32_t values[ROWS];

static void one_value_throughout(void **state)
{
    (void)state;
    for (uint32_t i = 0; i < ROWS; i++)
        values[i] = 12345678;
    expect_choice("gpu-star", values, ROWS, CODEC_GPU_RFOR);
    expect_choice("smallest", values, ROWS, CODEC_LANE_FOR);
}

static void sorted_numbers(void **state)
{
    (void)state;
    for (uint32_t i = 0; i < ROWS; i++)
        values[i] = (int32_t)i;
    expect_choice("gpu-star", values, ROWS, CODEC_GPU_DFOR);
    expect_choice("smallest", values, ROWS, CODEC_LANE_DELTA);
}

static void whole_bytes_and_words(void **state)
{
    (void)state;
    uint64_t random = CODEC_CASES_SEED;
    for (uint32_t i = 0; i < ROWS; i++)
        values[i] = (int32_t)random_bits(&random, 8);
    expect_choice("gpu-star", values, ROWS, CODEC_GPU_FOR);
    expect_choice("smallest", values, ROWS, CODEC_NSF);
    for (uint32_t i = 0; i < ROWS; i++)
        values[i] = (int32_t)random_next(&random);
    expect_choice("smallest", values, ROWS, CODEC_PLAIN);
}

/* ---- auto by tables made by hand ---- */

/* Every codec that auto may take, at the same cost for each use and width. */
static void costs_even(struct codec_costs *costs, double read_bytes_per_ns, double ns)
{
    *costs = (struct codec_costs){.read_bytes_per_ns = read_bytes_per_ns};
    for (uint32_t id = 1; id < CODEC_COUNT; id++)
        for (uint32_t use = 0; use < CODEC_USES; use++)
            for (uint32_t w = 0; w < CODEC_COST_WIDTHS; w++)
                costs->ns[id][use][w] = ns;
}

static void costs_set(struct codec_costs *costs, enum codec_id codec, enum codec_use use, double ns)
{
    for (uint32_t w = 0; w < CODEC_COST_WIDTHS; w++)
        costs->ns[codec][use][w] = ns;
}

static void expect_auto(const struct codec_costs *costs, bool probed, enum codec_id expected)
{
    const struct codec_choice choice = {
        .chooser = CHOOSER_AUTO, .name = "auto", .costs = costs, .probed = probed};
    size_t bytes;
    const struct codec *codec = choose_by(&choice, values, ROWS, 4, &bytes);
    if (codec->id != expected)
        fail_msg("auto chose %s, expected %s", codec->name, codec_by_id(expected)->name);
}

static void fill_random(uint32_t width, uint32_t run)
{
    uint64_t random = CODEC_CASES_SEED;
    for (uint32_t i = 0; i < ROWS; i++)
        values[i] = i % run ? values[i - 1] : (int32_t)random_bits(&random, width);
}

/* Instructions for nothing: bytes decide, also for codecs that smallest takes. */
static void auto_takes_the_fewest_bytes_where_memory_binds(void **state)
{
    (void)state;
    struct codec_costs costs;
    costs_even(&costs, 1, 1e-6);
    fill_random(12, 1);
    expect_auto(&costs, false, CODEC_LANE_FOR);
    fill_random(8, 1);
    expect_auto(&costs, false, CODEC_NSF);
    fill_random(20, 5);
    expect_auto(&costs, false, CODEC_RANK_RLE);
}

/* Bytes for nothing: the cheapest use decides, and which use is told by `probed`. */
static void auto_takes_the_fewest_instructions_where_they_bind(void **state)
{
    (void)state;
    struct codec_costs costs;
    costs_even(&costs, 1e6, 10);
    costs_set(&costs, CODEC_LANE_SLICE, CODEC_USE_COMPARE, 1);
    costs_set(&costs, CODEC_PLAIN, CODEC_USE_PROBE, 2);
    fill_random(12, 1);
    expect_auto(&costs, false, CODEC_LANE_SLICE);
    expect_auto(&costs, true, CODEC_PLAIN);
    /* 64 of 1024 values are fetched: 9 saved on each row for 144 more on a value fetched are no gain */
    costs_set(&costs, CODEC_LANE_SLICE, CODEC_USE_FETCH, 10 + 9 * 16 - 1);
    expect_auto(&costs, false, CODEC_LANE_SLICE);
    costs_set(&costs, CODEC_LANE_SLICE, CODEC_USE_FETCH, 10 + 9 * 16 + 1);
    expect_auto(&costs, false, CODEC_LANE_FOR);
}

/* Costs at the width that the values have. */
static void auto_looks_at_the_width(void **state)
{
    (void)state;
    struct codec_costs costs;
    costs_even(&costs, 1e6, 10);
    costs.ns[CODEC_LANE_SLICE][CODEC_USE_COMPARE][1] = 1; /* width 4 */
    fill_random(4, 1);
    expect_auto(&costs, false, CODEC_LANE_SLICE);
    fill_random(9, 1);
    expect_auto(&costs, false, CODEC_LANE_FOR);
}

static void auto_takes_only_what_the_table_has(void **state)
{
    (void)state;
    struct codec_costs costs = {.read_bytes_per_ns = 1};
    costs_set(&costs, CODEC_PLAIN, CODEC_USE_COMPARE, 5);
    costs_set(&costs, CODEC_PLAIN, CODEC_USE_FETCH, 5);
    fill_random(3, 1);
    expect_auto(&costs, false, CODEC_PLAIN);
}

/* What lies behind a bitmap that is far costs every codec the same: the widest near one decides. */
static void auto_leaves_far_bitmaps_out(void **state)
{
    (void)state;
    struct codec_costs costs;
    costs_even(&costs, 1e6, 10);
    costs_set(&costs, CODEC_LANE_FOR, CODEC_USE_PROBE, 1000);
    costs.ns[CODEC_LANE_FOR][CODEC_USE_PROBE][5] = 5; /* width 20 */
    fill_random(20, 1);
    expect_auto(&costs, true, CODEC_LANE_FOR);
    fill_random(24, 1);
    expect_auto(&costs, true, CODEC_LANE_FOR);
    fill_random(16, 1);
    expect_auto(&costs, true, CODEC_NSF);
}

/* The customer of each order, which has 1 to 7 lines, by the H200's table: at no scale factor a codec that queries were
 * measured to be slower with than without any (SF 100: rank-rle, Q3.2 1.228 ms against plain's 1.169). */
static void an_order_s_customer_is_not_taken_for_its_runs(void **state)
{
    (void)state;
    static const uint32_t customers[] = {30000, 600000, 3000000, 30000000};
    struct codec_costs costs;
    struct error error = {0};
    assert_int_equal(codec_costs_load("h200", &costs, &error), STATUS_OK);
    for (size_t c = 0; c < sizeof customers / sizeof *customers; c++) {
        uint64_t random = CODEC_CASES_SEED;
        for (uint32_t row = 0, left = 0; row < ROWS; row++, left--) {
            const bool next = left == 0;
            left = next ? 1 + random_next(&random) % 7 : left;
            values[row] = next ? (int32_t)(random_next(&random) % customers[c]) : values[row - 1];
        }
        expect_auto(&costs, true, CODEC_LANE_FOR);
    }
}

/* Keys of tables with levels as SSB's have, by every table that there is: their levels' bits are kept apart. Without levels
 * the same values are not. */
static void keys_of_tables_with_levels_have_planes(void **state)
{
    (void)state;
    static const char *const tables[] = {"h200", "cpu-avx512", "cpu-avx2", "cpu-baseline"};
    static const uint32_t keys[][2] = {{12, 12}, {20, 10}, {22, 10}, {23, 11}, {27, 10}}; /* bits, planes */
    for (size_t t = 0; t < sizeof tables / sizeof *tables; t++)
        for (size_t k = 0; k < sizeof keys / sizeof *keys; k++) {
            struct codec_costs costs;
            struct error error = {0};
            assert_int_equal(codec_costs_load(tables[t], &costs, &error), STATUS_OK);
            const struct codec_choice choice = {
                .chooser = CHOOSER_AUTO, .name = "auto", .costs = &costs, .probed = true};
            fill_random(keys[k][0], 4);
            struct codec_input input = {.values = values, .rows = ROWS, .value_bytes = 4};
            const size_t bound = codec_choice_bound(&choice, ROWS, 4);
            uint8_t *out = cases_allocate(bound), *scratch = cases_allocate(bound);
            assert_int_not_equal(codec_choose(&choice, &input, out, scratch), 0);
            assert_int_not_equal(*(const uint32_t *)out, CODEC_LANE_LEVELS);
            input.bits = keys[k][0];
            input.planes = keys[k][1];
            assert_int_not_equal(codec_choose(&choice, &input, out, scratch), 0);
            if (*(const uint32_t *)out != CODEC_LANE_LEVELS)
                fail_msg("%s, %u bits: auto chose %s", tables[t], input.bits,
                         codec_by_id(*(const uint32_t *)out)->name);
            free(out);
            free(scratch);
        }
}

/* What auto chooses of the values, which are keys of a table with levels if there are planes. */
static enum codec_id choose_keys(const struct codec_costs *costs, bool probed, uint32_t bits, uint32_t planes)
{
    const struct codec_choice choice = {
        .chooser = CHOOSER_AUTO, .name = "auto", .costs = costs, .probed = probed};
    const struct codec_input input = {
        .values = values, .rows = ROWS, .value_bytes = 4, .bits = planes ? bits : 0, .planes = planes};
    const size_t bound = codec_choice_bound(&choice, ROWS, 4);
    uint8_t *const out = cases_allocate(bound), *const scratch = cases_allocate(bound);
    struct chunk_view chunk;
    struct error error = {0};
    assert_int_equal(chunk_open(out, codec_choose(&choice, &input, out, scratch), &chunk, &error), STATUS_OK);
    check_decodes(&chunk, values);
    const enum codec_id chosen = chunk.codec->id;
    free(out);
    free(scratch);
    return chosen;
}

/* Orders of `least` to `most` lines, each with a value of its own. */
static void fill_orders(uint32_t width, uint32_t least, uint32_t most)
{
    uint64_t random = CODEC_CASES_SEED;
    for (uint32_t row = 0, left = 0; row < ROWS; row++, left--) {
        const bool next = left == 0;
        left = next ? least + (uint32_t)(random_next(&random) % (most - least + 1)) : left;
        values[row] = next ? (int32_t)random_bits(&random, width) : values[row - 1];
    }
}

/* The columns of an order of TPC-DS, with 8 to 16 lines, by every table that there is: a fifth of the bytes in rank-rle is
 * worth more than the time. Those of SSB, with 1 to 7 lines, are never taken for their runs. */
static void long_runs_are_taken_for_their_size(void **state)
{
    (void)state;
    static const char *const tables[] = {"h200", "cpu-avx512", "cpu-avx2", "cpu-baseline"};
    for (size_t t = 0; t < sizeof tables / sizeof *tables; t++) {
        struct codec_costs costs;
        struct error error = {0};
        assert_int_equal(codec_costs_load(tables[t], &costs, &error), STATUS_OK);
        for (uint32_t width = 12; width <= 27; width++) {
            const uint32_t planes = width / 2;
            fill_orders(width, 8, 16);
            assert_int_equal(choose_keys(&costs, false, width, 0), CODEC_RANK_RLE);
            assert_int_equal(choose_keys(&costs, true, width, 0), CODEC_RANK_RLE);
            assert_int_equal(choose_keys(&costs, true, width, planes), CODEC_RANK_RLE);
            fill_orders(width, 1, 7);
            assert_int_not_equal(choose_keys(&costs, false, width, 0), CODEC_RANK_RLE);
            assert_int_not_equal(choose_keys(&costs, true, width, 0), CODEC_RANK_RLE);
            assert_int_equal(choose_keys(&costs, true, width, planes), CODEC_LANE_LEVELS);
        }
        /* sorted keys: most tiles have one, and the levels' bits need not be kept apart */
        for (uint32_t row = 0; row < ROWS; row++)
            values[row] = (int32_t)(row / 3000);
        const enum codec_id sorted = choose_keys(&costs, true, 17, 9);
        assert_true(sorted == CODEC_LANE_FOR || sorted == CODEC_LANE_SLICE);
    }
}

/* A quarter of the bytes of each codec that is cheaper, whatever it costs. */
static void a_quarter_of_the_bytes_is_taken(void **state)
{
    (void)state;
    struct codec_costs costs;
    costs_even(&costs, 1e6, 1);
    costs_set(&costs, CODEC_RANK_RLE, CODEC_USE_COMPARE, 100);
    fill_orders(20, 8, 16);
    expect_auto(&costs, false, CODEC_RANK_RLE);
    fill_orders(20, 4, 6); /* more than a quarter */
    expect_auto(&costs, false, CODEC_LANE_FOR);
    costs_set(&costs, CODEC_PLAIN, CODEC_USE_COMPARE,
              0.1); /* the cheapest, but not the only one that is cheaper */
    expect_auto(&costs, false, CODEC_PLAIN);
    fill_orders(5, 1, 1);
    expect_auto(&costs, false, CODEC_LANE_FOR); /* a sixth of plain */
}

/* Chosen twice, chosen alike; and never a codec that has no random access, but for lane-slice. */
static void auto_repeats_itself(void **state)
{
    (void)state;
    for (uint32_t width = 1; width < 32; width++)
        for (uint32_t run = 1; run < 100; run += 33) {
            size_t first_bytes, second_bytes;
            fill_random(width, run);
            const struct codec *first = choose("auto", values, ROWS, 4, &first_bytes);
            const struct codec *second = choose("auto", values, ROWS, 4, &second_bytes);
            assert_ptr_equal(first, second);
            assert_int_equal(first_bytes, second_bytes);
            assert_true(first->random_access || first->id == CODEC_LANE_SLICE);
        }
}

static void a_codec_may_be_named_as_well(void **state)
{
    (void)state;
    for (uint32_t id = 1; id < CODEC_COUNT; id++)
        expect_choice(codec_by_id(id)->name, values, 1, (enum codec_id)id);
    struct codec_choice choice;
    struct error error = {0};
    assert_int_equal(codec_choice_parse("best", &choice, &error), STATUS_BAD_INPUT);
    assert_non_null(strstr(error.text, "there is no codec 'best'"));
    assert_non_null(strstr(error.text, "lane-for"));
    assert_non_null(strstr(error.text, "auto, smallest or gpu-star"));
}

static void every_shape_and_size_has_a_choice(void **state)
{
    (void)state;
    static const char *const names[] = {"gpu-star", "smallest", "auto"};
    uint64_t random = CODEC_CASES_SEED;
    int64_t *shape = cases_allocate(3001 * sizeof *shape);
    static const uint32_t sizes[] = {1, 1023, 1025, 3001};
    for (size_t f = 0; f < sizeof fills / sizeof *fills; f++)
        for (size_t s = 0; s < sizeof sizes / sizeof *sizes; s++)
            for (uint32_t value_bytes = 4; value_bytes <= 8; value_bytes += 4) {
                size_t bytes[3];
                fills[f](shape, sizes[s], value_bytes, &random);
                for (int i = 0; i < 3; i++)
                    assert_non_null(choose(names[i], shape, sizes[s], value_bytes, &bytes[i]));
                assert_true(bytes[1] <= bytes[0]);
                assert_true(bytes[1] <= bytes[2]);
            }
    free(shape);
}

/* ---- SSB ---- */

#define SAMPLE_ROWS 1000000u

/* Bits a value that others measured on SF 20, block starts included: gpu-for, gpu-dfor, gpu-rfor. */
static const struct {
    const char *column;
    double bits[3];
} published[] = {
    {"lo_orderkey", {8.27, 5.81, 3.71}},      {"lo_custkey", {20.7, 21.0, 6.34}},
    {"lo_orderdate", {16.75, 17.8, 5.33}},    {"lo_quantity", {6.75, 7.81, 7.59}},
    {"lo_extendedprice", {24.7, 25.0, 24.6}}, {"lo_tax", {4.75, 5.47, 5.95}},
};

static void check_published(const char *column, const int32_t *sample)
{
    for (size_t p = 0; p < sizeof published / sizeof *published; p++)
        for (int i = 0; i < 3 && strcmp(column, published[p].column) == 0; i++) {
            const double expected = published[p].bits[i];
            check_bits(bits_a_value((enum codec_id)(CODEC_GPU_FOR + i), sample, SAMPLE_ROWS, 4), expected,
                       expected * 0.02);
        }
}

static void lineorder_sizes_are_the_published_ones(void **state)
{
    (void)state;
    const struct ssb_table_info *info = ssb_table_info(SSB_LINEORDER);
    const struct ssb_options options = {.scale_factor = 20};
    struct ssb_generator *generator;
    struct error error = {0};
    if (ssb_generator_create(&options, 0, &generator, &error) != STATUS_OK)
        fail_msg("%s", error.text);
    double plain = 0, gpu_star = 0, smallest = 0;
    for (uint32_t c = 0; c < info->column_count; c++) {
        void *columns[SSB_COLUMNS_MAX] = {NULL};
        int64_t *room = cases_allocate(SAMPLE_ROWS * sizeof *room);
        int32_t *sample = cases_allocate(SAMPLE_ROWS * sizeof *sample);
        columns[c] = info->columns[c].wide ? (void *)room : sample;
        ssb_generate_lineorder(generator, 0, SAMPLE_ROWS, columns);
        for (uint32_t i = 0; info->columns[c].wide && i < SAMPLE_ROWS; i++)
            sample[i] = (int32_t)room[i];
        check_published(info->columns[c].name, sample);
        size_t bytes;
        choose("plain", sample, SAMPLE_ROWS, 4, &bytes);
        plain += (double)bytes;
        choose("gpu-star", sample, SAMPLE_ROWS, 4, &bytes);
        gpu_star += (double)bytes;
        choose("smallest", sample, SAMPLE_ROWS, 4, &bytes);
        smallest += (double)bytes;
        free(room);
        free(sample);
    }
    ssb_generator_destroy(generator);
    print_message("gpu-star %.2f times smaller than 4-byte integers, smallest %.2f times\n", plain / gpu_star,
                  plain / smallest);
    assert_true(plain / gpu_star > 2.8 && plain / gpu_star < 3.4);
    assert_true(smallest < gpu_star);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(one_value_throughout),
        cmocka_unit_test(sorted_numbers),
        cmocka_unit_test(whole_bytes_and_words),
        cmocka_unit_test(auto_takes_the_fewest_bytes_where_memory_binds),
        cmocka_unit_test(auto_takes_the_fewest_instructions_where_they_bind),
        cmocka_unit_test(auto_looks_at_the_width),
        cmocka_unit_test(auto_takes_only_what_the_table_has),
        cmocka_unit_test(auto_leaves_far_bitmaps_out),
        cmocka_unit_test(an_order_s_customer_is_not_taken_for_its_runs),
        cmocka_unit_test(keys_of_tables_with_levels_have_planes),
        cmocka_unit_test(long_runs_are_taken_for_their_size),
        cmocka_unit_test(a_quarter_of_the_bytes_is_taken),
        cmocka_unit_test(auto_repeats_itself),
        cmocka_unit_test(a_codec_may_be_named_as_well),
        cmocka_unit_test(every_shape_and_size_has_a_choice),
        cmocka_unit_test(lineorder_sizes_are_the_published_ones),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
