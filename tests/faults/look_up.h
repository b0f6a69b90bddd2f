/* look_up.h: functions that the program looks up by dlsym() in libraries which it opens itself, and that inject.c makes fail: dlsym()
 * is in look_up.c, keeps what the library has, and gives the function of the same name here. */
#ifndef TESSERA_TESTS_FAULTS_LOOK_UP_H
#define TESSERA_TESTS_FAULTS_LOOK_UP_H

struct looked_up {
    const char *name; /* NULL: the list ends */
    void *own;        /* counts the call, and makes it unless it must fail */
    void *next;       /* the address of a pointer: the function of the library */
};

extern const struct looked_up faults_messages[];  /* of MPI (messages.c) */
extern const struct looked_up faults_gpu_calls[]; /* of a GPU's driver (gpu.c) */

#endif
