/*
 * take.c: the rows of a scan as plain columns (rows.h). The scan is the general kernel, which marks the
 * rows; take_cuda.h computes the outputs of those that it has marked.
 */
#include "engine/gpu/rows/rows.h"
#include "engine/gpu/run_internal.h"
#include "operators/general/take.h"
#include "storage/base/memory.h"

#include <stdlib.h>

#define BLOCKS 8u /* of a multiprocessor, that count rows: all that are resident */

struct take {
    struct device_run *run;
    struct cuda_function *count, *before, *columns, *rows;
    struct take_work work;
    cuda_address memory; /* of the tiles' numbers, and of the list of columns */
};

static enum status find_kernels(struct take *take, struct error *error)
{
    struct device_run *const run = take->run;
    struct cuda *const cuda = run->cuda;
    RETURN_IF_ERROR(cuda_module_function(cuda, run->scan.module, "take_count", &take->count, error));
    RETURN_IF_ERROR(cuda_module_function(cuda, run->scan.module, "take_before", &take->before, error));
    RETURN_IF_ERROR(cuda_module_function(cuda, run->scan.module, "take_columns", &take->columns, error));
    RETURN_IF_ERROR(cuda_module_function(cuda, run->scan.module, "take_rows", &take->rows, error));
    RETURN_IF_ERROR(cuda_function_allow_shared(cuda, take->columns, run->scan.shared_bytes, error));
    return cuda_function_allow_shared(cuda, take->rows, run->scan.shared_bytes, error);
}

/* Finds the rows before each tile, and how many there are. */
static enum status count(struct take *take, uint64_t *rows, struct error *error)
{
    struct cuda *const cuda = take->run->cuda;
    const uint64_t parts = take->work.parts, most = (uint64_t)cuda_properties(cuda)->multiprocessors * BLOCKS;
    void *arguments[] = {&take->work};
    RETURN_IF_ERROR(cuda_launch(cuda, take->count, (unsigned)(parts < most ? parts : most), TAKE_THREADS,
                                TAKE_THREADS / 32 * sizeof(uint32_t), arguments, error));
    RETURN_IF_ERROR(cuda_launch(cuda, take->before, 1, TAKE_SCAN_THREADS,
                                TAKE_SCAN_THREADS / 32 * sizeof(uint64_t), arguments, error));
    RETURN_IF_ERROR(
        cuda_copy_to_host(cuda, rows, take->work.parts_before + parts * sizeof *rows, sizeof *rows, error));
    return cuda_synchronize(cuda, error);
}

static enum status add_columns(struct take *take, struct device_rows *rows, struct error *error)
{
    const struct plan *const plan = take->run->plan;
    for (uint32_t o = 0; o < plan->output_count; o++) {
        const struct expression *const node = &plan->expressions.nodes[plan->outputs[o].expression];
        RETURN_IF_ERROR(
            cuda_rows_add(take->run->cuda, rows, node->type, node->low, node->high, node->nullable, error));
        rows->columns[o].bits = node->bits;
    }
    return STATUS_OK;
}

static struct take_column column_of(const struct device_run *run, const struct device_rows *rows, uint32_t o)
{
    const struct plan *const plan = run->plan;
    const struct general_outputs *const outputs = &run->tier.general.outputs;
    const struct expression *const node = &plan->expressions.nodes[plan->outputs[o].expression];
    struct take_column column = {.values = rows->columns[o].values,
                                 .validity = rows->columns[o].validity,
                                 .column = TAKE_COMPUTED,
                                 .slot = outputs->slots[o],
                                 .value_bytes = rows->columns[o].value_bytes};
    if (outputs->column[o] == GENERAL_COMPUTED)
        return column;
    column.column = outputs->column[o];
    const struct plan_source *const source = &plan->sources[node->index];
    if (source->join < 0)
        return column;
    const struct plan_array *const array = &plan->arrays[source->column];
    column.elements = run->arguments.arrays[source->column].values;
    column.element_bytes = array->value_bytes;
    column.shift = array->shift;
    column.last =
        array->rows ? (uint32_t)(array->rows - 1) : 0; /* memory has room for one element at least */
    return column;
}

/* Writes the columns. */
static enum status fill(struct take *take, const struct device_rows *rows, struct error *error)
{
    struct device_run *const run = take->run;
    const struct general_outputs *const outputs = &run->tier.general.outputs;
    struct take_column columns[GENERAL_SLOTS];
    void *arguments[] = {run->scan.scan_arguments[0], &run->scan.work, &take->work};
    for (uint32_t c = 0; c < rows->column_count; c++)
        columns[c] = column_of(run, rows, c);
    take->work.count = rows->column_count;
    take->work.first = outputs->first;
    take->work.end = outputs->end;
    take->work.staged = outputs->staged;
    RETURN_IF_ERROR(
        cuda_send(run->cuda, take->work.columns, columns, rows->column_count * sizeof *columns, error));
    if (outputs->columns)
        RETURN_IF_ERROR(cuda_launch(run->cuda, take->columns, run->scan.scan_blocks, run->scan.threads,
                                    run->scan.shared_bytes, arguments, error));
    if (outputs->computed)
        RETURN_IF_ERROR(cuda_launch(run->cuda, take->rows, run->scan.scan_blocks, run->scan.threads,
                                    run->scan.shared_bytes, arguments, error));
    return cuda_synchronize(run->cuda, error); /* `columns` was queued, and the run's columns are let go */
}

static enum status make(struct take *take, struct device_rows **rows, bool *no_memory, struct error *error)
{
    struct device_run *const run = take->run;
    uint64_t found = 0;
    RETURN_IF_ERROR(find_kernels(take, error));
    RETURN_IF_ERROR(count(take, &found, error));
    RETURN_IF_ERROR(cuda_rows_make(run->device, found, rows, error));
    *no_memory = add_columns(take, *rows, NULL) != STATUS_OK;
    return *no_memory ? STATUS_OK : fill(take, *rows, error);
}

enum status cuda_take(struct device_run *run, struct device_rows **taken, struct error *error)
{
    const uint64_t tiles = run->plan->scan.tiles, parts = (tiles + TAKE_PART_TILES - 1) / TAKE_PART_TILES,
                   columns = GENERAL_SLOTS * sizeof(struct take_column),
                   parts_bytes = (parts + 1) * sizeof(uint64_t), tiles_bytes = tiles * sizeof(uint32_t);
    struct take take = {.run = run, .work = {.masks = run->arguments.rows, .tiles = tiles, .parts = parts}};
    bool no_memory = true;
    *taken = NULL;
    if (!run->tier.is_general || run->place.batched ||
        cuda_columns_allocate_now(run->device->columns, columns + parts_bytes + tiles_bytes, "rows of tiles",
                                  &take.memory, NULL) != STATUS_OK)
        return STATUS_OK;
    take.work.columns = take.memory;
    take.work.parts_before = take.memory + columns;
    take.work.before = take.work.parts_before + parts_bytes;
    const enum status status = make(&take, taken, &no_memory, error);
    if (status != STATUS_OK)
        cuda_wait_for_all(run->cuda);
    cuda_free(run->cuda, take.memory);
    if (status != STATUS_OK || no_memory) {
        device_rows_free(*taken);
        *taken = NULL;
    }
    return status;
}
