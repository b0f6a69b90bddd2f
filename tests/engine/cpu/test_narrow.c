/*
 * test_narrow.c: columns of 64 bits whose values all fit 32 are scanned as those of 32 bits (plan_column.narrow): answers are
 * as of a column that has the same values in 32 bits, for tables of odd sizes with NULLs, in each codec, decoded before the
 * scan or not, on one and two threads. One value that does not fit, or a GPU, and the column is scanned as it is.
 */
#define _GNU_SOURCE
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>

#include "engine/library/tessera.h"
#include "tests/support/sql/sql_answer.h"
#include "tests/support/sql/star_plan.h"

#include "engine/plan/plan.h"

#define ROWS_MAX 3000

static int64_t values[ROWS_MAX], narrow[ROWS_MAX], wide[ROWS_MAX];
static uint8_t nulls[ROWS_MAX];
static uint64_t seed = 20261128;

static uint32_t draw(uint32_t below)
{
    seed = seed * 6364136223846793005u + 1442695040888963407u;
    return (uint32_t)(seed >> 33) % below;
}

/* i: 32 bits, b: the same in 64, w: the same but one value that is 2^32 greater. The ends of the type are among them. */
static struct database *make(const char *path, uint32_t rows, bool ends, bool any_null)
{
    struct tessera_error told;
    struct database *database;
    for (uint32_t row = 0; row < rows; row++) {
        nulls[row] = any_null && draw(6) == 0;
        values[row] = (int64_t)draw(100) - 30;
        if (ends && draw(40) == 0)
            values[row] = draw(2) ? INT32_MIN : INT32_MAX;
        narrow[row] = wide[row] = values[row];
    }
    if (rows) {
        nulls[rows / 2] = 0;
        wide[rows / 2] += INT64_C(1) << 32;
    }
    const struct tessera_values columns[] = {{.name = "i", .numbers = values, .nulls = nulls},
                                             {.name = "b", .numbers = narrow, .nulls = nulls},
                                             {.name = "w", .numbers = wide, .nulls = nulls}};
    if (tessera_load_rows(path, "CREATE TABLE f (i INTEGER, b BIGINT, w BIGINT)", "f", columns, 3, rows,
                          TESSERA_LOAD_NEW, &told) != TESSERA_OK)
        fail_msg("%s", told.text);
    must(database_open(path, &database, error));
    return database;
}

static char *answer(struct engine *engine, struct database *database, const char *codec, bool staged,
                    const char *sql)
{
    struct sql_statement *statement;
    struct rowset rows;
    size_t used;
    must(sql_prepare(engine, database, sql, strlen(sql), codec, &statement, &used, error));
    sql_statement_set(statement, (struct sql_settings){.staged = staged});
    must(sql_run(statement, &rows, NULL, error));
    char *const text = rowset_csv(&rows);
    rowset_free(&rows);
    sql_statement_free(statement);
    return text;
}

/* The statement with i in place of each ?, and then with b: both answers are the same. */
static void compare(struct engine *engine, struct database *database, const char *codec, bool staged,
                    const char *statement)
{
    char *answers[2];
    char sql[512];
    for (int wide_one = 0; wide_one < 2; wide_one++) {
        size_t length = 0;
        for (const char *at = statement; *at; at++)
            sql[length++] = *at != '?' ? *at : wide_one ? 'b' : 'i';
        sql[length] = 0;
        answers[wide_one] = answer(engine, database, codec, staged, sql);
    }
    if (strcmp(answers[0], answers[1]) != 0)
        fail_msg("%s: %s instead of %s", sql, answers[1], answers[0]);
    free(answers[0]);
    free(answers[1]);
}

