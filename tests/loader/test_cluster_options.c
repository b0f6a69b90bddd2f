/* test_cluster_options.c: what `--cluster-by` of `tessera load` and `ssb load` may say, each sentence for what it may not, and
 * what inspect says of clustered tables. */
#define _GNU_SOURCE
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>

#include "tests/support/load_program.h"

#include <jansson.h>

#define ALL "--force place=place.csv sale=sale.csv "

static int begin(void **state)
{
    setup(state);
    run_shell(
        "cd $D/.. && echo 'CREATE TABLE place (p INT PRIMARY KEY, p_land TEXT, p_town TEXT);"
        "CREATE TABLE sale (place INT NOT NULL REFERENCES place, pieces INT, a INT, b INT, c INT, d INT, e "
        "INT, f INT, g "
        "INT);"
        "CREATE TABLE deal (nr INT PRIMARY KEY, next INT REFERENCES deal, place INT);' > star.sql &&"
        "seq 1 100 | awk '{ t = $1 * 7 % 20; print $1 \",land \" int(t / 5) \",town \" t }' > place.csv &&"
        "seq 1 20480 | awk '{ print $1 * 37 % 100 + 1 \",\" $1 % 7 \",1,2,3,4,5,6,7\" }' > sale.csv &&"
        "split -l 10240 sale.csv half && echo '1,,1' > deal.csv",
        &run);
    assert_int_equal(run.exit_code, 0);
    return 0;
}

static void wrong_options_are_refused(void **state)
{
    static const struct {
        const char *arguments, *said;
    } cases[] = {
        {ALL "--cluster-by town", "--cluster-by town: no table that is loaded has that column"},
        {ALL "--cluster-by place,,pieces", "--cluster-by : no table that is loaded has that column"},
        {ALL "--cluster-by ''", "no table that is loaded has that column"},
        {"--force place=place.csv --cluster-by pieces",
         "--cluster-by pieces: no table that is loaded has that column"},
        {ALL "--cluster-by place,PLACE:2", "--cluster-by: column place is named twice"},
        {ALL "--cluster-by place:3", "--cluster-by place:3: place has 2 levels"},
        {ALL "--cluster-by place:3 --levels place=p_land", "--cluster-by place:3: place has 1 level"},
        {ALL "--cluster-by pieces:17", "--cluster-by pieces:17: a cell has 16 bits at most"},
        {ALL "--cluster-by pieces:10,a:6",
         "--cluster-by: cells of these columns have 18 bits, and 16 are the most; name "
         "fewer columns, or fewer levels or bits of them (COLUMN:N)"},
        {ALL "--cluster-by p_town",
         "--cluster-by p_town: table place is referenced, and positions of its rows are what is "
         "stored; cluster a table that is not referenced"},
        {"--force place=place.csv deal=deal.csv --cluster-by next",
         "--cluster-by next: table deal is referenced"},
        {ALL "--cluster-by pieces --sort-by place",
         "table sale is to be sorted and clustered; give --sort-by or --cluster-by"},
        {ALL "--cluster-by pieces:0",
         "--cluster-by pieces:0: give COLUMN or COLUMN:N, N levels of what it references, or "
         "bits, from 1"},
        {ALL "--cluster-by pieces:x", "--cluster-by pieces:x: give COLUMN or COLUMN:N"},
        {ALL "--cluster-by pieces:-1", "--cluster-by pieces:-1: give COLUMN or COLUMN:N"},
        {ALL "--cluster-by pieces:", "--cluster-by pieces:: give COLUMN or COLUMN:N"},
        {ALL "--cluster-by pieces:2:3", "--cluster-by pieces:2:3: give COLUMN or COLUMN:N"},
        {ALL "--cluster-by pieces:65", "--cluster-by pieces:65: give COLUMN or COLUMN:N"},
        {ALL "--cluster-by place:99999999999999999999999", "give COLUMN or COLUMN:N"},
        {ALL "--cluster-by place,pieces,a,b,c,d,e,f,g", "--cluster-by: more than 8 columns"},
    };
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        load_ends(cases[i].arguments, 2, cases[i].said);
        assert_int_not_equal(access(path, F_OK), 0);
    }
    load_ends(ALL, 0, "");
    load_ends("--append sale=halfaa --cluster-by p_town", 2, "no table that is loaded has that column");
    run_shell("$T ssb load --sf 0.01 --db $D/ssb --cluster-by lo_custkey:4", &run);
    assert_int_equal(run.exit_code, 2);
    assert_non_null(strstr(run.errors, "--cluster-by lo_custkey:4: customer has 2 levels"));
}

