/*
 * messages.c: makes calls of MPI fail, for inject.c. The program looks its functions up by dlsym(), in a library that it opens
 * (engine/run/cluster/mpi.h), and gets those of this file (look_up.h).
 *
 * A call is counted before it is made; MPI_Test, which is called as often as it takes, only if it says that a message has
 * been sent or received. So calls have the same numbers in each run. A call that fails returns MPI_ERR_OTHER of OpenMPI.
 */
#define _GNU_SOURCE
#include "tests/faults/messages.h"

#include "tests/faults/look_up.h"

#include <stddef.h>

#define ERROR_OTHER 16

/* COUNTED(NAME, PARAMETERS, ARGUMENTS): a function of MPI that fails if faults_message says so. */
#define COUNTED(name, parameters, arguments)                           \
    static int(*_Atomic real_##name) parameters;                       \
    static int counted_##name parameters                               \
    {                                                                  \
        return faults_message() ? ERROR_OTHER : real_##name arguments; \
    }

COUNTED(init, (int *count, char ***arguments, int required, int *provided),
        (count, arguments, required, provided))
COUNTED(finalize, (void), ())
COUNTED(gather_all,
        (const void *send, int count, void *type, void *receive, int receive_count, void *receive_type,
         void *comm, void **request),
        (send, count, type, receive, receive_count, receive_type, comm, request))
COUNTED(broadcast, (void *data, int count, void *type, int root, void *comm, void **request),
        (data, count, type, root, comm, request))
COUNTED(send, (const void *data, int count, void *type, int to, int tag, void *comm, void **request),
        (data, count, type, to, tag, comm, request))
COUNTED(receive, (void *data, int count, void *type, int from, int tag, void *comm, void **request),
        (data, count, type, from, tag, comm, request))

static int (*_Atomic real_test)(void **request, int *done, void *status);
static int counted_test(void **request, int *done, void *status)
{
    const int code = real_test(request, done, status);
    return code == 0 && *done && faults_message() ? ERROR_OTHER : code;
}

const struct looked_up faults_messages[] = {
    {"MPI_Init_thread", counted_init, &real_init},
    {"MPI_Finalize", counted_finalize, &real_finalize},
    {"MPI_Iallgather", counted_gather_all, &real_gather_all},
    {"MPI_Ibcast", counted_broadcast, &real_broadcast},
    {"MPI_Isend", counted_send, &real_send},
    {"MPI_Irecv", counted_receive, &real_receive},
    {"MPI_Test", counted_test, &real_test},
    {NULL, NULL, NULL},
};
