/* listed_groups.c: see listed_groups.h. */
#include "engine/gpu/groups/listed_groups.h"

#include "engine/cuda/ahead.h"
#include "engine/gpu/groups/kernel_list.h"
#include "engine/gpu/run_internal.h"
#include "engine/gpu/sort/radix_sort.h"
#include "operators/general/values.h"

/* Blocks of a multiprocessor: all that are resident. */
#define BLOCKS 8u

bool cuda_list_can(const struct cuda *cuda)
{
    return cuda_radix_sort_exists(cuda) && ahead_has(GROUPS_MODULE, cuda_properties(cuda)->arch);
}

/* ---- Memory ---- */

static uint64_t pieces_of(uint64_t words, uint32_t length)
{
    return (words + length - 1) / length;
}

static cuda_address take(cuda_address *next, uint64_t bytes)
{
    const cuda_address piece = *next;
    *next += cuda_aligned(bytes);
    return piece;
}

/* The columns of a table of groups: their numbers, and their states. */
static uint64_t columns_of(const struct device_run *run)
{
    return 1 + (uint64_t)run->plan->aggregate_count;
}

static void point_table(struct device_run *run, cuda_address table, uint64_t places)
{
    run->arguments.keys = table;
    for (uint32_t a = 0; a < run->plan->aggregate_count; a++)
        run->arguments.states[a] = table + (a + 1) * places * sizeof(uint64_t);
}

static void lay_out_stream(struct device_run *run, cuda_address *next)
{
    struct query_arguments *const arguments = &run->arguments;
    arguments->edge_count = 2 * run->plan->scan.tiles;
    arguments->group_places = run->kernel.list.groups_most + 1;
    run->list.sums = take(next, (pieces_of(arguments->edge_count, LIST_EDGES_PIECE) + 1) * sizeof(uint64_t));
    arguments->rows = take(next, columns_of(run) * arguments->edge_count * sizeof(uint64_t));
    const cuda_address table = take(next, columns_of(run) * arguments->group_places * sizeof(uint64_t));
    point_table(run, table, arguments->group_places);
}

static void lay_out_list(struct device_run *run, cuda_address *next)
{
    struct cuda_list *const list = &run->list;
    list->words = take(next, list->rows * sizeof(uint64_t));
    list->other = take(next, list->rows * sizeof(uint64_t));
    list->sums = take(next, (pieces_of(list->rows, VALUES_PIECE) + 1) * sizeof(uint64_t));
    list->scratch = take(next, cuda_radix_sort_scratch(list->rows));
    run->arguments.rows = list->words;
}

uint64_t cuda_list_lay_out(struct device_run *run, cuda_address base)
{
    cuda_address next = base;
    run->list.rows = run->share->kept_rows;
    run->arguments.direct = run->list.streams;
    if (run->list.streams)
        lay_out_stream(run, &next);
    else
        lay_out_list(run, &next);
    return next - base;
}

enum status cuda_list_open(struct device_run *run, struct error *error)
{
    struct cuda_module *const module = run->scan.module;
    struct cuda_list *const list = &run->list;
    list->streams = run->kernel.list.in_order && !list->disorder;
    RETURN_IF_ERROR(cuda_module_function(run->cuda, module, "list_heads", &list->heads, error));
    if (run->kernel.list.in_order)
        RETURN_IF_ERROR(cuda_module_function(run->cuda, module, "list_edges", &list->edges, error));
    return cuda_module_function(run->cuda, module, "list_groups", &list->groups, error);
}

void cuda_list_free(struct device_run *run)
{
    cuda_free(run->cuda, run->list.table);
    run->list.table = 0;
    run->list.table_bytes = 0;
}

/* Places the table of `groups` and one free place; its states are 0. The scan has ended; so its columns may make room, and the
 * run may wait for others, which may wait for them. */
static enum status make_table(struct device_run *run, uint64_t groups, struct error *error)
{
    struct cuda_list *const list = &run->list;
    const uint64_t bytes = (groups + 1) * columns_of(run) * sizeof(uint64_t);
    if (list->table_bytes < bytes) {
        cuda_list_free(run);
        gpu_let_go(run);
        run->no_room =
            cuda_columns_allocate(run->device->columns, bytes, "groups", &list->table, error) != STATUS_OK;
        if (run->no_room)
            return STATUS_MACHINE;
        list->table_bytes = bytes;
    }
    run->slots = run->arguments.slots = groups + 1;
    point_table(run, list->table, groups + 1);
    const uint64_t free_place = groups * sizeof(uint64_t);
    return cuda_set_words(run->cuda, list->table + free_place, 0, (bytes - free_place) / sizeof(uint32_t),
                          error);
}

enum status cuda_list_begin(struct device_run *run, bool all, struct error *error)
{
    struct cuda_list *const list = &run->list;
    const bool streams = run->kernel.list.in_order && all && !list->disorder;
    list->again = false;
    if (list->streams == streams)
        return STATUS_OK;
    list->streams = streams;
    cuda_states_free(run);
    return cuda_states_make(run, error);
}

/* Launches a kernel for pieces of so many words. */
static enum status launch(const struct device_run *run, struct cuda_function *function, uint64_t words,
                          uint32_t length, void **arguments, struct error *error)
{
    const uint64_t blocks = pieces_of(words, length) / (LIST_THREADS / 32) + 1,
                   most = (uint64_t)cuda_properties(run->cuda)->multiprocessors * BLOCKS;
    return cuda_launch(run->cuda, function, (unsigned)(blocks < most ? blocks : most), LIST_THREADS, 0,
                       arguments, error);
}

