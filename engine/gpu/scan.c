/* scan.c: see scan.h. */
#include "engine/gpu/scan.h"

#include "engine/gpu/groups/listed_groups.h"
#include "storage/base/memory.h"

#include <stdlib.h>

#define PREPARE_THREADS 256u

struct kernel_target cuda_kernel_target(const struct cuda *cuda)
{
    const struct cuda_properties *gpu = cuda_properties(cuda);
    return (struct kernel_target){.shared_block = gpu->shared_per_block_bytes,
                                  .shared_multiprocessor = gpu->shared_per_multiprocessor_bytes,
                                  .threads = gpu->threads_per_multiprocessor,
                                  .cache_bytes = gpu->l2_bytes,
                                  .memory_bytes = gpu->memory_bytes,
                                  .sorts = cuda_list_can(cuda)};
}

/* Items have fewer tiles, for as many warps, while more than one warp in so many would have none. */
#define IDLE_PART 8u

/* The items of all runs, of up to so many tiles. */
static uint64_t items_of(const struct tile_skip *skip, uint32_t width)
{
    uint64_t items = 0;
    for (uint64_t r = 0; r < skip->run_count; r++)
        items += (skip->runs[r].tiles + width - 1) / width;
    return items;
}

/* Where rows are clustered, runs of tiles may be shorter than an item: some warps of a group would wait for others. */
static uint32_t narrow_for(const struct tile_skip *skip)
{
    uint32_t narrow = 0;
    while (narrow < WORK_TILES_BITS && (items_of(skip, WORK_TILES >> narrow) << (WORK_TILES_BITS - narrow)) >
                                           skip->kept_tiles + skip->kept_tiles / IDLE_PART)
        narrow++;
    return narrow;
}

/* Lists the tiles as items of up to `width` tiles, and the first item of each segment; returns the number of items. */
static uint32_t list_work(const struct table *fact, const struct tile_skip *skip,
                          const struct cuda_ranges *ranges, uint32_t width, struct bound_work *work,
                          uint32_t *segment_items)
{
    uint64_t run = 0;
    uint32_t count = 0, next = 0, range = 0, tile = skip->run_count ? skip->runs[0].first : 0;
    while (run < skip->run_count) {
        const uint32_t segment = skip->runs[run].segment, first = tile;
        while (next <= segment)
            segment_items[next++] = count;
        const uint32_t rows = tile_skip_take(skip, width, &run, &tile) * TILE_ROWS;
        const uint32_t left = fact->segment_rows[segment] - first * TILE_ROWS;
        while (ranges && !cuda_range_has(&ranges->list[range], segment, first))
            range++;
        work[count++] = (struct bound_work){.segment = segment,
                                            .first_tile = first,
                                            .rows = (uint16_t)(rows < left ? rows : left),
                                            .place = ranges ? range : segment};
    }
    while (next <= fact->segment_count)
        segment_items[next++] = count;
    return count;
}

/* Groups of warps in a block, each of which takes an item. */
static uint32_t groups_of(const struct cuda_scan *scan)
{
    return (scan->threads / 32 / WORK_TILES) << scan->work.narrow;
}

/* No more blocks than have work: a block without work would only copy bitmaps and clear sums. */
static unsigned blocks_for(const struct cuda_scan *scan, uint32_t items)
{
    const uint64_t groups = groups_of(scan), parts = (uint64_t)items << scan->work.split,
                   blocks = (parts + groups - 1) / groups;
    return blocks >= scan->blocks_most ? scan->blocks_most : blocks ? (unsigned)blocks : 1;
}

/* The parts of a tile, as a power of two. Where there are fewer tiles than warps, those that have one would take all the time,
 * and the others none. */
static uint32_t split_for(const struct cuda_scan *scan, uint32_t items)
{
    const uint64_t groups = (uint64_t)scan->blocks_most * groups_of(scan);
    uint32_t split = 0;
    while (scan->may_split && split < WORK_SPLIT_MAX && (uint64_t)items << split < groups)
        split++;
    return split;
}

