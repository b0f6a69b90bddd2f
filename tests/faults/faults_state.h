/* faults_state.h: what the preloaded library (inject.c) tells the driver (tests/support/faults.h), in a shared file. */
#ifndef TESSERA_TESTS_FAULTS_FAULTS_STATE_H
#define TESSERA_TESTS_FAULTS_FAULTS_STATE_H

#include <stdatomic.h>
#include <stdint.h>

#define FAULTS_FRAMES 24

struct faults_state {
    _Atomic uint32_t begun;         /* the program was started, and is the one that is tested */
    _Atomic uint64_t calls;         /* of the chosen kinds */
    _Atomic uint64_t faults;        /* those that failed */
    uint32_t frame_count;           /* of the first fault */
    uint64_t frames[FAULTS_FRAMES]; /* addresses in the program's file, the innermost first */
};

#endif
