/* messages.h: what inject.c tells messages.c. */
#ifndef TESSERA_TESTS_FAULTS_MESSAGES_H
#define TESSERA_TESTS_FAULTS_MESSAGES_H

#include <stdbool.h>

/* Counts a call of MPI. True if it must fail. */
bool faults_message(void);

#endif
