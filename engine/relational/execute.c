/* execute.c: see execute.h. */
#include "engine/relational/execute.h"

#include "engine/relational/blocks/distribute.h"
#include "engine/relational/region.h"
#include "storage/base/clock.h"
#include "storage/base/memory.h"

#include <stdlib.h>
#include <string.h>

/* ---- Queries that are named several times ---- */

/* Answers it with all of its columns at the first reference, and forgets it after the last. */
static enum status shared(struct relational *run, const struct logical_node *node, struct result *result)
{
    const struct logical_shared *const query = &run->tree->shared[node->shared.shared];
    struct shared_result *const kept = &run->shared[node->shared.shared];
    struct operator operator;
    struct logical_set needed;
    if (!kept->done) {
        RETURN_IF_ERROR(relational_set(run, &needed));
        for (uint32_t c = 0; c < query->root->column_count; c++)
            logical_put(&needed, query->root->columns[c]);
        RETURN_IF_ERROR(relational_node(run, query->root, &needed, &kept->result));
        if (!kept->explained) { /* the first step of a recursive query tells it */
            kept->explained = explain_new(run->explained, "inner answer");
            explain_words(kept->explained, "name", "with %s", query->name);
            explain_under(kept->explained, kept->result.explained);
        }
        kept->done = true;
    }
    operator_begin(run, "shared", NULL, NULL, &operator);
    explain_words(operator.node, "name", "%s", query->name);
    const enum status status =
        result_renamed(run, &kept->result, node->column_count, query->root->columns, node->columns, result);
    operator_end(run, &operator,(double) kept->result.rows, result);
    if (!run->repeats && kept->left && --kept->left == 0) {
        result_free(&kept->result);
        kept->done = false; /* a block that is tried again asks once more */
    }
    return status;
}

/* ---- Operators ---- */

static enum status answer_node(struct relational *run, const struct logical_node *node,
                               const struct logical_set *needed, struct result *result)
{
    *result = (struct result){0};
    RETURN_IF_ERROR(cancel_check(run->error));
    switch (node->kind) {
    case LOGICAL_SCAN:
    case LOGICAL_FILTER:
    case LOGICAL_PROJECT:
    case LOGICAL_JOIN:
    case LOGICAL_AGGREGATE:
    case LOGICAL_SORT:
    case LOGICAL_LIMIT:
        return relational_block(run, node, needed, result);
    case LOGICAL_VALUES:
        return relational_values(run, node, result);
    case LOGICAL_WINDOW:
        return relational_windows(run, node, needed, result);
    case LOGICAL_SET:
        return relational_combine(run, node, needed, result);
    case LOGICAL_SHARED:
        return shared(run, node, result);
    case LOGICAL_RECURSIVE:
        return relational_recursive(run, node, result);
    case LOGICAL_WORKING:
        return relational_working(run, node, result);
    }
    return STATUS_OK;
}

enum status relational_node(struct relational *run, const struct logical_node *node,
                            const struct logical_set *needed, struct result *result)
{
    RETURN_IF_ERROR(answer_node(run, node, needed, result));
    return node == run->tree->root ? STATUS_OK : result_code(run, result);
}

/* ---- The whole ---- */

/* The rows of the root, its columns in order with the answer's names. */
static enum status take_rows(struct relational *run, struct result *result, struct rowset *rows)
{
    const struct logical_tree *const tree = run->tree;
    RETURN_IF_ERROR(result_rows(run, result, tree->root->columns, tree->root->column_count, rows));
    for (uint32_t c = 0; c < rows->column_count; c++) {
        char *const name = strdup(tree->names[c]);
        if (!name)
            return error_out_of_memory(run->error, strlen(tree->names[c]), "a name");
        free(rows->columns[c].name);
        rows->columns[c].name = name;
        for (uint32_t d = 0; d < run->dictionary_count; d++)
            if (rows->columns[c].type.dictionary == run->dictionaries[d])
                RETURN_IF_ERROR(rowset_own_dictionary(rows, c, run->error));
    }
    return STATUS_OK;
}

/* Takes the parameters, and makes room for what is known of the tree's columns and queries. All columns of the root are
 * needed. */
static enum status open_run(struct relational *run, struct logical_set *needed)
{
    const struct logical_tree *const tree = run->tree;
    for (uint32_t p = 0; p < run->task->parameter_count; p++)
        RETURN_IF_ERROR(sql_tree_append(run->arena, &run->parameters, &run->parameter_count,
                                        sizeof *run->parameters, &run->task->parameters[p], run->error));
    RETURN_IF_ERROR(relational_memory(run, (tree->shared_count + 1) * sizeof *run->shared, &run->shared));
    RETURN_IF_ERROR(relational_memory(run, (tree->column_count + 1) * sizeof *run->uses, &run->uses));
    for (uint32_t s = 0; s < tree->shared_count; s++)
        run->shared[s].left = tree->shared[s].references;
    RETURN_IF_ERROR(relational_set(run, needed));
    for (uint32_t c = 0; c < tree->root->column_count; c++)
        logical_put(needed, tree->root->columns[c]);
    return estimate_columns(run);
}

