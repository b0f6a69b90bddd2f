/*
 * test_cuda_crowded.c: statements that read more columns in codecs without random access than a GPU's blocks have shared
 * memory for. Some columns are decoded before the scan, EXPLAIN says which, and the answers are those of plain columns:
 * groups, the first rows of an order, and runs whose columns the GPU does not keep. Which columns, and for any GPU, is for
 * test_kernel.c. Skipped without a GPU, unless TESSERA_REQUIRE_GPU is set.
 */
#define _GNU_SOURCE
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>

#include "ssb/data/load.h"
#include "tests/support/gpu/on_a_gpu.h"
#include "tests/support/sql/sql_answer.h"

#define COLUMNS                                                                                          \
    "sum(lo_quantity), sum(lo_extendedprice), max(lo_ordtotalprice), min(lo_discount), sum(lo_revenue)," \
    " sum(lo_supplycost), max(lo_tax), max(lo_commitdate), min(lo_linenumber)"

/* `crowded`: on a GPU with up to 227 KiB of shared memory a block, some columns have no room. The kernel that looks for the first rows of an
 * order reads fewer columns at once. */
static const struct {
    const char *sql;
    bool crowded;
} statements[] = {{"select " COLUMNS " from lineorder where lo_quantity > 2", true},
                  {"select lo_shipmode, " COLUMNS
                   " from lineorder where lo_quantity > 2 group by lo_shipmode order by 1",
                   true},
                  {"select d_year, " COLUMNS
                   " from lineorder join date on lo_orderdate = d_datekey group by d_year order by 1",
                   true},
                  {"select lo_orderkey, lo_linenumber from lineorder order by lo_quantity, lo_extendedprice, "
                   "lo_ordtotalprice,"
                   " lo_discount, lo_revenue, lo_supplycost, lo_tax, lo_commitdate, lo_linenumber limit 20",
                   false}};
static const char *const codecs[] = {"pfor-diff", "gpu-dfor", "lane-delta"};

static char *answer_in(struct engine *engine, struct database *database, const char *explain, const char *sql,
                       const char *codec)
{
    struct sql_statement *statement;
    struct rowset rows;
    char whole[2048];
    size_t used;
    snprintf(whole, sizeof whole, "%s%s", explain, sql);
    must(sql_prepare(engine, database, whole, strlen(whole), codec, &statement, &used, error));
    must(sql_run(statement, &rows, NULL, error));
    char *const text = rowset_csv(&rows);
    rowset_free(&rows);
    sql_statement_free(statement);
    return text;
}

static void check(struct engine *engine, struct database *database, const char *sql, bool crowded,
                  const char *codec)
{
    static const char *const explains[] = {"explain ", "explain analyze "};
    char *const right = answer_in(engine, database, "", sql, "plain"), *const text = answer_in(
                                                                           engine, database, "", sql, codec);
    assert_string_equal(text, right);
    for (size_t e = 0; e < 2; e++) {
        char *const plan = answer_in(engine, database, explains[e], sql, codec);
        if (crowded && !strstr(plan, "decoded first for want of shared memory"))
            fail_msg("%s, %s: %s", codec, sql, plan);
        free(plan);
    }
    free(text);
    free(right);
}

static void check_all(const char *device)
{
    static const char *const memories[] = {NULL, "0"};
    struct database *database;
    char path[PATH_BYTES];
    directory_make(path);
    must(
        ssb_load(&(struct ssb_load_options){.data = {.scale_factor = 0.01}, .directory = path}, NULL, error));
    must(database_open(path, &database, error));
    for (size_t m = 0; m < 2; m++) {
        struct engine *engine;
        must(engine_open(&(struct engine_options){.device = device, .gpu_memory = memories[m]}, &engine,
                         error));
        for (size_t s = 0; s < sizeof statements / sizeof *statements; s++)
            for (size_t c = 0; c < sizeof codecs / sizeof *codecs; c++)
                check(engine, database, statements[s].sql, statements[s].crowded, codecs[c]);
        engine_close(engine);
    }
    database_close(database);
    directory_remove(path);
}

static void columns_without_room_are_decoded_first_and_answers_stay(void **state)
{
    (void)state;
    check_on_a_gpu(check_all);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(columns_without_room_are_decoded_first_and_answers_stay)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
