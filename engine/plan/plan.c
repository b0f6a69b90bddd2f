/*
 * plan.c: frees plans, and finds the tiles that a planned statement reads (plan.h).
 */
#include "engine/plan/plan.h"
#include "engine/plan/tiles/tile_codes.h"

#include "storage/base/clock.h"
#include "storage/base/memory.h"

#include <stdlib.h>
#include <string.h>

void plan_clear(struct plan *plan)
{
    for (uint32_t a = 0; a < plan->array_count; a++) {
        kept_array_release(plan->database, plan->arrays[a].kept);
        free(plan->arrays[a].copy);
        free(plan->arrays[a].valid_copy);
    }
    for (uint32_t o = 0; o < plan->output_count + plan->hidden_count; o++) {
        free(plan->outputs[o].name);
    }
    for (uint32_t j = 0; j < plan->join_count; j++) {
        free(plan->joins[j].name);
        position_set_free(&plan->joins[j].passing_rows);
        free(plan->joins[j].leaf_rows);
    }
    for (uint32_t g = 0; g < plan->group_count; g++)
        free(plan->groups[g].values);
    for (uint32_t t = 0; t < plan->index.term_count; t++)
        free(plan->index.terms[t].runs);
    tile_skip_free(&plan->scan);
    expression_list_free(&plan->expressions);
    free(plan->columns);
    free(plan->arrays);
    free(plan->joins);
    free(plan->sources);
    free(plan->steps);
    free(plan->decided);
    free(plan->groups);
    free(plan->grouping.sets);
    free(plan->aggregates);
    free(plan->measures);
    free(plan->outputs);
    free(plan->orders);
    free(plan->totals);
}

void plan_free(struct plan *plan)
{
    if (plan)
        plan_clear(plan);
    free(plan);
}

uint64_t plan_bytes(const struct plan *plan)
{
    uint64_t bytes = sizeof *plan + expression_list_bytes(&plan->expressions) +
                     plan->column_count * sizeof *plan->columns + plan->array_count * sizeof *plan->arrays +
                     plan->join_count * sizeof *plan->joins + plan->source_count * sizeof *plan->sources +
                     (plan->step_count + plan->decided_count) * sizeof *plan->steps +
                     plan->group_count * sizeof *plan->groups +
                     plan->aggregate_count * sizeof *plan->aggregates +
                     plan->measure_count * sizeof *plan->measures +
                     (plan->output_count + plan->hidden_count) * sizeof *plan->outputs +
                     plan->order_count * sizeof *plan->orders + plan->total_count * sizeof *plan->totals +
                     plan->grouping.set_count * sizeof *plan->grouping.sets +
                     plan->scan.run_count * sizeof *plan->scan.runs;
    for (uint32_t a = 0; a < plan->array_count; a++)
        bytes += plan->arrays[a].copy ? plan->arrays[a].rows * plan->arrays[a].value_bytes : 0;
    for (uint32_t g = 0; g < plan->group_count; g++)
        bytes += plan->groups[g].values ? plan->groups[g].domain * sizeof(int64_t) : 0;
    for (uint32_t t = 0; t < plan->index.term_count; t++)
        bytes += plan->index.terms[t].run_count * sizeof *plan->index.terms[t].runs;
    return bytes;
}

