/* cluster.c: opens and closes a cluster, and knows which processes share a host (cluster.h). */
#define _GNU_SOURCE
#include "engine/run/cluster/cluster_internal.h"

#include "storage/base/parallel.h"

#include <errno.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

/* ---- Hosts ---- */

/* What a process tells the others about itself. */
struct process {
    char host[64];
    int32_t pid;
    uint64_t pids;        /* the space in which the number of a process means something: a container's own */
    cpu_set_t processors; /* that it may run on */
};

static struct process this_process(void)
{
    struct process process = {.pid = getpid()};
    struct stat space;
    if (gethostname(process.host, sizeof process.host - 1) != 0)
        snprintf(process.host, sizeof process.host, "a host without a name");
    if (stat("/proc/self/ns/pid", &space) == 0)
        process.pids = (uint64_t)space.st_ino;
    CPU_ZERO(&process.processors);
    if (sched_getaffinity(0, sizeof process.processors, &process.processors) != 0)
        CPU_SET(0, &process.processors);
    return process;
}

static bool same_host(const struct process *a, const struct process *b)
{
    return strcmp(a->host, b->host) == 0;
}

static void watch(struct cluster *cluster, const struct process *process, uint32_t rank, bool same_pids)
{
    struct cluster_peer *const peer = &cluster->peers[cluster->peer_count++];
    *peer = (struct cluster_peer){.rank = rank, .pid = process->pid, .descriptor = -1};
    if (same_pids)
        peer->descriptor = (int)syscall(SYS_pidfd_open, process->pid, 0);
    peer->gone = same_pids && peer->descriptor < 0 && errno == ESRCH;
}

/* Fills what the places of all processes say. */
static void find_place(struct cluster *cluster, const struct process *all)
{
    const struct process *const mine = &all[cluster->rank];
    unsigned sharers = 0;
    memcpy(cluster->host, mine->host, sizeof cluster->host);
    for (uint32_t rank = 0; rank < cluster->size; rank++) {
        uint32_t first = 0;
        while (!same_host(&all[first], &all[rank]))
            first++;
        cluster->hosts += first == rank;
        if (!same_host(&all[rank], mine))
            continue;
        cluster->local_size++;
        cluster->local_rank += rank < cluster->rank;
        sharers += CPU_EQUAL(&all[rank].processors, &mine->processors);
        if (rank != cluster->rank)
            watch(cluster, &all[rank], rank, all[rank].pids == mine->pids);
    }
    const unsigned processors = (unsigned)CPU_COUNT(&mine->processors);
    cluster->threads = processors > sharers ? processors / sharers : 1;
}

/* ---- Opening ---- */

static unsigned long number_in(const char *variable)
{
    const char *const text = getenv(variable);
    return text ? strtoul(text, NULL, 10) : 0;
}

/* srun starts processes that MPI can connect only if it was told its interface; else MPI would end the process itself. */
static enum status check_srun(struct error *error)
{
    const unsigned long tasks = number_in("SLURM_STEP_NUM_TASKS");
    if (tasks < 2 || getenv("OMPI_COMM_WORLD_SIZE") || getenv("PMIX_RANK") || getenv("PMI_RANK") ||
        getenv("PMI_FD"))
        return STATUS_OK;
    return error_set(error, STATUS_MACHINE,
                     "srun started %lu processes without an interface of MPI; start them with srun "
                     "--mpi=pmix (srun --mpi=list shows which interfaces there are), or with mpirun",
                     tasks);
}

/* A process that finds no launcher to talk to becomes a cluster of one; N such would print N answers. */
static enum status check_size(const struct cluster *cluster, struct error *error)
{
    static const char *const variables[] = {"OMPI_COMM_WORLD_SIZE", "SLURM_STEP_NUM_TASKS", "PMI_SIZE"};
    for (size_t v = 0; v < sizeof variables / sizeof *variables; v++)
        if (cluster->size == 1 && number_in(variables[v]) > 1)
            return error_set(error, STATUS_MACHINE,
                             "%lu processes were started (%s), but OpenMPI sees only one; start them with "
                             "its own mpirun, or with srun --mpi=pmix",
                             number_in(variables[v]), variables[v]);
    return STATUS_OK;
}

