/* shell_database.h: for tests of `tessera sql`: SSB at scale factor 0.01 (60 175 rows), in $D and `database`. Include it
 * after cmocka.h, and give load and unload to the group. */
#ifndef TESSERA_TESTS_ENGINE_PROGRAM_SHELL_DATABASE_H
#define TESSERA_TESTS_ENGINE_PROGRAM_SHELL_DATABASE_H

#include "tests/support/database_cases.h"
#include "tests/support/run_program.h"

static char database[PATH_BYTES];
static struct program_run run;

static int load(void **state)
{
    (void)state;
    directory_make(database);
    setenv("D", database, 1);
    run_shell("$T ssb load --sf 0.01 --db $D", &run);
    return run.exit_code;
}

static int unload(void **state)
{
    (void)state;
    directory_remove(database);
    return 0;
}

/* A file beside the database, of the same life. */
static void beside_database(const char *name, char path[PATH_BYTES])
{
    snprintf(path, PATH_BYTES, "%.*s%s", (int)(strlen(database) - strlen("db")), database, name);
}

#endif
