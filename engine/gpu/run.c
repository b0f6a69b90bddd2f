/*
 * run.c: runs a planned statement on one GPU (engine/plan/plan.h, engine/run/device.h). Its kernels are
 * compiled or taken from the cache. Its columns are uploaded once and stay on the GPU for later statements;
 * bitmaps, tables and arrays of dimensions of dimensions belong to the statement. A run is a graph of two
 * kernels, and of those that make the mask of the plan's index terms between them.
 */
#include "engine/gpu/run_internal.h"
#include "engine/gpu/sectors.h"
#include "storage/base/clock.h"
#include "storage/base/memory.h"

#include <stddef.h>
#include <stdlib.h>
#include <string.h>

/* ---- Prepare and compile ---- */

static enum status copy_share(const struct device_share *share, struct device_share *copy,
                              struct error *error)
{
    uint32_t *segments;
    if (!share || !share->segments)
        return STATUS_OK;
    RETURN_IF_ERROR(memory_take(&segments, (share->count + 1ull) * sizeof *segments, "a share", error));
    memcpy(segments, share->segments, share->count * sizeof *segments);
    *copy = (struct device_share){.segments = segments, .count = share->count};
    return STATUS_OK;
}

/* The states and slots are made again by the next run. */
static bool give_way(struct cuda_tenant *tenant)
{
    struct device_run *const run =
        (struct device_run *)(void *)((char *)tenant - offsetof(struct device_run, tenant));
    if (!run->states && !run->place.slots)
        return false;
    run->cuda = run->device->cuda;
    cuda_states_free(run);
    cuda_place_free_slots(run->cuda, &run->place);
    return true;
}

struct kernel_target gpu_target(const struct device_run *run)
{
    struct kernel_target target = cuda_kernel_target(run->device->cuda);
    const uint64_t most = cuda_columns_most(run->device->columns);
    target.memory_bytes = most < target.memory_bytes ? most : target.memory_bytes;
    target.sorts &= !run->segments.segments;
    return target;
}

/* `share`: the tiles of these segments. */
static enum status open_run(struct device *device, const struct plan *plan, const struct tile_skip *share,
                            const struct device_share *segments, bool counting, struct device_run **out,
                            struct error *error)
{
    struct device_run *run = calloc(1, sizeof *run);
    if (!run)
        return error_out_of_memory(error, sizeof *run, "a query");
    run->device = device;
    run->cuda = device->cuda;
    run->tenant.give_way = give_way;
    run->plan = plan;
    run->counting = counting;
    run->known = !counting && plan_rows_are_known(plan);
    run->share = share;
    run->nothing = share->kept_tiles == 0 || run->known;
    enum status status = copy_share(segments, &run->segments, error);
    const struct kernel_target target = gpu_target(run);
    if (status == STATUS_OK && !run->nothing)
        status = kernel_make(plan, counting, &target, &run->kernel, error);
    status = AND_THEN(status, cuda_stage_write(plan, &run->kernel, &run->stage, error));
    if (status == STATUS_OK)
        *out = run;
    else
        gpu_release(run);
    return status;
}

enum status gpu_prepare(struct device *device, const struct plan *plan, const struct device_share *share,
                        bool timed, struct device_run **out, struct error *error)
{
    struct tile_skip own = {0};
    if (share)
        RETURN_IF_ERROR(tile_skip_select(&plan->scan, share->segments, share->count, &own, error));
    enum status status = open_run(device, plan, share ? &own : &plan->scan, share, false, out, error);
    if (status != STATUS_OK) {
        tile_skip_free(&own);
        return status;
    }
    (*out)->timed = timed;
    if (share) {
        (*out)->own = own;
        (*out)->share = &(*out)->own;
    }
    return STATUS_OK;
}

struct nvrtc_request gpu_kernel_request(const struct device_run *run, enum run_binary binary)
{
    const struct hand_kernel *const hand = run->plan->kernel.kernel;
    return (struct nvrtc_request){.name = hand && !run->counting ? hand->name : "statement.cu",
                                  .source = run->kernel.source,
                                  .arch = cuda_properties(run->cuda)->arch,
                                  .options = binary == BINARY_SECTORS ? cuda_sectors_options : NULL};
}

