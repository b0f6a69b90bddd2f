/* CHECK is SQL: what a condition may say, which rows pass, over one row and over many blocks of strings that come late. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>

#include "loader/check/check.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { A, P, S, D, B, MY_NAME, T, X, COLUMNS };
static const struct column_schema schema[COLUMNS] = {
    {.name = "a", .type = TYPE_INT32},     {.name = "p", .type = TYPE_DECIMAL, .precision = 9, .scale = 2},
    {.name = "s", .type = TYPE_STRING},    {.name = "d", .type = TYPE_DATE},
    {.name = "b", .type = TYPE_INT64},     {.name = "my name", .type = TYPE_INT32},
    {.name = "t", .type = TYPE_TIMESTAMP}, {.name = "x", .type = TYPE_STRING},
};

static struct check *read_check(const char *text, struct error *error)
{
    const struct check_source source = {text, strlen(text), 3, 7, "r", schema, COLUMNS};
    struct check *check;
    const enum status status = check_parse(&source, &check, error);
    assert_true(status == STATUS_OK || status == STATUS_BAD_INPUT);
    assert_true((status == STATUS_OK) == (check != NULL));
    return check;
}

static int32_t code_of(struct dictionary_builder *words, const char *string)
{
    struct error error;
    int32_t code;
    assert_int_equal(dictionary_builder_add(words, string, (uint32_t)strlen(string), &code, &error),
                     STATUS_OK);
    return code;
}

/* Tests rows and gives what is said of each. */
static void test(struct check *check, const struct check_values *columns, uint32_t rows, int32_t *failed)
{
    struct check_test *run;
    struct error error;
    bool any;
    assert_int_equal(check_test_create(&check, 1, &run, &error), STATUS_OK);
    assert_int_equal(check_test_rows(run, columns, 0, rows, failed, &any, &error), STATUS_OK);
    check_test_free(run);
}

/* Whether a row of a = 5, p = 1.50, s = "h\xc3\xa9llo", d = 2024-02-29, b = NULL, "my name" = -1, t = 2024-02-29 12:00, x = "z"
 * passes; -1: not understood, -2: too large. */
static int passes(const char *text)
{
    static const int32_t a = 5, d = 19782, my_name = -1;
    static const int64_t p = 150, t = INT64_C(1709208000000000);
    struct dictionary_builder *words;
    struct error error;
    int32_t failed;
    assert_int_equal(dictionary_builder_create(&words, &error), STATUS_OK);
    const int32_t s = code_of(words, "h\xc3\xa9llo"), x = code_of(words, "z");
    const struct check_values row[COLUMNS] = {
        {&a, 4, NULL, NULL},   {&p, 8, NULL, NULL},       {&s, 4, NULL, words}, {&d, 4, NULL, NULL},
        {NULL, 8, NULL, NULL}, {&my_name, 4, NULL, NULL}, {&t, 8, NULL, NULL},  {&x, 4, NULL, words}};
    struct check *const check = read_check(text, &error);
    if (check)
        test(check, row, 1, &failed);
    check_free(check);
    dictionary_builder_destroy(words);
    return !check ? -1 : failed < 0 ? -2 : failed == 0;
}

