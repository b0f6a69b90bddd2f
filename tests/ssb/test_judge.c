/* test_judge.c: which answers are ok, skipped and wrong with each judge. An empty answer at SF 1 is always
 * wrong. */
#define _GNU_SOURCE
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>

#include "ssb/benchmark/judge.h"
#include "tests/support/made_rows.h"

#include <stdlib.h>
#include <string.h>

static char *notes_text;
static size_t notes_bytes;

static void make(struct rowset *answer, int64_t number, bool null)
{
    const char *const name = "revenue";
    struct rowset_builder *const builder = made_begin(1, &name, &made_integer);
    made_add(builder, &(struct rowset_cell){.number = number, .null = null});
    *answer = made_end(builder);
}

/* Judges an answer (a row with `number`, or a NULL) against 42 or, with `null_expected`, against a NULL. */
static enum answer_check judged(enum benchmark_verify verify, bool never_empty, const char *choice,
                                bool null_expected, int64_t number, bool null)
{
    struct judge judge = {.verify = verify, .never_empty = never_empty};
    struct rowset answer;
    free(notes_text);
    judge.notes = open_memstream(&notes_text, &notes_bytes);
    make(&judge.expected[0], 42, null_expected);
    make(&answer, number, null);
    enum answer_check check = judge_answer(&judge, ssb_queries[0], 0, choice, &answer);
    fclose(judge.notes);
    rowset_free(&answer);
    judge_destroy(&judge);
    return check;
}

static void answers_are_compared(void **state)
{
    (void)state;
    assert_int_equal(judged(VERIFY_SQLITE, true, "auto", false, 42, false), ANSWER_OK);
    assert_string_equal(notes_text, "");
    assert_int_equal(judged(VERIFY_SQLITE, true, "auto", false, 43, false), ANSWER_WRONG);
    assert_string_equal(notes_text,
                        "codec auto: q1.1 is wrong: row 1, column revenue: SQLite answers 42, got "
                        "43 (1 and 1 rows)\n");
    assert_int_equal(judged(VERIFY_PLAIN, true, "auto", false, 43, false), ANSWER_WRONG);
    assert_non_null(strstr(notes_text, "plain answers 42, got 43"));
    assert_int_equal(judged(VERIFY_SQLITE, true, "plain", false, 43, false), ANSWER_WRONG);
}

static void what_nobody_judges_is_skipped(void **state)
{
    (void)state;
    assert_int_equal(judged(VERIFY_NONE, true, "auto", false, 43, false), ANSWER_SKIPPED);
    assert_int_equal(judged(VERIFY_PLAIN, true, "plain", false, 42, false), ANSWER_SKIPPED);
}

static void an_empty_answer_is_right_only_below_scale_factor_1(void **state)
{
    (void)state;
    assert_int_equal(judged(VERIFY_SQLITE, false, "auto", true, 0, true), ANSWER_OK);
    assert_int_equal(judged(VERIFY_SQLITE, false, "auto", false, 0, true), ANSWER_WRONG);
    const enum benchmark_verify all[] = {VERIFY_SQLITE, VERIFY_PLAIN, VERIFY_NONE};
    for (int i = 0; i < 3; i++) { /* even if the judge's answer is empty, too */
        assert_int_equal(judged(all[i], true, "plain", true, 0, true), ANSWER_WRONG);
        assert_non_null(strstr(notes_text, "q1.1 is wrong with codec plain: it is empty"));
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(answers_are_compared),
        cmocka_unit_test(what_nobody_judges_is_skipped),
        cmocka_unit_test(an_empty_answer_is_right_only_below_scale_factor_1),
    };
    int failed = cmocka_run_group_tests(tests, NULL, NULL);
    free(notes_text);
    return failed;
}
