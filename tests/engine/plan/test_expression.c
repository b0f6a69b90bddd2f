/* Expressions as they are made: folding, ranges, NULLs, what SQL means by each operation on single values,
 * and strings as codes. */
#include "engine/plan/expression_vector.h"
#include "engine/plan/functions/string_call.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>

#include <stdlib.h>
#include <string.h>

static struct expression_list list;
static struct error error;

static int reset(void **state)
{
    (void)state;
    expression_list_free(&list);
    return 0;
}

static uint32_t number(int64_t value)
{
    uint32_t node;
    const struct value_type type = {.kind = VALUE_INTEGER};
    assert_int_equal(expression_constant(&list, type, value, &node, &error), STATUS_OK);
    return node;
}

static uint32_t null(enum value_kind kind)
{
    uint32_t node;
    const struct value_type type = {.kind = kind};
    assert_int_equal(expression_null(&list, type, &node, &error), STATUS_OK);
    return node;
}

static uint32_t truth(int64_t value)
{
    uint32_t node;
    const struct value_type type = {.kind = VALUE_BOOLEAN};
    if (value < 0)
        return null(VALUE_BOOLEAN);
    assert_int_equal(expression_constant(&list, type, value, &node, &error), STATUS_OK);
    return node;
}

static uint32_t column(uint32_t index, int64_t low, int64_t high, bool nullable)
{
    uint32_t node;
    const struct expression leaf = {.operation = EXPRESSION_COLUMN,
                                    .type = {.kind = VALUE_INTEGER},
                                    .index = index,
                                    .nullable = nullable,
                                    .low = low,
                                    .high = high};
    assert_int_equal(expression_add(&list, &leaf, &node, &error), STATUS_OK);
    return node;
}

static uint32_t string(const char *text)
{
    uint32_t node;
    assert_int_equal(expression_string_constant(&list, text, (uint32_t)strlen(text), &node, &error),
                     STATUS_OK);
    return node;
}

static uint32_t apply(enum expression_operation operation, uint32_t a, uint32_t b, uint32_t c)
{
    uint32_t node;
    assert_int_equal(expression_apply(&list, operation, a, b, c, &node, &error), STATUS_OK);
    return node;
}

static void assert_constant(uint32_t node, int64_t value)
{
    assert_true(expression_is_constant(&list, node));
    assert_int_equal(list.nodes[node].constant, value);
}

static void assert_is_null(uint32_t node)
{
    assert_int_equal(list.nodes[node].operation, EXPRESSION_CONSTANT);
    assert_true(list.nodes[node].is_null);
}

static void constants_are_folded_as_sqlite_counts(void **state)
{
    (void)state;
    assert_constant(apply(EXPRESSION_ADD, number(40), number(2), EXPRESSION_NONE), 42);
    assert_constant(apply(EXPRESSION_DIVIDE, number(-7), number(2), EXPRESSION_NONE), -3);
    assert_constant(apply(EXPRESSION_REMAINDER, number(-7), number(2), EXPRESSION_NONE), -1);
    assert_is_null(apply(EXPRESSION_DIVIDE, number(1), number(0), EXPRESSION_NONE));
    assert_is_null(apply(EXPRESSION_REMAINDER, number(1), number(0), EXPRESSION_NONE));
    assert_is_null(apply(EXPRESSION_ADD, number(1), null(VALUE_INTEGER), EXPRESSION_NONE));
    assert_constant(apply(EXPRESSION_IS_NULL, null(VALUE_INTEGER), EXPRESSION_NONE, EXPRESSION_NONE), 1);
    assert_constant(apply(EXPRESSION_CHOOSE, truth(-1), number(1), number(2)), 2);
}

