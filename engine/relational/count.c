/*
 * count.c: the rows of stored tables that pass their own conditions, counted before an order is chosen (relational.h). Of at
 * most 2^17 rows they are counted exactly, which takes 0.1 ms; of more on 64 tiles that are spread evenly over those that
 * their minima and maxima do not exclude. A condition that one row of a thousand passes is then met by 65 rows.
 */
#include "engine/relational/relational.h"

#include "engine/answer/output.h"
#include "engine/sql/scalar.h"

#define EXACT_ROWS_MAX (UINT64_C(1) << 17)
#define SPREAD_TILES   64u

/* Which tiles are kept: of `tiles`, so many that are spread evenly. */
struct spread {
    uint64_t tiles, *at;
};

static bool is_kept(const void *context, uint32_t segment, uint32_t tile)
{
    const struct spread *const spread = context;
    const uint64_t at = (*spread->at)++;
    (void)segment;
    (void)tile;
    return at * SPREAD_TILES / spread->tiles != (at + 1) * SPREAD_TILES / spread->tiles;
}

static enum status count(struct relational *run, struct engine *engine, struct plan *plan, double *rows)
{
    static const struct device_request all = {.segments = NULL};
    const uint64_t tiles = plan->scan.kept_tiles;
    const bool some = plan->fact->rows > EXACT_ROWS_MAX && tiles > SPREAD_TILES;
    struct error *const error = run->error;
    struct prepared_plan *prepared = NULL;
    struct run_timing timing = {0};
    struct partial partial = {0};
    struct rowset counted = {0};
    uint64_t at = 0;
    if (some)
        RETURN_IF_ERROR(
            tile_skip_narrow(&plan->scan, plan->fact, is_kept, &(struct spread){tiles, &at}, error));
    enum status status = engine_prepare(engine, plan, false, &prepared, error);
    if (status == STATUS_OK)
        status = engine_run(prepared, &all, &partial, &timing, error);
    if (status == STATUS_OK) {
        status = answer_rows(plan, &partial, 1, &counted, error);
        partial_free(&partial);
    }
    engine_release(prepared);
    if (status == STATUS_OK && counted.rows)
        *rows =
            (double)counted.columns[0].values[0] * (some ? (double)tiles / (double)plan->scan.kept_tiles : 1);
    rowset_free(&counted);
    run->timing.plan_ms += timing.total_ms;
    return status;
}

enum status estimate_count(struct relational *run, const struct sql_star *star,
                           const struct sql_select *select, double *rows)
{
    const struct relational_task *const task = run->task;
    struct engine *engine;
    struct plan *plan;
    RETURN_IF_ERROR(relational_engine(run, &engine));
    const struct sql_options options = {.codec = task->codec,
                                        .threads = engine_threads(engine),
                                        .index = task->index,
                                        .like = task->like,
                                        .zone = task->zone,
                                        .now = task->now};
    RETURN_IF_ERROR(relational_bind(run, star, select, options, &plan));
    enum status status = engine_fit(engine, plan, run->error);
    if (status == STATUS_OK)
        status = count(run, engine, plan, rows);
    plan_free(plan);
    return status;
}
