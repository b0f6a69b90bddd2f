/*
 * run.c: runs a planned statement on the CPU (engine/plan/plan.h, engine/run/device.h). Threads take pieces
 * (morsels) of the tiles that may have a row of the answer. The steps make the list of a tile's surviving
 * rows (tile_steps.h); expressions are evaluated over these rows as vectors (rows.c), and the results are
 * added to the thread's states (group_states.h). A hand-written kernel does all this itself for each tile.
 */
#include "engine/cpu/run_internal.h"
#include "storage/base/clock.h"
#include "storage/base/memory.h"
#include "storage/codec/chunk_reader.h"
#include "storage/column/positions.h"

#include <stdlib.h>
#include <string.h>

/* ---- Dimensions ---- */

static void set_dimensions(struct device_run *run)
{
    const struct plan *plan = run->plan;
    for (unsigned w = 0; w < run->threads; w++)
        for (uint32_t j = 0; j < plan->join_count; j++) {
            struct tile_dimension *const dimension = run->workers[w].joins[j].tile;
            const struct plan_join *join = &plan->joins[j];
            dimension->bitmap = run->bitmaps[j];
            dimension->cubes = join->test.cubes;
            dimension->cube_count = join->test.used || cpu_join_is_tested(join) ? join->test.cube_count : 0;
            dimension->cubes_planes = join->test.used;
            dimension->contiguous = plan->joins[j].contiguous && plan->joins[j].passing;
            dimension->first = (int32_t)plan->joins[j].first;
            dimension->last = (int32_t)plan->joins[j].last;
        }
}

/* ---- Run ---- */

/* A sample for the bound of the first rows: one of 64 tiles of a thousand tells a bound that some 12,500 rows pass where 10,000
 * are wanted, and takes a tenth of a millisecond. */
#define SAMPLE_MOST  64u
#define SAMPLE_LEAST 8u
#define SAMPLE_SHARE 16u /* of 16 tiles at most one is read twice */

/* The steps on a tile: those of the plan and, if the bound of the first rows tells of a column, the test of it before them. */
static const struct tile_step *steps_of(const struct device_run *run, const struct cpu_worker *worker,
                                        bool top, uint32_t *count)
{
    const struct tile_step *const steps = worker->steps;
    *count = run->step_count;
    if (!top || run->top_column < 0)
        return steps + 1;
    struct tile_column *const column = steps->column;
    column->low = run->top_low;
    column->high = run->top_high;
    if (!top_rows_range(&run->top, run->plan->columns[run->top_column].nullable, &column->low, &column->high))
        return steps + 1;
    ++*count;
    return steps;
}

/* Runs the plan's steps on a tile; worker->rows are the rows that are left, whose number is *count. */
static void find_rows(struct device_run *run, struct cpu_worker *worker, const struct tile *t,
                      uint32_t *count)
{
    const struct plan *plan = run->plan;
    struct scan_point *points = run->counting ? worker->points : NULL;
    uint64_t since = points ? scan_ticks() : 0;
    const uint64_t *mask = NULL;
    const bool top = run->top.first.wanted && !run->counting;
    uint32_t step_count;
    *count = 0;
    if (top && top_rows_skip(&run->top, plan, worker->segment, t->index))
        return;
    if (run->index) {
        mask = index_mask_tile(run->index, worker->segment, t->index);
        if (points)
            scan_point_reach(points++, t->rows, &since);
        if (index_mask_is_empty(mask))
            return;
    }
    const struct tile_step *const steps = steps_of(run, worker, top, &step_count);
    *count = run->tile_rows(steps, step_count, t, mask, run->may_be_dense ? &worker->keep : NULL,
                            worker->rows, points, &since);
    worker->dense = run->may_be_dense && tile_steps_dense(t, *count);
    for (uint32_t c = 0; c < run->condition_count && *count; c++) {
        *count = cpu_keep_rows(run, worker, c, t, *count);
        if (points)
            scan_point_reach(&points[run->step_count + 1 + c], *count, &since);
    }
    if (top && *count)
        *count = cpu_keep_top(run, worker, t, *count);
}

