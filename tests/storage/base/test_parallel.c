/* test_parallel.c: every item once, the first error stops the rest, cancelling is seen. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>

#include "storage/base/parallel.h"

#include <stdatomic.h>
#include <string.h>

struct counts {
    atomic_uint seen[1000];
    uint64_t fail_at;
};

static enum status count_item(void *context, uint64_t item, unsigned thread, struct error *error)
{
    struct counts *counts = context;
    (void)thread;
    atomic_fetch_add(&counts->seen[item], 1);
    if (item == counts->fail_at)
        return error_set(error, STATUS_BAD_INPUT, "item %d is bad", (int)item);
    return STATUS_OK;
}

static void every_item_runs_once(void **state)
{
    (void)state;
    const uint64_t sizes[] = {0, 1, 2, 31, 1000};
    for (size_t s = 0; s < sizeof sizes / sizeof *sizes; s++)
        for (unsigned threads = 0; threads < 9; threads++) {
            struct counts counts = {.fail_at = UINT64_MAX};
            assert_int_equal(parallel_for(threads, sizes[s], count_item, &counts, NULL), STATUS_OK);
            for (uint64_t i = 0; i < 1000; i++)
                assert_int_equal(counts.seen[i], i < sizes[s]);
        }
}

static void the_first_error_is_the_result(void **state)
{
    (void)state;
    struct counts counts = {.fail_at = 10};
    struct error error = {0};
    assert_int_equal(parallel_for(2, 1000, count_item, &counts, &error), STATUS_BAD_INPUT);
    assert_string_equal(error.text, "item 10 is bad");
    assert_int_equal(error.status, STATUS_BAD_INPUT);
}

static void cancelling_is_seen_and_taken_back(void **state)
{
    (void)state;
    struct error error = {0};
    assert_int_equal(cancel_check(&error), STATUS_OK);
    cancel_request();
    assert_int_equal(cancel_check(&error), STATUS_INTERRUPTED);
    cancel_reset();
    assert_int_equal(cancel_check(&error), STATUS_OK);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_item_runs_once),
        cmocka_unit_test(the_first_error_is_the_result),
        cmocka_unit_test(cancelling_is_seen_and_taken_back),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
