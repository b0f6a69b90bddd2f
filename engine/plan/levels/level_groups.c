/* level_groups.c: terms of GROUP BY that are levels (level_plan.h): the code of a group is bits of the foreign key, those
 * below the leading bits that all passing rows share, and needs no look-up. */
#include "engine/plan/levels/level_plan.h"

#include "storage/base/memory.h"
#include "storage/base/sort/sort.h"

#include <stdlib.h>
#include <string.h>

/* A term of more prefixes than this is looked up. */
#define TERM_PREFIXES_MAX 65536u

/* Codes of gaps take slots. A term is looked up if its bits made the groups more than this many times as many, and more
 * than PLAN_DENSE_SLOTS_ALWAYS. */
#define GAPS_MOST 4.0

/* A term as bits of a position. */
struct term {
    bool possible;
    uint32_t bits; /* 0: all passing rows have one value */
    uint32_t join, array;
    int64_t *values; /* of each code */
};

static bool part_passes(const struct plan_join *join, const struct level_part *part)
{
    for (uint32_t l = part->leaf; join->leaf_rows && l < part->leaf + part->leaves; l++)
        if (join->leaf_rows[l])
            return true;
    return !join->leaf_rows;
}

static int64_t value_of(const struct plan_array *array, uint32_t prefix)
{
    int64_t value;
    plan_array_read(array, (uint64_t)prefix << array->shift, 1, &value, NULL);
    return value;
}

static bool all_differ(int64_t *values, uint32_t count)
{
    return sort_distinct(values, count) == count;
}

/* Finds the bits in which passing prefixes differ, and the value of each code. */
static enum status find_bits(const struct plan_join *join, const struct plan_array *array, uint32_t depth,
                             struct term *term, struct error *error)
{
    const struct table_levels *const levels = join->table->levels;
    struct level_part part = {0};
    uint32_t common = UINT32_MAX, any = 0, count = 0, at = 0;
    int64_t *seen;
    while (level_part_next(levels, depth, &part))
        if (part_passes(join, &part)) {
            common &= part.prefix;
            any |= part.prefix;
            count++;
        }
    if (count == 0 || count > TERM_PREFIXES_MAX)
        return STATUS_OK;
    while (term->bits < 32 && (any ^ (common & any)) >> term->bits)
        term->bits++;
    if (term->bits > 0 && (UINT64_C(1) << term->bits) > 16 * (uint64_t)TERM_PREFIXES_MAX)
        return STATUS_OK;
    RETURN_IF_ERROR(memory_zeros(&term->values, sizeof *term->values << term->bits, "groups", error));
    RETURN_IF_ERROR(memory_take(&seen, count * sizeof *seen, "groups", error));
    for (part = (struct level_part){0}; level_part_next(levels, depth, &part);)
        if (part_passes(join, &part)) {
            seen[at] = value_of(array, part.prefix);
            term->values[part.prefix & ((1u << term->bits) - 1)] = seen[at++];
        }
    term->possible = all_differ(seen, count);
    free(seen);
    return STATUS_OK;
}

static enum status find_term(const struct plan *plan, uint32_t g, struct term *term, struct error *error)
{
    const struct expression *leaf = &plan->expressions.nodes[plan->groups[g].expression];
    if (leaf->operation != EXPRESSION_COLUMN || plan->sources[leaf->index].join < 0)
        return STATUS_OK;
    term->join = (uint32_t)plan->sources[leaf->index].join;
    term->array = plan->sources[leaf->index].column;
    const struct plan_join *join = &plan->joins[term->join];
    const uint32_t depth = level_array_depth(&plan->arrays[term->array]);
    if (!join->inner || depth == 0 || plan->arrays[term->array].valid)
        return STATUS_OK;
    return find_bits(join, &plan->arrays[term->array], depth, term, error);
}

/* ---- Slots ---- */

static double growth(const struct plan *plan, uint32_t g, const struct term *term)
{
    return term->possible ? (double)(UINT64_C(1) << term->bits) / (double)plan->groups[g].domain : 1;
}

/* Leaves those terms to look-ups whose bits make the groups too many, the one with the most gaps first. */
static void refuse_gaps(const struct plan *plan, struct term *terms)
{
    double groups = 1, grown = 1;
    for (uint32_t g = 0; g < plan->group_count; g++) {
        groups *= (double)plan->groups[g].domain;
        grown *= growth(plan, g, &terms[g]);
    }
    while (grown > GAPS_MOST && groups * grown > PLAN_DENSE_SLOTS_ALWAYS) {
        uint32_t worst = 0;
        for (uint32_t g = 1; g < plan->group_count; g++)
            worst = growth(plan, g, &terms[g]) > growth(plan, worst, &terms[worst]) ? g : worst;
        grown /= growth(plan, worst, &terms[worst]);
        terms[worst].possible = false;
    }
}

