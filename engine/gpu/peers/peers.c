/* peers.c: see peers.h. */
#include "engine/gpu/peers/peers.h"

#include "engine/gpu/peers/merge_kernels.h"
#include "storage/base/memory.h"

#include <stdlib.h>

struct device_team {
    uint32_t count;                         /* of the runs that read tiles */
    struct device_run *runs[PEERS_MAX + 1]; /* the leader is the first */
    uint32_t member[PEERS_MAX + 1];         /* their numbers among all */
    struct merge_kernels kernels;           /* of the leader's GPU */
    struct cuda_event *others_ended, *merged;
};

/* ---- Open ---- */

/* Lists the runs that read tiles; the others have no states. */
static void list_runs(struct device_run *const *runs, uint32_t count, struct device_team *team)
{
    for (uint32_t r = 0; r < count; r++) {
        if (runs[r]->nothing)
            continue;
        team->member[team->count] = r;
        team->runs[team->count++] = runs[r];
    }
}

/* True if the leader can read the memory of all others. */
static enum status reach_others(const struct device_team *team, bool *possible, struct error *error)
{
    *possible = true;
    for (uint32_t r = 1; *possible && r < team->count; r++)
        RETURN_IF_ERROR(cuda_peer_open(team->runs[0]->cuda, team->runs[r]->cuda, possible, error));
    return STATUS_OK;
}

static enum status open_leader(struct device_team *team, struct error *error)
{
    struct cuda *cuda = team->runs[0]->device->cuda;
    RETURN_IF_ERROR(merge_kernels_open(cuda, &team->kernels, error));
    RETURN_IF_ERROR(cuda_event_create(cuda, &team->others_ended, error));
    return cuda_event_create(cuda, &team->merged, error);
}

enum status gpu_team_open(struct device_run *const *runs, uint32_t count, struct device_team **out,
                          struct error *error)
{
    struct device_team *team;
    bool possible = false;
    *out = NULL;
    if (count > PEERS_MAX + 1)
        return STATUS_OK;
    RETURN_IF_ERROR(memory_zeros(&team, sizeof *team, "the GPUs' events", error));
    list_runs(runs, count, team);
    enum status status = STATUS_OK;
    if (team->count && merge_kernels_can(team->runs[0]))
        status = reach_others(team, &possible, error);
    if (status == STATUS_OK && possible)
        status = open_leader(team, error);
    if (status == STATUS_OK && possible)
        *out = team;
    else
        gpu_team_close(team);
    return status;
}

void gpu_team_close(struct device_team *team)
{
    if (!team)
        return;
    if (team->kernels.cuda) {
        team->kernels.cuda = team->runs[0]->device->cuda;
        cuda_event_destroy(team->kernels.cuda, team->others_ended);
        cuda_event_destroy(team->kernels.cuda, team->merged);
        merge_kernels_close(&team->kernels);
    }
    free(team);
}

/* ---- Run ---- */

/* As cuda_scan_run does for each. All graphs are launched before an end is recorded: each call takes the host 1 to 4
 * microseconds, and the last GPU starts that much later. */
static enum status queue_runs(struct device_team *team, struct error *error)
{
    for (uint32_t r = 0; r < team->count; r++) {
        const struct cuda_scan *scan = &team->runs[r]->scan;
        RETURN_IF_ERROR(cuda_event_record(team->runs[r]->cuda, scan->begin, error));
        RETURN_IF_ERROR(cuda_graph_launch(team->runs[r]->cuda, scan->graph, error));
    }
    for (uint32_t r = 0; r < team->count; r++)
        RETURN_IF_ERROR(cuda_event_record(team->runs[r]->cuda, team->runs[r]->scan.end, error));
    return STATUS_OK;
}

static enum status queue_merge(struct device_team *team, struct error *error)
{
    struct cuda *cuda = team->runs[0]->cuda;
    for (uint32_t r = 1; r < team->count; r++)
        RETURN_IF_ERROR(cuda_stream_wait(cuda, NULL, team->runs[r]->scan.end, error));
    RETURN_IF_ERROR(cuda_event_record(cuda, team->others_ended, error));
    RETURN_IF_ERROR(merge_kernels_queue(&team->kernels, team->runs, team->count, error));
    return cuda_event_record(cuda, team->merged, error);
}

