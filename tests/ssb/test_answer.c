/* test_answer.c: comparing answers finds and names a difference in any cell, in order, in row count or in
 * columns. */
#define _GNU_SOURCE
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>

#include "tests/support/database_cases.h"
#include "tests/support/made_rows.h"
#include "ssb/benchmark/answer.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <xxhash.h>

static const char *const NAMES[] = {"d_year", "p_brand1", "lo_revenue"};

/* `first`: the brand of row 0; backwards: the last row first. */
static void make_of(struct rowset *answer, uint64_t rows, const char *first, bool backwards)
{
    const struct value_type types[] = {made_integer, made_string, made_integer};
    struct rowset_builder *const builder = made_begin(3, NAMES, types);
    for (uint64_t at = 0; at < rows; at++) {
        const uint64_t i = backwards ? rows - 1 - at : at;
        char brand[32];
        snprintf(brand, sizeof brand, "MFGR#%d", (int)i);
        const struct rowset_cell row[] = {{.number = 1992 + (int64_t)i % 7},
                                          made_text(i || !first ? brand : first),
                                          {.number = (int64_t)i * 1000003}};
        made_add(builder, row);
    }
    *answer = made_end(builder);
}

static void make(struct rowset *answer, uint64_t rows)
{
    make_of(answer, rows, NULL, false);
}

static void assert_wrong(const struct rowset *expected, const struct rowset *got, const char *sentence)
{
    struct error error = {0};
    assert_int_equal(answer_compare("q2.1", "SQLite", expected, got, &error), STATUS_CHECK_FAILED);
    assert_string_equal(error.text, sentence);
}

static void equal_answers_of_any_size_pass(void **state)
{
    (void)state;
    const uint64_t sizes[] = {0, 1, 31, 1023, 1025};
    for (size_t s = 0; s < sizeof sizes / sizeof *sizes; s++) {
        struct rowset a, b;
        make(&a, sizes[s]);
        make(&b, sizes[s]);
        assert_int_equal(answer_compare("q2.1", "SQLite", &a, &b, NULL), STATUS_OK);
        rowset_free(&a);
        rowset_free(&b);
    }
}

static void one_wrong_cell_is_named(void **state)
{
    (void)state;
    struct rowset expected, got;
    make(&expected, 31);
    make(&got, 31);
    got.columns[2].values[30]++;
    assert_wrong(&expected, &got,
                 "q2.1 is wrong: row 31, column lo_revenue: SQLite answers 30000090, got 30000091 (31 and 31 "
                 "rows)");
    got.columns[2].nulls[30] = 1;
    assert_wrong(&expected, &got,
                 "q2.1 is wrong: row 31, column lo_revenue: SQLite answers 30000090, got NULL (31 and 31 "
                 "rows)");
    rowset_free(&got);
    make_of(&got, 31, "MFGR#0 ", false);
    assert_wrong(&expected, &got,
                 "q2.1 is wrong: row 1, column p_brand1: SQLite answers \"MFGR#0\", got \"MFGR#0 \" (31 and "
                 "31 rows)");
    rowset_free(&expected);
    rowset_free(&got);
}

static void order_and_row_count_count(void **state)
{
    (void)state;
    struct rowset expected, got;
    make(&expected, 3);
    make_of(&got, 3, NULL, true);
    assert_wrong(&expected, &got,
                 "q2.1 is wrong: row 1, column d_year: SQLite answers 1992, got 1994 (3 and 3 rows)");
    rowset_free(&got);
    make(&got, 0);
    assert_wrong(&expected, &got, "q2.1 is wrong: SQLite answers 3 rows, got 0 (the first 0 agree)");
    assert_wrong(&got, &expected, "q2.1 is wrong: SQLite answers 0 rows, got 3 (the first 0 agree)");
    rowset_free(&got);
    make(&got, 2);
    assert_wrong(&expected, &got, "q2.1 is wrong: SQLite answers 3 rows, got 2 (the first 2 agree)");
    rowset_free(&got);
    rowset_free(&expected);
}