/* Runs the steps, and takes the surviving rows. */
static enum status scan_tile(struct device_run *run, struct cpu_worker *worker, const struct tile *t,
                             uint64_t piece, struct error *error)
{
    uint32_t count;
    find_rows(run, worker, t, &count);
    const uint64_t first_row = run->segment_first[worker->segment] + (uint64_t)t->index * TILE_ROWS;
    uint64_t since = run->counting ? scan_ticks() : 0;
    if (count)
        RETURN_IF_ERROR(cpu_take_rows(run, worker, t, piece, first_row, count, error));
    if (run->counting)
        scan_point_reach(&worker->points[run->plan->step_count + 1], count, &since);
    return STATUS_OK;
}

static struct tile tile_at(const struct device_run *run, const struct cpu_worker *worker, uint32_t index)
{
    const uint32_t left = run->plan->fact->segment_rows[worker->segment] - index * TILE_ROWS;
    return (struct tile){.index = index, .rows = left < TILE_ROWS ? left : TILE_ROWS, .list = worker->list};
}

/* Scans tiles of the worker's current segment. */
static enum status scan_tiles(struct device_run *run, struct cpu_worker *worker, uint32_t first,
                              uint32_t count, uint64_t piece, struct error *error)
{
    tile_query *const kernel = run->counting ? NULL : run->kernel;
    for (uint32_t index = first; index < first + count; index++) {
        const struct tile t = tile_at(run, worker, index);
        if (kernel)
            kernel((struct tile_parameters *)(void *)worker->parameters, &t);
        else
            RETURN_IF_ERROR(scan_tile(run, worker, &t, piece, error));
    }
    return STATUS_OK;
}

/* A piece is PIECE_TILES of the kept tiles. A part of it is consecutive tiles of one segment. */
struct piece_part {
    uint32_t segment, first, count;
};

static void piece_tiles(const struct tile_skip *scan, uint64_t piece, uint64_t *tile, uint64_t *end)
{
    *tile = piece * PIECE_TILES;
    *end = *tile + PIECE_TILES < scan->kept_tiles ? *tile + PIECE_TILES : scan->kept_tiles;
}

/* Gives the part that begins at the kept tile *tile, and moves *tile to its end; false at the end of the
 * piece. */
static bool part_next(const struct tile_skip *scan, uint64_t *tile, uint64_t end, struct piece_part *part)
{
    if (*tile >= end)
        return false;
    const struct tile_run *at = &scan->runs[tile_skip_run(scan, *tile)];
    const uint32_t within = (uint32_t)(*tile - at->before);
    *part = (struct piece_part){
        .segment = at->segment,
        .first = at->first + within,
        .count = (uint32_t)(at->tiles - within < end - *tile ? at->tiles - within : end - *tile)};
    *tile += part->count;
    return true;
}

/* A column to decode before the scan, and the tiles of it. */
struct staging {
    const struct segment_data *from, *to;
    struct tile_run *units;
    uint64_t count;
    uint64_t kept_tiles;
    struct scan_reader *reader;
};

static enum status stage_unit(void *context, uint64_t item, unsigned thread, struct error *error)
{
    const struct staging *staging = context;
    const struct tile_run *unit = &staging->units[item];
    const struct chunk_view *to = &staging->to[unit->segment].chunk;
    uint32_t bytes;
    (void)thread;
    const uint8_t *const values = to->codec->tile_span(to, unit->first, &bytes);
    RETURN_IF_ERROR(cancel_check(error));
    scan_reader_reach(staging->reader, item * staging->kept_tiles / staging->count);
    return chunk_decode(&staging->from[unit->segment].chunk, unit->first, unit->tiles,
                        (uint8_t *)(uintptr_t)values, error);
}

