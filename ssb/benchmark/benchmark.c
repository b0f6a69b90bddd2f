/*
 * benchmark.c: measures and judges every query with every choice of codecs.
 *
 * All choices of a query run before the next query begins: if the machine becomes slower or faster during the
 * benchmark, this changes the ratios between choices least. The answer of every run is judged, not only that
 * of the last run.
 */
#define _GNU_SOURCE
#include "ssb/benchmark/benchmark.h"

#include "engine/library/statement_cache.h"
#include "engine/program/cluster_command.h"
#include "ssb/benchmark/judge.h"
#include "storage/base/memory.h"
#include "storage/codec/codec_spec.h"
#include "storage/database/writer.h"
#include "storage/base/text/text_stream.h"
#include "storage/base/clock.h"

#include <stdlib.h>
#include <string.h>

struct session {
    const struct benchmark_options *options;
    const char *const *codecs; /* what sql_prepare takes */
    struct database *database;
    struct engine *engine;
    struct sql_cache *cache;
    struct cluster *cluster; /* or NULL; only its first process judges, notes and prints */
    struct progress *progress;
    struct judge judge;
    struct report report;
    const char *names[BENCHMARK_CHOICES_MAX]; /* the choices' names in the report */
    struct sql_statement **statements;        /* [query][choice]; NULL after they have run */
    FILE *notes;                              /* printed when the progress bar has been removed */
    char *notes_text;
    size_t notes_bytes;
    char wrong[512]; /* "q2.1 (plain), " ... */
    uint32_t wrong_count;
};

static enum status allocate_cells(struct session *session, struct error *error)
{
    struct report *report = &session->report;
    report->queries = calloc(report->query_count, sizeof *report->queries);
    for (uint32_t q = 0; report->queries && q < report->query_count; q++) {
        struct report_query *query = &report->queries[q];
        query->name = session->options->queries[q]->name;
        query->sqlite_ms = session->judge.sqlite_ms[q];
        query->cells = calloc(report->choice_count, sizeof *query->cells);
        for (uint32_t c = 0; query->cells && c < report->choice_count; c++) {
            struct report_cell *cell = &query->cells[c];
            struct report_times *const times[] = {&cell->total,  &cell->stage, &cell->filter,
                                                  &cell->kernel, &cell->merge, &cell->text};
            for (size_t t = 0; t < sizeof times / sizeof *times; t++)
                if (!(times[t]->runs = calloc(report->repeat, sizeof(double))))
                    return error_out_of_memory(error, report->repeat * sizeof(double), "the runs' times");
        }
        if (!query->cells)
            return error_out_of_memory(error, report->choice_count * sizeof *query->cells, "the report");
    }
    if (!report->queries)
        return error_out_of_memory(error, report->query_count * sizeof *report->queries, "the report");
    return STATUS_OK;
}

static void free_report(struct report *report)
{
    for (uint32_t q = 0; report->queries && q < report->query_count; q++) {
        for (uint32_t c = 0; report->queries[q].cells && c < report->choice_count; c++) {
            free(report->queries[q].cells[c].total.runs);
            free(report->queries[q].cells[c].stage.runs);
            free(report->queries[q].cells[c].filter.runs);
            free(report->queries[q].cells[c].kernel.runs);
            free(report->queries[q].cells[c].merge.runs);
            free(report->queries[q].cells[c].text.runs);
        }
        free(report->queries[q].cells);
    }
    free(report->queries);
    for (uint32_t i = 0; report->columns && i < report->column_count; i++)
        free(report->columns[i].encodings);
    free(report->columns);
}

/* ---- Sizes ---- */

static enum status measure_encoding(struct session *session, const struct column *column, const char *name,
                                    struct report_encoding *encoding, struct error *error)
{
    struct codec_choice choice;
    enum codec_id codec;
    RETURN_IF_ERROR(codec_choice_parse(name, &choice, error));
    RETURN_IF_ERROR(
        database_encode(session->database, column, &choice, session->options->threads, &codec, error));
    encoding->codec = codec_by_id(codec)->name;
    for (uint32_t i = 0; i < column->encoding_count; i++)
        if (column->encodings[i].codec == codec)
            encoding->bytes = column->encodings[i].bytes;
    return STATUS_OK;
}

