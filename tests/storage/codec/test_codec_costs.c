/* test_codec_costs.c: tables of costs: what an estimate is made of, that a table is read back as it was written,
 * and that what is no table is refused with its line and field. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>

#include "storage/codec/codec_costs.h"
#include "tests/support/run_program.h"

#include <math.h>
#include <stdlib.h>

static struct program_run run; /* large, so not on the stack */

static const char head[] = "tessera-costs 1\ndevice a device of ours\nread 2\nwidths 1 4 8 12 16 20 24 28\n";
static const char plain[] =
    "plain compare 1 1 1 1 1 1 1 1\nplain probe 2 2 2 2 2 2 2 2\nplain fetch 3 3 3 3 3 3 3 3\n";

static enum status parse(const char *first, const char *second, const char *third, struct codec_costs *costs,
                         struct error *error)
{
    char text[4096];
    snprintf(text, sizeof text, "%s%s%s", first, second, third);
    return codec_costs_parse("a.costs", text, costs, error);
}

static void an_estimate_is_what_binds_and_fetching(void **state)
{
    (void)state;
    struct codec_costs costs;
    struct error error = {0};
    const enum status status = parse(head, plain,
                                     "# lines like this one say nothing\n\n"
                                     "lane-for fetch 16 16 32 32 32 32 32 32\n"
                                     "lane-for compare 1 1 3 3 3 3 3 7\nlane-for probe 5 5 5 5 5 5 5 5\n",
                                     &costs, &error);
    if (status != STATUS_OK)
        fail_msg("%s", error.text);
    assert_string_equal(costs.device, "a device of ours");
    /* 4 bytes a value, 2 in a nanosecond, bind; 64 of 1024 are fetched for 3 each */
    assert_float_equal(codec_costs_estimate(&costs, CODEC_PLAIN, 4000, 1000, 12, false), 2 + 3.0 / 16, 1e-9);
    /* comparing binds: 3 at width 8, 2 half-way from 4 to 8, where fetching is 24 */
    assert_float_equal(codec_costs_estimate(&costs, CODEC_LANE_FOR, 1000, 1000, 8, false), 3 + 2, 1e-9);
    assert_float_equal(codec_costs_estimate(&costs, CODEC_LANE_FOR, 1000, 1000, 6, false), 2 + 1.5, 1e-9);
    assert_float_equal(codec_costs_estimate(&costs, CODEC_LANE_FOR, 1000, 1000, 6, true), 5 + 1.5, 1e-9);
    /* outside the widths the nearest holds */
    assert_float_equal(codec_costs_estimate(&costs, CODEC_LANE_FOR, 1000, 1000, 0, false), 1 + 1, 1e-9);
    assert_float_equal(codec_costs_estimate(&costs, CODEC_LANE_FOR, 1000, 1000, 60, false), 7 + 2, 1e-9);
    assert_true(isinf(codec_costs_estimate(&costs, CODEC_NSF, 1000, 1000, 8, false)));
}

