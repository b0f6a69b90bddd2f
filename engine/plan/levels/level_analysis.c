/*
 * level_analysis.c: evaluates a dimension predicate over prefixes instead of rows (level_plan.h). Where levels decide all
 * columns that it and the groups read, it takes one row of each prefix: 250 cities instead of 3 million customers.
 */
#include "engine/plan/levels/level_plan.h"

#include "engine/plan/expression_vector.h"
#include "storage/base/memory.h"

#include <stdlib.h>
#include <string.h>

struct analysis {
    struct plan *plan;
    struct plan_join *join;
    struct expression_program *program;
    struct group_range *ranges;
    uint32_t count;
    uint64_t last_row; /* the last row that passed */
};

/* The prefixes that are evaluated together. */
struct batch {
    uint32_t count;
    struct level_part parts[VECTOR_ROWS];
};

uint32_t level_program_depth(const struct plan *plan, const struct expression_program *program)
{
    const uint32_t *nodes;
    const uint32_t count = expression_program_leaves(program, &nodes);
    uint32_t deepest = 0;
    for (uint32_t i = 0; i < count; i++) {
        const struct plan_source *source = &plan->sources[plan->expressions.nodes[nodes[i]].index];
        const uint32_t depth = level_array_depth(&plan->arrays[source->column]);
        if (depth == 0)
            return 0;
        deepest = depth > deepest ? depth : deepest;
    }
    return deepest;
}

uint32_t level_shift_of(const struct table *table, uint32_t depth)
{
    return depth ? levels_shift(table->levels, depth) : 0;
}

static void fill_leaves(const struct analysis *of, const struct batch *batch, uint32_t shift)
{
    const uint32_t *nodes;
    const uint32_t count = expression_program_leaves(of->program, &nodes);
    for (uint32_t n = 0; n < count; n++) {
        const struct plan_source *source = &of->plan->sources[of->plan->expressions.nodes[nodes[n]].index];
        const struct vector leaf = expression_program_vector(of->program, nodes[n]);
        for (uint32_t i = 0; i < batch->count; i++)
            plan_array_read(&of->plan->arrays[source->column], (uint64_t)batch->parts[i].prefix << shift, 1,
                            &leaf.values[i], leaf.nulls ? &leaf.nulls[i] : NULL);
    }
}

/* Adds the rows of a prefix to those that pass. */
static void pass(struct analysis *of, const struct level_part *part)
{
    struct plan_join *const join = of->join;
    const struct table_levels *const levels = join->table->levels;
    const struct level_leaf *first = &levels->leaves[part->leaf], *last = first + part->leaves - 1;
    join->contiguous &= join->passing == 0 || of->last_row + 1 == part->first_row;
    if (join->passing == 0)
        join->first = (uint64_t)first->prefix << levels->rest_bits;
    join->last = ((uint64_t)last->prefix << levels->rest_bits) + last->rows - 1;
    join->passing += part->rows;
    of->last_row = part->first_row + part->rows - 1;
    if (join->match != EXPRESSION_NONE)
        position_set_add(&join->passing_rows, (uint64_t)first->prefix << levels->rest_bits);
}

static void run_batch(struct analysis *of, struct batch *batch, uint32_t shift)
{
    const struct vector all = {0};
    fill_leaves(of, batch, shift);
    expression_program_run(of->program, batch->count);
    const struct vector match =
        of->join->match == EXPRESSION_NONE ? all : expression_program_vector(of->program, of->join->match);
    for (uint32_t i = 0; i < batch->count; i++) {
        if (match.values && ((match.nulls && match.nulls[i]) || !match.values[i]))
            continue;
        pass(of, &batch->parts[i]);
        for (uint32_t r = 0; r < of->count; r++) {
            const struct vector value =
                expression_program_vector(of->program, of->ranges[r].group->expression);
            if (!value.nulls || !value.nulls[i])
                group_range_see(&of->ranges[r], value.values[i]);
        }
    }
    batch->count = 0;
}

void level_join_analyse(struct plan *plan, uint32_t j, struct expression_program *program, uint32_t depth,
                        struct group_range *ranges, uint32_t count)
{
    struct analysis of = {
        .plan = plan, .join = &plan->joins[j], .program = program, .ranges = ranges, .count = count};
    const struct table_levels *const levels = of.join->table->levels;
    struct level_part part = {0};
    struct batch batch;
    batch.count = 0;
    of.join->contiguous = true;
    while (level_part_next(levels, depth, &part)) {
        batch.parts[batch.count++] = part;
        if (batch.count == VECTOR_ROWS)
            run_batch(&of, &batch, levels_shift(levels, depth));
    }
    run_batch(&of, &batch, levels_shift(levels, depth));
}

/* The search for a test may take about an eighth of the time of a scan of so many rows. */
#define ROWS_A_VISIT 4u
#define VISITS_MIN   (UINT64_C(1) << 15)

enum status level_test_find(struct plan_join *join, uint64_t rows, struct error *error)
{
    const struct table_levels *const levels = join->table->levels;
    const struct position_set *const passing = &join->passing_rows;
    free(join->leaf_rows);
    RETURN_IF_ERROR(memory_take(&join->leaf_rows, levels->leaf_count * sizeof *join->leaf_rows,
                                "a dimension's levels", error));
    for (uint32_t l = 0; l < levels->leaf_count; l++) {
        const struct level_leaf *leaf = &levels->leaves[l];
        const uint64_t first = (uint64_t)leaf->prefix << levels->rest_bits;
        const uint64_t members = position_set_members(passing, first, first + leaf->rows - 1);
        join->leaf_rows[l] = passing->shift == 0 ? members : members ? leaf->rows : 0;
    }
    uint64_t visits = rows / ROWS_A_VISIT > VISITS_MIN ? rows / ROWS_A_VISIT : VISITS_MIN;
    visits = visits < POSITION_TEST_WORK_MOST ? visits : POSITION_TEST_WORK_MOST;
    return position_test_find(levels, join->leaf_rows, visits, &join->test, error);
}

double plan_bits_share(const struct plan *plan, uint32_t c, uint32_t mask)
{
    const struct column_data *const data = plan->columns[c].data;
    if (!data->codec->planes || data->segment_count == 0)
        return 1;
    const struct chunk_view *const chunk = &data->segments[0].chunk;
    const uint32_t bits = chunk->width_high, rest = bits - data->codec->planes(chunk);
    const uint32_t of_rest = (1u << rest) - 1, all = (uint32_t)((UINT64_C(1) << bits) - 1);
    const uint32_t lines = (uint32_t)__builtin_popcount(mask & all & ~of_rest) + (mask & of_rest ? rest : 0);
    return (double)lines / bits;
}

/* A semi-join by a bitmap costs about as much as this many planes, so a test with more of them does not pay. */
#define PLANES_MOST 24u

void level_test_use(struct plan *plan, uint32_t j)
{
    struct plan_join *const join = &plan->joins[j];
    const struct column_data *const data = plan->columns[join->column].data;
    join->test.used = false;
    if (join->test.cube_count == 0 || !data->codec->planes || data->segment_count == 0)
        return;
    const struct chunk_view *const chunk = &data->segments[0].chunk;
    const uint32_t rest = chunk->width_high - data->codec->planes(chunk);
    join->test.used = (uint32_t)__builtin_popcount(join->test.care) <= PLANES_MOST &&
                      (join->test.care & ((1u << rest) - 1)) == 0;
}
