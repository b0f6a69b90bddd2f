/* test_group_stream.c: groups by a key that ascends are the same as those of a plain array, wherever the rows of a
 * group are cut into vectors and threads, whatever comes between them, and also if they are given away as they are
 * completed. */
#define _GNU_SOURCE
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>

#include "engine/cpu/group_states.h"
#include "tests/fuzz/fuzz_random.h"

#include <stdlib.h>

#define SOURCES    3u
#define KEYS       20000u
#define INNER      3u /* groups of a key, of a plan with two words */
#define GROUPS     (KEYS * INNER)
#define AGGREGATES 5u
#define FIRST_KEY  (-70000)

struct row {
    uint32_t key, inner;
    int32_t value;
    bool null;
};

struct expected {
    int64_t rows, present, sum, least, greatest;
};

struct taken {
    struct group_sink sink; /* the first member */
    struct expected *expected;
    uint64_t groups;
    uint32_t words;
};

static void check_group(const struct partial *found, uint64_t place, uint32_t words,
                        struct expected *expected)
{
    const uint64_t key = found->keys[0][place] / 1000003u, inner = words > 1 ? found->keys[1][place] : 0;
    assert_in_range(key, 0, KEYS - 1);
    assert_in_range(inner, 0, INNER - 1);
    struct expected *const of = &expected[key * INNER + inner];
    assert_true(of->rows > 0); /* each group comes once */
    assert_int_equal(found->states[0][place], of->rows);
    assert_int_equal(found->states[1][place], of->sum);
    assert_int_equal(found->states[2][place], of->sum);
    assert_int_equal(found->states_high[2][place], of->sum >> 63);
    if (of->present) {
        assert_int_equal(found->states[3][place], of->least);
        assert_int_equal(found->states[4][place], of->greatest);
    }
    of->rows = 0;
}

static enum status take(struct group_sink *sink, const struct partial *groups, unsigned thread,
                        struct error *error)
{
    struct taken *const taken = (struct taken *)(void *)sink;
    (void)error;
    assert_in_range(thread, 0, SOURCES - 1);
    assert_in_range(groups->count, 1, VECTOR_ROWS);
    for (uint64_t place = 0; place < groups->count; place++)
        check_group(groups, place, taken->words, taken->expected);
    taken->groups += groups->count;
    return STATUS_OK;
}

/* Rows in the order of their keys; those of a key are few, or many vectors, or are missing. */
static uint32_t make_rows(struct row *rows, uint32_t most, uint32_t keys, bool inner,
                          struct expected *expected)
{
    uint32_t count = 0;
    for (uint32_t key = 0; key < keys && count < most; key++) {
        const uint32_t of_key = chance(3) ? below(3000) : below(8);
        const bool mixed = chance(20);
        for (uint32_t r = 0; r < of_key && count < most; r++) {
            struct row *const row = &rows[count++];
            *row = (struct row){.key = key,
                                .inner = inner && mixed ? below(INNER) : 0,
                                .value = chance(5) ? INT32_MIN : (int32_t)below(UINT32_MAX),
                                .null = chance(20)};
            struct expected *const of = &expected[key * INNER + row->inner];
            of->least = !row->null && (!of->present || row->value < of->least) ? row->value : of->least;
            of->greatest =
                !row->null && (!of->present || row->value > of->greatest) ? row->value : of->greatest;
            of->rows++;
            of->present += !row->null;
            of->sum += row->null ? 0 : row->value;
        }
    }
    return count;
}

