/*
 * mpi.h: the entry points of OpenMPI's libmpi.so.40, which versions 4 and 5 have. Only the sources in
 * engine/run/cluster include it.
 *
 * They are declared by hand, so that the program is built without OpenMPI and starts where there is none
 * (docs/decisions.md). Handles are pointers to objects of the library; a test compares the declarations with
 * its header where that is installed. Other MPI libraries have other handles and are not opened.
 */
#ifndef TESSERA_ENGINE_RUN_CLUSTER_MPI_H
#define TESSERA_ENGINE_RUN_CLUSTER_MPI_H

#include "storage/base/status.h"

struct mpi_comm;     /* struct ompi_communicator_t */
struct mpi_datatype; /* struct ompi_datatype_t */
struct mpi_errors;   /* struct ompi_errhandler_t */
struct mpi_request;  /* struct ompi_request_t */
struct mpi_status;   /* struct ompi_status_public_t */

enum { MPI_IS_SUCCESS = 0, MPI_THREADS_SERIALIZED = 2, MPI_TEXT_BYTES = 256 };

/* X(field of struct mpi, symbol in the library, parameters) */
#define MPI_FUNCTIONS(X)                                                                                   \
    X(version, "MPI_Get_library_version", (char *text, int *length))                                       \
    X(initialized, "MPI_Initialized", (int *flag))                                                         \
    X(init, "MPI_Init_thread", (int *argc, char ***argv, int required, int *provided))                     \
    X(finalize, "MPI_Finalize", (void))                                                                    \
    X(abort, "MPI_Abort", (struct mpi_comm * comm, int code))                                              \
    X(rank, "MPI_Comm_rank", (struct mpi_comm * comm, int *rank))                                          \
    X(size, "MPI_Comm_size", (struct mpi_comm * comm, int *size))                                          \
    X(set_errors, "MPI_Comm_set_errhandler", (struct mpi_comm * comm, struct mpi_errors * errors))         \
    X(error_string, "MPI_Error_string", (int code, char *text, int *length))                               \
    X(gather_all, "MPI_Iallgather",                                                                        \
      (const void *send, int send_count, struct mpi_datatype *send_type, void *receive, int receive_count, \
       struct mpi_datatype *receive_type, struct mpi_comm *comm, struct mpi_request **request))            \
    X(broadcast, "MPI_Ibcast",                                                                             \
      (void *data, int count, struct mpi_datatype *type, int root, struct mpi_comm *comm,                  \
       struct mpi_request **request))                                                                      \
    X(send, "MPI_Isend",                                                                                   \
      (const void *data, int count, struct mpi_datatype *type, int to, int tag, struct mpi_comm *comm,     \
       struct mpi_request **request))                                                                      \
    X(receive, "MPI_Irecv",                                                                                \
      (void *data, int count, struct mpi_datatype *type, int from, int tag, struct mpi_comm *comm,         \
       struct mpi_request **request))                                                                      \
    X(test, "MPI_Test", (struct mpi_request * *request, int *done, struct mpi_status *status))

struct mpi {
#define MPI_FIELD(field, symbol, parameters) int(*field) parameters;
    MPI_FUNCTIONS(MPI_FIELD)
#undef MPI_FIELD
    struct mpi_comm *world;           /* MPI_COMM_WORLD */
    struct mpi_datatype *bytes;       /* MPI_BYTE */
    struct mpi_errors *return_errors; /* MPI_ERRORS_RETURN */
};

/* Opens the library, once. STATUS_MACHINE, with what to install, if it is not there. */
NODISCARD enum status mpi_library(const struct mpi **mpi, struct error *error);

#endif
