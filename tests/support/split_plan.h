/* split_plan.h: a plan whose fact table has many small segments, made from one whose table has a single one in plain:
 * what a table of many times 2^24 rows would be, without its rows. Runs of some segments each, merged. */
#ifndef TESSERA_TESTS_SUPPORT_SPLIT_PLAN_H
#define TESSERA_TESTS_SUPPORT_SPLIT_PLAN_H

#include "engine/answer/output.h"
#include "engine/run/engine.h"
#include "tests/fuzz/fuzz_random.h"

#include <stdlib.h>

#define SPLIT_COLUMNS_MAX 256u

struct split_plan {
    struct plan *plan;
    const struct table *whole_fact;
    struct column_data *whole[SPLIT_COLUMNS_MAX];
    struct table fact;
    uint32_t *segment_rows;
    struct column_data columns[SPLIT_COLUMNS_MAX];
    struct segment_data *segments[SPLIT_COLUMNS_MAX];
};

/* Columns of its own for each split, kept to the end: a GPU keeps what it uploaded by the address of a column, and by that of
 * the table's first one the list of all tiles. */
static inline struct column *split_keys(const struct table *fact)
{
    static struct kept {
        struct kept *next;
        struct column columns[];
    } * all;
    struct kept *const kept = malloc(sizeof *kept + fact->column_count * sizeof *kept->columns);
    assert_non_null(kept);
    memcpy(kept->columns, fact->columns, fact->column_count * sizeof *kept->columns);
    kept->next = all;
    all = kept;
    return kept->columns;
}

static inline void split_column(struct split_plan *split, uint32_t c, uint32_t tiles)
{
    const struct column_data *whole = split->whole[c] = split->plan->columns[c].data;
    const struct segment_data *from = &whole->segments[0];
    const uint32_t count = split->fact.segment_count;
    assert_int_equal(whole->codec->id, CODEC_PLAIN);
    split->segments[c] = calloc(count + 1, sizeof *split->segments[c]);
    assert_non_null(split->segments[c]);
    for (uint32_t s = 0; s < count; s++) {
        struct segment_data *to = &split->segments[c][s];
        const size_t tile = (size_t)s * tiles;
        *to = *from;
        to->chunk.data += tile * TILE_ROWS * from->chunk.value_bytes;
        to->chunk.bytes = to->chunk.directory = to->chunk.auxiliary = to->chunk.data;
        to->chunk.rows = split->segment_rows[s];
        to->chunk.tiles = (split->segment_rows[s] + TILE_ROWS - 1) / TILE_ROWS;
        to->chunk.size = (size_t)to->chunk.tiles * TILE_ROWS * from->chunk.value_bytes;
        if (from->validity)
            to->validity = from->validity + tile * TILE_LANES;
        to->tile_min_max = from->tile_min_max + 2 * tile;
    }
    split->columns[c] =
        (struct column_data){.column = &split->fact.columns[whole->column - split->whole_fact->columns],
                             .codec = whole->codec,
                             .segment_count = count,
                             .segments = split->segments[c],
                             .bytes = whole->bytes};
    split->plan->columns[c].data = &split->columns[c];
}

/* The tiles that are kept, of the new segments. */
static inline void split_scan(struct plan *plan, uint32_t tiles)
{
    struct tile_skip old = plan->scan;
    plan->scan = (struct tile_skip){.tiles = old.tiles, .rows = old.rows, .kept_rows = old.kept_rows};
    plan->scan.runs = calloc(old.kept_tiles + 1, sizeof *plan->scan.runs);
    assert_non_null(plan->scan.runs);
    for (uint64_t r = 0; r < old.run_count; r++)
        for (uint32_t tile = old.runs[r].first, end = tile + old.runs[r].tiles; tile < end;) {
            const uint32_t segment = tile / tiles, first = tile % tiles,
                           count = end - tile < tiles - first ? end - tile : tiles - first;
            plan->scan.runs[plan->scan.run_count++] = (struct tile_run){
                .segment = segment, .first = first, .tiles = count, .before = plan->scan.kept_tiles};
            plan->scan.kept_tiles += count;
            tile += count;
        }
    free(old.runs);
}

