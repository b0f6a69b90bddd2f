/* test_join.c: joins of all kinds give what a loop over all pairs gives: at sizes around a batch and a part, with NULLs and
 * equal keys, with keys in which NULLs match, without keys, with conditions beside the keys that may be NULL, and the same
 * on one thread and on several. */
#define _GNU_SOURCE
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>

#include "engine/relational/join/join.h"
#include "tests/fuzz/fuzz_random.h"

#include <stdlib.h>
#include <string.h>

#define KEYS 2u

/* A side: its keys, and a value that the condition beside them reads. */
struct side {
    uint64_t rows;
    struct rowset_column keys[KEYS], value;
};

static struct rowset_column random_column(uint64_t rows, uint32_t domain, uint32_t nulls)
{
    struct rowset_column column = {.type = {.kind = VALUE_INTEGER}};
    assert_int_equal(spillable_zeros(&column.values, (rows + 1) * sizeof *column.values, "a test", NULL),
                     STATUS_OK);
    if (nulls)
        assert_int_equal(spillable_zeros(&column.nulls, rows + 1, "a test", NULL), STATUS_OK);
    for (uint64_t row = 0; row < rows; row++) {
        column.values[row] = (int64_t)below(domain) - 2;
        if (nulls && chance(nulls)) {
            column.values[row] = 0;
            column.nulls[row] = 1;
        }
    }
    return column;
}

static int compare_values(const void *left, const void *right)
{
    const int64_t a = *(const int64_t *)left, b = *(const int64_t *)right;
    return (a > b) - (a < b);
}

/* Some sides stand in the order of their first key. */
static struct side random_side(uint64_t rows, uint32_t domain, uint32_t nulls)
{
    struct side side = {.rows = rows};
    side.keys[0] = random_column(rows, domain, nulls);
    if (chance(40))
        qsort(side.keys[0].values, rows, sizeof *side.keys[0].values, compare_values);
    side.keys[1] = random_column(rows, 2, nulls);
    side.value = random_column(rows, 6, 10);
    return side;
}

static void side_free(struct side *side)
{
    for (uint32_t k = 0; k < KEYS; k++)
        rowset_column_free(&side->keys[k]);
    rowset_column_free(&side->value);
}

static bool null_at(const struct rowset_column *column, uint64_t row)
{
    return column->nulls && column->nulls[row];
}

/* ---- The condition beside the keys: left value < right value ---- */

struct sides {
    const struct side *left, *right;
};

static enum join_truth less(const struct sides *sides, uint64_t left, uint64_t right)
{
    const struct rowset_column *const a = &sides->left->value, *const b = &sides->right->value;
    return null_at(a, left) || null_at(b, right) ? JOIN_UNKNOWN
           : a->values[left] < b->values[right]  ? JOIN_TRUE
                                                 : JOIN_FALSE;
}

static enum status test_pairs(void *context, unsigned thread, const uint64_t *lefts, const uint64_t *rights,
                              uint32_t count, uint8_t *truth, struct error *error)
{
    (void)thread;
    (void)error;
    assert_in_range(count, 1, JOIN_TEST_PAIRS);
    for (uint32_t i = 0; i < count; i++)
        truth[i] = (uint8_t)less(context, lefts[i], rights[i]);
    return STATUS_OK;
}

/* ---- The reference ---- */

static enum join_truth equal(const struct join_task *task, uint32_t k, uint64_t left, uint64_t right)
{
    const struct rowset_column *const a = &task->left_keys[k], *const b = &task->right_keys[k];
    const bool null_a = null_at(a, left), null_b = null_at(b, right);
    if (null_a || null_b)
        return !task->nulls_match[k] ? task->unknown_keys ? JOIN_UNKNOWN : JOIN_FALSE
               : null_a == null_b    ? JOIN_TRUE
                                     : JOIN_FALSE;
    return a->values[left] == b->values[right] ? JOIN_TRUE : JOIN_FALSE;
}

static enum join_truth condition(const struct join_task *task, uint64_t left, uint64_t right)
{
    enum join_truth all = JOIN_TRUE;
    for (uint32_t k = 0; k <= task->key_count; k++) {
        const enum join_truth one = k < task->key_count ? equal(task, k, left, right)
                                    : task->test        ? less(task->test->context, left, right)
                                                        : JOIN_TRUE;
        if (one == JOIN_FALSE)
            return JOIN_FALSE;
        all = one == JOIN_UNKNOWN ? JOIN_UNKNOWN : all;
    }
    return all;
}

