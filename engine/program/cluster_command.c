/* cluster_command.c: see cluster_command.h. */
#include "engine/program/cluster_command.h"

#include <fcntl.h>
#include <stdio.h>
#include <unistd.h>

static void print_nothing(void)
{
    const int nowhere = open("/dev/null", O_WRONLY | O_CLOEXEC);
    if (nowhere < 0)
        return;
    dup2(nowhere, STDOUT_FILENO);
    close(nowhere);
}

/* mpirun may bind each process to one processor, which is right for programs with one thread. */
static void note_binding(const struct cluster *cluster)
{
    const long processors = sysconf(_SC_NPROCESSORS_ONLN);
    const unsigned used = cluster_threads(cluster) * cluster_local_size(cluster);
    if (cluster_rank(cluster) == 0 && processors >= 2 * (long)used)
        fprintf(stderr,
                "note: the %u processes of this host may run on %u of its %ld processors; `mpirun --bind-to "
                "none` "
                "or srun's --cpus-per-task gives them more\n",
                cluster_local_size(cluster), used, processors);
}

enum status cluster_command_begin(const char *kind, struct cluster **cluster, struct error *error)
{
    *cluster = NULL;
    if (!kind)
        return STATUS_OK;
    RETURN_IF_ERROR(cluster_open(kind, cluster, error));
    if (cluster_rank(*cluster) > 0)
        print_nothing();
    note_binding(*cluster);
    return STATUS_OK;
}

enum status cluster_command_end(struct cluster *cluster, enum status status, struct progress *progress,
                                struct error *error)
{
    if (!cluster)
        return status;
    status = cluster_agree(cluster, CLUSTER_LEAVE, status, error);
    progress_report(progress, "running", "queries", 1, 1); /* removes the bar */
    fflush(stdout);
    if (status != STATUS_OK && cluster_speaks(cluster))
        fprintf(stderr, "tessera: %s\n", error->text);
    error->text[0] = '\0';
    cluster_close(cluster);
    return status;
}