/* Half of the planes, then whole values; by the lines of the codec that stands for one without lines. */
static void an_estimate_of_planes_reads_half_of_them(void **state)
{
    (void)state;
    struct codec_costs costs;
    struct error error = {0};
    assert_int_equal(parse(head, plain,
                           "lane-slice compare 1 4 8 12 16 20 24 28\nlane-slice probe 9 9 9 9 9 9 9 9\n"
                           "lane-slice fetch 16 64 128 192 256 320 384 448\n",
                           &costs, &error),
                     STATUS_OK);
    /* 10 planes and a rest: 5 are compared, and a value takes 12 loads */
    assert_float_equal(codec_costs_estimate_planes(&costs, CODEC_LANE_LEVELS, 22, 10), 5 + 12, 1e-9);
    assert_float_equal(codec_costs_estimate_planes(&costs, CODEC_LANE_LEVELS, 12, 12), 6 + 12, 1e-9);
    costs.read_bytes_per_ns = 1.0 / 16; /* 5 planes are 5/8 bytes */
    assert_float_equal(codec_costs_estimate_planes(&costs, CODEC_LANE_LEVELS, 22, 10), 10 + 12, 1e-9);
    for (uint32_t use = 0; use < CODEC_USES; use++)
        for (uint32_t w = 0; w < CODEC_COST_WIDTHS; w++) {
            costs.ns[CODEC_LANE_LEVELS][use][w] = 32;
            costs.ns[CODEC_LANE_SLICE][use][w] = 0;
        }
    assert_float_equal(codec_costs_estimate_planes(&costs, CODEC_LANE_LEVELS, 22, 10), 32 + 2, 1e-9);
    costs.ns[CODEC_LANE_LEVELS][CODEC_USE_COMPARE][0] = 0;
    assert_true(isinf(codec_costs_estimate_planes(&costs, CODEC_LANE_LEVELS, 22, 10)));
}

static void a_table_comes_back_as_it_was_written(void **state)
{
    (void)state;
    const char *const names[] = {"h200", "cpu", "cpu-avx512", "cpu-avx2", "cpu-baseline"};
    for (int i = 0; i < 5; i++) {
        struct codec_costs costs, again;
        struct error error = {0};
        char path[] = "/tmp/test_codec_costs.XXXXXX";
        assert_int_equal(codec_costs_load(names[i], &costs, &error), STATUS_OK);
        assert_true(costs.ns[CODEC_LANE_FOR][CODEC_USE_PROBE][3] > 0);
        FILE *file = fdopen(mkstemp(path), "w");
        assert_non_null(file);
        codec_costs_write(&costs, file);
        assert_int_equal(fclose(file), 0);
        if (codec_costs_load(path, &again, &error) != STATUS_OK)
            fail_msg("%s", error.text);
        assert_string_equal(costs.device, again.device);
        assert_true(costs.read_bytes_per_ns == again.read_bytes_per_ns);
        assert_memory_equal(costs.ns, again.ns, sizeof costs.ns);
        unlink(path);
    }
}

