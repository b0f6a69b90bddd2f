/* occurring.c: see occurring.h. */
#include "engine/plan/occurring/occurring.h"

#include "engine/plan/occurring/row_pass.h"

#include <stdlib.h>

/* Finds what is known of the nodes, or plans their pass; NULL if there is no memory. */
static struct occurring_pairs *known_of(struct occurring *occurring, const uint32_t nodes[2])
{
    struct occurring_pairs *known = occurring->known;
    struct row_pass pass;
    while (known && (known->nodes[0] != nodes[0] || known->nodes[1] != nodes[1]))
        known = known->next;
    if (known || !(known = calloc(1, sizeof *known)))
        return known;
    const bool can = row_pass_plan(occurring->planner->plan, nodes, &pass);
    *known = (struct occurring_pairs){.nodes = {nodes[0], nodes[1]},
                                      .rows = can ? pass.rows : UINT64_MAX,
                                      .filtered = pass.filters,
                                      .next = occurring->known};
    occurring->known = known;
    return known;
}

static uint64_t rows_of_pass(const struct expression_rows *rows, const uint32_t nodes[2], bool *filtered)
{
    struct occurring *const occurring = (struct occurring *)(uintptr_t)rows;
    const struct occurring_pairs *const known = known_of(occurring, nodes);
    *filtered = known && known->filtered;
    return known ? known->rows : UINT64_MAX;
}

static enum status find_pairs(const struct expression_rows *rows, const uint32_t nodes[2],
                              const uint64_t domains[2], const uint64_t **pairs, uint64_t *count,
                              struct error *error)
{
    struct occurring *const occurring = (struct occurring *)(uintptr_t)rows;
    const struct planner *const planner = occurring->planner;
    struct occurring_pairs *const known = known_of(occurring, nodes);
    struct row_pass pass;
    if (!known)
        return error_out_of_memory(error, sizeof *known, "combinations of strings");
    if (!known->found) {
        if (!row_pass_plan(planner->plan, nodes, &pass))
            return error_set(error, STATUS_BAD_INPUT, "the pairs of these values cannot be found");
        RETURN_IF_ERROR(row_pass_run(&pass, planner->threads, domains, &known->pairs, &known->count, error));
        known->found = true;
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