static enum status stage_columns(const struct device_run *run, struct error *error)
{
    for (uint32_t c = 0; c < run->plan->column_count; c++) {
        const struct column_data *data = run->plan->columns[c].data;
        if (!run->columns[c].staged)
            continue;
        struct staging staging = {
            .from = data->segments, .to = run->columns[c].staged, .kept_tiles = run->scan->kept_tiles};
        RETURN_IF_ERROR(tile_skip_units(run->scan, data, PIECE_TILES, &staging.units, &staging.count, error));
        staging.reader = scan_reader_start(run->scan, &data, 1, false);
        const enum status status = parallel_for(run->threads, staging.count, stage_unit, &staging, error);
        scan_reader_stop(staging.reader);
        free(staging.units);
        RETURN_IF_ERROR(status);
    }
    return STATUS_OK;
}

/* True if the scan may end after a few pieces. */
static bool may_end_early(const struct plan *plan)
{
    return plan->shape == PLAN_ROWS && plan->order_count == 0 && plan->limit != UINT64_MAX;
}

/* Scans that read files alternate between forwards and backwards: what is in memory at the end of one is read first by
 * the next one. In the same order, each would find that the one before has just dropped what it needs. */
static atomic_uint file_scans;

/* Reads ahead the columns that the scan reads, unless they are in memory. */
static enum status read_columns(struct device_run *run, struct error *error)
{
    const struct plan *plan = run->plan;
    const struct column_data **columns;
    uint32_t count = 0;
    RETURN_IF_ERROR(memory_take(&columns, plan->column_count * sizeof *columns, "a query", error));
    for (uint32_t c = 0; c < plan->column_count; c++)
        if (!plan->columns[c].decided && !run->columns[c].staged)
            columns[count++] = plan->columns[c].data;
    const bool ordered = first_rows_know_tiles(&run->top.first);
    run->backwards =
        ordered ? top_rows_backwards(&run->top, plan, run->scan) : atomic_load(&file_scans) % 2 == 1;
    run->reader = may_end_early(plan) ? NULL : scan_reader_start(run->scan, columns, count, run->backwards);
    if (run->reader)
        atomic_fetch_add(&file_scans, 1);
    else if (!ordered)
        run->backwards = false;
    free(columns);
    return STATUS_OK;
}

static enum status scan_piece(void *context, uint64_t item, unsigned thread, struct error *error)
{
    struct device_run *run = context;
    const uint64_t piece = run->backwards ? run->pieces - 1 - item : item;
    const struct plan *plan = run->plan;
    struct cpu_worker *worker = &run->workers[thread];
    const struct tile_skip *scan = run->scan;
    uint64_t tile, end;
    piece_tiles(scan, piece, &tile, &end);
    scan_reader_reach(run->reader, tile);
    RETURN_IF_ERROR(cancel_check(error));
    if (may_end_early(plan) && atomic_load(&run->found_rows) >= plan->limit + plan->offset)
        return STATUS_OK; /* pieces are started in order, so those before this one have enough rows */
    struct piece_part part;
    while (part_next(scan, &tile, end, &part)) {
        if (!worker->used || worker->segment != part.segment)
            cpu_enter_segment(run, worker, part.segment);
        if (!worker->used && worker->states)
            group_states_clear(worker->states);
        worker->used = true;
        RETURN_IF_ERROR(scan_tiles(run, worker, part.first, part.count, piece, error));
        if (worker->states)
            RETURN_IF_ERROR(group_states_end(worker->states, error));
    }
    if (plan->shape == PLAN_ROWS)
        atomic_fetch_add(&run->found_rows, run->found[piece].count);
    return STATUS_OK;
}