static void free_work(struct cuda *cuda, struct cuda_columns *columns, struct cuda_scan *scan)
{
    cuda_columns_release(columns, scan->whole);
    if (!scan->whole)
        cuda_free(cuda, scan->work.work);
    scan->whole = NULL;
    scan->work.work = 0;
}

/* Takes the list that the device keeps for statements which read all tiles. */
static enum status select_whole(struct cuda_columns *columns, const struct table *fact,
                                struct cuda_scan *scan, struct error *error)
{
    uint32_t items = 0;
    scan->work.narrow = 0;
    for (uint32_t s = 0; s < fact->segment_count; s++) {
        scan->segment_items[s] = items;
        items += cuda_work_items(fact->segment_rows[s]);
    }
    scan->segment_items[fact->segment_count] = scan->work.items = items;
    RETURN_IF_ERROR(cuda_columns_work(columns, fact, &scan->whole, error));
    scan->work.work = scan->whole->address;
    return STATUS_OK;
}

static enum status select_some(struct cuda *cuda, struct cuda_columns *columns, const struct table *fact,
                               const struct tile_skip *skip, const struct cuda_ranges *ranges,
                               struct cuda_scan *scan, struct error *error)
{
    scan->work.narrow = scan->first ? 0 : narrow_for(skip);
    const uint32_t width = WORK_TILES >> scan->work.narrow;
    const uint64_t most = items_of(skip, width);
    struct bound_work *work;
    RETURN_IF_ERROR(memory_take(&work, most * sizeof *work, "the list of work", error));
    const uint32_t count = scan->work.items = list_work(fact, skip, ranges, width, work, scan->segment_items);
    enum status status =
        cuda_columns_allocate(columns, count * sizeof *work, "the list of work", &scan->work.work, error);
    if (status == STATUS_OK && scan->first)
        status = cuda_first_select(cuda, columns, work, count, scan->first, error);
    if (status == STATUS_OK && count)
        status = cuda_send(cuda, scan->work.work, work, count * sizeof *work, error);
    free(work);
    return status;
}

enum status cuda_scan_select(struct cuda *cuda, struct cuda_columns *columns, const struct table *fact,
                             const struct tile_skip *skip, const struct cuda_ranges *ranges,
                             struct cuda_scan *scan, struct error *error)
{
    RETURN_IF_ERROR(memory_grow(&scan->segment_items,
                                (fact->segment_count + 1ull) * sizeof *scan->segment_items,
                                "the list of work", error));
    free_work(cuda, columns, scan);
    scan->recorded = false;
    RETURN_IF_ERROR(skip->kept_tiles == skip->tiles && !scan->first && !table_is_resident(fact)
                        ? select_whole(columns, fact, scan, error)
                        : select_some(cuda, columns, fact, skip, ranges, scan, error));
    scan->work.split = split_for(scan, scan->work.items);
    scan->scan_blocks = blocks_for(scan, scan->work.items);
    return STATUS_OK;
}

enum status cuda_scan_load(struct cuda *cuda, const char *name, const void *cubin, struct cuda_scan *scan,
                           struct error *error)
{
    const struct cuda_properties *gpu = cuda_properties(cuda);
    unsigned blocks;
    if (!scan->module)
        RETURN_IF_ERROR(cuda_module_load(cuda, cubin, &scan->module, error));
    RETURN_IF_ERROR(cuda_module_function(cuda, scan->module, "prepare", &scan->prepare, error));
    RETURN_IF_ERROR(cuda_module_function(cuda, scan->module, "scan", &scan->scan, error));
    RETURN_IF_ERROR(cuda_function_allow_shared(cuda, scan->scan, scan->shared_bytes, error));
    RETURN_IF_ERROR(
        cuda_function_blocks(cuda, scan->scan, scan->threads, scan->shared_bytes, &blocks, error));
    if (blocks == 0)
        return error_set(
            error, STATUS_MACHINE,
            "query %s: a block of %u threads with %llu bytes of shared memory does not fit this GPU", name,
            scan->threads, (unsigned long long)scan->shared_bytes);
    scan->blocks_most = blocks * gpu->multiprocessors;
    scan->recorded = false;
    return STATUS_OK;
}

