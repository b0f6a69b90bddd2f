/* engine/cpu/open.c: a planned statement made ready for the CPU: buffers, programs and states of each thread, and the
 * tiles that minima and maxima rule out. Once a statement; see engine/cpu/run_internal.h. */
#include "engine/cpu/run_internal.h"

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
    RETURN_IF_ERROR(row_values_open(plan, roots, count, &worker->values, error));
    for (uint32_t c = 0; c < run->condition_count; c++)
        RETURN_IF_ERROR(row_values_open(plan, &plan->steps[run->condition_step[c]].expression, 1,
                                        &worker->conditions[c], error));
    for (uint32_t j = 0; j < plan->join_count; j++)
        if (plan->joins[j].match != EXPRESSION_NONE && !run->matched_fast[j])
            RETURN_IF_ERROR(expression_program_create(&plan->expressions, &plan->joins[j].match, 1,
                                                      &worker->matches[j], error));
    return plan->shape == PLAN_ROWS ? STATUS_OK : group_states_create(plan, &worker->states, error);
}

static enum status worker_open(const struct device_run *run, struct cpu_worker *worker, struct error *error)
{
    const struct plan *plan = run->plan;
    RETURN_IF_ERROR(buffer(sizeof *worker->list, &worker->list, error));
    for (uint32_t c = 0; c < plan->column_count; c++) {
        if (plan->columns[c].column->value_bytes == 8)
            RETURN_IF_ERROR(buffer(TILE_ROWS * sizeof(int64_t), &worker->wide[c], error));
        else
            RETURN_IF_ERROR(buffer(TILE_ROWS * sizeof(int32_t), &worker->columns[c].buffer, error));
    }
    for (uint32_t i = 0; i < run->step_count; i++) {
        const struct plan_step *step = &plan->steps[run->mask_step[i]];
        if (step->kind == STEP_RANGE) {
            worker->columns[step->column].low = step->low;
            worker->columns[step->column].high = step->high;
            worker->steps[i].column = &worker->columns[step->column];
        } else {
            worker->steps[i].column = &worker->columns[plan->joins[step->join].column];
            worker->steps[i].dimension = &worker->dimensions[step->join];
        }
    }
    return worker_programs(run, worker, error);
}

/* ---- Tiles to skip ---- */

/* Minima and maxima of the tile rule every row out. */
static bool tile_is_skipped(const struct device_run *run, uint32_t segment, uint32_t index)
{
    const struct plan *plan = run->plan;
    for (uint32_t i = 0; i < run->step_count; i++) {
        const struct plan_step *step = &plan->steps[run->mask_step[i]];
        const struct plan_join *join = step->kind == STEP_RANGE ? NULL : &plan->joins[step->join];
        const int64_t *const tile =
            plan->columns[join ? join->column : step->column].data->segments[segment].tile_min_max +
            2 * index;
        const int64_t low = join ? (int64_t)join->first : step->low,
                      high = join ? (int64_t)join->last : step->high;
        if (tile[1] < low || tile[0] > high)
            return true;
    }
    return false;
}

/* A bit a tile, found once: a run would read 16 bytes a step and tile for it. */
static enum status find_skipped(struct device_run *run, struct error *error)
{
    const struct table *fact = run->plan->fact;
    run->skipped = calloc(fact->segment_count + 1, sizeof *run->skipped);
    if (!run->skipped)
        return error_out_of_memory(error, fact->segment_count * sizeof *run->skipped, "tiles to skip");
    for (uint32_t s = 0; s < fact->segment_count; s++) {
        const uint32_t tiles = (fact->segment_rows[s] + TILE_ROWS - 1) / TILE_ROWS;
        run->skipped[s] = calloc(tiles / 64 + 1, sizeof(uint64_t));
        if (!run->skipped[s])
            return error_out_of_memory(error, tiles / 8, "tiles to skip");
        for (uint32_t tile = 0; tile < tiles; tile++)
            run->skipped[s][tile / 64] |= (uint64_t)tile_is_skipped(run, s, tile) << tile % 64;
    }
    return STATUS_OK;
}

/* ---- Open and close ---- */

