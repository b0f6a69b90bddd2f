/*
 * known_values.c: aggregates whose values the statistics of stored columns have (planner.h). Where all rows of the table are
 * aggregated together, the least and the greatest value of a column, and the number of its values, are in the catalogue. Such
 * an aggregate becomes a constant in the outputs, and in the scan a number of rows, which costs nothing; if all do, no row is
 * read.
 *
 * The catalogue has the positions of a foreign key and not its keys. Their extremes are known if each row of the dimension is
 * referenced, by the dimension's statistics; or if the value at the least or the greatest position, which some row has, is
 * the extreme of all values between the two, as that of a date in a calendar is. Else the positions that some row has are found
 * by reading the key once, as the scan would, and kept for all statements.
 */
#include "engine/plan/expression_vector.h"
#include "engine/plan/planner.h"

/* Values between two positions that are looked at: some 20 microseconds. */
#define BETWEEN_MOST 65536u

/* Up to this span the number of different values is exact (docs/format.md). */
#define DISTINCT_EXACT (INT64_C(1) << 22)

struct known {
    int64_t value;
    bool null;
};

static bool is_stored(const struct column *column)
{
    return !column->memory && column->encoding_count > 0;
}

static bool keeps_all_rows(const struct plan *plan)
{
    return plan->shape == PLAN_TOTAL && plan->step_count == 0 && plan->decided_count == 0 && !plan->nothing &&
           plan->fact->rows > 0 && plan->grouping.set_count == 0 && plan->measure_count == 0 &&
           plan->total_count == 0;
}

static bool known_of_statistics(const struct column_statistics *statistics, bool greatest,
                                struct known *known)
{
    *known = (struct known){greatest ? statistics->max : statistics->min, statistics->min > statistics->max};
    return true;
}

/* True if each of the dimension's rows is referenced. */
static bool is_covered(const struct column *key, const struct table *dimension)
{
    const struct column_statistics *const positions = &key->statistics;
    return key->table->part.of == 0 && positions->max - positions->min < DISTINCT_EXACT &&
           positions->distinct == dimension->rows && !table_live(dimension);
}

static bool known_between(const struct plan_array *array, const struct column_statistics *positions,
                          bool greatest, struct known *known)
{
    const int64_t first = positions->min, count = positions->max - first + 1;
    int64_t at[VECTOR_ROWS], values[VECTOR_ROWS], extreme = greatest ? INT64_MIN : INT64_MAX,
                                                  ends[2] = {0, 0};
    uint8_t nulls[VECTOR_ROWS];
    bool any_null = false;
    if (first < 0 || count > BETWEEN_MOST || (uint64_t)positions->max >> array->shift >= array->rows)
        return false;
    for (int64_t from = 0; from < count; from += VECTOR_ROWS) {
        const uint32_t rows = (uint32_t)(count - from < VECTOR_ROWS ? count - from : VECTOR_ROWS);
        for (uint32_t i = 0; i < rows; i++)
            at[i] = first + from + i;
        plan_array_gather(array, at, NULL, rows, values, nulls);
        for (uint32_t i = 0; i < rows; i++) {
            extreme = (greatest ? values[i] > extreme : values[i] < extreme) ? values[i] : extreme;
            any_null |= nulls[i];
        }
        if (from == 0)
            ends[0] = values[0];
        ends[1] = values[rows - 1];
    }
    *known = (struct known){extreme, false};
    return !any_null && (ends[0] == extreme || ends[1] == extreme);
}

/* The extreme of the values at the positions that rows reference. */
static enum status known_of_used(struct planner *planner, const struct plan_array *array,
                                 const struct column *key, bool greatest, struct known *known)
{
    const struct kept_array *used;
    int64_t at[64], values[64], extreme = greatest ? INT64_MIN : INT64_MAX;
    uint8_t nulls[64];
    bool any = false;
    RETURN_IF_ERROR(planner_used_positions(planner, key, &used));
    const uint64_t *const words = used->values;
    for (int64_t word = key->statistics.min / 64; word <= key->statistics.max / 64; word++) {
        uint32_t count = 0;
        for (uint64_t rest = words[word]; rest; rest &= rest - 1)
            at[count++] = 64 * word + __builtin_ctzll(rest);
        plan_array_gather(array, at, NULL, count, values, nulls);
        for (uint32_t i = 0; i < count; i++) {
            const bool better = greatest ? values[i] > extreme : values[i] < extreme;
            extreme = better && !nulls[i] ? values[i] : extreme;
            any |= !nulls[i];
        }
    }
    kept_array_release(planner->plan->database, used);
    *known = (struct known){any ? extreme : 0, !any};
    return STATUS_OK;
}

