/* peers.c: see peers.h. */
#include "engine/gpu/peers/peers.h"

#include "engine/gpu/run_internal.h"
#include "operators/group/merge_hash.h"
#include "storage/base/memory.h"

#include <stdlib.h>

#define MERGE_THREADS 256u
/* Blocks of a multiprocessor: what keeps enough reads of the others' memory in flight. */
#define MERGE_BLOCKS 8u

const char gpu_merge_source[] =
    "#define TILE_CUDA 1\n#include <stdint.h>\n#include \"operators/group/merge_hash.h\"\n"
    "extern \"C\" __global__ void __launch_bounds__(256) merge(const __grid_constant__ bound_merge work)\n"
    "{\n"
    "    for (uint32_t item = blockIdx.x * blockDim.x + threadIdx.x; item < merge_items(&work);\n"
    "         item += gridDim.x * blockDim.x)\n"
    "        merge_item(&work, item);\n"
    "}\n"
    "extern \"C\" __global__ void __launch_bounds__(256) absorb(const __grid_constant__ bound_absorb work)\n"
    "{\n"
    "    uint32_t added = 0;\n"
    "    for (uint64_t slot = blockIdx.x * (uint64_t)blockDim.x + threadIdx.x; slot < work.other_slots;\n"
    "         slot += gridDim.x * (uint64_t)blockDim.x)\n"
    "        added += absorb_slot(&work, slot);\n"
    "    for (uint32_t distance = 16; distance > 0; distance /= 2)\n"
    "        added += __shfl_down_sync(0xffffffffu, added, distance);\n"
    "    if (threadIdx.x % 32 == 0 && added)\n"
    "        atomicAdd((unsigned long long *)work.own + work.found, (unsigned long long)added);\n"
    "}\n";

_Static_assert(sizeof(struct bound_merge) <= 4096, "the arguments of a kernel");
_Static_assert(sizeof(struct bound_absorb) <= 4096, "the arguments of a kernel");
_Static_assert(ABSORB_KEY_WORDS_MAX >= PLAN_KEY_WORDS_MAX, "all words of a number have a place");
_Static_assert(MERGE_STATES_MAX >= PLAN_AGGREGATES_MAX, "all states have a place");

struct device_team {
    uint32_t count;                               /* of the runs that read tiles */
    struct device_run *runs[MERGE_PEERS_MAX + 1]; /* the leader is the first */
    uint32_t member[MERGE_PEERS_MAX + 1];         /* their numbers among all */
    struct cuda_module *module;
    struct cuda_function *merge, *absorb;
    struct cuda_event *others_ended, *merged;
};

/* ---- Open ---- */