/* Queues the count of the groups of words, after which the sums are those before each piece; and its copy to *groups. */
static enum status count_groups(struct device_run *run, cuda_address words, uint64_t count, uint32_t shift,
                                uint32_t length, uint64_t *groups, struct error *error)
{
    struct cuda *const cuda = run->cuda;
    const uint64_t pieces = pieces_of(count, length);
    struct values_work work = {.count = (pieces + 1) * VALUES_PIECE, .sums = run->list.sums};
    void *arguments[] = {&words, &count, &work.sums, &shift, &length}, *sums[] = {&work};
    RETURN_IF_ERROR(launch(run, run->list.heads, count, length, arguments, error));
    RETURN_IF_ERROR(cuda_launch(cuda, run->groups.values.scan, 1, VALUES_SCAN_THREADS,
                                VALUES_SCAN_THREADS / 32 * sizeof(uint64_t), sums, error));
    return cuda_copy_to_host(cuda, groups, work.sums + pieces * sizeof *groups, sizeof *groups, error);
}

/* ---- Groups that the scan has made ---- */

/* Clears the places of groups that are added, and the last one, which is free. */
static enum status clear_places(struct device_run *run, uint64_t first, uint64_t end, struct error *error)
{
    for (uint64_t column = 0; column < columns_of(run); column++)
        RETURN_IF_ERROR(cuda_set_words(run->cuda,
                                       run->arguments.keys +
                                           (column * run->arguments.group_places + first) * sizeof(uint64_t),
                                       0, (end - first) * (sizeof(uint64_t) / sizeof(uint32_t)), error));
    return STATUS_OK;
}

static enum status add_edges(struct device_run *run, uint64_t others, uint64_t groups, struct error *error)
{
    struct query_arguments *const of = &run->arguments;
    void *arguments[] = {&of->rows, &of->edge_count, &run->list.sums, &others};
    const uint64_t slots = groups + 1;
    RETURN_IF_ERROR(clear_places(run, others, slots, error));
    run->slots = slots;
    if (of->slots != slots) { /* the last run had others */
        of->slots = slots;
        RETURN_IF_ERROR(cuda_states_point(run, error));
    }
    RETURN_IF_ERROR(launch(run, run->list.edges, of->edge_count, LIST_EDGES_PIECE, arguments, error));
    return cuda_send(run->cuda, of->groups_found, &groups, sizeof groups, error);
}

static enum status complete_stream(struct device_run *run, struct error *error)
{
    const struct query_arguments *const of = &run->arguments;
    uint32_t flags[2] = {0}; /* at `full` */
    uint64_t others = 0, edges = 0;
    RETURN_IF_ERROR(cuda_groups_take(run, error));
    RETURN_IF_ERROR(count_groups(run, of->rows, of->edge_count, 0, LIST_EDGES_PIECE, &edges, error));
    RETURN_IF_ERROR(cuda_copy_to_host(run->cuda, flags, of->full, sizeof flags, error));
    RETURN_IF_ERROR(cuda_copy_to_host(run->cuda, &others, of->groups_found, sizeof others, error));
    RETURN_IF_ERROR(cuda_synchronize(run->cuda, error));
    run->list.again = run->list.disorder = flags[1] || others + edges >= of->group_places;
    return run->list.again ? STATUS_OK : add_edges(run, others, others + edges, error);
}

/* ---- Groups of a list ---- */

static enum status sort(struct device_run *run, uint64_t rows, struct error *error)
{
    const struct row_words *const of = &run->kernel.list.words;
    struct cuda_list *const list = &run->list;
    struct cuda_pairs pairs = {.keys = list->words, .other_keys = list->other};
    struct cuda_radix_sort kernels = {0};
    enum status status = cuda_radix_sort_open(run->cuda, run->device->modules, &kernels, error);
    if (status == STATUS_OK)
        status = cuda_radix_sort(run->cuda, &kernels, &pairs, rows, of->number_shift,
                                 of->number_shift + of->number_bits, list->scratch, error);
    if (status != STATUS_OK)
        cuda_wait_for_all(run->cuda);
    cuda_radix_sort_close(run->cuda, run->device->modules, &kernels);
    list->words = pairs.keys;
    list->other = pairs.other_keys;
    return status;
}

static enum status make_groups(struct device_run *run, struct error *error)
{
    uint64_t rows = 0, groups = 0;
    void *arguments[] = {&run->list.words, &rows, &run->list.sums};
    RETURN_IF_ERROR(cuda_copy_to_host(run->cuda, &rows, run->arguments.groups_found, sizeof rows, error));
    RETURN_IF_ERROR(cuda_synchronize(run->cuda, error));
    RETURN_IF_ERROR(cuda_groups_take(run, error));
    if (rows) {
        RETURN_IF_ERROR(sort(run, rows, error));
        RETURN_IF_ERROR(count_groups(run, run->list.words, rows, run->kernel.list.words.number_shift,
                                     VALUES_PIECE, &groups, error));
        RETURN_IF_ERROR(cuda_synchronize(run->cuda, error));
    }
    RETURN_IF_ERROR(make_table(run, groups, error));
    RETURN_IF_ERROR(cuda_states_point(run, error));
    if (rows)
        RETURN_IF_ERROR(launch(run, run->list.groups, rows, VALUES_PIECE, arguments, error));
    return cuda_send(run->cuda, run->arguments.groups_found, &groups, sizeof groups, error);
}

enum status cuda_list_groups(struct device_run *run, struct error *error)
{
    struct cuda_list *const list = &run->list;
    const cuda_address words = list->words, other = list->other;
    if (!run->kernel.list.used)
        return STATUS_OK;
    RETURN_IF_ERROR(cancel_check(error));
    const enum status status = list->streams ? complete_stream(run, error) : make_groups(run, error);
    list->words = words; /* the next scan lists its rows there */
    list->other = other;
    return status == STATUS_OK ? cuda_event_record(run->cuda, run->scan.end, error) : status;
}
