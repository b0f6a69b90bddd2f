/*
 * mpirun.h: for tests of several processes on this machine. A test is skipped, with a line that says so, where OpenMPI
 * is not installed. Include it after cmocka.h.
 */
#ifndef TESSERA_TESTS_SUPPORT_MPIRUN_H
#define TESSERA_TESTS_SUPPORT_MPIRUN_H

#include "engine/run/cluster.h"
#include "tests/support/not_run.h"

#include <stdio.h>
#include <stdlib.h>

/* A shell's words before the program's: as many processes as are asked for, whatever the machine has. */
#define MPIRUN "mpirun --quiet --oversubscribe --bind-to none "

static inline void need_mpirun(void)
{
    char library[256];
    struct error error = {0};
    if (cluster_available(library, sizeof library, &error) == STATUS_OK &&
        system("mpirun --version 2>/dev/null | grep -q 'Open MPI'") == 0) {
        setenv("OMPI_ALLOW_RUN_AS_ROOT", "1", 1);
        setenv("OMPI_ALLOW_RUN_AS_ROOT_CONFIRM", "1", 1);
        setenv("OMPI_MCA_btl_base_warn_component_unused", "0", 1);
        setenv("ASAN_OPTIONS", "detect_leaks=0", 1); /* MPI's library keeps memory to the end */
        return;
    }
    not_run("OpenMPI's mpirun is not installed");
}

#endif