/* After everything has ended. A GPU that failed says so here. */
static enum status take_times(const struct device_team *team, struct run_timing *const *timings,
                              struct team_timing *timing, struct error *error)
{
    struct device_run *leader = team->runs[0];
    struct cuda *cuda = leader->cuda;
    double total = 0;
    for (uint32_t r = 0; r < team->count; r++)
        RETURN_IF_ERROR(gpu_times(team->runs[r], timings[team->member[r]], error));
    RETURN_IF_ERROR(cuda_event_elapsed(cuda, leader->scan.begin, team->merged, &total, error));
    RETURN_IF_ERROR(cuda_event_elapsed(cuda, team->others_ended, team->merged, &timing->merge_ms, error));
    timing->total_ms = total + timings[team->member[0]]->stage_ms;
    for (uint32_t r = 1; r < team->count; r++)
        timing->bytes += merge_kernels_bytes(team->runs[r]);
    return STATUS_OK;
}

/* Queues all once, and waits. *whole is false if some run is not one scan. */
static enum status run_once(struct device_team *team, struct run_timing *const *timings, bool *whole,
                            struct error *error)
{
    *whole = true;
    for (uint32_t r = 0; *whole && r < team->count; r++)
        RETURN_IF_ERROR(gpu_queue_begin(team->runs[r], timings[team->member[r]], whole, error));
    if (!*whole)
        return STATUS_OK;
    RETURN_IF_ERROR(queue_runs(team, error));
    RETURN_IF_ERROR(queue_merge(team, error));
    const uint32_t fetched = merge_kernels_may_fill(team->runs[0]) ? team->count : 1;
    for (uint32_t r = 0; r < fetched; r++)
        RETURN_IF_ERROR(cuda_states_fetch(team->runs[r], error));
    for (uint32_t r = 0; r < fetched; r++)
        RETURN_IF_ERROR(cuda_synchronize(team->runs[r]->cuda, error));
    return STATUS_OK;
}

/* Makes tables that were too full larger; *again: there are some, and all must run again. *room: false if one does not
 * fit. */
static enum status grow(struct device_team *team, bool *again, bool *room, struct error *error)
{
    *again = false;
    *room = true;
    for (uint32_t r = 0; merge_kernels_may_fill(team->runs[0]) && r < team->count; r++) {
        if (!cuda_states_full(team->runs[r]))
            continue;
        *again = true;
        const enum status status = cuda_states_grow(team->runs[r], error);
        *room &= !team->runs[r]->no_room;
        if (status != STATUS_OK && *room)
            return status;
    }
    return STATUS_OK;
}

static enum status run_together(struct device_team *team, bool mergeable, struct partial *partial,
                                struct run_timing *const *timings, struct team_timing *timing,
                                struct error *error)
{
    bool whole, again, room;
    do {
        RETURN_IF_ERROR(run_once(team, timings, &whole, error));
        for (uint32_t r = 0; r < team->count; r++)
            RETURN_IF_ERROR(gpu_queue_end(team->runs[r], error));
        if (!whole)
            return STATUS_OK;
        RETURN_IF_ERROR(grow(team, &again, &room, error));
        if (!room)
            return STATUS_OK;
    } while (again);
    RETURN_IF_ERROR(take_times(team, timings, timing, error));
    timing->merged = true;
    RETURN_IF_ERROR(cuda_states_groups(team->runs[0], partial, error));
    return mergeable ? cuda_sets_list(team->runs[0], partial, error) : STATUS_OK;
}

enum status gpu_team_run(struct device_team *team, bool mergeable, struct partial *partial,
                         struct run_timing *const *timings, struct team_timing *timing, struct error *error)
{
    enum status status = STATUS_OK;
    uint32_t attached = 0;
    *timing = (struct team_timing){0};
    while (status == STATUS_OK && attached < team->count) {
        status = gpu_attach(team->runs[attached], error);
        attached += status == STATUS_OK;
    }
    team->kernels.cuda = team->runs[0]->cuda;
    status = AND_THEN(status, run_together(team, mergeable, partial, timings, timing, error));
    for (uint32_t r = 0; r < attached; r++)
        status = gpu_detach(team->runs[r], status);
    return status;
}
