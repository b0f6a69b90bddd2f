/* rows.c: evaluates expressions over the surviving rows of a tile, as vectors: conditions, group numbers, and
 * arguments of aggregates (run_internal.h). Called a few times for each tile. */
#include "engine/cpu/run_internal.h"
#include "storage/base/memory.h"

#include <stdlib.h>
#include <string.h>

enum status row_values_open(const struct plan *plan, const uint32_t *roots, uint32_t root_count,
                            struct row_values *values, struct error *error)
{
    const uint32_t *nodes;
    RETURN_IF_ERROR(
        expression_program_create(&plan->expressions, roots, root_count, &values->program, error));
    const uint32_t count = expression_program_leaves(values->program, &nodes);
    RETURN_IF_ERROR(
        memory_take(&values->leaves, (count + 1) * sizeof *values->leaves, "vectors of expressions", error));
    for (int32_t join = -1; join < (int32_t)plan->join_count; join++)
        for (uint32_t n = 0; n < count; n++) {
            const struct plan_source *source = &plan->sources[plan->expressions.nodes[nodes[n]].index];
            if (source->join == join)
                values->leaves[values->leaf_count++] = (struct value_leaf){
                    source, join, source->column, expression_program_vector(values->program, nodes[n])};
        }
    if (root_count)
        values->result = expression_program_vector(values->program, roots[0]);
    return STATUS_OK;
}

void row_values_close(struct row_values *values)
{
    expression_program_free(values->program);
    free(values->leaves);
}

void cpu_enter_segment(const struct device_run *run, struct cpu_worker *worker, uint32_t segment)
{
    const struct plan *plan = run->plan;
    worker->segment = segment;
    for (uint32_t c = 0; c < plan->column_count; c++) {
        const struct segment_data *data =
            &(run->columns[c].staged ? run->columns[c].staged : plan->columns[c].data->segments)[segment];
        struct tile_column *const tile = worker->columns[c].tile;
        tile->chunk = &data->chunk;
        tile->validity = data->validity;
        tile->decoded = -1;
        worker->columns[c].wide_tile = -1;
    }
}

/* Rows of a tile: of a list, or of a mask (tile_steps.h). */
struct some_rows {
    const uint16_t *list;
    const tile_mask *mask;
    uint32_t count;
};

/* The rows that are left. */
static struct some_rows rows_left(const struct device_run *run, const struct cpu_worker *worker,
                                  uint32_t count)
{
    return worker->dense ? (struct some_rows){run->all_rows, &worker->keep, count}
                         : (struct some_rows){worker->rows, NULL, count};
}

static void fact_values(const struct device_run *run, struct cpu_worker *worker, uint32_t column,
                        const struct tile *t, const struct some_rows *rows, int64_t *values, uint8_t *nulls)
{
    struct worker_column *const own = &worker->columns[column];
    struct tile_column *const from = own->tile;
    if (run->plan->columns[column].narrow) {
        run->tile_values(from, t, rows->list, rows->mask, rows->count, values, nulls);
        return;
    }
    if (own->wide_tile != (int64_t)t->index) {
        from->chunk->codec->decode_tile(from->chunk, t->index, own->wide);
        own->wide_tile = t->index;
    }
    const uint32_t *const valid = from->validity ? from->validity + t->index * TILE_LANES : NULL;
    for (uint32_t i = 0; i < rows->count; i++)
        values[i] = own->wide[rows->list[i]];
    for (uint32_t i = 0; nulls && i < rows->count; i++)
        nulls[i] = valid && !tile_row_valid(valid, rows->list[i]);
}

/* The bits of positions that are a group's code. */
static void take_bits(const struct plan_source *source, const int64_t *positions, uint32_t count,
                      int64_t *values)
{
    const int64_t mask = (INT64_C(1) << source->bits) - 1;
    for (uint32_t i = 0; i < count; i++)
        values[i] = positions[i] >> source->shift & mask;
}

/* Finds the rows' positions in a join's table. Returns a 1 for each row that has no match, whose position is
 * then 0; NULL if all have one. */
