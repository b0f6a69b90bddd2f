/* plans.c: plans a SELECT, runs it and explains it (relational.h). */
#include "engine/relational/relational.h"

#include "engine/answer/constants.h"
#include "engine/answer/output.h"
#include "storage/base/clock.h"
#include "storage/base/memory.h"
#include "storage/base/number/number_text.h"

#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

/* ---- EXPLAIN ---- */

enum status relational_line(struct relational *run, const char *format, ...)
{
    const size_t indent = 2 * (size_t)run->level;
    va_list arguments;
    if (run->task->explain == SQL_EXPLAIN_NONE)
        return STATUS_OK;
    va_start(arguments, format);
    const int length = number_print_list(NULL, 0, format, arguments);
    va_end(arguments);
    const size_t more = indent + (size_t)length + 1;
    RETURN_IF_ERROR(memory_grow(&run->text, run->text_bytes + more + 1, "a plan's text", run->error));
    char *const line = run->text + run->text_bytes;
    memset(line, ' ', indent);
    va_start(arguments, format);
    number_print_list(line + indent, (size_t)length + 1, format, arguments);
    va_end(arguments);
    memcpy(line + more - 1, "\n", 2);
    run->text_bytes += more;
    return STATUS_OK;
}

/* Adds the lines of a plan, which are freed. */
static enum status explain_lines(struct relational *run, struct rowset *lines)
{
    enum status status = STATUS_OK;
    for (uint64_t row = 0; status == STATUS_OK && row < lines->rows; row++) {
        uint32_t length;
        char buffer[ROWSET_TEXT_BYTES];
        const char *const text = rowset_text(&lines->columns[0], row, buffer, &length);
        status = relational_line(run, "%.*s", (int)length, text);
    }
    rowset_free(lines);
    return status;
}

/* A plan that EXPLAIN ANALYZE runs is explained after its run. */
static enum status explain_plan(struct relational *run, const struct plan *plan, const struct engine *engine)
{
    struct rowset lines;
    if (!plan->fact)
        return relational_line(run, "one row of constants: nothing is read");
    if (run->task->explain != SQL_EXPLAIN)
        return STATUS_OK;
    const struct explained explained = {.plan = plan, .engine = engine, .timing = &run->timing};
    RETURN_IF_ERROR(sql_explain(&explained, &lines, run->error));
    return explain_lines(run, &lines);
}

static enum status analyse_plan(struct relational *run, const struct plan *plan, struct engine *engine,
                                struct prepared_plan *prepared, struct run_timing *timing)
{
    struct rowset lines;
    if (run->task->explain != SQL_EXPLAIN_ANALYZE)
        return STATUS_OK;
    RETURN_IF_ERROR(explain_analyse(engine, plan, prepared, run->task->observer, timing, &lines, run->error));
    return explain_lines(run, &lines);
}

/* ---- Runs ---- */

/* The engine for rows in memory: the statement's own if that is one CPU, else another one. */
static enum status memory_engine(struct relational *run, struct engine **engine)
{
    struct engine *const own = run->task->engine;
    *engine = own;
    if (!engine_is_cuda(own) && !engine_cluster(own) && engine_members(own) == 1)
        return STATUS_OK;
    if (!*run->task->own)
        RETURN_IF_ERROR(engine_open(&(struct engine_options){.device = "cpu", .threads = engine_threads(own)},
                                    run->task->own, run->error));
    *engine = *run->task->own;
    return STATUS_OK;
}

static void add_timing(struct run_timing *all, const struct run_timing *one)
{
    all->plan_ms += one->plan_ms;
    all->compile_ms += one->compile_ms;
    all->load_ms += one->load_ms;
    all->filter_ms += one->filter_ms;
    all->scan_ms += one->scan_ms;
    all->stage_ms += one->stage_ms;
    all->merge_ms += one->merge_ms;
    all->total_ms += one->total_ms;
    all->output_ms += one->output_ms;
    all->bytes += one->bytes;
    all->moved_bytes += one->moved_bytes;
}

static enum status run_plan(struct relational *run, const struct plan *plan, struct engine *engine,
                            struct run_timing *timing, struct rowset *rows)
{
    static const struct device_request all = {.segments = NULL};
    struct prepared_plan *prepared = NULL;
    struct partial partial = {0};
    struct error *const error = run->error;
    if (!plan->fact)
        return constants_answer(plan, rows, error);
    const bool analysed = run->task->explain == SQL_EXPLAIN_ANALYZE;
    enum status status = engine_prepare(engine, plan, analysed, &prepared, error);
    if (status == STATUS_OK)
        status = engine_run(prepared, &all, &partial, timing, error);
    if (status == STATUS_OK) {
        const double begin = clock_ms();
        status = answer_rows(plan, &partial, engine_threads(engine), rows, error);
        timing->output_ms = clock_ms() - begin;
        partial_free(&partial);
    }
    if (status == STATUS_OK)
        status = analyse_plan(run, plan, engine, prepared, timing);
    engine_release(prepared);
    if (status == STATUS_OK)
        status = relation_sort_dictionaries(rows, error);
    return status;
}

enum status relational_keep(struct relational *run, struct rowset *rows)
{
    for (uint32_t c = 0; c < rows->column_count; c++) {
        if (!rows->dictionaries[c])
            continue;
        RETURN_IF_ERROR(memory_grow(&run->dictionaries,
                                    (run->dictionary_count + 1) * sizeof *run->dictionaries, "an answer",
                                    run->error));
        run->dictionaries[run->dictionary_count++] = rows->dictionaries[c];
        rows->dictionaries[c] = NULL;
    }
    return STATUS_OK;
}

enum status relational_plan(struct relational *run, struct database *database,
                            const struct sql_select *select, bool last, struct rowset *rows)
{
    const struct relational_task *const task = run->task;
    const bool stored = database == task->database;
    const double begin = clock_ms();
    struct engine *engine = task->engine;
    struct run_timing timing = {0};
    struct plan *plan;
    *rows = (struct rowset){0};
    run->no_star = run->many_texts = false;
    if (!stored)
        RETURN_IF_ERROR(memory_engine(run, &engine));
    const struct sql_options options = {.codec = stored ? task->codec : NULL,
                                        .threads = engine_threads(engine),
                                        .on_gpu = engine_is_cuda(engine),
                                        .index = task->index,
                                        .like = task->like,
                                        .now = task->now,
                                        .no_star = &run->no_star,
                                        .many_texts = &run->many_texts};
    RETURN_IF_ERROR(cancel_check(run->error));
    RETURN_IF_ERROR(
        sql_bind(database, select, run->parameters, run->parameter_count, &options, &plan, run->error));
    plan->staged = stored && task->staged;
    timing.plan_ms = clock_ms() - begin;
    for (uint32_t c = 0; stored && c < plan->column_count; c++)
        timing.bytes += plan->columns[c].decided ? 0 : plan->columns[c].data->bytes;
    enum status status = engine_fit(engine, plan, run->error);
    if (status == STATUS_OK)
        status = explain_plan(run, plan, engine);
    if (status == STATUS_OK && !(last && task->explain == SQL_EXPLAIN))
        status = run_plan(run, plan, engine, &timing, rows);
    if (status == STATUS_OK && rows->column_count)
        status = relational_line(run, "answer: %llu row%s in %.3f ms", (unsigned long long)rows->rows,
                                 rows->rows == 1 ? "" : "s", timing.total_ms + timing.output_ms);
    add_timing(&run->timing, &timing);
    plan_free(plan);
    if (status == STATUS_OK)
        status = relational_keep(run, rows);
    if (status != STATUS_OK)
        rowset_free(rows);
    return status;
}