enum status cuda_scan_open(struct cuda *cuda, const struct kernel_layout *layout, struct cuda_scan *scan,
                           struct error *error)
{
    scan->threads = layout->threads;
    scan->shared_bytes = layout->shared_bytes;
    scan->may_split = layout->split;
    scan->work.staging_offset = layout->staging_offset;
    scan->work.staging_bytes = layout->staging_bytes;
    scan->scan_arguments[1] = &scan->work;
    scan->prepare_most = scan->prepare_blocks = 8 * cuda_properties(cuda)->multiprocessors;
    RETURN_IF_ERROR(cuda_event_create(cuda, &scan->begin, error));
    RETURN_IF_ERROR(cuda_event_create(cuda, &scan->filtered, error));
    return cuda_event_create(cuda, &scan->end, error);
}

void cuda_scan_choose(struct cuda_scan *scan, struct cuda_first *first)
{
    scan->first = first;
    scan->scan_arguments[1] = &first->chosen;
    first->chosen.staging_offset = scan->work.staging_offset;
    first->chosen.staging_bytes = scan->work.staging_bytes;
}

void cuda_scan_prepares(struct cuda_scan *scan, uint64_t threads)
{
    const uint64_t blocks = (threads + PREPARE_THREADS - 1) / PREPARE_THREADS;
    scan->prepare_blocks = blocks >= scan->prepare_most ? scan->prepare_most : blocks ? (unsigned)blocks : 1;
}

void cuda_scan_close(struct cuda *cuda, struct cuda_columns *columns, struct cuda_scan *scan)
{
    cuda_graph_destroy(cuda, scan->graph);
    cuda_event_destroy(cuda, scan->begin);
    cuda_event_destroy(cuda, scan->filtered);
    cuda_event_destroy(cuda, scan->end);
    free_work(cuda, columns, scan);
    cuda_module_unload(cuda, scan->module);
    free(scan->segment_items);
    *scan = (struct cuda_scan){0};
}

enum status cuda_scan_prepare(struct cuda *cuda, struct cuda_scan *scan, struct error *error)
{
    RETURN_IF_ERROR(cuda_launch(cuda, scan->prepare, scan->prepare_blocks, PREPARE_THREADS, 0, NULL, error));
    return scan->index ? cuda_index_run(cuda, scan->index, error) : STATUS_OK;
}

static struct first_launch first_launch_of(struct cuda_scan *scan, struct cuda_stream *stream,
                                           const struct bound_scan *work, uint32_t item)
{
    return (struct first_launch){.stream = stream,
                                 .scan = scan->scan,
                                 .blocks = blocks_for(scan, work->items),
                                 .threads = scan->threads,
                                 .shared_bytes = scan->shared_bytes,
                                 .bound = scan->scan_arguments[0],
                                 .work = work,
                                 .first = item};
}

enum status cuda_scan_aim(struct cuda *cuda, struct cuda_scan *scan, struct error *error)
{
    const struct first_launch launch = first_launch_of(scan, NULL, &scan->work, 0);
    return scan->first ? cuda_first_aim(cuda, scan->first, &launch, error) : STATUS_OK;
}

/* Queues `scan` over the items among those of `work`, which begin at `item` in the list of work, that may have wanted
 * rows. */
static enum status launch_first(struct cuda *cuda, struct cuda_scan *scan, struct cuda_stream *stream,
                                const struct bound_scan *work, uint32_t item, struct error *error)
{
    const struct first_launch launch = first_launch_of(scan, stream, work, item);
    RETURN_IF_ERROR(cuda_first_aim(cuda, scan->first, &launch, error));
    return cuda_first_scan(cuda, scan->first, &launch, error);
}