static const uint8_t *find_positions(const struct device_run *run, struct cpu_worker *worker, uint32_t j,
                                     const struct tile *t, const struct some_rows *rows)
{
    const uint32_t count = rows->count;
    const struct plan_join *join = &run->plan->joins[j];
    const uint32_t *const bitmap = join->inner ? NULL : run->bitmaps[j];
    const bool all = !bitmap && !run->plan->columns[join->column].nullable;
    fact_values(run, worker, join->column, t, rows, worker->positions, all ? NULL : worker->missing);
    if (all)
        return NULL;
    for (uint32_t i = 0; bitmap && i < count; i++)
        worker->missing[i] |= !(bitmap[worker->positions[i] / 32] >> worker->positions[i] % 32 & 1);
    for (uint32_t i = 0; i < count; i++)
        worker->positions[i] = worker->missing[i] ? 0 : worker->positions[i];
    return worker->missing;
}

static void fill_leaves(const struct device_run *run, struct cpu_worker *worker,
                        const struct row_values *values, const struct tile *t, const struct some_rows *rows)
{
    const uint8_t *missing = NULL;
    int32_t join = -1;
    for (uint32_t l = 0; l < values->leaf_count; l++) {
        const struct value_leaf *leaf = &values->leaves[l];
        if (leaf->join < 0) {
            fact_values(run, worker, leaf->column, t, rows, leaf->vector.values, leaf->vector.nulls);
            continue;
        }
        if (leaf->join != join)
            missing = find_positions(run, worker, (uint32_t)leaf->join, t, rows);
        join = leaf->join;
        if (leaf->source->bits)
            take_bits(leaf->source, worker->positions, rows->count, leaf->vector.values);
        else
            plan_array_gather(&run->plan->arrays[leaf->column], worker->positions, missing, rows->count,
                              leaf->vector.values, leaf->vector.nulls);
    }
}

/* ---- Filtering and grouping ---- */

/* Lists the rows of the mask. */
static void list_rows(const struct device_run *run, struct cpu_worker *worker, const struct tile *t)
{
    (void)run->tile_rows(NULL, 0, t, worker->keep.bits, NULL, worker->rows, NULL, NULL);
    worker->dense = false;
}

/* The same of all rows of a tile, most of which are left. */
static uint32_t keep_dense(const struct device_run *run, struct cpu_worker *worker,
                           const struct row_values *values, const struct tile *t)
{
    const struct some_rows all = {run->all_rows, NULL, t->rows};
    fill_leaves(run, worker, values, t, &all);
    expression_program_run(values->program, t->rows);
    const uint32_t count = run->tile_keep(&values->result, t, &worker->keep);
    if (!tile_steps_dense(t, count))
        list_rows(run, worker, t);
    return count;
}

uint32_t cpu_keep_rows(const struct device_run *run, struct cpu_worker *worker, uint32_t condition,
                       const struct tile *t, uint32_t count)
{
    const struct row_values *values = &worker->conditions[condition];
    const struct vector truth = values->result;
    if (worker->dense && run->dense_conditions)
        return keep_dense(run, worker, values, t);
    if (worker->dense)
        list_rows(run, worker, t);
    const struct some_rows rows = rows_left(run, worker, count);
    fill_leaves(run, worker, values, t, &rows);
    expression_program_run(values->program, count);
    uint32_t kept = 0;
    for (uint32_t i = 0; i < count;
         i++) { /* without a branch, which would be guessed wrong for every other row */
        worker->rows[kept] = worker->rows[i];
        kept += (uint32_t)(truth.values[i] != 0) & (truth.nulls ? !truth.nulls[i] : 1u);
    }
    return kept;
}

/* Adds a term's part to the ranks of the rows; returns the least. */
static uint64_t add_term(const struct device_run *run, uint32_t term, const struct row_values *values,
                         uint32_t count, uint64_t *ranks)
{
    const struct first_term *const of = &run->top.first.terms[term];
    const struct vector vector = expression_program_vector(values->program, of->expression);
    return run->tile_rank(of, &vector, count, ranks);
}

