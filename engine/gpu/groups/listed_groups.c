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

static uint64_t pieces_of(uint64_t rows)
{
    return (rows + VALUES_PIECE - 1) / VALUES_PIECE;
}

static cuda_address take(cuda_address *next, uint64_t bytes)
{
    const cuda_address piece = *next;
    *next += cuda_aligned(bytes);
    return piece;
}

uint64_t cuda_list_lay_out(struct device_run *run, cuda_address base)
{
    struct cuda_list *const list = &run->list;
    cuda_address next = base;
    list->rows = run->share->kept_rows;
    list->words = take(&next, list->rows * sizeof(uint64_t));
    list->other = take(&next, list->rows * sizeof(uint64_t));
    list->sums = take(&next, (pieces_of(list->rows) + 1) * sizeof(uint64_t));
    list->disorder = take(&next, sizeof(uint32_t));
    list->scratch = take(&next, cuda_radix_sort_scratch(list->rows));
    run->arguments.rows = list->words;
    return next - base;
}

enum status cuda_list_open(struct device_run *run, struct error *error)
{
    struct cuda_module *const module = run->scan.module;
    RETURN_IF_ERROR(cuda_module_function(run->cuda, module, "list_heads", &run->list.heads, error));
    return cuda_module_function(run->cuda, module, "list_groups", &run->list.groups, error);
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
    const uint64_t column = (groups + 1) * sizeof(uint64_t),
                   bytes = column * (1 + (uint64_t)run->plan->aggregate_count);
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
    run->arguments.keys = list->table;
    for (uint32_t a = 0; a < run->plan->aggregate_count; a++)
        run->arguments.states[a] = list->table + (a + 1) * column;
    const uint64_t free_place = groups * sizeof(uint64_t);
    return cuda_set_words(run->cuda, list->table + free_place, 0, (bytes - free_place) / sizeof(uint32_t),
                          error);
}

/* ---- Groups ---- */

enum status cuda_list_begin(struct device_run *run, bool all, struct error *error)
{
    const bool places = run->kernel.list.in_order && all;
    if (!run->kernel.list.used || run->arguments.direct == places)
        return STATUS_OK;
    run->arguments.direct = places;
    return cuda_states_point(run, error);
}

static enum status launch(const struct device_run *run, struct cuda_function *function, uint64_t rows,
                          struct error *error)
{
    cuda_address words = run->list.words, sums = run->list.sums, disorder = run->list.disorder;
    void *arguments[] = {&words, &rows, &sums, &disorder}; /* the last one of list_heads */
    const uint64_t blocks = pieces_of(rows) / (LIST_THREADS / 32) + 1,
                   most = (uint64_t)cuda_properties(run->cuda)->multiprocessors * BLOCKS;
    return cuda_launch(run->cuda, function, (unsigned)(blocks < most ? blocks : most), LIST_THREADS, 0,
                       arguments, error);
}

/* Counts the groups, if words of one group stand together; *disorder: they may not. */
static enum status count_groups(struct device_run *run, uint64_t rows, uint64_t *groups, bool *disorder,
                                struct error *error)
{
    struct cuda *const cuda = run->cuda;
    const uint64_t pieces = pieces_of(rows);
    struct values_work work = {.count = (pieces + 1) * VALUES_PIECE, .sums = run->list.sums};
    uint32_t some = 0;
    void *arguments[] = {&work};
    RETURN_IF_ERROR(cuda_set_words(cuda, run->list.disorder, 0, 1, error));
    RETURN_IF_ERROR(launch(run, run->list.heads, rows, error));
    RETURN_IF_ERROR(cuda_launch(cuda, run->groups.values.scan, 1, VALUES_SCAN_THREADS,
                                VALUES_SCAN_THREADS / 32 * sizeof(uint64_t), arguments, error));
    RETURN_IF_ERROR(
        cuda_copy_to_host(cuda, groups, run->list.sums + pieces * sizeof *groups, sizeof *groups, error));
    RETURN_IF_ERROR(cuda_copy_to_host(cuda, &some, run->list.disorder, sizeof some, error));
    RETURN_IF_ERROR(cuda_synchronize(cuda, error));
    *disorder = some != 0;
    return STATUS_OK;
}

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

/* The rows that are listed. */
static enum status count_rows(struct device_run *run, uint64_t *rows, struct error *error)
{
    *rows = run->plan->fact->rows;
    if (run->arguments.direct)
        return STATUS_OK;
    RETURN_IF_ERROR(cuda_copy_to_host(run->cuda, rows, run->arguments.groups_found, sizeof *rows, error));
    return cuda_synchronize(run->cuda, error);
}

static enum status make_groups(struct device_run *run, struct error *error)
{
    uint64_t rows = 0, groups = 0;
    bool disorder = true;
    RETURN_IF_ERROR(count_rows(run, &rows, error));
    RETURN_IF_ERROR(cuda_groups_take(run, error));
    if (rows && run->arguments.direct)
        RETURN_IF_ERROR(count_groups(run, rows, &groups, &disorder, error));
    if (rows && disorder) {
        RETURN_IF_ERROR(sort(run, rows, error));
        RETURN_IF_ERROR(count_groups(run, rows, &groups, &disorder, error));
    }
    RETURN_IF_ERROR(make_table(run, groups, error));
    RETURN_IF_ERROR(cuda_states_point(run, error));
    if (rows)
        RETURN_IF_ERROR(launch(run, run->list.groups, rows, error));
    return cuda_send(run->cuda, run->arguments.groups_found, &groups, sizeof groups, error);
}

enum status cuda_list_groups(struct device_run *run, struct error *error)
{
    struct cuda_list *const list = &run->list;
    const cuda_address words = list->words, other = list->other;
    if (!run->kernel.list.used)
        return STATUS_OK;
    RETURN_IF_ERROR(cancel_check(error));
    const enum status status = make_groups(run, error);
    list->words = words; /* the next scan lists its rows there */
    list->other = other;
    return status == STATUS_OK ? cuda_event_record(run->cuda, run->scan.end, error) : status;
}
