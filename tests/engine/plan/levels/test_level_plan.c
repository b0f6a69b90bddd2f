/* test_level_plan.c: what plans make of the SSB's dimensions with levels: tests of keys, groups that are bits of keys, the bits
 * that survivors need, and what EXPLAIN says; and statements answer as with keys that do not keep bits apart. */
#define _GNU_SOURCE
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "tests/support/sql/star_plan.h"
#include "tests/support/run_program.h"
#include "tests/support/sql/sql_answer.h"

#include "engine/plan/levels/level_plan.h"
#include "engine/sql/sql.h"

#define KEYS                                                                                         \
    "lo_custkey=lane-levels,lo_suppkey=lane-levels,lo_partkey=lane-levels,lo_orderdate=lane-levels," \
    "lo_commitdate=lane-levels"
#define STAR                                                                                         \
    " from lineorder, customer, supplier, part, date where lo_custkey = c_custkey and lo_suppkey = " \
    "s_suppkey "                                                                                     \
    "and lo_partkey = p_partkey and lo_orderdate = d_datekey "

static char folder[PATH_BYTES];
static struct database *database;
static struct engine *engine;
static struct program_run program;

static int star_load(void **state)
{
    char command[2 * PATH_BYTES];
    (void)state;
    directory_make(folder);
    snprintf(command, sizeof command, "$T ssb load --sf 0.2 --dimension-order levels --force --db %s",
             folder);
    run_shell(command, &program);
    assert_string_equal(program.exit_code ? program.errors : "", "");
    must(database_open(folder, &database, error));
    must(engine_open(&(struct engine_options){.device = test_device(), .threads = 2}, &engine, error));
    return 0;
}

static int star_remove(void **state)
{
    (void)state;
    engine_close(engine);
    database_close(database);
    directory_remove(folder);
    return 0;
}

static struct plan *plan_of(const char *sql, const char *codec)
{
    struct plan *plan;
    must(star_plan(database, sql, &(struct sql_options){.codec = codec, .threads = 2}, &plan, error));
    return plan;
}

static const struct plan_join *join_of(const struct plan *plan, const char *name)
{
    uint32_t j = 0;
    while (j < plan->join_count && strcmp(plan->joins[j].name, name) != 0)
        j++;
    assert_in_range(j, 0, plan->join_count - 1);
    return &plan->joins[j];
}

/* ---- Tests of keys ---- */

static void a_level_is_tested_by_its_bits(void **state)
{
    (void)state;
    struct plan *plan =
        plan_of("select sum(lo_revenue) " STAR "and c_region = 'ASIA' and s_nation = 'CHINA' and "
                "p_brand1 between 'MFGR#2221' and 'MFGR#2228' and d_year between 1992 and 1997",
                KEYS);
    const struct position_test *region = &join_of(plan, "customer")->test,
                               *years = &join_of(plan, "date")->test;
    assert_true(region->used && region->exact && region->cube_count == 1);
    assert_int_equal(__builtin_popcount(region->care), 2); /* ASIA is 010 of 000 .. 100 */
    assert_true(years->used && years->exact);
    assert_int_equal(__builtin_popcount(years->care), 2); /* 000 .. 101 of 000 .. 110 */
    assert_true(join_of(plan, "supplier")->test.exact && join_of(plan, "part")->test.exact);
    plan_free(plan);
}

static void other_codecs_have_the_test_but_no_planes(void **state)
{
    (void)state;
    struct plan *plan = plan_of("select sum(lo_revenue) " STAR "and c_region = 'ASIA'", "plain");
    assert_true(join_of(plan, "customer")->test.exact);
    assert_false(join_of(plan, "customer")->test.used);
    plan_free(plan);
}

static void a_predicate_with_other_columns_is_tested_in_part(void **state)
{
    (void)state;
    struct plan *plan =
        plan_of("select sum(lo_revenue) " STAR "and c_region = 'ASIA' and c_mktsegment = 'BUILDING'", KEYS);
    const struct plan_join *customer = join_of(plan, "customer");
    assert_true(customer->test.used);
    assert_false(customer->test.exact);
    assert_true(customer->test.share < 0.4 &&
                customer->test.share >= (double)customer->passing / customer->table->rows);
    plan_free(plan);
}

/* ---- Groups ---- */

static void a_group_of_a_level_is_bits_of_the_key(void **state)
{
    (void)state;
    struct plan *plan =
        plan_of("select sum(lo_revenue), d_year, p_brand1 " STAR
                "and p_category = 'MFGR#12' and s_region = 'AMERICA' group by d_year, p_brand1",
                KEYS);
    assert_int_equal(plan->shape, PLAN_DENSE);
    const struct table_levels *levels = join_of(plan, "part")->table->levels;
    for (uint32_t g = 0; g < 2; g++) {
        const struct plan_group *group = &plan->groups[g];
        const struct expression *leaf = &plan->expressions.nodes[group->expression];
        const struct plan_source *source = &plan->sources[leaf->index];
        assert_non_null(group->values);
        assert_int_equal(leaf->operation, EXPRESSION_COLUMN);
        assert_int_equal(group->domain, 1u << source->bits);
        assert_int_equal(group->low, 0);
    }
    assert_int_equal(plan->groups[0].values[3], 1995);
    assert_int_equal(plan->groups[1].domain, 64); /* 40 brands of the category */
    assert_int_equal(plan->columns[join_of(plan, "part")->column].needed, 63u << levels->rest_bits);
    assert_int_equal(plan->columns[join_of(plan, "supplier")->column].needed, 0);
    plan_free(plan);
}