/* Segments of `tiles` tiles each. Undone by split_undo, before the plan is freed. */
static inline void split_make(struct split_plan *split, struct plan *plan, uint32_t tiles)
{
    const uint64_t rows = plan->fact->rows, most = (uint64_t)tiles * TILE_ROWS;
    *split = (struct split_plan){.plan = plan, .whole_fact = plan->fact, .fact = *plan->fact};
    split->fact.segment_count = (uint32_t)((rows + most - 1) / most);
    split->segment_rows = calloc(split->fact.segment_count + 1, sizeof *split->segment_rows);
    assert_non_null(split->segment_rows);
    for (uint32_t s = 0; s < split->fact.segment_count; s++)
        split->segment_rows[s] = (uint32_t)(rows - s * most < most ? rows - s * most : most);
    split->fact.segment_rows = split->segment_rows;
    split->fact.columns = split_keys(plan->fact);
    assert_true(plan->column_count <= SPLIT_COLUMNS_MAX);
    for (uint32_t c = 0; c < plan->column_count; c++)
        split_column(split, c, tiles);
    split_scan(plan, tiles);
    plan->fact = &split->fact;
    plan->first = first_rows_of(plan); /* ranks have places of rows in segments */
}

static inline void split_undo(struct split_plan *split)
{
    split->plan->fact = split->whole_fact;
    for (uint32_t c = 0; c < split->plan->column_count; c++) {
        split->plan->columns[c].data = split->whole[c];
        free(split->segments[c]);
    }
    free(split->segment_rows);
}

/* The answer from `parts` runs over disjoint segments, dealt out at random and merged in a random order; every other
 * time each run is a plan made ready anew, as on a device of its own. */
static inline enum status split_answer(const struct split_plan *split, const struct device_operations *device,
                                       struct device *on, uint32_t parts, struct rowset *rows,
                                       struct error *error)
{
    struct partial all = {0};
    struct device_run *run = NULL;
    struct run_timing timing;
    const uint32_t count = split->fact.segment_count;
    uint32_t *segments = calloc(count + 1, sizeof *segments), *part_of = calloc(count + 1, sizeof *part_of);
    const bool anew = chance(50);
    enum status status = STATUS_OK;
    assert_true(segments && part_of);
    for (uint32_t s = 0; s < count; s++)
        part_of[s] = below(parts);
    for (uint32_t part = 0, rotated = below(parts); status == STATUS_OK && part < parts; part++) {
        struct device_request request = {.segments = segments, .mergeable = true};
        struct partial one = {0};
        for (uint32_t s = 0; s < count; s++)
            if (part_of[s] == (part + rotated) % parts)
                segments[request.segment_count++] = s;
        if (anew) {
            device->release(run);
            run = NULL;
        }
        if (!run)
            status = device->prepare(on, split->plan, NULL, false, &run, error);
        if (status == STATUS_OK && (anew || part == 0))
            status = device->load(run, &timing, error);
        if (status == STATUS_OK)
            status = device->run(run, &request, part ? &one : &all, &timing, error);
        if (status == STATUS_OK && part)
            status = partial_merge(split->plan, &all, &one, error);
        partial_free(&one);
    }
    if (status == STATUS_OK)
        status = answer_rows(split->plan, &all, 2, rows, error);
    partial_free(&all);
    device->release(run);
    free(segments);
    free(part_of);
    return status;
}

/* The answer of an engine, whose devices share the segments; every other time of a second run. */
static inline enum status split_answer_by(const struct split_plan *split, struct engine *engine,
                                          struct rowset *rows, struct error *error)
{
    static const struct device_request all = {.segments = NULL};
    struct prepared_plan *prepared;
    struct partial partial = {0};
    struct run_timing timing = {0};
    RETURN_IF_ERROR(engine_prepare(engine, split->plan, chance(50), &prepared, error));
    enum status status = engine_run(prepared, &all, &partial, &timing, error);
    if (status == STATUS_OK && chance(50)) {
        partial_free(&partial);
        status = engine_run(prepared, &all, &partial, &timing, error);
    }
    if (status == STATUS_OK)
        status = answer_rows(split->plan, &partial, 2, rows, error);
    partial_free(&partial);
    engine_release(prepared);
    return status;
}

#endif
