/* open.c: prepares a planned statement for the CPU: buffers, programs, parameters and states of each thread
 * (run_internal.h). Called once for a statement. */
#include "engine/cpu/run_internal.h"
#include "storage/base/memory.h"

#include "storage/base/huge_pages.h"

#include <stdlib.h>
#include <string.h>

/* ---- A thread's part ---- */

/* Memory of zeros for vector instructions. */
static enum status buffer(size_t bytes, void *memory, struct error *error)
{
    void *aligned = aligned_alloc(64, (bytes + 63) / 64 * 64);
    if (!aligned)
        return error_out_of_memory(error, bytes, "a decoding buffer");
    memset(aligned, 0, (bytes + 63) / 64 * 64);
    memcpy(memory, &aligned, sizeof aligned);
    return STATUS_OK;
}

/* The expression of plan->groups and then of plan->aggregates; EXPRESSION_NONE: there is none. */
static uint32_t term_node(const struct plan *plan, uint32_t term)
{
    return term < plan->group_count ? plan->groups[term].expression
                                    : plan->aggregates[term - plan->group_count].argument;
}

/* True if the expression is a term that a tile has: an int32 column of the fact table, or bits of a position that every
 * row has. */
static bool tile_term_of(const struct plan *plan, const struct cpu_worker *worker, uint32_t node,
                         struct tile_term *term)
{
    const struct expression *const expression = &plan->expressions.nodes[node];
    if (expression->operation != EXPRESSION_COLUMN)
        return false;
    const struct plan_source *const source = &plan->sources[expression->index];
    const struct plan_join *const join = source->join < 0 ? NULL : &plan->joins[source->join];
    const uint32_t column = join ? join->column : source->column;
    if (!plan->columns[column].narrow ||
        (join && (!source->bits || !join->inner || plan->columns[column].nullable)))
        return false;
    term->column = worker->columns[column].tile;
    term->shift = join ? source->shift : 0;
    term->mask = join ? (1u << source->bits) - 1 : UINT32_MAX;
    return true;
}

/* The terms of a tile, and the program of those that are not, and of the first term of ORDER BY. */
static enum status worker_terms(const struct device_run *run, struct cpu_worker *worker, struct error *error)
{
    const struct plan *plan = run->plan;
    const uint32_t terms = plan->group_count + plan->aggregate_count;
    uint32_t *roots, count = 0;
    RETURN_IF_ERROR(memory_zeros(&worker->terms, terms * sizeof *worker->terms, "a query", error));
    RETURN_IF_ERROR(memory_zeros(&worker->arguments, plan->aggregate_count * sizeof *worker->arguments,
                                 "a query", error));
    for (uint32_t i = 0; i < terms; i++) {
        struct tile_term *const term = &worker->terms[i].tile;
        if (term_node(plan, i) != EXPRESSION_NONE && tile_term_of(plan, worker, term_node(plan, i), term))
            RETURN_IF_ERROR(buffer(TILE_ROWS * (sizeof(int32_t) + 1), &term->buffer, error));
    }
    if (plan->in_order) {
        worker->order =
            (struct tile_term){.column = worker->columns[plan->order_column].tile, .mask = UINT32_MAX};
        RETURN_IF_ERROR(buffer(TILE_ROWS * (sizeof(int32_t) + 1), &worker->order.buffer, error));
    }
    RETURN_IF_ERROR(memory_take(&roots, (terms + 1) * sizeof *roots, "a query", error));
    for (uint32_t i = 0; i < terms; i++)
        if (term_node(plan, i) != EXPRESSION_NONE && !worker->terms[i].tile.column)
            roots[count++] = term_node(plan, i);
    if (run->top.first.wanted)
        roots[count++] = run->top.first.terms[0].expression;
    const enum status status = row_values_open(plan, roots, count, &worker->values, error);
    free(roots);
    RETURN_IF_ERROR(status);
    for (uint32_t i = 0; i < terms; i++)
        if (term_node(plan, i) != EXPRESSION_NONE && !worker->terms[i].tile.column) {
            const struct vector vector =
                expression_program_vector(worker->values.program, term_node(plan, i));
            worker->terms[i].rows = (struct row_vector){.values = vector.values, .nulls = vector.nulls};
        }
    return STATUS_OK;
}

