/* test_memory_account.c: charges of an account, on any number of threads, and what the system says that it can give. */
#define _GNU_SOURCE
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>

#include "storage/base/execution/memory_account.h"
#include "storage/base/parallel.h"
#include "tests/support/one_directory.h"

#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

static void what_is_over_the_limit_is_refused(void **state)
{
    (void)state;
    struct memory_account account = {.limit = 1000};
    struct execution whole = {.memory = &account}, part = {.outer = &whole};
    struct memory_charge one = {0}, other = {0};
    struct error error = {0};
    execution_enter(&part);
    assert_int_equal(memory_charge_add(&one, 700, "a join", &error), STATUS_OK);
    assert_int_equal(memory_charge_add(&other, 301, "a join", &error), STATUS_MACHINE);
    assert_string_equal(
        error.text,
        "a join needs 301 bytes of memory more, and 700 of the 1000 that are allowed are in use; allow "
        "more (--memory), or ask for fewer rows or groups");
    assert_int_equal(memory_charge_add(&other, UINT64_MAX - 100, "a join", NULL), STATUS_MACHINE);
    assert_int_equal(memory_charge_add(&other, 300, "a join", &error), STATUS_OK);
    assert_int_equal(memory_charge_set(&one, 100, "a join", &error), STATUS_OK);
    assert_int_equal(account.used, 400);
    assert_int_equal(memory_charge_set(&one, 701, "a join", &error), STATUS_MACHINE);
    assert_int_equal(one.bytes, 100);
    execution_leave(&part);
    memory_charge_drop(&one);
    memory_charge_drop(&other);
    memory_charge_drop(&other);
    assert_int_equal(account.used, 0);
    assert_int_equal(account.most, 1000);
}

static void without_an_account_nothing_is_counted(void **state)
{
    (void)state;
    struct memory_charge charge = {0};
    assert_int_equal(memory_charge_add(&charge, UINT64_MAX, "a join", NULL), STATUS_OK);
    assert_int_equal(memory_charge_set(&charge, 1, "a join", NULL), STATUS_OK);
    memory_charge_drop(&charge);
}

static enum status charge_often(void *context, uint64_t item, unsigned thread, struct error *error)
{
    (void)context, (void)thread;
    struct memory_charge charge = {0};
    for (unsigned i = 0; i < 1000; i++) {
        const enum status status = memory_charge_add(&charge, item + i, "a test", error);
        if (status == STATUS_OK && i % 3 == 0)
            memory_charge_drop(&charge);
    }
    memory_charge_drop(&charge);
    return STATUS_OK;
}

static void threads_share_an_account(void **state)
{
    (void)state;
    struct memory_account account = {.limit = 5000};
    struct execution execution = {.memory = &account};
    execution_enter(&execution);
    assert_int_equal(parallel_for(4, 200, charge_often, NULL, NULL), STATUS_OK);
    execution_leave(&execution);
    assert_int_equal(account.used, 0);
    assert_in_range(account.most, 1, 5000);
}

/* ---- What the system says ---- */

static void file_make(const char *name, const char *text)
{
    char whole[PATH_BYTES + 128];
    snprintf(whole, sizeof whole, "%s%s", path, name);
    for (char *at = whole + strlen(path) + 1; (at = strchr(at, '/')); *at++ = '/') {
        *at = '\0';
        mkdir(whole, 0700);
    }
    FILE *const file = fopen(whole, "w");
    assert_non_null(file);
    fputs(text, file);
    fclose(file);
}

static void the_least_limit_counts(void **state)
{
    (void)state;
    assert_true(memory_available("") > 0);
    assert_true(memory_available(path) == UINT64_MAX);
    mkdir(path, 0700);
    file_make("/proc/meminfo", "MemTotal:       9000 kB\nMemFree: 1 kB\nMemAvailable:    8000 kB\n");
    assert_int_equal(memory_available(path), 8000 * 1024);
    file_make("/proc/self/cgroup", "0::/system/shop\n");
    assert_int_equal(memory_available(path), 8000 * 1024);
    file_make("/sys/fs/cgroup/system/shop/memory.max", "max\n");
    file_make("/sys/fs/cgroup/system/shop/memory.current", "100000\n");
    assert_int_equal(memory_available(path), 8000 * 1024);
    /* The folder above has a limit. Pages of files are given back. */
    file_make("/sys/fs/cgroup/system/memory.max", "600000\n");
    file_make("/sys/fs/cgroup/system/memory.current", "500000\n");
    assert_int_equal(memory_available(path), 100000);
    file_make("/sys/fs/cgroup/system/memory.stat",
              "anon 1\nfile 7\ninactive_file 150000\nactive_file 50000\n");
    assert_int_equal(memory_available(path), 300000);
    file_make("/sys/fs/cgroup/system/memory.current", "900000\n");
    assert_int_equal(memory_available(path), 0);
}

static void groups_of_the_first_version_count(void **state)
{
    (void)state;
    mkdir(path, 0700);
    file_make("/proc/meminfo", "MemAvailable:    8000 kB\n");
    file_make("/proc/self/cgroup", "9:name=systemd:/x\n8:memory:/docker/7\n7:cpu:/y\n");
    file_make("/sys/fs/cgroup/memory/memory.limit_in_bytes", "9223372036854771712\n");
    file_make("/sys/fs/cgroup/memory/memory.usage_in_bytes", "5\n");
    assert_int_equal(memory_available(path), 8000 * 1024);
    file_make("/sys/fs/cgroup/memory/docker/7/memory.limit_in_bytes", "4000\n");
    file_make("/sys/fs/cgroup/memory/docker/7/memory.usage_in_bytes", "1500\n");
    assert_int_equal(memory_available(path), 2500);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_is_over_the_limit_is_refused),
        cmocka_unit_test(without_an_account_nothing_is_counted),
        cmocka_unit_test(threads_share_an_account),
        cmocka_unit_test_setup_teardown(the_least_limit_counts, setup, teardown),
        cmocka_unit_test_setup_teardown(groups_of_the_first_version_count, setup, teardown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