static enum status allocate_columns(struct report *report, const struct table *fact, struct error *error)
{
    report->columns = calloc(fact->column_count, sizeof *report->columns);
    if (!report->columns)
        return error_out_of_memory(error, fact->column_count * sizeof *report->columns, "the report");
    report->column_count = fact->column_count;
    for (uint32_t i = 0; i < fact->column_count; i++) {
        const struct column *column = &fact->columns[i];
        report->columns[i] = (struct report_column){
            .name = column->schema.name,
            .value_bytes = column->value_bytes,
            .encodings = calloc(report->choice_count, sizeof *report->columns[i].encodings)};
        if (!report->columns[i].encodings)
            return error_out_of_memory(error, report->choice_count, "the report");
    }
    return STATUS_OK;
}

static enum status measure_encodings(struct session *session, const struct table *fact, struct error *error)
{
    struct report *report = &session->report;
    for (uint32_t i = 0; i < fact->column_count; i++) {
        for (uint32_t c = 0; c < report->choice_count; c++)
            RETURN_IF_ERROR(measure_encoding(session, &fact->columns[i], session->codecs[c],
                                             &report->columns[i].encodings[c], error));
        progress_report(session->progress, "encoding", "columns", i + 1, fact->column_count);
        RETURN_IF_ERROR(cancel_check(error));
    }
    return STATUS_OK;
}

/* Measures all columns, and encodes what is missing. */
static enum status measure_sizes(struct session *session, const struct table *fact, struct error *error)
{
    RETURN_IF_ERROR(allocate_columns(&session->report, fact, error));
    struct cluster *const shared = fact->part.of ? NULL : session->cluster; /* they share a database */
    RETURN_IF_ERROR(cluster_turn_begin(shared, error));
    return cluster_turn_end(shared, measure_encodings(session, fact, error), error);
}

/* Removes the columns that no query reads. */
static void drop_unread(struct report *report)
{
    uint32_t count = 0;
    for (uint32_t i = 0; i < report->column_count; i++)
        if (report->columns[i].encodings[0].codec)
            report->columns[count++] = report->columns[i];
        else
            free(report->columns[i].encodings);
    report->column_count = count;
}

/* Fills in the sizes of the columns that the planned queries read, as they read them; encodes nothing. */
static enum status measure_read_sizes(struct session *session, const struct table *fact, struct error *error)
{
    struct report *report = &session->report;
    RETURN_IF_ERROR(allocate_columns(report, fact, error));
    for (uint32_t s = 0; s < report->query_count * report->choice_count; s++) {
        const struct plan *plan;
        RETURN_IF_ERROR(sql_plan(session->statements[s], &plan, error));
        for (uint32_t i = 0; i < plan->column_count; i++) {
            const struct column *column = plan->columns[i].column;
            const struct codec *codec = plan->columns[i].data->codec;
            report->columns[column - fact->columns].encodings[s % report->choice_count] =
                (struct report_encoding){.codec = codec->name,
                                         .bytes = column_encoding(column, codec->id)->bytes};
        }
    }
    drop_unread(report);
    return STATUS_OK;
}

/* The report's name for the database's own encodings: the choice that all columns were loaded with, if it is
 * the same for all. */
static const char *own_name(const struct table *fact)
{
    for (uint32_t i = 1; i < fact->column_count; i++)
        if (strcmp(fact->columns[i].own_name, fact->columns[0].own_name) != 0)
            return "own";
    return fact->columns[0].own_name;
}

/* Refuses codecs and columns that do not exist, before any long step begins. */
static enum status check_codec(const struct table *fact, const char *codec, struct error *error)
{
    char name[NAME_BYTES];
    const struct column *column;
    struct codec_choice choice;
    enum codec_spec_part said;
    for (uint32_t i = 0; codec_spec_column(codec, i, name, sizeof name); i++)
        RETURN_IF_ERROR(table_column(fact, name, &column, error));
    return codec_spec_find(codec, fact->columns[0].schema.name, &choice, &said, error);
}

/* ---- Times and answers ---- */

/* Judges every run. A run whose answer differs from that of the run before it is wrong, even if nobody
 * judges. */