static void truth_has_three_values(void **state)
{
    static const int and[3][3] = {{0, 0, 0}, {0, 1, -1}, {0, -1, -1}};
    static const int or [3][3] = {{0, 1, -1}, {1, 1, 1}, {-1, 1, -1}};
    static const int values[3] = {0, 1, -1};
    (void)state;
    for (int a = 0; a < 3; a++)
        for (int b = 0; b < 3; b++) {
            const uint32_t both = apply(EXPRESSION_AND, truth(values[a]), truth(values[b]), EXPRESSION_NONE);
            const uint32_t any = apply(EXPRESSION_OR, truth(values[a]), truth(values[b]), EXPRESSION_NONE);
            and[a][b] < 0 ? assert_is_null(both) : assert_constant(both, and[a][b]);
            or [a][b] < 0 ? assert_is_null(any) : assert_constant(any, or [a][b]);
        }
    assert_is_null(apply(EXPRESSION_NOT, truth(-1), EXPRESSION_NONE, EXPRESSION_NONE));
}

static void ranges_follow_from_children_and_64_bits_are_kept(void **state)
{
    (void)state;
    const uint32_t a = column(0, -3, 5, false), b = column(1, 2, 4, true);
    const struct expression *product = &list.nodes[apply(EXPRESSION_MULTIPLY, a, b, EXPRESSION_NONE)];
    assert_int_equal(product->low, -12);
    assert_int_equal(product->high, 20);
    assert_true(product->nullable);
    const struct expression *quotient = &list.nodes[apply(EXPRESSION_DIVIDE, a, b, EXPRESSION_NONE)];
    assert_int_equal(quotient->low, -1);
    assert_int_equal(quotient->high, 2);
    uint32_t node;
    const uint32_t wide = column(2, 0, INT64_MAX, false);
    assert_int_equal(expression_apply(&list, EXPRESSION_ADD, wide, a, EXPRESSION_NONE, &node, &error),
                     STATUS_OK);
    assert_true(list.nodes[node].checked && !list.nodes[node].by_row);
    list.on_gpu = true; /* a kernel computes nothing that may leave 64 bits */
    assert_int_equal(expression_apply(&list, EXPRESSION_MULTIPLY, wide, a, EXPRESSION_NONE, &node, &error),
                     STATUS_OK);
    assert_true(list.nodes[node].checked && list.nodes[node].by_row);
    list.on_gpu = false;
}

static void equal_nodes_are_made_once(void **state)
{
    (void)state;
    const uint32_t a = column(0, 0, 9, false), one = number(1);
    assert_int_equal(apply(EXPRESSION_ADD, a, one, EXPRESSION_NONE),
                     apply(EXPRESSION_ADD, a, one, EXPRESSION_NONE));
}

static void nodes_are_found_by_hash_up_to_their_limit(void **state)
{
    uint32_t node;
    (void)state;
    for (int64_t i = 0; i < EXPRESSION_NODES_MAX; i++)
        assert_int_equal(number(i * 1000003), i);
    for (int64_t i = 0; i < EXPRESSION_NODES_MAX; i++)
        assert_int_equal(number(i * 1000003), i);
    assert_int_equal(
        expression_constant(&list, (struct value_type){.kind = VALUE_INTEGER}, -1, &node, &error),
        STATUS_BAD_INPUT);
    assert_non_null(strstr(error.text, "more than 65536 different expressions"));
}

static void the_least_number_divides_by_minus_one(void **state)
{
    (void)state;
    assert_constant(apply(EXPRESSION_REMAINDER, number(INT64_MIN), number(-1), EXPRESSION_NONE), 0);
    assert_constant(apply(EXPRESSION_REMAINDER, number(INT64_MIN), number(10), EXPRESSION_NONE), -8);
    assert_constant(apply(EXPRESSION_DIVIDE, number(INT64_MIN), number(1), EXPRESSION_NONE), INT64_MIN);
    uint32_t node;
    assert_int_equal(expression_apply(&list, EXPRESSION_DIVIDE, number(INT64_MIN), number(-1),
                                      EXPRESSION_NONE, &node, &error),
                     STATUS_BAD_INPUT);
}

