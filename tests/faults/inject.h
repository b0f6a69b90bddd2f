/*
 * inject.h: what the preloaded library (inject.c) offers to a program that calls the tested library itself: it arms the
 * faults before some of its calls and disarms them after these. Such a program finds both functions by dlsym, because it
 * is not linked with the library; tests/support/own_faults.h does so. FAULTS_PROGRAM is not set then.
 */
#ifndef TESSERA_TESTS_FAULTS_INJECT_H
#define TESSERA_TESTS_FAULTS_INJECT_H

#include <stdbool.h>
#include <stdint.h>

struct faults_state;

/* The words are those of FAULTS_KINDS, FAULTS_ERROR, FAULTS_NUMBER and FAULTS_FOREVER. */
struct faults_wish {
    const char *kinds, *error;
    uint64_t number;
    bool forever;
    const char *
        file; /* the program or library whose functions are told of a fault, by its path as the loader has it */
};

/* From now on the calls of all threads count, in *state, whose numbers go on: it may be armed several times. */
void faults_arm(const struct faults_wish *wish, struct faults_state *state);
void faults_disarm(void);

#endif
