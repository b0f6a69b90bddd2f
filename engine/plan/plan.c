/*
 * plan.c: frees plans, and analyses dimensions and tiles when a statement is planned (plan.h).
 */
#include "engine/plan/plan.h"

#include "engine/plan/dimensions/dimension_match.h"
#include "engine/plan/expression_vector.h"
#include "engine/plan/levels/level_plan.h"
#include "storage/base/clock.h"
#include "storage/base/memory.h"
#include "storage/base/parallel.h"
#include "storage/column/positions.h"

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

/* ---- Dimensions ---- */

void plan_fill_dimension(const struct plan *plan, const struct expression_program *program, uint64_t first,
                         uint32_t positions)
{
    const uint32_t *nodes;
    const uint32_t count = expression_program_leaves(program, &nodes);
    for (uint32_t i = 0; i < count; i++) {
        const struct plan_source *source = &plan->sources[plan->expressions.nodes[nodes[i]].index];
        const struct vector vector = expression_program_vector(program, nodes[i]);
        plan_array_read(&plan->arrays[source->column], first, positions, vector.values, vector.nulls);
    }
}

/* The analysis of a join's table: its predicate and the ranges of expressions are found. */
struct analysis {
    struct plan_join *join;
    const struct expression_program *program;
    struct group_range *ranges;
    uint32_t count;
    uint64_t first_row, last_row; /* that pass */
};

/* Widens a range by the values of rows, which are not NULL. */
static void see_rows(const struct analysis *of, struct group_range *range, const uint32_t *rows,
                     uint32_t count)
{
    const struct vector value = expression_program_vector(of->program, range->group->expression);
    struct group_range seen = *range;
    for (uint32_t i = 0; i < count; i++)
        if (!value.nulls || !value.nulls[rows[i]])
            group_range_see(&seen, value.values[rows[i]]);
    *range = seen;
}

/* Takes the rows of a run that the program's vector has from its place `at` on. */
static void analyse_rows(struct analysis *of, const struct position_run *run, uint32_t at, uint32_t rows)
{
    struct plan_join *join = of->join;
    const bool all = join->match == EXPRESSION_NONE;
    const struct vector match =
        all ? (struct vector){0} : expression_program_vector(of->program, join->match);
    uint32_t passing[VECTOR_ROWS], count = 0;
    for (uint32_t i = at; i < at + rows; i++) {
        passing[count] = i;
        count += all || (!(match.nulls && match.nulls[i]) && match.values[i]);
    }
    if (count == 0)
        return;
    if (join->passing == 0) {
        join->first = run->first + (passing[0] - at);
        of->first_row = run->row + (passing[0] - at);
    }
    join->passing += count;
    join->last = run->first + (passing[count - 1] - at);
    of->last_row = run->row + (passing[count - 1] - at);
    for (uint32_t i = 0; !all && i < count; i++)
        position_set_add(&join->passing_rows, run->first + (passing[i] - at));
    for (uint32_t r = 0; r < of->count; r++)
        see_rows(of, &of->ranges[r], passing, count);
}

/* Takes the vector of the positions first .. end - 1, of which *run is the first that have rows, and moves *run behind
 * them; false if no rows are left. */
static bool analyse_vector(struct analysis *of, uint64_t first, uint64_t end, struct position_run *run)
{
    while (run->first < end) {
        const uint64_t rows = run->rows < end - run->first ? run->rows : end - run->first;
        analyse_rows(of, run, (uint32_t)(run->first - first), (uint32_t)rows);
        if (rows == run->rows) {
            if (!position_run_next(of->join->table, run))
                return false;
            continue;
        }
        run->first += rows;
        run->row += rows;
        run->rows -= rows;
    }
    return true;
}

/* Evaluates the program over all positions but those of large gaps. */
static enum status analyse_table(const struct plan *plan, struct expression_program *program,
                                 struct analysis *of, struct error *error)
{
    const uint64_t positions = table_positions(of->join->table);
    struct position_run run = {0};
    for (bool more = position_run_next(of->join->table, &run); more;) {
        const uint64_t first = run.first,
                       end = positions - first < VECTOR_ROWS ? positions : first + VECTOR_ROWS;
        plan_fill_dimension(plan, program, first, (uint32_t)(end - first));
        expression_program_run(program, (uint32_t)(end - first));
        more = analyse_vector(of, first, end, &run);
        RETURN_IF_ERROR(cancel_check(error));
    }
    return STATUS_OK;
}