static void times_at_the_ends_have_fields(void **state)
{
    (void)state;
    assert_int_equal(calendar_timestamp_field(INT64_MIN, CALENDAR_SECOND), 5);
    assert_int_equal(calendar_timestamp_field(INT64_MIN, CALENDAR_HOUR), 19);
    assert_int_equal(calendar_timestamp_field(INT64_MAX, CALENDAR_SECOND), 54);
    assert_int_equal(calendar_date_field(INT32_MIN, CALENDAR_YEAR), -5877641);
    assert_int_equal(calendar_date_field(INT32_MAX, CALENDAR_YEAR), 5881580);
    uint32_t node;
    const struct value_type date = {.kind = VALUE_DATE};
    assert_int_equal(expression_constant(&list, date, INT64_C(1) << 31, &node, &error), STATUS_BAD_INPUT);
    assert_int_equal(expression_constant(&list, date, INT32_MIN, &node, &error), STATUS_OK);
}

/* What a left join's missing rows make of a condition. */
static void values_where_all_is_null(void **state)
{
    (void)state;
    const uint32_t a = column(0, 0, 9, true),
                   is_null = apply(EXPRESSION_IS_NULL, a, EXPRESSION_NONE, EXPRESSION_NONE);
    const uint32_t five = apply(EXPRESSION_CHOOSE, is_null, number(5), a);
    const uint32_t less = apply(EXPRESSION_LESS, number(4), five, EXPRESSION_NONE);
    assert_true(list.nodes[a].of_nulls.null);
    assert_int_equal(list.nodes[is_null].of_nulls.value, 1);
    assert_int_equal(list.nodes[less].of_nulls.value, 1);
    assert_true(list.nodes[apply(EXPRESSION_LESS, a, five, EXPRESSION_NONE)].of_nulls.null);
}

/* ---- Vectors ---- */

#define SOME_ROWS 1000u

/* What the node's operation means, in the plainest way: the tests ask for division and membership. */
static struct scalar expected_of(const struct expression *node, struct scalar a, struct scalar b)
{
    struct scalar out = {0, a.null || b.null};
    if (out.null)
        return out;
    if (node->operation == EXPRESSION_IN_SET) {
        const struct value_table *table = &list.tables[node->table];
        for (uint64_t i = 0; i < table->count; i++)
            out.value |= table->values[i] == a.value;
        return out;
    }
    const __int128 quotient = b.value ? (__int128)a.value / b.value : 0;
    out.null = b.value == 0;
    out.value = (int64_t)(node->operation == EXPRESSION_DIVIDE ? quotient : a.value - quotient * b.value);
    return out;
}

/* Runs the node over rows of the columns 0 and 1, and over each row by itself. */
static void vectors_equal_scalars(uint32_t node, const int64_t *a, const int64_t *b)
{
    struct expression_program *program;
    const uint32_t *leaves;
    assert_int_equal(expression_program_create(&list, &node, 1, &program, &error), STATUS_OK);
    const uint32_t count = expression_program_leaves(program, &leaves);
    for (uint32_t l = 0; l < count; l++) {
        const struct vector leaf = expression_program_vector(program, leaves[l]);
        memcpy(leaf.values, list.nodes[leaves[l]].index ? b : a, SOME_ROWS * sizeof *a);
        for (uint32_t row = 0; leaf.nulls && row < SOME_ROWS; row++)
            leaf.nulls[row] = row % 7 == 3;
    }
    expression_program_run(program, SOME_ROWS);
    const struct vector out = expression_program_vector(program, node);
    for (uint32_t row = 0; row < SOME_ROWS; row++) {
        const bool null = list.nodes[0].nullable && row % 7 == 3;
        const struct scalar children[3] = {{a[row], null}, {b[row], false}, {0, false}};
        const struct scalar alone = expression_scalar(&list, &list.nodes[node], children),
                            expected = expected_of(&list.nodes[node], children[0], children[1]);
        assert_int_equal(alone.null, expected.null);
        assert_int_equal(out.nulls && out.nulls[row], expected.null);
        if (!expected.null)
            assert_int_equal(alone.value, expected.value);
        if (!expected.null)
            assert_int_equal(out.values[row], expected.value);
    }
    expression_program_free(program);
}

