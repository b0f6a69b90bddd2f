/* one_directory.h: for tests that have one temporary directory each: `path`, made by setup, removed by teardown. */
#ifndef TESSERA_TESTS_SUPPORT_ONE_DIRECTORY_H
#define TESSERA_TESTS_SUPPORT_ONE_DIRECTORY_H

#include "tests/support/database_cases.h"

static char path[PATH_BYTES];

static inline int setup(void **state)
{
    (void)state;
    directory_make(path);
    return 0;
}

static inline int teardown(void **state)
{
    (void)state;
    directory_remove(path);
    return 0;
}

#endif
