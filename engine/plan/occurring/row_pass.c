/* row_pass.c: see row_pass.h. A tile of the fact, or 1024 positions of a dimension, is a vector of rows. */
#include "engine/plan/occurring/row_pass.h"

#include "engine/plan/expression_vector.h"
#include "engine/plan/occurring/pair_set.h"
#include "engine/plan/planner.h"
#include "storage/base/memory.h"
#include "storage/base/parallel.h"
#include "storage/codec/chunk_reader.h"
#include "storage/column/positions.h"

#include <stdlib.h>
#include <string.h>

/* The tiles, or vectors of positions, that a thread takes at a time. */
#define PIECE_TILES 64u

/* ---- What is read ---- */

struct leaves_seen {
    struct row_pass *pass;
    bool columns, others;
};

static void see_leaf(void *context, const struct expression *leaf)
{
    struct leaves_seen *seen = context;
    struct row_pass *const pass = seen->pass;
    seen->columns |= leaf->operation == EXPRESSION_COLUMN;
    seen->others |= leaf->operation == EXPRESSION_AGGREGATE || leaf->operation == EXPRESSION_MEASURE;
    if (leaf->operation != EXPRESSION_GROUP)
        return;
    for (uint32_t g = 0; g < pass->group_count; g++)
        if (pass->groups[g] == leaf->index)
            return;
    pass->grouped = true;
    pass->groups[pass->group_count++] = leaf->index;
}

static void add_condition(struct row_pass *pass, uint32_t node)
{
    pass->conditions[pass->condition_count++] = node;
    pass->roots[pass->root_count++] = node;
}

/* Adds the conditions on rows of the fact; of left joins only a run knows the match. */
static bool add_conditions(struct row_pass *pass, uint32_t joins)
{
    const struct plan *const plan = pass->plan;
    for (uint32_t s = 0; s < plan->step_count; s++) {
        const struct plan_step *step = &plan->steps[s];
        if (step->kind != STEP_CONDITION)
            continue;
        add_condition(pass, step->expression);
        joins |= plan_reads(plan, step->expression).joins;
    }
    for (uint32_t j = 0; j < plan->join_count; j++)
        if (plan->joins[j].match != EXPRESSION_NONE && plan->joins[j].inner) {
            add_condition(pass, plan->joins[j].match);
            pass->filters = true;
        } else if (plan->joins[j].match != EXPRESSION_NONE && joins >> j & 1) {
            if (pass->optional_count == PASS_OPTIONAL_MAX)
                return false;
            pass->optional[pass->optional_count++] = j;
        }
    return true;
}

bool row_pass_plan(const struct plan *plan, const uint32_t nodes[2], struct row_pass *pass)
{
    *pass = (struct row_pass){.plan = plan, .nodes = {nodes[0], nodes[1]}, .join = -1};
    struct leaves_seen seen = {.pass = pass};
    struct plan_reads reads = {0};
    for (uint32_t n = 0; plan->fact && n < 2; n++)
        expression_visit(&plan->expressions, nodes[n], see_leaf, &seen);
    if (!plan->fact || seen.others || (seen.columns && pass->grouped) ||
        (pass->grouped && plan->grouping.set_count))
        return false;
    for (uint32_t g = 0; g < pass->group_count; g++)
        pass->roots[pass->root_count++] = plan->groups[pass->groups[g]].expression;
    for (uint32_t n = 0; n < 2 && !pass->grouped; n++)
        pass->roots[pass->root_count++] = nodes[n];
    for (uint32_t r = 0; r < pass->root_count; r++) {
        const struct plan_reads more = plan_reads(plan, pass->roots[r]);
        reads.fact |= more.fact;
        reads.joins |= more.joins;
    }
    if (!reads.fact && reads.joins && (reads.joins & (reads.joins - 1)) == 0) {
        const struct plan_join *const join = &plan->joins[__builtin_ctz(reads.joins)];
        pass->join = __builtin_ctz(reads.joins);
        pass->rows = table_positions(join->table);
        pass->joins_all = join->inner;
        pass->filters = join->inner && join->match != EXPRESSION_NONE;
        if (pass->filters)
            add_condition(pass, join->match);
        return true;
    }
    pass->rows = plan->fact->rows;
    pass->filters = plan->step_count > 0;
    return !plan->fact->part.of &&
           add_conditions(pass, reads.joins); /* of a part, other processes have rows */
}

/* ---- Reading ---- */

struct pass_leaf {
    const struct plan_source *source;
    struct vector vector;
};

