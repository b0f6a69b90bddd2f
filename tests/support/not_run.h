/*
 * not_run.h: leaves out a test that this machine cannot run. The reason is printed, and tests/not_run.sh lists the
 * reasons of all tests at the end of `make check`. Include it after cmocka.h.
 */
#ifndef TESSERA_TESTS_SUPPORT_NOT_RUN_H
#define TESSERA_TESTS_SUPPORT_NOT_RUN_H

#define NOT_RUN "[  NOT RUN ] " /* test_*.py and test_*.sh print it as well */

/* Skips the test; the reason is a printf format. */
#define not_run(...)                        \
    do {                                    \
        print_message(NOT_RUN __VA_ARGS__); \
        print_message("\n");                \
        skip();                             \
    } while (0)

/* Skips the test unless `gpu` is not NULL (or true). */
#define need_gpu(gpu)                                         \
    do {                                                      \
        if (!(gpu))                                           \
            not_run("there is no GPU that can be used here"); \
    } while (0)

#endif
