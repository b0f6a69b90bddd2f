/* test_mpi_header.c: the declarations of engine/run/cluster/mpi.h are those of OpenMPI's own header. Skipped where that is
 * not installed. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "tests/support/not_run.h"

#ifdef TESSERA_HAS_MPI_HEADER

#include <mpi.h>

#define mpi_comm     ompi_communicator_t
#define mpi_datatype ompi_datatype_t
#define mpi_errors   ompi_errhandler_t
#define mpi_request  ompi_request_t
#define mpi_status   ompi_status_public_t
#include "engine/run/cluster/mpi.h"

static const struct mpi ours;

/* A difference is an error when this is compiled. */
static void declarations_are_those_of_the_library(void **state)
{
    (void)state;
#define SAME(field, function)                                                                     \
    _Static_assert(__builtin_types_compatible_p(__typeof__(ours.field), __typeof__(&(function))), \
                   #function " is declared differently")
    SAME(version, MPI_Get_library_version);
    SAME(initialized, MPI_Initialized);
    SAME(init, MPI_Init_thread);
    SAME(finalize, MPI_Finalize);
    SAME(abort, MPI_Abort);
    SAME(rank, MPI_Comm_rank);
    SAME(size, MPI_Comm_size);
    SAME(set_errors, MPI_Comm_set_errhandler);
    SAME(error_string, MPI_Error_string);
    SAME(gather_all, MPI_Iallgather);
    SAME(broadcast, MPI_Ibcast);
    SAME(send, MPI_Isend);
    SAME(receive, MPI_Irecv);
    SAME(test, MPI_Test);
    assert_int_equal(MPI_IS_SUCCESS, MPI_SUCCESS);
    assert_int_equal(MPI_THREADS_SERIALIZED, MPI_THREAD_SERIALIZED);
    assert_true(MPI_TEXT_BYTES >= MPI_MAX_ERROR_STRING && MPI_TEXT_BYTES >= MPI_MAX_LIBRARY_VERSION_STRING);
    assert_null(MPI_STATUS_IGNORE);
}

#else

static void declarations_are_those_of_the_library(void **state)
{
    (void)state;
    not_run("OpenMPI's header (libopenmpi-dev) is not installed");
}

#endif

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(declarations_are_those_of_the_library)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
