/*
 * lab_shell.h: runs the program by a shell, with an empty folder for temporary files, for tests of `tessera lab` as a whole.
 */
#ifndef TESSERA_TESTS_LAB_LAB_SHELL_H
#define TESSERA_TESTS_LAB_LAB_SHELL_H

#include "tests/support/one_directory.h"
#include "tests/support/run_program.h"

#define EXPERIMENTS_MAX 32

/* Runs the shell command, in which $T is the program and $D an empty folder for temporary files. */
static struct program_run run;

static inline int shell(const char *command)
{
    setenv("D", path, 1);
    run_shell(command, &run);
    return run.exit_code;
}

static inline bool is_empty_folder(void)
{
    return shell("test -z \"$(ls -A $D)\"") == 0;
}

/* The names that --list prints, in its order; each begins a line. */
static inline uint32_t list_names(char names[EXPERIMENTS_MAX][32])
{
    uint32_t count = 0;
    assert_int_equal(shell("\"$T\" lab --list"), 0);
    for (char *rest = run.output, *line; (line = strsep(&rest, "\n"));)
        if (*line && *line != ' ') {
            assert_true(count < EXPERIMENTS_MAX);
            assert_int_equal(sscanf(line, "%31s", names[count++]), 1);
        }
    return count;
}

#endif
