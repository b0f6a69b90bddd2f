/* counts.c: the counts of an analysed run of all processes (cluster.h). */
#include "engine/run/cluster/cluster_internal.h"

#include "storage/base/memory.h"

#include <stdlib.h>
#include <string.h>

static void add_counts(const struct plan *plan, const struct scan_counts *from, struct scan_counts *to)
{
    for (uint32_t s = 0; s < plan->step_count; s++) {
        to->reached[s] += from->reached[s];
        to->left[s] += from->left[s];
    }
    for (uint32_t c = 0; c < plan->column_count; c++)
        to->bytes[c] += from->bytes[c];
    scan_moves_add(&to->moves, &from->moves);
    to->tiles += from->tiles;
    to->tiles_skipped += from->tiles - from->tiles_skipped; /* the tiles that are read, for now */
}

enum status cluster_count(struct cluster *cluster, const struct plan *plan, enum status status,
                          struct scan_counts *counts, struct error *error)
{
    struct scan_counts *all = NULL;
    if (!cluster)
        return status;
    if (status == STATUS_OK)
        status = memory_take(&all, cluster->size * sizeof *all, "the processes' counts", error);
    status = cluster_agree(cluster, CLUSTER_COUNT, status, error);
    if (status == STATUS_OK)
        status = cluster_gather_all(cluster, counts, sizeof *counts, all, error);
    if (status == STATUS_OK) {
        struct scan_counts sum = {0};
        for (uint32_t rank = 0; rank < cluster->size; rank++)
            add_counts(plan, &all[rank], &sum);
        memcpy(sum.share, counts->share, sizeof sum.share); /* of the time of this process's scan */
        sum.tiles = plan->fact->part.of ? sum.tiles : counts->tiles;
        sum.tiles_skipped = sum.tiles - sum.tiles_skipped;
        *counts = sum;
    }
    free(all);
    return status;
}
