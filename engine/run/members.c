/*
 * members.c: what an engine of several devices does on each (engine_internal.h). One thread of the host works for one
 * member, and starts further ones if the member is a CPU. If a member fails, the others stop at their next step, and the
 * first failure is the result. With one member everything happens on the caller's thread.
 */
#include "engine/run/engine_internal.h"
#include "engine/run/share.h"
#include "storage/base/clock.h"
#include "storage/base/memory.h"

#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- All members at once ---- */

typedef enum status member_work(void *context, uint32_t member, struct error *error);

struct team {
    const struct engine *engine;
    member_work *work;
    void *context;
    struct execution together;
    atomic_flag failed;
    struct error first; /* failure */
};

/* Errors of a GPU name it; others get the member's name. */
static void name_member(const struct engine *engine, uint32_t member, struct error *error)
{
    char text[ERROR_TEXT_BYTES];
    if (error->status == STATUS_INTERRUPTED || strncmp(error->text, "GPU ", 4) == 0)
        return;
    snprintf(text, sizeof text, "%s", error->text);
    error_set(error, error->status, "device %u of %u, %s: %s", member + 1, engine->member_count,
              engine->operations->text(engine->members[member].device), text);
}

static enum status work_for(void *context, uint64_t member, unsigned thread, struct error *error)
{
    struct team *team = context;
    (void)thread;
    const enum status status = team->work(team->context, (uint32_t)member, error);
    if (status != STATUS_OK && !atomic_flag_test_and_set(&team->failed)) {
        error->status = status;
        name_member(team->engine, (uint32_t)member, error);
        team->first = *error;
        execution_stop(&team->together);
    }
    return status;
}

static enum status for_members(const struct engine *engine, member_work *work, void *context,
                               struct error *error)
{
    if (engine->member_count == 1)
        return work(context, 0, error);
    struct team team = {.engine = engine,
                        .work = work,
                        .context = context,
                        .together = {.outer = execution_current()},
                        .failed = ATOMIC_FLAG_INIT};
    execution_enter(&team.together);
    const enum status status =
        parallel_for(engine->member_count, engine->member_count, work_for, &team, error);
    execution_leave(&team.together);
    if (status == STATUS_OK || team.first.status == STATUS_OK)
        return status;
    if (error)
        *error = team.first;
    return team.first.status;
}

/* ---- Prepare and load ---- */

struct preparation {
    struct prepared_plan *prepared;
    bool timed;
};

/* The devices of this process share the segments of a part; else those of all processes do. */
static enum status divide(const struct engine *engine, const struct table *fact, uint32_t m,
                          struct member_run *member, struct error *error)
{
    const bool part = fact->part.of && engine->cluster;
    return share_divide(fact, part ? engine->member_count : engine->sharers,
                        part ? m : engine->first_sharer + m, &member->segments, &member->segment_count,
                        error);
}

static enum status prepare_member(void *context, uint32_t m, struct error *error)
{
    const struct preparation *preparation = context;
    struct prepared_plan *const prepared = preparation->prepared;
    const struct engine *engine = prepared->engine;
    struct member_run *const member = &prepared->members[m];
    struct device_share share;
    if (engine->sharers > 1)
        RETURN_IF_ERROR(divide(engine, prepared->plan->fact, m, member, error));
    share = (struct device_share){.segments = member->segments, .count = member->segment_count};
    return engine->operations->prepare(engine->members[m].device, prepared->plan,
                                       engine->sharers > 1 ? &share : NULL, preparation->timed, &member->run,
                                       error);
}

enum status members_prepare(struct prepared_plan *prepared, bool timed, struct error *error)
{
    struct preparation preparation = {.prepared = prepared, .timed = timed};
    return for_members(prepared->engine, prepare_member, &preparation, error);
}

void members_release(struct prepared_plan *prepared)
{
    if (prepared->team)
        prepared->engine->operations->team_close(prepared->team);
    for (uint32_t m = 0; m < prepared->engine->member_count; m++) {
        struct member_run *const member = &prepared->members[m];
        if (member->run)
            prepared->engine->operations->release(member->run);
        free(member->segments);
    }
}

static enum status load_member(void *context, uint32_t m, struct error *error)
{
    struct prepared_plan *const prepared = context;
    struct member_run *const member = &prepared->members[m];
    return prepared->engine->operations->load(member->run, &member->timing, error);
}

static double longer(double a, double b)
{
    return a > b ? a : b;
}

static enum status open_team(struct prepared_plan *prepared, struct error *error)
{
    const struct engine *engine = prepared->engine;
    struct device_run *runs[DEVICES_MAX];
    if (!engine->operations->team_open || engine->member_count == 1)
        return STATUS_OK;
    for (uint32_t m = 0; m < engine->member_count; m++)
        runs[m] = prepared->members[m].run;
    return engine->operations->team_open(runs, engine->member_count, &prepared->team, error);
}

