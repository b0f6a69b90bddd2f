/* test_ssb_queries.c: `tessera lab ssb-queries`: the shapes of its tables, and what becomes of its temporary database. The
 * experiment itself compares every answer with the plain codec's. */
#define _GNU_SOURCE
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>

#include "tests/support/lab_tables.h"
#include "tests/support/one_directory.h"

#include "ssb/queries/queries.h"

#include <math.h>

static void every_system_answers_every_query(void **state)
{
    setenv("TESSERA_NVCOMP", "/nowhere", 1);
    json_t *tables, *const result = lab_tables("ssb-queries --scale 0.0005 --repeat 2", &tables);
    json_t *const queries = lab_rows_of(tables, "queries over"), *const systems =
                                                                     lab_rows_of(tables, "systems");
    (void)state;
    static const char *const measured[] = {"plain", "gpu-star staged", "lane-for", "auto", "auto, levels"};
    for (size_t m = 0; m < sizeof measured / sizeof *measured; m++) {
        json_t *const row = lab_row_of(queries, "system", measured[m]);
        for (uint32_t q = 0; q < SSB_QUERIES; q++) {
            char key[16];
            snprintf(key, sizeof key, "ms_%s", ssb_queries[q]->name);
            assert_true(lab_number(row, key) > 0);
        }
    }
    json_t *const plain = lab_row_of(systems, "system", "plain"), *const staged = lab_row_of(
                                                                      systems, "system", "lane-for staged");
    assert_true(fabs(lab_number(plain, "to_plain") - 1) < 1e-9);
    assert_true(json_is_null(json_object_get(plain, "stage_ms")));
    assert_true(
        json_is_null(json_object_get(lab_row_of(systems, "system", "nvCOMP, then plain"), "mean_ms")));
    assert_true(json_is_null(
        json_object_get(lab_row_of(systems, "system", "gpu-bp128 published, then plain"), "mean_ms")));
    json_t *const omnisci = lab_row_of(systems, "system", "OmniSci");
    assert_true(lab_number(omnisci, "paper_to_gpu_star") == 12); /* the paper's figure alone */
    assert_true(json_is_null(json_object_get(omnisci, "mean_ms")));
    assert_true(lab_number(staged, "stage_ms") > 0);
    assert_true(lab_number(staged, "sum_ms") > lab_number(staged, "stage_ms"));
    json_decref(result);
}

/* Whether the shell command succeeds, in which $D is the test's folder. */
static bool holds(const char *shell)
{
    static struct program_run run;
    setenv("D", path, 1);
    run_shell(shell, &run);
    return run.exit_code == 0;
}

static void the_temporary_database_is_removed(void **state)
{
    (void)state;
    assert_true(holds("mkdir $D; TMPDIR=$D \"$T\" lab ssb-queries --device cpu --scale 0.0002 --repeat 1"));
    assert_true(holds("test -z \"$(ls -A $D)\""));
    assert_false(holds("TMPDIR=$D/missing \"$T\" lab ssb-queries --device cpu --scale 0.0002"));
}

static void a_database_of_the_user_stays(void **state)
{
    (void)state;
    assert_true(holds("mkdir $D; \"$T\" ssb load --sf 0.01 --db $D/own.db"));
    assert_true(holds("TMPDIR=$D/missing \"$T\" lab ssb-queries --device cpu --repeat 1 --db $D/own.db"));
    assert_true(holds("\"$T\" check --db $D/own.db"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_system_answers_every_query),
        cmocka_unit_test_setup_teardown(the_temporary_database_is_removed, setup, teardown),
        cmocka_unit_test_setup_teardown(a_database_of_the_user_stays, setup, teardown)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
