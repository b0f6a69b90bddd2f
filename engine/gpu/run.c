/*
 * engine/gpu/run.c: a planned statement on one GPU (engine/plan/plan.h, engine/library/statement.h): its kernels compiled or taken from the cache, its
 * columns uploaded once and kept with the engine, a graph of two kernels a run. What a condition on a dimension looks
 * at, and arrays of dimensions of dimensions, belong to the statement.
 */
#include "engine/gpu/sectors.h"
#include "engine/cuda/kernel_cache.h"
#include "engine/gpu/run_internal.h"
#include "storage/base/clock.h"

#include <stdlib.h>
#include <string.h>

/* ---- Open ---- */

/* Tiles that minima and maxima do not rule out, as engine/cpu/open.c finds them. */
static enum status find_tiles(struct device_run *run, struct error *error)
{
    const struct plan *plan = run->plan;
    struct tile_test tests[PLAN_STEPS_MAX];
    uint32_t count = 0;
    for (uint32_t s = 0; s < plan->step_count; s++) {
        const struct plan_step *step = &plan->steps[s];
        const struct plan_join *join = step->kind == STEP_SEMI_JOIN ? &plan->joins[step->join] : NULL;
        if (step->kind != STEP_CONDITION)
            tests[count++] =
                (struct tile_test){.data = plan->columns[join ? join->column : step->column].data,
                                   .low = join ? (int64_t)join->first : step->low,
                                   .high = join ? (int64_t)join->last : step->high};
    }
    return tile_skip_find(plan->fact, tests, count, &run->skip, error);
}

/* Memory of the statement's own, with a copy of what is there. */
static enum status own(struct device_run *run, const void *from, uint64_t bytes, const char *what,
                       cuda_address *address, struct error *error)
{
    struct cuda *cuda = run->engine->cuda;
    RETURN_IF_ERROR(cuda_allocate(cuda, bytes, what, address, error));
    run->owned[run->owned_count++] = *address;
    return from && bytes ? cuda_upload(cuda, *address, from, bytes, error) : STATUS_OK;
}

static enum status upload_array(struct device_run *run, uint32_t a, struct error *error)
{
    const struct plan_array *array = &run->plan->arrays[a];
    struct array_argument *to = &run->arguments.arrays[a];
    if (array->composed) {
        RETURN_IF_ERROR(own(run, array->values, array->rows * array->value_bytes, array->column->schema.name,
                            &to->values, error));
    } else {
        const struct attribute attribute = {.column = array->column,
                                            .values = array->values,
                                            .value_bytes = array->value_bytes,
                                            .rows = array->rows};
        RETURN_IF_ERROR(cuda_columns_array(run->engine->columns, &attribute, &run->arrays[a], error));
        to->values = run->arrays[a]->address;
    }
    return array->valid ? own(run, array->valid, (array->rows + 31) / 32 * sizeof(uint32_t),
                              array->column->schema.name, &to->valid, error)
                        : STATUS_OK;
}

/* Bit maps begin as zeros: the conditions write words that have rows, and a warp that looks for a range of rows reads
 * all. */
static enum status make_bitmap(struct device_run *run, uint32_t k, struct error *error)
{
    const uint32_t words = run->kernel.plan.bitmap_words[k];
    const struct plan_join *join = &run->plan->joins[run->kernel.joins[k]];
    struct match_argument *match = &run->arguments.matches[run->kernel.joins[k]];
    if (!words)
        return STATUS_OK;
    match->rows = join->table->rows;
    RETURN_IF_ERROR(own(run, NULL, words * sizeof(uint32_t), "a dimension's bitmap", &match->bitmap, error));
    return cuda_set_words(run->engine->cuda, match->bitmap, 0, words, error);
}

