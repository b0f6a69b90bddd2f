#define _GNU_SOURCE
/* test_parallel.c: every item once, the first error stops the rest, items see the execution; threads live on, serve calls
 * of several threads, and are gone when they should be. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>

#include "storage/base/parallel.h"

#include <dirent.h>
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

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

static void wait_ms(long ms)
{
    nanosleep(&(struct timespec){.tv_nsec = ms * 1000000}, NULL);
}

static enum status see_execution(void *context, uint64_t item, unsigned thread, struct error *error)
{
    (void)item, (void)thread;
    if (execution_current() != context)
        return error_set(error, STATUS_CHECK_FAILED, "another execution");
    return cancel_check(error);
}

static void items_run_in_the_execution_of_the_caller(void **state)
{
    (void)state;
    struct execution whole = {.outer = NULL}, part = {.outer = &whole};
    struct error error = {0};
    assert_int_equal(parallel_for(4, 1000, see_execution, NULL, NULL), STATUS_OK);
    execution_enter(&part);
    assert_int_equal(parallel_for(4, 1000, see_execution, &part, NULL), STATUS_OK);
    execution_stop(&whole);
    assert_int_equal(parallel_for(4, 1000, see_execution, &part, &error), STATUS_INTERRUPTED);
    execution_resume(&whole);
    assert_int_equal(parallel_for(4, 1000, see_execution, &part, NULL), STATUS_OK);
    execution_leave(&part);
    assert_int_equal(parallel_for(4, 1000, see_execution, NULL, NULL), STATUS_OK);
}

struct stopped_call {
    struct execution execution;
    enum status status;
    atomic_uint items;
    bool waits; /* after some items, until it is stopped */
};

static enum status long_item(void *context, uint64_t item, unsigned thread, struct error *error)
{
    struct stopped_call *const call = context;
    (void)item, (void)thread;
    const bool waits = atomic_fetch_add(&call->items, 1) >= 20 && call->waits;
    do {
        wait_ms(1);
        RETURN_IF_ERROR(cancel_check(error));
    } while (waits);
    return STATUS_OK;
}

static void *run_long(void *context)
{
    struct stopped_call *const call = context;
    execution_enter(&call->execution);
    call->status = parallel_for(3, 300, long_item, call, NULL);
    execution_leave(&call->execution);
    return NULL;
}

/* They share the threads of the pool. */
static void one_of_two_executions_is_stopped(void **state)
{
    (void)state;
    struct stopped_call calls[2] = {{.waits = true}, {.waits = false}};
    pthread_t threads[2];
    for (unsigned i = 0; i < 2; i++)
        assert_int_equal(pthread_create(&threads[i], NULL, run_long, &calls[i]), 0);
    while (atomic_load(&calls[0].items) < 5)
        sched_yield();
    execution_stop(&calls[0].execution);
    for (unsigned i = 0; i < 2; i++)
        pthread_join(threads[i], NULL);
    assert_int_equal(calls[0].status, STATUS_INTERRUPTED);
    assert_true(calls[0].items < 300);
    assert_int_equal(calls[1].status, STATUS_OK);
    assert_int_equal(calls[1].items, 300);
}

/* ---- The pool ---- */

/* For threads that are not cmocka's. */
static void must(bool condition)
{
    if (!condition)
        abort();
}

static unsigned count_threads(void)
{
    unsigned count = 0;
    DIR *const tasks = opendir("/proc/self/task");
    for (const struct dirent *entry; tasks && (entry = readdir(tasks));)
        count += entry->d_name[0] != '.';
    if (tasks)
        closedir(tasks);
    return count;
}

/* The system lists a thread for a moment after its end. */
static void assert_threads(unsigned expected)
{
    for (unsigned i = 0; i < 1000 && count_threads() > expected; i++)
        wait_ms(1);
    assert_int_equal(count_threads(), expected);
}

#define IDS 16u

struct ids {
    atomic_bool taken[IDS];
    atomic_uint seen; /* a bit for each thread number */
    atomic_uint twice;
    unsigned threads;
};

