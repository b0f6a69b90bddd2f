/* test_explain_tree.c: which lines of a plan are branches, and which of them is the last. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>

#include "engine/explain/explain_tree.h"

#include <stdlib.h>

static void is_drawn(const char *text, const char *expected)
{
    char *const tree = explain_tree(text);
    assert_non_null(tree);
    assert_string_equal(tree, expected);
    free(tree);
}

static void the_last_branch_turns(void **state)
{
    (void)state;
    is_drawn("scan\n  join\n  range\nresult\n  sum\norder by\n",
             "scan\n├─  join\n└─  range\nresult\n└─  sum\norder by\n");
}

/* Figures below a step stand where they stood, and the line goes on beside them if more steps follow. */
static void lines_below_a_branch_go_on_with_it(void **state)
{
    (void)state;
    is_drawn("scan\n  range\n     1 MB\n  condition\n     2 MB\nresult\n",
             "scan\n├─  range\n│      1 MB\n└─  condition\n       2 MB\nresult\n");
}

static void what_has_no_branches_stays(void **state)
{
    (void)state;
    is_drawn("", "");
    is_drawn("scan\n", "scan\n");
    is_drawn("scan\n\n  sum", "scan\n\n└─  sum");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_last_branch_turns),
        cmocka_unit_test(lines_below_a_branch_go_on_with_it),
        cmocka_unit_test(what_has_no_branches_stays),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