static enum status worker_programs(const struct device_run *run, struct cpu_worker *worker,
                                   struct error *error)
{
    const struct plan *plan = run->plan;
    uint32_t roots[FIRST_TERMS_MAX], count;
    for (count = 0; count + 1 < run->top.first.term_count; count++)
        roots[count] = run->top.first.terms[count + 1].expression;
    if (count)
        RETURN_IF_ERROR(row_values_open(plan, roots, count, &worker->later_terms, error));
    for (uint32_t c = 0; c < run->condition_count; c++)
        RETURN_IF_ERROR(row_values_open(plan, &plan->steps[run->condition_step[c]].expression, 1,
                                        &worker->conditions[c], error));
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
            worker->columns[kernel->columns[place]].tile = &columns[place];
    for (uint32_t place = 0; place < kernel->dimension_count; place++) {
        const struct plan_array *codes =
            kernel->codes[place] < 0 ? NULL : &plan->arrays[kernel->codes[place]];
        if (kernel->joins[place] >= 0)
            worker->joins[kernel->joins[place]].tile = &dimensions[place];
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

/* The lists, as long as those of the plan. */
static enum status worker_lists(const struct device_run *run, struct cpu_worker *worker, struct error *error)
{
    const struct plan *plan = run->plan;
    const uint32_t words = plan->key_words ? plan->key_words : 1;
    RETURN_IF_ERROR(buffer(sizeof *worker->list, &worker->list, error));
    RETURN_IF_ERROR(buffer(words * sizeof *worker->numbers, &worker->numbers, error));
    RETURN_IF_ERROR(
        memory_zeros(&worker->columns, plan->column_count * sizeof *worker->columns, "a query", error));
    for (uint32_t c = 0; c < plan->column_count; c++)
        worker->columns[c].tile = &worker->columns[c].own;
    RETURN_IF_ERROR(memory_zeros(&worker->joins, plan->join_count * sizeof *worker->joins, "a query", error));
    for (uint32_t j = 0; j < plan->join_count; j++)
        worker->joins[j].tile = &worker->joins[j].own;
    RETURN_IF_ERROR(
        memory_zeros(&worker->steps, (run->step_count + 1) * sizeof *worker->steps, "a query", error));
    RETURN_IF_ERROR(memory_zeros(&worker->conditions, run->condition_count * sizeof *worker->conditions,
                                 "a query", error));
    return memory_zeros(&worker->points, plan_points(plan) * sizeof *worker->points, "a query", error);
}

static struct tile_probe probe_of(const struct plan *plan, const struct plan_step *step)
{
    const struct plan_probe probe = plan_probe_of(plan, step);
    const int64_t low = probe.set->values[0], high = probe.set->values[probe.set->count - 1];
    return (struct tile_probe){.members = probe.set->members,
                               .low = (int32_t)low,
                               .span = (uint32_t)(high - low),
                               .negated = probe.negated};
}

static enum status worker_open(const struct device_run *run, struct cpu_worker *worker, struct error *error)
{
    const struct plan *plan = run->plan;
    RETURN_IF_ERROR(worker_lists(run, worker, error));
    RETURN_IF_ERROR(worker_programs(run, worker, error));
    if (run->kernel)
        RETURN_IF_ERROR(worker_parameters(run, worker, error));
    RETURN_IF_ERROR(worker_terms(run, worker, error));
    for (uint32_t c = 0; c < plan->column_count; c++) {
        struct worker_column *const column = &worker->columns[c];
        column->tile->needed = plan->columns[c].needed;
        if (plan->columns[c].column->value_bytes == 8)
            RETURN_IF_ERROR(buffer(TILE_ROWS * sizeof(int64_t), &column->wide, error));
        if (plan->columns[c].narrow) {
            RETURN_IF_ERROR(buffer(TILE_ROWS * sizeof(int32_t), &column->tile->buffer, error));
            column->tile->wide = column->wide;
        }
    }
    if (run->top_column >= 0)
        worker->steps[0].column = worker->columns[run->top_column].tile;
    for (uint32_t i = 0; i < run->step_count; i++) {
        const struct plan_step *step = &plan->steps[run->mask_step[i]];
        struct tile_step *const own = &worker->steps[i + 1];
        if (step->kind == STEP_RANGE) {
            own->column = worker->columns[step->column].tile;
            own->column->low = step->low;
            own->column->high = step->high;
        } else if (step->kind == STEP_PROBE) {
            own->column = worker->columns[step->column].tile;
            own->probe = probe_of(plan, step);
        } else {
            own->column = worker->columns[plan->joins[step->join].column].tile;
            own->dimension = worker->joins[step->join].tile;
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

static void worker_close(const struct device_run *run, struct cpu_worker *worker)
{
    for (uint32_t c = 0; worker->columns && c < run->plan->column_count; c++) {
        free(worker->columns[c].tile->buffer);
        free(worker->columns[c].wide);
    }
    for (uint32_t c = 0; worker->conditions && c < run->condition_count; c++)
        row_values_close(&worker->conditions[c]);
    for (uint32_t i = 0; worker->terms && i < run->plan->group_count + run->plan->aggregate_count; i++)
        free(worker->terms[i].tile.buffer);
    free(worker->order.buffer);
    row_values_close(&worker->values);
    row_values_close(&worker->later_terms);
    group_states_free(worker->states);
    free(worker->terms);
    free(worker->arguments);
    free(worker->columns);
    free(worker->joins);
    free(worker->parameters);
    free(worker->steps);
    free(worker->conditions);
    free(worker->points);
    free(worker->numbers);
    free(worker->list);
    free(worker->top.ranks);
}

void cpu_run_close(struct device_run *run)
{
    if (!run)
        return;
    key_bits_free(&run->keys);
    for (unsigned w = 0; run->workers && w < run->threads; w++)
        worker_close(run, &run->workers[w]);
    for (uint32_t j = 0; run->bitmaps && j < run->plan->join_count; j++)
        free(run->bitmaps[j]);
    for (uint32_t c = 0; run->columns && c < run->plan->column_count; c++) {
        free(run->columns[c].staged);
        free(run->columns[c].scratch);
    }
    for (uint64_t p = 0; run->found && p < pieces_of(run->share); p++)
        free(run->found[p].rows);
    for (unsigned w = 0; run->deliveries && w < run->threads; w++)
        group_delivery_free(&run->deliveries[w]);
    free(run->deliveries);
    tile_skip_free(&run->own);
    index_mask_free(run->index);
    free(run->condition_step);
    free(run->mask_step);
    free(run->bitmaps);
    free(run->columns);
    free(run->segment_first);
    free(run->found);
    free(run->used);
    free(run->workers);
    free(run);
}

static uint32_t has_prefix(const struct position_set *passing, uint64_t position)
{
    const uint64_t prefix = position >> passing->shift;
    return passing->bits[prefix / 64] >> prefix % 64 & 1;
}

/* Bits 32 * word .. 32 * word + 31 of the positions whose prefixes pass. */
static uint32_t word_of(const struct position_set *passing, uint64_t word)
{
    uint32_t bits = 0;
    if (passing->shift == 0)
        return (uint32_t)(passing->bits[word / 2] >> word % 2 * 32);
    if (passing->shift >= 5)
        return has_prefix(passing, word * 32) ? UINT32_MAX : 0;
    for (uint32_t bit = 0; bit < 32; bit++)
        bits |= has_prefix(passing, word * 32 + bit) << bit;
    return bits;
}

/* Room for whole vectors after the last word. */
#define BITMAP_SLACK 32u

static enum status make_bitmap(const struct plan_join *join, uint32_t **bitmap, struct error *error)
{
    const uint64_t words = table_positions(join->table) / 32;
    RETURN_IF_ERROR(buffer((words + BITMAP_SLACK) * sizeof **bitmap, bitmap, error));
    for (uint64_t word = 0; word <= words; word++)
        (*bitmap)[word] = word_of(&join->passing_rows, word);
    return STATUS_OK;
}

/* Tells the kinds of steps apart, and makes the bitmap of each join's predicate. */
static enum status prepare_steps(struct device_run *run, struct error *error)
{
    const struct plan *plan = run->plan;
    const uint64_t bytes = plan->step_count * sizeof(uint32_t);
    RETURN_IF_ERROR(memory_take(&run->condition_step, bytes, "a query", error));
    RETURN_IF_ERROR(memory_take(&run->mask_step, bytes, "a query", error));
    RETURN_IF_ERROR(memory_zeros(&run->bitmaps, plan->join_count * sizeof *run->bitmaps, "a query", error));
    for (uint32_t s = 0; s < plan->step_count; s++)
        if (plan->steps[s].kind == STEP_CONDITION)
            run->condition_step[run->condition_count++] = s;
        else if (plan->steps[s].kind != STEP_INDEX)
            run->mask_step[run->step_count++] = s;
    for (uint32_t j = 0; j < plan->join_count; j++)
        if (plan_join_is_probed(plan, j) && !cpu_join_is_tested(&plan->joins[j]))
            RETURN_IF_ERROR(make_bitmap(&plan->joins[j], &run->bitmaps[j], error));
    return STATUS_OK;
}

/* Finds the column that tells of ranks. Only its values of 32 bits are tested as they are stored. */
static void prepare_top(struct device_run *run)
{
    const struct plan *plan = run->plan;
    const int32_t column = first_rows_know_tiles(&plan->first) ? plan->first.terms[0].column : -1;
    run->top.first = plan->first;
    run->top_column = column >= 0 && plan->columns[column].column->value_bytes == 4 ? column : -1;
    run->top_low = INT32_MIN;
    run->top_high = INT32_MAX;
    for (uint32_t s = 0; s < plan->step_count; s++)
        if (plan->steps[s].kind == STEP_RANGE && (int32_t)plan->steps[s].column == run->top_column) {
            run->top_low = plan->steps[s].low;
            run->top_high = plan->steps[s].high;
        }
}

/* Values of 64 bits and NULLs are taken by lists, and so are rows of an answer. Where a condition is computed of dropped rows,
 * too, it must not fail. */
static void prepare_dense(struct device_run *run)
{
    const struct plan *plan = run->plan;
    run->may_be_dense =
        plan->shape != PLAN_ROWS && isa_level() != ISA_BASELINE; /* which has no such instructions */
    for (uint32_t c = 0; c < plan->column_count; c++)
        run->may_be_dense &= !plan->columns[c].fetched ||
                             (plan->columns[c].column->value_bytes == 4 && !plan->columns[c].nullable);
    run->dense_conditions = !plan->expressions.left && plan->expressions.text_count == 0;
    for (uint32_t row = 0; row < TILE_ROWS; row++)
        run->all_rows[row] = (uint16_t)row;
}

static enum status prepare(struct device_run *run, struct error *error)
{
    const struct plan *plan = run->plan;
    RETURN_IF_ERROR(prepare_steps(run, error));
    RETURN_IF_ERROR(memory_zeros(&run->columns, plan->column_count * sizeof *run->columns, "a query", error));
    run->tile_rows = ISA_CHOICE(tile_steps_rows);
    run->tile_keep = ISA_CHOICE(tile_steps_keep);
    run->tile_values = ISA_CHOICE(tile_steps_values);
    run->tile_term = ISA_CHOICE(tile_steps_term);
    run->tile_number = ISA_CHOICE(tile_steps_number);
    run->tile_rank = ISA_CHOICE(tile_steps_rank);
    run->kernel = plan->kernel.kernel ? plan->kernel.kernel->kernel[isa_level()] : NULL;
    if (plan->index.term_count)
        RETURN_IF_ERROR(index_mask_create(plan, &run->index, error));
    prepare_top(run);
    prepare_dense(run);
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
    RETURN_IF_ERROR(memory_zeros(&run->deliveries, run->threads * sizeof *run->deliveries, "workers", error));
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
    struct run_column *const column = &run->columns[c];
    uint64_t bytes = 0;
    for (uint32_t s = 0; s < data->segment_count; s++)
        bytes += plan_staged_bytes(run->plan, c, s);
    column->staged = calloc(data->segment_count + 1, sizeof *column->staged);
    column->scratch = aligned_alloc(CHUNK_ALIGNMENT, bytes + CHUNK_ALIGNMENT);
    if (!column->staged || !column->scratch)
        return error_out_of_memory(error, bytes, "a column's decoded values (--staged)");
    huge_pages_prefer(column->scratch, bytes);
    uint8_t *values = column->scratch;
    for (uint32_t s = 0; s < data->segment_count; s++) {
        column->staged[s] = data->segments[s];
        column->staged[s].chunk = staged_view(&data->segments[s].chunk, values);
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
