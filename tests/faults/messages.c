/*
 * messages.c: makes calls of MPI fail, for inject.c. The program looks its functions up by dlsym, in a library that it opens
 * (engine/run/cluster/mpi.h), so dlsym comes here first, and gives functions that count.
 *
 * A call is counted before it is made; MPI_Test, which is called as often as it takes, only if it says that a message has
 * been sent or received. So calls have the same numbers in each run. A call that fails returns MPI_ERR_OTHER of OpenMPI.
 */
#define _GNU_SOURCE
#include "tests/faults/messages.h"

#include <dlfcn.h>
#include <stddef.h>
#include <string.h>

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

static const struct {
    const char *name;
    void *counted;
    void *real; /* where the function of the library is kept */
} functions[] = {
    {"MPI_Init_thread", counted_init, &real_init},
    {"MPI_Finalize", counted_finalize, &real_finalize},
    {"MPI_Iallgather", counted_gather_all, &real_gather_all},
    {"MPI_Ibcast", counted_broadcast, &real_broadcast},
    {"MPI_Isend", counted_send, &real_send},
    {"MPI_Irecv", counted_receive, &real_receive},
    {"MPI_Test", counted_test, &real_test},
};

typedef void *look_up(void *library, const char *name);

static look_up *real_dlsym(void)
{
    static const char *const versions[] = {"GLIBC_2.34", "GLIBC_2.17", "GLIBC_2.2.5"};
    static look_up *_Atomic found;
    for (size_t v = 0; !found && v < sizeof versions / sizeof *versions; v++)
        found = (look_up *)dlvsym(RTLD_NEXT, "dlsym", versions[v]);
    return found;
}

void *dlsym(void *restrict library, const char *restrict name)
{
    void *const symbol = real_dlsym()(library, name);
    if (!symbol || strncmp(name, "MPI_", 4) != 0)
        return symbol;
    for (size_t f = 0; f < sizeof functions / sizeof *functions; f++)
        if (strcmp(name, functions[f].name) == 0) {
            memcpy(functions[f].real, &symbol, sizeof symbol);
            return functions[f].counted;
        }
    return symbol;
}
