/* statement.c: see statement.h. A statement is parsed once, and planned again when its parameters have
 * changed. */
#include "engine/library/statement.h"

#include "engine/answer/output.h"
#include "engine/explain/explain.h"
#include "engine/library/files/files.h"
#include "engine/library/pivot_values.h"
#include "engine/logical/logical.h"
#include "engine/relational/blocks/block_plans.h"
#include "engine/relational/collect.h"
#include "engine/relational/execute.h"
#include "storage/base/clock.h"
#include "storage/base/memory.h"

#include <stdlib.h>
#include <string.h>

struct sql_statement {
    struct engine *engine;
    struct database *database;
    char *text; /* not zero-terminated */
    size_t length;
    char *codec; /* or NULL */
    struct sql_statement_tree *tree;
    uint32_t parameter_count;
    struct sql_parameter *parameters; /* own their strings */
    bool *left;                       /* of each parameter: its value is one of an earlier use; it is NULL */
    bool answered;                    /* its last run succeeded */
    struct sql_settings settings;
    struct sql_statement_tree *arena; /* of `bound`; NULL: the statement must be bound */
    struct logical_tree bound;
    bool rewritten;                 /* `bound` is answered by operators; else one plan answers it */
    struct plan *plan;              /* NULL: the statement must be planned */
    struct block_plans *blocks;     /* of `bound`, if operators answer it; or NULL */
    struct statement_files files;   /* that `bound` reads */
    struct prepared_plan *prepared; /* NULL for EXPLAIN, which runs nothing */
    struct engine *answers;         /* for answers in memory (query.h); opened at the first use */
    struct explain_tree *explained; /* while EXPLAIN runs; else NULL */
    double parse_ms;                /* until the first run tells it */
    struct run_timing timing;
};

static enum status prepare(struct engine *engine, struct database *database, const char *text, size_t length,
                           const char *codec, const struct sql_asker *asker, struct sql_statement **out,
                           size_t *used, struct error *error)
{
    struct sql_statement_tree *tree;
    const double begin = clock_ms();
    *out = NULL;
    RETURN_IF_ERROR(sql_parse_asking(text, length, asker, &tree, used, error));
    if (!tree)
        return STATUS_OK;
    struct sql_statement *statement = calloc(1, sizeof *statement);
    if (!statement) {
        sql_tree_free(tree);
        return error_out_of_memory(error, sizeof *statement, "a statement");
    }
    statement->engine = engine;
    statement->database = database;
    statement->tree = tree;
    statement->parameter_count = sql_tree_select(tree)->parameter_count;
    statement->parameters = calloc(statement->parameter_count + 1, sizeof *statement->parameters);
    statement->left = calloc(statement->parameter_count + 1, sizeof *statement->left);
    statement->codec = codec ? strdup(codec) : NULL;
    statement->text = malloc(*used + 1);
    if (!statement->parameters || !statement->left || !statement->text || (codec && !statement->codec)) {
        sql_statement_free(statement);
        return error_out_of_memory(error, length, "a statement");
    }
    memcpy(statement->text, text, *used);
    statement->length = *used;
    for (uint32_t p = 0; p < statement->parameter_count; p++)
        statement->parameters[p] = (struct sql_parameter){.is_null = true, .type = VALUE_UNTYPED};
    statement->parse_ms = clock_ms() - begin;
    *out = statement;
    return STATUS_OK;
}

enum status sql_prepare(struct engine *engine, struct database *database, const char *text, size_t length,
                        const char *codec, struct sql_statement **out, size_t *used, struct error *error)
{
    struct pivot_source source = {.engine = engine, .database = database, .codec = codec};
    const struct sql_asker asker = {.ask = pivot_values_ask, .context = &source};
    return prepare(engine, database, text, length, codec, &asker, out, used, error);
}

