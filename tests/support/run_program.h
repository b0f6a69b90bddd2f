/*
 * run_program.h: runs the program as a user would and keeps what it prints, for the tests of commands.
 * TESSERA_PROGRAM is the path of the program that was built.
 */
#ifndef TESSERA_TESTS_SUPPORT_RUN_PROGRAM_H
#define TESSERA_TESTS_SUPPORT_RUN_PROGRAM_H

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#define OUTPUT_BYTES (1u << 20)

struct program_run {
    int exit_code; /* -1: ended by a signal */
    char output[OUTPUT_BYTES], errors[OUTPUT_BYTES];
};

static void read_back(FILE *file, char text[OUTPUT_BYTES])
{
    rewind(file);
    text[fread(text, 1, OUTPUT_BYTES - 1, file)] = '\0';
    fclose(file);
}

/* Runs the shell command, in which $T is the program's path. *run gets the exit code and what was printed. */
static void run_shell(const char *shell, struct program_run *run)
{
    FILE *output = tmpfile(), *errors = tmpfile();
    if (!output || !errors)
        abort();
    fflush(NULL);
    pid_t child = fork();
    if (child == 0) {
        dup2(fileno(output), STDOUT_FILENO);
        dup2(fileno(errors), STDERR_FILENO);
        setenv("T", TESSERA_PROGRAM, 1);
        execl("/bin/sh", "sh", "-c", shell, (char *)NULL);
        _exit(127);
    }
    int status = -1;
    if (child < 0 || waitpid(child, &status, 0) != child)
        abort();
    run->exit_code = WIFEXITED(status) ? WEXITSTATUS(status) : -1;
    read_back(output, run->output);
    read_back(errors, run->errors);
}

#endif