static void add(struct join_result *result, uint64_t left, uint64_t right)
{
    if ((result->count & (result->count + 1)) == 0) {
        const uint64_t room = 2 * result->count + 2;
        assert_int_equal(spillable_grow(&result->lefts, room * sizeof *result->lefts, "a test", NULL),
                         STATUS_OK);
        assert_int_equal(spillable_grow(&result->rights, room * sizeof *result->rights, "a test", NULL),
                         STATUS_OK);
    }
    result->lefts[result->count] = left;
    result->rights[result->count++] = right;
}

/* False if a SINGLE join finds a second partner. */
static bool reference(const struct join_task *task, struct join_result *result)
{
    uint8_t *const met = calloc(task->right_rows + 1, 1);
    bool single = true;
    *result = (struct join_result){0};
    assert_int_equal(
        spillable_zeros(&result->marks, (task->left_rows + 1) * sizeof *result->marks, "a test", NULL),
        STATUS_OK);
    assert_int_equal(spillable_zeros(&result->mark_nulls, task->left_rows + 1, "a test", NULL), STATUS_OK);
    for (uint64_t left = 0; left < task->left_rows; left++) {
        uint64_t partners = 0, unknown = 0;
        for (uint64_t right = 0; right < task->right_rows; right++) {
            const enum join_truth truth = condition(task, left, right);
            unknown += truth == JOIN_UNKNOWN;
            if (truth != JOIN_TRUE)
                continue;
            partners++;
            met[right] = 1;
            if (task->join <= LOGICAL_FULL || task->join == LOGICAL_SINGLE)
                add(result, left, right);
        }
        single &= partners <= 1;
        result->marks[left] = partners > 0;
        result->mark_nulls[left] = !partners && unknown;
        if ((partners == 0 && (task->join == LOGICAL_LEFT || task->join == LOGICAL_FULL ||
                               task->join == LOGICAL_SINGLE || task->join == LOGICAL_ANTI)) ||
            (partners && task->join == LOGICAL_SEMI))
            add(result, left, RELATION_NO_ROW);
    }
    for (uint64_t right = 0; task->join == LOGICAL_FULL && right < task->right_rows; right++)
        if (!met[right])
            add(result, RELATION_NO_ROW, right);
    free(met);
    return single;
}

/* ---- The comparison ---- */

static void compare(const struct join_task *task, const struct join_result *expected)
{
    struct error error = {0};
    struct join_result result;
    assert_int_equal(join_rows(task, &result, &error), STATUS_OK);
    if (task->join == LOGICAL_MARK) {
        assert_int_equal(result.count, task->left_rows);
        assert_memory_equal(result.marks, expected->marks, task->left_rows * sizeof *result.marks);
        assert_memory_equal(result.mark_nulls, expected->mark_nulls, task->left_rows);
    } else {
        assert_int_equal(result.count, expected->count);
        if (result.count)
            assert_memory_equal(result.lefts, expected->lefts, result.count * sizeof *result.lefts);
        if (result.count && result.rights)
            assert_memory_equal(result.rights, expected->rights, result.count * sizeof *result.rights);
    }
    join_result_free(&result);
}

static void join_both(struct join_task *task)
{
    struct join_result expected;
    const bool single = reference(task, &expected);
    for (task->threads = 1; task->threads <= 3; task->threads++)
        if (task->join == LOGICAL_SINGLE && !single) {
            struct error error = {0};
            struct join_result result;
            assert_int_equal(join_rows(task, &result, &error), STATUS_BAD_INPUT);
            assert_non_null(strstr(error.text, "the subquery gives more than one row"));
            assert_null(result.lefts);
        } else {
            compare(task, &expected);
        }
    join_result_free(&expected);
}

