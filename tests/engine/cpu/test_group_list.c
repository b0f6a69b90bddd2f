/* test_group_list.c: rows that are words come together as a plain array of sums, minima, maxima and counts has them: dense
 * numbers of groups and sparse ones, NULLs, columns of 32 bits, any number of threads, groups that are given away. */
#define _GNU_SOURCE
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>

#include "engine/cpu/list/group_list.h"
#include "engine/cpu/group_states.h"
#include "storage/base/execution/execution.h"
#include "tests/fuzz/fuzz_random.h"

#include <stdlib.h>

#define SOURCES    4u
#define AGGREGATES 6u
#define LOW        (-700)
#define VALUES     1000u
#define SPARSE     UINT64_C(1000003) /* between two groups' numbers */

struct expected {
    int64_t rows, sum, values, least, most;
};

struct trial {
    uint32_t groups, sources, rows; /* of each source */
    uint64_t apart;
    bool skewed, given;
};

static struct expression nodes[] = {{.operation = EXPRESSION_COLUMN, .nullable = false},
                                    {.operation = EXPRESSION_COLUMN, .nullable = true},
                                    {.operation = EXPRESSION_CONSTANT}};
static struct plan_aggregate aggregates[AGGREGATES];
static struct plan_group group;
static struct table fact;
static struct plan plan;

/* count(*), sum and max of a column without NULLs; count, wide sum and min of one with NULLs. */
static void fill_plan(const struct trial *trial)
{
    static const enum aggregate_kind kinds[AGGREGATES] = {AGGREGATE_COUNT, AGGREGATE_SUM,      AGGREGATE_MAX,
                                                          AGGREGATE_COUNT, AGGREGATE_SUM_WIDE, AGGREGATE_MIN};
    const uint64_t rows = (uint64_t)trial->sources * trial->rows;
    fact = (struct table){.rows = rows};
    group = (struct plan_group){.expression = 2, .stride = 1, .domain = trial->groups * trial->apart};
    plan = (struct plan){.fact = &fact,
                         .shape = PLAN_HASH,
                         .key_words = 1,
                         .group_count = 1,
                         .groups = &group,
                         .groups_most = rows < group.domain ? rows : group.domain,
                         .aggregate_count = AGGREGATES,
                         .aggregates = aggregates,
                         .scan = {.kept_rows = rows},
                         .expressions = {.nodes = nodes, .count = 3}};
    for (uint32_t a = 0; a < AGGREGATES; a++)
        aggregates[a] = (struct plan_aggregate){.kind = kinds[a],
                                                .argument = a == 0 ? EXPRESSION_NONE : a > 2,
                                                .low = LOW,
                                                .high = LOW + (int64_t)VALUES - 1};
}

static void see(struct expected *of, int64_t plain, int64_t value, bool null)
{
    of->most = of->rows++ && of->most > plain ? of->most : plain;
    of->sum += plain;
    if (null)
        return;
    of->least = of->values && of->least < value ? of->least : value;
    of->values += 1 + ((int64_t)1 << 32) * value; /* their number, and their sum */
}

static void add_rows(const struct trial *trial, struct group_states *states, struct expected *expected)
{
    static uint64_t numbers[1][VECTOR_ROWS];
    static int64_t values[VECTOR_ROWS];
    static int32_t plain[VECTOR_ROWS];
    static uint8_t nulls[VECTOR_ROWS];
    struct error error;
    for (uint32_t done = 0, count; done < trial->rows; done += count) {
        count = trial->rows - done < VECTOR_ROWS ? trial->rows - done : 1 + below(VECTOR_ROWS);
        const bool missing = chance(80);
        for (uint32_t i = 0; i < count; i++) {
            const uint32_t g = trial->skewed && chance(90) ? below(3) : below(trial->groups);
            numbers[0][i] = g * trial->apart;
            plain[i] = LOW + (int32_t)below(VALUES);
            values[i] = LOW + (int64_t)below(VALUES);
            nulls[i] = missing && chance(20);
            see(&expected[g], plain[i], values[i], nulls[i]);
        }
        const struct row_vector narrow = {.narrow = plain},
                                wide = {.values = values, .nulls = missing ? nulls : NULL},
                                arguments[AGGREGATES] = {{0}, narrow, narrow, wide, wide, wide};
        if (group_states_add(states, count, (const uint64_t(*)[VECTOR_ROWS])numbers, NULL, arguments,
                             &error) != STATUS_OK)
            fail_msg("%s", error.text);
    }
}

