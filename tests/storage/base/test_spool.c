/* test_spool.c: files without names: where they are, what they keep, and what is said when they cannot be made. */
#define _GNU_SOURCE
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>

#include "storage/base/execution/memory_account.h"
#include "storage/base/execution/spool.h"
#include "storage/base/parallel.h"
#include "tests/support/one_directory.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#define BLOCKS 500u
#define VALUES 1000u

static unsigned count_entries(void)
{
    unsigned count = 0;
    DIR *const folder = opendir(path);
    assert_non_null(folder);
    for (const struct dirent *entry; (entry = readdir(folder));)
        count += entry->d_name[0] != '.';
    closedir(folder);
    return count;
}

struct blocks {
    struct spool spool;
    uint64_t at[BLOCKS];
};

static uint64_t value_of(uint64_t block, uint64_t i)
{
    return block * 1000003 + i * i;
}

/* Block b has b + 1 values. */
static enum status append_block(void *context, uint64_t block, unsigned thread, struct error *error)
{
    struct blocks *const blocks = context;
    uint64_t values[VALUES];
    (void)thread;
    for (uint64_t i = 0; i <= block; i++)
        values[i] = value_of(block, i);
    return spool_append(&blocks->spool, values, (block + 1) * sizeof *values, &blocks->at[block], error);
}

static void blocks_are_read_back(void **state)
{
    (void)state;
    static struct blocks blocks;
    struct memory_account account = {.limit = 1};
    struct execution execution = {.memory = &account, .spill = path};
    struct error error = {0};
    mkdir(path, 0700);
    execution_enter(&execution);
    assert_int_equal(spool_open(&blocks.spool, "a test", &error), STATUS_OK);
    assert_int_equal(parallel_for(4, BLOCKS, append_block, &blocks, &error), STATUS_OK);
    execution_leave(&execution);
    assert_int_equal(count_entries(), 0);
    assert_string_equal(blocks.spool.folder, path);
    assert_int_equal(account.spilled, 8 * BLOCKS * (BLOCKS + 1) / 2);
    for (uint64_t b = 0; b < BLOCKS; b++) {
        uint64_t values[VALUES];
        assert_int_equal(spool_get(&blocks.spool, blocks.at[b], values, (b + 1) * sizeof *values, &error),
                         STATUS_OK);
        for (uint64_t i = 0; i <= b; i++)
            assert_int_equal(values[i], value_of(b, i));
    }
    uint64_t past;
    assert_int_equal(spool_get(&blocks.spool, account.spilled, &past, sizeof past, &error), STATUS_MACHINE);
    spool_close(&blocks.spool);
    spool_close(&blocks.spool);
}

static void the_folder_is_the_executions_or_the_environments(void **state)
{
    (void)state;
    struct execution whole = {.spill = "/whole"}, part = {.outer = &whole},
                     named = {.outer = &part, .spill = "/named"};
    setenv("TMPDIR", "/there", 1);
    assert_string_equal(execution_spill(), "/there");
    unsetenv("TMPDIR");
    assert_string_equal(execution_spill(), "/tmp");
    execution_enter(&part);
    assert_string_equal(execution_spill(), "/whole");
    execution_enter(&named);
    assert_string_equal(execution_spill(), "/named");
    execution_leave(&named);
    execution_leave(&part);
}

static void errors_name_the_folder_and_say_what_to_do(void **state)
{
    (void)state;
    struct spool spool;
    struct execution execution = {.spill = "/nowhere/at-all"};
    struct error error = {0};
    struct rlimit before, small;
    uint64_t at;
    char bytes[4096] = "";
    execution_enter(&execution);
    assert_int_equal(spool_open(&spool, "a test", &error), STATUS_BAD_INPUT);
    assert_string_equal(error.text,
                        "cannot make a file in /nowhere/at-all, which a test needs; make room there, or name "
                        "another folder (--spill, or the environment's TMPDIR): No such file or directory");
    mkdir(path, 0700);
    execution.spill = path;
    assert_int_equal(spool_open(&spool, "a test", &error), STATUS_OK);
    assert_int_equal(getrlimit(RLIMIT_FSIZE, &before), 0);
    small = (struct rlimit){.rlim_cur = 6000, .rlim_max = before.rlim_max};
    signal(SIGXFSZ, SIG_IGN);
    assert_int_equal(setrlimit(RLIMIT_FSIZE, &small), 0);
    assert_int_equal(spool_append(&spool, bytes, sizeof bytes, &at, &error), STATUS_OK);
    assert_int_equal(spool_append(&spool, bytes, sizeof bytes, &at, &error), STATUS_MACHINE);
    assert_int_equal(setrlimit(RLIMIT_FSIZE, &before), 0);
    assert_non_null(strstr(error.text, path));
    assert_non_null(strstr(error.text, "make room there, or name another folder (--spill"));
    spool_close(&spool);
    execution_leave(&execution);
}

/* So many calls are interrupted before they do anything. */
static unsigned interruptions;

int fallocate(int descriptor, int mode, off_t at, off_t bytes)
{
    if (interruptions) {
        interruptions--;
        errno = EINTR;
        return -1;
    }
    return (int)syscall(SYS_fallocate, descriptor, mode, at, bytes);
}

static void a_signal_does_not_end_a_reservation(void **state)
{
    (void)state;
    struct execution execution = {.spill = path};
    struct spool spool;
    struct error error = {0};
    mkdir(path, 0700);
    execution_enter(&execution);
    assert_int_equal(spool_open(&spool, "a test", &error), STATUS_OK);
    interruptions = 3;
    assert_int_equal(spool_reserve(&spool, 1 << 20, "a test", &error), STATUS_OK);
    assert_int_equal(interruptions, 0);
    execution_leave(&execution);
    spool_close(&spool);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(blocks_are_read_back, setup, teardown),
        cmocka_unit_test_setup_teardown(a_signal_does_not_end_a_reservation, setup, teardown),
        cmocka_unit_test(the_folder_is_the_executions_or_the_environments),
        cmocka_unit_test_setup_teardown(errors_name_the_folder_and_say_what_to_do, setup, teardown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