enum status sql_prepare_asked(struct engine *engine, struct database *database, const char *text,
                              const char *codec, struct sql_statement **out, struct error *error)
{
    size_t used;
    return prepare(engine, database, text, strlen(text), codec, NULL, out, &used, error);
}

static void forget_plan(struct sql_statement *statement)
{
    engine_release(statement->prepared);
    plan_free(statement->plan);
    statement->prepared = NULL;
    statement->plan = NULL;
}

static void forget_tree(struct sql_statement *statement)
{
    forget_plan(statement);
    block_plans_free(statement->blocks);
    statement->blocks = NULL;
    sql_tree_free(statement->arena);
    statement->arena = NULL;
    statement->rewritten = false;
    statement_files_end(&statement->files);
}

void sql_statement_free(struct sql_statement *statement)
{
    if (!statement)
        return;
    forget_tree(statement);
    engine_close(statement->answers);
    for (uint32_t p = 0; statement->parameters && p < statement->parameter_count; p++)
        free((char *)statement->parameters[p].string);
    free(statement->parameters);
    free(statement->left);
    free(statement->codec);
    free(statement->text);
    sql_tree_free(statement->tree);
    free(statement);
}

uint32_t sql_parameter_count(const struct sql_statement *statement)
{
    return statement->parameter_count;
}

/* True if a statement is bound to the same tree with either value: types follow from the parameters' types. */
static bool binds_alike(const struct sql_parameter *a, const struct sql_parameter *b)
{
    return a->is_null == b->is_null && a->type.kind == b->type.kind && a->type.scale == b->type.scale &&
           a->type.zoned == b->type.zoned && a->type.untyped == b->type.untyped;
}

static bool is_same(const struct sql_parameter *a, const struct sql_parameter *b)
{
    if (!binds_alike(a, b) || a->type.decimal != b->type.decimal)
        return false;
    return a->is_null ||
           (a->type.kind == VALUE_STRING
                ? a->length == b->length && (a->length == 0 || memcmp(a->string, b->string, a->length) == 0)
                : a->value == b->value);
}

enum status sql_parameter_set(struct sql_statement *statement, uint32_t index,
                              const struct sql_parameter *value, struct error *error)
{
    char *copy = NULL;
    if (index >= statement->parameter_count)
        return error_set(error, STATUS_BAD_INPUT, "there is no parameter %u; the statement has %u, from 0",
                         index, statement->parameter_count);
    statement->left[index] = false;
    if (is_same(&statement->parameters[index], value))
        return STATUS_OK;
    if (!value->is_null && value->type.kind == VALUE_STRING) {
        copy = malloc(value->length + 1);
        if (!copy)
            return error_out_of_memory(error, value->length, "a parameter");
        memcpy(copy, value->string, value->length);
        copy[value->length] = '\0';
    }
    struct sql_parameter *const parameter = &statement->parameters[index];
    const struct sql_parameter before = *parameter;
    free((char *)before.string);
    *parameter = *value;
    parameter->string = copy;
    parameter->type.literal = copy != NULL;
    if (binds_alike(&before, parameter) && !statement->bound.of_values)
        forget_plan(statement);
    else
        forget_tree(statement);
    return STATUS_OK;
}

void sql_statement_set(struct sql_statement *statement, struct sql_settings settings)
{
    const struct sql_settings *const own = &statement->settings;
    if (own->index != settings.index || own->like != settings.like || own->zone != settings.zone ||
        own->staged != settings.staged) {
        block_plans_free(statement->blocks);
        statement->blocks = NULL;
        if (statement->files.some)
            forget_tree(statement);
    }
    statement->settings = settings;
}

enum sql_explain sql_statement_explains(const struct sql_statement *statement)
{
    const enum sql_explain written = sql_tree_select(statement->tree)->explain;
    return written != SQL_EXPLAIN_NONE ? written : statement->settings.explain;
}

