/* cluster_command.c: see cluster_command.h. */
#include "engine/program/cluster_command.h"

#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
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
                "none` or srun's --cpus-per-task gives them more\n",
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

/* ---- Databases ---- */

#define PART_WORD "{part}"

static enum status own_path(const struct cluster *cluster, const char *path, char own[PATH_MAX],
                            struct error *error)
{
    const char *const word = cluster ? strstr(path, PART_WORD) : NULL;
    const int length = word ? snprintf(own, PATH_MAX, "%.*s%u%s", (int)(word - path), path,
                                       cluster_rank(cluster) + 1, word + strlen(PART_WORD))
                            : snprintf(own, PATH_MAX, "%s", path);
    return length < PATH_MAX ? STATUS_OK
                             : error_set(error, STATUS_BAD_INPUT, "the path %.100s... is too long", path);
}

static void note_part(const struct database *database)
{
    const struct table *const table = database_part(database);
    if (table)
        fprintf(stderr,
                "note: %s has part %u of %u of table %s, %" PRIu64 " of %" PRIu64
                " rows; answers are of these. --cluster mpi answers over all parts\n",
                database_path(database), table->part.number, table->part.of, table->name, table->rows,
                table->part.whole_rows);
}

enum status cluster_command_open(struct cluster *cluster, const char *path, struct database **database,
                                 struct error *error)
{
    char own[PATH_MAX];
    *database = NULL;
    enum status status = own_path(cluster, path, own, error);
    status = AND_THEN(status, database_open(own, database, error));
    if (status == STATUS_OK && !cluster)
        note_part(*database);
    status = cluster_join_database(cluster, status, *database, error);
    if (status != STATUS_OK && *database) {
        database_close(*database);
        *database = NULL;
    }
    return status;
}

/* ---- The end ---- */

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
