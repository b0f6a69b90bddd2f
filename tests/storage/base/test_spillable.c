/* test_spillable.c: rows are on the heap as long as half of the account allows, and else in a file; work is refused, unless
 * nothing can be divided. */
#define _GNU_SOURCE
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>

#include "storage/base/execution/execution.h"
#include "storage/base/execution/memory_account.h"
#include "storage/base/execution/spillable.h"
#include "tests/support/one_directory.h"

#include <stdint.h>
#include <string.h>
#include <sys/stat.h>

#define LIMIT (UINT64_C(1) << 20)

static struct memory_account account;
static struct execution execution;

static void begin(void)
{
    mkdir(path, 0700);
    account = (struct memory_account){.limit = LIMIT};
    execution = (struct execution){.memory = &account, .spill = path};
    execution_enter(&execution);
}

static void *rows(uint64_t bytes)
{
    void *memory;
    assert_int_equal(spillable_rows(&memory, bytes, "a test", NULL), STATUS_OK);
    memset(memory, 7, bytes);
    return memory;
}

static void rows_have_half_of_the_account(void **state)
{
    (void)state;
    begin();
    void *const first = rows(LIMIT / 2);
    assert_int_equal(account.used, LIMIT / 2);
    assert_int_equal(account.spilled, 0);
    void *const second = rows(1), *const third = rows(40 * LIMIT);
    assert_int_equal(account.used, LIMIT / 2);
    assert_true(account.spilled > 40 * LIMIT);
    assert_int_equal(account.refused, 0);
    spillable_free(first);
    spillable_free(third);
    execution_leave(&execution);
    assert_int_equal(account.used, 0);
    assert_int_equal(*(char *)second, 7); /* it outlives the statement */
    spillable_free(second);
    spillable_free(NULL);
}

static void blocks_grow_and_keep_what_they_have(void **state)
{
    uint8_t *memory = NULL;
    (void)state;
    begin();
    for (uint64_t bytes = 1000, had = 0; bytes < 16 * LIMIT; had = bytes, bytes *= 3) {
        assert_int_equal(spillable_grow(&memory, bytes, "a test", NULL), STATUS_OK);
        for (uint64_t i = 0; i < had; i++)
            assert_int_equal(memory[i], (uint8_t)(i * 31));
        for (uint64_t i = had; i < bytes; i++)
            memory[i] = (uint8_t)(i * 31);
        assert_true(account.used <= LIMIT / 2);
    }
    assert_true(account.spilled > 0);
    spillable_free(memory);
    uint8_t *zeros;
    assert_int_equal(spillable_zeros(&zeros, LIMIT, "a test", NULL), STATUS_OK); /* a block that was used */
    for (uint64_t i = 0; i < LIMIT; i++)
        assert_int_equal(zeros[i], 0);
    spillable_free(zeros);
    execution_leave(&execution);
}

static void work_is_refused_unless_nothing_can_be_divided(void **state)
{
    struct error error = {0};
    void *held, *memory;
    (void)state;
    begin();
    assert_int_equal(spillable_work(&held, LIMIT - 100, "a test", &error), STATUS_OK);
    assert_int_equal(spillable_work(&memory, 101, "a test", &error), STATUS_MACHINE);
    assert_null(memory);
    assert_int_equal(account.refused, 1);
    assert_string_equal(
        error.text, "a test needs 101 bytes of memory more, and 1048476 of the 1048576 that are allowed are "
                    "in use; allow more (--memory), or ask for fewer rows or groups");
    execution.undivided = true;
    assert_int_equal(spillable_work(&memory, 101, "a test", &error), STATUS_OK);
    assert_true(account.spilled > 0);
    spillable_free(memory);
    spillable_free(held);
    execution_leave(&execution);
    assert_int_equal(account.used, 0);
}

static void a_folder_that_is_not_there_has_a_sentence(void **state)
{
    struct error error = {0};
    void *memory;
    (void)state;
    begin();
    execution.spill = "/nowhere";
    assert_int_equal(spillable_rows(&memory, LIMIT, "a test", &error), STATUS_BAD_INPUT);
    assert_null(memory);
    assert_non_null(strstr(error.text, "cannot make a file in /nowhere, which a test needs"));
    execution_leave(&execution);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(rows_have_half_of_the_account, setup, teardown),
        cmocka_unit_test_setup_teardown(blocks_grow_and_keep_what_they_have, setup, teardown),
        cmocka_unit_test_setup_teardown(work_is_refused_unless_nothing_can_be_divided, setup, teardown),
        cmocka_unit_test_setup_teardown(a_folder_that_is_not_there_has_a_sentence, setup, teardown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