/* Compiles the kernel for the first member, if that is not done, so that the others find it in the cache of kernels. */
static enum status compile_first(struct prepared_plan *prepared, struct error *error)
{
    const struct engine *engine = prepared->engine;
    return engine->operations->compile && engine->member_count > 1
               ? engine->operations->compile(prepared->members[0].run, false, error)
               : STATUS_OK;
}

enum status members_load(struct prepared_plan *prepared, struct run_timing *timing, struct error *error)
{
    RETURN_IF_ERROR(compile_first(prepared, error));
    RETURN_IF_ERROR(for_members(prepared->engine, load_member, prepared, error));
    timing->compile_ms = timing->load_ms = timing->open_ms = 0;
    for (uint32_t m = 0; m < prepared->engine->member_count; m++) {
        timing->compile_ms = longer(timing->compile_ms, prepared->members[m].timing.compile_ms);
        timing->load_ms = longer(timing->load_ms, prepared->members[m].timing.load_ms);
        timing->open_ms = longer(timing->open_ms, prepared->members[m].timing.open_ms);
    }
    return open_team(prepared, error);
}

/* ---- Run ---- */

struct running {
    struct prepared_plan *prepared;
    const struct device_request *request;
};

/* The request's segments that the member has, into `mine`, which is large enough. */
static uint32_t own_segments(const struct member_run *member, const struct device_request *request,
                             uint32_t *mine)
{
    uint32_t count = 0;
    for (uint32_t r = 0, s = 0; r < request->segment_count && s < member->segment_count;)
        if (request->segments[r] == member->segments[s])
            mine[count++] = member->segments[s++], r++;
        else if (request->segments[r] < member->segments[s])
            r++;
        else
            s++;
    return count;
}

static enum status run_member(void *context, uint32_t m, struct error *error)
{
    const struct running *running = context;
    const struct prepared_plan *prepared = running->prepared;
    struct member_run *const member = &running->prepared->members[m];
    struct device_request request = {.mergeable = true};
    uint32_t *mine = NULL;
    if (running->request->segments) {
        RETURN_IF_ERROR(memory_take(&mine, (member->segment_count + 1) * sizeof *mine, "segments", error));
        request.segments = mine;
        request.segment_count = own_segments(member, running->request, mine);
    }
    const enum status status =
        prepared->engine->operations->run(member->run, &request, &member->partial, &member->timing, error);
    free(mine);
    return status;
}

static void keep_longest(const struct prepared_plan *prepared, struct run_timing *timing)
{
    timing->filter_ms = timing->scan_ms = timing->stage_ms = timing->merge_ms = timing->total_ms = 0;
    timing->moved_bytes = 0;
    for (uint32_t m = 0; m < prepared->engine->member_count; m++) {
        const struct run_timing *member = &prepared->members[m].timing;
        timing->filter_ms = longer(timing->filter_ms, member->filter_ms);
        timing->scan_ms = longer(timing->scan_ms, member->scan_ms);
        timing->stage_ms = longer(timing->stage_ms, member->stage_ms);
        timing->merge_ms = longer(timing->merge_ms, member->merge_ms);
        timing->total_ms = longer(timing->total_ms, member->total_ms);
        timing->moved_bytes += member->moved_bytes;
    }
}

static enum status merge_on_host(struct prepared_plan *prepared, struct partial *partial,
                                 struct run_timing *timing, struct error *error)
{
    const struct engine *engine = prepared->engine;
    struct partial from[DEVICES_MAX];
    const double begin = clock_ms();
    prepared->exchange = (struct engine_exchange){.how = "merged by the host"};
    for (uint32_t m = 0; m < engine->member_count; m++) {
        from[m] = prepared->members[m].partial;
        prepared->members[m].partial = (struct partial){0};
        prepared->exchange.bytes += partial_bytes(prepared->plan, &from[m]);
    }
    RETURN_IF_ERROR(
        partial_merge_all(prepared->plan, from, engine->member_count, engine->threads, partial, error));
    prepared->exchange.ms = clock_ms() - begin;
    timing->merge_ms += prepared->exchange.ms;
    timing->total_ms += prepared->exchange.ms;
    return STATUS_OK;
}