/* ---- The plan ---- */

static enum status bits_leaf(struct planner *planner, const struct term *term, uint32_t *node)
{
    struct plan *plan = planner->plan;
    const struct plan_source source = {.join = (int32_t)term->join,
                                       .column = term->array,
                                       .bits = term->bits,
                                       .shift = plan->arrays[term->array].shift};
    uint32_t s = 0;
    while (s < plan->source_count && (plan->sources[s].join != source.join ||
                                      plan->sources[s].column != source.column || !plan->sources[s].bits))
        s++;
    if (s == plan->source_count)
        RETURN_IF_ERROR(plan_source_add(plan, source, planner->error));
    const struct expression leaf = {.operation = EXPRESSION_COLUMN,
                                    .type = {.kind = VALUE_INTEGER},
                                    .index = s,
                                    .low = 0,
                                    .high = (INT64_C(1) << term->bits) - 1};
    return expression_add(&plan->expressions, &leaf, node, planner->error);
}

/* Makes the term bits of a position or, if passing rows have one value, that constant. */
static enum status use_bits(struct planner *planner, uint32_t g, struct term *term)
{
    struct plan_group *const group = &planner->plan->groups[g];
    const struct value_type type = planner->plan->expressions.nodes[group->expression].type;
    group->nullable = false;
    group->low = term->bits ? 0 : term->values[0];
    group->domain = UINT64_C(1) << term->bits;
    if (term->bits == 0)
        return expression_constant(&planner->plan->expressions, type, term->values[0], &group->expression,
                                   planner->error);
    group->values = term->values; /* the plan frees it */
    term->values = NULL;
    return bits_leaf(planner, term, &group->expression);
}

enum status level_groups(struct planner *planner)
{
    struct plan *plan = planner->plan;
    struct term *terms;
    enum status status = STATUS_OK;
    RETURN_IF_ERROR(memory_zeros(&terms, plan->group_count * sizeof *terms, "groups", planner->error));
    for (uint32_t g = 0; g < plan->group_count; g++) {
        plan->groups[g].written = plan->groups[g].expression;
        if (status == STATUS_OK)
            status = find_term(plan, g, &terms[g], planner->error);
    }
    refuse_gaps(plan, terms);
    for (uint32_t g = 0; g < plan->group_count && status == STATUS_OK; g++)
        if (terms[g].possible)
            status = use_bits(planner, g, &terms[g]);
    for (uint32_t g = 0; g < plan->group_count; g++)
        free(terms[g].values);
    free(terms);
    return status;
}

/* ---- The bits of keys that survivors need ---- */

static void see_needed(void *context, const struct expression *leaf)
{
    struct plan *plan = context;
    const struct plan_source *source = &plan->sources[leaf->index];
    if (source->join < 0)
        return;
    const struct plan_join *join = &plan->joins[source->join];
    uint32_t *const needed = &plan->columns[join->column].needed;
    if (!join->inner && join->match != EXPRESSION_NONE)
        *needed = UINT32_MAX; /* the position is probed */
    else if (source->bits)
        *needed |= ((1u << source->bits) - 1) << source->shift;
    else
        *needed |= UINT32_MAX << plan->arrays[source->column].shift;
}

void level_bits_needed(struct plan *plan)
{
    for (uint32_t c = 0; c < plan->column_count; c++) {
        const struct column *const references = plan->columns[c].column->references;
        plan->columns[c].needed = references && references->table->levels ? 0 : UINT32_MAX;
    }
    for (uint32_t g = 0; g < plan->group_count; g++)
        expression_visit(&plan->expressions, plan->groups[g].expression, see_needed, plan);
    for (uint32_t a = 0; a < plan->aggregate_count; a++)
        if (plan->aggregates[a].argument != EXPRESSION_NONE)
            expression_visit(&plan->expressions, plan->aggregates[a].argument, see_needed, plan);
    for (uint32_t s = 0; s < plan->step_count; s++)
        if (plan->steps[s].kind == STEP_CONDITION)
            expression_visit(&plan->expressions, plan->steps[s].expression, see_needed, plan);
    for (uint32_t t = 0; t < plan->first.term_count; t++)
        expression_visit(&plan->expressions, plan->first.terms[t].expression, see_needed, plan);
    for (uint32_t o = 0; plan->taken && o < plan->output_count; o++)
        expression_visit(&plan->expressions, plan->outputs[o].expression, see_needed, plan);
}
