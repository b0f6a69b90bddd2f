/* explain_analyse.c: the runs of EXPLAIN ANALYZE (explain.h). */
#include "engine/explain/explain.h"

#include "engine/answer/groups/group_totals.h"
#include "storage/base/clock.h"

/* Medians are of this many runs, or of fewer if they take longer than this time together. */
#define ANALYSED_RUNS 5u
#define ANALYSED_MS   500.0

static enum status run(struct engine *engine, const struct plan *plan, struct prepared_plan *prepared,
                       struct run_timing *timing, struct error *error)
{
    struct device_request all = {.segments = NULL};
    struct group_totals *totals;
    struct partial partial = {0};
    enum status status = group_totals_make(plan, engine_threads(engine), &totals, error);
    all.sink = group_totals_sink(totals);
    status = AND_THEN(status, engine_run(prepared, &all, &partial, timing, error));
    group_totals_free(totals);
    partial_free(&partial);
    return status;
}

/* The reads of the first run, which found what was in memory, stay in *timing. */
static enum status run_for_medians(struct engine *engine, const struct plan *plan,
                                   struct prepared_plan *prepared, struct run_timing *timing,
                                   struct error *error)
{
    double stage[ANALYSED_RUNS], filter[ANALYSED_RUNS], scan[ANALYSED_RUNS], total[ANALYSED_RUNS];
    const double begin = clock_ms();
    size_t runs = 0;
    uint64_t more;
    do {
        RETURN_IF_ERROR(run(engine, plan, prepared, timing, error));
        stage[runs] = timing->stage_ms;
        filter[runs] = timing->filter_ms;
        scan[runs] = timing->scan_ms;
        total[runs++] = timing->total_ms;
        more = runs < ANALYSED_RUNS && clock_ms() - begin < ANALYSED_MS;
        RETURN_IF_ERROR(cluster_decide(engine_cluster(engine), CLUSTER_COUNT, &more, error));
    } while (more);
    timing->stage_ms = clock_median(stage, runs);
    timing->filter_ms = clock_median(filter, runs);
    timing->scan_ms = clock_median(scan, runs);
    timing->total_ms = clock_median(total, runs);
    return STATUS_OK;
}

enum status explain_analyse(struct explain_node *node, struct engine *engine, const struct plan *plan,
                            struct prepared_plan *prepared, struct run_timing *timing, struct error *error)
{
    struct scan_counts counts = {0};
    struct explained explained = {
        .plan = plan, .engine = engine, .prepared = prepared, .counts = &counts, .timing = timing};
    RETURN_IF_ERROR(run_for_medians(engine, plan, prepared, timing, error));
    enum status status = engine_count(prepared, true, &counts, error);
    status = AND_THEN(status, engine_read_ceiling(engine, &explained.read_ceiling, error));
    if (status == STATUS_OK)
        explain_plan(node, &explained);
    scan_counts_free(&counts);
    return status;
}