struct pass_worker {
    struct expression_program *columns, *groups; /* over columns, over groups or NULL */
    struct pass_leaf *leaves;
    uint32_t leaf_count;
    struct chunk_reader readers[PLAN_COLUMNS_MAX];
    struct pair_set pairs;
    bool open;
    uint8_t passes[VECTOR_ROWS], missing[VECTOR_ROWS];
    int64_t positions[VECTOR_ROWS];
};

struct pass_run {
    const struct row_pass *pass;
    const uint64_t *domains;
    struct pass_worker *workers;
    unsigned threads;
};

/* The vector that a node of the pass has its values in. */
static struct vector values_of(const struct pass_run *run, const struct pass_worker *worker, uint32_t node)
{
    return expression_program_vector(run->pass->grouped ? worker->groups : worker->columns, node);
}

static enum status worker_open(const struct pass_run *run, struct pass_worker *worker, struct error *error)
{
    const struct row_pass *const pass = run->pass;
    const struct plan *const plan = pass->plan;
    const uint32_t *nodes;
    if (worker->open)
        return STATUS_OK;
    RETURN_IF_ERROR(expression_program_create(&plan->expressions, pass->roots, pass->root_count,
                                              &worker->columns, error));
    if (pass->grouped)
        RETURN_IF_ERROR(
            expression_program_create(&plan->expressions, pass->nodes, 2, &worker->groups, error));
    const uint32_t count = expression_program_leaves(worker->columns, &nodes);
    RETURN_IF_ERROR(
        memory_take(&worker->leaves, (count + 1) * sizeof *worker->leaves, "vectors of expressions", error));
    for (int32_t join = -1; join < (int32_t)plan->join_count;
         join++) /* so that each join's keys are read once */
        for (uint32_t n = 0; n < count; n++) {
            const struct plan_source *source = &plan->sources[plan->expressions.nodes[nodes[n]].index];
            if (source->join == join)
                worker->leaves[worker->leaf_count++] =
                    (struct pass_leaf){source, expression_program_vector(worker->columns, nodes[n])};
        }
    worker->open = true;
    return STATUS_OK;
}

static void worker_close(struct pass_worker *worker, uint32_t columns)
{
    expression_program_free(worker->columns);
    expression_program_free(worker->groups);
    free(worker->leaves);
    for (uint32_t c = 0; c < columns; c++)
        chunk_reader_close(&worker->readers[c]);
    pair_set_free(&worker->pairs);
}

/* Reads a tile of a fact column. */
static enum status read_column(const struct pass_run *run, struct pass_worker *worker, uint32_t column,
                               uint32_t segment, uint32_t tile, uint32_t rows, int64_t *values,
                               uint8_t *nulls, struct error *error)
{
    const struct segment_data *const data = &run->pass->plan->columns[column].data->segments[segment];
    const uint32_t *const valid = data->validity ? data->validity + (size_t)tile * TILE_LANES : NULL;
    const void *read;
    RETURN_IF_ERROR(chunk_reader_tile(&worker->readers[column], &data->chunk, tile, &read, error));
    for (uint32_t row = 0; row < rows; row++)
        values[row] = row_value(read, data->chunk.value_bytes, row);
    for (uint32_t row = 0; nulls && row < rows; row++)
        nulls[row] = valid && !tile_row_valid(valid, row);
    return STATUS_OK;
}

/* Fills the leaves with a tile's rows. Rows without a match are missing in an inner join, and NULL in others. */
static enum status read_tile(const struct pass_run *run, struct pass_worker *worker, uint32_t segment,
                             uint32_t tile, uint32_t rows, struct error *error)
{
    const struct plan *const plan = run->pass->plan;
    int32_t join = -1;
    for (uint32_t l = 0; l < worker->leaf_count; l++) {
        const struct pass_leaf *const leaf = &worker->leaves[l];
        const struct plan_source *const source = leaf->source;
        if (source->join < 0) {
            RETURN_IF_ERROR(read_column(run, worker, source->column, segment, tile, rows, leaf->vector.values,
                                        leaf->vector.nulls, error));
            continue;
        }
        if (source->join != join) {
            join = source->join;
            RETURN_IF_ERROR(read_column(run, worker, plan->joins[join].column, segment, tile, rows,
                                        worker->positions, worker->missing, error));
            for (uint32_t row = 0; row < rows; row++) {
                worker->positions[row] = worker->missing[row] ? 0 : worker->positions[row];
                worker->passes[row] &= !(worker->missing[row] && plan->joins[join].inner);
            }
        }
        plan_array_gather(&plan->arrays[source->column], worker->positions, worker->missing, rows,
                          leaf->vector.values, leaf->vector.nulls);
    }
    return STATUS_OK;
}

