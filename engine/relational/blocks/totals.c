/* totals.c: see totals.h. */
#include "engine/relational/blocks/totals.h"

#include "engine/answer/output.h"
#include "engine/relational/blocks/distribute.h"
#include "engine/relational/rows_table.h"
#include "storage/base/memory.h"

#include <stdlib.h>
#include <string.h>

#define TABLE_NAME "groups"

bool totals_are_possible(const struct relational *run)
{
    const struct engine *const engine = run->task->engine;
    return engine_members(engine) == 1 && !engine_cluster(engine);
}

/* ---- The outputs of the plan below as a table ---- */

static const struct column *find_column(const void *context, uint32_t number, uint32_t *table)
{
    const struct totals *const totals = context;
    *table = 0;
    for (uint32_t i = 0; i < totals->below_count; i++)
        if (totals->below_numbers[i] == number)
            return &totals->table->columns[i];
    return NULL;
}

static struct sql_star star_of(const struct totals *totals, struct sql_star_table *table)
{
    *table = (struct sql_star_table){
        .table = totals->table, .name = TABLE_NAME, .position = totals->select->position};
    return (struct sql_star){.table_count = 1, .tables = table, .column = find_column, .context = totals};
}

/* The table has the columns' types and ranges, and as many rows as there may be groups. The one that is there tells which columns may
 * be NULL; none is read. */
static enum status make_table(struct relational *run, struct totals *totals, const struct plan *below)
{
    struct rowset_column *values;
    struct rows_table_column *columns;
    int64_t value = 0;
    uint8_t null = 1;
    RETURN_IF_ERROR(relational_memory(run, (below->output_count + UINT64_C(1)) * sizeof *values, &values));
    RETURN_IF_ERROR(relational_memory(run, (below->output_count + UINT64_C(1)) * sizeof *columns, &columns));
    for (uint32_t c = 0; c < below->output_count; c++) {
        const struct expression *const node = &below->expressions.nodes[below->outputs[c].expression];
        values[c] = (struct rowset_column){
            .type = node->type, .values = &value, .nulls = node->nullable ? &null : NULL};
        columns[c] = (struct rows_table_column){below->outputs[c].name, &values[c]};
    }
    RETURN_IF_ERROR(
        rows_table_make(TABLE_NAME, columns, below->output_count, 1, 1, &totals->table, run->error));
    totals->table->rows = below->shape == PLAN_HASH ? below->groups_most : below->slots;
    for (uint32_t c = 0; c < below->output_count; c++) {
        const struct expression *const node = &below->expressions.nodes[below->outputs[c].expression];
        struct column_statistics *const known = &((struct column *)&totals->table->columns[c])->statistics;
        known->min = node->low;
        known->max = node->high;
        known->bits = node->bits;
    }
    return STATUS_OK;
}

/* ---- The key ---- */

enum status totals_key(struct relational *run, struct totals *totals, uint32_t count, const uint32_t *numbers,
                       char **key, size_t *length)
{
    struct table places = {.column_count = count}; /* of columns: they have no types yet */
    struct column *columns;
    struct sql_star_table table;
    char *above = NULL;
    size_t bytes = 0;
    totals->below_count = count;
    totals->below_numbers = numbers;
    RETURN_IF_ERROR(relational_memory(run, (count + UINT64_C(1)) * sizeof *columns, &columns));
    places.columns = columns;
    for (uint32_t c = 0; c < count; c++)
        columns[c].table = &places;
    totals->table = &places;
    const struct sql_star star = star_of(totals, &table);
    enum status status = distribute_key(run, &star, totals->select, &above, &bytes);
    totals->table = NULL;
    status = AND_THEN(status, memory_grow(key, *length + bytes + 1, "a key", run->error));
    if (status == STATUS_OK) {
        memcpy(*key + *length, above, bytes);
        *length += bytes;
    }
    free(above);
    return status;
}

/* ---- The plan ---- */

/* The output of the plan below that a column of the SELECT above is. */
static uint32_t output_of(const struct totals *totals, const struct plan *below,
                          const struct expression *leaf)
{
    const struct plan *const plan = totals->plan;
    const struct column *const column = plan->columns[plan->sources[leaf->index].column].column;
    const struct plan_output *const output = &below->outputs[column - totals->table->columns];
    return output->late == EXPRESSION_NONE ? output->expression : EXPRESSION_NONE;
}

/* Makes an expression of the SELECT above one over the groups of the plan below; EXPRESSION_NONE: it has strings or tables, which
 * are each list's own. */
