/* inspect_cases.h: running `tessera inspect` on the files of a folder, and what it says. */
#ifndef TESSERA_TESTS_LOADER_COLUMNAR_INSPECT_CASES_H
#define TESSERA_TESTS_LOADER_COLUMNAR_INSPECT_CASES_H

#include "tests/support/run_program.h"

static struct program_run run;

/* folder: of tests/data. */
static inline void inspects_in(const char *folder, const char *arguments, int exit_code)
{
    char shell[1024];
    snprintf(shell, sizeof shell, "cd '" TESSERA_SOURCE "/tests/data/%s' && \"$T\" inspect %s", folder,
             arguments);
    run_shell(shell, &run);
    if (run.exit_code != exit_code)
        fail_msg("%s: exit code %d: %s", arguments, run.exit_code, run.errors);
}

static inline void tells(const char *text)
{
    if (!strstr(run.output, text) && !strstr(run.errors, text))
        fail_msg("\"%s\" is not in:\n%s%s", text, run.output, run.errors);
}

#endif