/* Guesses the bound of the first rows from a sample of tiles in memory. */
static void guess_bound(struct device_run *run)
{
    const uint64_t tiles = run->scan->kept_tiles, wanted = run->top.first.wanted;
    struct cpu_worker *const worker = &run->workers[0];
    const uint64_t samples = tiles / SAMPLE_SHARE < SAMPLE_MOST ? tiles / SAMPLE_SHARE : SAMPLE_MOST;
    if (!wanted || run->counting || run->reader || samples < SAMPLE_LEAST)
        return;
    const uint64_t place = top_rows_sampled(&run->top, samples, tiles);
    run->top.first.wanted = place;
    for (uint64_t i = 0; place && i < samples; i++) {
        uint64_t tile = (2 * i + 1) * tiles / (2 * samples);
        struct piece_part part;
        uint32_t count;
        if (!part_next(run->scan, &tile, tile + 1, &part))
            break;
        if (i == 0 || worker->segment != part.segment)
            cpu_enter_segment(run, worker, part.segment);
        const struct tile t = tile_at(run, worker, part.first);
        find_rows(run, worker, &t, &count);
    }
    run->top.first.wanted = wanted;
    top_rows_begin(&run->top);
    if (place && worker->top.count == place)
        top_rows_guess(&run->top, worker->top.ranks[0]);
    worker->top.count = 0;
}

static void run_begin(struct device_run *run, const struct tile_skip *scan)
{
    run->scan = scan;
    run->pieces = (scan->kept_tiles + PIECE_TILES - 1) / PIECE_TILES;
    for (unsigned w = 0; w < run->threads; w++) {
        struct cpu_worker *worker = &run->workers[w];
        run->deliveries[w] = (struct group_delivery){
            .plan = run->plan, .sink = run->sink, .thread = w, .groups = run->deliveries[w].groups};
        if (worker->states)
            group_states_deliver(worker->states, run->sink ? &run->deliveries[w] : NULL);
        worker->used = false;
        worker->top.count = 0;
        memset(worker->points, 0, plan_points(run->plan) * sizeof *worker->points);
    }
    for (uint64_t p = 0; run->found && p < run->pieces; p++)
        run->found[p] = (struct piece_rows){.rows = run->found[p].rows};
    atomic_store(&run->found_rows, 0);
    top_rows_begin(&run->top);
}

/* The rows of all pieces, one piece after the other. */
struct collecting {
    const struct piece_rows *found;
    const uint64_t *at; /* where each piece's rows begin */
    uint64_t *rows;
};

static enum status collect_piece(void *context, uint64_t item, unsigned thread, struct error *error)
{
    const struct collecting *const collecting = context;
    const struct piece_rows *const found = &collecting->found[item];
    uint64_t *const rows = collecting->rows + collecting->at[item];
    (void)thread;
    for (uint64_t i = 0; !found->listed && i < found->count; i++)
        rows[i] = found->first + i;
    if (found->listed)
        memcpy(rows, found->rows, found->count * sizeof *rows);
    return cancel_check(error);
}

static enum status collect_rows(struct device_run *run, struct partial *groups, struct error *error)
{
    uint64_t *at;
    RETURN_IF_ERROR(memory_take(&at, (run->pieces + 1) * sizeof *at, "a list of rows", error));
    for (uint64_t p = 0; p < run->pieces; p++) {
        at[p] = groups->count;
        groups->count += run->found[p].count;
    }
    enum status status =
        spillable_rows(&groups->rows, (groups->count + 1) * sizeof *groups->rows, "a list of rows", error);
    struct collecting collecting = {run->found, at, groups->rows};
    status = AND_THEN(status, parallel_for(run->threads, run->pieces, collect_piece, &collecting, error));
    free(at);
    return status;
}