static void judge_run(struct session *session, uint32_t q, uint32_t c, const struct rowset *answer,
                      bool differs)
{
    const struct ssb_query *query = session->options->queries[q];
    struct report_cell *cell = &session->report.queries[q].cells[c];
    if (cell->check == ANSWER_WRONG)
        return; /* one note for each cell */
    cell->check = judge_answer(&session->judge, query, q, session->names[c], answer);
    if (differs && cell->check != ANSWER_WRONG) {
        fprintf(session->notes, "%s is wrong with codec %s: it answers differently from run to run\n",
                query->name, session->names[c]);
        cell->check = ANSWER_WRONG;
    }
    if (cell->check != ANSWER_WRONG)
        return;
    session->wrong_count++;
    size_t used = strlen(session->wrong);
    snprintf(session->wrong + used, sizeof session->wrong - used, "%s%s (%s)", used ? ", " : "", query->name,
             session->names[c]);
}

/* Hand-written kernels know nothing of deleted rows: then the generated ones answer (NULL). */
static enum status kernel_of(struct database *database, const struct ssb_query *query,
                             const struct hand_kernel **kernel, struct error *error)
{
    const struct table *fact;
    RETURN_IF_ERROR(database_table(database, "lineorder", &fact, error));
    *kernel = table_live(fact) ? NULL : &query->kernel;
    return STATUS_OK;
}

enum status benchmark_statement(struct engine *engine, struct database *database,
                                const struct ssb_query *query, const char *codec, bool staged,
                                enum plan_index_use index, struct sql_statement **statement,
                                struct error *error)
{
    struct sql_settings settings = {.timed = true, .staged = staged, .index = index};
    size_t used;
    RETURN_IF_ERROR(kernel_of(database, query, &settings.kernel, error));
    RETURN_IF_ERROR(
        sql_prepare(engine, database, query->sql, strlen(query->sql), codec, statement, &used, error));
    sql_statement_set(*statement, settings);
    return STATUS_OK;
}

static void keep_times(struct report_cell *cell, uint32_t run, const struct run_timing *timing)
{
    cell->total.runs[run] = timing->total_ms;
    cell->stage.runs[run] = timing->stage_ms;
    cell->filter.runs[run] = timing->filter_ms;
    cell->kernel.runs[run] = timing->scan_ms;
    cell->merge.runs[run] = timing->merge_ms;
}

/* Makes the untimed runs and then the timed ones. */
static enum status run_statement(struct session *session, struct sql_statement *statement, uint32_t q,
                                 uint32_t c, struct error *error)
{
    struct report_cell *cell = &session->report.queries[q].cells[c];
    const uint32_t warmup = session->report.warmup, runs = warmup + session->report.repeat;
    for (uint32_t run = 0; run < runs; run++) {
        struct run_timing timing;
        struct rowset answer;
        char hash[sizeof cell->hash];
        RETURN_IF_ERROR(cancel_check(error));
        RETURN_IF_ERROR(sql_run(statement, &answer, &timing, error));
        disk_reads_add(&session->report.run_reads, &timing.run_reads);
        enum status status = answer_hash(&answer, hash, error);
        if (status == STATUS_OK)
            judge_run(session, q, c, &answer, run > 0 && strcmp(hash, cell->hash) != 0);
        memcpy(cell->hash, hash, sizeof hash);
        cell->answer_rows = answer.rows;
        cell->compile_ms = timing.compile_ms;
        if (status == STATUS_OK && run + 1 == runs && session->options->answers &&
            cluster_rank(session->cluster) == 0)
            status =
                answer_write(&answer, session->options->answers, session->options->queries[q]->name, error);
        rowset_free(&answer);
        RETURN_IF_ERROR(status);
        if (run >= warmup)
            keep_times(cell, run - warmup, &timing);
    }
    RETURN_IF_ERROR(report_times_finish(&cell->total, session->report.repeat, error));
    RETURN_IF_ERROR(report_times_finish(&cell->stage, session->report.repeat, error));
    RETURN_IF_ERROR(report_times_finish(&cell->filter, session->report.repeat, error));
    RETURN_IF_ERROR(report_times_finish(&cell->kernel, session->report.repeat, error));
    return report_times_finish(&cell->merge, session->report.repeat, error);
}