const struct column *sql_origin(const struct sql_statement *statement, uint32_t column)
{
    const struct logical_tree *const tree = &statement->bound;
    return statement->arena ? logical_origin(tree, tree->root, tree->root->columns[column]) : NULL;
}

const struct table *sql_rows_of(const struct sql_statement *statement)
{
    return statement->arena ? logical_rows_of(&statement->bound) : NULL;
}

/* ---- Statements that are kept (statement_cache.h) ---- */

bool sql_statement_is(const struct sql_statement *statement, const char *text, size_t length,
                      const char *codec, struct sql_settings settings)
{
    const struct sql_settings *const own = &statement->settings;
    return statement->length == length && memcmp(statement->text, text, length) == 0 &&
           (codec ? statement->codec && strcmp(codec, statement->codec) == 0 : !statement->codec) &&
           own->kernel == settings.kernel && own->timed == settings.timed && own->staged == settings.staged &&
           own->index == settings.index && own->explain == settings.explain && own->like == settings.like &&
           own->zone == settings.zone;
}

bool sql_statement_is_ready(const struct sql_statement *statement)
{
    return statement->answered && sql_statement_explains(statement) == SQL_EXPLAIN_NONE;
}

uint64_t sql_statement_bytes(const struct sql_statement *statement)
{
    return sizeof *statement + statement->length + sql_tree_bytes(statement->tree) +
           sql_tree_bytes(statement->arena) + (statement->plan ? plan_bytes(statement->plan) : 0) +
           block_plans_bytes(statement->blocks);
}

void sql_statement_reuse(struct sql_statement *statement)
{
    for (uint32_t p = 0; p < statement->parameter_count; p++)
        statement->left[p] = true;
}

/* What was not set in this use is NULL, and files that have changed are read again, as are those of which other rows may be
 * wanted at another time. */
static enum status begin_use(struct sql_statement *statement, struct error *error)
{
    static const struct sql_parameter null = {.is_null = true, .type = VALUE_UNTYPED};
    bool same;
    RETURN_IF_ERROR(statement_files_compare(&statement->files, &same, error));
    if (!same || (statement->files.some && sql_tree_select(statement->tree)->timed))
        forget_tree(statement);
    for (uint32_t p = 0; p < statement->parameter_count; p++)
        if (statement->left[p])
            RETURN_IF_ERROR(sql_parameter_set(statement, p, &null, error));
    return STATUS_OK;
}

/* Gives the time of a run of the statement, which is the same in all processes. */
static enum status take_time(const struct sql_statement *statement, int64_t *now, struct error *error)
{
    uint64_t moment = (uint64_t)clock_moment();
    if (sql_tree_select(statement->tree)->timed)
        RETURN_IF_ERROR(cluster_decide(engine_cluster(statement->engine), CLUSTER_TIME, &moment, error));
    *now = (int64_t)moment;
    return STATUS_OK;
}

/* ---- The tree ---- */

static struct logical_options logical_options_of(const struct sql_statement *statement, int64_t now)
{
    const bool alone = engine_members(statement->engine) == 1 && !engine_cluster(statement->engine);
    return (struct logical_options){.parameters = statement->parameters,
                                    .parameter_count = statement->parameter_count,
                                    .like = statement->settings.like,
                                    .zone = statement->settings.zone,
                                    .now = now,
                                    .device_totals = alone && engine_is_cuda(statement->engine),
                                    .host_totals = alone && !engine_is_cuda(statement->engine)};
}

static enum status bind(struct sql_statement *statement, int64_t now, struct error *error)
{
    struct logical_options options = logical_options_of(statement, now);
    if (statement->arena)
        return STATUS_OK;
    statement->arena = sql_tree_new();
    if (!statement->arena)
        return error_out_of_memory(error, 0, "a statement");
    const struct logical_files files =
        statement_files_begin(&statement->files, statement->database, statement->engine);
    options.files = &files;
    RETURN_IF_ERROR(logical_bind(statement->database, sql_tree_select(statement->tree), &options,
                                 statement->arena, &statement->bound, error));
    return statement_files_load(&statement->files, &statement->bound, &options, error);
}