static void conditions_are_tested_as_sql_does(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        int passes;
    } cases[] = {
        {"a > 4", 1},
        {"a > 5", 0},
        {"5 <= a", 1},
        {"r.a <= 5", 1},
        {"a BETWEEN 1 AND 5", 1},
        {"a NOT BETWEEN 1 AND 5", 0},
        {"5 BETWEEN p AND a", 1}, /* 5.00 and 5 */
        {"3 BETWEEN a AND p", 0},
        {"NOT NOT a > 4", 1},
        {"NOT NOT NOT a > 4", 0},
        {"((p >= (0)::numeric))", 1},
        {"p = 1.5", 1},
        {"p < 1.49", 0},
        {"p < 1.499", 0},
        {"s IN ('x', 'h\xc3\xa9llo')", 1},
        {"s NOT IN ('x', 'y')", 1},
        {"((s)::text = ANY ((ARRAY['a'::character varying, 'h\xc3\xa9llo'::character varying])::text[]))", 1},
        {"((s)::text = ANY (ARRAY[('a'::character varying)::text, ('b'::character varying)::text]))", 0},
        {"((s)::text <> ALL ((ARRAY['a'::bpchar, ']'::bpchar])::text[]))", 1},
        {"a = ANY (ARRAY[1, 5])", 1},
        {"a IN (-1, 5)", 1},
        {"length(s) = 5", 1},
        {"(char_length((s)::text) < 5)", 0},
        {"d >= DATE '2024-01-01'", 1},
        {"d >= '2024-03-01'::date", 0},
        {"t < '2024-03-01 00:00:00'::timestamp without time zone", 1},
        {"t < d", 0},
        {"b > 3", 1}, /* neither true nor false */
        {"NOT b > 3", 1},
        {"b IS NULL", 1},
        {"b IS NOT NULL", 0},
        {"b > 3 AND a > 9", 0},
        {"b > 3 OR a > 9", 1},
        {"a = 5 AND (s = 'x' OR NOT (a <> 5))", 1},
        {"\"my name\" < a", 1},
        {"\"my name\" < 0 AND a = 5", 1},
        {"a > b", 1},
        {"s > 'h'", 1},
        {"1 < 2", 1},
        {"lower(s) = 'x'", 0},
        {"upper(x) = 'Z'", 1},
        {"s ~ '^[a-z]+$'::text", 0},
        {"s LIKE 'h%o'", 1},
        {"s NOT LIKE '%l_'", 0},
        {"s || x = 'h\xc3\xa9lloz'", 1},
        {"concat(s, x, s) LIKE '%zh%'", 1},
        {"x > s", 1},
        {"position('l' in s) = 3", 1},
        {"a + 1 > 5 AND a % 2 = 1", 1},
        {"a * p = 7.50", 1},
        {"CASE WHEN p > 1 THEN a = 5 ELSE s = 'x' END", 1},
        {"coalesce(b, a) = 5", 1},
        {"extract(year from d) = 2024", 1},
        {"d + INTERVAL '1 day' = DATE '2024-03-01'", 1},
        {"CAST(a AS VARCHAR) = '5'", 1},
        {"a * 1000000000 * 1000000000 * 1000000000 > 0", -2},
        {"lower(1)", -1},
        {"NOT NOT s", -1},
        {"a = 'x'", -1},
        {"a > 1 a", -1},
        {"(a > 1", -1},
        {"a IN ()", -1},
        {"a = ANY (1", -1},
        {"a = ANY (ARRAY[1, 5)", -1},
        {"nothing > 1", -1},
        {"q.a > 1", -1},
        {"sum(a) > 1", -1},
        {"row_number() OVER () > 1", -1},
        {"a IN (SELECT 1)", -1},
        {"EXISTS (SELECT 1)", -1},
        {"a > ?", -1},
        {"", -1},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        if (passes(cases[i].text) != cases[i].passes)
            fail_msg("%s: %d", cases[i].text, passes(cases[i].text));
}

static void what_is_not_understood_is_told_by_its_place(void **state)
{
    static const struct {
        const char *text, *said;
    } cases[] = {
        {"a > 1 AND\n  nothing > 1", "line 4, column 3: the table has no column nothing"},
        {"a > 1 AND nothing > 1", "line 3, column 17: the table has no column nothing"},
        {"a > (SELECT 1)", "a CHECK has no subqueries"},
        {"max(a) > 1",
         "line 3, column 7: a CHECK is about one row, and has no aggregate or window function max"},
    };
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct error error;
        assert_null(read_check(cases[i].text, &error));
        if (!strstr(error.text, cases[i].said))
            fail_msg("%s", error.text);
    }
}