static enum status compile(struct device_run *run, enum run_binary binary, struct error *error)
{
    if (binary == BINARY_SCAN && !run->scan.module && !run->nothing && !run->binaries[binary].cubin)
        gpu_module_take(run);
    const struct nvrtc_request request = gpu_kernel_request(run, binary);
    return run->nothing || run->binaries[binary].cubin || (binary == BINARY_SCAN && run->scan.module)
               ? STATUS_OK
               : kernel_cache_get(&request, &run->binaries[binary], NULL, error);
}

static enum status compile_stage(struct device_run *run, struct error *error)
{
    const struct nvrtc_request request = {
        .name = "stage.cu", .source = run->stage.source, .arch = cuda_properties(run->cuda)->arch};
    return !run->stage.source || run->stage.binary.cubin || run->stage.module
               ? STATUS_OK
               : kernel_cache_get(&request, &run->stage.binary, NULL, error);
}

static enum status compile_index(struct device_run *run, struct error *error)
{
    const struct nvrtc_request request = {
        .name = "index.cu", .source = cuda_index_source, .arch = cuda_properties(run->cuda)->arch};
    return run->nothing || !run->plan->index.term_count || run->index.binary.cubin || run->index.module
               ? STATUS_OK
               : kernel_cache_get(&request, &run->index.binary, NULL, error);
}

enum status gpu_compile(struct device_run *run, bool counting, struct error *error)
{
    if (!counting) {
        RETURN_IF_ERROR(compile_stage(run, error));
        RETURN_IF_ERROR(compile_index(run, error));
    }
    return compile(run, counting ? BINARY_SECTORS : BINARY_SCAN, error);
}

/* ---- Load ---- */

/* `prepare` clears the states, 16 bytes a thread, and tests a position of a dimension a thread. */
static void size_prepare(struct device_run *run)
{
    uint64_t threads = run->arguments.clear_words;
    for (uint32_t k = 0; k < run->kernel.shape.join_count; k++)
        if (run->kernel.layout.bitmap_words[k] && run->kernel.shape.joins[k].positions > threads)
            threads = run->kernel.shape.joins[k].positions;
    cuda_scan_prepares(&run->scan, threads);
}

/* Makes the tiles of `skip` the scan's work. */
static enum status select_tiles(struct device_run *run, const struct tile_skip *skip, struct error *error)
{
    RETURN_IF_ERROR(cuda_scan_select(run->cuda, run->device->columns, run->plan->fact, skip,
                                     run->place.ranges.count ? &run->place.ranges : NULL, &run->scan, error));
    RETURN_IF_ERROR(cuda_stage_select(run->cuda, run->device->columns, run->plan, &run->kernel, skip,
                                      &run->stage, error));
    RETURN_IF_ERROR(
        cuda_index_select(run->cuda, run->device->columns, run->plan->fact, skip, &run->index, error));
    return run->kernel.first && run->states ? cuda_states_point(run, error) : STATUS_OK;
}

static enum status place_chunks(struct device_run *run, struct error *error)
{
    struct cuda *cuda = run->cuda;
    struct cuda_columns *columns = run->device->columns;
    bool changed;
    do {
        RETURN_IF_ERROR(cuda_place_make(cuda, columns, &run->place, &changed, error));
        if (changed)
            RETURN_IF_ERROR(
                cuda_stage_place(cuda, columns, run->plan, &run->kernel, &run->place, &run->stage, error));
    } while (run->place.epoch != cuda_columns_epoch(columns));
    return STATUS_OK;
}

/* Places the columns' chunks, after everything else has been allocated. `held`: they stay where they are until
 * gpu_let_go. */
static enum status place(struct device_run *run, bool held, struct error *error)
{
    struct cuda_columns *const columns = run->device->columns;
    cuda_columns_lock(columns);
    const enum status status = place_chunks(run, error);
    run->held = status == STATUS_OK && held && !run->place.resident;
    if (run->held)
        cuda_columns_hold(columns, run->place.wishes, run->place.column_count);
    cuda_columns_unlock(columns);
    RETURN_IF_ERROR(status);
    return run->place.batched || run->scan.recorded ? STATUS_OK
                                                    : cuda_scan_record(run->cuda, &run->scan, error);
}

