/*
 * join_analysis.c: finds the rows of a join's table that satisfy its predicate, and the values that groups have in them
 * (plan_join_analyse in plan.h). Called once for each join of a plan; a dimension may have millions of rows. Threads take
 * parts of 65,536 positions:
 *
 *     1  the conjuncts of the common shape (dimension_match.h) give a bit for each position
 *     2  the others are evaluated for the positions that are left, or for all if there are none of that shape
 *     3  when all rows are known that pass, the groups' terms are evaluated for these alone
 *
 * So a year is extracted from the dates of a tenth of the orders, if only these pass. Where levels decide all columns,
 * level_analysis.c takes a row of each prefix instead.
 */
#include "engine/plan/dimensions/dimension_match.h"
#include "engine/plan/expression_vector.h"
#include "engine/plan/levels/level_plan.h"
#include "storage/base/memory.h"
#include "storage/base/parallel.h"
#include "storage/column/positions.h"

#include <stdlib.h>
#include <string.h>

#define PART_POSITIONS (UINT64_C(1) << 16) /* whole words of bits */

/* What threads share. Each has a program and ranges of its own. */
struct analysis {
    const struct plan *plan;
    struct plan_join *join;
    struct dimension_match match;
    uint32_t rest_count, rest[DIMENSION_MATCH_REST]; /* the other conjuncts */
    uint32_t *bits;                                  /* of the positions; in a gap as of the row before */
    uint32_t range_count;
    const uint32_t *roots; /* of the programs of this pass */
    uint32_t root_count;
    struct expression_program **programs; /* NULL: not made yet */
    struct group_range *seen;             /* range_count of each thread */
};

/* ---- Positions ---- */

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

/* The same of any positions. */
static void fill_positions(const struct plan *plan, const struct expression_program *program,
                           const int64_t *positions, uint32_t count)
{
    const uint32_t *nodes;
    const uint32_t leaves = expression_program_leaves(program, &nodes);
    for (uint32_t i = 0; i < leaves; i++) {
        const struct plan_source *source = &plan->sources[plan->expressions.nodes[nodes[i]].index];
        const struct vector vector = expression_program_vector(program, nodes[i]);
        plan_array_gather(&plan->arrays[source->column], positions, NULL, count, vector.values, vector.nulls);
    }
}

static enum status program_of(struct analysis *of, unsigned thread, struct expression_program **program,
                              struct error *error)
{
    if (!of->programs[thread])
        RETURN_IF_ERROR(expression_program_create(&of->plan->expressions, of->roots, of->root_count,
                                                  &of->programs[thread], error));
    *program = of->programs[thread];
    return STATUS_OK;
}

static void free_programs(struct analysis *of, unsigned threads)
{
    for (unsigned thread = 0; thread < threads; thread++) {
        expression_program_free(of->programs[thread]);
        of->programs[thread] = NULL;
    }
}

/* ---- The predicate ---- */

/* Writes a 1 for each row of the program's vectors in which all conjuncts are true, and else a 0. */
static void find_truth(const struct analysis *of, const struct expression_program *program, uint32_t count,
                       uint8_t truth[VECTOR_ROWS])
{
    memset(truth, 1, VECTOR_ROWS);
    for (uint32_t r = 0; r < of->rest_count; r++) {
        const struct vector conjunct = expression_program_vector(program, of->rest[r]);
        for (uint32_t i = 0; i < count; i++)
            truth[i] &= conjunct.values[i] != 0;
        for (uint32_t i = 0; conjunct.nulls && i < count; i++)
            truth[i] &= conjunct.nulls[i] ^ 1;
    }
    memset(truth + count, 0, VECTOR_ROWS - count);
}

/* Byte b, which is 0 or 1, becomes bit b: each product puts one of them into the highest byte, where none carries. */
static uint32_t bits_of_bytes(const uint8_t *bytes)
{
    uint64_t eight;
    memcpy(&eight, bytes, sizeof eight);
    return (uint32_t)(eight * UINT64_C(0x0102040810204080) >> 56);
}

/* Evaluates the predicate for all positions first .. end - 1; `first` is a multiple of 32. */
static void match_all(const struct analysis *of, struct expression_program *program, uint64_t first,
                      uint64_t end)
{
    uint8_t truth[VECTOR_ROWS];
    for (uint32_t count; first < end; first += count) {
        count = (uint32_t)(end - first < VECTOR_ROWS ? end - first : VECTOR_ROWS);
        plan_fill_dimension(of->plan, program, first, count);
        expression_program_run(program, count);
        find_truth(of, program, count, truth);
        for (uint32_t i = 0; i < count; i += 32) {
            uint32_t *const word = &of->bits[(first + i) / 32];
            *word = bits_of_bytes(truth + i) | bits_of_bytes(truth + i + 8) << 8 |
                    bits_of_bytes(truth + i + 16) << 16 | bits_of_bytes(truth + i + 24) << 24;
        }
    }
}