/* Asks the query by its text, as a program that has nothing but the text; `ms` gets what that took. */
static enum status ask_text(struct session *session, uint32_t q, uint32_t c, double *ms, struct error *error)
{
    const struct ssb_query *const query = session->options->queries[q];
    struct sql_settings settings = {.staged = session->options->staged, .index = session->options->index};
    struct report_cell *const cell = &session->report.queries[q].cells[c];
    struct sql_statement *statement;
    struct rowset answer;
    char hash[sizeof cell->hash];
    size_t used;
    RETURN_IF_ERROR(kernel_of(session->database, query, &settings.kernel, error));
    const double begin = clock_ms();
    RETURN_IF_ERROR(sql_cache_take(session->cache, query->sql, strlen(query->sql), session->codecs[c],
                                   settings, &statement, &used, error));
    enum status status = sql_cache_run(session->cache, statement, &answer, NULL, error);
    *ms = clock_ms() - begin;
    if (status == STATUS_OK) {
        status = answer_hash(&answer, hash, error);
        if (status == STATUS_OK)
            judge_run(session, q, c, &answer, strcmp(hash, cell->hash) != 0);
        rowset_free(&answer);
    }
    sql_cache_give(session->cache, statement);
    return status;
}

/* The first time plans it, the others find it. */
static enum status run_text(struct session *session, uint32_t q, uint32_t c, struct error *error)
{
    struct report_cell *const cell = &session->report.queries[q].cells[c];
    double first;
    if (session->cluster)
        return STATUS_OK;
    RETURN_IF_ERROR(ask_text(session, q, c, &first, error));
    for (uint32_t run = 0; run < session->report.repeat; run++)
        RETURN_IF_ERROR(ask_text(session, q, c, &cell->text.runs[run], error));
    return report_times_finish(&cell->text, session->report.repeat, error);
}

/* Plans all queries before the first one runs, so that their kernels are compiled in parallel and a query
 * that cannot run is reported at once. */
static enum status plan_all(struct session *session, struct error *error)
{
    const uint32_t choices = session->report.choice_count, cells = session->report.query_count * choices;
    const struct plan *plan;
    session->statements = calloc(cells, sizeof *session->statements);
    if (!session->statements)
        return error_out_of_memory(error, cells * sizeof *session->statements, "the queries");
    for (uint32_t i = 0; i < cells; i++) {
        RETURN_IF_ERROR(cancel_check(error));
        RETURN_IF_ERROR(benchmark_statement(session->engine, session->database,
                                            session->options->queries[i / choices],
                                            session->codecs[i % choices], session->options->staged,
                                            session->options->index, &session->statements[i], error));
        const struct disk_reads moment = disk_reads_now();
        RETURN_IF_ERROR(sql_plan(session->statements[i], &plan, error));
        const struct disk_reads reads = disk_reads_since(&moment);
        disk_reads_add(&session->report.plan_reads, &reads);
        session->report.staged |= plan_stages_any(plan, session->report.on_gpu);
        session->report.indexed |= plan->index.term_count > 0;
        progress_report(session->progress, "planning", "queries", i + 1, cells);
    }
    return sql_compile(session->statements, cells, true, session->progress, error);
}

