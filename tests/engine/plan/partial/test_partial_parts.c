/*
 * test_partial_parts.c: partial_merge_all merges as partial_merge does, one result after the other, and partial_split
 * gives each group one owner. Random results of 1 to 20 inputs with 0 to 60,000 groups, of every kind of aggregate,
 * numbers of one word and of several, rows, and one group with many distinct values; 1 to 7 threads.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>

#include "engine/plan/partial.h"
#include "tests/fuzz/fuzz_random.h"

#include <stdlib.h>

#define INPUTS_MAX 20u

static struct error error;

static void must(enum status status)
{
    if (status != STATUS_OK)
        fail_msg("%s", error.text);
}

/* Two nullable arguments (6 and 8 count their values), 128 bits, and a count of distinct values. */
static const struct plan_aggregate aggregates[] = {
    {.kind = AGGREGATE_COUNT, .count = 0},    {.kind = AGGREGATE_SUM, .count = 1},
    {.kind = AGGREGATE_SUM_WIDE, .count = 6}, {.kind = AGGREGATE_MIN, .count = 3},
    {.kind = AGGREGATE_MIN, .count = 6},      {.kind = AGGREGATE_MAX, .count = 8},
    {.kind = AGGREGATE_COUNT, .count = 6},    {.kind = AGGREGATE_COUNT_DISTINCT, .count = 7},
    {.kind = AGGREGATE_COUNT, .count = 8}};
#define AGGREGATES (sizeof aggregates / sizeof *aggregates)
#define DISTINCT   7u

static void make_plan(struct plan *plan, enum plan_shape shape, uint32_t words)
{
    *plan = (struct plan){.shape = shape,
                          .key_words = words,
                          .aggregate_count = AGGREGATES,
                          .aggregates = (struct plan_aggregate *)aggregates};
}

static uint64_t word_of(uint32_t group, uint32_t word)
{
    return word ? group * UINT64_C(0x9e3779b97f4a7c15) : group % 9973;
}

static int64_t any_value(void)
{
    return (int64_t)((uint64_t)below(UINT32_MAX) << 32 | below(UINT32_MAX));
}

static void fill_set(struct partial *partial, uint32_t values)
{
    struct partial_set *const set = &partial->sets[DISTINCT];
    must(partial_set_allocate(set, partial->count * values, &error));
    set->count = 0;
    for (uint64_t group = 0; group < partial->count; group++) {
        partial->states[DISTINCT][group] = 0;
        for (uint32_t value = below(3), step = 1 + below(5); value < values; value += step) {
            set->groups[set->count] = group;
            set->values[set->count++] = value;
            partial->states[DISTINCT][group]++;
        }
    }
}

/* Some of `most` groups, in a random rotation. */
static void fill(const struct plan *plan, uint32_t most, uint32_t values, struct partial *partial)
{
    const bool total = plan->shape == PLAN_TOTAL;
    const uint32_t rotation = below(most), percent = below(101);
    must(partial_allocate(plan, total ? 1 : most, partial, &error));
    partial->count = total;
    for (uint32_t i = 0; !total && i < most; i++) {
        const uint32_t group = (i + rotation) % most;
        if (!chance(percent))
            continue;
        for (uint32_t word = 0; word < plan->key_words; word++)
            partial->keys[word][partial->count] = plan->key_words == 1 ? group : word_of(group, word);
        partial->count++;
    }
    partial->total_rows = total && chance(70) ? 1 + below(100) : 0;
    for (uint64_t group = 0; group < partial->count; group++)
        for (uint32_t a = 0; a < AGGREGATES; a++) {
            partial->states[a][group] = plan->aggregates[a].kind == AGGREGATE_COUNT ? below(3) : any_value();
            if (partial->states_high[a])
                partial->states_high[a][group] = any_value() >> 8;
        }
    fill_set(partial, values);
}

static void copy(const struct plan *plan, const struct partial *from, struct partial *into)
{
    must(partial_split(plan, from, 1, into, &error));
}

/* ---- Comparison ---- */

static bool has_value(const struct plan *plan, const struct partial *partial, uint32_t a, uint64_t group)
{
    if (aggregates[a].count != a)
        return partial->states[aggregates[a].count][group] > 0;
    return plan->shape != PLAN_TOTAL || partial->total_rows > 0 || aggregates[a].kind == AGGREGATE_COUNT;
}

static int compare_pairs(const void *a, const void *b)
{
    return memcmp(a, b, 2 * sizeof(uint64_t));
}

/* The pairs with the places of their groups in `all`, sorted. */
static uint64_t *sorted_pairs(const struct plan *plan, const struct partial *all,
                              const struct hash_table *index, const struct partial *partial)
{
    const struct partial_set *set = &partial->sets[DISTINCT];
    uint64_t *const pairs = malloc((set->count + 1) * 2 * sizeof *pairs);
    assert_non_null(pairs);
    for (uint64_t p = 0; p < set->count; p++) {
        uint64_t number[PLAN_KEY_WORDS_MAX];
        for (uint32_t word = 0; word < plan->key_words; word++)
            number[word] = partial->keys[word][set->groups[p]];
        pairs[2 * p] = partial_index_find(plan, all, index, number);
        pairs[2 * p + 1] = (uint64_t)set->values[p];
    }
    qsort(pairs, set->count, 2 * sizeof *pairs, compare_pairs);
    return pairs;
}

