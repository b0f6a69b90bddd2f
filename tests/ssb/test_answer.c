/* test_answer.c: comparing answers finds and names a difference in any cell, in order, in row count or in
 * columns. */
#define _GNU_SOURCE
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>

#include "tests/support/database_cases.h"
#include "ssb/benchmark/answer.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <xxhash.h>

static const char *const NAMES[] = {"d_year", "p_brand1", "lo_revenue"};
static const uint8_t IS_STRING[] = {0, 1, 0};

static void make(struct result *answer, uint64_t rows)
{
    assert_int_equal(result_create(answer, 3, NAMES, IS_STRING, NULL), STATUS_OK);
    for (uint64_t i = 0; i < rows; i++) {
        char brand[32];
        snprintf(brand, sizeof brand, "MFGR#%d", (int)i);
        const struct result_cell row[] = {
            {.number = 1992 + (int64_t)i % 7}, {.string = brand}, {.number = (int64_t)i * 1000003}};
        assert_int_equal(result_add_row(answer, row, NULL), STATUS_OK);
    }
}

static void assert_wrong(const struct result *expected, const struct result *got, const char *sentence)
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
        struct result a, b;
        make(&a, sizes[s]);
        make(&b, sizes[s]);
        assert_int_equal(answer_compare("q2.1", "SQLite", &a, &b, NULL), STATUS_OK);
        result_destroy(&a);
        result_destroy(&b);
    }
}

static void one_wrong_cell_is_named(void **state)
{
    (void)state;
    struct result expected, got;
    make(&expected, 31);
    make(&got, 31);
    got.cells[30 * 3 + 2].number++;
    assert_wrong(&expected, &got,
                 "q2.1 is wrong: row 31, column lo_revenue: SQLite answers 30000090, got 30000091 (31 and 31 "
                 "rows)");
    got.cells[30 * 3 + 2].null = true;
    assert_wrong(&expected, &got,
                 "q2.1 is wrong: row 31, column lo_revenue: SQLite answers 30000090, got NULL (31 and 31 "
                 "rows)");
    got.cells[0 * 3 + 1].string = "MFGR#0 ";
    assert_wrong(&expected, &got,
                 "q2.1 is wrong: row 1, column p_brand1: SQLite answers \"MFGR#0\", got \"MFGR#0 \" (31 and "
                 "31 rows)");
    result_destroy(&expected);
    result_destroy(&got);
}

static void order_and_row_count_count(void **state)
{
    (void)state;
    struct result expected, got;
    make(&expected, 3);
    make(&got, 3);
    const struct result_order backwards = {.column = 2, .descending = true};
    assert_int_equal(result_sort(&got, &backwards, 1, NULL), STATUS_OK);
    assert_wrong(&expected, &got,
                 "q2.1 is wrong: row 1, column d_year: SQLite answers 1992, got 1994 (3 and 3 rows)");
    result_destroy(&got);
    make(&got, 0);
    assert_wrong(&expected, &got, "q2.1 is wrong: SQLite answers 3 rows, got 0 (the first 0 agree)");
    assert_wrong(&got, &expected, "q2.1 is wrong: SQLite answers 0 rows, got 3 (the first 0 agree)");
    result_destroy(&got);
    make(&got, 2);
    assert_wrong(&expected, &got, "q2.1 is wrong: SQLite answers 3 rows, got 2 (the first 2 agree)");
    result_destroy(&got);
    result_destroy(&expected);
}

static void names_and_types_of_columns_count(void **state)
{
    (void)state;
    struct result expected, got;
    make(&expected, 1);
    make(&got, 1);
    strcpy(got.names[0], "year");
    assert_wrong(&expected, &got, "q2.1 is wrong: column 1 is d_year for SQLite, got year");
    strcpy(got.names[0], "d_year");
    got.is_string[1] = 0;
    assert_wrong(&expected, &got, "q2.1 is wrong: column p_brand1 is of strings for SQLite, got numbers");
    got.is_string[1] = 1;
    got.column_count = 2;
    assert_wrong(&expected, &got, "q2.1 is wrong: SQLite answers 3 columns, got 2");
    result_destroy(&expected);
    result_destroy(&got);
}

static void empty_means_no_rows_or_only_null(void **state)
{
    (void)state;
    struct result answer;
    make(&answer, 0);
    assert_true(answer_is_empty(&answer));
    result_destroy(&answer);
    make(&answer, 1);
    assert_false(answer_is_empty(&answer));
    result_destroy(&answer);
    const char *const name = "revenue";
    const uint8_t number = 0;
    const struct result_cell null = {.null = true}, zero = {.number = 0};
    assert_int_equal(result_create(&answer, 1, &name, &number, NULL), STATUS_OK);
    assert_int_equal(result_add_row(&answer, &null, NULL), STATUS_OK);
    assert_true(answer_is_empty(&answer));
    assert_int_equal(result_add_row(&answer, &zero, NULL), STATUS_OK);
    assert_false(answer_is_empty(&answer));
    result_destroy(&answer);
}

static void the_hash_is_xxh3_of_the_file(void **state)
{
    (void)state;
    char answers[PATH_BYTES], path[PATH_BYTES + 16], text[4096], hash[17], expected[17];
    struct result answer;
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
    result_destroy(&answer);
    assert_int_equal(unlink(path), 0);
    assert_int_equal(rmdir(answers), 0); /* the folder is empty now */
    directory_remove(answers);
}

static void a_folder_that_cannot_be_made_is_named(void **state)
{
    (void)state;
    struct result answer;
    struct error error = {0};
    make(&answer, 1);
    assert_int_equal(answer_write(&answer, "/nowhere/answers", "q2.1", &error), STATUS_BAD_INPUT);
    assert_non_null(strstr(error.text, "/nowhere/answers"));
    result_destroy(&answer);
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
