/*
 * star_cpu.c: a planned statement on the CPU (star_plan.h, sql.h). Threads take pieces of the fact table; a
 * tile's steps make the list of rows that are left (star_tile.h), whose values go through vectors of expressions
 * (expression_vector.h) into the thread's states (star_states.h).
 */
#include "engine/execute_internal.h"
#include "engine/sql.h"
#include "engine/star_match.h"
#include "engine/star_states.h"
#include "engine/star_tile.h"

#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

/* As in execute_cpu.c: 65,536 rows a piece. */
#define PIECE_TILES 64u

/* Dimension rows whose condition a thread evaluates at a time; of the common shape MATCH_PIECES times as many take
 * longer than starting a thread. */
#define MATCH_ROWS   65536u
#define MATCH_PIECES 8u

struct piece_rows {
    uint64_t count;
    uint64_t *rows;
};

/* What is filled in before an expression is evaluated: by join, so that positions are looked up once for each. */
struct leaf {
    int32_t join;    /* -1: the fact table */
    uint32_t column; /* as in struct plan_source */
    struct vector vector;
};

struct values {
    struct expression_program *program;
    struct vector result; /* of a condition */
    struct leaf *leaves;
    uint32_t leaf_count;
};

struct worker {
    struct tile_column columns[PLAN_COLUMNS_MAX];
    int64_t *wide[PLAN_COLUMNS_MAX];     /* a 64-bit column's tile, decoded */
    int64_t wide_tile[PLAN_COLUMNS_MAX]; /* which one, or -1 */
    struct tile_dimension dimensions[PLAN_JOINS_MAX];
    struct star_tile_step steps[PLAN_STEPS_MAX];
    struct tile_list *list;
    struct values conditions[PLAN_STEPS_MAX]; /* one for each STEP_CONDITION */
    struct values values;                     /* groups and arguments */
    struct expression_program *matches[PLAN_JOINS_MAX];
    struct star_states *states;
    uint64_t counts[PLAN_STEPS_MAX + 1];
    uint64_t tiles_skipped;
    uint32_t segment;
    bool used;
    uint16_t rows[TILE_ROWS];
    int64_t positions[VECTOR_ROWS];
    uint8_t missing[VECTOR_ROWS];
    uint64_t numbers[VECTOR_ROWS];
};

struct star_run {
    struct star_plan *plan;
    unsigned threads;
    bool analyse;
    star_tile_rows *tile_rows;
    star_tile_values *tile_values;
    uint32_t step_count, condition_count; /* of a tile's mask, and conditions on rows */
    uint32_t condition_step[PLAN_STEPS_MAX];
    uint32_t mask_step[PLAN_STEPS_MAX];
    uint32_t *bitmaps[PLAN_JOINS_MAX];
    bool matched_fast[PLAN_JOINS_MAX]; /* by `matches` */
    struct star_match matches[PLAN_JOINS_MAX];
    uint64_t **skipped; /* of each segment, a bit a tile */
    uint64_t pieces;
    uint64_t match_pieces[PLAN_JOINS_MAX];
    struct worker *workers;
    struct piece_rows *found; /* PLAN_ROWS: of each piece */
    atomic_uint_fast64_t found_rows;
};

static double now_ms(void)
{
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return (double)time.tv_sec * 1e3 + (double)time.tv_nsec * 1e-6;
}

/* ---- Open ---- */

static void choose_loops(struct star_run *run)
{
#if defined(__x86_64__)
    const enum isa_level level = isa_level();
    run->tile_rows = level == ISA_AVX512 ? star_tile_rows_avx512
                     : level == ISA_AVX2 ? star_tile_rows_avx2
                                         : star_tile_rows_baseline;
    run->tile_values = level == ISA_AVX512 ? star_tile_values_avx512
                       : level == ISA_AVX2 ? star_tile_values_avx2
                                           : star_tile_values_baseline;
#else
    run->tile_rows = star_tile_rows_baseline;
    run->tile_values = star_tile_values_baseline;
#endif
}