void gpu_let_go(struct device_run *run)
{
    if (run->held)
        cuda_columns_let_go(run->device->columns, run->place.wishes, run->place.column_count);
    run->held = false;
}

enum status gpu_detach(struct device_run *run, enum status status)
{
    run->failed |= status != STATUS_OK;
    if (status != STATUS_OK)
        cuda_wait_for_all(run->cuda);
    gpu_let_go(run);
    if (!run->failed && run->loaded)
        gpu_module_give(run);
    if (!run->counting) /* else it is a part of the call of another run */
        cuda_columns_leave(run->device->columns, &run->tenant);
    return status;
}

static enum status load(struct device_run *run, struct error *error)
{
    struct cuda *cuda = run->cuda;
    RETURN_IF_ERROR(cuda_scan_open(cuda, &run->kernel.layout, &run->scan, error));
    if (run->kernel.first)
        cuda_scan_choose(&run->scan, &run->first);
    RETURN_IF_ERROR(gpu_module_open(run, error));
    RETURN_IF_ERROR(gpu_bind(run, error));
    RETURN_IF_ERROR(cuda_groups_open(run, error));
    RETURN_IF_ERROR(select_tiles(run, run->share, error));
    RETURN_IF_ERROR(cuda_states_make(run, error));
    size_prepare(run);
    RETURN_IF_ERROR(place(run, false, error));
    run->loaded = true;
    return STATUS_OK;
}

enum status gpu_load(struct device_run *run, struct run_timing *timing, struct error *error)
{
    timing->compile_ms = timing->load_ms = timing->open_ms = 0;
    if (run->nothing)
        return STATUS_OK;
    const double begin = clock_ms();
    RETURN_IF_ERROR(tier_choose(run, error));
    RETURN_IF_ERROR(compile(run, BINARY_SCAN, error));
    RETURN_IF_ERROR(compile_stage(run, error));
    RETURN_IF_ERROR(compile_index(run, error));
    const double compiled = clock_ms();
    /* They may have been compiled before; finding kernels takes a little, too. */
    const double before =
        run->binaries[BINARY_SCAN].compile_ms + run->stage.binary.compile_ms + run->index.binary.compile_ms;
    timing->compile_ms = before > compiled - begin ? before : compiled - begin;
    RETURN_IF_ERROR(cuda_wait_until_open(run->device->cuda, error));
    timing->open_ms = clock_ms() - compiled;
    RETURN_IF_ERROR(gpu_attach(run, error));
    enum status status = load(run, error);
    status =
        AND_THEN(status, cuda_synchronize(run->cuda, error)); /* the run may be released on another stream */
    RETURN_IF_ERROR(gpu_detach(run, status));
    timing->load_ms = clock_ms() - compiled;
    return STATUS_OK;
}

/* Frees what load has made, and the kernel. */
static void unload(struct device_run *run)
{
    struct cuda *cuda = run->cuda = run->device->cuda;
    struct cuda_columns *const columns = run->device->columns;
    cuda_columns_lock(columns); /* which has the device's own stream */
    cuda_columns_forget(columns, &run->tenant);
    if (run->failed)
        gpu_module_drop(run);
    else
        gpu_module_give(run);
    cuda_scan_close(cuda, columns, &run->scan);
    cuda_stage_free(cuda, &run->stage);
    cuda_index_free(cuda, columns, &run->index);
    cuda_first_close(cuda, &run->first);
    cuda_groups_close(run);
    cuda_states_free(run);
    for (uint32_t i = 0; i < run->owned_count; i++)
        cuda_free(cuda, run->owned[i]);
    cuda_place_close(cuda, columns, &run->place);
    cuda_feed_close(cuda, &run->feed);
    for (uint32_t a = 0; a < ARGUMENT_ARRAYS_MAX; a++)
        cuda_columns_release(columns, run->arrays[a]);
    cuda_columns_unlock(columns);
    for (enum run_binary binary = 0; binary < BINARIES; binary++)
        kernel_binary_free(&run->binaries[binary]);
    kernel_free(&run->kernel);
    free(run->bound);
}

void gpu_release(struct device_run *run)
{
    if (!run)
        return;
    unload(run);
    tier_free(&run->tier);
    tile_skip_free(&run->own);
    free((uint32_t *)run->segments.segments);
    free(run);
}

