/* bind.c: what a statement uploads for itself, and its kernels' arguments (run_internal.h). */
#include "engine/gpu/run_internal.h"

#include <stdlib.h>
#include <string.h>

/* Allocates memory that belongs to the statement, and copies `from` to it. */
static enum status own(struct device_run *run, const void *from, uint64_t bytes, const char *what,
                       cuda_address *address, struct error *error)
{
    RETURN_IF_ERROR(cuda_columns_allocate(run->device->columns, bytes, what, address, error));
    run->owned[run->owned_count++] = *address;
    return from && bytes ? cuda_send(run->cuda, *address, from, bytes, error) : STATUS_OK;
}

static enum status upload_array(struct device_run *run, uint32_t a, struct error *error)
{
    const struct plan_array *array = &run->plan->arrays[a];
    struct array_argument *to = &run->arguments.arrays[a];
    if (!array->composed || array->kept) {
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
    return cuda_set_words(run->cuda, match->bitmap, 0, words, error);
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
        status = AND_THEN(status, cuda_send(run->cuda, address, values, bytes, error));
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
    RETURN_IF_ERROR(cuda_index_load(run->cuda, run->device->columns, &run->plan->index, run->plan->fact,
                                    &run->index, error));
    run->arguments.index_mask = run->index.mask;
    return STATUS_OK;
}

static enum status upload_program(struct device_run *run, struct error *error)
{
    const struct general *const general = &run->tier.general;
    return run->tier.is_general
               ? own(run, general->program, general->bytes, "a program", &run->arguments.program, error)
               : STATUS_OK;
}

static enum status upload(struct device_run *run, struct error *error)
{
    const struct kernel *kernel = &run->kernel;
    RETURN_IF_ERROR(cuda_place_open(run->device->columns, run->plan, kernel,
                                    run->segments.segments ? &run->segments : NULL, run->share,
                                    run->device->late, &run->place, error));
    RETURN_IF_ERROR(
        cuda_stage_load(run->cuda, run->device->columns, run->plan, kernel, &run->place, &run->stage, error));
    for (uint32_t c = 0; c < kernel->shape.column_count; c++)
        run->read[c] = run->stage.columns[c].used ? &run->stage.columns[c].to : &run->place.lists[c];
    for (uint32_t a = 0; a < run->plan->array_count; a++)
        if (kernel->array_used[a])
            RETURN_IF_ERROR(upload_array(run, a, error));
    for (uint32_t k = 0; k < kernel->shape.join_count; k++)
        RETURN_IF_ERROR(make_bitmap(run, k, error));
    RETURN_IF_ERROR(upload_tables(run, error));
    RETURN_IF_ERROR(upload_program(run, error));
    RETURN_IF_ERROR(load_index(run, error));
    return run->plan->shape == PLAN_ROWS || run->plan->index.term_count || kernel->list.in_order
               ? upload_segment_tiles(run, error)
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

enum status gpu_bind(struct device_run *run, struct error *error)
{
    RETURN_IF_ERROR(upload(run, error));
    fill_arguments(run);
    return fill_bound(run, error);
}