static enum status buffer(size_t bytes, void *memory, struct error *error)
{
    void *aligned = aligned_alloc(64, (bytes + 63) / 64 * 64);
    if (!aligned)
        return error_out_of_memory(error, bytes, "a decoding buffer");
    memset(aligned, 0, (bytes + 63) / 64 * 64);
    memcpy(memory, &aligned, sizeof aligned);
    return STATUS_OK;
}

static enum status values_open(const struct star_plan *plan, const uint32_t *roots, uint32_t root_count,
                               struct values *values, struct error *error)
{
    const uint32_t *nodes;
    RETURN_IF_ERROR(
        expression_program_create(&plan->expressions, roots, root_count, &values->program, error));
    const uint32_t count = expression_program_leaves(values->program, &nodes);
    values->leaves = malloc((count + 1) * sizeof *values->leaves);
    if (!values->leaves)
        return error_out_of_memory(error, count * sizeof *values->leaves, "vectors of expressions");
    for (int32_t join = -1; join < (int32_t)plan->join_count; join++)
        for (uint32_t n = 0; n < count; n++) {
            const struct plan_source *source = &plan->sources[plan->expressions.nodes[nodes[n]].index];
            if (source->join == join)
                values->leaves[values->leaf_count++] =
                    (struct leaf){join, source->column, expression_program_vector(values->program, nodes[n])};
        }
    if (root_count)
        values->result = expression_program_vector(values->program, roots[0]);
    return STATUS_OK;
}

static void values_close(struct values *values)
{
    expression_program_free(values->program);
    free(values->leaves);
}

static enum status worker_programs(const struct star_run *run, struct worker *worker, struct error *error)
{
    const struct star_plan *plan = run->plan;
    uint32_t roots[PLAN_GROUPS_MAX + PLAN_AGGREGATES_MAX], count = 0;
    for (uint32_t g = 0; g < plan->group_count; g++)
        roots[count++] = plan->groups[g].expression;
    for (uint32_t a = 0; a < plan->aggregate_count; a++)
        if (plan->aggregates[a].argument != EXPRESSION_NONE)
            roots[count++] = plan->aggregates[a].argument;
    RETURN_IF_ERROR(values_open(plan, roots, count, &worker->values, error));
    for (uint32_t c = 0; c < run->condition_count; c++)
        RETURN_IF_ERROR(values_open(plan, &plan->steps[run->condition_step[c]].expression, 1,
                                    &worker->conditions[c], error));
    for (uint32_t j = 0; j < plan->join_count; j++)
        if (plan->joins[j].match != EXPRESSION_NONE && !run->matched_fast[j])
            RETURN_IF_ERROR(expression_program_create(&plan->expressions, &plan->joins[j].match, 1,
                                                      &worker->matches[j], error));
    return plan->shape == PLAN_ROWS ? STATUS_OK : star_states_create(plan, &worker->states, error);
}

