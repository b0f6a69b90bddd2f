/* peers.c: see peers.h. */
#include "engine/gpu/peers/peers.h"

#include "engine/gpu/run_internal.h"
#include "operators/group/merge.h"
#include "storage/base/memory.h"

#include <stdlib.h>

#define MERGE_THREADS 256u
/* Blocks of a multiprocessor: what keeps enough reads of the others' memory in flight. */
#define MERGE_BLOCKS 8u

const char gpu_merge_source[] =
    "#define TILE_CUDA 1\n#include <stdint.h>\n#include \"operators/group/merge.h\"\n"
    "extern \"C\" __global__ void __launch_bounds__(256) merge(const __grid_constant__ bound_merge work)\n"
    "{\n"
    "    for (uint32_t item = blockIdx.x * blockDim.x + threadIdx.x; item < merge_items(&work);\n"
    "         item += gridDim.x * blockDim.x)\n"
    "        merge_item(&work, item);\n"
    "}\n";

_Static_assert(sizeof(struct bound_merge) <= 4096, "the arguments of a kernel");
_Static_assert(MERGE_STATES_MAX >= PLAN_AGGREGATES_MAX, "all states have a place");

struct device_team {
    uint32_t count;                               /* of the runs that read tiles */
    struct device_run *runs[MERGE_PEERS_MAX + 1]; /* the leader is the first */
    uint32_t member[MERGE_PEERS_MAX + 1];         /* their numbers among all */
    struct cuda_module *module;
    struct cuda_function *merge;
    struct cuda_event *others_ended, *merged;
};

/* ---- Open ---- */

/* True if the plan's states can be merged word by word. */
static bool is_mergeable(const struct plan *plan)
{
    if (plan->shape != PLAN_TOTAL && plan->shape != PLAN_DENSE)
        return false;
    for (uint32_t a = 0; a < plan->aggregate_count; a++)
        if (plan->aggregates[a].kind == AGGREGATE_COUNT_DISTINCT)
            return false;
    return true;
}

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
        RETURN_IF_ERROR(
            cuda_peer_open(team->runs[0]->device->cuda, team->runs[r]->device->cuda, possible, error));
    return STATUS_OK;
}

static enum status load_kernel(struct device_team *team, struct error *error)
{
    struct cuda *cuda = team->runs[0]->device->cuda;
    const struct nvrtc_request request = {
        .name = "merge.cu", .source = gpu_merge_source, .arch = cuda_properties(cuda)->arch};
    struct kernel_binary binary = {0};
    RETURN_IF_ERROR(kernel_cache_get(&request, &binary, NULL, error));
    const enum status status = cuda_module_load(cuda, binary.cubin, &team->module, error);
    kernel_binary_free(&binary);
    RETURN_IF_ERROR(status);
    RETURN_IF_ERROR(cuda_module_function(cuda, team->module, "merge", &team->merge, error));
    RETURN_IF_ERROR(cuda_event_create(cuda, &team->others_ended, error));
    return cuda_event_create(cuda, &team->merged, error);
}

enum status gpu_team_open(struct device_run *const *runs, uint32_t count, struct device_team **out,
                          struct error *error)
{
    struct device_team *team;
    bool possible = false;
    *out = NULL;
    if (count > MERGE_PEERS_MAX + 1 || !is_mergeable(runs[0]->plan) || runs[0]->known)
        return STATUS_OK;
    RETURN_IF_ERROR(memory_zeros(&team, sizeof *team, "the GPUs' events", error));
    list_runs(runs, count, team);
    enum status status = team->count ? reach_others(team, &possible, error) : STATUS_OK;
    if (status == STATUS_OK && possible)
        status = load_kernel(team, error);
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
    struct cuda *cuda = team->count ? team->runs[0]->device->cuda : NULL;
    if (team->module) {
        cuda_event_destroy(cuda, team->others_ended);
        cuda_event_destroy(cuda, team->merged);
        cuda_module_unload(cuda, team->module);
    }
    free(team);
}

/* ---- Run ---- */

static uint32_t offset_of(const struct device_run *run, cuda_address piece)
{
    return (uint32_t)((piece - run->states) / sizeof(uint64_t));
}

