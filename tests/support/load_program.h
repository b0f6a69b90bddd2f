/* load_program.h: for tests that run `tessera load` on files beside the database $D of one_directory.h, and then ask it. */
#ifndef TESSERA_TESTS_SUPPORT_LOAD_PROGRAM_H
#define TESSERA_TESTS_SUPPORT_LOAD_PROGRAM_H

#include "tests/support/one_directory.h"
#include "tests/support/run_program.h"

static struct program_run run;

/* `tessera load --db $D --schema star.sql ARGUMENTS` ends so. */
static inline void load_ends(const char *arguments, int exit_code, const char *said)
{
    char shell[2 * PATH_BYTES];
    snprintf(shell, sizeof shell, "cd $D/.. && $T load --db $D --schema star.sql %s", arguments);
    run_shell(shell, &run);
    if (run.exit_code != exit_code || !strstr(run.errors, said))
        fail_msg("%s: exit code %d\n%s%s", arguments, run.exit_code, run.output, run.errors);
}

/* A script of the shell, beside $D, ends with exit code 0 and has this output. */
static inline void shell_prints(const char *shell, const char *output)
{
    char text[2 * PATH_BYTES];
    snprintf(text, sizeof text, "cd $D/.. && %s", shell);
    run_shell(text, &run);
    if (run.exit_code != 0 || strcmp(run.output, output) != 0)
        fail_msg("%s: exit code %d\n%s%s", shell, run.exit_code, run.output, run.errors);
}

static inline void answer_is(const char *question, const char *rows)
{
    setenv("Q", question, 1);
    run_shell("$T sql --device cpu --db $D --format csv \"$Q\"", &run);
    if (strcmp(run.output, rows) != 0)
        fail_msg("%s\n%s%s", question, run.output, run.errors);
}

#endif