static void choose_loops(struct device_run *run)
{
#if defined(__x86_64__)
    const enum isa_level level = isa_level();
    run->tile_rows = level == ISA_AVX512 ? tile_steps_rows_avx512
                     : level == ISA_AVX2 ? tile_steps_rows_avx2
                                         : tile_steps_rows_baseline;
    run->tile_values = level == ISA_AVX512 ? tile_steps_values_avx512
                       : level == ISA_AVX2 ? tile_steps_values_avx2
                                           : tile_steps_values_baseline;
#else
    run->tile_rows = tile_steps_rows_baseline;
    run->tile_values = tile_steps_values_baseline;
#endif
}

void cpu_run_close(struct device_run *run)
{
    if (!run)
        return;
    for (unsigned w = 0; run->workers && w < run->threads; w++) {
        struct cpu_worker *worker = &run->workers[w];
        for (uint32_t c = 0; c < PLAN_COLUMNS_MAX; c++) {
            free(worker->columns[c].buffer);
            free(worker->wide[c]);
        }
        for (uint32_t s = 0; s < PLAN_STEPS_MAX; s++)
            row_values_close(&worker->conditions[s]);
        for (uint32_t j = 0; j < PLAN_JOINS_MAX; j++)
            expression_program_free(worker->matches[j]);
        row_values_close(&worker->values);
        group_states_free(worker->states);
        free(worker->list);
    }
    for (uint32_t j = 0; j < PLAN_JOINS_MAX; j++)
        free(run->bitmaps[j]);
    for (uint64_t p = 0; run->found && p < run->pieces; p++)
        free(run->found[p].rows);
    for (uint32_t segment = 0; run->skipped && segment < run->plan->fact->segment_count; segment++)
        free(run->skipped[segment]);
    free(run->skipped);
    free(run->found);
    free(run->used);
    free(run->workers);
    free(run);
}

static enum status prepare(struct device_run *run, struct error *error)
{
    const struct plan *plan = run->plan;
    choose_loops(run);
    for (uint32_t s = 0; s < plan->step_count; s++)
        if (plan->steps[s].kind == STEP_CONDITION)
            run->condition_step[run->condition_count++] = s;
        else
            run->mask_step[run->step_count++] = s;
    for (uint32_t s = 0; s < plan->fact->segment_count; s++)
        run->pieces +=
            (plan->fact->segment_rows[s] + PIECE_TILES * TILE_ROWS - 1) / (PIECE_TILES * TILE_ROWS);
    for (uint32_t j = 0; j < plan->join_count; j++) {
        if (plan->joins[j].match == EXPRESSION_NONE)
            continue;
        run->matched_fast[j] = dimension_match_of(plan, j, &run->matches[j]);
        run->match_pieces[j] = (plan->joins[j].table->rows + MATCH_ROWS - 1) / MATCH_ROWS;
        RETURN_IF_ERROR(
            buffer((plan->joins[j].table->rows / 32 + 32) * sizeof(uint32_t), &run->bitmaps[j], error));
    }
    if (plan->shape == PLAN_ROWS && !(run->found = calloc(run->pieces + 1, sizeof *run->found)))
        return error_out_of_memory(error, run->pieces * sizeof *run->found, "rows");
    RETURN_IF_ERROR(find_skipped(run, error));
    run->workers = calloc(run->threads, sizeof *run->workers);
    if (!run->workers)
        return error_out_of_memory(error, run->threads * sizeof *run->workers, "workers");
    run->used = calloc(run->threads, sizeof *run->used);
    if (!run->used)
        return error_out_of_memory(error, run->threads * sizeof *run->used, "workers");
    for (unsigned w = 0; w < run->threads; w++)
        RETURN_IF_ERROR(worker_open(run, &run->workers[w], error));
    return STATUS_OK;
}

enum status cpu_run_open(struct engine *engine, struct plan *plan, bool timed, struct device_run **out,
                         struct run_timing *timing, struct error *error)
{
    struct device_run *run = calloc(1, sizeof *run);
    (void)timed; /* every run is */
    if (!run)
        return error_out_of_memory(error, sizeof *run, "a query");
    run->plan = plan;
    run->threads = engine->threads;
    timing->compile_ms = timing->load_ms = 0;
    enum status status = prepare(run, error);
    if (status == STATUS_OK)
        *out = run;
    else
        cpu_run_close(run);
    return status;
}
