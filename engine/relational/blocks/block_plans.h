/*
 * block_plans.h: the plans of a statement's blocks over stored tables, kept between its runs. A tree is planned block by
 * block while it runs, because a block may name what others gave: values of subqueries, keys of the other side of a join.
 * In most runs of one statement they are the same again, and so is the plan: it is found by the whole block, with all
 * values in it, as processes tell it to each other (distribute.h), but for hashes of 128 bits of long lists and bitmaps.
 */
#ifndef TESSERA_ENGINE_RELATIONAL_BLOCK_PLANS_H
#define TESSERA_ENGINE_RELATIONAL_BLOCK_PLANS_H

#include "engine/run/engine.h"

struct block_plans; /* of one statement and engine; one thread uses it */

/* A plan that is prepared, with its key. Owned by whoever took or made it. */
struct block_plan {
    char *key;
    size_t length;
    struct plan *plan;
    struct prepared_plan *prepared; /* NULL: it did not run yet */
};

/* NULL if there is no memory. */
struct block_plans *block_plans_new(void);
void block_plans_free(struct block_plans *plans);            /* NULL is legal */
uint64_t block_plans_bytes(const struct block_plans *plans); /* 0 of NULL */

/* Takes the plan of a block out; false: there is none, and only block->key and length stay set. */
bool block_plans_take(struct block_plans *plans, struct block_plan *block);
/* Keeps it for the next run; the oldest one leaves if there are many. */
void block_plans_give(struct block_plans *plans, struct block_plan *block);
/* Frees what the block has. */
void block_plan_free(struct block_plan *block);

#endif