static enum status worker_open(const struct star_run *run, struct worker *worker, struct error *error)
{
    const struct star_plan *plan = run->plan;
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

static void cpu_close(struct star_run *run)
{
    if (!run)
        return;
    for (unsigned w = 0; run->workers && w < run->threads; w++) {
        struct worker *worker = &run->workers[w];
        for (uint32_t c = 0; c < PLAN_COLUMNS_MAX; c++) {
            free(worker->columns[c].buffer);
            free(worker->wide[c]);
        }
        for (uint32_t s = 0; s < PLAN_STEPS_MAX; s++)
            values_close(&worker->conditions[s]);
        for (uint32_t j = 0; j < PLAN_JOINS_MAX; j++)
            expression_program_free(worker->matches[j]);
        values_close(&worker->values);
        star_states_free(worker->states);
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
    free(run->workers);
    free(run);
}

/* Minima and maxima of the tile rule every row out. */
static bool tile_is_skipped(const struct star_run *run, uint32_t segment, uint32_t index)
{
    const struct star_plan *plan = run->plan;
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
static enum status find_skipped(struct star_run *run, struct error *error)
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

static enum status prepare(struct star_run *run, struct error *error)
{
    const struct star_plan *plan = run->plan;
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
        run->matched_fast[j] = star_match_of(plan, j, &run->matches[j]);
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
    for (unsigned w = 0; w < run->threads; w++)
        RETURN_IF_ERROR(worker_open(run, &run->workers[w], error));
    return STATUS_OK;
}

static enum status cpu_open(struct engine *engine, struct star_plan *plan, bool analyse,
                            struct star_run **out, struct star_timing *timing, struct error *error)
{
    struct star_run *run = calloc(1, sizeof *run);
    if (!run)
        return error_out_of_memory(error, sizeof *run, "a query");
    run->plan = plan;
    run->threads = engine->threads;
    run->analyse = analyse;
    timing->compile_ms = timing->load_ms = 0;
    enum status status = prepare(run, error);
    if (status == STATUS_OK)
        *out = run;
    else
        cpu_close(run);
    return status;
}

/* ---- Dimensions ---- */

static enum status match_piece(void *context, uint64_t item, unsigned thread, struct error *error)
{
    struct star_run *run = context;
    const struct star_plan *plan = run->plan;
    uint32_t j = 0;
    (void)error;
    for (; item >= run->match_pieces[j]; j++)
        item -= run->match_pieces[j];
    const struct plan_join *join = &plan->joins[j];
    struct expression_program *program = run->workers[thread].matches[j];
    const uint64_t begin = item * MATCH_ROWS,
                   end = begin + MATCH_ROWS < join->table->rows ? begin + MATCH_ROWS : join->table->rows;
    if (run->matched_fast[j]) {
        star_match_run(&run->matches[j], begin, end - begin, run->bitmaps[j]);
        return STATUS_OK;
    }
    const uint32_t *leaves;
    const uint32_t leaf_count = expression_program_leaves(program, &leaves);
    for (uint64_t first = begin; first < end; first += VECTOR_ROWS) {
        const uint32_t rows = end - first < VECTOR_ROWS ? (uint32_t)(end - first) : VECTOR_ROWS;
        for (uint32_t l = 0; l < leaf_count; l++) {
            const struct vector leaf = expression_program_vector(program, leaves[l]);
            const struct plan_source *source = &plan->sources[plan->expressions.nodes[leaves[l]].index];
            plan_array_read(&plan->arrays[source->column], first, rows, leaf.values, leaf.nulls);
        }
        expression_program_run(program, rows);
        const struct vector match = expression_program_vector(program, join->match);
        for (uint32_t word = 0; word < (rows + 31) / 32; word++) {
            uint32_t bits = 0;
            const uint32_t last = rows - word * 32 < 32 ? rows - word * 32 : 32;
            for (uint32_t bit = 0; bit < last; bit++) {
                const uint32_t row = word * 32 + bit;
                bits |= (uint32_t)(match.values[row] && !(match.nulls && match.nulls[row])) << bit;
            }
            run->bitmaps[j][first / 32 + word] = bits;
        }
    }
    return STATUS_OK;
}

static enum status match_dimensions(struct star_run *run, struct error *error)
{
    const struct star_plan *plan = run->plan;
    uint64_t pieces = 0, worth = 0;
    for (uint32_t j = 0; j < plan->join_count; j++) {
        pieces += run->match_pieces[j];
        worth += run->match_pieces[j] * (run->matched_fast[j] ? 1 : MATCH_PIECES);
    }
    const uint64_t threads = 1 + worth / MATCH_PIECES;
    RETURN_IF_ERROR(parallel_for(threads < run->threads ? (unsigned)threads : run->threads, pieces,
                                 match_piece, run, error));
    for (unsigned w = 0; w < run->threads; w++)
        for (uint32_t j = 0; j < plan->join_count; j++)
            run->workers[w].dimensions[j] =
                (struct tile_dimension){.bitmap = run->bitmaps[j],
                                        .contiguous = plan->joins[j].contiguous && plan->joins[j].passing,
                                        .first = (int32_t)plan->joins[j].first,
                                        .last = (int32_t)plan->joins[j].last};
    return STATUS_OK;
}

/* ---- Rows of a tile ---- */

static void enter_segment(const struct star_plan *plan, struct worker *worker, uint32_t segment)
{
    worker->segment = segment;
    for (uint32_t c = 0; c < plan->column_count; c++) {
        const struct segment_data *data = &plan->columns[c].data->segments[segment];
        worker->columns[c].chunk = &data->chunk;
        worker->columns[c].validity = data->validity;
        worker->columns[c].decoded = -1;
        worker->wide_tile[c] = -1;
    }
}

static void fact_values(const struct star_run *run, struct worker *worker, uint32_t column,
                        const struct tile *t, const uint16_t *rows, uint32_t count, int64_t *values,
                        uint8_t *nulls)
{
    struct tile_column *const from = &worker->columns[column];
    if (run->plan->columns[column].column->value_bytes == 4) {
        run->tile_values(from, t, rows, count, values, nulls);
        return;
    }
    if (worker->wide_tile[column] != (int64_t)t->index) {
        from->chunk->codec->decode_tile(from->chunk, t->index, worker->wide[column]);
        worker->wide_tile[column] = t->index;
    }
    const uint32_t *const valid = from->validity ? from->validity + t->index * TILE_LANES : NULL;
    for (uint32_t i = 0; i < count; i++)
        values[i] = worker->wide[column][rows[i]];
    for (uint32_t i = 0; nulls && i < count; i++)
        nulls[i] = valid && !(valid[rows[i] % TILE_LANES] >> rows[i] / TILE_LANES & 1);
}

#define GATHER(type)                     \
    for (uint32_t i = 0; i < count; i++) \
        values[i] = ((const type *)array->values)[positions[i]];

static void gather(const struct plan_array *array, const int64_t *positions, const uint8_t *missing,
                   uint32_t count, int64_t *values, uint8_t *nulls)
{
    if (array->rows == 0) { /* all are missing */
        memset(values, 0, count * sizeof *values);
    } else if (array->value_bytes == 1) {
        GATHER(uint8_t)
    } else if (array->value_bytes == 2) {
        GATHER(uint16_t)
    } else if (array->value_bytes == 4) {
        GATHER(int32_t)
    } else {
        GATHER(int64_t)
    }
    for (uint32_t i = 0; nulls && i < count; i++)
        nulls[i] = (missing && missing[i]) ||
                   (array->valid && !(array->valid[positions[i] / 32] >> positions[i] % 32 & 1));
}

/* The rows' positions in a join's table, and which have none (NULL: all have one); those are at position 0. */
static const uint8_t *find_positions(const struct star_run *run, struct worker *worker, uint32_t j,
                                     const struct tile *t, const uint16_t *rows, uint32_t count)
{
    const struct plan_join *join = &run->plan->joins[j];
    const uint32_t *const bitmap = join->inner ? NULL : run->bitmaps[j];
    const bool all = !bitmap && !run->plan->columns[join->column].nullable;
    fact_values(run, worker, join->column, t, rows, count, worker->positions, all ? NULL : worker->missing);
    if (all)
        return NULL;
    for (uint32_t i = 0; bitmap && i < count; i++)
        worker->missing[i] |= !(bitmap[worker->positions[i] / 32] >> worker->positions[i] % 32 & 1);
    for (uint32_t i = 0; i < count; i++)
        worker->positions[i] = worker->missing[i] ? 0 : worker->positions[i];
    return worker->missing;
}

static void fill_leaves(const struct star_run *run, struct worker *worker, const struct values *values,
                        const struct tile *t, const uint16_t *rows, uint32_t count)
{
    const uint8_t *missing = NULL;
    int32_t join = -1;
    for (uint32_t l = 0; l < values->leaf_count; l++) {
        const struct leaf *leaf = &values->leaves[l];
        if (leaf->join < 0) {
            fact_values(run, worker, leaf->column, t, rows, count, leaf->vector.values, leaf->vector.nulls);
            continue;
        }
        if (leaf->join != join)
            missing = find_positions(run, worker, (uint32_t)leaf->join, t, rows, count);
        join = leaf->join;
        gather(&run->plan->arrays[leaf->column], worker->positions, missing, count, leaf->vector.values,
               leaf->vector.nulls);
    }
}

static uint32_t keep_rows(const struct star_run *run, struct worker *worker, uint32_t condition,
                          const struct tile *t, uint32_t count)
{
    const struct values *values = &worker->conditions[condition];
    const struct vector truth = values->result;
    fill_leaves(run, worker, values, t, worker->rows, count);
    expression_program_run(values->program, count);
    uint32_t kept = 0;
    for (uint32_t i = 0; i < count; i++) {
        worker->rows[kept] = worker->rows[i];
        kept += truth.values[i] && !(truth.nulls && truth.nulls[i]);
    }
    return kept;
}

static void number_groups(const struct star_plan *plan, struct worker *worker, uint32_t count)
{
    memset(worker->numbers, 0, count * sizeof *worker->numbers);
    for (uint32_t g = 0; g < plan->group_count; g++) {
        const struct plan_group *group = &plan->groups[g];
        const struct vector vector = expression_program_vector(worker->values.program, group->expression);
        const uint64_t base = (uint64_t)group->low - group->nullable, last = group->domain - 1;
        for (uint32_t i = 0; i < count; i++) {
            uint64_t code = (uint64_t)vector.values[i] - base;
            if (vector.nulls)
                code = vector.nulls[i] ? 0 : code;
            worker->numbers[i] += (code < last ? code : last) * group->stride;
        }
    }
}

static enum status take_rows(struct star_run *run, struct worker *worker, const struct tile *t,
                             uint64_t piece, uint64_t first_row, uint32_t count, struct error *error)
{
    const struct star_plan *plan = run->plan;
    struct piece_rows *found = plan->shape == PLAN_ROWS ? &run->found[piece] : NULL;
    if (found) {
        uint64_t *rows = realloc(found->rows, (found->count + count) * sizeof *rows);
        if (!rows)
            return error_out_of_memory(error, (found->count + count) * sizeof *rows, "rows");
        found->rows = rows;
        for (uint32_t i = 0; i < count; i++)
            rows[found->count++] = first_row + worker->rows[i];
        return STATUS_OK;
    }
    struct vector arguments[PLAN_AGGREGATES_MAX];
    fill_leaves(run, worker, &worker->values, t, worker->rows, count);
    expression_program_run(worker->values.program, count);
    number_groups(plan, worker, count);
    for (uint32_t a = 0; a < plan->aggregate_count; a++)
        arguments[a] = plan->aggregates[a].argument == EXPRESSION_NONE
                           ? (struct vector){0}
                           : expression_program_vector(worker->values.program, plan->aggregates[a].argument);
    return star_states_add(worker->states, count, worker->numbers, arguments, error);
}

/* ---- Run ---- */

static enum status scan_piece(void *context, uint64_t item, unsigned thread, struct error *error)
{
    struct star_run *run = context;
    const struct star_plan *plan = run->plan;
    struct worker *worker = &run->workers[thread];
    const uint64_t piece = item;
    uint64_t first_row = 0;
    uint32_t segment = 0;
    RETURN_IF_ERROR(cancel_check(error));
    if (plan->shape == PLAN_ROWS && plan->order_count == 0 && plan->limit != UINT64_MAX &&
        atomic_load(&run->found_rows) >= plan->limit + plan->offset)
        return STATUS_OK; /* pieces are handed out in order, so those before this one have enough */
    for (;; segment++) {
        const uint64_t pieces =
            (plan->fact->segment_rows[segment] + PIECE_TILES * TILE_ROWS - 1) / (PIECE_TILES * TILE_ROWS);
        if (item < pieces)
            break;
        item -= pieces;
        first_row += plan->fact->segment_rows[segment];
    }
    if (!worker->used || worker->segment != segment)
        enter_segment(plan, worker, segment);
    worker->used = true;
    const uint32_t rows = plan->fact->segment_rows[segment], tiles = (rows + TILE_ROWS - 1) / TILE_ROWS;
    const uint32_t first = (uint32_t)item * PIECE_TILES,
                   end = first + PIECE_TILES < tiles ? first + PIECE_TILES : tiles;
    for (uint32_t index = first; index < end; index++) {
        const uint32_t left = rows - index * TILE_ROWS;
        const struct tile t = {
            .index = index, .rows = left < TILE_ROWS ? left : TILE_ROWS, .list = worker->list};
        if (run->skipped[segment][index / 64] >> index % 64 & 1) {
            worker->tiles_skipped++;
            continue;
        }
        uint32_t count = run->tile_rows(worker->steps, run->step_count, &t, worker->rows,
                                        run->analyse ? worker->counts : NULL);
        for (uint32_t c = 0; c < run->condition_count && count; c++) {
            count = keep_rows(run, worker, c, &t, count);
            if (run->analyse)
                worker->counts[run->step_count + 1 + c] += count;
        }
        if (count)
            RETURN_IF_ERROR(
                take_rows(run, worker, &t, piece, first_row + (uint64_t)index * TILE_ROWS, count, error));
    }
    if (plan->shape == PLAN_ROWS)
        atomic_fetch_add(&run->found_rows, run->found[piece].count);
    return STATUS_OK;
}

static void run_begin(struct star_run *run)
{
    for (unsigned w = 0; w < run->threads; w++) {
        struct worker *worker = &run->workers[w];
        worker->used = false;
        worker->tiles_skipped = 0;
        memset(worker->counts, 0, sizeof worker->counts);
        if (worker->states)
            star_states_clear(worker->states);
    }
    for (uint64_t p = 0; run->found && p < run->pieces; p++)
        run->found[p].count = 0;
    atomic_store(&run->found_rows, 0);
}

static enum status collect_rows(struct star_run *run, struct star_groups *groups, struct error *error)
{
    for (uint64_t p = 0; p < run->pieces; p++)
        groups->count += run->found[p].count;
    groups->rows = malloc((groups->count + 1) * sizeof *groups->rows);
    if (!groups->rows)
        return error_out_of_memory(error, groups->count * sizeof *groups->rows, "rows");
    uint64_t at = 0;
    for (uint64_t p = 0; p < run->pieces; p++) {
        if (run->found[p].count)
            memcpy(groups->rows + at, run->found[p].rows, run->found[p].count * sizeof *groups->rows);
        at += run->found[p].count;
    }
    return STATUS_OK;
}

/* A worker's counts: what reached each step of the mask, what the mask left, what each condition left. */
static void add_counts(const struct star_run *run, struct star_counts *counts)
{
    *counts = (struct star_counts){0};
    for (uint32_t s = 0; s < run->plan->fact->segment_count; s++)
        counts->tiles += (run->plan->fact->segment_rows[s] + TILE_ROWS - 1) / TILE_ROWS;
    for (unsigned w = 0; w < run->threads; w++) {
        const uint64_t *own = run->workers[w].counts;
        counts->tiles_skipped += run->workers[w].tiles_skipped;
        for (uint32_t i = 0; i < run->step_count; i++) {
            counts->reached[run->mask_step[i]] += own[i];
            counts->left[run->mask_step[i]] += own[i + 1];
        }
        for (uint32_t c = 0; c < run->condition_count; c++) {
            counts->reached[run->condition_step[c]] += own[run->step_count + c];
            counts->left[run->condition_step[c]] += own[run->step_count + 1 + c];
        }
    }
}

static enum status cpu_run(struct star_run *run, struct star_groups *groups, struct star_counts *counts,
                           struct star_timing *timing, struct error *error)
{
    const double begin = now_ms();
    *groups = (struct star_groups){0};
    run_begin(run);
    if (!run->plan->nothing)
        RETURN_IF_ERROR(match_dimensions(run, error));
    const double matched = now_ms();
    if (!run->plan->nothing)
        RETURN_IF_ERROR(parallel_for(run->threads, run->pieces, scan_piece, run, error));
    const double scanned = now_ms();
    enum status status = STATUS_OK;
    if (run->plan->shape == PLAN_ROWS) {
        status = collect_rows(run, groups, error);
    } else {
        for (unsigned w = 1; w < run->threads && status == STATUS_OK; w++)
            if (run->workers[w].used)
                status = star_states_merge(run->workers[0].states, run->workers[w].states, error);
        if (status == STATUS_OK)
            status = star_states_export(run->workers[0].states, groups, error);
    }
    timing->filter_ms = matched - begin;
    timing->scan_ms = scanned - matched;
    timing->total_ms = now_ms() - begin;
    if (counts && run->analyse)
        add_counts(run, counts);
    if (status != STATUS_OK)
        star_groups_free(groups);
    return status;
}

const struct star_device star_cpu = {.open = cpu_open, .run = cpu_run, .close = cpu_close};
