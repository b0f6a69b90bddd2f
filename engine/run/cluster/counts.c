/* counts.c: the counts of an analysed run of all processes (cluster.h). */
#include "engine/run/cluster/cluster_internal.h"

#include "storage/base/memory.h"

#include <stdlib.h>
#include <string.h>

enum status cluster_count(struct cluster *cluster, const struct plan *plan, enum status status,
                          struct scan_counts *counts, struct error *error)
{
    const uint32_t step_count = plan->step_count + 1, column_count = plan->column_count;
    struct scan_counts *all = NULL; /* with the lists of the next two */
    struct step_counts *steps = NULL;
    uint64_t *bytes = NULL;
    if (!cluster)
        return status;
    status = AND_THEN(status, memory_take(&all, cluster->size * sizeof *all, "counts", error));
    status =
        AND_THEN(status, memory_take(&steps, cluster->size * step_count * sizeof *steps, "counts", error));
    status =
        AND_THEN(status, memory_take(&bytes, cluster->size * column_count * sizeof *bytes, "counts", error));
    status = cluster_agree(cluster, CLUSTER_COUNT, status, error);
    status = AND_THEN(status, cluster_gather_all(cluster, counts, sizeof *counts, all, error));
    status = AND_THEN(status,
                      cluster_gather_all(cluster, counts->steps, step_count * sizeof *steps, steps, error));
    status = AND_THEN(status,
                      cluster_gather_all(cluster, counts->bytes, column_count * sizeof *bytes, bytes, error));
    if (status == STATUS_OK) {
        const uint32_t own = cluster_rank(cluster); /* shares are of the time of this process's scan */
        uint64_t tiles = 0, read = 0;
        for (uint32_t rank = 0; rank < cluster->size; rank++) {
            all[rank].steps = &steps[rank * step_count];
            all[rank].bytes = &bytes[rank * column_count];
            tiles += all[rank].tiles;
            read += all[rank].tiles - all[rank].tiles_skipped;
            if (rank != own)
                scan_counts_add(plan, &all[rank], counts);
        }
        counts->tiles = plan->fact->part.of ? tiles : counts->tiles;
        counts->tiles_skipped = counts->tiles - read;
    }
    free(all);
    free(steps);
    free(bytes);
    return status;
}