static enum status answer(struct relational *run, struct rowset *rows)
{
    const struct logical_tree *const tree = run->tree;
    struct logical_set needed;
    struct result result;
    RETURN_IF_ERROR(open_run(run, &needed));
    RETURN_IF_ERROR(relational_node(run, tree->root, &needed, &result));
    explain_set_root(result.explained);
    for (uint32_t s = 0; s < tree->shared_count; s++)
        explain_under(result.explained, run->shared[s].explained);
    if (run->task->explained) {
        result_free(&result);
        return STATUS_OK;
    }
    return take_rows(run, &result, rows);
}

static void close_run(struct relational *run)
{
    for (uint32_t s = 0; run->shared && s < run->tree->shared_count; s++)
        result_free(&run->shared[s].result);
    for (uint32_t d = 0; d < run->dictionary_count; d++)
        free(run->dictionaries[d]);
    free(run->dictionaries);
    for (uint32_t i = 0; i < run->owned_count; i++)
        free(run->owned[i]);
    free(run->owned);
    memory_charge_drop(&run->lists);
    sql_tree_free(run->arena);
}

enum status relational_answer(const struct relational_task *task, const struct logical_tree *tree,
                              struct rowset *rows, struct run_timing *timing, struct error *error)
{
    struct error unread;
    if (!error)
        error = &unread;
    *error = (struct error){0};
    struct relational run = {.task = task,
                             .tree = tree,
                             .arena = sql_tree_new(),
                             .explained = task->explained,
                             .dry = task->dry,
                             .next_column = tree->column_count,
                             .error = error};
    const double begin = clock_ms();
    enum status status = run.arena ? STATUS_OK : error_out_of_memory(error, 0, "a statement");
    *rows = (struct rowset){0};
    if (status == STATUS_OK && !task->dry && cluster_rank(engine_cluster(task->engine)) > 0)
        status = relational_follow(&run);
    else if (status == STATUS_OK)
        status = answer(&run, rows);
    if (status == STATUS_OK && !task->dry && cluster_rank(engine_cluster(task->engine)) == 0)
        status = distribute_end(&run);
    if (status != STATUS_OK)
        rowset_free(rows);
    close_run(&run);
    run.timing.operators_ms = clock_ms() - begin - run.analysis_ms - run_timing_sum(&run.timing);
    if (timing)
        *timing = run.timing;
    return status;
}

/* ---- A plan that is kept ---- */

/* True for stored tables under joins, filters and projections. */
static bool joins_tables(const struct logical_node *node)
{
    if (node->kind == LOGICAL_JOIN)
        return (node->join.join == LOGICAL_INNER || node->join.join == LOGICAL_LEFT) &&
               joins_tables(node->inputs[0]) && joins_tables(node->inputs[1]);
    if (node->kind == LOGICAL_FILTER || node->kind == LOGICAL_PROJECT)
        return joins_tables(node->inputs[0]);
    return node->kind == LOGICAL_SCAN;
}

/* Finds whether nothing has to be answered before the block at the root is planned, as one. */
static enum status may_be_star(const struct logical_tree *tree, bool *may, struct error *error)
{
    const struct logical_node *node = tree->root;
    bool split = false;
    while (!split &&
           (node->kind == LOGICAL_LIMIT || node->kind == LOGICAL_SORT || node->kind == LOGICAL_PROJECT ||
            node->kind == LOGICAL_FILTER || node->kind == LOGICAL_AGGREGATE)) {
        RETURN_IF_ERROR(logical_is_split(tree, node, &split, error));
        node = node->inputs[0];
    }
    *may = !split && joins_tables(node);
    return STATUS_OK;
}

enum status relational_star(struct database *database, const struct logical_options *values,
                            const struct sql_options *options, const struct logical_tree *tree,
                            struct plan **plan, struct error *error)
{
    const struct relational_task task = {
        .database = database, .parameters = values->parameters, .parameter_count = values->parameter_count};
    struct kept_plan kept = {.options = options};
    struct relational run = {.task = &task, .tree = tree, .next_column = tree->column_count, .kept = &kept};
    struct error own;
    struct logical_set needed;
    *plan = NULL;
    bool may;
    RETURN_IF_ERROR(may_be_star(tree, &may, error));
    if (!may)
        return STATUS_OK;
    run.error = error ? error : &own; /* a step may forget a failure */
    run.arena = sql_tree_new();
    enum status status =
        run.arena ? open_run(&run, &needed) : error_out_of_memory(run.error, 0, "a statement");
    if (status == STATUS_OK)
        status = relational_star_block(&run, tree->root, &needed);
    close_run(&run);
    *plan = kept.plan;
    return status;
}