static const char *const statements[] = {
    "select count(*) as n, sum(?) as s, min(?) as l, max(?) as g, count(?) as c, avg(?) as a from f",
    "select count(*) as n, sum(?) as s from f where ? between 3 and 17",
    "select count(*) as n, sum(? * 3 - 1) as s from f where ? >= 60 or ? < -20",
    "select count(*) as n, sum(w) as s from f where ? = 2147483647",
    "select count(*) as n, sum(w) as s from f where ? > -2147483648 and ? <= 0",
    "select count(*) as n, sum(w) as s from f where ? in (-29, 3, 5, 8, 41, 2147483647)",
    "select count(*) as n, sum(w) as s from f where ? not in (-29, 3, 5, 8, 41)",
    "select count(*) as n from f where ? > 3000000000",
    "select count(*) as n from f where ? < 3000000000",
    "select count(*) as n from f where ? is null",
    "select ? as g, count(*) as n, sum(w) as s from f group by ? order by 1 nulls first",
    "select ? as g, count(*) as n from f where ? between 0 and 9 group by ? order by 2 desc, 1 nulls last "
    "limit 4",
    "select count(distinct ?) as n from f where ? <> 4",
    "select ? as v from f where ? < 0 order by ? desc, w limit 20",
    "select x.? as v, count(*) as n from f x join (select ? from f where ? > 65 group by ?) y on x.? = y.? "
    "group by x.? order by 1",
};

static void answers_are_those_of_32_bits(void **state)
{
    static const uint32_t sizes[] = {0, 1, 31, 1023, 1025, ROWS_MAX};
    static const char *const codecs[] = {NULL,        "plain", "lane-for", "lane-slice",
                                         "lane-pfor", "nsf",   "deflate"};
    (void)state;
    for (size_t s = 0; s < sizeof sizes / sizeof *sizes; s++)
        for (int kind = 0; kind < 4; kind++) {
            char path[PATH_BYTES];
            directory_make(path);
            struct database *const database = make(path, sizes[s], kind & 1, kind & 2);
            const size_t asked = sizes[s] >= 1025 && kind == 3 ? sizeof codecs / sizeof *codecs : 1;
            for (size_t c = 0; c < asked; c++)
                for (unsigned threads = 1; threads <= 2; threads++) {
                    const struct engine_options options = {.device = "cpu", .threads = threads};
                    struct engine *engine;
                    must(engine_open(&options, &engine, error));
                    for (size_t i = 0; i < sizeof statements / sizeof *statements; i++)
                        compare(engine, database, codecs[c], threads == 2 && c % 2, statements[i]);
                    engine_close(engine);
                }
            database_close(database);
            directory_remove(path);
        }
}

static void one_value_that_does_not_fit_keeps_64_bits(void **state)
{
    static const struct {
        const char *where;
        bool on_gpu;
        enum plan_step_kind kind;
    } cases[] = {
        {"i between 3 and 17", false, STEP_RANGE},
        {"b between 3 and 17", false, STEP_RANGE},
        {"w < 17", false, STEP_CONDITION},
        {"b < 17", true, STEP_CONDITION},
        {"i < 17", true, STEP_RANGE},
        {"b in (1, 3, 5)", false, STEP_PROBE},
        {"w in (1, 3, 5)", false, STEP_CONDITION},
        {"b in (1, 3, 5)", true, STEP_CONDITION},
    };
    char path[PATH_BYTES];
    (void)state;
    directory_make(path);
    struct database *const database = make(path, 1025, true, true);
    for (size_t c = 0; c < sizeof cases / sizeof *cases; c++) {
        char sql[128];
        struct plan *plan;
        snprintf(sql, sizeof sql, "select count(*) from f where %s", cases[c].where);
        must(star_plan(database, sql, &(struct sql_options){.threads = 1, .on_gpu = cases[c].on_gpu}, &plan,
                       error));
        if (plan->step_count != 1 || plan->steps[0].kind != cases[c].kind)
            fail_msg("%s: %u steps, of kind %d", sql, plan->step_count, (int)plan->steps[0].kind);
        plan_free(plan);
    }
    database_close(database);
    directory_remove(path);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(answers_are_those_of_32_bits),
        cmocka_unit_test(one_value_that_does_not_fit_keeps_64_bits),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
