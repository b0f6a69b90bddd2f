/* engine/library/statement.c: statements (engine/library/statement.h): parsed once, planned when their parameters change, run as often as wanted. */
#include "engine/library/statement.h"
#include "storage/base/clock.h"

#include <stdlib.h>
#include <string.h>

/* EXPLAIN ANALYZE: medians of so many runs, fewer if they take longer than that. */
#define ANALYSED_RUNS 5u
#define ANALYSED_MS   500.0

struct sql_statement {
    struct engine *engine;
    struct database *database;
    char *codec; /* or NULL */
    struct sql_statement_tree *tree;
    uint32_t parameter_count;
    struct sql_parameter *parameters; /* strings are owned */
    struct plan *plan;                /* NULL: to be made */
    struct device_run *run;
    struct run_timing timing;
};

static const struct plan_device *device_of(const struct sql_statement *statement)
{
    return engine_is_cuda(statement->engine) ? &cuda_device : &cpu_device;
}

enum status sql_prepare(struct engine *engine, struct database *database, const char *text, size_t length,
                        const char *codec, struct sql_statement **out, size_t *used, struct error *error)
{
    struct sql_statement_tree *tree;
    *out = NULL;
    RETURN_IF_ERROR(sql_parse(text, length, &tree, used, error));
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
    statement->codec = codec ? strdup(codec) : NULL;
    if (!statement->parameters || (codec && !statement->codec)) {
        sql_statement_free(statement);
        return error_out_of_memory(error, statement->parameter_count, "a statement");
    }
    for (uint32_t p = 0; p < statement->parameter_count; p++)
        statement->parameters[p].is_null = true;
    *out = statement;
    return STATUS_OK;
}

static void forget_plan(struct sql_statement *statement)
{
    device_of(statement)->close(statement->run);
    plan_free(statement->plan);
    statement->run = NULL;
    statement->plan = NULL;
}

void sql_statement_free(struct sql_statement *statement)
{
    if (!statement)
        return;
    forget_plan(statement);
    for (uint32_t p = 0; statement->parameters && p < statement->parameter_count; p++)
        free((char *)statement->parameters[p].string);
    free(statement->parameters);
    free(statement->codec);
    sql_tree_free(statement->tree);
    free(statement);
}

uint32_t sql_parameter_count(const struct sql_statement *statement)
{
    return statement->parameter_count;
}

enum status sql_parameter_set(struct sql_statement *statement, uint32_t index,
                              const struct sql_parameter *value, struct error *error)
{
    char *copy = NULL;
    if (index >= statement->parameter_count)
        return error_set(error, STATUS_BAD_INPUT, "there is no parameter %u; the statement has %u, from 0",
                         index, statement->parameter_count);
    if (!value->is_null && value->type.kind == VALUE_STRING) {
        copy = malloc(value->length + 1);
        if (!copy)
            return error_out_of_memory(error, value->length, "a parameter");
        memcpy(copy, value->string, value->length);
        copy[value->length] = '\0';
    }
    free((char *)statement->parameters[index].string);
    statement->parameters[index] = *value;
    statement->parameters[index].string = copy;
    forget_plan(statement);
    return STATUS_OK;
}

static enum status make_plan(struct sql_statement *statement, struct error *error)
{
    const double begin = clock_ms();
    const struct sql_select *select = sql_tree_select(statement->tree);
    if (statement->plan)
        return STATUS_OK;
    RETURN_IF_ERROR(sql_bind(statement->database, select, statement->parameters, statement->parameter_count,
                             statement->codec, engine_threads(statement->engine), &statement->plan, error));
    statement->timing = (struct run_timing){.plan_ms = clock_ms() - begin};
    for (uint32_t c = 0; c < statement->plan->column_count; c++)
        statement->timing.bytes += statement->plan->columns[c].data->bytes;
    if (select->explain == SQL_EXPLAIN)
        return STATUS_OK;
    return device_of(statement)->open(statement->engine, statement->plan,
                                      select->explain == SQL_EXPLAIN_ANALYZE, &statement->run,
                                      &statement->timing, error);
}

static enum status answer(struct sql_statement *statement, struct rowset *rows, struct error *error)
{
    struct partial groups;
    RETURN_IF_ERROR(device_of(statement)->run(statement->run, &groups, &statement->timing, error));
    const double begin = clock_ms();
    const enum status status =
        star_output(statement->plan, &groups, engine_threads(statement->engine), rows, error);
    statement->timing.output_ms = clock_ms() - begin;
    partial_free(&groups);
    return status;
}

/* Runs again as often as it takes to have a median, then once to count. */
static enum status analyse(struct sql_statement *statement, struct scan_counts *counts, struct error *error)
{
    const struct plan_device *device = device_of(statement);
    struct run_timing *timing = &statement->timing;
    double filter[ANALYSED_RUNS], scan[ANALYSED_RUNS], total[ANALYSED_RUNS];
    const double begin = clock_ms();
    size_t runs = 0;
    do {
        struct partial groups;
        RETURN_IF_ERROR(device->run(statement->run, &groups, timing, error));
        partial_free(&groups);
        filter[runs] = timing->filter_ms;
        scan[runs] = timing->scan_ms;
        total[runs++] = timing->total_ms;
    } while (runs < ANALYSED_RUNS && clock_ms() - begin < ANALYSED_MS);
    timing->filter_ms = clock_median(filter, runs);
    timing->scan_ms = clock_median(scan, runs);
    timing->total_ms = clock_median(total, runs);
    return device->count(statement->run, counts, error);
}

enum status sql_run(struct sql_statement *statement, struct rowset *rows, struct run_timing *timing,
                    struct error *error)
{
    const enum sql_explain explain = sql_tree_select(statement->tree)->explain;
    struct scan_counts counts;
    double ceiling = 0;
    *rows = (struct rowset){0};
    enum status status = make_plan(statement, error);
    if (status != STATUS_OK) {
        forget_plan(statement);
        return status;
    }
    if (explain != SQL_EXPLAIN)
        RETURN_IF_ERROR(answer(statement, rows, error));
    if (explain == SQL_EXPLAIN_NONE) {
        if (timing)
            *timing = statement->timing;
        return STATUS_OK;
    }
    rowset_free(rows);
    if (explain == SQL_EXPLAIN_ANALYZE) {
        RETURN_IF_ERROR(analyse(statement, &counts, error));
        RETURN_IF_ERROR(engine_read_ceiling(statement->engine, &ceiling, error));
    }
    if (timing)
        *timing = statement->timing;
    return sql_explain(statement->plan, statement->engine, explain == SQL_EXPLAIN_ANALYZE ? &counts : NULL,
                       &statement->timing, ceiling, rows, error);
}
