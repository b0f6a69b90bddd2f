/* query.c: see query.h. */
#include "engine/library/query/query_internal.h"
#include "engine/sql/sql_error.h"

#include "engine/answer/constants.h"
#include "engine/answer/output.h"
#include "engine/explain/explain.h"
#include "storage/base/clock.h"
#include "storage/base/memory.h"
#include "storage/base/number/number_text.h"
#include "storage/base/words/word.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- Errors ---- */

enum status query_refuse(const struct query *query, struct sql_position position, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    const enum status status = sql_refuse(query->error, position, format, arguments);
    va_end(arguments);
    return status;
}

enum status query_placed(const struct query *query, struct sql_position position, enum status status)
{
    return sql_placed(query->error, position, status);
}

/* ---- EXPLAIN ---- */

enum status query_explain_line(struct query *query, const char *format, ...)
{
    const size_t indent = 2 * (size_t)query->level;
    va_list arguments;
    if (query->task->explain == SQL_EXPLAIN_NONE)
        return STATUS_OK;
    va_start(arguments, format);
    const int length = number_print_list(NULL, 0, format, arguments);
    va_end(arguments);
    const size_t more = indent + (size_t)length + 1;
    RETURN_IF_ERROR(memory_grow(&query->text, query->text_bytes + more + 1, "a plan's text", query->error));
    char *const line = query->text + query->text_bytes;
    memset(line, ' ', indent);
    va_start(arguments, format);
    number_print_list(line + indent, (size_t)length + 1, format, arguments);
    va_end(arguments);
    memcpy(line + more - 1, "\n", 2);
    query->text_bytes += more;
    return STATUS_OK;
}

/* Adds the lines of a plan, which are freed. */
static enum status explain_lines(struct query *query, struct rowset *lines)
{
    enum status status = STATUS_OK;
    for (uint64_t row = 0; status == STATUS_OK && row < lines->rows; row++) {
        uint32_t length;
        char buffer[ROWSET_TEXT_BYTES];
        const char *const text = rowset_text(&lines->columns[0], row, buffer, &length);
        status = query_explain_line(query, "  %.*s", (int)length, text);
    }
    rowset_free(lines);
    return status;
}

/* A plan that EXPLAIN ANALYZE runs is explained after its run. */
static enum status explain_plan(struct query *query, const struct plan *plan, const struct engine *engine)
{
    struct rowset lines;
    if (!plan->fact)
        return query_explain_line(query, "  one row of constants");
    if (query->task->explain != SQL_EXPLAIN)
        return STATUS_OK;
    const struct explained explained = {.plan = plan, .engine = engine, .timing = &query->timing};
    RETURN_IF_ERROR(sql_explain(&explained, &lines, query->error));
    return explain_lines(query, &lines);
}

static enum status analyse_plan(struct query *query, const struct plan *plan, struct engine *engine,
                                struct prepared_plan *prepared, struct run_timing *timing)
{
    struct rowset lines;
    if (query->task->explain != SQL_EXPLAIN_ANALYZE)
        return STATUS_OK;
    RETURN_IF_ERROR(
        explain_analyse(engine, plan, prepared, query->task->observer, timing, &lines, query->error));
    return explain_lines(query, &lines);
}

/* ---- Plans ---- */

