/* mpi.c: opens libmpi.so.40 once (mpi.h). */
#include "engine/run/cluster/mpi.h"

#include <dlfcn.h>
#include <pthread.h>
#include <string.h>

static struct mpi functions;
static struct error open_error; /* its status is STATUS_OK if the library is usable */
static pthread_once_t opened_once = PTHREAD_ONCE_INIT;

#ifdef TESSERA_WITH_MPI

static const struct {
    const char *name;
    void *slot;
} symbols[] = {
#define MPI_SYMBOL(field, symbol, parameters) {symbol, &functions.field},
    MPI_FUNCTIONS(MPI_SYMBOL)
#undef MPI_SYMBOL
        {"ompi_mpi_comm_world", &functions.world},
    {"ompi_mpi_byte", &functions.bytes},
    {"ompi_mpi_errors_return", &functions.return_errors}};

static void open_library(void)
{
    /* Global, because the library's own plug-ins look for its symbols there. */
    void *library = dlopen("libmpi.so.40", RTLD_NOW | RTLD_GLOBAL);
    if (!library) {
        error_set(&open_error, STATUS_MACHINE,
                  "--cluster mpi needs OpenMPI's library (libmpi.so.40), which is not installed on this "
                  "machine; install OpenMPI 4 or 5 (on Debian and Ubuntu: apt-get install openmpi-bin)");
        return;
    }
    for (size_t i = 0; i < sizeof symbols / sizeof *symbols; i++) {
        void *symbol = dlsym(library, symbols[i].name);
        if (!symbol) {
            error_set(&open_error, STATUS_MACHINE,
                      "libmpi.so.40 has no %s, so it is not OpenMPI 4 or 5, which --cluster mpi needs",
                      symbols[i].name);
            return;
        }
        memcpy(symbols[i].slot, &symbol, sizeof symbol);
    }
}

#else

static void open_library(void)
{
    error_set(&open_error, STATUS_MACHINE,
              "this build of Tessera has no MPI (it was configured with TESSERA_MPI=OFF); run one process, "
              "without --cluster, or build with TESSERA_MPI=AUTO");
}

#endif

enum status mpi_library(const struct mpi **mpi, struct error *error)
{
    pthread_once(&opened_once, open_library);
    if (open_error.status != STATUS_OK && error)
        *error = open_error;
    *mpi = &functions;
    return open_error.status;
}
