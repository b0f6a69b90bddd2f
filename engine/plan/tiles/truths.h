/*
 * truths.h: which truth values a condition may have, going by the ranges of its leaves and whether they may be NULL: for who asks
 * whether a part of the rows can have one that passes, before any is read.
 */
#ifndef TESSERA_ENGINE_PLAN_TILES_TRUTHS_H
#define TESSERA_ENGINE_PLAN_TILES_TRUTHS_H

#include "engine/plan/expression.h"

#define TRUTHS_TRUE  1u
#define TRUTHS_FALSE 2u
#define TRUTHS_NULL  4u

/* Gives bits for the condition of this node. One that it cannot have may be among them; none that it can have is missing. */
unsigned truths_of(const struct expression_list *list, uint32_t node);

#endif