bool plan_stages(const struct plan *plan, uint32_t column, bool on_gpu)
{
    const struct codec *codec = plan->columns[column].data->codec;
    return (plan->staged || codec_is_staged(codec, on_gpu) || (on_gpu && plan->columns[column].crowded)) &&
           codec->layout != CODEC_LAYOUT_VALUES;
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

/* ---- Tiles ---- */

bool plan_join_is_probed(const struct plan *plan, uint32_t j)
{
    bool probed = !plan->joins[j].inner;
    for (uint32_t s = 0; s < plan->step_count; s++)
        probed |= plan->steps[s].kind == STEP_SEMI_JOIN && plan->steps[s].join == j;
    return probed && plan->joins[j].match != EXPRESSION_NONE;
}

/* A tile may have a row if a member is between its least and its greatest value. Of a set that is a bitmap, of many members, only
 * the least and greatest are compared. */
static void test_set(const struct value_table *set, struct tile_test *test)
{
    if (set->size > set->count) {
        test->low = set->values[0];
        test->high = set->values[set->count - 1];
        return;
    }
    test->values = set->values;
    test->value_count = set->count;
}

static struct tile_test probe_test(const struct plan *plan, const struct plan_step *step)
{
    const struct plan_probe probe = plan_probe_of(plan, step);
    struct tile_test test = {.data = plan->columns[step->column].data, .low = INT64_MIN, .high = INT64_MAX};
    if (!probe.negated)
        test_set(probe.set, &test);
    return test;
}

/* Makes the test of a condition that compares a fact column with a constant, as all on columns of 64 bits are, or is that it
 * is in a set; else false. NULLs do not pass such a condition. */
static bool condition_test(const struct plan *plan, uint32_t condition, struct tile_test *test)
{
    const struct expression *const nodes = plan->expressions.nodes, *const node = &nodes[condition];
    *test = (struct tile_test){.low = INT64_MIN, .high = INT64_MAX};
    uint32_t leaf = node->child[0];
    if (node->operation == EXPRESSION_IN_SET && nodes[leaf].operation == EXPRESSION_COLUMN) {
        test_set(&plan->expressions.tables[node->table], test);
    } else if (!expression_range(&plan->expressions, node, &leaf, &test->low, &test->high)) {
        return false;
    }
    const struct plan_source *const source = &plan->sources[nodes[leaf].index];
    if (source->join >= 0 || source->bits || !plan->columns[source->column].data)
        return false;
    test->data = plan->columns[source->column].data;
    return true;
}

static enum status find_tiles(struct plan *plan, struct tile_test *tests, uint32_t count, unsigned threads,
                              struct error *error)
{
    const struct kept_array **kept;
    enum status status = STATUS_OK;
    RETURN_IF_ERROR(memory_zeros(&kept, (count + 1) * sizeof *kept, "a plan", error));
    for (uint32_t t = 0; t < count && status == STATUS_OK; t++)
        status = tile_codes_find(plan->database, plan->fact, &tests[t], &kept[t], error);
    status = AND_THEN(status, tile_skip_find(plan->fact, tests, count, threads, &plan->scan, error));
    for (uint32_t t = 0; t < count; t++)
        kept_array_release(plan->database, kept[t]);
    free(kept);
    return status;
}

enum status plan_find_tiles(struct plan *plan, unsigned threads, struct error *error)
{
    const uint32_t steps = plan->step_count + plan->decided_count;
    struct tile_test *tests;
    uint32_t count = 0;
    const double begin = clock_ms();
    RETURN_IF_ERROR(memory_take(&tests, steps * sizeof *tests, "a plan", error));
    for (uint32_t s = 0; s < steps; s++) {
        const struct plan_step *step =
            s < plan->step_count ? &plan->steps[s] : &plan->decided[s - plan->step_count];
        const struct plan_join *join = step->kind == STEP_SEMI_JOIN ? &plan->joins[step->join] : NULL;
        if (step->kind == STEP_CONDITION)
            count += condition_test(plan, step->expression, &tests[count]);
        if (step->kind == STEP_PROBE)
            tests[count++] = probe_test(plan, step);
        if (plan_step_is_expression(step) || step->kind == STEP_INDEX)
            continue;
        tests[count++] =
            (struct tile_test){.data = plan->columns[join ? join->column : step->column].data,
                               .low = join ? INT64_MIN : step->low,
                               .high = join ? INT64_MAX : step->high,
                               .set = join && join->match != EXPRESSION_NONE ? &join->passing_rows : NULL};
    }
    const enum status status = find_tiles(plan, tests, count, threads, error);
    free(tests);
    RETURN_IF_ERROR(status);
    if (plan->nothing)
        plan->scan.run_count = plan->scan.kept_tiles = plan->scan.kept_rows = 0;
    for (uint32_t j = 0; j < plan->join_count; j++) {
        free(plan->joins[j].leaf_rows);
        plan->joins[j].leaf_rows = NULL;
    }
    RETURN_IF_ERROR(first_rows_find(plan, error));
    plan->skip_ms = clock_ms() - begin;
    return STATUS_OK;
}
