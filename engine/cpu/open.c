/* open.c: prepares a planned statement for the CPU: buffers, programs, parameters and states of each thread
 * (run_internal.h). Called once for a statement. */
#include "engine/cpu/run_internal.h"
#include "storage/base/memory.h"

#include "storage/base/huge_pages.h"

#include <stdlib.h>
#include <string.h>

/* ---- A thread's part ---- */

static enum status buffer(size_t bytes, void *memory, struct error *error)
{
    void *aligned = aligned_alloc(64, (bytes + 63) / 64 * 64);
    if (!aligned)
        return error_out_of_memory(error, bytes, "a decoding buffer");
    memset(aligned, 0, (bytes + 63) / 64 * 64);
    memcpy(memory, &aligned, sizeof aligned);
    return STATUS_OK;
}

static enum status worker_programs(const struct device_run *run, struct cpu_worker *worker,
                                   struct error *error)
{
    const struct plan *plan = run->plan;
    uint32_t roots[PLAN_GROUPS_MAX + PLAN_AGGREGATES_MAX], count = 0;
    for (uint32_t g = 0; g < plan->group_count; g++)
        roots[count++] = plan->groups[g].expression;
    for (uint32_t a = 0; a < plan->aggregate_count; a++)
        if (plan->aggregates[a].argument != EXPRESSION_NONE)
            roots[count++] = plan->aggregates[a].argument;
    if (run->top.first.wanted)
        roots[count++] = run->top.first.terms[0].expression;
    RETURN_IF_ERROR(row_values_open(plan, roots, count, &worker->values, error));
    for (count = 0; count + 1 < run->top.first.term_count; count++)
        roots[count] = run->top.first.terms[count + 1].expression;
    if (count)
        RETURN_IF_ERROR(row_values_open(plan, roots, count, &worker->later_terms, error));
    for (uint32_t c = 0; c < run->condition_count; c++)
        RETURN_IF_ERROR(row_values_open(plan, &plan->steps[run->condition_step[c]].expression, 1,
                                        &worker->conditions[c], error));
    for (uint32_t j = 0; j < plan->join_count; j++)
        if (run->match_pieces[j] && !run->matched_fast[j])
            RETURN_IF_ERROR(expression_program_create(&plan->expressions, &plan->joins[j].match, 1,
                                                      &worker->matches[j], error));
    return plan->shape == PLAN_ROWS ? STATUS_OK : group_states_create(plan, &worker->states, error);
}

/* Makes the parameters of a hand-written kernel: columns, dimensions and sums, in the order of its names. */
static enum status worker_parameters(const struct device_run *run, struct cpu_worker *worker,
                                     struct error *error)
{
    const struct plan *plan = run->plan;
    const struct plan_kernel *kernel = &plan->kernel;
    const size_t columns_bytes = kernel->column_count * sizeof(struct tile_column),
                 dimensions_bytes = kernel->dimension_count * sizeof(struct tile_dimension);
    RETURN_IF_ERROR(
        buffer(columns_bytes + dimensions_bytes + sizeof(struct tile_sums), &worker->parameters, error));
    struct tile_column *const columns = (struct tile_column *)(void *)worker->parameters;
    struct tile_dimension *const dimensions =
        (struct tile_dimension *)(void *)(worker->parameters + columns_bytes);
    struct tile_sums *const sums =
        (struct tile_sums *)(void *)(worker->parameters + columns_bytes + dimensions_bytes);
    for (uint32_t place = 0; place < kernel->column_count; place++)
        if (kernel->columns[place] >= 0)
            worker->columns[kernel->columns[place]] = &columns[place];
    for (uint32_t place = 0; place < kernel->dimension_count; place++) {
        const struct plan_array *codes =
            kernel->codes[place] < 0 ? NULL : &plan->arrays[kernel->codes[place]];
        if (kernel->joins[place] >= 0)
            worker->dimensions[kernel->joins[place]] = &dimensions[place];
        dimensions[place] = (struct tile_dimension){.codes = codes ? codes->values : NULL,
                                                    .code_bytes = codes ? codes->value_bytes : 0,
                                                    .code_base = kernel->code_base[place],
                                                    .code_shift = kernel->code_shift[place],
                                                    .code_mask = kernel->code_mask[place]};
    }
    memcpy(sums->domain, kernel->domain, sizeof sums->domain);
    group_states_slots(worker->states, &sums->sums, &sums->present);
    return STATUS_OK;
}