static void assert_same(const struct plan *plan, const struct partial *expected, const struct partial *got)
{
    struct hash_table index;
    assert_int_equal(got->count, expected->count);
    assert_int_equal(got->total_rows, expected->total_rows);
    must(partial_index_make(plan, expected, 0, &index, &error));
    for (uint64_t group = 0; group < got->count; group++) {
        uint64_t number[PLAN_KEY_WORDS_MAX];
        for (uint32_t word = 0; word < plan->key_words; word++)
            number[word] = got->keys[word][group];
        const uint64_t place = partial_index_find(plan, expected, &index, number);
        assert_true(place < expected->count);
        for (uint32_t a = 0; a < AGGREGATES; a++) {
            if (!has_value(plan, expected, a, place))
                continue;
            assert_int_equal(got->states[a][group], expected->states[a][place]);
            if (got->states_high[a])
                assert_int_equal(got->states_high[a][group], expected->states_high[a][place]);
        }
    }
    assert_int_equal(got->sets[DISTINCT].count, expected->sets[DISTINCT].count);
    uint64_t *const a = sorted_pairs(plan, expected, &index, expected), *const b = sorted_pairs(
                                                                            plan, expected, &index, got);
    assert_memory_equal(a, b, got->sets[DISTINCT].count * 2 * sizeof *a);
    free(a);
    free(b);
    hash_table_free(&index);
}

/* ---- Groups ---- */

static void merges(enum plan_shape shape, uint32_t words, uint32_t most, uint32_t values)
{
    static struct plan plan;
    static struct partial inputs[INPUTS_MAX], one, all;
    const uint32_t count = 1 + below(INPUTS_MAX);
    make_plan(&plan, shape, words);
    for (uint32_t i = 0; i < count; i++)
        fill(&plan, most, values, &inputs[i]);
    copy(&plan, &inputs[0], &one);
    for (uint32_t i = 1; i < count; i++)
        must(partial_merge(&plan, &one, &inputs[i], &error));
    must(partial_merge_all(&plan, inputs, count, 1 + below(7), &all, &error));
    assert_same(&plan, &one, &all);
    partial_free(&one);
    partial_free(&all);
}

static void groups(void **state)
{
    (void)state;
    for (uint32_t round = 0; round < 12; round++) {
        merges(PLAN_HASH, 1, 1 + below(60000), below(3));
        merges(PLAN_HASH, 1 + below(PLAN_KEY_WORDS_MAX), 1 + below(9973), below(8));
        merges(PLAN_DENSE, 1, 1 + below(50), below(3000));
        merges(PLAN_DENSE, 1, 1 + below(5000), below(4));
        merges(PLAN_TOTAL, 1, 1, below(20));
        merges(PLAN_TOTAL, 1, 1, below(200000));
    }
}

/* Parts of several results, merged by their owners and put together, are the merged result. */
static void owners(enum plan_shape shape, uint32_t words, uint32_t most, uint32_t values)
{
    static struct plan plan;
    static struct partial inputs[4], parts[4][6], mine[4], ends[6], one, all;
    const uint32_t count = 1 + below(4), owner_count = 1 + below(6);
    uint64_t owned = 0;
    make_plan(&plan, shape, words);
    for (uint32_t i = 0; i < count; i++) {
        fill(&plan, most, values, &inputs[i]);
        must(partial_split(&plan, &inputs[i], owner_count, parts[i], &error));
    }
    for (uint32_t owner = 0; owner < owner_count; owner++) {
        for (uint32_t i = 0; i < count; i++)
            mine[i] = parts[i][owner];
        must(partial_merge_all(&plan, mine, count, 2, &ends[owner], &error));
        owned += ends[owner].count;
    }
    must(partial_merge_all(&plan, ends, owner_count, 3, &all, &error));
    assert_int_equal(owned, all.count);
    must(partial_merge_all(&plan, inputs, count, 1, &one, &error));
    assert_same(&plan, &one, &all);
    partial_free(&one);
    partial_free(&all);
}

static void parts_have_owners(void **state)
{
    (void)state;
    for (uint32_t round = 0; round < 20; round++) {
        owners(PLAN_HASH, 1 + below(PLAN_KEY_WORDS_MAX), 1 + below(9973), below(4));
        owners(PLAN_DENSE, 1, 1 + below(300), below(100));
        owners(PLAN_TOTAL, 1, 1, below(500));
    }
}

/* ---- Rows ---- */

/* Rows that pass, dealt out by stretches of rows, as segments are, or one by one. */
static void rows_of(uint32_t rows, uint32_t stretch, uint32_t percent)
{
    static struct plan plan = {.shape = PLAN_ROWS};
    static struct partial inputs[INPUTS_MAX], all;
    const uint32_t count = 1 + below(INPUTS_MAX);
    uint64_t *const expected = malloc((rows + 1) * sizeof *expected), total = 0;
    assert_non_null(expected);
    for (uint32_t i = 0; i < count; i++)
        must(spillable_rows(&inputs[i].rows, (rows + 1) * sizeof *expected, "a test", &error));
    for (uint32_t row = 0, input = 0; row < rows; row++) {
        input = row % stretch ? input : below(count);
        if (chance(percent)) {
            inputs[input].rows[inputs[input].count++] = row;
            expected[total++] = row;
        }
    }
    must(partial_merge_all(&plan, inputs, count, 1 + below(7), &all, &error));
    assert_int_equal(all.count, total);
    assert_memory_equal(all.rows, expected, total * sizeof *expected);
    partial_free(&all);
    free(expected);
}

static void rows(void **state)
{
    (void)state;
    for (uint32_t round = 0; round < 10; round++) {
        rows_of(below(2000000), 1 + below(60000), 90);
        rows_of(below(100000), 1, below(101));
        rows_of(below(20), 1 + below(3), below(101));
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(groups), cmocka_unit_test(parts_have_owners),
                                       cmocka_unit_test(rows)};
    random_state = 20261122;
    print_message("seed %llu\n", (unsigned long long)random_state);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