static void vectors_divide_as_single_values_do(void **state)
{
    int64_t a[SOME_ROWS], b[SOME_ROWS];
    (void)state;
    for (uint32_t row = 0; row < SOME_ROWS; row++) {
        a[row] = row % 3 ? INT64_MIN + row / 5 : INT64_MAX - row;
        b[row] = (int64_t)(row % 5) - 2;
    }
    const uint32_t x = column(0, INT64_MIN, INT64_MAX, true), y = column(1, -2, 2, false);
    vectors_equal_scalars(apply(EXPRESSION_REMAINDER, x, y, EXPRESSION_NONE), a, b);
    list.nodes[x].low = 0; /* as a file says that lies */
    vectors_equal_scalars(apply(EXPRESSION_DIVIDE, x, column(1, 1, 2, false), EXPRESSION_NONE), a, b);
}

/* Sets of values that lie close together, and far apart; the least and the greatest number; none. */
static void vectors_find_members_as_single_values_do(void **state)
{
    static const int64_t steps[] = {1, 3, 63, 64, 65, 1000003};
    static const uint64_t counts[] = {0, 1, 2, 3, 64, 65, 500, 1023};
    int64_t a[SOME_ROWS], b[SOME_ROWS] = {0};
    (void)state;
    for (size_t s = 0; s < sizeof steps / sizeof *steps; s++)
        for (size_t c = 0; c < sizeof counts / sizeof *counts; c++)
            for (int ends = 0; ends < 2; ends++) {
                const uint64_t count = counts[c] + 2 * (uint64_t)ends;
                int64_t *values = malloc((count + 1) * sizeof *values);
                uint32_t node;
                for (uint64_t i = 0; i < count; i++)
                    values[i] = ends && i == 0           ? INT64_MIN
                                : ends && i == count - 1 ? INT64_MAX
                                                         : (int64_t)i * steps[s] - 700;
                for (uint32_t row = 0; row < SOME_ROWS; row++)
                    a[row] = row == 0   ? INT64_MIN
                             : row == 1 ? INT64_MAX
                                        : (int64_t)(row / 2) * steps[s] - 710 + (int64_t)(row % 2);
                const uint32_t x = column(0, INT64_MIN, INT64_MAX, true);
                assert_int_equal(expression_in_set(&list, x, values, count, &node, &error), STATUS_OK);
                vectors_equal_scalars(node, a, b);
                expression_list_free(&list);
            }
}

static void zero_has_no_sign_in_a_set(void **state)
{
    uint32_t node;
    int64_t *values = malloc(sizeof *values), a[SOME_ROWS] = {0}, b[SOME_ROWS] = {0};
    const int64_t minus_zero = double_key_of(-0.0);
    (void)state;
    values[0] = 0;
    a[5] = minus_zero;
    a[6] = 1;
    const struct expression leaf = {.operation = EXPRESSION_AGGREGATE, .type = {.kind = VALUE_DOUBLE}};
    assert_int_equal(expression_add(&list, &leaf, &node, &error), STATUS_OK);
    assert_int_equal(expression_in_set(&list, node, values, 1, &node, &error), STATUS_OK);
    const struct scalar children[3] = {{minus_zero, false}, {0, false}, {0, false}};
    assert_int_equal(expression_scalar(&list, &list.nodes[node], children).value, 1);
    vectors_equal_scalars(node, a, b);
}

static bool like(const char *text, const char *pattern, char escape)
{
    uint32_t node;
    struct like_pattern of = {pattern, (uint32_t)strlen(pattern), escape, LIKE_IGNORES_ASCII};
    assert_int_equal(expression_string_like(&list, string(text), &of, &node, &error), STATUS_OK);
    assert_true(expression_is_constant(&list, node));
    return list.nodes[node].constant;
}

