/* row_pass.h: the pass over rows that finds pairs of values (occurring.h). */
#ifndef TESSERA_ENGINE_PLAN_OCCURRING_ROW_PASS_H
#define TESSERA_ENGINE_PLAN_OCCURRING_ROW_PASS_H

#include "engine/plan/plan.h"

/* Up to so many joins of a pass may have rows without a match that only a run decides: each such row is taken with
 * and without its match. */
#define PASS_OPTIONAL_MAX 3u

/* What a pass evaluates, all of it over columns: the values of the two nodes or, if these are over groups, of the groups'
 * expressions; and conditions. */
struct row_pass {
    const struct plan *plan;
    uint32_t nodes[2];
    bool grouped; /* the nodes are over groups, whose terms are groups[] */
    uint32_t groups[PLAN_GROUPS_MAX], group_count;
    uint32_t roots[PLAN_GROUPS_MAX + 2 * PLAN_STEPS_MAX], root_count; /* all that is evaluated over columns */
    uint32_t conditions[2 * PLAN_STEPS_MAX], condition_count;
    int32_t join;   /* the dimension whose rows are read; -1: the fact's */
    bool joins_all; /* of a dimension: every row of the fact has a match */
    uint32_t optional[PASS_OPTIONAL_MAX], optional_count; /* joins */
    uint64_t rows;
    bool filters; /* not all rows may pass */
};

/* Finds out what a pass for two nodes reads; false if there can be none. */
bool row_pass_plan(const struct plan *plan, const uint32_t nodes[2], struct row_pass *pass);

/* Gives the pairs of values less than domains[0] and domains[1], first * domains[1] + second, ascending, in an array that
 * the caller frees. */
NODISCARD enum status row_pass_run(const struct row_pass *pass, unsigned threads, const uint64_t domains[2],
                                   uint64_t **pairs, uint64_t *count, struct error *error);

#endif