/* Takes away the bits of positions[0 ..] for which the predicate is not true. */
static void match_listed(const struct analysis *of, struct expression_program *program,
                         const int64_t *positions, uint32_t count)
{
    uint8_t truth[VECTOR_ROWS];
    fill_positions(of->plan, program, positions, count);
    expression_program_run(program, count);
    find_truth(of, program, count, truth);
    for (uint32_t i = 0; i < count; i++)
        of->bits[positions[i] / 32] &= ~((uint32_t)(truth[i] ^ 1) << positions[i] % 32);
}

/* The same for the positions first .. end - 1 whose bits are set. */
static void match_left(const struct analysis *of, struct expression_program *program, uint64_t first,
                       uint64_t end)
{
    int64_t positions[VECTOR_ROWS];
    uint32_t count = 0;
    for (uint64_t at = first; at < end; at += 32) {
        uint32_t word = of->bits[at / 32] & (end - at < 32 ? (1u << (end - at)) - 1 : UINT32_MAX);
        for (; word; word &= word - 1)
            positions[count++] = (int64_t)at + __builtin_ctz(word);
        if (count > VECTOR_ROWS - 32) {
            match_listed(of, program, positions, count);
            count = 0;
        }
    }
    if (count)
        match_listed(of, program, positions, count);
}

static enum status match_part(void *context, uint64_t item, unsigned thread, struct error *error)
{
    struct analysis *const of = context;
    const struct table *const table = of->join->table;
    const uint64_t positions = table_positions(table), begin = item * PART_POSITIONS,
                   limit = positions - begin < PART_POSITIONS ? positions : begin + PART_POSITIONS;
    struct expression_program *program = NULL;
    uint64_t first, end;
    RETURN_IF_ERROR(cancel_check(error));
    if (of->rest_count)
        RETURN_IF_ERROR(program_of(of, thread, &program, error));
    for (uint64_t at = begin; position_stretch(table, at, limit, &first, &end); at = (end + 31) / 32 * 32) {
        if (of->match.count)
            dimension_match_run(&of->match, first, end - first, of->bits);
        if (program && of->match.count)
            match_left(of, program, first, end);
        else if (program)
            match_all(of, program, first, end);
    }
    return STATUS_OK;
}

/* Takes the rows of a run by the bits of those that pass. */
static void take_bits(const struct analysis *of, const struct position_run *run, uint64_t *first_row,
                      uint64_t *last_row)
{
    struct plan_join *const join = of->join;
    const uint64_t end = run->first + run->rows;
    for (uint64_t p = run->first, next; p < end; p = next) {
        next = p / 32 * 32 + 32 < end ? p / 32 * 32 + 32 : end;
        const uint64_t word = (uint64_t)of->bits[p / 32] >> p % 32 & ((UINT64_C(1) << (next - p)) - 1);
        if (!word)
            continue;
        if (join->passing == 0) {
            join->first = p + (uint64_t)__builtin_ctzll(word);
            *first_row = run->row + (join->first - run->first);
        }
        join->passing += (uint64_t)__builtin_popcountll(word);
        join->last = p + 63 - (uint64_t)__builtin_clzll(word);
        *last_row = run->row + (join->last - run->first);
        join->passing_rows.bits[p / 64] |= word << p % 64;
    }
}

static enum status match_table(struct analysis *of, unsigned threads, struct error *error)
{
    struct plan_join *const join = of->join;
    const uint64_t positions = table_positions(join->table);
    uint64_t first_row = 0, last_row = 0;
    struct position_run run = {0};
    RETURN_IF_ERROR(
        memory_take(&of->bits, (positions / 32 + 2) * sizeof *of->bits, "a dimension's rows", error));
    of->roots = of->rest;
    of->root_count = of->rest_count;
    enum status status =
        parallel_for(threads, (positions + PART_POSITIONS - 1) / PART_POSITIONS, match_part, of, error);
    while (status == STATUS_OK && position_run_next(join->table, &run))
        take_bits(of, &run, &first_row, &last_row);
    join->contiguous = join->passing == 0 || last_row - first_row + 1 == join->passing;
    free_programs(of, threads);
    free(of->bits);
    return status;
}

/* ---- Groups ---- */

/* Widens the thread's ranges by the values of rows, which are not NULL. */
static void see_listed(const struct analysis *of, struct expression_program *program,
                       const int64_t *positions, uint32_t count, struct group_range *seen)
{
    fill_positions(of->plan, program, positions, count);
    expression_program_run(program, count);
    for (uint32_t r = 0; r < of->range_count; r++) {
        const struct vector value = expression_program_vector(program, of->roots[r]);
        for (uint32_t i = 0; i < count; i++)
            if (!value.nulls || !value.nulls[i])
                group_range_see(&seen[r], value.values[i]);
    }
}