static enum status begin(struct cluster *cluster, struct error *error)
{
    const struct mpi *const mpi = cluster->mpi;
    int started = 0, provided = 0, rank = 0, size = 1;
    RETURN_IF_ERROR(cluster_result(cluster, mpi->initialized(&started), "starting MPI", error));
    if (started)
        return error_set(error, STATUS_MACHINE,
                         "MPI is in use in this process already; open one cluster at a time");
    setenv("OMPI_MCA_opal_signal", "", 0); /* the program has its own handlers, and core dumps */
    RETURN_IF_ERROR(cluster_result(cluster, mpi->init(NULL, NULL, MPI_THREADS_SERIALIZED, &provided),
                                   "starting MPI", error));
    RETURN_IF_ERROR(
        cluster_result(cluster, mpi->set_errors(mpi->world, mpi->return_errors), "starting MPI", error));
    RETURN_IF_ERROR(cluster_result(cluster, mpi->rank(mpi->world, &rank), "starting MPI", error));
    RETURN_IF_ERROR(cluster_result(cluster, mpi->size(mpi->world, &size), "starting MPI", error));
    cluster->rank = (uint32_t)rank;
    cluster->size = (uint32_t)size;
    return STATUS_OK;
}

static enum status meet_others(struct cluster *cluster, struct error *error)
{
    const struct process mine = this_process();
    struct process *const all = calloc(cluster->size, sizeof *all);
    cluster->peers = calloc(cluster->size, sizeof *cluster->peers);
    cluster->meeting = calloc(cluster->size, sizeof *cluster->meeting);
    cluster->bytes = calloc(cluster->size, sizeof *cluster->bytes);
    cluster->views = calloc(cluster->size, sizeof *cluster->views);
    cluster->small = malloc(CLUSTER_SMALL_BYTES);
    enum status status =
        all && cluster->peers && cluster->meeting && cluster->bytes && cluster->views && cluster->small
            ? cluster_gather_all(cluster, &mine, sizeof mine, all, error)
            : error_out_of_memory(error, cluster->size * sizeof *all, "a cluster");
    if (status == STATUS_OK)
        find_place(cluster, all);
    free(all);
    return status;
}

enum status cluster_open(const char *kind, struct cluster **out, struct error *error)
{
    const struct mpi *mpi;
    if (strcmp(kind, "mpi") != 0)
        return error_set(error, STATUS_BAD_INPUT, "'%s' is no kind of cluster; use mpi", kind);
    RETURN_IF_ERROR(mpi_library(&mpi, error));
    RETURN_IF_ERROR(check_srun(error));
    struct cluster *const cluster = calloc(1, sizeof *cluster);
    if (!cluster)
        return error_out_of_memory(error, sizeof *cluster, "a cluster");
    cluster->mpi = mpi;
    cluster->piece_bytes = CLUSTER_PIECE_BYTES;
    cluster->small_bytes = CLUSTER_SMALL_BYTES;
    enum status status = begin(cluster, error);
    status = AND_THEN(status, check_size(cluster, error));
    status = AND_THEN(status, meet_others(cluster, error));
    if (status == STATUS_OK)
        *out = cluster;
    else
        cluster_close(cluster);
    return status;
}

void cluster_close(struct cluster *cluster)
{
    if (!cluster)
        return;
    if (cluster->broken.status != STATUS_OK)
        cluster_linger(cluster);
    for (uint32_t p = 0; p < cluster->peer_count; p++)
        if (cluster->peers[p].descriptor >= 0)
            close(cluster->peers[p].descriptor);
    /* Once a process has died, MPI can only be left by ending. Those of its host notice by themselves; an abort, in which
     * the launcher kills, is for those of other hosts. */
    if (cluster->broken.status != STATUS_OK && cluster->hosts > 1)
        cluster->mpi->abort(cluster->mpi->world, STATUS_MACHINE);
    else if (cluster->broken.status == STATUS_OK && cluster->size > 0)
        cluster->mpi->finalize();
    free(cluster->peers);
    free(cluster->meeting);
    free(cluster->bytes);
    free(cluster->views);
    free(cluster->small);
    free(cluster);
}

enum status cluster_available(char *text, size_t bytes, struct error *error)
{
    const struct mpi *mpi;
    char version[MPI_TEXT_BYTES + 1] = "";
    int length = 0;
    RETURN_IF_ERROR(mpi_library(&mpi, error));
    if (mpi->version(version, &length) != MPI_IS_SUCCESS)
        version[0] = '\0';
    version[strcspn(version, ",\n")] = '\0';
    snprintf(text, bytes, "%s", version[0] ? version : "OpenMPI");
    return STATUS_OK;
}

/* ---- Who this process is ---- */

uint32_t cluster_rank(const struct cluster *cluster)
{
    return cluster ? cluster->rank : 0;
}

uint32_t cluster_size(const struct cluster *cluster)
{
    return cluster ? cluster->size : 1;
}

uint32_t cluster_local_rank(const struct cluster *cluster)
{
    return cluster ? cluster->local_rank : 0;
}

uint32_t cluster_local_size(const struct cluster *cluster)
{
    return cluster ? cluster->local_size : 1;
}

unsigned cluster_threads(const struct cluster *cluster)
{
    return cluster ? cluster->threads : parallel_threads_available();
}