static const struct trial *tried;
static struct expected *wanted;
static uint64_t met;

/* Each group comes once. */
static void check_groups(const struct partial *found)
{
    for (uint64_t place = 0; place < found->count; place++) {
        const uint64_t number = found->keys[0][place];
        struct expected *const of = &wanted[number / tried->apart];
        assert_int_equal(number % tried->apart, 0);
        assert_true(of->rows > 0);
        assert_int_equal(found->states[0][place], of->rows);
        assert_int_equal(found->states[1][place], of->sum);
        assert_int_equal(found->states[2][place], of->most);
        const uint32_t values = (uint32_t)of->values;
        assert_int_equal(found->states[3][place], values);
        assert_int_equal(found->states[4][place], (of->values - values) / ((int64_t)1 << 32));
        assert_int_equal(found->states_high[4][place], found->states[4][place] < 0 ? -1 : 0);
        if (values)
            assert_int_equal(found->states[5][place], of->least);
        of->rows = 0;
        met++;
    }
}

static enum status take(struct group_sink *sink, const struct partial *groups, unsigned thread,
                        struct error *error)
{
    (void)sink;
    (void)thread;
    (void)error;
    assert_true(groups->count > 0 && groups->count <= VECTOR_ROWS);
    check_groups(groups);
    return STATUS_OK;
}

static void check(const struct trial *trial)
{
    struct group_sink sink = {.take = take};
    struct group_delivery delivery = {.plan = &plan, .sink = &sink};
    struct group_states *states[SOURCES];
    struct partial found = {0};
    struct error error;
    uint64_t groups = 0;
    fill_plan(trial);
    tried = trial;
    met = 0;
    wanted = calloc(trial->groups, sizeof *wanted);
    assert_non_null(wanted);
    for (uint32_t s = 0; s < trial->sources; s++) {
        if (group_states_create(&plan, &states[s], &error) != STATUS_OK)
            fail_msg("%s", error.text);
        group_states_clear(states[s]);
        add_rows(trial, states[s], wanted);
    }
    for (uint32_t g = 0; g < trial->groups; g++)
        groups += wanted[g].rows > 0;
    if (group_states_collect(&plan, states, trial->sources, trial->given ? 1 : trial->sources, !trial->given,
                             trial->given ? &delivery : NULL, &found, &error) != STATUS_OK)
        fail_msg("%s", error.text);
    assert_int_equal(sink.taken, trial->given);
    assert_int_equal(found.count, trial->given ? 0 : groups);
    for (uint64_t place = 1; place < found.count; place++)
        assert_true(found.keys[0][place - 1] < found.keys[0][place]);
    assert_true(found.ascending);
    check_groups(&found);
    assert_int_equal(met, groups);
    partial_free(&found);
    for (uint32_t s = 0; s < trial->sources; s++)
        group_states_free(states[s]);
    free(wanted);
}

static bool suits(const struct trial *trial)
{
    static struct row_words words;
    static struct group_layout entry, parts;
    fill_plan(trial);
    group_layout_make(&entry, aggregates, AGGREGATES, 1, 1);
    return group_list_suits(&plan, &entry, &words, &parts);
}

static void rows_come_together(void **state)
{
    (void)state;
    random_state = 20261129;
    for (uint32_t sources = 1; sources <= SOURCES; sources++)
        for (uint32_t way = 0; way < 8; way++) {
            const struct trial trial = {.groups = 20000 + below(9999),
                                        .sources = sources,
                                        .rows = 60000 / sources + below(1000),
                                        .apart = way & 1 ? SPARSE : 1,
                                        .skewed = way & 2,
                                        .given = way & 4};
            assert_true(suits(&trial));
            check(&trial);
        }
}

static void what_suits(void **state)
{
    const struct trial good = {.groups = 30000, .sources = 1, .rows = 60000, .apart = 1};
    struct trial few = good, many = good;
    (void)state;
    few.groups = 1000;
    many.rows = 9 * many.groups;
    assert_true(suits(&good));
    assert_false(suits(&few));  /* a table of them fits the cache */
    assert_false(suits(&many)); /* a list is larger than a table */
    struct memory_account account = {.limit = 60000 * 8 * 4 - 1};
    struct execution execution = {.memory = &account};
    execution_enter(&execution);
    assert_false(suits(&good));
    account.limit++;
    assert_true(suits(&good));
    execution_leave(&execution);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(rows_come_together), cmocka_unit_test(what_suits)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