/* Rows outside of a range of a column do not pass. */
static enum status apply_ranges(const struct pass_run *run, struct pass_worker *worker, uint32_t segment,
                                uint32_t tile, uint32_t rows, struct error *error)
{
    const struct plan *const plan = run->pass->plan;
    for (uint32_t s = 0; s < plan->step_count; s++) {
        const struct plan_step *const step = &plan->steps[s];
        if (step->kind != STEP_RANGE)
            continue;
        RETURN_IF_ERROR(read_column(run, worker, step->column, segment, tile, rows, worker->positions,
                                    worker->missing, error));
        for (uint32_t row = 0; row < rows; row++)
            worker->passes[row] &= !worker->missing[row] && worker->positions[row] >= step->low &&
                                   worker->positions[row] <= step->high;
    }
    return STATUS_OK;
}

/* ---- Taking pairs ---- */

/* Evaluates the vector's leaves, and takes the pairs of the rows that pass. */
static enum status take_pairs(const struct pass_run *run, struct pass_worker *worker, uint32_t rows,
                              struct error *error)
{
    const struct row_pass *const pass = run->pass;
    uint8_t passes[VECTOR_ROWS];
    memcpy(passes, worker->passes, rows);
    expression_program_run(worker->columns, rows);
    for (uint32_t c = 0; c < pass->condition_count; c++) {
        const struct vector truth = expression_program_vector(worker->columns, pass->conditions[c]);
        for (uint32_t row = 0; row < rows; row++)
            passes[row] &= truth.values[row] && !(truth.nulls && truth.nulls[row]);
    }
    const uint32_t *leaves;
    const uint32_t leaf_count = pass->grouped ? expression_program_leaves(worker->groups, &leaves) : 0;
    for (uint32_t l = 0; l < leaf_count; l++) {
        const struct vector to = expression_program_vector(worker->groups, leaves[l]);
        const uint32_t term = pass->plan->expressions.nodes[leaves[l]].index;
        const struct vector from =
            expression_program_vector(worker->columns, pass->plan->groups[term].expression);
        memcpy(to.values, from.values, rows * sizeof *to.values);
        if (to.nulls && from.nulls)
            memcpy(to.nulls, from.nulls, rows);
        else if (to.nulls)
            memset(to.nulls, 0, rows);
    }
    if (pass->grouped)
        expression_program_run(worker->groups, rows);
    const struct vector first = values_of(run, worker, pass->nodes[0]),
                        second = values_of(run, worker, pass->nodes[1]);
    for (uint32_t row = 0; row < rows; row++) {
        const uint64_t a = (uint64_t)first.values[row], b = (uint64_t)second.values[row];
        const bool null = (first.nulls && first.nulls[row]) || (second.nulls && second.nulls[row]);
        if (passes[row] && !null && a < run->domains[0] &&
            b < run->domains[1]) /* more only in damaged files */
            RETURN_IF_ERROR(pair_set_add(&worker->pairs, a * run->domains[1] + b, error));
    }
    return STATUS_OK;
}

/* Makes a join's leaves NULL. */
static void miss_join(struct pass_worker *worker, int32_t join, uint32_t rows)
{
    for (uint32_t l = 0; l < worker->leaf_count; l++)
        if (worker->leaves[l].source->join == join && worker->leaves[l].vector.nulls)
            memset(worker->leaves[l].vector.nulls, 1, rows);
}

static enum status take_tile(const struct pass_run *run, struct pass_worker *worker, uint32_t segment,
                             uint32_t tile, uint32_t rows, struct error *error)
{
    const struct row_pass *const pass = run->pass;
    for (uint32_t variant = 0; variant < 1u << pass->optional_count; variant++) {
        memset(worker->passes, 1, rows);
        RETURN_IF_ERROR(apply_ranges(run, worker, segment, tile, rows, error));
        if (!memchr(worker->passes, 1, rows))
            return STATUS_OK;
        RETURN_IF_ERROR(read_tile(run, worker, segment, tile, rows, error));
        for (uint32_t o = 0; o < pass->optional_count; o++)
            if (variant >> o & 1)
                miss_join(worker, (int32_t)pass->optional[o], rows);
        RETURN_IF_ERROR(take_pairs(run, worker, rows, error));
    }
    return STATUS_OK;
}