enum status sql_answer_bind(struct sql_statement *statement, uint32_t *columns, struct error *error)
{
    struct execution execution;
    int64_t now;
    engine_enter(statement->engine, &execution);
    enum status status = take_time(statement, &now, error);
    status = AND_THEN(status, bind(statement, now, error));
    execution_leave(&execution);
    if (status != STATUS_OK)
        forget_tree(statement);
    else
        *columns = statement->bound.root->column_count;
    return status;
}

struct sql_answer_column sql_answer_column(const struct sql_statement *statement, uint32_t column)
{
    const struct logical_tree *const tree = &statement->bound;
    const struct logical_column *const of = &tree->columns[tree->root->columns[column]];
    return (struct sql_answer_column){tree->names[column], of->type, of->nullable};
}

static struct relational_task task_of(struct sql_statement *statement, int64_t now)
{
    return (struct relational_task){.engine = statement->engine,
                                    .own = &statement->answers,
                                    .database = statement->database,
                                    .codec = statement->codec,
                                    .index = statement->settings.index,
                                    .like = statement->settings.like,
                                    .zone = statement->settings.zone,
                                    .explained = statement->explained,
                                    .dry = sql_statement_explains(statement) == SQL_EXPLAIN,
                                    .analyse = sql_statement_explains(statement) == SQL_EXPLAIN_ANALYZE,
                                    .staged = statement->settings.staged,
                                    .plans = statement->blocks,
                                    .now = now,
                                    .parameters = statement->parameters,
                                    .parameter_count = statement->parameter_count};
}

/* A codec that some column does not have is encoded for all by the first of several processes, unless each has a database
 * of its own. */
static enum status plan_in_turn(struct sql_statement *statement, int64_t now, struct error *error)
{
    const bool shared = statement->codec && !database_is_part(statement->database);
    struct cluster *const cluster = shared ? engine_cluster(statement->engine) : NULL;
    const struct logical_options values = logical_options_of(statement, now);
    const struct sql_options options = {.codec = statement->codec,
                                        .threads = engine_threads(statement->engine),
                                        .on_gpu = engine_is_cuda(statement->engine),
                                        .index = statement->settings.index,
                                        .like = statement->settings.like,
                                        .zone = statement->settings.zone,
                                        .now = now};
    enum status status = cluster_turn_begin(cluster, error);
    status = AND_THEN(status, relational_star(statement->database, &values, &options, &statement->bound,
                                              &statement->plan, error));
    return cluster_turn_end(cluster, status, error);
}

/* Makes the plan of a statement that is one scan. */
static enum status make_plan(struct sql_statement *statement, int64_t now, struct error *error)
{
    const double begin = clock_ms();
    const struct disk_reads moment = disk_reads_now();
    const struct sql_settings *settings = &statement->settings;
    const enum status planned = plan_in_turn(statement, now, error);
    statement->timing.plan_ms = clock_ms() - begin;
    struct plan *const plan = statement->plan;
    if (planned != STATUS_OK || !plan)
        return planned;
    plan->staged = settings->staged;
    if (settings->kernel)
        RETURN_IF_ERROR(plan_use_kernel(plan, settings->kernel, error));
    RETURN_IF_ERROR(engine_fit(statement->engine, plan, error));
    statement->timing.plan_reads = disk_reads_since(&moment);
    statement->timing.bytes = 0;
    for (uint32_t c = 0; c < plan->column_count; c++)
        statement->timing.bytes += plan->columns[c].decided ? 0 : plan->columns[c].data->bytes;
    enum status status = STATUS_OK;
    if (sql_statement_explains(statement) != SQL_EXPLAIN)
        status = engine_prepare(statement->engine, plan,
                                settings->timed || sql_statement_explains(statement) == SQL_EXPLAIN_ANALYZE,
                                &statement->prepared, error);
    statement->timing.plan_ms = clock_ms() - begin;
    return status;
}

