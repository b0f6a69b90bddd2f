/* late.c: see late.h. */
#include "engine/answer/late.h"

#include "engine/plan/functions/text_call.h"
#include "storage/base/memory.h"
#include "storage/base/parallel.h"

#include <stdlib.h>
#include <string.h>

/* Rows that a thread takes at a time. */
#define LATE_ROWS (16 * VECTOR_ROWS)

/* What one thread has. */
struct late_worker {
    struct expression_program *program;
    struct string_writer writers[PLAN_OUTPUTS_MAX]; /* of the columns that get strings */
};

struct late {
    const struct plan *plan;
    struct rowset *rows;
    uint32_t outputs[PLAN_OUTPUTS_MAX], roots[PLAN_OUTPUTS_MAX], count;
    uint8_t *given;              /* a 1 for each node that a column has */
    struct late_worker *workers; /* one for each thread */
};

bool late_is_needed(const struct plan *plan)
{
    bool any = false;
    for (uint32_t o = 0; o < plan->output_count; o++)
        any |= plan->outputs[o].late != EXPRESSION_NONE;
    return any;
}

/* ---- Columns ---- */

static enum status open_columns(struct late *late, struct error *error)
{
    const struct plan *const plan = late->plan;
    RETURN_IF_ERROR(memory_zeros(&late->given, plan->expressions.count, "an answer", error));
    for (uint32_t c = 0; c < late->rows->column_count; c++)
        late->given[plan->outputs[c].expression] = 1;
    for (uint32_t o = 0; o < plan->output_count; o++) {
        struct rowset_column *const column = &late->rows->columns[o];
        if (plan->outputs[o].late == EXPRESSION_NONE)
            continue;
        const struct expression *const node = &plan->expressions.nodes[plan->outputs[o].late];
        late->outputs[late->count] = o;
        late->roots[late->count++] = plan->outputs[o].late;
        if (is_run_time(node->type))
            RETURN_IF_ERROR(rowset_add_views(column, late->rows->rows, error));
        if (node->nullable && !column->nulls)
            RETURN_IF_ERROR(spillable_zeros(&column->nulls, late->rows->rows + 1, "an answer", error));
    }
    return STATUS_OK;
}

/* The columns have what was computed, and not any more what it was computed from. */
static void close_columns(struct late *late)
{
    for (uint32_t i = 0; i < late->count; i++) {
        struct rowset_column *const column = &late->rows->columns[late->outputs[i]];
        column->type = late->plan->expressions.nodes[late->roots[i]].type;
        rowset_become_views(column);
    }
}

/* ---- Rows ---- */

static enum status worker_open(const struct late *late, struct late_worker *worker, struct error *error)
{
    if (worker->program)
        return STATUS_OK;
    RETURN_IF_ERROR(expression_program_over(&late->plan->expressions, late->given, late->roots, late->count,
                                            &worker->program, error));
    for (uint32_t c = 0; c < late->rows->column_count; c++)
        expression_program_strings(worker->program, late->plan->outputs[c].expression,
                                   late->rows->columns[c].type.dictionary);
    for (uint32_t i = 0; i < late->count; i++)
        worker->writers[i].to = late->rows->columns[late->outputs[i]].buffers;
    return STATUS_OK;
}

/* The column that has the values of a node. */
static const struct rowset_column *column_of(const struct late *late, uint32_t node)
{
    uint32_t c = 0;
    while (late->plan->outputs[c].expression != node)
        c++;
    return &late->rows->columns[c];
}

static void fill_leaves(const struct late *late, const struct late_worker *worker, uint64_t first,
                        uint32_t count)
{
    const uint32_t *leaves;
    const uint32_t leaf_count = expression_program_leaves(worker->program, &leaves);
    for (uint32_t l = 0; l < leaf_count; l++) {
        const struct rowset_column *const from = column_of(late, leaves[l]);
        const struct vector leaf = expression_program_vector(worker->program, leaves[l]);
        memcpy(leaf.values, from->values + first, count * sizeof *leaf.values);
        if (leaf.nulls && from->nulls)
            memcpy(leaf.nulls, from->nulls + first, count);
    }
}

static enum status take_output(const struct late *late, struct late_worker *worker, uint32_t i,
                               uint64_t first, uint32_t count, struct error *error)
{
    struct rowset_column *const to = &late->rows->columns[late->outputs[i]];
    const struct vector from = expression_program_vector(worker->program, late->roots[i]);
    for (uint32_t row = 0; to->nulls && row < count; row++)
        to->nulls[first + row] = from.nulls && from.nulls[row];
    if (!to->views)
        memcpy(to->values + first, from.values, count * sizeof *to->values);
    for (uint32_t row = 0; to->views && row < count; row++) {
        struct string_view *const view = &to->views[first + row];
        *view = (struct string_view){0};
        if (!(to->nulls && to->nulls[first + row]))
            RETURN_IF_ERROR(string_writer_put(&worker->writers[i],
                                              expression_program_string(worker->program, late->roots[i], row),
                                              view, error));
    }
    return STATUS_OK;
}

static enum status compute_some(void *context, uint64_t item, unsigned thread, struct error *error)
{
    const struct late *const late = context;
    struct late_worker *const worker = &late->workers[thread];
    const uint64_t begin = item * LATE_ROWS, left = late->rows->rows - begin,
                   end = left < LATE_ROWS ? late->rows->rows : begin + LATE_ROWS;
    RETURN_IF_ERROR(cancel_check(error));
    RETURN_IF_ERROR(worker_open(late, worker, error));
    for (uint64_t first = begin; first < end; first += VECTOR_ROWS) {
        const uint32_t count = end - first < VECTOR_ROWS ? (uint32_t)(end - first) : VECTOR_ROWS;
        fill_leaves(late, worker, first, count);
        expression_program_run(worker->program, count);
        RETURN_IF_ERROR(expression_check(&late->plan->expressions, error));
        for (uint32_t i = 0; i < late->count; i++)
            RETURN_IF_ERROR(take_output(late, worker, i, first, count, error));
    }
    return STATUS_OK;
}

enum status late_compute(const struct plan *plan, unsigned threads, struct rowset *rows, struct error *error)
{
    struct late late = {.plan = plan, .rows = rows};
    if (!late_is_needed(plan))
        return STATUS_OK;
    enum status status = open_columns(&late, error);
    if (status == STATUS_OK)
        status = memory_zeros(&late.workers, threads * sizeof *late.workers, "an answer", error);
    if (status == STATUS_OK)
        status = parallel_for(threads, (rows->rows + LATE_ROWS - 1) / LATE_ROWS, compute_some, &late, error);
    if (status == STATUS_OK)
        close_columns(&late);
    for (unsigned t = 0; late.workers && t < threads; t++)
        expression_program_free(late.workers[t].program);
    free(late.workers);
    free(late.given);
    return status;
}
