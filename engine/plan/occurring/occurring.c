/* occurring.c: see occurring.h. */
#include "engine/plan/occurring/occurring.h"

#include "engine/plan/occurring/row_pass.h"
#include "storage/base/hash.h"
#include "storage/base/memory.h"

#include <stdlib.h>

/* A number of the conditions that are bound so far. */
static uint64_t conditions_of(const struct plan *plan)
{
    uint64_t number = plan->nothing;
    for (uint32_t s = 0; s < plan->step_count; s++) {
        const struct plan_step *step = &plan->steps[s];
        number = hash_mix(number * 3 + step->kind);
        number = hash_mix(number * 3 + (step->kind == STEP_RANGE ? step->column : step->expression));
        number = hash_mix(number * 3 + ((uint64_t)(uint32_t)step->low << 32 | (uint32_t)step->high));
    }
    for (uint32_t j = 0; j < plan->join_count; j++)
        number = hash_mix(number * 3 + ((uint64_t)plan->joins[j].inner << 32 | plan->joins[j].match));
    return number;
}

static uint64_t rows_of_pass(const struct expression_rows *rows, const uint32_t nodes[2])
{
    const struct occurring *const occurring = (const struct occurring *)(const void *)rows;
    struct row_pass pass;
    return row_pass_plan(occurring->planner->plan, nodes, &pass) ? pass.rows : UINT64_MAX;
}

static enum status find_pairs(const struct expression_rows *rows, const uint32_t nodes[2],
                              const uint64_t domains[2], const uint64_t **pairs, uint64_t *count,
                              struct error *error)
{
    struct occurring *const occurring = (struct occurring *)(uintptr_t)rows;
    const struct planner *const planner = occurring->planner;
    const uint64_t conditions = conditions_of(planner->plan);
    struct occurring_pairs *known = occurring->known;
    struct row_pass pass;
    while (known &&
           (known->nodes[0] != nodes[0] || known->nodes[1] != nodes[1] || known->conditions != conditions))
        known = known->next;
    if (!known) {
        if (!row_pass_plan(planner->plan, nodes, &pass))
            return error_set(error, STATUS_BAD_INPUT, "the pairs of these values cannot be found");
        RETURN_IF_ERROR(memory_zeros(&known, sizeof *known, "combinations of strings", error));
        *known = (struct occurring_pairs){
            .nodes = {nodes[0], nodes[1]}, .conditions = conditions, .next = occurring->known};
        occurring->known = known;
        RETURN_IF_ERROR(row_pass_run(&pass, planner->threads, domains, &known->pairs, &known->count, error));
    }
    *pairs = known->pairs;
    *count = known->count;
    return STATUS_OK;
}

void occurring_open(struct occurring *occurring, const struct planner *planner)
{
    *occurring = (struct occurring){.rows = {rows_of_pass, find_pairs}, .planner = planner};
}

void occurring_free(struct occurring *occurring)
{
    while (occurring->known) {
        struct occurring_pairs *const next = occurring->known->next;
        free(occurring->known->pairs);
        free(occurring->known);
        occurring->known = next;
    }
}