static enum status bind_and_plan(struct sql_statement *statement, int64_t now, struct error *error)
{
    const struct logical_options options = logical_options_of(statement, now);
    const double begin = clock_ms();
    RETURN_IF_ERROR(bind(statement, now, error));
    const double bound = clock_ms();
    statement->timing.bind_ms = bound - begin;
    if (statement->plan || statement->rewritten)
        return STATUS_OK;
    RETURN_IF_ERROR(make_plan(statement, now, error));
    if (statement->plan)
        return STATUS_OK;
    RETURN_IF_ERROR(logical_rewrite(&options, &statement->bound, error));
    statement->timing.bind_ms = clock_ms() - begin - statement->timing.plan_ms;
    statement->rewritten = true;
    return STATUS_OK;
}

/* Binds the statement, and makes its plan if it is one scan; else rewrites its tree for the operators. */
static enum status plan_tree(struct sql_statement *statement, int64_t now, struct error *error)
{
    const enum status status = bind_and_plan(statement, now, error);
    if (status != STATUS_OK)
        forget_tree(statement);
    return status;
}

/* Frees the plan after a failure: the device may have lost a part of it, so it must not run again. */
static enum status forget_if_failed(struct sql_statement *statement, enum status status)
{
    if (status != STATUS_OK)
        forget_plan(statement);
    return status;
}

/* Leaves a statement that no plan answers without one. */
static enum status try_plan(struct sql_statement *statement, struct error *error)
{
    int64_t now;
    RETURN_IF_ERROR(begin_use(statement, error));
    if (statement->plan)
        return STATUS_OK;
    RETURN_IF_ERROR(take_time(statement, &now, error));
    return plan_tree(statement, now, error);
}

static enum status plan_once(struct sql_statement *statement, const struct plan **plan, struct error *error)
{
    RETURN_IF_ERROR(try_plan(statement, error));
    *plan = statement->plan;
    return statement->plan
               ? STATUS_OK
               : error_set(
                     error, STATUS_BAD_INPUT,
                     "the statement is no single scan of a star of tables, so it has no plan of its own");
}

enum status sql_plan(struct sql_statement *statement, const struct plan **plan, struct error *error)
{
    struct execution execution;
    engine_enter(statement->engine, &execution);
    const enum status status = plan_once(statement, plan, error);
    execution_leave(&execution);
    return status;
}

enum status sql_compile(struct sql_statement *const *statements, uint32_t count, bool counting,
                        struct progress *progress, struct error *error)
{
    struct prepared_plan **prepared = malloc((count + 1) * sizeof *prepared);
    const struct plan *plan;
    if (!prepared)
        return error_out_of_memory(error, count * sizeof *prepared, "statements");
    enum status status = STATUS_OK;
    uint32_t runs = 0;
    for (uint32_t i = 0; status == STATUS_OK && i < count; i++) {
        status = sql_plan(statements[i], &plan, error);
        if (statements[i]->prepared)
            prepared[runs++] = statements[i]->prepared;
    }
    if (status == STATUS_OK && runs)
        status = engine_compile(statements[0]->engine, prepared, runs, counting, progress, error);
    free(prepared);
    return status;
}

/* ---- Runs ---- */

static enum status scan_once(struct sql_statement *statement, struct partial *partial, struct error *error)
{
    static const struct device_request all = {.segments = NULL};
    const struct disk_reads moment = disk_reads_now();
    RETURN_IF_ERROR(engine_run(statement->prepared, &all, partial, &statement->timing, error));
    statement->timing.run_reads = disk_reads_since(&moment);
    return STATUS_OK;
}

