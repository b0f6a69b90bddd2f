/*
 * test_hand_kernel.c: kernels that are written by hand over stars of random rows: any order of the rows, keys that are NULL,
 * dimensions in which few of the queries' constants are found, negative numbers. They answer as the kernels that are made
 * from the plans, from all tiles and from those that statistics leave; and a kernel that does something else than its
 * statement says is refused with a sentence. On the device that TESSERA_TEST_DEVICE names.
 */
#define _GNU_SOURCE
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>

#include "loader/table/table_loader.h"
#include "ssb/benchmark/answer.h"
#include "ssb/queries/queries.h"
#include "tests/fuzz/fuzz_random.h"
#include "tests/support/gpu/need_nvrtc.h"
#include "tests/support/gpu/query_compile.h"
#include "tests/support/sql/sql_answer.h"

#include <stdio.h>
#include <stdlib.h>

#define STARS 12

static const char script[] =
    "CREATE TABLE date (d_datekey INT PRIMARY KEY, d_year INT NOT NULL, d_yearmonthnum INT NOT NULL,\n"
    "  d_yearmonth TEXT NOT NULL, d_weeknuminyear INT NOT NULL);\n"
    "CREATE TABLE customer (c_custkey INT PRIMARY KEY, c_city TEXT NOT NULL, c_nation TEXT NOT NULL,\n"
    "  c_region TEXT NOT NULL);\n"
    "CREATE TABLE supplier (s_suppkey INT PRIMARY KEY, s_city TEXT NOT NULL, s_nation TEXT NOT NULL,\n"
    "  s_region TEXT NOT NULL);\n"
    "CREATE TABLE part (p_partkey INT PRIMARY KEY, p_mfgr TEXT NOT NULL, p_category TEXT NOT NULL,\n"
    "  p_brand1 TEXT NOT NULL);\n"
    "CREATE TABLE lineorder (lo_orderdate INT REFERENCES date, lo_custkey INT REFERENCES customer,\n"
    "  lo_partkey INT REFERENCES part, lo_suppkey INT REFERENCES supplier, lo_quantity INT NOT NULL,\n"
    "  lo_discount INT NOT NULL, lo_extendedprice INT NOT NULL, lo_revenue INT NOT NULL,\n"
    "  lo_supplycost INT NOT NULL);\n";

static const char *const tables[] = {"date", "customer", "supplier", "part", "lineorder"};

struct star {
    uint32_t days, customers, suppliers, parts, rows;
    bool sorted, nulls;
};

static void write_place(FILE *out, uint32_t key)
{
    static const char *const regions[] = {"AMERICA", "ASIA", "EUROPE"};
    static const char *const nations[] = {"UNITED STATES", "PERU", "UNITED KINGDOM"};
    static const char *const cities[] = {"UNITED KI1", "UNITED KI5", "UNITED ST0", "PERU     3"};
    fprintf(out, "%u,%s,%s,%s\n", key, cities[below(4)], nations[below(3)], regions[below(3)]);
}

static void write_part(FILE *out, uint32_t key)
{
    const uint32_t category = 1 + below(4), maker = 1 + below(2);
    fprintf(out, "%u,MFGR#%u,MFGR#%u%u,MFGR#%u%u%u\n", key, maker, maker, category, maker, category,
            20 + below(20));
}

static void write_day(FILE *out, uint32_t day)
{
    static const char *const months[] = {"Jan", "Dec"};
    const uint32_t year = 1992 + day / 30, december = day % 30 > 14;
    fprintf(out, "%u,%u,%u,%s%u,%u\n", day, year, year * 100 + (december ? 12 : 1), months[december], year,
            1 + day % 30 / 4);
}

static void write_key(FILE *out, const struct star *star, uint32_t key, uint32_t count)
{
    if (star->nulls && chance(5))
        fputc(',', out);
    else
        fprintf(out, "%u,", key < count ? key : below(count));
}

static void write_order(FILE *out, const struct star *star, uint32_t row)
{
    const uint32_t day =
        star->sorted ? (uint32_t)((uint64_t)row * star->days / star->rows) : below(star->days);
    write_key(out, star, day, star->days);
    write_key(out, star, UINT32_MAX, star->customers);
    write_key(out, star, UINT32_MAX, star->parts);
    write_key(out, star, UINT32_MAX, star->suppliers);
    fprintf(out, "%u,%u,%d,%d,%d\n", 1 + below(50), below(11), (int)below(1000000) - 1000,
            (int)below(2000000) - 100000, (int)below(100000));
}