static void what_is_no_table_is_refused(void **state)
{
    (void)state;
    static const struct {
        const char *first, *third;
        const char *says;
    } cases[] = {
        {"", "", "line 1, field 1: 'plain' is not 'tessera-costs'"},
        {"tessera-costs 2\n", "", "line 1, field version: '2' is not 1"},
        {"tessera-costs 1\nread 3\n", "", "line 2, field 1: 'read' is not 'device'"},
        {"tessera-costs 1\ndevice\n", "", "line 2, field device: '' is not a name"},
        {"tessera-costs 1\ndevice d\nread -1\n", "", "line 3, field read: '-1' is not a number"},
        {"tessera-costs 1\ndevice d\nread nan\n", "", "line 3, field read: 'nan' is not a number"},
        {"tessera-costs 1\ndevice d\nread 1 2\n", "", "line 3, field read: '2' is not the end of the line"},
        {"tessera-costs 1\ndevice d\nread 1\nwidths 1 4 9\n", "", "line 4, field widths: '9' is not 8"},
        {head, "lane-four compare 1\n", "line 8, field codec: 'lane-four' is not a codec"},
        {head, "nsf decode 1\n", "line 8, field use: 'decode' is not compare, probe or fetch"},
        {head, "nsf\n", "line 8, field use: '' is not compare, probe or fetch"},
        {head, "nsf probe 1 1 1\n", "line 8, field width 12: '' is not a number"},
        {head, "nsf probe 1 1 1 x\n", "line 8, field width 12: 'x' is not a number"},
        {head, "nsf probe 1 1 1e999\n", "line 8, field width 8: '1e999' is not a number"},
        {head, "nsf probe 1 1 1 1 1 1 1 0\n", "line 8, field width 28: '0' is not a number"},
        {head, "nsf probe 1 1 1 1 1 1 1 1 1\n", "line 8, field width 28: '1' is not the end of the line"},
        {head, "plain probe 1 1 1 1 1 1 1 1\n", "line 8, field use: 'probe' is not there once"},
        {head, "nsf probe 1 1 1 1 1 1 1 1\n", "line 8: it ends without a line 'nsf compare'"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct codec_costs costs;
        struct error error = {0};
        assert_int_equal(parse(cases[i].first, plain, cases[i].third, &costs, &error), STATUS_BAD_INPUT);
        if (!strstr(error.text, cases[i].says) || !strstr(error.text, "a.costs"))
            fail_msg("expected '%s' in '%s'", cases[i].says, error.text);
    }
    struct codec_costs costs;
    struct error error = {0};
    assert_int_equal(parse("", "", "", &costs, &error), STATUS_BAD_INPUT);
    assert_int_equal(parse(head, "", "", &costs, &error), STATUS_BAD_INPUT);
    assert_non_null(strstr(error.text, "'plain compare'"));
    assert_int_equal(codec_costs_load("/nowhere/at.all", &costs, &error), STATUS_BAD_INPUT);
    assert_non_null(strstr(error.text, "/nowhere/at.all"));
    assert_int_equal(codec_costs_load("/dev/zero", &costs, &error), STATUS_BAD_INPUT);
}

/* Any byte of a table may be damaged: refused, or a table; never read past its end. */
static void damaged_text_is_survived(void **state)
{
    (void)state;
    char text[4096];
    const size_t length = (size_t)snprintf(text, sizeof text, "%s%s", head, plain);
    for (size_t at = 0; at < length; at++)
        for (const char *with = "\n 9x"; *with; with++) {
            struct codec_costs costs;
            struct error error = {0};
            const char was = text[at];
            text[at] = *with;
            if (codec_costs_parse("damaged", text, &costs, &error) == STATUS_OK)
                assert_true(costs.ns[CODEC_PLAIN][CODEC_USE_FETCH][7] > 0);
            else
                assert_int_equal(error.status, STATUS_BAD_INPUT);
            text[at] = was;
        }
    for (size_t at = 0; at < length; at++) {
        struct codec_costs costs;
        char cut[4096];
        snprintf(cut, sizeof cut, "%.*s", (int)at, text);
        assert_int_equal(codec_costs_parse("cut", cut, &costs, NULL),
                         at == length - 1 ? STATUS_OK : STATUS_BAD_INPUT);
    }
}

/* The table that TESSERA_COSTS names decides what a load stores, and one that is none stops it. */
static void the_environment_names_the_table(void **state)
{
    (void)state;
    run_shell(
        "d=$(mktemp -d) && printf '%s' 'tessera-costs 1\ndevice d\nread 1e9\nwidths 1 4 8 12 16 20 24 28\n"
        "plain compare 1 1 1 1 1 1 1 1\nplain probe 1 1 1 1 1 1 1 1\nplain fetch 1 1 1 1 1 1 1 1\n' >$d/t && "
        "TESSERA_COSTS=$d/t $T ssb load --sf 0.001 --db $d/db 2>/dev/null && "
        "$T inspect --db $d/db lineorder; e=$?; rm -r $d; exit $e",
        &run);
    assert_int_equal(run.exit_code, 0);
    assert_non_null(strstr(run.output, "plain (auto)"));
    assert_null(strstr(run.output, "lane-for (auto)"));
    run_shell("d=$(mktemp -d) && echo tessera-costs 7 >$d/t && TESSERA_COSTS=$d/t $T ssb load --sf 0.001 "
              "--db $d/db; "
              "e=$?; test -e $d/db && e=9; rm -r $d; exit $e",
              &run);
    assert_int_equal(run.exit_code, 2);
    assert_non_null(strstr(run.errors, "line 1, field version: '7'"));
}

/* What a load goes by when nobody says it: the table that was kept for this machine's device, else a built-in one. */
static void the_device_at_hand_decides(void **state)
{
    (void)state;
    static const char *const levels[] = {"baseline", "avx2", "avx512"};
    for (int level = 0; level <= (int)isa_level(); level++) {
        char command[512], wanted[40];
        snprintf(
            command, sizeof command,
            "d=$(mktemp -d); export HOME=$d TESSERA_ISA=%s CUDA_VISIBLE_DEVICES=; unset TESSERA_COSTS "
            "XDG_CONFIG_HOME; "
            "$T ssb load --sf 0.001 --db $d/db 2>/dev/null && $T inspect --db $d/db lineorder.lo_quantity; "
            "e=$?; rm -r $d; exit $e",
            levels[level]);
        snprintf(wanted, sizeof wanted, "(cpu-%s)", levels[level]);
        run_shell(command, &run);
        assert_int_equal(run.exit_code, 0);
        if (!strstr(run.output, wanted))
            fail_msg("expected '%s' in '%s'", wanted, run.output);
    }
}

/* Only plain is in the table that is kept, under the name that a calibration of the CPU would give it. */
static void a_table_that_was_kept_goes_first(void **state)
{
    (void)state;
    char path[CODEC_COSTS_SOURCE_BYTES], command[1024];
    assert_int_equal(setenv("HOME", "/home/someone", 1), 0);
    assert_int_equal(unsetenv("XDG_CONFIG_HOME"), 0);
    assert_true(codec_costs_kept_path("NVIDIA H200 (x/y)", path));
    assert_string_equal(path, "/home/someone/.config/tessera/costs/NVIDIA-H200--x-y-.costs");
    assert_int_equal(setenv("XDG_CONFIG_HOME", "/settings", 1), 0);
    assert_true(codec_costs_kept_path(NULL, path));
    assert_memory_equal(path, "/settings/tessera/costs/cpu-", 28);
    snprintf(command, sizeof command,
             "d=$(mktemp -d); export XDG_CONFIG_HOME=$d CUDA_VISIBLE_DEVICES=; unset TESSERA_COSTS; "
             "mkdir -p $d/tessera/costs; printf '%%s%%s' '%s' '%s' >$d%s; "
             "$T ssb load --sf 0.001 --db $d/db 2>/dev/null && $T inspect --db $d/db lineorder.lo_quantity; "
             "e=$?; rm -r $d; exit $e",
             head, plain, path + strlen("/settings"));
    run_shell(command, &run);
    assert_int_equal(run.exit_code, 0);
    assert_non_null(strstr(run.output, "plain (auto)"));
    assert_non_null(strstr(run.output, "by the table of a device of ours (/"));
}

/* A GPU's name is asked for once, and only where nothing else decides. */
static bool no_gpu(char name[CODEC_COSTS_DEVICE_BYTES])
{
    (void)name;
    fail_msg("a GPU was looked for");
    return false;
}

static void the_environment_needs_no_gpu(void **state)
{
    (void)state;
    const struct codec_costs *costs;
    struct error error = {0};
    codec_costs_ask_gpu(no_gpu);
    assert_int_equal(setenv("TESSERA_COSTS", "cpu-avx2", 1), 0);
    assert_int_equal(codec_costs_in_use(&costs, &error), STATUS_OK);
    assert_string_equal(costs->source, "cpu-avx2");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(an_estimate_is_what_binds_and_fetching),
        cmocka_unit_test(an_estimate_of_planes_reads_half_of_them),
        cmocka_unit_test(a_table_comes_back_as_it_was_written),
        cmocka_unit_test(what_is_no_table_is_refused),
        cmocka_unit_test(damaged_text_is_survived),
        cmocka_unit_test(the_environment_names_the_table),
        cmocka_unit_test(the_device_at_hand_decides),
        cmocka_unit_test(a_table_that_was_kept_goes_first),
        cmocka_unit_test(the_environment_needs_no_gpu),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
