/* test_merge.c: groups of any number of threads, in slots and hashed, few and many, come together as a plain array
 * of sums, minima, maxima, counts and sets has them. */
#define _GNU_SOURCE
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>

#include "engine/cpu/group_states.h"
#include "tests/fuzz/fuzz_random.h"

#include <stdlib.h>

#define VALUES  7u
#define SOURCES 6u

/* Group g's number; of two words for a plan that has them. */
static uint64_t word_of(uint32_t group, uint32_t word, enum plan_shape shape)
{
    return shape == PLAN_HASH ? (group + 1) * (word ? 0x9e3779b97f4a7c15u : 1000003u) : group;
}

struct expected {
    uint64_t rows;
    int64_t sum, min, max, present;
    uint32_t seen; /* a bit a value */
};

static void fill_plan(struct plan *plan, enum plan_shape shape, uint32_t words, uint32_t groups)
{
    static const enum aggregate_kind kinds[] = {AGGREGATE_COUNT, AGGREGATE_SUM, AGGREGATE_SUM_WIDE,
                                                AGGREGATE_MIN,   AGGREGATE_MAX, AGGREGATE_COUNT_DISTINCT};
    static const struct table fact = {.rows = 5000};
    static struct plan_aggregate aggregates[6];
    *plan = (struct plan){
        .fact = &fact, .shape = shape, .key_words = words, .aggregate_count = 6, .aggregates = aggregates};
    plan->slots = shape == PLAN_TOTAL ? 1 : shape == PLAN_DENSE ? groups : 0;
    for (uint32_t a = 0; a < 6; a++)
        plan->aggregates[a] = (struct plan_aggregate){
            .kind = kinds[a], .argument = a ? 0 : EXPRESSION_NONE, .high = VALUES - 1};
}

static void add_rows(const struct plan *plan, struct group_states *states, uint32_t groups, uint32_t rows,
                     struct expected *expected)
{
    static uint64_t numbers[PLAN_KEY_WORDS_MAX][VECTOR_ROWS];
    static int64_t values[VECTOR_ROWS];
    static uint8_t nulls[VECTOR_ROWS];
    struct row_vector arguments[PLAN_AGGREGATES_MAX];
    struct error error;
    for (uint32_t a = 0; a < plan->aggregate_count; a++)
        arguments[a] = plan->aggregates[a].argument == EXPRESSION_NONE
                           ? (struct row_vector){0}
                           : (struct row_vector){.values = values, .nulls = nulls};
    for (uint32_t done = 0; done < rows;) {
        const uint32_t count = rows - done < VECTOR_ROWS ? rows - done : 1 + below(VECTOR_ROWS);
        for (uint32_t i = 0; i < count; i++) {
            const uint32_t group = below(groups);
            struct expected *of = &expected[group];
            for (uint32_t word = 0; word < plan->key_words; word++)
                numbers[word][i] = word_of(group, word, plan->shape);
            nulls[i] = chance(20);
            values[i] = nulls[i] ? 1000 : below(VALUES);
            of->rows++;
            if (nulls[i])
                continue;
            of->min = of->present ? (values[i] < of->min ? values[i] : of->min) : values[i];
            of->max = of->present ? (values[i] > of->max ? values[i] : of->max) : values[i];
            of->present++;
            of->sum += values[i];
            of->seen |= 1u << values[i];
        }
        if (group_states_add(states, count, (const uint64_t(*)[VECTOR_ROWS])numbers, NULL, arguments,
                             &error) != STATUS_OK)
            fail_msg("%s", error.text);
        done += count;
    }
}

static uint32_t group_of(const struct partial *found, uint64_t place, enum plan_shape shape)
{
    return (uint32_t)(shape == PLAN_HASH ? found->keys[0][place] / 1000003u - 1 : found->keys[0][place]);
}

/* The listed values are those that were added, each once; clears the bits of `seen`. */
static void check_values(const struct partial *found, uint32_t *seen)
{
    for (uint64_t pair = 0; pair < found->sets[5].count; pair++) {
        uint32_t *const of = &seen[found->sets[5].groups[pair]];
        assert_true(*of >> found->sets[5].values[pair] & 1);
        *of ^= 1u << found->sets[5].values[pair];
    }
    for (uint64_t group = 0; group < found->count; group++)
        assert_int_equal(seen[group], 0);
}

/* `high`: what a set must have room for; many make it a table of pairs. */
static void check_merged(enum plan_shape shape, uint32_t words, uint32_t groups, uint32_t sources,
                         uint32_t rows, int64_t high, bool mergeable)
{
    static struct plan plan;
    struct group_states *states[SOURCES];
    struct partial found = {0};
    struct expected *expected = calloc(groups, sizeof *expected);
    struct error error;
    uint64_t met = 0;
    assert_non_null(expected);
    fill_plan(&plan, shape, words, groups);
    plan.aggregates[5].high = high;
    for (uint32_t s = 0; s < sources; s++) {
        if (group_states_create(&plan, &states[s], &error) != STATUS_OK)
            fail_msg("%s", error.text);
        group_states_clear(states[s]);
        add_rows(&plan, states[s], groups, s == 1 ? 0 : rows, expected);
    }
    if (group_states_collect(&plan, states, sources, sources, mergeable, NULL, &found, &error) != STATUS_OK)
        fail_msg("%s", error.text);
    for (uint32_t group = 0; group < groups; group++)
        met += expected[group].rows > 0;
    assert_int_equal(found.count, shape == PLAN_TOTAL ? 1 : met);
    uint32_t *seen = malloc((found.count + 1) * sizeof *seen);
    assert_non_null(seen);
    for (uint64_t place = 0; place < found.count; place++) {
        struct expected *of = &expected[group_of(&found, place, shape)];
        for (uint32_t word = 0; word < words; word++)
            assert_int_equal(found.keys[word][place], word_of((uint32_t)(of - expected), word, shape));
        assert_int_equal(found.states[0][place], of->rows);
        assert_int_equal(found.states[1][place], of->sum);
        assert_int_equal(found.states[2][place], of->sum);
        assert_int_equal(found.states_high[2][place], 0);
        if (of->present) {
            assert_int_equal(found.states[3][place], of->min);
            assert_int_equal(found.states[4][place], of->max);
        }
        assert_int_equal(found.states[5][place], __builtin_popcount(of->seen));
        seen[place] = of->seen;
        of->rows = 0; /* each group comes once */
    }
    if (mergeable)
        check_values(&found, seen);
    partial_free(&found);
    free(seen);
    for (uint32_t s = 0; s < sources; s++)
        group_states_free(states[s]);
    free(expected);
}