/* The engine for answers in memory: the statement's own if that is one CPU, else another one. */
static enum status memory_engine(struct query *query, struct engine **engine)
{
    struct engine *const own = query->task->engine;
    *engine = own;
    if (!engine_is_cuda(own) && !engine_cluster(own) && engine_members(own) == 1)
        return STATUS_OK;
    if (!*query->task->own)
        RETURN_IF_ERROR(engine_open(&(struct engine_options){.device = "cpu", .threads = engine_threads(own)},
                                    query->task->own, query->error));
    *engine = *query->task->own;
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

static enum status run_plan(struct query *query, const struct plan *plan, struct engine *engine,
                            struct run_timing *timing, struct rowset *rows)
{
    static const struct device_request all = {.segments = NULL};
    struct prepared_plan *prepared = NULL;
    struct partial partial = {0};
    struct error *const error = query->error;
    if (!plan->fact)
        return constants_answer(plan, rows, error);
    const bool analysed = query->task->explain == SQL_EXPLAIN_ANALYZE;
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
        status = analyse_plan(query, plan, engine, prepared, timing);
    engine_release(prepared);
    if (status == STATUS_OK)
        status = relation_sort_dictionaries(rows, error);
    return status;
}

enum status query_plan(struct query *query, struct database *database, const struct sql_select *select,
                       bool last, struct rowset *rows)
{
    const struct query_task *const task = query->task;
    const bool stored = database == task->database;
    const double begin = clock_ms();
    struct engine *engine = task->engine;
    struct run_timing timing = {0};
    struct plan *plan;
    *rows = (struct rowset){0};
    query->no_star = false;
    if (!stored)
        RETURN_IF_ERROR(memory_engine(query, &engine));
    const struct sql_options options = {.codec = stored ? task->codec : NULL,
                                        .threads = engine_threads(engine),
                                        .on_gpu = engine_is_cuda(engine),
                                        .index = task->index,
                                        .like = task->like,
                                        .now = task->now,
                                        .no_star = &query->no_star};
    RETURN_IF_ERROR(
        sql_bind(database, select, query->parameters, query->parameter_count, &options, &plan, query->error));
    plan->staged = stored && task->staged;
    timing.plan_ms = clock_ms() - begin;
    for (uint32_t c = 0; stored && c < plan->column_count; c++)
        timing.bytes += plan->columns[c].decided ? 0 : plan->columns[c].data->bytes;
    enum status status = engine_fit(engine, plan, query->error);
    if (status == STATUS_OK)
        status = explain_plan(query, plan, engine);
    if (status == STATUS_OK && !(last && task->explain == SQL_EXPLAIN))
        status = run_plan(query, plan, engine, &timing, rows);
    if (status == STATUS_OK && rows->column_count)
        status = query_explain_line(query, "  answer: %llu row%s in %.3f ms", (unsigned long long)rows->rows,
                                    rows->rows == 1 ? "" : "s", timing.total_ms + timing.output_ms);
    add_timing(&query->timing, &timing);
    plan_free(plan);
    if (status == STATUS_OK)
        status = query_keep_dictionaries(query, rows);
    return status;
}

/* ---- Named answers ---- */

enum status query_keep_dictionaries(struct query *query, struct rowset *rows)
{
    for (uint32_t c = 0; c < rows->column_count; c++) {
        if (!rows->dictionaries[c])
            continue;
        RETURN_IF_ERROR(memory_grow(&query->dictionaries,
                                    (query->dictionary_count + 1) * sizeof *query->dictionaries, "an answer",
                                    query->error));
        query->dictionaries[query->dictionary_count++] = rows->dictionaries[c];
        rows->dictionaries[c] = NULL;
    }
    return STATUS_OK;
}

static enum status named_new(struct query *query, const char *name, const struct query_scope *outer,
                             struct query_scope **scope)
{
    RETURN_IF_ERROR(query_memory(query, sizeof **scope, scope));
    (*scope)->outer = outer;
    RETURN_IF_ERROR(query_memory(query, sizeof *(*scope)->named, &(*scope)->named));
    struct query_named *const named = (*scope)->named;
    named->name = name;
    named->scope = outer;
    named->next = query->answers;
    query->answers = named;
    return STATUS_OK;
}

enum status query_name(struct query *query, struct rowset *rows, const struct query_scope *outer,
                       struct query_scope **scope)
{
    char name[16];
    snprintf(name, sizeof name, "#%u", query->made_names++);
    const char *const copy = query_text(query, name);
    enum status status = copy ? named_new(query, copy, outer, scope)
                              : error_out_of_memory(query->error, sizeof name, "a statement");
    if (status != STATUS_OK) {
        rowset_free(rows);
        return status;
    }
    (*scope)->named->rows = *rows;
    (*scope)->named->done = true;
    *rows = (struct rowset){0};
    return STATUS_OK;
}

static enum status rename_columns(struct query *query, const char *name, uint32_t count,
                                  const char *const *names, struct sql_position position, struct rowset *rows)
{
    if (count > rows->column_count)
        return query_refuse(query, position, "%s names %u columns, but its query has %u", name, count,
                            rows->column_count);
    for (uint32_t c = 0; c < count; c++) {
        char *const copy = strdup(names[c]);
        if (!copy)
            return error_out_of_memory(query->error, strlen(names[c]), "a name");
        free(rows->columns[c].name);
        rows->columns[c].name = copy;
    }
    return STATUS_OK;
}

/* Answers a query of WITH, at its first use. */
static enum status answer_with(struct query *query, struct query_named *named)
{
    const struct sql_with *const with = named->with;
    RETURN_IF_ERROR(query_explain_line(query, "with %s:", named->name));
    query->level++;
    const struct query_around *const around = query->around;
    query->around = NULL;
    const enum status status = query_run(query, with->query, named->scope, false, &named->rows);
    query->around = around;
    query->level--;
    RETURN_IF_ERROR(status);
    named->done = true;
    return rename_columns(query, with->name, with->column_count, with->columns, with->position, &named->rows);
}

enum status query_find(struct query *query, const struct query_scope *scope, const char *name,
                       struct sql_position position, struct query_named **named)
{
    *named = NULL;
    for (; scope && !*named; scope = scope->outer)
        if (word_compare(scope->named->name, name) == 0)
            *named = scope->named;
    (void)position;
    return *named && !(*named)->done ? answer_with(query, *named) : STATUS_OK;
}

/* ---- One SELECT ---- */

/* Answers the subqueries in FROM, and gives them names. */
static enum status answer_sources(struct query *query, struct sql_select *select, struct query_scope **scope)
{
    struct sql_source *sources;
    if (select->source_count > SQL_SOURCES_MAX)
        return query_refuse(query, select->sources[SQL_SOURCES_MAX].position,
                            "FROM names more than %u tables; ask in several levels", SQL_SOURCES_MAX);
    RETURN_IF_ERROR(query_memory(query, (select->source_count + 1) * sizeof *sources, &sources));
    if (select->source_count)
        memcpy(sources, select->sources, select->source_count * sizeof *sources);
    select->sources = sources;
    for (uint32_t s = 0; s < select->source_count; s++) {
        struct sql_source *const source = &sources[s];
        struct rowset rows;
        if (source->lateral || source->natural)
            return query_refuse(query, source->position, "LATERAL and NATURAL are not supported here");
        if (!source->query)
            continue;
        RETURN_IF_ERROR(query_check_correlation(query, source->query, *scope));
        RETURN_IF_ERROR(query_explain_line(query, "from %s:", source->alias ? source->alias : "a subquery"));
        query->level++;
        const enum status status = query_run(query, source->query, *scope, false, &rows);
        query->level--;
        RETURN_IF_ERROR(status);
        RETURN_IF_ERROR(query_name(query, &rows, *scope, scope));
        RETURN_IF_ERROR(rename_columns(query, source->alias ? source->alias : "the subquery",
                                       source->column_count, source->columns, source->position,
                                       &(*scope)->named->rows));
        source->table = (*scope)->named->name;
        source->query = NULL;
    }
    return STATUS_OK;
}

/* Of a plan in whose place levels answer. */
static void forget_error(struct error *error)
{
    if (error)
        *error = (struct error){0};
}

static void see_window(void *context, const struct sql_expression *node)
{
    *(bool *)context |= node->window != NULL;
}

bool query_has_windows(const struct sql_select *select)
{
    bool found = false;
    query_visit_all(select, see_window, &found);
    return found;
}

static enum status answer_select(struct query *query, struct sql_select *select, struct query_scope *scope,
                                 bool last, struct rowset *rows)
{
    struct query_sources *sources;
    RETURN_IF_ERROR(answer_sources(query, select, &scope));
    RETURN_IF_ERROR(query_values(query, select, &scope));
    if (select->qualify && !query_has_windows(select))
        return query_refuse(query, select->qualify->position,
                            "QUALIFY sets a condition on window functions; write WHERE or HAVING");
    if (query_has_windows(select))
        return query_refuse(query, select->position, "window functions are the tree's");
    RETURN_IF_ERROR(query_memory(query, sizeof *sources, &sources));
    RETURN_IF_ERROR(query_sources_find(query, select, scope, sources));
    if (sources->any_answer || sources->any_strict)
        return query_join(query, select, sources, last, rows);
    const enum status planned = query_plan(query, query->task->database, select, last, rows);
    if (planned != STATUS_BAD_INPUT || !query->no_star)
        return planned;
    forget_error(query->error);
    return query_join(query, select, sources, last, rows);
}

enum status query_select(struct query *query, const struct sql_select *select,
                         const struct query_scope *scope, bool last, struct rowset *rows)
{
    struct sql_select *copy;
    RETURN_IF_ERROR(query_memory(query, sizeof *copy, &copy));
    *copy = *select;
    *rows = (struct rowset){0};
    RETURN_IF_ERROR(cancel_check(query->error));
    return answer_select(query, copy, (struct query_scope *)scope, last, rows);
}

/* ---- UNION and the like ---- */

static enum status combine(struct query *query, const struct sql_part *part, struct rowset *left,
                           struct rowset *right)
{
    static const enum relation_set sets[][2] = {
        [SQL_SET_UNION] = {RELATION_UNION, RELATION_UNION_ALL},
        [SQL_SET_EXCEPT] = {RELATION_EXCEPT, RELATION_EXCEPT_ALL},
        [SQL_SET_INTERSECT] = {RELATION_INTERSECT, RELATION_INTERSECT_ALL}};
    enum status status = STATUS_OK;
    if (left->column_count != right->column_count)
        status = query_refuse(query, part->position, "this SELECT has %u columns, and the one before it %u",
                              right->column_count, left->column_count);
    if (status == STATUS_OK)
        status = query_placed(query, part->position,
                              relation_set(sets[part->set][part->all], left, right, query->error));
    rowset_free(right);
    return status;
}

static enum status run_part(struct query *query, const struct sql_part *part, uint32_t number,
                            const struct query_scope *scope, struct rowset *rows)
{
    static const char *const names[] = {"union", "except", "intersect"};
    RETURN_IF_ERROR(query_explain_line(query, "%s:", number ? names[part->set] : "first"));
    query->level++;
    const enum status status = query_run(query, part->select, scope, false, rows);
    query->level--;
    return status;
}

/* INTERSECT binds closer than UNION and EXCEPT, as the standard says: answers parts *at and those that are intersected
 * with it. */
static enum status run_term(struct query *query, const struct sql_select *select,
                            const struct query_scope *scope, uint32_t *at, struct rowset *rows)
{
    enum status status = run_part(query, &select->parts[*at], *at, scope, rows);
    for ((*at)++;
         status == STATUS_OK && *at < select->part_count && select->parts[*at].set == SQL_SET_INTERSECT;
         (*at)++) {
        struct rowset right;
        status = run_part(query, &select->parts[*at], *at, scope, &right);
        if (status == STATUS_OK)
            status = combine(query, &select->parts[*at], rows, &right);
    }
    return status;
}

/* The part after the term that begins with part `at`. */
static uint32_t term_end(const struct sql_select *select, uint32_t at)
{
    for (at++; at < select->part_count && select->parts[at].set == SQL_SET_INTERSECT; at++)
        continue;
    return at;
}

/* The terms from part `at` on that UNION ALL, or UNION, adds to each other and to what is before them. */
static uint32_t terms_of_run(const struct sql_select *select, uint32_t at)
{
    const uint32_t second = term_end(select, at);
    const bool all = select->parts[at > 0 || second == select->part_count ? at : second].all;
    uint32_t terms = 1;
    if (at > 0 && select->parts[at].set != SQL_SET_UNION)
        return 1;
    for (at = second;
         at < select->part_count && select->parts[at].set == SQL_SET_UNION && select->parts[at].all == all;
         at = term_end(select, at))
        terms++;
    return terms;
}

/* Answers such terms, from part *at on. Halves are added, so that the time for many short ones, as of VALUES, is not
 * quadratic. */
static enum status run_terms(struct query *query, const struct sql_select *select,
                             const struct query_scope *scope, uint32_t terms, uint32_t *at,
                             struct rowset *rows)
{
    struct rowset right = {0};
    if (terms == 1)
        return run_term(query, select, scope, at, rows);
    RETURN_IF_ERROR(run_terms(query, select, scope, terms / 2, at, rows));
    const struct sql_part *const part = &select->parts[*at];
    const enum status status = run_terms(query, select, scope, terms - terms / 2, at, &right);
    if (status == STATUS_OK)
        return combine(query, part, rows, &right);
    rowset_free(&right);
    return status;
}

static enum status run_parts(struct query *query, const struct sql_select *select,
                             const struct query_scope *scope, struct rowset *rows)
{
    uint32_t at = 0;
    enum status status = run_terms(query, select, scope, terms_of_run(select, at), &at, rows);
    while (status == STATUS_OK && at < select->part_count) {
        const struct sql_part *const part = &select->parts[at];
        struct rowset right = {0};
        status = run_terms(query, select, scope, terms_of_run(select, at), &at, &right);
        if (status == STATUS_OK)
            status = combine(query, part, rows, &right);
        else
            rowset_free(&right);
    }
    return status == STATUS_OK ? query_keep_dictionaries(query, rows) : status;
}

/* Orders the rows of all parts, and cuts them. */
static enum status order_parts(struct query *query, const struct sql_select *select,
                               const struct query_scope *outer, bool last, struct rowset *rows)
{
    struct query_scope *scope;
    struct sql_expression *star;
    struct sql_select *whole;
    RETURN_IF_ERROR(query_name(query, rows, outer, &scope));
    RETURN_IF_ERROR(query_memory(query, sizeof *whole, &whole));
    RETURN_IF_ERROR(query_node(query, SQL_STAR, select->position, &star));
    RETURN_IF_ERROR(query_item(query, whole, star, NULL));
    const struct sql_source source = {.table = scope->named->name, .position = select->position};
    RETURN_IF_ERROR(sql_tree_append(query->tree, &whole->sources, &whole->source_count, sizeof source,
                                    &source, query->error));
    whole->orders = select->orders;
    whole->order_count = select->order_count;
    whole->limit = select->limit;
    whole->offset = select->offset;
    return query_select(query, whole, scope, last, rows);
}

/* ---- The whole ---- */

static enum status add_withs(struct query *query, const struct sql_select *select,
                             const struct query_scope **scope)
{
    for (uint32_t w = 0; w < select->with_count; w++) {
        struct query_scope *inner;
        RETURN_IF_ERROR(named_new(query, select->withs[w].name, *scope, &inner));
        inner->named->with = &select->withs[w];
        *scope = inner;
    }
    return STATUS_OK;
}

enum status query_run(struct query *query, const struct sql_select *select, const struct query_scope *scope,
                      bool last, struct rowset *rows)
{
    *rows = (struct rowset){0};
    RETURN_IF_ERROR(add_withs(query, select, &scope));
    if (select->part_count == 0)
        return query_select(query, select, scope, last, rows);
    enum status status = run_parts(query, select, scope, rows);
    if (status == STATUS_OK && (select->order_count || select->limit))
        status = order_parts(query, select, scope, last, rows);
    if (status != STATUS_OK)
        rowset_free(rows);
    return status;
}

/* The answer's dictionaries that are the query's become the answer's own. */
static enum status own_dictionaries(struct query *query, struct rowset *rows)
{
    for (uint32_t c = 0; c < rows->column_count; c++)
        for (uint32_t d = 0; d < query->dictionary_count; d++)
            if (rows->columns[c].type.dictionary == query->dictionaries[d])
                RETURN_IF_ERROR(rowset_own_dictionary(rows, c, query->error));
    return STATUS_OK;
}

static void query_close(struct query *query)
{
    for (struct query_named *named = query->answers; named; named = named->next)
        rowset_free(&named->rows);
    for (uint32_t d = 0; d < query->dictionary_count; d++)
        free(query->dictionaries[d]);
    free(query->dictionaries);
    free(query->text);
    sql_tree_free(query->tree);
}

enum status query_answer(const struct query_task *task, struct rowset *rows, struct run_timing *timing,
                         struct error *error)
{
    struct query query = {.task = task, .tree = sql_tree_new(), .error = error};
    const bool explain = task->explain != SQL_EXPLAIN_NONE;
    forget_error(error);
    enum status status = query.tree ? STATUS_OK : error_out_of_memory(error, 0, "a statement");
    *rows = (struct rowset){0};
    if (status == STATUS_OK && engine_cluster(task->engine))
        status = error_set(
            error, STATUS_BAD_INPUT,
            "WITH, subqueries, UNION and the like, and window functions are answered by one process; "
            "leave --cluster out, or ask the levels one by one");
    for (uint32_t p = 0; status == STATUS_OK && p < task->parameter_count; p++)
        status = sql_tree_append(query.tree, &query.parameters, &query.parameter_count,
                                 sizeof *query.parameters, &task->parameters[p], error);
    if (status == STATUS_OK)
        status = query_run(&query, task->select, NULL, true, rows);
    if (status == STATUS_OK && explain) {
        rowset_free(rows);
        status = rowset_of_lines(rows, "plan", query.text ? query.text : "", error);
    }
    if (status == STATUS_OK && !explain)
        status = own_dictionaries(&query, rows);
    if (status != STATUS_OK)
        rowset_free(rows);
    if (timing)
        *timing = query.timing;
    query_close(&query);
    return status;
}