static enum status answer(struct sql_statement *statement, struct rowset *rows, struct error *error)
{
    struct partial partial;
    RETURN_IF_ERROR(scan_once(statement, &partial, error));
    const double begin = clock_ms();
    const enum status status = collect_rows(statement->engine, statement->plan, &partial, rows, error);
    statement->timing.output_ms = clock_ms() - begin;
    partial_free(&partial);
    return status;
}

static enum status measure(struct sql_statement *statement, struct error *error)
{
    struct partial partial;
    RETURN_IF_ERROR(scan_once(statement, &partial, error));
    partial_free(&partial);
    return STATUS_OK;
}

enum status sql_measure(struct sql_statement *statement, struct run_timing *timing, struct error *error)
{
    const struct plan *plan;
    struct execution execution;
    engine_enter(statement->engine, &execution);
    enum status status = plan_once(statement, &plan, error);
    status = AND_THEN(status, forget_if_failed(statement, measure(statement, error)));
    execution_leave(&execution);
    *timing = statement->timing;
    return status;
}

static enum status take_rows(struct sql_statement *statement, uint64_t **rows, uint64_t *count,
                             struct error *error)
{
    struct partial partial;
    RETURN_IF_ERROR(scan_once(statement, &partial, error));
    const enum status status =
        memory_take(rows, (partial.count + 1) * sizeof **rows, "rows to delete", error);
    if (status == STATUS_OK && partial.count)
        memcpy(*rows, partial.rows, partial.count * sizeof **rows);
    *count = partial.count;
    partial_free(&partial);
    return status;
}

enum status sql_rows(struct sql_statement *statement, const struct table *table, uint64_t **rows,
                     uint64_t *count, bool *found, struct error *error)
{
    struct execution execution;
    *rows = NULL;
    engine_enter(statement->engine, &execution);
    enum status status = try_plan(statement, error);
    const struct plan *const plan = statement->plan;
    *found = status == STATUS_OK && plan && plan->shape == PLAN_ROWS && plan->fact == table &&
             plan->limit == UINT64_MAX && !plan->offset;
    if (*found)
        status = forget_if_failed(statement, take_rows(statement, rows, count, error));
    execution_leave(&execution);
    return status;
}

enum status sql_count(struct sql_statement *statement, bool steps, struct scan_counts *counts,
                      struct error *error)
{
    struct execution execution;
    engine_enter(statement->engine, &execution);
    const enum status status =
        forget_if_failed(statement, engine_count(statement->prepared, steps, counts, error));
    execution_leave(&execution);
    return status;
}

/* ---- EXPLAIN ---- */

/* Explains a statement that one plan answers; EXPLAIN ANALYZE runs it first. */
static enum status explain_one(struct sql_statement *statement, struct explain_node *node,
                               struct error *error)
{
    struct rowset rows = {0};
    const struct explained explained = {
        .plan = statement->plan, .engine = statement->engine, .timing = &statement->timing};
    if (sql_statement_explains(statement) == SQL_EXPLAIN) {
        explain_plan(node, &explained);
        return STATUS_OK;
    }
    const enum status status = answer(statement, &rows, error);
    struct run_timing medians = statement->timing;
    explain_count(node, "rows", rows.rows);
    explain_bytes(node, "memory_bytes", execution_memory()->most);
    rowset_free(&rows);
    RETURN_IF_ERROR(status);
    return explain_analyse(node, statement->engine, statement->plan, statement->prepared, &medians, error);
}

static enum status explain_answer(struct sql_statement *statement, struct error *error)
{
    struct explain_node *const node = explain_new(statement->explained, "plan");
    explain_set_root(node);
    return explain_one(statement, node, error);
}

/* The tree is told, and becomes the answer. */
static enum status give_explained(const struct sql_statement *statement, struct rowset *rows,
                                  struct error *error)
{
    const struct explain_observer *const observer = statement->settings.observer;
    struct explain_node *const root = explain_root(statement->explained);
    const bool analysed = root && sql_statement_explains(statement) == SQL_EXPLAIN_ANALYZE;
    if (analysed)
        explain_statement(root, &statement->timing);
    if (observer && analysed)
        RETURN_IF_ERROR(observer->analysed(observer->context, root, error));
    return explain_rows(statement->explained, sql_tree_select(statement->tree)->explain_json, rows, error);
}