/* Fills the figures that are the same in every run. */
static enum status describe(const struct session *session, const struct plan *plan, struct report_cell *cell,
                            struct error *error)
{
    const uint64_t sums_bytes = plan->slots * (sizeof(int64_t) + sizeof(uint32_t)); /* sum and presence */
    const unsigned merged =
        (session->report.on_gpu ? session->report.devices : engine_threads(session->engine)) - 1;
    bool *counted;
    RETURN_IF_ERROR(memory_zeros(&counted, plan->array_count, "a plan", error));
    cell->fact_rows = session->report.fact_rows;
    cell->tiles = plan->scan.tiles;
    cell->tiles_skipped = plan->scan.tiles - plan->scan.kept_tiles;
    cell->rows_skipped = plan->scan.rows - plan->scan.kept_rows;
    cell->stage_bytes = plan_staged_reads(plan, session->report.on_gpu);
    cell->indexes = plan->index.term_count;
    cell->skip_ms = plan->skip_ms;
    cell->filter_bytes = sums_bytes;
    for (uint32_t j = 0; j < plan->join_count; j++) {
        const struct plan_join *join = &plan->joins[j];
        if (join->match == EXPRESSION_NONE)
            continue;
        cell->filter_rows += join->table->rows;
        cell->filter_bytes += (table_positions(join->table) / 32 + 1) * sizeof(uint32_t);
        plan_mark_arrays(plan, join->match, counted);
    }
    for (uint32_t t = 0; t < plan->index.term_count; t++)
        cell->filter_bytes += plan->index.terms[t].bytes;
    for (uint32_t a = 0; a < plan->array_count; a++)
        cell->filter_bytes += counted[a] ? plan->arrays[a].rows * plan->arrays[a].value_bytes : 0;
    cell->merge_rows = (uint64_t)merged * plan->slots;
    cell->merge_bytes = merged * sums_bytes;
    free(counted);
    return STATUS_OK;
}

static enum status run_query(struct session *session, uint32_t q, uint32_t c, struct error *error)
{
    struct sql_statement **statement = &session->statements[q * session->report.choice_count + c];
    struct report_cell *cell = &session->report.queries[q].cells[c];
    struct scan_counts counts = {0};
    const struct plan *plan;
    RETURN_IF_ERROR(sql_plan(*statement, &plan, error));
    RETURN_IF_ERROR(describe(session, plan, cell, error));
    RETURN_IF_ERROR(run_statement(session, *statement, q, c, error));
    const enum status status = sql_count(*statement, false, &counts, error);
    for (uint32_t column = 0; status == STATUS_OK && column < plan->column_count; column++)
        cell->bytes_read += counts.bytes[column];
    cell->moved_bytes = counts.moves.copied + counts.moves.read;
    scan_counts_free(&counts);
    RETURN_IF_ERROR(status);
    sql_statement_free(*statement);
    *statement = NULL;
    return run_text(session, q, c, error);
}

static enum status run_all(struct session *session, bool sizes, struct error *error)
{
    const struct benchmark_options *options = session->options;
    struct report *report = &session->report;
    const struct table *fact;
    if (options->page && cluster_rank(session->cluster) == 0)
        RETURN_IF_ERROR(page_check(options->page, error));
    RETURN_IF_ERROR(cluster_command_open(session->cluster, options->database, &session->database, error));
    RETURN_IF_ERROR(engine_open(&(struct engine_options){.device = options->device,
                                                         .threads = options->threads,
                                                         .cluster = session->cluster,
                                                         .gpu_memory = options->gpu_memory,
                                                         .memory = options->memory,
                                                         .spill = options->spill,
                                                         .late = options->late,
                                                         .kernel = KERNEL_SPECIALISED},
                                &session->engine, error));
    RETURN_IF_ERROR(sql_cache_open(session->engine, session->database, NULL, &session->cache, error));
    RETURN_IF_ERROR(database_table(session->database, "lineorder", &fact, error));
    for (uint32_t c = 0; c < report->choice_count; c++) {
        if (session->codecs[c])
            RETURN_IF_ERROR(check_codec(fact, session->codecs[c], error));
        session->names[c] = session->codecs[c] ? session->codecs[c] : own_name(fact);
    }
    report->choices = session->names;
    report->fact_rows = session->cluster ? table_whole_rows(fact) : fact->rows;
    report->device = engine_device_text(session->engine);
    report->why_cpu = engine_why_cpu(session->engine);
    report->on_gpu = engine_is_cuda(session->engine);
    report->devices = engine_members(session->engine);
    RETURN_IF_ERROR(judge_create(&session->judge, options, session->database, session->engine, session->notes,
                                 session->progress, error));
    report->scale_factor = session->judge.scale_factor;
    snprintf(report->judge, sizeof report->judge, "%s", session->judge.text);
    if (sizes)
        RETURN_IF_ERROR(measure_sizes(session, fact, error));
    RETURN_IF_ERROR(allocate_cells(session, error));
    RETURN_IF_ERROR(plan_all(session, error));
    if (options->page && !sizes)
        RETURN_IF_ERROR(measure_read_sizes(session, fact, error));
    RETURN_IF_ERROR(engine_read_ceiling(session->engine, &report->read_ceiling, error));
    RETURN_IF_ERROR(engine_launch_floor(session->engine, &report->launch_floor_ms, error));
    for (uint32_t q = 0; q < report->query_count; q++)
        for (uint32_t c = 0; c < report->choice_count; c++) {
            RETURN_IF_ERROR(run_query(session, q, c, error));
            progress_report(session->progress, "running", "queries", q * report->choice_count + c + 1,
                            report->query_count * report->choice_count);
        }
    for (uint32_t q = 0; q < report->query_count; q++)
        for (uint32_t c = 0; c < report->choice_count; c++)
            if (report->queries[q].cells[c].moved_bytes && report->link_rate == 0)
                RETURN_IF_ERROR(engine_link_rate(session->engine, &report->link_rate, error));
    return STATUS_OK;
}

