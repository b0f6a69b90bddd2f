/*
 * quantiles.h: plans whose groups are needed for quantiles alone. A scan that groups by the values of a column has about
 * as many groups as rows; but a quantile is read at one or two rows of a list in order, so devices give no more of them.
 */
#ifndef TESSERA_ENGINE_PLAN_GROUPING_QUANTILES_H
#define TESSERA_ENGINE_PLAN_GROUPING_QUANTILES_H

#include "engine/plan/plan.h"

/* True if the measures are quantiles of the values of the last term, whose codes are in the lowest digit of a number of one
 * word, and a group has no other state than its number of rows. */
bool plan_is_of_quantiles(const struct plan *plan);

/* The rows that the measures of such a plan read of a list of `rows` values, at least 1: ascending, each once. Returns
 * their number. */
#define PLAN_QUANTILE_ROWS_MAX (2 * PLAN_MEASURES_MAX)
uint32_t plan_quantile_rows(const struct plan *plan, uint64_t rows, uint64_t wanted[PLAN_QUANTILE_ROWS_MAX]);

#endif
