/*
 * cluster_command.h: commands that several processes run together (--cluster mpi; engine/run/cluster.h).
 *
 * Only process 0 prints: the standard output of the others goes nowhere, and a failure of all is told once.
 */
#ifndef TESSERA_ENGINE_PROGRAM_CLUSTER_COMMAND_H
#define TESSERA_ENGINE_PROGRAM_CLUSTER_COMMAND_H

#include "engine/run/cluster.h"
#include "storage/base/parallel.h"
#include "storage/database/database.h"

/* Joins the cluster; NULL for `kind` NULL. Notes go to standard error. */
NODISCARD enum status cluster_command_begin(const char *kind, struct cluster **cluster, struct error *error);

/* Opens the database for statements. With a cluster, `{part}` in the path becomes the number of this process, from 1, and
 * parts of a load become one database (cluster_join_database). Without one, a note says that a part is not the whole. */
NODISCARD enum status cluster_command_open(struct cluster *cluster, const char *path,
                                           struct database **database, struct error *error);

/* Ends the command on all processes with the same status, and closes the cluster. With a cluster it prints the
 * sentence of a failure, and leaves error->text empty: process 0 must have said it before the first process ends, for
 * then the launcher may kill the others. */
NODISCARD enum status cluster_command_end(struct cluster *cluster, enum status status,
                                          struct progress *progress, struct error *error);

/* What --cluster is, in a command's table of options. */
#define CLUSTER_OPTION_HELP                                                                             \
    "Several processes answer together: mpi, OpenMPI, where mpirun or Slurm's srun started them. Each " \
    "scans its "                                                                                        \
    "share of the segments on its own device, and the first prints"

#endif
