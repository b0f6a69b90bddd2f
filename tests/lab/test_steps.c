/* test_steps.c: which chunks the kernels for one width accept (lab/published/steps.h), at odd sizes. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>

#include "lab/published/steps.h"

static const char *const codecs[] = {"gpu-for-block", "gpu-bp128"};

/* What published_one_width says of the dataset in each codec. */
static void check(dataset_fill *fill, const void *parameters, uint64_t rows, bool wanted)
{
    struct lab lab = {.threads = 2, .scale = 1};
    struct error error = {0};
    struct dataset dataset;
    assert_int_equal(dataset_make(&lab, "values", rows, fill, parameters, &dataset, &error), STATUS_OK);
    for (size_t c = 0; c < sizeof codecs / sizeof *codecs; c++) {
        struct encoded encoded;
        assert_int_equal(encoded_make(&lab, codec_by_name(codecs[c]), &dataset, &encoded, &error), STATUS_OK);
        if (published_one_width(&encoded) != wanted)
            fail_msg("%s, %llu rows: not %d", codecs[c], (unsigned long long)rows, wanted);
        encoded_free(&encoded);
    }
    dataset_free(&lab, &dataset);
}

/* The last tile is filled with one value, so its blocks may have no width at all. */
static void uniform_values_have_one_width_but_for_the_last_tile(void **state)
{
    static const uint64_t sizes[] = {
        1, 127, 1024, 1025, 5000, ENCODED_CHUNK_ROWS + 1, ENCODED_CHUNK_ROWS + 2049};
    (void)state;
    for (size_t s = 0; s < sizeof sizes / sizeof *sizes; s++)
        for (uint32_t width = 4; width <= 28; width += 6)
            check(fill_uniform, &width, sizes[s], true);
}

static void values_of_several_widths_are_refused(void **state)
{
    (void)state;
    check(fill_zipf, &(struct zipf_parameters){1, 1 << 20}, 100003, false);
}

static void every_step_decodes_a_codec(void **state)
{
    (void)state;
    for (size_t s = 0; s < PUBLISHED_STEPS; s++) {
        assert_non_null(codec_by_name(published_steps[s].method.codec));
        assert_true(published_steps[s].method.rows % published_steps[s].method.threads == 0);
        assert_false(published_steps[s].paper_ms > 0 && published_steps[s].paper_why);
    }
    assert_float_equal(published_steps[PUBLISHED_STEP_BASE].paper_ms, 18, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(uniform_values_have_one_width_but_for_the_last_tile),
        cmocka_unit_test(values_of_several_widths_are_refused),
        cmocka_unit_test(every_step_decodes_a_codec),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