static enum status worker_open(const struct device_run *run, struct cpu_worker *worker, struct error *error)
{
    const struct plan *plan = run->plan;
    RETURN_IF_ERROR(buffer(sizeof *worker->list, &worker->list, error));
    for (uint32_t c = 0; c < plan->column_count; c++)
        worker->columns[c] = &worker->own_columns[c];
    for (uint32_t j = 0; j < plan->join_count; j++)
        worker->dimensions[j] = &worker->own_dimensions[j];
    RETURN_IF_ERROR(worker_programs(run, worker, error));
    if (run->kernel)
        RETURN_IF_ERROR(worker_parameters(run, worker, error));
    for (uint32_t c = 0; c < plan->column_count; c++) {
        worker->columns[c]->needed = plan->columns[c].needed;
        if (plan->columns[c].column->value_bytes == 8)
            RETURN_IF_ERROR(buffer(TILE_ROWS * sizeof(int64_t), &worker->wide[c], error));
        else
            RETURN_IF_ERROR(buffer(TILE_ROWS * sizeof(int32_t), &worker->columns[c]->buffer, error));
    }
    for (uint32_t i = 0; i < run->step_count; i++) {
        const struct plan_step *step = &plan->steps[run->mask_step[i]];
        if (step->kind == STEP_RANGE) {
            worker->columns[step->column]->low = step->low;
            worker->columns[step->column]->high = step->high;
            worker->steps[i].column = worker->columns[step->column];
        } else {
            worker->steps[i].column = worker->columns[plan->joins[step->join].column];
            worker->steps[i].dimension = worker->dimensions[step->join];
        }
    }
    return run->top.first.wanted
               ? memory_take(&worker->top.ranks, run->top.first.wanted * sizeof *worker->top.ranks,
                             "the first rows of an order", error)
               : STATUS_OK;
}

/* ---- Open and close ---- */

static uint64_t pieces_of(const struct tile_skip *scan)
{
    return (scan->kept_tiles + PIECE_TILES - 1) / PIECE_TILES;
}

void cpu_run_close(struct device_run *run)
{
    if (!run)
        return;
    for (unsigned w = 0; run->workers && w < run->threads; w++) {
        struct cpu_worker *worker = &run->workers[w];
        for (uint32_t c = 0; c < run->plan->column_count; c++) {
            if (worker->columns[c])
                free(worker->columns[c]->buffer);
            free(worker->wide[c]);
        }
        free(worker->parameters);
        for (uint32_t s = 0; s < PLAN_STEPS_MAX; s++)
            row_values_close(&worker->conditions[s]);
        for (uint32_t j = 0; j < PLAN_JOINS_MAX; j++)
            expression_program_free(worker->matches[j]);
        row_values_close(&worker->values);
        row_values_close(&worker->later_terms);
        group_states_free(worker->states);
        free(worker->list);
        free(worker->top.ranks);
    }
    for (uint32_t j = 0; j < PLAN_JOINS_MAX; j++)
        free(run->bitmaps[j]);
    for (uint32_t c = 0; c < PLAN_COLUMNS_MAX; c++) {
        free(run->staged[c]);
        free(run->scratch[c]);
    }
    for (uint64_t p = 0; run->found && p < pieces_of(run->share); p++)
        free(run->found[p].rows);
    tile_skip_free(&run->own);
    index_mask_free(run->index);
    free(run->segment_first);
    free(run->found);
    free(run->used);
    free(run->workers);
    free(run);
}