static void join_all_kinds(uint64_t left_rows, uint64_t right_rows, uint32_t domain, uint32_t nulls)
{
    struct side left = random_side(left_rows, domain, nulls), right = random_side(right_rows, domain, nulls);
    struct sides sides = {&left, &right};
    const struct join_test test = {test_pairs, &sides};
    for (uint32_t keys = 0; keys <= KEYS; keys++)
        for (uint32_t match = 0; match < 3; match++)
            for (uint32_t tested = 0; tested < 2; tested++)
                for (enum logical_join join = LOGICAL_INNER; join <= LOGICAL_SINGLE; join++) {
                    const bool nulls_match[KEYS] = {match > 0, match > 1};
                    struct join_task task = {.join = join,
                                             .key_count = keys,
                                             .left_keys = left.keys,
                                             .right_keys = right.keys,
                                             .nulls_match = nulls_match,
                                             .left_rows = left_rows,
                                             .right_rows = right_rows,
                                             .test = tested ? &test : NULL};
                    if ((keys == 0 && left_rows * right_rows > 200000) || (keys == 0 && match))
                        continue;
                    join_both(&task);
                    task.unknown_keys = keys > 0;
                    if (join == LOGICAL_MARK)
                        join_both(&task);
                }
    side_free(&left);
    side_free(&right);
}

static void joins_of_few_rows(void **state)
{
    static const uint64_t sizes[] = {0, 1, 5, 40};
    (void)state;
    for (size_t l = 0; l < 4; l++)
        for (size_t r = 0; r < 4; r++)
            for (uint32_t nulls = 0; nulls <= 30; nulls += 15)
                join_all_kinds(sizes[l], sizes[r], 8, nulls);
}

static void joins_around_a_batch(void **state)
{
    (void)state;
    join_all_kinds(1023, 1025, 700, 5);
    join_all_kinds(1025, 1, 2, 5);
    join_all_kinds(1, 1025, 2, 5);
    join_all_kinds(0, 5000, 100, 5);
    join_all_kinds(5000, 0, 100, 5);
    join_all_kinds(5000, 1023, 4000, 1);
}

/* More right rows than one part of the table has, and more left rows than a morsel has; each key once, and so far from the
 * next one. */
static void join_in_parts(int64_t apart)
{
    enum { ROWS = 200000 };
    struct rowset_column left = random_column(ROWS, 2 * ROWS, 1), right = random_column(ROWS, 1, 0);
    const bool no = false;
    uint64_t partners = 0;
    for (uint64_t row = 0; row < ROWS; row++) {
        partners += !left.nulls[row] && left.values[row] >= 0 && left.values[row] < ROWS;
        right.values[row] = (int64_t)(row * 7 % ROWS) * apart;
        left.values[row] *= apart;
    }
    for (unsigned threads = 1; threads <= 2; threads++) {
        const struct join_task task = {.join = LOGICAL_LEFT,
                                       .key_count = 1,
                                       .left_keys = &left,
                                       .right_keys = &right,
                                       .nulls_match = &no,
                                       .left_rows = ROWS,
                                       .right_rows = ROWS,
                                       .threads = threads};
        struct error error = {0};
        struct join_result result;
        uint64_t found = 0;
        assert_int_equal(join_rows(&task, &result, &error), STATUS_OK);
        assert_int_equal(result.count, ROWS);
        for (uint64_t row = 0; row < ROWS; row++) {
            assert_int_equal(result.lefts[row], row);
            if (result.rights[row] == RELATION_NO_ROW)
                continue;
            assert_int_equal(left.values[row], right.values[result.rights[row]]);
            found++;
        }
        assert_int_equal(found, partners);
        join_result_free(&result);
    }
    rowset_column_free(&left);
    rowset_column_free(&right);
}

static void a_table_in_parts(void **state)
{
    (void)state;
    join_in_parts(1);
    join_in_parts(13); /* few bits of a word of marks */
    join_in_parts(10007);
    join_in_parts(INT64_C(1) << 40);
}

/* Keys of rows of the right side, at least 0 and less than the rows. */
enum pattern {
    IN_ORDER,
    IN_ORDER_TWICE,
    IN_ORDER_ONE_OFTEN,
    MIXED_THRICE,
    MIXED_ONE_OFTEN,
    MIXED_WITH_NULLS,
    PATTERNS
};

static int64_t pattern_key(enum pattern pattern, uint64_t row, uint64_t rows)
{
    const uint64_t mixed = row * 7 % rows;
    switch (pattern) {
    case IN_ORDER:
    case PATTERNS:
        return (int64_t)row;
    case IN_ORDER_TWICE:
        return (int64_t)(row / 2 * 2);
    case IN_ORDER_ONE_OFTEN:
        return (int64_t)(row < rows / 4           ? row
                         : row < rows / 2         ? rows / 2
                         : row / 3 * 3 + 2 < rows ? row / 3 * 3 + 2
                                                  : rows - 1);
    case MIXED_THRICE:
    case MIXED_WITH_NULLS:
        return (int64_t)(mixed / 3);
    case MIXED_ONE_OFTEN:
        return mixed % 2 ? (int64_t)(rows / 3) : (int64_t)mixed;
    }
    return 0;
}

