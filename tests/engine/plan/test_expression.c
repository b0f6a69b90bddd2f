/* Expressions as they are made: folding, ranges, NULLs, what SQL means by each operation on single values,
 * and strings as codes. */
#include "engine/plan/expression.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>

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
                     STATUS_BAD_INPUT);
    assert_non_null(strstr(error.text, "64 bits"));
}

static void equal_nodes_are_made_once(void **state)
{
    (void)state;
    const uint32_t a = column(0, 0, 9, false), one = number(1);
    assert_int_equal(apply(EXPRESSION_ADD, a, one, EXPRESSION_NONE),
                     apply(EXPRESSION_ADD, a, one, EXPRESSION_NONE));
}

static bool like(const char *text, const char *pattern, char escape)
{
    uint32_t node;
    assert_int_equal(expression_string_like(&list, string(text), pattern, (uint32_t)strlen(pattern), escape,
                                            &node, &error),
                     STATUS_OK);
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

static uint32_t function(enum string_function which, const char *text, int64_t first, int64_t count)
{
    uint32_t node;
    assert_int_equal(expression_string_function(&list, which, string(text), first, count, &node, &error),
                     STATUS_OK);
    return node;
}

static void string_functions_are_sqlites(void **state)
{
    (void)state;
    assert_string(function(STRING_UPPER, "m\xc3\xbc-a1", 0, 0), "M\xc3\xbc-A1");
    assert_string(function(STRING_LOWER, "ASIA", 0, 0), "asia");
    assert_string(function(STRING_TRIM, "  a b ", 0, 0), "a b");
    assert_constant(function(STRING_LENGTH, "\xc3\xa4 b", 0, 0), 3);
    assert_string(function(STRING_SUBSTR, "hello", 2, 3), "ell");
    assert_string(function(STRING_SUBSTR, "hello", -3, 2), "ll");
    assert_string(function(STRING_SUBSTR, "hello", 0, 2), "h");
    assert_string(function(STRING_SUBSTR, "hello", -7, 4), "he");
    assert_string(function(STRING_SUBSTR, "hello", 4, -2), "el");
    assert_string(function(STRING_SUBSTR, "hello", 9, 2), "");
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
        cmocka_unit_test_teardown(like_matches_as_sqlite_does, reset),
        cmocka_unit_test_teardown(string_functions_are_sqlites, reset),
        cmocka_unit_test_teardown(two_dictionaries_become_one, reset),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