/* Most rows are dropped by the first term, so that the others need not be computed. */
uint32_t cpu_keep_top(struct device_run *run, struct cpu_worker *worker, const struct tile *t, uint32_t count)
{
    const struct first_rows *const first = &run->top.first;
    uint64_t *const ranks = worker->numbers[0];
    struct some_rows rows = {worker->rows, NULL, count};
    fill_leaves(run, worker, &worker->values, t, &rows);
    expression_program_run(worker->values.program, count);
    for (uint32_t i = 0; i < count; i++)
        ranks[i] = first_rows_place(first, worker->segment, t->index * TILE_ROWS + worker->rows[i]);
    if (add_term(run, 0, &worker->values, count, ranks) >
        atomic_load_explicit(&run->top.bound, memory_order_relaxed))
        return 0;
    if (first->term_count > 1) {
        count = top_rows_may_keep(&run->top, ranks, worker->rows, count);
        if (count == 0)
            return 0;
        rows.count = count;
        fill_leaves(run, worker, &worker->later_terms, t, &rows);
        expression_program_run(worker->later_terms.program, count);
        for (uint32_t term = 1; term < first->term_count; term++)
            (void)add_term(run, term, &worker->later_terms, count, ranks);
    }
    return top_rows_keep(&run->top, &worker->top, ranks, worker->rows, count);
}

/* Finds the values of groups and arguments. */
static void find_terms(const struct device_run *run, struct cpu_worker *worker, const struct tile *t,
                       uint32_t count)
{
    const struct plan *plan = run->plan;
    const struct some_rows rows = rows_left(run, worker, count);
    fill_leaves(run, worker, &worker->values, t, &rows);
    expression_program_run(worker->values.program, count);
    for (uint32_t i = 0; i < plan->group_count + plan->aggregate_count; i++)
        if (worker->terms[i].tile.column)
            worker->terms[i].rows = run->tile_term(&worker->terms[i].tile, t, rows.list, rows.mask, count);
    for (uint32_t a = 0; a < plan->aggregate_count; a++)
        worker->arguments[a] = worker->terms[plan->group_count + a].rows;
}

static void number_groups(const struct device_run *run, struct cpu_worker *worker, uint32_t count)
{
    const struct plan *plan = run->plan;
    const uint32_t spread = run->keys.words ? 0 : group_states_spread(worker->states);
    for (uint32_t word = 0; word < plan->key_words; word++) {
        bool first = true;
        for (uint32_t g = 0; g < plan->group_count; g++)
            if (plan->groups[g].word == word) {
                run->tile_number(&plan->groups[g], &worker->terms[g].rows, count, first, spread,
                                 worker->numbers[word]);
                first = false;
            }
        if (first && plan->group_count)
            memset(worker->numbers[word], 0, count * sizeof(uint64_t));
    }
}

/* Adds rows of a tile, which has some. */
static enum status add_found(struct piece_rows *found, uint64_t first_row, const uint16_t *rows,
                             uint32_t count, struct error *error)
{
    const uint64_t first = first_row + rows[0], next = found->first + found->count;
    const bool follow = rows[count - 1] - rows[0] == (int)count - 1 && (found->count == 0 || first == next);
    if (found->count == 0)
        *found = (struct piece_rows){.first = first, .rows = found->rows};
    if (!follow || found->listed)
        RETURN_IF_ERROR(
            memory_grow(&found->rows, (found->count + count) * sizeof *found->rows, "rows", error));
    for (uint64_t i = 0; !follow && !found->listed && i < found->count; i++)
        found->rows[i] = found->first + i;
    found->listed |= !follow;
    for (uint32_t i = 0; found->listed && i < count; i++)
        found->rows[found->count + i] = first_row + rows[i];
    found->count += count;
    return STATUS_OK;
}

enum status cpu_take_rows(struct device_run *run, struct cpu_worker *worker, const struct tile *t,
                          uint64_t piece, uint64_t first_row, uint32_t count, struct error *error)
{
    const struct plan *plan = run->plan;
    struct piece_rows *found = plan->shape == PLAN_ROWS ? &run->found[piece] : NULL;
    if (found)
        return add_found(found, first_row, worker->rows, count, error);
    find_terms(run, worker, t, count);
    number_groups(run, worker, count);
    if (run->keys.words) {
        key_bits_add(&run->keys, worker->numbers[0], count);
        return STATUS_OK;
    }
    const struct some_rows left = rows_left(run, worker, count);
    const int32_t *const keys =
        plan->in_order ? run->tile_term(&worker->order, t, left.list, left.mask, count).narrow : NULL;
    return group_states_add(worker->states, count, worker->numbers, keys, worker->arguments, error);
}