static enum status take_expression(struct relational *run, const struct totals *totals, struct plan *below,
                                   uint32_t number, uint32_t *taken)
{
    struct expression node = totals->plan->expressions.nodes[number];
    *taken = EXPRESSION_NONE;
    if (node.type.kind == VALUE_STRING || node.operation == EXPRESSION_IN_SET ||
        node.operation == EXPRESSION_LOOKUP || node.by_row)
        return STATUS_OK;
    if (node.operation == EXPRESSION_COLUMN) {
        *taken = output_of(totals, below, &node);
        return STATUS_OK;
    }
    for (uint32_t c = 0; c < node.children; c++) {
        RETURN_IF_ERROR(take_expression(run, totals, below, node.child[c], &node.child[c]));
        if (node.child[c] == EXPRESSION_NONE)
            return STATUS_OK;
    }
    return expression_add(&below->expressions, &node, taken, run->error);
}

/* The total that an aggregate of the SELECT above is; false: it is none. */
static enum status take_total(struct relational *run, const struct totals *totals, struct plan *below,
                              uint32_t a, struct plan_total *total, bool *taken)
{
    const struct plan_aggregate *const aggregate = &totals->plan->aggregates[a];
    *total = (struct plan_total){.kind = aggregate->kind, .argument = EXPRESSION_NONE};
    *taken = !plan_is_distinct(totals->plan, a);
    if (aggregate->argument == EXPRESSION_NONE || !*taken)
        return STATUS_OK;
    RETURN_IF_ERROR(take_expression(run, totals, below, aggregate->argument, &total->argument));
    *taken = total->argument != EXPRESSION_NONE;
    return STATUS_OK;
}

static enum status add_totals(struct relational *run, const struct totals *totals, struct plan *below,
                              bool *all)
{
    const uint32_t count = totals->plan->aggregate_count;
    struct plan_total *list;
    RETURN_IF_ERROR(memory_take(&list, (count + 1) * sizeof *list, "a plan", run->error));
    *all = totals->plan->shape == PLAN_TOTAL && totals->plan->step_count == 0 &&
           totals->plan->grouping.set_count == 0;
    enum status status = STATUS_OK;
    for (uint32_t a = 0; a < count && *all && status == STATUS_OK; a++)
        status = take_total(run, totals, below, a, &list[a], all);
    if (status != STATUS_OK || !*all) {
        free(list);
        return status;
    }
    below->totals = list;
    below->total_count = count;
    return STATUS_OK;
}

enum status totals_plan(struct relational *run, struct totals *totals, struct plan *below,
                        const uint32_t *numbers, bool add)
{
    const struct error before = *run->error;
    const struct sql_options options = {
        .threads = 1, .like = run->task->like, .zone = run->task->zone, .now = run->task->now};
    const enum sql_cut cut = run->cut;
    struct sql_star_table table;
    bool all = true;
    totals->below_count = below->output_count;
    totals->below_numbers = numbers;
    const bool dense = below->shape == PLAN_DENSE && engine_is_cuda(run->task->engine);
    if ((below->shape != PLAN_HASH && !dense) || (!add && !below->total_count))
        return STATUS_OK;
    RETURN_IF_ERROR(make_table(run, totals, below));
    const struct sql_star star = star_of(totals, &table);
    const enum status status = relational_bind(run, &star, totals->select, options, &totals->plan);
    run->cut = cut;
    if (status == STATUS_BAD_INPUT) { /* it is refused when it is asked of rows */
        *run->error = before;
        return STATUS_OK;
    }
    RETURN_IF_ERROR(status);
    if (add)
        RETURN_IF_ERROR(add_totals(run, totals, below, &all));
    if (!all) {
        plan_free(totals->plan);
        totals->plan = NULL;
    }
    return STATUS_OK;
}

/* ---- The answer ---- */

enum status totals_answer(const struct totals *totals, const struct partial *below, unsigned threads,
                          struct rowset *rows, struct error *error)
{
    struct partial total = {0};
    enum status status = partial_allocate(totals->plan, 1, &total, error);
    total.total_rows = below->total_rows;
    for (uint32_t a = 0; status == STATUS_OK && a < totals->plan->aggregate_count; a++) {
        total.states[a][0] = below->totals[2 * a];
        if (total.states_high[a])
            total.states_high[a][0] = below->totals[2 * a + 1];
    }
    status = AND_THEN(status, answer_rows(totals->plan, &total, threads, rows, error));
    partial_free(&total);
    return status;
}

void totals_free(struct totals *totals)
{
    plan_free(totals->plan);
    rows_table_free(totals->table);
    totals->plan = NULL;
    totals->table = NULL;
}