static enum status known_through_join(struct planner *planner, const struct plan_source *source,
                                      bool greatest, struct known *known, bool *found)
{
    const struct plan *const plan = planner->plan;
    const struct plan_join *const join = &plan->joins[source->join];
    const struct plan_array *const array = &plan->arrays[source->column];
    const struct column *const key = plan->columns[join->column].column;
    const struct column_statistics *const positions = &key->statistics;
    if (!is_stored(key) || join->conditional || join->match != EXPRESSION_NONE || array->composed ||
        array->shift || !is_stored(array->column) || array->column->references ||
        array->column->table != join->table)
        return STATUS_OK;
    *found = true;
    if (positions->min > positions->max) {
        *known = (struct known){0, true};
        return STATUS_OK;
    }
    if (positions->min < 0 || (uint64_t)positions->max >= table_positions(join->table)) {
        *found = false; /* a damaged catalogue */
        return STATUS_OK;
    }
    if (is_covered(key, join->table))
        known_of_statistics(&array->column->statistics, greatest, known);
    else if (!known_between(array, positions, greatest, known))
        return known_of_used(planner, array, key, greatest, known);
    return STATUS_OK;
}

static const struct plan_source *source_of(const struct plan *plan, uint32_t argument)
{
    const struct expression *const node =
        argument == EXPRESSION_NONE ? NULL : &plan->expressions.nodes[argument];
    const struct plan_source *const source =
        node && node->operation == EXPRESSION_COLUMN ? &plan->sources[node->index] : NULL;
    return source && source->bits == 0 ? source : NULL;
}

static enum status find_extreme(struct planner *planner, uint32_t a, struct known *known, bool *found)
{
    const struct plan *const plan = planner->plan;
    const struct plan_source *const source = source_of(plan, plan->aggregates[a].argument);
    const int extreme = plan_aggregate_of(plan, a)->extreme;
    const bool greatest = extreme > 0;
    *found = false;
    if (!source || !extreme)
        return STATUS_OK;
    if (source->join >= 0)
        return known_through_join(planner, source, greatest, known, found);
    const struct column *const column = plan->columns[source->column].column;
    *found =
        is_stored(column) && !column->references && known_of_statistics(&column->statistics, greatest, known);
    return STATUS_OK;
}

/* The number of a column's values. */
static bool find_count(const struct plan *plan, uint32_t a, struct known *known)
{
    const struct plan_source *const source = source_of(plan, plan->aggregates[a].argument);
    if (plan->aggregates[a].kind != aggregate_of_rows() || !source || source->join >= 0)
        return false;
    const struct column *const column = plan->columns[source->column].column;
    if (!is_stored(column) || column->table->part.of || column->statistics.nulls > column->table->rows)
        return false;
    *known = (struct known){(int64_t)(column->table->rows - column->statistics.nulls), false};
    return true;
}

/* True if something but a leaf of its own needs aggregate a. */
static bool is_needed(const struct plan *plan, uint32_t a)
{
    bool needed = false;
    for (uint32_t b = 0; b < plan->aggregate_count; b++) {
        const struct plan_aggregate *const other = &plan->aggregates[b];
        const struct plan_double_sum *const doubles = &other->doubles;
        needed |= b != a && !plan_is_row_count(plan, b) && other->count == a;
        needed |= doubles->limbs && doubles->infinite && (doubles->least == a || doubles->greatest == a);
    }
    for (uint32_t n = 0; n < plan->expressions.count; n++) {
        const struct expression *const node = &plan->expressions.nodes[n];
        needed |= node->operation == EXPRESSION_AGGREGATE && node->table == a + 1;
    }
    return needed;
}

static void become_constant(struct plan *plan, uint32_t a, struct known known)
{
    struct plan_aggregate *const aggregate = &plan->aggregates[a];
    for (uint32_t n = 0; n < plan->expressions.count; n++) {
        struct expression *const node = &plan->expressions.nodes[n];
        if (node->operation != EXPRESSION_AGGREGATE || node->index != a)
            continue;
        node->operation = EXPRESSION_CONSTANT;
        node->constant = known.null ? 0 : known.value;
        node->is_null = node->nullable = known.null;
        node->low = node->high = node->constant;
    }
    aggregate->known = (struct plan_known){true, aggregate->kind, aggregate->argument};
    aggregate->kind = aggregate_of_rows();
    aggregate->argument = EXPRESSION_NONE;
    aggregate->count = a;
}

/* Extremes first, because a number of values may be needed only to tell that there is an extreme. */
enum status planner_know_values(struct planner *planner)
{
    struct plan *const plan = planner->plan;
    bool any = false;
    for (int counts = 0; counts < 2 && keeps_all_rows(plan); counts++)
        for (uint32_t a = 0; a < plan->aggregate_count; a++) {
            struct known known;
            bool found = false;
            if (is_needed(plan, a))
                continue;
            if (counts)
                found = find_count(plan, a, &known);
            else
                RETURN_IF_ERROR(find_extreme(planner, a, &known, &found));
            if (!found)
                continue;
            become_constant(plan, a, known);
            any = true;
        }
    planner_mark_columns(plan);
    for (uint32_t c = 0; any && c < plan->column_count; c++)
        plan->columns[c].decided |= !plan->columns[c].stepped && !plan->columns[c].fetched;
    return STATUS_OK;
}