static enum status take_tiles(const struct pass_run *run, struct pass_worker *worker, uint64_t piece,
                              struct error *error)
{
    const struct table *const fact = run->pass->plan->fact;
    uint32_t segment = 0, tiles;
    for (;; segment++) {
        tiles = (fact->segment_rows[segment] + TILE_ROWS - 1) / TILE_ROWS;
        const uint64_t pieces = (tiles + PIECE_TILES - 1) / PIECE_TILES;
        if (piece < pieces)
            break;
        piece -= pieces;
    }
    const uint32_t begin = (uint32_t)piece * PIECE_TILES,
                   end = tiles - begin < PIECE_TILES ? tiles : begin + PIECE_TILES;
    for (uint32_t tile = begin; tile < end; tile++) {
        const uint32_t left = fact->segment_rows[segment] - tile * TILE_ROWS;
        RETURN_IF_ERROR(take_tile(run, worker, segment, tile, left < TILE_ROWS ? left : TILE_ROWS, error));
    }
    return STATUS_OK;
}

/* Positions in gaps have the values of a row, so they are taken, too. */
static enum status take_positions(const struct pass_run *run, struct pass_worker *worker, uint64_t piece,
                                  struct error *error)
{
    const struct row_pass *const pass = run->pass;
    const uint64_t begin = piece * PIECE_TILES * VECTOR_ROWS,
                   end = pass->rows - begin < PIECE_TILES * VECTOR_ROWS ? pass->rows
                                                                        : begin + PIECE_TILES * VECTOR_ROWS;
    for (uint64_t first = begin; first < end; first += VECTOR_ROWS) {
        const uint32_t rows = end - first < VECTOR_ROWS ? (uint32_t)(end - first) : VECTOR_ROWS;
        plan_fill_dimension(pass->plan, worker->columns, first, rows);
        memset(worker->passes, 1, rows);
        RETURN_IF_ERROR(take_pairs(run, worker, rows, error));
    }
    if (piece > 0 || pass->joins_all)
        return STATUS_OK;
    memset(worker->passes, 1, 1); /* a row of the fact without a match */
    miss_join(worker, pass->join, 1);
    return take_pairs(run, worker, 1, error);
}

static enum status take_piece(void *context, uint64_t piece, unsigned thread, struct error *error)
{
    const struct pass_run *const run = context;
    struct pass_worker *const worker = &run->workers[thread];
    RETURN_IF_ERROR(cancel_check(error));
    RETURN_IF_ERROR(worker_open(run, worker, error));
    return run->pass->join < 0 ? take_tiles(run, worker, piece, error)
                               : take_positions(run, worker, piece, error);
}

static uint64_t pieces_of(const struct row_pass *pass)
{
    uint64_t pieces = 0;
    if (pass->join >= 0) /* one even if the table is empty: then no row has a match */
        return pass->rows / (PIECE_TILES * VECTOR_ROWS) + 1;
    for (uint32_t s = 0; s < pass->plan->fact->segment_count; s++) {
        const uint64_t tiles = (pass->plan->fact->segment_rows[s] + TILE_ROWS - 1) / TILE_ROWS;
        pieces += (tiles + PIECE_TILES - 1) / PIECE_TILES;
    }
    return pieces;
}

enum status row_pass_run(const struct row_pass *pass, unsigned threads, const uint64_t domains[2],
                         uint64_t **pairs, uint64_t *count, struct error *error)
{
    const unsigned most = threads ? threads : parallel_threads_available();
    const uint64_t pieces = pass->plan->nothing ? 0 : pieces_of(pass);
    struct pass_run run = {
        .pass = pass, .domains = domains, .threads = pieces < most ? (unsigned)pieces + 1 : most};
    const struct pair_set **sets = NULL;
    /* Both domains have less than 2^32 values. A bitmap of them must not take longer to clear than the rows to read. */
    const uint64_t all = domains[0] * domains[1], domain = all / 64 <= pass->rows ? all : UINT64_MAX;
    RETURN_IF_ERROR(
        memory_zeros(&run.workers, run.threads * sizeof *run.workers, "combinations of strings", error));
    enum status status = memory_take(&sets, run.threads * sizeof *sets, "combinations of strings", error);
    for (unsigned w = 0; status == STATUS_OK && w < run.threads; w++) {
        run.workers[w].pairs.domain = domain;
        sets[w] = &run.workers[w].pairs;
    }
    if (status == STATUS_OK)
        status = parallel_for(run.threads, pieces, take_piece, &run, error);
    if (status == STATUS_OK)
        status = pair_sets_join(sets, run.threads, pairs, count, error);
    for (unsigned w = 0; w < run.threads; w++)
        worker_close(&run.workers[w], pass->plan->column_count);
    free(run.workers);
    free(sets);
    return status;
}