static enum status take_id(void *context, uint64_t item, unsigned thread, struct error *error)
{
    struct ids *const ids = context;
    (void)error;
    if (thread >= ids->threads || atomic_exchange(&ids->taken[thread], true))
        atomic_fetch_add(&ids->twice, 1);
    atomic_fetch_or(&ids->seen, 1u << thread);
    if (item < 2 * IDS)
        wait_ms(1);
    atomic_store(&ids->taken[thread], false);
    return STATUS_OK;
}

/* Several calls at a time, so that threads change between them. */
static void *take_ids(void *context)
{
    for (unsigned threads = 2; threads <= IDS; threads += 7) {
        struct ids ids = {.threads = threads};
        must(parallel_for(threads, 3000, take_id, &ids, NULL) == STATUS_OK);
        must(ids.twice == 0);
        atomic_fetch_or((atomic_uint *)context, ids.seen);
    }
    return NULL;
}

static void numbers_of_threads_are_unique_in_a_call(void **state)
{
    (void)state;
    pthread_t callers[4];
    atomic_uint seen = 0;
    for (unsigned i = 0; i < 4; i++)
        assert_int_equal(pthread_create(&callers[i], NULL, take_ids, &seen), 0);
    for (unsigned i = 0; i < 4; i++)
        pthread_join(callers[i], NULL);
    assert_true(seen > 1);
}

static void threads_live_on_and_end_when_they_are_told(void **state)
{
    (void)state;
    struct counts counts = {.fail_at = UINT64_MAX};
    parallel_release();
    const unsigned before = count_threads();
    for (unsigned call = 0; call < 100; call++)
        assert_int_equal(parallel_for(5, 1000, count_item, &counts, NULL), STATUS_OK);
    assert_threads(before + 4);
    assert_int_equal(parallel_for(3, 1000, count_item, &counts, NULL), STATUS_OK);
    assert_threads(before + 4);
    parallel_release();
    assert_threads(before);
    assert_int_equal(parallel_for(3, 1000, count_item, &counts, NULL), STATUS_OK);
    assert_threads(before + 2);
    for (uint64_t i = 0; i < 1000; i++)
        assert_int_equal(counts.seen[i], 102);
}

static void a_call_has_at_most_the_most_threads(void **state)
{
    (void)state;
    struct counts counts = {.fail_at = UINT64_MAX};
    assert_int_equal(parallel_for(UINT32_MAX, 1000, count_item, &counts, NULL), STATUS_OK);
    assert_true(count_threads() <= PARALLEL_THREADS_MAX);
    parallel_release();
}

static enum status nest(void *context, uint64_t item, unsigned thread, struct error *error)
{
    struct counts inner = {.fail_at = UINT64_MAX};
    (void)thread;
    RETURN_IF_ERROR(parallel_for(3, 50, count_item, &inner, error));
    for (uint64_t i = 0; i < 50; i++)
        if (inner.seen[i] != 1)
            return error_set(error, STATUS_CHECK_FAILED, "item %d of %d", (int)i, (int)item);
    atomic_fetch_add((atomic_uint *)context, 1);
    return STATUS_OK;
}

static void calls_may_be_nested(void **state)
{
    (void)state;
    atomic_uint done = 0;
    struct error error = {0};
    if (parallel_for(4, 200, nest, &done, &error) != STATUS_OK)
        fail_msg("%s", error.text);
    assert_int_equal(done, 200);
}

/* An item waits for the one before it. */
static enum status wait_for_turn(void *context, uint64_t item, unsigned thread, struct error *error)
{
    atomic_uint *const turn = context;
    (void)thread, (void)error;
    while (atomic_load(turn) != item)
        sched_yield();
    atomic_fetch_add(turn, 1);
    return STATUS_OK;
}

static void *run_turns(void *unused)
{
    atomic_uint turn = 0;
    (void)unused;
    must(parallel_for(4, 500, wait_for_turn, &turn, NULL) == STATUS_OK);
    must(turn == 500);
    return NULL;
}

static void items_may_wait_for_those_before_them(void **state)
{
    (void)state;
    pthread_t callers[3];
    for (unsigned i = 0; i < 3; i++)
        assert_int_equal(pthread_create(&callers[i], NULL, run_turns, NULL), 0);
    for (unsigned i = 0; i < 3; i++)
        pthread_join(callers[i], NULL);
}