static void load_star(const char *path, const struct star *star)
{
    static char files[5][PATH_BYTES + 64];
    static const char *paths[5];
    const uint32_t rows[] = {star->days, star->customers, star->suppliers, star->parts, star->rows};
    struct load_input inputs[5];
    struct load_report report;
    struct schema_script schema;
    for (uint32_t t = 0; t < 5; t++) {
        snprintf(files[t], sizeof files[t], "%.*s/%s.csv", (int)(strlen(path) - 3), path, tables[t]);
        FILE *file = fopen(files[t], "wb");
        assert_non_null(file);
        for (uint32_t row = 0; row < rows[t]; row++)
            if (t == 4)
                write_order(file, star, row);
            else
                (t == 0 ? write_day : t == 3 ? write_part : write_place)(file, row);
        fclose(file);
        paths[t] = files[t];
        inputs[t] = (struct load_input){.table = tables[t], .paths = &paths[t], .path_count = 1};
    }
    must(schema_script_parse("star.sql", script, strlen(script), &schema, error));
    const struct load_options options = {.directory = path, .inputs = inputs, .input_count = 5, .threads = 2};
    must(tables_load(&schema, &options, &report, NULL, error));
    schema_script_free(&schema);
}

/* Counts the tiles that were left out. */
static void check_query(struct engine *engine, struct database *database, const struct ssb_query *query,
                        const char *codec, uint64_t *skipped, uint32_t *by_hand)
{
    struct rowset rows[2];
    for (int made = 0; made < 2; made++) {
        struct sql_statement *statement;
        const struct plan *plan;
        size_t used;
        must(sql_prepare(engine, database, query->sql, strlen(query->sql), codec, &statement, &used, error));
        if (!made)
            sql_statement_set(statement, (struct sql_settings){.kernel = &query->kernel});
        must(sql_plan(statement, &plan, error));
        *by_hand += plan->kernel.kernel != NULL;
        *skipped += plan->scan.tiles - plan->scan.kept_tiles;
        must(sql_run(statement, &rows[made], NULL, error));
        sql_statement_free(statement);
    }
    must(answer_compare(query->name, "by hand", &rows[0], &rows[1], error));
    rowset_free(&rows[0]);
    rowset_free(&rows[1]);
}

static void random_stars_answer_alike(void **state)
{
    static const char *const codecs[] = {NULL, "plain", "gpu-star", "smallest", "rank-rle", "lane-for"};
    uint64_t skipped = 0;
    uint32_t by_hand = 0;
    (void)state;
    for (uint32_t s = 0; s < STARS; s++) {
        char path[PATH_BYTES];
        struct database *database;
        struct engine *engine;
        const struct star star = {.days = 1 + below(210),
                                  .customers = 1 + below(chance(30) ? 5 : 3000),
                                  .suppliers = 1 + below(200),
                                  .parts = 1 + below(2000),
                                  .rows = 1 + below(chance(20) ? 50 : 20000),
                                  .sorted = chance(50),
                                  .nulls = chance(50)};
        directory_make(path);
        load_star(path, &star);
        must(database_open(path, &database, error));
        must(engine_open(&(struct engine_options){.device = test_device(), .threads = 2}, &engine, error));
        for (uint32_t q = 0; q < SSB_QUERIES; q++)
            check_query(engine, database, ssb_queries[q], codecs[below(6)], &skipped, &by_hand);
        engine_close(engine);
        database_close(database);
        directory_remove(path);
    }
    print_message("%u of %u queries by hand, %llu tiles skipped\n", by_hand, STARS * SSB_QUERIES,
                  (unsigned long long)skipped);
    assert_true(2 * by_hand > STARS * SSB_QUERIES &&
                skipped > 0); /* of the others a constant is not in the data */
}

/* ---- Kernels for a GPU ---- */

/* All rows of Q3.4 have the same year, which the plan knows; the hand-written kernel still looks it up. */
static void a_group_of_one_value_compiles(void **state)
{
    static const char *const codecs[] = {"gpu-rfor", "gpu-dfor", "lane-for"};
    char path[PATH_BYTES];
    struct database *database;
    const struct star star = {.days = 210, .customers = 3000, .suppliers = 200, .parts = 2000, .rows = 20000};
    (void)state;
    need_nvrtc();
    directory_make(path);
    load_star(path, &star);
    must(database_open(path, &database, error));
    for (size_t c = 0; c < sizeof codecs / sizeof *codecs; c++) {
        struct plan *plan;
        enum sql_explain explain;
        must(plan_statement(database, q34.sql, codecs[c], &plan, &explain, error));
        must(plan_use_kernel(plan, &q34.kernel, error));
        assert_non_null(plan->kernel.kernel);
        must(compile_plan(plan, false, compile_sm_90, q34.name, error));
        plan_free(plan);
    }
    database_close(database);
    directory_remove(path);
}

