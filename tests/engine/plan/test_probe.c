/*
 * test_probe.c: sets of keys that a scan probes (STEP_PROBE): rows of tables of odd sizes, whose keys are negative, NULL,
 * several times there and outside the set, pass as a loop over them says; for written lists and for those of subqueries,
 * before and after other steps. Tiles without a key of the set are not read.
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
#define KEYS     100 /* of f: -KEYS .. KEYS - 1 */
#define ABSENT   INT64_MIN

static struct engine *engine;
static uint64_t seed = 20261123;

/* f: a fact table; s: its column k is a key set. ABSENT: NULL. */
static struct rows {
    uint64_t count, listed;
    int64_t k[ROWS_MAX], v[ROWS_MAX], s[ROWS_MAX];
} rows;

static uint32_t draw(uint32_t below)
{
    seed = seed * 6364136223846793005u + 1442695040888963407u;
    return (uint32_t)(seed >> 33) % below;
}

static void fill(uint64_t count, uint64_t listed, uint32_t step)
{
    rows.count = count;
    rows.listed = listed;
    for (uint64_t row = 0; row < count; row++) {
        rows.k[row] = draw(7) == 0 ? ABSENT : (int64_t)draw(2 * KEYS) - KEYS;
        rows.v[row] = (int64_t)draw(1000);
    }
    for (uint64_t row = 0; row < listed; row++) /* beyond the keys of f, at both ends */
        rows.s[row] = (int64_t)draw(3 * KEYS / step) * step - KEYS - KEYS / 2;
}

static void load(const char *path, const char *table, const char *const *names, int64_t *const *columns,
                 uint32_t count, uint64_t row_count)
{
    struct tessera_values values[2];
    static uint8_t nulls[2][ROWS_MAX];
    struct tessera_error told;
    for (uint32_t c = 0; c < count; c++) {
        for (uint64_t row = 0; row < row_count; row++)
            nulls[c][row] = columns[c][row] == ABSENT;
        values[c] = (struct tessera_values){.name = names[c], .numbers = columns[c], .nulls = nulls[c]};
    }
    if (tessera_load_rows(path, "CREATE TABLE f (k INTEGER, v INTEGER); CREATE TABLE s (k BIGINT)", table,
                          values, count, row_count, TESSERA_LOAD_NEW, &told) != TESSERA_OK)
        fail_msg("%s", told.text);
}

static struct database *open_rows(const char *path)
{
    static const char *const names[] = {"k", "v"};
    struct database *database;
    load(path, "f", names, (int64_t *[]){rows.k, rows.v}, 2, rows.count);
    load(path, "s", names, (int64_t *[]){rows.s}, 1, rows.listed);
    must(database_open(path, &database, error));
    return database;
}

static bool is_listed(int64_t key)
{
    bool found = false;
    for (uint64_t row = 0; row < rows.listed; row++)
        found |= rows.s[row] == key;
    return found;
}

/* count(*) and sum(v) of the rows with v < `below` whose key is in the set, or is not; of NOT EXISTS also without a key. */
static void expect(char *text, bool negated, bool absent, int64_t below)
{
    uint64_t count = 0;
    int64_t sum = 0;
    for (uint64_t row = 0; row < rows.count; row++) {
        const bool null = rows.k[row] == ABSENT;
        if (rows.v[row] < below &&
            (null ? absent || (negated && rows.listed == 0) : is_listed(rows.k[row]) != negated)) {
            count++;
            sum += rows.v[row];
        }
    }
    if (count)
        sprintf(text, "%llu,%lld\n", (unsigned long long)count, (long long)sum);
    else
        strcpy(text, "0,\n");
}

static void check(struct database *database, const char *condition, bool negated, bool absent)
{
    static const int64_t limits[] = {1000, 500, 20, 1}; /* all rows of a tile, half, few and hardly any */
    for (size_t l = 0; l < sizeof limits / sizeof *limits; l++) {
        static char sql[80000], expected[80];
        snprintf(sql, sizeof sql, "select count(*), sum(v) from f where v < %lld and %s",
                 (long long)limits[l], condition);
        expect(expected, negated, absent, limits[l]);
        char *const answer = sql_answer(engine, database, sql);
        if (strcmp(strchr(answer, '\n') + 1, expected) != 0)
            fail_msg("%llu rows, %llu keys: %.200s\nanswers %sand not %s", (unsigned long long)rows.count,
                     (unsigned long long)rows.listed, sql, strchr(answer, '\n') + 1, expected);
        free(answer);
    }
}