/* Lets the run's own kernel take the place of the general one. */
static enum status specialise(struct device_run *run, struct run_timing *timing, struct error *error)
{
    unload(run);
    *run = (struct device_run){.device = run->device,
                               .cuda = run->device->cuda,
                               .tenant.give_way = give_way,
                               .plan = run->plan,
                               .own = run->own,
                               .share = run->share,
                               .segments = run->segments,
                               .timed = run->timed,
                               .tier = run->tier};
    enum status status = tier_leave(run, error);
    status = AND_THEN(status, cuda_stage_write(run->plan, &run->kernel, &run->stage, error));
    status = AND_THEN(status, gpu_load(run, timing, error));
    run->failed |= status != STATUS_OK;
    return status;
}

/* ---- Run ---- */

/* Queues what comes before the graph of a run whose chunks are all at their places before it begins. */
static enum status begin_whole(struct device_run *run, struct run_timing *timing, struct error *error)
{
    struct cuda *cuda = run->cuda;
    if (run->stage.count)
        RETURN_IF_ERROR(cuda_stage_run(cuda, &run->stage, run->plan, &run->kernel, &run->scan, error));
    return run->timed ? cuda_scan_run_apart(cuda, &run->scan, &timing->filter_ms, &timing->scan_ms, error)
                      : STATUS_OK;
}

static enum status run_whole(struct device_run *run, struct run_timing *timing, struct error *error)
{
    RETURN_IF_ERROR(begin_whole(run, timing, error));
    return cuda_scan_run(run->cuda, &run->scan, error);
}

/* The parts of a run by segments are timed in it. */
enum status gpu_times(struct device_run *run, struct run_timing *timing, struct error *error)
{
    struct cuda *cuda = run->cuda;
    timing->moved_bytes = run->place.copied_bytes + run->place.read_bytes;
    RETURN_IF_ERROR(cuda_scan_elapsed(cuda, &run->scan, &timing->total_ms, error));
    if (run->place.batched) {
        RETURN_IF_ERROR(
            cuda_event_elapsed(cuda, run->scan.begin, run->scan.filtered, &timing->filter_ms, error));
        timing->scan_ms = timing->total_ms - timing->filter_ms;
        return STATUS_OK;
    }
    if (run->stage.count)
        RETURN_IF_ERROR(cuda_stage_elapsed(cuda, &run->stage, &timing->stage_ms, error));
    timing->total_ms += timing->stage_ms;
    return STATUS_OK;
}

static enum status scan(struct device_run *run, struct run_timing *timing, struct error *error)
{
    struct cuda *cuda = run->cuda;
    do {
        RETURN_IF_ERROR(cancel_check(error));
        if (!run->states)
            RETURN_IF_ERROR(cuda_states_make(run, error));
        else if (cuda_states_full(run))
            RETURN_IF_ERROR(cuda_states_grow(run, error));
        RETURN_IF_ERROR(cuda_list_begin(run, !run->selected, error));
        RETURN_IF_ERROR(place(run, true, error));
        RETURN_IF_ERROR(run->place.batched ? cuda_feed_run(cuda, &run->feed, run->plan, &run->kernel,
                                                           &run->place, &run->stage, &run->scan, error)
                                           : run_whole(run, timing, error));
        RETURN_IF_ERROR(cuda_list_groups(run, error));
        if (run->takes)
            RETURN_IF_ERROR(cuda_take(run, &run->taken, error));
        if (!run->taken)
            RETURN_IF_ERROR(cuda_states_fetch(run, error));
        RETURN_IF_ERROR(cuda_synchronize(cuda, error));
        gpu_let_go(run);
    } while (cuda_states_full(run) || run->list.again);
    return gpu_times(run, timing, error);
}

