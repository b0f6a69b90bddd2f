/* test_chooser.c: what gpu-star, smallest and auto choose, on shapes whose best codec is known and on SSB
 * data. */
#include "tests/codec_cases.h"

#include "ssb/generator.h"

#define ROWS (40 * TILE_ROWS)

/* Encodes with a choice, checks the chunk, and says which codec it became. */
static const struct codec *choose(const char *name, const void *values, uint32_t rows, uint32_t value_bytes,
                                  size_t *bytes)
{
    struct codec_choice choice;
    struct error error = {0};
    struct chunk_view chunk;
    assert_int_equal(codec_choice_parse(name, &choice, &error), STATUS_OK);
    assert_string_equal(choice.name, name);
    assert_int_equal((choice.codec != NULL) + (choice.chooser != CHOOSER_NONE), 1);
    const size_t bound = codec_choice_bound(&choice, rows, value_bytes);
    uint8_t *out = cases_allocate(bound), *scratch = cases_allocate(bound);
    *bytes = codec_choose(&choice, values, rows, value_bytes, out, scratch);
    assert_int_equal(chunk_open(out, *bytes, &chunk, &error), STATUS_OK);
    check_decodes(&chunk, values);
    free(out);
    free(scratch);
    return chunk.codec;
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
    expect_choice("auto", values, ROWS, CODEC_LANE_FOR);
}

static void sorted_numbers(void **state)
{
    (void)state;
    for (uint32_t i = 0; i < ROWS; i++)
        values[i] = (int32_t)i;
    expect_choice("gpu-star", values, ROWS, CODEC_GPU_DFOR);
    expect_choice("smallest", values, ROWS, CODEC_LANE_DELTA);
    expect_choice("auto", values, ROWS, CODEC_LANE_FOR);
}

static void whole_bytes_and_words(void **state)
{
    (void)state;
    uint64_t random = CODEC_CASES_SEED;
    for (uint32_t i = 0; i < ROWS; i++)
        values[i] = (int32_t)random_bits(&random, 8);
    expect_choice("gpu-star", values, ROWS, CODEC_GPU_FOR);
    expect_choice("smallest", values, ROWS, CODEC_NSF);
    expect_choice("auto", values, ROWS, CODEC_NSF);
    for (uint32_t i = 0; i < ROWS; i++)
        values[i] = (int32_t)random_next(&random);
    expect_choice("smallest", values, ROWS, CODEC_PLAIN);
    expect_choice("auto", values, ROWS, CODEC_PLAIN);
}

/* auto takes a dearer decoder for a clear gain only: 7.06 bits against 8 yes, 29.06 against 32 no. */
static void auto_wants_a_tenth(void **state)
{
    (void)state;
    uint64_t random = CODEC_CASES_SEED;
    for (uint32_t i = 0; i < ROWS; i++)
        values[i] = (int32_t)random_bits(&random, 12);
    expect_choice("auto", values, ROWS, CODEC_LANE_FOR);
    for (uint32_t i = 0; i < ROWS; i++)
        values[i] = (int32_t)random_bits(&random, 29);
    expect_choice("auto", values, ROWS, CODEC_PLAIN);
    expect_choice("smallest", values, ROWS, CODEC_LANE_FOR);
}

/* Up to 8 bits a value planes are as small and compare faster. */
static void auto_cuts_narrow_columns_into_planes(void **state)
{
    (void)state;
    uint64_t random = CODEC_CASES_SEED;
    for (uint32_t i = 0; i < ROWS; i++)
        values[i] = (int32_t)random_bits(&random, 7);
    expect_choice("auto", values, ROWS, CODEC_LANE_SLICE);
    expect_choice("smallest", values, ROWS, CODEC_LANE_FOR);
    values[ROWS / 2] = 300;
    expect_choice("auto", values, ROWS, CODEC_LANE_FOR);
}

/* and rank-rle only where runs are long. */
static void auto_takes_rank_rle_for_long_runs(void **state)
{
    (void)state;
    uint64_t random = CODEC_CASES_SEED;
    for (uint32_t i = 0; i < ROWS; i++)
        values[i] = i % 5 ? values[i - 1] : (int32_t)random_bits(&random, 20);
    expect_choice("auto", values, ROWS, CODEC_LANE_FOR);
    for (uint32_t i = 0; i < ROWS; i++)
        values[i] = i % 50 ? values[i - 1] : (int32_t)random_bits(&random, 20);
    expect_choice("auto", values, ROWS, CODEC_RANK_RLE);
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
        cmocka_unit_test(auto_wants_a_tenth),
        cmocka_unit_test(auto_cuts_narrow_columns_into_planes),
        cmocka_unit_test(auto_takes_rank_rle_for_long_runs),
        cmocka_unit_test(a_codec_may_be_named_as_well),
        cmocka_unit_test(every_shape_and_size_has_a_choice),
        cmocka_unit_test(lineorder_sizes_are_the_published_ones),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
