/* block_plans.c: see block_plans.h. */
#include "engine/relational/blocks/block_plans.h"

#include <stdlib.h>
#include <string.h>

#define PLANS_MAX 32u

struct block_plans {
    uint32_t count;
    struct block_plan list[PLANS_MAX]; /* the oldest first */
};

struct block_plans *block_plans_new(void)
{
    return calloc(1, sizeof(struct block_plans));
}

void block_plan_free(struct block_plan *block)
{
    engine_release(block->prepared);
    plan_free(block->plan);
    free(block->key);
    *block = (struct block_plan){0};
}

void block_plans_free(struct block_plans *plans)
{
    for (uint32_t p = 0; plans && p < plans->count; p++)
        block_plan_free(&plans->list[p]);
    free(plans);
}

uint64_t block_plans_bytes(const struct block_plans *plans)
{
    uint64_t bytes = plans ? sizeof *plans : 0;
    for (uint32_t p = 0; plans && p < plans->count; p++)
        bytes += plans->list[p].length + plan_bytes(plans->list[p].plan);
    return bytes;
}

static void take_out(struct block_plans *plans, uint32_t at)
{
    memmove(plans->list + at, plans->list + at + 1, (--plans->count - at) * sizeof *plans->list);
}

bool block_plans_take(struct block_plans *plans, struct block_plan *block)
{
    for (uint32_t p = plans->count; p-- > 0;) {
        struct block_plan *const kept = &plans->list[p];
        if (kept->length != block->length || memcmp(kept->key, block->key, block->length) != 0)
            continue;
        block->plan = kept->plan;
        block->prepared = kept->prepared;
        free(kept->key);
        take_out(plans, p);
        return true;
    }
    return false;
}

void block_plans_give(struct block_plans *plans, struct block_plan *block)
{
    if (plans->count == PLANS_MAX) {
        block_plan_free(&plans->list[0]);
        take_out(plans, 0);
    }
    plans->list[plans->count++] = *block;
    *block = (struct block_plan){0};
}