/* The numbers that inspect gives: of each tile the cells that it may have, of 4 lands in 20 tiles. */
static void inspected(double least, double most)
{
    run_shell("$T inspect --db $D sale --format json", &run);
    json_t *const root = json_loads(run.output, 0, NULL);
    const json_t *const terms =
                            json_object_get(json_array_get(json_object_get(root, "tables"), 0), "clustering"),
                        *const first = json_array_get(terms, 0), *const second = json_array_get(terms, 1);
    assert_int_equal(json_array_size(terms), 2);
    assert_string_equal(json_string_value(json_object_get(first, "column")), "place");
    assert_string_equal(json_string_value(json_object_get(first, "level")), "p_land");
    assert_int_equal(json_integer_value(json_object_get(first, "levels")), 1);
    assert_null(json_object_get(first, "bits"));
    const double left = json_real_value(json_object_get(first, "tiles_left"));
    if (left < least || left > most)
        fail_msg("%f of the tiles, not %f to %f", left, least, most);
    assert_string_equal(json_string_value(json_object_get(second, "column")), "pieces");
    assert_int_equal(json_integer_value(json_object_get(second, "bits")), 3);
    assert_null(json_object_get(second, "levels"));
    assert_null(json_object_get(second, "tiles_left"));
    json_decref(root);
}

static void inspect_says_what_a_condition_leaves(void **state)
{
    (void)state;
    load_ends(ALL "--cluster-by none", 0, "");
    run_shell("$T inspect --db $D sale", &run);
    assert_null(strstr(run.output, "clustered"));
    load_ends(ALL "--cluster-by Place,pieces:3", 0, "");
    inspected(0.25, 0.25); /* 20,480 rows: each land has five tiles of its own */
    run_shell("$T inspect --db $D sale && $T check --db $D", &run);
    assert_int_equal(run.exit_code, 0);
    assert_non_null(strstr(
        run.output, "  clustered by place (p_land: one value leaves 25.0% of the tiles), pieces (3 bits)\n"));
    assert_non_null(strstr(run.output, "no fault"));
    run_shell("$T inspect --db $D sale.place", &run);
    assert_null(strstr(run.output, "clustered"));
    run_shell("$T inspect --db $D place --format json", &run);
    assert_null(strstr(run.output, "clustering"));
}

/* Appended segments have cells of their own, and a tile at their borders has two; compacted, the table is as one load. */
static void compaction_gives_the_tiles_of_one_load(void **state)
{
    (void)state;
    load_ends("--force place=place.csv sale=halfaa --cluster-by place,pieces:3", 0, "");
    load_ends("--append sale=halfab", 0, "");
    inspected(0.26, 0.45);
    run_shell("$T compact --db $D", &run);
    assert_int_equal(run.exit_code, 0);
    inspected(0.25, 0.25);
    answer_is("select p_land, sum(pieces), count(*) from sale join place on place = p group by p_land order "
              "by p_land",
              "p_land,sum(pieces),count(*)\nland 0,15368,5120\nland 1,15361,5120\nland 2,15356,5120\nland "
              "3,15355,5120\n");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(wrong_options_are_refused, begin, teardown),
        cmocka_unit_test_setup_teardown(inspect_says_what_a_condition_leaves, begin, teardown),
        cmocka_unit_test_setup_teardown(compaction_gives_the_tiles_of_one_load, begin, teardown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