/* Takes the rows of a run by the bits of those that pass. */
static void take_bits(struct analysis *of, const struct position_run *run, const uint32_t *bits)
{
    struct plan_join *const join = of->join;
    const uint64_t end = run->first + run->rows;
    for (uint64_t p = run->first, next; p < end; p = next) {
        next = p / 32 * 32 + 32 < end ? p / 32 * 32 + 32 : end;
        const uint64_t word = (uint64_t)bits[p / 32] >> p % 32 & ((UINT64_C(1) << (next - p)) - 1);
        if (!word)
            continue;
        if (join->passing == 0) {
            join->first = p + (uint64_t)__builtin_ctzll(word);
            of->first_row = run->row + (join->first - run->first);
        }
        join->passing += (uint64_t)__builtin_popcountll(word);
        join->last = p + 63 - (uint64_t)__builtin_clzll(word);
        of->last_row = run->row + (join->last - run->first);
        join->passing_rows.bits[p / 64] |= word << p % 64;
    }
}

/* The same as analyse_table for a predicate of the common shape, without ranges. */
static enum status match_table(const struct dimension_match *match, struct analysis *of, struct error *error)
{
    const struct table *const table = of->join->table;
    const uint64_t positions = table_positions(table);
    struct position_run run = {0};
    uint32_t *bits;
    uint64_t first, end;
    RETURN_IF_ERROR(memory_take(&bits, (positions / 32 + 2) * sizeof *bits, "a dimension's rows", error));
    for (uint64_t at = 0; position_stretch(table, at, positions, &first, &end); at = (end + 31) / 32 * 32)
        dimension_match_run(match, first, end - first, bits);
    while (position_run_next(table, &run))
        take_bits(of, &run, bits);
    free(bits);
    return STATUS_OK;
}

/* Makes the program of the predicate and of the groups' terms, whose ranges it clears. */
static enum status program_of(const struct plan *plan, const struct plan_join *join,
                              struct group_range *ranges, uint32_t count, struct expression_program **program,
                              struct error *error)
{
    uint32_t *roots;
    RETURN_IF_ERROR(memory_take(&roots, (count + 1) * sizeof *roots, "groups", error));
    for (uint32_t r = 0; r < count; r++) {
        roots[r] = ranges[r].group->expression;
        ranges[r].low = INT64_MAX;
        ranges[r].high = INT64_MIN;
    }
    roots[count] = join->match;
    const enum status status = expression_program_create(
        &plan->expressions, roots, count + (join->match != EXPRESSION_NONE), program, error);
    free(roots);
    return status;
}

enum status plan_join_analyse(struct plan *plan, uint32_t j, struct group_range *ranges, uint32_t count,
                              struct error *error)
{
    struct plan_join *join = &plan->joins[j];
    struct expression_program *program;
    struct dimension_match match;
    RETURN_IF_ERROR(program_of(plan, join, ranges, count, &program, error));
    struct analysis of = {.join = join, .program = program, .ranges = ranges, .count = count};
    const uint32_t depth = level_program_depth(plan, program);
    join->passing = 0;
    position_set_free(&join->passing_rows);
    const uint32_t shift = level_shift_of(join->table, depth);
    enum status status =
        join->match == EXPRESSION_NONE
            ? STATUS_OK
            : position_set_create((table_positions(join->table) >> shift) + 1, &join->passing_rows, error);
    join->passing_rows.shift = shift;
    if (status == STATUS_OK && depth)
        level_join_analyse(plan, j, program, depth, ranges, count);
    else if (status == STATUS_OK && count == 0 && dimension_match_of(plan, j, &match))
        status = match_table(&match, &of, error);
    else if (status == STATUS_OK)
        status = analyse_table(plan, program, &of, error);
    if (!depth)
        join->contiguous = join->passing == 0 || of.last_row - of.first_row + 1 == join->passing;
    if (join->passing_rows.bits)
        position_set_count(&join->passing_rows);
    if (status == STATUS_OK && join->table->levels && join->match != EXPRESSION_NONE)
        status = level_test_find(join, error);
    expression_program_free(program);
    return status;
}

bool plan_join_is_probed(const struct plan *plan, uint32_t j)
{
    bool probed = !plan->joins[j].inner;
    for (uint32_t s = 0; s < plan->step_count; s++)
        probed |= plan->steps[s].kind == STEP_SEMI_JOIN && plan->steps[s].join == j;
    return probed && plan->joins[j].match != EXPRESSION_NONE;
}

/* ---- Tiles ---- */

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
    const enum status status = tile_skip_find(plan->fact, tests, count, threads, &plan->scan, error);
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