static void like_matches_as_sqlite_does(void **state)
{
    (void)state;
    assert_true(like("", "", 0));
    assert_true(like("", "%", 0));
    assert_false(like("", "_", 0));
    assert_true(like("ASIA", "a%", 0));
    assert_true(like("mississippi", "%iss%ip%", 0));
    assert_false(like("mississippi", "%iss%iz%", 0));
    assert_true(like("\xc3\xa4\xc3\xb6", "_\xc3\xb6", 0));
    assert_false(like("\xc3\xa4", "__", 0));
    assert_true(like("100%", "100\\%", '\\'));
    assert_false(like("1000", "100\\%", '\\'));
    assert_true(like("a_b", "a\\_b", '\\'));
}

static void assert_string(uint32_t node, const char *expected)
{
    uint32_t length;
    assert_true(expression_is_constant(&list, node));
    const char *text =
        dictionary_string(list.nodes[node].type.dictionary, (uint32_t)list.nodes[node].constant, &length);
    assert_int_equal(length, strlen(expected));
    assert_memory_equal(text, expected, length);
}

static uint32_t function(string_call_body *body, const char *text, int64_t first, int64_t count)
{
    const struct string_call call = {
        .body = body,
        .type = {.kind = body == string_characters ? VALUE_INTEGER : VALUE_STRING},
        .numbers = {first, count},
        .count = body == string_trim ? 2 : 1};
    const uint32_t strings[2] = {string(text), string(" ")};
    uint32_t node;
    assert_int_equal(expression_string_call(&list, &call, strings, &node, &error), STATUS_OK);
    return node;
}

static void string_functions_are_sqlites(void **state)
{
    (void)state;
    assert_string(function(string_upper, "m\xc3\xbc-a1", 0, 0), "M\xc3\x9c-A1");
    assert_string(function(string_lower, "ASIA", 0, 0), "asia");
    assert_string(function(string_trim, "  a b ", 3, 0), "a b");
    assert_constant(function(string_characters, "\xc3\xa4 b", 0, 0), 3);
    assert_string(function(string_substr, "hello", 2, 3), "ell");
    assert_string(function(string_substr, "hello", -3, 2), "ll");
    assert_string(function(string_substr, "hello", 0, 2), "h");
    assert_string(function(string_substr, "hello", -7, 4), "he");
    assert_string(function(string_substr, "hello", 4, -2), "el");
    assert_string(function(string_substr, "hello", 9, 2), "");
}

static void two_dictionaries_become_one(void **state)
{
    (void)state;
    uint32_t a = string("b"), b = string("a");
    assert_int_equal(expression_string_unify(&list, &a, &b, &error), STATUS_OK);
    assert_ptr_equal(list.nodes[a].type.dictionary, list.nodes[b].type.dictionary);
    assert_constant(a, 1);
    assert_constant(b, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_teardown(constants_are_folded_as_sqlite_counts, reset),
        cmocka_unit_test_teardown(truth_has_three_values, reset),
        cmocka_unit_test_teardown(ranges_follow_from_children_and_64_bits_are_kept, reset),
        cmocka_unit_test_teardown(equal_nodes_are_made_once, reset),
        cmocka_unit_test_teardown(nodes_are_found_by_hash_up_to_their_limit, reset),
        cmocka_unit_test_teardown(the_least_number_divides_by_minus_one, reset),
        cmocka_unit_test_teardown(times_at_the_ends_have_fields, reset),
        cmocka_unit_test_teardown(values_where_all_is_null, reset),
        cmocka_unit_test_teardown(vectors_divide_as_single_values_do, reset),
        cmocka_unit_test_teardown(vectors_find_members_as_single_values_do, reset),
        cmocka_unit_test_teardown(zero_has_no_sign_in_a_set, reset),
        cmocka_unit_test_teardown(like_matches_as_sqlite_does, reset),
        cmocka_unit_test_teardown(string_functions_are_sqlites, reset),
        cmocka_unit_test_teardown(two_dictionaries_become_one, reset),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
