/* collect.c: bytes of all processes come to process 0 (cluster.h). */
#include "engine/run/cluster/cluster_internal.h"

#include "storage/base/memory.h"

#include <stdlib.h>
#include <string.h>

static enum status receive_all(struct cluster *cluster, const void *mine, const uint64_t *sizes, char *all,
                               struct error *error)
{
    if (cluster->rank > 0)
        return cluster_swap(cluster, 0, mine, sizes[cluster->rank], 0, NULL, 0, error);
    memcpy(all, mine, sizes[0]);
    for (uint32_t rank = 1; rank < cluster->size; rank++) {
        all += sizes[rank - 1];
        RETURN_IF_ERROR(cluster_swap(cluster, rank, NULL, 0, rank, all, sizes[rank], error));
    }
    return STATUS_OK;
}

enum status cluster_collect(struct cluster *cluster, enum status status, const void *mine, uint64_t bytes,
                            char **all, uint64_t *sizes, struct error *error)
{
    struct meeting meeting = {.point = CLUSTER_EXCHANGE, .status = (int32_t)status, .bytes = bytes};
    uint64_t sum = 0;
    *all = NULL;
    RETURN_IF_ERROR(cluster_meet(cluster, &meeting, error));
    for (uint32_t rank = 0; rank < cluster->size; rank++)
        sum += sizes[rank] = cluster->meeting[rank].bytes;
    if (cluster->rank == 0)
        status = memory_take(all, sum, "the other processes' rows", error);
    status = cluster_agree(cluster, CLUSTER_EXCHANGE, status, error);
    status = AND_THEN(status, receive_all(cluster, mine, sizes, *all, error));
    if (status != STATUS_OK) {
        free(*all);
        *all = NULL;
    }
    return status;
}
