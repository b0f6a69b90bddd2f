/* test_ssb_columns.c: `tessera lab ssb-columns`: the shapes of its tables, and sizes that are known. The experiment itself
 * compares every decoded value. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>

#include "tests/support/lab_tables.h"

#include "lab/bench/nvcomp.h"
#include "ssb/data/generator.h"
#include "storage/codec/codec.h"

#include <math.h>

#define BYTE_STREAMS 3 /* codecs that are only measured if --codecs names them */

static void every_codec_has_every_column(void **state)
{
    static const char *const captions[] = {"columns of lineorder: size",
                                           "columns of lineorder: decode to memory",
                                           "columns of lineorder: decode and sum"};
    static const char *const keys[] = {"bits", "memory_ms", "sum_ms"};
    json_t *tables, *const result = lab_tables("ssb-columns --scale 0.0002 --repeat 1", &tables);
    (void)state;
    for (size_t i = 0; i < 3; i++) {
        json_t *const rows = lab_rows_of(tables, captions[i]);
        for (uint32_t c = 0; c < LO_COLUMNS; c++) {
            char key[64];
            snprintf(key, sizeof key, "%s_%s", keys[i], ssb_table_info(SSB_LINEORDER)->columns[c].name + 3);
            assert_true(lab_number(lab_row_of(rows, "codec", "plain"), key) > 0);
            assert_true(lab_number(lab_row_of(rows, "codec", "gpu-for"), key) > 0);
        }
        assert_int_equal(json_array_size(rows), CODEC_COUNT - 1 - BYTE_STREAMS + NVCOMP_SCHEMES);
    }
    json_decref(result);
}

static void without_nvcomp_its_rows_say_so(void **state)
{
    setenv("TESSERA_NVCOMP", "/nowhere", 1);
    json_t *tables, *const result = lab_tables("ssb-columns --scale 0.0001 --repeat 1", &tables);
    json_t *const rows = lab_rows_of(tables, "columns of lineorder: size");
    (void)state;
    for (uint32_t s = 0; s < NVCOMP_SCHEMES; s++) {
        json_t *const row = lab_row_of(rows, "codec", nvcomp_schemes[s]);
        assert_string_equal(json_string_value(json_object_get(row, "note")), "not installed");
        assert_true(json_is_null(json_object_get(row, "bits_orderkey")));
    }
    json_t *const system = lab_row_of(lab_rows_of(tables, "systems"), "system", "nvCOMP");
    assert_true(json_is_null(json_object_get(system, "bytes")));
    json_decref(result);
}

/* 24000 rows of scale factor 20: the sizes a value are those of docs/codecs.md, but for the filled last tile. */
static void systems_choose(void **state)
{
    json_t *tables, *const result = lab_tables("ssb-columns --scale 0.0002 --repeat 1", &tables);
    json_t *const systems = lab_rows_of(tables, "systems"), *const choices =
                                                                lab_rows_of(tables, "which codec");
    json_t *const plain = lab_row_of(systems, "system", "plain"), *const star = lab_row_of(systems, "system",
                                                                                           "gpu-star");
    (void)state;
    assert_true(fabs(lab_number(plain, "ratio") - 1) < 1e-9);
    assert_true(fabs(lab_number(star, "ratio") - 3.2) < 0.05 * 3.2);
    assert_true(fabs(lab_number(star, "memory_to_gpu_star") - 1) < 1e-9);
    assert_string_equal(json_string_value(json_object_get(star, "paper")), "GPU-*, our decoders");
    assert_true(lab_number(lab_row_of(systems, "system", "smallest"), "bytes") <= lab_number(star, "bytes"));
    assert_true(lab_number(lab_row_of(systems, "system", "auto"), "sum_ms") > 0);
    lab_row_of(systems, "system", "lane-for");
    assert_int_equal(json_array_size(choices), LO_COLUMNS);
    json_t *const date = lab_row_of(choices, "column", "orderdate");
    assert_string_equal(json_string_value(json_object_get(date, "gpu-star")), "gpu-rfor");
    assert_true(fabs(lab_number(date, "gpu-star_bits") - 5.33) < 0.05 * 5.33);
    json_decref(result);
}

/* Figure 9: the columns' sizes add up to the systems'. */
static void sizes_of_columns_add_up(void **state)
{
    json_t *tables, *const result = lab_tables("ssb-columns --scale 0.0002 --repeat 1", &tables);
    json_t *const sizes = lab_rows_of(tables, "figure 9"), *const systems = lab_rows_of(tables, "systems");
    static const char *const names[] = {"plain", "gpu-star", "planner", "gpu-bp128"};
    (void)state;
    assert_int_equal(json_array_size(sizes), LO_COLUMNS + 1);
    for (size_t n = 0; n < sizeof names / sizeof *names; n++) {
        double sum = 0;
        char key[64];
        snprintf(key, sizeof key, "%s_mb", names[n]);
        for (uint32_t c = 0; c < LO_COLUMNS; c++)
            sum += lab_number(json_array_get(sizes, c), key);
        assert_float_equal(lab_number(lab_row_of(sizes, "column", "all"), key), sum, 1e-6);
        assert_float_equal(lab_number(lab_row_of(systems, "system", names[n]), "bytes") * 1e-6, sum, 1e-5);
    }
    json_decref(result);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_codec_has_every_column), cmocka_unit_test(without_nvcomp_its_rows_say_so),
        cmocka_unit_test(systems_choose), cmocka_unit_test(sizes_of_columns_add_up)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