static enum status collect(struct device_run *run, bool mergeable, struct partial *partial,
                           struct error *error)
{
    uint32_t used = 0;
    if (run->plan->shape == PLAN_ROWS)
        return collect_rows(run, partial, error);
    if (run->keys.words) {
        key_bits_give(run->plan, &run->keys, partial);
        return STATUS_OK;
    }
    for (unsigned w = 0; w < run->threads; w++) {
        if (!run->workers[w].used && (w + 1 < run->threads || used))
            continue;
        if (!run->workers[w].used)
            group_states_clear(run->workers[w].states);
        run->used[used++] = run->workers[w].states;
    }
    return group_states_collect(run->plan, run->used, used, run->threads, mergeable,
                                run->sink ? run->deliveries : NULL, partial, error);
}

/* Answers a plan that only counts rows which bitmap indexes decide: from their numbers of rows, or from the mask. */
static enum status count_rows(struct device_run *run, const struct tile_skip *scan, struct partial *partial,
                              struct run_timing *timing, struct error *error)
{
    const double begin = clock_ms();
    uint64_t rows = 0;
    if (plan_rows_are_known(run->plan))
        rows = plan_known_rows(run->plan, scan);
    else
        RETURN_IF_ERROR(index_mask_make(run->index, scan, run->threads, &rows, error));
    RETURN_IF_ERROR(partial_of_rows(run->plan, rows, partial, error));
    timing->filter_ms = timing->total_ms = clock_ms() - begin;
    timing->stage_ms = timing->scan_ms = timing->merge_ms = 0;
    return STATUS_OK;
}

/* Makes the mask of bitmap indexes, and then scans: again, if the guess of a bound left too few rows. *matched is the time
 * between the two. */
static enum status match_and_scan(struct device_run *run, double *matched, struct error *error)
{
    set_dimensions(run);
    if (run->index)
        RETURN_IF_ERROR(index_mask_make(run->index, run->scan, run->threads, NULL, error));
    *matched = clock_ms();
    guess_bound(run);
    RETURN_IF_ERROR(parallel_for(run->threads, run->pieces, scan_piece, run, error));
    if (!run->top.guessed || atomic_load(&run->found_rows) >= run->top.first.wanted)
        return STATUS_OK;
    run_begin(run, run->scan);
    return parallel_for(run->threads, run->pieces, scan_piece, run, error);
}

static enum status run_tiles(struct device_run *run, const struct tile_skip *scan, bool mergeable,
                             struct partial *partial, struct run_timing *timing, struct error *error)
{
    if (plan_counts_rows(run->plan) && !run->counting)
        return count_rows(run, scan, partial, timing, error);
    const double begin = clock_ms();
    run_begin(run, scan);
    if (!mergeable && !run->counting)
        key_bits_begin(run->plan, &run->keys);
    double staged = begin, matched;
    if (run->stages) {
        RETURN_IF_ERROR(stage_columns(run, error));
        staged = clock_ms();
    }
    RETURN_IF_ERROR(read_columns(run, error));
    const enum status status = match_and_scan(run, &matched, error);
    scan_reader_stop(run->reader);
    run->reader = NULL;
    RETURN_IF_ERROR(status);
    RETURN_IF_ERROR(expression_check(&run->plan->expressions, error));
    const double scanned = clock_ms();
    RETURN_IF_ERROR(collect(run, mergeable, partial, error));
    const double end = clock_ms();
    timing->stage_ms = staged - begin;
    timing->filter_ms = matched - staged;
    timing->scan_ms = scanned - matched;
    timing->merge_ms = end - scanned;
    timing->total_ms = end - begin;
    return STATUS_OK;
}

enum status cpu_run(struct device_run *run, const struct device_request *request, struct partial *partial,
                    struct run_timing *timing, struct error *error)
{
    struct tile_skip selected;
    enum status status;
    if (!request->segments) {
        run->sink = !request->mergeable && group_states_deliverable(run->plan) ? request->sink : NULL;
        status = run_tiles(run, run->share, request->mergeable, partial, timing, error);
        run->sink = NULL;
        return status;
    }
    RETURN_IF_ERROR(
        tile_skip_select(run->share, request->segments, request->segment_count, &selected, error));
    /* a part of the share gives all groups */
    status = run_tiles(run, &selected, true, partial, timing, error);
    tile_skip_free(&selected);
    return status;
}