/* Runs over some segments; NULL: the share. */
static enum status run_once(struct device_run *run, const struct device_request *request,
                            struct partial *partial, struct run_timing *timing, struct error *error)
{
    struct tile_skip selected = {0};
    if (request->segments)
        RETURN_IF_ERROR(
            tile_skip_select(run->share, request->segments, request->segment_count, &selected, error));
    enum status status = STATUS_OK;
    if (request->segments || run->selected)
        status = select_tiles(run, request->segments ? &selected : run->share, error);
    run->selected = request->segments;
    run->few_groups = run->groups.usable && !request->segments && !request->mergeable;
    run->takes = run->plan->taken && !request->segments && !request->mergeable;
    tile_skip_free(&selected);
    status = AND_THEN(status, scan(run, timing, error));
    if (run->taken) {
        partial->taken = run->taken;
        partial->count = run->taken->rows;
        run->taken = NULL;
        return status;
    }
    status = AND_THEN(status, cuda_states_groups(run, partial, error));
    return status == STATUS_OK && request->mergeable ? cuda_sets_list(run, partial, error) : status;
}

static enum status run_parts(struct device_run *run, const struct device_request *request,
                             struct partial *partial, struct run_timing *timing, struct error *error);

/* Runs the first and the second half of the segments one after the other. */
static enum status run_halves(struct device_run *run, const struct device_request *request,
                              struct partial *partial, struct run_timing *timing, struct error *error)
{
    const uint32_t half = request->segment_count / 2;
    const struct device_request halves[] = {
        {.segments = request->segments, .segment_count = half, .mergeable = true},
        {.segments = request->segments + half,
         .segment_count = request->segment_count - half,
         .mergeable = true}};
    struct partial second = {0};
    struct run_timing times = {0};
    RETURN_IF_ERROR(run_parts(run, &halves[0], partial, timing, error));
    enum status status = run_parts(run, &halves[1], &second, &times, error);
    const double merging = clock_ms();
    status = AND_THEN(status, partial_merge(run->plan, partial, &second, error));
    partial_free(&second);
    timing->merge_ms += times.merge_ms + (clock_ms() - merging);
    timing->filter_ms += times.filter_ms;
    timing->scan_ms += times.scan_ms;
    timing->stage_ms += times.stage_ms;
    timing->total_ms += times.total_ms + (clock_ms() - merging);
    timing->moved_bytes += times.moved_bytes;
    return status;
}

/* If the states of all segments do not fit the GPU's memory, runs over fewer at a time; their results are merged on
 * the host. */
static enum status run_parts(struct device_run *run, const struct device_request *request,
                             struct partial *partial, struct run_timing *timing, struct error *error)
{
    if (run->most_parts && request->segment_count > run->most_parts)
        return run_halves(run, request, partial, timing, error);
    run->no_room = false;
    const enum status status = run_once(run, request, partial, timing, error);
    if (status == STATUS_OK || !run->no_room || request->segment_count < 2)
        return status;
    partial_free(partial);
    run->most_parts = request->segment_count / 2;
    RETURN_IF_ERROR(cuda_states_restart(run, error));
    return run_halves(run, request, partial, timing, error);
}

/* The whole share is run at once until that does not fit. */
static enum status run_share(struct device_run *run, const struct device_request *request,
                             struct partial *partial, struct run_timing *timing, struct error *error)
{
    const struct device_request all = {.segments = run->place.needed.segments,
                                       .segment_count = run->place.needed.count,
                                       .mergeable = request->mergeable};
    if (run->most_parts)
        return run_parts(run, &all, partial, timing, error);
    run->no_room = false;
    const enum status status = run_once(run, request, partial, timing, error);
    if (status == STATUS_OK || !run->no_room || all.segment_count < 2)
        return status;
    partial_free(partial);
    run->most_parts = all.segment_count / 2;
    RETURN_IF_ERROR(cuda_states_restart(run, error));
    return run_halves(run, &all, partial, timing, error);
}

/* Answers a plan that counts rows of the vectors of one index. */
static enum status count_known(const struct device_run *run, const struct device_request *request,
                               struct partial *partial, struct error *error)
{
    struct tile_skip selected;
    if (!request->segments)
        return partial_of_rows(run->plan, plan_known_rows(run->plan, run->share), partial, error);
    RETURN_IF_ERROR(
        tile_skip_select(run->share, request->segments, request->segment_count, &selected, error));
    const uint64_t rows = plan_known_rows(run->plan, &selected);
    tile_skip_free(&selected);
    return partial_of_rows(run->plan, rows, partial, error);
}

