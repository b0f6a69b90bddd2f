/* devices.c: what the devices of a cluster are called, and what they can do together (cluster.h). */
#include "engine/run/cluster/cluster_internal.h"

#include "storage/base/memory.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* What a process tells of its devices. */
struct devices {
    char text[252];
    uint32_t count;
};

static void write_text(const struct cluster *cluster, const struct devices *all, char *text, size_t bytes)
{
    const char *const last = all[cluster->size - 1].text;
    bool same = true;
    for (uint32_t rank = 1; rank < cluster->size; rank++)
        same &= strcmp(all[rank].text, all[0].text) == 0;
    const size_t used =
        (size_t)snprintf(text, bytes, "%u process%s on %u host%s", cluster->size,
                         cluster->size == 1 ? "" : "es", cluster->hosts, cluster->hosts == 1 ? "" : "s");
    if (same)
        snprintf(text + used, bytes - used, ", each %s", all[0].text);
    else
        snprintf(text + used, bytes - used, ", the first %s, the last %s", all[0].text, last);
}

enum status cluster_devices(struct cluster *cluster, enum status status, uint32_t devices, char *text,
                            size_t bytes, uint32_t *count, uint32_t *before, struct error *error)
{
    struct devices mine = {.count = devices}, *all = NULL;
    snprintf(mine.text, sizeof mine.text, "%s", status == STATUS_OK ? text : "");
    status = AND_THEN(status, memory_zeros(&all, cluster->size * sizeof *all, "the devices' names", error));
    status = cluster_agree(cluster, CLUSTER_OPEN, status, error);
    status = AND_THEN(status, cluster_gather_all(cluster, &mine, sizeof mine, all, error));
    if (status == STATUS_OK)
        write_text(cluster, all, text, bytes);
    *count = *before = 0;
    for (uint32_t rank = 0; status == STATUS_OK && rank < cluster->size; rank++) {
        *before += rank < cluster->rank ? all[rank].count : 0;
        *count += all[rank].count;
    }
    free(all);
    return status;
}

enum status cluster_ceiling(struct cluster *cluster, enum status status, double *bytes_per_second,
                            struct error *error)
{
    struct meeting mine = {.point = CLUSTER_COUNT, .status = (int32_t)status, .times = {*bytes_per_second}};
    if (!cluster)
        return status;
    RETURN_IF_ERROR(cluster_meet(cluster, &mine, error));
    *bytes_per_second = 0;
    for (uint32_t rank = 0; rank < cluster->size; rank++)
        *bytes_per_second += cluster->meeting[rank].times[0];
    return STATUS_OK;
}
