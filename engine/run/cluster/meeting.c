/*
 * meeting.c: agreement of all processes (cluster.h). In a meeting each process gets one small message of every
 * other, and if one of them tells of a failure, the sentence of the first that failed.
 *
 * A failure can take a process to another point than the others: to the end of its statement or of its command. They
 * see it there, and fail with its sentence; so they come to that end too, where it waits for them.
 */
#include "engine/run/cluster/cluster_internal.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* The first process whose message tells of a failure; `size` if there is none. */
static uint32_t first_failed(const struct cluster *cluster)
{
    uint32_t rank = 0;
    while (rank < cluster->size && cluster->meeting[rank].status == STATUS_OK)
        rank++;
    return rank;
}

/* Gives all the sentence of process `failed`, which says who it was unless that was process 0. */
static enum status share_failure(struct cluster *cluster, uint32_t failed, struct error *error)
{
    struct {
        char host[sizeof cluster->host], text[ERROR_TEXT_BYTES];
    } said = {.host = ""};
    if (failed == cluster->rank) {
        memcpy(said.host, cluster->host, sizeof said.host);
        snprintf(said.text, sizeof said.text, "%s", error ? error->text : "");
    }
    RETURN_IF_ERROR(cluster_broadcast(cluster, failed, &said, sizeof said, error));
    const enum status status = (enum status)cluster->meeting[failed].status;
    if (failed == 0)
        return error_set(error, status, "%s", said.text);
    return error_set(error, status, "process %u of %u, on %.63s: %.900s", failed, cluster->size, said.host,
                     said.text);
}

/* Where processes are that are not here: CLUSTER_LEAVE if one leaves; `point` if all are here. */
static uint32_t elsewhere(const struct cluster *cluster, uint32_t point)
{
    uint32_t other = point;
    for (uint32_t rank = 0; rank < cluster->size; rank++) {
        const uint32_t there = cluster->meeting[rank].point;
        if (there != point && (other == point || there == CLUSTER_LEAVE))
            other = there;
    }
    return other;
}

enum status cluster_meet(struct cluster *cluster, struct meeting *mine, struct error *error)
{
    for (;;) {
        RETURN_IF_ERROR(cluster_gather_all(cluster, mine, sizeof *mine, cluster->meeting, error));
        const uint32_t failed = first_failed(cluster), other = elsewhere(cluster, mine->point);
        if (failed < cluster->size) {
            const enum status status = share_failure(cluster, failed, error);
            if (cluster->broken.status != STATUS_OK)
                return status;
            mine->status = (int32_t)status;
        }
        if (other == mine->point)
            return (enum status)mine->status;
        if (mine->point == CLUSTER_LEAVE || (mine->point == CLUSTER_STATEMENT && other != CLUSTER_LEAVE))
            continue;
        return failed < cluster->size
                   ? (enum status)mine->status
                   : error_set(error, STATUS_MACHINE,
                               "the processes do not run the same statements (process %u of %u is at step "
                               "%u, others at %u); give all the same command line",
                               cluster->rank, cluster->size, mine->point, other);
    }
}

enum status cluster_agree(struct cluster *cluster, enum cluster_point point, enum status status,
                          struct error *error)
{
    struct meeting mine = {.point = point, .status = (int32_t)status};
    return cluster ? cluster_meet(cluster, &mine, error) : status;
}

enum status cluster_alike(struct cluster *cluster, enum cluster_point point, enum status status,
                          uint64_t number, const char *what, struct error *error)
{
    struct meeting mine = {.point = point, .status = (int32_t)status, .number = number};
    if (!cluster)
        return status;
    RETURN_IF_ERROR(cluster_meet(cluster, &mine, error));
    for (uint32_t rank = 1; rank < cluster->size; rank++)
        if (cluster->meeting[rank].number != cluster->meeting[0].number)
            return error_set(
                error, STATUS_BAD_INPUT,
                "process %u of %u has another %s than process 0; give all processes the same command line, "
                "the same version of Tessera and the same database, or parts of one load",
                rank, cluster->size, what);
    return STATUS_OK;
}

enum status cluster_turn_begin(struct cluster *cluster, struct error *error)
{
    return cluster_rank(cluster) > 0 ? cluster_agree(cluster, CLUSTER_TURN, STATUS_OK, error) : STATUS_OK;
}

enum status cluster_turn_end(struct cluster *cluster, enum status status, struct error *error)
{
    return cluster && cluster->rank == 0 ? cluster_agree(cluster, CLUSTER_TURN, status, error) : status;
}

enum status cluster_decide(struct cluster *cluster, enum cluster_point point, uint64_t *number,
                           struct error *error)
{
    struct meeting mine = {.point = point, .number = *number};
    if (!cluster)
        return STATUS_OK;
    RETURN_IF_ERROR(cluster_meet(cluster, &mine, error));
    *number = cluster->meeting[0].number;
    return STATUS_OK;
}

enum status cluster_gather(struct cluster *cluster, const void *mine, size_t bytes, void *all,
                           struct error *error)
{
    if (cluster)
        return cluster_gather_all(cluster, mine, bytes, all, error);
    memcpy(all, mine, bytes);
    return STATUS_OK;
}

enum status cluster_text(struct cluster *cluster, char **text, size_t *length, bool more, struct error *error)
{
    struct meeting mine = {.point = CLUSTER_TEXT, .number = more, .bytes = *length};
    if (!cluster)
        return STATUS_OK;
    RETURN_IF_ERROR(cluster_meet(cluster, &mine, error));
    const uint64_t bytes = cluster->meeting[0].bytes;
    enum status status = STATUS_OK;
    more = cluster->meeting[0].number;
    if (cluster->rank > 0) {
        *length = bytes;
        *text = more ? malloc(bytes + 1) : NULL;
        if (more && !*text)
            status = error_out_of_memory(error, bytes, "a text");
    }
    if (!more)
        return STATUS_OK;
    RETURN_IF_ERROR(cluster_agree(cluster, CLUSTER_TEXT, status, error));
    RETURN_IF_ERROR(cluster_broadcast(cluster, 0, *text, bytes, error));
    if (cluster->rank > 0)
        (*text)[bytes] = '\0';
    return STATUS_OK;
}
