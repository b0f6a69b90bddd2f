/*
 * test_load_tpch.c: TPC-H as its own scripts declare it (dss.ddl and dss.ri), loaded, loaded again with --force and added to;
 * and keys of several columns, a part of which is a reference to a table whose rows move.
 */
#define _GNU_SOURCE
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>

#include "tests/support/load_program.h"

#define DATA      TESSERA_SOURCE "/tests/data/"
#define TABLE(of) #of "=" #of ".tbl "

static const char tables[] = TABLE(region) TABLE(nation) TABLE(part) TABLE(supplier) TABLE(partsupp)
    TABLE(customer) TABLE(orders) TABLE(lineitem) "--levels part=p_mfgr,p_brand";

static void shell(const char *command)
{
    run_shell(command, &run);
    if (run.exit_code != 0)
        fail_msg("%s\n%s%s", command, run.output, run.errors);
}

static void load(const char *option, const char *inputs, int exit_code, const char *said)
{
    char all[PATH_BYTES];
    assert_true(snprintf(all, sizeof all, "%s %s", option, inputs) < (int)sizeof all);
    load_ends(all, exit_code, said);
}

/* Checked with DuckDB. */
static const char costs[] =
    "select p_brand, sum(ps_supplycost * l_quantity) as cost from lineitem, partsupp, part where l_partkey = "
    "ps_partkey and l_suppkey = ps_suppkey and p_partkey = l_partkey group by p_brand order by p_brand";
static const char costs_of_all[] =
    "p_brand,cost\nBrand#13,76181.5100\nBrand#34,4102.9200\nBrand#42,41441.4000\n";

static void tpch_loads_by_its_own_scripts(void **state)
{
    (void)state;
    shell("cd $D/.. && cat " DATA "schemas/tpch.ddl " DATA "schemas/tpch.ri >star.sql && cp " DATA
          "tpch/*.tbl .");
    load("", tables, 0, "30 rows");
    answer_is(costs, costs_of_all);
    load("--force", tables, 0, "30 rows"); /* partsupp's keys have parts of a table with levels */
    answer_is(costs, costs_of_all);
    load("--force", TABLE(lineitem), 0, "5 rows");
    answer_is(costs, costs_of_all);
    answer_is("select p_name from lineitem join part on l_partkey = p_partkey where l_quantity = 36",
              "p_name\ncornflower chocolate\n");
    load("--append", TABLE(lineitem), 2, "the key '(1, 1)' is that of row 1 of the table as it was already");
    shell("cd $D/.. && sed 's/^1|1|2|1/9|1|1|1/' lineitem.tbl | head -1 >wrong.tbl");
    load("--append", "lineitem=wrong.tbl", 2, "no row of table ORDERS has O_ORDERKEY '9'");
    shell("cd $D/.. && sed 's/^1|1|2|1/1|1|1|9/' lineitem.tbl | head -1 >wrong.tbl");
    load("--append", "lineitem=wrong.tbl", 2,
         "columns (L_PARTKEY, L_SUPPKEY): no row of table PARTSUPP has the key (1, 1)");
    answer_is(costs, costs_of_all);
}

