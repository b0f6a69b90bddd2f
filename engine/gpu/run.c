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

/* `share`: the tiles of these segments. */
static enum status open_run(struct device *device, const struct plan *plan, const struct tile_skip *share,
                            const struct device_share *segments, bool counting, struct device_run **out,
                            struct error *error)
{
    struct device_run *run = calloc(1, sizeof *run);
    const struct kernel_target target = cuda_kernel_target(device->cuda);
    if (!run)
        return error_out_of_memory(error, sizeof *run, "a query");
    run->device = device;
    run->plan = plan;
    run->counting = counting;
    run->known = !counting && plan->index.term_count && plan_rows_are_known(plan);
    run->share = share;
    run->nothing = share->kept_tiles == 0 || run->known;
    enum status status = copy_share(segments, &run->segments, error);
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

static enum status compile(struct device_run *run, enum run_binary binary, struct error *error)
{
    const struct hand_kernel *const hand = run->plan->kernel.kernel;
    const struct nvrtc_request request = {.name = hand && !run->counting ? hand->name : "statement.cu",
                                          .source = run->kernel.source,
                                          .arch = cuda_properties(run->device->cuda)->arch,
                                          .options = binary == BINARY_SECTORS ? cuda_sectors_options : NULL};
    return run->nothing || run->binaries[binary].cubin
               ? STATUS_OK
               : kernel_cache_get(&request, &run->binaries[binary], NULL, error);
}

static enum status compile_stage(struct device_run *run, struct error *error)
{
    const struct nvrtc_request request = {
        .name = "stage.cu", .source = run->stage.source, .arch = cuda_properties(run->device->cuda)->arch};
    return !run->stage.source || run->stage.binary.cubin || run->stage.module
               ? STATUS_OK
               : kernel_cache_get(&request, &run->stage.binary, NULL, error);
}

static enum status compile_index(struct device_run *run, struct error *error)
{
    const struct nvrtc_request request = {
        .name = "index.cu", .source = cuda_index_source, .arch = cuda_properties(run->device->cuda)->arch};
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

/* Allocates memory that belongs to the statement, and copies `from` to it. */
static enum status own(struct device_run *run, const void *from, uint64_t bytes, const char *what,
                       cuda_address *address, struct error *error)
{
    RETURN_IF_ERROR(cuda_columns_allocate(run->device->columns, bytes, what, address, error));
    run->owned[run->owned_count++] = *address;
    return from && bytes ? cuda_upload(run->device->cuda, *address, from, bytes, error) : STATUS_OK;
}

static enum status upload_array(struct device_run *run, uint32_t a, struct error *error)
{
    const struct plan_array *array = &run->plan->arrays[a];
    struct array_argument *to = &run->arguments.arrays[a];
    if (!array->composed) {
        RETURN_IF_ERROR(cuda_columns_array(run->device->columns, array, &run->arrays[a], error));
        to->values = run->arrays[a]->address;
        to->valid = run->arrays[a]->valid;
        return STATUS_OK;
    }
    RETURN_IF_ERROR(own(run, array->values, array->rows * array->value_bytes, array->column->schema.name,
                        &to->values, error));
    return array->valid ? own(run, array->valid, (array->rows + 31) / 32 * sizeof(uint32_t),
                              array->column->schema.name, &to->valid, error)
                        : STATUS_OK;
}

/* Allocates a join's bitmap, all zeros: predicates write only the words that have positions, but a warp that finds
 * a range of positions reads all words. */
static enum status make_bitmap(struct device_run *run, uint32_t k, struct error *error)
{
    const uint32_t words = run->kernel.layout.bitmap_words[k];
    const struct plan_join *join = &run->plan->joins[run->kernel.joins[k]];
    struct match_argument *match = &run->arguments.matches[run->kernel.joins[k]];
    if (!words)
        return STATUS_OK;
    match->positions = table_positions(join->table);
    RETURN_IF_ERROR(own(run, NULL, words * sizeof(uint32_t), "a dimension's bitmap", &match->bitmap, error));
    return cuda_set_words(run->device->cuda, match->bitmap, 0, words, error);
}

/* Uploads the tables of all expressions as one array, each with its bitmap after it, and sets the start of each. */
static enum status upload_tables(struct device_run *run, struct error *error)
{
    const struct expression_list *list = &run->plan->expressions;
    uint64_t count = 0;
    for (uint32_t t = 0; t < list->table_count; t++)
        count += list->tables[t].count + value_table_members(&list->tables[t]);
    int64_t *values = malloc((count + 1) * sizeof *values);
    struct lookup_argument *tables = malloc((list->table_count + 1) * sizeof *tables);
    cuda_address address = 0;
    enum status status = values && tables ? STATUS_OK : error_out_of_memory(error, count * 8, "values");
    const uint64_t bytes = count * sizeof *values;
    status = AND_THEN(status, own(run, NULL, bytes, "values that are looked up", &address, error));
    count = 0;
    for (uint32_t t = 0; status == STATUS_OK && t < list->table_count; t++) {
        const struct value_table *const table = &list->tables[t];
        const uint64_t members = value_table_members(table);
        tables[t] =
            (struct lookup_argument){.values = address + count * sizeof *values, .count = table->count};
        memcpy(values + count, table->values, table->count * sizeof *values);
        count += table->count;
        tables[t].members = members ? address + count * sizeof *values : 0;
        if (members)
            memcpy(values + count, table->members, members * sizeof *values);
        count += members;
    }
    if (bytes)
        status = AND_THEN(status, cuda_upload(run->device->cuda, address, values, bytes, error));
    status = AND_THEN(status, own(run, tables, list->table_count * sizeof *tables,
                                  "values that are looked up", &run->arguments.tables, error));
    free(values);
    free(tables);
    return status;
}

static enum status upload_segment_tiles(struct device_run *run, struct error *error)
{
    const struct table *fact = run->plan->fact;
    uint64_t *before = malloc((fact->segment_count + 1) * sizeof *before), tiles = 0;
    if (!before)
        return error_out_of_memory(error, fact->segment_count * sizeof *before, "tiles");
    for (uint32_t s = 0; s < fact->segment_count; s++) {
        before[s] = tiles;
        tiles += (fact->segment_rows[s] + TILE_ROWS - 1) / TILE_ROWS;
    }
    enum status status =
        own(run, before, fact->segment_count * sizeof *before, "tiles", &run->arguments.segment_tiles, error);
    free(before);
    return status;
}

/* Uploads the vectors of the plan's index terms; `scan` begins with their mask. */
static enum status load_index(struct device_run *run, struct error *error)
{
    if (!run->plan->index.term_count)
        return STATUS_OK;
    run->scan.index = &run->index;
    RETURN_IF_ERROR(cuda_index_load(run->device->cuda, run->device->columns, &run->plan->index,
                                    run->plan->fact, &run->index, error));
    run->arguments.index_mask = run->index.mask;
    return STATUS_OK;
}

static enum status upload(struct device_run *run, struct error *error)
{
    const struct kernel *kernel = &run->kernel;
    RETURN_IF_ERROR(cuda_place_open(run->device->columns, run->plan, kernel,
                                    run->segments.segments ? &run->segments : NULL, run->share,
                                    run->device->late, &run->place, error));
    RETURN_IF_ERROR(cuda_stage_load(run->device->cuda, run->device->columns, run->plan, kernel, &run->place,
                                    &run->stage, error));
    for (uint32_t c = 0; c < kernel->shape.column_count; c++)
        run->read[c] = run->stage.columns[c].used ? &run->stage.columns[c].to : &run->place.lists[c];
    for (uint32_t a = 0; a < run->plan->array_count; a++)
        if (kernel->array_used[a])
            RETURN_IF_ERROR(upload_array(run, a, error));
    for (uint32_t k = 0; k < kernel->shape.join_count; k++)
        RETURN_IF_ERROR(make_bitmap(run, k, error));
    RETURN_IF_ERROR(upload_tables(run, error));
    RETURN_IF_ERROR(load_index(run, error));
    return run->plan->shape == PLAN_ROWS || run->plan->index.term_count ? upload_segment_tiles(run, error)
                                                                        : STATUS_OK;
}

static void fill_arguments(struct device_run *run)
{
    const struct plan *plan = run->plan;
    memcpy(run->arguments.constants, run->kernel.constants, sizeof run->kernel.constants);
    memcpy(run->arguments.test_words, run->kernel.test_words, sizeof run->kernel.test_words);
    for (uint32_t g = 0; g < plan->group_count; g++)
        run->arguments.groups[g] =
            (struct group_argument){.base = (uint64_t)plan->groups[g].low - plan->groups[g].nullable,
                                    .last = plan->groups[g].domain - 1,
                                    .stride = plan->groups[g].stride};
}

/* Makes the arguments of `scan`: columns and then dimensions, in the order of its TILE_PARAMETER_LIST. */
static enum status fill_bound(struct device_run *run, struct error *error)
{
    const struct kernel *kernel = &run->kernel;
    const struct plan *plan = run->plan;
    const size_t columns_bytes = kernel->bound_columns * sizeof(struct bound_column),
                 bytes = columns_bytes + kernel->bound_dimensions * sizeof(struct bound_dimension);
    run->bound = calloc(1, bytes + 1);
    if (!run->bound)
        return error_out_of_memory(error, bytes, "a kernel's arguments");
    struct bound_column *columns = (struct bound_column *)(void *)run->bound;
    struct bound_dimension *dimensions = (struct bound_dimension *)(void *)(run->bound + columns_bytes);
    for (uint32_t c = 0; c < kernel->shape.column_count; c++) {
        struct bound_column *column = &columns[kernel->column_place[c]];
        *column =
            (struct bound_column){.chunks = run->read[c]->address, .staging = kernel->layout.staging[c]};
        for (uint32_t s = 0; s < plan->step_count; s++)
            if (plan->steps[s].kind == STEP_RANGE && kernel->columns[c] == plan->steps[s].column) {
                column->low = plan->steps[s].low;
                column->high = plan->steps[s].high;
            }
    }
    for (uint32_t k = 0; k < kernel->shape.join_count; k++) {
        const struct plan_join *join = &plan->joins[kernel->joins[k]];
        dimensions[kernel->join_place[k]] =
            (struct bound_dimension){.bitmap = run->arguments.matches[kernel->joins[k]].bitmap,
                                     .bitmap_words = kernel->layout.bitmap_words[k],
                                     .first = join->passing ? (int32_t)join->first : 0,
                                     .last = join->passing ? (int32_t)join->last : -1};
    }
    for (uint32_t d = 0; plan->kernel.kernel && !run->counting && d < plan->kernel.dimension_count; d++)
        if (plan->kernel.codes[d] >= 0) {
            dimensions[d].codes = run->arguments.arrays[plan->kernel.codes[d]].values;
            dimensions[d].code_base = plan->kernel.code_base[d];
        }
    run->scan.scan_arguments[0] = run->bound;
    return STATUS_OK;
}

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
    RETURN_IF_ERROR(
        cuda_scan_select(run->device->cuda, run->device->columns, run->plan->fact, skip, &run->scan, error));
    RETURN_IF_ERROR(cuda_stage_select(run->device->cuda, run->device->columns, run->plan, &run->kernel, skip,
                                      &run->stage, error));
    RETURN_IF_ERROR(cuda_index_select(run->device->cuda, run->device->columns, run->plan->fact, skip,
                                      &run->index, error));
    return run->kernel.first && run->states ? cuda_states_point(run, error) : STATUS_OK;
}

/* Places the columns' chunks, after everything else has been allocated. */
static enum status place(struct device_run *run, struct error *error)
{
    struct cuda *cuda = run->device->cuda;
    struct cuda_columns *columns = run->device->columns;
    bool changed;
    do {
        RETURN_IF_ERROR(cuda_place_make(cuda, columns, &run->place, &changed, error));
        if (changed)
            RETURN_IF_ERROR(
                cuda_stage_place(cuda, columns, run->plan, &run->kernel, &run->place, &run->stage, error));
    } while (run->place.epoch != cuda_columns_epoch(columns));
    return run->place.batched || run->scan.graph ? STATUS_OK : cuda_scan_record(cuda, &run->scan, error);
}

static enum status load(struct device_run *run, struct error *error)
{
    struct cuda *cuda = run->device->cuda;
    RETURN_IF_ERROR(cuda_scan_open(cuda, run->kernel.shape.name, run->binaries[BINARY_SCAN].cubin,
                                   &run->kernel.layout, &run->scan, error));
    kernel_binary_free(&run->binaries[BINARY_SCAN]);
    if (run->plan->shape == PLAN_HASH)
        RETURN_IF_ERROR(cuda_module_function(cuda, run->scan.module, "collect", &run->collect, error));
    if (run->kernel.first) {
        RETURN_IF_ERROR(cuda_first_open(cuda, run->scan.module, run->plan, &run->first, error));
        cuda_scan_choose(&run->scan, &run->first);
    }
    uint64_t bytes;
    RETURN_IF_ERROR(
        cuda_module_variable(cuda, run->scan.module, "arguments", &run->arguments_address, &bytes, error));
    if (bytes != sizeof run->arguments)
        return error_set(error, STATUS_MACHINE,
                         "the kernel's arguments have %llu bytes, %zu were expected; remove the folder of "
                         "compiled kernels",
                         (unsigned long long)bytes, sizeof run->arguments);
    RETURN_IF_ERROR(upload(run, error));
    fill_arguments(run);
    RETURN_IF_ERROR(fill_bound(run, error));
    RETURN_IF_ERROR(select_tiles(run, run->share, error));
    RETURN_IF_ERROR(cuda_states_make(run, error));
    size_prepare(run);
    return place(run, error);
}

enum status gpu_load(struct device_run *run, struct run_timing *timing, struct error *error)
{
    timing->compile_ms = timing->load_ms = 0;
    if (run->nothing)
        return STATUS_OK;
    RETURN_IF_ERROR(compile(run, BINARY_SCAN, error));
    RETURN_IF_ERROR(compile_stage(run, error));
    RETURN_IF_ERROR(compile_index(run, error));
    timing->compile_ms =
        run->binaries[BINARY_SCAN].compile_ms + run->stage.binary.compile_ms + run->index.binary.compile_ms;
    const double compiled = clock_ms();
    RETURN_IF_ERROR(load(run, error));
    timing->load_ms = clock_ms() - compiled;
    return STATUS_OK;
}

void gpu_release(struct device_run *run)
{
    if (!run)
        return;
    struct cuda *cuda = run->device->cuda;
    cuda_scan_close(cuda, &run->scan);
    cuda_stage_free(cuda, &run->stage);
    cuda_index_free(cuda, &run->index);
    cuda_first_close(cuda, &run->first);
    cuda_states_free(run);
    for (uint32_t i = 0; i < run->owned_count; i++)
        cuda_free(cuda, run->owned[i]);
    cuda_place_close(cuda, &run->place);
    cuda_feed_close(cuda, &run->feed);
    for (uint32_t a = 0; a < ARGUMENT_ARRAYS_MAX; a++)
        cuda_columns_release(run->arrays[a]);
    for (enum run_binary binary = 0; binary < BINARIES; binary++)
        kernel_binary_free(&run->binaries[binary]);
    kernel_free(&run->kernel);
    tile_skip_free(&run->own);
    free((uint32_t *)run->segments.segments);
    free(run->bound);
    free(run);
}

/* ---- Run ---- */

/* Queues what comes before the graph of a run whose chunks are all at their places before it begins. */
static enum status begin_whole(struct device_run *run, struct run_timing *timing, struct error *error)
{
    struct cuda *cuda = run->device->cuda;
    if (run->stage.count)
        RETURN_IF_ERROR(cuda_stage_run(cuda, &run->stage, run->plan, &run->kernel, &run->scan, error));
    return run->timed ? cuda_scan_run_apart(cuda, &run->scan, &timing->filter_ms, &timing->scan_ms, error)
                      : STATUS_OK;
}

static enum status run_whole(struct device_run *run, struct run_timing *timing, struct error *error)
{
    RETURN_IF_ERROR(begin_whole(run, timing, error));
    return cuda_scan_run(run->device->cuda, &run->scan, error);
}

/* The parts of a run by segments are timed in it. */
enum status gpu_times(struct device_run *run, struct run_timing *timing, struct error *error)
{
    struct cuda *cuda = run->device->cuda;
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
    struct cuda *cuda = run->device->cuda;
    do {
        RETURN_IF_ERROR(cancel_check(error));
        if (!run->states)
            RETURN_IF_ERROR(cuda_states_make(run, error));
        else if (cuda_states_full(run))
            RETURN_IF_ERROR(cuda_states_grow(run, error));
        RETURN_IF_ERROR(place(run, error));
        RETURN_IF_ERROR(run->place.batched ? cuda_feed_run(cuda, &run->feed, run->plan, &run->kernel,
                                                           &run->place, &run->stage, &run->scan, error)
                                           : run_whole(run, timing, error));
        RETURN_IF_ERROR(cuda_states_fetch(run, error));
        RETURN_IF_ERROR(cuda_synchronize(cuda, error));
    } while (cuda_states_full(run));
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
    tile_skip_free(&selected);
    status = AND_THEN(status, scan(run, timing, error));
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

enum status gpu_run(struct device_run *run, const struct device_request *request, struct partial *partial,
                    struct run_timing *timing, struct error *error)
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
    RETURN_IF_ERROR(place(run, error));
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
    status = AND_THEN(status, scan(counting, &timing, error));
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
    struct cuda *cuda = run->device->cuda;
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
    struct cuda *cuda = run->device->cuda;
    struct cuda_place *where = &run->place;
    RETURN_IF_ERROR(compile(run, BINARY_SECTORS, error));
    RETURN_IF_ERROR(place(run, error));
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

enum status gpu_count(struct device_run *run, bool steps, struct scan_counts *counts, struct error *error)
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