/* All values that expressions look up in one piece, and where each table is in it. */
static enum status upload_tables(struct device_run *run, struct error *error)
{
    const struct expression_list *list = &run->plan->expressions;
    uint64_t count = 0;
    for (uint32_t t = 0; t < list->table_count; t++)
        count += list->tables[t].count;
    int64_t *values = malloc((count + 1) * sizeof *values);
    struct lookup_argument *tables = malloc((list->table_count + 1) * sizeof *tables);
    cuda_address address = 0;
    enum status status = values && tables ? STATUS_OK : error_out_of_memory(error, count * 8, "values");
    count = 0;
    for (uint32_t t = 0; status == STATUS_OK && t < list->table_count; t++) {
        memcpy(values + count, list->tables[t].values, list->tables[t].count * sizeof *values);
        count += list->tables[t].count;
    }
    if (status == STATUS_OK)
        status = own(run, values, count * sizeof *values, "values that are looked up", &address, error);
    for (uint32_t t = 0; status == STATUS_OK && t < list->table_count; t++) {
        tables[t] = (struct lookup_argument){.values = address, .count = list->tables[t].count};
        address += list->tables[t].count * sizeof *values;
    }
    if (status == STATUS_OK)
        status = own(run, tables, list->table_count * sizeof *tables, "values that are looked up",
                     &run->arguments.tables, error);
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

static enum status upload(struct device_run *run, struct error *error)
{
    const struct query_kernel *kernel = &run->kernel;
    for (uint32_t c = 0; c < kernel->shape.column_count; c++)
        RETURN_IF_ERROR(cuda_columns_chunks(run->engine->columns, run->plan->columns[kernel->columns[c]].data,
                                            &run->columns[c], error));
    for (uint32_t a = 0; a < run->plan->array_count; a++)
        if (kernel->array_used[a])
            RETURN_IF_ERROR(upload_array(run, a, error));
    for (uint32_t k = 0; k < kernel->shape.join_count; k++)
        RETURN_IF_ERROR(make_bitmap(run, k, error));
    RETURN_IF_ERROR(upload_tables(run, error));
    return run->plan->shape == PLAN_ROWS ? upload_segment_tiles(run, error) : STATUS_OK;
}

static void fill_arguments(struct device_run *run)
{
    const struct plan *plan = run->plan;
    memcpy(run->arguments.constants, run->kernel.constants, sizeof run->kernel.constants);
    for (uint32_t g = 0; g < plan->group_count; g++)
        run->arguments.groups[g] =
            (struct group_argument){.base = (uint64_t)plan->groups[g].low - plan->groups[g].nullable,
                                    .last = plan->groups[g].domain - 1,
                                    .stride = plan->groups[g].stride};
}

/* The arguments of `scan`: columns and joins in the kernel's order (TILE_PARAMETER_LIST). */
static enum status fill_bound(struct device_run *run, struct error *error)
{
    const struct query_kernel *kernel = &run->kernel;
    const struct plan *plan = run->plan;
    const size_t columns_bytes = kernel->shape.column_count * sizeof(struct bound_column),
                 bytes = columns_bytes + kernel->shape.join_count * sizeof(struct bound_dimension) +
                         sizeof(struct bound_sums);
    run->bound = calloc(1, bytes);
    if (!run->bound)
        return error_out_of_memory(error, bytes, "a kernel's arguments");
    struct bound_column *columns = (struct bound_column *)(void *)run->bound;
    struct bound_dimension *dimensions = (struct bound_dimension *)(void *)(run->bound + columns_bytes);
    for (uint32_t c = 0; c < kernel->shape.column_count; c++)
        columns[c] =
            (struct bound_column){.chunks = run->columns[c]->address, .staging = kernel->plan.staging[c]};
    for (uint32_t s = 0; s < plan->step_count; s++)
        for (uint32_t c = 0; plan->steps[s].kind == STEP_RANGE && c < kernel->shape.column_count; c++)
            if (kernel->columns[c] == plan->steps[s].column) {
                columns[c].low = plan->steps[s].low;
                columns[c].high = plan->steps[s].high;
            }
    for (uint32_t k = 0; k < kernel->shape.join_count; k++)
        dimensions[k] = (struct bound_dimension){.bitmap = run->arguments.matches[kernel->joins[k]].bitmap,
                                                 .bitmap_words = kernel->plan.bitmap_words[k]};
    run->scan_work = (struct bound_scan){.work = run->scan.work,
                                         .items = run->scan.items,
                                         .staging_offset = kernel->plan.staging_offset,
                                         .staging_bytes = kernel->plan.staging_bytes};
    run->scan.scan_arguments[0] = run->bound;
    run->scan.scan_arguments[1] = &run->scan_work;
    return STATUS_OK;
}

static enum status load(struct device_run *run, const void *cubin, struct error *error)
{
    struct cuda *cuda = run->engine->cuda;
    RETURN_IF_ERROR(cuda_scan_open(cuda, run->kernel.shape.name, cubin, &run->kernel.plan, run->plan->fact,
                                   &run->skip, &run->scan, error));
    if (run->plan->shape == PLAN_HASH)
        RETURN_IF_ERROR(cuda_module_function(cuda, run->scan.module, "collect", &run->collect, error));
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
    RETURN_IF_ERROR(cuda_states_make(run, error));
    return cuda_scan_record(cuda, &run->scan, error);
}

static enum status compile_and_load(struct device_run *run, struct run_timing *timing, struct error *error)
{
    struct cuda *cuda = run->engine->cuda;
    const struct kernel_target target = cuda_kernel_target(cuda);
    struct kernel_binary binary = {0};
    const double begin = clock_ms();
    RETURN_IF_ERROR(query_kernel_make(run->plan, run->purpose == RUN_COUNTING, &target, &run->kernel, error));
    const struct nvrtc_request request = {
        .name = "statement.cu", .source = run->kernel.plan.source, .arch = cuda_properties(cuda)->arch};
    RETURN_IF_ERROR(kernel_cache_get(&request, &binary, NULL, error));
    timing->compile_ms = binary.compile_ms;
    enum status status = load(run, binary.cubin, error);
    kernel_binary_free(&binary);
    timing->load_ms = clock_ms() - begin - timing->compile_ms;
    return status;
}

static void cuda_close_run(struct device_run *run)
{
    if (!run)
        return;
    struct cuda *cuda = run->engine->cuda;
    cuda_scan_close(cuda, &run->scan);
    cuda_states_free(run);
    for (uint32_t i = 0; i < run->owned_count; i++)
        cuda_free(cuda, run->owned[i]);
    for (uint32_t c = 0; c < KERNEL_COLUMNS_MAX; c++)
        cuda_columns_release(run->columns[c]);
    for (uint32_t a = 0; a < PLAN_SOURCES_MAX; a++)
        cuda_columns_release(run->arrays[a]);
    query_kernel_free(&run->kernel);
    tile_skip_free(&run->skip);
    free(run->bound);
    free(run);
}

static enum status open_run(struct engine *engine, const struct plan *plan, enum run_purpose purpose,
                            struct device_run **out, struct run_timing *timing, struct error *error)
{
    struct device_run *run = calloc(1, sizeof *run);
    if (!run)
        return error_out_of_memory(error, sizeof *run, "a query");
    run->engine = engine;
    run->plan = plan;
    run->purpose = purpose;
    timing->compile_ms = timing->load_ms = 0;
    enum status status = find_tiles(run, error);
    run->nothing = plan->nothing || run->skip.kept_tiles == 0;
    if (status == STATUS_OK && !run->nothing)
        status = compile_and_load(run, timing, error);
    if (status == STATUS_OK)
        *out = run;
    else
        cuda_close_run(run);
    return status;
}

static enum status cuda_open_run(struct engine *engine, struct plan *plan, bool timed,
                                 struct device_run **out, struct run_timing *timing, struct error *error)
{
    return open_run(engine, plan, timed ? RUN_TIMED : RUN_ANSWER, out, timing, error);
}

/* ---- Run ---- */

static enum status scan(struct device_run *run, struct run_timing *timing, struct error *error)
{
    struct cuda *cuda = run->engine->cuda;
    do {
        RETURN_IF_ERROR(cancel_check(error));
        if (cuda_states_full(run))
            RETURN_IF_ERROR(cuda_states_grow(run, error));
        if (run->purpose == RUN_TIMED)
            RETURN_IF_ERROR(
                cuda_scan_run_apart(cuda, &run->scan, &timing->filter_ms, &timing->scan_ms, error));
        RETURN_IF_ERROR(cuda_scan_run(cuda, &run->scan, error));
        RETURN_IF_ERROR(cuda_states_fetch(run, error));
        RETURN_IF_ERROR(cuda_synchronize(cuda, error));
    } while (cuda_states_full(run));
    return cuda_scan_elapsed(cuda, &run->scan, &timing->total_ms, error);
}

static enum status cuda_run_plan(struct device_run *run, struct partial *groups, struct run_timing *timing,
                                 struct error *error)
{
    *groups = (struct partial){0};
    timing->filter_ms = timing->scan_ms = timing->total_ms = 0;
    if (!run->nothing)
        RETURN_IF_ERROR(scan(run, timing, error));
    enum status status = cuda_states_groups(run, groups, error);
    if (status != STATUS_OK)
        partial_free(groups);
    return status;
}

/* ---- Count ---- */

static enum status count_points(const struct device_run *run, struct scan_counts *counts, struct error *error)
{
    struct device_run *counting = NULL;
    struct run_timing timing;
    struct scan_point points[SCAN_POINTS_MAX];
    RETURN_IF_ERROR(open_run(run->engine, run->plan, RUN_COUNTING, &counting, &timing, error));
    const enum status status = scan(counting, &timing, error);
    if (status == STATUS_OK) {
        cuda_states_points(counting, points);
        scan_counts_fill(run->plan, points, counts);
    }
    cuda_close_run(counting);
    return status;
}

static enum status count_sectors(struct device_run *run, struct scan_counts *counts, struct error *error)
{
    struct cuda *cuda = run->engine->cuda;
    const struct query_kernel *kernel = &run->kernel;
    const struct nvrtc_request request = {.name = "statement.cu",
                                          .source = kernel->plan.source,
                                          .arch = cuda_properties(cuda)->arch,
                                          .options = cuda_sectors_options};
    struct kernel_binary binary = {0};
    uint64_t bytes[KERNEL_COLUMNS_MAX];
    RETURN_IF_ERROR(kernel_cache_get(&request, &binary, NULL, error));
    const struct sector_count count = {.name = kernel->shape.name,
                                       .cubin = binary.cubin,
                                       .columns = run->columns,
                                       .column_count = kernel->shape.column_count,
                                       .blocks = run->scan.scan_blocks,
                                       .threads = kernel->plan.threads,
                                       .shared_bytes = kernel->plan.shared_bytes,
                                       .arguments = run->scan.scan_arguments,
                                       .constant_name = "arguments",
                                       .constant = &run->arguments};
    enum status status = cuda_scan_prepare(cuda, &run->scan, error);
    if (status == STATUS_OK)
        status = cuda_sectors_count(cuda, &count, bytes, error);
    kernel_binary_free(&binary);
    for (uint32_t c = 0; status == STATUS_OK && c < kernel->shape.column_count; c++)
        counts->bytes[kernel->columns[c]] = bytes[c];
    return status;
}

static enum status count_run(struct device_run *run, struct scan_counts *counts, struct error *error)
{
    *counts = (struct scan_counts){.tiles = run->skip.tiles,
                                   .tiles_skipped = run->skip.tiles - run->skip.kept_tiles};
    if (run->nothing)
        return STATUS_OK;
    RETURN_IF_ERROR(count_points(run, counts, error));
    return count_sectors(run, counts, error);
}

const struct plan_device cuda_device = {
    .open = cuda_open_run, .run = cuda_run_plan, .count = count_run, .close = cuda_close_run};