static enum status run_or_tell(struct device_run *run, const struct device_request *request,
                               struct partial *partial, struct run_timing *timing, struct error *error)
{
    timing->filter_ms = timing->scan_ms = timing->stage_ms = timing->merge_ms = timing->total_ms = 0;
    timing->moved_bytes = 0;
    if (run->known)
        RETURN_IF_ERROR(count_known(run, request, partial, error));
    else if (run->nothing)
        RETURN_IF_ERROR(partial_allocate(run->plan, run->plan->shape == PLAN_TOTAL ? 1 : 0, partial, error));
    else
        return request->segments ? run_parts(run, request, partial, timing, error)
                                 : run_share(run, request, partial, timing, error);
    return STATUS_OK;
}

enum status gpu_run(struct device_run *run, const struct device_request *request, struct partial *partial,
                    struct run_timing *timing, struct error *error)
{
    timing->kernel = KERNEL_AUTO;
    timing->groups_why = NULL;
    if (run->nothing)
        return run_or_tell(run, request, partial, timing, error);
    if (tier_is_over(run))
        RETURN_IF_ERROR(specialise(run, timing, error));
    timing->kernel = run->tier.is_general ? KERNEL_GENERAL : KERNEL_SPECIALISED;
    memcpy(timing->kernel_why, run->tier.general.why, sizeof timing->kernel_why);
    RETURN_IF_ERROR(gpu_attach(run, error));
    run->groups_why = NULL;
    const enum status status = gpu_detach(run, run_or_tell(run, request, partial, timing, error));
    timing->groups_why = run->groups_why;
    return status;
}

enum status gpu_queue_end(struct device_run *run, struct error *error)
{
    const enum status status = cuda_synchronize(run->cuda, error);
    gpu_let_go(run);
    return status;
}

enum status gpu_queue_begin(struct device_run *run, struct run_timing *timing, bool *whole,
                            struct error *error)
{
    *whole = run->most_parts == 0;
    RETURN_IF_ERROR(cancel_check(error));
    if (!*whole)
        return STATUS_OK;
    if (run->selected)
        RETURN_IF_ERROR(select_tiles(run, run->share, error));
    run->selected = false;
    if (!run->states && cuda_states_make(run, error) != STATUS_OK) {
        *whole = false;
        return run->no_room ? STATUS_OK : STATUS_MACHINE;
    }
    RETURN_IF_ERROR(place(run, true, error));
    *whole = !run->place.batched;
    return *whole ? begin_whole(run, timing, error) : STATUS_OK;
}

/* ---- Count ---- */

/* Counts rows and ticks at each point, with a kernel that is generated from the plan, also if a hand-written
 * one answers. */
static enum status count_points(const struct device_run *run, struct scan_counts *counts, struct error *error)
{
    struct device_run *counting = NULL;
    struct run_timing timing = {0};
    struct scan_point *points;
    RETURN_IF_ERROR(memory_take(&points, plan_points(run->plan) * sizeof *points, "counts", error));
    enum status status = open_run(run->device, run->plan, run->share, &run->segments, true, &counting, error);
    status = AND_THEN(status, gpu_load(counting, &timing, error));
    status = AND_THEN(status, gpu_attach(counting, error));
    if (status == STATUS_OK)
        status = gpu_detach(counting, scan(counting, &timing, error));
    if (status == STATUS_OK) {
        cuda_states_points(counting, points);
        scan_counts_fill(run->plan, points, counts);
    }
    gpu_release(counting);
    free(points);
    return status;
}

/* Lists the memory that each column's chunks lie in: decoded values, kept chunks, and pinned files. */
static uint32_t list_ranges(const struct device_run *run, struct sector_range *ranges)
{
    uint32_t count = 0;
    for (uint32_t c = 0; c < run->kernel.shape.column_count; c++) {
        const struct stage_column *staged = &run->stage.columns[c];
        const struct cuda_column *kept = run->place.wishes[c].column;
        struct sector_range range = {.column = c, .address = staged->values, .bytes = staged->value_bytes};
        if (staged->used) {
            ranges[count++] = range;
            continue;
        }
        if (kept->bytes)
            ranges[count++] =
                (struct sector_range){.column = c, .address = kept->address, .bytes = kept->bytes};
        range.of_host = cuda_columns_pinned(&run->place.wishes[c], &range.address, &range.bytes);
        if (range.of_host)
            ranges[count++] = range;
    }
    return count;
}