/* `early`: the scan may begin while `prepare` runs. With an index, another kernel is between the two. */
static enum status launch_scan(struct cuda *cuda, struct cuda_scan *scan, bool early, struct error *error)
{
    if (scan->first)
        return launch_first(cuda, scan, NULL, &scan->work, 0, error);
    return (early && !scan->index ? cuda_launch_early : cuda_launch)(
        cuda, scan->scan, scan->scan_blocks, scan->threads, scan->shared_bytes, scan->scan_arguments, error);
}

enum status cuda_scan_launch(struct cuda *cuda, struct cuda_scan *scan, struct cuda_stream *stream,
                             uint32_t first, uint32_t items, struct error *error)
{
    struct bound_scan part = scan->work;
    void *arguments[] = {scan->scan_arguments[0], &part};
    part.work += first * sizeof(struct bound_work);
    part.items = items;
    if (scan->first)
        return launch_first(cuda, scan, stream, &part, first, error);
    return cuda_stream_launch(cuda, stream, scan->scan, blocks_for(scan, items), scan->threads,
                              scan->shared_bytes, arguments, error);
}

enum status cuda_scan_complete(struct cuda *cuda, const struct cuda_scan *scan, struct error *error)
{
    return scan->complete
               ? cuda_launch(cuda, scan->complete, scan->prepare_most, PREPARE_THREADS, 0, NULL, error)
               : STATUS_OK;
}

enum status cuda_scan_record(struct cuda *cuda, struct cuda_scan *scan, struct error *error)
{
    RETURN_IF_ERROR(cuda_capture_begin(cuda, error));
    enum status status = cuda_scan_prepare(cuda, scan, error);
    status = AND_THEN(status, launch_scan(cuda, scan, true, error));
    status = AND_THEN(status, cuda_scan_complete(cuda, scan, error));
    enum status ended = cuda_capture_end(cuda, &scan->graph, status == STATUS_OK ? error : NULL);
    status = AND_THEN(status, ended);
    scan->recorded = status == STATUS_OK;
    return status;
}

/* `prepare` runs once before it is timed: this keeps the GPU busy until all is queued, so that the times do
 * not include the host's time for queueing. */
enum status cuda_scan_run_apart(struct cuda *cuda, struct cuda_scan *scan, double *prepare_ms,
                                double *scan_ms, struct error *error)
{
    RETURN_IF_ERROR(cuda_scan_prepare(cuda, scan, error));
    RETURN_IF_ERROR(cuda_event_record(cuda, scan->begin, error));
    RETURN_IF_ERROR(cuda_scan_prepare(cuda, scan, error));
    RETURN_IF_ERROR(cuda_event_record(cuda, scan->filtered, error));
    RETURN_IF_ERROR(launch_scan(cuda, scan, false, error));
    RETURN_IF_ERROR(cuda_event_record(cuda, scan->end, error));
    RETURN_IF_ERROR(cuda_synchronize(cuda, error));
    RETURN_IF_ERROR(cuda_event_elapsed(cuda, scan->begin, scan->filtered, prepare_ms, error));
    return cuda_event_elapsed(cuda, scan->filtered, scan->end, scan_ms, error);
}

enum status cuda_scan_run(struct cuda *cuda, struct cuda_scan *scan, struct error *error)
{
    RETURN_IF_ERROR(cuda_event_record(cuda, scan->begin, error));
    RETURN_IF_ERROR(cuda_graph_launch(cuda, scan->graph, error));
    return cuda_event_record(cuda, scan->end, error);
}

enum status cuda_scan_elapsed(struct cuda *cuda, struct cuda_scan *scan, double *total_ms,
                              struct error *error)
{
    return cuda_event_elapsed(cuda, scan->begin, scan->end, total_ms, error);
}