/* Adds rows in vectors; some have their rows in no order, as a tile may have. */
static void add_rows(const struct plan *plan, struct group_states *states, struct row *rows, uint32_t count)
{
    static uint64_t numbers[2][VECTOR_ROWS];
    static int32_t values[VECTOR_ROWS], keys[VECTOR_ROWS];
    static uint8_t nulls[VECTOR_ROWS];
    const struct row_vector argument = {.narrow = values, .nulls = nulls},
                            arguments[] = {{0}, argument, argument, argument, argument};
    struct error error;
    for (uint32_t done = 0, here; done < count; done += here) {
        const uint32_t left = count - done, wanted = chance(50) ? VECTOR_ROWS : 1 + below(VECTOR_ROWS);
        here = wanted < left ? wanted : left;
        for (uint32_t swaps = chance(10) ? 1 + below(here) : 0; swaps; swaps--) {
            struct row *const one = &rows[done + below(here)], *const other = &rows[done + below(here)],
                              kept = *one;
            *one = *other;
            *other = kept;
        }
        for (uint32_t i = 0; i < here; i++) {
            const struct row *const row = &rows[done + i];
            numbers[0][i] = row->key * UINT64_C(1000003);
            numbers[1][i] = row->inner;
            keys[i] = FIRST_KEY + 7 * (int32_t)row->key;
            values[i] = row->value;
            nulls[i] = row->null;
        }
        if (group_states_add(states, here, (const uint64_t(*)[VECTOR_ROWS])numbers,
                             plan->in_order ? keys : NULL, arguments, &error) != STATUS_OK)
            fail_msg("%s", error.text);
    }
    if (group_states_end(states, &error) != STATUS_OK)
        fail_msg("%s", error.text);
}

static void check(uint32_t most, uint32_t keys, uint32_t words, uint32_t sources, bool in_order, bool given)
{
    static const enum aggregate_kind kinds[AGGREGATES] = {AGGREGATE_COUNT, AGGREGATE_SUM, AGGREGATE_SUM_WIDE,
                                                          AGGREGATE_MIN, AGGREGATE_MAX};
    static const struct table fact = {.rows = 5000};
    static struct plan_aggregate aggregates[AGGREGATES];
    const struct plan plan = {.fact = &fact,
                              .shape = PLAN_HASH,
                              .key_words = words,
                              .in_order = in_order,
                              .aggregate_count = AGGREGATES,
                              .aggregates = aggregates};
    struct row *rows = malloc((most + 1) * sizeof *rows);
    struct expected *expected = calloc(GROUPS, sizeof *expected);
    struct taken taken = {.sink.take = take, .expected = expected, .words = words};
    struct group_delivery deliveries[SOURCES] = {{0}};
    struct group_states *states[SOURCES];
    struct partial found = {0};
    struct error error;
    uint64_t groups = 0;
    assert_non_null(rows);
    assert_non_null(expected);
    for (uint32_t a = 0; a < AGGREGATES; a++)
        aggregates[a] = (struct plan_aggregate){.kind = kinds[a], .argument = a ? 0 : EXPRESSION_NONE};
    const uint32_t count = make_rows(rows, most, keys, words > 1, expected);
    for (uint32_t g = 0; g < GROUPS; g++)
        groups += expected[g].rows > 0;
    for (uint32_t s = 0; s < sources; s++) {
        deliveries[s] = (struct group_delivery){.plan = &plan, .sink = &taken.sink, .thread = s};
        if (group_states_create(&plan, &states[s], &error) != STATUS_OK)
            fail_msg("%s", error.text);
        group_states_clear(states[s]);
        group_states_deliver(states[s], given ? &deliveries[s] : NULL);
    }
    for (uint32_t done = 0, here; done < count; done += here) { /* pieces, which any thread takes */
        here = 1 + below(5000);
        here = here < count - done ? here : count - done;
        add_rows(&plan, states[below(sources)], rows + done, here);
    }
    if (group_states_collect(&plan, states, sources, sources, false, given ? deliveries : NULL, &found,
                             &error) != STATUS_OK)
        fail_msg("%s", error.text);
    for (uint64_t place = 0; place < found.count; place++)
        check_group(&found, place, words, expected);
    assert_int_equal(taken.sink.taken, given);
    assert_int_equal(found.count, given ? 0 : groups);
    assert_int_equal(taken.groups, given ? groups : 0);
    partial_free(&found);
    for (uint32_t s = 0; s < sources; s++) {
        group_states_free(states[s]);
        group_delivery_free(&deliveries[s]);
    }
    free(expected);
    free(rows);
}

static void groups_are_those_of_an_array(void **state)
{
    static const uint32_t sizes[] = {0, 1, 31, 1023, 1024, 1025, 60000, 400000};
    (void)state;
    random_state = 20261128;
    for (size_t s = 0; s < sizeof sizes / sizeof *sizes; s++)
        for (uint32_t turn = 0; turn < 16; turn++)
            check(sizes[s], turn % 4 == 3 ? 1 + below(4) : KEYS, 1 + turn / 2 % 2, 1 + turn % SOURCES,
                  turn < 12, turn % 2);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(groups_are_those_of_an_array)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
