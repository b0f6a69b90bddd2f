/* test_levels_command.c: `--levels` and `--dimension-order` of `tessera load` and `tessera ssb load`, and what inspect
 * says of levels. */
#define _GNU_SOURCE
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>

#include "tests/support/database_cases.h"
#include "tests/support/run_program.h"

#include <jansson.h>

static struct program_run run; /* large, so not on the stack */
static char path[PATH_BYTES];

static void must_say(const char *shell, int exit_code, const char *text)
{
    run_shell(shell, &run);
    if (run.exit_code != exit_code || (!strstr(run.errors, text) && !strstr(run.output, text)))
        fail_msg("%s: exit code %d: %s%s", shell, run.exit_code, run.output, run.errors);
}

static int begin(void **state)
{
    (void)state;
    directory_make(path);
    setenv("D", path, 1);
    char *const slash = strrchr(path, '/');
    *slash = '\0';
    setenv("F", path, 1);
    *slash = '/';
    must_say("cd $F && echo 'CREATE TABLE place (p INT PRIMARY KEY, p_land TEXT, p_town TEXT, p_note TEXT);"
             "CREATE TABLE sale (place INT NOT NULL REFERENCES place, pieces INT);' > star.sql &&"
             "seq 1 100 | awk '{ t = $1 * 7 % 20; print $1 \",land \" int(t / 5) \",town \" t \",same\" }' > "
             "place.csv && seq 1 2000 | awk '{ print $1 % 100 + 1 \",\" $1 % 7 }' > sale.csv",
             0, "");
    setenv("LOAD", "$T load --force --db $D --schema $F/star.sql place=$F/place.csv sale=$F/sale.csv", 1);
    return 0;
}

static int end(void **state)
{
    (void)state;
    directory_remove(path);
    return 0;
}

static void levels_are_inspected(void **state)
{
    (void)state;
    must_say("eval $LOAD --dimension-order levels", 0, "2100 rows");
    must_say("$T check --db $D", 0, "no fault");
    must_say("$T inspect --db $D place", 0, "levels: p_land:2 | p_town:3 | rest:3, 5 bits of 8 a position");
    assert_non_null(strstr(run.output, "229 positions, 43.7% of them with a row; 20 leaves of 5 to 5 rows"));
    assert_non_null(strstr(run.output, "decided by the level p_land"));
    assert_non_null(strstr(run.output, "decided by the levels down to p_town"));
    assert_non_null(strstr(run.output, "decided by no level: it has one value"));
    must_say("$T inspect --db $D --format json", 0, "\"prefix_bits\": 5");
    json_t *const root = json_loads(run.output, 0, NULL);
    assert_non_null(root);
    const json_t *const tables = json_object_get(root, "tables"), *const levels = json_object_get(
                                                                      json_array_get(tables, 0), "levels");
    assert_int_equal(json_array_size(json_object_get(levels, "levels")), 2);
    assert_int_equal(json_integer_value(json_object_get(levels, "positions")), 229);
    assert_int_equal(json_integer_value(json_object_get(json_object_get(levels, "depth"), "p_note")), 0);
    assert_int_equal(json_integer_value(json_object_get(json_object_get(levels, "depth"), "p")), 3);
    assert_null(json_object_get(json_array_get(tables, 1), "levels"));
    json_decref(root);
}

static void levels_are_named(void **state)
{
    (void)state;
    must_say("eval $LOAD --dimension-order file --levels place=TOWN,land", 0, "rows");
    must_say("$T inspect --db $D place", 0, "levels: p_town:5 | p_land:0 | rest:3,");
    must_say("eval $LOAD --dimension-order levels --levels place=none", 0, "rows");
    must_say("$T inspect --db $D place", 0, "place: 100 rows");
    assert_null(strstr(run.output, "levels"));
    must_say("eval $LOAD --levels place=city", 2, "--levels place=city: table place has no column 'city'");
    must_say("eval $LOAD --dimension-order key", 2, "--dimension-order");
    must_say("$T check --db $D", 0, "no fault");
}

/* An append may take levels away; keys that had them, also those in a codec of levels, are then rows of the table. */
static void an_append_may_end_levels(void **state)
{
    (void)state;
    must_say("eval $LOAD --levels place=land,town", 0, "rows");
    must_say("$T inspect --db $D sale", 0, "lane-levels");
    must_say("echo '200,land 1,town 1,new' > $F/more.csv && $T load --append --db $D --schema $F/star.sql "
             "--levels "
             "place=none place=$F/more.csv",
             0, "1 row");
    must_say("$T inspect --db $D", 0, "place: 101 rows");
    assert_null(strstr(run.output, "levels"));
    must_say("$T check --db $D", 0, "no fault");
    must_say("$T sql --db $D --format csv \"select count(*), sum(pieces) from sale join place on place = p "
             "where p_land = "
             "'land 2'\"",
             0, "500,");
}

static void the_benchmark_has_the_options(void **state)
{
    (void)state;
    must_say("$T ssb load --sf 0.01 --db $D --dimension-order file --levels customer=nation,city", 0, "rows");
    must_say("$T inspect --db $D customer", 0, "levels: c_nation:5 | c_city:");
    must_say("$T inspect --db $D part", 0, "part: ");
    assert_null(strstr(run.output, "levels"));
    must_say("$T ssb load --sf 0.01 --db $D --force --dimension-order levels", 0, "rows");
    must_say("$T inspect --db $D date", 0, "levels: d_year:3 | d_yearmonthnum:4 | rest:5,");
    must_say("$T ssb load --sf 0.01 --db $D --force --levels lineorder=lo_tax", 2, "primary key");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(levels_are_inspected, begin, end),
        cmocka_unit_test_setup_teardown(levels_are_named, begin, end),
        cmocka_unit_test_setup_teardown(an_append_may_end_levels, begin, end),
        cmocka_unit_test_setup_teardown(the_benchmark_has_the_options, begin, end),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