struct slow {
    atomic_uint done, helped; /* items; items that other threads than the caller did */
    atomic_bool begun;
};

static enum status slow_item(void *context, uint64_t item, unsigned thread, struct error *error)
{
    struct slow *const slow = context;
    (void)item, (void)error;
    atomic_store(&slow->begun, true);
    wait_ms(2);
    atomic_fetch_add(&slow->done, 1);
    atomic_fetch_add(&slow->helped, thread != 0);
    return STATUS_OK;
}

static void *run_slow(void *context)
{
    must(parallel_for(2, 400, slow_item, context, NULL) == STATUS_OK);
    return NULL;
}

/* The pool has one thread, which the longer call had first. */
static void a_thread_serves_calls_in_turn(void **state)
{
    (void)state;
    struct slow first = {0}, second = {0};
    pthread_t caller;
    parallel_release();
    assert_int_equal(pthread_create(&caller, NULL, run_slow, &first), 0);
    while (!atomic_load(&first.begun))
        sched_yield();
    assert_int_equal(parallel_for(2, 100, slow_item, &second, NULL), STATUS_OK);
    assert_true(atomic_load(&first.done) < 400);
    assert_true(second.helped > 5);
    pthread_join(caller, NULL);
}

static void a_child_has_threads_of_its_own(void **state)
{
    (void)state;
    struct counts counts = {.fail_at = UINT64_MAX};
    assert_int_equal(parallel_for(4, 1000, count_item, &counts, NULL), STATUS_OK);
    const pid_t child = fork();
    if (child == 0) {
        struct counts own = {.fail_at = UINT64_MAX};
        const bool right = parallel_for(4, 1000, count_item, &own, NULL) == STATUS_OK && own.seen[999] == 1;
        parallel_release();
        _exit(right ? 0 : 1);
    }
    int status;
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_int_equal(status, 0);
    assert_int_equal(parallel_for(4, 1000, count_item, &counts, NULL), STATUS_OK);
}

/* Counts of the loop that the innermost items see; items 0 .. 9 of each have a loop of 3. */
static enum status see_counts(void *context, uint64_t item, unsigned thread, struct error *error)
{
    const struct execution *const outermost = execution_outermost();
    atomic_bool *const right = context;
    (void)thread;
    (void)error;
    if (outermost->items != 10 || outermost->done >= 10 || item >= 10)
        atomic_store(right, false);
    return STATUS_OK;
}

static enum status see_nested(void *context, uint64_t item, unsigned thread, struct error *error)
{
    RETURN_IF_ERROR(see_counts(context, item, thread, error));
    return parallel_for(2, 3, see_counts, context, error);
}

static void the_outermost_loop_shows_how_far_it_is(void **state)
{
    (void)state;
    for (unsigned threads = 1; threads < 5; threads++) {
        struct execution program = {0}, statement = {.outer = &program};
        atomic_bool right = true;
        assert_null(execution_outermost());
        execution_enter(&program);
        execution_enter(&statement);
        assert_ptr_equal(execution_outermost(), &program);
        assert_int_equal(parallel_for(threads, 10, see_nested, &right, NULL), STATUS_OK);
        assert_true(right);
        assert_int_equal(program.items, 0);
        assert_int_equal(program.done, 0);
        assert_int_equal(statement.items, 0);
        execution_leave(&statement);
        execution_leave(&program);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_item_runs_once),
        cmocka_unit_test(the_first_error_is_the_result),
        cmocka_unit_test(items_run_in_the_execution_of_the_caller),
        cmocka_unit_test(one_of_two_executions_is_stopped),
        cmocka_unit_test(numbers_of_threads_are_unique_in_a_call),
        cmocka_unit_test(threads_live_on_and_end_when_they_are_told),
        cmocka_unit_test(a_call_has_at_most_the_most_threads),
        cmocka_unit_test(calls_may_be_nested),
        cmocka_unit_test(the_outermost_loop_shows_how_far_it_is),
        cmocka_unit_test(items_may_wait_for_those_before_them),
        cmocka_unit_test(a_thread_serves_calls_in_turn),
        cmocka_unit_test(a_child_has_threads_of_its_own),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
