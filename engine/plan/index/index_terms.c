/* index_terms.c: see index_terms.h. */
#include "engine/plan/index/index_terms.h"

#include "storage/base/memory.h"
#include "storage/index/index_file.h"
#include "storage/index/wah32.h"

/* ---- Conditions ---- */

/* Gives the number of a fact column if the node is one. */
static bool is_fact_column(const struct plan *plan, uint32_t node, uint32_t *column)
{
    const struct expression *leaf = &plan->expressions.nodes[node];
    if (leaf->operation != EXPRESSION_COLUMN || plan->sources[leaf->index].join >= 0)
        return false;
    *column = plan->sources[leaf->index].column;
    return true;
}

/* Ranges of int32 columns are steps of their own; a range of an int64 column is a condition for each end. */
static bool condition_of_expression(const struct plan *plan, uint32_t node, struct index_condition *condition)
{
    const struct expression *test = &plan->expressions.nodes[node];
    struct index_values *const values = &condition->values;
    uint32_t leaf;
    if (test->operation == EXPRESSION_IN_SET) {
        const struct value_table *table = &plan->expressions.tables[test->table];
        values->low = table->count ? table->values[0] : 1;
        values->high = table->count ? table->values[table->count - 1] : 0;
        values->set = table;
        return table->size == table->count && is_fact_column(plan, test->child[0], &condition->column);
    }
    return expression_range(&plan->expressions, test, &leaf, &values->low, &values->high) &&
           is_fact_column(plan, leaf, &condition->column);
}

static bool condition_of_step(const struct plan *plan, uint32_t s, struct index_condition *condition)
{
    const struct plan_step *step = &plan->steps[s];
    *condition = (struct index_condition){.step = s};
    if (plan_step_is_expression(step))
        return condition_of_expression(plan, step->expression, condition);
    if (step->kind == STEP_RANGE) {
        condition->column = step->column;
        condition->values = (struct index_values){.low = step->low, .high = step->high};
        return true;
    }
    const struct plan_join *join = &plan->joins[step->join];
    condition->column = join->column;
    condition->values = (struct index_values){
        .low = 0, .high = (int64_t)table_positions(join->table) - 1, .positions = &join->passing_rows};
    return join->match != EXPRESSION_NONE;
}

/* Adds the range to one of the same column, and returns it; `count` if there is none. */
static uint32_t merge_range(struct index_condition *conditions, uint32_t count,
                            const struct index_condition *range)
{
    for (uint32_t i = 0; i < count && !range->values.set && !range->values.positions; i++) {
        struct index_values *const values = &conditions[i].values;
        if (conditions[i].column != range->column || values->set || values->positions)
            continue;
        values->low = range->values.low > values->low ? range->values.low : values->low;
        values->high = range->values.high < values->high ? range->values.high : values->high;
        return i;
    }
    return count;
}

uint32_t index_conditions_find(const struct plan *plan,
                               struct index_condition conditions[PLAN_INDEX_TERMS_MAX], uint32_t *of_step)
{
    uint32_t count = 0;
    for (uint32_t s = 0; s < plan->step_count; s++) {
        struct index_condition condition;
        of_step[s] = INDEX_NO_CONDITION;
        if (!condition_of_step(plan, s, &condition) || !plan->columns[condition.column].column->index)
            continue;
        const uint32_t at = merge_range(conditions, count, &condition);
        if (at == PLAN_INDEX_TERMS_MAX)
            continue;
        if (at == count)
            conditions[count++] = condition;
        of_step[s] = at;
    }
    return count;
}

/* ---- Vectors ---- */

/* The members of a sorted array that are less than the value. */
static uint64_t below(const struct value_table *set, __int128 value)
{
    uint64_t first = 0, end = set->count;
    while (first < end) {
        const uint64_t middle = first + (end - first) / 2;
        if (set->values[middle] < value)
            first = middle + 1;
        else
            end = middle;
    }
    return first;
}

/* The number of values low .. high that pass. */
static __int128 passing(const struct index_values *values, int64_t low, int64_t high)
{
    low = low > values->low ? low : values->low;
    high = high < values->high ? high : values->high;
    if (low > high)
        return 0;
    if (values->set)
        return below(values->set, (__int128)high + 1) - below(values->set, low);
    if (values->positions)
        return (__int128)position_set_members(values->positions, (uint64_t)low, (uint64_t)high);
    return (__int128)high - low + 1;
}

/* The last value that bin b can have. */
static int64_t bin_end(const struct column *column, uint32_t b)
{
    const struct column_index *index = column->index;
    if (index->exact)
        return index->bounds[b];
    return b + 1 < index->bin_count ? index->bounds[b + 1] - 1 : column->statistics.max;
}

enum status index_term_find(const struct plan *plan, const struct index_condition *condition,
                            struct plan_index_term *term, uint32_t *vectors, struct error *error)
{
    const struct column *const column = plan->columns[condition->column].column;
    const struct column_index *const index = column->index;
    *term = (struct plan_index_term){.exact = true};
    *vectors = 0;
    RETURN_IF_ERROR(
        memory_take(&term->runs, (index->bin_count / 2 + 1) * sizeof *term->runs, "vectors", error));
    for (uint32_t b = 0; b < index->bin_count; b++) {
        struct plan_index_run *last = term->run_count ? &term->runs[term->run_count - 1] : NULL;
        const int64_t end = bin_end(column, b);
        const __int128 pass = passing(&condition->values, index->bounds[b], end);
        if (pass == 0)
            continue;
        term->exact &= pass == (__int128)end - index->bounds[b] + 1;
        ++*vectors;
        if (last && last->first + last->count == b)
            last->count++;
        else
            term->runs[term->run_count++] = (struct plan_index_run){.first = b, .count = 1};
    }
    return STATUS_OK;
}

/* ---- Words ---- */

static void add_vector(const struct index_segment *segment, const struct index_vector *vector,
                       enum index_format format, struct index_words *words)
{
    const bool wide = format != INDEX_WAH32;
    const uint64_t groups = wide ? wah_groups(segment->rows) : wah32_groups(segment->rows),
                   pieces = wide ? wah_pieces(segment->rows) : wah32_pieces(segment->rows);
    if (format == INDEX_FLAT || vector->words >= groups - groups / 64)
        words->dense += vector->words;
    else
        words->sparse += vector->words;
    words->rows += vector->rows;
    words->vectors += vector->rows > 0;
    words->pieces += vector->rows > 0 ? wah_pieces(segment->rows) : 0;
    words->bytes += vector->words * (wide ? 8 : 4);
    words->bytes += vector->pieces == INDEX_NO_PIECES ? 0 : pieces * sizeof(struct wah_start);
}

struct index_words index_term_words(const struct plan_index_term *term)
{
    struct index_words words = {0};
    for (uint32_t s = 0; s < term->index->segment_count; s++)
        for (uint32_t r = 0; r < term->run_count; r++)
            for (uint32_t v = 0; v < term->runs[r].count; v++)
                add_vector(&term->index->segments[s],
                           &term->index->segments[s].vectors[term->runs[r].first + v],
                           term->index->index->wish.format, &words);
    return words;
}