/* The pairs by the rows of each key, in their order: `begins` has one more entry than there are keys. */
static void compare_patterns(const struct join_result *result, const struct rowset_column *left,
                             const struct rowset_column *right, uint64_t rows, int64_t apart)
{
    uint64_t *const begins = calloc(rows + 2, sizeof *begins),
                    *const by_key = calloc(rows + 1, sizeof *by_key), at = 0;
    for (uint64_t row = 0; row < rows; row++)
        begins[right->values[row] / apart + 2] += !null_at(right, row);
    for (uint64_t key = 0; key < rows; key++)
        begins[key + 2] += begins[key + 1];
    for (uint64_t row = 0; row < rows; row++)
        if (!null_at(right, row))
            by_key[begins[right->values[row] / apart + 1]++] = row;
    for (uint64_t row = 0; row < rows; row++) {
        const int64_t key = left->values[row] / apart;
        const bool none = null_at(left, row) || key < 0 || begins[key] == begins[key + 1];
        for (uint64_t i = none ? 0 : begins[key]; i < (none ? 1 : begins[key + 1]); i++, at++) {
            assert_in_range(at + 1, 1, result->count);
            assert_int_equal(result->lefts[at], row);
            assert_int_equal(result->rights[at], none ? RELATION_NO_ROW : by_key[i]);
        }
    }
    assert_int_equal(at, result->count);
    free(begins);
    free(by_key);
}

/* Parts of the table in which keys have one row or several, rows that stand in order and not, on one thread and several. */
static void keys_of_several_rows_in_parts(void **state)
{
    enum { ROWS = 150001 };
    static const int64_t spaces[] = {1, 13, INT64_C(1) << 35};
    const bool no = false;
    (void)state;
    for (enum pattern pattern = 0; pattern < PATTERNS; pattern++)
        for (uint32_t s = 0; s < 3; s++) {
            const int64_t apart = spaces[s];
            struct rowset_column left = random_column(ROWS, ROWS, 1),
                                 right = random_column(ROWS, 1, pattern == MIXED_WITH_NULLS ? 10 : 0);
            for (uint64_t row = 0; row < ROWS; row++) {
                left.values[row] =
                    pattern == MIXED_ONE_OFTEN && left.values[row] == ROWS / 3 ? 0 : left.values[row] * apart;
                right.values[row] = pattern_key(pattern, row, ROWS) * apart;
            }
            for (unsigned threads = 1; threads <= 3; threads += 2) {
                const struct join_task task = {.join = LOGICAL_LEFT,
                                               .key_count = 1,
                                               .left_keys = &left,
                                               .right_keys = &right,
                                               .nulls_match = &no,
                                               .left_rows = ROWS,
                                               .right_rows = ROWS,
                                               .threads = threads};
                struct error error = {0};
                struct join_result result;
                assert_int_equal(join_rows(&task, &result, &error), STATUS_OK);
                compare_patterns(&result, &left, &right, ROWS, apart);
                join_result_free(&result);
            }
            rowset_column_free(&left);
            rowset_column_free(&right);
        }
}

/* A forgotten condition is refused before the memory is full. */
static void too_many_pairs(void **state)
{
    static const enum logical_join kinds[] = {LOGICAL_INNER, LOGICAL_LEFT, LOGICAL_FULL};
    struct join_task task = {.left_rows = 1 << 15, .right_rows = 1 << 15};
    struct error error = {0};
    struct join_result result;
    (void)state;
    for (size_t k = 0; k < sizeof kinds / sizeof *kinds; k++) {
        task.join = kinds[k];
        assert_int_not_equal(join_rows(&task, &result, &error), STATUS_OK);
        assert_non_null(strstr(error.text, "a join of answers has more than"));
    }
    task.join = LOGICAL_SEMI;
    assert_int_equal(join_rows(&task, &result, &error), STATUS_OK);
    assert_int_equal(result.count, task.left_rows);
    join_result_free(&result);
}

int main(void)
{
    random_state = 0x20261123;
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(joins_of_few_rows), cmocka_unit_test(joins_around_a_batch),
        cmocka_unit_test(a_table_in_parts),  cmocka_unit_test(keys_of_several_rows_in_parts),
        cmocka_unit_test(too_many_pairs),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
