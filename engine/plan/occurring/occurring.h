/*
 * occurring.h: finds the pairs of values that two expressions have in the rows of a statement.
 *
 * A function of two columns of strings is computed for the pairs that occur, which may be few although there are
 * millions of combinations of their strings. They are found by reading the columns, while the statement is bound: those
 * of the fact's rows that pass the conditions bound so far, or of a dimension's rows if both expressions read one
 * dimension alone. On all threads, 5 to 20 ns a row.
 */
#ifndef TESSERA_ENGINE_PLAN_OCCURRING_OCCURRING_H
#define TESSERA_ENGINE_PLAN_OCCURRING_OCCURRING_H

#include "engine/plan/planner.h"

/* What was found for two expressions. It stays when they are named again after more conditions, so that an expression is
 * one node wherever it is named. */
struct occurring_pairs {
    uint32_t nodes[2];
    uint64_t rows; /* of the pass; UINT64_MAX: there is none */
    bool filtered, found;
    uint64_t count, *pairs;
    struct occurring_pairs *next;
};

/* Zero-initialised but for the planner; end with occurring_free. */
struct occurring {
    struct expression_rows rows; /* for the list of expressions */
    const struct planner *planner;
    struct occurring_pairs *known;
};

void occurring_open(struct occurring *occurring, const struct planner *planner);
void occurring_free(struct occurring *occurring);

#endif