/* What is told where sectors cannot be counted: whole chunks. */
static void count_chunks(const struct device_run *run, struct scan_counts *counts)
{
    const struct cuda_place *place = &run->place;
    for (uint32_t c = 0; c < place->column_count; c++)
        for (uint32_t i = 0; i < place->needed.count; i++)
            counts->bytes[run->kernel.columns[c]] +=
                place->wishes[c].data->segments[place->needed.segments[i]].chunk.size;
    counts->moves.read = place->read_bytes;
}

static enum status count_marks(struct device_run *run, struct scan_counts *counts, struct error *error)
{
    struct cuda *cuda = run->cuda;
    const struct kernel *kernel = &run->kernel;
    struct sector_range ranges[SECTOR_RANGES_MAX];
    uint64_t bytes[SECTOR_RANGES_MAX];
    const struct sector_count count = {.name = kernel->shape.name,
                                       .cubin = run->binaries[BINARY_SECTORS].cubin,
                                       .ranges = ranges,
                                       .range_count = list_ranges(run, ranges),
                                       .blocks = run->scan.scan_blocks,
                                       .threads = kernel->layout.threads,
                                       .shared_bytes = kernel->layout.shared_bytes,
                                       .arguments = run->scan.scan_arguments,
                                       .constant = &run->arguments};
    if (run->stage.count)
        RETURN_IF_ERROR(cuda_stage_run(cuda, &run->stage, run->plan, &run->kernel, &run->scan, error));
    RETURN_IF_ERROR(cuda_scan_prepare(cuda, &run->scan, error));
    RETURN_IF_ERROR(cuda_scan_aim(cuda, &run->scan, error));
    RETURN_IF_ERROR(cuda_sectors_count(cuda, run->device->columns, &count, bytes, error));
    for (uint32_t r = 0; r < count.range_count; r++) {
        counts->bytes[kernel->columns[ranges[r].column]] += bytes[r];
        if (ranges[r].of_host && !cuda_place_copies(&run->place, ranges[r].column))
            counts->moves.read += bytes[r];
    }
    return STATUS_OK;
}

static enum status count_sectors(struct device_run *run, struct scan_counts *counts, struct error *error)
{
    struct cuda *cuda = run->cuda;
    struct cuda_place *where = &run->place;
    RETURN_IF_ERROR(compile(run, BINARY_SECTORS, error));
    if (!run->states) /* they have given way since the run */
        RETURN_IF_ERROR(cuda_states_make(run, error));
    RETURN_IF_ERROR(place(run, true, error));
    counts->moves.copied = where->copied_bytes;
    counts->moves.kept = where->kept_bytes;
    if (where->batched && (where->staged || where->unpinned.status)) {
        count_chunks(run, counts);
        return STATUS_OK;
    }
    if (!where->batched)
        return count_marks(run, counts, error);
    RETURN_IF_ERROR(cuda_place_read_all(cuda, run->device->columns, where, true, error));
    const enum status status = count_marks(run, counts, error);
    const enum status ended =
        cuda_place_read_all(cuda, run->device->columns, where, false, status == STATUS_OK ? error : NULL);
    return status == STATUS_OK ? ended : status;
}

static enum status count_all(struct device_run *run, bool steps, struct scan_counts *counts,
                             struct error *error)
{
    const struct tile_skip *scan = run->share;
    RETURN_IF_ERROR(scan_counts_make(run->plan, counts, error));
    counts->tiles_skipped = scan->tiles - scan->kept_tiles;
    if (run->nothing && !run->known)
        return STATUS_OK;
    if (run->selected)
        RETURN_IF_ERROR(select_tiles(run, scan, error));
    run->selected = false;
    if (steps)
        RETURN_IF_ERROR(count_points(run, counts, error));
    return run->known ? STATUS_OK : count_sectors(run, counts, error);
}

enum status gpu_count(struct device_run *run, bool steps, struct scan_counts *counts, struct error *error)
{
    struct run_timing loaded = {0};
    if (run->tier.is_general)
        RETURN_IF_ERROR(specialise(run, &loaded, error));
    RETURN_IF_ERROR(gpu_attach(run, error));
    return gpu_detach(run, count_all(run, steps, counts, error));
}