static void fill_work(const struct device_team *team, struct bound_merge *work)
{
    const struct device_run *leader = team->runs[0];
    const struct plan *plan = leader->plan;
    *work = (struct bound_merge){.own = leader->states,
                                 .peer_count = team->count - 1,
                                 .state_count = plan->aggregate_count,
                                 .slots = (uint32_t)leader->slots,
                                 .present = offset_of(leader, leader->arguments.present)};
    for (uint32_t r = 1; r < team->count; r++)
        work->peers[r - 1] = team->runs[r]->states;
    for (uint32_t a = 0; a < plan->aggregate_count; a++) {
        const enum aggregate_kind kind = plan->aggregates[a].kind;
        work->states[a].offset = offset_of(leader, leader->arguments.states[a]);
        work->states[a].kind = kind == AGGREGATE_MIN || kind == AGGREGATE_MAX ? MERGE_GREATEST
                               : kind == AGGREGATE_SUM_WIDE                   ? MERGE_ADD_WIDE
                                                                              : MERGE_ADD;
    }
}

/* As cuda_scan_run does for each. All graphs are launched before an end is recorded: each call takes the host 1 to 4
 * microseconds, and the last GPU starts that much later. */
static enum status queue_runs(struct device_team *team, struct error *error)
{
    for (uint32_t r = 0; r < team->count; r++) {
        const struct cuda_scan *scan = &team->runs[r]->scan;
        RETURN_IF_ERROR(cuda_event_record(team->runs[r]->device->cuda, scan->begin, error));
        RETURN_IF_ERROR(cuda_graph_launch(team->runs[r]->device->cuda, scan->graph, error));
    }
    for (uint32_t r = 0; r < team->count; r++)
        RETURN_IF_ERROR(cuda_event_record(team->runs[r]->device->cuda, team->runs[r]->scan.end, error));
    return STATUS_OK;
}

static enum status queue_merge(struct device_team *team, struct error *error)
{
    struct cuda *cuda = team->runs[0]->device->cuda;
    struct bound_merge work;
    void *arguments[] = {&work};
    fill_work(team, &work);
    for (uint32_t r = 1; r < team->count; r++)
        RETURN_IF_ERROR(cuda_stream_wait(cuda, NULL, team->runs[r]->scan.end, error));
    RETURN_IF_ERROR(cuda_event_record(cuda, team->others_ended, error));
    if (work.peer_count == 0)
        return cuda_event_record(cuda, team->merged, error);
    const uint32_t most = MERGE_BLOCKS * cuda_properties(cuda)->multiprocessors,
                   blocks = (merge_items(&work) + MERGE_THREADS - 1) / MERGE_THREADS;
    RETURN_IF_ERROR(
        cuda_launch(cuda, team->merge, blocks < most ? blocks : most, MERGE_THREADS, 0, arguments, error));
    return cuda_event_record(cuda, team->merged, error);
}

/* After everything has ended. A GPU that failed says so here. */
static enum status take_times(const struct device_team *team, struct run_timing *const *timings,
                              struct team_timing *timing, struct error *error)
{
    struct device_run *leader = team->runs[0];
    struct cuda *cuda = leader->device->cuda;
    double total = 0;
    for (uint32_t r = 0; r < team->count; r++)
        RETURN_IF_ERROR(gpu_times(team->runs[r], timings[team->member[r]], error));
    RETURN_IF_ERROR(cuda_event_elapsed(cuda, leader->scan.begin, team->merged, &total, error));
    RETURN_IF_ERROR(cuda_event_elapsed(cuda, team->others_ended, team->merged, &timing->merge_ms, error));
    timing->total_ms = total + timings[team->member[0]]->stage_ms;
    timing->bytes = (team->count - 1) * leader->answer_bytes;
    return STATUS_OK;
}

enum status gpu_team_run(struct device_team *team, struct partial *partial, struct run_timing *const *timings,
                         struct team_timing *timing, struct error *error)
{
    struct device_run *leader = team->runs[0];
    bool whole = true;
    *timing = (struct team_timing){0};
    for (uint32_t r = 0; whole && r < team->count; r++)
        RETURN_IF_ERROR(gpu_queue_begin(team->runs[r], timings[team->member[r]], &whole, error));
    if (!whole)
        return STATUS_OK;
    RETURN_IF_ERROR(queue_runs(team, error));
    RETURN_IF_ERROR(queue_merge(team, error));
    RETURN_IF_ERROR(cuda_states_fetch(leader, error));
    RETURN_IF_ERROR(cuda_synchronize(leader->device->cuda, error));
    RETURN_IF_ERROR(take_times(team, timings, timing, error));
    timing->merged = true;
    return cuda_states_groups(leader, partial, error);
}
