/* in_order.h: whether the groups of a scan follow each other in its rows. */
#ifndef TESSERA_ENGINE_PLAN_GROUPING_IN_ORDER_H
#define TESSERA_ENGINE_PLAN_GROUPING_IN_ORDER_H

#include "engine/plan/plan.h"

/* Sets plan->in_order and plan->order_column of a plan whose tiles are known. */
void grouping_find_order(struct plan *plan);

#endif
