/* counts.c: the counts of an analysed run of all processes (cluster.h). */
#include "engine/run/cluster/cluster_internal.h"

#include "storage/base/memory.h"

#include <stdlib.h>
#include <string.h>

enum status cluster_count(struct cluster *cluster, const struct plan *plan, enum status status,
                          struct scan_counts *counts, struct error *error)
{
    struct scan_counts *all = NULL;
    if (!cluster)
        return status;
    status = AND_THEN(status, memory_take(&all, cluster->size * sizeof *all, "the processes' counts", error));
    status = cluster_agree(cluster, CLUSTER_COUNT, status, error);
    status = AND_THEN(status, cluster_gather_all(cluster, counts, sizeof *counts, all, error));
    if (status == STATUS_OK) {
        struct scan_counts sum = {0};
        uint64_t tiles = 0, read = 0;
        for (uint32_t rank = 0; rank < cluster->size; rank++) {
            scan_counts_add(plan, &all[rank], &sum);
            tiles += all[rank].tiles;
            read += all[rank].tiles - all[rank].tiles_skipped;
        }
        memcpy(sum.share, counts->share, sizeof sum.share); /* of the time of this process's scan */
        sum.tiles = plan->fact->part.of ? tiles : counts->tiles;
        sum.tiles_skipped = sum.tiles - read;
        *counts = sum;
    }
    free(all);
    return status;
}