static void write_list(char *text)
{
    text += sprintf(text, "k in (");
    for (uint64_t row = 0; row < rows.listed; row++)
        text += sprintf(text, "%s%lld", row ? "," : "", (long long)rows.s[row]);
    strcpy(text, ")");
}

/* One for each database: devices know columns by their addresses, and keep them until they are closed. */
static void open_engine(void)
{
    must(engine_open(&(struct engine_options){.device = test_device(), .threads = 2}, &engine, error));
}

static void rows_pass_as_a_loop_says(void **state)
{
    static const uint64_t sizes[] = {0, 1, 31, 1023, 1025, ROWS_MAX};
    static char list[60000];
    (void)state;
    for (size_t f = 0; f < sizeof sizes / sizeof *sizes; f++)
        for (size_t s = 0; s < sizeof sizes / sizeof *sizes; s++) {
            char path[PATH_BYTES];
            directory_make(path);
            fill(sizes[f], sizes[s], 1 + (uint32_t)s % 3 * 3);
            struct database *const database = open_rows(path);
            open_engine();
            check(database, "k in (select k from s)", false, false);
            check(database, "k not in (select k from s)", true, false);
            check(database, "exists (select * from s where s.k = f.k)", false, false);
            check(database, "not exists (select * from s where s.k = f.k)", true, true);
            if (rows.listed) {
                write_list(list);
                check(database, list, false, false);
                memmove(list + 6, list + 2, strlen(list) - 1);
                memcpy(list, "k not ", 6);
                check(database, list, true, false);
            }
            engine_close(engine);
            database_close(database);
            directory_remove(path);
        }
}

/* ---- The step ---- */

static struct plan *plan_of(struct database *database, const char *sql)
{
    struct plan *plan;
    must(star_plan(database, sql, &(struct sql_options){.threads = 1}, &plan, error));
    return plan;
}

static void lists_become_probes(void **state)
{
    static const struct {
        const char *where;
        enum plan_step_kind kind;
        uint64_t tiles;
    } cases[] = {
        {"k in (4, 6, 9)", STEP_PROBE, 1},
        {"k in (1020, 1022, 1030)", STEP_PROBE, 2},
        {"k in (-5, -7)", STEP_PROBE, 0},
        {"k not in (4, 6, 9)", STEP_PROBE, 3},
        {"k in (4, 5, 6)", STEP_RANGE, 1},                    /* no gap */
        {"k in (4, 3000000000)", STEP_CONDITION, 1},          /* no bitmap */
        {"k in (2147483646, 2147483648)", STEP_CONDITION, 0}, /* no int32 */
        {"k + 1 in (4, 6)", STEP_CONDITION, 3},               /* no column */
        {"k in (4, 6) or v = 3", STEP_CONDITION, 3},
    };
    char path[PATH_BYTES];
    (void)state;
    directory_make(path);
    fill(ROWS_MAX, 1, 1);
    for (int64_t row = 0; row < ROWS_MAX; row++)
        rows.k[row] = row;
    struct database *const database = open_rows(path);
    for (size_t c = 0; c < sizeof cases / sizeof *cases; c++) {
        char sql[128];
        snprintf(sql, sizeof sql, "select sum(v) from f where %s", cases[c].where);
        struct plan *const plan = plan_of(database, sql);
        if (plan->step_count != 1 || plan->steps[0].kind != cases[c].kind ||
            plan->scan.kept_tiles != cases[c].tiles)
            fail_msg("%s: %u steps, of kind %d, %llu tiles", sql, plan->step_count, (int)plan->steps[0].kind,
                     (unsigned long long)plan->scan.kept_tiles);
        plan_free(plan);
    }
    database_close(database);
    directory_remove(path);
}

/* A probe that drops more rows is asked before a range. */
static void probes_are_ordered_by_cost(void **state)
{
    char path[PATH_BYTES];
    (void)state;
    directory_make(path);
    fill(ROWS_MAX, 1, 1);
    for (int64_t row = 0; row < ROWS_MAX; row++)
        rows.k[row] = row * 7 % ROWS_MAX;
    struct database *const database = open_rows(path);
    struct plan *const plan =
        plan_of(database, "select sum(v) from f where v + 1 > 4 and k in (4, 6) and v < 900");
    assert_int_equal(plan->step_count, 3);
    assert_int_equal(plan->steps[2].kind, STEP_CONDITION);
    assert_true(plan->steps[0].kind == STEP_PROBE || plan->steps[1].kind == STEP_PROBE);
    plan_free(plan);
    database_close(database);
    directory_remove(path);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(rows_pass_as_a_loop_says),
        cmocka_unit_test(lists_become_probes),
        cmocka_unit_test(probes_are_ordered_by_cost),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