static void a_group_of_one_value_needs_no_bits(void **state)
{
    (void)state;
    struct plan *plan =
        plan_of("select sum(lo_revenue), d_year " STAR "and d_yearmonth = 'Dec1997' group by d_year", KEYS);
    assert_int_equal(plan->slots, 1);
    assert_int_equal(plan->columns[join_of(plan, "date")->column].needed, 0);
    plan_free(plan);
}

static void other_groups_are_looked_up(void **state)
{
    static const char *const groups[] = {"d_month", "c_mktsegment", "d_weeknuminyear", "c_name"};
    char sql[1000];
    (void)state;
    for (size_t i = 0; i < sizeof groups / sizeof *groups; i++) {
        snprintf(sql, sizeof sql, "select count(*), %s " STAR "group by %s", groups[i], groups[i]);
        struct plan *plan = plan_of(sql, KEYS);
        assert_null(plan->groups[0].values);
        plan_free(plan);
    }
    struct plan *plan = plan_of("select count(*), c_region from lineorder left join customer on lo_custkey = "
                                "c_custkey group by c_region",
                                KEYS);
    assert_null(plan->groups[0].values);
    plan_free(plan);
}

/* ---- Answers ---- */

static void answers_do_not_depend_on_the_codec_of_keys(void **state)
{
    static const char *const statements[] = {
        "select c_nation, d_year, count(*), sum(lo_revenue) " STAR
        "and c_region in ('ASIA', 'EUROPE') and d_month = 'Mar1994' group by c_nation, d_year order by 1, 2",
        "select c_city, s_city, count(*) " STAR
        "and c_nation = 'CHINA' and s_region <> 'ASIA' group by c_city, "
        "s_city order by 1, 2",
        "select p_brand1, min(c_region), count(distinct s_nation) " STAR
        "and p_mfgr = 'MFGR#3' and c_mktsegment = 'BUILDING' group by p_brand1 order by 1",
        "select d_yearmonth, d_year, max(c_city) " STAR
        "and d_weeknuminyear in (3, 7, 9) and s_city like 'UNITED "
        "KI%' group by d_yearmonth, d_year order by 1",
        "select c_city, s_city, p_brand1, d_year, sum(lo_revenue) " STAR
        "and lo_discount = 3 group by c_city, s_city, p_brand1, d_year order by 1, 2, 3, 4",
        "select c_region, count(*) from lineorder left join customer on lo_custkey = c_custkey and c_nation "
        "= "
        "'CHINA' group by c_region order by 1",
        "select lo_orderkey, c_city, d_date " STAR
        "and c_city = 'CHINA    3' and d_year = 1994 order by 1, 2, 3",
        "select count(*) " STAR "and (c_region = 'ASIA' or p_size = 3)",
        "select d_year, count(*) " STAR
        "and c_nation > s_nation and c_region = 'ASIA' group by d_year order by 1",
        "select count(*) " STAR "and c_region = 'ASIA' and c_region = 'EUROPE'",
        "select c_region, c_nation, c_region, count(*) " STAR "group by c_region, c_nation order by 1, 2"};
    (void)state;
    for (size_t s = 0; s < sizeof statements / sizeof *statements; s++) {
        char *expected = NULL;
        for (uint32_t c = 0; c < 3; c++) {
            const char *const codecs[] = {"plain", KEYS, NULL};
            struct sql_statement *statement;
            struct rowset rows;
            size_t used;
            must(sql_prepare(engine, database, statements[s], strlen(statements[s]), codecs[c], &statement,
                             &used, error));
            must(sql_run(statement, &rows, NULL, error));
            char *const text = rowset_csv(&rows);
            rowset_free(&rows);
            sql_statement_free(statement);
            if (expected)
                assert_string_equal(text, expected);
            else
                expected = strdup(text);
            free(text);
        }
        free(expected);
    }
}

static void explain_names_levels_and_bits(void **state)
{
    char command[3 * PATH_BYTES];
    (void)state;
    snprintf(command, sizeof command,
             "$T sql --db %s --device cpu --codec '" KEYS "' \"explain select c_nation, sum(lo_revenue) " STAR
             "and c_region = 'ASIA' and s_nation = 'CHINA' and c_mktsegment = 'BUILDING' group by c_nation\"",
             folder);
    run_shell(command, &program);
    assert_int_equal(program.exit_code, 0);
    assert_non_null(strstr(program.output, "levels s_region, s_nation: "));
    assert_non_null(strstr(program.output, "levels c_region: 2 of "));
    assert_non_null(strstr(program.output, " bits, then the bitmap"));
    assert_non_null(strstr(program.output, "by customer.c_nation (8, bits of the key)"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_level_is_tested_by_its_bits),
        cmocka_unit_test(other_codecs_have_the_test_but_no_planes),
        cmocka_unit_test(a_predicate_with_other_columns_is_tested_in_part),
        cmocka_unit_test(a_group_of_a_level_is_bits_of_the_key),
        cmocka_unit_test(a_group_of_one_value_needs_no_bits),
        cmocka_unit_test(other_groups_are_looked_up),
        cmocka_unit_test(answers_do_not_depend_on_the_codec_of_keys),
        cmocka_unit_test(explain_names_levels_and_bits),
    };
    return cmocka_run_group_tests(tests, star_load, star_remove);
}
