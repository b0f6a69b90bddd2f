/*
 * two_directories.h: folders for two databases that are compared, made for each test. Included once by a test program, after
 * cmocka.
 */
#ifndef TESSERA_TESTS_SUPPORT_TWO_DIRECTORIES_H
#define TESSERA_TESTS_SUPPORT_TWO_DIRECTORIES_H

#include "tests/support/sql/sql_answer.h"

static char path[PATH_BYTES], whole[PATH_BYTES];

static int setup(void **state)
{
    (void)state;
    directory_make(path);
    directory_make(whole);
    return 0;
}

static int teardown(void **state)
{
    (void)state;
    directory_remove(path);
    directory_remove(whole);
    return 0;
}

#endif