static enum status see_part(void *context, uint64_t item, unsigned thread, struct error *error)
{
    struct analysis *const of = context;
    const struct position_set *const passing = &of->join->passing_rows;
    const uint64_t words = (passing->positions + 63) / 64, begin = item * PART_POSITIONS / 64,
                   end = words - begin < PART_POSITIONS / 64 ? words : begin + PART_POSITIONS / 64;
    struct group_range *const seen = of->seen + (size_t)thread * of->range_count;
    struct expression_program *program;
    int64_t positions[VECTOR_ROWS];
    uint32_t count = 0;
    RETURN_IF_ERROR(cancel_check(error));
    RETURN_IF_ERROR(program_of(of, thread, &program, error));
    for (uint64_t word = begin; word < end; word++) {
        for (uint64_t bits = passing->bits[word]; bits; bits &= bits - 1)
            positions[count++] = (int64_t)(word * 64) + __builtin_ctzll(bits);
        if (count > VECTOR_ROWS - 64) {
            see_listed(of, program, positions, count, seen);
            count = 0;
        }
    }
    if (count)
        see_listed(of, program, positions, count, seen);
    return STATUS_OK;
}

static enum status see_groups(struct analysis *of, unsigned threads, struct group_range *ranges,
                              struct error *error)
{
    const uint64_t parts = (of->join->passing_rows.positions + PART_POSITIONS - 1) / PART_POSITIONS;
    RETURN_IF_ERROR(memory_take(&of->seen, threads * of->range_count * sizeof *of->seen, "groups", error));
    for (uint32_t i = 0; i < threads * of->range_count; i++)
        of->seen[i] = ranges[i % of->range_count];
    const enum status status = parallel_for(threads, parts, see_part, of, error);
    for (uint32_t i = 0; status == STATUS_OK && i < threads * of->range_count; i++) {
        struct group_range *const range = &ranges[i % of->range_count];
        range->low = of->seen[i].low < range->low ? of->seen[i].low : range->low;
        range->high = of->seen[i].high > range->high ? of->seen[i].high : range->high;
    }
    free_programs(of, threads);
    free(of->seen);
    return status;
}

/* ---- The whole ---- */

/* The roots of the groups' terms and of the predicate, and cleared ranges. */
static enum status roots_of(const struct plan_join *join, struct group_range *ranges, uint32_t count,
                            uint32_t **roots, struct error *error)
{
    RETURN_IF_ERROR(memory_take(roots, (count + 1) * sizeof **roots, "groups", error));
    for (uint32_t r = 0; r < count; r++) {
        (*roots)[r] = ranges[r].group->expression;
        ranges[r].low = INT64_MAX;
        ranges[r].high = INT64_MIN;
    }
    (*roots)[count] = join->match;
    return STATUS_OK;
}

/* The analysis by prefixes, if levels decide all columns; else *depth is 0. */
static enum status analyse_levels(struct plan *plan, uint32_t j, const uint32_t *roots,
                                  struct group_range *ranges, uint32_t count, uint32_t *depth,
                                  struct error *error)
{
    struct plan_join *const join = &plan->joins[j];
    struct expression_program *program;
    *depth = 0;
    if (!join->table->levels)
        return STATUS_OK;
    RETURN_IF_ERROR(expression_program_create(&plan->expressions, roots, count + 1, &program, error));
    *depth = level_program_depth(plan, program);
    const uint32_t shift = level_shift_of(join->table, *depth);
    const enum status status =
        *depth ? position_set_create((table_positions(join->table) >> shift) + 1, &join->passing_rows, error)
               : STATUS_OK;
    join->passing_rows.shift = shift;
    if (status == STATUS_OK && *depth)
        level_join_analyse(plan, j, program, *depth, ranges, count);
    expression_program_free(program);
    return status;
}

/* The analysis by rows. */
static enum status analyse_rows(struct plan *plan, struct plan_join *join, const uint32_t *roots,
                                struct group_range *ranges, uint32_t count, unsigned threads,
                                struct error *error)
{
    struct analysis of = {.plan = plan, .join = join, .range_count = count};
    RETURN_IF_ERROR(position_set_create(table_positions(join->table) + 1, &join->passing_rows, error));
    RETURN_IF_ERROR(memory_zeros(&of.programs, threads * sizeof(struct expression_program *),
                                 "a dimension's predicate", error));
    of.rest_count = dimension_match_split(plan, join->match, &of.match, of.rest);
    enum status status = match_table(&of, threads, error);
    of.roots = roots;
    of.root_count = count;
    if (status == STATUS_OK && count && join->passing)
        status = see_groups(&of, threads, ranges, error);
    free(of.programs);
    return status;
}

enum status plan_join_analyse(struct plan *plan, uint32_t j, struct group_range *ranges, uint32_t count,
                              unsigned threads, struct error *error)
{
    struct plan_join *const join = &plan->joins[j];
    uint32_t *roots, depth;
    threads = threads ? threads : 1;
    RETURN_IF_ERROR(roots_of(join, ranges, count, &roots, error));
    join->passing = 0;
    position_set_free(&join->passing_rows);
    enum status status = analyse_levels(plan, j, roots, ranges, count, &depth, error);
    if (status == STATUS_OK && !depth)
        status = analyse_rows(plan, join, roots, ranges, count, threads, error);
    free(roots);
    RETURN_IF_ERROR(status);
    position_set_count(&join->passing_rows);
    return join->table->levels ? level_test_find(join, plan->fact->rows, error) : STATUS_OK;
}
