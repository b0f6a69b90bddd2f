/*
 * plan.c: frees plans, and analyses dimensions and tiles when a statement is planned (plan.h).
 */
#include "engine/plan/plan.h"

#include "engine/plan/expression_vector.h"
#include "storage/base/clock.h"
#include "storage/base/parallel.h"

#include <stdlib.h>
#include <string.h>

void plan_free(struct plan *plan)
{
    if (!plan)
        return;
    for (uint32_t a = 0; a < plan->array_count; a++) {
        free(plan->arrays[a].copy);
        free(plan->arrays[a].valid_copy);
    }
    for (uint32_t o = 0; o < plan->output_count + plan->hidden_count; o++)
        free(plan->outputs[o].name);
    for (uint32_t j = 0; j < plan->join_count; j++) {
        free(plan->joins[j].name);
        position_set_free(&plan->joins[j].passing_rows);
    }
    tile_skip_free(&plan->scan);
    expression_list_free(&plan->expressions);
    free(plan);
}

bool plan_stages(const struct plan *plan, uint32_t column, bool on_gpu)
{
    const struct codec *codec = plan->columns[column].data->codec;
    return (plan->staged || codec_is_staged(codec, on_gpu)) && codec->layout != CODEC_LAYOUT_VALUES;
}

bool plan_stages_any(const struct plan *plan, bool on_gpu)
{
    bool any = false;
    for (uint32_t c = 0; c < plan->column_count; c++)
        any |= plan_stages(plan, c, on_gpu);
    return any;
}

uint64_t plan_staged_bytes(const struct plan *plan, uint32_t column, uint32_t segment)
{
    const struct plan_column *read = &plan->columns[column];
    return (uint64_t)read->data->segments[segment].chunk.tiles * TILE_ROWS * read->column->value_bytes;
}

uint64_t plan_staged_reads(const struct plan *plan, bool on_gpu)
{
    double bytes = 0;
    for (uint32_t c = 0; c < plan->column_count; c++)
        bytes += plan_stages(plan, c, on_gpu) ? (double)plan->columns[c].data->bytes : 0;
    return plan->scan.tiles ? (uint64_t)(bytes * (double)plan->scan.kept_tiles / (double)plan->scan.tiles)
                            : 0;
}

/* ---- Dimensions ---- */

void plan_fill_dimension(const struct plan *plan, const struct expression_program *program, uint64_t first,
                         uint32_t rows)
{
    const uint32_t *nodes;
    const uint32_t count = expression_program_leaves(program, &nodes);
    for (uint32_t i = 0; i < count; i++) {
        const struct plan_source *source = &plan->sources[plan->expressions.nodes[nodes[i]].index];
        const struct vector vector = expression_program_vector(program, nodes[i]);
        plan_array_read(&plan->arrays[source->column], first, rows, vector.values, vector.nulls);
    }
}

static void analyse_rows(struct plan_join *join, const struct expression_program *program,
                         const uint32_t *expressions, uint32_t count, uint64_t first, uint32_t rows,
                         int64_t *low, int64_t *high)
{
    const bool all = join->match == EXPRESSION_NONE;
    const struct vector match = all ? (struct vector){0} : expression_program_vector(program, join->match);
    for (uint32_t row = 0; row < rows; row++) {
        if (!all && ((match.nulls && match.nulls[row]) || !match.values[row]))
            continue;
        join->first = join->passing++ ? join->first : first + row;
        join->last = first + row;
        if (!all)
            position_set_add(&join->passing_rows, first + row);
        for (uint32_t e = 0; e < count; e++) {
            const struct vector value = expression_program_vector(program, expressions[e]);
            if (value.nulls && value.nulls[row])
                continue;
            low[e] = value.values[row] < low[e] ? value.values[row] : low[e];
            high[e] = value.values[row] > high[e] ? value.values[row] : high[e];
        }
    }
}

enum status plan_join_analyse(struct plan *plan, uint32_t j, const uint32_t *expressions, uint32_t count,
                              int64_t *low, int64_t *high, struct error *error)
{
    struct plan_join *join = &plan->joins[j];
    uint32_t roots[PLAN_GROUPS_MAX + 1], root_count = 0;
    for (; root_count < count; root_count++) {
        roots[root_count] = expressions[root_count];
        low[root_count] = INT64_MAX;
        high[root_count] = INT64_MIN;
    }
    if (join->match != EXPRESSION_NONE)
        roots[root_count++] = join->match;
    struct expression_program *program;
    RETURN_IF_ERROR(expression_program_create(&plan->expressions, roots, root_count, &program, error));
    join->passing = 0;
    position_set_free(&join->passing_rows);
    enum status status = join->match == EXPRESSION_NONE
                             ? STATUS_OK
                             : position_set_create(join->table->rows, &join->passing_rows, error);
    for (uint64_t row = 0; row < join->table->rows && status == STATUS_OK; row += VECTOR_ROWS) {
        const uint64_t left = join->table->rows - row;
        const uint32_t rows = left < VECTOR_ROWS ? (uint32_t)left : VECTOR_ROWS;
        plan_fill_dimension(plan, program, row, rows);
        expression_program_run(program, rows);
        analyse_rows(join, program, expressions, count, row, rows, low, high);
        status = cancel_check(error);
    }
    join->contiguous = join->passing == 0 || join->last - join->first + 1 == join->passing;
    if (join->passing_rows.bits)
        position_set_count(&join->passing_rows);
    expression_program_free(program);
    return status;
}

/* ---- Tiles ---- */

enum status plan_find_tiles(struct plan *plan, unsigned threads, struct error *error)
{
    struct tile_test tests[PLAN_STEPS_MAX];
    uint32_t count = 0;
    const double begin = clock_ms();
    for (uint32_t s = 0; s < plan->step_count; s++) {
        const struct plan_step *step = &plan->steps[s];
        const struct plan_join *join = step->kind == STEP_SEMI_JOIN ? &plan->joins[step->join] : NULL;
        if (step->kind == STEP_CONDITION)
            continue;
        tests[count++] =
            (struct tile_test){.data = plan->columns[join ? join->column : step->column].data,
                               .low = join ? INT64_MIN : step->low,
                               .high = join ? INT64_MAX : step->high,
                               .set = join && join->match != EXPRESSION_NONE ? &join->passing_rows : NULL};
    }
    RETURN_IF_ERROR(tile_skip_find(plan->fact, tests, count, threads, &plan->scan, error));
    if (plan->nothing)
        plan->scan.run_count = plan->scan.kept_tiles = plan->scan.kept_rows = 0;
    for (uint32_t j = 0; j < plan->join_count; j++)
        position_set_free(&plan->joins[j].passing_rows);
    plan->skip_ms = clock_ms() - begin;
    return STATUS_OK;
}
