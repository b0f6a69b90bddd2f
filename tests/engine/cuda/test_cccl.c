/*
 * test_cccl.c: CUB's headers are found where TESSERA_CCCL says, with their version; a folder without them, and one that cannot be
 * read, are told apart. A process searches once, so each case is a process.
 */
#define _GNU_SOURCE
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>

#include "engine/cuda/cccl.h"
#include "tests/support/one_directory.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

/* In a child: whether the error's text, or an option, has `text`. */
static bool is_told(const char *text)
{
    const char *const *options = NULL;
    struct error error = {0};
    if (cccl_options(&options, &error) != STATUS_OK)
        return strstr(error.text, text);
    bool found = false;
    for (; *options; options++)
        found = found || strstr(*options, text);
    return found;
}

static void assert_told(const char *text)
{
    int status;
    const pid_t child = fork();
    if (child == 0)
        _exit(is_told(text) ? 0 : 1);
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_true(WIFEXITED(status) && WEXITSTATUS(status) == 0);
}

static void each_case_is_told(void **state)
{
    char folder[PATH_BYTES + 8], file[PATH_BYTES + 32];
    (void)state;
    assert_int_equal(mkdir(path, 0777), 0);
    assert_int_equal(setenv("TESSERA_CCCL", path, 1), 0);
    assert_told("which has no cub/version.cuh; correct or unset it");
    snprintf(folder, sizeof folder, "%s/cub", path);
    snprintf(file, sizeof file, "%s/version.cuh", folder);
    assert_int_equal(mkdir(folder, 0777), 0);
    assert_int_equal(mkdir(file, 0777), 0);
    assert_told("version.cuh: cannot be read: Is a directory");
    assert_int_equal(rmdir(file), 0);
    FILE *const header = fopen(file, "w");
    assert_non_null(header);
    fputs("#pragma once\n#define CUB_VERSION 300102\n", header);
    assert_int_equal(fclose(header), 0);
    assert_told("-DTESSERA_CUB_VERSION=300102");
    assert_told(path);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test_setup_teardown(each_case_is_told, setup, teardown)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