/* A script may be hostile: no depth of a condition exhausts the stack. */
static void deep_conditions_are_survived(void **state)
{
    static const struct {
        const char *word;
        int passes;
    } cases[] = {{"NOT ", 1}, {"(", -1}, {"-", -1}};
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const size_t times = 1000000, bytes = strlen(cases[i].word);
        char *const text = malloc(times * bytes + 8);
        assert_non_null(text);
        for (size_t t = 0; t < times; t++)
            memcpy(text + t * bytes, cases[i].word, bytes);
        strcpy(text + times * bytes, "a > 4");
        assert_int_equal(passes(text), cases[i].passes);
        free(text);
    }
}

/* ---- Many rows ---- */

#define ROWS 40000u

struct many {
    int32_t a[ROWS], s[ROWS], x[ROWS], failed[ROWS];
    int64_t b[ROWS];
    uint8_t nulls[ROWS];
    struct dictionary_builder *words;
    struct check_values columns[COLUMNS];
};

/* a counts from 0, s has seven strings and is NULL in every eleventh row, x is another string in each row, b grows beyond
 * what a product may have. */
static void make_rows(struct many *many)
{
    struct error error;
    assert_int_equal(dictionary_builder_create(&many->words, &error), STATUS_OK);
    for (uint32_t row = 0; row < ROWS; row++) {
        char text[32];
        many->a[row] = (int32_t)row;
        many->b[row] = row < ROWS - 3 ? (int64_t)row : INT64_MAX - row;
        snprintf(text, sizeof text, "k%u", 9 - row % 7);
        many->s[row] = code_of(many->words, text);
        snprintf(text, sizeof text, "%05u", row * 7919 % ROWS);
        many->x[row] = code_of(many->words, text);
        many->nulls[row] = row % 11 == 0;
    }
    many->columns[A] = (struct check_values){many->a, 4, NULL, NULL};
    many->columns[S] = (struct check_values){many->s, 4, many->nulls, many->words};
    many->columns[B] = (struct check_values){many->b, 8, NULL, NULL};
    many->columns[X] = (struct check_values){many->x, 4, NULL, many->words};
}

static bool s_below_6(const struct many *many, uint32_t row)
{
    return many->nulls[row] || 9 - row % 7 < 6;
}

static bool x_below(const struct many *many, uint32_t row)
{
    (void)many;
    return row * 7919 % ROWS < 20000;
}

static bool ends_with_7(const struct many *many, uint32_t row)
{
    return many->nulls[row] || row * 7919 % ROWS % 10 != 7;
}

static bool all_but_last(const struct many *many, uint32_t row)
{
    (void)many;
    return row < ROWS - 3;
}

static void strings_that_come_late_are_tested(void **state)
{
    static const struct {
        const char *text;
        bool (*passes)(const struct many *, uint32_t);
    } cases[] = {
        {"s < 'k6'", s_below_6},
        {"x < '20000'", x_below},
        {"x < '20000' AND (s IS NULL OR length(s) = 2)", x_below},
        {"s || x NOT LIKE 'k%7'", ends_with_7},
        {"CASE WHEN a < 39997 THEN CAST(a AS VARCHAR) <> 'x' ELSE s || x || s = x END IS TRUE", all_but_last},
        {"b * 1000000 >= 0", all_but_last}};
    struct many *const many = calloc(1, sizeof *many);
    (void)state;
    assert_non_null(many);
    make_rows(many);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct error error;
        struct check *const check = read_check(cases[i].text, &error);
        if (!check)
            fail_msg("%s", error.text);
        test(check, many->columns, ROWS, many->failed);
        for (uint32_t row = 0; row < ROWS; row++)
            if (!many->failed[row] != cases[i].passes(many, row))
                fail_msg("%s: row %u: %d", cases[i].text, row, many->failed[row]);
        check_free(check);
    }
    dictionary_builder_destroy(many->words);
    free(many);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(conditions_are_tested_as_sql_does),
        cmocka_unit_test(what_is_not_understood_is_told_by_its_place),
        cmocka_unit_test(deep_conditions_are_survived),
        cmocka_unit_test(strings_that_come_late_are_tested),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