static enum status prepare(struct device_run *run, struct error *error)
{
    const struct plan *plan = run->plan;
    run->tile_rows = ISA_CHOICE(tile_steps_rows);
    run->tile_values = ISA_CHOICE(tile_steps_values);
    run->kernel = plan->kernel.kernel ? plan->kernel.kernel->kernel[isa_level()] : NULL;
    for (uint32_t s = 0; s < plan->step_count; s++)
        if (plan->steps[s].kind == STEP_CONDITION)
            run->condition_step[run->condition_count++] = s;
        else if (plan->steps[s].kind != STEP_INDEX)
            run->mask_step[run->step_count++] = s;
    for (uint32_t j = 0; j < plan->join_count; j++) {
        if (!plan_join_is_probed(plan, j) || cpu_join_is_tested(&plan->joins[j]))
            continue;
        run->matched_fast[j] = dimension_match_of(plan, j, &run->matches[j]);
        const uint64_t positions = table_positions(plan->joins[j].table);
        run->match_pieces[j] = (positions + MATCH_ROWS - 1) / MATCH_ROWS;
        RETURN_IF_ERROR(buffer((positions / 32 + 32) * sizeof(uint32_t), &run->bitmaps[j], error));
    }
    if (plan->index.term_count)
        RETURN_IF_ERROR(index_mask_create(plan, &run->index, error));
    run->top.first = plan->first;
    const uint64_t pieces = pieces_of(run->share);
    if (plan->shape == PLAN_ROWS && !(run->found = calloc(pieces + 1, sizeof *run->found)))
        return error_out_of_memory(error, pieces * sizeof *run->found, "rows");
    RETURN_IF_ERROR(memory_zeros(&run->segment_first,
                                 (plan->fact->segment_count + 1) * sizeof *run->segment_first, "segments",
                                 error));
    for (uint32_t s = 0; s < plan->fact->segment_count; s++)
        run->segment_first[s + 1] = run->segment_first[s] + plan->fact->segment_rows[s];
    RETURN_IF_ERROR(memory_zeros(&run->workers, run->threads * sizeof *run->workers, "workers", error));
    RETURN_IF_ERROR(memory_zeros(&run->used, run->threads * sizeof *run->used, "workers", error));
    for (unsigned w = 0; w < run->threads; w++)
        RETURN_IF_ERROR(worker_open(run, &run->workers[w], error));
    return STATUS_OK;
}

/* A chunk of plain values in scratch memory, which the scan reads in place. */
static struct chunk_view staged_view(const struct chunk_view *chunk, uint8_t *values)
{
    struct chunk_view view = *chunk;
    view.codec = codec_baseline();
    view.width_low = view.width_high = chunk->value_bytes * 8;
    view.bytes = view.directory = view.data = view.auxiliary = values;
    return view;
}

/* Allocates the scratch memory of a column. Pages whose tiles are not decoded are never touched. */
static enum status stage_column(struct device_run *run, uint32_t c, struct error *error)
{
    const struct column_data *data = run->plan->columns[c].data;
    uint64_t bytes = 0;
    for (uint32_t s = 0; s < data->segment_count; s++)
        bytes += plan_staged_bytes(run->plan, c, s);
    run->staged[c] = calloc(data->segment_count + 1, sizeof *run->staged[c]);
    run->scratch[c] = aligned_alloc(CHUNK_ALIGNMENT, bytes + CHUNK_ALIGNMENT);
    if (!run->staged[c] || !run->scratch[c])
        return error_out_of_memory(error, bytes, "a column's decoded values (--staged)");
    huge_pages_prefer(run->scratch[c], bytes);
    uint8_t *values = run->scratch[c];
    for (uint32_t s = 0; s < data->segment_count; s++) {
        run->staged[c][s] = data->segments[s];
        run->staged[c][s].chunk = staged_view(&data->segments[s].chunk, values);
        values += plan_staged_bytes(run->plan, c, s);
    }
    return STATUS_OK;
}

enum status cpu_run_load(struct device_run *run, struct error *error)
{
    for (uint32_t c = 0; c < run->plan->column_count; c++)
        if (plan_stages(run->plan, c, false) && !run->plan->columns[c].decided) {
            run->stages = true;
            RETURN_IF_ERROR(stage_column(run, c, error));
        }
    return STATUS_OK;
}

enum status cpu_run_open(unsigned threads, const struct plan *plan, const struct device_share *share,
                         struct device_run **out, struct error *error)
{
    struct device_run *run;
    RETURN_IF_ERROR(memory_zeros(&run, sizeof *run, "a query", error));
    run->plan = plan;
    run->threads = threads;
    run->share = share ? &run->own : &plan->scan;
    enum status status =
        share ? tile_skip_select(&plan->scan, share->segments, share->count, &run->own, error) : STATUS_OK;
    status = AND_THEN(status, prepare(run, error));
    if (status == STATUS_OK)
        *out = run;
    else
        cpu_run_close(run);
    return status;
}