static void names_and_types_of_columns_count(void **state)
{
    (void)state;
    struct rowset expected, got;
    make(&expected, 1);
    make(&got, 1);
    char *const name = got.columns[0].name;
    got.columns[0].name = (char[]){"year"};
    assert_wrong(&expected, &got, "q2.1 is wrong: column 1 is d_year for SQLite, got year");
    got.columns[0].name = name;
    got.columns[1].type.kind = VALUE_INTEGER;
    assert_wrong(&expected, &got, "q2.1 is wrong: column p_brand1 is of strings for SQLite, got numbers");
    got.columns[1].type.kind = VALUE_STRING;
    got.column_count = 2;
    assert_wrong(&expected, &got, "q2.1 is wrong: SQLite answers 3 columns, got 2");
    got.column_count = 3;
    rowset_free(&expected);
    rowset_free(&got);
}

static void empty_means_no_rows_or_only_null(void **state)
{
    (void)state;
    struct rowset answer;
    make(&answer, 0);
    assert_true(answer_is_empty(&answer));
    rowset_free(&answer);
    make(&answer, 1);
    assert_false(answer_is_empty(&answer));
    rowset_free(&answer);
    const char *const name = "revenue";
    for (int zero = 0; zero < 2; zero++) { /* a NULL; then a number behind it */
        struct rowset_builder *const builder = made_begin(1, &name, &made_integer);
        made_add(builder, &(struct rowset_cell){.null = true});
        if (zero)
            made_add(builder, &(struct rowset_cell){.number = 0});
        answer = made_end(builder);
        assert_int_equal(answer_is_empty(&answer), !zero);
        rowset_free(&answer);
    }
}

static void the_hash_is_xxh3_of_the_file(void **state)
{
    (void)state;
    char answers[PATH_BYTES], path[PATH_BYTES + 16], text[4096], hash[17], expected[17];
    struct rowset answer;
    directory_make(answers);
    snprintf(path, sizeof path, "%s/q21.csv", answers);
    make(&answer, 31);
    for (int i = 0; i < 2; i++) /* into a new folder, then over an existing file */
        assert_int_equal(answer_write(&answer, answers, "q2.1", NULL), STATUS_OK);
    FILE *file = fopen(path, "r");
    assert_non_null(file);
    size_t bytes = fread(text, 1, sizeof text, file);
    fclose(file);
    assert_memory_equal(text, "d_year,p_brand1,lo_revenue\n1992,MFGR#0,0\n", 41);
    assert_int_equal(answer_hash(&answer, hash, NULL), STATUS_OK);
    snprintf(expected, sizeof expected, "%016llx", (unsigned long long)XXH3_64bits(text, bytes));
    assert_string_equal(hash, expected);
    rowset_free(&answer);
    assert_int_equal(unlink(path), 0);
    assert_int_equal(rmdir(answers), 0); /* the folder is empty now */
    directory_remove(answers);
}

static void a_folder_that_cannot_be_made_is_named(void **state)
{
    (void)state;
    struct rowset answer;
    struct error error = {0};
    make(&answer, 1);
    assert_int_equal(answer_write(&answer, "/nowhere/answers", "q2.1", &error), STATUS_BAD_INPUT);
    assert_non_null(strstr(error.text, "/nowhere/answers"));
    rowset_free(&answer);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(equal_answers_of_any_size_pass),
        cmocka_unit_test(one_wrong_cell_is_named),
        cmocka_unit_test(order_and_row_count_count),
        cmocka_unit_test(names_and_types_of_columns_count),
        cmocka_unit_test(empty_means_no_rows_or_only_null),
        cmocka_unit_test(the_hash_is_xxh3_of_the_file),
        cmocka_unit_test(a_folder_that_cannot_be_made_is_named),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