static void check(enum plan_shape shape, uint32_t words, uint32_t groups, uint32_t sources, uint32_t rows,
                  int64_t high)
{
    check_merged(shape, words, groups, sources, rows, high, false);
    check_merged(shape, words, groups, sources, rows, high, true);
}

static void threads_come_together(void **state)
{
    (void)state;
    random_state = 20261121;
    for (uint32_t sources = 1; sources <= SOURCES; sources++) {
        check(PLAN_TOTAL, 1, 1, sources, 5000, VALUES - 1);
        check(PLAN_TOTAL, 1, 1, sources, 0, VALUES - 1);
        check(PLAN_DENSE, 1, 1, sources, 100, VALUES - 1);
        check(PLAN_DENSE, 1, 3000, sources, 2000, VALUES - 1);
        check(PLAN_TOTAL, 1, 1, sources, 2000, INT64_MAX);
        check(PLAN_DENSE, 1, 3000, sources, 2000, INT64_MAX);
        check(PLAN_DENSE, 1, 60000, sources, 50000, INT64_MAX); /* pairs by parts */
        check(PLAN_HASH, 1, 50, sources, 3000, VALUES - 1);
        check(PLAN_HASH, 2, 50, sources, 0, VALUES - 1);
        check(PLAN_HASH, 1, 60000, sources, 50000, VALUES - 1); /* by parts */
        check(PLAN_HASH, 2, 60000, sources, 50000, VALUES - 1);
        check(PLAN_HASH, 4, 9000, sources, 30000, VALUES - 1);
    }
    check(PLAN_HASH, 1, 300000, 1, 1500000,
          VALUES - 1); /* more entries than a part keeps before it merges them */
}

/* Columns of 32 bits, with and without NULLs by turns, in copies of few slots: sums of a group's extreme values, over more
 * rows than are packed at once. */
static void narrow_sums_are_exact(void **state)
{
    static uint64_t numbers[1][VECTOR_ROWS];
    static int32_t values[VECTOR_ROWS];
    static uint8_t nulls[VECTOR_ROWS];
    static struct plan plan;
    enum { GROUPS = 5 };
    int64_t sum[GROUPS] = {0}, rows[GROUPS] = {0}, least[GROUPS], most[GROUPS];
    struct group_states *states;
    struct partial found = {0};
    struct error error;
    (void)state;
    random_state = 20261122;
    fill_plan(&plan, PLAN_DENSE, 1, GROUPS);
    plan.aggregate_count = 5; /* without a set, slots have copies */
    if (group_states_create(&plan, &states, &error) != STATUS_OK)
        fail_msg("%s", error.text);
    group_states_clear(states);
    const uint32_t spread = group_states_spread(states);
    assert_int_equal(spread, GROUPS);
    for (uint32_t group = 0; group < GROUPS; group++)
        least[group] = INT64_MAX, most[group] = INT64_MIN;
    for (uint32_t batch = 0; batch < 400; batch++) {
        const uint32_t count = batch % 3 ? VECTOR_ROWS : below(VECTOR_ROWS + 1);
        const bool nullable = batch % 7 == 6;
        for (uint32_t i = 0; i < count; i++) {
            const uint32_t group = chance(90) ? 0 : below(GROUPS);
            numbers[0][i] = group + i % GROUP_COPIES * spread;
            values[i] = group == 0 ? INT32_MIN : group == 1 ? INT32_MAX : (int32_t)below(UINT32_MAX);
            nulls[i] = nullable && chance(30);
            rows[group]++;
            sum[group] += nulls[i] ? 0 : values[i];
            least[group] = !nulls[i] && values[i] < least[group] ? values[i] : least[group];
            most[group] = !nulls[i] && values[i] > most[group] ? values[i] : most[group];
        }
        const struct row_vector argument = {.narrow = values, .nulls = nullable ? nulls : NULL},
                                arguments[] = {{0}, argument, argument, argument, argument};
        if (group_states_add(states, count, (const uint64_t(*)[VECTOR_ROWS])numbers, NULL, arguments,
                             &error) != STATUS_OK)
            fail_msg("%s", error.text);
    }
    if (group_states_collect(&plan, &states, 1, 1, false, NULL, &found, &error) != STATUS_OK)
        fail_msg("%s", error.text);
    assert_int_equal(found.count, GROUPS);
    for (uint32_t group = 0; group < GROUPS; group++) {
        assert_int_equal(found.states[0][group], rows[group]);
        assert_int_equal(found.states[1][group], sum[group]);
        assert_int_equal(found.states[2][group], sum[group]);
        assert_int_equal(found.states_high[2][group], sum[group] >> 63);
        assert_int_equal(found.states[3][group], least[group]);
        assert_int_equal(found.states[4][group], most[group]);
    }
    partial_free(&found);
    group_states_free(states);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(threads_come_together),
                                       cmocka_unit_test(narrow_sums_are_exact)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