/* A column that references one which references a third table references that table, if it cannot be NULL. */
static void references_are_followed(void **state)
{
    (void)state;
    shell(
        "cd $D/.. && printf 'CREATE TABLE a (k INT PRIMARY KEY, v INT); CREATE TABLE b (k INT REFERENCES a, "
        "l INT, "
        "PRIMARY KEY (k, l)); CREATE TABLE c (k INT NOT NULL, l INT NOT NULL, n INT NOT NULL, FOREIGN KEY "
        "(k, l) "
        "REFERENCES b, PRIMARY KEY (k, l, n)); CREATE TABLE d (n BIGINT NOT NULL, l INT NOT NULL, k INT NOT "
        "NULL, FOREIGN KEY (k, l, n) REFERENCES c);' >star.sql && printf '7,70\\n8,80\\n' >a.csv && printf "
        "'8,1\\n7,1\\n' >b.csv && printf '7,1,5\\n8,1,5\\n' >c.csv && printf '5,1,8\\n5,1,7\\n5,1,8\\n' "
        ">d.csv");
    load("", "a=a.csv b=b.csv c=c.csv d=d.csv", 0, "9 rows");
    answer_is("select v, count(*) as n from d join a on a.k = d.k group by v order by v",
              "v,n\n70,1\n80,2\n");
    answer_is("select d.k, c.n from d join c on c.k = d.k and c.l = d.l and c.n = d.n order by d.k",
              "k,n\n7,5\n8,5\n8,5\n");
    shell("cd $D/.. && sed -i 's/CREATE TABLE d (n BIGINT NOT NULL/CREATE TABLE d (n BIGINT/' star.sql");
    load("--force", "d=d.csv", 2, "one of them references another table; let both reference it, or none");
    shell("cd $D/.. && sed -i 's/k INT NOT NULL, FOREIGN KEY (k, l, n)/k INT NOT NULL REFERENCES a, FOREIGN "
          "KEY "
          "(k, l, n)/' star.sql");
    load("--force", "d=d.csv", 0, "3 rows");
}

/* Rows are added to a table with levels, whose rows move; others have keys of several columns with their positions. */
static void parts_of_keys_move(void **state)
{
    static const char question[] =
        "select count(*) as n, sum(q) as q from li join ps on li.p = ps.p and li.s = ps.s";
    (void)state;
    shell(
        "cd $D/.. && printf 'CREATE TABLE part (id INT PRIMARY KEY, mfgr TEXT, brand TEXT); CREATE TABLE ps "
        "(p INT "
        "REFERENCES part, s INT, q INT, PRIMARY KEY (p, s)); CREATE TABLE li (p INT REFERENCES part, s INT, "
        "n INT, "
        "FOREIGN KEY (p, s) REFERENCES ps);' >star.sql && for i in $(seq 0 59); do echo \"$i,m$((i % 3 + "
        "5)),b$((i % 3 + 5))$((i % 7))\" >>part.csv; echo \"$i,0,$i\" >>ps.csv; echo \"$i,1,$((i + 1))\" "
        ">>ps.csv; "
        "done; for i in $(seq 0 199); do echo \"$((i % 60)),$((i % 2)),$i\" >>li.csv; done; for i in $(seq 0 "
        "49); "
        "do echo \"$((i + 100)),m$((i % 5)),b$((i % 5))$((i % 7))\" >>part2.csv; echo \"$((i + 100)),1,$i\" "
        ">>ps2.csv; done; echo 0,0,9 >twice.csv; printf '0,0,1\\n10,1,1\\n59,1,1\\n' >li2.csv; printf "
        "'120,1,1\\n' >li3.csv");
    load("", "part=part.csv ps=ps.csv li=li.csv", 0, "380 rows");
    load("--force", "part=part.csv ps=ps.csv li=li.csv", 0, "380 rows");
    answer_is(question, "n,q\n200,5600\n");
    load("--append", "part=part2.csv ps=twice.csv", 2, "the key '(0, 0)' is that of row 1 of the table");
    shell("cp -r $D $D.kept");
    load("--append", "part=part2.csv li=li2.csv", 0, "53 rows");
    answer_is(question, "n,q\n203,5671\n");
    load("--append", "ps=ps2.csv li=li3.csv", 0, "51 rows");
    answer_is(question, "n,q\n204,5691\n");
    shell("$T check --db $D && rm -rf $D && mv $D.kept $D");
    load("--append", "part=part2.csv ps=ps2.csv li=li3.csv", 0, "101 rows");
    answer_is(question, "n,q\n201,5620\n");
    load("--force", "part=part.csv li=li.csv", 2, "load ps together with it");
    shell("$T check --db $D");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(tpch_loads_by_its_own_scripts, setup, teardown),
        cmocka_unit_test_setup_teardown(references_are_followed, setup, teardown),
        cmocka_unit_test_setup_teardown(parts_of_keys_move, setup, teardown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