/* ---- Refusals ---- */

static struct database *refusing;

static void refuses(const struct ssb_query *query, const char *sql, const char *sentence)
{
    struct plan *plan;
    struct error why = {0};
    enum sql_explain explain;
    must(plan_statement(refusing, sql, NULL, &plan, &explain, error));
    if (plan_use_kernel(plan, &query->kernel, &why) != STATUS_BAD_INPUT || !strstr(why.text, query->name) ||
        !strstr(why.text, sentence))
        fail_msg("%s\nis not refused with \"%s\" but \"%s\"", sql, sentence, why.text);
    assert_null(plan->kernel.kernel);
    plan_free(plan);
}

#define Q11 \
    "from lineorder, date where lo_orderdate = d_datekey and d_year = 1993 and lo_discount between 1 and 3 "
#define Q21                                                                                               \
    "from lineorder, date, part, supplier where lo_orderdate = d_datekey and lo_partkey = p_partkey and " \
    "lo_suppkey = s_suppkey and p_category = 'MFGR#12' and s_region = 'AMERICA' "

static void another_statement_is_refused(void **state)
{
    char path[PATH_BYTES];
    const struct star star = {.days = 210, .customers = 300, .suppliers = 200, .parts = 2000, .rows = 3000};
    (void)state;
    directory_make(path);
    load_star(path, &star);
    must(database_open(path, &refusing, error));
    refuses(&q11, "select sum(lo_extendedprice * lo_discount) " Q11, "lo_quantity");
    refuses(&q11,
            "select sum(lo_extendedprice * lo_discount) " Q11 "and lo_quantity < 25 and lo_supplycost > 7",
            "leaves out 1 of the statement's 4 conditions");
    refuses(&q11, "select sum(lo_extendedprice + lo_discount) " Q11 "and lo_quantity < 25", "another value");
    refuses(&q11, "select sum(lo_extendedprice * lo_discount), count(*) " Q11 "and lo_quantity < 25",
            "one sum");
    refuses(&q11, "select max(lo_extendedprice * lo_discount) " Q11 "and lo_quantity < 25", "one sum");
    refuses(&q11, "select sum(lo_extendedprice * lo_discount * 4000000000) " Q11 "and lo_quantity < 25",
            "64 bits");
    refuses(
        &q11,
        "select sum(lo_extendedprice * lo_discount) from lineorder where lo_quantity < 25 and lo_discount "
        "between 1 and 3",
        "lo_orderdate");
    refuses(&q11,
            "select d_year, sum(lo_extendedprice * lo_discount) " Q11 "and lo_quantity < 25 group by d_year",
            "it groups by 0 columns, the statement by 1");
    refuses(&q11, "select lo_extendedprice * lo_discount " Q11 "and lo_quantity < 25", "dense slots");
    refuses(&q21, "select sum(lo_revenue), d_year, p_brand1 " Q21 "group by p_brand1, d_year", "group 1");
    refuses(&q21, "select sum(lo_revenue), d_year + 1, p_brand1 " Q21 "group by d_year + 1, p_brand1",
            "group 1");
    refuses(&q21, "select sum(lo_revenue), d_year, lo_discount " Q21 "group by d_year, lo_discount",
            "group 2");
    refuses(
        &q21,
        "select sum(lo_revenue), d_year, p_brand1 from lineorder, date, part where lo_orderdate = d_datekey "
        "and lo_partkey = p_partkey and p_category = 'MFGR#12' group by d_year, p_brand1",
        "lo_suppkey");
    refuses(&q21,
            "select sum(lo_revenue), d_year, p_brand1 from lineorder, date, part p, supplier where "
            "lo_orderdate = "
            "d_datekey and lo_partkey = p_partkey and lo_suppkey = s_suppkey and p_category = 'MFGR#12' and "
            "s_region = 'AMERICA' group by d_year, p_brand1",
            "joins part, which the statement does not");
    database_close(refusing);
    directory_remove(path);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(random_stars_answer_alike),
                                       cmocka_unit_test(a_group_of_one_value_compiles),
                                       cmocka_unit_test(another_statement_is_refused)};
    random_state = 20261121;
    print_message("seed %llu\n", (unsigned long long)random_state);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