/* The operators' timing comes on top of what binding took. */
static enum status run_operators(struct sql_statement *statement, int64_t now, struct rowset *rows,
                                 struct error *error)
{
    if (!statement->blocks && !sql_tree_select(statement->tree)->timed)
        statement->blocks = block_plans_new(); /* without memory for it no plan is kept */
    const struct relational_task task = task_of(statement, now);
    const struct run_timing before = statement->timing;
    const enum status status = relational_answer(&task, &statement->bound, rows, &statement->timing, error);
    statement->timing.parse_ms = before.parse_ms;
    statement->timing.bind_ms = before.bind_ms;
    statement->timing.plan_ms += before.plan_ms;
    return status;
}

/* A plan whose groups are more than memory: the operators of its tree spill, also in the runs to come. */
static enum status answer_by_operators(struct sql_statement *statement, int64_t now, struct rowset *rows,
                                       struct error *error)
{
    const struct logical_options options = logical_options_of(statement, now);
    RETURN_IF_ERROR(logical_rewrite(&options, &statement->bound, error));
    statement->rewritten = true;
    return run_operators(statement, now, rows, error);
}

static enum status answer_or_explain(struct sql_statement *statement, struct rowset *rows,
                                     struct error *error)
{
    const struct memory_account *const account = execution_memory();
    const uint64_t refused = account->refused;
    int64_t now;
    *rows = (struct rowset){0};
    statement->timing =
        (struct run_timing){.parse_ms = statement->parse_ms, .bytes = statement->timing.bytes};
    statement->parse_ms = 0;
    RETURN_IF_ERROR(begin_use(statement, error));
    RETURN_IF_ERROR(take_time(statement, &now, error));
    if (sql_tree_select(statement->tree)->timed)
        forget_plan(statement);
    RETURN_IF_ERROR(plan_tree(statement, now, error));
    if (!statement->plan)
        return run_operators(statement, now, rows, error);
    const enum status status = forget_if_failed(
        statement, statement->explained ? explain_answer(statement, error) : answer(statement, rows, error));
    return status == STATUS_MACHINE && account->refused != refused && !engine_cluster(statement->engine)
               ? answer_by_operators(statement, now, rows, error)
               : status;
}

static enum status run(struct sql_statement *statement, struct rowset *rows, struct error *error)
{
    if (sql_statement_explains(statement) == SQL_EXPLAIN_NONE)
        return answer_or_explain(statement, rows, error);
    RETURN_IF_ERROR(explain_tree_new(&statement->explained, error));
    enum status status = answer_or_explain(statement, rows, error);
    status = AND_THEN(status, give_explained(statement, rows, error));
    explain_tree_free(statement->explained);
    statement->explained = NULL;
    return status;
}

enum status sql_run(struct sql_statement *statement, struct rowset *rows, struct run_timing *timing,
                    struct error *error)
{
    struct execution execution;
    struct error own;
    error = error ? error : &own; /* a step may forget a failure */
    engine_enter(statement->engine, &execution);
    memory_account_begin(execution.memory);
    const uint64_t spilled = execution.memory->spilled;
    const enum status status = run(statement, rows, error);
    statement->answered = status == STATUS_OK;
    if (timing) {
        *timing = statement->timing;
        timing->memory_bytes = execution.memory->most;
        timing->spilled_bytes = execution.memory->spilled - spilled;
    }
    for (uint32_t c = 0; status == STATUS_OK && c < rows->column_count; c++)
        rows->columns[c].zone = statement->settings.zone;
    rowset_hand_over(rows);
    execution_leave(&execution);
    return status;
}