static enum status write_page(const struct session *session, struct error *error)
{
    const struct benchmark_options *options = session->options;
    struct page *page;
    RETURN_IF_ERROR(report_page(&session->report, options->argc, options->argv, &page, error));
    const enum status status = page_write(options->page, page, error);
    page_destroy(page);
    return status;
}

static enum status finish(struct session *session, struct error *error)
{
    static report_writer *const writers[] = {
        [REPORT_TABLE] = report_table, [REPORT_CSV] = report_csv, [REPORT_JSON] = report_json};
    const struct report *report = &session->report;
    RETURN_IF_ERROR(writers[session->options->format](report, stdout, error));
    if (fflush(stdout) != 0)
        return error_set(error, STATUS_MACHINE, "cannot write the report to standard output");
    if (session->options->page && cluster_rank(session->cluster) == 0)
        RETURN_IF_ERROR(write_page(session, error));
    if (session->wrong_count)
        return error_set(error, STATUS_CHECK_FAILED, "%u of %u answers are wrong: %s", session->wrong_count,
                         report->query_count * report->choice_count, session->wrong);
    return STATUS_OK;
}

static enum status measure_and_judge(const struct benchmark_options *options, struct cluster *cluster,
                                     const char *const *choices, uint32_t choice_count, bool sizes,
                                     struct progress *progress, struct error *error)
{
    struct session session = {.options = options,
                              .cluster = cluster,
                              .codecs = choices,
                              .progress = progress,
                              .report = {.database = options->database,
                                         .profile = options->profile,
                                         .staged = options->staged,
                                         .staged_all = options->staged,
                                         .compared = sizes,
                                         .repeat = options->repeat,
                                         .warmup = options->warmup,
                                         .choice_count = choice_count,
                                         .query_count = options->query_count}};
    session.notes = text_stream(&session.notes_text, &session.notes_bytes);
    if (!session.notes)
        return error_out_of_memory(error, BUFSIZ, "notes");
    enum status status = run_all(&session, sizes, error);
    if (fclose(session.notes) != 0 && status == STATUS_OK)
        status = error_out_of_memory(error, BUFSIZ, "notes");
    progress_report(progress, "running", "queries", 1, 1); /* removes the bar before the notes are printed */
    if (cluster_rank(cluster) == 0 && session.notes_text)
        fwrite(session.notes_text, 1, session.notes_bytes, stderr);
    free(session.notes_text);
    status = AND_THEN(status, finish(&session, error));
    judge_destroy(&session.judge);
    for (uint32_t i = 0; session.statements && i < options->query_count * choice_count; i++)
        sql_statement_free(session.statements[i]);
    free(session.statements);
    free_report(&session.report);
    sql_cache_close(session.cache);
    engine_close(session.engine);
    if (session.database)
        database_close(session.database);
    return status;
}

enum status benchmark(const struct benchmark_options *options, const char *const *choices,
                      uint32_t choice_count, bool sizes, struct progress *progress, struct error *error)
{
    struct cluster *cluster;
    RETURN_IF_ERROR(cluster_command_begin(options->cluster, &cluster, error));
    const enum status status = measure_and_judge(options, cluster, choices, choice_count, sizes,
                                                 cluster_rank(cluster) == 0 ? progress : NULL, error);
    return cluster_command_end(cluster, status, progress, error);
}