/* *merged is false if the devices cannot run together, this time or ever. */
static enum status run_team(struct prepared_plan *prepared, const struct device_request *request,
                            struct partial *partial, struct run_timing *timing, bool *merged,
                            struct error *error)
{
    const struct engine *engine = prepared->engine;
    struct run_timing *timings[DEVICES_MAX];
    struct team_timing together = {0};
    *merged = false;
    if (!prepared->team || request->segments)
        return STATUS_OK;
    for (uint32_t m = 0; m < engine->member_count; m++) {
        timings[m] = &prepared->members[m].timing;
        *timings[m] = (struct run_timing){0};
    }
    RETURN_IF_ERROR(engine->operations->team_run(prepared->team, engine->sharers > engine->member_count,
                                                 partial, timings, &together, error));
    *merged = together.merged;
    if (!*merged)
        return STATUS_OK;
    keep_longest(prepared, timing);
    timing->merge_ms += together.merge_ms;
    timing->total_ms = together.total_ms;
    prepared->exchange = (struct engine_exchange){.how = "merged on a GPU that reads the others' memory",
                                                  .bytes = together.bytes,
                                                  .ms = together.merge_ms};
    return STATUS_OK;
}

enum status members_run(struct prepared_plan *prepared, const struct device_request *request,
                        struct partial *partial, struct run_timing *timing, struct error *error)
{
    struct running running = {.prepared = prepared, .request = request};
    bool merged;
    RETURN_IF_ERROR(run_team(prepared, request, partial, timing, &merged, error));
    if (merged)
        return STATUS_OK;
    enum status status = for_members(prepared->engine, run_member, &running, error);
    if (status == STATUS_OK) {
        keep_longest(prepared, timing);
        status = merge_on_host(prepared, partial, timing, error);
    }
    for (uint32_t m = 0; m < prepared->engine->member_count; m++)
        partial_free(&prepared->members[m].partial);
    return status;
}

/* ---- Count ---- */

struct counting {
    struct prepared_plan *prepared;
    bool steps;
};

static enum status count_member(void *context, uint32_t m, struct error *error)
{
    const struct counting *counting = context;
    const struct prepared_plan *prepared = counting->prepared;
    return prepared->engine->operations->count(prepared->members[m].run, counting->steps,
                                               &prepared->members[m].counts[0], error);
}

static enum status sum_counts(struct prepared_plan *prepared, struct scan_counts *counts, struct error *error)
{
    const struct plan *plan = prepared->plan;
    const uint32_t members = prepared->engine->member_count;
    double scan_ms = 0;
    for (uint32_t m = 0; m < members; m++)
        scan_ms += prepared->members[m].timing.scan_ms;
    RETURN_IF_ERROR(scan_counts_make(plan, counts, error));
    counts->tiles_skipped = counts->tiles;
    for (uint32_t m = 0; m < members; m++) {
        struct member_run *const member = &prepared->members[m];
        const double weight = scan_ms > 0 ? member->timing.scan_ms / scan_ms : 1.0 / (double)members;
        for (uint32_t s = 0; s <= plan->step_count; s++)
            counts->steps[s].share += weight * member->counts->steps[s].share;
        scan_counts_add(plan, member->counts, counts);
        counts->tiles_skipped -= member->counts->tiles - member->counts->tiles_skipped;
        member->tiles = member->counts->tiles - member->counts->tiles_skipped;
        member->bytes = 0;
        for (uint32_t c = 0; c < plan->column_count; c++)
            member->bytes += member->counts->bytes[c];
    }
    return STATUS_OK;
}

enum status members_count(struct prepared_plan *prepared, bool steps, struct scan_counts *counts,
                          struct error *error)
{
    struct counting counting = {.prepared = prepared, .steps = steps};
    const uint32_t members = prepared->engine->member_count;
    struct scan_counts *each;
    RETURN_IF_ERROR(memory_zeros(&each, members * sizeof *each, "counts", error));
    for (uint32_t m = 0; m < members; m++)
        prepared->members[m].counts = &each[m];
    enum status status = for_members(prepared->engine, count_member, &counting, error);
    status = AND_THEN(status, sum_counts(prepared, counts, error));
    for (uint32_t m = 0; m < members; m++)
        scan_counts_free(&each[m]);
    free(each);
    return status;
}

/* ---- Bandwidth ---- */

struct rates {
    const struct engine *engine;
    device_rate *measure;
    double rates[DEVICES_MAX];
};

static enum status measure_rate(void *context, uint32_t m, struct error *error)
{
    struct rates *rates = context;
    return rates->measure(rates->engine->members[m].device, &rates->rates[m], error);
}

enum status members_rate(struct engine *engine, device_rate *measure, double *bytes_per_second,
                         struct error *error)
{
    struct rates rates = {.engine = engine, .measure = measure};
    RETURN_IF_ERROR(for_members(engine, measure_rate, &rates, error));
    *bytes_per_second = 0;
    for (uint32_t m = 0; m < engine->member_count; m++)
        *bytes_per_second += rates.rates[m];
    return STATUS_OK;
}