static bool is_mergeable(const struct plan *plan)
{
    if (plan->shape == PLAN_ROWS)
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
    RETURN_IF_ERROR(cuda_module_function(cuda, team->module, "absorb", &team->absorb, error));
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

static bool team_hashes(const struct device_team *team)
{
    return team->runs[0]->plan->shape == PLAN_HASH;
}

static uint64_t offset_of(const struct device_run *run, cuda_address piece)
{
    return (piece - run->states) / sizeof(uint64_t);
}

static uint32_t kind_of(enum aggregate_kind kind)
{
    return kind == AGGREGATE_MIN || kind == AGGREGATE_MAX ? MERGE_GREATEST
           : kind == AGGREGATE_SUM_WIDE                   ? MERGE_ADD_WIDE
                                                          : MERGE_ADD;
}

static void fill_merge(const struct device_team *team, struct bound_merge *work)
{
    const struct device_run *leader = team->runs[0];
    const struct plan *plan = leader->plan;
    *work = (struct bound_merge){.own = leader->states,
                                 .peer_count = team->count - 1,
                                 .state_count = plan->aggregate_count,
                                 .slots = (uint32_t)leader->slots,
                                 .present = (uint32_t)offset_of(leader, leader->arguments.present)};
    for (uint32_t r = 1; r < team->count; r++)
        work->peers[r - 1] = team->runs[r]->states;
    for (uint32_t a = 0; a < plan->aggregate_count; a++)
        work->states[a] =
            (struct merge_state){.kind = kind_of(plan->aggregates[a].kind),
                                 .offset = (uint32_t)offset_of(leader, leader->arguments.states[a])};
}

static void fill_absorb(const struct device_run *own, const struct device_run *other,
                        struct bound_absorb *work)
{
    const struct plan *plan = own->plan;
    *work = (struct bound_absorb){.own = own->states,
                                  .other = other->states,
                                  .own_slots = own->slots,
                                  .other_slots = other->slots,
                                  .own_keys = offset_of(own, own->arguments.keys),
                                  .other_keys = offset_of(other, other->arguments.keys),
                                  .key_words = plan->key_words,
                                  .full = offset_of(own, own->arguments.full),
                                  .found = offset_of(own, own->arguments.groups_found),
                                  .state_count = plan->aggregate_count};
    if (plan->key_words > 1) {
        work->own_numbers = offset_of(own, own->arguments.key_words);
        work->other_numbers = offset_of(other, other->arguments.key_words);
    }
    for (uint32_t a = 0; a < plan->aggregate_count; a++)
        work->states[a] = (struct absorb_state){.kind = kind_of(plan->aggregates[a].kind),
                                                .own = offset_of(own, own->arguments.states[a]),
                                                .other = offset_of(other, other->arguments.states[a])};
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

static enum status launch(const struct device_team *team, struct cuda_function *kernel, uint64_t items,
                          void *work, struct error *error)
{
    struct cuda *cuda = team->runs[0]->device->cuda;
    void *arguments[] = {work};
    const uint64_t most = MERGE_BLOCKS * cuda_properties(cuda)->multiprocessors,
                   blocks = (items + MERGE_THREADS - 1) / MERGE_THREADS;
    return cuda_launch(cuda, kernel, (unsigned)(blocks < most ? blocks : most), MERGE_THREADS, 0, arguments,
                       error);
}

static enum status launch_merge(const struct device_team *team, struct error *error)
{
    if (team->count == 1)
        return STATUS_OK;
    if (!team_hashes(team)) {
        struct bound_merge work;
        fill_merge(team, &work);
        return launch(team, team->merge, merge_items(&work), &work, error);
    }
    for (uint32_t r = 1; r < team->count; r++) {
        struct bound_absorb work;
        fill_absorb(team->runs[0], team->runs[r], &work);
        RETURN_IF_ERROR(launch(team, team->absorb, work.other_slots, &work, error));
    }
    return STATUS_OK;
}

static enum status queue_merge(struct device_team *team, struct error *error)
{
    struct cuda *cuda = team->runs[0]->device->cuda;
    for (uint32_t r = 1; r < team->count; r++)
        RETURN_IF_ERROR(cuda_stream_wait(cuda, NULL, team->runs[r]->scan.end, error));
    RETURN_IF_ERROR(cuda_event_record(cuda, team->others_ended, error));
    RETURN_IF_ERROR(launch_merge(team, error));
    return cuda_event_record(cuda, team->merged, error);
}

/* The bytes that the leader reads of another's states: of a hash table all keys, and the words of its groups. */
static uint64_t states_bytes(const struct device_run *run)
{
    const struct plan *plan = run->plan;
    uint64_t words = 0;
    for (uint32_t a = 0; a < plan->aggregate_count; a++)
        words += run->kernel.state_words[a];
    if (plan->shape != PLAN_HASH)
        return run->slots * (words * sizeof(uint64_t) + sizeof(uint32_t));
    words += plan->key_words > 1 ? plan->key_words : 0;
    return (run->slots + cuda_states_found(run) * words) * sizeof(uint64_t);
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
    for (uint32_t r = 1; r < team->count; r++)
        timing->bytes += states_bytes(team->runs[r]);
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
    const uint32_t fetched = team_hashes(team) ? team->count : 1; /* tables may be too full */
    for (uint32_t r = 0; r < fetched; r++)
        RETURN_IF_ERROR(cuda_states_fetch(team->runs[r], error));
    for (uint32_t r = 0; r < fetched; r++)
        RETURN_IF_ERROR(cuda_synchronize(team->runs[r]->device->cuda, error));
    return STATUS_OK;
}

/* Makes tables that were too full larger; *again: there are some, and all must run again. *room: false if one does not
 * fit. */
static enum status grow(struct device_team *team, bool *again, bool *room, struct error *error)
{
    *again = false;
    *room = true;
    for (uint32_t r = 0; team_hashes(team) && r < team->count; r++) {
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

enum status gpu_team_run(struct device_team *team, struct partial *partial, struct run_timing *const *timings,
                         struct team_timing *timing, struct error *error)
{
    bool whole, again, room;
    *timing = (struct team_timing){0};
    do {
        RETURN_IF_ERROR(run_once(team, timings, &whole, error));
        if (!whole)
            return STATUS_OK;
        RETURN_IF_ERROR(grow(team, &again, &room, error));
        if (!room)
            return STATUS_OK;
    } while (again);
    RETURN_IF_ERROR(take_times(team, timings, timing, error));
    timing->merged = true;
    return cuda_states_groups(team->runs[0], partial, error);
}