/* ---- Count ---- */

/* The same for a key whose codec keeps bits apart: the planes of a test in all tiles that reach it, all bits in tiles whose
 * survivors are probed, and the needed bits in tiles with survivors. */
static uint64_t bits_touched(const struct plan *plan, uint32_t c, const struct scan_point *points,
                             uint64_t tiles)
{
    double touched = 0;
    uint32_t read = 0, last = plan->step_count;
    for (uint32_t s = 0; s < plan->step_count; s++) {
        const struct plan_step *step = &plan->steps[s];
        const struct plan_join *join = step->kind == STEP_SEMI_JOIN ? &plan->joins[step->join] : NULL;
        last = step->kind == STEP_CONDITION && s < last ? s : last;
        if (!join || join->column != c || join->match == EXPRESSION_NONE)
            continue;
        const uint32_t bits = join->test.used ? join->test.care : UINT32_MAX;
        touched += plan_bits_share(plan, c, bits & ~read) * (double)points[s].tiles;
        read |= bits;
        if (join->test.used && !join->test.exact)
            touched += plan_bits_share(plan, c, ~read) * (double)points[s + 1].tiles;
    }
    if (plan->columns[c].fetched)
        touched += plan_bits_share(plan, c, plan->columns[c].needed & ~read) * (double)points[last].tiles;
    return (uint64_t)((double)plan->columns[c].data->bytes * touched / (double)tiles);
}

/* The bytes of a column that a scan touches. A tile is read whole as soon as a row needs it, because
 * tile_cpu.h prefetches it. In a codec that tests ranges on its bit planes, every tile of a filter column is
 * read. */
static uint64_t bytes_touched(const struct plan *plan, uint32_t c, const struct scan_point *points,
                              uint64_t tiles)
{
    const struct column_data *data = plan->columns[c].data;
    const uint32_t use = plan_first_use(plan, c), first = plan->index.term_count > 0; /* after STEP_INDEX */
    if (use > plan->step_count || tiles == 0)
        return 0;
    if (plan_stages(plan, c, false))
        return points[use].tiles * TILE_ROWS * plan->columns[c].column->value_bytes;
    if (data->codec->planes && plan->columns[c].column->references)
        return bits_touched(plan, c, points, tiles);
    const uint64_t touched =
        plan->columns[c].stepped && data->codec->in_range ? points[first].tiles : points[use].tiles;
    return (uint64_t)((double)data->bytes * (double)touched / (double)tiles);
}

/* Counts the plan's steps, also if a hand-written kernel answers: it does the same, tile by tile. */
enum status cpu_count(struct device_run *run, bool steps, struct scan_counts *counts, struct error *error)
{
    const struct plan *plan = run->plan;
    struct scan_point *const points = run->workers[0].points; /* gets those of all threads */
    struct partial partial = {0};
    struct run_timing timing;
    RETURN_IF_ERROR(scan_counts_make(plan, counts, error));
    counts->tiles_skipped = counts->tiles - run->share->kept_tiles;
    (void)steps; /* always counted */
    run->counting = true;
    const enum status status = run_tiles(run, run->share, false, &partial, &timing, error);
    run->counting = false;
    partial_free(&partial);
    RETURN_IF_ERROR(status);
    for (unsigned w = 1; w < run->threads; w++)
        for (uint32_t p = 0; p < plan_points(plan); p++) {
            points[p].rows += run->workers[w].points[p].rows;
            points[p].tiles += run->workers[w].points[p].tiles;
            points[p].ticks += run->workers[w].points[p].ticks;
        }
    scan_counts_fill(plan, points, counts);
    for (uint32_t c = 0; c < plan->column_count; c++)
        counts->bytes[c] = bytes_touched(plan, c, points, counts->tiles);
    return STATUS_OK;
}
