/* one_directory.h: for tests with one temporary directory each. Setup makes `path`, which shells know as $D; teardown
 * removes it. */
#ifndef TESSERA_TESTS_SUPPORT_ONE_DIRECTORY_H
#define TESSERA_TESTS_SUPPORT_ONE_DIRECTORY_H

#include "tests/support/database_cases.h"

static char path[PATH_BYTES];

static inline int setup(void **state)
{
    (void)state;
    directory_make(path);
    setenv("D", path, 1);
    return 0;
}

/* Begins a file beside the directory. */
static inline FILE *file_beside(const char *name)
{
    char file_path[2 * PATH_BYTES];
    const char *const slash = strrchr(path, '/');
    snprintf(file_path, sizeof file_path, "%.*s/%s", (int)(slash - path), path, name);
    FILE *const file = fopen(file_path, "w");
    assert_non_null(file);
    return file;
}

static inline int teardown(void **state)
{
    (void)state;
    directory_remove(path);
    return 0;
}

#endif
